//! Elimination by repeatability (Guo et al.; algorithms.md section 7): a page goes where a page that stays repeats
//! enough of its feature code.
//!
//! Codes are taken in descending length. A code that has a long enough substring in common with some code that stays
//! is eliminated, for the one with the longest common substring (of several the first that stayed); else it stays,
//! and its substrings are added to a suffix automaton. So each code takes time in proportion to its length, however
//! many stay.
//!
//! One automaton of all codes would be far larger than any cache, and each character a few misses. But most codes
//! have nothing long in common with any other: codes are put into [groups](super::code_groups) first, and those of a
//! group have an automaton of their own. [Short codes](super::short_codes), whose substrings stand everywhere, come
//! last in any case and are looked at by themselves.

use super::code_groups::Grouping;
use super::repeated_blocks::{Blocks, CHECK_EVERY, STAYS, improve};
use super::short_codes;
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

/// An elimination on its way.
///
/// O(characters), but for a group whose automaton does not fit the budget: that times the number of blocks, most of
/// it over all threads. The outcome is the same.
#[derive(Debug)]
pub struct Elimination<'a, C: ?Sized> {
    codes: &'a C,
    threshold: f64,
    budget: usize,
    /// The longest match of each code with those that stay, once it is known.
    best: Vec<Match>,
    state: State,
}

/// What is to be done next.
#[derive(Debug)]
enum State {
    /// Putting codes into groups.
    Grouping(Grouping),
    /// Going through groups.
    Groups(Groups),
    /// Going through codes that are too many to be gone through by one thread, with the other groups.
    Large(Blocks, Vec<u32>, Groups),
    Done,
}

/// Groups of at least two codes.
#[derive(Debug, Default)]
struct Groups {
    /// The codes of the groups, one group behind the other.
    places: Vec<u32>,
    /// Where each group ends.
    ends: Vec<usize>,
    /// The next group.
    next: usize,
    /// How many of the places are done.
    done: usize,
    /// The first code that is in no group because it is short.
    short: usize,
}

/// Some codes of all.
struct Subset<'a, C: ?Sized> {
    codes: &'a C,
    places: &'a [u32],
}

impl<C: Codes + ?Sized> Codes for Subset<'_, C> {
    fn len(&self) -> usize {
        self.places.len()
    }

    fn code(&self, place: usize) -> &str {
        self.codes.code(self.places[place] as usize)
    }

    fn length(&self, place: usize) -> u32 {
        self.codes.length(self.places[place] as usize)
    }
}

impl<'a, C: Codes + ?Sized> Elimination<'a, C> {
    /// Nothing is done yet. What grows with the codes takes about `budget` bytes at a time; some 20 bytes a code are
    /// held beside.
    pub fn new(codes: &'a C, threshold: f64, budget: usize) -> Result<Self> {
        /// Under it short codes have many long enough substrings.
        const LEAST_THRESHOLD: f64 = 0.5;
        let best = memory::filled(STAYS, codes.len(), DOING)?;
        let mut state = State::Done;
        if threshold >= LEAST_THRESHOLD {
            let grouping = Grouping::new(codes, threshold)?;
            if short_codes::bytes(codes, grouping.grouped(), threshold) <= budget {
                state = State::Grouping(grouping);
            }
        }
        if matches!(state, State::Done) {
            // All are one group.
            let mut places = Vec::new();
            memory::reserve(&mut places, codes.len(), DOING)?;
            places.extend(0..codes.len() as u32);
            let groups = Groups { ends: vec![codes.len()], places, short: codes.len(), ..Groups::default() };
            state = State::Groups(groups);
        }
        Ok(Self { codes, threshold, budget, best, state })
    }

