//! Filtered sketches (Huang et al., TLCS (CIKM 2008), section 3.3; docs/design/algorithms.md section 5): what two texts
//! have in common in runs of some width, and nothing else. A character of A stays where a window covers it that occurs
//! in B, and the same for B. Linear time and space; between texts that have little to do with each other
//! hardly anything is left.

use super::column::DOING;
use super::windows::WindowedText;
use crate::error::Result;
use crate::memory;
use crate::workers::Stop;

/// The windows of one text, to be looked up, and the sketches of the last comparison.
#[derive(Debug, Default)]
pub struct Filter {
    /// Bits of the fingerprints that are there: most windows of other texts end here.
    bits: Vec<u64>,
    /// A hash table of windows, by their number from 1, below the upper half of their fingerprint; 0 is free.
    slots: Vec<u64>,
    /// The first window with the same content as each.
    first: Vec<u32>,
    /// The last comparison that found each.
    found: Vec<u32>,
    comparison: u32,
    /// The characters of the sketches of both texts, by their numbers.
    pub left: Vec<u32>,
    /// Those of the other text.
    pub right: Vec<u32>,
}

/// Bits of the table of bits.
const BITS: u32 = 17;

/// The half of a slot that is of the fingerprint.
const TAG: u64 = u64::MAX << 32;

/// What of a fingerprint stands in a slot. Slots are found by the lower half.
#[inline]
fn tag(fingerprint: u64) -> u64 {
    fingerprint & TAG
}

impl Filter {
    /// Makes it that of this text. O(characters) as expected.
    pub fn set(&mut self, left: &WindowedText, stop: &Stop) -> Result<()> {
        self.bits.clear();
        self.slots.clear();
        self.first.clear();
        self.found.clear();
        self.comparison = 0;
        memory::reserve(&mut self.bits, 1 << (BITS - 6), DOING)?;
        self.bits.resize(1 << (BITS - 6), 0);
        let slots = (2 * left.len()).next_power_of_two().max(2);
        memory::reserve(&mut self.slots, slots, DOING)?;
        self.slots.resize(slots, 0);
        memory::reserve(&mut self.first, left.len(), DOING)?;
        memory::reserve(&mut self.found, left.len(), DOING)?;
        self.found.resize(left.len(), 0);
        for start in 0..left.len() {
            if start.is_multiple_of(1 << 14) {
                stop.check()?;
            }
            let fingerprint = left.fingerprint(start);
            let bit = fingerprint >> (64 - BITS);
            self.bits[bit as usize / 64] |= 1 << (bit % 64);
            let slot = self.slot(left, fingerprint, left.content(start));
            if self.slots[slot] == 0 {
                self.slots[slot] = tag(fingerprint) | (start as u64 + 1);
            }
            self.first.push(self.slots[slot] as u32 - 1);
        }
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

    /// Makes the sketches of the text that it was set to and another one.
    pub fn sketch(&mut self, left: &WindowedText, right: &WindowedText, stop: &Stop) -> Result<()> {
        const CHECK_EVERY: usize = 1 << 14;
        self.comparison += 1;
        let mut sketch = std::mem::take(&mut self.right);
        sketch.clear();
        memory::reserve(&mut sketch, right.symbols.len(), DOING)?;
        let (mut covered, mut start, mut checked) = (0, 0, 0);
        stop.check()?;
        while start < right.len() {
            if start - checked >= CHECK_EVERY {
                stop.check()?;
                checked = start;
            }
            let fingerprint = right.fingerprint(start);
            let bit = fingerprint >> (64 - BITS);
            if self.bits[bit as usize / 64] >> (bit % 64) & 1 == 0 {
                start += 1;
                continue;
            }
            let slot = self.slot(left, fingerprint, right.content(start));
            let Some(window) = (self.slots[slot] as u32).checked_sub(1) else {
                start += 1;
                continue;
            };
            // Where one is found those after it mostly are, too, and need not be looked up.
            let window = window as usize;
            let last = start + right.run(start + 1, left, window + 1);
            for &first in &self.first[window..=window + last - start] {
                self.found[first as usize] = self.comparison;
            }
            cover(&mut sketch, &mut covered, start, right.end(last));
            start = last + 1;
        }
        self.right = sketch;
        self.left.clear();
        if self.right.is_empty() {
            return Ok(());
        }
        memory::reserve(&mut self.left, left.symbols.len(), DOING)?;
        let mut covered = 0;
        let is_found = |start: &usize| self.found[self.first[*start] as usize] == self.comparison;
        let mut start = 0;
        while start < left.len() {
            let run = (start..left.len()).take_while(is_found).count();
            if run > 0 {
                cover(&mut self.left, &mut covered, start, left.end(start + run - 1));
            }
            start += run + 1;
        }
        Ok(())
    }

    /// Makes the sketches all of both texts.
    pub fn keep_all(&mut self, left: &WindowedText, right: &WindowedText) -> Result<()> {
        for (sketch, windows) in [(&mut self.left, left), (&mut self.right, right)] {
            sketch.clear();
            memory::reserve(sketch, windows.symbols.len(), DOING)?;
            // No text has more characters than 32 bits count.
            sketch.extend(0..windows.symbols.len() as u32);
        }
        Ok(())
    }
}

/// Adds the characters of windows, `start..end`, that are not covered yet; windows come in order.
#[inline]
fn cover(sketch: &mut Vec<u32>, covered: &mut usize, start: usize, end: usize) {
    sketch.extend((*covered).max(start) as u32..end as u32);
    *covered = end;
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
                prop_assert_eq!(&filter.left, &naive(&a, &other, width as usize));
                prop_assert_eq!(&filter.right, &naive(&other, &a, width as usize));
            }
        }
    }

    #[test]
    fn white_space_and_the_beginning() {
        let stop = Stop::default();
        let mut windows = WindowedText::default();
        windows.read("a \n\t b\u{3000}漢 ", 0, 3, &stop).unwrap();
        assert_eq!(windows.symbols, "a b 漢 ".chars().map(u32::from).collect::<Vec<_>>());
        assert_eq!(windows.places, [0, 1, 5, 6, 7, 8, 9]);
        assert_eq!((0..windows.len()).map(|n| windows.end(n)).collect::<Vec<_>>(), [3, 4, 5, 5, 6]);
        windows.read("ab   漢漢", 5, 3, &stop).unwrap();
        assert_eq!((windows.symbols.len(), windows.places.last()), (4, Some(&6)));
        windows.read("ab   漢漢", 4, 3, &stop).unwrap();
        assert_eq!((windows.symbols.len(), windows.places.last()), (3, Some(&5)));
    }
}
