//! Checks that an index has every row of its table: the marks by which a check remembers what an
//! index stores for a row, and a Bloom filter of the pairs of row and signature in it.

use pgrx::{PgSqlErrorCode, pg_sys};

use crate::pg::index::am::table::{ScannedRows, scan_table};
use crate::pg::index::am::user_index::UserIndex;
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::values::Posted;
use crate::pg::index::layout::items::{HeapRow, Item};
use crate::pg::index::layout::meta::Directory;
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::index::storage::maintenance::budget;
use crate::pg::query::moment::Moment;
use crate::pg::server::error::{Result, SqlError, or_raise};
use neardup_core::{error, hash, memory};

/// Takes a snapshot of the transaction whose rows are all in the index. A new snapshot always
/// qualifies. An old one may show row versions from before the index was made, which the index need
/// not have.
pub(super) fn moment(index: OpenIndex) -> Result<Moment> {
    let moment = Moment::of_transaction();
    // SAFETY: runs inside a transaction; the relation of an index has the index's row of pg_index,
    // which begins with the header of a table row.
    let is_too_new = unsafe {
        let relation = &*index.relation();
        pg_sys::XactIsoLevel >= pg_sys::XACT_REPEATABLE_READ as i32
            && (*relation.rd_index).indcheckxmin
            && !pg_sys::TransactionIdPrecedes(made_by(relation.rd_indextuple), (*moment.snapshot()).xmin)
    };
    if is_too_new {
        let name = index.name();
        let message = format!("index \"{name}\" is too new to be checked with this transaction's snapshot");
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE, message)
            .hint("Try again later in a new transaction, or at READ COMMITTED."));
    }
    Ok(moment)
}

/// Returns the transaction that inserted a row, like HeapTupleHeaderGetXmin of htup_details.h.
///
/// # Safety
/// `tuple` is a row of a table.
unsafe fn made_by(tuple: pg_sys::HeapTuple) -> pg_sys::TransactionId {
    // SAFETY: the caller's promise.
    unsafe {
        let header = &*(*tuple).t_data;
        let frozen = pg_sys::HEAP_XMIN_FROZEN as u16;
        if header.t_infomask & frozen == frozen {
            return pg_sys::FrozenTransactionId;
        }
        header.t_choice.t_heap.t_xmin
    }
}

/// Checks that the index has every row that the moment shows. `keys` must be the keys with which
/// `filter` was filled.
pub(super) fn compare(
    UserIndex { index, table, .. }: UserIndex,
    keys: &ClassKeys,
    moment: &Moment,
    filter: &BloomFilter,
) -> Result<()> {
    let mut posted = Posted::default();
    // SAFETY: the table of an open index; CREATE INDEX CONCURRENTLY does the same to learn which
    // rows a snapshot shows.
    unsafe {
        let scan =
            pg_sys::table_beginscan_strat(table, moment.snapshot(), 0, std::ptr::null_mut(), true, true);
        let info = pg_sys::BuildIndexInfo(index.relation());
        (*info).ii_Concurrent = true;
        let rows = ScannedRows::Begun(scan);
        scan_table([table, index.relation()], info, rows, |tid, values| {
            let (row, bytes) = keys.keep(tid, values)?;
            let marks = RowMarks::new(keys, &Item { row, bytes: &bytes }, &mut posted);
            let is_split = marks.split.is_some_and(|mark| filter.has(tid, mark));
            if marks.row.is_none_or(|mark| is_split || filter.has(tid, mark))
                && marks.signatures.iter().all(|&signature| filter.has(tid, signature))
            {
                return Ok(());
            }
            let (name, block, offset) = (index.name(), tid >> 16, tid & 0xffff);
            Err(index.damaged(format!("row ({block},{offset}) of the table is missing in index \"{name}\"")))
        })?;
    }
    Ok(())
}

