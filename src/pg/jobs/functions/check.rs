//! What can be brought up to date of a method, and by what changes are noticed.

use crate::hash;
use crate::methods::Update;
use crate::pg::request::How;
use crate::pg::server::call::sql_function;
use crate::pg::server::encoding;

use super::arguments::{NEXT, request};

sql_function! {
    /// `neardup_job_check(…, clustering, max_cluster_size)`: how the pairs can be brought up to date.
    neardup_job_check, pg_finfo_neardup_job_check, |call| {
        let request = request(call)?;
        let how = How::new(call.text(NEXT)?.as_deref(), call.get(NEXT + 1), &request.example)?;
        Ok(call.give(Some(match request.method.update() {
            // Sets that are not made of pairs depend on all rows.
            _ if how.grouping(&request).is_some() => "signatures",
            Update::Sets(..) => "sets",
            Update::Pairs => "pairs",
            Update::Whole => "whole",
        })))
    }
}

sql_function! {
    /// `neardup_job_hash(content)`: a hash to notice changes by, the same whatever the encoding of the database.
    neardup_job_hash, pg_finfo_neardup_job_hash, |call| {
        let Some(content) = call.bytes(0) else { return Ok(call.give::<pgrx::Uuid>(None)) };
        let hash = match encoding::to_utf8(content)? {
            Some(content) => hash::hash_bytes_128(content.as_bytes()),
            None => hash::hash_bytes_128(content),
        };
        Ok(call.give(Some(pgrx::Uuid::from_bytes(hash.to_be_bytes()))))
    }
}
