//! What a job was asked for, as the books keep it: JSON that whoever restores a dump writes, so it is not trusted. It holds
//! arguments of `near_duplicates`, which are checked like those of any call, and numbers and names of columns; no SQL.

use pgrx::{PgSqlErrorCode, pg_sys};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::not_now;
use super::tables::anew;
use crate::pg::query::ids;
use crate::pg::query::relation::{Column, Relation, qualified_type};
use crate::pg::request::example::literal;
use crate::pg::server::call::Call;
use crate::pg::server::error::{Result, SqlError};

/// The arguments of `neardup_watch`, completed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Settings {
    threshold: Option<f64>,
    options: Option<Value>,
    id_column: Option<String>,
    text_column: Option<String>,
    site_column: Option<String>,
    method: Option<String>,
    tokenizer: Option<String>,
    shingle: Option<i32>,
    multiset: Option<bool>,
    /// How pairs become clusters.
    pub clustering: Option<String>,
    /// The most rows of a cluster.
    pub max_cluster_size: Option<i32>,
    /// `triggers` or `compare`; in the books always one of these.
    pub detect: Option<String>,
    /// The number of the relation that the numbers of columns are of: another one than the job's after a restore, where
    /// columns are to be found by their names.
    relation: Option<u32>,
    columns: Option<Numbers>,
}

/// The places of columns in their relation.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Numbers {
    id: i16,
    text: i16,
    site: Option<i16>,
}

/// The columns of a watched relation.
#[derive(Debug)]
pub struct Columns<'a> {
    /// That of the ids.
    pub id: &'a Column,
    /// That of the documents.
    pub text: &'a Column,
    /// That of the sites, if there is one.
    pub site: Option<&'a Column>,
}

impl Settings {
    /// The arguments of a call of `neardup_watch`.
    pub fn of_arguments(call: Call) -> Result<Self> {
        let text = |n: usize| -> Result<Option<String>> { Ok(call.text(n)?.map(Into::into)) };
        Ok(Self {
            threshold: call.get(1),
            options: call.json(2, "options")?,
            id_column: text(3)?,
            text_column: text(4)?,
            method: text(5)?,
            tokenizer: text(6)?,
            shingle: call.get(7),
            multiset: call.get(8),
            site_column: text(9)?,
            clustering: text(10)?,
            max_cluster_size: call.get(11),
            detect: text(12)?,
            relation: None,
            columns: None,
        })
    }

