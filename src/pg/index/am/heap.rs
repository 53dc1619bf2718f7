//! Checks addresses of rows before they are looked up in the table.

use pgrx::{PgSqlErrorCode, pg_sys};

use crate::pg::index::layout::items::Tid;
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::server::error::SqlError;

/// A lower bound of the number of pages of a table.
#[derive(Debug, Default)]
pub(crate) struct Heap(u32);

impl Heap {
    /// Fails if a row is in a page that the table does not have. In this case the bytes of the
    /// index were changed by other means than the server, and a search for the row would look for a
    /// file that does not exist.
    pub(crate) fn check(&mut self, index: OpenIndex, tid: Tid) {
        let block = (tid >> 16) as u32;
        if block < self.0 {
            return;
        }
        // SAFETY: the scan of an index holds a lock on its table.
        self.0 = unsafe {
            let table = (*(*index.relation()).rd_index).indrelid;
            let table = pg_sys::table_open(table, pg_sys::NoLock as i32);
            let blocks = pg_sys::RelationGetNumberOfBlocksInFork(table, pg_sys::ForkNumber::MAIN_FORKNUM);
            pg_sys::table_close(table, pg_sys::NoLock as i32);
            blocks
        };
        if block >= self.0 {
            let name = index.name();
            SqlError::new(
                PgSqlErrorCode::ERRCODE_INDEX_CORRUPTED,
                format!("index \"{name}\" has a row of block {block}, which its table does not have"),
            )
            .hint(format!("Please REINDEX it: REINDEX INDEX {};", index.quoted()))
            .raise();
        }
    }
}
