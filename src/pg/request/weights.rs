//! The option `weight`: `idf`, the name of a table with the columns `word` and `weight`, or an
//! object of words and weights, which means the same whenever a job or a procedure reads it.

use std::ptr;
use std::sync::Arc;

use pgrx::{PgSqlErrorCode, check_for_interrupts, pg_sys};
use serde_json::{Map, Value};

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
use neardup_core::search::ball::SetParameters;
use neardup_core::search::weights::KeyWeights;

read_by! {
    /// What words weigh: a name, or numbers by words.
    GivenWeight(Value): |value| match value {
        Value::String(_) | Value::Object(_) => Ok(value.clone()),
        _ => Err("\"idf\", the name of a table or an object of words and numbers"),
    };
}

/// The name of the weights by frequency.
const IDF: &str = "idf";

/// Returns the weights with this name. A table is read with the rights of the caller.
pub(super) fn weights(
    given: Option<GivenWeight>,
    spec: FeatureSpec,
    arguments: &Arguments<'_>,
) -> Result<Weights> {
    let hint = such_as(&with(&arguments.example, "{\"weight\": \"idf\"}"));
    match given.map(|given| given.0) {
        None => Ok(Weights::Equal),
        Some(Value::String(name)) if name == IDF => Ok(Weights::Idf),
        Some(_) if cannot_be_listed(spec, arguments) => {
            let message = "a table of weights is for single words of texts as they are: without shingles, \
                           a text-search configuration, ready-made tokens or normalization";
            Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message).hint(hint))
        }
        Some(Value::Object(words)) => {
            let words = of_object(&words, spec).map_err(|error| error.hint(hint))?;
            Ok(Weights::Words(Arc::new(words)))
        }
        Some(_) if arguments.are_kept => {
            let message = "jobs and procedures take no table of weights, which may change, but its words";
            let listed = such_as(&with(&arguments.example, "{\"weight\": {\"limited\": 0.1}}"));
            let hint =
                format!("Give what SELECT jsonb_object_agg(word, weight) FROM the table returns. {listed}");
            Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message).hint(hint))
        }
        Some(name) => {
            let name = name.as_str().unwrap_or_default();
            named(name).and_then(|table| of_table(table, spec)).map_err(|error| error.hint(hint))
        }
    }
}

/// Returns the parameters of sets with the weights of a list: an object of words and numbers.
pub(crate) fn of_list(list: &str, parameters: SetParameters) -> Result<SetParameters> {
    let Ok(Value::Object(words)) = serde_json::from_str(list) else {
        let message = format!("weight must be an object of words and numbers, not \"{}\"", shown(list));
        return Err(SqlError::parameter(message));
    };
    if !parameters.can_weigh() {
        let message = "weights are for single words of texts as they are: without shingles, single \
                       characters or normalization";
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message));
    }
    let words = of_object(&words, parameters.features)?;
    Ok(parameters.weighed(&KeyWeights::bytes_of(&words)?)?)
}

fn of_object(given: &Map<String, Value>, spec: FeatureSpec) -> Result<WordWeights> {
    let mut words = WordWeights::new(spec);
    for (word, weight) in given {
        check_for_interrupts!();
        add(&mut words, word.clone(), weight.as_f64().unwrap_or(f64::NAN), "weight")?;
    }
    Ok(words)
}

/// Returns the beginning of what was given, for a message.
fn shown(given: &str) -> String {
    given.chars().take(60).collect()
}

/// Adds a word of an option or a table.
fn add(words: &mut WordWeights, word: String, weight: f64, of: &str) -> Result<()> {
    let shown = shown(&word);
    match words.add(word, weight, &Stop::default())? {
        None => Ok(()),
        Some(wrong) => Err(SqlError::parameter(format!("the word \"{shown}\" in {of} {wrong}"))),
    }
}

/// Returns the weights of the table with this name for words, or `None` if there is none.
pub(crate) fn of_words(name: &str, hint: &'static str) -> Result<Option<Weights>> {
    if name == IDF {
        let message = "weight \"idf\" depends on all documents, not on two texts";
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message).hint(hint));
    }
    let Some(relation) = find(name)? else { return Ok(None) };
    of_table(relation, FeatureSpec::WORDS).map(Some).map_err(|error| error.hint(hint))
}

/// Reports whether tokens are made in another way than the words of a table.
fn cannot_be_listed(spec: FeatureSpec, arguments: &Arguments<'_>) -> bool {
    let Arguments { tsearch, made, normalize, .. } = arguments;
    spec.shingle > 1 || tsearch.is_some() || made.is_some() || normalize.is_some()
}

/// Returns the relation with a name that may have a schema.
fn named(name: &str) -> Result<pg_sys::Oid> {
    find(name)?.ok_or_else(|| {
        let message = format!("weight: relation \"{name}\" does not exist");
        SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE, message)
    })
}

/// Returns the relation with a name that may have a schema, if there is one.
pub(crate) fn find(name: &str) -> Result<Option<pg_sys::Oid>> {
    let given = values::text(name)?;
    // SAFETY: the input is a text; the lists live in the memory context of the call.
    let found = unsafe {
        let names = pg_sys::makeRangeVarFromNameList(pg_sys::textToQualifiedNameList(given.cast_mut_ptr()));
        let (lock, missing) = (pg_sys::NoLock as i32, pg_sys::RVROption::RVR_MISSING_OK);
        pg_sys::RangeVarGetRelidExtended(names, lock, missing, None, ptr::null_mut())
    };
    Ok((found != pg_sys::InvalidOid).then_some(found))
}

fn of_table(relation: pg_sys::Oid, spec: FeatureSpec) -> Result<Weights> {
    const ROWS_A_FETCH: usize = 1 << 10;
    let relation = Relation::open(relation)?;
    let of = |column| -> Result<String> { relation.named(column, "weight")?.quoted() };
    let sql = format!(
        "SELECT w.{}::pg_catalog.text, w.{}::pg_catalog.float8 FROM {} AS w",
        of("word")?,
        of("weight")?,
        relation.qualified
    );
    let query = Query { relations: &[relation.oid], ..Query::new(&sql) };
    let mut words = WordWeights::new(spec);
    let types = [pg_sys::TEXTOID, pg_sys::FLOAT8OID];
    OpenCursor::open(&query, types)?.for_each(ROWS_A_FETCH, |[word, weight]| {
        let (Some(word), Some(weight)) = (word, weight) else {
            let message = format!("a word or a weight in {} is NULL", relation.shown);
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED, message));
        };
        // SAFETY: the cursor checked the types of the columns.
        let (word, weight) = unsafe { (varlena_bytes(word), value::<f64>(weight).unwrap_or(f64::NAN)) };
        let word = encoding::to_utf8(word)?.ok_or_else(|| SqlError::not_utf8("a word"))?;
        add(&mut words, word.to_string(), weight, &relation.shown)
    })?;
    Ok(Weights::Words(Arc::new(words)))
}
