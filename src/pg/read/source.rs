//! Queries for the ids and the documents of a relation.

use std::borrow::Cow;

use pgrx::pg_sys;

use super::expressions::{NONE, as_text, as_value, document_of, text_and_value};
use super::packed::source_document;
use crate::pg::query::Parameter;
use crate::pg::query::column::UserColumn;
use crate::pg::query::decode::ColumnContent;
use crate::pg::query::names::qualified_type;
use crate::pg::query::relation::Relation;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::encoding;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::features::normalization::Normalization;
use neardup_core::features::source_document::SourceDocument;
use neardup_core::features::tokens::{Document, Page};

/// The SQL expressions for the group and the source of a row, and the value of its source, without
/// such columns.
const NO_GROUPS: &str = "NULL::pg_catalog.text, NULL::pg_catalog.text, NULL::pg_catalog.text";

/// The type and the collation by which values are compared.
pub(crate) type ValueOrder = (pg_sys::Oid, pg_sys::Oid);

/// A column of sources.
#[derive(Debug, Clone)]
pub(super) struct AcrossColumn {
    pub(super) name: String,
    /// The SQL expression for its value as a text.
    text: String,
    /// The type and the collation by which sources are compared, if not as texts.
    pub(super) equality: Option<ValueOrder>,
}

/// A query for ids and documents.
#[derive(Debug, Clone)]
pub(crate) struct DocumentSource {
    /// The columns of the query before those of groups and sources, these, and the tables of the
    /// query.
    select: String,
    groups: String,
    from: String,
    /// The conditions of the query.
    conditions: Vec<String>,
    /// The order of the query's rows, if it matters: by group, then by id, if rows come in groups.
    order: Option<String>,
    /// The values of the query's parameters, and further relations that it names.
    pub(super) parameters: Vec<Parameter>,
    pub(super) relations: Vec<pg_sys::Oid>,
    /// The type of the values by which the query identifies rows: ids or numbers.
    pub(super) id_type: pg_sys::Oid,
    /// Set if the query identifies rows by numbers, which start at 1 and have no gaps.
    pub(super) is_listed: bool,
    /// The relation.
    pub oid: pg_sys::Oid,
    /// The SQL expression for the document of a row, relative to the alias `d`.
    pub document: String,
    /// The SQL expression for the id of a row, with a cast to its type, relative to the alias `d`.
    pub id: String,
    /// The SQL expression for the id in a form that indexes can use: an integer column has no cast,
    /// because integers of different lengths can be compared with each other.
    pub key: String,
    /// The column of the documents without a conversion.
    pub column: String,
    /// The relation, quoted for SQL text.
    pub table: String,
    /// The SQL expression for the site of a row as a text, which is NULL without a column of sites.
    pub site: String,
    /// The type and the collation by which sites are compared, if not as texts.
    pub site_equality: Option<ValueOrder>,
    /// The type and the collation of the values that are equal for rows of one group, if rows come
    /// in groups.
    pub group: Option<ValueOrder>,
    /// The SQL expression for the group of a row as a text, which is NULL without groups; `None` if
    /// equal values may be written in different ways.
    group_text: Option<String>,
    /// How the sources of rows are told apart, if only rows of different sources are compared.
    pub(super) across: Option<AcrossColumn>,
    /// The kind of documents.
    pub kind: ColumnContent,
    /// The name of the relation, for messages.
    pub relation: String,
    /// Set if rows come without delay: directly from a table, with no call of a user's function.
    pub is_quick: bool,
    /// Set if the ids are the primary key, so that a row is found quickly by its id.
    has_key: bool,
    pub(super) id_column: String,
    pub(super) text_column: String,
    pub(super) site_column: Option<String>,
    /// Set if the documents are HTML pages whose text is wanted.
    pub(super) are_pages: bool,
    /// The SQL expression for the URLs of the pages, and the name of their column.
    pub(super) url: Option<[String; 2]>,
    /// The argument that names the column of the ids.
    pub id_argument: &'static str,
}

