//! A model of a coordinator and its servers. Changes on the coordinator are rolled back with a
//! transaction; tables created or dropped on servers are not.

use std::collections::BTreeMap;
use std::mem::Discriminant;

use crate::into::state::{CallRequest, DoneStages};
use crate::into::step::{CallStep, RefusalReason, WorkingTable};

/// A document: its id, and its set, if it has one. Sets are similar if they differ by at most 1.
pub(super) type Doc = (Option<u8>, Option<u8>);
/// A row of any table: two numbers.
pub(super) type Row = (i64, i64);

/// The data that is rolled back with a transaction.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Here {
    /// The working tables, with the rows of those that are not on servers.
    pub(super) tables: BTreeMap<WorkingTable, Vec<Row>>,
    /// The rows on servers.
    pub(super) far: BTreeMap<WorkingTable, Vec<Row>>,
    /// The log: the arguments of its call, its progress, and whether the call has ended.
    pub(super) log: Option<(u8, DoneStages, bool)>,
    /// The rows of each part of the next stage that is done, once its tables are made.
    pub(super) parts: Option<Vec<Option<i64>>>,
    pub(super) result: Option<Vec<Row>>,
    /// The name of each document's cluster.
    pub(super) clusters: Option<Vec<Row>>,
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Made,
    Refused(RefusalReason),
    /// The backend or the server crashed before a step.
    Crashed,
    /// Steps reported nothing.
    NothingLearnt,
}

/// The coordinator and its servers.
#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) docs: Vec<Doc>,
    pub(super) call: CallRequest,
    pub(super) here: Here,
    /// The tables that are on the servers.
    pub(super) far: Vec<WorkingTable>,
    /// The tables on servers that were created again in a transaction.
    pub(super) anew: Vec<WorkingTable>,
    /// The documents as they were when they were read.
    pub(super) read: Vec<Doc>,
    /// The part that this transaction has taken.
    pub(super) part: usize,
    /// How often each part of each stage was done.
    pub(super) times: BTreeMap<(usize, usize), usize>,
    /// A step that does nothing, to simulate a mistake.
    pub(super) idle: Option<Discriminant<CallStep>>,
}

impl World {
    pub(super) fn new(docs: Vec<Doc>, call: CallRequest) -> Self {
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
    pub(super) fn is_far(&self, table: WorkingTable) -> bool {
        !self.call.shared && !matches!(table, WorkingTable::Ranks | WorkingTable::Pairs)
    }

    /// Returns the number of parts of a stage.
    pub(super) fn parts(table: WorkingTable) -> usize {
        if matches!(table, WorkingTable::Members | WorkingTable::Ranks) { 1 } else { 3 }
    }

    pub(super) fn rows(&self, table: WorkingTable) -> &[Row] {
        let rows = if self.is_far(table) { &self.here.far } else { &self.here.tables };
        rows.get(&table).map_or(&[], Vec::as_slice)
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
    pub(super) fn lose_table(&mut self, table: WorkingTable) {
        self.far.retain(|other| *other != table);
        self.here.far.remove(&table);
        if self.call.shared {
            self.here.tables.remove(&table);
        }
    }
}
