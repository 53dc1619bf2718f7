//! Derives the next steps from the known facts.

use super::state::{JobFacts, KnownRows, Present, Removed, RowBatch, Upkeep};
use super::step::{ClusterUpdate, JoinSelection, RefreshStep, RowSelection};

/// Returns the next steps: up to the first step that reports facts on which the further steps
/// depend, or up to the end of the transaction.
pub fn plan(state: &JobFacts) -> Vec<RefreshStep> {
    let Some(rows) = state.rows else { return take(state) };
    if rows == 0 {
        return end(state, false, false);
    }
    let Some(batch) = state.batch() else {
        return vec![RefreshStep::CountKnown { limit: RowBatch::limit(rows) }];
    };
    let Some((removed, present)) = room(state, &batch) else { return make_room(state, &batch) };
    let segment = match (state.job.upkeep, batch.everything, state.segment) {
        (Upkeep::Sets, false, None) => return vec![RefreshStep::NextSegment { rows: present.rows }],
        (_, _, segment) => segment.flatten(),
    };
    let Some(found) = state.found else {
        return vec![pairs(state, &batch, present, segment)];
    };
    let lists_anew = match (state.job.upkeep, segment, state.damaged) {
        (Upkeep::Sets, Some(segment), None) => {
            let outline = (!found.listed).then_some(RefreshStep::Outline { segment });
            return outline.into_iter().chain([RefreshStep::MergeSegments]).collect();
        }
        (Upkeep::Sets, segment, damaged) => segment.is_none() || damaged == Some(true),
        _ => false,
    };
    let Some(more) = state.more else {
        let rows = (!batch.everything).then_some(RowSelection::Known);
        let lists = lists_anew.then_some(RefreshStep::MakeLists(rows));
        let reads_all = !present.alone && (lists_anew || !looks_up(state, &batch, present));
        let doubt = (state.doubts() && reads_all).then_some(RefreshStep::Doubt);
        let clusters = RefreshStep::Cluster(clusters(state, &batch, removed));
        return lists.into_iter().chain(doubt).chain([clusters, RefreshStep::EndBatch]).collect();
    };
    end(state, batch.most, more)
}

/// Returns the steps that select the rows to bring up to date: the rows that triggers noted or, if
/// not all changes were noted or no row has been seen yet, the rows that a look at all rows finds.
fn take(state: &JobFacts) -> Vec<RefreshStep> {
    let limit = state.limit();
    if state.job.other_type {
        return vec![RefreshStep::Retype];
    }
    if state.job.misplaced {
        return vec![RefreshStep::Move];
    }
    let untold = state.job.first && (state.unnoted.is_none() || state.contents.is_none());
    if state.noted.is_none() || untold {
        // The order matters: if a step deletes the note of a change, the later steps see the change
        // itself.
        return if state.job.first {
            vec![RefreshStep::TakeUnnoted, RefreshStep::Look, RefreshStep::LookAtRows { limit }]
        } else {
            vec![RefreshStep::Look]
        };
    }
    match state.contents {
        Some(KnownRows::Unseen { fits: true }) => vec![RefreshStep::ForgetWaiting, RefreshStep::TakeAll],
        Some(KnownRows::Unseen { fits: false }) => vec![RefreshStep::CompareAll { limit }],
        Some(KnownRows::Seen) | None if state.compares() => vec![RefreshStep::CompareAll { limit }],
        Some(KnownRows::Seen) | None => vec![RefreshStep::TakeMarks { limit }],
    }
}

/// Returns the results of the steps of [`make_room`], or `None` as long as they are not known. If
/// all rows are new, they were read when they were taken.
fn room(state: &JobFacts, batch: &RowBatch) -> Option<(Removed, Present)> {
    let all = batch.everything.then_some(Present { alone: true, rows: batch.rows });
    state.removed.zip(all.or(state.present))
}

/// Returns the steps that remove the known data of the batch and read the batch again.
fn make_room(state: &JobFacts, batch: &RowBatch) -> Vec<RefreshStep> {
    let job = &state.job;
    let mut steps = Vec::new();
    if !batch.most && !job.whole_clusters {
        steps.push(RefreshStep::ReachBefore);
    }
    steps.push(if batch.everything || job.upkeep.is_whole() {
        RefreshStep::RemoveAllPairs
    } else {
        RefreshStep::RemovePairs { by_clusters: job.whole_clusters }
    });
    if !batch.everything {
        steps.push(RefreshStep::Reread);
    }
    steps
}

/// Reports whether the pairs of the batch are looked up in the lists.
fn looks_up(state: &JobFacts, batch: &RowBatch, present: Present) -> bool {
    state.job.upkeep == Upkeep::Sets && !present.alone && batch.is_small()
}

/// Returns the step that finds the pairs of the batch.
fn pairs(state: &JobFacts, batch: &RowBatch, present: Present, segment: Option<i64>) -> RefreshStep {
    if looks_up(state, batch, present) {
        return RefreshStep::LookUp { segment, doubts: state.doubts() };
    }
    RefreshStep::JoinRows(if state.job.upkeep.is_whole() || batch.everything {
        JoinSelection::All
    } else if present.alone {
        JoinSelection::Batch
    } else {
        // Without lists, or if the batch is not small, all known rows are read.
        JoinSelection::BatchWithKnown
    })
}

/// Returns the way in which the clusters are updated after the pairs.
fn clusters(state: &JobFacts, batch: &RowBatch, removed: Removed) -> ClusterUpdate {
    match state.job.upkeep {
        Upkeep::Signatures => ClusterUpdate::OfSignatures,
        _ if batch.most => ClusterUpdate::OfPairs,
        _ if state.job.whole_clusters => ClusterUpdate::Touched { had_pairs: removed.had_pairs },
        _ => ClusterUpdate::Reached,
    }
}

/// Returns the steps that end the transaction.
fn end(state: &JobFacts, analyze: bool, more: bool) -> Vec<RefreshStep> {
    let analyze = analyze.then_some(RefreshStep::Analyze);
    let entry = state.changes_entry().then_some(RefreshStep::WriteEntry);
    analyze.into_iter().chain(entry).chain([RefreshStep::Log { more }, RefreshStep::Done { more }]).collect()
}
