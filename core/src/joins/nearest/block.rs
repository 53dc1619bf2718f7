//! The search for some consecutive records, token by token and the rarest token first: all records
//! of the block that have a token are compared with all records that have it.
//!
//! The bitmaps of the records of a token are gathered once for all of the block, and the comparison
//! of two bitmaps rules out nearly every record (core/src/joins/sets/bitmap_join.rs). The others
//! are compared at the first token that they share, and at no other.

use std::ops::Range;

use super::count::BlockCounting;
use super::index::RecordIndex;
use super::lists::TokenLists;
use super::probe::RecordProbe;
use super::top::Partner;
use crate::error::Result;
use crate::executor::{self, Stop};
use crate::joins::Counts;
use crate::joins::sets::bitmap::gather;
use crate::memory;
use crate::simd::planes;
use crate::verify::overlap::{disjoint, shared_at_least};

const DOING: &str = "finding the nearest";

/// What it takes to look at a record, and to compare an entry of a list, in nanoseconds.
const A_LOOK: u64 = 150;
const AN_ENTRY: u64 = 1;

/// How many records of a list are compared at a time. Their bitmaps fit into a cache.
const WINDOW: usize = 1 << 12;

/// The search for the records of a block. It can be stopped, and goes on where it stopped.
#[derive(Debug)]
pub struct Block {
    records: Range<usize>,
    probes: Vec<RecordProbe>,
    /// The tokens of the records: the token in the upper half, the number of the record in the
    /// block in the lower half. They are sorted by [`Block::begin`].
    entries: Vec<u64>,
    has_begun: bool,
    /// The first entry of the token that is being searched for.
    at: usize,
    /// What is done of it.
    done: Option<DoneOfToken>,
    /// The search for the other records, once all entries are done.
    counting: Option<BlockCounting>,
    /// The best rows of the first records, once the search is done.
    partners: Vec<Vec<Partner>>,
    /// The counters of the search.
    pub counts: Counts,
}

/// The best rows for some consecutive records, their own rows among them.
#[derive(Debug)]
pub struct Nearest {
    /// The first record.
    pub first: usize,
    /// The rows for each record. A better one is less.
    pub partners: Vec<Vec<Partner>>,
}

/// What is done of a token: the windows before this one, and in it the entries before this one.
#[derive(Debug, Clone, Copy)]
struct DoneOfToken {
    window: usize,
    entry: usize,
}

/// Buffers that are used again.
#[derive(Debug, Default)]
struct BlockScratch {
    /// The bitmaps of a window, word by word.
    words: Vec<u64>,
    near: Vec<u32>,
}

