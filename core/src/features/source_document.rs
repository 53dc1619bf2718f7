//! Documents from a source, plain or packed. The thread that reads a packed document unpacks it.

use super::tokens::{Document, Page};
use crate::error::Result;
use crate::executor::Stop;
use crate::memory;
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

    /// Returns a copy.
    pub(crate) fn copied(&self) -> Result<Self> {
        Ok(match self {
            Self::Document(document) => Self::Document(copied(document)?),
            Self::Text(packed) => Self::Text(packed.copied()?),
            Self::Page(packed, url) => Self::Page(packed.copied()?, copied_url(url.as_deref())?),
        })
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

const DOING: &str = "copying a document";

fn copied(document: &Document) -> Result<Document> {
    Ok(match document {
        Document::Text(text) => Document::Text(memory::copied(text, DOING)?),
        Document::Page(Page { html, url }) => {
            Document::Page(Page { html: memory::copied(html, DOING)?, url: copied_url(url.as_deref())? })
        }
        Document::Tokens(tokens) => {
            let mut all = Vec::new();
            memory::reserve(&mut all, tokens.len(), DOING)?;
            tokens.iter().try_for_each(|token| memory::copied(token, DOING).map(|token| all.push(token)))?;
            Document::Tokens(all)
        }
        Document::Numbers(numbers) => Document::Numbers(memory::collect(numbers.iter().copied(), DOING)?),
    })
}

fn copied_url(url: Option<&str>) -> Result<Option<String>> {
    url.map(|url| memory::copied(url, DOING)).transpose()
}
