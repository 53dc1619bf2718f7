//! `signature_index_stats`, `signature_index_merge`, and `signature_index_fits`, which returns the
//! reason why an index does not serve a ball, or NULL if it does.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use pgrx::{IntoDatum, PgSqlErrorCode, pg_sys};

use crate::pg::index::am::search::undisturbed;
use crate::pg::index::am::user_index::{UserIndex, on_index, refuse_spread};
use crate::pg::index::am::vacuum;
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::options::StorageOptions;
use crate::pg::index::layout::format::Descriptor;
use crate::pg::index::layout::items::HeapRow;
use crate::pg::index::layout::meta::Directory;
use crate::pg::index::pages::buffer::{Looked, OpenIndex};
use crate::pg::index::storage::cursor::{MergedCursor, SegmentCursor};
use crate::pg::index::storage::maintenance::Maintenance;
use crate::pg::index::storage::pending::{self, PendingPages};
use crate::pg::index::storage::segment::Segment;
use crate::pg::server::call::sql_functions;
use crate::pg::server::error::SqlError;
use crate::pg::server::set_returning::record;

sql_functions! {
    /// `signature_index_merge(regclass) → int`
    neardup_signature_index_merge, within Maintenance: |call| {
        // SAFETY: reads the state of the server.
        if unsafe { pg_sys::RecoveryInProgress() } {
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_READ_ONLY_SQL_TRANSACTION,
                "cannot merge an index during recovery").hint("Merge it on the primary; the standby follows."));
        }
        let segments = on_index(call, pg_sys::RowExclusiveLock, |opened| {
            refuse_spread(&opened, "signature_index_merge(c.oid)", "s")?;
            let index = opened.index;
            let maintenance = Maintenance::begin(index);
            maintenance.flush(true)?;
            maintenance.merge_all()?;
            vacuum::sweep(index, &maintenance);
            drop(maintenance);
            Ok(Directory::read(index).segments.len() as i32)
        })?;
        Ok(call.give(Some(segments)))
    };
}

/// The largest number of signatures that `signature_index_stats` lists.
const LISTED: usize = 10;

/// The counts that need a pass over the index.
struct IndexCounts {
    pending: i64,
    pending_dead: i64,
    frequent: BTreeMap<u64, u64>,
}

fn count(index: OpenIndex) -> Looked<IndexCounts> {
    let (mut pending, mut pending_dead) = (0, 0);
    let (directory, keys) = ClassKeys::read(index);
    let mut pages = PendingPages::all(index, &directory.meta);
    while let Some((block, contents)) = pages.next()? {
        for item in pending::items(index, block, &contents).filter(|item| !item.row.has(HeapRow::CONTINUED)) {
            pending += 1;
            pending_dead += i64::from(item.row.has(HeapRow::DEAD));
        }
    }
    let directory = Directory::read(index);
    let now = keys.now(index, &directory.meta);
    let keys = now.unwrap_or(keys);
    let bulk = index.in_bulk();
    let segments = directory.segments.iter().map(|&about| Segment::open(bulk, about, keys.layout()));
    let segments: Vec<_> = segments.collect::<Looked<_>>()?;
    let mut merged = MergedCursor::new(&segments, SegmentCursor::next_count)?;
    let mut most: BinaryHeap<Reverse<(u64, u64)>> = BinaryHeap::new();
    let (mut current, mut total) = (0, 0);
    let mut close = |signature: u64, rows: u64| {
        if rows > 1 {
            most.push(Reverse((rows, signature)));
            if most.len() > LISTED {
                most.pop();
            }
        }
    };
    while let Some((signature, _, rows)) = merged.next()? {
        if signature != current {
            close(current, total);
            (current, total) = (signature, 0);
        }
        total += rows;
    }
    close(current, total);
    let frequent = most.into_iter().map(|Reverse((rows, signature))| (signature, rows)).collect();
    Ok(IndexCounts { pending, pending_dead, frequent })
}

sql_functions! {
    /// `signature_index_stats(regclass) → record`
    neardup_signature_index_stats, within Maintenance: |call| {
        let values = on_index(call, pg_sys::AccessShareLock, |opened| {
            refuse_spread(&opened, "signature_index_stats(c.oid)", "row_to_json(s)")?;
            Ok(describe(opened.index, opened.shows_values()))
        })?;
        record(call, &COLUMNS, values)
    };
}

/// The columns of the result.
const COLUMNS: [&str; 12] = [
    "rows",
    "segments",
    "pending",
    "dead",
    "nulls",
    "signatures",
    "pages",
    "pending_pages",
    "options",
    "frequent_signatures",
    "frequent_rows",
    "stopped_signatures",
];

/// Describes an index. The values of signatures are shown to those who may read them in the table.
fn describe(index: OpenIndex, shows_values: bool) -> [Option<pg_sys::Datum>; COLUMNS.len()] {
    let counts = undisturbed(index, || count(index));
    let (directory, keys) = ClassKeys::read(index);
    let sum = |of: &dyn Fn(&Descriptor) -> u64| directory.segments.iter().map(of).sum::<u64>() as i64;
    let dead = sum(&|s| s.dead.into()) + counts.pending_dead;
    let limit = StorageOptions::read(index).stop_limit();
    let mut frequent: Vec<_> = counts.frequent.iter().map(|(&signature, &rows)| (rows, signature)).collect();
    frequent.sort_unstable_by_key(|&(rows, signature)| (Reverse(rows), signature));
    let signature = |&(_, signature): &(u64, u64)| keys.shown(signature);
    let stopped = frequent.iter().filter(|&&(rows, _)| limit > 0 && rows > limit);
    [
        (directory.rows() as i64 + counts.pending - dead).into_datum(),
        (directory.segments.len() as i32).into_datum(),
        counts.pending.into_datum(),
        dead.into_datum(),
        sum(&|s| s.nulls.into()).into_datum(),
        sum(&|s| s.postings).into_datum(),
        i64::from(index.blocks_now()).into_datum(),
        (directory.pending_pages() as i64).into_datum(),
        keys.describe().into_datum(),
        shows_values.then(|| frequent.iter().map(signature).collect::<Vec<i64>>()).into_datum(),
        frequent.iter().map(|&(rows, _)| rows as i64).collect::<Vec<i64>>().into_datum(),
        shows_values.then(|| stopped.map(signature).collect::<Vec<i64>>()).into_datum(),
    ]
}

sql_functions! {
    /// `signature_index_fits(regclass, text_ball) → text`
    neardup_signature_index_fits: |call| {
        let ball = call.bytes(1).unwrap_or_default();
        let why = on_index(call, pg_sys::AccessShareLock, |UserIndex { index, .. }| {
            let (_, keys) = ClassKeys::read(index);
            if !keys.class.has_balls() {
                let message = format!("index \"{}\" is of class {}, which has no sets", index.name(), keys.class.name());
                return Err(SqlError::new(PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE, message)
                    .hint("Balls are served by text_set_ops, text_gram_ops, array_set_ops, tsvector_set_ops, text_ball_set_ops and text_ball_gram_ops."));
            }
            Ok(keys.unfit(ball))
        })?;
        Ok(call.give(why))
    };
}
