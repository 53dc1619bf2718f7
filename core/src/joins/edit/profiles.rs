//! Finds candidates among long texts by how often each gram occurs in them.
//!
//! Prefixes of grams tell short texts apart. In long texts that are written in an alphabet, most
//! grams of two characters are frequent, so any two texts share many grams. But an edit removes at
//! most q grams of q characters from a text and adds at most as many. So texts at distance d whose
//! lengths differ by i differ by at most 2qd - i in the counts of all their grams together
//! (Ukkonen, TCS 1992). If two neighbours that change places are one edit, it is q + 1 grams, and
//! at most 2(q + 1)d - 3i, since i of the edits are no such swaps. These counts are a text's
//! *profile*. Here, grams whose hashes collide are counted together, and counts stop at 255; both
//! of these can only make the difference smaller, never larger. Comparing two profiles takes tens
//! of nanoseconds, so all pairs whose lengths are compatible are compared.

use std::ops::Range;

use super::length_filter::{compatible, span};
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::texts::Texts;
use crate::hash::mix;
use crate::joins::Counts;
use crate::joins::pairs::Pair;
use crate::memory;
use crate::verify::edit::EditPredicate;

const DOING: &str = "comparing counts of grams";
/// The number of hash bits for grams of two characters, and for grams of three. Grams of three
/// characters distinguish more texts, but comparing their counts takes longer.
const BITS: [u32; 2] = [9, 12];
/// The number of bytes of a profile.
const PROFILE: usize = (1 << BITS[0]) + (1 << BITS[1]);

/// The profiles of some consecutive texts.
#[derive(Debug, Default)]
pub(super) struct Profiles {
    of: Range<u32>,
    grams: [Vec<u8>; 2],
}

/// Some texts whose profiles one thread computes.
struct TextRange<'a> {
    texts: Range<u32>,
    grams: [&'a mut [u8]; 2],
}

impl Profiles {
    /// Replaces the profiles with those of the texts `of`.
    fn make(&mut self, texts: &Texts, of: Range<u32>, executor: &dyn Executor) -> Result<()> {
        const TEXTS_A_SHARE: usize = 64;
        for (grams, bits) in self.grams.iter_mut().zip(BITS) {
            grams.clear();
            memory::fill(grams, 0, of.len() << bits, DOING)?;
        }
        self.of = of.clone();
        let [pairs, triples] = &mut self.grams;
        let grams =
            pairs.chunks_mut(TEXTS_A_SHARE << BITS[0]).zip(triples.chunks_mut(TEXTS_A_SHARE << BITS[1]));
        let shares = of.clone().step_by(TEXTS_A_SHARE).zip(grams).map(|(from, (pairs, triples))| TextRange {
            texts: from..of.end.min(from + TEXTS_A_SHARE as u32),
            grams: [pairs, triples],
        });
        executor::each(executor, &mut shares.collect::<Vec<_>>(), |share, stop| share.make(texts, stop))
    }

    /// Computes the profiles of a few texts, numbered by their positions in `some`.
    pub(super) fn of_some(texts: &Texts, some: &[u32], stop: &Stop) -> Result<Self> {
        let mut profiles = Self { of: 0..some.len() as u32, ..Self::default() };
        for (grams, bits) in profiles.grams.iter_mut().zip(BITS) {
            *grams = memory::filled(0, some.len() << bits, DOING)?;
        }
        let [pairs, triples] = &mut profiles.grams;
        for (n, &text) in some.iter().enumerate() {
            let grams =
                [&mut pairs[n << BITS[0]..][..1 << BITS[0]], &mut triples[n << BITS[1]..][..1 << BITS[1]]];
            TextRange { texts: text..text + 1, grams }.make(texts, stop)?;
        }
        Ok(profiles)
    }

    /// Reports whether the gram counts of two texts of these lengths show that the texts are too
    /// far apart. `grams` selects the counts of the grams of two characters (0) or of three (1).
    #[inline]
    pub(super) fn tell_apart(
        a: &[u8],
        b: &[u8],
        grams: usize,
        lengths: [u32; 2],
        edit: EditPredicate,
    ) -> bool {
        let [length, other] = lengths;
        let distance = u64::from(edit.most_distance(length.max(other)));
        let apart = u64::from(length.abs_diff(other));
        let swaps = u64::from(edit.swaps);
        differ_by_more(a, b, (4 + 2 * (grams as u64 + swaps)) * distance - (1 + 2 * swaps) * apart)
    }

    /// Returns the counts of the grams of two characters (0) or of three (1) of a text.
    #[inline]
    pub(super) fn get(&self, text: u32, grams: usize) -> &[u8] {
        let at = ((text - self.of.start) as usize) << BITS[grams];
        &self.grams[grams][at..at + (1 << BITS[grams])]
    }

    /// Returns the number of bytes on the heap.
    fn bytes(&self) -> usize {
        self.grams.iter().map(memory::bytes).sum()
    }
}

