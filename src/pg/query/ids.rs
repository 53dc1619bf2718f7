//! Ids of documents: numbers, or values of any type that has a default ordering.
//!
//! Rows are numbered as they are read. This module stores the id of each row, finds ids that occur
//! twice, and reports which of two rows comes first.

use std::cmp::Ordering;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use super::id_values::{IdValues, cache};
use crate::pg::server::error::{Result, SqlError};
use neardup_core::executor::{self, Executor};
use neardup_core::hash;
use neardup_core::memory;
use neardup_core::methods::reading::places;
use neardup_core::simd::prefetch::prefetch;

const DOING: &str = "keeping ids";

/// The ids of the rows of one table, by row number.
#[derive(Debug)]
pub(crate) enum RowIds {
    /// smallint, int and bigint.
    Integers(Vec<i64>),
    /// Any other type.
    Values(IdValues),
}

/// Reports whether an OID belongs to a type that is fully defined, not only declared.
pub(crate) fn exists(type_oid: pg_sys::Oid) -> bool {
    // SAFETY: any OID may be looked up.
    unsafe { pg_sys::get_typisdefined(type_oid) }
}

/// Reports whether values of a type can be ids: the type must have a default ordering, and must not
/// be a pseudo-type, whose values belong to other types.
pub(crate) fn has_order(type_oid: pg_sys::Oid) -> bool {
    // SAFETY: any OID may be looked up; the entry of a type that exists lives as long as the
    // session.
    unsafe {
        exists(type_oid)
            && pg_sys::get_typtype(type_oid).cast_unsigned() != pg_sys::TYPTYPE_PSEUDO
            && (*cache(type_oid)).cmp_proc_finfo.fn_oid != pg_sys::InvalidOid
    }
}

/// Reports whether values of a type are cast implicitly to another type, and distinct values remain
/// distinct.
pub(crate) fn becomes(from: pg_sys::Oid, to: pg_sys::Oid) -> bool {
    // The implicit casts of the server that round or cut.
    let is_exact = match to {
        pg_sys::FLOAT4OID => from == to || from == pg_sys::INT2OID,
        pg_sys::FLOAT8OID => ![pg_sys::INT8OID, pg_sys::NUMERICOID].contains(&from),
        pg_sys::NAMEOID => from == to,
        _ => true,
    };
    is_exact && is_cast_implicitly(from, to)
}

/// Reports whether values of a type are cast implicitly to another type.
pub(crate) fn is_cast_implicitly(from: pg_sys::Oid, to: pg_sys::Oid) -> bool {
    // SAFETY: one type in each array.
    unsafe {
        pg_sys::can_coerce_type(1, &raw const from, &raw const to, pg_sys::CoercionContext::COERCION_IMPLICIT)
    }
}

impl RowIds {
    /// Makes an empty store for ids of the type `type_oid`, which must have an order.
    pub(crate) fn new(type_oid: pg_sys::Oid) -> Self {
        if type_oid == pg_sys::INT8OID {
            return Self::Integers(Vec::new());
        }
        Self::Values(IdValues::new(type_oid))
    }

    /// Makes an empty store for values of a column that are compared by its collation.
    pub(crate) fn of_column(type_oid: pg_sys::Oid, collation: pg_sys::Oid) -> Self {
        Self::Values(IdValues::with_collation(type_oid, collation))
    }

