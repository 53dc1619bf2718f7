//! Tests that a job that follows its plans ends up, whatever happens to it, with the same results
//! as if they had been computed from scratch.

use std::mem::discriminant;

use proptest::prelude::*;

use super::world::{Id, Note, World};
use crate::jobs::plan::plan;
use crate::jobs::state::{BatchPairs, JobFacts, KnownRows, Present, RegisteredJob, Removed, Upkeep};
use crate::jobs::step::RefreshStep;
use neardup_core::error::Error;

/// Reports whether a step reports a fact that is not yet known.
fn tells_more(step: RefreshStep, state: &JobFacts) -> bool {
    match step {
        RefreshStep::Retype => state.job.other_type,
        RefreshStep::Move => state.job.misplaced,
        RefreshStep::TakeUnnoted => state.unnoted.is_none(),
        RefreshStep::Look => state.noted.is_none(),
        RefreshStep::LookAtRows { .. } => state.contents.is_none(),
        RefreshStep::TakeAll | RefreshStep::CompareAll { .. } | RefreshStep::TakeMarks { .. } => {
            state.rows.is_none()
        }
        RefreshStep::CountKnown { .. } => state.known.is_none(),
        RefreshStep::RemoveAllPairs | RefreshStep::RemovePairs { .. } => state.removed.is_none(),
        RefreshStep::Reread => state.present.is_none(),
        RefreshStep::NextSegment { .. } => state.segment.is_none(),
        RefreshStep::LookUp { .. } | RefreshStep::JoinRows(_) => state.found.is_none(),
        RefreshStep::MergeSegments => state.damaged.is_none(),
        RefreshStep::EndBatch => state.more.is_none(),
        _ => false,
    }
}

fn upkeeps() -> impl Strategy<Value = Upkeep> {
    prop::sample::select(vec![Upkeep::Sets, Upkeep::Pairs, Upkeep::Whole, Upkeep::Signatures])
}

prop_compose! {
    fn jobs()(upkeep in upkeeps(), batch_rows in 1..12i64,
        [whole_clusters, first, other_type, misplaced, told, same_definition, renewed] in any::<[bool; 7]>()) -> RegisteredJob {
        RegisteredJob { upkeep, whole_clusters, batch_rows, first, other_type, misplaced, told, same_definition, renewed }
    }
}

prop_compose! {
    /// Generates facts in the order in which steps report them, up to some point. Some combinations
    /// are beyond what a server would report.
    fn states()(job in jobs(), [unnoted, noted, fits, seen, had_pairs, alone, listed, damaged, more] in any::<[bool; 9]>(),
        rows in prop_oneof![Just(0), 1..i64::MAX], known in 0..i64::MAX, segment in any::<Option<i64>>(), so_far in 0..9usize) -> JobFacts {
        JobFacts {
            unnoted: (so_far > 0).then_some(unnoted),
            noted: (so_far > 0).then_some(noted),
            contents: (so_far > 0).then_some(if seen { KnownRows::Seen } else { KnownRows::Unseen { fits } }),
            rows: (so_far > 1).then_some(rows),
            known: (so_far > 2).then_some(known),
            removed: (so_far > 3).then_some(Removed { pairs: 1, had_pairs }),
            present: (so_far > 3).then_some(Present { alone, rows }),
            segment: (so_far > 4).then_some(segment),
            found: (so_far > 5).then_some(BatchPairs { pairs: 1, listed }),
            damaged: (so_far > 6).then_some(damaged),
            more: (so_far > 7).then_some(more),
            ..JobFacts::new(job)
        }
    }
}

/// An event in the life of a job.
#[derive(Debug, Clone)]
enum Event {
    Write(Id, Option<u8>, Note),
    Renamed,
    OtherType,
    Misplaced,
    Damage,
    OtherVersion,
    /// A refresh with writes before some of its steps. If it is interrupted, it ends without its
    /// last steps. A write may be undone before a later step, or after the refresh.
    Refresh(Vec<Meanwhile>, Option<usize>),
}

