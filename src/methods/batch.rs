//! Some documents at a time, shared out to the workers.

use std::cell::RefCell;
use std::sync::Mutex;

use crate::error::{Error, Result};
use crate::executor::{self, Executor, Stop};
use crate::features::source_document::SourceDocument;
use crate::features::tokens::Document;

/// Documents that were read, each with the number of its row; rows of the right table count on from
/// those of the left one.
pub struct Batch<'a> {
    pub(super) documents: &'a [(u32, SourceDocument)],
    pub(super) from: u32,
    pub(super) begins_right: bool,
    pub(super) executor: &'a dyn Executor,
    /// Bytes held beside what the method holds: these documents and all ids.
    pub held: usize,
    /// What the leader does while workers are busy: reading on.
    pub(super) beside: RefCell<&'a mut dyn FnMut()>,
    pub(super) unreadable: Unreadable,
}

/// The first row whose document was given packed and cannot be read, and why.
#[derive(Default)]
pub(super) struct Unreadable(Mutex<Option<(u32, Error)>>);

impl Unreadable {
    /// What was met.
    pub(super) fn first(self) -> Option<(u32, Error)> {
        self.0.into_inner().unwrap_or_default()
    }

    /// A document that may be packed, for which `space` is space.
    fn open<'d>(
        &self,
        (row, given): &'d (u32, SourceDocument),
        space: &'d mut Document,
        stop: &Stop,
    ) -> Result<&'d Document> {
        let opened = given.open(space, stop);
        if let Err(why @ (Error::Damaged | Error::NotText)) = &opened
            && let Ok(mut first) = self.0.lock()
            && first.as_ref().is_none_or(|(other, _)| row < other)
        {
            *first = Some((*row, why.clone()));
        }
        opened
    }
}

impl<'a> Batch<'a> {
    /// The number of the right table's first row, if this is its first batch.
    pub fn begins_right(&self) -> Option<u32> {
        self.begins_right.then_some(self.from)
    }

    /// Those documents that are not packed.
    pub fn plain(&self) -> impl Iterator<Item = &Document> {
        self.documents.iter().filter_map(|(_, given)| match given {
            SourceDocument::Document(document) => Some(document),
            _ => None,
        })
    }

    /// Calls `each`, one after the other, with the documents of more than `long` bytes and their rows.
    pub fn each_long(&self, long: usize, mut each: impl FnMut(u32, &Document) -> Result<()>) -> Result<()> {
        let Self { unreadable, from, .. } = self;
        for row in self.documents.iter().filter(|(_, given)| given.bytes() > long) {
            if let (row, SourceDocument::Document(document)) = row {
                each(from + row, document)?;
                continue;
            }
            let mut document = Document::default();
            executor::one(self.executor, &mut document, |document, stop| {
                unreadable.open(row, document, stop).map(drop)
            })?;
            each(from + row.0, &document)?;
        }
        Ok(())
    }

    /// The threads to work with.
    pub fn executor(&self) -> &dyn Executor {
        self.executor
    }

    /// Shares the documents out: `add` is called for each on some thread, with the state of that thread and the row; rows
    /// of a state ascend. After a stop it is called again for the document it was stopped at, so it must leave the state
    /// as it was before.
    pub fn share_out<S: Send>(
        &self,
        states: &mut [S],
        add: impl Fn(&mut S, u32, &Document, &Stop) -> Result<()> + Sync,
    ) -> Result<()> {
        self.share_out_to(usize::MAX, states, add)
    }

    /// The same with documents of at most `long` bytes.
    pub fn share_out_to<S: Send>(
        &self,
        long: usize,
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
        let take_some = || -> &'a [(u32, SourceDocument)] {
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
        let Self { unreadable, from, .. } = self;
        let mut shares: Vec<_> = states.iter_mut().map(|state| (state, take_some())).collect();
        let work = |(state, documents): &mut (&mut S, &'a [(u32, SourceDocument)]), stop: &Stop| {
            // What is packed is unpacked here, by the thread that reads it: of each thread there is one text at a time.
            let mut space = Document::default();
            loop {
                if documents.is_empty() {
                    *documents = take_some();
                }
                let Some((row, after)) = documents.split_first() else { return Ok(()) };
                if row.1.bytes() <= long {
                    add(state, from + row.0, unreadable.open(row, &mut space, stop)?, stop)?;
                }
                *documents = after;
            }
        };
        executor::each_beside(self.executor, &mut shares, work, &mut *self.beside.borrow_mut())
    }
}
