//! The pairs of rows that changed.

use std::cmp::Ordering;

use pgrx::pg_sys::{self, Datum};

use super::arguments::{self, Chosen, Condition, NEXT, request};
use crate::methods::Update;
use crate::pg::functions::near_duplicates::Run;
use crate::pg::jobs::lists::neighbours::neighbours;
use crate::pg::jobs::lists::stored::unless_damaged;
use crate::pg::jobs::lists::writer::Writer;
use crate::pg::query::ids::Ids;
use crate::pg::request::Request;
use crate::pg::server::call::sql_function;
use crate::pg::server::error::Result;
use crate::pg::server::set_returning::{Rows as _, Store};

/// Columns of a pair, and of a row of the table of lists.
const COLUMNS: usize = 3 + 6;

sql_function! {
    /// `neardup_job_pairs(…, state, changed, others, lists, segment, candidates, hashes)`: pairs of a row of `changed` and one of `others`,
    /// both `batch` or `known` by the table `state`, and by that of `hashes` if there is one, or all; the lesser id first, some twice. Of `others` among themselves where
    /// there is no `changed`. With the table of lists only those rows are read, instead of `others`, that may be similar to
    /// changed ones; with a number for a segment, too, changed rows become that, as rows that are no pairs. Where the lists
    /// are damaged, or of another version, a row of kind `!` says so. With `candidates` rows of kind `c` name those that were
    /// read.
    neardup_job_pairs, pg_finfo_neardup_job_pairs, |call| {
        let mut request = request(call)?;
        let all = request.left.clone();
        let rows = Chosen::new(call, [NEXT, NEXT + 6], &request)?;
        let [changed, others] = [NEXT + 1, NEXT + 2].map(|n| rows.condition(call, n, &all));
        let (changed, others) = (changed?, others?);
        let lists = arguments::lists(call, NEXT + 3)?;
        let [id, number] = [request.id_type, pg_sys::INT8OID];
        let mut store = Store::expected(
            call,
            &[
                [id, id, pg_sys::FLOAT8OID].as_slice(),
                &[pg_sys::CHAROID, number, pg_sys::INT4OID, pg_sys::INT4OID, pg_sys::BYTEAOID, pg_sys::TEXTARRAYOID],
            ]
            .concat(),
        )?;
        let Some(changed) = changed else {
            request.left = Condition::only(others.as_ref(), &all);
            return join(&request, &mut store);
        };
        request.left = Condition::only(Some(&changed), &all);
        let near = match (lists, request.method.update()) {
            (Some(lists), Update::Sets(spec, predicate)) => {
                let segment = call.get(NEXT + 4);
                let near = neighbours::<COLUMNS>(&lists, &request, (spec, predicate), (segment, &mut store));
                let near = unless_damaged(near)?.flatten();
                if near.is_none() {
                    store.clear();
                    Writer::<COLUMNS>::new(&mut store, 0).put(b'!', [0, 0], None, None, None)?;
                }
                near
            }
            _ => None,
        };
        if let Some(near) = near.as_ref().filter(|_| call.get(NEXT + 5) == Some(true)) {
            Writer::<COLUMNS>::new(&mut store, 0).candidates(near.others())?;
        }
        if let Some(near) = near.as_ref().filter(|near| near.fits()) {
            request.left = all.clone();
            near.pairs(&mut request, |ids, left, right, similarity| {
                put(&mut store, ids, [left, right, Datum::from(similarity.to_bits())]);
            })?;
            return Ok(Datum::null());
        }
        request.right = Some(match near {
            Some(near) => {
                let (condition, value) = near.condition(&all.key);
                changed.or(&all, &condition, value)
            }
            None => Condition::only(others.as_ref(), &all),
        });
        join(&request, &mut store)
    }
}

/// Joins the tables of a request.
fn join(request: &Request, store: &mut Store) -> Result<Datum> {
    let mut run = Run::new(request)?;
    while let Some(pair) = run.next()? {
        put(store, &run.finished.left, pair);
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
