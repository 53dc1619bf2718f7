//! Finds candidates among long texts that mostly share content, such as pages of one template, by
//! pieces that both texts have at about the same position.
//!
//! A text is cut into pieces of the same number of characters. Each edit changes at most one piece
//! (a swap of neighbours counts as two replacements).
//! So another text at distance d has at least m - d of any m pieces of the text. These pieces have
//! moved by no more than the edits before and after them allow: if the other text is longer by i
//! characters, a piece moves by s characters with |s| + |i - s| <= d (Li, Deng, Wang, Feng:
//! Pass-Join, PVLDB 2011, who cut a text into d + 1 pieces and look for one). The choice of the m
//! pieces is free. The index takes the rarest ones: pieces of the template, which most texts have,
//! are left out, and the pieces in which the texts differ count. Pieces can be built so that it
//! takes two edits to change one (`shape`). Texts also match in pieces that they share by chance,
//! but long pieces hardly ever match by chance. How long pieces can be depends on how many edits
//! are allowed in the text outside the template.

mod batch_lookup;
pub(in super::super) mod choice;
mod context_check;
mod cut;
mod index;
mod probe;
mod query;
pub(super) mod shape;

use std::ops::Range;

use crate::error::Result;
use crate::executor::{self, Executor, Pool};
use crate::features::texts::Texts;
use crate::joins::Counts;
use crate::joins::edit::length_filter::{TextSides, compatible, span};
use crate::joins::pairs::Pair;
use crate::memory;
use crate::verify::edit::EditPredicate;
use batch_lookup::Looks;
use cut::CutShare;
use index::PieceIndex;
use probe::PartnerProbe;
use query::PieceQuery;
use shape::Shape;

const DOING: &str = "looking for pieces in common";

/// Pairs of texts of one table, or of two, with compatible lengths and enough pieces in common.
#[derive(Debug)]
pub(super) struct BySegments {
    sides: TextSides,
    shape: Shape,
    /// The texts whose block is still to come.
    todo: Range<u32>,
    /// The memory budget in bytes; the index takes about half of it.
    budget: usize,
    /// The texts of the current block. `index` is the index of their pieces, and `partners` are the
    /// partners of these texts that are still to be looked up.
    block: Range<u32>,
    index: Option<PieceIndex>,
    partners: Range<u32>,
    /// The number of partners of the block when its comparison began.
    of_block: usize,
    /// The ranges of partners whose comparison is started but not finished.
    begun: Vec<Range<u32>>,
    /// The pool of buffers for keys that are looked up.
    rooms: Pool<Looks>,
    found: Vec<Pair>,
    counts: Counts,
}