/// The requested columns of a relation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnRequest<'a> {
    /// The column of the ids.
    pub id: &'a UserColumn,
    /// The SQL argument that names the column of the ids.
    pub id_argument: &'static str,
    /// The requested type of the ids.
    pub id_type: pg_sys::Oid,
    /// The column of the documents.
    pub text: &'a UserColumn,
    /// A text-search configuration that parses the documents.
    pub tsearch: Option<pg_sys::Oid>,
    /// The normalization form of the documents.
    pub normalize: Option<Normalization>,
    /// The columns that say which rows are compared.
    pub rows: RowColumns<'a>,
    /// Set if texts are HTML pages whose text is wanted; holds the column of their URLs.
    pub pages: Option<Option<&'a UserColumn>>,
}

/// The columns of a relation that say which rows are compared with each other.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowColumns<'a> {
    /// The column of sites.
    pub site: Option<&'a UserColumn>,
    /// The column of groups, whose type has an order: only rows of one group are compared.
    pub within: Option<&'a UserColumn>,
    /// The column of sources: only rows of different sources are compared.
    pub across: Option<&'a UserColumn>,
}

impl DocumentSource {
    /// Returns the SQL expression for the document of a row, which is the text of a page if
    /// documents are pages; `None` for sketches. `schema` is that of the extension.
    pub(crate) fn text_or_tokens(&self, schema: &str) -> Option<String> {
        let document = &self.document;
        match (self.kind, self.are_pages) {
            (ColumnContent::Sketches(..), _) => None,
            (ColumnContent::Text, true) => {
                let url = self.url.as_ref().map_or(NONE, |[url, _]| url);
                Some(format!("{schema}.html_text({document}, {url})"))
            }
            _ => Some(document.clone()),
        }
    }

    /// Makes the query for the documents of a relation.
    pub(crate) fn new(relation: &Relation, asked: ColumnRequest<'_>) -> Result<Self> {
        let ColumnRequest { id, id_argument, id_type, text, tsearch, normalize, rows, pages } = asked;
        let RowColumns { site, within, across } = rows;
        let kind = ColumnContent::for_type(text.base_type);
        let column = format!("d.{}", text.quoted()?);
        let document = document_of(&column, kind, tsearch, normalize);
        let (site_text, site_value) = text_and_value(site)?;
        let (across_text, across_value) = text_and_value(across)?;
        let group = within.map_or_else(|| Ok(NONE.to_owned()), |of| as_value(of, of.base_type))?;
        let mut conditions = Vec::new();
        for column in [within, across].into_iter().flatten() {
            conditions.push(format!("d.{} IS NOT NULL", column.quoted()?));
        }
        let url =
            pages.flatten().map(|url| Ok::<_, SqlError>([as_text(url)?, url.name.clone()])).transpose()?;
        let url_value = url.as_ref().map_or(NONE, |[value, _]| value);
        // Ids are compared in the collation of their type, because the column's collation may treat
        // distinct ids as equal.
        let quoted = format!("d.{}::{}{}", id.quoted()?, qualified_type(id_type), id.collated());
        Ok(Self {
            select: format!("{quoted}, {document}, {site_text}, {url_value}, {site_value}"),
            groups: format!("{group}, {across_text}, {across_value}"),
            from: format!("{} AS d", relation.qualified),
            conditions,
            order: within.map(|_| format!("{group}, {quoted}")),
            group: within.map(UserColumn::order),
            group_text: match within {
                None => Some(NONE.to_owned()),
                Some(column) => column.equality().is_none().then(|| as_text(column)).transpose()?,
            },
            across: across
                .map(|column| -> Result<_> {
                    let (name, equality) = (column.name.clone(), column.equality());
                    Ok(AcrossColumn { name, text: across_text, equality })
                })
                .transpose()?,
            parameters: Vec::new(),
            relations: vec![relation.oid],
            id_type,
            is_listed: false,
            oid: relation.oid,
            document,
            site: site_text,
            site_equality: site.and_then(UserColumn::equality),
            key: if id.is_integer() { format!("d.{}", id.quoted()?) } else { format!("({quoted})") },
            id: quoted,
            text_column: text.name.clone(),
            column,
            table: relation.qualified.clone(),
            kind: if tsearch.is_some() { ColumnContent::Vector } else { kind },
            relation: relation.shown.clone(),
            // The index of the primary key has the collation of the column.
            has_key: relation.is_key(id) && id.collated().is_empty(),
            is_quick: relation.is_plain
                && tsearch.is_none()
                && normalize.is_none()
                && (text.is_plain_text() || kind.sketches().is_some())
                && (id.is_integer() || id.base_type == id_type)
                && site.is_none_or(UserColumn::is_plain_text)
                && site.and_then(UserColumn::equality).is_none()
                // The types of the server compare their values at once.
                && within.is_none_or(|of| of.base_type.to_u32() < pg_sys::FirstNormalObjectId)
                && across.is_none()
                && pages.flatten().is_none_or(UserColumn::is_plain_text),
            id_column: id.name.clone(),
            site_column: site.map(|site| site.name.clone()),
            are_pages: pages.is_some(),
            url,
            id_argument,
        })
    }

