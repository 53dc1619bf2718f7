//! Tests of single plans.

use crate::into::plan::plan;
use crate::into::state::{
    CallFacts, CallRequest, CheckedIds, Claim, Count, DoneStages, LogState, MOST_STARS, SetSizes,
    most_candidates, rounds,
};
use crate::into::step::CallStep::*;
use crate::into::step::{End, LoggedStage, RefusalReason, WorkingTable};

const CALL: CallRequest = CallRequest {
    in_parts: true,
    shared: false,
    by_groups: false,
    first: false,
    update: false,
    max_pairs: None,
    clusters: false,
    by_stars: false,
    compares_by_ranks: false,
    allowance: 1,
};
const MORE: crate::into::step::CallStep = Done(End::More);

fn ours(rows: &[i64]) -> CallFacts {
    let progress = DoneStages { rows: rows.to_vec(), rounds: 2, ..DoneStages::default() };
    CallFacts::new(CALL, LogState::Ours(progress))
}

fn counted(mut state: CallFacts, counts: &[(WorkingTable, i64)]) -> CallFacts {
    state.counted = counts.iter().map(|&(table, rows)| (table, Count::Rows(rows))).collect();
    state
}

#[test]
fn the_log_comes_before_all_else() {
    assert_eq!(plan(&CallFacts::new(CALL, LogState::None)), [TakeLog, MORE]);
    let here = CallRequest { in_parts: false, clusters: true, ..CALL };
    assert_eq!(plan(&CallFacts::new(here, LogState::None)), [JoinHere, ClusterHere, Done(End::Ended)]);
}

#[test]
fn what_another_call_left_goes_first() {
    for in_parts in [false, true] {
        let mut state = CallFacts::new(CallRequest { in_parts, first: true, ..CALL }, LogState::Other);
        state.left = true;
        assert_eq!(plan(&state), [DropTables, DropLog, MORE]);
    }
}

#[test]
fn a_result_that_is_there_stays_with_its_log() {
    let mut state = CallFacts::new(CallRequest { first: true, ..CALL }, LogState::Finished);
    state.taken = true;
    assert_eq!(plan(&state), [Refuse(RefusalReason::Taken), MORE]);
    state.left = true;
    assert_eq!(plan(&state), [DropTables, Refuse(RefusalReason::Taken), MORE]);
    // Tables that another call may still continue with are not touched.
    state.log = LogState::Other;
    assert_eq!(plan(&state), [Refuse(RefusalReason::Taken), MORE]);
    // In a later transaction, the call has created the result itself.
    state.call.first = false;
    state.log = LogState::Finished;
    assert_eq!(plan(&state), [DropTables, Done(End::Ended)]);
}

#[test]
fn a_finished_call_that_is_resumed_keeps_its_result() {
    let mut state = CallFacts::new(CallRequest { first: true, ..CALL }, LogState::Finished);
    (state.taken, state.made) = (true, true);
    assert_eq!(plan(&state), [Done(End::Ended)]);
    state.left = true;
    assert_eq!(plan(&state), [DropTables, Done(End::Ended)]);
}

#[test]
fn what_a_stage_reads_is_counted_first() {
    assert_eq!(plan(&ours(&[])), [Make(WorkingTable::Sets), Fill(WorkingTable::Sets)]);
    assert_eq!(plan(&ours(&[5])), [Count(WorkingTable::Sets)]);
    let state = counted(ours(&[5]), &[(WorkingTable::Sets, 5)]);
    assert_eq!(plan(&state), [Make(WorkingTable::Members), Fill(WorkingTable::Members)]);
    assert_eq!(plan(&ours(&[5, 4, 1, 9, 3])), [Count(WorkingTable::Sets), Count(WorkingTable::Candidates)]);
    let state = counted(ours(&[5, 4, 1, 9, 3]), &[(WorkingTable::Sets, 5), (WorkingTable::Candidates, 3)]);
    assert_eq!(
        plan(&state),
        [
            Make(WorkingTable::Halves),
            Fill(WorkingTable::Halves),
            Make(WorkingTable::Pairs),
            Fill(WorkingTable::Pairs)
        ]
    );
    let state = counted(
        ours(&[5, 4, 1, 9, 3, 2]),
        &[(WorkingTable::Sets, 5), (WorkingTable::Candidates, 3), (WorkingTable::Pairs, 2)],
    );
    assert_eq!(
        plan(&state),
        [Make(WorkingTable::Halves), Fill(WorkingTable::Halves), Fill(WorkingTable::Pairs)]
    );
}

