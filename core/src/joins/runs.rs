//! The exact join of texts by the share of their tokens that is in runs which both texts have.
//!
//! Two texts with such a run have an anchor in common. Of each text only the rarest anchors are
//! looked up: those that are left out cover too few tokens to make the share alone (as with the
//! prefixes of sets). The share of a candidate is then computed from all windows of both texts.

use bytemuck::{Pod, Zeroable};

use super::pairs::Pairs;
use super::{Counts, RecordJoin, RecordPair};
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::external_sort::{Sorted, Sorter};
use crate::features::runs::anchors::Anchors;
use crate::features::runs::tokens::read_tokens;
use crate::features::texts::{Distinct, Texts};
use crate::features::tokens::{Document, Scratch, Tokenizer};
use crate::memory;
use crate::resources::Resources;
use crate::verify::shared_runs::{RunShare, SortedWindows, shared_tokens};

const DOING: &str = "joining texts by shared runs";

/// An anchor of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Zeroable, Pod)]
#[repr(C)]
struct RecordAnchor {
    hash: u64,
    record: u32,
    /// The number of tokens of the windows that chose the anchor.
    covers: u32,
}

/// An anchor of a record, by the number of records that have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Zeroable, Pod)]
#[repr(C)]
struct RankedAnchor {
    record: u32,
    records: u32,
    hash: u64,
    covers: u32,
    unused: u32,
}

/// A record that has an anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Zeroable, Pod)]
#[repr(C)]
struct Posting {
    hash: u64,
    record: u32,
    /// 1 if the record looks for other records that have the anchor.
    looks: u32,
}

/// The rule that says which pairs are similar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunRule {
    /// The least number of tokens of a run.
    pub least: usize,
    /// How texts are cut into tokens.
    pub tokenizer: Tokenizer,
    /// The side whose tokens are counted.
    pub of: RunShare,
    /// The least share of tokens in common runs.
    pub threshold: f64,
}

/// Prepares to find all pairs of rows whose texts pass. The texts stay in memory.
pub fn run_pairs(
    distinct: Distinct,
    rule: RunRule,
    resources: Resources<'_>,
    progress: &mut dyn FnMut(&'static str),
) -> Result<(Pairs, u64)> {
    let Resources { executor, .. } = resources;
    let Distinct { texts, left, right } = distinct;
    // Texts are numbered with 32 bits.
    let right_from = right.as_ref().map(|_| left.len() as u32);
    let mut compared = RunTexts { right_from, texts, rule, lengths: Vec::new() };
    progress("choosing anchors");
    let anchors = compared.anchors(resources)?;
    progress("looking for shared anchors");
    let ranked = compared.ranked(anchors.sorted(executor)?, resources)?;
    let postings = compared.postings(ranked.sorted(executor)?, resources)?;
    let candidates = compared.candidates(postings.sorted(executor)?, resources)?;
    let mut equal = Vec::new();
    if right.is_none() {
        for record in (0..left.len()).filter(|&record| left.rows(record).len() > 1) {
            if compared.lengths[record] as usize >= rule.least {
                memory::push(&mut equal, record as u32, DOING)?;
            }
        }
    }
    let tokens = compared.lengths.iter().map(|&length| u64::from(length)).sum();
    let (total, counts) = (candidates.len(), Counts::default());
    let join = RunJoin { compared, candidates: candidates.sorted(executor)?, total, last: None, counts };
    Ok((Pairs::of_records(Box::new(join), left, right, equal), tokens))
}

/// The texts that are compared, and the rule to compare them by.
struct RunTexts {
    texts: Texts,
    rule: RunRule,
    /// The number of the first text of the right table, if there are two tables.
    right_from: Option<u32>,
    /// The number of tokens of each text.
    lengths: Vec<u32>,
}

/// A join of distinct texts, in progress.
struct RunJoin {
    compared: RunTexts,
    candidates: Sorted<[u32; 2]>,
    /// The number of candidates, repeats included.
    total: u64,
    last: Option<[u32; 2]>,
    counts: Counts,
}

impl std::fmt::Debug for RunJoin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a join of {} texts by {:?}", self.compared.texts.len(), self.compared.rule)
    }
}

/// Some texts, and what is made of them on one thread.
struct Slice {
    records: std::ops::Range<u32>,
    anchors: Vec<RecordAnchor>,
    lengths: Vec<u32>,
}

impl RunTexts {
    /// The number of texts, or of pairs, that a thread works on at one time.
    const SLICE: u32 = 64;

