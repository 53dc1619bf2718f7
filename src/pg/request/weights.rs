//! The option `weight`: `idf`, or the name of a table with the columns `word` and `weight`.

use std::ptr;
use std::sync::Arc;

use pgrx::{PgSqlErrorCode, pg_sys};

use super::arguments::Arguments;
use super::example::such_as;
use super::options::{read_by, with};
use crate::pg::query::Query;
use crate::pg::query::cursor::OpenCursor;
use crate::pg::query::relation::Relation;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::encoding;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::values::{self, value};
use neardup_core::executor::Stop;
use neardup_core::features::FeatureSpec;
use neardup_core::features::dictionary::weights::{Weights, WordWeights};

read_by! {
    /// What words weigh, by name.
    WeightName(String): |value| value.as_str().map(str::to_owned).ok_or("\"idf\" or the name of a table");
}

/// The name of the weights by frequency.
const IDF: &str = "idf";

/// Returns the weights with this name. A table is read with the rights of the caller.
pub(super) fn weights(
    given: Option<WeightName>,
    spec: FeatureSpec,
    arguments: &Arguments<'_>,
) -> Result<Weights> {
    let hint = such_as(&with(&arguments.example, "{\"weight\": \"idf\"}"));
    match given {
        None => Ok(Weights::Equal),
        Some(WeightName(name)) if name == IDF => Ok(Weights::Idf),
        Some(_) if cannot_be_listed(spec, arguments) => {
            let message = "a table of weights is for single words of texts as they are: without shingles, \
                           a text-search configuration, ready-made tokens or normalization";
            Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message).hint(hint))
        }
        Some(_) if arguments.are_kept => {
            let message = "jobs and procedures take no table of weights";
            Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message).hint(hint))
        }
        Some(WeightName(name)) => of_table(&name, spec).map_err(|error| error.hint(hint)),
    }
}

/// Reports whether tokens are made in another way than the words of a table.
fn cannot_be_listed(spec: FeatureSpec, arguments: &Arguments<'_>) -> bool {
    let Arguments { tsearch, made, normalize, .. } = arguments;
    spec.shingle > 1 || tsearch.is_some() || made.is_some() || normalize.is_some()
}

/// Returns the relation with a name that may have a schema.
fn named(name: &str) -> Result<pg_sys::Oid> {
    let given = values::text(name)?;
    // SAFETY: the input is a text; the lists live in the memory context of the call.
    let found = unsafe {
        let names = pg_sys::makeRangeVarFromNameList(pg_sys::textToQualifiedNameList(given.cast_mut_ptr()));
        let (lock, missing) = (pg_sys::NoLock as i32, pg_sys::RVROption::RVR_MISSING_OK);
        pg_sys::RangeVarGetRelidExtended(names, lock, missing, None, ptr::null_mut())
    };
    if found == pg_sys::InvalidOid {
        let message = format!("weight: relation \"{name}\" does not exist");
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE, message));
    }
    Ok(found)
}

fn of_table(name: &str, spec: FeatureSpec) -> Result<Weights> {
    const ROWS_A_FETCH: usize = 1 << 10;
    let relation = Relation::open(named(name)?)?;
    let of = |column| -> Result<String> { relation.named(column, "weight")?.quoted() };
    let sql = format!(
        "SELECT w.{}::pg_catalog.text, w.{}::pg_catalog.float8 FROM {} AS w",
        of("word")?,
        of("weight")?,
        relation.qualified
    );
    let query = Query { relations: &[relation.oid], ..Query::new(&sql) };
    let (mut words, stop) = (WordWeights::new(spec), Stop::default());
    let types = [pg_sys::TEXTOID, pg_sys::FLOAT8OID];
    OpenCursor::open(&query, types)?.for_each(ROWS_A_FETCH, |[word, weight]| {
        let (Some(word), Some(weight)) = (word, weight) else {
            let message = format!("a word or a weight in {} is NULL", relation.shown);
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED, message));
        };
        // SAFETY: the cursor checked the types of the columns.
        let (word, weight) = unsafe { (varlena_bytes(word), value::<f64>(weight).unwrap_or(f64::NAN)) };
        let word = encoding::to_utf8(word)?.ok_or_else(|| SqlError::not_utf8("a word"))?;
        match words.add(word.to_string(), weight, &stop)? {
            None => Ok(()),
            Some(wrong) => {
                let shown: String = word.chars().take(60).collect();
                Err(SqlError::parameter(format!("the word \"{shown}\" in {} {wrong}", relation.shown)))
            }
        }
    })?;
    Ok(Weights::Words(Arc::new(words)))
}