impl Block {
    /// Creates the search for these records.
    pub fn new(records: Range<usize>) -> Self {
        Self {
            records,
            probes: Vec::new(),
            entries: Vec::new(),
            has_begun: false,
            at: 0,
            done: None,
            counting: None,
            partners: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Takes the best rows of each record. The search is done.
    pub fn take_nearest(&mut self) -> Nearest {
        Nearest { first: self.records.start, partners: std::mem::take(&mut self.partners) }
    }

    fn begin<const W: usize>(&mut self, index: &RecordIndex<W>, stop: &Stop) -> Result<()> {
        self.entries.clear();
        self.probes.clear();
        memory::reserve(&mut self.probes, self.records.len(), DOING)?;
        for (number, record) in (0..).zip(self.records.clone()) {
            stop.check()?;
            let mut probe = index.probe(record)?;
            probe.waits = index.is_cheap_to_count(record);
            let tokens = index.records.tokens(record);
            let searched = match probe.waits {
                true => 0,
                false => tokens.partition_point(|&token| (token as usize) < index.searched),
            };
            let tokens = &tokens[..searched];
            self.probes.push(probe);
            memory::reserve(&mut self.entries, tokens.len(), DOING)?;
            self.entries.extend(tokens.iter().map(|&token| u64::from(token) << 32 | number));
        }
        executor::sort_unstable_by(&mut self.entries, stop, &u64::cmp)?;
        self.has_begun = true;
        Ok(())
    }

    /// Searches until all records of the block are done.
    pub fn work<const W: usize>(&mut self, index: &RecordIndex<W>, stop: &Stop) -> Result<()> {
        if !self.has_begun {
            self.begin(index, stop)?;
        }
        let mut scratch = BlockScratch::default();
        while self.at < self.entries.len() {
            let token = (self.entries[self.at] >> 32) as u32;
            let next =
                self.entries[self.at..].iter().take_while(|&&entry| (entry >> 32) as u32 == token).count();
            let group = self.at..self.at + next;
            if group.clone().any(|entry| self.probe(entry).is_searching()) {
                self.search(index, token, group.clone(), &mut scratch, stop)?;
            } else {
                stop.check()?;
            }
            for entry in group.clone() {
                let probe = &mut self.probes[self.entries[entry] as u32 as usize];
                if probe.is_searching() {
                    probe.advance();
                }
            }
            (self.at, self.done) = (group.end, None);
        }
        self.entries = Vec::new();
        if self.counting.is_none() {
            let mut waiting = Vec::new();
            memory::reserve(&mut waiting, self.probes.len(), DOING)?;
            waiting.extend((0..).zip(&self.probes).filter(|(_, probe)| !probe.is_done()).map(|(n, _)| n));
            let tokens = |&number: &u32| index.records.tokens(self.records.start + number as usize).len();
            let all = waiting.iter().map(tokens).sum();
            self.counting = Some(BlockCounting::new(waiting, all));
        }
        if let Some(counting) = &mut self.counting {
            counting.work(index, self.records.start, &mut self.probes, &mut self.counts, stop)?;
        }
        self.collect(stop)
    }

    /// Collects the best rows of each record.
    fn collect(&mut self, stop: &Stop) -> Result<()> {
        let more = self.records.len() - self.partners.len();
        memory::reserve(&mut self.partners, more, DOING)?;
        for probe in &mut self.probes[self.partners.len()..] {
            stop.check()?;
            self.partners.push(probe.top.take());
        }
        self.probes = Vec::new();
        Ok(())
    }

    fn probe(&self, entry: usize) -> &RecordProbe {
        &self.probes[self.entries[entry] as u32 as usize]
    }

    /// Compares the records of the block that have a token with all records that have it.
    fn search<const W: usize>(
        &mut self,
        index: &RecordIndex<W>,
        token: u32,
        group: Range<usize>,
        scratch: &mut BlockScratch,
        stop: &Stop,
    ) -> Result<()> {
        let list = index.lists.for_token(token);
        // Records that are as large as those of the block come first: they are the most similar.
        let own = list.0.partition_point(|&record| (record as usize) < self.records.start) / WINDOW;
        let all = list.0.len().div_ceil(WINDOW);
        let DoneOfToken { window, entry } =
            self.done.unwrap_or(DoneOfToken { window: 0, entry: group.start });
        let mut from = entry;
        for n in window..all {
            let place = if n < all - own { own + n } else { all - 1 - n };
            let window = place * WINDOW..list.0.len().min((place + 1) * WINDOW);
            self.done = Some(DoneOfToken { window: n, entry: from });
            let mut gathered = false;
            for entry in from..group.end {
                stop.check()?;
                let number = self.entries[entry] as u32 as usize;
                let probe = &self.probes[number];
                let range = if probe.waits { 0..0 } else { index.within(probe, list.0, window.clone()) };
                if !range.is_empty() {
                    if !gathered {
                        let record = |at: usize| list.0[..window.end].get(at).copied();
                        gather(&index.bitmaps, window.clone(), record, &mut scratch.words)?;
                        gathered = true;
                    }
                    let comparison = ListComparison { index, list, window: window.clone(), range };
                    let record = self.records.start + number;
                    let probe = &mut self.probes[number];
                    comparison.run(record, probe, scratch, &mut self.counts)?;
                    probe.waits |= !probe.is_done() && index.is_dear(record, probe);
                }
                self.done = Some(DoneOfToken { window: n, entry: entry + 1 });
            }
            from = group.start;
        }
        Ok(())
    }
}

/// The comparison of a record with some of the records of a list.
struct ListComparison<'a, const W: usize> {
    index: &'a RecordIndex<W>,
    /// The records of the token, and their tokens from it on.
    list: (&'a [u32], &'a [u16]),
    /// The part of the list whose bitmaps are gathered.
    window: Range<usize>,
    /// The part of the window to compare.
    range: Range<usize>,
}

impl<const W: usize> ListComparison<'_, W> {
    /// Compares the record with the others in pieces of similar sizes, because the number of bits
    /// that may differ depends on the size.
    fn run(
        &self,
        record: usize,
        probe: &mut RecordProbe,
        scratch: &mut BlockScratch,
        counts: &mut Counts,
    ) -> Result<()> {
        let Self { index, list: (records, _), range, .. } = self;
        let size_at = |place: usize| index.records.size(records[place] as usize);
        let mut from = range.start;
        while from < range.end && !probe.is_done() {
            let first = size_at(from);
            let similar = first.saturating_add(first / 8);
            let more = records[from..range.end]
                .partition_point(|&other| index.records.size(other as usize) <= similar);
            let piece = from..from + more;
            from = piece.end;
            let last = size_at(piece.end - 1);
            if probe.least <= last && first <= probe.most {
                self.run_piece(record, probe, &piece, scratch, counts)?;
            }
        }
        Ok(())
    }

