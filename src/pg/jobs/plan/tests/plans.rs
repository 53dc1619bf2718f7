//! Tests of plans as values.

use crate::jobs::plan::plan;
use crate::jobs::state::{BatchPairs, Contents, Job, Present, Removed, State, Upkeep};
use crate::jobs::step::{Clusters, Join, Rows, Step};

/// A job whose triggers reported everything, in its first transaction.
const TOLD: Job = Job {
    upkeep: Upkeep::Sets,
    whole_clusters: true,
    batch_rows: 1000,
    first: true,
    other_type: false,
    misplaced: false,
    told: true,
    same_definition: true,
    renewed: false,
};

/// Returns the state of a batch of changed rows in addition to known ones.
fn taken(job: Job, rows: i64, known: i64) -> State {
    let contents = Some(Contents::Seen);
    let noted = Some(true);
    State { contents, rows: Some(rows), known: Some(known), unnoted: Some(false), noted, ..State::new(job) }
}

#[test]
fn nothing_to_do_reads_no_row_of_the_relation() {
    let limit = 1000;
    let mut state = State::new(TOLD);
    assert_eq!(plan(&state), [Step::TakeUnnoted, Step::Look, Step::LookAtRows { limit }]);
    (state.unnoted, state.noted, state.contents) = (Some(false), Some(true), Some(Contents::Seen));
    assert_eq!(plan(&state), [Step::TakeMarks { limit }]);
    state.rows = Some(0);
    assert_eq!(plan(&state), [Step::Log { more: false }, Step::Done { more: false }]);
}

#[test]
fn rows_are_compared_where_triggers_did_not_tell_of_all_changes() {
    let limit = 1000;
    let compare = [Step::CompareAll { limit }];
    let begun = |job, unnoted, noted| {
        let contents = Some(Contents::Seen);
        State { unnoted: Some(unnoted), noted: Some(noted), contents, ..State::new(job) }
    };
    assert_eq!(plan(&begun(TOLD, false, true)), [Step::TakeMarks { limit }]);
    assert_eq!(plan(&begun(TOLD, true, true)), compare);
    assert_eq!(plan(&begun(TOLD, false, false)), compare);
    // Once in a refresh: later changes are noted, or found by the next refresh.
    let later = Job { first: false, told: false, same_definition: false, ..TOLD };
    assert_eq!(plan(&State::new(later)), [Step::Look]);
    let seen = |job| State { noted: Some(false), ..State::new(job) };
    assert_eq!(plan(&seen(later)), [Step::TakeMarks { limit }]);
    // Where all rows are joined, all are compared.
    let whole = Job { upkeep: Upkeep::Whole, ..later };
    assert_eq!(plan(&seen(whole)), [Step::CompareAll { limit: i64::MAX - 1 }]);
}

#[test]
fn rows_that_may_have_changed_unnoted_are_doubted_where_they_are_read() {
    let later = Job { first: false, told: false, ..TOLD };
    let few = State {
        unnoted: None,
        noted: Some(false),
        removed: Some(Removed::default()),
        present: Some(Present { alone: false, rows: 8 }),
        segment: Some(Some(4)),
        ..taken(later, 10, 201)
    };
    // Where few rows are looked up, the rows found are put in doubt.
    assert_eq!(plan(&few), [Step::LookUp { segment: Some(4), doubts: true }]);
    let touched = Step::Cluster(Clusters::Touched { had_pairs: false });
    let looked_up = State { found: Some(BatchPairs { pairs: 2, listed: true }), damaged: Some(false), ..few };
    assert_eq!(plan(&looked_up), [touched, Step::EndBatch]);
    // Where the lists are rebuilt, all rows are.
    let anew = [Step::MakeLists(Some(Rows::Known)), Step::Doubt, touched, Step::EndBatch];
    assert_eq!(plan(&State { damaged: Some(true), ..looked_up }), anew);
    assert_eq!(plan(&State { segment: Some(None), damaged: None, ..looked_up }), anew);
    // Where all rows are joined with the batch, all rows are.
    let of_pairs = Step::Cluster(Clusters::OfPairs);
    let many = State { rows: Some(300), known: Some(1000), ..looked_up };
    assert_eq!(plan(&many), [Step::Doubt, of_pairs, Step::EndBatch]);
    let pairs = State { job: Job { upkeep: Upkeep::Pairs, ..later }, ..looked_up };
    assert_eq!(plan(&pairs), [Step::Doubt, touched, Step::EndBatch]);
    // None are if there are no other rows, or if all rows were compared.
    let alone = State { present: Some(Present { alone: true, rows: 300 }), ..many };
    assert_eq!(plan(&alone), [of_pairs, Step::EndBatch]);
    let first = State { job: Job { first: true, ..later }, ..many };
    assert_eq!(plan(&first), [of_pairs, Step::EndBatch]);
}

