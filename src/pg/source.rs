//! Reads documents through a cursor of SPI, so that privileges, row-level security, views,
//! partitions and foreign tables are honoured as in any query of the caller.

use std::borrow::Cow;

use pgrx::{PgMemoryContexts, PgSqlErrorCode, check_for_interrupts, pg_sys};

use super::call::varlena_bytes;
use super::columns::{Column, Relation};
use super::cursor::Cursor;
use super::decode::{Kind, decode};
use super::encoding;
use super::error::{Result, SqlError};
use super::ids::Ids;
use super::sites::Sites;
use crate::error::Error;
use crate::features::tokens::Document;
use crate::memory;

const DOING: &str = "reading documents";

/// A query for ids and documents.
#[derive(Debug)]
pub struct Source {
    sql: String,
    kind: Kind,
    /// The relation's name, for messages.
    pub relation: String,
    id_column: String,
    site_column: Option<String>,
    /// The argument that names the column of the ids.
    pub id_argument: &'static str,
}

impl Source {
    /// The query for the documents of a relation. `tsearch` is a text-search configuration to parse
    /// texts with, `site` a column of sites.
    pub fn new(
        relation: &Relation,
        (id, id_argument): (&Column, &'static str),
        id_type: pg_sys::Oid,
        text: &Column,
        tsearch: Option<pg_sys::Oid>,
        site: Option<&Column>,
    ) -> Result<Self> {
        let kind = Kind::of(text.base_type);
        let column = format!("d.{}", text.quoted()?);
        let document = match (kind, tsearch) {
            (Kind::Text, None) => format!("{column}::pg_catalog.text"),
            (Kind::Text, Some(configuration)) => format!(
                "pg_catalog.to_tsvector('{}'::pg_catalog.regconfig, {column}::pg_catalog.text)",
                configuration.to_u32()
            ),
            (Kind::Tokens, _) => format!("{column}::pg_catalog.text[]"),
            (Kind::Numbers, _) => format!("{column}::pg_catalog.int8[]"),
            (Kind::Vector, _) => column,
        };
        // Without a length, so that a cast to char or bit does not cut ids to a length of one.
        let plain = pg_sys::FORMAT_TYPE_FORCE_QUALIFY | pg_sys::FORMAT_TYPE_TYPEMOD_GIVEN;
        // SAFETY: gives a C string for any type.
        let id_type = unsafe { encoding::c_string(pg_sys::format_type_extended(id_type, -1, plain as u16)) };
        // Where no site is asked for the third column is missing, which reads as NULL.
        let site_value = match site {
            Some(site) => format!(", d.{}::pg_catalog.text", site.quoted()?),
            None => String::new(),
        };
        Ok(Self {
            sql: format!(
                "SELECT d.{}::{id_type}, {document}{site_value} FROM {} AS d",
                id.quoted()?,
                relation.qualified
            ),
            kind: if tsearch.is_some() { Kind::Vector } else { kind },
            relation: relation.shown.clone(),
            id_column: id.name.clone(),
            site_column: site.map(|site| site.name.clone()),
            id_argument,
        })
    }

    /// Hands `batch` the documents as they come, each with the number of its row within this source;
    /// what it leaves in them, for want of enough, it is handed again with more. The last time it is
    /// told that there are no more. NULL documents have an id only. Ids are added to `ids`; NULL ones
    /// are an error. Sites are added where they are wanted.
    pub fn read(
        &self,
        ids: &mut Ids,
        sites: &mut Option<Sites>,
        mut batch: impl FnMut(&mut Vec<(u32, Document)>, &Ids, bool) -> Result<()>,
    ) -> Result<()> {
        /// Rows the server fetches at one time are between these; as many as fill about a megabyte.
        const ROWS_A_FETCH: std::ops::RangeInclusive<usize> = 1..=256;
        let mut documents = Vec::new();
        let mut rows = 16;
        let mut cursor = Cursor::open(&self.sql)?;
        // Detoasted copies live here until their rows are done.
        let mut context = PgMemoryContexts::new("neardup: documents");
        loop {
            check_for_interrupts!();
            let mut fetched = 0;
            let mut fetched_bytes = 0;
            for [id, value, site] in cursor.fetch(rows)? {
                fetched += 1;
                let row = u32::try_from(ids.len())
                    .map_err(|_| Error::TooMany { what: "documents", limit: u32::MAX.into() })?;
                let id = id.ok_or_else(|| self.null_id())?;
                // SAFETY: the query casts ids to their type and documents to their kind; copies are
                // made of both before the context is reset.
                let document = unsafe {
                    let document = context.switch_to(|_| {
                        ids.push(id)?;
                        if let Some(sites) = sites {
                            sites.push(self.site(site)?.as_deref())?;
                        }
                        value.map(|value| decode(self.kind, value)).transpose()
                    })?;
                    context.reset();
                    document
                };
                match document {
                    Some(Some(document)) => {
                        fetched_bytes += document.bytes() + size_of::<(u32, Document)>();
                        memory::push(&mut documents, (row, document), DOING)?;
                    }
                    Some(None) => return Err(self.not_text(&ids.show(row))),
                    None => {}
                }
            }
            batch(&mut documents, ids, fetched == 0)?;
            if fetched == 0 {
                return Ok(());
            }
            rows =
                (fetched * (1 << 20) / (fetched_bytes + 1)).clamp(*ROWS_A_FETCH.start(), *ROWS_A_FETCH.end());
        }
    }

    /// Whether a column of sites is read.
    pub fn has_sites(&self) -> bool {
        self.site_column.is_some()
    }

    /// The text of a site.
    ///
    /// # Safety
    /// `value` is a text that lives as long as the site.
    unsafe fn site<'a>(&self, value: Option<pg_sys::Datum>) -> Result<Option<Cow<'a, str>>> {
        let Some(value) = value else { return Ok(None) };
        // SAFETY: the caller's promise.
        let site = encoding::to_utf8(unsafe { varlena_bytes(value) })?;
        site.map(Some).ok_or_else(|| {
            let column = self.site_column.as_deref().unwrap_or_default();
            SqlError::new(
                PgSqlErrorCode::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE,
                format!("column \"{column}\" of {} holds what is not valid UTF-8", self.relation),
            )
        })
    }

    fn null_id(&self) -> SqlError {
        SqlError::new(
            PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED,
            format!("column \"{}\" of {} holds NULL, which cannot be an id", self.id_column, self.relation),
        )
        .hint(format!("Name a column without NULL with {} => '…'.", self.id_argument))
    }

    fn not_text(&self, id: &str) -> SqlError {
        SqlError::new(
            PgSqlErrorCode::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE,
            format!("the document with id {id} of {} is not valid UTF-8", self.relation),
        )
        .hint("Convert it with convert_from(…, 'its encoding'), or leave it out through a view.")
    }
}
