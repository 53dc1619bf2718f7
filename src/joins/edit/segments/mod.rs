//! Candidates among long texts of which most say the same in part, as pages of one template: by pieces that both have at
//! about the same place.
//!
//! A text is cut into segments of some characters. Each edit changes one segment at most, so of any m segments of a text at
//! least m - d are in a text at distance d, moved by no more than the edits before and behind allow: by s characters in
//! a text that is longer by i, where |s| + |i - s| <= d (Li, Deng, Wang, Feng: Pass-Join, PVLDB 2011, who cut a text into
//! d + 1 and look for one). Segments that most texts have, those of a frame, are left out, so that it is what differs that
//! counts. An edit changes q grams of q characters, but one segment: so these tell texts apart that grams (`profiles`) do
//! not. What is looked at is about what texts have in common by chance.

pub(super) mod choice;
mod index;
mod sides;

use std::ops::Range;

use crate::error::Result;
use crate::features::texts::Texts;
use crate::joins::Counts;
use crate::joins::pairs::Pair;
use crate::memory;
use crate::verify::edit::EditPredicate;
use crate::workers::{self, Stop, Workers};
use index::{Entry, Frequencies, Index, Share};
use sides::Sides;

const DOING: &str = "looking for pieces in common";

/// Pairs of texts of one table, or of two, whose lengths go together and which have enough segments in common.
#[derive(Debug)]
pub(super) struct BySegments {
    sides: Sides,
    /// Characters of a segment.
    length: usize,
    /// Those whose block is still to come.
    todo: Range<u32>,
    /// How often segments are in other texts, by a sample of them.
    frequencies: Option<Frequencies>,
    /// About so many bytes are for the index.
    budget: usize,
    /// The block at work, and the partners of its texts that are still to be looked at.
    block: Range<u32>,
    index: Index,
    partners: Range<u32>,
    found: Vec<Pair>,
    counts: Counts,
}

/// Some partners, and what they have enough in common with.
struct Probe {
    partners: Range<u32>,
    found: Vec<Pair>,
    compared: u64,
}

