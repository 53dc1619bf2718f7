//! Which documents have a sentence signature in common (Huang et al., TLCS (CIKM 2008), section 3.2;
//! docs/design/algorithms.md section 5): the lists of candidates and perhaps-similar sets. [`super::signing`] makes them.

use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::memory;
use crate::ragged::Ragged;

pub(super) const DOING: &str = "listing signatures";

/// Signatures that were dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dropped {
    /// How many.
    pub signatures: u64,
    /// How many documents they had, each counted as often as it had one.
    pub documents: u64,
}

/// Lists of documents, numbered as the distinct texts, that have a signature in common.
#[derive(Debug, Default)]
pub struct SignatureLists {
    /// The documents of each list, ascending.
    documents: Ragged<u32>,
    /// The lists of each document.
    lists: Ragged<u32>,
    /// The signatures of each document that were not dropped, those of no other document included.
    weights: Vec<u32>,
    /// What was dropped.
    pub dropped: Dropped,
    /// All signatures that documents had, and how many distinct ones.
    pub signatures: u64,
    /// See `signatures`.
    pub distinct: u64,
    /// How many rows have a text of no signature: one without a sentence that is wide enough.
    pub unsigned: u64,
}

impl SignatureLists {
    /// How many lists there are.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Whether no two documents have a signature in common.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many documents there are.
    pub fn document_count(&self) -> usize {
        self.weights.len()
    }

    /// The documents of a list, at least two, ascending.
    #[inline]
    pub fn documents(&self, list: usize) -> &[u32] {
        self.documents.get(list)
    }

    /// The lists that a document is in.
    #[inline]
    pub fn of(&self, document: u32) -> &[u32] {
        self.lists.get(document as usize)
    }

    /// How many signatures each document has.
    pub fn weights(&self) -> &[u32] {
        &self.weights
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.documents.bytes() + self.lists.bytes() + memory::bytes(&self.weights)
    }

    /// No lists yet, of `documents` documents.
    pub(super) fn new(documents: usize) -> Result<Self> {
        Ok(Self { weights: memory::filled(0, documents, DOING)?, ..Self::default() })
    }

    /// Notes that a document has one more signature that was not dropped.
    pub(super) fn weigh(&mut self, document: u32) {
        self.weights[document as usize] += 1;
    }

    /// Adds a list of at least two documents, in any order.
    pub(super) fn push(&mut self, documents: impl ExactSizeIterator<Item = u32>) -> Result<()> {
        if u32::try_from(self.len() + 1).is_err() {
            return Err(Error::TooMany { what: "signatures", limit: u32::MAX.into() });
        }
        self.documents.reserve(1, DOING)?;
        let all = &mut self.documents.values;
        let from = all.len();
        memory::reserve(all, documents.len(), DOING)?;
        all.extend(documents);
        all[from..].sort_unstable();
        self.documents.close(DOING)
    }

    /// Notes for each document which lists it is in: once all lists are there.
    pub(super) fn turn(&mut self, stop: &Stop) -> Result<()> {
        stop.check()?;
        let Self { documents, lists, weights, .. } = self;
        let documents = || {
            let numbered = documents.iter().zip(0..);
            numbered
                .flat_map(|(of_list, list)| of_list.iter().map(move |&document| (document as usize, list)))
        };
        *lists = Ragged::dealt(weights.len(), documents, DOING)?;
        Ok(())
    }

    /// Lists as they are given, for documents of these weights: for tests, and for signatures of other kinds.
    pub fn of_documents(lists: &[Vec<u32>], weights: Vec<u32>) -> Result<Self> {
        let mut made = Self { weights, ..Self::default() };
        lists.iter().try_for_each(|list| made.documents.push(list, DOING))?;
        made.turn(&Stop::default())?;
        Ok(made)
    }
}
