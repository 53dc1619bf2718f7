//! Buckets divided into batches of work.

use std::ops::Range;

use crate::error::Result;
use crate::memory;

/// The operation, for error messages.
pub(super) const DOING: &str = "pairing records of equal keys";

/// Entries of a band that are still to be paired.
#[derive(Debug, Clone)]
pub(super) struct WorkUnit {
    /// The index of the band in the wave.
    pub band: usize,
    /// The entries that are paired with later entries of their bucket.
    pub probes: Range<usize>,
    /// The entries that the probes are paired with, if the unit is a part of a single large bucket.
    /// `None` if the unit consists of small buckets.
    pub tile: Option<Range<usize>>,
    /// The bucket of the tile, if there is a tile.
    pub bucket: Range<usize>,
}

/// The number of records of a bucket that probes are compared with at one time.
const TILE: usize = 1 << 14;
/// The number of comparisons in a unit.
const COMPARISONS_A_UNIT: usize = 1 << 20;

/// Divides a bucket into units of work, or adds it to the last unit.
pub(super) fn plan(units: &mut Vec<WorkUnit>, bucket: Range<usize>) -> Result<()> {
    const SMALL: usize = 1 << 9;
    const SMALL_A_UNIT: usize = 1 << 12;
    if bucket.len() <= SMALL {
        let open = units.last_mut().filter(|last| {
            last.tile.is_none() && last.probes.len() < SMALL_A_UNIT && last.probes.end == bucket.start
        });
        if let Some(last) = open {
            last.probes.end = bucket.end;
            return Ok(());
        }
        let unit = WorkUnit { band: 0, probes: bucket, tile: None, bucket: 0..0 };
        return memory::push(units, unit, DOING);
    }
    let mut tile = bucket.start;
    while tile < bucket.end {
        let end = bucket.end.min(tile + TILE);
        let rows = COMPARISONS_A_UNIT / (end - tile);
        // A record is only paired with records after it, so no probe is after the tile.
        let mut probe = bucket.start;
        while probe < end {
            let probes = probe..end.min(probe + rows);
            probe = probes.end;
            memory::push(
                units,
                WorkUnit { band: 0, probes, tile: Some(tile..end), bucket: bucket.clone() },
                DOING,
            )?;
        }
        tile = end;
    }
    Ok(())
}
