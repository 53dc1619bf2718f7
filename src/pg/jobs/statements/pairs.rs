//! Steps on the pairs of a batch. What finds them is Rust code, whose rows a statement stores.

use std::cmp::Ordering;

use pgrx::pg_sys::{self, Datum};

use super::lists::COLUMNS as OF_LISTS;
use super::rows;
use super::work::{Names, RefreshWork};
use crate::jobs::state::{BatchPairs, Removed};
use crate::jobs::step::{JoinSelection, RowSelection};
use crate::pg::functions::pairs::near_duplicates::RunningJoin;
use crate::pg::jobs::lists::neighbours::neighbours;
use crate::pg::jobs::lists::stored::{COLUMNS as LIST_COLUMNS, unless_damaged};
use crate::pg::jobs::lists::writer::ListWriter;
use crate::pg::jobs::queries::{Condition, is_any};
use crate::pg::jobs::tables;
use crate::pg::procedure::definition::Column;
use crate::pg::procedure::rows::supplying;
use crate::pg::procedure::statement::{on, read_bool};
use crate::pg::procedure::table::Table;
use crate::pg::query::ids::RowIds;
use crate::pg::read::source::DocumentSource;
use crate::pg::request::Request;
use crate::pg::server::error::Result;
use crate::pg::server::set_returning::{RowSource as _, RowStore};
use neardup_core::methods::Update;

/// The number of columns of a row that is found: those of a pair, then those of a row of the table
/// of lists.
const COLUMNS: usize = 3 + LIST_COLUMNS;

/// Returns these columns.
fn columns() -> Vec<Column> {
    [tables::PAIR_COLUMNS, tables::LIST_COLUMNS].concat()
}

/// Returns the condition that an id is in the batch.
fn in_batch(names: &Names) -> String {
    format!("{} ANY (ARRAY(SELECT id FROM {} WHERE change = 0))", names.equals, names.tables.state)
}

/// Removes all pairs.
pub(crate) fn remove_all(work: &mut RefreshWork<'_>) -> Result<()> {
    let removed = work.names.tables.pairs.empty()?;
    work.state.removed = Some(Removed { pairs: removed, had_pairs: true });
    Ok(())
}

/// Removes the pairs that have rows of the batch on either side, if it can have any. Connected
/// clusters contain all rows with pairs, so a single lookup shows whether rows have any pairs.
pub(crate) fn remove(work: &mut RefreshWork<'_>, by_clusters: bool) -> Result<()> {
    let (tables::JobTables { pairs, clusters, state, .. }, batch) =
        (&work.names.tables, in_batch(&work.names));
    let in_clusters = format!("SELECT EXISTS (SELECT FROM {clusters} WHERE id {batch})");
    let had_pairs = !by_clusters || on([clusters, state], in_clusters).holds()?;
    let mut removed = 0;
    if had_pairs {
        for side in ["left_id", "right_id"] {
            removed += on([pairs, state], format!("DELETE FROM {pairs} WHERE {side} {batch}")).run()?;
        }
    }
    work.state.removed = Some(Removed { pairs: removed, had_pairs });
    Ok(())
}

