//! What ANALYZE knows about the values of a column, and a sample of them.

use pgrx::pg_sys;

use crate::pg::query::nodes::columns_in;
use crate::pg::server::call::varlena_bytes;

/// How many pairs of values, in bytes of text, an estimate compares.
const EFFORT: f64 = 100_000.0;

/// A sample of the values of a column: the most common ones, and some of the others.
pub(super) struct ColumnSample {
    slots: [pg_sys::AttStatsSlot; 2],
    /// The most common values that are in the sample, and the share of the rows that have each.
    pub common: Vec<(pg_sys::Datum, f64)>,
    /// Some of the other values.
    pub others: Vec<pg_sys::Datum>,
    /// The share of the rows that have another value than a common one of the sample, which is not
    /// NULL, and the number of these values.
    pub rest: f64,
    pub rest_distinct: f64,
    /// The number of rows.
    pub rows: f64,
    /// The mean length of a value in bytes, as it is stored.
    width: f64,
    /// Set if the values are those of the expression, and not of the only column in it.
    pub are_exact: bool,
}

impl Drop for ColumnSample {
    fn drop(&mut self) {
        // SAFETY: slots that the server filled.
        self.slots.iter_mut().for_each(|slot| unsafe { pg_sys::free_attstatsslot(slot) });
    }
}

impl ColumnSample {
    /// Samples the values of an expression by the statistics of the column that it is, or of the
    /// only column in it. Returns None without statistics, and if the current user may not read the
    /// column.
    ///
    /// # Safety
    /// The planner's state, and an expression of it.
    pub(super) unsafe fn of_expression(
        root: *mut pg_sys::PlannerInfo,
        node: *mut pg_sys::Node,
    ) -> Option<Self> {
        // SAFETY: the caller's promise.
        unsafe {
            if let Some(column) = Self::known(root, node, true) {
                return Some(column);
            }
            let variables = columns_in(node);
            let first = variables.get_ptr(0)?;
            let is_only = variables.iter_ptr().all(|other| pg_sys::equal(first.cast(), other.cast()));
            if is_only { Self::known(root, first, false) } else { None }
        }
    }

    /// # Safety
    /// As for [`ColumnSample::of_expression`].
    unsafe fn known(
        root: *mut pg_sys::PlannerInfo,
        node: *mut pg_sys::Node,
        are_exact: bool,
    ) -> Option<Self> {
        // SAFETY: the caller's promise; the row of statistics is read before it is released.
        unsafe {
            let mut data = pg_sys::VariableStatData::default();
            pg_sys::examine_variable(root, node, 0, &raw mut data);
            if data.statsTuple.is_null() {
                return None;
            }
            // Values of other types cannot be compared by their bytes.
            let is_long = pg_sys::get_typlen(data.atttype) == -1;
            let column = (data.acl_ok && is_long).then(|| Self::read(&mut data, are_exact));
            if let Some(free) = data.freefunc {
                free(data.statsTuple);
            }
            column
        }
    }

    /// # Safety
    /// Data about a variable with a row of statistics.
    unsafe fn read(data: &mut pg_sys::VariableStatData, are_exact: bool) -> Self {
        // SAFETY: the caller's promise; the server fills the slots that it says it has.
        unsafe {
            let form: *const pg_sys::FormData_pg_statistic = pg_sys::GETSTRUCT(data.statsTuple).cast();
            let (nulls, width) = (f64::from((*form).stanullfrac), f64::from((*form).stawidth.max(1)));
            // As many common values as others, of each of two columns.
            let most = ((EFFORT / width).sqrt() / 2.0).clamp(4.0, 12.0) as usize;
            let mut slots = [pg_sys::AttStatsSlot::default(); 2];
            let parts = [
                (pg_sys::STATISTIC_KIND_MCV, pg_sys::ATTSTATSSLOT_VALUES | pg_sys::ATTSTATSSLOT_NUMBERS),
                (pg_sys::STATISTIC_KIND_HISTOGRAM, pg_sys::ATTSTATSSLOT_VALUES),
            ];
            for (slot, (kind, flags)) in slots.iter_mut().zip(parts) {
                let any = pg_sys::InvalidOid;
                pg_sys::get_attstatsslot(slot, data.statsTuple, kind as i32, any, flags as i32);
            }
            let [common, histogram] = &slots;
            let all: Vec<(pg_sys::Datum, f64)> = (0..common.nvalues.min(common.nnumbers) as usize)
                .map(|n| (*common.values.add(n), f64::from(*common.numbers.add(n))))
                .collect();
            let (sampled, left) = all.split_at(all.len().min(most));
            let others: Vec<pg_sys::Datum> = if histogram.nvalues > 0 {
                (0..histogram.nvalues as usize).map(|n| *histogram.values.add(n)).collect()
            } else {
                left.iter().map(|&(value, _)| value).collect()
            };
            let step = others.len().div_ceil(most).max(1);
            let mut is_default = false;
            let distinct = pg_sys::get_variable_numdistinct(data, &raw mut is_default);
            let rows = if data.rel.is_null() { 0.0 } else { (*data.rel).tuples };
            let in_sample: f64 = sampled.iter().map(|&(_, share)| share).sum();
            Self {
                common: sampled.to_vec(),
                others: others.into_iter().skip(step / 2).step_by(step).collect(),
                rest: (1.0 - nulls - in_sample).clamp(0.0, 1.0),
                rest_distinct: (distinct - sampled.len() as f64).max(1.0),
                rows,
                width,
                are_exact,
                slots,
            }
        }
    }

    /// Returns a length in bytes that half of the rows reach.
    pub(super) fn median_length(&self) -> usize {
        // SAFETY: values of variable length, as all that a ball is compared with.
        let of = |value: pg_sys::Datum| unsafe { varlena_bytes(value).len() };
        let each = self.rest / self.others.len().max(1) as f64;
        let others = self.others.iter().map(|&value| (of(value), each));
        let mut lengths: Vec<(usize, f64)> =
            self.common.iter().map(|&(value, share)| (of(value), share)).chain(others).collect();
        // Long values are not in the statistics.
        if self.others.is_empty() {
            lengths.push((self.width as usize, self.rest));
        }
        lengths.sort_by_key(|&(length, _)| length);
        let mut left = lengths.iter().map(|(_, share)| share).sum::<f64>() / 2.0;
        let median = lengths.iter().find(|(_, share)| {
            left -= share;
            left <= 0.0
        });
        median.map_or(0, |&(length, _)| length)
    }

    /// Returns the values of the sample, the common ones first.
    pub(super) fn values(&self) -> impl Iterator<Item = pg_sys::Datum> {
        self.common.iter().map(|&(value, _)| value).chain(self.others.iter().copied())
    }
}

/// Reports whether two values of variable length have the same bytes.
///
/// # Safety
/// Values of variable length.
pub(super) unsafe fn is_same(one: pg_sys::Datum, other: pg_sys::Datum) -> bool {
    // SAFETY: the caller's promise.
    unsafe { varlena_bytes(one) == varlena_bytes(other) }
}
