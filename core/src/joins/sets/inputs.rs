//! The records of one table or two, and the bounds that follow from their sizes alone.

use super::bitmap::TokenFlips;
use super::bounds::{Bounds, PairSide, Reach, SizesOfJoin};
use crate::error::Result;
use crate::features::dictionary::weights::TokenWeights;
use crate::features::sets::records::{Records, SizeRuns};
use crate::memory;
use crate::set_index::bitmap::Width;
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
    /// The weights of these tokens.
    pub weights: TokenWeights,
    /// The weight for which a token flips a bit of a bitmap.
    pub(super) unit: u32,
    /// The distinct sizes of the indexed records, ascending.
    pub sizes: Vec<u32>,
    /// For each indexed record, the index of its size in `sizes`.
    pub size_of: Vec<u32>,
    /// The length of the indexing prefix of each indexed record.
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
        weights: TokenWeights,
        predicate: Predicate,
    ) -> Result<Self> {
        let unit = weight_of_a_bit(&left, &weights);
        let bounds = Bounds::new(predicate);
        let runs = SizeRuns::new(left.sizes())?;
        let right_runs = right.as_ref().map(|right| SizeRuns::new(right.sizes())).transpose()?;
        let sizes_of_join = SizesOfJoin { bounds: &bounds, left: &runs, right: right_runs.as_ref() };
        let (lengths, of_sizes) = (sizes_of_join.indexing_prefixes()?, sizes_of_join.reaches()?);
        let indexed = right_runs.as_ref().unwrap_or(&runs);
        let (mut size_of, mut reaches, mut prefixes) = (Vec::new(), Vec::new(), Vec::new());
        let sizes = memory::collect(indexed.sizes().iter().copied(), DOING)?;
        memory::reserve(&mut size_of, indexed.records(), DOING)?;
        memory::reserve(&mut prefixes, indexed.records(), DOING)?;
        let records = right.as_ref().unwrap_or(&left);
        for (run, &length) in lengths.iter().enumerate() {
            size_of.extend(indexed.range(run).map(|_| run as u32));
            let prefix = |record: u32| shared_prefix(records, record as usize, &weights, length).len() as u32;
            prefixes.extend(indexed.range(run).map(prefix));
        }
        memory::reserve(&mut reaches, left.len(), DOING)?;
        for (run, &reach) in of_sizes.iter().enumerate() {
            // Records are numbered with 32 bits.
            let end = |probe| if right.is_none() { probe } else { reach.end };
            let prefix =
                |probe: u32| shared_prefix(&left, probe as usize, &weights, reach.prefix).len() as u32;
            let differ = reach.differ / unit;
            let of_probe = |probe| Reach { end: end(probe), prefix: prefix(probe), differ, ..reach };
            reaches.extend(runs.range(run).map(of_probe));
        }
        Ok(Self { left, right, bounds, shared_tokens, weights, unit, sizes, size_of, prefixes, reaches })
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

    /// Returns the number of bits that all tokens of all records flip in bitmaps, about.
    pub fn all_flips(&self) -> u64 {
        let of =
            |records: &Records| records.sizes().iter().map(|&size| u64::from(size / self.unit)).sum::<u64>();
        of(&self.left) + self.right.as_ref().map_or(0, of)
    }

    /// Returns how many bits the tokens of records flip in bitmaps.
    pub(super) fn flips(&self) -> TokenFlips<'_> {
        TokenFlips { weights: &self.weights, unit: self.unit }
    }

    /// Returns the number of words that bitmaps need for records of this size.
    pub(super) fn bitmap_words(&self, size: u32) -> Option<usize> {
        self.bounds.bitmap_words(Width::IN_MEMORY, size, self.unit)
    }

    /// Reports whether a table is joined with itself.
    pub fn is_self_join(&self) -> bool {
        self.right.is_none()
    }

    /// Returns the tokens under which a record is indexed.
    #[inline]
    pub fn indexing_prefix(&self, record: usize) -> &[u32] {
        &self.indexed().tokens(record)[..self.prefixes[record] as usize]
    }

    /// Returns the tokens with which a record probes.
    #[inline]
    pub fn probing_prefix(&self, probe: usize) -> &[u32] {
        &self.left.tokens(probe)[..self.reaches[probe].prefix as usize]
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
            + self.weights.bytes()
    }
}

/// Returns those of the first tokens of a record, so many that they weigh `length`, that can be
/// shared. The others are rarer.
#[inline]
pub(super) fn shared_prefix<'a>(
    records: &'a Records,
    record: usize,
    weights: &TokenWeights,
    length: u32,
) -> &'a [u32] {
    let tokens = records.tokens(record);
    let lone = records.size(record) - weights.sum(tokens);
    &tokens[..weights.count_to(tokens, length.saturating_sub(lone))]
}

/// Returns the weight for which a token flips a bit of a bitmap: half of the mean weight, so that
/// hardly any weight is lost by rounding down, and bitmaps need no more bits than without weights.
fn weight_of_a_bit(records: &Records, weights: &TokenWeights) -> u32 {
    const SAMPLE: usize = 1 << 12;
    if weights.each().is_none() {
        return 1;
    }
    let (mut tokens, mut weight) = (0, 0);
    for record in (0..records.len()).step_by(records.len().div_ceil(SAMPLE).max(1)) {
        let own = records.tokens(record);
        (tokens, weight) = (tokens + own.len() as u64, weight + u64::from(weights.sum(own)));
    }
    // A weight has 32 bits.
    (weight / (2 * tokens.max(1))).max(1) as u32
}

/// The least overlaps that probes of one size need with their possible partners. They are computed
/// once for all probes of that size, which are consecutive, and only for the partner sizes that
/// these probes meet.
#[derive(Debug, Default)]
pub struct Needs {
    /// What is known of partners of each of [`Inputs::sizes`].
    known: Vec<KnownNeed>,
    /// The size of the current probe.
    size: u32,
}

/// The least overlap of probes of a size, which is 0 if none is known yet; [`u32::MAX`] where no
/// overlap is enough.
#[derive(Debug, Clone, Copy, Default)]
struct KnownNeed {
    size: u32,
    least: u32,
}

impl Needs {
    /// Creates needs that are not prepared for any probe yet.
    pub fn new(inputs: &Inputs) -> Result<Self> {
        Ok(Self { known: memory::filled(KnownNeed::default(), inputs.sizes.len(), DOING)?, size: 0 })
    }

    /// Prepares the needs of a probe of `size`, which is not 0.
    pub fn prepare(&mut self, size: u32) {
        self.size = size;
    }

    /// Returns the least overlap with a partner of the size at index `place` of [`Inputs::sizes`].
    #[inline]
    pub fn least(&mut self, inputs: &Inputs, place: usize) -> u32 {
        let known = &mut self.known[place];
        if known.size != self.size {
            let least = inputs.bounds.least_overlap(PairSide::Left, self.size, inputs.sizes[place]);
            *known = KnownNeed { size: self.size, least: least.unwrap_or(u32::MAX) };
        }
        known.least
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.known)
    }
}
