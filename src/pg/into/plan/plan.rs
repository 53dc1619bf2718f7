//! Derives the next steps from the known facts.

use super::state::{CallFacts, CheckedIds, Claim, Count, DoneStages, LogState, most_candidates};
use super::step::{CallStep, End, LoggedStage, RefusalReason, WorkingTable};

const MORE: CallStep = CallStep::Done(End::More);

/// Returns the next steps: up to the first step that reports facts on which the further steps
/// depend, or up to the end of the transaction.
pub fn plan(state: &CallFacts) -> Vec<CallStep> {
    if state.call.update {
        return update(state);
    }
    let dropping = |steps: &[CallStep]| -> Vec<CallStep> {
        state.left.then_some(CallStep::DropTables).into_iter().chain(steps.iter().copied()).collect()
    };
    if state.refused {
        return dropping(&[CallStep::DropLog, MORE]);
    }
    if state.call.first && state.made {
        return dropping(&[CallStep::Done(End::Ended)]);
    }
    if state.call.first && state.taken {
        // The remaining tables of a call that has ended are dropped in any case.
        let refused = refuse(RefusalReason::Taken);
        return if state.log == LogState::Finished { dropping(&refused) } else { refused };
    }
    match &state.log {
        LogState::Finished if !state.call.first => dropping(&[CallStep::Done(End::Ended)]),
        LogState::Other | LogState::Finished => dropping(&[CallStep::DropLog, MORE]),
        LogState::None if state.call.in_parts => vec![CallStep::TakeLog, MORE],
        LogState::None => {
            let clusters = state.call.clusters.then_some(CallStep::ClusterHere);
            [CallStep::JoinHere].into_iter().chain(clusters).chain([CallStep::Done(End::Ended)]).collect()
        }
        LogState::Ours(progress) => go_on(state, progress),
    }
}

/// Returns the next steps of a call that brings a result up to date. Its working tables are kept,
/// and what it refuses is an error at once, so that nothing is lost.
fn update(state: &CallFacts) -> Vec<CallStep> {
    if state.call.first && state.taken {
        return refuse(RefusalReason::Taken);
    }
    match &state.log {
        LogState::None => vec![CallStep::TakeLog, MORE],
        // If the log went before another one is there, the result would be nobody's.
        LogState::Other => {
            let drop_tables = state.left.then_some(CallStep::DropTables);
            drop_tables.into_iter().chain([CallStep::DropLog, CallStep::TakeLog, MORE]).collect()
        }
        LogState::Finished if state.call.first => vec![CallStep::BeginUpdate, MORE],
        LogState::Finished => vec![CallStep::DropTables, CallStep::Done(End::Ended)],
        LogState::Ours(progress) => go_on(state, progress),
    }
}

/// Plans the next stage. If tables that it reads are missing or have lost rows, plans to repeat the
/// stages from the first of these tables on.
fn go_on(state: &CallFacts, progress: &DoneStages) -> Vec<CallStep> {
    let stage = progress.next(state.call.by_stars);
    let by_stars = state.call.by_stars && progress.is_settled();
    // Tables that are kept lose no rows.
    let inputs = if state.call.update { &[] } else { inputs(stage, by_stars) };
    let mut inputs = inputs.to_vec();
    if state.call.compares_by_ranks && matches!(stage, LoggedStage::Round(_)) {
        inputs.push(WorkingTable::Ranks);
        inputs.sort_unstable();
    }
    let ask: Vec<CallStep> = inputs
        .iter()
        .filter(|&&table| state.count(table).is_none())
        .map(|&table| CallStep::Count(table))
        .collect();
    if !ask.is_empty() {
        return ask;
    }
    // Unlogged tables lose their rows when a server crashes.
    let whole = |table: WorkingTable| state.count(table) == Some(Count::Rows(progress.expected(table)));
    if let Some(&lost) = inputs.iter().find(|&&table| !whole(table)) {
        return vec![CallStep::Forget { keep: progress.before(lost) }, MORE];
    }
    match stage {
        LoggedStage::Table(table) if state.call.shared => by_parts(state, progress, stage, table),
        LoggedStage::Table(WorkingTable::Candidates) if state.call.by_groups => {
            by_parts(state, progress, stage, WorkingTable::Candidates)
        }
        LoggedStage::Round(_) if state.call.shared => by_parts(state, progress, stage, WorkingTable::Pairs),
        LoggedStage::Table(table) => fill(state, progress, table),
        LoggedStage::Round(round) if state.filled.is_none() => {
            let pairs = (round == 0).then_some(CallStep::Make(WorkingTable::Pairs));
            [CallStep::Make(WorkingTable::Halves), CallStep::Fill(WorkingTable::Halves)]
                .into_iter()
                .chain(pairs)
                .chain([CallStep::Fill(WorkingTable::Pairs)])
                .collect()
        }
        LoggedStage::Stars(_) if state.filled.is_none() => {
            let make = |table| [CallStep::Make(table), CallStep::Fill(table)];
            [make(WorkingTable::Larger), make(WorkingTable::Edges)].concat()
        }
        LoggedStage::Stars(_) if state.unsettled.is_none() => vec![CallStep::CountUnsettled],
        LoggedStage::Round(_) | LoggedStage::Stars(_) => done(stage),
        LoggedStage::Result => result(state, progress),
    }
}

