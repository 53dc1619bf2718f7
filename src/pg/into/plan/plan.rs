//! Derives the next steps from the known facts.

use super::state::{Claim, Count, Ids, Log, Progress, State, most_candidates};
use super::step::{End, Refusal, Stage, Step, Table};

const MORE: Step = Step::Done(End::More);

/// Returns the next steps: up to the first step that reports facts on which the further steps
/// depend, or up to the end of the transaction.
pub fn plan(state: &State) -> Vec<Step> {
    let drop_tables = state.left.then_some(Step::DropTables);
    if state.call.update {
        return update(state);
    }
    if state.refused {
        return drop_tables.into_iter().chain([Step::DropLog, MORE]).collect();
    }
    if state.call.first && state.made {
        return drop_tables.into_iter().chain([Step::Done(End::Ended)]).collect();
    }
    if state.call.first && state.taken {
        // The remaining tables of a call that has ended are dropped in any case.
        let drop_tables = drop_tables.filter(|_| state.log == Log::Finished);
        return drop_tables.into_iter().chain([Step::Refuse(Refusal::Taken), MORE]).collect();
    }
    match &state.log {
        Log::Finished if !state.call.first => {
            drop_tables.into_iter().chain([Step::Done(End::Ended)]).collect()
        }
        Log::Other | Log::Finished => drop_tables.into_iter().chain([Step::DropLog, MORE]).collect(),
        Log::None if state.call.in_parts => vec![Step::TakeLog, MORE],
        Log::None => {
            let clusters = state.call.clusters.then_some(Step::ClusterHere);
            [Step::JoinHere].into_iter().chain(clusters).chain([Step::Done(End::Ended)]).collect()
        }
        Log::Ours(progress) => go_on(state, progress),
    }
}

/// Returns the next steps of a call that brings a result up to date. Its working tables are kept,
/// and what it refuses is an error at once, so that nothing is lost.
fn update(state: &State) -> Vec<Step> {
    if state.call.first && state.taken {
        return refuse(Refusal::Taken);
    }
    match &state.log {
        Log::None => vec![Step::TakeLog, MORE],
        // If the log went before another one is there, the result would be nobody's.
        Log::Other => {
            let drop_tables = state.left.then_some(Step::DropTables);
            drop_tables.into_iter().chain([Step::DropLog, Step::TakeLog, MORE]).collect()
        }
        Log::Finished if state.call.first => vec![Step::BeginUpdate, MORE],
        Log::Finished => vec![Step::DropTables, Step::Done(End::Ended)],
        Log::Ours(progress) => go_on(state, progress),
    }
}

/// Plans the next stage. If tables that it reads are missing or have lost rows, plans to repeat the
/// stages from the first of these tables on.
fn go_on(state: &State, progress: &Progress) -> Vec<Step> {
    let stage = progress.next(state.call.by_stars);
    let by_stars = state.call.by_stars && progress.is_settled();
    // Tables that are kept lose no rows.
    let inputs = if state.call.update { &[] } else { inputs(stage, by_stars) };
    let mut inputs = inputs.to_vec();
    if state.call.compares_by_ranks && matches!(stage, Stage::Round(_)) {
        inputs.push(Table::Ranks);
        inputs.sort_unstable();
    }
    let ask: Vec<Step> = inputs
        .iter()
        .filter(|&&table| state.count(table).is_none())
        .map(|&table| Step::Count(table))
        .collect();
    if !ask.is_empty() {
        return ask;
    }
    // Unlogged tables lose their rows when a server crashes.
    let whole = |table: Table| state.count(table) == Some(Count::Rows(progress.expected(table)));
    if let Some(&lost) = inputs.iter().find(|&&table| !whole(table)) {
        return vec![Step::Forget { keep: progress.before(lost) }, MORE];
    }
    match stage {
        Stage::Table(table) if state.call.shared => by_parts(state, progress, stage, table),
        Stage::Table(Table::Candidates) if state.call.by_groups => {
            by_parts(state, progress, stage, Table::Candidates)
        }
        Stage::Round(_) if state.call.shared => by_parts(state, progress, stage, Table::Pairs),
        Stage::Table(table) => fill(state, progress, table),
        Stage::Round(round) if state.filled.is_none() => {
            let pairs = (round == 0).then_some(Step::Make(Table::Pairs));
            [Step::Make(Table::Halves), Step::Fill(Table::Halves)]
                .into_iter()
                .chain(pairs)
                .chain([Step::Fill(Table::Pairs)])
                .collect()
        }
        Stage::Stars(_) if state.filled.is_none() => {
            let make = |table| [Step::Make(table), Step::Fill(table)];
            [make(Table::Larger), make(Table::Edges)].concat()
        }
        Stage::Stars(_) if state.unsettled.is_none() => vec![Step::CountUnsettled],
        Stage::Round(_) | Stage::Stars(_) => done(stage),
        Stage::Result => result(state, progress),
    }
}

