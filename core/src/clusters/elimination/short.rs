//! Elimination of short feature codes. Short codes come last, and each of their few substrings is
//! searched in all codes that stay.

use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::HashTable;

use super::blocks::{CHECK_EVERY, STAYS};
use super::rows::Codes;
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::windows::RunHashes;
use crate::memory;
use crate::verify::automaton::Match;
use crate::verify::repeatability::least_common;

const DOING: &str = "eliminating short documents";

/// A substring of a short code.
#[derive(Debug)]
struct Substring<'a> {
    text: &'a str,
    hash: u64,
    /// The first code that stays and has the substring.
    first: AtomicU32,
}

/// The long enough substrings of short codes.
#[derive(Debug, Default)]
struct Substrings<'a> {
    table: HashTable<Substring<'a>>,
    /// The distinct lengths of these substrings.
    lengths: Vec<u32>,
}

/// A text in which substrings are searched.
#[derive(Debug, Default)]
struct Text<'a> {
    text: &'a str,
    windows: RunHashes,
    /// The start of each character, and the end of the last character, in bytes.
    bounds: Vec<usize>,
}

impl<'a> Text<'a> {
    fn set(&mut self, text: &'a str) -> Result<()> {
        self.windows.set(text)?;
        self.text = text;
        memory::reserve(&mut self.bounds, text.len() + 1, DOING)?;
        memory::refill(&mut self.bounds, text.char_indices().map(|(at, _)| at).chain([text.len()]), DOING)
    }

    /// Returns the number of characters.
    fn length(&self) -> u32 {
        self.bounds.len() as u32 - 1
    }

    /// Returns `length` characters from `at` on, and their hash.
    fn part(&self, at: u32, length: u32) -> (&'a str, u64) {
        let [from, to] = [at, at + length].map(|at| self.bounds[at as usize]);
        (&self.text[from..to], self.windows.hash(at, length))
    }
}

impl<'a> Substrings<'a> {
    fn find(&self, (text, hash): (&str, u64)) -> Option<&Substring<'a>> {
        self.table.find(hash, |known| known.hash == hash && known.text == text)
    }

    /// Adds the long enough substrings of a short code.
    fn add(&mut self, code: &Text<'a>, threshold: f64) -> Result<()> {
        for length in least_common(code.length(), threshold)..=code.length() {
            if !self.lengths.contains(&length) {
                memory::push(&mut self.lengths, length, DOING)?;
            }
            for at in 0..=code.length() - length {
                let part = code.part(at, length);
                if self.find(part).is_none() {
                    let again = |known: &Substring<'_>| known.hash;
                    memory::attempt(DOING, || self.table.try_reserve(1, again))?;
                    let found = Substring { text: part.0, hash: part.1, first: AtomicU32::new(STAYS.text) };
                    self.table.insert_unique(part.1, found, again);
                }
            }
        }
        Ok(())
    }

    /// Records that a code stays. After an interrupt, the call can be repeated.
    fn keep(&self, code: &Text<'_>, place: usize, stop: &Stop) -> Result<()> {
        const CHECK_EVERY: u32 = 1 << 14;
        for &length in self.lengths.iter().filter(|&&length| length <= code.length()) {
            for at in 0..=code.length() - length {
                if at % CHECK_EVERY == CHECK_EVERY - 1 {
                    stop.check()?;
                }
                if let Some(known) = self.find(code.part(at, length)) {
                    known.first.fetch_min(place as u32, Ordering::Relaxed);
                }
            }
        }
        Ok(())
    }

    /// Returns the longest substring of a short code that a code has in common with a code that
    /// stays, of at least `least` characters.
    fn longest(&self, code: &Text<'_>, least: u32) -> Match {
        let most = self.lengths.iter().copied().max().unwrap_or(0).min(code.length());
        for length in (least..=most).rev() {
            let parts = (0..=code.length() - length).filter_map(|at| self.find(code.part(at, length)));
            let first = parts.map(|known| known.first.load(Ordering::Relaxed)).min();
            if let Some(text) = first.filter(|&first| first != STAYS.text) {
                return Match { length, text };
            }
        }
        STAYS
    }
}

/// Returns an upper bound for the number of bytes that [`eliminate_short`] takes for substrings of
/// the codes at the place `from` and after it.
pub fn bytes<C: Codes + ?Sized>(codes: &C, from: usize, threshold: f64) -> usize {
    const ENTRY: usize = (size_of::<Substring<'_>>() + 1) * 16 / 7;
    let substrings = |place: usize| {
        let characters = codes.length(place);
        let lengths = (characters - least_common(characters, threshold) + 1) as usize;
        lengths * (lengths + 1) / 2
    };
    (from..codes.len()).map(substrings).sum::<usize>() * ENTRY
}

/// Decides for each code at the place `from` and after it whether it stays. `best` must already
/// contain the results of all codes before `from`. O(characters · lengths of short codes).
pub fn eliminate_short<C: Codes + ?Sized>(
    codes: &C,
    from: usize,
    best: &mut [Match],
    threshold: f64,
    executor: &dyn Executor,
) -> Result<()> {
    let mut state = (Substrings::default(), Text::default(), from);
    executor::one(executor, &mut state, |(substrings, text, next), stop| {
        while *next < codes.len() {
            stop.check_every(*next, CHECK_EVERY)?;
            text.set(codes.code(*next))?;
            substrings.add(text, threshold)?;
            *next += 1;
        }
        Ok(())
    })?;
    let substrings = &state.0;
    let (long, short) = best.split_at_mut(from);
    let size = from.div_ceil(executor.count()).max(1);
    let mut parts: Vec<_> =
        long.chunks(size).enumerate().map(|(n, part)| (n * size, part, Text::default())).collect();
    executor::each(executor, &mut parts, |(place, part, text), stop| {
        while let Some((found, rest)) = part.split_first() {
            stop.check_every(*place, CHECK_EVERY)?;
            if *found == STAYS {
                text.set(codes.code(*place))?;
                substrings.keep(text, *place, stop)?;
            }
            (*part, *place) = (rest, *place + 1);
        }
        Ok(())
    })?;
    let mut state = (&mut *short, Text::default(), from);
    executor::one(executor, &mut state, |(short, text, next), stop| {
        while *next < codes.len() {
            stop.check_every(*next, CHECK_EVERY)?;
            text.set(codes.code(*next))?;
            let found = substrings.longest(text, least_common(text.length(), threshold));
            if found == STAYS {
                substrings.keep(text, *next, stop)?;
            }
            short[*next - from] = found;
            *next += 1;
        }
        Ok(())
    })?;
    // Codes that stayed later may have more in common with an eliminated code.
    let mut state = (best, Text::default(), 0);
    executor::one(executor, &mut state, |(best, text, next), stop| {
        while let Some(found) = best.get_mut(*next) {
            stop.check_every(*next, CHECK_EVERY)?;
            if *found != STAYS {
                text.set(codes.code(*next))?;
                let longer = substrings.longest(text, found.length + 1);
                *found = if longer == STAYS { *found } else { longer };
            }
            *next += 1;
        }
        Ok(())
    })
}
