//! A copy of the documents of a call, which several methods read one after the other. It is in
//! memory, or in a temporary file if the documents are too many for it.
//!
//! A row of the copy has five numbers, the URL, and the document as it came, packed or not.

use super::super::documents::{Documents, Side};
use super::super::reading::Reading;
use super::super::sites::Sites;
use crate::error::{Error, Result};
use crate::executor::Executor;
use crate::features::source_document::SourceDocument;
use crate::features::tokens::{Document, Page};
use crate::hash::hash_bytes_128;
use crate::memory;
use crate::storage::blobs::Blobs;
use crate::text::packed::{PackedText, Packing};

const DOING: &str = "copying documents";

const TEXT: u64 = 0;
const PAGE: u64 = 1;
const TOKENS: u64 = 2;
const NUMBERS: u64 = 3;
/// The bytes of a text that is not packed.
const PLAIN: u64 = 0;
const PGLZ: u64 = 1;
const LZ4: u64 = 2;
/// The length of a URL that is not known.
const NO_URL: u64 = u64::MAX;

/// A copy of documents.
pub(super) struct DocumentCopy {
    rows: Blobs,
    /// The hashes of the documents of the rows that have one, with the rows.
    pub(super) hashes: Vec<([u64; 2], u32)>,
    /// The number of rows of each table.
    pub(super) counts: [usize; 2],
}

impl DocumentCopy {
    /// Reads all documents.
    pub(super) fn read(reading: &mut Reading<'_>) -> Result<Self> {
        let (files, mut rows) = (reading.files, Blobs::new(reading.memory / 8));
        let (mut hashes, mut bytes) = (Vec::new(), Vec::new());
        reading.read(|batch| {
            for (row, document) in batch.documents {
                let row = batch.from + row;
                while rows.len() < row as usize {
                    rows.push(&[], files)?;
                }
                bytes.clear();
                write(document, &mut bytes)?;
                let hash = hash_bytes_128(&bytes);
                memory::push(&mut hashes, ([(hash >> 64) as u64, hash as u64], row), DOING)?;
                rows.push(&bytes, files)?;
            }
            Ok(rows.bytes() + memory::bytes(&hashes))
        })?;
        let left = reading.left_rows() as usize;
        while rows.len() < reading.rows() {
            rows.push(&[], files)?;
        }
        Ok(Self { counts: [left, rows.len() - left], rows, hashes })
    }
}

/// Documents that are read from their copy. All else is known to the source that was copied.
pub(super) struct CopiedDocuments<'d> {
    source: &'d mut dyn Documents,
    copy: DocumentCopy,
    side: Side,
    /// The number of rows of the table that were read.
    read: usize,
    row: Vec<u64>,
}

impl<'d> CopiedDocuments<'d> {
    pub(super) fn new(source: &'d mut dyn Documents, copy: DocumentCopy) -> Self {
        Self { source, copy, side: Side::Left, read: 0, row: Vec::new() }
    }
}

impl Documents for CopiedDocuments<'_> {
    fn has_right(&self) -> bool {
        self.source.has_right()
    }

    fn begin(&mut self, side: Side) -> Result<()> {
        (self.side, self.read) = (side, 0);
        Ok(())
    }

    fn fetch(&mut self, documents: &mut Vec<(u32, SourceDocument)>) -> Result<usize> {
        const ENOUGH: usize = 1 << 16;
        let before = if self.side == Side::Left { 0 } else { self.copy.counts[0] };
        let mut bytes = 0;
        while bytes < ENOUGH && !self.ended() {
            self.copy.rows.read(before + self.read, &mut self.row)?;
            if let Some(document) = read(&self.row)? {
                bytes += document.bytes();
                memory::push(documents, (self.read as u32, document), DOING)?;
            }
            self.read += 1;
        }
        Ok(bytes)
    }

    fn unreadable(&mut self, side: Side, row: u32, why: Error) -> Error {
        self.source.unreadable(side, row, why)
    }

    fn ended(&self) -> bool {
        self.read == self.copy.counts[self.side as usize]
    }

    /// The server's files are read by the leader while no worker runs.
    fn is_ready(&self) -> bool {
        false
    }

    fn rows(&self, side: Side) -> usize {
        if side == self.side { self.read } else { self.copy.counts[side as usize] }
    }

    fn ids_bytes(&self) -> usize {
        self.source.ids_bytes() + self.copy.rows.bytes()
    }

    fn order(&mut self, side: Side, executor: &dyn Executor) -> Result<Vec<u32>> {
        self.source.order(side, executor)
    }

    fn sites(&self) -> Option<&Sites> {
        self.source.sites()
    }

    fn weights(&mut self, order: &[u32]) -> Result<Option<Vec<i64>>> {
        self.source.weights(order)
    }
}

