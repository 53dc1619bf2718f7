//! The arguments that say which rows are compared: those of one group (`within`), those of
//! different sources (`across`).

use pgrx::PgSqlErrorCode;

use super::example::{Example, literal};
use super::form::{Argument, Named};
use super::tables::{NamedColumn, RelationColumns, column, columns_of};
use crate::pg::query::column::UserColumn;
use crate::pg::query::ids::has_order;
use crate::pg::query::names::type_name;
use crate::pg::read::source::{DocumentSource, RowColumns};
use crate::pg::server::error::{Result, SqlError};

/// The columns of groups and of sources of each relation.
pub(super) struct RowLimits {
    within: Vec<Option<NamedColumn>>,
    across: Vec<Option<NamedColumn>>,
}

impl RowLimits {
    /// Reads the arguments of a call.
    pub(super) fn new(given: Named<'_>) -> Result<Self> {
        Ok(Self {
            within: columns_of(given, [Argument::Within, Argument::RightWithin])?,
            across: columns_of(given, [Argument::Across, Argument::RightAcross])?,
        })
    }

    /// Returns the example with these arguments.
    pub(super) fn add_to(&self, mut example: Example) -> Example {
        let of_left = |all: &[Option<NamedColumn>]| all.first().cloned().flatten();
        for (name, argument) in [of_left(&self.within), of_left(&self.across)].into_iter().flatten() {
            example = example.with(argument.name(), literal(&name));
        }
        example
    }

    /// Reports whether only rows of one group are compared.
    pub(super) fn has_groups(&self) -> bool {
        self.within.iter().any(Option::is_some)
    }

    /// Returns the columns of the relation with this number.
    pub(super) fn columns<'b>(&self, table: &'b RelationColumns, number: usize) -> Result<RowColumns<'b>> {
        let within = column(&self.within, table, number)?;
        within.map_or(Ok(()), with_order)?;
        Ok(RowColumns { within, across: column(&self.across, table, number)?, ..RowColumns::default() })
    }
}

/// Refuses a column of groups whose type has no order.
fn with_order(column: &UserColumn) -> Result<()> {
    if has_order(column.base_type) {
        return Ok(());
    }
    let message = format!(
        "column \"{}\" is of type {}, which has no default ordering, so its values cannot be groups",
        column.name,
        column.type_name()
    );
    Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_FUNCTION, message)
        .hint("A view can cast it, for example to text."))
}

/// Refuses two tables whose groups are of different types or collations.
pub(super) fn alike_groups(left: &DocumentSource, right: Option<&DocumentSource>) -> Result<()> {
    let Some((one, other)) = left.group.zip(right.and_then(|right| right.group)) else { return Ok(()) };
    if one == other {
        return Ok(());
    }
    let [left_type, right_type] = [one, other].map(|(of, _)| type_name(of));
    let message = match one.0 == other.0 {
        true => "the groups of the two tables have different collations".to_owned(),
        false => {
            format!("the groups are of type {left_type} in the left table and {right_type} in the right one")
        }
    };
    Err(SqlError::new(PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH, message)
        .hint("A view can cast one of the columns to the type and the collation of the other."))
}
