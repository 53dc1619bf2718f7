//! Some documents at a time, shared out to the workers.

use std::cell::RefCell;
use std::sync::Mutex;

use crate::error::Result;
use crate::features::tokens::Document;
use crate::workers::{self, Stop, Workers};

/// Documents that were read, each with the number of its row; rows of the right table count on from
/// those of the left one.
pub struct Batch<'a> {
    pub(super) documents: &'a [(u32, Document)],
    pub(super) from: u32,
    pub(super) begins_right: bool,
    pub(super) workers: &'a dyn Workers,
    /// Bytes held beside what the method holds: these documents and all ids.
    pub held: usize,
    /// What the leader does while workers are busy: reading on.
    pub(super) beside: RefCell<&'a mut dyn FnMut()>,
}

impl<'a> Batch<'a> {
    /// The number of the right table's first row, if this is its first batch.
    pub fn begins_right(&self) -> Option<u32> {
        self.begins_right.then_some(self.from)
    }

    /// The documents and their rows.
    pub fn documents(&self) -> impl Iterator<Item = (u32, &Document)> {
        self.documents.iter().map(|(row, document)| (self.from + row, document))
    }

    /// The threads to work with.
    pub fn workers(&self) -> &dyn Workers {
        self.workers
    }

    /// Shares the documents out: `add` is called for each on some thread, with the state of that thread and the row; rows
    /// of a state ascend. After a stop it is called again for the document it was stopped at, so it must leave the state
    /// as it was before.
    pub fn share_out<S: Send>(
        &self,
        states: &mut [S],
        add: impl Fn(&mut S, u32, &Document, &Stop) -> Result<()> + Sync,
    ) -> Result<()> {
        /// How often a thread comes for more of a large batch: the leader reads on meanwhile, on the processor of one of
        /// them, and others have work of their own there.
        const TURNS: usize = 16;
        /// What is not worth more turns.
        const FEW_BYTES: usize = 1 << 16;
        let total: usize = self.documents.iter().map(|(_, document)| document.bytes() + 1).sum();
        let turns = (total / FEW_BYTES / states.len()).clamp(1, TURNS);
        let share = total.div_ceil(turns * states.len());
        let rest = &Mutex::new(self.documents);
        let take_some = || -> &'a [(u32, Document)] {
            let Ok(mut rest) = rest.lock() else { return &[] };
            let mut size = 0;
            let some = rest.iter().take_while(|(_, document)| {
                let fits = size < share;
                size += document.bytes() + 1;
                fits
            });
            let (some, after) = rest.split_at(some.count());
            *rest = after;
            some
        };
        let from = self.from;
        let mut shares: Vec<_> = states.iter_mut().map(|state| (state, take_some())).collect();
        let work = |(state, documents): &mut (&mut S, &'a [(u32, Document)]), stop: &Stop| {
            loop {
                if documents.is_empty() {
                    *documents = take_some();
                }
                let Some(((row, document), after)) = documents.split_first() else { return Ok(()) };
                add(state, from + row, document, stop)?;
                *documents = after;
            }
        };
        workers::each_beside(self.workers, &mut shares, work, &mut *self.beside.borrow_mut())
    }
}
