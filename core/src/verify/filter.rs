//! Filtered sketches (Huang et al., TLCS (CIKM 2008), section 3.3; docs/design/algorithms.md
//! section 5): they keep only what two texts have in common in runs of a given width. A character
//! of A is kept if it is covered by a window that occurs in B, and a character of B if it is
//! covered by a window that occurs in A. Time and space are linear. Hardly anything is left of
//! texts that have little in common.

use std::ops::Range;

use super::column::DOING;
use super::runs::CommonRuns;
use super::windows::{Polynomials, WindowedText, fingerprint};
use crate::error::Result;
use crate::executor::Stop;
use crate::memory;

/// The characters of a text that are kept.
#[derive(Debug, Default)]
pub struct Sketch {
    /// The numbers of the kept characters in the text, ascending.
    pub places: Vec<u32>,
    /// The kept characters.
    pub symbols: Vec<u32>,
}

/// The windows of one text, for lookups, and the sketches of the last comparison.
#[derive(Debug, Default)]
pub struct Filter {
    /// A bitmap of the polynomials that occur in this text. It rejects most windows of other texts.
    bits: Vec<u64>,
    /// A hash table of windows. The lower half of a slot is the number of a window, counted from 1,
    /// and the upper half is the upper half of the window's fingerprint; 0 is a free slot.
    slots: Vec<u64>,
    /// Each window that repeats the content of an earlier window, and the first window with that
    /// content.
    repeats: Vec<[u32; 2]>,
    /// One bit per window, set if the other text of this comparison has the window.
    found: Vec<u64>,
    polynomials: Polynomials,
    /// The runs of characters that both texts have. Each run is covered by consecutive windows.
    pub runs: CommonRuns,
    /// The sketch of the text that the filter was set to.
    pub left: Sketch,
    /// The sketch of the other text.
    pub right: Sketch,
}

/// The number of bits of a polynomial that select a bit of the bitmap.
const BITS: u32 = 17;

/// The number of words of the bitmap.
const BIT_WORDS: usize = 1 << (BITS - 6);

/// The number of windows between two checks for a stop.
const CHECK_EVERY: usize = 1 << 14;

/// The half of a slot that holds a part of the fingerprint.
const TAG: u64 = u64::MAX << 32;

/// Returns the part of a fingerprint that is stored in a slot. Slots are found by the lower half of
/// the fingerprint.
#[inline]
fn tag(fingerprint: u64) -> u64 {
    fingerprint & TAG
}

/// Returns the word and the bit of the bitmap that belong to a polynomial.
#[inline]
fn bit_of(polynomial: u64) -> (usize, u64) {
    let bit = polynomial >> (64 - BITS);
    (bit as usize / 64, 1 << (bit % 64))
}

impl Filter {
    /// Sets the filter to a text. O(characters) expected.
    pub fn set(&mut self, left: &WindowedText, stop: &Stop) -> Result<()> {
        self.bits.clear();
        self.slots.clear();
        self.repeats.clear();
        memory::fill(&mut self.bits, 0, BIT_WORDS, DOING)?;
        let slots = (2 * left.len()).next_power_of_two().max(2);
        memory::fill(&mut self.slots, 0, slots, DOING)?;
        let mut polynomials = std::mem::take(&mut self.polynomials);
        polynomials.clear();
        let mut next = 0;
        while next < left.len() {
            stop.check()?;
            let some = polynomials.from(left, next, left.len())?;
            for (start, &polynomial) in (next..).zip(some) {
                let (word, bit) = bit_of(polynomial);
                self.bits[word] |= bit;
                let fingerprint = fingerprint(polynomial);
                let slot = self.slot(left, fingerprint, left.content(start));
                // No text has more characters than 32 bits can count.
                match (self.slots[slot] as u32).checked_sub(1) {
                    None => self.slots[slot] = tag(fingerprint) | (start as u64 + 1),
                    Some(first) => memory::push(&mut self.repeats, [start as u32, first], DOING)?,
                }
            }
            next += some.len();
        }
        self.polynomials = polynomials;
        Ok(())
    }

