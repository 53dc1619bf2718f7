//! The search for some consecutive records, one after the other: in the lists of their tokens, the
//! rarest first, and those for which this takes too long together, by counting ([`super::count`]).
//!
//! The lists of rare tokens are short, and a record that has very similar ones needs no others. The
//! sizes and the places of the shared token rule most records of a list out. The others are
//! compared at the first token that they share, and at no other.

use std::ops::Range;

use super::count::BlockCounting;
use super::index::RecordIndex;
use super::probe::RecordProbe;
use super::top::Partner;
use crate::error::Result;
use crate::executor::Stop;
use crate::joins::Counts;
use crate::memory;
use crate::verify::overlap::{disjoint, shared_at_least, shared_weight_at_least};

const DOING: &str = "finding the nearest";

/// What it takes to look at a record, to read an entry of a list, and to come to a list, in
/// nanoseconds.
const A_LOOK: u64 = 100;
const AN_ENTRY: u64 = 3;
const A_LIST: u64 = 60;

/// How many records of a list are read at a time.
const PIECE: usize = 1 << 9;

/// The search for the records of a block. It can be stopped, and goes on where it stopped.
#[derive(Debug)]
pub struct Block {
    records: Range<usize>,
    /// The searches by lists that are done.
    probes: Vec<RecordProbe>,
    /// The search for the records that have not found all by lists, once all were searched for.
    counting: Option<BlockCounting>,
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

impl Block {
    /// Creates the search for these records.
    pub fn new(records: Range<usize>) -> Self {
        Self { records, probes: Vec::new(), counting: None, counts: Counts::default() }
    }

    /// Takes the best rows of each record. The search is done.
    pub fn take_nearest(&mut self) -> Result<Nearest> {
        let partners = self.probes.iter_mut().map(|probe| probe.top.take());
        Ok(Nearest { first: self.records.start, partners: memory::collect(partners, DOING)? })
    }

    /// Searches until all records of the block are done.
    pub fn work(&mut self, index: &RecordIndex, stop: &Stop) -> Result<()> {
        let more = self.records.len() - self.probes.len();
        memory::reserve(&mut self.probes, more, DOING)?;
        let mut near = Vec::new();
        while self.probes.len() < self.records.len() {
            stop.check()?;
            let record = self.records.start + self.probes.len();
            let mut search = ListSearch { index, record, probe: index.probe(record)?, counts: self.counts };
            if !index.is_cheap_to_count(record) {
                // After a stop, the record is searched for again from its first token on.
                search.work(&mut near, stop)?;
            }
            self.counts = search.counts;
            self.probes.push(search.probe);
        }
        if self.counting.is_none() {
            let waiting = (0..).zip(&self.probes).filter(|(_, probe)| !probe.is_done()).map(|(n, _)| n);
            let waiting = memory::collect(waiting, DOING)?;
            let tokens = |&number: &u32| index.records.tokens(self.records.start + number as usize).len();
            let all = waiting.iter().map(tokens).sum();
            self.counting = Some(BlockCounting::new(waiting, all));
        }
        if let Some(counting) = &mut self.counting {
            counting.work(index, self.records.start, &mut self.probes, &mut self.counts, stop)?;
        }
        Ok(())
    }
}

/// The search for a record by lists.
struct ListSearch<'a> {
    index: &'a RecordIndex,
    record: usize,
    probe: RecordProbe,
    counts: Counts,
}

impl ListSearch<'_> {
    /// Searches for the record until no better row shares only the tokens that are left, or until
    /// counting is likely to take less time than the rest. `near` is used again.
    fn work(&mut self, near: &mut Vec<u32>, stop: &Stop) -> Result<()> {
        let Self { index, record, .. } = *self;
        for &token in index.records.tokens(record) {
            if self.probe.is_done() {
                break;
            }
            let list = index.lists.get(token as usize);
            let range = index.within(&self.probe, list);
            // Records that are as large as this one come first: they are the most similar.
            let own = range.start + list[range.clone()].partition_point(|&other| (other as usize) < record);
            let after = (own..range.end).step_by(PIECE).map(|from| from..range.end.min(from + PIECE));
            let before = (range.start..own).rev().step_by(PIECE);
            let before = before.map(|last| range.start.max((last + 1).saturating_sub(PIECE))..last + 1);
            self.probe.cost.spent += A_LIST;
            for piece in after.chain(before) {
                stop.check()?;
                stop.work(piece.len());
                self.piece(token, &list[piece], near)?;
                if self.probe.is_done() || index.is_dear(record, &mut self.probe) {
                    return Ok(());
                }
            }
            self.probe.advance(index.weights.weight(token));
        }
        Ok(())
    }

    /// Compares the record with those of a piece of the list of its next token.
    fn piece(&mut self, token: u32, piece: &[u32], near: &mut Vec<u32>) -> Result<()> {
        let Self { index, record, ref mut probe, .. } = *self;
        near.clear();
        memory::reserve(near, piece.len(), DOING)?;
        let mut known = (0, false);
        for &other in piece {
            let size = index.records.size(other as usize);
            if size != known.0 {
                known = (size, probe.need(size).is_some_and(|need| need <= probe.left.weight));
            }
            if known.1 && index.are_compared(record, other as usize) {
                index.records.prefetch_place(other);
                index.ranks.prefetch_range(other);
                near.push(other);
            }
        }
        probe.cost.entries += piece.len() as u64;
        probe.cost.spent += AN_ENTRY * piece.len() as u64 + A_LOOK * near.len() as u64;
        for (n, &other) in near.iter().enumerate() {
            if let Some(&next) = near.get(n + 4) {
                index.records.prefetch(next as usize, usize::MAX);
            }
            self.look(token, other as usize)?;
        }
        self.probe.follow(index.largest);
        Ok(())
    }

    /// Compares the record with another one that has its next token.
    fn look(&mut self, token: u32, other: usize) -> Result<()> {
        let Self { index, record, ref mut probe, ref mut counts } = *self;
        let size = index.records.size(other);
        let (own, others) = (index.records.tokens(record), index.records.tokens(other));
        let from = own.len() - probe.left.count as usize;
        let at = others.partition_point(|&other| other < token);
        let [own_left, others_left] = [probe.left.weight, index.weights.sum(&others[at..])];
        let left = own_left.min(others_left);
        if probe.need(size).is_none_or(|need| need > left) {
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
        let Some(need) = need.filter(|&need| need <= left) else { return Ok(()) };
        counts.verified += 1;
        let (own, others) = (&own[from..], &others[at..]);
        let shared = match index.weights.each() {
            None => shared_at_least(own, others, need as usize).map(|shared| shared as u32),
            Some(weights) => {
                let lost = u64::from(own_left) + u64::from(others_left) - 2 * u64::from(need);
                shared_weight_at_least(own, others, need, lost, weights)
            }
        };
        let Some(shared) = shared else { return Ok(()) };
        let similarity = probe.similarity(shared, size);
        for &rank in ranks {
            if !probe.top.push(Partner::new(similarity, rank))? {
                break;
            }
        }
        probe.raise(index.measure);
        Ok(())
    }
}
