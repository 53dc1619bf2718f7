//! The search for candidates among the rows of a part, by shared tokens of their prefixes, sizes,
//! places of the shared token, and bitmaps.
//!
//! As in [`crate::joins::sets`], a row probes for rows that are not larger. So the index needs
//! fewer tokens of a row than the part holds. As far as a part can determine, the remaining
//! candidates are similar. Those that share a mark of an earlier part are left to that part. Tokens
//! with one mark are one token here, so that no pair is left to a part that does not find it.

use std::ops::Range;

use super::bitmaps;
use super::earlier::{mark, meet};
use super::rows::{DOING, WireRows};
use crate::error::{Error, Result};
use crate::executor::{self, Executor, Stop};
use crate::joins::sets::bounds::{Bounds, PairSide};
use crate::memory;
use crate::simd::prefetch::prefetch;
use crate::simd::sketch_loops::{Kernels, kernels};

/// The indexed rows that a probe may be paired with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partners {
    /// Rows before the probe in the same collection.
    Before,
    /// Rows of another collection that are not larger.
    NotLarger,
    /// Rows of another collection that are smaller.
    Smaller,
}

/// A token of an indexed row.
#[derive(Debug, Clone, Copy)]
struct MarkPosting {
    token: u64,
    row: u32,
    place: u32,
}

/// The range of the postings of the tokens with one mark.
#[derive(Debug, Clone, Copy, Default)]
struct MarkList {
    mark: u32,
    start: u32,
    end: u32,
}

/// The rows that have each token. The sizes and the positions of bitmaps, which decide about most
/// rows, are also stored here: rows are accessed in random order, and reading sizes and positions
/// from the words of the rows would cause one cache miss after the other.
#[derive(Debug, Default)]
struct RowIndex {
    /// The number of tokens of each row.
    sizes: Vec<u32>,
    /// The range of each row's bitmap among the words of all rows.
    bitmaps: Vec<Range<usize>>,
    postings: Vec<MarkPosting>,
    /// A hash table with linear probing. In an empty slot, the end of the list is 0.
    lists: Vec<MarkList>,
}

/// The most bytes that an index and its related data take for each token and each row. A token
/// takes a posting and, if no other row has it, up to four slots for its list, because the number
/// of slots is twice the number of lists, rounded up to a power of two.
pub(super) const BYTES_A_TOKEN: usize = size_of::<MarkPosting>() + 4 * size_of::<MarkList>();
/// The bytes for each row are its place in the order of sizes, its size and the range of its bitmap
/// in the index, and the last probe that found it.
pub(super) const BYTES_A_ROW: usize = 3 * size_of::<u32>() + size_of::<Range<usize>>();

/// Returns the slot that is searched first for a mark. The marks of a part are in a short range.
#[inline]
fn first_slot(mark: u32, slots: usize) -> usize {
    crate::hash::mix(mark.into()) as usize & (slots - 1)
}

impl RowIndex {
    fn new(rows: &WireRows, bounds: &Bounds, stop: &Stop) -> Result<Self> {
        let mut postings = Vec::new();
        memory::reserve(&mut postings, rows.tokens().min(u32::MAX as usize), DOING)?;
        let (mut sizes, mut bitmaps) = (Vec::new(), Vec::new());
        memory::reserve(&mut sizes, rows.len(), DOING)?;
        memory::reserve(&mut bitmaps, rows.len(), DOING)?;
        let (mut size, mut prefix) = (0, 0);
        for place in 0..rows.len() {
            stop.check()?;
            let row = rows.get(place);
            sizes.push(row.size);
            bitmaps.push(rows.bitmap_of(place));
            if row.size != size {
                size = row.size;
                // Probes are not smaller than the rows that they find.
                prefix = bounds.prefix(PairSide::Left, size, size);
            }
            for (token, at) in row.tokens().take_while(|&(_, at)| at < prefix) {
                // Row numbers have 32 bits.
                memory::push(&mut postings, MarkPosting { token, row: place as u32, place: at }, DOING)?;
            }
        }
        // The starts and ends of lists have 32 bits.
        if u32::try_from(postings.len()).is_err() {
            return Err(Error::TooMany { what: "tokens of a part in memory", limit: u32::MAX.into() });
        }
        executor::sort_unstable_by(&mut postings, stop, &|a, b| {
            (mark(a.token), a.row).cmp(&(mark(b.token), b.row))
        })?;
        let is_one = |a: &MarkPosting, b: &MarkPosting| mark(a.token) == mark(b.token);
        let distinct = postings.chunk_by(is_one).count();
        let mut lists = memory::filled(MarkList::default(), (2 * distinct).next_power_of_two(), DOING)?;
        let mut start = 0;
        for list in postings.chunk_by(is_one) {
            let mark = mark(list[0].token);
            let mut slot = first_slot(mark, lists.len());
            while lists[slot].end > 0 {
                slot = (slot + 1) & (lists.len() - 1);
            }
            let end = start + list.len() as u32;
            lists[slot] = MarkList { mark, start, end };
            start = end;
        }
        Ok(Self { sizes, bitmaps, postings, lists })
    }