    /// Returns the type of the ids.
    pub(crate) fn type_oid(&self) -> pg_sys::Oid {
        match self {
            Self::Integers(_) => pg_sys::INT8OID,
            Self::Values(values) => values.type_oid,
        }
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Integers(ids) => ids.len(),
            Self::Values(values) => values.len(),
        }
    }

    /// Returns the number of bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Integers(ids) => memory::bytes(ids),
            Self::Values(values) => values.bytes(),
        }
    }

    /// Adds the id of the next row.
    ///
    /// # Safety
    /// `id` is a datum of the type that [`RowIds::new`] was given.
    pub(crate) unsafe fn push(&mut self, id: Datum) -> Result<()> {
        match self {
            Self::Integers(ids) => memory::push(ids, id.value() as i64, DOING)?,
            // SAFETY: the caller's promise.
            Self::Values(values) => unsafe { values.push(id) }?,
        }
        Ok(())
    }

    /// Returns the id of a row, valid as long as these ids live.
    pub(crate) fn datum(&self, row: u32) -> Datum {
        match self {
            Self::Integers(ids) => Datum::from(ids[row as usize]),
            Self::Values(values) => values.datum(row as usize),
        }
    }

    /// Prefetches the data that [`RowIds::before`] and [`RowIds::datum`] read first.
    #[inline]
    pub(crate) fn prefetch(&self, row: u32) {
        match self {
            Self::Integers(ids) => prefetch(ids, row as usize),
            Self::Values(values) => prefetch(&values.rank, row as usize),
        }
    }

    /// Reports whether the id of row `a` comes before the id of row `b`.
    #[inline]
    pub(crate) fn before(&self, a: u32, b: u32) -> bool {
        match self {
            Self::Integers(ids) => ids[a as usize] < ids[b as usize],
            Self::Values(values) => values.rank[a as usize] < values.rank[b as usize],
        }
    }

    /// Returns a hash of the id of a row, the same in every session.
    pub(crate) fn hash(&self, row: u32) -> u64 {
        match self {
            Self::Integers(ids) => hash::mix(ids[row as usize].cast_unsigned()),
            Self::Values(values) => values.hash(row as usize),
        }
    }

    /// Returns the id of a row as text.
    pub(crate) fn show(&self, row: u32) -> String {
        match self {
            Self::Integers(ids) => ids[row as usize].to_string(),
            Self::Values(values) => values.show(row as usize),
        }
    }

    /// Sorts the rows by their ids. Fails if two rows have the same id; the error names the
    /// relation and the argument that selects the column of the ids.
    pub(crate) fn sort(&mut self, relation: &str, argument: &str, executor: &dyn Executor) -> Result<()> {
        let double = match self {
            Self::Integers(ids) => double_integer(ids, executor)?,
            Self::Values(values) => values.sort()?,
        };
        match double {
            None => Ok(()),
            Some(row) => Err(SqlError::new(
                PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION,
                format!("id {} stands in more than one row of {relation}", self.show(row)),
            )
            .hint(format!(
                "Every document needs an id of its own; name another column with {argument} => '…'."
            ))),
        }
    }
}

impl RowIds {
    /// Returns the rows in the order of their ids. Ids that are not integers must already have
    /// ranks, which [`RowIds::sort`] computes. Takes O(n · log n) time.
    pub(crate) fn in_order(&self, executor: &dyn Executor) -> Result<Vec<u32>> {
        let mut order = memory::collect(0..self.len() as u32, DOING)?;
        self.put_in_order(&mut order, executor)?;
        Ok(order)
    }

    /// Puts some rows in the order of their ids, as [`RowIds::in_order`] does.
    pub(crate) fn put_in_order(&self, rows: &mut Vec<u32>, executor: &dyn Executor) -> Result<()> {
        match self {
            Self::Integers(ids) if rows.is_sorted_by_key(|&row| ids[row as usize]) => Ok(()),
            Self::Integers(ids) => Ok(executor::one(executor, rows, |rows, stop| {
                let key = |row: u32| (ids[row as usize], row);
                executor::sort_unstable_by(rows, stop, &|a, b| key(*a).cmp(&key(*b)))
            })?),
            Self::Values(values) => {
                let rank = &values.rank;
                Ok(executor::sort(executor, rows, |a, b| rank[*a as usize].cmp(&rank[*b as usize]))?)
            }
        }
    }

    /// Returns the rows in the order of their ids, or nothing if they are in this order.
    pub(crate) fn order_if_any(&self, executor: &dyn Executor) -> Result<Vec<u32>> {
        if self.ascend() { Ok(Vec::new()) } else { self.in_order(executor) }
    }

    /// Numbers the distinct ids in their order. Returns them, and the number of the id of each row.
    pub(crate) fn numbered(mut self, executor: &dyn Executor) -> Result<(OrderedIds, Vec<u32>)> {
        if let Self::Values(values) = &mut self {
            values.sort()?;
        }
        let order = self.in_order(executor)?;
        let mut numbers = memory::filled(0, order.len(), DOING)?;
        let mut rows: Vec<u32> = Vec::new();
        for (n, &row) in order.iter().enumerate() {
            if n == 0 || !self.same(order[n - 1], row) {
                memory::push(&mut rows, row, DOING)?;
            }
            numbers[row as usize] = rows.len() as u32 - 1;
        }
        Ok((OrderedIds { ids: self, order: rows }, numbers))
    }

    /// Compares two ids of this type.
    pub(crate) fn compare(&self, a: Datum, b: Datum) -> Ordering {
        match self {
            Self::Integers(_) => (a.value() as i64).cmp(&(b.value() as i64)),
            Self::Values(values) => values.compare(a, b),
        }
    }

