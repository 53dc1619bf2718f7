//! Elimination by repeatability (Guo et al.; algorithms.md section 7): a page goes where a page that stays repeats
//! enough of its feature code.
//!
//! Codes are taken in descending length. A code that has a long enough substring in common with some code that stays
//! is eliminated, for the one with the longest common substring (of several the first that stayed); else it stays,
//! and its substrings are added to a suffix automaton. So each code takes time in proportion to its length, however
//! many stay. Where the automaton does not fit the budget, all codes to come are looked up in it, it is
//! emptied, and the work goes on with the next codes.

use std::cmp::Reverse;

use super::leaders::Leaders;
use crate::error::Result;
use crate::features::texts::{Distinct, Texts};
use crate::memory;
use crate::verify::automaton::{Match, SuffixAutomaton};
use crate::verify::repeatability::{least_common, share};
use crate::workers::{self, Stop, Workers};

const DOING: &str = "eliminating repeated documents";
/// How many codes are taken between two looks for a stop request.
const CHECK_EVERY: usize = 1 << 6;

/// Codes in the order in which they are taken: descending length, ties by id.
pub trait Codes: Sync {
    /// How many there are.
    fn len(&self) -> usize;

    /// The code at a place in the order. None is empty.
    fn code(&self, place: usize) -> &str;

    /// The number of its characters.
    fn length(&self, place: usize) -> u32;

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

    fn length(&self, place: usize) -> u32 {
        self[place].chars().count() as u32
    }
}

/// The codes of the rows of a table, in the order in which they are taken.
#[derive(Debug)]
pub struct RowCodes<'a> {
    texts: &'a Texts,
    /// The code of each place and its vertex.
    places: Vec<(u32, u32)>,
    vertices: usize,
}

impl<'a> RowCodes<'a> {
    /// The codes of a table; `vertex` is the number of each row in the order of the ids. O(n log n).
    pub fn new(codes: &'a Distinct, vertex: &[u32], workers: &dyn Workers) -> Result<Self> {
        let Distinct { texts, left, .. } = codes;
        let mut places = Vec::new();
        memory::reserve(&mut places, vertex.len(), DOING)?;
        for code in 0..left.len() {
            places.extend(left.rows(code).iter().map(|&row| (code as u32, vertex[row as usize])));
        }
        workers::one(workers, &mut places, |places, stop| {
            let key = |&(code, vertex): &(u32, u32)| (Reverse(texts.length(code)), vertex);
            workers::sort_unstable_by(places, stop, &|a, b| key(a).cmp(&key(b)))
        })?;
        Ok(Self { texts, places, vertices: vertex.len() })
    }

    /// What becomes of the vertices when all codes were taken; those without a code stay.
    pub fn leaders(&self, kept: &[Option<Kept>]) -> Result<Leaders> {
        let mut of = Vec::new();
        memory::reserve(&mut of, self.vertices, DOING)?;
        of.extend(0..self.vertices as u32);
        let mut similarity = memory::filled(1.0, self.vertices, DOING)?;
        for (kept, &(_, vertex)) in kept.iter().zip(&self.places) {
            if let Some(kept) = kept {
                of[vertex as usize] = self.places[kept.place as usize].1;
                similarity[vertex as usize] = kept.similarity;
            }
        }
        Ok(Leaders { of, similarity })
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.places)
    }
}

impl Codes for RowCodes<'_> {
    fn len(&self) -> usize {
        self.places.len()
    }

    fn code(&self, place: usize) -> &str {
        self.texts.text(self.places[place].0)
    }

    fn length(&self, place: usize) -> u32 {
        self.texts.length(self.places[place].0)
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

/// What becomes of each code, by place: none for those that stay. See [`Elimination`].
pub fn eliminate_repeated<C: Codes + ?Sized>(
    codes: &C,
    threshold: f64,
    budget: usize,
    workers: &dyn Workers,
) -> Result<Vec<Option<Kept>>> {
    let mut elimination = Elimination::new(codes, threshold, budget)?;
    while elimination.advance(workers)? {}
    elimination.kept()
}

/// An elimination on its way. O(characters) while the automaton fits its budget, else that times the number of
/// blocks, most of it over all threads; the outcome is the same.
#[derive(Debug)]
pub struct Elimination<'a, C: ?Sized> {
    codes: &'a C,
    threshold: f64,
    budget: usize,
    automaton: SuffixAutomaton,
    /// The longest match of each code with those that stay, as far as it is known: of length 0 while none is long
    /// enough.
    best: Vec<Match>,
    /// The place of the first code that was not taken.
    next: usize,
    /// Where the automaton is full: the place of the first code that was not looked up in it.
    looked_up: Option<usize>,
}

impl<'a, C: Codes + ?Sized> Elimination<'a, C> {
    /// Nothing is done yet. The automaton takes about `budget` bytes at a time; 8 bytes a code are held beside.
    pub fn new(codes: &'a C, threshold: f64, budget: usize) -> Result<Self> {
        let none = Match { length: 0, text: u32::MAX };
        let best = memory::filled(none, codes.len(), DOING)?;
        let automaton = SuffixAutomaton::new()?;
        Ok(Self { codes, threshold, budget, automaton, best, next: 0, looked_up: None })
    }

