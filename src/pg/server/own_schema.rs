//! Calls in hints, as they run in the session: where our functions are in a schema that is not in
//! the search path, the calls that hints and results show name it.

use std::borrow::Cow;
use std::ffi::CStr;

use pgrx::PgList;
use pgrx::pg_sys::{self, Oid};

use super::encoding::{self, c_string};
use super::syscache;
use crate::pg::compat;

/// The operators of ours that hints show. Those of arrays are the server's.
const OPERATORS: [&str; 6] = ["<@", "@>", "&&", "<->", "<%>", "<~>"];
/// What makes the right side of such an operator.
const RIGHT: [&str; 4] = ["near", "runs", "minhash", "simhash"];
/// The schema of functions that users do not call.
const INTERNAL: &str = "neardup_internal";

/// Returns a text in which calls of our functions, our operators and our operator classes have
/// their schema, unless it is in the search path.
pub(crate) fn calls(text: &str) -> Cow<'_, str> {
    // SAFETY: reads the state of the server.
    if !unsafe { pg_sys::IsTransactionState() } {
        return Cow::Borrowed(text);
    }
    qualified(text, schema_to_name)
}

/// Returns the text with the schemas that `schema_of` returns for the names of functions.
fn qualified(text: &str, schema_of: impl Fn(&str) -> Option<String>) -> Cow<'_, str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_operator = |c: char| "+-*/<>=~!@#%^&|`?".contains(c);
    let mut whole = String::new();
    let (mut rest, mut before, mut changed) = (text, ' ', false);
    while let Some(first) = rest.chars().next() {
        let is_piece = |c: char| if is_word(first) { is_word(c) } else { is_operator(c) };
        let end = match first {
            first if is_word(first) || is_operator(first) => {
                rest.find(|c| !is_piece(c)).unwrap_or(rest.len())
            }
            first => first.len_utf8(),
        };
        let (piece, after) = rest.split_at(end);
        let right = after.trim_start();
        let schema = match piece {
            _ if matches!(before, '.' | '"' | '$') => None,
            name if is_word(first) && after.starts_with('(') => schema_of(name),
            view if view.starts_with("neardup_") && whole.ends_with("FROM ") => schema_of("near"),
            class if class.starts_with("text_") && class.ends_with("_ops") => schema_of("near"),
            operator if OPERATORS.contains(&operator) => RIGHT
                .iter()
                .find(|name| right.strip_prefix(**name).is_some_and(|after| after.starts_with('(')))
                .map_or_else(
                    // An exclusion constraint names its operator last.
                    || (whole.ends_with("WITH ") && right.starts_with(')')).then_some("near"),
                    |name| Some(*name),
                )
                .and_then(&schema_of),
            _ => None,
        };
        changed |= schema.is_some();
        match schema {
            Some(schema) if is_word(first) => whole.extend([&*schema, ".", piece]),
            Some(schema) => whole.extend(["OPERATOR(", &*schema, ".", piece, ")"]),
            None => whole.push_str(piece),
        }
        before = piece.chars().next_back().unwrap_or(' ');
        rest = after;
    }
    if changed { Cow::Owned(whole) } else { Cow::Borrowed(text) }
}

/// Returns the schema of a function of ours, quoted for SQL text, if calls have to name it.
fn schema_to_name(function: &str) -> Option<String> {
    let name = encoding::to_server(function).ok()?.to_own().ok()?;
    let (cache, key) = (pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP, pg_sys::Datum::from(name.as_ptr()));
    // SAFETY: the key is a C string, and the rows are of functions. The name of a schema is null or
    // a C string.
    unsafe {
        let functions = syscache::rows(cache, key, |row| {
            let form: *const pg_sys::FormData_pg_proc = pg_sys::GETSTRUCT(row).cast();
            ((*form).oid, (*form).pronamespace)
        });
        let (_, schema) = functions.into_iter().find(|&(function, _)| is_ours(function))?;
        let is_found =
            pg_sys::list_member_oid(pg_sys::fetch_search_path(true), schema) || is_in_replaced_path(schema);
        let schema = pg_sys::get_namespace_name(schema);
        if is_found || schema.is_null() || CStr::from_ptr(schema).to_bytes() == INTERNAL.as_bytes() {
            return None;
        }
        Some(c_string(pg_sys::quote_identifier(schema)))
    }
}

/// Reports whether a schema is in the search path that a command of the server replaced for its
/// duration.
fn is_in_replaced_path(schema: Oid) -> bool {
    let Some(path) = compat::replaced_search_path() else { return false };
    // SAFETY: the server splits a copy of its own valid setting, and the names are C strings in it.
    unsafe {
        let mut names = std::ptr::null_mut();
        let comma = b',' as std::ffi::c_char;
        if !pg_sys::SplitIdentifierString(pg_sys::pstrdup(path.as_ptr()), comma, &raw mut names) {
            return false;
        }
        let names = PgList::<std::ffi::c_char>::from_pg(names);
        names.iter_ptr().any(|name| {
            let is_user = CStr::from_ptr(name) == c"$user";
            let name =
                if is_user { pg_sys::GetUserNameFromId(pg_sys::GetSessionUserId(), true) } else { name };
            !name.is_null() && pg_sys::get_namespace_oid(name, true) == schema
        })
    }
}

/// Reports whether a function belongs to the extension.
fn is_ours(function: Oid) -> bool {
    // SAFETY: any OID may be looked up.
    is_neardup(unsafe { pg_sys::getExtensionOfObject(pg_sys::ProcedureRelationId, function) })
}

/// Reports whether an extension is this one.
pub(crate) fn is_neardup(extension: Oid) -> bool {
    // SAFETY: any OID may be looked up; the name of an extension is null or a C string.
    unsafe {
        let name = pg_sys::get_extension_name(extension);
        !name.is_null() && CStr::from_ptr(name).to_bytes() == b"neardup"
    }
}

#[cfg(test)]
mod tests {
    use super::qualified;

    #[test]
    fn calls_and_operators_name_the_schema() {
        let ours = ["near", "runs", "near_duplicates", "clusters_of_pairs", "minhash", "megashingles"];
        let own = |name: &str| ours.contains(&name).then(|| "own".to_owned());
        for (text, expected) in [
            (
                "For example: SELECT * FROM near_duplicates('docs', 0.8);",
                "For example: SELECT * FROM own.near_duplicates('docs', 0.8);",
            ),
            ("body <@ near('some text', 0.8)", "body OPERATOR(own.<@) own.near('some text', 0.8)"),
            (
                "EXCLUDE USING signature (near(name, 0.8) text_ball_gram_ops WITH &&)",
                "EXCLUDE USING signature (own.near(name, 0.8) own.text_ball_gram_ops WITH OPERATOR(own.&&))",
            ),
            (
                "clusters_of_pairs('SELECT * FROM near_duplicates(''d'')')",
                "own.clusters_of_pairs('SELECT * FROM own.near_duplicates(''d'')')",
            ),
            ("SELECT call FROM neardup_activity;", "SELECT call FROM own.neardup_activity;"),
            (
                "megashingles(minhash(a)) && megashingles(minhash(b))",
                "own.megashingles(own.minhash(a)) && own.megashingles(own.minhash(b))",
            ),
        ] {
            assert_eq!(qualified(text, own), expected);
        }
        for same in
            ["own.near(a)", "\"near\"(a)", "near is a word; count(*)", "a && b", "größer(1) <@ x", "", "near"]
        {
            assert_eq!(qualified(same, own), same);
        }
    }
}
