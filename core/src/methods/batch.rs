//! A batch of documents, distributed to the workers.

use std::cell::RefCell;
use std::sync::Mutex;

use super::short_texts::{WordCounts, words_in};
use crate::error::{Error, Result};
use crate::executor::{self, Executor, Stop};
use crate::features::source_document::SourceDocument;
use crate::features::tokens::Document;
use crate::text::words::WordScratch;

/// Documents that were read, each with the number of its row. Rows of the right table are numbered
/// after those of the left one.
pub struct Batch<'a> {
    pub(super) documents: &'a [(u32, SourceDocument)],
    pub(super) from: u32,
    pub(super) begins_right: bool,
    /// The threads to work with.
    pub executor: &'a dyn Executor,
    /// The number of bytes held in addition to those of the method: the bytes of these documents
    /// and of all ids.
    pub held: usize,
    /// The work of the leader while workers are busy: it reads further documents.
    pub(super) beside: RefCell<&'a mut dyn FnMut()>,
    pub(super) unreadable: Unreadable,
    /// The numbers of words of the documents, if they are to be counted.
    pub(super) words: Option<&'a WordCounts>,
}

/// The first row whose packed document cannot be read, and the error.
#[derive(Default)]
pub(super) struct Unreadable(Mutex<Option<(u32, Error)>>);

impl Unreadable {
    /// Returns the row and the error, if there is one.
    pub(super) fn first(self) -> Option<(u32, Error)> {
        self.0.into_inner().unwrap_or_default()
    }

    /// Returns a document, unpacked into `space` if it is packed.
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
    /// Returns the number of the right table's first row, if this is its first batch.
    pub fn begins_right(&self) -> Option<u32> {
        self.begins_right.then_some(self.from)
    }

    /// Returns the approximate size of the documents in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.documents.iter().map(|(_, document)| document.bytes()).sum()
    }

    /// Returns the documents that are not packed.
    pub fn plain(&self) -> impl Iterator<Item = &Document> {
        self.documents.iter().filter_map(|(_, given)| match given {
            SourceDocument::Document(document) => Some(document),
            _ => None,
        })
    }

    /// Calls `each`, sequentially, with the documents of more than `long` bytes and their rows.
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

    /// Distributes the documents. `add` is called for each document on some thread, with the state
    /// of that thread and the number of the row. Each state gets its rows in ascending order. After
    /// an interrupt, `add` is called again for the document at which it was interrupted, so a call
    /// that is interrupted must leave the state unchanged.
    pub fn share_out<S: Send>(
        &self,
        states: &mut [S],
        add: impl Fn(&mut S, u32, &Document, &Stop) -> Result<()> + Sync,
    ) -> Result<()> {
        self.share_out_to(usize::MAX, states, add)
    }

    /// Distributes the documents of at most `long` bytes, like [`Batch::share_out`].
    pub fn share_out_to<S: Send>(
        &self,
        long: usize,
        states: &mut [S],
        add: impl Fn(&mut S, u32, &Document, &Stop) -> Result<()> + Sync,
    ) -> Result<()> {
        /// The number of times that a thread takes a share of a large batch. Threads are not
        /// equally fast: the leader meanwhile reads on, on the processor of one of the threads, and
        /// other programs also use the processors.
        const TURNS: usize = 16;
        /// The size below which more turns are not worth while.
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
        let Self { unreadable, from, words, .. } = self;
        let mut shares: Vec<_> = states.iter_mut().map(|state| (state, take_some())).collect();
        let work = |(state, documents): &mut (&mut S, &'a [(u32, SourceDocument)]), stop: &Stop| {
            // Packed documents are unpacked here, by the thread that reads them, so each thread
            // holds one unpacked text at a time.
            let (mut space, mut word_space) = (Document::default(), WordScratch::default());
            loop {
                if documents.is_empty() {
                    *documents = take_some();
                }
                let Some((row, after)) = documents.split_first() else { return Ok(()) };
                if row.1.bytes() <= long {
                    let document = unreadable.open(row, &mut space, stop)?;
                    let count = words.map(|_| words_in(document, &mut word_space, stop)).transpose()?;
                    add(state, from + row.0, document, stop)?;
                    // Nothing may fail after the document was added.
                    words.zip(count).into_iter().for_each(|(words, count)| words.add(count));
                } else if let Some(words) = words {
                    words.add_long();
                }
                *documents = after;
            }
        };
        executor::each_beside(self.executor, &mut shares, work, &mut *self.beside.borrow_mut())
    }
}