    /// Goes on for a second or so; false if there is nothing left to do.
    pub fn advance(&mut self, workers: &dyn Workers) -> Result<bool> {
        self.state = match std::mem::replace(&mut self.state, State::Done) {
            State::Grouping(mut grouping) => {
                if grouping.advance(self.codes, self.budget, workers)? {
                    State::Grouping(grouping)
                } else {
                    State::Groups(Groups::new(&grouping, workers)?)
                }
            }
            State::Groups(groups) => self.next_groups(groups, workers)?,
            State::Large(mut blocks, places, groups) => {
                if blocks.advance(&Subset { codes: self.codes, places: &places }, workers)? {
                    State::Large(blocks, places, groups)
                } else {
                    for (&place, found) in
                        places.iter().zip(&blocks.best).filter(|(_, found)| **found != STAYS)
                    {
                        let text = places[found.text as usize];
                        self.best[place as usize] = Match { text, ..*found };
                    }
                    State::Groups(groups)
                }
            }
            State::Done => return Ok(false),
        };
        Ok(true)
    }

    /// Goes through the next groups, those of about as many characters for each thread, or one that is larger.
    fn next_groups(&mut self, mut groups: Groups, workers: &dyn Workers) -> Result<State> {
        const CHARACTERS: usize = 1 << 19;
        /// Of an automaton, for a character of a code at most.
        const AUTOMATON: usize = 87;
        let most = CHARACTERS.min(self.budget / (2 * AUTOMATON * workers.count()));
        let mut work: Vec<Group> = Vec::new();
        let mut characters = most;
        while let Some(range) = groups.range(groups.next) {
            let places = &groups.places[range];
            let here: usize = places.iter().map(|&place| self.codes.length(place as usize) as usize).sum();
            if here > most {
                if work.is_empty() {
                    let mut copy = Vec::new();
                    memory::extend(&mut copy, places, DOING)?;
                    (groups.next, groups.done) = (groups.next + 1, groups.done + copy.len());
                    let blocks = Blocks::new(copy.len(), self.threshold, self.budget)?;
                    return Ok(State::Large(blocks, copy, groups));
                }
                break;
            }
            if characters + here > most {
                if work.len() == workers.count() {
                    break;
                }
                work.push(Group::new()?);
                characters = 0;
            }
            characters += here;
            if let Some(item) = work.last_mut() {
                memory::push(&mut item.groups, (groups.done, places.len()), DOING)?;
            }
            (groups.next, groups.done) = (groups.next + 1, groups.done + places.len());
        }
        if work.is_empty() {
            if groups.short < self.codes.len() {
                let best = &mut self.best;
                short_codes::eliminate_short(self.codes, groups.short, best, self.threshold, workers)?;
            }
            return Ok(State::Done);
        }
        workers::each(workers, &mut work, |item, stop| {
            item.eliminate(self.codes, &groups.places, self.threshold, stop)
        })?;
        for Group { groups: ranges, best, .. } in &work {
            let from = ranges.first().map_or(0, |range| range.0);
            for (&place, found) in groups.places[from..].iter().zip(best) {
                self.best[place as usize] = *found;
            }
        }
        Ok(State::Groups(groups))
    }

    /// The share of the work that is done, roughly.
    pub fn progress(&self) -> f64 {
        let of = |done: usize, places: &Vec<u32>| done as f64 / places.len().max(1) as f64;
        match &self.state {
            State::Grouping(grouping) => 0.5 * grouping.progress(),
            State::Groups(groups) => 0.5 + 0.5 * of(groups.done, &groups.places),
            State::Large(blocks, places, groups) => {
                0.5 + 0.5 * of(groups.done + blocks.next - places.len(), &groups.places)
            }
            State::Done => 1.0,
        }
    }

    /// Bytes on the heap, but for what a step takes while it lasts.
    pub fn bytes(&self) -> usize {
        let of = |groups: &Groups| memory::bytes(&groups.places) + memory::bytes(&groups.ends);
        memory::bytes(&self.best)
            + match &self.state {
                State::Grouping(grouping) => grouping.bytes(),
                State::Groups(groups) => of(groups),
                State::Large(blocks, places, groups) => blocks.bytes() + memory::bytes(places) + of(groups),
                State::Done => 0,
            }
    }

