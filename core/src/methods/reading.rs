//! Reads the documents of one or two tables in batches, within a memory budget. The next batch is
//! read while workers process the current one.

use std::cell::RefCell;
use std::time::Instant;

use super::account::{Account, milliseconds};
use super::batch::{Batch, Unreadable};
use super::documents::{Documents, Progress, Side};
use super::short_texts::{LongParts, WordCounts};
use super::sites::Sites;
use crate::error::{Error, Result};
use crate::executor::Executor;
use crate::features::source_document::SourceDocument;
use crate::memory;
use crate::storage::files::{Resources, TempFiles};

/// The means with which a method reads its documents, and the account that it writes.
pub struct Reading<'a> {
    pub(super) documents: &'a mut dyn Documents,
    pub(super) progress: &'a mut dyn Progress,
    /// The threads to work with.
    pub executor: &'a dyn Executor,
    /// The source of temporary files.
    pub files: &'a dyn TempFiles,
    /// The number of bytes to work with, including the bytes of ids.
    pub memory: usize,
    /// The account of the call.
    pub account: Account,
    /// The approximate number of bytes of the documents in a batch. Batches are smaller if there is
    /// little memory. With large batches, threads wait for each other less often. The data derived
    /// from a batch must not be much larger than the batch.
    pub batch_bytes: usize,
    /// Set if there are so few documents that preparing for many takes longer than the work.
    pub(super) is_small: bool,
    /// The number of pairs after which the caller gives up, if it does.
    pub most_pairs: Option<u64>,
    /// The number of the right table's first row, once that table has been read.
    right_from: Option<u32>,
}

/// Documents that were read and wait for the workers.
#[derive(Default)]
struct Ahead {
    documents: Vec<(u32, SourceDocument)>,
    bytes: usize,
}

impl<'a> Reading<'a> {
    /// Prepares the reading. The budget covers everything: ids, documents, and the data derived
    /// from them.
    pub fn new(
        documents: &'a mut dyn Documents,
        progress: &'a mut dyn Progress,
        resources: Resources<'a>,
    ) -> Self {
        let Resources { files, budget, executor } = resources;
        Self {
            documents,
            progress,
            executor,
            files,
            memory: budget,
            account: Account { threads: executor.count() as u64, ..Account::default() },
            batch_bytes: 4 << 20,
            is_small: false,
            most_pairs: None,
            right_from: None,
        }
    }