/// A write before the step of a refresh with this number, and the step before which it is undone,
/// if it is.
#[derive(Debug, Clone)]
struct Meanwhile {
    at: usize,
    id: Id,
    content: Option<u8>,
    note: Note,
    until: Option<usize>,
}

fn contents() -> impl Strategy<Value = Option<u8>> {
    prop_oneof![1 => Just(None), 4 => (0..8u8).prop_map(Some)]
}

fn events() -> impl Strategy<Value = Event> {
    let id = || 0..12u8;
    let note = || prop_oneof![8 => Just(Note::Id), 1 => Just(Note::Unnoted), 1 => Just(Note::Definition)];
    let meanwhile = || {
        let until = prop::option::of(0..60usize);
        let write = (0..40usize, id(), contents(), note(), until);
        write.prop_map(|(at, id, content, note, until)| Meanwhile { at, id, content, note, until })
    };
    prop_oneof![
        10 => (id(), contents(), note()).prop_map(|(id, content, note)| Event::Write(id, content, note)),
        1 => Just(Event::Renamed),
        1 => Just(Event::OtherType),
        1 => Just(Event::Misplaced),
        1 => Just(Event::Damage),
        1 => Just(Event::OtherVersion),
        6 => (prop::collection::vec(meanwhile(), 0..4), prop::option::of(0..60usize))
            .prop_map(|(writes, interrupted)| Event::Refresh(writes, interrupted)),
    ]
}

/// Runs a refresh, with writes before some of its steps. If it is interrupted, it is rolled back to
/// its last commit. Returns the steps that were executed.
fn refresh(world: &mut World, writes: &[Meanwhile], interrupted: Option<usize>) -> Vec<RefreshStep> {
    let mut before = vec![None; writes.len()];
    let done = refresh_only(world, writes, &mut before, interrupted);
    for (write, before) in writes.iter().zip(before) {
        if let Some(content) = before.filter(|_| write.until.is_some()) {
            world.write(write.id, content, write.note);
        }
    }
    done
}

/// Runs a refresh, and keeps the former contents for the writes that were not undone.
fn refresh_only(
    world: &mut World,
    writes: &[Meanwhile],
    before: &mut [Option<Option<u8>>],
    interrupted: Option<usize>,
) -> Vec<RefreshStep> {
    let mut done = Vec::new();
    let (mut first, mut count) = (true, 0);
    loop {
        let mut committed = world.clone();
        let steps = world.transaction(first, |world, _| {
            count += 1;
            for (&Meanwhile { at, id, content, note, until }, before) in writes.iter().zip(&mut *before) {
                let was = world.docs.get(&id).copied();
                let back = before.take_if(|_| until == Some(count));
                let content = if at == count {
                    content
                } else if let Some(was) = back {
                    was
                } else {
                    continue;
                };
                if at == count {
                    *before = Some(was);
                }
                world.write(id, content, note);
                committed.write(id, content, note);
            }
            interrupted != Some(count)
        });
        let steps = steps.expect("steps that tell something");
        done.extend(&steps);
        match steps.last() {
            Some(RefreshStep::Done { more: true }) => first = false,
            Some(RefreshStep::Done { more: false }) => return done,
            _ => {
                *world = committed;
                return done;
            }
        }
    }
}

