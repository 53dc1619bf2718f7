//! The settings of a job in the registry: JSON that may come from a restored dump and so is not
//! trusted. It holds arguments of `near_duplicates`, which are checked like those of any call, and
//! numbers and names of columns, but no SQL.

use pgrx::{PgSqlErrorCode, pg_sys};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::hints::{self, anew, not_now};
use crate::pg::query::column::UserColumn;
use crate::pg::query::ids;
use crate::pg::query::relation::Relation;
use crate::pg::request::form::{Argument, KeptArguments};
use crate::pg::request::tokenizer::with_schema;
use crate::pg::server::call::FunctionCall;
use crate::pg::server::error::{Result, SqlError};

/// The arguments of `neardup_watch`, completed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// The minimum similarity of a pair.
    pub threshold: Option<f64>,
    /// Options of the method.
    pub options: Option<Value>,
    /// The id column. In the registry it is always set, like the text column.
    pub id_column: Option<String>,
    /// The text column.
    pub text_column: Option<String>,
    /// The site column, if there is one.
    pub site_column: Option<String>,
    /// The column of groups, if only rows of one group are compared.
    #[serde(default)]
    pub within: Option<String>,
    /// The column of sources, if only rows of different sources are compared.
    #[serde(default)]
    pub across: Option<String>,
    /// The method.
    pub method: Option<String>,
    /// The tokenizer.
    pub tokenizer: Option<String>,
    /// The number of tokens in a shingle.
    pub shingle: Option<i32>,
    /// Set if repeated tokens count.
    pub multiset: Option<bool>,
    /// The rule for making clusters of pairs.
    pub clustering: Option<String>,
    /// The maximum number of rows in a cluster.
    pub max_cluster_size: Option<i32>,
    /// The way to detect changes; always set in the registry.
    pub detect: Option<Detect>,
    /// The OID of the relation that the column numbers refer to. After a restore it differs from
    /// the OID of the job's relation, and then columns are found by their names.
    relation: Option<u32>,
    columns: Option<Numbers>,
}

/// The way to detect changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Detect {
    /// Triggers note changes.
    Triggers,
    /// Each refresh compares all rows with the stored data about them.
    Compare,
}

impl Detect {
    fn parse(name: &str) -> Result<Self> {
        match name {
            "triggers" => Ok(Self::Triggers),
            "compare" => Ok(Self::Compare),
            other => Err(SqlError::parameter(format!("unknown way to detect changes \"{other}\""))
                .hint("Ways: triggers, compare.")),
        }
    }
}

/// The numbers of columns in their relation.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Numbers {
    id: i16,
    text: i16,
    site: Option<i16>,
    #[serde(default)]
    url: Option<i16>,
    #[serde(default)]
    within: Option<i16>,
    #[serde(default)]
    across: Option<i16>,
}

/// The columns of a watched relation.
#[derive(Debug)]
pub(super) struct Columns<'a> {
    /// The id column.
    pub id: &'a UserColumn,
    /// The column of documents.
    pub text: &'a UserColumn,
    /// The columns on which the pairs of a row depend in addition to its document, as far as there
    /// are such columns: those of [`OTHERS`].
    pub others: [Option<&'a UserColumn>; 4],
}

/// The option that names the column with the URLs of HTML pages.
const URL: &str = "url";
/// The arguments and the option that name the further columns.
const OTHERS: [&str; 4] = ["site_column", URL, "within", "across"];

