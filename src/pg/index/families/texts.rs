//! Computes the stored form of texts and other documents, one by one or many at a time on several
//! threads.

use crate::pg::server::executor::BackendExecutor;
use neardup_core::error::Result;
use neardup_core::executor::{self, Executor, PlainThreads, Stop};
use neardup_core::features::tokens::Document;
use neardup_core::memory;

use super::values::StoredValue;

const DOING: &str = "sketching texts";

/// A row's address, and its document if it has one.
type Waiting = (u64, Option<Document>);

/// Documents that wait until there are enough of them to use several threads.
#[derive(Debug, Default)]
pub(crate) struct WaitingTexts {
    waiting: Vec<Waiting>,
    bytes: usize,
}

impl WaitingTexts {
    /// The number of bytes that are processed at a time: some milliseconds of work for each thread.
    const BYTES: usize = 4 << 20;
    const ROWS: usize = 1 << 13;
    /// The number of rows that a thread takes at a time.
    const PIECE: usize = 1 << 6;
    /// The number of bytes below which starting a thread takes longer than the work.
    const FEW_BYTES: usize = 1 << 16;

    /// Adds a row.
    pub(crate) fn push(&mut self, tid: u64, document: Option<Document>) -> Result<()> {
        self.bytes += document.as_ref().map_or(0, Document::bytes);
        memory::push(&mut self.waiting, (tid, document), DOING)
    }

    /// Reports whether enough rows are waiting to be processed.
    pub(crate) fn are_enough(&self) -> bool {
        self.bytes >= Self::BYTES || self.waiting.len() >= Self::ROWS
    }

    /// Removes all waiting rows and returns them with their stored forms, in the order in which
    /// they were added. Each piece of the rows is processed with its own result of `keeper`.
    pub(crate) fn keep<K: FnMut(&Document, &Stop) -> Result<StoredValue>>(
        &mut self,
        keeper: impl Fn() -> K + Sync,
    ) -> Result<Vec<(u64, Option<StoredValue>)>> {
        let waiting = std::mem::take(&mut self.waiting);
        let several = BackendExecutor::new();
        let executor: &dyn Executor =
            if std::mem::take(&mut self.bytes) < Self::FEW_BYTES { &PlainThreads(1) } else { &several };
        let mut pieces: Vec<_> = waiting.chunks(Self::PIECE).map(|rows| (rows, Vec::new())).collect();
        executor::each(executor, &mut pieces, |(rows, kept), stop| {
            let mut keep = keeper();
            while let Some(((tid, document), rest)) = rows.split_first() {
                let one = document.as_ref().map(|document| keep(document, stop)).transpose()?;
                memory::push(kept, (*tid, one), DOING)?;
                *rows = rest;
            }
            Ok(())
        })?;
        let mut all = Vec::new();
        memory::reserve(&mut all, waiting.len(), DOING)?;
        pieces.into_iter().for_each(|(_, kept)| all.extend(kept));
        Ok(all)
    }
}
