//! The similarity of two carried documents.

use super::method;
use crate::pg::server::call::sql_function;
use crate::pg::server::executor::executor_for;
use neardup_core::executor;
use neardup_core::methods::carrier::{LeftOut, Meeting, content};

sql_function! {
    /// `neardup_part_similarity(left, right, ranks, method) → float8`: NULL if the two documents
    /// are no pair.
    neardup_part_similarity, pg_finfo_neardup_part_similarity, within Arguments, |call| {
        let method = method(call, 3)?;
        let carrier = method.carrier()?;
        let Some((left, right)) = call.bytes(0).zip(call.bytes(1)) else { return Ok(call.give::<f64>(None)) };
        let pair = [content(left)?, content(right)?];
        let left_out = match carrier.meeting() {
            Meeting::Terms { .. } => LeftOut::parse(call.bytes(2).unwrap_or_default())?,
            _ => LeftOut::default(),
        };
        let mut similarity = None;
        let effort = left.len() + right.len() + left.len().saturating_mul(right.len()) / 1024;
        executor::one(executor_for(effort), &mut similarity, |similarity, stop| {
            *similarity = carrier.similarity(pair, left_out, stop)?;
            Ok(())
        })?;
        Ok(call.give(similarity))
    }
}
