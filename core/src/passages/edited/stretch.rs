//! Common runs of words of two texts, continued over edits in both directions.
//!
//! O(k) for each word of a continuation, and O(k²) for a run that cannot be continued far enough.

use std::ops::Range;

use super::EditedWords;
use super::reach::{RunReach, SeedRun};
use crate::error::Result;
use crate::executor::{self, Stop};
use crate::features::hash_sets::shared;
use crate::memory;

const DOING: &str = "comparing edited passages";

/// Words of two texts that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) places: [Range<usize>; 2],
}

impl Stretch {
    fn overlaps(&self, other: &Self) -> bool {
        let both = self.places.iter().zip(&other.places);
        both.into_iter().all(|(own, other)| own.start < other.end && other.start < own.end)
    }

    fn join(&mut self, other: &Self) {
        for (own, other) in self.places.iter_mut().zip(&other.places) {
            *own = own.start.min(other.start)..own.end.max(other.end);
        }
    }

    /// Cuts two places of one text that overlap in the middle of what they share. Returns whether
    /// they are still long enough.
    pub(super) fn cut(&mut self, edits: EditedWords) -> bool {
        let [left, right] = &mut self.places;
        if right.start < left.end {
            let middle = right.start.midpoint(left.end);
            (left.end, right.start) = (middle, middle);
        }
        left.len() + right.len() >= 2 * edits.min_length as usize
    }

    /// Returns the share of the words that both sides have, repeats included.
    pub(super) fn similarity(&self, words: [&[u64]; 2], stop: &Stop) -> Result<f64> {
        let mut sorted = [Vec::new(), Vec::new()];
        for (n, sorted) in sorted.iter_mut().enumerate() {
            memory::extend(sorted, &words[n][self.places[n].clone()], DOING)?;
            executor::sort_unstable_by(sorted, stop, &Ord::cmp)?;
        }
        let all: usize = self.places.iter().map(Range::len).sum();
        Ok(2.0 * shared(&sorted[0], &sorted[1]) as f64 / all as f64)
    }
}

/// Returns the stretches of two texts in the order of the left text, none of which overlap in both
/// texts. `seeds` are places of equal runs in both texts.
pub(super) fn stretches(
    words: [&[u64]; 2],
    seeds: &mut [[u32; 2]],
    edits: EditedWords,
    stop: &Stop,
) -> Result<Vec<Stretch>> {
    let diagonal = |&[i, j]: &[u32; 2]| (i64::from(i) - i64::from(j), i);
    executor::sort_unstable_by(seeds, stop, &|a, b| diagonal(a).cmp(&diagonal(b)))?;
    let mut all: Vec<Stretch> = Vec::new();
    let mut reach = RunReach::default();
    // The diagonal of the last run, and where the run ends.
    let mut last: Option<(i64, usize)> = None;
    for seed in seeds.iter() {
        stop.check()?;
        let (own, [i, j]) = (diagonal(seed).0, seed.map(|place| place as usize));
        if last.is_some_and(|(diagonal, end)| diagonal == own && i < end) {
            continue;
        }
        let run = SeedRun::around(words, [i, j]);
        last = Some((own, run.to[0]));
        if run.length() < edits.run() || !reach.suffices(words, &run, edits)? {
            continue;
        }
        if let Some(places) = reach.stretch(words, &run, edits, stop)? {
            memory::push(&mut all, Stretch { places }, DOING)?;
        }
    }
    united(all, stop)
}

/// Joins stretches that overlap until no two of them do.
fn united(mut all: Vec<Stretch>, stop: &Stop) -> Result<Vec<Stretch>> {
    let order = |all: &mut Vec<Stretch>| {
        all.sort_unstable_by_key(|stretch| stretch.places.each_ref().map(|place| place.start));
    };
    order(&mut all);
    loop {
        let before = all.len();
        // Those that the next one may overlap in the left text, and those that end before it.
        let (mut open, mut done): (Vec<Stretch>, Vec<Stretch>) = (Vec::new(), Vec::new());
        for mut next in all {
            stop.check()?;
            let mut at = 0;
            while let Some(other) = open.get(at) {
                if other.overlaps(&next) {
                    next.join(&open.swap_remove(at));
                    at = 0;
                } else if other.places[0].end <= next.places[0].start {
                    memory::push(&mut done, open.swap_remove(at), DOING)?;
                } else {
                    at += 1;
                }
            }
            memory::push(&mut open, next, DOING)?;
        }
        memory::append(&mut done, open, DOING)?;
        all = done;
        order(&mut all);
        if all.len() == before {
            return Ok(all);
        }
    }
}