    fn run_piece(
        &self,
        record: usize,
        probe: &mut RecordProbe,
        piece: &Range<usize>,
        scratch: &mut BlockScratch,
        counts: &mut Counts,
    ) -> Result<()> {
        let Self { index, list: (records, _), window, .. } = self;
        let BlockScratch { words, near } = scratch;
        near.clear();
        memory::reserve(near, piece.len() + planes::IN_ADVANCE, DOING)?;
        let size_at = |place: usize| index.records.size(records[place] as usize);
        let (first, last) = (size_at(piece.start), size_at(piece.end - 1));
        let allowed = probe.may_differ(first.max(probe.least), last.min(probe.most));
        let places = piece.start - window.start..piece.end - window.start;
        let planes: [&[u64]; W] =
            std::array::from_fn(|w| &words[w * window.len()..][..window.len()][places.clone()]);
        (index.near)(&index.bitmaps[record], &planes, allowed, piece.start as u32, near);
        counts.pruned_by_bitmap += (piece.len() - near.len()) as u64;
        probe.cost.entries += piece.len() as u64;
        probe.cost.spent += AN_ENTRY * piece.len() as u64 + A_LOOK * near.len() as u64;
        for (n, &place) in near.iter().enumerate() {
            if let Some(&next) = near.get(n + 8) {
                index.records.prefetch_place(records[next as usize]);
                index.ranks.prefetch_range(records[next as usize]);
            }
            if let Some(&next) = near.get(n + 4) {
                index.records.prefetch(records[next as usize] as usize, usize::MAX);
            }
            self.look(record, probe, place as usize, counts)?;
        }
        probe.follow(index.largest);
        Ok(())
    }

    /// Compares the record with the one at a place of the list.
    fn look(&self, record: usize, probe: &mut RecordProbe, place: usize, counts: &mut Counts) -> Result<()> {
        let Self { index, list: (records, rests), .. } = self;
        let other = records[place] as usize;
        if other == record {
            return Ok(());
        }
        let size = index.records.size(other);
        let others = index.records.tokens(other);
        let own = index.records.tokens(record);
        let from = own.len() - probe.left as usize;
        let at = match rests[place] {
            TokenLists::MANY => others.partition_point(|&token| token < own[from]),
            rest => others.len() - usize::from(rest),
        };
        let left = (own.len() - from).min(others.len() - at);
        if probe.need(size).is_none_or(|need| need as usize > left) {
            counts.pruned_by_position += 1;
            return Ok(());
        }
        // What shares an earlier token was compared there.
        if !disjoint(&own[..from], &others[..at]) {
            return Ok(());
        }
        counts.candidates += 1;
        let ranks = index.ranks.rows(other);
        let need = ranks.first().and_then(|&rank| probe.need_of_row(size, rank));
        let Some(need) = need.filter(|&need| need as usize <= left) else { return Ok(()) };
        counts.verified += 1;
        let Some(shared) = shared_at_least(&own[from..], &others[at..], need as usize) else { return Ok(()) };
        let similarity = probe.similarity(shared as u32, size);
        for &rank in ranks {
            if !probe.top.push(Partner::new(similarity, rank))? {
                break;
            }
        }
        probe.raise(index.measure);
        Ok(())
    }
}
