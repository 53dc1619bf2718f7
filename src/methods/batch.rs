//! Some documents at a time, shared out to the workers.

use std::cell::RefCell;

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

impl Batch<'_> {
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

    /// Shares the documents out by size: `add` is called for each on some thread, with the state of that
    /// thread and the row. After a stop it is called again for the document it was stopped at, so it must
    /// leave the state as it was before.
    pub fn share_out<S: Send>(
        &self,
        states: &mut [S],
        add: impl Fn(&mut S, u32, &Document, &Stop) -> Result<()> + Sync,
    ) -> Result<()> {
        let total: usize = self.documents.iter().map(|(_, document)| document.bytes() + 1).sum();
        let share = total.div_ceil(states.len());
        let mut rest = self.documents;
        let mut shares: Vec<(&mut S, &[(u32, Document)])> = Vec::new();
        for state in states {
            let mut size = 0;
            let count = rest.iter().take_while(|(_, document)| {
                let fits = size < share;
                size += document.bytes() + 1;
                fits
            });
            let (here, after) = rest.split_at(count.count());
            shares.push((state, here));
            rest = after;
        }
        debug_assert!(rest.is_empty());
        let from = self.from;
        let work = |(state, documents): &mut (&mut S, &[(u32, Document)]), stop: &Stop| {
            while let Some(((row, document), after)) = documents.split_first() {
                add(state, from + row, document, stop)?;
                *documents = after;
            }
            Ok(())
        };
        workers::each_beside(self.workers, &mut shares, work, &mut *self.beside.borrow_mut())
    }
}