impl BySegments {
    /// Prepares the comparison. The index takes about half of `budget` bytes, and the lookup
    /// buffers some of the rest.
    pub(super) fn new(
        edit: EditPredicate,
        lefts: Range<u32>,
        rights: Option<Range<u32>>,
        shape: Shape,
        budget: usize,
    ) -> Self {
        Self {
            todo: lefts.clone(),
            sides: TextSides { edit, lefts, rights },
            shape,
            budget,
            block: 0..0,
            index: None,
            partners: 0..0,
            of_block: 0,
            begun: Vec::new(),
            rooms: Pool::default(),
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
        if !self.partners.is_empty() || !self.begun.is_empty() {
            self.compare(texts, executor)?;
        } else if !self.todo.is_empty() {
            self.next_block(texts, executor)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Builds the index of the next block of texts.
    fn next_block(&mut self, texts: &Texts, executor: &dyn Executor) -> Result<()> {
        const TEXTS_A_SHARE: usize = 64;
        /// A block may have this many texts even if the budget is smaller, because it takes little
        /// memory.
        const LEAST_TEXTS: u32 = 8;
        self.index = None;
        self.rooms = Pool::default();
        let begin = self.todo.start;
        // Pieces are looked up within the greatest distance of the block, so the texts of a block
        // have similar distances.
        let least = self.sides.distance(texts, begin);
        let far = least.saturating_add(least / 8 + 4);
        let (mut bytes, mut end) = (0, begin);
        while end < self.todo.end
            && (end - begin < LEAST_TEXTS
                || bytes < self.budget / 2 && self.sides.distance(texts, end) <= far)
        {
            bytes += choice::bytes_of(texts.length(end), self.shape);
            end += 1;
        }
        self.block = begin..end;
        let mut shares = Vec::new();
        for first in self.block.clone().step_by(TEXTS_A_SHARE) {
            let own = first..end.min(first.saturating_add(TEXTS_A_SHARE as u32));
            let own = own.map(|text| (text, self.sides.distance(texts, text)));
            shares.push(CutShare::new(own.collect(), first - begin));
        }
        executor::each(executor, &mut shares, |share, stop| share.cut(texts, self.shape, stop))?;
        self.partners = span(self.block.clone().map(|text| self.sides.partners(texts, text)));
        self.of_block = self.partners.len();
        let mut made = (shares, None);
        executor::one(executor, &mut made, |(shares, index), stop| {
            let sample = self.sample().map(|partner| self.query(texts, partner, self.block.clone()));
            *index = Some(PieceIndex::new(shares, self.shape, sample, stop)?);
            Ok(())
        })?;
        self.index = made.1;
        self.todo.start = end;
        Ok(())
    }

    /// Returns some of the partners, as a sample that shows which pieces are rare.
    fn sample(&self) -> impl Iterator<Item = u32> {
        const SAMPLE: usize = 64;
        let all = self.partners.clone();
        let step = all.len().div_ceil(SAMPLE).max(1);
        all.step_by(step)
    }

    /// Returns the texts of the block that a partner is compared with; in a self-join these are
    /// only texts after the partner.
    fn among(&self, texts: &Texts, partner: u32) -> Range<u32> {
        let (length, block) = (texts.length(partner), &self.block);
        let first = if self.sides.rights.is_none() { block.start.max(partner + 1) } else { block.start };
        let first = first.min(block.end);
        compatible(texts, self.sides.edit, length, first..block.end, 0)
    }

    /// Returns the query for a partner, to be looked up among some texts of the block.
    fn query<'a>(&self, texts: &'a Texts, partner: u32, among: Range<u32>) -> PieceQuery<'a> {
        let own = self.sides.rights.is_none() && self.block.contains(&partner);
        let number = |text: u32| text - self.block.start;
        let lengths = &texts.lengths()[among.start as usize..among.end as usize];
        PieceQuery {
            text: texts.text(partner),
            length: texts.length(partner),
            others: lengths.first().copied().zip(lengths.last().copied()).unwrap_or_default(),
            among: number(among.start)..number(among.end),
            own: own.then(|| number(partner)),
        }
    }

    /// Compares some partners with the block.
    fn compare(&mut self, texts: &Texts, executor: &dyn Executor) -> Result<()> {
        const MOST_CHARACTERS: u64 = 1 << 25;
        const LEAST_ROOM: usize = 1 << 25;
        let Some(index) = &self.index else { return Ok(()) };
        // The more keys are looked up together, the fewer times the index is read. Buffers that are
        // not much larger than the index stay in the caches.
        let room = (self.budget / 8 / executor.count()).min((index.bytes() / 2).max(LEAST_ROOM));
        let mut probes: Vec<PartnerProbe> = Vec::new();
        let probe = |partners| PartnerProbe { partners, found: Vec::new(), met: 0, room };
        probes.extend(self.begun.drain(..).map(probe));
        if probes.is_empty() {
            let (mut end, mut characters) = (self.partners.start, 0);
            while end < self.partners.end && characters < MOST_CHARACTERS {
                characters += u64::from(texts.length(end));
                end += 1;
            }
            // Each probe has its own counts for the whole block, so there are few probes.
            let all = self.partners.start..end;
            let share = all.len().div_ceil(4 * executor.count()).max(1);
            probes.extend(
                all.step_by(share).map(|first| probe(first..end.min(first.saturating_add(share as u32)))),
            );
            self.partners.start = end;
        }
        let query = |partner| self.query(texts, partner, self.among(texts, partner));
        let pair = |partner, member| {
            let text = self.block.start + member;
            let [left, right] = if self.sides.rights.is_none() { [partner, text] } else { [text, partner] };
            Pair { left, right, similarity: 0.0 }
        };
        executor::each(executor, &mut probes, |probe, stop| {
            self.rooms.with(|| Ok(Looks::new(room)), |looks| probe.compare(index, &query, &pair, looks, stop))
        })?;
        for PartnerProbe { partners, found, met, .. } in probes {
            memory::extend(&mut self.found, &found, DOING)?;
            self.counts.candidates += found.len() as u64;
            self.counts.pruned_by_bitmap += met.saturating_sub(found.len() as u64);
            if !partners.is_empty() {
                self.begun.push(partners);
            }
        }
        Ok(())
    }

    /// Returns what the pieces have counted so far.
    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns the share of the texts that are done: whose block was compared with its partners.
    pub(super) fn progress(&self) -> f64 {
        let all = self.sides.lefts.len().max(1) as f64;
        let left = self.partners.len() + self.begun.iter().map(Range::len).sum::<usize>();
        let of_block = self.block.len() as f64 * left as f64 / self.of_block.max(1) as f64;
        1.0 - (self.todo.len() as f64 + of_block) / all
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.index.as_ref().map_or(0, PieceIndex::bytes)
            + self.rooms.bytes(Looks::bytes)
            + memory::bytes(&self.found)
    }
}

#[cfg(test)]
mod tests {
    use super::choice::best_shape;
    use super::*;
    use crate::executor::{PlainThreads, Stop};
    use crate::features::texts::{Distinct, TextCollector, distinct};
    use crate::hash::mix;
    use crate::tests::edited_texts::{edited, swapped};
    use crate::verify::edit::distance_by;
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

