//! The reasons why a call ends, in words.

use pgrx::PgSqlErrorCode;

use super::look::was_finished;
use super::place::taken;
use super::session::Why;
use super::work::CallWork;
use crate::into::step::RefusalReason;
use crate::pg::request::example::literal;
use crate::pg::server::error::Result;

/// Returns the error for a refusal.
pub(super) fn reason(work: &CallWork, why: RefusalReason) -> Result<Why> {
    let docs = &work.call.asked.shown;
    let limit = PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED;
    let found = if work.call.arguments.others.passages { "passages" } else { "pairs" };
    Ok(match why {
        RefusalReason::DoubleId => match &work.double_id {
            Some(id) => (
                PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION,
                format!("id {id} stands in more than one row of {docs}"),
                "Every document needs an id of its own; name another column with id_column.".to_owned(),
            ),
            None => (
                PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "two sets have one number by chance".to_owned(),
                "Call it again: it takes other numbers.".to_owned(),
            ),
        },
        RefusalReason::Taken => {
            let clusters = work.call.places.clusters.as_ref();
            let result = work.call.places.pairs.relation()?.is_some();
            let (code, message, hint) =
                taken(clusters.filter(|_| !result).unwrap_or(&work.call.places.pairs))?;
            let accept =
                if was_finished(work) { " The same call made it: resume => true accepts it." } else { "" };
            (code, message, hint + accept)
        }
        RefusalReason::NullId => (
            PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED,
            format!("a row of {docs} has NULL as its id"),
            "Name a column without NULL with id_column => '…'.".to_owned(),
        ),
        RefusalReason::Candidates(most) => (
            limit,
            format!("{} has more than {most} candidates to compare", work.call.arguments.name()),
            format!(
                "Raise the threshold: CALL {}({}, 0.95, 'docs_found');",
                work.call.arguments.name(),
                literal(docs)
            ),
        ),
        RefusalReason::Pairs => (
            limit,
            format!(
                "{} has more than max_{found} = {} {found} to give",
                work.call.arguments.name(),
                work.state.call.max_pairs.unwrap_or_default()
            ),
            format!("Raise the threshold or max_{found}."),
        ),
    })
}
