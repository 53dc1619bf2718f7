//! Estimates which share of the pairs of a row and a document a condition accepts, and which share
//! of the rows of one side have a match on the other.
//!
//! The condition itself is evaluated on a sample of the values that ANALYZE has noted of both
//! columns. The most common values count by their frequency. Of the others, equal ones count by
//! their number, and near ones by how many there are in the sample.

use pgrx::pg_sys::{self, Datum};

use super::call::{BallCall, call_with};
use super::statistics::{ColumnSample, is_same};
use crate::pg::query::nodes;
use crate::pg::query::ours::symbol;

/// The assumed share of rows that a search finds if there are no statistics: near duplicates are
/// few.
pub(crate) const USUAL: f64 = 0.0001;

/// How two values of a sample compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ComparedValues {
    Apart,
    Near,
    Equal,
}

/// The values of one side of a sample.
#[derive(Debug)]
struct SampleSide {
    /// The shares of the common values.
    common: Vec<f64>,
    /// The number of other values in the sample.
    others: usize,
    /// The share of the rows that have other values, and the number of these values.
    rest: f64,
    rest_distinct: f64,
}

/// The sampled values of both sides: those of rows first, and then those of documents.
#[derive(Debug)]
pub(crate) struct ValueSample {
    sides: [SampleSide; 2],
    /// How each row compares with each document.
    compared: Vec<Vec<ComparedValues>>,
    /// The assumed share of pairs that the sample is too small to show.
    unseen: f64,
}

impl ValueSample {
    /// Samples the two sides of a condition. A document that is not of a column is taken for one of
    /// the values of the rows. Returns None if the statistics that this takes do not exist.
    ///
    /// # Safety
    /// The planner's state, and an operator of a condition with its arguments.
    pub(crate) unsafe fn new(
        root: *mut pg_sys::PlannerInfo,
        operator: pg_sys::Oid,
        collation: pg_sys::Oid,
        arguments: *mut pg_sys::List,
    ) -> Option<Self> {
        // SAFETY: the caller's promise; the function of an operator takes its arguments.
        unsafe {
            let condition = BallCall::parse(arguments)?;
            // Anybody may give this estimate to an operator; only a superuser makes functions in C.
            if !symbol(pg_sys::get_opcode(operator))?.starts_with(b"neardup_") {
                return None;
            }
            // The server has an estimate for a ball that is known.
            if (*pg_sys::estimate_expression_value(root, condition.ball)).type_ == pg_sys::NodeTag::T_Const {
                return None;
            }
            let made = condition.made_of();
            let rows = ColumnSample::of_expression(root, condition.row)?;
            let of_column = match made {
                Some((_, document)) if has_variables(root, document) => {
                    Some(ColumnSample::of_expression(root, document)?)
                }
                _ if has_variables(root, condition.ball) => return None,
                _ => None,
            };
            let documents = of_column.as_ref().unwrap_or(&rows);
            // Values that are not those that the condition compares, and a ball of which nothing is
            // known: only equal values are known to be near then.
            let call = made.map(|(call, _)| call).filter(|_| rows.are_exact && documents.are_exact);
            let mut function = pg_sys::FmgrInfo::default();
            pg_sys::fmgr_info(pg_sys::get_opcode(operator), &raw mut function);
            let mut compared: Vec<Vec<ComparedValues>> = rows.values().map(|_| Vec::new()).collect();
            for document in documents.values() {
                let ball = match call {
                    Some(call) => Some(constant(call_with(call, document))?),
                    None => None,
                };
                for (row, compared) in rows.values().zip(&mut compared) {
                    let mut is_near = || {
                        ball.is_some_and(|ball| {
                            let [a, b] = if condition.row_is_first { [row, ball] } else { [ball, row] };
                            pg_sys::FunctionCall2Coll(&raw mut function, collation, a, b).value() != 0
                        })
                    };
                    compared.push(if is_same(row, document) {
                        ComparedValues::Equal
                    } else if is_near() {
                        ComparedValues::Near
                    } else {
                        ComparedValues::Apart
                    });
                }
            }
            let most = rows.rows.max(documents.rows);
            let unseen = if most > 0.0 { USUAL.min(1.0 / most) } else { USUAL };
            Some(Self { sides: [side(&rows), side(documents)], compared, unseen })
        }
    }

    /// Returns the share of all pairs of a row and a document that are near.
    pub(crate) fn of_pairs(&self) -> f64 {
        let [rows, documents] = &self.sides;
        let weight = |side: &SampleSide, n: usize| {
            side.common.get(n).copied().unwrap_or_else(|| side.rest / side.others.max(1) as f64)
        };
        let mut share =
            self.unseen + rows.rest * documents.rest / rows.rest_distinct.max(documents.rest_distinct);
        for (row, compared) in self.compared.iter().enumerate() {
            for document in (0..compared.len()).filter(|&document| self.is_met(row, document)) {
                share += weight(rows, row) * weight(documents, document);
            }
        }
        share.clamp(0.0, 1.0)
    }