    /// Finds the columns of a relation: as the arguments name them, or the usual ones; and keeps them.
    pub fn find_columns(&mut self, relation: &Relation) -> Result<()> {
        let hint = || format!("Columns: {}.", relation.column_names());
        let id = relation.id_column(self.id_column.as_deref(), "id_column").map_err(|e| e.hint(hint()))?;
        let text = relation
            .text_column(self.text_column.as_deref(), "text_column", id)
            .map_err(|e| e.hint(hint()))?;
        let site = self.site_column.as_deref().map(|name| relation.named(name, "site_column"));
        let site = site.transpose().map_err(|e| e.hint(hint()))?;
        if !ids::has_order(id.base_type) {
            let message = format!("type {} has no default ordering, so it cannot be an id", id.type_name());
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_FUNCTION, message)
                .hint("Watch a view that casts the ids to text."));
        }
        // SAFETY: any type is looked up.
        if unsafe { pg_sys::get_array_type(id.base_type) } == pg_sys::InvalidOid {
            let message =
                format!("type {} has no type of arrays, so it cannot be an id of a job", id.type_name());
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT, message)
                .hint("Watch a view that casts the ids to text."));
        }
        self.keep(relation, &Columns { id, text, site });
        Ok(())
    }

    fn keep(&mut self, relation: &Relation, columns: &Columns<'_>) {
        self.id_column = Some(columns.id.name.clone());
        self.text_column = Some(columns.text.name.clone());
        self.site_column = columns.site.map(|site| site.name.clone());
        self.relation = Some(relation.oid.to_u32());
        self.columns = Some(Numbers {
            id: columns.id.number,
            text: columns.text.number,
            site: columns.site.map(|site| site.number),
        });
    }

    /// The columns of the relation as they are now, whatever they were renamed to; none if one of them was dropped.
    pub fn columns<'a>(&self, relation: &'a Relation) -> Option<Columns<'a>> {
        let here = self.relation == Some(relation.oid.to_u32());
        match self.columns.filter(|_| here) {
            Some(Numbers { id, text, site }) => Some(Columns {
                id: relation.numbered(id)?,
                text: relation.numbered(text)?,
                site: match site {
                    Some(site) => Some(relation.numbered(site)?),
                    None => None,
                },
            }),
            None => Some(Columns {
                id: relation.named(self.id_column.as_deref()?, "").ok()?,
                text: relation.named(self.text_column.as_deref()?, "").ok()?,
                site: match &self.site_column {
                    Some(site) => Some(relation.named(site, "").ok()?),
                    None => None,
                },
            }),
        }
    }

    /// The columns, or the error that says which of them is gone. Whether their names or numbers became others since
    /// they were kept is the second answer; then these are kept.
    pub fn renew_columns<'a>(&mut self, relation: &'a Relation) -> Result<(Columns<'a>, bool)> {
        let Some(columns) = self.columns(relation) else {
            let names = [&self.id_column, &self.text_column, &self.site_column];
            let names: Vec<&str> = names.into_iter().filter_map(Option::as_deref).collect();
            return Err(not_now(
                format!("a column of the job of {} is gone: it had {}", relation.shown, names.join(", ")),
                anew(&relation.shown),
            ));
        };
        let before =
            (self.id_column.clone(), self.text_column.clone(), self.site_column.clone(), self.relation);
        self.keep(relation, &columns);
        let now = (self.id_column.clone(), self.text_column.clone(), self.site_column.clone(), self.relation);
        Ok((columns, before != now))
    }

    /// Whether triggers are to tell of changes.
    pub fn by_triggers(&self) -> bool {
        self.detect.as_deref() == Some("triggers")
    }

    /// Whether clusters are all that is connected by pairs.
    pub fn whole_clusters(&self) -> bool {
        matches!(self.clustering.as_deref(), None | Some("connected")) && self.max_cluster_size.is_none()
    }

    /// The arguments that the internal functions of jobs have in common, as SQL text. Every one is cast to the type that
    /// it is declared with: so they are found by no better match than themselves.
    pub fn arguments(&self, relation: &Relation, id_type: pg_sys::Oid) -> String {
        let value = |value: Option<String>, cast: &str| match value {
            None => format!("NULL::pg_catalog.{cast}"),
            Some(value) => format!("{}::pg_catalog.{cast}", literal(&value)),
        };
        [
            format!("'{}'::pg_catalog.regclass", relation.oid.to_u32()),
            value(self.threshold.map(|threshold| threshold.to_string()), "float8"),
            format!("'{}'::pg_catalog.regtype", id_type.to_u32()),
            value(self.options.as_ref().map(Value::to_string), "jsonb"),
            value(self.id_column.clone(), "text"),
            value(self.text_column.clone(), "text"),
            value(self.method.clone(), "text"),
            value(self.tokenizer.clone(), "text"),
            value(self.shingle.map(|shingle| shingle.to_string()), "int4"),
            value(self.multiset.map(|multiset| multiset.to_string()), "bool"),
            "NULL::pg_catalog.int8".to_owned(),
            value(self.site_column.clone(), "text"),
        ]
        .join(", ")
    }

    /// The clustering and the size of clusters, as SQL text.
    pub fn cluster_arguments(&self) -> [String; 2] {
        let clustering = self.clustering.as_deref().unwrap_or("connected");
        let size = self.max_cluster_size.map_or("NULL".to_owned(), |size| format!("'{size}'"));
        [format!("{}::pg_catalog.text", literal(clustering)), format!("{size}::pg_catalog.int4")]
    }
}

impl Columns<'_> {
    /// The type that ids are compared and joined as: integers as bigint.
    pub fn id_type(&self) -> pg_sys::Oid {
        if self.id.is_integer() { pg_sys::INT8OID } else { self.id.base_type }
    }

    /// The id of a row, of the type that the job's tables have, in terms of the alias `d`.
    pub fn id_expression(&self) -> Result<String> {
        let column = format!("d.{}", self.id.quoted()?);
        Ok(if self.id.is_integer() {
            column
        } else {
            format!("({column}::{}{})", qualified_type(self.id.base_type), self.id.collated())
        })
    }

    /// All that says of a row what its pairs are, as one text, in terms of the alias `d`.
    pub fn content(&self) -> Result<String> {
        let body = format!("d.{}::pg_catalog.text", self.text.quoted()?);
        Ok(match self.site {
            None => body,
            Some(site) => format!(
                "pg_catalog.concat(COALESCE({body}, ''::pg_catalog.text), E'\\x01'::pg_catalog.text, \
                 COALESCE(d.{}::pg_catalog.text, ''::pg_catalog.text))",
                site.quoted()?
            ),
        })
    }
}
