//! The records of one table or two, and the bounds that follow from their sizes alone.

use std::ops::Range;

use super::bounds::{Bounds, PairSide, Reach, SizesOfJoin};
use crate::error::Result;
use crate::features::sets::records::{Records, SizeRuns};
use crate::memory;
use crate::simd::prefetch::prefetch;
use crate::verify::predicate::Predicate;

const DOING: &str = "preparing the join";

/// The data that probes read: the records that probe, the indexed records, and the bounds between
/// them.
#[derive(Debug)]
pub struct Inputs {
    left: Records,
    right: Option<Records>,
    pub(super) bounds: Bounds,
    /// The number of tokens that can be shared.
    pub shared_tokens: usize,
    /// The distinct sizes of the indexed records, ascending.
    pub sizes: Vec<u32>,
    /// For each indexed record, the index of its size in `sizes`.
    pub size_of: Vec<u32>,
    /// The length of the indexing prefix for each of `sizes`.
    prefixes: Vec<u32>,
    /// For each record that probes, the records that it may be paired with.
    reaches: Vec<Reach>,
}

impl Inputs {
    /// Takes the records of a join, whose shared tokens have numbers below `shared_tokens`. The
    /// right records are indexed or, if there is only one table, its records.
    pub fn new(
        left: Records,
        right: Option<Records>,
        shared_tokens: usize,
        predicate: Predicate,
    ) -> Result<Self> {
        let bounds = Bounds::new(predicate);
        let runs = SizeRuns::new(left.sizes())?;
        let right_runs = right.as_ref().map(|right| SizeRuns::new(right.sizes())).transpose()?;
        let sizes_of_join = SizesOfJoin { bounds: &bounds, left: &runs, right: right_runs.as_ref() };
        let (prefixes, of_sizes) = (sizes_of_join.indexing_prefixes()?, sizes_of_join.reaches()?);
        let indexed = right_runs.as_ref().unwrap_or(&runs);
        let (mut size_of, mut reaches) = (Vec::new(), Vec::new());
        let sizes = memory::collect(indexed.sizes().iter().copied(), DOING)?;
        memory::reserve(&mut size_of, indexed.records(), DOING)?;
        (0..sizes.len()).for_each(|run| size_of.extend(indexed.range(run).map(|_| run as u32)));
        memory::reserve(&mut reaches, left.len(), DOING)?;
        for (run, &reach) in of_sizes.iter().enumerate() {
            // Records are numbered with 32 bits.
            let end = |probe| if right.is_none() { probe } else { reach.end };
            reaches.extend(runs.range(run).map(|probe| Reach { end: end(probe), ..reach }));
        }
        Ok(Self { left, right, bounds, shared_tokens, sizes, size_of, prefixes, reaches })
    }

    /// Returns the records that probe, and the indexed records unless they are the same records.
    pub(super) fn into_records(self) -> (Records, Option<Records>) {
        (self.left, self.right)
    }

    /// Returns the records that probe.
    #[inline]
    pub fn left(&self) -> &Records {
        &self.left
    }

    /// Returns the indexed records.
    #[inline]
    pub fn indexed(&self) -> &Records {
        self.right.as_ref().unwrap_or(&self.left)
    }

    /// Returns the number of tokens of all records.
    pub fn tokens(&self) -> u64 {
        let of = |records: &Records| records.sizes().iter().map(|&size| u64::from(size)).sum::<u64>();
        of(&self.left) + self.right.as_ref().map_or(0, of)
    }

    /// Reports whether a table is joined with itself.
    pub fn is_self_join(&self) -> bool {
        self.right.is_none()
    }

    /// Returns the tokens under which a record is indexed.
    #[inline]
    pub fn indexing_prefix(&self, record: usize) -> &[u32] {
        shared_prefix(self.indexed(), record, self.prefixes[self.size_of[record] as usize])
    }

    /// Returns the tokens with which a record probes.
    #[inline]
    pub fn probing_prefix(&self, probe: usize) -> &[u32] {
        shared_prefix(&self.left, probe, self.reaches[probe].prefix)
    }

    /// Returns the records that a record may be paired with.
    #[inline]
    pub fn reach(&self, probe: u32) -> Reach {
        self.reaches[probe as usize]
    }

    /// Prefetches the memory that [`Inputs::reach`] will read.
    #[inline]
    pub fn prefetch_reach(&self, probe: u32) {
        prefetch(&self.reaches, probe as usize);
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.left.bytes()
            + self.right.as_ref().map_or(0, Records::bytes)
            + memory::bytes(&self.sizes)
            + memory::bytes(&self.size_of)
            + memory::bytes(&self.prefixes)
            + memory::bytes(&self.reaches)
    }
}

/// Returns those of the first `length` tokens of a record that can be shared. The others are rarer.
#[inline]
pub(super) fn shared_prefix(records: &Records, record: usize, length: u32) -> &[u32] {
    let tokens = records.tokens(record);
    let lone = records.size(record) - tokens.len() as u32;
    &tokens[..(length.saturating_sub(lone) as usize).min(tokens.len())]
}

/// The least overlaps that probes of one size need with their possible partners. They are computed
/// once for all probes of that size, which are consecutive, and only for the partner sizes that
/// these probes meet.
#[derive(Debug, Default)]
pub struct Needs {
    /// The least overlap with a partner of each of [`Inputs::sizes`]; [`u32::MAX`] where no overlap
    /// is enough.
    least: Vec<u32>,
    size: u32,
}

/// Marks a least overlap that is not computed yet. It is larger than the number of tokens that any
/// record can share.
const UNKNOWN: u32 = u32::MAX - 1;

impl Needs {
    /// Creates needs that are not prepared for any probe yet.
    pub fn new(inputs: &Inputs) -> Result<Self> {
        Ok(Self { least: memory::filled(UNKNOWN, inputs.sizes.len(), DOING)?, size: 0 })
    }

    /// Prepares the needs of a probe of `size` with its partners.
    pub fn prepare(&mut self, inputs: &Inputs, size: u32, partners: &Range<u32>) {
        if self.size == size {
            return;
        }
        self.size = size;
        let last = if inputs.is_self_join() {
            // Later probes of this size may meet earlier records of the same size.
            inputs.sizes.partition_point(|&other| other < size)
        } else {
            inputs.size_of[partners.end as usize - 1] as usize
        };
        self.least[inputs.size_of[partners.start as usize] as usize..=last].fill(UNKNOWN);
    }

    /// Returns the least overlap with a partner of the size at index `place` of [`Inputs::sizes`].
    #[inline]
    pub fn least(&mut self, inputs: &Inputs, place: usize) -> u32 {
        match self.least[place] {
            UNKNOWN => {
                let least = inputs.bounds.least_overlap(PairSide::Left, self.size, inputs.sizes[place]);
                self.least[place] = least.unwrap_or(u32::MAX);
                self.least[place]
            }
            known => known,
        }
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.least)
    }
}
