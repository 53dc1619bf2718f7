//! The pairs of rows that changed.

use std::borrow::Cow;
use std::cmp::Ordering;

use pgrx::pg_sys::Datum;

use super::near::near;
use super::{FORM, NEXT};
use crate::pg::call::sql_function;
use crate::pg::error::Result;
use crate::pg::ids::Ids;
use crate::pg::join::Run;
use crate::pg::methods::Update;
use crate::pg::request::Request;
use crate::pg::rows::{Rows, Store, wants_all};

/// Columns of a pair, and of a row of the table of lists.
const COLUMNS: usize = 3 + 6;

sql_function! {
    /// `neardup_job_pairs(…, changed, others, lists, segment)`: pairs of a row that the condition `changed` holds for and
    /// one that `others` holds for, the lesser id first, some twice; of the latter among themselves where there is none.
    /// With the table of lists only those rows are read, instead of `others`, that may be similar to changed ones; with a
    /// number for a segment, too, changed rows become that, as rows that are no pairs.
    neardup_job_pairs, pg_finfo_neardup_job_pairs, |call| {
        let mut request = Request::new(call, FORM)?;
        let all = request.left.clone();
        let [changed, others, lists] = [call.text(NEXT)?, call.text(NEXT + 1)?, call.text(NEXT + 2)?];
        let only = |condition: Option<Cow<'_, str>>| match condition {
            Some(condition) => all.only(&condition),
            None => all.clone(),
        };
        wants_all(call)?;
        let mut store = Store::new(call);
        let Some(changed) = changed else {
            request.left = only(others);
            return join(&request, &mut store);
        };
        request.left = all.only(&changed);
        let near = match (lists, request.method.update()) {
            (Some(lists), Update::Sets(spec, predicate)) => {
                near::<COLUMNS>(&lists, &request, (spec, predicate), (call.get(NEXT + 3), &mut store))?
            }
            _ => None,
        };
        if let Some(near) = near.as_ref().filter(|near| near.fits()) {
            request.left = all.clone();
            near.pairs(&mut request, |ids, left, right, similarity| {
                put(&mut store, ids, [left, right, Datum::from(similarity.to_bits())]);
            })?;
            return Ok(Datum::null());
        }
        let near = near.map(|near| Cow::Owned(format!("({} OR {changed})", near.condition(&all.key))));
        request.right = Some(only(near.or(others)));
        join(&request, &mut store)
    }
}

/// Joins the tables of a request.
fn join(request: &Request, store: &mut Store) -> Result<Datum> {
    let mut run = Run::new(request)?;
    while let Some(pair) = run.next()? {
        put(store, &run.left, pair);
    }
    Ok(Datum::null())
}

/// Gives a pair, the lesser id first; none of a row with itself.
fn put(store: &mut Store, ids: &Ids, [left, right, similarity]: [Datum; 3]) {
    let [lesser, greater] = match ids.compare(left, right) {
        Ordering::Less => [left, right],
        Ordering::Greater => [right, left],
        Ordering::Equal => return,
    };
    let mut columns = [Datum::null(); COLUMNS];
    columns[..3].copy_from_slice(&[lesser, greater, similarity]);
    store.put(columns, std::array::from_fn(|column| column >= 3));
}