    /// Returns the slot of the window with this content, or the free slot where it would be.
    #[inline]
    fn slot(&self, left: &WindowedText, fingerprint: u64, content: &[u32]) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = fingerprint as usize & mask;
        while let Some(window) = (self.slots[slot] as u32).checked_sub(1) {
            let is_tagged = self.slots[slot] & TAG == tag(fingerprint);
            if is_tagged && left.content(window as usize) == content {
                break;
            }
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// Returns the first of the given windows of another text that may be in the filter, and the
    /// window's polynomial.
    #[inline]
    fn next(&mut self, right: &WindowedText, windows: Range<usize>) -> Result<Option<(usize, u64)>> {
        let Some(bits) = self.bits.first_chunk::<BIT_WORDS>() else { return Ok(None) };
        let mut start = windows.start;
        while start < windows.end {
            let some = self.polynomials.from(right, start, windows.end)?;
            let is_there = |&polynomial: &u64| {
                let (word, bit) = bit_of(polynomial);
                bits[word] & bit != 0
            };
            if let Some(n) = some.iter().position(is_there) {
                return Ok(Some((start + n, some[n])));
            }
            start += some.len();
        }
        Ok(None)
    }

    /// Makes the sketches of the filter's text and of another text.
    pub fn sketch(&mut self, left: &WindowedText, right: &WindowedText, stop: &Stop) -> Result<()> {
        self.runs.clear();
        self.found.clear();
        memory::fill(&mut self.found, 0, left.len().div_ceil(64), DOING)?;
        self.left.clear();
        self.polynomials.clear();
        let mut sketch = std::mem::take(&mut self.right);
        sketch.clear();
        sketch.reserve(right)?;
        let (mut covered, mut start) = (0, 0);
        while start < right.len() {
            stop.check()?;
            let end = right.len().min(start + CHECK_EVERY);
            while let Some((next, polynomial)) = self.next(right, start..end)? {
                start = next + 1;
                let slot = self.slot(left, fingerprint(polynomial), right.content(next));
                let Some(window) = (self.slots[slot] as u32).checked_sub(1) else { continue };
                // After a window that is found, the next windows mostly match, too. They are
                // compared directly and need no lookup.
                let more = right.run(next + 1, left, window as usize + 1);
                mark(&mut self.found, window as usize..window as usize + more + 1);
                let end_of_run = right.end(next + more);
                self.runs.add(window as usize, next, end_of_run - next)?;
                sketch.cover(right, &mut covered, next, end_of_run);
                start = next + more + 1;
                if start >= end {
                    break;
                }
            }
            start = start.max(end);
        }
        self.right = sketch;
        if self.right.places.is_empty() {
            return Ok(());
        }
        // If one of several windows with the same content is marked, all of them have to be.
        for of_first in [true, false] {
            for &[window, first] in &self.repeats {
                let (from, to) = if of_first { (window, first) } else { (first, window) };
                if self.found[from as usize / 64] >> (from % 64) & 1 == 1 {
                    self.found[to as usize / 64] |= 1 << (to % 64);
                }
            }
        }
        self.left.reserve(left)?;
        let (mut covered, mut start) = (0, 0);
        while let Some(first) = next_of(&self.found, start, 0) {
            let end = next_of(&self.found, first, u64::MAX).unwrap_or(left.len()).min(left.len());
            self.left.cover(left, &mut covered, first, left.end(end - 1));
            start = end;
        }
        Ok(())
    }

    /// Makes sketches that keep all characters of both texts.
    pub fn keep_all(&mut self, left: &WindowedText, right: &WindowedText) -> Result<()> {
        self.runs.clear();
        for (sketch, text) in [(&mut self.left, left), (&mut self.right, right)] {
            sketch.clear();
            sketch.reserve(text)?;
            sketch.cover(text, &mut 0, 0, text.symbols.len());
        }
        Ok(())
    }
}

impl Sketch {
    fn clear(&mut self) {
        self.places.clear();
        self.symbols.clear();
    }

    /// Reserves space for all characters of a text.
    fn reserve(&mut self, text: &WindowedText) -> Result<()> {
        memory::reserve(&mut self.places, text.symbols.len(), DOING)?;
        memory::reserve(&mut self.symbols, text.symbols.len(), DOING)
    }

