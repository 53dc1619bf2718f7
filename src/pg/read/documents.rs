//! The documents of one or two tables of the server, in the form that a method reads.

use std::time::Instant;

use pgrx::pg_sys;

use super::groups::GroupedTables;
use super::sites::ReadSites;
use super::source::DocumentSource;
use super::stream::{DocumentStream, ReadRows};
use crate::pg::query::Query;
use crate::pg::query::cursor::OpenCursor;
use crate::pg::query::ids::RowIds;
use crate::pg::server::activity::Reporter;
use crate::pg::server::allocator;
use crate::pg::server::error::{Message, Result, SqlError};
use crate::pg::server::executor::{BackendExecutor, begin_count, interrupt_pending};
use crate::pg::server::settings;
use crate::pg::server::temp_file::ServerFiles;
use crate::pg::server::values::value;
use neardup_core::error::{Error, Result as CoreResult};
use neardup_core::executor::Executor;
use neardup_core::features::source_document::SourceDocument;
use neardup_core::memory;
use neardup_core::methods::account::{Account, milliseconds};
use neardup_core::methods::documents::{Documents, Progress as Told, Side};
use neardup_core::methods::reading::Reading;
use neardup_core::methods::sites::Sites;
use neardup_core::sketches::stored::SketchReader;
use neardup_core::storage::files::Resources;

/// Documents that come through cursors. An error of the server is stored here while the core
/// returns [`Error::Source`] in its place.
struct CursorTables<'a> {
    sources: [Option<&'a DocumentSource>; 2],
    /// The ids that have been read so far, for each of the two tables.
    ids: [RowIds; 2],
    sites: Option<ReadSites>,
    /// The sources of rows, if only rows of different sources are compared.
    across: Option<ReadSites>,
    /// The tables, if their rows are read by groups.
    grouped: GroupedTables<'a>,
    /// The reader of the sketches in both tables, if the documents are sketches.
    sketches: SketchReader,
    /// The SQL expression for the weight of rows of the left table.
    weight: Option<String>,
    stream: Option<DocumentStream<'a>>,
    side: Side,
    failed: Option<SqlError>,
}

impl CursorTables<'_> {
    /// Stores an error of the server. A lack of memory is an error of the core wherever it was
    /// found: the core then goes on with temporary files.
    fn keep<T>(&mut self, result: Result<T>) -> CoreResult<T> {
        result.map_err(|error| match error {
            SqlError::Own { message: Message::Core(error @ Error::BeyondAllowance { .. }), .. } => error,
            error => {
                self.failed = Some(error);
                Error::Source
            }
        })
    }

    /// Returns how many times the data that has been read is the data to be expected; 1 after the
    /// reading. Later steps take more memory than the reading.
    fn times_expected(&self) -> f64 {
        const STEPS: f64 = 1.5;
        let tables = if self.has_right() && self.side == Side::Left { 2.0 } else { 1.0 };
        let read = self.ids[self.side as usize].len();
        self.stream.as_ref().map_or(1.0, |stream| STEPS * tables * stream.times_read(read).max(1.0))
    }

    fn source(&self, side: Side) -> Option<&DocumentSource> {
        self.sources[side as usize]
    }

    /// Prepares to keep the sites and the sources of rows, if there are such columns.
    fn begin_sites(&mut self) {
        let sources = || self.sources.into_iter().flatten();
        let has_sites = self.source(Side::Left).is_some_and(DocumentSource::has_sites);
        self.sites = has_sites.then(|| ReadSites::new(sources().map(|source| source.site_equality)));
        let is_across = sources().any(|source| source.across.is_some());
        let equalities = sources().map(|source| source.across.as_ref().and_then(|column| column.equality));
        self.across = is_across.then(|| ReadSites::new(equalities));
    }

    /// Moves on to the next group that each table has. Returns the numbers of its first rows.
    fn next_of_tables(&mut self) -> Result<Option<[u32; 2]>> {
        if self.grouped.0.is_empty() {
            self.begin_sites();
            self.grouped = GroupedTables::open(self.sources)?;
        }
        let Self { ids, sites, across, sketches, grouped, .. } = self;
        grouped.next(|table, side| {
            let ids = &mut ids[side as usize];
            table.next(&mut ReadRows { side, ids, sites, across, sketches })
        })
    }
}

