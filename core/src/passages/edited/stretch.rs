//! Common runs of words of two texts, continued over edits in both directions.
//!
//! The edit distance of all beginnings of two texts is computed in a band of diagonals, row by row
//! (Ukkonen, *Algorithms for approximate string matching*, 1985), until no cell has few enough
//! edits. O(k) for each word of a continuation. Before that, [`RunReach`] rules out most runs.

use std::ops::Range;

use super::EditedWords;
use super::reach::{RunReach, SeedRun, Way};
use crate::error::Result;
use crate::executor::{self, Stop};
use crate::features::hash_sets::shared;
use crate::memory;

const DOING: &str = "comparing edited passages";
/// The number of equal words with which a continuation ends. With one, a chance word of the text
/// around a passage would often be part of it.
const EQUAL: u32 = 2;
/// A cell that the band has not reached.
const FAR: u32 = u32::MAX / 2;

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
    let [mut forwards, mut backwards] = [Continuations::default(), Continuations::default()];
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
        let ([forth, back], of) = (run.ways(words), edits.most());
        forwards.find(forth, of, stop)?;
        backwards.find(back, of, stop)?;
        let (SeedRun { from, to }, needed) = (run, run.needed(edits));
        if let Some((back, forth)) = backwards.with(&forwards, needed).zip(forwards.with(&backwards, needed))
        {
            let places = [0, 1].map(|side| from[side] - back[side]..to[side] + forth[side]);
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

/// The continuations of a run in one direction.
#[derive(Debug, Default)]
struct Continuations {
    /// For each number of edits and each diagonal, the words of the left text up to the furthest
    /// end.
    furthest: Vec<u32>,
    /// For each number of edits, the greatest number of words of both texts together that
    /// continuations of at most so many edits have.
    longest: Vec<usize>,
    /// For each diagonal of the band, the edits of the cell in the current row, and the number of
    /// equal words before it.
    band: Vec<(u32, u32)>,
}

impl Continuations {
    /// Finds the continuations of at most `most` edits.
    fn find(&mut self, [left, right]: [Way<'_, u64>; 2], most: usize, stop: &Stop) -> Result<()> {
        let width = 2 * most + 1;
        let Self { furthest, longest, band } = self;
        memory::refill(furthest, std::iter::repeat_n(0, (most + 1) * width), DOING)?;
        // The diagonal in the middle begins at the run.
        memory::refill(band, (0..width).map(|d| (d.checked_sub(most).map_or(FAR, |d| d as u32), 0)), DOING)?;
        for row in 1..=left.words.len() {
            stop.check_every(row, 1 << 8)?;
            let mut is_reached = false;
            for d in 0..width {
                let mut cell = (FAR, 0);
                // The words of the right text; the row before has one diagonal more of them.
                if let Some(column) =
                    (row + d).checked_sub(most).filter(|&column| column <= right.words.len())
                {
                    if column > 0 {
                        let is_equal = left.word(row - 1) == right.word(column - 1);
                        cell = if is_equal { (band[d].0, band[d].1 + 1) } else { (band[d].0 + 1, 0) };
                        if d > 0 {
                            cell.0 = cell.0.min(band[d - 1].0 + 1);
                        }
                    }
                    if d + 1 < width {
                        cell.0 = cell.0.min(band[d + 1].0 + 1);
                    }
                }
                band[d] = cell;
                if cell.0 <= most as u32 {
                    is_reached = true;
                    if cell.1 >= EQUAL {
                        furthest[cell.0 as usize * width + d] = row as u32;
                    }
                }
            }
            if !is_reached {
                break;
            }
        }
        longest.clear();
        for edits in 0..=most {
            let own = self.ends(edits).map(|end| end[0] + end[1]).max();
            let fewer = self.longest.last().copied().unwrap_or(0);
            memory::push(&mut self.longest, own.unwrap_or(0).max(fewer), DOING)?;
        }
        Ok(())
    }

    /// Returns the furthest ends after so many edits: the number of words in both texts.
    fn ends(&self, edits: usize) -> impl Iterator<Item = [usize; 2]> {
        let width = self.band.len();
        let of_diagonal = move |(d, &row): (usize, &u32)| {
            let row = row as usize;
            (row > 0).then(|| [row, row + d - width / 2])
        };
        let none = (edits == 0).then_some([0; 2]);
        self.furthest[edits * width..][..width].iter().enumerate().filter_map(of_diagonal).chain(none)
    }

    /// Returns how far the continuations reach in both texts that together with one in the other
    /// direction have at least `needed` words and not too many edits, if there are any.
    fn with(&self, other: &Self, needed: usize) -> Option<[usize; 2]> {
        let most = self.longest.len() - 1;
        let all = (0..=most).flat_map(|edits| {
            self.ends(edits).filter(move |end| end[0] + end[1] + other.longest[most - edits] >= needed)
        });
        all.reduce(|a, b| [a[0].max(b[0]), a[1].max(b[1])])
    }
}