/// The mark of a row whose value is NULL. Such a row has no signatures.
const NULL: u64 = 0x6e75_6c6c;

/// A Bloom filter of pairs of row and signature.
pub(super) struct BloomFilter {
    bits: Vec<u64>,
}

impl BloomFilter {
    const HASHES: u64 = 6;

    /// Creates a filter for an index, within `maintenance_work_mem`. With two bytes per pair, one
    /// missing pair in 400 is reported as present. A missing row is overlooked less often than
    /// that, because a row has several pairs.
    pub(super) fn new(index: OpenIndex) -> error::Result<Self> {
        let pairs: u64 = Directory::read(index).segments.iter().map(|s| s.postings + u64::from(s.rows)).sum();
        let words = (pairs / 4 + (1 << 16)).min(budget() as u64 / 8).next_power_of_two() as usize;
        Ok(Self { bits: memory::filled(0, words, "checking an index")? })
    }

    fn places(&self, tid: u64, signature: u64) -> impl Iterator<Item = (usize, u64)> + use<> {
        let (first, step) =
            (hash::mix(signature ^ hash::mix(tid)), hash::mix(tid ^ hash::mix(signature)) | 1);
        let last = self.bits.len() as u64 * 64 - 1;
        (0..Self::HASHES).map(move |n| {
            let bit = first.wrapping_add(n.wrapping_mul(step)) & last;
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }

    /// Adds a pair.
    pub(super) fn add(&mut self, tid: u64, signature: u64) {
        self.places(tid, signature).for_each(|(word, bit)| self.bits[word] |= bit);
    }

    /// Reports whether a pair was added. The answer is always true for a pair that was added, and
    /// rarely true for a pair that was not.
    pub(super) fn has(&self, tid: u64, signature: u64) -> bool {
        self.places(tid, signature).all(|(word, bit)| self.bits[word] & bit != 0)
    }
}

/// Returns the mark for the outline of a set that is split over several rows of the index. Such an
/// outline holds only the size of the set.
fn split(sketch: &[u8]) -> u64 {
    const SPLIT: u64 = 0x7370_6c69_7400 << 16;
    SPLIT ^ sketch.first_chunk().map_or(0, |size| u32::from_le_bytes(*size).into())
}

/// The marks of a row: one mark for the data stored next to the row, and the signatures of the row
/// unless they can be computed from that data.
pub(super) struct RowMarks<'a> {
    /// The mark of the data stored next to the row.
    pub row: Option<u64>,
    /// The mark of that data if the set is split over several rows of the index.
    pub split: Option<u64>,
    /// The signatures of the row.
    pub signatures: &'a [u64],
}

impl<'a> RowMarks<'a> {
    /// Returns the marks of an item.
    pub(super) fn new(keys: &ClassKeys, item: &Item<'_>, posted: &'a mut Posted) -> Self {
        posted.signatures.clear();
        if item.row.has(HeapRow::NULL) {
            return Self { row: Some(NULL), split: None, signatures: &posted.signatures };
        }
        let row = or_raise(keys.post(item, posted));
        let has_sketches = keys.class.has_sketches();
        if has_sketches {
            posted.signatures.clear();
        }
        let split = (!has_sketches).then(|| split(&posted.sketch));
        Self { row: Self::of_row(row, &posted.sketch), split, signatures: &posted.signatures }
    }

    /// Returns the mark of the data stored next to a row of a segment.
    pub(super) fn of_row(row: HeapRow, sketch: &[u8]) -> Option<u64> {
        if row.has(HeapRow::NULL) {
            Some(NULL)
        } else if row.has(HeapRow::SPLIT) {
            Some(split(sketch))
        } else {
            (!sketch.is_empty()).then(|| hash::hash_bytes(sketch))
        }
    }

    /// Calls `each` with every mark.
    pub(super) fn each(&self, each: impl FnMut(u64)) {
        self.row.iter().chain(self.signatures).copied().for_each(each);
    }
}