/// Returns the tables that a stage reads, in the order in which they are created.
fn inputs(stage: LoggedStage, by_stars: bool) -> &'static [WorkingTable] {
    match stage {
        LoggedStage::Table(WorkingTable::Members | WorkingTable::Ranks) => &[WorkingTable::Sets],
        LoggedStage::Table(WorkingTable::Routes) => {
            &[WorkingTable::Sets, WorkingTable::Members, WorkingTable::Ranks]
        }
        LoggedStage::Table(WorkingTable::Candidates) => &[WorkingTable::Routes],
        LoggedStage::Table(WorkingTable::Edges) => &[WorkingTable::Pairs],
        LoggedStage::Stars(_) => &[WorkingTable::Edges],
        LoggedStage::Table(WorkingTable::Neighbours) => &[WorkingTable::Members, WorkingTable::Pairs],
        LoggedStage::Table(WorkingTable::Clusters) => {
            &[WorkingTable::Members, WorkingTable::Edges, WorkingTable::Neighbours]
        }
        LoggedStage::Table(_) => &[],
        LoggedStage::Round(0) => &[WorkingTable::Sets, WorkingTable::Candidates],
        LoggedStage::Round(_) => &[WorkingTable::Sets, WorkingTable::Candidates, WorkingTable::Pairs],
        LoggedStage::Result if by_stars => {
            &[WorkingTable::Members, WorkingTable::Pairs, WorkingTable::Neighbours, WorkingTable::Clusters]
        }
        LoggedStage::Result => &[WorkingTable::Members, WorkingTable::Pairs],
    }
}

/// Returns the steps for one part of a stage, or those that end the stage when all parts are done.
fn by_parts(
    state: &CallFacts,
    progress: &DoneStages,
    stage: LoggedStage,
    table: WorkingTable,
) -> Vec<CallStep> {
    let most = most_candidates(progress.expected(WorkingTable::Sets));
    match state.claim {
        None => vec![CallStep::TakePart(table)],
        Some(Claim::Closed) => vec![CallStep::Make(table), CallStep::Open, MORE],
        Some(Claim::Part { before }) if table == WorkingTable::Candidates && before > most => {
            refuse(RefusalReason::Candidates(most))
        }
        Some(Claim::Part { .. }) if state.filled.is_none() => vec![CallStep::Fill(table)],
        Some(Claim::Part { .. }) => vec![CallStep::LogPart, MORE],
        Some(Claim::Busy) => vec![CallStep::Wait, MORE],
        Some(Claim::Done(_)) if table == WorkingTable::Pairs => done(stage),
        Some(Claim::Done(rows)) => check(state, progress, table, rows),
    }
}

fn done(stage: LoggedStage) -> Vec<CallStep> {
    vec![CallStep::Log(stage), MORE]
}

fn refuse(why: RefusalReason) -> Vec<CallStep> {
    vec![CallStep::Refuse(why), MORE]
}

/// Returns the steps that create and fill a table and check its contents.
fn fill(state: &CallFacts, progress: &DoneStages, table: WorkingTable) -> Vec<CallStep> {
    let Some(rows) = state.filled else {
        return match (table, state.call.max_pairs, state.total) {
            // The number of pairs is checked before any work on clusters.
            (WorkingTable::Edges, Some(_), None) => vec![CallStep::CountPairs],
            (WorkingTable::Edges, Some(_), Some(total)) if state.too_many(total) => {
                refuse(RefusalReason::Pairs)
            }
            _ => vec![CallStep::Make(table), CallStep::Fill(table)],
        };
    };
    check(state, progress, table, rows)
}

/// Returns the steps that check the contents of a table that has this number of rows.
fn check(state: &CallFacts, progress: &DoneStages, table: WorkingTable, rows: i64) -> Vec<CallStep> {
    let update = state.call.update;
    let asks_ids = table == if update { WorkingTable::Seen } else { WorkingTable::Sets };
    let asks_equal = table == WorkingTable::Members && !update;
    match (state.ids, state.equal) {
        (None, _) if asks_ids => return vec![CallStep::CheckIds],
        (Some(CheckedIds::Null), _) if asks_ids => return refuse(RefusalReason::NullId),
        (Some(CheckedIds::Double), _) if asks_ids => return refuse(RefusalReason::DoubleId),
        (_, None) if asks_equal && state.call.max_pairs.is_some() => return vec![CallStep::CountEqual],
        // Equal documents alone would make too many pairs.
        (_, Some(equal)) if asks_equal && state.too_many(equal) => return refuse(RefusalReason::Pairs),
        _ => {}
    }
    if table == WorkingTable::Sets && state.sizes.is_none() {
        return vec![CallStep::Measure];
    }
    if table == WorkingTable::Edges && state.unsettled.is_none() {
        return vec![CallStep::CountUnsettled];
    }
    let most = most_candidates(progress.expected(WorkingTable::Sets));
    if table == WorkingTable::Candidates && rows > most {
        return refuse(RefusalReason::Candidates(most));
    }
    done(LoggedStage::Table(table))
}

/// Returns the steps that create the result, or that refuse it if it has more pairs than the caller
/// wants.
fn result(state: &CallFacts, progress: &DoneStages) -> Vec<CallStep> {
    match (state.filled, state.total) {
        (None, None) if state.call.max_pairs.is_some() => vec![CallStep::CountPairs],
        (None, Some(total)) if state.too_many(total) => refuse(RefusalReason::Pairs),
        (None, _) => vec![CallStep::MakeResult],
        (Some(_), _) => {
            let by_stars = state.call.by_stars && progress.is_settled();
            let make = if by_stars { CallStep::MakeClusters } else { CallStep::ClusterHere };
            state.call.clusters.then_some(make).into_iter().chain(done(LoggedStage::Result)).collect()
        }
    }
}
