//! Documents as their source gives them: as they are, or packed, for the thread that reads them to unpack.

use super::tokens::{Document, Page};
use crate::error::Result;
use crate::executor::Stop;
use crate::text::packed::Packed;

/// A document of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceDocument {
    /// As it is.
    Document(Document),
    /// A text.
    Text(Packed),
    /// An HTML page, and where it is, if that is known.
    Page(Packed, Option<String>),
}

impl SourceDocument {
    /// About how many bytes the document's tokens are made from.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Document(document) => document.bytes(),
            Self::Text(packed) | Self::Page(packed, _) => packed.len,
        }
    }

    /// The document, for which `space` is space.
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