/// Returns the tables that a stage reads, in the order in which they are created.
fn inputs(stage: Stage, by_stars: bool) -> &'static [Table] {
    match stage {
        Stage::Table(Table::Members | Table::Ranks) => &[Table::Sets],
        Stage::Table(Table::Routes) => &[Table::Sets, Table::Members, Table::Ranks],
        Stage::Table(Table::Candidates) => &[Table::Routes],
        Stage::Table(Table::Edges) => &[Table::Pairs],
        Stage::Stars(_) => &[Table::Edges],
        Stage::Table(Table::Neighbours) => &[Table::Members, Table::Pairs],
        Stage::Table(Table::Clusters) => &[Table::Members, Table::Edges, Table::Neighbours],
        Stage::Table(_) => &[],
        Stage::Round(0) => &[Table::Sets, Table::Candidates],
        Stage::Round(_) => &[Table::Sets, Table::Candidates, Table::Pairs],
        Stage::Result if by_stars => &[Table::Members, Table::Pairs, Table::Neighbours, Table::Clusters],
        Stage::Result => &[Table::Members, Table::Pairs],
    }
}

/// Returns the steps for one part of a stage, or those that end the stage when all parts are done.
fn by_parts(state: &State, progress: &Progress, stage: Stage, table: Table) -> Vec<Step> {
    let most = most_candidates(progress.expected(Table::Sets));
    match state.claim {
        None => vec![Step::TakePart(table)],
        Some(Claim::Closed) => vec![Step::Make(table), Step::Open, MORE],
        Some(Claim::Part { before }) if table == Table::Candidates && before > most => {
            refuse(Refusal::Candidates(most))
        }
        Some(Claim::Part { .. }) if state.filled.is_none() => vec![Step::Fill(table)],
        Some(Claim::Part { .. }) => vec![Step::LogPart, MORE],
        Some(Claim::Busy) => vec![Step::Wait, MORE],
        Some(Claim::Done(_)) if table == Table::Pairs => done(stage),
        Some(Claim::Done(rows)) => check(state, progress, table, rows),
    }
}

fn done(stage: Stage) -> Vec<Step> {
    vec![Step::Log(stage), MORE]
}

fn refuse(why: Refusal) -> Vec<Step> {
    vec![Step::Refuse(why), MORE]
}

/// Returns the steps that create and fill a table and check its contents.
fn fill(state: &State, progress: &Progress, table: Table) -> Vec<Step> {
    let Some(rows) = state.filled else {
        return match (table, state.call.max_pairs, state.total) {
            // The number of pairs is checked before any work on clusters.
            (Table::Edges, Some(_), None) => vec![Step::CountPairs],
            (Table::Edges, Some(_), Some(total)) if state.too_many(total) => refuse(Refusal::Pairs),
            _ => vec![Step::Make(table), Step::Fill(table)],
        };
    };
    check(state, progress, table, rows)
}

/// Returns the steps that check the contents of a table that has this number of rows.
fn check(state: &State, progress: &Progress, table: Table, rows: i64) -> Vec<Step> {
    let update = state.call.update;
    let asks_ids = table == if update { Table::Seen } else { Table::Sets };
    let asks_equal = table == Table::Members && !update;
    match (state.ids, state.equal) {
        (None, _) if asks_ids => return vec![Step::CheckIds],
        (Some(Ids::Null), _) if asks_ids => return refuse(Refusal::NullId),
        (Some(Ids::Double), _) if asks_ids => return refuse(Refusal::DoubleId),
        (_, None) if asks_equal && state.call.max_pairs.is_some() => return vec![Step::CountEqual],
        // Equal documents alone would make too many pairs.
        (_, Some(equal)) if asks_equal && state.too_many(equal) => return refuse(Refusal::Pairs),
        _ => {}
    }
    if table == Table::Sets && state.sizes.is_none() {
        return vec![Step::Measure];
    }
    if table == Table::Edges && state.unsettled.is_none() {
        return vec![Step::CountUnsettled];
    }
    let most = most_candidates(progress.expected(Table::Sets));
    if table == Table::Candidates && rows > most {
        return refuse(Refusal::Candidates(most));
    }
    done(Stage::Table(table))
}

/// Returns the steps that create the result, or that refuse it if it has more pairs than the caller
/// wants.
fn result(state: &State, progress: &Progress) -> Vec<Step> {
    match (state.filled, state.total) {
        (None, None) if state.call.max_pairs.is_some() => vec![Step::CountPairs],
        (None, Some(total)) if state.too_many(total) => refuse(Refusal::Pairs),
        (None, _) => vec![Step::MakeResult],
        (Some(_), _) => {
            let by_stars = state.call.by_stars && progress.is_settled();
            let make = if by_stars { Step::MakeClusters } else { Step::ClusterHere };
            state.call.clusters.then_some(make).into_iter().chain(done(Stage::Result)).collect()
        }
    }
}
