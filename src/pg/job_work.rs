//! The work of jobs that SQL cannot do: hashes of rows, and the pairs of those that changed.

use std::borrow::Cow;
use std::cmp::Ordering;

use pgrx::pg_sys::Datum;

use super::call::sql_function;
use super::clusters::{ARGUMENTS_OF_JOIN, How};
use super::encoding;
use super::error::Result;
use super::ids::Ids;
use super::job_lists;
use super::join::Run;
use super::methods::Update;
use super::request::{Form, Request};
use super::rows::{self, Rows, Store, wants_all};
use crate::hash;

/// The first argument behind those of a join.
const NEXT: usize = ARGUMENTS_OF_JOIN + 1;
/// Hints show a call that users know.
pub const FORM: Form = Form { name: "near_duplicates", relations: 1, typed: true };

sql_function! {
    /// `neardup_job_check(…, clustering, max_cluster_size)`: how the pairs can be brought up to date.
    neardup_job_check, pg_finfo_neardup_job_check, |call| {
        let request = Request::new(call, FORM)?;
        let how = How::new(call, [NEXT, NEXT + 1], &request.example)?;
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

sql_function! {
    /// `neardup_job_pairs(…, changed, others, lists)`: pairs of a row that the condition `changed` holds for and
    /// one that `others` holds for; of the latter among themselves where there is none. With the table of lists only
    /// those rows are read, instead of `others`, that may be similar to changed ones.
    neardup_job_pairs, pg_finfo_neardup_job_pairs, |call| {
        let mut request = Request::new(call, FORM)?;
        let all = request.left.clone();
        let [changed, others, lists] = [call.text(NEXT)?, call.text(NEXT + 1)?, call.text(NEXT + 2)?];
        let only = |condition: Option<Cow<'_, str>>| match condition {
            Some(condition) => all.only(&condition),
            None => all.clone(),
        };
        wants_all(call)?;
        let Some(changed) = changed else {
            request.left = only(others);
            return rows::all(call, Changed(Run::new(&request)?));
        };
        request.left = all.only(&changed);
        let near = match (lists, request.method.update()) {
            (Some(lists), Update::Sets(spec, predicate)) => {
                job_lists::near(&lists, &request, (spec, predicate))?
            }
            _ => None,
        };
        if let Some(near) = near.as_ref().filter(|near| near.fits()) {
            let mut store = Store::new(call);
            request.left = all.clone();
            near.pairs(&mut request, |ids, left, right, similarity| {
                if let Some(row) = in_order(ids, [left, right, Datum::from(similarity.to_bits())]) {
                    store.put(row, [false; 3]);
                }
            })?;
            return Ok(Datum::null());
        }
        let near = near.map(|near| Cow::Owned(format!("({} OR {changed})", near.condition(&all.key))));
        request.right = Some(only(near.or(others)));
        rows::all(call, Changed(Run::new(&request)?))
    }
}

/// A pair with the lesser id first; none of a row with itself.
fn in_order(ids: &Ids, [left, right, similarity]: [Datum; 3]) -> Option<[Datum; 3]> {
    match ids.compare(left, right) {
        Ordering::Less => Some([left, right, similarity]),
        Ordering::Greater => Some([right, left, similarity]),
        Ordering::Equal => None,
    }
}

/// The pairs of changed rows: the lesser id first, and none of a row with itself; some come twice.
struct Changed(Run);

impl Rows<3> for Changed {
    fn next(&mut self) -> Result<Option<[Datum; 3]>> {
        while let Some(pair) = self.0.next()? {
            if let Some(pair) = in_order(&self.0.left, pair) {
                return Ok(Some(pair));
            }
        }
        Ok(None)
    }
}
