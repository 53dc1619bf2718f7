//! The turns of a transaction that plans from what it knows, carries out the steps, and plans again
//! from what it has learnt.
//!
//! Such a loop ends because every turn learns something new. Equal states have equal plans. If a
//! state comes back, or there are more turns than any transaction takes, then a step did not report
//! what it should and would be carried out forever. This module then returns an error before the
//! steps are carried out a second time.
//!
//! ```
//! use neardup_core::turns::Turns;
//!
//! let mut turns = Turns::default();
//! let plan = |known: &u32| if *known < 3 { vec!["add"] } else { vec!["done"] };
//! assert_eq!(turns.plan(&2, plan), Ok(vec!["add"]));
//! assert_eq!(turns.plan(&3, plan), Ok(vec!["done"]));
//! assert!(turns.plan(&2, plan).is_err());
//! ```

use std::fmt::Debug;

use crate::error::{Error, Result};

/// The number of turns that no transaction exceeds.
const MOST: usize = 64;

/// The states of a transaction at its turns so far.
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
    /// Returns the steps that `plan` makes for `state`. Fails if an earlier turn had the same
    /// state, or after too many turns.
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