    /// Reports whether a row and a document are near, other than equal values that are not common,
    /// which are counted by their number.
    fn is_met(&self, row: usize, document: usize) -> bool {
        let [rows, documents] = &self.sides;
        match self.compared[row][document] {
            ComparedValues::Apart => false,
            ComparedValues::Near => true,
            ComparedValues::Equal => row < rows.common.len() || document < documents.common.len(),
        }
    }

    /// Returns the number of pairs of distinct values that are near and not equal, of so many rows
    /// on each side.
    pub(crate) fn near_values(&self, rows: [f64; 2]) -> f64 {
        let [row_side, document_side] = &self.sides;
        let weight = |side: &SampleSide, rows: f64, n: usize| {
            let others = (side.rest * rows).min(side.rest_distinct);
            if n < side.common.len() { 1.0 } else { others / side.others.max(1) as f64 }
        };
        let mut values = 0.0;
        for (row, compared) in self.compared.iter().enumerate() {
            for (document, _) in compared.iter().enumerate().filter(|&(_, &one)| one == ComparedValues::Near)
            {
                values += weight(row_side, rows[0], row) * weight(document_side, rows[1], document);
            }
        }
        values
    }

    /// Returns the share of the rows of one side, that of rows or of documents, that are near to at
    /// least one of the other side, which is `usual` for values of which nothing is known.
    pub(crate) fn of_matched(&self, is_of_rows: bool, usual: f64) -> f64 {
        let [outer, inner] = if is_of_rows { [0, 1] } else { [1, 0] };
        let [outer, inner] = [&self.sides[outer], &self.sides[inner]];
        let has_match = |n: usize| {
            let others = 0..inner.common.len() + inner.others;
            others.into_iter().any(|m| if is_of_rows { self.is_met(n, m) } else { self.is_met(m, n) })
        };
        let common = outer.common.iter().enumerate().filter(|&(n, _)| has_match(n)).map(|(_, share)| share);
        let matched = (0..outer.others).filter(|n| has_match(outer.common.len() + n)).count();
        let rest = (matched as f64 / outer.others.max(1) as f64).max(usual);
        (common.sum::<f64>() + outer.rest * rest).clamp(0.0, 1.0)
    }
}

fn side(column: &ColumnSample) -> SampleSide {
    SampleSide {
        common: column.common.iter().map(|&(_, share)| share).collect(),
        others: column.others.len(),
        rest: column.rest,
        rest_distinct: column.rest_distinct,
    }
}

/// # Safety
/// The planner's state, and an expression of it.
unsafe fn has_variables(root: *mut pg_sys::PlannerInfo, node: *mut pg_sys::Node) -> bool {
    // SAFETY: the caller's promise.
    unsafe { !pg_sys::pull_varnos(root, node).is_null() }
}

/// Evaluates a call whose arguments are constants. Returns None for NULL.
///
/// # Safety
/// A call.
unsafe fn constant(call: *mut pg_sys::Node) -> Option<Datum> {
    // SAFETY: the caller's promise.
    unsafe { nodes::constant(pg_sys::eval_const_expressions(std::ptr::null_mut(), call)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(common: &[f64], others: usize, rest_distinct: f64) -> SampleSide {
        let rest = 1.0 - common.iter().sum::<f64>();
        SampleSide { common: common.to_vec(), others, rest, rest_distinct }
    }

    fn sample(sides: [SampleSide; 2], compare: impl Fn(usize, usize) -> ComparedValues) -> ValueSample {
        let [rows, documents] = [&sides[0], &sides[1]].map(|side| side.common.len() + side.others);
        let compared = (0..rows).map(|a| (0..documents).map(|b| compare(a, b)).collect()).collect();
        ValueSample { sides, compared, unseen: 0.0 }
    }

    fn equal_to_itself(a: usize, b: usize) -> ComparedValues {
        if a == b { ComparedValues::Equal } else { ComparedValues::Apart }
    }

    #[test]
    fn frequencies_decide() {
        let near = |of: f64, expected: f64| assert!((of / expected - 1.0).abs() < 1e-9, "{of} {expected}");
        // All rows have one value.
        let all = sample([side(&[1.0], 0, 1.0), side(&[1.0], 0, 1.0)], equal_to_itself);
        near(all.of_pairs(), 1.0);
        // A tenth has one value, and the others are distinct.
        let of_names = || [side(&[0.1], 10, 1e6), side(&[0.1], 10, 1e6)];
        near(sample(of_names(), equal_to_itself).of_pairs(), 0.01 + 0.81 / 1e6);
        near(sample(of_names(), equal_to_itself).of_matched(true, 0.001), 0.1 + 0.9 * 0.001);
        // All are of one template.
        let template =
            sample(of_names(), |a, b| if a == b { ComparedValues::Equal } else { ComparedValues::Near });
        assert!(template.of_pairs() > 0.9);
        near(template.of_matched(false, 0.001), 1.0);
        // Each of the 900 rows with another value than the common one is near to nearly all others.
        assert!((700_000.0..=820_000.0).contains(&template.near_values([1000.0; 2])));
        // Nothing in common.
        let apart = sample(of_names(), |_, _| ComparedValues::Apart);
        near(apart.of_pairs(), 0.81 / 1e6);
    }
}
