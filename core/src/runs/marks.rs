//! Groups the places of equal contents, and marks all places but the one that is kept.

use bytemuck::{Pod, Zeroable};

use super::contents::{ContentPlace, Pass};
use crate::error::Result;
use crate::executor;
use crate::external_sort::{Sorted, Sorter};
use crate::files::TempFiles;
use crate::memory;

const DOING: &str = "marking repeated places";

/// Windows (or units) one after the other that are marked, and whose sources follow each other in
/// one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Zeroable, Pod)]
#[repr(C)]
pub struct Mark {
    /// The row of the document.
    pub row: u32,
    /// The number of the first token of the first window, or of the first unit.
    pub first: u32,
    /// The row of the source.
    pub of_row: u32,
    /// The place in the source.
    pub of_first: u32,
    /// The number of windows or units.
    pub windows: u32,
    /// The number of documents that have each of these contents: the least of them.
    pub documents: u32,
}

impl Mark {
    /// Adds the windows of another mark if they continue this one. Returns whether they do.
    pub(super) fn join(&mut self, next: &Self) -> bool {
        let continues = self.row == next.row
            && self.of_row == next.of_row
            && self.first + self.windows == next.first
            && self.of_first + self.windows == next.of_first;
        if continues {
            self.windows += next.windows;
            self.documents = self.documents.min(next.documents);
        }
        continues
    }
}

/// The places of one content: the rank of the document, and the place in it.
type Places<'f> = Sorter<'f, [u32; 2]>;

/// Marks the places of contents.
pub struct Marking<'a, 'f> {
    pass: Pass<'a>,
    marks: &'a mut Sorter<'f, Mark>,
    /// The places of the current content.
    places: Places<'f>,
    /// The number of different documents among them.
    documents: u32,
    /// Whether one of these documents has the content twice.
    twice: bool,
    last_rank: u32,
    /// The marks of windows that have an anchor in common, so that many of them can be joined.
    near: Vec<Mark>,
    /// The number of places that were marked.
    pub marked: u64,
}

impl<'a, 'f> Marking<'a, 'f> {
    /// Starts to mark. `marks` receives the marks.
    pub fn new(pass: Pass<'a>, marks: &'a mut Sorter<'f, Mark>, files: &'f dyn TempFiles) -> Self {
        let places = Sorter::new(files, pass.budget / 16);
        let (documents, twice, last_rank, near) = (0, false, 0, Vec::new());
        Self { pass, marks, places, documents, twice, last_rank, near, marked: 0 }
    }

    /// Marks the places of all contents. O(places).
    pub fn mark(&mut self, mut places: Sorted<ContentPlace>) -> Result<()> {
        let executor = self.pass.executor;
        let mut current: Option<[u64; 2]> = None;
        while let Some(ContentPlace { content, rank, first }) = places.next(executor)? {
            if current != Some(content) {
                self.end_content()?;
                if current.is_none_or(|current| current[0] != content[0]) {
                    self.end_anchor()?;
                }
                current = Some(content);
            }
            let is_other = self.documents == 0 || rank != self.last_rank;
            self.twice |= !is_other;
            self.documents += u32::from(is_other);
            self.last_rank = rank;
            self.places.push([rank, first], executor)?;
        }
        self.end_content()?;
        self.end_anchor()
    }

    /// Marks the places of the current content, if it is repeated.
    fn end_content(&mut self) -> Result<()> {
        /// The number of marks that wait to be joined with others.
        const NEAR: usize = 1 << 16;
        let Pass { parameters, order, executor, .. } = self.pass;
        let (documents, twice) = (self.documents, self.twice);
        if documents == 0 {
            return Ok(());
        }
        (self.documents, self.twice) = (0, false);
        let row = order.rows[self.last_rank as usize];
        let least = match parameters.min_share {
            // The product is less than 2^32; a share that is hit exactly suffices.
            Some(share) => {
                parameters.min_documents.max((share * f64::from(order.size(row)) - 1e-9).ceil() as u32)
            }
            None => parameters.min_documents,
        };
        let repeated = documents >= least || parameters.within_documents && twice;
        let Self { places, near, marks, marked, .. } = self;
        let mut source = None;
        places.drain(executor, |[rank, first]| {
            let row = order.rows[rank as usize];
            let is_first = source.is_none();
            let (of_row, of_first) = *source.get_or_insert((row, first));
            if !repeated || is_first && parameters.keeps_first {
                return Ok(());
            }
            *marked += 1;
            memory::push(near, Mark { row, first, of_row, of_first, windows: 1, documents }, DOING)?;
            if near.len() == NEAR { push_joined(near, marks, executor) } else { Ok(()) }
        })
    }

    fn end_anchor(&mut self) -> Result<()> {
        push_joined(&mut self.near, self.marks, self.pass.executor)
    }
}

/// Joins marks, hands them on, and removes them.
fn push_joined(
    near: &mut Vec<Mark>,
    marks: &mut Sorter<'_, Mark>,
    executor: &dyn executor::Executor,
) -> Result<()> {
    near.sort_unstable();
    let mut open: Option<Mark> = None;
    for mark in near.drain(..) {
        if open.as_mut().is_some_and(|open| open.join(&mark)) {
            continue;
        }
        if let Some(done) = open.replace(mark) {
            marks.push(done, executor)?;
        }
    }
    open.map_or(Ok(()), |done| marks.push(done, executor))
}