impl Documents for CursorTables<'_> {
    fn has_right(&self) -> bool {
        self.sources[Side::Right as usize].is_some()
    }

    fn again(&mut self) {
        self.ids.iter_mut().for_each(|ids| *ids = RowIds::new(ids.type_oid()));
        (self.stream, self.grouped) = (None, GroupedTables::default());
    }

    fn begin(&mut self, side: Side) -> CoreResult<()> {
        self.side = side;
        if self.is_grouped() {
            return Ok(());
        }
        if side == Side::Left {
            self.begin_sites();
        }
        let stream = self.sources[side as usize].map(DocumentSource::stream).transpose();
        self.stream = self.keep(stream)?;
        Ok(())
    }

    fn fetch(&mut self, documents: &mut Vec<(u32, SourceDocument)>) -> CoreResult<usize> {
        let Self { ids, sites, across, sketches, side, .. } = self;
        let mut rows = ReadRows { side: *side, ids: &mut ids[*side as usize], sites, across, sketches };
        let fetched = match (self.grouped.0.get_mut(*side as usize), &mut self.stream) {
            (Some(table), _) => table.fetch(documents, &mut rows),
            (None, Some(stream)) => stream.fetch(documents, &mut rows, &mut |_, _| Ok(())),
            (None, None) => Ok(0),
        };
        self.keep(fetched)
    }

    fn unreadable(&mut self, side: Side, row: u32, why: Error) -> Error {
        let Some(source) = self.sources[side as usize] else { return why };
        self.failed = Some(source.unreadable(why, &self.ids[side as usize].show(row)));
        Error::Source
    }

    fn ended(&self) -> bool {
        if let Some(table) = self.grouped.0.get(self.side as usize) {
            return table.ended();
        }
        self.stream.as_ref().is_none_or(|stream| stream.ended)
    }

    fn is_ready(&self) -> bool {
        self.source(self.side).is_some_and(|source| source.is_quick) && !interrupt_pending()
    }

    fn end(&mut self, side: Side, executor: &dyn Executor) -> CoreResult<()> {
        let Some(source) = self.sources[side as usize] else { return Ok(()) };
        let sorted = self.ids[side as usize].sort(&source.relation, source.id_argument, executor);
        self.keep(sorted)?;
        self.stream = None;
        self.grouped = GroupedTables::default();
        if side == Side::Right || !self.has_right() {
            let mut all = self.sites.iter_mut().chain(&mut self.across);
            let ended = all.try_for_each(|sites| sites.end(executor));
            self.keep(ended)?;
        }
        Ok(())
    }

    fn rows(&self, side: Side) -> usize {
        if let Some(table) = self.grouped.0.get(side as usize) {
            return table.rows();
        }
        self.ids[side as usize].len()
    }

    fn ids_bytes(&self) -> usize {
        let values: usize = self.sites.iter().chain(&self.across).map(ReadSites::bytes).sum();
        let sources = self.across.as_ref().map_or(0, |of| of.sites.bytes());
        self.ids.iter().map(RowIds::bytes).sum::<usize>() + values + sources + self.grouped.bytes()
    }

    fn order(&mut self, side: Side, executor: &dyn Executor) -> CoreResult<Vec<u32>> {
        let order = self.ids[side as usize].in_order(executor);
        self.keep(order)
    }

    fn sites(&self) -> Option<&Sites> {
        self.sites.as_ref().map(|of| &of.sites)
    }

    fn weights(&mut self, order: &[u32]) -> CoreResult<Option<Vec<i64>>> {
        let (Some(weight), Some(source)) = (&self.weight, self.source(Side::Left)) else { return Ok(None) };
        let mut weights = memory::filled(0, order.len(), "weighing documents")?;
        let sql = format!(
            "SELECT {}, pg_catalog.dense_rank() OVER (ORDER BY {weight} NULLS FIRST) FROM {} AS d",
            source.id, source.table
        );
        let ids = &self.ids[Side::Left as usize];
        let read = read_ranks(&sql, source, ids, order, |place, rank| weights[place] = rank);
        self.keep(read)?;
        Ok(Some(weights))
    }

    fn is_grouped(&self) -> bool {
        self.source(Side::Left).is_some_and(|source| source.group.is_some())
    }

    fn next_group(&mut self) -> CoreResult<Option<[u32; 2]>> {
        let next = self.next_of_tables();
        self.keep(next)
    }

    fn across(&self) -> Option<&[u32]> {
        self.across.as_ref().map(|of| of.sites.numbers())
    }
}

impl Told for Reporter {
    fn report(&mut self, state: &dyn Fn() -> String) {
        Self::report(self, state);
    }
}

/// A reading of documents inside the server, with the threads and the memory that the settings
/// allow, and with temporary files of the server.
pub(crate) struct ServerReading<'a> {
    tables: CursorTables<'a>,
    /// The executor that provides the threads.
    pub executor: BackendExecutor,
    files: ServerFiles,
    /// The number of bytes of memory to use, including the memory for ids.
    pub memory: usize,
    progress: Reporter,
}

/// The data that remains after the documents have been read.
pub(crate) struct Finished {
    /// The ids of the only or left table.
    pub left: RowIds,
    /// The ids of the right table, and the number of its first row.
    pub right: Option<(RowIds, u32)>,
    /// The executor that provides the threads.
    pub executor: BackendExecutor,
    /// The progress of the call.
    pub progress: Reporter,
}