    fn read(&self, record: u32, space: &mut Space, stop: &Stop) -> Result<()> {
        if let Document::Text(text) = &mut space.document {
            text.clear();
            let own = self.texts.text(record);
            memory::reserve_text(text, own.len(), DOING)?;
            text.push_str(own);
        }
        read_tokens(&space.document, self.rule.tokenizer, &mut space.scratch, &mut space.tokens, stop)
    }

    /// Lists the anchors of all texts, and counts their tokens.
    fn anchors<'f>(&mut self, resources: Resources<'f>) -> Result<Sorter<'f, RecordAnchor>> {
        let Resources { files, budget, executor } = resources;
        let mut all = Sorter::new(files, budget / 4);
        let (least, count) = (self.rule.least, self.texts.len() as u32);
        let mut from = 0;
        while from < count {
            let slices = (0..4 * executor.count() as u32).map(|n| {
                let [from, to] = [n, n + 1].map(|n| (from + n * Self::SLICE).min(count));
                Slice { records: from..to, anchors: Vec::new(), lengths: Vec::new() }
            });
            let mut slices: Vec<Slice> = slices.collect();
            executor::each(executor, &mut slices, |slice, stop| {
                let (mut space, mut rule, mut chosen) = (Space::default(), Anchors::new(least), Vec::new());
                slice.anchors.clear();
                slice.lengths.clear();
                for record in slice.records.clone() {
                    self.read(record, &mut space, stop)?;
                    rule.select(&space.tokens, stop, &mut chosen)?;
                    memory::push(&mut slice.lengths, space.tokens.len() as u32, DOING)?;
                    memory::reserve(&mut slice.anchors, chosen.len(), DOING)?;
                    slice.anchors.extend(chosen.iter().map(|anchor| RecordAnchor {
                        hash: anchor.hash,
                        record,
                        covers: anchor.windows + (least as u32 - 1),
                    }));
                }
                Ok(())
            })?;
            for slice in slices {
                memory::extend(&mut self.lengths, &slice.lengths, DOING)?;
                for anchor in slice.anchors {
                    all.push(anchor, executor)?;
                }
                from = from.max(slice.records.end);
            }
        }
        Ok(all)
    }

    /// Adds to each anchor the number of texts that have it, and leaves out those that no other
    /// text has.
    fn ranked<'f>(
        &self,
        mut anchors: Sorted<RecordAnchor>,
        resources: Resources<'f>,
    ) -> Result<Sorter<'f, RankedAnchor>> {
        let Resources { files, budget, executor } = resources;
        let mut ranked = Sorter::new(files, budget / 4);
        let mut group: Vec<RecordAnchor> = Vec::new();
        loop {
            let next = anchors.next(executor)?;
            if let Some(last) = group.last().copied().filter(|last| next.is_none_or(|n| n.hash != last.hash))
            {
                let is_right = |record| self.right_from.is_some_and(|from| record >= from);
                let pairs = match self.right_from {
                    None => group[0].record != last.record,
                    Some(_) => !is_right(group[0].record) && is_right(last.record),
                };
                let records = group.len() as u32;
                for RecordAnchor { hash, record, covers } in group.drain(..).filter(|_| pairs) {
                    ranked.push(RankedAnchor { record, records, hash, covers, unused: 0 }, executor)?;
                }
            }
            let Some(next) = next else { return Ok(ranked) };
            match group.last_mut().filter(|last| last.record == next.record) {
                Some(last) => last.covers = last.covers.saturating_add(next.covers),
                None => memory::push(&mut group, next, DOING)?,
            }
        }
    }

    /// Decides which anchors each text looks up: all but the most frequent ones, which cover too
    /// few tokens to make the share alone.
    fn postings<'f>(
        &self,
        mut ranked: Sorted<RankedAnchor>,
        resources: Resources<'f>,
    ) -> Result<Sorter<'f, Posting>> {
        let Resources { files, budget, executor } = resources;
        let mut postings = Sorter::new(files, budget / 4);
        let mut own: Vec<RankedAnchor> = Vec::new();
        loop {
            let next = ranked.next(executor)?;
            if let Some(last) =
                own.last().copied().filter(|last| next.is_none_or(|n| n.record != last.record))
            {
                let is_right = self.right_from.is_some_and(|from| last.record >= from);
                let may_look = self.rule.of.counts(is_right);
                let least = self.rule.threshold * f64::from(self.lengths[last.record as usize]);
                // Anchors are in the order of the number of texts. Rounding errs towards looking.
                let mut left_out = 0u64;
                for anchor in own.drain(..).rev() {
                    left_out += u64::from(anchor.covers);
                    let looks = may_look && left_out as f64 >= least - 1e-6;
                    let RankedAnchor { hash, record, .. } = anchor;
                    postings.push(Posting { hash, record, looks: looks.into() }, executor)?;
                }
            }
            let Some(next) = next else { return Ok(postings) };
            memory::push(&mut own, next, DOING)?;
        }
    }

    /// Pairs each text that looks an anchor up with all other texts that have it.
    fn candidates<'f>(
        &self,
        mut postings: Sorted<Posting>,
        resources: Resources<'f>,
    ) -> Result<Sorter<'f, [u32; 2]>> {
        let Resources { files, budget, executor } = resources;
        let mut candidates = Sorter::new(files, budget / 4);
        let mut group: Vec<Posting> = Vec::new();
        loop {
            let next = postings.next(executor)?;
            if let Some(last) = group.last().filter(|last| next.is_none_or(|n| n.hash != last.hash)) {
                // Texts of the right table are numbered after those of the left one.
                let middle = match self.right_from {
                    Some(from) => group.partition_point(|posting| posting.record < from),
                    None => 0,
                };
                debug_assert!(last.hash == group[0].hash);
                for (n, one) in group.iter().enumerate().filter(|(_, one)| one.looks == 1) {
                    let others = match self.right_from {
                        None => 0..group.len(),
                        Some(_) if n < middle => middle..group.len(),
                        Some(_) => 0..middle,
                    };
                    // Of two texts that both look, the first one finds the pair.
                    let found = |m: &usize| *m != n && (group[*m].looks == 0 || n < *m);
                    for m in others.filter(found) {
                        let other = group[m].record;
                        candidates.push([one.record.min(other), one.record.max(other)], executor)?;
                    }
                    executor.check_interrupts()?;
                }
                group.clear();
            }
            let Some(next) = next else { return Ok(candidates) };
            memory::push(&mut group, next, DOING)?;
        }
    }

    /// Computes the shares of pairs that have the left text in common.
    fn compare(&self, pairs: &mut Compared, stop: &Stop) -> Result<()> {
        let mut space = Space::default();
        let mut left: Option<(u32, SortedWindows)> = None;
        pairs.found.clear();
        for &[a, b] in &pairs.of {
            let mut windows = |record: u32| {
                self.read(record, &mut space, stop)?;
                SortedWindows::new(&space.tokens, self.rule.least, stop)
            };
            let of_left = match left.take().filter(|(record, _)| *record == a) {
                Some((_, windows)) => windows,
                None => windows(a)?,
            };
            let shared = shared_tokens(&of_left, &windows(b)?, self.rule.least, stop)?;
            left = Some((a, of_left));
            let lengths = [a, b].map(|record| self.lengths[record as usize]);
            let similarity = self.rule.of.share(shared, lengths);
            if similarity >= self.rule.threshold {
                let right = b - self.right_from.unwrap_or(0);
                memory::push(&mut pairs.found, RecordPair { left: a, right, similarity }, DOING)?;
            }
        }
        Ok(())
    }
}