    /// For which codes those that were taken are eliminated, by place, when all is done.
    pub fn kept(&self) -> Result<Vec<Option<Kept>>> {
        let mut kept = Vec::new();
        memory::reserve(&mut kept, self.best.len(), DOING)?;
        kept.extend(self.best.iter().enumerate().map(|(place, found)| {
            let similarity = share(found.length, self.codes.length(place));
            (*found != STAYS).then_some(Kept { place: found.text, similarity })
        }));
        Ok(kept)
    }
}

impl Groups {
    /// The groups of at least two codes. O(codes).
    fn new(grouping: &Grouping, workers: &dyn Workers) -> Result<Self> {
        const BREATHE_EVERY: usize = 1 << 20;
        let short = grouping.grouped();
        let mut sizes = memory::filled(0u32, short, DOING)?;
        for place in 0..short {
            if place.is_multiple_of(BREATHE_EVERY) {
                workers.breathe()?;
            }
            sizes[grouping.group(place)] += 1;
        }
        let mut ends: Vec<usize> = Vec::new();
        // Where the next code of the group of each first one goes.
        let mut next = memory::filled(0u32, short, DOING)?;
        let mut end = 0;
        for (first, &size) in sizes.iter().enumerate().filter(|(_, size)| **size > 1) {
            next[first] = end as u32;
            end += size as usize;
            memory::push(&mut ends, end, DOING)?;
        }
        let mut places = memory::filled(0u32, end, DOING)?;
        for place in 0..short {
            let first = grouping.group(place);
            if sizes[first] > 1 {
                places[next[first] as usize] = place as u32;
                next[first] += 1;
            }
        }
        Ok(Self { places, ends, short, ..Self::default() })
    }

    fn range(&self, group: usize) -> Option<std::ops::Range<usize>> {
        let from = if group == 0 { 0 } else { self.ends[group - 1] };
        self.ends.get(group).map(|&to| from..to)
    }
}

/// Small groups, one behind the other: work for a thread.
struct Group {
    /// Where each begins among the places of groups, and its size.
    groups: Vec<(usize, usize)>,
    next: usize,
    automaton: SuffixAutomaton,
    /// Whether the next code is being added to it.
    adding: bool,
    best: Vec<Match>,
}

impl Group {
    fn new() -> Result<Self> {
        let automaton = SuffixAutomaton::new()?;
        Ok(Self { groups: Vec::new(), next: 0, automaton, adding: false, best: Vec::new() })
    }

    fn eliminate<C: Codes + ?Sized>(
        &mut self,
        codes: &C,
        places: &[u32],
        threshold: f64,
        stop: &Stop,
    ) -> Result<()> {
        /// An automaton of more bytes takes longer to be cleared than to be made anew.
        const SMALL: usize = 1 << 16;
        let begin = self.groups.first().map_or(0, |group| group.0);
        while let Some(&(from, size)) = self.groups.get(self.next) {
            // After a stop it goes on within the group.
            for &place in &places[begin + self.best.len()..from + size] {
                if self.best.len().is_multiple_of(CHECK_EVERY) {
                    stop.check()?;
                }
                let place = place as usize;
                let mut found = STAYS;
                // What was stopped while it was added is there in part already, and stays.
                if !self.adding {
                    improve(&mut found, codes, place, threshold, &self.automaton, stop)?;
                }
                if found == STAYS {
                    self.adding = true;
                    self.automaton.add(codes.code(place), place as u32, stop)?;
                    self.adding = false;
                }
                memory::push(&mut self.best, found, DOING)?;
            }
            self.next += 1;
            if self.automaton.bytes() > SMALL {
                self.automaton = SuffixAutomaton::new()?;
            } else {
                self.automaton.clear();
            }
        }
        Ok(())
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
                let similarity = repeatability(&codes[other], code, &Stop::default()).expect("memory");
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
