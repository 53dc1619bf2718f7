//! Tests of plans as values.

use crate::jobs::plan::plan;
use crate::jobs::state::{BatchPairs, JobFacts, KnownRows, Present, RegisteredJob, Removed, Upkeep};
use crate::jobs::step::{ClusterUpdate, JoinSelection, RefreshStep, RowSelection};

/// A job whose triggers reported everything, in its first transaction.
const TOLD: RegisteredJob = RegisteredJob {
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
fn taken(job: RegisteredJob, rows: i64, known: i64) -> JobFacts {
    let contents = Some(KnownRows::Seen);
    let noted = Some(true);
    JobFacts {
        contents,
        rows: Some(rows),
        known: Some(known),
        unnoted: Some(false),
        noted,
        ..JobFacts::new(job)
    }
}

#[test]
fn nothing_to_do_reads_no_row_of_the_relation() {
    let limit = 1000;
    let mut state = JobFacts::new(TOLD);
    assert_eq!(
        plan(&state),
        [RefreshStep::TakeUnnoted, RefreshStep::Look, RefreshStep::LookAtRows { limit }]
    );
    (state.unnoted, state.noted, state.contents) = (Some(false), Some(true), Some(KnownRows::Seen));
    assert_eq!(plan(&state), [RefreshStep::TakeMarks { limit }]);
    state.rows = Some(0);
    assert_eq!(plan(&state), [RefreshStep::Log { more: false }, RefreshStep::Done { more: false }]);
}

#[test]
fn rows_are_compared_where_triggers_did_not_tell_of_all_changes() {
    let limit = 1000;
    let compare = [RefreshStep::CompareAll { limit }];
    let begun = |job, unnoted, noted| {
        let contents = Some(KnownRows::Seen);
        JobFacts { unnoted: Some(unnoted), noted: Some(noted), contents, ..JobFacts::new(job) }
    };
    assert_eq!(plan(&begun(TOLD, false, true)), [RefreshStep::TakeMarks { limit }]);
    assert_eq!(plan(&begun(TOLD, true, true)), compare);
    assert_eq!(plan(&begun(TOLD, false, false)), compare);
    // Once in a refresh: later changes are noted, or found by the next refresh.
    let later = RegisteredJob { first: false, told: false, same_definition: false, ..TOLD };
    assert_eq!(plan(&JobFacts::new(later)), [RefreshStep::Look]);
    let seen = |job| JobFacts { noted: Some(false), ..JobFacts::new(job) };
    assert_eq!(plan(&seen(later)), [RefreshStep::TakeMarks { limit }]);
    // Where all rows are joined, all are compared.
    let whole = RegisteredJob { upkeep: Upkeep::Whole, ..later };
    assert_eq!(plan(&seen(whole)), [RefreshStep::CompareAll { limit: i64::MAX - 1 }]);
}

#[test]
fn rows_that_may_have_changed_unnoted_are_doubted_where_they_are_read() {
    let later = RegisteredJob { first: false, told: false, ..TOLD };
    let few = JobFacts {
        unnoted: None,
        noted: Some(false),
        removed: Some(Removed::default()),
        present: Some(Present { alone: false, rows: 8 }),
        segment: Some(Some(4)),
        ..taken(later, 10, 201)
    };
    // Where few rows are looked up, the rows found are put in doubt.
    assert_eq!(plan(&few), [RefreshStep::LookUp { segment: Some(4), doubts: true }]);
    let touched = RefreshStep::Cluster(ClusterUpdate::Touched { had_pairs: false });
    let looked_up =
        JobFacts { found: Some(BatchPairs { pairs: 2, listed: true }), damaged: Some(false), ..few };
    assert_eq!(plan(&looked_up), [touched, RefreshStep::EndBatch]);
    // Where the lists are rebuilt, all rows are.
    let anew = [
        RefreshStep::MakeLists(Some(RowSelection::Known)),
        RefreshStep::Doubt,
        touched,
        RefreshStep::EndBatch,
    ];
    assert_eq!(plan(&JobFacts { damaged: Some(true), ..looked_up }), anew);
    assert_eq!(plan(&JobFacts { segment: Some(None), damaged: None, ..looked_up }), anew);
    // Where all rows are joined with the batch, all rows are.
    let of_pairs = RefreshStep::Cluster(ClusterUpdate::OfPairs);
    let many = JobFacts { rows: Some(300), known: Some(1000), ..looked_up };
    assert_eq!(plan(&many), [RefreshStep::Doubt, of_pairs, RefreshStep::EndBatch]);
    let pairs = JobFacts { job: RegisteredJob { upkeep: Upkeep::Pairs, ..later }, ..looked_up };
    assert_eq!(plan(&pairs), [RefreshStep::Doubt, touched, RefreshStep::EndBatch]);
    // None are if there are no other rows, or if all rows were compared.
    let alone = JobFacts { present: Some(Present { alone: true, rows: 300 }), ..many };
    assert_eq!(plan(&alone), [of_pairs, RefreshStep::EndBatch]);
    let first = JobFacts { job: RegisteredJob { first: true, ..later }, ..many };
    assert_eq!(plan(&first), [of_pairs, RefreshStep::EndBatch]);
}

#[test]
fn the_first_rows_are_joined_with_themselves() {
    let unnoted = Some(false);
    let mut state = JobFacts {
        unnoted,
        noted: Some(false),
        ..JobFacts::new(RegisteredJob { same_definition: false, ..TOLD })
    };
    state.contents = Some(KnownRows::Unseen { fits: true });
    assert_eq!(plan(&state), [RefreshStep::ForgetWaiting, RefreshStep::TakeAll]);
    state.rows = Some(1000);
    assert_eq!(plan(&state), [RefreshStep::RemoveAllPairs]);
    state.removed = Some(Removed { pairs: 0, had_pairs: true });
    assert_eq!(plan(&state), [RefreshStep::JoinRows(JoinSelection::All)]);
    state.found = Some(BatchPairs { pairs: 7, listed: false });
    assert_eq!(
        plan(&state),
        [RefreshStep::MakeLists(None), RefreshStep::Cluster(ClusterUpdate::OfPairs), RefreshStep::EndBatch]
    );
    state.more = Some(false);
    let end = [
        RefreshStep::Analyze,
        RefreshStep::WriteEntry,
        RefreshStep::Log { more: false },
        RefreshStep::Done { more: false },
    ];
    assert_eq!(plan(&state), end);
}

#[test]
fn few_rows_are_looked_up_in_lists() {
    let mut state = taken(TOLD, 10, 201);
    assert_eq!(plan(&state), [RefreshStep::RemovePairs { by_clusters: true }, RefreshStep::Reread]);
    state.removed = Some(Removed { pairs: 3, had_pairs: true });
    state.present = Some(Present { alone: false, rows: 8 });
    assert_eq!(plan(&state), [RefreshStep::NextSegment { rows: 8 }]);
    state.segment = Some(Some(4));
    assert_eq!(plan(&state), [RefreshStep::LookUp { segment: Some(4), doubts: false }]);
    state.found = Some(BatchPairs { pairs: 2, listed: true });
    assert_eq!(plan(&state), [RefreshStep::MergeSegments]);
    let touched = RefreshStep::Cluster(ClusterUpdate::Touched { had_pairs: true });
    state.damaged = Some(false);
    assert_eq!(plan(&state), [touched, RefreshStep::EndBatch]);
    state.damaged = Some(true);
    assert_eq!(
        plan(&state),
        [RefreshStep::MakeLists(Some(RowSelection::Known)), touched, RefreshStep::EndBatch]
    );
}

#[test]
fn many_rows_are_joined_with_all_others() {
    let mut state = taken(TOLD, 300, 1000);
    state.removed = Some(Removed::default());
    state.present = Some(Present { alone: false, rows: 300 });
    state.segment = Some(None);
    assert_eq!(plan(&state), [RefreshStep::JoinRows(JoinSelection::BatchWithKnown)]);
    state.segment = Some(Some(2));
    state.found = Some(BatchPairs::default());
    assert_eq!(plan(&state), [RefreshStep::Outline { segment: 2 }, RefreshStep::MergeSegments]);
}

#[test]
fn other_clusters_are_reached_before_and_after() {
    let mut state = taken(RegisteredJob { whole_clusters: false, upkeep: Upkeep::Pairs, ..TOLD }, 10, 201);
    assert_eq!(
        plan(&state),
        [RefreshStep::ReachBefore, RefreshStep::RemovePairs { by_clusters: false }, RefreshStep::Reread]
    );
    state.removed = Some(Removed { pairs: 0, had_pairs: true });
    state.present = Some(Present { alone: false, rows: 10 });
    state.found = Some(BatchPairs::default());
    assert_eq!(plan(&state), [RefreshStep::Cluster(ClusterUpdate::Reached), RefreshStep::EndBatch]);
}

#[test]
fn a_method_of_all_rows_makes_all_anew() {
    let job = RegisteredJob { upkeep: Upkeep::Signatures, batch_rows: 2, first: false, ..TOLD };
    let noted = Some(true);
    assert_eq!(
        plan(&JobFacts { noted, ..JobFacts::new(job) }),
        [RefreshStep::TakeMarks { limit: i64::MAX - 1 }]
    );
    let mut state = taken(job, 1, 21);
    assert_eq!(plan(&state), [RefreshStep::RemoveAllPairs, RefreshStep::Reread]);
    state.removed = Some(Removed { pairs: 5, had_pairs: true });
    state.present = Some(Present { alone: false, rows: 1 });
    assert_eq!(plan(&state), [RefreshStep::JoinRows(JoinSelection::All)]);
    state.found = Some(BatchPairs::default());
    assert_eq!(plan(&state), [RefreshStep::Cluster(ClusterUpdate::OfSignatures), RefreshStep::EndBatch]);
}

#[test]
fn ids_of_another_type_begin_anew() {
    let mut state = JobFacts::new(RegisteredJob { first: false, other_type: true, ..TOLD });
    assert_eq!(plan(&state), [RefreshStep::Retype]);
    state.emptied();
    // Empty tables are moved too.
    state.job.misplaced = true;
    assert_eq!(plan(&state), [RefreshStep::Move]);
    state.job.misplaced = false;
    assert_eq!(
        plan(&state),
        [RefreshStep::TakeUnnoted, RefreshStep::Look, RefreshStep::LookAtRows { limit: 1000 }]
    );
}
