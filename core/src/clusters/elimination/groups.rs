//! Groups of feature codes, and elimination within small groups.

use super::blocks::{CHECK_EVERY, STAYS, improve};
use super::grouping::CodeGrouping;
use super::rows::Codes;
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::memory;
use crate::storage::rows::Ragged;
use crate::verify::automaton::{Match, SuffixAutomaton};

const DOING: &str = "eliminating repeated documents";

/// Groups of at least two codes.
#[derive(Debug, Default)]
pub struct CodeGroups {
    /// The places of the codes of each group.
    groups: Ragged<u32>,
    /// The number of the next group.
    next: usize,
    /// The number of places that are done.
    pub done: usize,
    /// The first code that is in no group because it is short.
    pub short: usize,
}

/// The next task.
pub enum Taken {
    /// Small groups, divided among some threads.
    Small(Vec<SmallGroups>),
    /// The codes of a group that is too large for a thread.
    Large(Vec<u32>),
    /// Nothing is left.
    Nothing,
}

impl CodeGroups {
    /// Collects the groups of at least two codes. O(codes).
    pub fn new(grouping: &CodeGrouping, executor: &dyn Executor) -> Result<Self> {
        const BREATHE_EVERY: usize = 1 << 20;
        let short = grouping.grouped();
        let mut sizes = memory::filled(0u32, short, DOING)?;
        for place in 0..short {
            executor::breathe(executor, place, BREATHE_EVERY)?;
            sizes[grouping.group(place)] += 1;
        }
        // From here on each group, given by its first code, has its number among those of several.
        const ALONE: u32 = u32::MAX;
        let mut count = 0;
        for size in &mut sizes {
            let is_alone = std::mem::replace(size, if *size > 1 { count } else { ALONE }) < 2;
            count += u32::from(!is_alone);
        }
        let places = || {
            let numbered = (0..short).map(|place| (sizes[grouping.group(place)], place));
            let several = numbered.filter(|&(number, _)| number != ALONE);
            several.map(|(number, place)| (number as usize, place as u32))
        };
        Ok(Self { groups: Ragged::dealt(count as usize, places, DOING)?, short, ..Self::default() })
    }

    /// Puts all codes into one group.
    pub fn one(places: Vec<u32>) -> Self {
        let (short, starts) = (places.len(), vec![0, places.len()]);
        Self { groups: Ragged::new(places, starts), short, ..Self::default() }
    }

    /// Returns the places of the codes of all groups.
    pub fn places(&self) -> &[u32] {
        &self.groups.values
    }

    /// Takes the next groups, and divides them among at most `threads` threads. The groups of a
    /// thread have at most `most` characters together. If the next group alone has more, only this
    /// group is taken.
    pub fn take<C: Codes + ?Sized>(&mut self, codes: &C, most: usize, threads: usize) -> Result<Taken> {
        let mut work: Vec<SmallGroups> = Vec::new();
        let mut characters = most;
        while self.next < self.groups.len() {
            let places = self.groups.get(self.next);
            let here: usize = places.iter().map(|&place| codes.length(place as usize) as usize).sum();
            if here > most && !work.is_empty() {
                break;
            }
            let from = std::mem::replace(&mut self.done, self.groups.range(self.next).end);
            if here > most {
                let mut copy = Vec::new();
                memory::extend(&mut copy, places, DOING)?;
                self.next += 1;
                return Ok(Taken::Large(copy));
            }
            if characters + here > most {
                if work.len() == threads {
                    self.done = from;
                    break;
                }
                work.push(SmallGroups::new()?);
                characters = 0;
            }
            characters += here;
            if let Some(some) = work.last_mut() {
                memory::push(&mut some.groups, (from, places.len()), DOING)?;
            }
            self.next += 1;
        }
        Ok(if work.is_empty() { Taken::Nothing } else { Taken::Small(work) })
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.groups.bytes()
    }
}

/// Consecutive small groups: a unit of work for a thread.
#[derive(Debug)]
pub struct SmallGroups {
    /// The start of each group among the places of all groups, and the size of the group.
    groups: Vec<(usize, usize)>,
    next: usize,
    automaton: SuffixAutomaton,
    /// True if the next code is being added to the automaton.
    adding: bool,
    /// The number of codes of the group that were looked up again.
    again: usize,
    /// The matches of the codes that are done, in the order of the places.
    pub best: Vec<Match>,
}

impl SmallGroups {
    fn new() -> Result<Self> {
        let automaton = SuffixAutomaton::new()?;
        Ok(Self { groups: Vec::new(), next: 0, automaton, adding: false, again: 0, best: Vec::new() })
    }

    /// Returns where these codes begin among the places of all groups.
    pub fn from(&self) -> usize {
        self.groups.first().map_or(0, |group| group.0)
    }

    /// Processes the groups.
    pub fn eliminate<C: Codes + ?Sized>(
        &mut self,
        codes: &C,
        places: &[u32],
        threshold: f64,
        stop: &Stop,
    ) -> Result<()> {
        /// Clearing an automaton of more bytes takes longer than creating a new one.
        const SMALL: usize = 1 << 16;
        let begin = self.from();
        while let Some(&(from, size)) = self.groups.get(self.next) {
            // After an interrupt, the next call goes on within the group.
            for &place in &places[begin + self.best.len()..from + size] {
                stop.check_every(self.best.len(), CHECK_EVERY)?;
                let place = place as usize;
                let mut found = STAYS;
                // If an interrupt came while the code was being added, the code is already partly
                // in the automaton, and it stays.
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
            // Codes that stayed later may have more in common with an eliminated code.
            let own = &mut self.best[from - begin..];
            let before_last = own.iter().rposition(|found| *found == STAYS).unwrap_or(0);
            while self.again < before_last {
                stop.check_every(self.again, CHECK_EVERY)?;
                let found = &mut own[self.again];
                if *found != STAYS {
                    let place = places[from + self.again] as usize;
                    improve(found, codes, place, threshold, &self.automaton, stop)?;
                }
                self.again += 1;
            }
            self.again = 0;
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