/// Some candidates, and those of them that pass.
#[derive(Default)]
struct Compared {
    of: Vec<[u32; 2]>,
    found: Vec<RecordPair>,
}

/// Scratch memory of a thread.
#[derive(Default)]
struct Space {
    document: Document,
    scratch: Scratch,
    tokens: Vec<u64>,
}

impl RecordJoin for RunJoin {
    fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<RecordPair>>> {
        let mut slices: Vec<Compared> = Vec::new();
        let mut ended = false;
        while slices.len() < 4 * executor.count() && !ended {
            let mut slice = Compared::default();
            while slice.of.len() < RunTexts::SLICE as usize {
                let Some(pair) = self.candidates.next(executor)? else {
                    ended = true;
                    break;
                };
                self.counts.candidates += 1;
                if self.last.replace(pair) != Some(pair) {
                    memory::push(&mut slice.of, pair, DOING)?;
                }
            }
            self.counts.verified += slice.of.len() as u64;
            memory::push(&mut slices, slice, DOING)?;
        }
        if slices.iter().all(|slice| slice.of.is_empty()) {
            return Ok(None);
        }
        let compared = &self.compared;
        executor::each(executor, &mut slices, |slice, stop| compared.compare(slice, stop))?;
        Ok(Some(slices.into_iter().flat_map(|slice| slice.found).collect()))
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn progress(&self) -> f64 {
        self.counts.candidates as f64 / self.total.max(1) as f64
    }

    fn bytes(&self) -> usize {
        self.compared.texts.bytes() + memory::bytes(&self.compared.lengths) + self.candidates.bytes()
    }
}