proptest! {
    #[test]
    fn a_plan_ends_the_transaction_or_in_a_step_that_tells_more(state in states()) {
        let steps = plan(&state);
        let (last, before) = steps.split_last().unwrap();
        prop_assert!(matches!(last, RefreshStep::Done { .. }) || tells_more(*last, &state), "{steps:?}");
        prop_assert!(!before.iter().any(|step| matches!(step, RefreshStep::Done { .. } | RefreshStep::Retype | RefreshStep::Move)), "{steps:?}");
        // Known facts are not asked again.
        let asks = |step: &&RefreshStep| !matches!(step, RefreshStep::ForgetWaiting | RefreshStep::ReachBefore | RefreshStep::Outline { .. }
            | RefreshStep::MakeLists(_) | RefreshStep::Doubt | RefreshStep::Cluster(_) | RefreshStep::Analyze | RefreshStep::WriteEntry | RefreshStep::Log { .. });
        prop_assert!(before.iter().filter(asks).all(|step| tells_more(*step, &state)), "{steps:?}");
        // A batch is logged once, at the end.
        prop_assert_eq!(before.iter().filter(|step| matches!(step, RefreshStep::Log { .. })).count(), usize::from(matches!(last, RefreshStep::Done { .. })));
    }

    #[test]
    fn a_step_that_tells_nothing_is_refused(job in jobs(), docs in prop::collection::btree_map(0..12u8, 0..8u8, 0..12), changed in prop::collection::btree_set(0..12u8, 0..3)) {
        let mut world = World::new(docs, job);
        refresh(&mut world, &[], None);
        changed.iter().for_each(|id| world.write(*id, Some(1), Note::Id));
        // The steps that report something, given the state between them.
        let mut telling = Vec::new();
        let done = world.clone().transaction(true, |_, step| {
            telling.extend(tells_more(step, &JobFacts::new(job)).then_some(step));
            true
        });
        prop_assert!(done.is_ok());
        for step in telling {
            let mut idle = World { idle: Some(discriminant(&step)), ..world.clone() };
            let mut times = 0;
            let refused = idle.transaction(true, |_, other| {
                times += usize::from(discriminant(&other) == discriminant(&step));
                true
            });
            prop_assert!(matches!(refused, Err(Error::NothingLearnt { .. })), "{step:?}: {refused:?}");
            // More than once if other steps of the same plan reported something first.
            prop_assert!(times <= 3, "{step:?}: {times} times");
        }
    }

    #[test]
    fn nothing_is_lost(job in jobs(), docs in prop::collection::btree_map(0..12u8, 0..8u8, 0..12),
        events in prop::collection::vec(events(), 0..40)) {
        let mut world = World::new(docs, job);
        for event in &events {
            match event {
                Event::Write(id, content, note) => world.write(*id, *content, *note),
                Event::Renamed => world.job.renewed = true,
                Event::OtherType => world.job.other_type = true,
                Event::Misplaced => world.job.misplaced = true,
                Event::Damage => world.lists.damaged = true,
                Event::OtherVersion => world.lists.order = None,
                Event::Refresh(writes, interrupted) => drop(refresh(&mut world, writes, *interrupted)),
            }
        }
        // Whatever happened, after one refresh without concurrent writers everything is as if
        // computed from scratch.
        let mut interrupted = world.clone();
        let steps = refresh(&mut world, &[], None);
        prop_assert_eq!(world.results(), world.anew());
        prop_assert!(world.is_settled());
        prop_assert!(!(world.lists.damaged && job.upkeep == Upkeep::Sets && steps.contains(&RefreshStep::EndBatch)));
        // The same holds if the refresh is interrupted before any of its steps, each time one step
        // later.
        for at in 1..=steps.len().min(40) {
            refresh(&mut interrupted, &[], Some(at));
        }
        refresh(&mut interrupted, &[], None);
        prop_assert_eq!(interrupted.results(), world.anew());
        prop_assert!(interrupted.is_settled());
        // Afterwards there is nothing to do, and little is done.
        let batches = world.batches;
        let again = refresh(&mut world, &[], None);
        prop_assert_eq!(world.batches, batches);
        prop_assert!(again.len() <= 7, "{:?}", again);
        prop_assert_eq!(again.iter().any(|step| matches!(step, RefreshStep::CompareAll { .. } | RefreshStep::TakeAll)), !job.told || world.docs.is_empty());
    }

    #[test]
    fn no_batch_is_larger_than_allowed(job in jobs(), docs in prop::collection::btree_map(0..30u8, 0..40u8, 0..30)) {
        let mut world = World::new(docs, job);
        let steps = refresh(&mut world, &[], None);
        let rows = world.docs.len();
        let batch = if job.upkeep.is_whole() { rows } else { job.batch_rows as usize };
        prop_assert_eq!(world.batches, rows.div_ceil(batch.max(1)), "{:?}", steps);
        prop_assert_eq!(world.results().2, world.docs);
    }
}
