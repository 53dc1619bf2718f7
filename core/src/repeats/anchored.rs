//! The first pass: the anchors of all texts, each with the windows that chose it.

use bytemuck::{Pod, Zeroable};

use super::texts::NewTexts;
use super::{RunParameters, Unit};
use crate::error::Result;
use crate::executor::Stop;
use crate::features::runs::anchors::{Anchor, Anchors};
use crate::features::runs::contents::Contents;
use crate::features::runs::tokens::read_tokens;
use crate::features::tokens::{Document, Scratch, Tokenizer};
use crate::memory;
use crate::storage::sort::{both, both_long, order_by_key};
use crate::text::html;

const DOING: &str = "listing anchors";

/// An anchor of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C)]
pub struct AnchorPlace {
    /// The hash of the anchor.
    pub hash: u64,
    /// The row of the document.
    pub row: u32,
    /// The number of the first token of the first window that chose the anchor.
    pub first: u32,
    /// The windows that chose the anchor.
    pub kind: WindowsKind,
}

order_by_key!(AnchorPlace, |place| both_long(place.hash, both(place.row, place.first)));

/// The windows at a place that chose its anchor, one after the other: their number, the number of
/// tokens from the first one of them to the anchor, and a hash of 88 bits of their tokens. Equal
/// for places that have equal windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C)]
pub struct WindowsKind([u64; 2]);

order_by_key!(WindowsKind, |kind| both_long(kind.0[0], kind.0[1]));

impl WindowsKind {
    /// A window has at most a million tokens.
    const BITS: u32 = 20;

    fn new(windows: u32, before: u32, hash: u128) -> Self {
        debug_assert!(windows < 1 << Self::BITS && before < 1 << Self::BITS);
        let of_hash = (hash >> 64) as u64 >> (2 * Self::BITS);
        Self([
            of_hash << (2 * Self::BITS) | u64::from(before) << Self::BITS | u64::from(windows),
            hash as u64,
        ])
    }

    /// Returns the number of windows.
    pub fn windows(self) -> u32 {
        self.0[0] as u32 % (1 << Self::BITS)
    }

    /// Returns the number of tokens from the first window to the anchor.
    pub fn before(self) -> u32 {
        (self.0[0] >> Self::BITS) as u32 % (1 << Self::BITS)
    }
}

/// Reads documents on one thread.
#[derive(Debug, Default)]
pub struct AnchoredReader {
    scratch: Scratch,
    page: String,
    tokens: Vec<u64>,
    /// The rule by which windows choose their anchors, and their contents, if windows are compared.
    windows: Option<(Anchors, Contents)>,
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

impl AnchoredReader {
    /// Makes a reader.
    pub fn new(parameters: &RunParameters) -> Self {
        let windows = match parameters.unit {
            Unit::Window(least) => Some((Anchors::new(least), Contents::new(least))),
            _ => None,
        };
        Self { windows, ..Self::default() }
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
        if let Some((anchors, contents)) = &mut self.windows {
            anchors.select(&self.tokens, stop, &mut self.chosen)?;
            contents.set(if self.chosen.is_empty() { &[] } else { &self.tokens }, stop)?;
        }
        memory::reserve(&mut self.places, self.chosen.len(), DOING)?;
        self.texts.add(row, text)?;
        if let Some((_, contents)) = &self.windows {
            self.places.extend(self.chosen.iter().map(|&Anchor { hash, place, first, windows }| {
                let all = contents.of_row(first as usize, windows as usize);
                AnchorPlace { hash, row, first, kind: WindowsKind::new(windows, place - first, all) }
            }));
        }
        self.count += self.tokens.len() as u64;
        self.empty += u64::from(self.tokens.is_empty());
        Ok(())
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        let contents = self.windows.as_ref().map_or(0, |(_, contents)| contents.bytes());
        let tokens = memory::bytes(&self.tokens) + contents;
        self.texts.bytes() + memory::bytes(&self.places) + tokens + self.page.capacity()
    }
}
