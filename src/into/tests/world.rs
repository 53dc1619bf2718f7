//! A model of a coordinator and its servers. Changes on the coordinator are rolled back with a
//! transaction; tables created or dropped on servers are not.

use std::collections::BTreeMap;
use std::mem::{Discriminant, discriminant};

use super::stars;
use crate::into::plan::plan;
use crate::into::state::{Call, Claim, Count, Ids, Log, Progress, Sizes, State, rounds};
use crate::into::step::{End, Refusal, Stage, Step, Table};
use neardup_core::turns::Turns;

/// A document: its id, and its set, if it has one. Sets are similar if they differ by at most 1.
pub(super) type Doc = (Option<u8>, Option<u8>);
/// A row of any table: two numbers.
pub(super) type Row = (i64, i64);

/// The data that is rolled back with a transaction.
#[derive(Debug, Clone, Default, PartialEq)]
struct Here {
    /// The working tables, with the rows of those that are not on servers.
    tables: BTreeMap<Table, Vec<Row>>,
    /// The rows on servers.
    far: BTreeMap<Table, Vec<Row>>,
    /// The log: the arguments of its call, its progress, and whether the call has ended.
    log: Option<(u8, Progress, bool)>,
    /// The rows of each part of the next stage that is done, once its tables are made.
    parts: Option<Vec<Option<i64>>>,
    result: Option<Vec<Row>>,
    /// The name of each document's cluster.
    clusters: Option<Vec<Row>>,
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Made,
    Refused(Refusal),
    /// The backend or the server crashed before a step.
    Crashed,
    /// Steps reported nothing.
    NothingLearnt,
}

/// The coordinator and its servers.
#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) docs: Vec<Doc>,
    pub(super) call: Call,
    here: Here,
    /// The tables that are on the servers.
    far: Vec<Table>,
    /// The tables on servers that were created again in a transaction.
    anew: Vec<Table>,
    /// The documents as they were when they were read.
    pub(super) read: Vec<Doc>,
    /// The part that this transaction has taken.
    part: usize,
    /// How often each part of each stage was done.
    pub(super) times: BTreeMap<(usize, usize), usize>,
    /// A step that does nothing, to simulate a mistake.
    pub(super) idle: Option<Discriminant<Step>>,
}

impl World {
    pub(super) fn new(docs: Vec<Doc>, call: Call) -> Self {
        let read = docs.clone();
        Self {
            docs,
            call,
            here: Here::default(),
            far: Vec::new(),
            anew: Vec::new(),
            read,
            part: 0,
            times: BTreeMap::new(),
            idle: None,
        }
    }

    /// Reports whether a table is on servers.
    fn is_far(&self, table: Table) -> bool {
        !self.call.shared && !matches!(table, Table::Ranks | Table::Pairs)
    }

    /// Returns the number of parts of a stage.
    fn parts(table: Table) -> usize {
        if matches!(table, Table::Members | Table::Ranks) { 1 } else { 3 }
    }