impl Settings {
    /// Reads the arguments of a call of `neardup_watch`.
    pub(super) fn of_arguments(call: FunctionCall) -> Result<Self> {
        let text = |n: usize| -> Result<Option<String>> { Ok(call.name(n)?.map(Into::into)) };
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
            detect: call.name(12)?.as_deref().map(Detect::parse).transpose()?,
            within: text(13)?,
            across: text(14)?,
            relation: None,
            columns: None,
        })
    }

    /// Finds the columns of a relation, by the arguments or by default, and stores them.
    pub(super) fn find_columns(&mut self, relation: &Relation) -> Result<()> {
        let hint = || {
            let columns = relation.column_names();
            format!("For example: {} Columns: {columns}.", hints::works(relation, "neardup_watch"))
        };
        let id = relation.id_column(self.id_column.as_deref(), "id_column").map_err(|e| e.hint(hint()))?;
        let text = relation
            .text_column(self.text_column.as_deref(), "text_column", id)
            .map_err(|e| e.hint(hint()))?;
        let mut others = [None; 4];
        for ((found, name), argument) in others.iter_mut().zip(self.other_names()).zip(OTHERS) {
            let column = name.map(|name| relation.named(name, argument));
            *found = column.transpose().map_err(|e| e.hint(hint()))?;
        }
        let unfit = |code: PgSqlErrorCode, why: &str| {
            SqlError::new(code, format!("type {} {why}", id.type_name()))
                .hint("Watch a view that casts the ids to text.")
        };
        if !ids::has_order(id.base_type) {
            let why = "has no default ordering, so it cannot be an id";
            return Err(unfit(PgSqlErrorCode::ERRCODE_UNDEFINED_FUNCTION, why));
        }
        // SAFETY: any type may be looked up.
        if unsafe { pg_sys::get_array_type(id.base_type) } == pg_sys::InvalidOid {
            let why = "has no type of arrays, so it cannot be an id of a job";
            return Err(unfit(PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT, why));
        }
        self.keep(relation, &Columns { id, text, others });
        self.tokenizer = (self.tokenizer.take())
            .map(|name| with_schema(name.into(), relation.namespace).map(Into::into))
            .transpose()?;
        Ok(())
    }

    /// Returns the name of the column with the URLs of HTML pages.
    fn url_column(&self) -> Option<&str> {
        self.options.as_ref()?.get(URL)?.as_str()
    }

    /// Returns the names of the further columns, in the order of [`OTHERS`].
    fn other_names(&self) -> [Option<&str>; 4] {
        let [site, within, across] = [&self.site_column, &self.within, &self.across].map(Option::as_deref);
        [site, self.url_column(), within, across]
    }

    fn keep(&mut self, relation: &Relation, columns: &Columns<'_>) {
        self.id_column = Some(columns.id.name.clone());
        self.text_column = Some(columns.text.name.clone());
        let [site_name, url_name, within_name, across_name] =
            columns.others.map(|column| column.map(|column| column.name.clone()));
        (self.site_column, self.within, self.across) = (site_name, within_name, across_name);
        if let (Some(url), Some(options)) = (url_name, &mut self.options) {
            options[URL] = url.into();
        }
        self.relation = Some(relation.oid.to_u32());
        let [site, url, within, across] = columns.others.map(|column| column.map(|column| column.number));
        let (id, text) = (columns.id.number, columns.text.number);
        self.columns = Some(Numbers { id, text, site, url, within, across });
    }

    /// Returns the columns of the relation as they are now, even if they were renamed, or None if
    /// one of them was dropped.
    pub(super) fn columns<'a>(&self, relation: &'a Relation) -> Option<Columns<'a>> {
        let numbers = self.columns.filter(|_| self.relation == Some(relation.oid.to_u32()));
        let find = |number: Option<i16>, name: Option<&str>| match number {
            Some(number) => relation.numbered(number),
            None => relation.named(name?, "").ok(),
        };
        // A column that the job has must be found.
        let other = |number: Option<Option<i16>>, name: Option<&str>| {
            let is_there = number.map_or(name.is_some(), |number| number.is_some());
            if is_there { find(number.flatten(), name).map(Some) } else { Some(None) }
        };
        let other_numbers = numbers.map(|of| [of.site, of.url, of.within, of.across]);
        let mut others = [None; 4];
        for (n, (found, name)) in others.iter_mut().zip(self.other_names()).enumerate() {
            *found = other(other_numbers.map(|numbers| numbers[n]), name)?;
        }
        let id = find(numbers.map(|of| of.id), self.id_column.as_deref())?;
        Some(Columns { id, text: find(numbers.map(|of| of.text), self.text_column.as_deref())?, others })
    }

    /// Returns the columns, or an error that names the columns of the job if one of them is
    /// missing. Also reports whether the names or numbers of the columns changed since they were
    /// stored. If so, stores the new names and numbers.
    pub(super) fn renew_columns<'a>(&mut self, relation: &'a Relation) -> Result<(Columns<'a>, bool)> {
        let Some(columns) = self.columns(relation) else {
            let names = [&self.id_column, &self.text_column].map(Option::as_deref);
            let names: Vec<&str> = names.into_iter().chain(self.other_names()).flatten().collect();
            return Err(not_now(
                format!("a column of the job of {} is gone: it had {}", relation.shown, names.join(", ")),
                anew(&relation.shown),
            ));
        };
        let kept = |of: &Self| {
            let others = of.other_names().map(|name| name.map(str::to_owned));
            (of.id_column.clone(), of.text_column.clone(), others, of.relation)
        };
        let before = kept(self);
        self.keep(relation, &columns);
        Ok((columns, before != kept(self)))
    }

    /// Returns the arguments of the join of a relation.
    pub(super) fn join(&self, docs: pg_sys::Oid) -> KeptArguments {
        let texts = [
            (Argument::IdColumn, &self.id_column),
            (Argument::TextColumn, &self.text_column),
            (Argument::Method, &self.method),
            (Argument::Tokenizer, &self.tokenizer),
            (Argument::SiteColumn, &self.site_column),
            (Argument::Within, &self.within),
            (Argument::Across, &self.across),
        ];
        KeptArguments {
            docs,
            threshold: self.threshold,
            options: self.options.clone(),
            shingle: self.shingle,
            multiset: self.multiset,
            texts: texts.into_iter().filter_map(|(name, text)| Some((name, text.clone()?))).collect(),
            ..KeptArguments::default()
        }
    }

    /// Reports whether triggers are to detect changes.
    pub(super) fn by_triggers(&self) -> bool {
        self.detect == Some(Detect::Triggers)
    }

    /// Reports whether clusters consist of all rows that are connected by pairs.
    pub(super) fn whole_clusters(&self) -> bool {
        matches!(self.clustering.as_deref(), None | Some("connected")) && self.max_cluster_size.is_none()
    }
}

impl<'a> Columns<'a> {
    /// Returns the columns of groups and of sources.
    pub(super) fn limits(&self) -> [Option<&'a UserColumn>; 2] {
        let [_, _, within, across] = self.others;
        [within, across]
    }

    /// Returns the type in which ids are compared and joined: bigint for integers.
    pub(super) fn id_type(&self) -> pg_sys::Oid {
        if self.id.is_integer() { pg_sys::INT8OID } else { self.id.base_type }
    }
}
