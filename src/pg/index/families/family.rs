//! What the indexes of one family do in their own way: what is kept of a value, which signatures it
//! has, and what a query looks for.

use std::fmt::Debug;

use pgrx::pg_sys::Datum;

use super::probe::{OUTSIDE, Probe, Target, distance_of};
use super::sets::keys::SetKeys;
use super::values::{ColumnValue, Cutter, Posted, StoredValue};
use crate::pg::index::layout::items::{CONTENTS_OF_ITEM, HeapRow, Item, number};
use crate::pg::server::error::Result;
use neardup_core::error;

/// The largest number of bytes of signatures in an item.
pub(super) const SIGNATURES: usize = CONTENTS_OF_ITEM / 8 * 8;

/// Calls `each` with the items of a row that has signatures.
pub(super) fn divide(row: HeapRow, bytes: &[u8], each: &mut dyn FnMut(Item<'_>)) {
    each(Item { row, bytes: &bytes[..bytes.len().min(SIGNATURES)] });
    for bytes in bytes.get(SIGNATURES..).unwrap_or_default().chunks(SIGNATURES) {
        each(Item { row: row.with(HeapRow::CONTINUED), bytes });
    }
}

/// A family of indexes with the options of one of them.
pub(crate) trait Family: Debug + Sync {
    /// Describes the options of the index.
    fn describe(&self) -> String;

    /// Returns the number of signatures that a query is assumed to look up as long as its argument
    /// is not known.
    fn usual_probes(&self) -> f64 {
        32.0
    }

    /// Decodes a value.
    ///
    /// # Safety
    /// `value` is of the type of the index's column and not NULL.
    unsafe fn read(&self, value: Datum) -> Result<ColumnValue>;

    /// Returns a cutter of documents, if values are documents.
    fn cutter(&self) -> Cutter<'_> {
        Box::new(|_, _| Ok(StoredValue::default()))
    }

    /// Calls `each` with the items of a row: one, or several if the stored form of the row is long.
    /// All items but the first one continue it.
    fn items(&self, row: HeapRow, bytes: &[u8], each: &mut dyn FnMut(Item<'_>)) -> error::Result<()> {
        divide(row, bytes, each);
        Ok(())
    }

    /// Reports whether these bytes can be an item of a row that is not NULL.
    fn is_item(&self, _row: HeapRow, bytes: &[u8]) -> bool {
        bytes.len().is_multiple_of(8)
    }

    /// Fills `posted` with the data that a segment stores of an item, and returns the row that it
    /// stores. Signatures are taken as they are.
    fn post(&self, item: &Item<'_>, posted: &mut Posted) -> error::Result<HeapRow> {
        posted.sketch.clear();
        posted.signatures.clear();
        posted.signatures.extend(item.bytes.chunks_exact(8).map(number));
        Ok(item.row)
    }

    /// Returns what is wrong if a row of a segment cannot have these bytes next to it.
    fn fault(&self, row: HeapRow, _sketch: &[u8]) -> Option<&'static str> {
        row.has(HeapRow::WHOLE).then_some("a row has a bitmap that no set of its size has")
    }

    /// Makes a probe of the right-hand side of the operator that the class searches by.
    ///
    /// # Safety
    /// `argument` has the type of that.
    unsafe fn probe(&self, argument: Datum) -> Result<Probe>;

    /// Returns the target that an `ORDER BY` measures distances to.
    ///
    /// # Safety
    /// `argument` is a sketch of the class's kind, or a ball.
    unsafe fn target(&self, argument: Datum) -> Result<Target> {
        // SAFETY: the caller's promise; a ball is what the class searches by.
        Ok(match unsafe { self.probe(argument)? } {
            Probe::Everything => Target::Unlike,
            probe => Target::Ball(Box::new(probe)),
        })
    }

    /// Returns probes, and for each of them the greatest difference up to which it finds all rows.
    /// The last probe finds all rows that the signatures can find; the probes before it find fewer
    /// rows, but in less time.
    fn near(&self, target: &Target) -> Vec<(Probe, u64)> {
        match target {
            Target::Ball(probe) if !matches!(**probe, Probe::Nothing) => {
                vec![((**probe).clone(), u64::from(OUTSIDE) - 1)]
            }
            _ => Vec::new(),
        }
    }

    /// Returns the number of values or bits in which two sketches differ. Without sketches, no row
    /// is known to be near.
    fn difference(&self, _target: &[u8], _sketch: &[u8]) -> u32 {
        self.farthest()
    }

    /// Converts a number of differences to the distance that the operator returns.
    fn distance(&self, difference: u32) -> f64 {
        distance_of(difference)
    }

    /// Returns the greatest possible difference between a row and a target.
    fn farthest(&self) -> u32 {
        OUTSIDE
    }

    /// Returns the reason why an index that serves balls of documents does not serve this one, or
    /// None if it does.
    fn unfit(&self, _ball: &[u8]) -> Option<String> {
        None
    }

    /// Returns the parameters of an index of sets, some of which its first rows settle.
    fn sets(&self) -> Option<&SetKeys> {
        None
    }
}
