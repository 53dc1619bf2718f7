//! Elimination by repeatability (Guo et al.; algorithms.md section 7): a page goes where a page that stays repeats
//! enough of its feature code.
//!
//! Codes are taken in descending length. A code that has a long enough substring in common with some code that stays
//! is eliminated, for the one with the longest common substring (of several the first that stayed); else it stays,
//! and its substrings are added to a suffix automaton. So each code takes time in proportion to its length, however
//! many stay. Where the automaton does not fit the budget, all codes to come are looked up in it, it is
//! emptied, and the work goes on with the next codes.

use crate::error::Result;
use crate::memory;
use crate::verify::automaton::{Match, SuffixAutomaton};
use crate::verify::repeatability::share;
use crate::workers::{self, Stop, Workers};

const DOING: &str = "eliminating repeated documents";

/// Codes in the order in which they are taken: descending length, ties by id.
pub trait Codes: Sync {
    /// How many there are.
    fn len(&self) -> usize;

    /// The code at a place in the order. None is empty.
    fn code(&self, place: usize) -> &str;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Codes for [String] {
    fn len(&self) -> usize {
        self.len()
    }

    fn code(&self, place: usize) -> &str {
        &self[place]
    }
}

/// For whom a code is eliminated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kept {
    /// The place of the code that stays.
    pub place: u32,
    /// The repeatability over it.
    pub similarity: f64,
}

/// What becomes of each code, by place: none for those that stay. The automaton takes about `budget` bytes at a
/// time. O(characters) while it fits, else that times the number of blocks; the outcome is the same.
pub fn eliminate_repeated<C: Codes + ?Sized>(
    codes: &C,
    threshold: f64,
    budget: usize,
    workers: &dyn Workers,
) -> Result<Vec<Option<Kept>>> {
    let none = Match { length: 0, text: u32::MAX };
    let mut best = memory::filled(none, codes.len(), DOING)?;
    let mut block = Block { codes, threshold, budget, automaton: SuffixAutomaton::new()?, next: 0 };
    while block.next < codes.len() {
        block.automaton.clear();
        let mut state = (&mut block, &mut best);
        workers::one(workers, &mut state, |(block, best), stop| block.fill(best, stop))?;
        let mut shares: Vec<(usize, &mut [Match])> = Vec::new();
        let behind = &mut best[block.next..];
        let size = behind.len().div_ceil(workers.count()).max(1);
        shares.extend(behind.chunks_mut(size).enumerate().map(|(n, part)| (block.next + n * size, part)));
        workers::each(workers, &mut shares, |(from, part), stop| block.look_up(from, part, stop))?;
    }
    let mut kept = Vec::new();
    memory::reserve(&mut kept, codes.len(), DOING)?;
    kept.extend(best.iter().enumerate().map(|(place, found)| {
        let similarity = block.similarity(place, found);
        (similarity >= threshold).then_some(Kept { place: found.text, similarity })
    }));
    Ok(kept)
}

/// The codes that stay and whose substrings are in the automaton.
struct Block<'a, C: ?Sized> {
    codes: &'a C,
    threshold: f64,
    budget: usize,
    automaton: SuffixAutomaton,
    /// The place of the first code that was not taken.
    next: usize,
}

impl<C: Codes + ?Sized> Block<'_, C> {
    fn similarity(&self, place: usize, found: &Match) -> f64 {
        share(found.length, self.codes.code(place).chars().count() as u32)
    }

    /// Takes codes until the automaton is full, at least one that stays.
    fn fill(&mut self, best: &mut [Match], stop: &Stop) -> Result<()> {
        const CHECK_EVERY: usize = 1 << 6;
        // What grows doubles. At least one code is taken.
        while self.next < self.codes.len()
            && (self.automaton.is_empty() || 2 * self.automaton.bytes() <= self.budget)
        {
            if self.next.is_multiple_of(CHECK_EVERY) {
                stop.check()?;
            }
            let code = self.codes.code(self.next);
            let found = &mut best[self.next];
            improve(found, self.automaton.longest_match(code));
            let found = *found;
            if self.similarity(self.next, &found) < self.threshold {
                self.automaton.add(code, self.next as u32)?;
            }
            self.next += 1;
        }
        Ok(())
    }

    /// Looks codes up that will be taken later.
    fn look_up(&self, from: &mut usize, part: &mut &mut [Match], stop: &Stop) -> Result<()> {
        const CHECK_EVERY: usize = 1 << 6;
        while let Some((found, rest)) = std::mem::take(part).split_first_mut() {
            improve(found, self.automaton.longest_match(self.codes.code(*from)));
            *part = rest;
            *from += 1;
            if from.is_multiple_of(CHECK_EVERY) {
                stop.check()?;
            }
        }
        Ok(())
    }
}

/// The longer of two matches; of equally long ones that with the code that stayed first.
fn improve(best: &mut Match, found: Option<Match>) {
    if let Some(found) = found
        && (found.length > best.length || (found.length == best.length && found.text < best.text))
    {
        *best = found;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::repeatability::repeatability;
    use crate::workers::PlainThreads;
    use proptest::prelude::*;

    /// The definition: every code with every one that stays.
    fn by_definition(codes: &[String], threshold: f64) -> Vec<Option<Kept>> {
        let mut kept: Vec<usize> = Vec::new();
        let mut outcome = Vec::new();
        for (place, code) in codes.iter().enumerate() {
            let mut best: Option<Kept> = None;
            for &other in &kept {
                let similarity = repeatability(&codes[other], code).expect("memory");
                if similarity >= threshold && best.is_none_or(|best| similarity > best.similarity) {
                    best = Some(Kept { place: other as u32, similarity });
                }
            }
            if best.is_none() {
                kept.push(place);
            }
            outcome.push(best);
        }
        outcome
    }

    proptest! {
        #[test]
        fn outcome_is_that_of_all_comparisons(
            codes in prop::collection::vec("[ab]{1,14}|[abc]{1,9}|(ab字){1,4}", 0..30),
            threshold in prop::sample::select(vec![0.05, 0.5, 0.75, 1.0]),
            budget in prop::sample::select(vec![0, 20_000, usize::MAX / 4]),
            threads in 1..4usize,
        ) {
            let mut codes = codes;
            codes.sort_by_key(|code| std::cmp::Reverse(code.chars().count()));
            let outcome = eliminate_repeated(&*codes, threshold, budget, &PlainThreads(threads)).expect("memory");
            prop_assert_eq!(outcome, by_definition(&codes, threshold));
        }
    }
}
