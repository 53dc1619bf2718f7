//! A hash of a row, used to detect changes.

use crate::pg::server::call::sql_function;
use crate::pg::server::encoding;
use neardup_core::hash;

sql_function! {
    /// `neardup_job_hash(content)`: returns a hash for detecting changes, which does not depend on
    /// the encoding of the database.
    neardup_job_hash, pg_finfo_neardup_job_hash, within Arguments, |call| {
        let Some(content) = call.bytes(0) else { return Ok(call.give::<pgrx::Uuid>(None)) };
        let hash = match encoding::to_utf8(content)? {
            Some(content) => hash::hash_bytes_128(content.as_bytes()),
            None => hash::hash_bytes_128(content),
        };
        Ok(call.give(Some(pgrx::Uuid::from_bytes(hash.to_be_bytes()))))
    }
}
