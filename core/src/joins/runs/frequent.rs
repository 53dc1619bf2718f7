//! Windows that more than a given number of documents have, such as boilerplate: they do not count.
//!
//! Equal windows have the same anchor, so only the windows of anchors that so many documents have
//! are listed and counted. O(tokens), in addition to the sort of these windows.

use bytemuck::{Pod, Zeroable};

use super::anchors::{CompareScratch, DOING, RunTexts};
use crate::error::Result;
use crate::executor::{Executor, Stop};
use crate::features::runs::anchors::{Anchor, Anchors};
use crate::features::runs::contents::Contents;
use crate::joins::candidates::{Slice, each_slice};
use crate::joins::rare_keys::WeighedKey;
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

/// What the texts have without the windows that do not count.
#[derive(Default)]
pub(super) struct RunCounts {
    /// For each text, the number of its tokens, and of those in windows that count.
    pub lengths: Vec<u32>,
    pub tokens: Vec<u32>,
    /// The texts that have windows that do not count.
    pub left_out: Vec<u32>,
    /// The anchors of windows that count, of some texts. The weight of an anchor is the number of
    /// tokens from the first to the last window that chose it and counts.
    anchors: Vec<WeighedKey>,
}

impl RunTexts {
    /// Returns the contents of the windows that more than `most` documents have, ascending.
    /// `rows` returns the number of documents that have a text.
    pub(super) fn frequent(
        &self,
        most: u64,
        anchors: &mut Sorted<WeighedKey>,
        rows: &dyn Fn(u32) -> u64,
        resources: Resources<'_>,
    ) -> Result<(Vec<u128>, FrequentWindows)> {
        let Resources { files, budget, executor } = resources;
        let hashes = frequent_keys(anchors, |anchor| (anchor.hash, anchor.record), most, rows, executor)?;
        let mut windows = Sorter::new(files, budget / 4);
        if !hashes.is_empty() {
            let list = |slice: &mut Slice<Vec<RecordWindow>>, stop: &Stop| self.list(&hashes, slice, stop);
            each_slice(self.texts.len() as u32, Self::SLICE, executor, list, |found| {
                found.into_iter().try_for_each(|window| windows.push(window, executor))
            })?;
        }
        drop(hashes);
        let window = |window: &RecordWindow| (window.content, window.record);
        let mut windows = windows.sorted(executor)?;
        let contents = frequent_keys(&mut windows, window, most, rows, executor)?;
        let frequent = memory::collect(contents.into_iter().map(joined), DOING)?;
        let (windows, tokens) = (frequent.len() as u64, self.rule.least as u64);
        Ok((frequent, FrequentWindows { windows, tokens, most, documents: 0 }))
    }

    /// Lists the windows of some texts that have one of the anchors in `hashes`.
    fn list(&self, hashes: &[u64], slice: &mut Slice<Vec<RecordWindow>>, stop: &Stop) -> Result<()> {
        slice.found.clear();
        let mut reader = AnchorReader::new(self.rule.least);
        for record in slice.records.clone() {
            reader.choose(self, record, stop)?;
            reader.hash(stop)?;
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

    /// Lists the anchors of the windows that count, and counts the tokens of all texts.
    pub(super) fn anchors<'f>(
        &self,
        resources: Resources<'f>,
    ) -> Result<(Sorter<'f, WeighedKey>, RunCounts)> {
        let Resources { files, budget, executor } = resources;
        let (mut anchors, mut all) = (Sorter::new(files, budget / 4), RunCounts::default());
        let work = |slice: &mut Slice<RunCounts>, stop: &Stop| self.count(slice, stop);
        each_slice(self.texts.len() as u32, Self::SLICE, executor, work, |found| {
            memory::extend(&mut all.lengths, &found.lengths, DOING)?;
            memory::extend(&mut all.tokens, &found.tokens, DOING)?;
            memory::extend(&mut all.left_out, &found.left_out, DOING)?;
            found.anchors.into_iter().try_for_each(|anchor| anchors.push(anchor, executor))
        })?;
        Ok((anchors, all))
    }

    fn count(&self, slice: &mut Slice<RunCounts>, stop: &Stop) -> Result<()> {
        let least = self.rule.least as u32;
        let mut reader = AnchorReader::new(self.rule.least);
        slice.found = RunCounts::default();
        let RunCounts { lengths, tokens, left_out, anchors } = &mut slice.found;
        for record in slice.records.clone() {
            reader.choose(self, record, stop)?;
            if !self.frequent.is_empty() {
                reader.hash(stop)?;
            }
            let (mut covered, mut end, mut all) = (0, 0, true);
            for (n, anchor) in reader.chosen.iter().enumerate() {
                stop.check_every(n, 1 << 10)?;
                let mut span: Option<(u32, u32)> = None;
                for first in firsts(anchor) {
                    if !self.frequent.is_empty()
                        && self.frequent.binary_search(&reader.contents.content(first as usize)).is_ok()
                    {
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
                        WeighedKey { hash: anchor.hash, record, weight: to - from },
                        DOING,
                    )?;
                }
            }
            memory::push(lengths, reader.space.tokens.len() as u32, DOING)?;
            memory::push(tokens, covered, DOING)?;
            if !all {
                memory::push(left_out, record, DOING)?;
            }
        }
        Ok(())
    }
}

/// Returns the keys that more than `most` documents have, ascending. `key` returns the key and the
/// record of an entry, in whose order the entries are; `rows` returns the number of documents that
/// have a record.
fn frequent_keys<T: Pod + Ord, K: PartialEq + Copy>(
    entries: &mut Sorted<T>,
    key: impl Fn(&T) -> (K, u32),
    most: u64,
    rows: &dyn Fn(u32) -> u64,
    executor: &dyn Executor,
) -> Result<Vec<K>> {
    let (mut keys, mut last, mut documents) = (Vec::new(), None, 0u64);
    while let Some((next, record)) = entries.next(executor)?.as_ref().map(&key) {
        let same = last.is_some_and(|(before, _)| before == next);
        let again = last == Some((next, record));
        documents = if same { documents } else { 0 } + if again { 0 } else { rows(record) };
        if documents > most && keys.last() != Some(&next) {
            memory::push(&mut keys, next, DOING)?;
        }
        last = Some((next, record));
    }
    Ok(keys)
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

    fn choose(&mut self, texts: &RunTexts, record: u32, stop: &Stop) -> Result<()> {
        texts.read(record, &mut self.space, stop)?;
        self.rule.select(&self.space.tokens, stop, &mut self.chosen)
    }

    /// Hashes the windows of the text.
    fn hash(&mut self, stop: &Stop) -> Result<()> {
        self.contents.set(&self.space.tokens, stop)
    }
}
