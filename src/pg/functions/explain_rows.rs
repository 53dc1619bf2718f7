//! Calls of functions of two texts with a table and two ids. They are errors, whose hint is the
//! call with the texts of these rows.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys;

use crate::pg::query::relation::Relation;
use crate::pg::request::example::literal;
use crate::pg::server::call::{FunctionCall, sql_function};
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::{Result, SqlError, catch};

sql_function! {
    /// `explain_pair(regclass, "any", "any")`
    neardup_explain_pair_of_rows, pg_finfo_neardup_explain_pair_of_rows, |call| {
        Err(of_rows(call, "explain_pair", "* FROM ")?)
    }
}
sql_function! {
    /// `diff_html(regclass, "any", "any")`
    neardup_diff_html_of_rows, pg_finfo_neardup_diff_html_of_rows, |call| {
        Err(of_rows(call, "diff_html", "")?)
    }
}

/// Returns the error for a call of `name` with rows in place of texts. `before` is what stands
/// between SELECT and the call.
fn of_rows(call: FunctionCall, name: &str, before: &str) -> Result<SqlError> {
    let relation = call.need(0, "docs").and_then(Relation::open)?;
    let ids = [shown(call, 1)?, shown(call, 2)?];
    let texts = relation.likely_columns(None, None).and_then(|(id, text)| {
        let (id, text) = (id.quoted().ok()?, text.quoted().ok()?);
        Some(ids.map(|value| format!("(SELECT {text} FROM {} WHERE {id} = {value})", relation.shown)))
    });
    let texts = texts.unwrap_or_else(|| ["'one text'", "'another text'"].map(str::to_owned));
    let message = format!("{name} takes two texts, not the ids of rows");
    Ok(SqlError::new(PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH, message)
        .hint(format!("For example: SELECT {before}{name}({}, {});", texts[0], texts[1])))
}

/// Returns an argument of any type as SQL text.
fn shown(call: FunctionCall, n: usize) -> Result<String> {
    let of = call.type_of(n as i32);
    let Some(value) = call.datum(n).filter(|_| of != pg_sys::InvalidOid) else {
        return Ok("NULL".to_owned());
    };
    let (mut output, mut varlena) = (pg_sys::InvalidOid, false);
    // SAFETY: the type of an argument has an output function, which takes its values.
    let text = unsafe {
        pg_sys::getTypeOutputInfo(of, &raw mut output, &raw mut varlena);
        c_string(catch(|| pg_sys::OidOutputFunctionCall(output, value))?)
    };
    let is_integer = [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID].contains(&of);
    Ok(if is_integer { text } else { literal(&text) })
}