impl BySegments {
    /// None was compared yet; the index takes about `budget` bytes.
    pub(super) fn new(
        edit: EditPredicate,
        lefts: Range<u32>,
        rights: Option<Range<u32>>,
        length: usize,
        budget: usize,
    ) -> Self {
        Self {
            todo: lefts.clone(),
            sides: Sides { edit, lefts, rights },
            length,
            frequencies: None,
            budget,
            block: 0..0,
            index: Index::default(),
            partners: 0..0,
            found: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// The next candidate that is there already.
    pub(super) fn take(&mut self) -> Option<Pair> {
        self.found.pop()
    }

    /// Goes on to more of them; false where there are none.
    pub(super) fn advance(&mut self, texts: &Texts, workers: &dyn Workers) -> Result<bool> {
        if !self.partners.is_empty() {
            self.compare(texts, workers)?;
        } else if !self.todo.is_empty() {
            self.next_block(texts, workers)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Makes the index of the next texts.
    fn next_block(&mut self, texts: &Texts, workers: &dyn Workers) -> Result<()> {
        const TEXTS_A_SHARE: usize = 64;
        /// So few are no burden.
        const LEAST_TEXTS: usize = 8;
        self.index = Index::default();
        let frequencies = match self.frequencies.take() {
            Some(frequencies) => frequencies,
            None => self.sampled(texts, workers)?,
        };
        let (mut bytes, mut end) = (0, self.todo.start);
        while end < self.todo.end
            && (bytes < self.budget / 2 || ((end - self.todo.start) as usize) < LEAST_TEXTS)
        {
            bytes += Entry::MOST.min(texts.length(end) as usize / self.length) * Entry::BYTES;
            end += 1;
        }
        self.block = self.todo.start..end;
        let mut shares = Vec::new();
        for first in self.block.clone().step_by(TEXTS_A_SHARE) {
            let own = first..end.min(first + TEXTS_A_SHARE as u32);
            let own = own.map(|text| (text, self.sides.distance(texts, text)));
            shares.push(Share::new(own.collect(), first - self.block.start));
        }
        workers::each(workers, &mut shares, |share, stop| share.cut(texts, self.length, &frequencies, stop))?;
        let mut made = (shares, Index::default());
        workers::one(workers, &mut made, |(shares, index), stop| {
            *index = Index::new(shares, self.length, stop)?;
            Ok(())
        })?;
        self.index = made.1;
        self.frequencies = Some(frequencies);
        let of_each = self.block.clone().map(|text| self.sides.partners(texts, text));
        let all = of_each
            .filter(|partners| !partners.is_empty())
            .reduce(|all, partners| all.start.min(partners.start)..all.end.max(partners.end));
        self.partners = all.unwrap_or_default();
        self.todo.start = end;
        Ok(())
    }

    /// How often segments are in the partners, by a sample of these.
    fn sampled(&self, texts: &Texts, workers: &dyn Workers) -> Result<Frequencies> {
        const SAMPLE: usize = 256;
        let all = self.sides.rights.clone().unwrap_or(self.sides.lefts.clone());
        let mut frequencies = Frequencies::default();
        workers::one(workers, &mut frequencies, |frequencies, stop| {
            let sample = all.clone().step_by(all.len().div_ceil(SAMPLE).max(1));
            *frequencies = Frequencies::new(texts, sample, self.length, self.sides.edit, stop)?;
            Ok(())
        })?;
        Ok(frequencies)
    }

    /// Compares some partners with the block.
    fn compare(&mut self, texts: &Texts, workers: &dyn Workers) -> Result<()> {
        const MOST_PAIRS: usize = 1 << 20;
        const LEAST_PARTNERS: u32 = 16;
        let all = (MOST_PAIRS / self.index.len().max(1)) as u32;
        let end = self.partners.end.min(self.partners.start.saturating_add(all.max(LEAST_PARTNERS)));
        // A probe has counts of its own for all of the block.
        let share = (end - self.partners.start).div_ceil(4 * workers.count() as u32).max(1);
        let probes = (self.partners.start..end).step_by(share as usize).map(|first| Probe {
            partners: first..end.min(first + share),
            found: Vec::new(),
            compared: 0,
        });
        let mut probes: Vec<Probe> = probes.collect();
        workers::each(workers, &mut probes, |probe, stop| probe.compare(self, texts, stop))?;
        let found = probes.iter().map(|probe| probe.found.len()).sum::<usize>();
        memory::reserve(&mut self.found, found, DOING)?;
        probes.iter().for_each(|probe| self.found.extend_from_slice(&probe.found));
        self.counts.candidates += found as u64;
        let compared: u64 = probes.iter().map(|probe| probe.compared).sum();
        self.counts.pruned_by_bitmap += compared - found as u64;
        self.partners.start = end;
        Ok(())
    }

    /// What segments did so far.
    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// The share of the texts that are done.
    pub(super) fn progress(&self) -> f64 {
        let all = self.sides.lefts.len().max(1) as f64;
        1.0 - self.todo.len() as f64 / all
    }

    /// Bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        let frequencies = self.frequencies.as_ref().map_or(0, Frequencies::bytes);
        self.index.bytes() + frequencies + memory::bytes(&self.found)
    }
}

impl Probe {
    fn compare(&mut self, of: &BySegments, texts: &Texts, stop: &Stop) -> Result<()> {
        let BySegments { sides, block, index, .. } = of;
        let mut counts = memory::filled(0u16, index.len(), DOING)?;
        while let Some(partner) = self.partners.clone().next() {
            stop.check()?;
            let length = texts.length(partner);
            let first = if sides.rights.is_none() { block.start.max(partner + 1) } else { block.start };
            let lengths = &texts.lengths()[first.min(block.end) as usize..block.end as usize];
            let from = lengths.partition_point(|&other| other < sides.edit.least_partner(length));
            let to = lengths.partition_point(|&other| sides.edit.least_partner(other) <= length);
            if from < to {
                index.count(texts.text(partner), length, &mut counts, stop)?;
                let first = first + from as u32;
                for text in first..first + (to - from) as u32 {
                    let member = (text - block.start) as usize;
                    if index.is_near(member, counts[member]) {
                        let [left, right] =
                            if sides.rights.is_none() { [partner, text] } else { [text, partner] };
                        memory::push(&mut self.found, Pair { left, right, similarity: 0.0 }, DOING)?;
                    }
                }
                self.compared += (to - from) as u64;
            }
            self.partners.start += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::choice::segment_length;
    use super::index::LENGTHS;
    use super::*;
    use crate::features::texts::{Distinct, TextCollector, distinct};
    use crate::hash::mix;
    use crate::verify::edit::distance;
    use crate::verify::edited_texts::edited;
    use crate::workers::PlainThreads;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn of(texts: &[String], right_from: Option<u32>) -> (Texts, Range<u32>, Option<Range<u32>>) {
        let mut collector = TextCollector::default();
        (0..).zip(texts).for_each(|(row, text)| collector.add(row, text).unwrap());
        let Distinct { texts, left, right } =
            distinct(vec![collector], right_from, &PlainThreads(1)).unwrap();
        let split = left.len() as u32;
        (texts, 0..split, right.map(|right| split..split + right.len() as u32))
    }

    /// All candidates, and how many pairs were compared.
    fn candidates(
        (texts, lefts, rights): &(Texts, Range<u32>, Option<Range<u32>>),
        edit: EditPredicate,
        length: usize,
        budget: usize,
    ) -> (BTreeSet<(u32, u32)>, u64) {
        let mut join = BySegments::new(edit, lefts.clone(), rights.clone(), length, budget);
        let (workers, mut found) = (PlainThreads(2), BTreeSet::new());
        loop {
            while let Some(pair) = join.take() {
                assert!(found.insert((pair.left, pair.right)), "each comes once");
            }
            if !join.advance(texts, &workers).unwrap() {
                break;
            }
            assert!(join.bytes() > 0 && (0.0..=1.0).contains(&join.progress()));
        }
        let counts = join.counts();
        assert_eq!(counts.candidates, found.len() as u64);
        (found, counts.candidates + counts.pruned_by_bitmap)
    }

    /// All pairs that are near.
    fn near(all: &(Texts, Range<u32>, Option<Range<u32>>), edit: EditPredicate) -> BTreeSet<(u32, u32)> {
        let (texts, lefts, rights) = all;
        let others = |left| rights.clone().unwrap_or(left + 1..lefts.end);
        let pairs = lefts.clone().flat_map(|left| others(left).map(move |right| (left, right)));
        pairs
            .filter(|&(a, b)| {
                let (distance, longer) = distance(texts.text(a), texts.text(b), &Stop::default()).unwrap();
                edit.passes(distance, longer)
            })
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Whatever is near is a candidate, at the very distance that two texts have.
        #[test]
        fn none_is_lost(
            pairs in prop::collection::vec(edited(300, 40), 1..4),
            length in LENGTHS,
            two in any::<bool>(),
            more in 0..3u32,
        ) {
            let mut texts: Vec<String> =
                pairs.iter().flat_map(|(x, y)| [x, y]).map(|text| text.iter().collect()).collect();
            let (first, second) = (&texts[0], &texts[1]);
            let (distance, longer) = distance(first, second, &Stop::default()).unwrap();
            prop_assume!(longer > 0);
            // Those of the left table first.
            if two {
                let halves = [0, 1].map(|half| texts.iter().skip(half).step_by(2).cloned());
                texts = halves.into_iter().flatten().collect();
            }
            let all = of(&texts, two.then_some(pairs.len() as u32));
            let share = 1.0 - f64::from(distance) / f64::from(longer) - 1e-9;
            for edit in [EditPredicate::within(distance + more), EditPredicate::new(share.max(0.01)).unwrap()] {
                let (found, _) = candidates(&all, edit, length, 0);
                let near = near(&all, edit);
                prop_assert!(near.is_subset(&found), "{near:?} {found:?}");
            }
        }
    }

    /// Pages of one frame that each have another content are told apart, but for copies.
    #[test]
    fn pages_of_a_frame() {
        let words = |seed: u64, count: u64| -> String {
            (0..count).map(|n| format!("w{} ", mix(seed << 20 | n) % 100_000)).collect()
        };
        let pages: Vec<String> = (0..300)
            .map(|page| {
                let content = words(100 + page - page % 10 / 9, 60);
                format!("{}{content}{page} {}", words(1, 30), words(2, 30))
            })
            .collect();
        for right_from in [None, Some(150)] {
            let all = of(&pages, right_from);
            let edit = EditPredicate::new(0.9).unwrap();
            let near = near(&all, edit);
            for budget in [0, 1 << 20] {
                let (found, compared) = candidates(&all, edit, 4, budget);
                assert!(near.is_subset(&found));
                assert!(found.len() < near.len() + compared as usize / 20, "{} of {compared}", found.len());
                assert!(right_from.is_some() || near.len() >= 30);
            }
            let sides: Vec<_> = [Some(all.1.clone()), all.2.clone()].into_iter().flatten().collect();
            let length = segment_length(&all.0, &sides, edit, 128, &PlainThreads(1)).unwrap();
            assert!(length.is_some(), "less work than profiles");
        }
        // So few are all compared.
        let few = of(&pages[..40], None);
        let edit = EditPredicate::new(0.9).unwrap();
        assert_eq!(segment_length(&few.0, &[few.1], edit, 128, &PlainThreads(1)).unwrap(), None);
    }
}