    fn same(&self, a: u32, b: u32) -> bool {
        match self {
            Self::Integers(ids) => ids[a as usize] == ids[b as usize],
            Self::Values(values) => {
                values.compare(values.datum(a as usize), values.datum(b as usize)).is_eq()
            }
        }
    }

    /// Reports whether each row has a greater id than the one before it.
    fn ascend(&self) -> bool {
        match self {
            Self::Integers(ids) => ids.is_sorted_by(|a, b| a < b),
            Self::Values(values) => values.rank.is_sorted_by(|a, b| a < b),
        }
    }

    /// Returns the place of an id in the order from [`RowIds::in_order`], or `None` if no row has
    /// the id. No order is that of the rows. Makes O(log n) comparisons.
    ///
    /// # Safety
    /// `id` is a datum of the type that [`RowIds::new`] was given.
    pub(crate) unsafe fn find(&self, order: &[u32], id: Datum) -> Option<usize> {
        let compare = |row: u32| match self {
            Self::Integers(ids) => ids[row as usize].cmp(&(id.value() as i64)),
            Self::Values(values) => values.compare(values.datum(row as usize), id),
        };
        let (mut low, mut high) = (0, if order.is_empty() { self.len() } else { order.len() });
        while low < high {
            let middle = low.midpoint(high);
            // Row numbers have 32 bits.
            match compare(order.get(middle).copied().unwrap_or(middle as u32)) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Some(middle),
                Ordering::Greater => high = middle,
            }
        }
        None
    }
}

/// The place of each row in an order, or nothing if that is the order of the rows.
#[derive(Default)]
pub(crate) struct RowPlaces(pub(crate) Vec<u32>);

impl RowPlaces {
    /// Returns the place of each row in an order of all rows.
    pub(crate) fn new(order: &[u32]) -> Result<Self> {
        Ok(Self(places(order)?))
    }

    /// Returns the place of a row.
    pub(crate) fn place_of(&self, row: u32) -> u32 {
        self.0.get(row as usize).copied().unwrap_or(row)
    }
}

/// Ids with their order, such as those of the vertices of a graph.
pub(crate) struct OrderedIds {
    /// The ids by row.
    pub ids: RowIds,
    /// The rows in the order of their ids, or nothing if that is their own order.
    pub order: Vec<u32>,
}

impl OrderedIds {
    /// Puts the rows of ids in order, as [`RowIds::in_order`] does.
    pub(crate) fn new(ids: RowIds, executor: &dyn Executor) -> Result<Self> {
        Ok(Self { order: ids.order_if_any(executor)?, ids })
    }

    /// Keeps the ids of some rows, which are listed in the order of their ids.
    pub(crate) fn of_rows(ids: RowIds, rows: &[u32]) -> Result<Self> {
        let own = |ids: &[i64]| memory::collect(rows.iter().map(|&row| ids[row as usize]), DOING);
        Ok(match ids {
            RowIds::Integers(ids) => Self { ids: RowIds::Integers(own(&ids)?), order: Vec::new() },
            ids if rows.is_empty() => Self { ids: RowIds::new(ids.type_oid()), order: Vec::new() },
            ids => Self { ids, order: memory::collect(rows.iter().copied(), DOING)? },
        })
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        if self.order.is_empty() { self.ids.len() } else { self.order.len() }
    }

    /// Returns the row at a place of the order.
    pub(crate) fn row(&self, place: u32) -> u32 {
        self.order.get(place as usize).copied().unwrap_or(place)
    }

    /// Returns the id at a place of the order as a value, valid as long as `self` lives.
    pub(crate) fn at(&self, place: u32) -> Option<Datum> {
        Some(self.ids.datum(self.row(place)))
    }

    /// Returns the place of an id in the order, or `None` if no row has the id.
    ///
    /// # Safety
    /// `id` is a datum of the type that [`RowIds::new`] was given.
    pub(crate) unsafe fn find(&self, id: Datum) -> Option<usize> {
        // SAFETY: the caller's promise.
        unsafe { self.ids.find(&self.order, id) }
    }
}

fn double_integer(ids: &[i64], executor: &dyn Executor) -> Result<Option<u32>> {
    // In the usual case the ids were read in order.
    if ids.is_sorted_by(|a, b| a < b) {
        return Ok(None);
    }
    let mut sorted = Vec::new();
    memory::extend(&mut sorted, ids, DOING)?;
    executor::one(executor, &mut sorted, |sorted, stop| executor::sort_unstable_by(sorted, stop, &i64::cmp))?;
    let double = sorted.windows(2).find(|pair| pair[0] == pair[1]);
    Ok(double.and_then(|pair| ids.iter().position(|id| *id == pair[0])).map(|row| row as u32))
}