    /// Goes on for a part of a second; false if there is nothing left to do.
    pub fn advance(&mut self, workers: &dyn Workers) -> Result<bool> {
        const CODES_A_STEP: usize = 1 << 13;
        let all = self.codes.len();
        if self.next == all {
            return Ok(false);
        }
        let Some(from) = self.looked_up else {
            let to = (self.next + CODES_A_STEP).min(all);
            let mut this = self;
            workers::one(workers, &mut this, |this, stop| this.fill(to, stop))?;
            return Ok(true);
        };
        let count = workers.count();
        let to = (from + CODES_A_STEP * count).min(all);
        let size = (to - from).div_ceil(count).max(1);
        let Self { codes, threshold, automaton, best, .. } = self;
        let parts = best[from..to].chunks_mut(size).enumerate().map(|(n, part)| (from + n * size, part));
        let mut parts: Vec<(usize, &mut [Match])> = parts.collect();
        workers::each(workers, &mut parts, |(from, part), stop| {
            while let Some((found, rest)) = std::mem::take(part).split_first_mut() {
                improve(found, *codes, *from, *threshold, automaton);
                *part = rest;
                *from += 1;
                if from.is_multiple_of(CHECK_EVERY) {
                    stop.check()?;
                }
            }
            Ok(())
        })?;
        self.looked_up = (to < all).then_some(to);
        if self.looked_up.is_none() {
            self.automaton.clear();
        }
        Ok(true)
    }

    /// Takes codes up to a place or until the automaton is full, at least one that stays.
    fn fill(&mut self, to: usize, stop: &Stop) -> Result<()> {
        while self.next < to {
            if self.next.is_multiple_of(CHECK_EVERY) {
                stop.check()?;
            }
            let found = &mut self.best[self.next];
            improve(found, self.codes, self.next, self.threshold, &self.automaton);
            let stays = found.length == 0;
            if stays {
                self.automaton.add(self.codes.code(self.next), self.next as u32)?;
            }
            self.next += 1;
            // What grows doubles.
            if stays && 2 * self.automaton.bytes() > self.budget && self.next < self.codes.len() {
                self.looked_up = Some(self.next);
                break;
            }
        }
        Ok(())
    }

    /// The share of the codes that were taken.
    pub fn progress(&self) -> f64 {
        self.next as f64 / self.codes.len().max(1) as f64
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.best) + self.automaton.bytes()
    }

    /// For which codes those that were taken so far are eliminated, by place.
    pub fn kept(&self) -> Result<Vec<Option<Kept>>> {
        let mut kept = Vec::new();
        memory::reserve(&mut kept, self.next, DOING)?;
        kept.extend(self.best[..self.next].iter().enumerate().map(|(place, found)| {
            let similarity = share(found.length, self.codes.length(place));
            (found.length > 0).then_some(Kept { place: found.text, similarity })
        }));
        Ok(kept)
    }
}

/// Looks the code at a place up. Of two long enough matches the longer one is the better, of equally long ones that
/// with the code that stayed first.
fn improve<C: Codes + ?Sized>(
    best: &mut Match,
    codes: &C,
    place: usize,
    threshold: f64,
    automaton: &SuffixAutomaton,
) {
    let length = codes.length(place);
    // Codes of former blocks stayed before all of this one: none of them is better than the whole.
    if best.length == length {
        return;
    }
    let least = least_common(length, threshold).max(best.length + 1);
    if let Some(found) = automaton.longest_match(codes.code(place), length, least) {
        *best = found;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::texts::{TextCollector, distinct};
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

        #[test]
        fn rows_are_taken_by_length_and_id(
            codes in prop::collection::vec("[ab]{0,6}|[abc]{1,9}", 0..30),
            ids in Just((0..30).collect::<Vec<u32>>()).prop_shuffle(),
            threads in 1..4usize,
        ) {
            let workers = PlainThreads(threads);
            let mut collectors: Vec<_> = (0..threads).map(|_| TextCollector::default()).collect();
            for (row, code) in codes.iter().enumerate() {
                collectors[row % threads].add(row as u32, code).expect("memory");
            }
            let distinct = distinct(collectors, None, &workers).expect("memory");
            let rows = RowCodes::new(&distinct, &ids[..codes.len()], &workers).expect("memory");
            let kept = eliminate_repeated(&rows, 0.7, usize::MAX / 4, &workers).expect("memory");
            // Ids that are not there are vertices that stay.
            let leaders = RowCodes { vertices: 30, ..rows }.leaders(&kept).expect("memory");

            let mut order: Vec<usize> = (0..codes.len()).filter(|&row| !codes[row].is_empty()).collect();
            order.sort_by_key(|&row| (Reverse(codes[row].len()), ids[row]));
            let sorted: Vec<String> = order.iter().map(|&row| codes[row].clone()).collect();
            let mut expected: Vec<u32> = (0..30).collect();
            for (kept, &row) in by_definition(&sorted, 0.7).iter().zip(&order) {
                if let Some(kept) = kept {
                    expected[ids[row] as usize] = ids[order[kept.place as usize]];
                    prop_assert_eq!(leaders.similarity[ids[row] as usize], kept.similarity);
                }
            }
            prop_assert_eq!(leaders.of, expected);
        }
    }
}
