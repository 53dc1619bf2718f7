//! Groups the places of equal contents, and marks all places but the one that is kept.

use bytemuck::{Pod, Zeroable};

use super::contents::{ContentPlace, Pass};
use crate::error::Result;
use crate::executor::Executor;
use crate::memory;
use crate::storage::files::TempFiles;
use crate::storage::sort::{Sorted, Sorter, both, both_long, order_by_key};

const DOING: &str = "marking repeated places";

/// Windows (or units) one after the other that are marked, and whose sources follow each other in
/// one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
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

order_by_key!(Mark, |mark| both_long(both(mark.row, mark.first), both(mark.of_row, mark.of_first)));

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

/// The documents that have a content, counted over its places in order.
#[derive(Debug, Clone, Copy, Default)]
pub struct CountedDocuments {
    /// The number of different documents.
    pub documents: u32,
    /// Whether one of them has the content twice.
    pub twice: bool,
    /// The row or the rank of the last one.
    last: u32,
}

impl CountedDocuments {
    /// Adds a place in a document. Places in one document come one after the other.
    pub fn add(&mut self, document: u32) {
        let is_other = self.documents == 0 || document != self.last;
        self.twice |= !is_other;
        self.documents += u32::from(is_other);
        self.last = document;
    }
}

/// The first place of a content that is repeated.
pub struct FirstPlace<'a> {
    pass: Pass<'a>,
    documents: u32,
    place: Option<(u32, u32)>,
}

impl<'a> FirstPlace<'a> {
    /// Decides whether a content is repeated, whose places were counted by rank.
    pub fn new(pass: Pass<'a>, counted: &CountedDocuments) -> Option<Self> {
        let Pass { parameters, order, .. } = pass;
        let &CountedDocuments { documents, twice, last } = counted;
        let least = match parameters.min_share {
            // The product is less than 2^32; a share that is hit exactly suffices.
            Some(share) if documents > 0 => {
                let size = f64::from(order.size(order.rows[last as usize]));
                parameters.min_documents.max((share * size - 1e-9).ceil() as u32)
            }
            _ => parameters.min_documents,
        };
        let is_repeated = documents >= least || parameters.within_documents && twice;
        is_repeated.then_some(Self { pass, documents, place: None })
    }

    /// Marks a place, unless it is the one that is kept. Places come in order.
    pub fn mark(&mut self, rank: u32, first: u32, windows: u32) -> Option<Mark> {
        let Pass { parameters, order, .. } = self.pass;
        let row = order.rows[rank as usize];
        let is_kept = self.place.is_none() && parameters.keeps_first;
        let (of_row, of_first) = *self.place.get_or_insert((row, first));
        let mark = Mark { row, first, of_row, of_first, windows, documents: self.documents };
        (!is_kept).then_some(mark)
    }
}

/// Marks the places of contents.
pub struct Marking<'a, 'f> {
    pass: Pass<'a>,
    marks: &'a mut Sorter<'f, Mark>,
    /// The places of the current content: the rank of the document, and the place in it.
    places: Sorter<'f, [u32; 2]>,
    counted: CountedDocuments,
    /// The marks of windows that have an anchor in common, so that many of them can be joined.
    near: Vec<Mark>,
    /// The number of places that were marked.
    pub marked: u64,
}

impl<'a, 'f> Marking<'a, 'f> {
    /// Starts to mark. `marks` receives the marks.
    pub fn new(pass: Pass<'a>, marks: &'a mut Sorter<'f, Mark>, files: &'f dyn TempFiles) -> Self {
        let places = Sorter::new(files, pass.budget / 16);
        Self { pass, marks, places, counted: CountedDocuments::default(), near: Vec::new(), marked: 0 }
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
            self.counted.add(rank);
            self.places.push([rank, first], executor)?;
        }
        self.end_content()?;
        self.end_anchor()
    }

    /// Marks the places of the current content, if it is repeated.
    fn end_content(&mut self) -> Result<()> {
        let Self { pass, places, near, marks, marked, .. } = self;
        let mut source = FirstPlace::new(*pass, &std::mem::take(&mut self.counted));
        places.drain(pass.executor, |[rank, first]| {
            let Some(mark) = source.as_mut().and_then(|source| source.mark(rank, first, 1)) else {
                return Ok(());
            };
            *marked += 1;
            push_near(near, mark, marks, pass.executor)
        })
    }

    fn end_anchor(&mut self) -> Result<()> {
        push_joined(&mut self.near, self.marks, self.pass.executor)
    }
}

/// Adds a mark to those that wait to be joined with others.
pub(super) fn push_near(
    near: &mut Vec<Mark>,
    mark: Mark,
    marks: &mut Sorter<'_, Mark>,
    executor: &dyn Executor,
) -> Result<()> {
    /// The number of marks that wait.
    const NEAR: usize = 1 << 16;
    memory::push(near, mark, DOING)?;
    if near.len() == NEAR { push_joined(near, marks, executor) } else { Ok(()) }
}

/// Joins marks, hands them on, and removes them.
pub(super) fn push_joined(
    near: &mut Vec<Mark>,
    marks: &mut Sorter<'_, Mark>,
    executor: &dyn Executor,
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