#[test]
fn from_the_first_table_that_lost_rows_all_is_made_anew() {
    let state = counted(
        ours(&[5, 4, 1]),
        &[(WorkingTable::Sets, 5), (WorkingTable::Members, 0), (WorkingTable::Ranks, 0)],
    );
    assert_eq!(plan(&state), [Forget { keep: 1 }, MORE]);
    let mut state = ours(&[5, 4, 1, 9, 3, 2, 2]);
    state.counted = vec![(WorkingTable::Members, Count::Rows(4)), (WorkingTable::Pairs, Count::Missing)];
    assert_eq!(plan(&state), [Forget { keep: 5 }, MORE]);
}

/// Returns the state after five tables and two rounds, with the given numbers unsettled at first
/// and after each star round.
fn starred(rows: &[i64], unsettled: &[i64]) -> CallFacts {
    let rows = [&[5, 4, 1, 9, 3, 2, 2], rows].concat();
    let progress = DoneStages { rows, rounds: 2, unsettled: unsettled.to_vec(), ..DoneStages::default() };
    CallFacts::new(CallRequest { clusters: true, by_stars: true, ..CALL }, LogState::Ours(progress))
}

#[test]
fn star_rounds_go_on_until_all_is_settled() {
    assert_eq!(plan(&starred(&[], &[])), [Count(WorkingTable::Pairs)]);
    let mut state = counted(starred(&[], &[]), &[(WorkingTable::Pairs, 4)]);
    assert_eq!(plan(&state), [Make(WorkingTable::Edges), Fill(WorkingTable::Edges)]);
    state.filled = Some(8);
    assert_eq!(plan(&state), [CountUnsettled]);
    state.unsettled = Some(3);
    assert_eq!(plan(&state), [Log(LoggedStage::Table(WorkingTable::Edges)), MORE]);

    let mut state = counted(starred(&[8, 6], &[3, 1]), &[(WorkingTable::Edges, 6)]);
    assert_eq!(
        plan(&state),
        [
            Make(WorkingTable::Larger),
            Fill(WorkingTable::Larger),
            Make(WorkingTable::Edges),
            Fill(WorkingTable::Edges)
        ]
    );
    (state.filled, state.unsettled) = (Some(6), Some(0));
    assert_eq!(plan(&state), [Log(LoggedStage::Stars(1)), MORE]);
    let state = counted(starred(&[8, 6], &[3, 1]), &[(WorkingTable::Edges, 0)]);
    assert_eq!(plan(&state), [Forget { keep: 7 }, MORE]);

    assert_eq!(plan(&starred(&[8, 6], &[3, 0])), [Count(WorkingTable::Members), Count(WorkingTable::Pairs)]);
    let inputs = [(WorkingTable::Members, 4), (WorkingTable::Edges, 6), (WorkingTable::Neighbours, 8)];
    let state = counted(starred(&[8, 6, 8], &[3, 0]), &inputs);
    assert_eq!(plan(&state), [Make(WorkingTable::Clusters), Fill(WorkingTable::Clusters)]);
    let inputs = [
        (WorkingTable::Members, 4),
        (WorkingTable::Pairs, 4),
        (WorkingTable::Neighbours, 8),
        (WorkingTable::Clusters, 5),
    ];
    let mut state = counted(starred(&[8, 6, 8, 5], &[3, 0]), &inputs);
    assert_eq!(plan(&state), [MakeResult]);
    state.filled = Some(4);
    assert_eq!(plan(&state), [MakeClusters, Log(LoggedStage::Result), MORE]);
}

#[test]
fn what_is_never_settled_is_made_into_clusters_here() {
    let mut unsettled = vec![1; MOST_STARS];
    let rows = vec![8; MOST_STARS];
    let state = counted(starred(&rows, &unsettled), &[(WorkingTable::Edges, 8)]);
    assert_eq!(plan(&state)[0], Make(WorkingTable::Larger));
    unsettled.push(1);
    let rows = vec![8; MOST_STARS + 1];
    let mut state =
        counted(starred(&rows, &unsettled), &[(WorkingTable::Members, 4), (WorkingTable::Pairs, 4)]);
    assert_eq!(plan(&state), [MakeResult]);
    state.filled = Some(4);
    assert_eq!(plan(&state), [ClusterHere, Log(LoggedStage::Result), MORE]);
}

#[test]
fn too_many_pairs_end_it_before_there_are_edges() {
    let mut state = counted(starred(&[], &[]), &[(WorkingTable::Pairs, 4)]);
    state.call.max_pairs = Some(9);
    assert_eq!(plan(&state), [CountPairs]);
    state.total = Some(9);
    assert_eq!(plan(&state), [Make(WorkingTable::Edges), Fill(WorkingTable::Edges)]);
    state.total = Some(10);
    assert_eq!(plan(&state), [Refuse(RefusalReason::Pairs), MORE]);
}

