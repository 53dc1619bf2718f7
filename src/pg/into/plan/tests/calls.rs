//! The calls of the model: they follow the plans, until they end or crash.

use std::collections::BTreeMap;
use std::mem::discriminant;

use super::stars;
use super::world::{Outcome, Row, World};
use crate::into::plan::plan;
use crate::into::state::{
    CallFacts, CallRequest, CheckedIds, Claim, Count, DoneStages, LogState, SetSizes, rounds,
};
use crate::into::step::{CallStep, End, LoggedStage, RefusalReason, WorkingTable};
use neardup_core::turns::Turns;

impl World {
    /// Executes a call with these arguments, which crashes before step `crash`, counted over all of
    /// its transactions. Returns the outcome and the steps that were executed.
    pub(super) fn call(&mut self, arguments: u8, crash: Option<usize>) -> (Outcome, Vec<CallStep>) {
        let (mut refused, mut first) = (None, true);
        let mut done = Vec::new();
        loop {
            let times = self.times.clone();
            if let Some((why, true)) = refused {
                return (Outcome::Refused(why), done);
            }
            let mut state = self.state(arguments, first);
            state.refused = refused.is_some();
            let committed = self.here.clone();
            self.anew.clear();
            let mut turns = Turns::default();
            let end = 'transaction: loop {
                let Ok(steps) = turns.plan(&state, plan) else { return (Outcome::NothingLearnt, done) };
                for step in steps {
                    if crash == Some(done.len()) {
                        (self.here, self.times) = (committed, times);
                        // The rows of dropped tables are lost.
                        let far = &self.far;
                        self.here.far.retain(|table, _| far.contains(table));
                        self.anew.iter().for_each(|table| drop(self.here.far.remove(table)));
                        return (Outcome::Crashed, done);
                    }
                    done.push(step);
                    assert!(done.len() < 500, "{done:?}");
                    if let CallStep::Done(end) = step {
                        break 'transaction end;
                    }
                    if let CallStep::Refuse(why) = step {
                        refused = Some((why, why == RefusalReason::Taken));
                    }
                    if self.idle != Some(discriminant(&step)) {
                        self.step(step, arguments, &mut state);
                    }
                }
            };
            if let (Some((_, gone)), true) = (&mut refused, state.refused) {
                *gone = true;
            }
            first = false;
            if end == End::Ended {
                return (Outcome::Made, done);
            }
        }
    }

    fn state(&self, arguments: u8, first: bool) -> CallFacts {
        let log = match &self.here.log {
            None => LogState::None,
            Some((_, _, true)) => LogState::Finished,
            Some((of, progress, false)) if *of == arguments && self.call.in_parts => {
                LogState::Ours(progress.clone())
            }
            Some(_) => LogState::Other,
        };
        let mut state = CallFacts::new(CallRequest { first, ..self.call }, log);
        state.taken = self.here.result.is_some();
        state.left = match state.log {
            LogState::None => false,
            LogState::Finished => !self.here.tables.is_empty(),
            LogState::Other | LogState::Ours(_) => true,
        };
        state
    }

    fn step(&mut self, step: CallStep, arguments: u8, state: &mut CallFacts) {
        match step {
            CallStep::JoinHere => self.here.result = Some(self.anew()),
            CallStep::TakeLog => {
                self.here.log = Some((arguments, DoneStages::default(), false));
                self.here.parts = None;
                self.times.clear();
            }
            CallStep::TakePart(table) => {
                // A table that is gone is made again, with all its parts.
                let done = self.here.parts.as_deref().filter(|_| self.here.tables.contains_key(&table));
                let rows = done.iter().copied().flatten().flatten().sum();
                state.claim = Some(match done.map(|done| done.iter().position(Option::is_none)) {
                    None => Claim::Closed,
                    Some(None) => Claim::Done(rows),
                    Some(Some(_)) => Claim::Part { before: rows },
                });
                match state.claim {
                    Some(Claim::Done(_)) => state.filled = Some(rows),
                    // Any part that is not done may be taken: here the last one.
                    _ => {
                        self.part = done.and_then(|done| done.iter().rposition(Option::is_none)).unwrap_or(0)
                    }
                }
                assert!(done.is_none_or(|done| done.len() == Self::parts(table)));
            }
            CallStep::Open => {
                let table = match self.stage().0 {
                    LoggedStage::Table(table) => table,
                    _ => WorkingTable::Pairs,
                };
                self.here.parts = Some(vec![None; Self::parts(table)]);
            }
            CallStep::LogPart => {
                let (step, part) = (self.done(), self.part);
                *self.times.entry((step, part)).or_default() += 1;
                let parts = self.here.parts.as_mut().expect("parts");
                assert!(std::mem::replace(&mut parts[part], state.filled).is_none());
            }
            CallStep::Wait => panic!("there is one session"),
            CallStep::DropTables => {
                self.here.tables.clear();
                self.here.far.clear();
                self.far.clear();
            }
            CallStep::DropLog => self.here.log = None,
            CallStep::BeginUpdate => panic!("the model has no updates"),
            CallStep::Count(table) => {
                let there = self.here.tables.contains_key(&table)
                    && (!self.is_far(table) || self.far.contains(&table));
                let rows = Count::Rows(self.rows(table).len() as i64);
                state.counted.push((table, if there { rows } else { Count::Missing }));
            }
            CallStep::Forget { keep } => {
                if let Some((_, progress, _)) = &mut self.here.log {
                    progress.forget(keep);
                }
                self.here.parts = None;
                self.times.retain(|(step, _), _| *step < keep);
            }
            CallStep::Make(table) => {
                assert!(self.here.log.is_some(), "a table that no log tells of");
                self.here.tables.insert(table, Vec::new());
                if self.is_far(table) {
                    self.far.retain(|other| *other != table);
                    self.far.push(table);
                    self.anew.push(table);
                    self.here.far.insert(table, Vec::new());
                }
            }
            CallStep::Fill(table) => self.fill(table, state),
            CallStep::CheckIds => {
                let mut ids: Vec<_> = self.read.iter().map(|(id, _)| id).collect();
                ids.sort();
                let double = ids.windows(2).any(|ids| ids[0] == ids[1]);
                let null = ids.iter().any(|id| id.is_none());
                state.ids = Some(if null {
                    CheckedIds::Null
                } else if double {
                    CheckedIds::Double
                } else {
                    CheckedIds::Good
                });
            }
            CallStep::Measure => {
                state.sizes = Some(SetSizes { bytes: 10 * self.read.len() as i64, largest: 10 });
            }
            CallStep::CountEqual => {
                let members = self.rows(WorkingTable::Members);
                let pairs = members.iter().enumerate();
                let equal = pairs.flat_map(|(n, a)| members[..n].iter().filter(|b| b.1 == a.1)).count();
                state.equal = Some(equal as i64);
            }
            CallStep::CountPairs => state.total = Some(self.expanded().len() as i64),
            CallStep::MakeResult => {
                let rows = self.expanded();
                state.filled = Some(rows.len() as i64);
                assert!(self.here.result.replace(rows).is_none());
            }
            CallStep::ClusterHere => {
                let pairs = self.here.result.as_deref().expect("pairs");
                assert!(self.here.clusters.replace(stars::components(pairs).into_iter().collect()).is_none());
            }
            CallStep::CountUnsettled => {
                state.unsettled = Some(stars::unsettled(self.rows(WorkingTable::Edges)))
            }
            CallStep::MakeClusters => {
                let clusters: BTreeMap<i64, i64> =
                    self.rows(WorkingTable::Clusters).iter().copied().collect();
                let of = |&(n, first): &Row| clusters.get(&first).map(|&cluster| (n, cluster));
                let rows = self.rows(WorkingTable::Members).iter().filter_map(of).collect();
                assert!(self.here.clusters.replace(rows).is_none());
            }
            CallStep::Log(stage) => self.log(stage, state),
            CallStep::Refuse(_) | CallStep::Done(_) => {}
        }
    }

    fn log(&mut self, stage: LoggedStage, state: &CallFacts) {
        let Some((_, progress, ended)) = &mut self.here.log else { panic!("no log") };
        assert_eq!(progress.next(self.call.by_stars), stage);
        let rows = state.filled.unwrap_or_default();
        match stage {
            LoggedStage::Table(WorkingTable::Sets) => progress.sizes = state.sizes.unwrap_or_default(),
            LoggedStage::Table(WorkingTable::Candidates) => {
                let documents = progress.expected(WorkingTable::Sets);
                progress.rounds = if self.call.shared {
                    1
                } else {
                    rounds(rows, documents, progress.sizes, self.call.allowance)
                };
            }
            LoggedStage::Table(WorkingTable::Edges) | LoggedStage::Stars(_) => {
                progress.unsettled.push(state.unsettled.expect("a number"));
            }
            LoggedStage::Result => *ended = true,
            _ => {}
        }
        progress.rows.push(rows);
        self.here.parts = None;
    }

    /// Returns the number of stages that are done.
    fn done(&self) -> usize {
        self.here.log.as_ref().map_or(0, |(_, progress, _)| progress.rows.len())
    }
}
