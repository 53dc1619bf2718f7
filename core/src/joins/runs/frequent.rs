//! Windows that more than a given number of documents have, such as boilerplate: they do not count.
//!
//! Equal windows have the same anchor, so only the windows of anchors that so many documents have
//! are listed and counted. O(tokens), in addition to the sort of these windows.

use bytemuck::{Pod, Zeroable};

use super::anchors::{CompareScratch, DOING, RecordAnchor, RunTexts};
use crate::error::Result;
use crate::executor::Stop;
use crate::features::runs::anchors::{Anchor, Anchors};
use crate::features::runs::contents::Contents;
use crate::joins::candidates::{Slice, each_slice};
use crate::memory;
use crate::storage::files::Resources;
use crate::storage::sort::{Sorted, Sorter};

/// The windows that do not count, as too many documents have them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrequentWindows {
    /// The number of different windows.
    pub windows: u64,
    /// The number of tokens of a window.
    pub tokens: u64,
    /// The number of documents that may have a window that counts.
    pub most: u64,
    /// The number of documents that have one of these windows.
    pub documents: u64,
}

impl FrequentWindows {
    /// Adds the windows of other documents.
    pub(crate) fn add(&mut self, other: &Self) {
        self.windows += other.windows;
        self.tokens = other.tokens;
        self.most = other.most;
        self.documents += other.documents;
    }
}

impl std::fmt::Display for FrequentWindows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { windows, tokens, most, documents } = self;
        write!(
            f,
            "{windows} different runs of {tokens} tokens, which are in {documents} documents, did not count, as each of \
             them is in more than {most}"
        )
    }
}

/// A window of a record. The fields are in the order in which windows are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Zeroable, Pod)]
#[repr(C)]
struct RecordWindow {
    content: [u64; 2],
    record: u32,
    unused: u32,
}

/// What is left of the texts without the windows that do not count.
pub(super) struct Rest<'f> {
    /// The anchors of windows that count.
    pub anchors: Sorter<'f, RecordAnchor>,
    /// For each text, the number of tokens in windows that count.
    pub tokens: Vec<u32>,
    /// The texts that have windows that do not count.
    pub left_out: Vec<u32>,
}

/// The rest of some texts.
#[derive(Default)]
struct RestOfSome {
    anchors: Vec<RecordAnchor>,
    tokens: Vec<u32>,
    left_out: Vec<u32>,
}

impl RunTexts {
    /// Returns the contents of the windows that more than `most` documents have, ascending.
    /// `rows` returns the number of documents that have a text.
    pub(super) fn frequent(
        &self,
        most: u64,
        anchors: &mut Sorted<RecordAnchor>,
        rows: &dyn Fn(u32) -> u64,
        resources: Resources<'_>,
    ) -> Result<(Vec<u128>, FrequentWindows)> {
        let Resources { files, budget, executor } = resources;
        let mut hashes: Vec<u64> = Vec::new();
        let mut last: Option<RecordAnchor> = None;
        let mut documents = 0u64;
        while let Some(next) = anchors.next(executor)? {
            let same = last.is_some_and(|last| last.hash == next.hash);
            let again = same && last.is_some_and(|last| last.record == next.record);
            documents = if same { documents } else { 0 } + if again { 0 } else { rows(next.record) };
            if documents > most && hashes.last() != Some(&next.hash) {
                memory::push(&mut hashes, next.hash, DOING)?;
            }
            last = Some(next);
        }
        let mut windows = Sorter::new(files, budget / 4);
        if !hashes.is_empty() {
            let list = |slice: &mut Slice<Vec<RecordWindow>>, stop: &Stop| self.list(&hashes, slice, stop);
            each_slice(self.texts.len() as u32, Self::SLICE, executor, list, |found| {
                found.into_iter().try_for_each(|window| windows.push(window, executor))
            })?;
        }
        drop(hashes);
        let mut windows = windows.sorted(executor)?;
        let mut frequent: Vec<u128> = Vec::new();
        let (mut last, mut documents) = (None, 0u64);
        while let Some(RecordWindow { content, record, .. }) = windows.next(executor)? {
            let same = last.is_some_and(|(of, _)| of == content);
            let again = last == Some((content, record));
            documents = if same { documents } else { 0 } + if again { 0 } else { rows(record) };
            let content_hash = joined(content);
            if documents > most && frequent.last() != Some(&content_hash) {
                memory::push(&mut frequent, content_hash, DOING)?;
            }
            last = Some((content, record));
        }
        let (windows, tokens) = (frequent.len() as u64, self.rule.least as u64);
        Ok((frequent, FrequentWindows { windows, tokens, most, documents: 0 }))
    }