    /// Adds those of the characters `start..end` that are not covered yet. Ranges are added in the
    /// order of the text.
    #[inline]
    fn cover(&mut self, text: &WindowedText, covered: &mut usize, start: usize, end: usize) {
        let start = start.max(*covered);
        // No text has more characters than 32 bits can count.
        self.places.extend(start as u32..end as u32);
        self.symbols.extend_from_slice(&text.symbols[start..end]);
        *covered = end;
    }
}

/// Sets the bits of a range that is not empty.
fn mark(bits: &mut [u64], range: Range<usize>) {
    let (first, last) = (range.start / 64, (range.end - 1) / 64);
    for (n, word) in bits[first..=last].iter_mut().enumerate() {
        let from = if n == 0 { range.start % 64 } else { 0 };
        let to = if first + n == last { (range.end - 1) % 64 } else { 63 };
        *word |= u64::MAX << from & u64::MAX >> (63 - to);
    }
}

/// Returns the first bit from `start` on that is set, or the first bit that is clear if `turned` is
/// all ones.
fn next_of(bits: &[u64], start: usize, turned: u64) -> Option<usize> {
    let mut at = start / 64;
    let mut word = (bits.get(at)? ^ turned) & u64::MAX << (start % 64);
    while word == 0 {
        at += 1;
        word = bits.get(at)? ^ turned;
    }
    Some(64 * at + word.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::characters::width_of;
    use proptest::prelude::*;

    /// Implements the definition: every window against every window.
    fn naive(a: &[char], b: &[char], width: usize) -> Vec<u32> {
        let window = |text: &[char], start: usize| {
            let mut wide = 0;
            (start..text.len()).find_map(|n| {
                wide += width_of(text[n]);
                (wide >= width).then_some(start..n + 1)
            })
        };
        let others: Vec<&[char]> = (0..b.len()).filter_map(|n| window(b, n)).map(|w| &b[w]).collect();
        let kept = (0..a.len()).filter_map(|n| window(a, n)).filter(|w| others.contains(&&a[w.clone()]));
        let kept: Vec<_> = kept.collect();
        (0..a.len()).filter(|n| kept.iter().any(|w| w.contains(n))).map(|n| n as u32).collect()
    }

    proptest! {
        #[test]
        fn equals_the_definition(
            a in "[ab漢]{0,60}",
            b in "[ab漢]{0,60}",
            c in "[ab漢]{0,60}",
            width in 1..12u32,
        ) {
            let stop = Stop::default();
            let [x, y, z] = [&a, &b, &c].map(|text| {
                let mut windows = WindowedText::default();
                windows.read(text, 0, width, &stop).unwrap();
                windows
            });
            let mut filter = Filter::default();
            filter.set(&x, &stop).unwrap();
            let a: Vec<char> = a.chars().collect();
            for (other, windows) in [(&b, &y), (&c, &z), (&b, &y)] {
                let other: Vec<char> = other.chars().collect();
                filter.sketch(&x, windows, &stop).unwrap();
                prop_assert_eq!(&filter.left.places, &naive(&a, &other, width as usize));
                prop_assert_eq!(&filter.right.places, &naive(&other, &a, width as usize));
            }
        }
    }

    #[test]
    fn white_space_and_the_beginning() {
        let stop = Stop::default();
        let mut windows = WindowedText::default();
        windows.read("a \n\t b\u{3000}漢 ", 0, 3, &stop).unwrap();
        assert_eq!(windows.symbols, "a b 漢 ".chars().map(u32::from).collect::<Vec<_>>());
        assert_eq!((0..6).map(|n| windows.span(n..n + 1).start).collect::<Vec<_>>(), [0, 1, 5, 6, 7, 8]);
        assert_eq!((0..windows.len()).map(|n| windows.end(n)).collect::<Vec<_>>(), [3, 4, 5, 5, 6]);
        windows.read("ab   漢漢", 5, 3, &stop).unwrap();
        assert_eq!((windows.symbols.len(), windows.span(0..4)), (4, 0..6));
        windows.read("ab   漢漢", 4, 3, &stop).unwrap();
        assert_eq!((windows.symbols.len(), windows.span(0..3)), (3, 0..3));
    }
}
