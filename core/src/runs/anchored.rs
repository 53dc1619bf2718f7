//! The first pass: the anchors of all texts, and the places of those that come again.

use bytemuck::{Pod, Zeroable};

use super::texts::NewTexts;
use super::{Parameters, Unit};
use crate::error::Result;
use crate::executor::{Executor, Stop};
use crate::external_sort::{Sorted, Sorter};
use crate::features::runs::anchors::{Anchor, Anchors};
use crate::features::runs::tokens::read_tokens;
use crate::features::tokens::{Document, Scratch, Tokenizer};
use crate::files::TempFiles;
use crate::memory;
use crate::text::html;

const DOING: &str = "listing anchors";

/// An anchor of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Zeroable, Pod)]
#[repr(C)]
pub struct AnchorPlace {
    hash: u64,
    row: u32,
    place: u32,
}

/// The place of an anchor that comes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Zeroable, Pod)]
#[repr(C)]
pub struct RepeatedAnchor {
    /// The row of the document.
    pub row: u32,
    /// The number of the anchor's first token.
    pub place: u32,
}

/// Reads documents on one thread.
#[derive(Debug, Default)]
pub struct Reader {
    scratch: Scratch,
    page: String,
    tokens: Vec<u64>,
    anchors: Option<Anchors>,
    chosen: Vec<Anchor>,
    /// The anchors that were read.
    pub places: Vec<AnchorPlace>,
    /// The texts that were read.
    pub texts: NewTexts,
    /// The number of tokens of all documents.
    pub count: u64,
    /// The number of documents without a token.
    pub empty: u64,
}

impl Reader {
    /// Makes a reader.
    pub fn new(parameters: &Parameters) -> Self {
        let anchors = match parameters.unit {
            Unit::Window(least) => Some(Anchors::new(least)),
            _ => None,
        };
        Self { anchors, ..Self::default() }
    }

    /// Reads a document. If this fails, nothing is added.
    pub fn add(&mut self, tokenizer: Tokenizer, row: u32, document: &Document, stop: &Stop) -> Result<()> {
        let text = match document {
            Document::Text(text) if tokenizer != Tokenizer::Html => text,
            Document::Text(text) => {
                html::read_text(text, None, &mut self.page, stop)?;
                &self.page
            }
            Document::Page(page) => {
                page.read(&mut self.page, stop)?;
                &self.page
            }
            // A function that looks for runs takes no tokens already made.
            Document::Tokens(_) | Document::Numbers(_) => return Ok(()),
        };
        read_tokens(document, tokenizer, &mut self.scratch, &mut self.tokens, stop)?;
        self.chosen.clear();
        if let Some(anchors) = &mut self.anchors {
            anchors.select(&self.tokens, stop, &mut self.chosen)?;
        }
        memory::reserve(&mut self.places, self.chosen.len(), DOING)?;
        self.texts.add(row, text)?;
        self.places.extend(self.chosen.iter().map(|a| AnchorPlace { hash: a.hash, row, place: a.place }));
        self.count += self.tokens.len() as u64;
        self.empty += u64::from(self.tokens.is_empty());
        Ok(())
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.texts.bytes() + memory::bytes(&self.places) + memory::bytes(&self.tokens) + self.page.capacity()
    }
}

/// Returns the places of the anchors that come again, by row. An anchor that only one place has is
/// in no window that comes again.
pub fn repeated<'f>(
    mut anchors: Sorted<AnchorPlace>,
    parameters: &Parameters,
    files: &'f dyn TempFiles,
    budget: usize,
    executor: &dyn Executor,
) -> Result<Sorter<'f, RepeatedAnchor>> {
    let mut repeated = Sorter::new(files, budget);
    // The first places of the current hash, until it is known that the hash comes again.
    let mut waiting: Vec<AnchorPlace> = Vec::new();
    let (mut documents, mut known, mut twice) = (0u32, false, false);
    let mut last: Option<AnchorPlace> = None;
    while let Some(anchor) = anchors.next(executor)? {
        if last.is_none_or(|last| last.hash != anchor.hash) {
            waiting.clear();
            (documents, known, twice) = (0, false, false);
            last = None;
        }
        let is_other = last.is_none_or(|last| last.row != anchor.row);
        twice |= !is_other;
        documents += u32::from(is_other);
        last = Some(anchor);
        known |= documents >= parameters.min_documents || parameters.within_documents && twice;
        if known {
            for anchor in waiting.drain(..).chain([anchor]) {
                repeated.push(RepeatedAnchor { row: anchor.row, place: anchor.place }, executor)?;
            }
        } else {
            memory::push(&mut waiting, anchor, DOING)?;
        }
    }
    Ok(repeated)
}
