//! Buckets as pieces of work.

use std::ops::Range;

use super::DOING;
use crate::error::Result;
use crate::memory;

/// Some entries of a band that are still to be paired.
#[derive(Debug, Clone)]
pub struct Unit {
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
pub fn plan(units: &mut Vec<Unit>, bucket: Range<usize>) -> Result<()> {
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
        let unit = Unit { band: 0, probes: bucket, tile: None, bucket: 0..0 };
        return memory::push(units, unit, DOING);
    }
    let mut tile = bucket.start;
    while tile < bucket.end {
        let end = bucket.end.min(tile + TILE);
        let rows = COMPARISONS_A_UNIT / (end - tile);
        // Nobody is paired with those before.
        let mut probe = bucket.start;
        while probe < end {
            let probes = probe..end.min(probe + rows);
            probe = probes.end;
            memory::push(
                units,
                Unit { band: 0, probes, tile: Some(tile..end), bucket: bucket.clone() },
                DOING,
            )?;
        }
        tile = end;
    }
    Ok(())
}
