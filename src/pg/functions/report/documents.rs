//! The documents of a report, read by their ids when they are needed.

use std::collections::HashMap;

use pgrx::pg_sys;

use crate::pg::query::Query;
use crate::pg::query::cursor::OpenCursor;
use crate::pg::query::ids::OrderedIds;
use crate::pg::query::names::{equality, qualified_type};
use crate::pg::request::Request;
use crate::pg::request::example::literal;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::encoding;
use crate::pg::server::error::Result;
use neardup_core::error::Result as CoreResult;
use neardup_core::memory;
use neardup_core::report::page::MOST_BYTES;
use neardup_core::report::pair::ShownDocument;

const DOING: &str = "making a report";

/// Writes a part of the page, which takes a few times the bytes of the whole page at most.
pub(super) fn with_room<T>(write: impl FnOnce() -> T) -> CoreResult<T> {
    memory::with_room(8 * MOST_BYTES, DOING, write)
}

/// Documents by vertex.
pub(super) struct ReportDocuments<'a> {
    pub request: &'a Request,
    pub vertices: &'a OrderedIds,
    /// The title as SQL, relative to the alias `d`.
    pub title: Option<&'a str>,
}

/// A digest that distinguishes a text from all other texts.
pub(super) type Digest = Vec<u8>;

/// A title and the digest of a text.
pub(super) type Told = (Option<String>, Option<Digest>);

impl ReportDocuments<'_> {
    /// Returns the id of a vertex as text.
    pub(super) fn id(&self, vertex: u32) -> String {
        self.vertices.ids.show(self.vertices.row(vertex))
    }

    /// Reads the titles of some vertices and the first `characters` characters of each text.
    pub(super) fn beginnings(
        &self,
        vertices: impl IntoIterator<Item = u32>,
        characters: usize,
    ) -> Result<HashMap<u32, ShownDocument>> {
        let text =
            format!("pg_catalog.left({}::pg_catalog.text, {})", self.request.left.column, characters + 1);
        let mut documents = HashMap::new();
        self.read(vertices, &text, "NULL::pg_catalog.bytea", |vertex, mut document, _| {
            if let Some((end, _)) = document.text.char_indices().nth(characters) {
                document.text.truncate(end);
                document.is_cut = true;
            }
            memory::insert(&mut documents, vertex, document, DOING).map(|_| ())
        })?;
        Ok(documents)
    }

    /// Reads the titles and text digests of some vertices.
    pub(super) fn digests(&self, vertices: impl IntoIterator<Item = u32>) -> Result<HashMap<u32, Told>> {
        let digest = format!(
            "pg_catalog.sha256(pg_catalog.convert_to({}::pg_catalog.text, pg_catalog.getdatabaseencoding()))",
            self.request.left.column
        );
        let mut digests = HashMap::new();
        self.read(vertices, "NULL::pg_catalog.text", &digest, |vertex, document, digest| {
            memory::insert(&mut digests, vertex, (document.title, digest), DOING).map(|_| ())
        })?;
        Ok(digests)
    }

    /// Reads rows by their ids, one batch at a time.
    fn read(
        &self,
        vertices: impl IntoIterator<Item = u32>,
        text: &str,
        digest: &str,
        mut each: impl FnMut(u32, ShownDocument, Option<Digest>) -> CoreResult<()>,
    ) -> Result<()> {
        const IDS_A_QUERY: usize = 256;
        const ROWS_A_FETCH: usize = 16;
        const TITLE: usize = 200;
        let request = self.request;
        let source = &request.left;
        let title = match self.title {
            Some(title) => format!("pg_catalog.left({title}, {TITLE})"),
            None => "NULL::pg_catalog.text".to_owned(),
        };
        let vertices: Vec<u32> = memory::collect(vertices, DOING)?;
        for vertices in vertices.chunks(IDS_A_QUERY) {
            let list = vertices.iter().map(|&vertex| {
                let id = self.id(vertex);
                format!("\"{}\"", id.replace('\\', "\\\\").replace('"', "\\\""))
            });
            let list = format!("{{{}}}", list.collect::<Vec<_>>().join(","));
            // The meaning of an escape string does not depend on the setting
            // standard_conforming_strings.
            let sql = format!(
                "SELECT {}, {title}, {text}, {digest} FROM {} AS d WHERE {} {} ANY (E{}::{}[])",
                source.id,
                source.table,
                source.key,
                equality(request.id_type)?,
                literal(&list.replace('\\', "\\\\")),
                qualified_type(request.id_type)
            );
            let query = Query { relations: &[source.oid], ..Query::new(&sql) };
            let types = [request.id_type, pg_sys::TEXTOID, pg_sys::TEXTOID, pg_sys::BYTEAOID];
            OpenCursor::open(&query, types)?.for_each(ROWS_A_FETCH, |[id, title, text, digest]| {
                let Some(id) = id else { return Ok(()) };
                // SAFETY: the cursor checked that the ids have their type.
                let Some(vertex) = (unsafe { self.vertices.find(id) }) else { return Ok(()) };
                // SAFETY: the values are texts and a bytea, which live until the next fetch.
                let bytes = |value: Option<pg_sys::Datum>| value.map(|value| unsafe { varlena_bytes(value) });
                let string = |value| -> Result<Option<String>> {
                    let Some(bytes) = bytes(value) else { return Ok(None) };
                    Ok(encoding::to_utf8(bytes)?.map(|text| memory::owned(text, DOING)).transpose()?)
                };
                let document = ShownDocument {
                    id: self.id(vertex as u32),
                    title: string(title)?.filter(|title| !title.trim().is_empty()),
                    text: string(text)?.unwrap_or_default(),
                    is_cut: false,
                };
                Ok(each(vertex as u32, document, bytes(digest).map(<[u8]>::to_vec))?)
            })?;
        }
        Ok(())
    }
}