    /// Returns the query.
    pub(super) fn sql(&self) -> String {
        let order = self.order.as_ref().map_or(String::new(), |order| format!(" ORDER BY {order}"));
        let Self { select, groups, from, .. } = self;
        format!("SELECT {select}, {groups} FROM {from}{}{order}", self.condition(&[]))
    }

    /// Returns the condition of the query's rows, together with others, as a clause of SQL.
    pub(super) fn condition(&self, others: &[String]) -> String {
        let all: Vec<&str> = self.conditions.iter().chain(others).map(String::as_str).collect();
        if all.is_empty() { String::new() } else { format!(" WHERE {}", all.join(" AND ")) }
    }

    /// Restricts the documents to those that satisfy a condition on the alias `d`. The condition
    /// has these parameters, names these relations, and contains no text from a caller.
    #[must_use]
    pub(crate) fn only(&self, condition: &str, parameters: &[Parameter], relations: &[pg_sys::Oid]) -> Self {
        let mut only = self.clone();
        only.conditions.push(format!("({condition})"));
        only.parameters.extend(parameters);
        only.relations.extend(relations);
        only
    }

    /// Returns a source of the documents of the rows whose keys are in an array, as far as their
    /// conditions hold, which have no parameters. Its query returns
    /// one row for each place in the array, in order, whether there is a document or not; the rows
    /// are numbered by their places, starting at 1. `equals` is the equality operator. If Citus
    /// distributes the relation, a separate subquery reads its rows, because Citus joins only the
    /// result of such a subquery with data in another place.
    #[must_use]
    pub(crate) fn listed(&self, keys: Parameter, equals: &str, is_spread: bool) -> Self {
        let Self { document, table, key, .. } = self;
        let further: String = self.conditions.iter().map(|condition| format!(" AND {condition}")).collect();
        let is_it = format!("{key} {equals} x.id{further}");
        let url = match &self.url {
            Some([url, _]) if self.has_key => &format!("(SELECT {url} FROM {table} AS d WHERE {is_it})"),
            Some([url, _]) => url,
            None => NONE,
        };
        let parameters = vec![keys];
        let keys = "pg_catalog.unnest($1) WITH ORDINALITY AS x(id, n)";
        let (columns, from) = if is_spread {
            let url = self.url.as_ref().map_or(NONE, |[url, _]| url);
            let from = format!(
                "{keys} LEFT JOIN (SELECT {key} AS key, {document} AS document, {url} AS url \
                 FROM {table} AS d WHERE {key} {equals} ANY ($1){further} OFFSET 0) AS d ON d.key {equals} x.id"
            );
            (format!("d.document, {NONE}, d.url"), from)
        } else if self.has_key {
            // Each row is looked up through the index; a join might read the whole table.
            let document = format!("(SELECT {document} FROM {table} AS d WHERE {is_it})");
            (format!("{document}, {NONE}, {url}"), keys.to_owned())
        } else {
            let from = format!("{keys} LEFT JOIN {table} AS d ON {is_it}");
            (format!("{document}, {NONE}, {url}"), from)
        };
        Self {
            select: format!("x.n, {columns}, {NONE}"),
            from,
            conditions: Vec::new(),
            order: (!self.has_key || is_spread).then(|| "x.n".to_owned()),
            parameters,
            id_type: pg_sys::INT8OID,
            is_listed: true,
            site_equality: None,
            ..self.of_all_groups()
        }
    }