    /// Lists the windows of some texts that have one of the anchors in `hashes`.
    fn list(&self, hashes: &[u64], slice: &mut Slice<Vec<RecordWindow>>, stop: &Stop) -> Result<()> {
        slice.found.clear();
        let mut reader = AnchorReader::new(self.rule.least);
        for record in slice.records.clone() {
            reader.read(self, record, stop)?;
            for anchor in reader.chosen.iter().filter(|anchor| hashes.binary_search(&anchor.hash).is_ok()) {
                memory::reserve(&mut slice.found, anchor.windows as usize, DOING)?;
                slice.found.extend(firsts(anchor).map(|first| {
                    let content = reader.contents.content(first as usize);
                    RecordWindow { content: [(content >> 64) as u64, content as u64], record, unused: 0 }
                }));
            }
        }
        Ok(())
    }

    /// Lists the anchors of the windows that count.
    pub(super) fn anchors_that_count<'f>(&self, resources: Resources<'f>) -> Result<Rest<'f>> {
        let Resources { files, budget, executor } = resources;
        let mut rest =
            Rest { anchors: Sorter::new(files, budget / 4), tokens: Vec::new(), left_out: Vec::new() };
        let work = |slice: &mut Slice<RestOfSome>, stop: &Stop| self.rest_of_some(slice, stop);
        each_slice(self.texts.len() as u32, Self::SLICE, executor, work, |found| {
            memory::extend(&mut rest.tokens, &found.tokens, DOING)?;
            memory::extend(&mut rest.left_out, &found.left_out, DOING)?;
            found.anchors.into_iter().try_for_each(|anchor| rest.anchors.push(anchor, executor))
        })?;
        Ok(rest)
    }

    fn rest_of_some(&self, slice: &mut Slice<RestOfSome>, stop: &Stop) -> Result<()> {
        let least = self.rule.least as u32;
        let mut reader = AnchorReader::new(self.rule.least);
        slice.found = RestOfSome::default();
        let RestOfSome { anchors, tokens, left_out } = &mut slice.found;
        for record in slice.records.clone() {
            reader.read(self, record, stop)?;
            let (mut covered, mut end, mut all) = (0, 0, true);
            for (n, anchor) in reader.chosen.iter().enumerate() {
                if n.is_multiple_of(1 << 10) {
                    stop.check()?;
                }
                let mut span: Option<(u32, u32)> = None;
                for first in firsts(anchor) {
                    if self.frequent.binary_search(&reader.contents.content(first as usize)).is_ok() {
                        all = false;
                        continue;
                    }
                    covered += first + least - end.max(first);
                    end = first + least;
                    span = Some((span.map_or(first, |(from, _)| from), end));
                }
                if let Some((from, to)) = span {
                    memory::push(
                        anchors,
                        RecordAnchor { hash: anchor.hash, record, covers: to - from },
                        DOING,
                    )?;
                }
            }
            memory::push(tokens, covered, DOING)?;
            if !all {
                memory::push(left_out, record, DOING)?;
            }
        }
        Ok(())
    }
}

/// Returns the first tokens of the windows that chose an anchor.
fn firsts(anchor: &Anchor) -> std::ops::Range<u32> {
    anchor.first..anchor.first + anchor.windows
}

fn joined([upper, lower]: [u64; 2]) -> u128 {
    u128::from(upper) << 64 | u128::from(lower)
}

/// Reads the anchors and the windows of texts.
struct AnchorReader {
    space: CompareScratch,
    rule: Anchors,
    chosen: Vec<Anchor>,
    contents: Contents,
}

impl AnchorReader {
    fn new(least: usize) -> Self {
        let (space, chosen) = (CompareScratch::default(), Vec::new());
        Self { space, rule: Anchors::new(least), chosen, contents: Contents::new(least) }
    }

    fn read(&mut self, texts: &RunTexts, record: u32, stop: &Stop) -> Result<()> {
        texts.read(record, &mut self.space, stop)?;
        self.rule.select(&self.space.tokens, stop, &mut self.chosen)?;
        self.contents.set(&self.space.tokens, stop)
    }
}