#[test]
fn bad_ids_and_too_many_pairs_end_it_early() {
    let mut state = ours(&[]);
    state.filled = Some(5);
    assert_eq!(plan(&state), [CheckIds]);
    for (ids, why) in
        [(CheckedIds::Null, RefusalReason::NullId), (CheckedIds::Double, RefusalReason::DoubleId)]
    {
        state.ids = Some(ids);
        assert_eq!(plan(&state), [Refuse(why), MORE]);
    }
    state.ids = Some(CheckedIds::Good);
    assert_eq!(plan(&state), [Measure]);
    let mut state = counted(ours(&[5]), &[(WorkingTable::Sets, 5)]);
    (state.filled, state.call.max_pairs) = (Some(5), Some(9));
    assert_eq!(plan(&state), [CountEqual]);
    state.equal = Some(9);
    assert_eq!(plan(&state), [Log(LoggedStage::Table(WorkingTable::Members)), MORE]);
    state.equal = Some(10);
    assert_eq!(plan(&state), [Refuse(RefusalReason::Pairs), MORE]);
    state.refused = true;
    state.left = true;
    assert_eq!(plan(&state), [DropTables, DropLog, MORE]);
    let mut state = counted(ours(&[5, 5, 1, 5]), &[(WorkingTable::Routes, 5)]);
    state.filled = Some(100_000_501);
    assert_eq!(plan(&state), [Refuse(RefusalReason::Candidates(100_000_500)), MORE]);
}

#[test]
fn rounds_hold_about_as_much_as_there_is() {
    let sizes = SetSizes { bytes: 1_000_000, largest: 10_000 };
    assert_eq!(rounds(0, 1000, sizes, 1), 1);
    assert_eq!(rounds(900, 1000, sizes, 1), 1);
    assert_eq!(rounds(5000, 1000, sizes, 1), 6);
    assert_eq!(rounds(5000, 1000, sizes, 100_000_000), 1);
    assert_eq!(rounds(i64::MAX, 1, SetSizes { bytes: i64::MAX, largest: i64::MAX }, 1), 1000);
    assert_eq!(rounds(0, 0, SetSizes::default(), 0), 1);
    assert_eq!(most_candidates(i64::MAX), i64::MAX);
}

#[test]
fn few_rows_are_fetched_where_sets_are_large() {
    let fetched = |bytes, largest, sets| SetSizes { bytes, largest }.rows_a_fetch(sets);
    assert_eq!(fetched(1_000_000, 1000, 1000), 1000);
    assert_eq!(fetched(270_000_000, 300_000, 1000), 31);
    assert_eq!(fetched(1_000_000, 1 << 29, 1000), 1);
    assert_eq!(fetched(0, 0, 0), 1000);
}

#[test]
fn a_stage_of_parts_is_opened_done_and_ended() {
    let shared = |rows: &[i64], counts: &[(WorkingTable, i64)], claim| {
        let mut state = counted(ours(rows), counts);
        (state.call.shared, state.claim) = (true, claim);
        state
    };
    assert_eq!(plan(&shared(&[], &[], None)), [TakePart(WorkingTable::Sets)]);
    let closed = shared(&[], &[], Some(Claim::Closed));
    assert_eq!(plan(&closed), [Make(WorkingTable::Sets), Open, MORE]);
    let mut part = shared(&[], &[], Some(Claim::Part { before: 7 }));
    assert_eq!(plan(&part), [Fill(WorkingTable::Sets)]);
    part.filled = Some(2);
    assert_eq!(plan(&part), [LogPart, MORE]);
    assert_eq!(plan(&shared(&[], &[], Some(Claim::Busy))), [Wait, MORE]);
    let mut all = shared(&[], &[], Some(Claim::Done(9)));
    all.filled = Some(9);
    assert_eq!(plan(&all), [CheckIds]);
    (all.ids, all.sizes) = (Some(CheckedIds::Good), Some(SetSizes::default()));
    assert_eq!(plan(&all), [Log(LoggedStage::Table(WorkingTable::Sets)), MORE]);

    // Pairs are compared in one round of parts, without a table of halves.
    let counts = [(WorkingTable::Sets, 5), (WorkingTable::Candidates, 3)];
    let closed = shared(&[5, 4, 1, 9, 3], &counts, Some(Claim::Closed));
    assert_eq!(plan(&closed), [Make(WorkingTable::Pairs), Open, MORE]);
    let all = shared(&[5, 4, 1, 9, 3], &counts, Some(Claim::Done(2)));
    assert_eq!(plan(&all), [Log(LoggedStage::Round(0)), MORE]);

    // Too many candidates end it before all parts are done.
    let many = Some(Claim::Part { before: 100_000_501 });
    let state = shared(&[5, 4, 1, 9], &[(WorkingTable::Routes, 9)], many);
    assert_eq!(plan(&state), [Refuse(RefusalReason::Candidates(100_000_500)), MORE]);
}

