//! Finds exactly all pairs of minhash sketches that agree in enough values
//! (docs/design/algorithms.md section 2).
//!
//! Sketches of m values that agree in at least a values differ in at most m - a. There are two ways
//! to find them, and the join takes the way that compares fewer pairs:
//!
//! * by bands: if sketches are cut into m - a + 1 bands, similar sketches agree completely in at
//!   least one band (pigeonhole principle). Bands of several values distinguish most sketches.
//! * by rare values: similar sketches share one of the m - a + 1 values of each sketch that are
//!   rarest in the tables, where only values at the same position are compared (this is the prefix
//!   of a set, section 8). Values that a template puts into every sketch are not rare.
//!
//! Signatures store two values in each 64-bit number. In addition there are a few bits for each
//! value and, while the way is chosen, counters of about 8 bytes per sketch for each thread.

mod keys;

use super::pairs::{Pairs, equal_records};
use super::sketches::buckets::Buckets;
use super::sketches::buckets::keys::Keys;
use super::{Counts, RecordJoin, RecordPair};
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::signatures::Signatures;
use crate::memory;
use crate::sketches::minhash::{least_agreeing, similarity};
use crate::sketches::pigeonhole::Bands;
use keys::{ByBands, ByValues, Rare, StoredSketches};

const DOING: &str = "joining sketches";

/// Prepares to find all pairs of rows whose sketches of `values` values agree in at least the share
/// `threshold`, in (0, 1]. Signatures stay in memory; sorting takes about `budget` bytes. Also
/// returns the most bytes that were held at one time.
pub fn minhash_pairs(
    mut signatures: Signatures,
    values: u16,
    threshold: f64,
    budget: usize,
    executor: &dyn Executor,
) -> Result<(Pairs, usize)> {
    let (left, right) = signatures.take_members();
    let records = signatures.len() as u32;
    let equal = equal_records(&left, right.as_ref(), |_| true)?;
    let split = if right.is_some() { signatures.split } else { records };
    let bands = Bands::minhash(values, threshold);
    let sketches = StoredSketches { signatures, values, least: least_agreeing(threshold, values) };
    let (rare, held) = Rare::new(&sketches, bands.count(), budget, executor)?;
    let by_bands = meetings(&ByBands { sketches: &sketches, bands }, records, executor)?;
    let by_values = meetings(&ByValues { sketches: &sketches, rare: &rare }, records, executor)?;
    let rare = (by_values < by_bands).then_some(rare);
    let peak = held + sketches.signatures.bytes();
    let join = StoredJoin {
        buckets: Buckets::new(records, split, right.is_none(), None, budget),
        sketches,
        bands,
        rare,
        right_from: if right.is_some() { split } else { 0 },
    };
    Ok((Pairs::of_records(Box::new(join), left, right, equal), peak))
}

/// Estimates the number of pairs of records that share a bucket.
fn meetings(keys: &dyn Keys, records: u32, executor: &dyn Executor) -> Result<u64> {
    const CHECK_EVERY: usize = 1 << 12;
    let size = (2 * records as usize).next_power_of_two().max(2);
    let shift = u64::BITS - size.ilog2();
    let mut units: Vec<(usize, u64)> = (0..keys.bands()).map(|band| (band, 0)).collect();
    executor::each(executor, &mut units, |(band, meetings), stop| {
        let mut counters = memory::filled(0u32, size, DOING)?;
        let mut entries = Vec::new();
        memory::reserve(&mut entries, CHECK_EVERY, DOING)?;
        *meetings = 0;
        for first in (0..records).step_by(CHECK_EVERY) {
            stop.check()?;
            entries.clear();
            keys.entries(first..records.min(first + CHECK_EVERY as u32), *band, &mut entries);
            for entry in &entries {
                let counter = &mut counters[(entry.key >> shift) as usize];
                *meetings += u64::from(*counter);
                *counter += 1;
            }
        }
        Ok(())
    })?;
    Ok(units.iter().map(|(_, meetings)| meetings).sum())
}

/// A join in progress.
#[derive(Debug)]
struct StoredJoin {
    sketches: StoredSketches,
    bands: Bands,
    /// The rare values, if the join looks up rare values instead of bands.
    rare: Option<Rare>,
    buckets: Buckets,
    right_from: u32,
}

impl StoredJoin {
    fn keys(&self) -> usize {
        self.rare.as_ref().map_or(self.bands.count(), |_| self.sketches.values.into())
    }
}

impl RecordJoin for StoredJoin {
    fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<RecordPair>>> {
        let Self { sketches, bands, rare, buckets, right_from } = self;
        let found = match rare {
            Some(rare) => buckets.next_batch(&ByValues { sketches, rare }, executor)?,
            None => buckets.next_batch(&ByBands { sketches, bands: *bands }, executor)?,
        };
        let Some(found) = found else { return Ok(None) };
        let mut batch = Vec::new();
        memory::reserve(&mut batch, found.len(), DOING)?;
        batch.extend(found.iter().map(|&(left, right)| {
            let similarity = similarity(sketches.agreeing(left, right), sketches.values);
            RecordPair { left, right: right - *right_from, similarity }
        }));
        Ok(Some(batch))
    }

    fn counts(&self) -> Counts {
        let compared = self.buckets.met().compared;
        Counts { candidates: compared, verified: compared, ..Counts::default() }
    }

    fn progress(&self) -> f64 {
        self.buckets.progress(self.keys())
    }

    fn bytes(&self) -> usize {
        self.sketches.signatures.bytes() + self.rare.as_ref().map_or(0, Rare::bytes) + self.buckets.bytes()
    }
}
