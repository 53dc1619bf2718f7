//! Tells the caller of a search that can find little or nothing because its query is short: rows
//! that are contained in a text that is shorter than most of them, and rows that have a run of more
//! words in common with a text than it has.

use std::cell::Cell;

use pgrx::pg_sys;

use super::call::BallCall;
use super::statistics::ColumnSample;
use super::threshold::DISTANCES;
use crate::pg::query::nodes::constant;
use crate::pg::query::ours::symbol;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::executor::compute;
use crate::pg::server::notices::notice_with;
use neardup_core::features::FeatureSpec;
use neardup_core::features::origin::Origin;
use neardup_core::features::tokens::{Document, Scratch, for_each_token};
use neardup_core::search::ball::SetBall;
use neardup_core::search::runs::query::RunQuery;
use neardup_core::verify::measure::Measure;

thread_local! {
    /// When the statement began that was told last: each is told once.
    static TOLD: Cell<pg_sys::TimestampTz> = const { Cell::new(0) };
}

/// Looks at a search for a known text.
///
/// # Safety
/// The planner's state, and the arguments of a condition.
pub(crate) unsafe fn tell(root: *mut pg_sys::PlannerInfo, arguments: *mut pg_sys::List) {
    // SAFETY: the caller's promise; a node of this tag is of this type.
    unsafe {
        let statement = pg_sys::GetCurrentStatementStartTimestamp();
        let Some(call) = BallCall::parse(arguments).filter(|_| TOLD.get() != statement) else { return };
        let query = pg_sys::estimate_expression_value(root, call.ball);
        let Some(query) = constant(query).map(|query| varlena_bytes(query)) else { return };
        let told = match (SetBall::parse(query), RunQuery::parse(query)) {
            (Ok(ball), _) if is_shorter(root, &ball, call.row) => Some((
                "the query is shorter than most of the rows, so few of them can be contained in it"
                    .to_owned(),
                "Rows that contain the query: near('some text', 0.9, method => 'containment', direction => 'query')."
                    .to_owned(),
            )),
            (Err(_), Ok(query)) => tokens_of(&query).filter(|&tokens| tokens < query.min_run).map(|tokens| {
                let least = query.min_run;
                let message = format!(
                    "the query has fewer tokens, {tokens}, than the run of {least} that is looked for"
                );
                let least = tokens.max(1);
                (message, format!("A shorter run: shared_run('some text', {least}, '{}').", query.origin.name()))
            }),
            _ => None,
        };
        if let Some((message, hint)) = told {
            TOLD.set(statement);
            notice_with(message, hint);
        }
    }
}

/// Looks at what the planner asks the price of: a distance by which it may order the rows.
///
/// # Safety
/// A request of the planner.
pub(crate) unsafe fn tell_of_order(request: *mut pg_sys::SupportRequestCost) {
    // SAFETY: the caller's promise; a node of this tag is of this type.
    unsafe {
        let (root, node) = ((*request).root, (*request).node);
        if root.is_null() || node.is_null() || (*node).type_ != pg_sys::NodeTag::T_OpExpr {
            return;
        }
        let distance: *mut pg_sys::OpExpr = node.cast();
        let is_ordered = !(*(*root).parse).sortClause.is_null();
        if is_ordered
            && symbol((*distance).opfuncid).is_some_and(|symbol| DISTANCES.contains(&symbol.as_slice()))
        {
            tell(root, (*distance).args);
        }
    }
}

/// Reports whether rows that are contained in a text are sought, and half of all rows are longer
/// than the text, by the statistics of their column.
///
/// # Safety
/// The planner's state, and an expression of it.
unsafe fn is_shorter(root: *mut pg_sys::PlannerInfo, ball: &SetBall<'_>, row: *mut pg_sys::Node) -> bool {
    let parameters = &ball.parameters;
    // Of other values the lengths cannot be compared with those of balls.
    let is_text = !matches!(parameters.origin, Origin::Lexemes | Origin::Tokens | Origin::Numbers);
    parameters.measure == Measure::Containment
        && is_text
        // SAFETY: the caller's promise.
        && unsafe { ColumnSample::of_expression(root, row) }.is_some_and(|column| ball.bytes() < column.median_length())
}

/// Returns the number of tokens of a query for runs.
fn tokens_of(query: &RunQuery<'_>) -> Option<u32> {
    let spec = FeatureSpec { tokenizer: query.origin.tokenizer(), ..FeatureSpec::WORDS };
    let document = Document::Text(query.text.to_owned());
    let counted = compute(query.text.len(), |stop| {
        let mut tokens = 0;
        for_each_token(&document, &spec, &mut Scratch::default(), stop, |_| {
            tokens += 1;
            Ok(())
        })?;
        Ok(tokens)
    });
    counted.ok()
}