    /// Prefetches the first slot that is searched for the list of a mark.
    #[inline]
    fn ask(&self, mark: u32) {
        prefetch(&self.lists, first_slot(mark, self.lists.len()));
    }

    /// Returns the slot of a mark's list, if it has one.
    #[inline]
    fn slot(&self, mark: u32) -> Option<usize> {
        let mut slot = first_slot(mark, self.lists.len());
        loop {
            let list = self.lists[slot];
            if list.end == 0 {
                return None;
            }
            if list.mark == mark {
                return Some(slot);
            }
            slot = (slot + 1) & (self.lists.len() - 1);
        }
    }

    /// Removes the rows before `first` from a list permanently. No later probe reaches them,
    /// because later probes are not smaller.
    #[inline]
    fn pass(&mut self, slot: usize, first: usize) {
        let passed = self.list(slot).iter().take_while(|posting| (posting.row as usize) < first).count();
        self.lists[slot].start += passed as u32;
    }

    #[inline]
    fn list(&self, slot: usize) -> &[MarkPosting] {
        let list = self.lists[slot];
        &self.postings[list.start as usize..list.end as usize]
    }
}

/// The number of probes and the number of bitmaps that are prefetched ahead.
const AHEAD: usize = 8;
/// The number of row sizes for which a probe's requirements are cached.
const NEEDS: usize = 1 << 10;

/// Two rows, by their places among the probes and among the indexed rows.
pub type RowCandidate = (u32, u32);

/// A join of rows with each other, or with the rows of another collection.
#[derive(Debug)]
pub struct PartEngine<'a> {
    probes: &'a WireRows,
    found: &'a WireRows,
    partners: Partners,
    bounds: Bounds,
    index: Option<RowIndex>,
    next: usize,
    /// For each indexed row, 1 plus the place of the last probe that found it, or 0.
    met: Vec<u32>,
    /// The rows whose bitmaps are compared next, and for each of them the number of bits in which
    /// its bitmap may differ from that of the probe.
    near: Vec<(u32, u64)>,
    /// The slots of the lists of a probe's tokens, and these tokens with their places. All slots
    /// are found before any list is read, so that the latency of memory is paid only once.
    slots: Vec<(usize, u64, u32)>,
    kernels: &'static Kernels,
    of_size: OfSize,
}

/// The data that all probes of one size share. These probes are consecutive.
#[derive(Debug, Default)]
struct OfSize {
    size: u32,
    /// The places of all rows whose size allows them to be similar.
    reach: Range<usize>,
    /// A cache by the lower bits of a row's size: the size, and the least overlap with rows of that
    /// size.
    needs: Vec<(u32, u32)>,
}

impl<'a> PartEngine<'a> {
    /// Prepares a join of rows that are sorted by size.
    pub fn new(
        probes: &'a WireRows,
        found: &'a WireRows,
        partners: Partners,
        bounds: Bounds,
    ) -> Result<Self> {
        let met = memory::filled(0, found.len(), DOING)?;
        let (near, slots, kernels) = (Vec::new(), Vec::new(), kernels());
        let of_size = OfSize::default();
        Ok(Self { probes, found, partners, bounds, index: None, next: 0, met, near, slots, kernels, of_size })
    }

    /// Returns some of the candidates, each once, or `None` when the join is done.
    pub fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<RowCandidate>>> {
        const ENOUGH: usize = 1 << 16;
        if self.next == self.probes.len() {
            return Ok(None);
        }
        let mut state = (self, Vec::new());
        executor::one(executor, &mut state, |(engine, batch), stop| {
            let mut index = match engine.index.take() {
                Some(index) => index,
                None => RowIndex::new(engine.found, &engine.bounds, stop)?,
            };
            let mut done = Ok(());
            while done.is_ok() && engine.next < engine.probes.len() && batch.len() < ENOUGH {
                let before = batch.len();
                done = engine.probe(&mut index, engine.next, batch, stop);
                match done {
                    Ok(()) => engine.next += 1,
                    // The next call repeats this probe from its start.
                    Err(_) => {
                        batch.truncate(before);
                        engine.near.clear();
                        engine.met.fill(0);
                    }
                }
            }
            engine.index = Some(index);
            done
        })?;
        Ok(Some(state.1))
    }