    /// Reads all documents. `batch` is called with some of them at a time, and returns the number
    /// of bytes that it holds. It is also called once for a right table without rows.
    pub fn read(&mut self, batch: impl FnMut(&Batch<'_>) -> Result<usize>) -> Result<()> {
        self.read_with(batch)
    }

    /// Reads all documents like [`Reading::read`], for a caller that has its own type of errors.
    pub fn read_with<E: From<Error>>(
        &mut self,
        mut batch: impl FnMut(&Batch<'_>) -> std::result::Result<usize, E>,
    ) -> std::result::Result<(), E> {
        let began = Instant::now();
        self.read_table(Side::Left, 0, &mut batch)?;
        if self.documents.has_right() {
            let from = self.documents.rows(Side::Left) as u32;
            self.read_table(Side::Right, from, &mut batch)?;
            self.right_from = Some(from);
        }
        self.account.phases[0] += milliseconds(began);
        self.progress.report(&|| "ordering".to_owned());
        Ok(())
    }

    fn read_table<E: From<Error>>(
        &mut self,
        side: Side,
        from: u32,
        batch: &mut impl FnMut(&Batch<'_>) -> std::result::Result<usize, E>,
    ) -> std::result::Result<(), E> {
        // An estimate scales all memory of a sample, also that of a batch.
        let batch_bytes = self.batch_bytes as f64 / self.executor.scale();
        let enough = (batch_bytes as usize).min(self.memory / 64).max(1);
        let counts = self.account.short_texts.parts.is_some().then(WordCounts::default);
        let Self { documents: source, executor, .. } = self;
        let mut begins_right = side == Side::Right;
        let mut read = 0;
        let mut next = Ahead::default();
        let mut done: Vec<(u32, SourceDocument)> = Vec::new();
        source.begin(side)?;
        loop {
            // If the next documents can be read while workers are busy, the workers start with a
            // smaller batch, so that they do not wait longer than necessary.
            let least = if source.is_ready() { enough.div_ceil(16) } else { enough };
            while next.bytes < least && !source.ended() {
                next.bytes += source.fetch(&mut next.documents)?;
                let rows = source.rows(side);
                self.progress.report(&|| format!("reading, {rows} documents"));
            }
            if from.checked_add(source.rows(side) as u32).is_none() {
                return Err(Error::TooMany { what: "documents", limit: u32::MAX.into() }.into());
            }
            let Ahead { documents, bytes } = std::mem::take(&mut next);
            // The bytes of the documents of this batch, of as many documents that are read
            // meanwhile, and of all ids.
            let held = 2 * bytes + source.ids_bytes();
            self.account.bytes += bytes as u64;
            let last = source.ended();
            let mut fetched = Ok(());
            let mut read_on = || {
                // Freeing the texts of the previous batch takes time, so it is done here, while the
                // workers are busy.
                done.clear();
                while source.is_ready() && next.bytes < enough && !source.ended() && fetched.is_ok() {
                    fetched = source.fetch(&mut next.documents).map(|more| next.bytes += more);
                }
            };
            let beside = RefCell::new(&mut read_on as &mut dyn FnMut());
            let these = Batch {
                documents: &documents,
                from,
                begins_right,
                executor: *executor,
                held,
                beside,
                unreadable: Unreadable::default(),
                words: counts.as_ref(),
            };
            let worked = batch(&these);
            let unreadable = these.unreadable.first();
            let held_by_method = match (worked, unreadable) {
                (Err(_), Some((row, why))) => return Err(source.unreadable(side, row, why).into()),
                (worked, _) => worked?,
            };
            fetched?;
            begins_right = false;
            self.account.peak_memory = self.account.peak_memory.max((held_by_method + held) as u64);
            read += documents.len();
            if last {
                break;
            }
            done = documents;
        }
        source.end(side, *executor)?;
        let rows = source.rows(side);
        counts.iter().for_each(|counts| self.account.short_texts.add(counts));
        self.account.documents += rows as u64;
        self.account.skipped_null += (rows - read) as u64;
        Ok(())
    }

    /// Forgets what was read, so that all is read once more.
    pub(super) fn again(&mut self) {
        self.documents.again();
        let parts = self.account.short_texts.parts;
        self.account = Account { threads: self.account.threads, ..Account::default() };
        self.account.short_texts.parts = parts;
        self.right_from = None;
    }

    /// Reports whether there are two tables.
    pub(super) fn has_right(&self) -> bool {
        self.documents.has_right()
    }

    /// Returns the number of rows of the only or left table.
    pub(super) fn left_rows(&self) -> u32 {
        // Rows are numbered with 32 bits.
        self.documents.rows(Side::Left) as u32
    }

    /// Ends the reading of both tables, after the last group.
    pub(super) fn end_groups(&mut self) -> Result<()> {
        let sides = if self.has_right() { &[Side::Left, Side::Right][..] } else { &[Side::Left] };
        sides.iter().try_for_each(|&side| self.documents.end(side, self.executor))?;
        self.right_from = self.has_right().then(|| self.left_rows());
        Ok(())
    }

    /// Reports whether only the rows of one group are compared.
    pub fn is_grouped(&self) -> bool {
        self.documents.is_grouped()
    }

    /// Returns the number of each row's source, if only rows of different sources are compared.
    pub(super) fn across(&self) -> Option<&[u32]> {
        self.documents.across()
    }

    /// Records that the method compares long parts of texts, so the words of each document have to
    /// be counted.
    pub fn compares(&mut self, parts: Option<LongParts>) {
        self.account.short_texts.parts = parts;
    }

    /// Returns the number of documents that were read. Rows without a text do not count.
    pub fn texts(&self) -> u64 {
        self.account.documents - self.account.skipped_null
    }

    /// Returns how many rows were read.
    pub fn rows(&self) -> usize {
        self.documents.rows(Side::Left) + self.right_from.map_or(0, |_| self.documents.rows(Side::Right))
    }

    /// Returns the number of the right table's first row, if there is one.
    pub fn right_from(&self) -> Option<u32> {
        self.right_from
    }

    /// Returns the rows of the only table, or of the left table, in the order of their ids.
    pub fn order(&mut self) -> Result<Vec<u32>> {
        self.documents.order(Side::Left, self.executor)
    }

    /// Returns the rows of the right table, if there is one, in the order of their ids and numbered
    /// as in batches.
    pub fn right_order(&mut self) -> Result<Option<Vec<u32>>> {
        let Some(from) = self.right_from else { return Ok(None) };
        let mut rows = self.documents.order(Side::Right, self.executor)?;
        rows.iter_mut().for_each(|row| *row += from);
        Ok(Some(rows))
    }

    /// Returns the numbers of the rows' sites, if a column of sites was given.
    pub fn sites(&self) -> Option<&[u32]> {
        self.documents.sites().map(Sites::numbers)
    }

    /// Returns the numbers of the rows' sites, and the receiver of progress reports.
    pub fn sites_and_progress(&mut self) -> (Option<&[u32]>, &mut dyn Progress) {
        (self.documents.sites().map(Sites::numbers), self.progress)
    }

    /// Returns the weights of the rows in the order `order`, if a column of weights was given.
    pub fn weights(&mut self, order: &[u32]) -> Result<Option<Vec<i64>>> {
        self.documents.weights(order)
    }

    /// Reports the progress of the call.
    pub fn report(&mut self, state: impl Fn() -> String) {
        self.progress.report(&state);
    }

    /// Returns the number of bytes to work with in addition to the ids and `others` bytes, which
    /// stay in memory. The result is at least a quarter of the memory. An eighth is reserved for
    /// memory that is not counted: memory that the allocator does not release at once, and the
    /// server's own memory.
    pub fn left_after(&self, others: usize) -> usize {
        let all = self.memory - self.memory / 8;
        all.saturating_sub(self.ids_bytes() + others).max(self.memory / 4)
    }

    /// Returns the threads, the files, and the memory that is left after `others` bytes.
    pub fn resources_after(&self, others: usize) -> Resources<'a> {
        Resources { files: self.files, budget: self.left_after(others), executor: self.executor }
    }

    /// Records that `bytes` bytes were held at one time, in addition to the ids.
    pub fn held(&mut self, bytes: usize) {
        self.account.peak_memory = self.account.peak_memory.max((bytes + self.ids_bytes()) as u64);
    }

    fn ids_bytes(&self) -> usize {
        self.documents.ids_bytes() + self.documents.sites().map_or(0, Sites::bytes)
    }
}

/// Returns the position of each row in an order.
pub fn places(order: &[u32]) -> Result<Vec<u32>> {
    let mut places = memory::filled(0, order.len(), "ordering rows")?;
    // Row numbers have 32 bits.
    order.iter().zip(0..).for_each(|(&row, place)| places[row as usize] = place);
    Ok(places)
}
