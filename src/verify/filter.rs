//! Filtered sketches (Huang et al., TLCS (CIKM 2008), section 3.3; docs/design/algorithms.md section 5): what two texts
//! have in common in runs of some width, and nothing else. A character of A stays where a window covers it that occurs
//! in B, and the same for B. Linear time and space; between texts that have little to do with each other
//! hardly anything is left.

use std::ops::Range;

use super::column::DOING;
use super::runs::Runs;
use super::windows::{Polynomials, WindowedText, fingerprint};
use crate::error::Result;
use crate::executor::Stop;
use crate::memory;

/// What stays of a text.
#[derive(Debug, Default)]
pub struct Sketch {
    /// The characters, by their numbers, ascending.
    pub places: Vec<u32>,
    /// The characters themselves.
    pub symbols: Vec<u32>,
}

/// The windows of one text, to be looked up, and the sketches of the last comparison.
#[derive(Debug, Default)]
pub struct Filter {
    /// Bits of the polynomials that are there: most windows of other texts end here.
    bits: Vec<u64>,
    /// A hash table of windows, by their number from 1, below the upper half of their fingerprint; 0 is free.
    slots: Vec<u64>,
    /// The windows whose content one before them has, with the first one that has it.
    repeats: Vec<[u32; 2]>,
    /// A bit for each window that the other text of this comparison has.
    found: Vec<u64>,
    polynomials: Polynomials,
    /// What both texts have that was found in one piece.
    pub runs: Runs,
    /// What stays of both texts.
    pub left: Sketch,
    /// That of the other text.
    pub right: Sketch,
}

/// Bits of the number of a bit.
const BITS: u32 = 17;

/// Words of the bits.
const BIT_WORDS: usize = 1 << (BITS - 6);

/// Windows that are looked at without looking for a stop.
const CHECK_EVERY: usize = 1 << 14;

/// The half of a slot that is of the fingerprint.
const TAG: u64 = u64::MAX << 32;

/// What of a fingerprint stands in a slot. Slots are found by the lower half.
#[inline]
fn tag(fingerprint: u64) -> u64 {
    fingerprint & TAG
}

/// The word and the bit of a polynomial.
#[inline]
fn bit_of(polynomial: u64) -> (usize, u64) {
    let bit = polynomial >> (64 - BITS);
    (bit as usize / 64, 1 << (bit % 64))
}

impl Filter {
    /// Makes it that of this text. O(characters) as expected.
    pub fn set(&mut self, left: &WindowedText, stop: &Stop) -> Result<()> {
        self.bits.clear();
        self.slots.clear();
        self.repeats.clear();
        memory::reserve(&mut self.bits, BIT_WORDS, DOING)?;
        self.bits.resize(BIT_WORDS, 0);
        let slots = (2 * left.len()).next_power_of_two().max(2);
        memory::reserve(&mut self.slots, slots, DOING)?;
        self.slots.resize(slots, 0);
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
                // No text has more characters than 32 bits count.
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

    /// The slot of the window with this content, or the free one where it would be.
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

    /// The first of some windows of another text that may be there, and its polynomial.
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

    /// Makes the sketches of the text that it was set to and another one.
    pub fn sketch(&mut self, left: &WindowedText, right: &WindowedText, stop: &Stop) -> Result<()> {
        self.runs.clear();
        self.found.clear();
        memory::reserve(&mut self.found, left.len().div_ceil(64), DOING)?;
        self.found.resize(left.len().div_ceil(64), 0);
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
                // Where one is found those after it mostly are, too, and need not be looked up.
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
        // What one of several windows with the same content is all are.
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

    /// Makes the sketches all of both texts.
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

    /// Room for all of a text.
    fn reserve(&mut self, text: &WindowedText) -> Result<()> {
        memory::reserve(&mut self.places, text.symbols.len(), DOING)?;
        memory::reserve(&mut self.symbols, text.symbols.len(), DOING)
    }

    /// Adds the characters of windows, `start..end`, that are not covered yet; windows come in order.
    #[inline]
    fn cover(&mut self, text: &WindowedText, covered: &mut usize, start: usize, end: usize) {
        let start = start.max(*covered);
        // No text has more characters than 32 bits count.
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

/// The first bit from `start` on that is set, or with all bits for `turned` that is not.
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
    use crate::text::width::width_of;
    use proptest::prelude::*;

    /// The definition: every window against every window.
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
