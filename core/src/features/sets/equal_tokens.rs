//! Counts tokens by sorting them, so that equal tokens become neighbours: the tokens of some range
//! of hashes, of all sets, in the order of the sets.

use std::cmp::Ordering;

use crate::error::Result;
use crate::executor::Stop;
use crate::memory;
use crate::radix::sort_by_hash;

const DOING: &str = "counting tokens";

/// The number of tokens between two checks for a stop.
const CHECK_EVERY: usize = 1 << 14;
/// The place of a token that only one document has.
pub(super) const NO_PLACE: u32 = u32::MAX;

/// A token as it is counted.
pub(super) trait CountedToken: Copy {
    /// Returns a hash, which equal tokens have in common but for the lowest bit.
    fn sort_key(&self) -> u64;
    /// Compares two tokens. Further occurrences in a document are equal to the first one.
    fn compare(&self, other: &Self) -> Ordering;
    /// Reports whether the set has an equal token immediately before this one.
    fn repeats(&self) -> bool;
}

/// A hash but for its lowest bit, which is set if the token repeats.
impl CountedToken for u64 {
    #[inline]
    fn sort_key(&self) -> u64 {
        *self
    }

    #[inline]
    fn compare(&self, other: &Self) -> Ordering {
        (self >> 1).cmp(&(other >> 1))
    }

    #[inline]
    fn repeats(&self) -> bool {
        self & 1 == 1
    }
}

/// The distinct tokens that several documents have, or all of them if they weigh. Further
/// occurrences in a document are tokens of their own.
#[derive(Debug, Default)]
pub(super) struct EqualTokens {
    /// The number of documents that have each token, or 0 if it cannot be shared; later its rank.
    pub(super) ranks: Vec<u32>,
    /// What each token weighs, if tokens weigh.
    pub(super) weights: Vec<u16>,
    /// The number of distinct tokens, also of those that only one document has.
    pub(super) distinct: usize,
    /// For each token that was counted, its place in `ranks`, or [`NO_PLACE`].
    pub(super) places: Vec<u32>,
}

impl EqualTokens {
    /// Counts tokens, each with its number in the order of the sets. Those from number `right_from`
    /// on are of the right table. `weigh` is called with a token and the number of documents that
    /// have it. O(n) for hashes.
    pub(super) fn new<T: CountedToken>(
        tokens: &mut Vec<(T, u32)>,
        right_from: usize,
        two_tables: bool,
        weigh: Option<&impl Fn(&T, u64) -> u16>,
        stop: &Stop,
    ) -> Result<Self> {
        let mut counted = Self { places: memory::filled(NO_PLACE, tokens.len(), DOING)?, ..Self::default() };
        // Equal tokens stay in the order of the sets.
        sort_by_hash(tokens, stop, DOING, |token| token.0.sort_key(), &|a, b| {
            a.0.compare(&b.0).then_with(|| a.1.cmp(&b.1))
        })?;
        let (mut nth, mut documents, mut done) = (Vec::new(), Vec::new(), 0);
        for equal in tokens.chunk_by(|a, b| a.0.compare(&b.0).is_eq()) {
            done += equal.len();
            if done >= CHECK_EVERY {
                stop.check()?;
                stop.work(std::mem::take(&mut done));
            }
            if equal.len() == 1 && weigh.is_none() {
                counted.distinct += 1;
                continue;
            }
            nth.clear();
            documents.clear();
            memory::reserve(&mut nth, equal.len(), DOING)?;
            let mut occurrences = Occurrences::default();
            for (token, number) in equal {
                let is_right = *number as usize >= right_from;
                nth.push(occurrences.add(token.repeats(), is_right, &mut documents)?);
            }
            let weight = weigh.map(|weigh| weigh(&equal[0].0, having(&documents)));
            let first = counted.ranks.len();
            counted.add(two_tables, &documents, weight)?;
            let known = counted.ranks.len() - first;
            for (&(_, number), &nth) in equal.iter().zip(&nth).filter(|(_, nth)| (**nth as usize) < known) {
                counted.places[number as usize] = first as u32 + nth;
            }
        }
        Ok(counted)
    }

    /// Adds a token and its further occurrences, given how many documents of each table have each.
    /// The last ones get no place if only one document has them and they do not weigh.
    pub(super) fn add(
        &mut self,
        two_tables: bool,
        documents: &[[u32; 2]],
        weight: Option<u16>,
    ) -> Result<()> {
        self.distinct += documents.len();
        for &[left, right] in documents {
            let all = left.saturating_add(right);
            if let Some(weight) = weight {
                memory::push(&mut self.weights, weight, DOING)?;
            } else if all < 2 {
                break;
            }
            let is_shared = if two_tables { left > 0 && right > 0 } else { left > 1 };
            memory::push(&mut self.ranks, if is_shared { all } else { 0 }, DOING)?;
        }
        Ok(())
    }
}

/// Tells how often a set has a token before, for equal tokens in the order of the sets.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Occurrences {
    before: u32,
}

impl Occurrences {
    /// Returns how many times the set has the next token before it, and counts the document among
    /// those that have it so often.
    #[inline]
    pub(super) fn add(
        &mut self,
        repeats: bool,
        is_right: bool,
        documents: &mut Vec<[u32; 2]>,
    ) -> Result<u32> {
        self.before = if repeats { self.before + 1 } else { 0 };
        if self.before as usize == documents.len() {
            memory::push(documents, [0; 2], DOING)?;
        }
        documents[self.before as usize][usize::from(is_right)] += 1;
        Ok(self.before)
    }
}

/// Returns how many documents have a token at least once.
pub(super) fn having(documents: &[[u32; 2]]) -> u64 {
    documents.first().map_or(0, |[left, right]| u64::from(*left) + u64::from(*right))
}