#[test]
fn the_first_rows_are_joined_with_themselves() {
    let unnoted = Some(false);
    let mut state =
        State { unnoted, noted: Some(false), ..State::new(Job { same_definition: false, ..TOLD }) };
    state.contents = Some(Contents::Unseen { fits: true });
    assert_eq!(plan(&state), [Step::ForgetWaiting, Step::TakeAll]);
    state.rows = Some(1000);
    assert_eq!(plan(&state), [Step::RemoveAllPairs]);
    state.removed = Some(Removed { pairs: 0, had_pairs: true });
    assert_eq!(plan(&state), [Step::JoinRows(Join::All)]);
    state.found = Some(BatchPairs { pairs: 7, listed: false });
    assert_eq!(plan(&state), [Step::MakeLists(None), Step::Cluster(Clusters::OfPairs), Step::EndBatch]);
    state.more = Some(false);
    let end = [Step::Analyze, Step::WriteEntry, Step::Log { more: false }, Step::Done { more: false }];
    assert_eq!(plan(&state), end);
}

#[test]
fn few_rows_are_looked_up_in_lists() {
    let mut state = taken(TOLD, 10, 201);
    assert_eq!(plan(&state), [Step::RemovePairs { by_clusters: true }, Step::Reread]);
    state.removed = Some(Removed { pairs: 3, had_pairs: true });
    state.present = Some(Present { alone: false, rows: 8 });
    assert_eq!(plan(&state), [Step::NextSegment { rows: 8 }]);
    state.segment = Some(Some(4));
    assert_eq!(plan(&state), [Step::LookUp { segment: Some(4), doubts: false }]);
    state.found = Some(BatchPairs { pairs: 2, listed: true });
    assert_eq!(plan(&state), [Step::MergeSegments]);
    let touched = Step::Cluster(Clusters::Touched { had_pairs: true });
    state.damaged = Some(false);
    assert_eq!(plan(&state), [touched, Step::EndBatch]);
    state.damaged = Some(true);
    assert_eq!(plan(&state), [Step::MakeLists(Some(Rows::Known)), touched, Step::EndBatch]);
}

#[test]
fn many_rows_are_joined_with_all_others() {
    let mut state = taken(TOLD, 300, 1000);
    state.removed = Some(Removed::default());
    state.present = Some(Present { alone: false, rows: 300 });
    state.segment = Some(None);
    assert_eq!(plan(&state), [Step::JoinRows(Join::BatchWithKnown)]);
    state.segment = Some(Some(2));
    state.found = Some(BatchPairs::default());
    assert_eq!(plan(&state), [Step::Outline { segment: 2 }, Step::MergeSegments]);
}

#[test]
fn other_clusters_are_reached_before_and_after() {
    let mut state = taken(Job { whole_clusters: false, upkeep: Upkeep::Pairs, ..TOLD }, 10, 201);
    assert_eq!(plan(&state), [Step::ReachBefore, Step::RemovePairs { by_clusters: false }, Step::Reread]);
    state.removed = Some(Removed { pairs: 0, had_pairs: true });
    state.present = Some(Present { alone: false, rows: 10 });
    state.found = Some(BatchPairs::default());
    assert_eq!(plan(&state), [Step::Cluster(Clusters::Reached), Step::EndBatch]);
}

#[test]
fn a_method_of_all_rows_makes_all_anew() {
    let job = Job { upkeep: Upkeep::Signatures, batch_rows: 2, first: false, ..TOLD };
    let noted = Some(true);
    assert_eq!(plan(&State { noted, ..State::new(job) }), [Step::TakeMarks { limit: i64::MAX - 1 }]);
    let mut state = taken(job, 1, 21);
    assert_eq!(plan(&state), [Step::RemoveAllPairs, Step::Reread]);
    state.removed = Some(Removed { pairs: 5, had_pairs: true });
    state.present = Some(Present { alone: false, rows: 1 });
    assert_eq!(plan(&state), [Step::JoinRows(Join::All)]);
    state.found = Some(BatchPairs::default());
    assert_eq!(plan(&state), [Step::Cluster(Clusters::OfSignatures), Step::EndBatch]);
}

#[test]
fn ids_of_another_type_begin_anew() {
    let mut state = State::new(Job { first: false, other_type: true, ..TOLD });
    assert_eq!(plan(&state), [Step::Retype]);
    state.emptied();
    // Empty tables are moved too.
    state.job.misplaced = true;
    assert_eq!(plan(&state), [Step::Move]);
    state.job.misplaced = false;
    assert_eq!(plan(&state), [Step::TakeUnnoted, Step::Look, Step::LookAtRows { limit: 1000 }]);
}
