//! The turns of a transaction that plans from what it knows, carries out, and plans anew from what
//! that has told.
//!
//! Such a loop ends because every plan tells something new. Equal states have equal plans: where a
//! state comes again, or there are more turns than any transaction takes, a step has not told what
//! it should, and would be carried out for ever. That is an error here, before the steps are
//! carried out a second time.
//!
//! ```
//! use neardup::turns::Turns;
//!
//! let mut turns = Turns::default();
//! let plan = |known: &u32| if *known < 3 { vec!["add"] } else { vec!["done"] };
//! assert_eq!(turns.plan(&2, plan), Ok(vec!["add"]));
//! assert_eq!(turns.plan(&3, plan), Ok(vec!["done"]));
//! assert!(turns.plan(&2, plan).is_err());
//! ```

use std::fmt::Debug;

use crate::error::{Error, Result};

/// More turns than any transaction takes.
const MOST: usize = 64;

/// What was known at each turn of a transaction.
#[derive(Debug)]
pub struct Turns<S> {
    known: Vec<S>,
}

impl<S> Default for Turns<S> {
    fn default() -> Self {
        Self { known: Vec::new() }
    }
}

impl<S: Clone + PartialEq> Turns<S> {
    /// The next steps; an error where they follow from a state that there was before, or after too
    /// many turns.
    pub fn plan<T: Debug>(&mut self, state: &S, plan: impl FnOnce(&S) -> Vec<T>) -> Result<Vec<T>> {
        let steps = plan(state);
        if self.known.contains(state) || self.known.len() == MOST {
            return Err(Error::NothingLearnt { steps: format!("{steps:?}") });
        }
        self.known.push(state.clone());
        Ok(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_comes_again_is_an_error() {
        let error = Err(Error::NothingLearnt { steps: "[2]".to_owned() });
        for states in [&[2, 2][..], &[2, 3, 2]] {
            let mut turns = Turns::default();
            let (last, before) = states.split_last().expect("some");
            assert!(before.iter().all(|state| turns.plan(state, |state| vec![*state]) == Ok(vec![*state])));
            assert_eq!(turns.plan(last, |state| vec![*state]), error);
        }
    }

    #[test]
    fn turns_without_end_are_an_error() {
        let mut turns = Turns::default();
        let count = (0..).take_while(|state| turns.plan(state, |_| vec!['x']).is_ok()).count();
        assert_eq!(count, MOST);
    }
}