/// Adds a row of the copy to `row`.
fn write(document: &SourceDocument, row: &mut Vec<u8>) -> Result<()> {
    let mut put = |[kind, packing]: [u64; 2], length: usize, url: Option<&str>, content: &[u8]| {
        let url_length = url.map_or(NO_URL, |url| url.len() as u64);
        let head = [kind, packing, length as u64, url_length, content.len() as u64];
        memory::extend(row, bytemuck::cast_slice(&head), DOING)?;
        memory::extend(row, url.unwrap_or_default().as_bytes(), DOING)?;
        memory::extend(row, content, DOING)
    };
    let packing = |packed: &PackedText| match packed.packing {
        Packing::Pglz => PGLZ,
        Packing::Lz4 => LZ4,
    };
    match document {
        SourceDocument::Text(packed) => put([TEXT, packing(packed)], packed.len, None, &packed.bytes),
        SourceDocument::Page(packed, url) => {
            put([PAGE, packing(packed)], packed.len, url.as_deref(), &packed.bytes)
        }
        SourceDocument::Document(Document::Text(text)) => {
            put([TEXT, PLAIN], text.len(), None, text.as_bytes())
        }
        SourceDocument::Document(Document::Page(Page { html, url })) => {
            put([PAGE, PLAIN], html.len(), url.as_deref(), html.as_bytes())
        }
        SourceDocument::Document(Document::Numbers(numbers)) => {
            put([NUMBERS, PLAIN], numbers.len(), None, bytemuck::cast_slice(numbers))
        }
        SourceDocument::Document(Document::Tokens(tokens)) => {
            let mut all = Vec::new();
            for token in tokens {
                memory::extend(&mut all, &(token.len() as u64).to_ne_bytes(), DOING)?;
                memory::extend(&mut all, token.as_bytes(), DOING)?;
            }
            put([TOKENS, PLAIN], tokens.len(), None, &all)
        }
    }
}

/// Reads a row of the copy. Returns `None` if the row has no document.
fn read(row: &[u64]) -> Result<Option<SourceDocument>> {
    let Some((&[kind, packing, length, url_length, size], rest)) = row.split_first_chunk() else {
        return Ok(None);
    };
    let mut rest: &[u8] = bytemuck::cast_slice(rest);
    let mut url = None;
    if url_length != NO_URL {
        let (of_url, after) = rest.split_at(url_length as usize);
        (url, rest) = (Some(text(of_url)?), after);
    }
    let content = &rest[..size as usize];
    if packing != PLAIN {
        let packing = if packing == PGLZ { Packing::Pglz } else { Packing::Lz4 };
        let bytes = memory::collect(content.iter().copied(), DOING)?;
        let packed = PackedText { bytes, len: length as usize, packing };
        return Ok(Some(match kind {
            PAGE => SourceDocument::Page(packed, url),
            _ => SourceDocument::Text(packed),
        }));
    }
    Ok(Some(SourceDocument::Document(match kind {
        PAGE => Document::Page(Page { html: text(content)?, url }),
        NUMBERS => Document::Numbers(memory::collect(bytemuck::cast_slice(content).iter().copied(), DOING)?),
        TOKENS => Document::Tokens(tokens(content, length as usize)?),
        _ => Document::Text(text(content)?),
    })))
}

fn text(bytes: &[u8]) -> Result<String> {
    memory::copied(std::str::from_utf8(bytes).map_err(|_| Error::NotText)?, DOING)
}

fn tokens(mut content: &[u8], count: usize) -> Result<Vec<String>> {
    let mut all = Vec::new();
    memory::reserve(&mut all, count, DOING)?;
    while let Some((&length, rest)) = content.split_first_chunk() {
        let (token, rest) = rest.split_at(u64::from_ne_bytes(length) as usize);
        all.push(text(token)?);
        content = rest;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::files::MemoryFiles;

    #[test]
    fn documents_come_back() {
        let page = |html: &str, url: Option<&str>| Page { html: html.into(), url: url.map(str::to_owned) };
        let packed = |packing| PackedText { bytes: vec![1, 2, 3, 200, 0], len: 77, packing };
        let all = [
            Some(SourceDocument::Document(Document::Text(String::new()))),
            None,
            Some(SourceDocument::Document(Document::Text("漢字 and words".into()))),
            Some(SourceDocument::Document(Document::Page(page("<p>one", None)))),
            Some(SourceDocument::Document(Document::Page(page("<p>one", Some(""))))),
            Some(SourceDocument::Document(Document::Page(page("", Some("https://a.example/"))))),
            Some(SourceDocument::Document(Document::Numbers(vec![]))),
            Some(SourceDocument::Document(Document::Numbers(vec![i64::MIN, 0, 7]))),
            Some(SourceDocument::Document(Document::Tokens(vec!["".into(), "ü".into(), "abc".into()]))),
            Some(SourceDocument::Document(Document::Tokens(vec![]))),
            Some(SourceDocument::Text(packed(Packing::Pglz))),
            Some(SourceDocument::Text(packed(Packing::Lz4))),
            Some(SourceDocument::Page(packed(Packing::Lz4), Some("u".into()))),
            Some(SourceDocument::Page(packed(Packing::Pglz), None)),
            None,
        ];
        for budget in [0, 1 << 20] {
            let mut rows = Blobs::new(budget);
            for document in &all {
                let mut bytes = Vec::new();
                document.iter().try_for_each(|document| write(document, &mut bytes)).unwrap();
                rows.push(&bytes, &MemoryFiles).unwrap();
            }
            let mut row = Vec::new();
            for (n, document) in all.iter().enumerate() {
                rows.read(n, &mut row).unwrap();
                assert_eq!(read(&row).unwrap(), *document);
            }
        }
    }
}
