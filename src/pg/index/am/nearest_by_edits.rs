//! Takes the rows that a search for the nearest strings by edit distance finds. The index has the
//! starts of strings. Of the strings that are longer, those that can be near enough are read and
//! compared at once. So the search ends much sooner than it would by the bounds, and the executor
//! fetches hardly any row in vain.

use super::nearest::NearestItems;
use super::ordered::OrderedScan;
use super::reading::{FoundRow, Taker};
use super::table::RowTexts;
use crate::pg::index::families::probe::step_of;
use crate::pg::index::layout::items::Tid;
use crate::pg::index::storage::segment::COLLECTING;
use crate::pg::server::error::{Result, or_raise};
use crate::pg::server::executor::compute_with;
use neardup_core::memory;
use neardup_core::search::edit_ball::{EditBall, EditVerifier};

/// How many rows, or bytes of their texts, are compared together.
const ROWS: usize = 256;
const BYTES: usize = 1 << 16;

/// A row whose text was read.
struct ReadRow {
    tid: Tid,
    /// Where its text ends among those that were read.
    end: usize,
    /// Its key, once the text is compared, or None if it is outside the ball.
    key: Option<u64>,
}

/// The rows that were found.
pub(super) struct NearestByEdits<'a> {
    texts: RowTexts,
    verifier: EditVerifier,
    ordered: &'a OrderedScan,
    /// The nearest rows so far. Their keys are steps of the real distances.
    nearest: &'a mut NearestItems,
    /// Rows that were not read yet, and lower bounds of their keys.
    waiting: Vec<(u64, Tid)>,
    /// Rows that were read, and their texts.
    rows: Vec<ReadRow>,
    read: String,
    is_exact: bool,
}

impl<'a> NearestByEdits<'a> {
    /// Starts without rows.
    pub(super) fn new(
        texts: RowTexts,
        ball: &EditBall<'_>,
        ordered: &'a OrderedScan,
        nearest: &'a mut NearestItems,
    ) -> Result<Self> {
        Ok(Self {
            texts,
            verifier: EditVerifier::new(ball)?,
            ordered,
            nearest,
            waiting: Vec::new(),
            rows: Vec::new(),
            read: String::new(),
            is_exact: true,
        })
    }

    /// Reports whether all keys are steps of real distances.
    pub(super) fn is_exact(&self) -> bool {
        self.is_exact
    }

    fn push(&mut self, key: u64, tid: Tid) -> Result<()> {
        self.is_exact &= self.ordered.keeps(key, tid);
        Ok(self.ordered.push(self.nearest, key, tid)?)
    }

    /// Reads the rows that wait and are still wanted.
    fn read_waiting(&mut self) -> Result<()> {
        let mut waiting = std::mem::take(&mut self.waiting);
        for (key, tid) in waiting.drain(..) {
            if key > self.ordered.wanted(self.nearest) {
                continue;
            }
            pgrx::check_for_interrupts!();
            let read = &mut self.read;
            let end = self.texts.read(tid, |text| {
                memory::reserve_text(read, text.len(), COLLECTING)?;
                read.push_str(text);
                Ok(read.len())
            })?;
            if let Some(end) = end {
                memory::push(&mut self.rows, ReadRow { tid, end, key: None }, COLLECTING)?;
            }
            if self.rows.len() >= ROWS || self.read.len() >= BYTES {
                self.compare()?;
            }
        }
        self.compare()?;
        self.waiting = waiting;
        Ok(())
    }

    /// Compares the texts that were read.
    fn compare(&mut self) -> Result<()> {
        let Self { rows, read, verifier, .. } = self;
        compute_with(read.len(), &mut (verifier, &mut *rows), |(verifier, rows), stop| {
            let mut start = 0;
            for ReadRow { end, key, .. } in rows.iter_mut() {
                *key = verifier.within(&read[start..*end], stop)?.map(|similar| step_of(similar).into());
                start = *end;
            }
            Ok(())
        })?;
        let mut rows = std::mem::take(&mut self.rows);
        for ReadRow { tid, key, .. } in rows.drain(..) {
            key.map(|key| self.push(key, tid)).transpose()?;
        }
        self.rows = rows;
        self.read.clear();
        self.texts.reset();
        Ok(())
    }
}

impl Taker for NearestByEdits<'_> {
    fn row(&mut self, found: FoundRow<'_>) -> u64 {
        // The search knows a key of each row.
        let (key, tid) = (found.key.unwrap_or_default(), found.row.tid());
        if found.is_exact {
            self.push(key, tid).unwrap_or_else(|error| error.raise());
        } else if key <= self.ordered.wanted(self.nearest) {
            or_raise(memory::push(&mut self.waiting, (key, tid), COLLECTING));
        }
        self.ordered.wanted(self.nearest)
    }

    fn settle(&mut self) -> Option<u64> {
        self.read_waiting().unwrap_or_else(|error| error.raise());
        Some(self.ordered.wanted(self.nearest))
    }
}
