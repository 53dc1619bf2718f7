//! One numbering for the tokens of all workers, and their order of document frequency.

use super::dictionary::Dictionary;
use crate::error::Result;
use crate::memory;
use crate::workers::{self, Workers};

const DOING: &str = "ordering tokens";

/// One dictionary for all, and for each the numbers its tokens have there; none for the first, whose
/// numbers stay.
pub fn join_dictionaries(
    dictionaries: Vec<Dictionary>,
    workers: &dyn Workers,
) -> Result<(Dictionary, Vec<Option<Vec<u32>>>)> {
    const BUDGET: usize = 1 << 16;
    let mut dictionaries = dictionaries.into_iter();
    let Some(first) = dictionaries.next() else { return Ok((Dictionary::default(), Vec::new())) };
    let mut joined = first;
    let mut translations = vec![None];
    for other in dictionaries {
        let other = other.in_order()?;
        let mut state = (joined, Vec::new());
        workers::one(workers, &mut state, |(joined, translation), stop| {
            while translation.len() < other.len() {
                stop.check()?;
                joined.absorb(&other, translation, BUDGET)?;
            }
            Ok(())
        })?;
        joined = state.0;
        translations.push(Some(state.1));
    }
    Ok((joined, translations))
}

/// The place of each token in the order of frequency.
#[derive(Debug)]
pub struct Ranks {
    /// By number of the dictionary; [`LONE`] for what cannot be shared.
    pub of: Vec<u32>,
    /// How many tokens can be shared.
    pub shared: usize,
}

/// The rank of a token that no two records to be compared have.
pub const LONE: u32 = u32::MAX;

/// Ranks the tokens that can be shared, which are in two records or in both tables, by how many
/// records of the left and of the right table they are in.
pub fn rank(
    dictionary: &Dictionary,
    left: Vec<u32>,
    right: Option<Vec<u32>>,
    workers: &dyn Workers,
) -> Result<Ranks> {
    let mut order: Vec<(u32, u64, u32)> = Vec::new();
    for (number, &count) in left.iter().enumerate() {
        let (shared, frequency) = match &right {
            Some(right) => (count > 0 && right[number] > 0, count.saturating_add(right[number])),
            None => (count > 1, count),
        };
        if shared {
            // Ties by the token's hash: the order is the same whatever the numbers are.
            memory::push(&mut order, (frequency, dictionary.hash(number as u32), number as u32), DOING)?;
        }
    }
    drop(right);
    let mut of = left;
    workers::one(workers, &mut order, |order, stop| workers::sort_unstable_by(order, stop, &Ord::cmp))?;
    of.fill(LONE);
    for (rank, &(_, _, number)) in order.iter().enumerate() {
        of[number as usize] = rank as u32;
    }
    Ok(Ranks { of, shared: order.len() })
}
