//! The error of a refresh that meets an id in more than one row of a relation. `neardup_watch`
//! checks this, but a view or a table without a unique index may repeat an id later. The unique
//! indexes of the job's tables find it then, and their error names only these tables.

use pgrx::PgSqlErrorCode;

use super::statements::work::Names;
use crate::pg::request::example::literal;
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::SqlError;

/// Replaces the error of a unique index of the job's tables by one on the relation, whose displayed
/// name is `shown`. Other errors stay as they are. Does not call the server.
pub(super) fn explain(error: SqlError, names: &Names, shown: &str) -> SqlError {
    let SqlError::Server(data) = error else { return error };
    // SAFETY: an error that was copied from the server; its detail is null or a C string.
    let (code, detail) = unsafe {
        let detail = (*data).detail;
        ((*data).sqlerrcode, if detail.is_null() { String::new() } else { c_string(detail) })
    };
    if code != PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION as i32 {
        return SqlError::Server(data);
    }
    let column = &names.id_column;
    let (what, rows) = match repeated(&detail) {
        Some(id) => (format!("id {id}"), format!("SELECT * FROM {shown} WHERE {column} = {};", literal(id))),
        None => (
            "an id".to_owned(),
            format!("SELECT {column}, count(*) FROM {shown} GROUP BY {column} HAVING count(*) > 1;"),
        ),
    };
    SqlError::new(
        PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION,
        format!("{what} stands in more than one row of {shown}"),
    )
    .hint(format!(
        "Every document needs an id of its own. Once each is in one row again, the next refresh goes on. The rows: {rows}"
    ))
}

/// Returns the id that the detail of the error of a unique index quotes, whatever its language: it
/// has the form `… (id)=(7) …`.
fn repeated(detail: &str) -> Option<&str> {
    let (_, value) = detail.split_once("(id)=(")?;
    Some(value.rsplit_once(')')?.0)
}

#[cfg(test)]
mod tests {
    use super::repeated;

    #[test]
    fn the_id_is_what_the_detail_quotes() {
        assert_eq!(repeated("Key (id)=(7) already exists."), Some("7"));
        assert_eq!(repeated("Schlüssel »(id)=(a)=(b)« existiert bereits."), Some("a)=(b"));
        assert_eq!(repeated("Key (left_id, right_id)=(1, 2) already exists."), None);
        assert_eq!(repeated(""), None);
    }
}
