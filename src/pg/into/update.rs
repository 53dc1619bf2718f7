//! Brings a result up to date. The sets of all documents, the rows of their parts, the order of
//! tokens and the pairs of sets are kept in working tables. A call finds, by a hash of their texts,
//! which documents are new, have changed or are gone, and joins only sets that are new, with each
//! other and with the kept ones. What was found before stays: a pair of sets does not depend on the
//! documents that have these sets. So the kept tables only grow, and nothing is undone in them on
//! many servers at once; if most of the kept sets are no longer those of documents, all is made
//! from scratch.
//!
//! What is known of the documents (their hashes and their sets) changes in one transaction, and the
//! tables of the caller change in one transaction, by the rows that differ.

use pgrx::PgSqlErrorCode;

use super::statements::citus;
use super::statements::log::{LogTable, LoggedArguments};
use super::work::CallWork;
use crate::into::step::WorkingTable;
use crate::pg::server::error::{Result, SqlError};

/// Reports whether the kept tables of a log are all there, and most of their sets are those of
/// documents. If not, says why all is made from scratch.
pub(super) fn is_kept(work: &CallWork, log: &LogTable, known: &LoggedArguments) -> Result<bool> {
    let (spread, name, asked) = (work.spread()?, work.call.arguments.name(), &work.in_parts()?.logged);
    let from_scratch = |why: &str| {
        pgrx::notice!("{name}: {} is made anew: {why}", known.pairs);
        Ok(false)
    };
    if known.update.is_none() {
        return from_scratch("nothing was kept when it was made");
    }
    if known.update != asked.update {
        return from_scratch("it was made by another version of the library");
    }
    if known != asked {
        return from_scratch("it was made with other arguments");
    }
    if log.is_finished {
        for table in spread.kept() {
            if !spread.is_whole(*table)? {
                return from_scratch("a table that was kept is gone");
            }
        }
        let documents = spread.open(WorkingTable::Known)?.count()?;
        let kept = log.kept.read.saturating_add(log.progress.expected(WorkingTable::Sets));
        if kept > documents.saturating_mul(2).saturating_add(1000) {
            return from_scratch("most of the texts that were kept have changed or are gone");
        }
    }
    Ok(true)
}

/// Fails because ids of this type have no hash, by which Citus would distribute them.
pub(super) fn check_hashable(work: &CallWork) -> Result<()> {
    if citus::is_hashable(work.call.asked.id_oid)? {
        return Ok(());
    }
    let message = format!("ids of type {} have no hash, by which nodes would keep them", work.call.asked.id);
    Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message)
        .hint("Make the pairs without incremental => true."))
}
