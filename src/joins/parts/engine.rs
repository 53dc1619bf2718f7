//! Candidates among the rows of a part: by shared tokens of their prefixes, sizes, places of the shared token, and bitmaps.
//!
//! As in [`crate::joins::sets`] a record probes for those that are not larger: these are found under fewer tokens than
//! they came with. What is left is similar as far as a part can know.

use std::ops::Range;

use super::bitmaps;
use super::rows::{DOING, Rows};
use crate::error::{Error, Result};
use crate::executor::{self, Executor, Stop};
use crate::joins::sets::bounds::{Bounds, Side};
use crate::memory;
use crate::prefetch::prefetch;
use crate::sketches::kernels::{Kernels, kernels};

/// Which of the found rows a probe may be paired with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partners {
    /// Those before it among the same rows.
    Before,
    /// Those of other rows that are not larger.
    NotLarger,
    /// Those of other rows that are smaller.
    Smaller,
}

/// A token of a row that is found.
#[derive(Debug, Clone, Copy)]
struct Posting {
    token: u64,
    row: u32,
    place: u32,
}

/// Where the postings of a token are.
#[derive(Debug, Clone, Copy, Default)]
struct List {
    token: u64,
    start: u32,
    end: u32,
}

/// The rows that have each token. What decides about most of them is by itself, as they are met here and there: their words would
/// come from memory one after the other.
#[derive(Debug, Default)]
struct Index {
    /// How many tokens each row has.
    sizes: Vec<u32>,
    /// Where the bitmap of each row is among the words of all.
    bitmaps: Vec<Range<usize>>,
    postings: Vec<Posting>,
    /// By hash, with gaps; empty ones end where they start.
    lists: Vec<List>,
}

/// Bytes that an index and what goes with it take at most for each token and each row: a posting, and of the list of a token
/// that no other row has up to four places, as places are at most twice as many as lists, rounded up to a power of two.
pub(super) const BYTES_A_TOKEN: usize = size_of::<Posting>() + 4 * size_of::<List>();
/// See above: the order of sizes, what the index knows of a row, and when it was met.
pub(super) const BYTES_A_ROW: usize = 3 * size_of::<u32>() + size_of::<Range<usize>>();

impl Index {
    fn new(rows: &Rows, bounds: &Bounds, stop: &Stop) -> Result<Self> {
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
                // What probes is not smaller.
                prefix = bounds.prefix(Side::Left, size, size);
            }
            for (token, at) in row.tokens().take_while(|&(_, at)| at < prefix) {
                // Rows are numbered with 32 bits.
                memory::push(&mut postings, Posting { token, row: place as u32, place: at }, DOING)?;
            }
        }
        // Where lists begin and end is numbered with 32 bits.
        if u32::try_from(postings.len()).is_err() {
            return Err(Error::TooMany { what: "tokens of a part in memory", limit: u32::MAX.into() });
        }
        executor::sort_unstable_by(&mut postings, stop, &|a, b| (a.token, a.row).cmp(&(b.token, b.row)))?;
        let distinct = postings.chunk_by(|a, b| a.token == b.token).count();
        let mut lists = memory::filled(List::default(), (2 * distinct).next_power_of_two(), DOING)?;
        let mut start = 0;
        for list in postings.chunk_by(|a, b| a.token == b.token) {
            let token = list[0].token;
            let mut slot = crate::hash::mix(token) as usize & (lists.len() - 1);
            while lists[slot].end > 0 {
                slot = (slot + 1) & (lists.len() - 1);
            }
            let end = start + list.len() as u32;
            lists[slot] = List { token, start, end };
            start = end;
        }
        Ok(Self { sizes, bitmaps, postings, lists })
    }

    /// Asks for the memory in which the list of a token is found.
    #[inline]
    fn ask(&self, token: u64) {
        prefetch(&self.lists, crate::hash::mix(token) as usize & (self.lists.len() - 1));
    }

    /// Where the list of a token is, if it has one.
    #[inline]
    fn slot(&self, token: u64) -> Option<usize> {
        let mut slot = crate::hash::mix(token) as usize & (self.lists.len() - 1);
        loop {
            let list = self.lists[slot];
            if list.end == 0 {
                return None;
            }
            if list.token == token {
                return Some(slot);
            }
            slot = (slot + 1) & (self.lists.len() - 1);
        }
    }

    /// Leaves the rows before `first` out of a list for good: no later probe reaches them, as later ones are not smaller.
    #[inline]
    fn pass(&mut self, slot: usize, first: usize) {
        let passed = self.list(slot).iter().take_while(|posting| (posting.row as usize) < first).count();
        self.lists[slot].start += passed as u32;
    }

    #[inline]
    fn list(&self, slot: usize) -> &[Posting] {
        let list = self.lists[slot];
        &self.postings[list.start as usize..list.end as usize]
    }
}

/// How many probes, and how many bitmaps, memory is asked for ahead.
const AHEAD: usize = 8;
/// Of how many sizes of rows what a probe needs is known at a time.
const NEEDS: usize = 1 << 10;

/// Two rows, by their places among those that probe and those that are found.
pub type Candidate = (u32, u32);

