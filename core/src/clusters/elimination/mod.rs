//! Elimination by repeatability (Guo et al., section III.C; docs/design/algorithms.md section 7): a
//! page is eliminated if a page that stays repeats enough of its feature code.
//!
//! Codes are taken in descending order of their lengths. A code that has a long enough substring in
//! common with a code that stayed before is eliminated. Otherwise it stays, and its substrings are
//! added to a suffix automaton. Each eliminated code goes to the code with the longest common
//! substring among all that stay (if there are several such codes, the one that stayed first). So
//! the time for each code is proportional to its length and does not depend on the number of codes
//! that stay.
//!
//! One automaton of all codes would be far larger than any cache, and each character would cost a
//! few cache misses. But most codes have no long substring in common with any other code. So codes
//! are first divided into [groups](grouping), and each group has its own automaton. The substrings
//! of [short codes](short) occur everywhere. Short codes come last in the order and are handled
//! separately.

pub mod blocks;
pub mod disjoint_sets;
pub mod grouping;
pub mod groups;
pub mod rows;
pub mod short;

use crate::error::Result;
use crate::executor::{self, Executor};
use crate::memory;
use crate::verify::automaton::Match;
use crate::verify::repeatability::share;
use blocks::{Blocks, STAYS};
use grouping::CodeGrouping;
use groups::{CodeGroups, Taken};
use rows::Subset;
pub use rows::{Codes, Survivor};
use short::eliminate_short;

const DOING: &str = "eliminating repeated documents";

/// Returns for each place the code that repeats the code at this place, or `None` if the code stays
/// (Guo and others, section III.C).
///
/// Codes are in descending order of their lengths. A code is eliminated if at least the share
/// `threshold` of it occurs in one piece in a code that stayed before. Of all codes that stay, the
/// one with the longest common piece is returned, and of several with equally long pieces the first
/// one. Data that grows with the codes takes about `budget` bytes at a time. O(characters) if that
/// is enough.
///
/// ```
/// use neardup_core::{PlainThreads, eliminate_repeated};
///
/// let codes = ["甲乙丙丁戊己".to_owned(), "子丑寅卯".into(), "乙丙丁".into()];
/// let found = eliminate_repeated(&codes[..], 0.9, 1 << 24, &PlainThreads(1))?;
/// assert!(found[0].is_none() && found[1].is_none());
/// assert_eq!(found[2].map(|survivor| (survivor.place, survivor.similarity)), Some((0, 1.0)));
/// # Ok::<(), neardup_core::Error>(())
/// ```
pub fn eliminate_repeated<C: Codes + ?Sized>(
    codes: &C,
    threshold: f64,
    budget: usize,
    executor: &dyn Executor,
) -> Result<Vec<Option<Survivor>>> {
    let mut elimination = Elimination::new(codes, threshold, budget)?;
    while elimination.advance(executor)? {}
    elimination.kept()
}

/// An elimination in progress.
///
/// O(characters), except for a group whose automaton does not fit the budget. For such a group, the
/// time is O(characters · blocks), and all threads do most of the work. The result is the same.
#[derive(Debug)]
pub struct Elimination<'a, C: ?Sized> {
    codes: &'a C,
    threshold: f64,
    budget: usize,
    /// The longest match of each code with the codes that stay, once it is known.
    best: Vec<Match>,
    state: EliminationStep,
}

/// The next step.
#[derive(Debug)]
enum EliminationStep {
    /// Divides codes into groups.
    Grouping(CodeGrouping),
    /// Processes groups.
    Groups(CodeGroups),
    /// Processes a group with too many codes for one thread. The other groups are kept for later.
    Large(Blocks, Vec<u32>, CodeGroups),
    Done,
}

impl<'a, C: Codes + ?Sized> Elimination<'a, C> {
    /// Prepares the elimination. The data that grows with the codes takes about `budget` bytes at a
    /// time; about 20 bytes for each code are held in addition.
    pub fn new(codes: &'a C, threshold: f64, budget: usize) -> Result<Self> {
        /// Below this threshold, short codes have too many long enough substrings.
        const LEAST_THRESHOLD: f64 = 0.5;
        let best = memory::filled(STAYS, codes.len(), DOING)?;
        let mut state = EliminationStep::Done;
        if threshold >= LEAST_THRESHOLD {
            let grouping = CodeGrouping::new(codes, threshold)?;
            if short::bytes(codes, grouping.grouped(), threshold) <= budget {
                state = EliminationStep::Grouping(grouping);
            }
        }
        if matches!(state, EliminationStep::Done) {
            // All codes form one group.
            let places = memory::collect(0..codes.len() as u32, DOING)?;
            state = EliminationStep::Groups(CodeGroups::one(places));
        }
        Ok(Self { codes, threshold, budget, best, state })
    }

    /// Works for about a second. Returns false if nothing is left to do.
    pub fn advance(&mut self, executor: &dyn Executor) -> Result<bool> {
        self.state = match std::mem::replace(&mut self.state, EliminationStep::Done) {
            EliminationStep::Grouping(mut grouping) => {
                if grouping.advance(self.codes, self.budget, executor)? {
                    EliminationStep::Grouping(grouping)
                } else {
                    EliminationStep::Groups(CodeGroups::new(&grouping, executor)?)
                }
            }
            EliminationStep::Groups(groups) => self.next_groups(groups, executor)?,
            EliminationStep::Large(mut blocks, places, groups) => {
                if blocks.advance(&Subset { codes: self.codes, places: &places }, executor)? {
                    EliminationStep::Large(blocks, places, groups)
                } else {
                    for (&place, found) in
                        places.iter().zip(&blocks.best).filter(|(_, found)| **found != STAYS)
                    {
                        let text = places[found.text as usize];
                        self.best[place as usize] = Match { text, ..*found };
                    }
                    EliminationStep::Groups(groups)
                }
            }
            EliminationStep::Done => return Ok(false),
        };
        Ok(true)
    }