impl Finished {
    /// Returns the ids of two rows: of a row of the left table and a row of the right table, or of
    /// two rows of the only table. The row numbers of the right table continue those of the left
    /// table.
    pub(crate) fn ids(&self, left: u32, right: u32) -> [pg_sys::Datum; 2] {
        let right = match &self.right {
            Some((ids, from)) => ids.datum(right - from),
            None => self.left.datum(right),
        };
        [self.left.datum(left), right]
    }

    /// Prefetches the data about the rows of a pair.
    #[inline]
    pub(crate) fn prefetch(&self, [left, right]: [u32; 2]) {
        self.left.prefetch(left);
        match &self.right {
            Some((ids, from)) => ids.prefetch(right - from),
            None => self.left.prefetch(right),
        }
    }
}

impl<'a> ServerReading<'a> {
    /// Prepares to read the documents for a call of the SQL function `name`. No document is read
    /// yet. The current memory context must outlive the call.
    pub(crate) fn open(
        name: &'static str,
        left: &'a DocumentSource,
        right: Option<&'a DocumentSource>,
        id_type: pg_sys::Oid,
    ) -> Self {
        allocator::keep_little();
        begin_count();
        let docs = left.oid;
        Self {
            tables: CursorTables {
                sources: [Some(left), right],
                ids: [RowIds::new(id_type), RowIds::new(id_type)],
                sites: None,
                across: None,
                grouped: GroupedTables::default(),
                sketches: SketchReader::default(),
                weight: None,
                stream: None,
                side: Side::Left,
                failed: None,
            },
            executor: BackendExecutor::new(),
            files: ServerFiles::in_current_context(),
            memory: settings::memory(),
            progress: Reporter::new(name, docs),
        }
    }

    /// Sets the weight of rows as an SQL expression relative to the alias `d`, for methods that
    /// need weights.
    pub(crate) fn weigh_by(&mut self, weight: Option<String>) {
        self.tables.weight = weight;
    }

    /// Lets `work` read the documents. Returns the result of `work` and the account of the reading.
    /// An error of the server is returned unchanged.
    pub(crate) fn run<T, E: Into<SqlError>>(
        &mut self,
        work: impl FnOnce(&mut Reading<'_>) -> std::result::Result<T, E>,
    ) -> Result<(T, Account)> {
        let resources = Resources { files: &self.files, budget: self.memory, executor: &self.executor };
        let mut reading = Reading::new(&mut self.tables, &mut self.progress, resources);
        let made = work(&mut reading);
        let account = reading.account;
        match made {
            Ok(made) => Ok((made, account)),
            Err(error) => {
                let error = self.tables.failed.take().unwrap_or_else(|| error.into());
                Err(error.for_more_data(|| self.tables.times_expected()))
            }
        }
    }

    /// Works with all documents, and ends the reading: the rest of the time is what the account
    /// says of the preparation.
    pub(crate) fn prepare<T, E: Into<SqlError>>(
        mut self,
        work: impl FnOnce(&mut Reading<'_>) -> std::result::Result<T, E>,
    ) -> Result<(T, Finished, Account)> {
        let began = Instant::now();
        let (made, mut account) = self.run(work)?;
        account.phases[1] = milliseconds(began) - account.phases[0];
        Ok((made, self.finish(), account))
    }

    /// Returns the ids of the only or left table, once it is read.
    pub(crate) fn left(&self) -> &RowIds {
        &self.tables.ids[Side::Left as usize]
    }

    /// Ends the reading and returns the ids of all rows.
    pub(crate) fn finish(self) -> Finished {
        let has_right = self.tables.has_right();
        let [left, right] = self.tables.ids;
        let from = left.len() as u32;
        Finished {
            left,
            right: has_right.then_some((right, from)),
            executor: self.executor,
            progress: self.progress,
        }
    }
}

/// Reads the ranks of rows from the query `sql` on `source`, which returns ids and ranks. `order`
/// lists some rows in the order of their ids; none are all rows, which are in this order. `each`
/// receives the place of a row in the order, and its rank.
pub(crate) fn read_ranks(
    sql: &str,
    source: &DocumentSource,
    ids: &RowIds,
    order: &[u32],
    mut each: impl FnMut(usize, i64),
) -> Result<()> {
    const ROWS_A_FETCH: usize = 1 << 10;
    let query = Query { relations: &[source.oid], ..Query::new(sql) };
    OpenCursor::open(&query, [ids.type_oid(), pg_sys::INT8OID])?.for_each(ROWS_A_FETCH, |[id, rank]| {
        let (Some(id), Some(rank)) = (id, rank) else { return Ok(()) };
        // SAFETY: the cursor checked that ids are of their type, and ranks bigint.
        unsafe {
            if let Some(place) = ids.find(order, id) {
                each(place, value(rank).unwrap_or(i64::MAX));
            }
        }
        Ok(())
    })
}
