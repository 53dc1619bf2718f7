//! Operator classes: the keys of a column's values and of a query, and the options of a class.

pub(crate) mod choose;
pub(crate) mod class;
mod cut;
pub(crate) mod grams;
pub(crate) mod keep;
pub(crate) mod keys;
pub(crate) mod options;
pub(crate) mod posted;
pub(crate) mod probe;
pub(crate) mod runs;
pub(crate) mod sets;
pub(crate) mod texts;
pub(crate) mod validate;
pub(crate) mod value_lists;
pub(crate) mod values;

use class::OperatorClass;
use sets::options::{DOCUMENTS, TEXTS};

use crate::pg::server::call::sql_function;

sql_function! {
    /// `signature_class(bigint[]) → int`: returns the number of the class. The argument is ignored.
    neardup_signature_class_bigint, pg_finfo_neardup_signature_class_bigint, within Arguments, |call| Ok(call.give(Some(OperatorClass::Bigint as i32)))
}

sql_function! {
    /// `signature_class(uuid[]) → int`: like `signature_class(bigint[])`.
    neardup_signature_class_uuid, pg_finfo_neardup_signature_class_uuid, within Arguments, |call| Ok(call.give(Some(OperatorClass::Uuid as i32)))
}

sql_function! {
    /// `signature_class(minhash_sketch) → int`: like `signature_class(bigint[])`.
    neardup_signature_class_minhash, pg_finfo_neardup_signature_class_minhash, within Arguments, |call| Ok(call.give(Some(OperatorClass::Minhash as i32)))
}

sql_function! {
    /// `signature_class(simhash_sketch) → int`: like `signature_class(bigint[])`.
    neardup_signature_class_simhash, pg_finfo_neardup_signature_class_simhash, within Arguments, |call| Ok(call.give(Some(OperatorClass::Simhash as i32)))
}

sql_function! {
    /// `signature_options_minhash(internal) → void`: declares the options of minhash_jaccard_ops.
    neardup_signature_options_minhash, pg_finfo_neardup_signature_options_minhash, within Arguments, |call| Ok(options::declare(call, OperatorClass::Minhash))
}

sql_function! {
    /// `signature_options_simhash(internal) → void`: declares the options of simhash_hamming_ops.
    neardup_signature_options_simhash, pg_finfo_neardup_signature_options_simhash, within Arguments, |call| Ok(options::declare(call, OperatorClass::Simhash))
}

sql_function! {
    /// `signature_set_class(text) → int`: like `signature_class`, but for a class of sets.
    neardup_signature_class_text_set, pg_finfo_neardup_signature_class_text_set, within Arguments, |call| Ok(call.give(Some(OperatorClass::TextSet as i32)))
}

sql_function! {
    /// `signature_set_class(anyarray) → int`: like `signature_set_class(text)`.
    neardup_signature_class_array_set, pg_finfo_neardup_signature_class_array_set, within Arguments, |call| Ok(call.give(Some(OperatorClass::ArraySet as i32)))
}

sql_function! {
    /// `signature_set_class(tsvector) → int`: like `signature_set_class(text)`.
    neardup_signature_class_tsvector_set, pg_finfo_neardup_signature_class_tsvector_set, within Arguments, |call| Ok(call.give(Some(OperatorClass::VectorSet as i32)))
}

sql_function! {
    /// `signature_set_class(text_ball) → int`: like `signature_set_class(text)`.
    neardup_signature_class_ball_set, pg_finfo_neardup_signature_class_ball_set, within Arguments, |call| Ok(call.give(Some(OperatorClass::BallSet as i32)))
}

sql_function! {
    /// `signature_options_set(internal) → void`: declares the options of text_set_ops.
    neardup_signature_options_set, pg_finfo_neardup_signature_options_set, within Arguments, |call| Ok(sets::options::declare(call, TEXTS))
}

sql_function! {
    /// `signature_options_ball_set(internal) → void`: declares the options of text_ball_set_ops.
    neardup_signature_options_ball_set, pg_finfo_neardup_signature_options_ball_set, within Arguments, |call| Ok(sets::options::declare(call, DOCUMENTS))
}

sql_function! {
    /// `signature_runs_class(text) → int`: like `signature_class`, but for a class of runs.
    neardup_signature_class_text_runs, pg_finfo_neardup_signature_class_text_runs, within Arguments, |call| Ok(call.give(Some(OperatorClass::TextRuns as i32)))
}

sql_function! {
    /// `signature_options_runs(internal) → void`: declares the options of text_runs_ops.
    neardup_signature_options_runs, pg_finfo_neardup_signature_options_runs, within Arguments, |call| Ok(runs::declare(call))
}

sql_function! {
    /// `signature_gram_class(text) → int`: like `signature_class`, but for a class of grams.
    neardup_signature_class_text_grams, pg_finfo_neardup_signature_class_text_grams, within Arguments, |call| Ok(call.give(Some(OperatorClass::TextGrams as i32)))
}

sql_function! {
    /// `signature_options_grams(internal) → void`: declares the options of the classes of grams.
    neardup_signature_options_grams, pg_finfo_neardup_signature_options_grams, within Arguments, |call| Ok(grams::options::declare(call))
}

sql_function! {
    /// `signature_gram_class(text_ball) → int`: like `signature_gram_class(text)`.
    neardup_signature_class_ball_grams, pg_finfo_neardup_signature_class_ball_grams, within Arguments, |call| Ok(call.give(Some(OperatorClass::BallGrams as i32)))
}

sql_function! {
    /// `signature_options_tokens(internal) → void`: declares the options of array_set_ops and
    /// tsvector_set_ops.
    neardup_signature_options_tokens, pg_finfo_neardup_signature_options_tokens, within Arguments, |call| Ok(sets::options::declare(call, &[]))
}