#[test]
fn candidates_of_other_nodes_are_made_in_groups() {
    let group = |rows: &[i64], claim| {
        let mut state = counted(ours(rows), &[(WorkingTable::Sets, 5), (WorkingTable::Routes, 9)]);
        (state.call.by_groups, state.claim) = (true, claim);
        state
    };
    assert_eq!(plan(&group(&[5, 4, 1, 9], None)), [TakePart(WorkingTable::Candidates)]);
    let closed = group(&[5, 4, 1, 9], Some(Claim::Closed));
    assert_eq!(plan(&closed), [Make(WorkingTable::Candidates), Open, MORE]);
    let mut part = group(&[5, 4, 1, 9], Some(Claim::Part { before: 7 }));
    assert_eq!(plan(&part), [Fill(WorkingTable::Candidates)]);
    part.filled = Some(2);
    assert_eq!(plan(&part), [LogPart, MORE]);
    let mut all = group(&[5, 4, 1, 9], Some(Claim::Done(9)));
    all.filled = Some(9);
    assert_eq!(plan(&all), [Log(LoggedStage::Table(WorkingTable::Candidates)), MORE]);
    // All other stages are made as a whole.
    assert_eq!(plan(&group(&[], None)), [Make(WorkingTable::Sets), Fill(WorkingTable::Sets)]);
    assert_eq!(plan(&group(&[5], None)), [Make(WorkingTable::Members), Fill(WorkingTable::Members)]);
}

/// Returns the state of a call that brings a result up to date, with a log.
fn updating(log: LogState) -> CallFacts {
    CallFacts::new(CallRequest { update: true, by_stars: true, clusters: true, ..CALL }, log)
}

#[test]
fn a_finished_result_is_brought_up_to_date() {
    let mut state = updating(LogState::Finished);
    state.call.first = true;
    assert_eq!(plan(&state), [BeginUpdate, MORE]);
    state.call.first = false;
    assert_eq!(plan(&state), [DropTables, Done(End::Ended)]);
    // The log of another call is replaced in one transaction.
    let mut other = updating(LogState::Other);
    assert_eq!(plan(&other), [DropLog, TakeLog, MORE]);
    other.left = true;
    assert_eq!(plan(&other), [DropTables, DropLog, TakeLog, MORE]);
    assert_eq!(plan(&updating(LogState::None)), [TakeLog, MORE]);
    state.call.first = true;
    state.taken = true;
    assert_eq!(plan(&state), [Refuse(RefusalReason::Taken), MORE]);
}

#[test]
fn the_stages_of_an_update() {
    let names = |progress: &mut DoneStages| {
        let mut stages = Vec::new();
        loop {
            let stage = progress.next(true);
            stages.push(match stage {
                LoggedStage::Table(table) => table.name(),
                LoggedStage::Round(round) => format!("round {round}"),
                LoggedStage::Stars(round) => format!("stars {round}"),
                LoggedStage::Result => return stages.join(" "),
            });
            if stage == LoggedStage::Table(WorkingTable::Candidates) {
                progress.rounds = 2;
            }
            match stage {
                LoggedStage::Table(WorkingTable::Edges) => progress.unsettled.push(3),
                LoggedStage::Stars(_) => progress.unsettled.push(0),
                _ => {}
            }
            progress.rows.push(1);
        }
    };
    let mut progress = DoneStages { update: true, ..DoneStages::default() };
    assert_eq!(
        names(&mut progress),
        "seen changes sets members ranks routes candidates round 0 round 1 known edges stars 0 neighbours clusters"
    );
    assert_eq!(progress.expected(WorkingTable::Pairs), 2);
    // Working tables that are kept are not counted; ids are checked as they are seen.
    let mut state = updating(LogState::Ours(DoneStages { update: true, ..DoneStages::default() }));
    assert_eq!(plan(&state), [Make(WorkingTable::Seen), Fill(WorkingTable::Seen)]);
    state.filled = Some(5);
    assert_eq!(plan(&state), [CheckIds]);
    state.ids = Some(CheckedIds::Double);
    assert_eq!(plan(&state), [Refuse(RefusalReason::DoubleId), MORE]);
    state.ids = Some(CheckedIds::Good);
    assert_eq!(plan(&state), [Log(LoggedStage::Table(WorkingTable::Seen)), MORE]);
}
