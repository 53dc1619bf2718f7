//! Maximal diagonals of the matrices of sentence pairs (docs/design/algorithms.md section 6, step
//! 3).
//!
//! A diagonal starts where the pair of the sentences before is no pair, and goes on as long as the
//! next two sentences are one. Each pair is on one diagonal only. Pairs come in the order of their
//! documents and diagonals, so that one look at each is enough.

use super::pairs::Bridges;
use super::starts::Starts;
use crate::clusters::edge::{Edge, Key};
use crate::clusters::runs::InOrder;
use crate::error::Result;
use crate::executor::Executor;
use crate::memory;

/// A run of similar sentences of two documents, consecutive in both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Diagonal {
    /// Its first sentence in each document, by the numbers of all sentences.
    pub left: u32,
    /// See `left`.
    pub right: u32,
    /// How many sentences it has.
    pub length: u32,
    /// The sum of their similarities.
    pub sum: f64,
}

/// Diagonals of all matrices.
#[derive(Debug)]
pub struct Diagonals {
    /// Which document a sentence is in.
    pub starts: Starts,
    pairs: InOrder,
    bridges: Option<Bridges>,
    sentences: u32,
    /// The next pair, once it is known.
    head: Option<Edge>,
    ended: bool,
    /// Pairs that were looked at.
    pub seen: u64,
}

/// The order in which pairs of sentences make diagonals: by the two documents, then by how far
/// apart the numbers of the sentences are, then by these.
pub fn by_diagonal(starts: &Starts, edge: Edge) -> Key {
    let (left, right) = (u64::from(starts.document(edge.left)), u64::from(starts.document(edge.right)));
    (left << 32 | right, u64::from(edge.right - edge.left) << 32 | u64::from(edge.left))
}

impl Diagonals {
    /// Of pairs in the order of [`by_diagonal`].
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
            if self.seen.is_multiple_of(BREATHE_EVERY) {
                executor.check_interrupts()?;
            }
        }
        Ok(self.head)
    }

    /// Adds the diagonals of at least `least` sentences of the next two documents that have any
    /// pair, in the order of their left sentences; gives these documents, none after the last.
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
            let diagonal = self.diagonal(edge, documents, executor)?;
            if diagonal.length >= least {
                memory::push(found, diagonal, DOING)?;
            }
        }
        found[from..].sort_unstable_by_key(|diagonal| (diagonal.left, diagonal.right));
        Ok(Some(documents))
    }

    fn documents(&self, left: u32, right: u32) -> (u32, u32) {
        (self.starts.document(left), self.starts.document(right))
    }

    /// The diagonal that a pair is on, which is the first of it that is not known from [`Bridges`]
    /// alone.
    fn diagonal(&mut self, edge: Edge, documents: (u32, u32), executor: &dyn Executor) -> Result<Diagonal> {
        let mut back = 0;
        while back < edge.left
            && self.bridge(edge.left - back - 1, edge.right - back - 1, documents).is_some()
        {
            back += 1;
        }
        let (left, right) = (edge.left - back, edge.right - back);
        let mut diagonal = Diagonal { left, right, length: 0, sum: 0.0 };
        loop {
            let (a, b) = (left + diagonal.length, right + diagonal.length);
            // What follows the last sentences of two documents are the first of others.
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
            let Some(similarity) = similarity else { return Ok(diagonal) };
            diagonal.length += 1;
            diagonal.sum += similarity;
        }
    }

    /// The similarity of two sentences of these documents, if it is known from [`Bridges`].
    fn bridge(&self, left: u32, right: u32, documents: (u32, u32)) -> Option<f64> {
        let bridges = self.bridges.as_ref()?;
        let inside = right < self.sentences && self.documents(left, right) == documents;
        if inside { bridges.similarity(left, right) } else { None }
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.starts.bytes() + self.pairs.bytes() + self.bridges.as_ref().map_or(0, Bridges::bytes)
    }
}
