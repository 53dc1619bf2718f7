//! The conditions by which a job's statements tell which rows are compared: those of one group, and
//! those of different sources. They are the conditions of a call, in SQL.

use crate::pg::jobs::settings::Columns;
use crate::pg::query::column::UserColumn;
use crate::pg::query::ids::has_order;
use crate::pg::query::names::equality;
use crate::pg::server::error::Result;

/// The columns of groups and of sources, as far as a job has them.
#[derive(Debug)]
pub(super) struct JobLimits {
    /// The column of groups.
    pub group: Option<ComparedColumn>,
    source: Option<ComparedColumn>,
}

/// A column whose values are compared.
#[derive(Debug)]
pub(super) struct ComparedColumn {
    /// The expression for its value, behind the alias of a row.
    pub value: String,
    /// The operator by which values are equal.
    pub equals: String,
}

impl ComparedColumn {
    fn new(column: &UserColumn) -> Result<Self> {
        let name = column.quoted()?;
        // The values of a type without an order are compared as they are written.
        Ok(match has_order(column.base_type) {
            true => Self { value: name, equals: equality(column.base_type)? },
            false => Self {
                value: format!("{name}::pg_catalog.text"),
                equals: "OPERATOR(pg_catalog.=)".to_owned(),
            },
        })
    }

    /// Returns the condition that rows `l` and `r` have equal values.
    fn is_equal(&self) -> String {
        let Self { value, equals } = self;
        format!("l.{value} {equals} r.{value}")
    }
}

impl JobLimits {
    pub(super) fn new(columns: &Columns<'_>) -> Result<Self> {
        let [group, source] = columns.limits().map(|column| column.map(ComparedColumn::new).transpose());
        Ok(Self { group: group?, source: source? })
    }

    /// Returns further conditions of SQL: the rows `l` and `r` are of one group, and of different
    /// sources. They are empty if all rows are compared.
    pub(super) fn are_compared(&self) -> String {
        let group = self.group.iter().map(|column| format!(" AND {}", column.is_equal()));
        let source = self.source.iter().map(|column| format!(" AND NOT ({})", column.is_equal()));
        group.chain(source).collect()
    }
}
