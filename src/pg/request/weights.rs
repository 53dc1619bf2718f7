//! The option `weight`: `idf`, or the name of a table with the columns `word` and `weight`.

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
use crate::pg::server::error::{Result, SqlError, catch};
use crate::pg::server::values::value;
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
        Some(_)
            if arguments.tsearch.is_some() || arguments.made.is_some() || arguments.normalize.is_some() =>
        {
            let message = "a table of weights is for texts that are cut as they are: \
                           without a text-search configuration, ready-made tokens or normalization";
            Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message).hint(hint))
        }
        Some(WeightName(name)) => of_table(&name, spec).map_err(|error| error.hint(hint)),
    }
}

fn of_table(name: &str, spec: FeatureSpec) -> Result<Weights> {
    const ROWS_A_FETCH: usize = 1 << 10;
    let name = encoding::to_server(name)?;
    // SAFETY: the function reads a C string.
    let oid = unsafe {
        let input: pg_sys::Oid = pg_sys::F_REGCLASSIN.into();
        catch(|| pg_sys::OidInputFunctionCall(input, name.as_ptr().cast_mut(), pg_sys::InvalidOid, -1))?
    };
    let relation = Relation::open(pg_sys::Oid::from_u32(oid.value() as u32))?;
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
