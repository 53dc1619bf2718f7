//! The passages of a search among all documents, or of one in each group of documents; without
//! those of two documents of one source.

use bytemuck::{Pod, Zeroable};

use super::{Capped, Passage, PassageSearch};
use crate::error::Result;
use crate::executor::Executor;
use crate::joins::grouped_rows::{GroupedRow, GroupedRows};
use crate::memory;

/// The passages, one batch after the other.
pub struct FoundPassages {
    found: PassageOrigin,
    /// The number of each row's source, if only documents of different sources are compared.
    sources: Option<Vec<u32>>,
}

enum PassageOrigin {
    /// A search among all documents.
    Searched(Box<dyn PassageSearch>),
    /// What was found in each group of documents, and the number of the right table's first row.
    Grouped(GroupedRows<LoggedPassage>, Capped, u32),
}

/// A passage as it is kept. The rows of a right table are numbered from 0.
#[derive(Debug, Clone, Copy, Zeroable, Pod)]
#[repr(C)]
pub(crate) struct LoggedPassage {
    rows: [u32; 2],
    firsts: [u32; 2],
    sentences: u32,
    _unused: u32,
    spans: [u64; 4],
    similarity: f64,
}

impl LoggedPassage {
    /// Keeps a passage. The rows of the right table, if there is one, begin at `right_from`.
    pub(crate) fn new(passage: &Passage, right_from: u32) -> Self {
        let Passage { left_span, right_span, .. } = passage;
        let spans = [left_span.start, left_span.end, right_span.start, right_span.end];
        Self {
            rows: [passage.left_row, passage.right_row - right_from],
            firsts: [passage.left_sentence, passage.right_sentence],
            sentences: passage.sentences,
            _unused: 0,
            spans: spans.map(|place| place as u64),
            similarity: passage.similarity,
        }
    }

    fn passage(self, right_from: u32) -> Passage {
        let Self { rows, firsts, sentences, spans, similarity, .. } = self;
        let [left_from, left_to, from, to] = spans.map(|place| place as usize);
        Passage {
            left_row: rows[0],
            right_row: rows[1] + right_from,
            left_sentence: firsts[0],
            right_sentence: firsts[1],
            sentences,
            left_span: left_from..left_to,
            right_span: from..to,
            similarity,
        }
    }
}

impl GroupedRow for LoggedPassage {
    fn shift(&mut self, [left, right]: [u32; 2]) {
        self.rows = [self.rows[0] + left, self.rows[1] + right];
    }
}

impl FoundPassages {
    /// Gives the passages of a search.
    pub(crate) fn of_search(search: Box<dyn PassageSearch>) -> Self {
        Self { found: PassageOrigin::Searched(search), sources: None }
    }

    /// Gives the passages that were found in each group. The rows of the right table, if there is
    /// one, begin at `right_from`.
    pub(crate) fn of_groups(rows: GroupedRows<LoggedPassage>, capped: Capped, right_from: u32) -> Self {
        Self { found: PassageOrigin::Grouped(rows, capped, right_from), sources: None }
    }

    /// Leaves out the passages of two rows of one source, and of rows without a source.
    pub(crate) fn across(self, sources: Vec<u32>) -> Self {
        Self { sources: Some(sources), ..self }
    }

    /// Returns the next passages, or `None` after the last ones. A batch may be empty. Those of two
    /// documents come one after the other, in the order of their left sentences.
    pub fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<Passage>>> {
        let batch = match &mut self.found {
            PassageOrigin::Searched(search) => search.next_batch(executor)?,
            PassageOrigin::Grouped(rows, _, right_from) => rows
                .next_batch(executor)?
                .map(|rows| {
                    let passages = rows.into_iter().map(|row| row.passage(*right_from));
                    memory::collect(passages, "taking passages")
                })
                .transpose()?,
        };
        let Some(sources) = &self.sources else { return Ok(batch) };
        let Some(mut batch) = batch else { return Ok(None) };
        let source = |row: u32| sources.get(row as usize).copied().filter(|&source| source != u32::MAX);
        batch.retain(|passage| {
            let both = source(passage.left_row).zip(source(passage.right_row));
            both.is_some_and(|(left, right)| left != right)
        });
        Ok(Some(batch))
    }

    /// Returns the counts of sentences to which too many sentences are similar.
    pub fn capped(&self) -> Capped {
        match &self.found {
            PassageOrigin::Searched(search) => search.capped(),
            PassageOrigin::Grouped(_, capped, _) => *capped,
        }
    }

    /// Returns the share of the work that is done, 0 to 1.
    pub fn progress(&self) -> f64 {
        match &self.found {
            PassageOrigin::Searched(search) => search.progress(),
            PassageOrigin::Grouped(rows, ..) => rows.progress(),
        }
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        let of_sources = self.sources.as_ref().map_or(0, memory::bytes);
        of_sources
            + match &self.found {
                PassageOrigin::Searched(search) => search.bytes(),
                PassageOrigin::Grouped(rows, ..) => rows.bytes(),
            }
    }
}
