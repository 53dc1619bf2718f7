//! The memory that is used to find the pairs of a band.

use super::keys::KeyEntry;
use super::windows::Window;
use super::work::WorkUnit;

/// The buckets of a band that have at least one pair of records.
#[derive(Debug)]
pub(super) struct BandBuckets {
    pub(super) number: usize,
    /// The bits of a key that are equal for all records of a bucket.
    pub(super) mask: u64,
    pub(super) entries: Vec<KeyEntry>,
    /// Scratch space for the sort.
    pub(super) other: Vec<KeyEntry>,
    pub(super) units: Vec<WorkUnit>,
    pub(super) windows: Vec<Window>,
    pub(super) hot_buckets: u64,
    /// The records of the hot buckets, once for each bucket that they are in.
    pub(super) hot: Vec<u32>,
}

/// The scratch space of a worker.
#[derive(Debug, Default)]
pub(super) struct PairScratch {
    pub(super) space: Vec<u64>,
    pub(super) near: Vec<u32>,
    pub(super) compared: u64,
}
