//! Reads all rows of a table without a query. The owner of a table that others read, such as the
//! log of a call, may change it at any time, and what the planner finds with it would run as the
//! reader: here nothing is planned. Nothing of the table but its stored rows is looked at.
//!
//! In the other direction, Rust supplies rows to one of our statements, which reads them with `FROM
//! neardup_rows(…)`: this way a step calls Rust code from Rust code, and the statement writes the
//! resulting rows.

use std::cell::Cell;
use std::ptr;

use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{PgSqlErrorCode, check_for_interrupts};

use super::definition::{Column, Types};
use super::table::Table;
use crate::pg::query::as_user::INTERNAL;
use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::OnDrop;
use crate::pg::server::set_returning::RowStore;

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

/// A function that puts rows into a store. Its first argument is the call of `neardup_rows`, which
/// the statement makes with an argument.
type Supply<'a> = dyn FnMut(FunctionCall, &mut RowStore) -> Result<()> + 'a;

struct Supplier<'a> {
    columns: &'a [(&'static str, Oid)],
    supply: &'a mut Supply<'a>,
}

thread_local! {
    /// The supplier for the running statement; null if there is none, or if it has already been
    /// used.
    static SUPPLIER: Cell<*mut ()> = const { Cell::new(ptr::null_mut()) };
}

/// Rows that the library supplies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Supplied<'a> {
    /// The last argument of internal functions, with a leading comma.
    pub internal: &'a str,
    /// The argument of the call of `neardup_rows`, if it has one, as an SQL expression.
    pub query: Option<&'a str>,
    /// The types of the columns.
    pub types: Types<'a>,
    /// The columns.
    pub columns: &'a [Column],
}

/// Runs `work`, in which one statement reads rows from `supply`, once: in its FROM clause, as the
/// SQL expression that `work` gets.
pub(crate) fn supplying<T>(
    supplied: Supplied<'_>,
    supply: &mut Supply<'_>,
    work: impl FnOnce(&str) -> Result<T>,
) -> Result<T> {
    let Supplied { internal, query, types, columns } = supplied;
    let rows = format!(
        "{INTERNAL}.neardup_rows(({})::pg_catalog.text{internal}) AS f({})",
        query.unwrap_or("NULL"),
        types.sql(columns)
    );
    let mut supplier = Supplier { columns: &types.oids(columns), supply };
    let before = SUPPLIER.replace(ptr::from_mut(&mut supplier).cast());
    let _restored = OnDrop(|| SUPPLIER.set(before));
    work(&rows)
}

sql_functions! {
    /// `neardup_rows(query)`: returns the rows that the library supplies to the statement.
    neardup_rows: |call| {
        let supplier: *mut Supplier<'_> = SUPPLIER.replace(ptr::null_mut()).cast();
        // SAFETY: null, or set by `supplying`, which waits for the statement; nothing else borrows
        // it, because the caller takes it out of the cell.
        let Some(supplier) = (unsafe { supplier.as_mut() }) else {
            let message = "neardup_rows supplies statements of neardup only";
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message)
                .hint("SELECT * FROM near_duplicates('docs', 0.8);"));
        };
        let types: Vec<Oid> = supplier.columns.iter().map(|&(_, of)| of).collect();
        let mut store = RowStore::expected(call, &types)?;
        (supplier.supply)(call, &mut store)?;
        Ok(Datum::null())
    };
}
