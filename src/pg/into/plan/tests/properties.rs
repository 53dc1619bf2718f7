//! Tests that whatever happens to calls, once one ends, its result equals that of one join, and no
//! working table is left.

use std::mem::discriminant;

use proptest::prelude::*;

use super::stars::components;
use super::world::{Doc, Outcome, World};
use crate::into::state::CallRequest;
use crate::into::step::{CallStep, RefusalReason, WorkingTable};

fn docs() -> impl Strategy<Value = Vec<Doc>> {
    let sets = || prop_oneof![1 => Just(None), 6 => (0..10u8).prop_map(Some)];
    let good = prop::collection::vec(sets(), 0..12)
        .prop_map(|sets| (0..).zip(sets).map(|(id, set)| (Some(id), set)).collect());
    let any =
        prop::collection::vec((prop_oneof![1 => Just(None), 20 => (0..40u8).prop_map(Some)], sets()), 0..8);
    prop_oneof![6 => good, 1 => any]
}

prop_compose! {
    fn calls()(in_parts in prop::bool::weighted(0.9), shared in any::<bool>(), max_pairs in prop::option::of(0..30i64),
        clusters in any::<bool>(), by_stars in any::<bool>(), compares_by_ranks in any::<bool>(), allowance in prop_oneof![Just(0), Just(1 << 30)]) -> CallRequest {
        let shared = shared && in_parts;
        let by_stars = by_stars && clusters && in_parts && !shared;
        CallRequest { in_parts, shared, by_groups: false, first: true, update: false, max_pairs: max_pairs.filter(|_| in_parts), clusters, by_stars, compares_by_ranks, allowance }
    }
}

/// An event between calls.
#[derive(Debug, Clone)]
enum Event {
    /// A call with other arguments or the same, which crashes before this step.
    Call(u8, Option<usize>),
    /// A server lost its rows, or the coordinator did.
    LoseRows,
    LoseOwnRows,
    LoseTable(usize),
    /// The documents change.
    Write(usize, Option<u8>),
    /// The result is dropped.
    Drop,
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (0..2u8, prop::option::weighted(0.9, 0..60usize)).prop_map(|(of, crash)| Event::Call(of, crash)),
        1 => Just(Event::LoseRows),
        1 => Just(Event::LoseOwnRows),
        1 => (0..=WorkingTable::Routed as usize).prop_map(Event::LoseTable),
        1 => (0..12usize, prop::option::of(0..10u8)).prop_map(|(n, set)| Event::Write(n, set)),
        1 => Just(Event::Drop),
    ]
}

/// Repeats calls without a crash until there is a result for these arguments, or a reason why it is
/// missing.
fn settle(world: &mut World) -> Outcome {
    match world.call(0, None).0 {
        Outcome::Refused(RefusalReason::Taken) => {
            world.take_result();
            world.call(0, None).0
        }
        outcome => outcome,
    }
}

fn is_right(world: &mut World, outcome: Outcome) -> Result<(), TestCaseError> {
    prop_assert_eq!(world.tables(), 0, "{:?}", outcome);
    let expected = world.anew();
    let ids: Vec<_> = world.read.iter().map(|(id, _)| id).collect();
    let double = (0..ids.len()).any(|n| ids[..n].contains(&ids[n]));
    let null = ids.iter().any(|id| id.is_none());
    let many = world.call.max_pairs.is_some_and(|most| expected.len() as i64 > most);
    match outcome {
        Outcome::Made => {
            prop_assert!(!(world.call.in_parts && (null || double)) && !many);
            let clusters = world.call.clusters.then(|| components(&expected).into_iter().collect());
            prop_assert_eq!(world.clusters(), clusters);
            prop_assert_eq!(world.take_result(), Some(expected));
        }
        Outcome::Refused(RefusalReason::NullId) => prop_assert!(null),
        Outcome::Refused(RefusalReason::DoubleId) => prop_assert!(double),
        Outcome::Refused(RefusalReason::Pairs) => prop_assert!(many),
        other => prop_assert!(false, "{:?}", other),
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_crash_between_any_two_steps(docs in docs(), call in calls()) {
        let mut world = World::new(docs, call);
        let (outcome, steps) = world.clone().call(0, None);
        for at in 0..=steps.len() {
            let mut world = world.clone();
            // Another crash, after continuing from the completed stages.
            world.call(0, Some(at));
            world.call(0, Some(at.min(7)));
            let ended = settle(&mut world);
            prop_assert_eq!(ended, outcome);
            // What is committed is not done again.
            prop_assert!(world.times.values().all(|&times| times == 1), "{:?}", world.times);
            is_right(&mut world, ended)?;
        }
        let ended = settle(&mut world);
        is_right(&mut world, ended)?;
    }

    #[test]
    fn a_step_that_tells_nothing_is_refused(docs in docs(), call in calls()) {
        let telling = [
            CallStep::Count(WorkingTable::Sets),
            CallStep::Fill(WorkingTable::Sets),
            CallStep::CheckIds,
            CallStep::Measure,
            CallStep::CountEqual,
            CallStep::CountPairs,
            CallStep::MakeResult,
            CallStep::TakePart(WorkingTable::Sets),
            CallStep::CountUnsettled,
        ];
        let world = World::new(docs, call);
        let (_, done) = world.clone().call(0, None);
        for step in telling.map(|step| discriminant(&step)) {
            let is_done = |done: &[CallStep]| done.iter().any(|other| discriminant(other) == step);
            let mut idle = world.clone();
            idle.idle = Some(step);
            let (outcome, done_idle) = idle.call(0, None);
            prop_assert_eq!(is_done(&done_idle), is_done(&done));
            prop_assert_eq!(outcome == Outcome::NothingLearnt, is_done(&done), "{:?}", done_idle);
        }
    }

    #[test]
    fn nothing_is_left(docs in docs(), call in calls(), events in prop::collection::vec(events(), 0..20)) {
        let mut world = World::new(docs, call);
        for event in events {
            match event {
                Event::Call(of, crash) => drop(world.call(of, crash)),
                Event::LoseRows => world.lose_rows(),
                Event::LoseOwnRows => world.lose_own_rows(),
                Event::LoseTable(n) => world.lose_table(WorkingTable::ALL[n]),
                Event::Write(n, set) => if let Some(doc) = world.docs.get_mut(n) { doc.1 = set },
                Event::Drop => drop(world.take_result()),
            }
        }
        if !world.call.in_parts {
            world.read = world.docs.clone();
        }
        let ended = settle(&mut world);
        is_right(&mut world, ended)?;
        // Afterwards there is nothing that a call would continue with.
        let (ended, steps) = world.call(0, None);
        prop_assert!(!steps.contains(&CallStep::DropTables) || ended != Outcome::Refused(RefusalReason::Taken));
        world.read = world.docs.clone();
        is_right(&mut world, ended)?;
    }
}
