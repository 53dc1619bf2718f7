//! Elimination by repeatability with one suffix automaton, which is emptied and refilled if it does
//! not fit a budget.

use super::rows::Codes;
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::memory;
use crate::verify::automaton::{Match, SuffixAutomaton};
use crate::verify::repeatability::least_common;

const DOING: &str = "eliminating repeated documents";
/// The number of codes that are taken between two checks for interrupts.
pub const CHECK_EVERY: usize = 1 << 6;

/// The match that marks a code as staying.
pub const STAYS: Match = Match { length: 0, text: u32::MAX };

/// An elimination in blocks, in progress. Codes are taken, and the automaton is filled with the
/// codes that stay. When the automaton no longer fits the budget, and after the last code, all
/// remaining and all eliminated codes are looked up in it, it is emptied, and further codes are
/// taken.
///
/// O(characters) if the automaton fits the budget. Otherwise, the time is O(characters · blocks),
/// and all threads do most of the work. The result is the same.
#[derive(Debug)]
pub struct Blocks {
    threshold: f64,
    budget: usize,
    automaton: SuffixAutomaton,
    /// The longest match of each code with the codes that stay, as far as it is known. Its length
    /// is 0 as long as no match is long enough.
    pub best: Vec<Match>,
    /// The place of the first code that has not been taken yet.
    pub next: usize,
    /// True if the code at the place `next` is being added to the automaton.
    adding: bool,
    /// If the automaton is full or has all codes that stay, the place of the first code that has
    /// not been looked up in it yet.
    looked_up: Option<usize>,
    is_done: bool,
}

impl Blocks {
    /// Prepares the elimination. The automaton takes about `budget` bytes at a time; 8 bytes for
    /// each code are held in addition.
    pub fn new(codes: usize, threshold: f64, budget: usize) -> Result<Self> {
        let best = memory::filled(STAYS, codes, DOING)?;
        Ok(Self {
            threshold,
            budget,
            automaton: SuffixAutomaton::new()?,
            best,
            next: 0,
            adding: false,
            looked_up: None,
            is_done: false,
        })
    }

    /// Works for a fraction of a second. Returns false if nothing is left to do.
    pub fn advance<C: Codes + ?Sized>(&mut self, codes: &C, executor: &dyn Executor) -> Result<bool> {
        const CODES_A_STEP: usize = 1 << 13;
        let all = codes.len();
        if self.is_done {
            return Ok(false);
        }
        let Some(from) = self.looked_up else {
            let to = (self.next + CODES_A_STEP).min(all);
            let mut this = self;
            executor::one(executor, &mut this, |this, stop| this.fill(codes, to, stop))?;
            return Ok(true);
        };
        let count = executor.count();
        let to = (from + CODES_A_STEP * count).min(all);
        let size = (to - from).div_ceil(count).max(1);
        let Self { threshold, automaton, best, next, .. } = self;
        let parts = best[from..to].chunks_mut(size).enumerate().map(|(n, part)| (from + n * size, part));
        let mut parts: Vec<(usize, &mut [Match])> = parts.collect();
        executor::each(executor, &mut parts, |(from, part), stop| {
            while let Some(found) = part.first_mut() {
                stop.check_every(*from, CHECK_EVERY)?;
                if *found != STAYS || *from >= *next {
                    improve(found, codes, *from, *threshold, automaton, stop)?;
                }
                *part = std::mem::take(part).split_at_mut(1).1;
                *from += 1;
            }
            Ok(())
        })?;
        self.looked_up = (to < all).then_some(to);
        if self.looked_up.is_none() {
            self.automaton.clear();
            self.is_done = self.next == all;
        }
        Ok(true)
    }

    /// Takes codes up to the place `to`, or until the automaton is full. The automaton takes at
    /// least one code before it counts as full, and after the last code it is full.
    fn fill<C: Codes + ?Sized>(&mut self, codes: &C, to: usize, stop: &Stop) -> Result<()> {
        while self.next < to {
            stop.check_every(self.next, CHECK_EVERY)?;
            let found = &mut self.best[self.next];
            // If an interrupt came while the code was being added, the code is already partly in
            // the automaton, and it stays.
            if !self.adding {
                improve(found, codes, self.next, self.threshold, &self.automaton, stop)?;
            }
            let stays = *found == STAYS;
            if stays {
                self.adding = true;
                self.automaton.add(codes.code(self.next), self.next as u32, stop)?;
                self.adding = false;
            }
            self.next += 1;
            // Growing the automaton doubles its memory.
            if stays && 2 * self.automaton.bytes() > self.budget {
                self.looked_up = Some(0);
                break;
            }
        }
        if self.next == codes.len() {
            self.looked_up = Some(0);
        }
        Ok(())
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.best) + self.automaton.bytes()
    }
}

/// Looks up the code at a place in the automaton, and replaces `best` if it finds a better match.
/// Of two matches that are long enough, the longer one is better; of equally long matches, the one
/// with the code that stayed first.
pub fn improve<C: Codes + ?Sized>(
    best: &mut Match,
    codes: &C,
    place: usize,
    threshold: f64,
    automaton: &SuffixAutomaton,
    stop: &Stop,
) -> Result<()> {
    let length = codes.length(place);
    // The codes of former blocks stayed before all codes of this block, so no match in this block
    // is better than a former match of the whole code.
    if best.length == length {
        return Ok(());
    }
    let least = least_common(length, threshold).max(best.length + 1);
    if let Some(found) = automaton.longest_match(codes.code(place), length, least, stop)? {
        *best = found;
    }
    Ok(())
}