    /// Processes the next groups, of about equally many characters for each thread, or one larger
    /// group.
    fn next_groups(&mut self, mut groups: CodeGroups, executor: &dyn Executor) -> Result<EliminationStep> {
        const CHARACTERS: usize = 1 << 19;
        /// The greatest number of bytes that an automaton takes for each character of a code.
        const AUTOMATON: usize = 87;
        let Self { codes, threshold, budget, .. } = *self;
        let most = CHARACTERS.min(budget / (2 * AUTOMATON * executor.count()));
        let mut work = match groups.take(codes, most, executor.count())? {
            Taken::Small(work) => work,
            Taken::Large(places) => {
                let blocks = Blocks::new(places.len(), threshold, budget)?;
                return Ok(EliminationStep::Large(blocks, places, groups));
            }
            Taken::Nothing => {
                if groups.short < codes.len() {
                    eliminate_short(codes, groups.short, &mut self.best, threshold, executor)?;
                }
                return Ok(EliminationStep::Done);
            }
        };
        executor::each(executor, &mut work, |some, stop| {
            some.eliminate(codes, groups.places(), threshold, stop)
        })?;
        for some in &work {
            for (&place, found) in groups.places()[some.from()..].iter().zip(&some.best) {
                self.best[place as usize] = *found;
            }
        }
        Ok(EliminationStep::Groups(groups))
    }

    /// Returns roughly the share of the work that is done.
    pub fn progress(&self) -> f64 {
        let of = |done: usize, places: &[u32]| done as f64 / places.len().max(1) as f64;
        match &self.state {
            EliminationStep::Grouping(grouping) => 0.5 * grouping.progress(),
            EliminationStep::Groups(groups) => 0.5 + 0.5 * of(groups.done, groups.places()),
            EliminationStep::Large(blocks, places, groups) => {
                0.5 + 0.5 * of(groups.done + blocks.next - places.len(), groups.places())
            }
            EliminationStep::Done => 1.0,
        }
    }

    /// Returns the number of bytes on the heap, without the memory that a step takes temporarily.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.best)
            + match &self.state {
                EliminationStep::Grouping(grouping) => grouping.bytes(),
                EliminationStep::Groups(groups) => groups.bytes(),
                EliminationStep::Large(blocks, places, groups) => {
                    blocks.bytes() + memory::bytes(places) + groups.bytes()
                }
                EliminationStep::Done => 0,
            }
    }

    /// Returns for each place the survivor for which its code was eliminated, or `None` if the code
    /// stays. It is called after all steps.
    pub fn kept(&self) -> Result<Vec<Option<Survivor>>> {
        memory::collect(
            self.best.iter().enumerate().map(|(place, found)| {
                let similarity = share(found.length, self.codes.length(place));
                (*found != STAYS).then_some(Survivor { place: found.text, similarity })
            }),
            DOING,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::{PlainThreads, Stop};
    use crate::verify::repeatability::repeatability;
    use proptest::prelude::*;

    /// The definition: compares every code with every code that stays.
    fn by_definition(codes: &[String], threshold: f64) -> Vec<Option<Survivor>> {
        let of = |kept: &[usize], code: &String| {
            let mut best: Option<Survivor> = None;
            for &other in kept {
                let similarity = repeatability(&codes[other], code, &Stop::default()).expect("memory");
                if similarity >= threshold && best.is_none_or(|best| similarity > best.similarity) {
                    best = Some(Survivor { place: other as u32, similarity });
                }
            }
            best
        };
        let mut kept: Vec<usize> = Vec::new();
        for (place, code) in codes.iter().enumerate() {
            if of(&kept, code).is_none() {
                kept.push(place);
            }
        }
        let all = codes.iter().enumerate();
        all.map(|(place, code)| if kept.contains(&place) { None } else { of(&kept, code) }).collect()
    }

    proptest! {
        #[test]
        fn outcome_is_that_of_all_comparisons(
            codes in prop::collection::vec("[ab]{1,14}|[abc]{1,9}|(ab字){1,4}|[a-z]{1,9}", 0..30),
            runs in prop::collection::vec("[ab]{4,9}|[a-z]{1,30}|(abc){2,9}", 1..4),
            longer in prop::collection::vec(prop::collection::vec((0..4usize, "[a-z]{0,4}"), 1..5), 0..20),
            threshold in prop::sample::select(vec![0.05, 0.5, 0.6, 0.75, 0.9, 1.0]),
            budget in prop::sample::select(vec![0, 20_000, 100_000, usize::MAX / 4]),
            threads in 1..4usize,
        ) {
            let mut codes = codes;
            codes.extend(longer.iter().map(|parts| {
                parts.iter().map(|(run, noise)| format!("{}{noise}", runs[run % runs.len()])).collect::<String>()
            }));
            codes.sort_by_key(|code| std::cmp::Reverse(code.chars().count()));
            let outcome = eliminate_repeated(&*codes, threshold, budget, &PlainThreads(threads)).expect("memory");
            prop_assert_eq!(outcome, by_definition(&codes, threshold));
        }
    }
}