    /// Returns all candidates, and how many pairs have a piece in common.
    fn candidates(
        (texts, lefts, rights): &(Texts, Range<u32>, Option<Range<u32>>),
        edit: EditPredicate,
        shape: Shape,
        budget: usize,
    ) -> (BTreeSet<(u32, u32)>, u64) {
        let mut join = BySegments::new(edit, lefts.clone(), rights.clone(), shape, budget);
        let (executor, mut found) = (PlainThreads(2), BTreeSet::new());
        loop {
            while let Some(pair) = join.take() {
                assert!(found.insert((pair.left, pair.right)), "each comes once");
            }
            if !join.advance(texts, &executor).unwrap() {
                break;
            }
            assert!(join.bytes() > 0 && (0.0..=1.0).contains(&join.progress()));
        }
        let counts = join.counts();
        assert_eq!(counts.candidates, found.len() as u64);
        (found, counts.candidates + counts.pruned_by_bitmap)
    }

    /// Returns all similar pairs.
    fn near(all: &(Texts, Range<u32>, Option<Range<u32>>), edit: EditPredicate) -> BTreeSet<(u32, u32)> {
        let (texts, lefts, rights) = all;
        let others = |left| rights.clone().unwrap_or(left + 1..lefts.end);
        let pairs = lefts.clone().flat_map(|left| others(left).map(move |right| (left, right)));
        pairs
            .filter(|&(a, b)| {
                let (distance, longer) =
                    distance_by(texts.text(a), texts.text(b), edit.swaps, &Stop::default()).unwrap();
                edit.passes(distance, longer)
            })
            .collect()
    }

    proptest! {
        #![proptest_config(crate::cases::cases(200))]

        /// Every similar pair is a candidate, also at the exact distance of two texts.
        #[test]
        fn none_is_lost(
            pairs in prop::collection::vec(prop_oneof![edited(300, 40), swapped(300)], 1..4),
            shape in prop::sample::select(Shape::all().collect::<Vec<_>>()),
            two in any::<bool>(),
            more in 0..3u32,
            swaps: bool,
        ) {
            let mut texts: Vec<String> =
                pairs.iter().flat_map(|(x, y)| [x, y]).map(|text| text.iter().collect()).collect();
            let (first, second) = (&texts[0], &texts[1]);
            let (distance, longer) = distance_by(first, second, swaps, &Stop::default()).unwrap();
            prop_assume!(longer > 0);
            // The texts of the left table come first.
            if two {
                let halves = [0, 1].map(|half| texts.iter().skip(half).step_by(2).cloned());
                texts = halves.into_iter().flatten().collect();
            }
            let all = of(&texts, two.then_some(pairs.len() as u32));
            let share = 1.0 - f64::from(distance) / f64::from(longer) - 1e-9;
            for edit in [EditPredicate::within(distance + more), EditPredicate::new(share.max(0.01)).unwrap()] {
                let edit = edit.with_swaps(swaps);
                let near = near(&all, edit);
                // The budgets leave room for the matches of one text, or of several.
                for budget in [0, 1 << 12, 1 << 24] {
                    let (found, _) = candidates(&all, edit, shape, budget);
                    prop_assert!(near.is_subset(&found), "{near:?} {found:?}");
                }
            }
        }
    }

    /// Pages of one template with different content are told apart, except for copies.
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
                for shape in [Shape::plain(4), Shape::of_parts(4, 2)] {
                    let (found, met) = candidates(&all, edit, shape, budget);
                    assert!(near.is_subset(&found));
                    assert!(found.len() < near.len() + met as usize / 100, "{} of {met}", found.len());
                    assert!(right_from.is_some() || near.len() >= 30);
                }
            }
            let sides: Vec<_> = [Some(all.1.clone()), all.2.clone()].into_iter().flatten().collect();
            let shape = best_shape(&all.0, &sides, edit, 128, 1 << 30, &PlainThreads(1)).unwrap();
            // With half as many pages on each side, comparing profiles is fast.
            assert!(right_from.is_some() || shape.is_some(), "less work than profiles");
        }
        // With so few texts, all pairs are compared.
        let few = of(&pages[..40], None);
        let edit = EditPredicate::new(0.9).unwrap();
        assert_eq!(best_shape(&few.0, &[few.1], edit, 128, 1 << 30, &PlainThreads(1)).unwrap(), None);
    }
}
