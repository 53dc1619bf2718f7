//! Elimination of short feature codes: they come last, and each of their few substrings is looked for in all codes
//! that stay.

use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::HashTable;

use super::repeated::Codes;
use super::repeated_blocks::{CHECK_EVERY, STAYS};
use crate::error::{Error, Result};
use crate::features::windows::Windows;
use crate::memory;
use crate::verify::automaton::Match;
use crate::verify::repeatability::least_common;
use crate::workers::{self, Workers};

const DOING: &str = "eliminating short documents";

/// A substring of a short code.
#[derive(Debug)]
struct Substring {
    hash: u64,
    /// A code that has it, and at which character.
    place: u32,
    at: u32,
    length: u32,
    /// The first code that stays and has it.
    first: AtomicU32,
}

/// The long enough substrings of the codes from some place on.
#[derive(Debug, Default)]
struct Substrings {
    table: HashTable<Substring>,
    /// Which lengths there are.
    lengths: Vec<u32>,
}

/// The characters of a text from one on.
fn part(text: &str, at: u32, length: u32) -> &str {
    let mut ends = text.char_indices().map(|(end, _)| end).chain([text.len()]);
    let from = ends.nth(at as usize).unwrap_or(text.len());
    let to = if length == 0 { from } else { ends.nth(length as usize - 1).unwrap_or(text.len()) };
    &text[from..to]
}

impl Substrings {
    fn find<C: Codes + ?Sized>(
        &self,
        codes: &C,
        text: &str,
        [at, length]: [u32; 2],
        hash: u64,
    ) -> Option<&Substring> {
        self.table.find(hash, |known| {
            known.hash == hash
                && known.length == length
                && part(codes.code(known.place as usize), known.at, length) == part(text, at, length)
        })
    }

    fn add<C: Codes + ?Sized>(
        &mut self,
        codes: &C,
        place: usize,
        threshold: f64,
        windows: &Windows,
    ) -> Result<()> {
        let (text, characters) = (codes.code(place), codes.length(place));
        for length in least_common(characters, threshold)..=characters {
            if !self.lengths.contains(&length) {
                memory::push(&mut self.lengths, length, DOING)?;
            }
            for at in 0..=characters - length {
                let hash = windows.hash(at, length);
                if self.find(codes, text, [at, length], hash).is_none() {
                    let again = |known: &Substring| known.hash;
                    self.table.try_reserve(1, again).map_err(|_| Error::OutOfMemory { doing: DOING })?;
                    let first = AtomicU32::new(STAYS.text);
                    let found = Substring { hash, place: place as u32, at, length, first };
                    self.table.insert_unique(hash, found, again);
                }
            }
        }
        Ok(())
    }

    /// Says that a code stays.
    fn keep<C: Codes + ?Sized>(&self, codes: &C, place: usize, windows: &Windows) {
        let (text, characters) = (codes.code(place), codes.length(place));
        for &length in self.lengths.iter().filter(|&&length| length <= characters) {
            for at in 0..=characters - length {
                if let Some(known) = self.find(codes, text, [at, length], windows.hash(at, length)) {
                    known.first.fetch_min(place as u32, Ordering::Relaxed);
                }
            }
        }
    }

    /// The longest substring of a short code that a code which stays has.
    fn longest<C: Codes + ?Sized>(
        &self,
        codes: &C,
        place: usize,
        threshold: f64,
        windows: &Windows,
    ) -> Match {
        let (text, characters) = (codes.code(place), codes.length(place));
        for length in (least_common(characters, threshold)..=characters).rev() {
            let of = |at: u32| self.find(codes, text, [at, length], windows.hash(at, length));
            let firsts =
                (0..=characters - length).filter_map(of).map(|known| known.first.load(Ordering::Relaxed));
            if let Some(text) = firsts.min().filter(|&first| first != STAYS.text) {
                return Match { length, text };
            }
        }
        STAYS
    }
}

/// Bytes that the substrings of the codes from `from` on take at most.
pub fn bytes<C: Codes + ?Sized>(codes: &C, from: usize, threshold: f64) -> usize {
    const ENTRY: usize = (size_of::<Substring>() + 1) * 16 / 7;
    let substrings = |place: usize| {
        let characters = codes.length(place);
        let lengths = (characters - least_common(characters, threshold) + 1) as usize;
        lengths * (lengths + 1) / 2
    };
    (from..codes.len()).map(substrings).sum::<usize>() * ENTRY
}

/// Takes the codes from `from` on, when `best` says of those before which stay. O(characters · lengths of short codes).
pub fn eliminate_short<C: Codes + ?Sized>(
    codes: &C,
    from: usize,
    best: &mut [Match],
    threshold: f64,
    workers: &dyn Workers,
) -> Result<()> {
    let mut state = (Substrings::default(), Windows::default(), from);
    workers::one(workers, &mut state, |(substrings, windows, next), stop| {
        while *next < codes.len() {
            if next.is_multiple_of(CHECK_EVERY) {
                stop.check()?;
            }
            windows.set(codes.code(*next))?;
            substrings.add(codes, *next, threshold, windows)?;
            *next += 1;
        }
        Ok(())
    })?;
    let substrings = &state.0;
    let (long, short) = best.split_at_mut(from);
    let size = from.div_ceil(workers.count()).max(1);
    let mut parts: Vec<_> =
        long.chunks(size).enumerate().map(|(n, part)| (n * size, part, Windows::default())).collect();
    workers::each(workers, &mut parts, |(place, part, windows), stop| {
        while let Some((found, rest)) = part.split_first() {
            if place.is_multiple_of(CHECK_EVERY) {
                stop.check()?;
            }
            if *found == STAYS {
                windows.set(codes.code(*place))?;
                substrings.keep(codes, *place, windows);
            }
            (*part, *place) = (rest, *place + 1);
        }
        Ok(())
    })?;
    let mut state = (short, Windows::default(), from);
    workers::one(workers, &mut state, |(short, windows, next), stop| {
        while *next < codes.len() {
            if next.is_multiple_of(CHECK_EVERY) {
                stop.check()?;
            }
            windows.set(codes.code(*next))?;
            let found = substrings.longest(codes, *next, threshold, windows);
            if found == STAYS {
                substrings.keep(codes, *next, windows);
            }
            short[*next - from] = found;
            *next += 1;
        }
        Ok(())
    })
}
