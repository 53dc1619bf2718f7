//! Maximal diagonals of the matrices of sentence pairs (docs/design/algorithms.md section 6, step
//! 3).
//!
//! A diagonal starts at a pair of sentences if the two previous sentences are not a pair, and
//! continues as long as the next two sentences are a pair. Each pair is on one diagonal only. Pairs
//! come in the order of their documents and diagonals, so each pair is read only once.
//!
//! Within one document, where the left sentences of a diagonal reach its first right sentence, the
//! next pair begins another diagonal: no sentence is on both sides of one.

use super::pairs::Bridges;
use super::starts::Starts;
use crate::clusters::edges::{Edge, EdgeKey, InOrder};
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::memory;

/// A run of similar sentences of two documents, consecutive in both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Diagonal {
    /// The first sentence of the run in each document. Sentences are numbered across all documents.
    pub left: u32,
    /// See `left`.
    pub right: u32,
    /// The number of sentences in each document.
    pub length: u32,
    /// The sum of the similarities of the pairs on the diagonal.
    pub sum: f64,
}

/// The diagonals of the matrices of all pairs of documents.
#[derive(Debug)]
pub struct Diagonals {
    /// Finds the document that contains a sentence.
    pub starts: Starts,
    pairs: InOrder,
    bridges: Option<Bridges>,
    sentences: u32,
    /// The next pair, if it has been read already.
    head: Option<Edge>,
    ended: bool,
    /// The number of pairs that were read.
    pub seen: u64,
}

/// Returns the sort key that brings the pairs of a diagonal together: the two documents, then the
/// difference between the numbers of the two sentences, then the number of the left sentence.
pub fn by_diagonal(starts: &Starts, edge: Edge) -> EdgeKey {
    let (left, right) = (u64::from(starts.document(edge.left)), u64::from(starts.document(edge.right)));
    (left << 32 | right, u64::from(edge.right - edge.left) << 32 | u64::from(edge.left))
}

impl Diagonals {
    /// Takes pairs in the order of [`by_diagonal`].
    pub fn new(starts: Starts, pairs: InOrder, bridges: Option<Bridges>, sentences: u32) -> Self {
        Self { starts, pairs, bridges, sentences, head: None, ended: false, seen: 0 }
    }

    fn peek(&mut self, executor: &dyn Executor) -> Result<Option<Edge>> {
        const BREATHE_EVERY: u64 = 1 << 14;
        if self.head.is_none() && !self.ended {
            let Self { starts, pairs, .. } = self;
            self.head = pairs.next(executor, |edge| by_diagonal(starts, edge))?;
            self.ended = self.head.is_none();
            self.seen += 1;
            executor::breathe(executor, self.seen, BREATHE_EVERY)?;
        }
        Ok(self.head)
    }

    /// Finds the next two documents that have any pair of similar sentences, and adds their
    /// diagonals of at least `least` sentences to `found`, in the order of the left sentences.
    /// Returns the two documents, or `None` after the last ones.
    pub fn next(
        &mut self,
        least: u32,
        found: &mut Vec<Diagonal>,
        executor: &dyn Executor,
    ) -> Result<Option<(u32, u32)>> {
        const DOING: &str = "matching passages";
        let Some(first) = self.peek(executor)? else { return Ok(None) };
        let documents = self.documents(first.left, first.right);
        let from = found.len();
        while let Some(edge) = self.peek(executor)?
            && self.documents(edge.left, edge.right) == documents
        {
            self.follow(edge, documents, executor, |diagonal| match diagonal.length >= least {
                true => memory::push(found, diagonal, DOING),
                false => Ok(()),
            })?;
        }
        found[from..].sort_unstable_by_key(|diagonal| (diagonal.left, diagonal.right));
        Ok(Some(documents.into()))
    }

    fn documents(&self, left: u32, right: u32) -> [u32; 2] {
        [left, right].map(|sentence| self.starts.document(sentence))
    }

    /// Calls `each` with the diagonal that contains the pair `edge`, or with its parts if it is
    /// within one document. The pair must be the first one on the diagonal that is not known from
    /// [`Bridges`] alone.
    fn follow(
        &mut self,
        edge: Edge,
        documents: [u32; 2],
        executor: &dyn Executor,
        mut each: impl FnMut(Diagonal) -> Result<()>,
    ) -> Result<()> {
        let longest = if documents[0] == documents[1] { edge.right - edge.left } else { u32::MAX };
        let mut back = 0;
        while back < edge.left
            && self.bridge(edge.left - back - 1, edge.right - back - 1, documents).is_some()
        {
            back += 1;
        }
        let start = |left, right| Diagonal { left, right, length: 0, sum: 0.0 };
        let mut diagonal = start(edge.left - back, edge.right - back);
        loop {
            let (a, b) = (diagonal.left + diagonal.length, diagonal.right + diagonal.length);
            // The next numbers after the last sentences of two documents are sentences of other
            // documents.
            let head = self
                .peek(executor)?
                .filter(|head| (head.left, head.right) == (a, b) && self.documents(a, b) == documents);
            let similarity = match head {
                Some(head) => {
                    self.head = None;
                    Some(head.similarity)
                }
                None => self.bridge(a, b, documents),
            };
            let Some(similarity) = similarity else { return each(diagonal) };
            if diagonal.length == longest {
                each(std::mem::replace(&mut diagonal, start(a, b)))?;
            }
            diagonal.length += 1;
            diagonal.sum += similarity;
        }
    }

    /// Returns the similarity of two sentences if both are in `documents` and [`Bridges`] knows it.
    fn bridge(&self, left: u32, right: u32, documents: [u32; 2]) -> Option<f64> {
        let bridges = self.bridges.as_ref()?;
        let inside = right < self.sentences && self.documents(left, right) == documents;
        if inside { bridges.similarity(left, right) } else { None }
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.starts.bytes() + self.pairs.bytes() + self.bridges.as_ref().map_or(0, Bridges::bytes)
    }
}