impl TextRange<'_> {
    fn make(&mut self, texts: &Texts, stop: &Stop) -> Result<()> {
        const CHECK_EVERY: usize = 1 << 16;
        let start = self.texts.start;
        for text in self.texts.clone() {
            stop.check()?;
            let at = (text - start) as usize;
            let [pairs, triples] = &mut self.grams;
            let pairs = &mut pairs[at << BITS[0]..][..1 << BITS[0]];
            let triples = &mut triples[at << BITS[1]..][..1 << BITS[1]];
            // After a stop, the share starts again from the beginning.
            pairs.fill(0);
            triples.fill(0);
            let (mut before, mut last) = (None, None);
            for (n, symbol) in texts.text(text).chars().map(|symbol| u64::from(u32::from(symbol))).enumerate()
            {
                stop.check_every(n, CHECK_EVERY)?;
                if let Some(last) = last {
                    count(pairs, BITS[0], last << 21 | symbol);
                    if let Some(before) = before {
                        count(triples, BITS[1], (before << 21 | last) << 21 | symbol);
                    }
                }
                (before, last) = (last, Some(symbol));
            }
        }
        Ok(())
    }
}

#[inline]
fn count(counts: &mut [u8], bits: u32, gram: u64) {
    let count = &mut counts[(mix(gram) >> (64 - bits)) as usize];
    *count = count.saturating_add(1);
}

/// Reports whether two profiles differ by more than `most` in total.
#[inline]
fn differ_by_more(a: &[u8], b: &[u8], most: u64) -> bool {
    const AT_ONCE: usize = 512;
    let mut differ = 0;
    for (a, b) in a.chunks(AT_ONCE).zip(b.chunks(AT_ONCE)) {
        let apart = a.iter().zip(b).map(|(&a, &b)| u32::from(a.abs_diff(b)));
        differ += u64::from(apart.sum::<u32>());
        if differ > most {
            return true;
        }
    }
    false
}

/// Pairs of texts of one table, or of two, with compatible lengths and compatible profiles. The
/// longer text has at least [`ByProfiles::SHORTEST`] characters.
#[derive(Debug)]
pub(super) struct ByProfiles {
    edit: EditPredicate,
    /// The left texts whose block is still to come.
    lefts: Range<u32>,
    rights: Option<Range<u32>>,
    /// The number of texts in a block. Two blocks are in memory at a time.
    block: usize,
    left: Profiles,
    right: Profiles,
    /// The texts of the current left block that are still to be compared with `right`.
    todo: Range<u32>,
    /// The partners of the current left block that are still to come.
    partners: Range<u32>,
    found: Vec<Pair>,
    counts: Counts,
}

/// A text, and the texts it is compared with.
struct ProbedText {
    left: u32,
    rights: Range<u32>,
    found: Vec<Pair>,
}

impl ByProfiles {
    /// The minimum number of characters of the longer text.
    pub(super) const SHORTEST: u32 = 128;

