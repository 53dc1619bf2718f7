//! The documents that have a sentence signature in common (Huang et al., TLCS (CIKM 2008), section
//! 3.2; docs/design/algorithms.md section 5), as lists of candidates and perhaps-similar sets.
//! [`super::signing`] builds them.

use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::memory;
use crate::storage::rows::Ragged;

pub(super) const DOING: &str = "listing signatures";

/// Signatures that were dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dropped {
    /// The number of dropped signatures.
    pub signatures: u64,
    /// The number of documents that have dropped signatures. A document counts once for each of its
    /// dropped signatures.
    pub documents: u64,
}

/// Lists of documents that have a signature in common. The number of a document is the number of
/// its distinct text.
#[derive(Debug, Default)]
pub struct SignatureLists {
    /// The documents of each list, in ascending order.
    documents: Ragged<u32>,
    /// The lists of each document.
    lists: Ragged<u32>,
    /// For each document, the number of its signatures that were not dropped, including those that
    /// no other document has.
    weights: Vec<u32>,
    /// The signatures that were dropped.
    pub dropped: Dropped,
    /// The number of signatures of all documents together.
    pub signatures: u64,
    /// The number of distinct signatures.
    pub distinct: u64,
    /// The number of rows whose text has no signature, because none of its sentences is wide
    /// enough.
    pub unsigned: u64,
}

impl SignatureLists {
    /// Returns the number of lists.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Returns the documents of a list, at least two, in ascending order.
    #[inline]
    pub fn documents(&self, list: usize) -> &[u32] {
        self.documents.get(list)
    }

    /// Returns the lists that a document is in.
    #[inline]
    pub fn for_document(&self, document: u32) -> &[u32] {
        self.lists.get(document as usize)
    }

    /// Returns, for each document, the number of its signatures that were not dropped.
    pub fn weights(&self) -> &[u32] {
        &self.weights
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.documents.bytes() + self.lists.bytes() + memory::bytes(&self.weights)
    }

    /// Creates an empty collection of lists for `documents` documents.
    pub(super) fn new(documents: usize) -> Result<Self> {
        Ok(Self { weights: memory::filled(0, documents, DOING)?, ..Self::default() })
    }

    /// Counts one more signature of a document. The signature was not dropped.
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
        memory::append(all, documents, DOING)?;
        all[from..].sort_unstable();
        self.documents.close(DOING)
    }

    /// Records for each document the lists that it is in. Call this after all lists have been
    /// added.
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

    /// Replaces the lists by others of the same documents, each of which is in ascending order.
    pub fn replace<'a>(&mut self, lists: impl IntoIterator<Item = &'a [u32]>, stop: &Stop) -> Result<()> {
        let mut documents = Ragged::default();
        for (n, list) in lists.into_iter().enumerate() {
            stop.check_every(n, 1024)?;
            documents.push(list, DOING)?;
        }
        self.documents = documents;
        self.turn(stop)
    }

    /// Creates the given lists of documents with the given weights. This is for tests, and for
    /// signatures of other kinds.
    #[cfg(test)]
    pub fn of_documents(lists: &[Vec<u32>], weights: Vec<u32>) -> Result<Self> {
        let mut made = Self { weights, ..Self::default() };
        lists.iter().try_for_each(|list| made.documents.push(list, DOING))?;
        made.turn(&Stop::default())?;
        Ok(made)
    }
}
