//! The reasons why a call ends, in words.

use pgrx::PgSqlErrorCode;

use super::look::was_finished;
use super::place::taken;
use super::refusal::Why;
use super::work::Work;
use crate::into::step::Refusal;
use crate::pg::request::example::literal;
use crate::pg::server::error::Result;

/// Returns the error for a refusal, or None if an error is already remembered.
pub(super) fn reason(work: &Work, why: Refusal) -> Result<Option<Why>> {
    let docs = &work.asked.shown;
    let limit = PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED;
    let found = if work.arguments.passages { "passages" } else { "pairs" };
    Ok(Some(match why {
        Refusal::DoubleId => return Ok(None),
        Refusal::Taken => {
            let clusters = work.clusters.as_ref();
            let result = work.result.relation()?.is_some();
            let (code, message, hint) = taken(clusters.filter(|_| !result).unwrap_or(&work.result))?;
            let accept =
                if was_finished(work)? { " The same call made it: resume => true accepts it." } else { "" };
            (code, message, hint + accept)
        }
        Refusal::NullId => (
            PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED,
            format!("a row of {docs} has NULL as its id"),
            "Name a column without NULL with id_column => '…'.".to_owned(),
        ),
        Refusal::Candidates(most) => (
            limit,
            format!("{} has more than {most} candidates to compare", work.arguments.name()),
            format!(
                "Raise the threshold: CALL {}({}, 0.95, 'docs_found');",
                work.arguments.name(),
                literal(docs)
            ),
        ),
        Refusal::Pairs => (
            limit,
            format!(
                "{} has more than max_{found} = {} {found} to give",
                work.arguments.name(),
                work.state.call.max_pairs.unwrap_or_default()
            ),
            format!("Raise the threshold or max_{found}."),
        ),
    }))
}