    /// Prepares the comparison. The profiles take about `budget` bytes.
    pub(super) fn new(
        edit: EditPredicate,
        lefts: Range<u32>,
        rights: Option<Range<u32>>,
        budget: usize,
    ) -> Self {
        /// A block may have this many texts even if the budget is smaller, because it takes little
        /// memory.
        const LEAST_BLOCK: usize = 64;
        Self {
            edit,
            lefts,
            rights,
            block: (budget / 2 / PROFILE).max(LEAST_BLOCK),
            left: Profiles::default(),
            right: Profiles::default(),
            todo: 0..0,
            partners: 0..0,
            found: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Returns the next candidate that is already found.
    pub(super) fn take(&mut self) -> Option<Pair> {
        self.found.pop()
    }

    /// Looks for more candidates. Returns false when there are none left.
    pub(super) fn advance(&mut self, texts: &Texts, executor: &dyn Executor) -> Result<bool> {
        if !self.todo.is_empty() {
            self.compare(texts, executor)?;
        } else if !self.partners.is_empty() {
            let part = first_of(&self.partners, self.block);
            self.right.make(texts, part.clone(), executor)?;
            self.partners.start = part.end;
            self.todo = self.left.of.clone();
        } else if !self.lefts.is_empty() {
            let block = first_of(&self.lefts, self.block);
            self.left.make(texts, block.clone(), executor)?;
            self.partners = span(block.clone().map(|left| self.partners(texts, left)));
            self.lefts.start = block.end;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Returns the texts whose lengths are compatible with that of a left text.
    fn partners(&self, texts: &Texts, left: u32) -> Range<u32> {
        let length = texts.length(left);
        let all = self.rights.clone().unwrap_or(left + 1..self.lefts.end);
        let shortest = if length < Self::SHORTEST { Self::SHORTEST } else { 0 };
        compatible(texts, self.edit, length, all, shortest)
    }

    /// Compares some texts of the left block with the texts of the right block.
    fn compare(&mut self, texts: &Texts, executor: &dyn Executor) -> Result<()> {
        const MOST_PAIRS: usize = 1 << 19;
        const MOST_PROBES: usize = 1 << 12;
        let (mut probes, mut pairs) = (Vec::new(), 0);
        for left in self.todo.clone() {
            if pairs >= MOST_PAIRS || probes.len() == MOST_PROBES {
                break;
            }
            let Range { start, end } = self.partners(texts, left);
            let from = start.max(self.right.of.start);
            let rights = from..end.min(self.right.of.end).max(from);
            pairs += rights.len();
            memory::push(&mut probes, ProbedText { left, rights, found: Vec::new() }, DOING)?;
        }
        let (left, right, edit) = (&self.left, &self.right, self.edit);
        executor::each(executor, &mut probes, |probe, stop| probe.compare(texts, left, right, edit, stop))?;
        let found = probes.iter().map(|probe| probe.found.len()).sum::<usize>();
        memory::reserve(&mut self.found, found, DOING)?;
        probes.iter().for_each(|probe| self.found.extend_from_slice(&probe.found));
        self.counts.candidates += found as u64;
        self.counts.pruned_by_bitmap += (pairs - found) as u64;
        self.todo.start += probes.len() as u32;
        Ok(())
    }

    /// Returns what the profiles have counted so far.
    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns the share of the texts that is done.
    pub(super) fn progress(&self, texts: &Texts) -> f64 {
        let all = self.rights.as_ref().map_or(texts.len() as u32, |rights| rights.start);
        1.0 - f64::from(self.lefts.len() as u32) / f64::from(all.max(1))
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.left.bytes() + self.right.bytes() + memory::bytes(&self.found)
    }
}

impl ProbedText {
    fn compare(
        &mut self,
        texts: &Texts,
        lefts: &Profiles,
        rights: &Profiles,
        edit: EditPredicate,
        stop: &Stop,
    ) -> Result<()> {
        const CHECK_EVERY: u32 = 1 << 10;
        let length = texts.length(self.left);
        let [pairs, triples] = [0, 1].map(|grams| lefts.get(self.left, grams));
        while let Some(right) = self.rights.clone().next() {
            stop.check_every(right, CHECK_EVERY)?;
            let lengths = [length, texts.length(right)];
            if !Profiles::tell_apart(pairs, rights.get(right, 0), 0, lengths, edit)
                && !Profiles::tell_apart(triples, rights.get(right, 1), 1, lengths, edit)
            {
                memory::push(&mut self.found, Pair { left: self.left, right, similarity: 0.0 }, DOING)?;
            }
            self.rights.start += 1;
        }
        Ok(())
    }
}

/// Returns the first `most` texts of a range, or all of them if there are fewer.
fn first_of(range: &Range<u32>, most: usize) -> Range<u32> {
    range.start..range.start + range.len().min(most) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::PlainThreads;
    use crate::features::texts::{TextCollector, distinct};
    use crate::tests::edited_texts::{edited, swapped};
    use crate::verify::edit::distance_by;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(crate::cases::cases(300))]

        /// Checks the bound at the exact distance between two texts.
        #[test]
        fn edits_change_few_counts((x, y) in prop_oneof![edited(400, 40), swapped(300)], swaps: bool) {
            let [x, y]: [String; 2] = [x, y].map(|text| text.into_iter().collect());
            let mut collector = TextCollector::default();
            collector.add(0, &x).unwrap();
            collector.add(1, &y).unwrap();
            let texts = distinct(vec![collector], None, &PlainThreads(1)).unwrap().texts;
            prop_assume!(texts.len() == 2);
            let mut profiles = Profiles::default();
            profiles.make(&texts, 0..2, &PlainThreads(1)).unwrap();
            let (distance, _) = distance_by(&x, &y, swaps, &Stop::default()).unwrap();
            let (edit, lengths) = (EditPredicate::within(distance).with_swaps(swaps), [0, 1].map(|n| texts.length(n)));
            for grams in [0, 1] {
                let [a, b] = [0, 1].map(|text| profiles.get(text, grams));
                prop_assert!(!Profiles::tell_apart(a, b, grams, lengths, edit));
            }
        }
    }

    #[test]
    fn counts_do_not_overflow() {
        let mut collector = TextCollector::default();
        ["a".repeat(1000), "a".repeat(1300)]
            .iter()
            .zip(0..)
            .for_each(|(text, row)| collector.add(row, text).unwrap());
        let texts = distinct(vec![collector], None, &PlainThreads(1)).unwrap().texts;
        let mut profiles = Profiles::default();
        profiles.make(&texts, 0..2, &PlainThreads(2)).unwrap();
        assert_eq!(profiles.get(0, 0).iter().max(), Some(&255));
        assert!(!differ_by_more(profiles.get(0, 1), profiles.get(1, 1), 0));
        assert!(profiles.bytes() >= 2 * PROFILE);
    }
}
