//! The relations of a call and their columns.

use std::borrow::Cow;

use pgrx::{PgSqlErrorCode, pg_sys};

use super::example::{Example, literal, such_as};
use super::form::{Argument, FunctionForm, Named};
use super::tokenizer::{HtmlPages, with_schema};
use crate::pg::query::column::UserColumn;
use crate::pg::query::ids::{self, becomes};
use crate::pg::query::names::type_name;
use crate::pg::query::relation::Relation;
use crate::pg::read::pairs::no_order;
use crate::pg::read::source::{ColumnRequest, DocumentSource, RowColumns};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::notices::notice;
use neardup_core::features::normalization::Normalization;

/// The relations of a call.
#[derive(Debug)]
pub(super) struct Tables<'a> {
    given: Named<'a>,
    /// The only relation, or the left and the right relation.
    pub tables: Vec<RelationColumns>,
    /// The type of the ids, if the caller gave one, or if the function takes ids of any type.
    id_type: Option<pg_sys::Oid>,
}

/// A relation, and its columns that the caller named.
#[derive(Debug)]
pub(super) struct RelationColumns {
    /// The relation.
    pub relation: Relation,
    id: Option<NamedColumn>,
    text: Option<NamedColumn>,
}

/// The name of a column, and the argument that gives it.
pub(super) type NamedColumn = (Cow<'static, str>, Argument);

/// Returns the name of a column if the caller named it, and the argument that gives it.
fn name_and_argument(column: &Option<NamedColumn>) -> (Option<&str>, &'static str) {
    column.as_ref().map_or((None, ""), |(name, argument)| (Some(name), argument.name()))
}

/// Returns the column of each relation that one of these arguments names, if there is one.
pub(super) fn columns_of(given: Named<'_>, arguments: [Argument; 2]) -> Result<Vec<Option<NamedColumn>>> {
    let mut columns: Vec<Option<NamedColumn>> = Vec::new();
    for (_, argument) in given.form.relations().iter().zip(arguments) {
        // Unless the caller names the column of the right table, it has the same name as the column
        // of the left table.
        let name = given.text(argument)?.map(|name| (name, argument));
        columns.push(name.or_else(|| columns.last().cloned().flatten()));
    }
    Ok(columns)
}

/// Returns the column of the relation with this number, if one is named.
pub(super) fn column<'b>(
    all: &[Option<NamedColumn>],
    table: &'b RelationColumns,
    number: usize,
) -> Result<Option<&'b UserColumn>> {
    let named = all.get(number).and_then(Option::as_ref);
    named.map(|(name, argument)| table.relation.named(name, argument.name())).transpose()
}

/// The arguments that name the columns of ids, and those of documents: for the only or left table,
/// and for the right table.
const COLUMNS: [[Argument; 2]; 2] =
    [[Argument::IdColumn, Argument::RightIdColumn], [Argument::TextColumn, Argument::RightTextColumn]];

