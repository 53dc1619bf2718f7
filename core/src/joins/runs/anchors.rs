//! The texts of a join by shared runs, and the rule to compare them by. From their anchors to keys:
//! a text offers all its anchors and looks the rarest ones up.

use bytemuck::{Pod, Zeroable};

use crate::error::Result;
use crate::executor::Stop;
use crate::features::runs::tokens::read_tokens;
use crate::features::texts::Texts;
use crate::features::tokens::{Scratch, Tokenizer};
use crate::joins::keys::{KeyPosting, weighted_keys};
use crate::storage::files::Resources;
use crate::storage::sort::{Groups, Sorted, Sorter};
use crate::verify::shared_runs::RunShare;

pub(super) const DOING: &str = "joining texts by shared runs";

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
    /// The greatest number of documents that may have a window, if there is one: windows that more
    /// documents have do not count.
    pub max_documents: Option<u64>,
}

/// The texts that are compared, and the rule to compare them by.
pub(super) struct RunTexts {
    pub texts: Texts,
    pub rule: RunRule,
    /// The number of the first text of the right table, if there are two tables.
    pub right_from: Option<u32>,
    /// The number of tokens of each text.
    pub lengths: Vec<u32>,
    /// The contents of the windows that do not count, in ascending order.
    pub frequent: Vec<u128>,
}

impl RunTexts {
    /// The number of texts that a thread works on at one time.
    pub(super) const SLICE: u32 = 64;

    /// Reads the tokens of a text.
    pub(super) fn read(&self, record: u32, space: &mut CompareScratch, stop: &Stop) -> Result<()> {
        let text = self.texts.text(record);
        read_tokens(text, self.rule.tokenizer, &mut space.scratch, &mut space.tokens, stop)
    }
}

/// Scratch memory of a thread.
#[derive(Default)]
pub(super) struct CompareScratch {
    scratch: Scratch,
    pub tokens: Vec<u64>,
}

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

impl RunTexts {
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
    ) -> Result<Sorter<'f, KeyPosting>> {
        let Resources { files, budget, executor } = resources;
        let mut postings = Sorter::new(files, budget / 4);
        let mut ranked = Groups::new(ranked, executor)?;
        let mut own: Vec<RankedAnchor> = Vec::new();
        while ranked.next(&mut own, |anchor| anchor.record, |_, _| false, executor)? {
            let record = own[0].record;
            let is_right = self.right_from.is_some_and(|from| record >= from);
            let needed = match self.rule.of.counts(is_right) {
                true => self.rule.threshold * f64::from(self.lengths[record as usize]),
                // It looks nothing up.
                false => f64::INFINITY,
            };
            // Anchors are in the order of the number of texts.
            let weighted = own.drain(..).rev().map(|anchor| (anchor.hash, anchor.covers));
            for key in weighted_keys(weighted, needed) {
                postings.push(key.posting(record.into(), is_right), executor)?;
            }
        }
        Ok(postings)
    }
}