/// Looks up the rows of the batch in the lists: stores their pairs, and rows of the lists if the
/// batch becomes a segment. Keeps the ids in the pairs that were found if the clusters are updated
/// from these ids. If `doubts` is true, the candidates, whether similar or not, are marked as in
/// doubt if they are not as they were seen and do not wait. For a relation that Citus distributes,
/// the candidates are only set aside for this check.
pub(crate) fn look_up(work: &mut RefreshWork<'_>, segment: Option<i64>, doubts: bool) -> Result<()> {
    let keep = work.state.job.whole_clusters;
    let array = work.names.array_oid();
    let (names, lists) = (&work.names, work.lists()?);
    let Names { tables, column, .. } = names;
    let pairs = &tables.pairs;
    let candidates = format!("SELECT unnest(ids::text::{column}[]) AS id FROM found WHERE kind = 'c'");
    let doubt = match (doubts, names.is_spread) {
        (false, _) => String::new(),
        (true, false) => format!("doubt AS ({}), ", rows::doubt_among(names, &candidates)),
        (true, true) => format!("aside AS ({}), ", rows::set_among_aside(names, &candidates)),
    };
    let near = if keep { "(SELECT array_agg(id) FROM near)" } else { "NULL" };
    let lookup = ListLookup { lists, segment, candidates: doubts };
    let (columns, compared) = (columns(), names.compared("found"));
    let mut supply = |_, store: &mut RowStore| found_by_lists(names, lookup, store);
    let row = supplying(names.supplied(None, &columns), &mut supply, |found| {
        let sql = format!(
            "WITH found AS MATERIALIZED (SELECT * FROM {found}), \
                 list AS (INSERT INTO {lists} ({OF_LISTS}) SELECT {OF_LISTS} FROM found WHERE kind <> 'c'), {doubt}\
                 put AS (INSERT INTO {pairs} (left_id, right_id, similarity) \
                     SELECT DISTINCT left_id, right_id, similarity FROM found \
                     WHERE kind IS NULL{compared} ORDER BY 1, 2 RETURNING left_id, right_id), \
                 near AS (SELECT left_id AS id FROM put UNION SELECT right_id FROM put) \
             SELECT (SELECT count(*) FROM put), {near}::{column}[], EXISTS (SELECT FROM found WHERE kind <> 'c')"
        );
        let about = (!compared.is_empty()).then_some(names.docs);
        on([pairs, lists], sql).about(about).row([pg_sys::INT8OID, array, pg_sys::BOOLOID])
    })?;
    let [added, near, listed] = row.unwrap_or_default();
    if doubts && names.is_spread {
        rows::doubt_aside(names)?;
        rows::forget_aside(names)?;
    }
    work.near = keep.then_some((array, near));
    let pairs = added.map_or(0, |added| added.value() as i64);
    work.state.found = Some(BatchPairs { pairs, listed: read_bool(listed) });
    Ok(())
}

/// Joins rows, and stores the pairs that are found.
pub(crate) fn join(work: &mut RefreshWork<'_>, rows: JoinSelection) -> Result<()> {
    let (names, pairs, columns) = (&work.names, &work.names.tables.pairs, columns());
    let mut supply = |_, store: &mut RowStore| found_by_join(names, rows, store);
    let stored = supplying(names.supplied(None, &columns), &mut supply, |found| {
        let sql = format!(
            "INSERT INTO {pairs} (left_id, right_id, similarity) SELECT left_id, right_id, similarity FROM {found} ON CONFLICT DO NOTHING"
        );
        on([pairs], sql).run()
    })?;
    work.state.found = Some(BatchPairs { pairs: stored, listed: false });
    Ok(())
}

/// Stores the pairs of a join with the lesser id first; some pairs are stored twice.
fn found_by_join(names: &Names, rows: JoinSelection, store: &mut RowStore) -> Result<()> {
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
struct ListLookup<'a> {
    /// The table of lists.
    lists: &'a Table,
    /// The number of the segment that the batch becomes, if the batch is added to the lists.
    segment: Option<i64>,
    /// Set if the caller also wants the candidates, that is, the rows that were read, whether
    /// similar or not.
    candidates: bool,
}

/// Stores the pairs of a row of the batch and a known row. Reads only the known rows that,
/// according to the lists, may be similar to a row of the batch. If the batch gets a segment, also
/// stores the batch as rows of the table of lists. If the lists are damaged, or of another version,
/// stores a row of kind `!` and reads all known rows. Rows of kind `c` name candidates.
fn found_by_lists(names: &Names, lookup: ListLookup<'_>, store: &mut RowStore) -> Result<()> {
    let mut request = names.request()?;
    let all = request.left.clone();
    let changed = Condition::new(&names.tables, RowSelection::Batch, &request)?;
    // The lists are of all groups.
    request.left = changed.only(&all.of_all_groups());
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
        request.left = changed.only(&all);
        request.right = Some(Condition::new(&names.tables, RowSelection::Known, &request)?.only(&all));
        return run(&request, store);
    };
    if candidates {
        ListWriter::<COLUMNS>::new(store, 0).candidates(&near.others)?;
    }
    if near.matcher.is_some() {
        request.left = all.of_all_groups();
        if let Some(in_groups) = names.in_groups_of_batch() {
            request.left = request.left.only(&in_groups, &[], &[names.tables.state.oid]);
        }
        return near.pairs(&mut request, |ids, left, right, similarity| {
            put(store, ids, [left, right, Datum::from(similarity.to_bits())]);
        });
    }
    request.left = changed.only(&all);
    request.right = Some(changed.or(&all, &is_any(&all.key, &near.equals), near.array));
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