impl<'a> Tables<'a> {
    /// Looks up the relations.
    pub(super) fn open(given: Named<'a>) -> Result<Self> {
        let (form, id_type) = (given.form, given.id_type());
        let arguments = form.relations();
        let mut tables: Vec<RelationColumns> = Vec::new();
        let [ids, texts] = COLUMNS.map(|arguments| columns_of(given, arguments));
        for ((&argument, id), mut text) in arguments.iter().zip(ids?).zip(texts?) {
            let relation = given.need(argument).and_then(Relation::open).map_err(|error| {
                let names = arguments.iter().map(|argument| argument.name().to_owned());
                error.hint(such_as(&usual(form, names)))
            })?;
            // The method `title` uses the column with the name `title`, if there is one.
            let is_title = given.text(Argument::Method)?.is_some_and(|method| method == "title");
            if is_title && text.is_none() && relation.named("title", "").is_ok() {
                text = Some((Cow::Borrowed("title"), Argument::TextColumn));
            }
            tables.push(RelationColumns { relation, id, text });
        }
        if id_type.is_some_and(|of| !ids::exists(of)) {
            let message = "id_type is not a type";
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT, message)
                .hint("Give a NULL of the type of the ids: NULL::text"));
        }
        let mut opened = Self { given, tables, id_type };
        if opened.takes_any_id() {
            opened.id_type = opened.id_type_of_column();
        }
        Ok(opened)
    }

    /// Reports whether the function takes ids of any type and has no argument for their type,
    /// because it returns no ids.
    fn takes_any_id(&self) -> bool {
        !self.given.form.has(Argument::IdType)
    }

    /// Returns the type of the ids.
    pub(super) fn id_type(&self) -> pg_sys::Oid {
        self.id_type.unwrap_or(pg_sys::INT8OID)
    }

    /// Returns the type of the left table's ids. Returns `None` for integers, which need no type,
    /// and for a column that does not exist, which is refused later.
    fn id_type_of_column(&self) -> Option<pg_sys::Oid> {
        let RelationColumns { relation, id, .. } = self.tables.first()?;
        let id = relation.id_column(name_and_argument(id).0, "").ok()?;
        (!id.is_integer()).then_some(id.base_type)
    }

    /// Tells the caller of a function that keys and values of JSON are compared alike, and that
    /// bytes are compared as they are written.
    pub(super) fn tell_types(&self, columns: &[(&UserColumn, &UserColumn)]) {
        for (_, column) in columns.iter().filter(|_| self.given.is_call()) {
            let (name, quoted) = (&column.name, column.quoted().unwrap_or_default());
            if column.is_json() {
                notice(format!(
                    "column \"{name}\" is of type {}: its keys are compared as words, like its values; \
                     a view can take the text out: {quoted} ->> 'body' AS body",
                    column.type_name(),
                ));
            } else if column.is_bytes() {
                notice(format!(
                    "column \"{name}\" is of type bytea: its bytes are compared as they are written, in hexadecimal; \
                     a view can read them as text: {} AS body",
                    column.text_of_bytes().unwrap_or(quoted)
                ));
            }
        }
    }

    /// Returns the name of the tokenizer that the caller gave. The search path of a restore, or of
    /// a materialized view that is refreshed, has no schema of the user: a text-search
    /// configuration may then be in the schema of the only or left relation.
    pub(super) fn tokenizer(&self) -> Result<Option<Cow<'static, str>>> {
        let name = self.given.text(Argument::Tokenizer)?;
        let Some(RelationColumns { relation, .. }) = self.tables.first() else { return Ok(name) };
        name.map(|name| with_schema(name, relation.namespace)).transpose()
    }

    /// Returns the column of the ids and the column of the documents for each relation.
    pub(super) fn columns(&self) -> Result<Vec<(&UserColumn, &UserColumn)>> {
        self.tables.iter().map(|table| self.columns_of(table)).collect()
    }

    fn columns_of<'b>(&self, table: &'b RelationColumns) -> Result<(&'b UserColumn, &'b UserColumn)> {
        let RelationColumns { relation, id, text, .. } = table;
        let with_hint = |error: SqlError| {
            if id.is_none() && relation.has_key_of_several() {
                return error.hint(self.key_of_several(table));
            }
            if let Some(hint) = relation.view_of_texts() {
                return error.hint(hint);
            }
            error.hint(match self.likely_example() {
                Some(example) => {
                    let names = relation.column_names();
                    format!("For example: SELECT * FROM {example}; columns: {names}.")
                }
                None => match relation.documents().next().and_then(|document| document.quoted().ok()) {
                    Some(document) => format!(
                        "A view can number the rows: SELECT row_number() OVER () AS id, {document} FROM {};",
                        relation.shown
                    ),
                    None => "A view can make a text of other columns.".to_owned(),
                },
            })
        };
        let (name, argument) = name_and_argument(id);
        let id = relation.id_column(name, argument).map_err(with_hint)?;
        let wanted = self.id_type();
        if !self.id_type.map_or(id.is_integer(), |wanted| becomes(id.base_type, wanted)) {
            let message = format!(
                "id column \"{}\" of {} is of type {}, not {}",
                id.name,
                relation.shown,
                id.type_name(),
                type_name(wanted)
            );
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH, message).hint(
                match self.likely_example() {
                    Some(example) if example.id_type.is_some() => {
                        format!("Say which type the ids have: SELECT * FROM {example};")
                    }
                    Some(example) => format!("Integers need no type: SELECT * FROM {example};"),
                    None => "A view can cast the ids to one type, for example to text.".to_owned(),
                },
            ));
        }
        if !ids::has_order(wanted) {
            return Err(with_hint(no_order(wanted)));
        }
        let (name, argument) = name_and_argument(text);
        let text = relation.text_column(name, argument, id).map_err(with_hint)?;
        Ok((id, text))
    }

    /// Returns the hint for a relation whose primary key has several columns: a view that makes one
    /// id of them.
    fn key_of_several(&self, table: &RelationColumns) -> String {
        let relation = &table.relation;
        let Some(view) = relation.one_key_view(true) else {
            return "A view can make one id of the columns of the key: (a, b)::text.".to_owned();
        };
        let relations = self.tables.iter().map(|_| "one_key".to_owned());
        let mut example = usual(self.given.form, relations)
            .with("id_column", literal("id"))
            .with("text_column", literal("body"));
        example.id_type = (!self.takes_any_id()).then(|| "text".to_owned());
        format!(
            "A view can make one id of them: {view} \
             SELECT * FROM {example}; or name a column that is unique alone; columns: {}.",
            relation.column_names()
        )
    }

    /// Returns the documents of the only or left relation, and of the right relation. `row` takes a
    /// relation and its position, and returns the columns that say which rows are compared.
    pub(super) fn sources<'b>(
        &'b self,
        columns: Vec<(&UserColumn, &UserColumn)>,
        Treatment { tsearch, normalize, pages }: Treatment<'_>,
        row: impl Fn(&'b RelationColumns, usize) -> Result<RowColumns<'b>>,
    ) -> Result<(DocumentSource, Option<DocumentSource>)> {
        let id_type = self.id_type();
        let mut sources = Vec::new();
        for (number, ((table, (id, text)), argument)) in
            self.tables.iter().zip(columns).zip(COLUMNS[0]).enumerate()
        {
            let (id_argument, rows) = (argument.name(), row(table, number)?);
            let url = pages.and_then(|pages| pages.url.as_deref());
            let url = url.map(|name| table.relation.named(name, "url")).transpose()?;
            let pages = pages.map(|_| url);
            let asked = ColumnRequest { id, id_argument, id_type, text, tsearch, normalize, rows, pages };
            sources.push(DocumentSource::new(&table.relation, asked)?);
        }
        let right = (sources.len() == 2).then(|| sources.remove(1));
        Ok((sources.remove(0), right))
    }

    /// Returns the call with the columns that the caller named or, if these do not exist, with
    /// likely columns, if there are such.
    pub(super) fn example(&self) -> Example {
        self.likely_example().unwrap_or_else(|| self.bare_example())
    }

    fn likely_example(&self) -> Option<Example> {
        let mut example = self.bare_example();
        let mut types = Vec::new();
        let mut named = (None, None);
        let [ids, texts] = COLUMNS;
        for ((table, id_argument), text_argument) in self.tables.iter().zip(ids).zip(texts) {
            let relation = &table.relation;
            let (id, text) =
                relation.likely_columns(name_and_argument(&table.id).0, name_and_argument(&table.text).0)?;
            // A column is added only if it would not be found without a name or, in the right
            // table, by the name of the left table's column.
            if !relation.id_column(named.0, "").is_ok_and(|found| found.name == id.name) {
                example = example.with(id_argument.name(), literal(&id.name));
                named.0 = named.0.or(Some(&*id.name));
            }
            if !relation.text_column(named.1, "", id).is_ok_and(|found| found.name == text.name) {
                example = example.with(text_argument.name(), literal(&text.name));
                named.1 = named.1.or(Some(&*text.name));
            }
            types.push(id);
        }
        if !self.takes_any_id() && !types.iter().all(|id| id.is_integer()) {
            let all_become = |&wanted: &pg_sys::Oid| types.iter().all(|id| becomes(id.base_type, wanted));
            let candidates = self.id_type.into_iter().chain(types.iter().map(|id| id.base_type));
            example.id_type = Some(type_name(candidates.filter(|&t| ids::has_order(t)).find(all_become)?));
        }
        Some(example)
    }

    /// Returns the call with only the relations.
    fn bare_example(&self) -> Example {
        usual(self.given.form, self.tables.iter().map(|table| table.relation.shown.clone()))
    }
}

/// What the server does with texts before they are read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Treatment<'a> {
    /// A text-search configuration that parses the texts.
    pub tsearch: Option<pg_sys::Oid>,
    /// The normalization form of the texts.
    pub normalize: Option<Normalization>,
    /// Given if the texts are HTML pages.
    pub pages: Option<&'a HtmlPages>,
}

/// Returns a call with only the relations, without a threshold for a function that has none,
/// because it suggests one.
fn usual(form: FunctionForm, relations: impl IntoIterator<Item = String>) -> Example {
    let example = Example::new(form.name, relations);
    let has_number = [Argument::Threshold, Argument::Wanted].into_iter().any(|argument| form.has(argument));
    if form.has(Argument::Sample) && !has_number { example.at(None) } else { example }
}
