//! Derives the next steps from the known facts.

use super::state::{Batch, Contents, Present, Removed, State, Upkeep};
use super::step::{Clusters, Join, Rows, Step};

/// Returns the next steps: up to the first step that reports facts on which the further steps
/// depend, or up to the end of the transaction.
pub fn plan(state: &State) -> Vec<Step> {
    let Some(rows) = state.rows else { return take(state) };
    if rows == 0 {
        return end(state, false, false);
    }
    let Some(batch) = state.batch() else {
        return vec![Step::CountKnown { limit: Batch::limit(rows) }];
    };
    let Some((removed, present)) = room(state, &batch) else { return make_room(state, &batch) };
    let segment = match (state.job.upkeep, batch.everything, state.segment) {
        (Upkeep::Sets, false, None) => return vec![Step::NextSegment { rows: present.rows }],
        (_, _, segment) => segment.flatten(),
    };
    let Some(found) = state.found else {
        return vec![pairs(state, &batch, present, segment)];
    };
    let lists_anew = match (state.job.upkeep, segment, state.damaged) {
        (Upkeep::Sets, Some(segment), None) => {
            let outline = (!found.listed).then_some(Step::Outline { segment });
            return outline.into_iter().chain([Step::MergeSegments]).collect();
        }
        (Upkeep::Sets, segment, damaged) => segment.is_none() || damaged == Some(true),
        _ => false,
    };
    let Some(more) = state.more else {
        let rows = (!batch.everything).then_some(Rows::Known);
        let lists = lists_anew.then_some(Step::MakeLists(rows));
        let reads_all = !present.alone && (lists_anew || !looks_up(state, &batch, present));
        let doubt = (state.doubts() && reads_all).then_some(Step::Doubt);
        let clusters = Step::Cluster(clusters(state, &batch, removed));
        return lists.into_iter().chain(doubt).chain([clusters, Step::EndBatch]).collect();
    };
    end(state, batch.most, more)
}

/// Returns the steps that select the rows to bring up to date: the rows that triggers noted or, if
/// not all changes were noted or no row has been seen yet, the rows that a look at all rows finds.
fn take(state: &State) -> Vec<Step> {
    let limit = state.limit();
    if state.job.other_type {
        return vec![Step::Retype];
    }
    if state.job.misplaced {
        return vec![Step::Move];
    }
    let untold = state.job.first && (state.unnoted.is_none() || state.contents.is_none());
    if state.noted.is_none() || untold {
        // The order matters: if a step deletes the note of a change, the later steps see the change
        // itself.
        return if state.job.first {
            vec![Step::TakeUnnoted, Step::Look, Step::LookAtRows { limit }]
        } else {
            vec![Step::Look]
        };
    }
    match state.contents {
        Some(Contents::Unseen { fits: true }) => vec![Step::ForgetWaiting, Step::TakeAll],
        Some(Contents::Unseen { fits: false }) => vec![Step::CompareAll { limit }],
        Some(Contents::Seen) | None if state.compares() => vec![Step::CompareAll { limit }],
        Some(Contents::Seen) | None => vec![Step::TakeMarks { limit }],
    }
}

/// Returns the results of the steps of [`make_room`], or `None` as long as they are not known. If
/// all rows are new, they were read when they were taken.
fn room(state: &State, batch: &Batch) -> Option<(Removed, Present)> {
    let all = batch.everything.then_some(Present { alone: true, rows: batch.rows });
    state.removed.zip(all.or(state.present))
}

/// Returns the steps that remove the known data of the batch and read the batch again.
fn make_room(state: &State, batch: &Batch) -> Vec<Step> {
    let job = &state.job;
    let mut steps = Vec::new();
    if !batch.most && !job.whole_clusters {
        steps.push(Step::ReachBefore);
    }
    steps.push(if batch.everything || job.upkeep.is_whole() {
        Step::RemoveAllPairs
    } else {
        Step::RemovePairs { by_clusters: job.whole_clusters }
    });
    if !batch.everything {
        steps.push(Step::Reread);
    }
    steps
}

/// Reports whether the pairs of the batch are looked up in the lists.
fn looks_up(state: &State, batch: &Batch, present: Present) -> bool {
    state.job.upkeep == Upkeep::Sets && !present.alone && batch.is_small()
}

/// Returns the step that finds the pairs of the batch.
fn pairs(state: &State, batch: &Batch, present: Present, segment: Option<i64>) -> Step {
    if looks_up(state, batch, present) {
        return Step::LookUp { segment, doubts: state.doubts() };
    }
    Step::JoinRows(if state.job.upkeep.is_whole() || batch.everything {
        Join::All
    } else if present.alone {
        Join::Batch
    } else {
        // Without lists, or if the batch is not small, all known rows are read.
        Join::BatchWithKnown
    })
}

/// Returns the way in which the clusters are updated after the pairs.
fn clusters(state: &State, batch: &Batch, removed: Removed) -> Clusters {
    match state.job.upkeep {
        Upkeep::Signatures => Clusters::OfSignatures,
        _ if batch.most => Clusters::OfPairs,
        _ if state.job.whole_clusters => Clusters::Touched { had_pairs: removed.had_pairs },
        _ => Clusters::Reached,
    }
}

/// Returns the steps that end the transaction.
fn end(state: &State, analyze: bool, more: bool) -> Vec<Step> {
    let analyze = analyze.then_some(Step::Analyze);
    let entry = state.changes_entry().then_some(Step::WriteEntry);
    analyze.into_iter().chain(entry).chain([Step::Log { more }, Step::Done { more }]).collect()
}