    /// Returns a source of the same documents, whose rows are all compared.
    #[must_use]
    pub(crate) fn of_all_groups(&self) -> Self {
        Self { groups: NO_GROUPS.to_owned(), order: None, group: None, across: None, ..self.clone() }
    }

    /// Returns the SQL expressions for the group and the source of a row as texts, which are NULL
    /// without such columns, or `None` if equal values may be written in different ways.
    pub(crate) fn limits_as_texts(&self) -> Option<[String; 2]> {
        let of_source = self
            .across
            .as_ref()
            .map_or(Some(NONE.to_owned()), |across| across.equality.is_none().then(|| across.text.clone()));
        Some([self.group_text.clone()?, of_source?])
    }

    /// Returns the column of sources, if its equal values may be written in different ways: it is
    /// known after the last row which of them are equal.
    pub(crate) fn source_of_several_forms(&self) -> Option<&str> {
        self.across.as_ref().filter(|across| across.equality.is_some()).map(|across| &*across.name)
    }

    /// Reports whether only rows of one group, or of different sources, are compared.
    pub(crate) fn is_limited(&self) -> bool {
        self.group.is_some() || self.across.is_some()
    }

    /// Reports whether a column of sites is read.
    pub(crate) fn has_sites(&self) -> bool {
        self.site_column.is_some()
    }

    /// Reads a site or a URL. `column` is the name of its column, for the error.
    ///
    /// # Safety
    /// `value` is a text that lives as long as the result.
    pub(super) unsafe fn place<'a>(
        &self,
        column: Option<&str>,
        value: Option<pg_sys::Datum>,
    ) -> Result<Option<Cow<'a, str>>> {
        let Some(value) = value else { return Ok(None) };
        // SAFETY: the caller's promise.
        let place = encoding::to_utf8(unsafe { varlena_bytes(value) })?;
        place.map(Some).ok_or_else(|| {
            let (column, relation) = (column.unwrap_or_default(), &self.relation);
            SqlError::not_utf8(format_args!("column \"{column}\" of {relation} holds what"))
        })
    }

    /// Reads a document. Returns `None` if it contains bytes that are not valid text.
    ///
    /// # Safety
    /// `value` has the kind of the documents, and `url` is a text. Intermediate copies are left in
    /// the current memory context.
    pub(super) unsafe fn document(
        &self,
        value: pg_sys::Datum,
        url: Option<pg_sys::Datum>,
    ) -> Result<Option<SourceDocument>> {
        let url = || -> Result<_> {
            let column = self.url.as_ref().map(|[_, name]| name.as_str());
            // SAFETY: the caller's promise.
            Ok(unsafe { self.place(column, url)? }.map(Cow::into_owned))
        };
        // SAFETY: the caller's promise.
        let document = unsafe { source_document(self.kind, value)? };
        Ok(match document {
            Some(SourceDocument::Text(packed)) if self.are_pages => {
                Some(SourceDocument::Page(packed, url()?))
            }
            Some(SourceDocument::Document(Document::Text(html))) if self.are_pages => {
                Some(SourceDocument::Document(Document::Page(Page { html, url: url()? })))
            }
            document => document,
        })
    }
}
