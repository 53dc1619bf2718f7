//! Reads all rows of a table without a query. The owner of a table that others read, such as the
//! log of a call, may change it at any time, and what the planner finds with it would run as the
//! reader: here nothing is planned. Nothing of the table but its stored rows is looked at.

use pgrx::pg_sys::{self, Datum};
use pgrx::{PgSqlErrorCode, check_for_interrupts};

use super::table::Table;
use crate::pg::server::error::{Result, SqlError};

impl Table {
    /// Reports whether the current user may select from the table, of which row security hides
    /// nothing.
    pub(crate) fn is_readable(&self) -> bool {
        // SAFETY: reads the rights of a role on a locked table.
        unsafe {
            let right = pg_sys::ACL_SELECT as pg_sys::AclMode;
            pg_sys::pg_class_aclcheck(self.oid, pg_sys::GetUserId(), right) == pg_sys::AclResult::ACLCHECK_OK
        }
    }

    /// Calls `each` with these columns of each row that the active snapshot shows, in no order. A
    /// value lives as long as the call.
    pub(crate) fn each_row<const N: usize>(
        &self,
        columns: [&str; N],
        mut each: impl FnMut([Option<Datum>; N]) -> Result<()>,
    ) -> Result<()> {
        let mut places = [0; N];
        for (place, column) in places.iter_mut().zip(columns) {
            *place = self.place_of(column).ok_or_else(|| {
                let message = format!("{} has no column {column}", self.name);
                SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN, message)
            })?;
        }
        // SAFETY: a locked table cannot be dropped; after an error the server closes what was
        // opened. A row has as many columns as the descriptor of its table.
        unsafe {
            let relation = pg_sys::table_open(self.oid, pg_sys::NoLock as i32);
            let descriptor = (*relation).rd_att;
            let count = (*descriptor).natts as usize;
            let (mut values, mut nulls) = (vec![Datum::null(); count], vec![true; count]);
            let snapshot = pg_sys::GetActiveSnapshot();
            let scan = pg_sys::table_beginscan_strat(relation, snapshot, 0, std::ptr::null_mut(), true, true);
            loop {
                check_for_interrupts!();
                let row = pg_sys::heap_getnext(scan, pg_sys::ScanDirection::ForwardScanDirection);
                if row.is_null() {
                    break;
                }
                pg_sys::heap_deform_tuple(row, descriptor, values.as_mut_ptr(), nulls.as_mut_ptr());
                each(places.map(|place| (!nulls[place]).then_some(values[place])))?;
            }
            pg_sys::table_endscan(scan);
            pg_sys::table_close(relation, pg_sys::NoLock as i32);
        }
        Ok(())
    }
}
