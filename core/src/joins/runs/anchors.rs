//! From the anchors of texts to candidates: pairs of texts that have an anchor in common which one
//! of them looks up.

use bytemuck::{Pod, Zeroable};

use super::compared::{CompareScratch, DOING, RunTexts, Slice};
use crate::error::Result;
use crate::executor::Stop;
use crate::features::runs::anchors::Anchors;
use crate::joins::parts::keys::Rarest;
use crate::memory;
use crate::resources::Resources;
use crate::storage::sort::{Groups, Sorted, Sorter};

/// An anchor of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Zeroable, Pod)]
#[repr(C)]
pub(super) struct RecordAnchor {
    pub hash: u64,
    pub record: u32,
    /// The number of tokens from the first to the last window that chose the anchor and counts.
    pub covers: u32,
}

/// An anchor of a record, by the number of records that have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Zeroable, Pod)]
#[repr(C)]
pub(super) struct RankedAnchor {
    record: u32,
    records: u32,
    hash: u64,
    covers: u32,
    unused: u32,
}

/// A record that has an anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Zeroable, Pod)]
#[repr(C)]
pub(super) struct AnchorPosting {
    hash: u64,
    record: u32,
    /// 1 if the record looks for other records that have the anchor.
    looks: u32,
}

/// The anchors of some texts, in the order of the texts.
#[derive(Default)]
struct Chosen {
    anchors: Vec<RecordAnchor>,
    lengths: Vec<u32>,
}

impl RunTexts {
    /// Lists the anchors of all texts, and counts their tokens.
    pub(super) fn anchors<'f>(&mut self, resources: Resources<'f>) -> Result<Sorter<'f, RecordAnchor>> {
        let Resources { files, budget, executor } = resources;
        let mut all = Sorter::new(files, budget / 4);
        let least = self.rule.least;
        let mut lengths = Vec::new();
        let choose = |slice: &mut Slice<Chosen>, stop: &Stop| {
            let (mut space, mut rule, mut chosen) =
                (CompareScratch::default(), Anchors::new(least), Vec::new());
            let Chosen { anchors, lengths } = &mut slice.found;
            anchors.clear();
            lengths.clear();
            for record in slice.records.clone() {
                self.read(record, &mut space, stop)?;
                rule.select(&space.tokens, stop, &mut chosen)?;
                memory::push(lengths, space.tokens.len() as u32, DOING)?;
                memory::reserve(anchors, chosen.len(), DOING)?;
                anchors.extend(chosen.iter().map(|anchor| RecordAnchor {
                    hash: anchor.hash,
                    record,
                    covers: anchor.covers(least),
                }));
            }
            Ok(())
        };
        self.each_slice(executor, choose, |chosen| {
            memory::extend(&mut lengths, &chosen.lengths, DOING)?;
            chosen.anchors.into_iter().try_for_each(|anchor| all.push(anchor, executor))
        })?;
        self.lengths = lengths;
        Ok(all)
    }

    /// Adds to each anchor the number of texts that have it, and leaves out those that no other
    /// text has.
    pub(super) fn ranked<'f>(
        &self,
        anchors: Sorted<RecordAnchor>,
        resources: Resources<'f>,
    ) -> Result<Sorter<'f, RankedAnchor>> {
        let Resources { files, budget, executor } = resources;
        let mut ranked = Sorter::new(files, budget / 4);
        let mut anchors = Groups::new(anchors, executor)?;
        let mut group: Vec<RecordAnchor> = Vec::new();
        let join = |last: &mut RecordAnchor, next: &RecordAnchor| {
            let is_again = last.record == next.record;
            if is_again {
                last.covers = last.covers.saturating_add(next.covers);
            }
            is_again
        };
        while anchors.next(&mut group, |anchor| anchor.hash, join, executor)? {
            let [first, last] = [&group[0], &group[group.len() - 1]].map(|anchor| anchor.record);
            let pairs = self.right_from.map_or(first != last, |from| first < from && last >= from);
            let records = group.len() as u32;
            for RecordAnchor { hash, record, covers } in group.drain(..).filter(|_| pairs) {
                ranked.push(RankedAnchor { record, records, hash, covers, unused: 0 }, executor)?;
            }
        }
        Ok(ranked)
    }

    /// Decides which anchors each text looks up: all but the most frequent ones, which cover too
    /// few tokens to make the share alone.
    pub(super) fn postings<'f>(
        &self,
        ranked: Sorted<RankedAnchor>,
        resources: Resources<'f>,
    ) -> Result<Sorter<'f, AnchorPosting>> {
        let Resources { files, budget, executor } = resources;
        let mut postings = Sorter::new(files, budget / 4);
        let mut ranked = Groups::new(ranked, executor)?;
        let mut own: Vec<RankedAnchor> = Vec::new();
        while ranked.next(&mut own, |anchor| anchor.record, |_, _| false, executor)? {
            let record = own[0].record;
            let is_right = self.right_from.is_some_and(|from| record >= from);
            let may_look = self.rule.of.counts(is_right);
            let least = self.rule.threshold * f64::from(self.lengths[record as usize]);
            // Anchors are in the order of the number of texts.
            let mut rarest = Rarest::new(least);
            for RankedAnchor { hash, record, covers, .. } in own.drain(..).rev() {
                let looks = rarest.looks_up(covers) && may_look;
                postings.push(AnchorPosting { hash, record, looks: looks.into() }, executor)?;
            }
        }
        Ok(postings)
    }

    /// Pairs each text that looks an anchor up with all other texts that have it.
    pub(super) fn candidates<'f>(
        &self,
        postings: Sorted<AnchorPosting>,
        resources: Resources<'f>,
    ) -> Result<Sorter<'f, [u32; 2]>> {
        let Resources { files, budget, executor } = resources;
        let mut candidates = Sorter::new(files, budget / 4);
        let mut postings = Groups::new(postings, executor)?;
        let mut group: Vec<AnchorPosting> = Vec::new();
        while postings.next(&mut group, |posting| posting.hash, |_, _| false, executor)? {
            // Texts of the right table are numbered after those of the left one.
            let middle = match self.right_from {
                Some(from) => group.partition_point(|posting| posting.record < from),
                None => 0,
            };
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
        }
        Ok(candidates)
    }
}
