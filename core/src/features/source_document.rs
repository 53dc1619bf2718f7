//! Documents from a source, plain or packed. The thread that reads a packed document unpacks it.

use super::tokens::{Document, Page};
use crate::error::Result;
use crate::executor::Stop;
use crate::text::packed::PackedText;

/// A document from a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceDocument {
    /// A plain document.
    Document(Document),
    /// A packed text.
    Text(PackedText),
    /// A packed HTML page, and its URL, if it is known.
    Page(PackedText, Option<String>),
}

impl SourceDocument {
    /// Returns the approximate number of bytes from which the document's tokens are made.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Document(document) => document.bytes(),
            Self::Text(packed) | Self::Page(packed, _) => packed.len,
        }
    }

    /// Returns the document. `space` is memory for unpacking it.
    pub fn open<'a>(&'a self, space: &'a mut Document, stop: &Stop) -> Result<&'a Document> {
        let packed = match self {
            Self::Document(document) => return Ok(document),
            Self::Text(packed) | Self::Page(packed, _) => packed,
        };
        let mut text = match std::mem::take(space) {
            Document::Text(text) | Document::Page(Page { html: text, .. }) => text,
            _ => String::new(),
        };
        packed.unpack(&mut text, stop)?;
        *space = match self {
            Self::Page(_, url) => Document::Page(Page { html: text, url: url.clone() }),
            _ => Document::Text(text),
        };
        Ok(space)
    }
}