    /// Executes a call with these arguments, which crashes before step `crash`, counted over all of
    /// its transactions. Returns the outcome and the steps that were executed.
    pub(super) fn call(&mut self, arguments: u8, crash: Option<usize>) -> (Outcome, Vec<Step>) {
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
                    if let Step::Done(end) = step {
                        break 'transaction end;
                    }
                    if let Step::Refuse(why) = step {
                        refused = Some((why, why == Refusal::Taken));
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

    fn state(&self, arguments: u8, first: bool) -> State {
        let log = match &self.here.log {
            None => Log::None,
            Some((_, _, true)) => Log::Finished,
            Some((of, progress, false)) if *of == arguments && self.call.in_parts => {
                Log::Ours(progress.clone())
            }
            Some(_) => Log::Other,
        };
        let mut state = State::new(Call { first, ..self.call }, log);
        state.taken = self.here.result.is_some();
        state.left = match state.log {
            Log::None => false,
            Log::Finished => !self.here.tables.is_empty(),
            Log::Other | Log::Ours(_) => true,
        };
        state
    }

    fn rows(&self, table: Table) -> &[Row] {
        let rows = if self.is_far(table) { &self.here.far } else { &self.here.tables };
        rows.get(&table).map_or(&[], Vec::as_slice)
    }

    fn step(&mut self, step: Step, arguments: u8, state: &mut State) {
        match step {
            Step::JoinHere => self.here.result = Some(self.anew()),
            Step::TakeLog => {
                self.here.log = Some((arguments, Progress::default(), false));
                self.here.parts = None;
                self.times.clear();
            }
            Step::TakePart(table) => {
                // A table that is gone is made anew, with all its parts.
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
            Step::Open => {
                let table = match self.stage().0 {
                    Stage::Table(table) => table,
                    _ => Table::Pairs,
                };
                self.here.parts = Some(vec![None; Self::parts(table)]);
            }
            Step::LogPart => {
                let (step, part) = (self.done(), self.part);
                *self.times.entry((step, part)).or_default() += 1;
                let parts = self.here.parts.as_mut().expect("parts");
                assert!(std::mem::replace(&mut parts[part], state.filled).is_none());
            }
            Step::Wait => panic!("there is one session"),
            Step::DropTables => {
                self.here.tables.clear();
                self.here.far.clear();
                self.far.clear();
            }
            Step::DropLog => self.here.log = None,
            Step::Count(table) => {
                let there = self.here.tables.contains_key(&table)
                    && (!self.is_far(table) || self.far.contains(&table));
                let rows = Count::Rows(self.rows(table).len() as i64);
                state.counted.push((table, if there { rows } else { Count::Missing }));
            }
            Step::Forget { keep } => {
                if let Some((_, progress, _)) = &mut self.here.log {
                    progress.forget(keep);
                }
                self.here.parts = None;
                self.times.retain(|(step, _), _| *step < keep);
            }
            Step::Make(table) => {
                assert!(self.here.log.is_some(), "a table that no log tells of");
                self.here.tables.insert(table, Vec::new());
                if self.is_far(table) {
                    self.far.retain(|other| *other != table);
                    self.far.push(table);
                    self.anew.push(table);
                    self.here.far.insert(table, Vec::new());
                }
            }
            Step::Fill(table) => self.fill(table, state),
            Step::CheckIds => {
                let mut ids: Vec<_> = self.read.iter().map(|(id, _)| id).collect();
                ids.sort();
                let double = ids.windows(2).any(|ids| ids[0] == ids[1]);
                let null = ids.iter().any(|id| id.is_none());
                state.ids = Some(if null {
                    Ids::Null
                } else if double {
                    Ids::Double
                } else {
                    Ids::Good
                });
            }
            Step::Measure => {
                state.sizes = Some(Sizes { bytes: 10 * self.read.len() as i64, largest: 10 });
            }
            Step::CountEqual => {
                let members = self.rows(Table::Members);
                let pairs = members.iter().enumerate();
                let equal = pairs.flat_map(|(n, a)| members[..n].iter().filter(|b| b.1 == a.1)).count();
                state.equal = Some(equal as i64);
            }
            Step::CountPairs => state.total = Some(self.expanded().len() as i64),
            Step::MakeResult => {
                let rows = self.expanded();
                state.filled = Some(rows.len() as i64);
                assert!(self.here.result.replace(rows).is_none());
            }
            Step::ClusterHere => {
                let pairs = self.here.result.as_deref().expect("pairs");
                assert!(self.here.clusters.replace(stars::components(pairs).into_iter().collect()).is_none());
            }
            Step::CountUnsettled => state.unsettled = Some(stars::unsettled(self.rows(Table::Edges))),
            Step::MakeClusters => {
                let clusters: BTreeMap<i64, i64> = self.rows(Table::Clusters).iter().copied().collect();
                let of = |&(n, first): &Row| clusters.get(&first).map(|&cluster| (n, cluster));
                let rows = self.rows(Table::Members).iter().filter_map(of).collect();
                assert!(self.here.clusters.replace(rows).is_none());
            }
            Step::Log(stage) => self.log(stage, state),
            Step::Refuse(_) | Step::Done(_) => {}
        }
    }

    fn log(&mut self, stage: Stage, state: &State) {
        let Some((_, progress, ended)) = &mut self.here.log else { panic!("no log") };
        assert_eq!(progress.next(self.call.by_stars), stage);
        let rows = state.filled.unwrap_or_default();
        match stage {
            Stage::Table(Table::Sets) => progress.sizes = state.sizes.unwrap_or_default(),
            Stage::Table(Table::Candidates) => {
                let documents = progress.expected(Table::Sets);
                progress.rounds = if self.call.shared {
                    1
                } else {
                    rounds(rows, documents, progress.sizes, self.call.allowance)
                };
            }
            Stage::Table(Table::Edges) | Stage::Stars(_) => {
                progress.unsettled.push(state.unsettled.expect("a number"));
            }
            Stage::Result => *ended = true,
            _ => {}
        }
        progress.rows.push(rows);
        self.here.parts = None;
    }

    /// Returns the number of stages that are done.
    fn done(&self) -> usize {
        self.here.log.as_ref().map_or(0, |(_, progress, _)| progress.rows.len())
    }

    fn fill(&mut self, table: Table, state: &mut State) {
        let set = |n: i64| i64::from(self.read[n as usize].1.unwrap_or_default());
        let mut rows: Vec<Row> = match table {
            Table::Sets => {
                for n in 0..self.docs.len() {
                    if !self.call.shared || n % Self::parts(table) == self.part {
                        self.read[n] = self.docs[n];
                    }
                }
                (0..self.read.len() as i64).map(|n| (n, n)).collect()
            }
            Table::Members => {
                let mut with_set: Vec<i64> =
                    self.rows(Table::Sets).iter().map(|row| row.0).filter(|&n| self.has_set(n)).collect();
                // Parts are read in any order.
                with_set.sort_unstable();
                let first = |n: i64| with_set.iter().copied().find(|&m| set(m) == set(n)).unwrap_or(n);
                with_set.iter().map(|&n| (n, first(n))).collect()
            }
            Table::Ranks => vec![(0, 0)],
            Table::Routes => {
                self.rows(Table::Members).iter().copied().filter(|(n, first)| n == first).collect()
            }
            Table::Candidates => {
                let routes = self.rows(Table::Routes);
                let near = |a: i64, b: i64| a < b && (set(a) - set(b)).abs() <= 2;
                let all = routes.iter().flat_map(|a| routes.iter().map(|b| (a.0, b.0)));
                all.filter(|&(a, b)| near(a, b)).collect()
            }
            Table::Halves => {
                let (Stage::Round(round), rounds) = self.stage() else { panic!("no round") };
                let candidates = self.rows(Table::Candidates).iter().copied();
                candidates.filter(|(a, b)| (a + b) % rounds == round).collect()
            }
            Table::Pairs => {
                let from = if self.call.shared { Table::Candidates } else { Table::Halves };
                let halves = self.rows(from).iter().copied();
                halves.filter(|&(a, b)| (set(a) - set(b)).abs() <= 1).collect()
            }
            Table::Edges if matches!(self.stage().0, Stage::Stars(_)) => {
                stars::smaller(self.rows(Table::Larger))
            }
            Table::Edges | Table::Neighbours => stars::edges(self.rows(Table::Pairs)),
            Table::Larger => stars::larger(self.rows(Table::Edges)),
            Table::Clusters => self.clusters_of_sets(),
        };
        if self.call.shared {
            // Each row belongs to a part by one of its numbers.
            let parts = Self::parts(table);
            rows.retain(|row| row.0 as usize % parts == self.part);
        }
        if !matches!(table, Table::Halves | Table::Larger) {
            state.filled = Some(rows.len() as i64);
        }
        assert!(!self.is_far(table) || self.far.contains(&table));
        if table == Table::Members && self.call.members_have_sets {
            self.here.tables.remove(&Table::Sets);
            self.here.far.remove(&Table::Sets);
        }
        let to = if self.is_far(table) { &mut self.here.far } else { &mut self.here.tables };
        to.get_mut(&table).expect("a table that was made").extend(rows);
    }

    /// Returns the next stage, and the number of rounds in which candidates are compared.
    fn stage(&self) -> (Stage, i64) {
        let Some((_, progress, _)) = &self.here.log else { panic!("no log") };
        (progress.next(self.call.by_stars), progress.rounds)
    }

    /// Returns, for each set that is in a cluster, its document and the first document of the
    /// cluster.
    fn clusters_of_sets(&self) -> Vec<Row> {
        let edges: BTreeMap<i64, i64> = self.rows(Table::Edges).iter().map(|&(u, v)| (u, u.min(v))).collect();
        let members = self.rows(Table::Members);
        let root = |first: i64| edges.get(&first).copied().unwrap_or(first);
        let rows = members.iter().filter(|(n, first)| n == first).map(|&(n, _)| {
            let cluster = members.iter().filter(|row| root(row.1) == root(n)).map(|row| row.0);
            (n, cluster.clone().min().unwrap_or(n), cluster.count())
        });
        rows.filter(|row| row.2 > 1).map(|(n, least, _)| (n, least)).collect()
    }

    fn has_set(&self, n: i64) -> bool {
        self.read[n as usize].1.is_some()
    }

    /// Returns the pairs of all members.
    fn expanded(&self) -> Vec<Row> {
        let members = self.rows(Table::Members);
        let of = |first: i64| members.iter().filter(move |row| row.1 == first).map(|row| row.0);
        let mut pairs: Vec<Row> = Vec::new();
        for &(a, b) in self.rows(Table::Pairs) {
            pairs.extend(of(a).flat_map(|a| of(b).map(move |b| (a.min(b), a.max(b)))));
        }
        for (n, a) in members.iter().enumerate() {
            pairs.extend(members[..n].iter().filter(|b| b.1 == a.1).map(|b| (b.0.min(a.0), b.0.max(a.0))));
        }
        pairs.sort_unstable();
        pairs
    }

    /// Returns the pairs of the documents that were read, compared one by one.
    pub(super) fn anew(&self) -> Vec<Row> {
        let count = self.read.len() as i64;
        let all = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
        let set = |n: i64| self.read[n as usize].1.map(i64::from);
        all.filter(|&(a, b)| set(a).zip(set(b)).is_some_and(|(a, b)| (a - b).abs() <= 1)).collect()
    }

    /// Takes the result, as a caller who drops it before another call.
    pub(super) fn take_result(&mut self) -> Option<Vec<Row>> {
        self.here.clusters = None;
        self.here.result.take()
    }

    /// Returns the name of each document's cluster.
    pub(super) fn clusters(&self) -> Option<Vec<Row>> {
        self.here.clusters.clone()
    }

    /// Counts the working tables, here and on servers.
    pub(super) fn tables(&self) -> usize {
        self.here.tables.len() + self.far.len()
    }

    /// Simulates a crash of a server: its unlogged tables are empty afterwards.
    pub(super) fn lose_rows(&mut self) {
        self.here.far.values_mut().for_each(Vec::clear);
    }

    /// Simulates a crash of the coordinator, which loses the rows of unlogged tables.
    pub(super) fn lose_own_rows(&mut self) {
        if !self.call.shared {
            self.here.tables.values_mut().for_each(Vec::clear);
        }
    }

    /// Simulates that a table on a server is dropped.
    pub(super) fn lose_table(&mut self, table: Table) {
        self.far.retain(|other| *other != table);
        self.here.far.remove(&table);
        if self.call.shared {
            self.here.tables.remove(&table);
        }
    }
}