    /// Prepares for probes of a size.
    fn begin_size(&mut self, index: &RowIndex, size: u32) -> Result<()> {
        let first_of = |size| index.sizes.partition_point(|&other| other < size);
        let end = match self.partners {
            Partners::Before | Partners::NotLarger => first_of(size.saturating_add(1)),
            Partners::Smaller => first_of(size),
        };
        let partners = self.bounds.partner_sizes(PairSide::Left, size, size);
        let reach = partners.map_or(0..0, |partners| first_of(*partners.start()).min(end)..end);
        if self.of_size.needs.is_empty() {
            self.of_size.needs = memory::filled((0, 0), NEEDS, DOING)?;
        }
        self.of_size.needs.fill((0, 0));
        (self.of_size.size, self.of_size.reach) = (size, reach);
        Ok(())
    }

    /// Returns the least overlap that a probe needs with a row of this size. If no overlap is
    /// enough, the result exceeds both sizes.
    #[inline]
    fn need(&mut self, size: u32) -> u32 {
        let known = &mut self.of_size.needs[size as usize % NEEDS];
        if known.0 != size {
            let least = self.bounds.least_overlap(PairSide::Left, self.of_size.size, size);
            *known = (size, least.unwrap_or(u32::MAX));
        }
        known.1
    }

    fn probe(
        &mut self,
        index: &mut RowIndex,
        place: usize,
        batch: &mut Vec<RowCandidate>,
        stop: &Stop,
    ) -> Result<()> {
        const CHECK_EVERY: usize = 1 << 12;
        stop.check()?;
        self.probes.ask(place + AHEAD);
        let probe = self.probes.get(place);
        if self.of_size.size != probe.size {
            self.begin_size(index, probe.size)?;
        }
        let mut reach = self.of_size.reach.clone();
        if self.partners == Partners::Before {
            reach.end = reach.end.min(place);
        }
        if reach.is_empty() {
            return Ok(());
        }
        let probed = place as u32 + 1;
        self.slots.clear();
        probe.tokens().for_each(|(token, _)| index.ask(mark(token)));
        for (token, at) in probe.tokens() {
            if let Some(slot) = index.slot(mark(token)) {
                prefetch(&index.postings, index.lists[slot].start as usize);
                memory::push(&mut self.slots, (slot, token, at), DOING)?;
            }
        }
        for n in 0..self.slots.len() {
            let (slot, token, at) = self.slots[n];
            index.pass(slot, reach.start);
            for postings in index.list(slot).chunks(CHECK_EVERY) {
                stop.check()?;
                for posting in postings {
                    if posting.row as usize >= reach.end {
                        break;
                    }
                    if std::mem::replace(&mut self.met[posting.row as usize], probed) == probed {
                        continue;
                    }
                    let size = index.sizes[posting.row as usize];
                    let need = self.need(size);
                    // The shorter side limits the number of shared tokens before this token, and
                    // the number from this token on.
                    let before = at.min(posting.place);
                    let after = (probe.size - at).min(size - posting.place);
                    // The places of different tokens with one mark say nothing.
                    if posting.token == token && u64::from(before) + u64::from(after) < u64::from(need) {
                        continue;
                    }
                    prefetch(&index.bitmaps, posting.row as usize);
                    let allowed = u64::from(probe.size) + u64::from(size) - 2 * u64::from(need);
                    memory::push(&mut self.near, (posting.row, allowed), DOING)?;
                }
                if self.near.len() >= CHECK_EVERY {
                    self.compare(index, place, batch, stop)?;
                }
            }
        }
        self.compare(index, place, batch, stop)
    }

    /// Pairs the probe with the near rows whose bitmaps do not differ in too many bits.
    fn compare(
        &mut self,
        index: &RowIndex,
        place: usize,
        batch: &mut Vec<RowCandidate>,
        stop: &Stop,
    ) -> Result<()> {
        stop.check()?;
        let (probe, words) = (self.probes.get(place), self.found.words());
        let (bitmap, earlier) = (probe.bitmap(), probe.earlier());
        let ask = |near: &(u32, u64)| prefetch(words, index.bitmaps[near.0 as usize].start);
        self.near.iter().take(AHEAD).for_each(ask);
        for (n, &(row, allowed)) in self.near.iter().enumerate() {
            self.near.get(n + AHEAD).iter().copied().for_each(ask);
            let other = &words[index.bitmaps[row as usize].clone()];
            if u64::from(bitmaps::differ(bitmap, other, self.kernels)) <= allowed
                && !meet(earlier, self.found.get(row as usize).earlier())
            {
                // Row numbers have 32 bits.
                memory::push(batch, (place as u32, row), DOING)?;
            }
        }
        self.near.clear();
        Ok(())
    }
}