/// A join of rows with themselves or with others.
#[derive(Debug)]
pub struct Engine<'a> {
    probes: &'a Rows,
    found: &'a Rows,
    partners: Partners,
    bounds: Bounds,
    index: Option<Index>,
    next: usize,
    /// By the place of a row that is found: 1 and the last probe that met it.
    met: Vec<u32>,
    /// Rows whose bitmaps are compared next, and in how many bits they may differ.
    near: Vec<(u32, u64)>,
    /// Where the lists of a probe's tokens are, and the places of these: found one after the other, before any of them is read, so
    /// that memory is waited for once.
    slots: Vec<(usize, u32)>,
    kernels: &'static Kernels,
    of_size: OfSize,
}

/// What all probes of a size have in common; they come one after the other.
#[derive(Debug, Default)]
struct OfSize {
    size: u32,
    /// The places of all rows that are large enough, and small enough.
    reach: Range<usize>,
    /// By the lower bits of the size of a row: that size, and the least overlap with rows that have it.
    needs: Vec<(u32, u32)>,
}

impl<'a> Engine<'a> {
    /// A join of rows in the order of their sizes.
    pub fn new(probes: &'a Rows, found: &'a Rows, partners: Partners, bounds: Bounds) -> Result<Self> {
        let met = memory::filled(0, found.len(), DOING)?;
        let (near, slots, kernels) = (Vec::new(), Vec::new(), kernels());
        let of_size = OfSize::default();
        Ok(Self { probes, found, partners, bounds, index: None, next: 0, met, near, slots, kernels, of_size })
    }

    /// Some of the candidates, each once; none when the join is done.
    pub fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<Candidate>>> {
        const ENOUGH: usize = 1 << 16;
        if self.next == self.probes.len() {
            return Ok(None);
        }
        let mut state = (self, Vec::new());
        executor::one(executor, &mut state, |(engine, batch), stop| {
            let mut index = match engine.index.take() {
                Some(index) => index,
                None => Index::new(engine.found, &engine.bounds, stop)?,
            };
            let mut done = Ok(());
            while done.is_ok() && engine.next < engine.probes.len() && batch.len() < ENOUGH {
                let before = batch.len();
                done = engine.probe(&mut index, engine.next, batch, stop);
                match done {
                    Ok(()) => engine.next += 1,
                    // It begins anew.
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

    /// Makes ready for probes of a size.
    fn begin_size(&mut self, index: &Index, size: u32) -> Result<()> {
        let first_of = |size| index.sizes.partition_point(|&other| other < size);
        let end = match self.partners {
            Partners::Before | Partners::NotLarger => first_of(size.saturating_add(1)),
            Partners::Smaller => first_of(size),
        };
        let partners = self.bounds.partner_sizes(Side::Left, size, size);
        let reach = partners.map_or(0..0, |partners| first_of(*partners.start()).min(end)..end);
        if self.of_size.needs.is_empty() {
            self.of_size.needs = memory::filled((0, 0), NEEDS, DOING)?;
        }
        self.of_size.needs.fill((0, 0));
        (self.of_size.size, self.of_size.reach) = (size, reach);
        Ok(())
    }

    /// The least overlap of a probe with a row of this size, more than either has where no overlap is enough.
    #[inline]
    fn need(&mut self, size: u32) -> u32 {
        let known = &mut self.of_size.needs[size as usize % NEEDS];
        if known.0 != size {
            let least = self.bounds.least_overlap(Side::Left, self.of_size.size, size);
            *known = (size, least.unwrap_or(u32::MAX));
        }
        known.1
    }

    fn probe(
        &mut self,
        index: &mut Index,
        place: usize,
        batch: &mut Vec<Candidate>,
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
        let mark = place as u32 + 1;
        self.slots.clear();
        probe.tokens().for_each(|(token, _)| index.ask(token));
        for (token, at) in probe.tokens() {
            if let Some(slot) = index.slot(token) {
                prefetch(&index.postings, index.lists[slot].start as usize);
                memory::push(&mut self.slots, (slot, at), DOING)?;
            }
        }
        for n in 0..self.slots.len() {
            let (slot, at) = self.slots[n];
            index.pass(slot, reach.start);
            for postings in index.list(slot).chunks(CHECK_EVERY) {
                stop.check()?;
                for posting in postings {
                    if posting.row as usize >= reach.end {
                        break;
                    }
                    if std::mem::replace(&mut self.met[posting.row as usize], mark) == mark {
                        continue;
                    }
                    let size = index.sizes[posting.row as usize];
                    let need = self.need(size);
                    // No more can be shared before this token, and after it, than the shorter of both ends has.
                    let before = at.min(posting.place);
                    let after = (probe.size - at).min(size - posting.place);
                    if u64::from(before) + u64::from(after) < u64::from(need) {
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

    /// Pairs the probe with those of the near rows whose bitmaps differ in no more bits than they may.
    fn compare(
        &mut self,
        index: &Index,
        place: usize,
        batch: &mut Vec<Candidate>,
        stop: &Stop,
    ) -> Result<()> {
        stop.check()?;
        let (bitmap, words) = (self.probes.get(place).bitmap(), self.found.words());
        let ask = |near: &(u32, u64)| prefetch(words, index.bitmaps[near.0 as usize].start);
        self.near.iter().take(AHEAD).for_each(ask);
        for (n, &(row, allowed)) in self.near.iter().enumerate() {
            self.near.get(n + AHEAD).iter().copied().for_each(ask);
            let other = &words[index.bitmaps[row as usize].clone()];
            if u64::from(bitmaps::differ(bitmap, other, self.kernels)) <= allowed {
                // Rows are numbered with 32 bits.
                memory::push(batch, (place as u32, row), DOING)?;
            }
        }
        self.near.clear();
        Ok(())
    }
}
