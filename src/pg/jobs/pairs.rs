//! The pairs of changed rows, as rows that a statement stores.

use std::cmp::Ordering;

use pgrx::pg_sys::{self, Datum, Oid};

use super::chosen_rows::Condition;
use super::lists::neighbours::neighbours;
use super::lists::stored::{COLUMNS as LIST_COLUMNS, unless_damaged};
use super::lists::writer::ListWriter;
use super::statements::names::Names;
use crate::jobs::step::{JoinSelection, RowSelection};
use crate::pg::functions::near_duplicates::RunningJoin;
use crate::pg::procedure::table::Table;
use crate::pg::query::ids::RowIds;
use crate::pg::read::source::DocumentSource;
use crate::pg::request::Request;
use crate::pg::server::error::Result;
use crate::pg::server::set_returning::{RowSource as _, RowStore};
use neardup_core::methods::Update;

/// The number of columns of a stored row: those of a pair, then those of a row of the table of
/// lists.
const COLUMNS: usize = 3 + LIST_COLUMNS;

/// Returns the types of these columns, where `id` is the type of ids.
pub(super) fn columns(id: Oid) -> [Oid; COLUMNS] {
    let [kind, segment, part, documents, data, ids] = super::lists::stored::TYPES;
    [id, id, pg_sys::FLOAT8OID, kind, segment, part, documents, data, ids]
}

/// Stores the pairs of a join with the lesser id first; some pairs are stored twice.
pub(super) fn join(names: &Names, rows: JoinSelection, store: &mut RowStore) -> Result<()> {
    let mut request = names.request()?;
    let all = request.left.clone();
    let only = |rows, request: &Request| -> Result<DocumentSource> {
        Ok(Condition::new(&names.tables, rows, request)?.only(&all))
    };
    match rows {
        JoinSelection::All => {}
        JoinSelection::Batch => request.left = only(RowSelection::Batch, &request)?,
        JoinSelection::BatchWithKnown => {
            request.right = Some(only(RowSelection::Known, &request)?);
            request.left = only(RowSelection::Batch, &request)?;
        }
    }
    run(&request, store)
}

/// The parameters for looking up the rows of a batch in lists.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListLookup<'a> {
    /// The table of lists.
    pub lists: &'a Table,
    /// The number of the segment that the batch becomes, if the batch is added to the lists.
    pub segment: Option<i64>,
    /// Set if the caller also wants the candidates, that is, the rows that were read, whether
    /// similar or not.
    pub candidates: bool,
}

/// Stores the pairs of a row of the batch and a known row. Reads only the known rows that,
/// according to the lists, may be similar to a row of the batch. If the batch gets a segment, also
/// stores the batch as rows of the table of lists. If the lists are damaged, or of another version,
/// stores a row of kind `!` and reads all known rows. Rows of kind `c` name candidates.
pub(super) fn look_up(names: &Names, lookup: ListLookup<'_>, store: &mut RowStore) -> Result<()> {
    let mut request = names.request()?;
    let all = request.left.clone();
    let changed = Condition::new(&names.tables, RowSelection::Batch, &request)?;
    request.left = changed.only(&all);
    let ListLookup { lists, segment, candidates } = lookup;
    let near = match request.method.update() {
        Update::Sets(spec, predicate) => {
            let near = neighbours::<COLUMNS>(lists, &request, spec, predicate, segment, store);
            let near = unless_damaged(near)?.flatten();
            if near.is_none() {
                store.clear();
                ListWriter::<COLUMNS>::new(store, 0).put(b'!', [0, 0], None, None, None)?;
            }
            near
        }
        _ => None,
    };
    let Some(near) = near else {
        request.right = Some(Condition::new(&names.tables, RowSelection::Known, &request)?.only(&all));
        return run(&request, store);
    };
    if candidates {
        ListWriter::<COLUMNS>::new(store, 0).candidates(near.others())?;
    }
    if near.fits() {
        request.left = all;
        return near.pairs(&mut request, |ids, left, right, similarity| {
            put(store, ids, [left, right, Datum::from(similarity.to_bits())]);
        });
    }
    let (condition, (type_, value)) = near.condition(&all.key);
    request.right = Some(changed.or(&all, &condition, type_, value));
    run(&request, store)
}

/// Joins the tables of a request.
fn run(request: &Request, store: &mut RowStore) -> Result<()> {
    let mut run = RunningJoin::new(request)?;
    while let Some([Some(left), Some(right), Some(similarity)]) = run.next()? {
        put(store, &run.finished.left, [left, right, similarity]);
    }
    Ok(())
}

/// Stores a pair with the lesser id first; skips a pair of a row with itself.
fn put(store: &mut RowStore, ids: &RowIds, [left, right, similarity]: [Datum; 3]) {
    let [lesser, greater] = match ids.compare(left, right) {
        Ordering::Less => [left, right],
        Ordering::Greater => [right, left],
        Ordering::Equal => return,
    };
    let mut row = [None; COLUMNS];
    row[..3].copy_from_slice(&[lesser, greater, similarity].map(Some));
    store.put(row);
}
