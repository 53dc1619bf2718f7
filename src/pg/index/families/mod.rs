//! The families of indexes and their operator classes: what an index keeps of a column's values,
//! what a query looks for, and the options of a class.

mod arrays;
pub(crate) mod class;
mod class_options;
pub(crate) mod family;
pub(crate) mod grams;
pub(crate) mod groups;
pub(crate) mod hints;
pub(crate) mod keys;
pub(crate) mod options;
pub(crate) mod probe;
mod runs;
pub(crate) mod sets;
mod sketches;
pub(crate) mod validate;
pub(crate) mod value_lists;
pub(crate) mod values;

use class::OperatorClass;
use class_options::declare;
use pgrx::pg_sys::Datum;

use crate::pg::server::call::{FunctionCall, sql_functions};

/// Returns the number of a class. The argument of the call is ignored.
fn number(call: FunctionCall, class: OperatorClass) -> Datum {
    call.give(Some(class as i32))
}

/// Declares support functions of classes.
macro_rules! support_functions {
    ($($symbol:ident $what:path, $class:ident;)*) => {
        sql_functions! {$(
            /// A support function of an operator class: says which class it is, or declares its
            /// options.
            $symbol, within Arguments: |call| Ok($what(call, OperatorClass::$class));
        )*}
    };
}

support_functions! {
    neardup_signature_class_bigint number, Bigint;
    neardup_signature_class_uuid number, Uuid;
    neardup_signature_class_minhash number, Minhash;
    neardup_signature_class_simhash number, Simhash;
    neardup_signature_class_text_set number, TextSet;
    neardup_signature_class_array_set number, ArraySet;
    neardup_signature_class_tsvector_set number, VectorSet;
    neardup_signature_class_ball_set number, BallSet;
    neardup_signature_class_text_runs number, TextRuns;
    neardup_signature_class_text_grams number, TextGrams;
    neardup_signature_class_ball_grams number, BallGrams;
    neardup_signature_options_minhash declare, Minhash;
    neardup_signature_options_simhash declare, Simhash;
    neardup_signature_options_set declare, TextSet;
    neardup_signature_options_ball_set declare, BallSet;
    neardup_signature_options_tokens declare, ArraySet;
    neardup_signature_options_runs declare, TextRuns;
    neardup_signature_options_grams declare, TextGrams;
}
