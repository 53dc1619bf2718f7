//! Buckets as pieces of work.

use std::ops::Range;

use crate::error::Result;
use crate::memory;

/// What is being done, for errors.
pub(super) const DOING: &str = "pairing records of equal keys";

/// Some entries of a band that are still to be paired.
#[derive(Debug, Clone)]
pub(super) struct WorkUnit {
    /// Which band of the wave.
    pub band: usize,
    /// The entries that are paired with others.
    pub probes: Range<usize>,
    /// Those they are paired with, where that is a part of one bucket only.
    pub tile: Option<Range<usize>>,
    /// The bucket of the tile.
    pub bucket: Range<usize>,
}

/// Records of a bucket that are compared at one time.
const TILE: usize = 1 << 14;
/// Comparisons that are one piece of work.
const COMPARISONS_A_UNIT: usize = 1 << 20;

/// Cuts a bucket into pieces of work, or adds it to the last one.
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
        // No record is paired with those before it.
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
