//! The operator classes.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};

use crate::pg::index::layout::format::StoredFamily;
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::query::ours::symbol;
use crate::pg::server::error::{Result, SqlError};

/// The strategy number of `=` in the classes of group columns.
pub(crate) const EQUALS: u16 = 1;
/// The strategy number of `<@`: a value in a ball.
pub(crate) const IN_BALL: u16 = 1;
/// The strategy number of `&&`: arrays that share an element.
pub(crate) const OVERLAPS: u16 = 2;
/// The strategy number of `<%>`, `<~>` and `<->`: the distance to order by.
pub(crate) const DISTANCE: u16 = 3;

/// An operator class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum OperatorClass {
    /// `bigint_signature_ops`
    Bigint = 1,
    /// `uuid_signature_ops`
    Uuid = 2,
    /// `minhash_jaccard_ops`
    Minhash = 3,
    /// `simhash_hamming_ops`
    Simhash = 4,
    /// `text_set_ops`
    TextSet = 6,
    /// `array_set_ops`
    ArraySet = 7,
    /// `tsvector_set_ops`
    VectorSet = 8,
    /// `text_ball_set_ops`
    BallSet = 9,
    /// `text_runs_ops`
    TextRuns = 10,
    /// `text_gram_ops`
    TextGrams = 11,
    /// `text_ball_gram_ops`
    BallGrams = 12,
}

/// What is known of a class: its name, the name of the function that names it, without [`PREFIX`],
/// the family of its indexes, the strategy number of the operator that these search by, and the
/// type of its columns, if it is one of the server's.
struct ClassFacts(OperatorClass, &'static str, &'static str, StoredFamily, u16, Option<Oid>);

const CLASSES: [ClassFacts; 11] = {
    use OperatorClass::{
        ArraySet, BallGrams, BallSet, Bigint, Minhash, Simhash, TextGrams, TextRuns, TextSet, Uuid, VectorSet,
    };
    use StoredFamily::{Grams, Pairs, Runs, Sets};
    const TEXT: Option<Oid> = Some(pg_sys::TEXTOID);
    [
        ClassFacts(Bigint, "bigint_signature_ops", "bigint", Pairs, OVERLAPS, Some(pg_sys::INT8ARRAYOID)),
        ClassFacts(Uuid, "uuid_signature_ops", "uuid", Pairs, OVERLAPS, Some(pg_sys::UUIDARRAYOID)),
        ClassFacts(Minhash, "minhash_jaccard_ops", "minhash", Pairs, IN_BALL, None),
        ClassFacts(Simhash, "simhash_hamming_ops", "simhash", Pairs, IN_BALL, None),
        ClassFacts(TextSet, "text_set_ops", "text_set", Sets, IN_BALL, TEXT),
        ClassFacts(ArraySet, "array_set_ops", "array_set", Sets, IN_BALL, Some(pg_sys::ANYARRAYOID)),
        ClassFacts(VectorSet, "tsvector_set_ops", "tsvector_set", Sets, IN_BALL, Some(pg_sys::TSVECTOROID)),
        ClassFacts(BallSet, "text_ball_set_ops", "ball_set", Sets, OVERLAPS, None),
        ClassFacts(TextRuns, "text_runs_ops", "text_runs", Runs, OVERLAPS, TEXT),
        ClassFacts(TextGrams, "text_gram_ops", "text_grams", Grams, IN_BALL, TEXT),
        ClassFacts(BallGrams, "text_ball_gram_ops", "ball_grams", Grams, OVERLAPS, None),
    ]
};

impl OperatorClass {
    /// Returns the class with this number.
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        CLASSES.iter().map(|facts| facts.0).find(|&class| class as u8 == number)
    }

    fn facts(self) -> &'static ClassFacts {
        CLASSES.iter().find(|facts| facts.0 == self).expect("every class is in the list")
    }

    /// Returns the name of the class.
    pub(crate) fn name(self) -> &'static str {
        self.facts().1
    }

    /// Returns the family of the indexes of the class. Those of minhash sketches may be of
    /// [`StoredFamily::Values`], too.
    pub(crate) fn family(self) -> StoredFamily {
        self.facts().3
    }

    /// Returns the strategy number of the operator that indexes of the class search by. Those that
    /// search in balls also know a distance.
    pub(crate) fn strategy(self) -> u16 {
        self.facts().4
    }

    /// Reports whether a column of this type can be of the class.
    pub(crate) fn takes(self, column: Oid) -> bool {
        let others = [pg_sys::INT8ARRAYOID, pg_sys::UUIDARRAYOID, pg_sys::TEXTOID];
        self.facts().5.map_or_else(|| !others.contains(&column), |known| column == known)
    }

    /// Reports whether indexes of the class keep sketches.
    pub(crate) fn has_sketches(self) -> bool {
        matches!(self, Self::Minhash | Self::Simhash)
    }

    /// Reports whether indexes of the class serve balls of documents.
    pub(crate) fn has_balls(self) -> bool {
        matches!(self.family(), StoredFamily::Sets | StoredFamily::Grams)
    }

    /// Finds the class of an index by its support function.
    pub(crate) fn read(index: OpenIndex) -> Result<Self> {
        let column = index.group_columns() as i16 + 1;
        // SAFETY: an open index.
        let function = unsafe { pg_sys::index_getprocid(index.relation(), column, 1) };
        class_of(function).ok_or_else(|| {
            SqlError::new(
                PgSqlErrorCode::ERRCODE_INVALID_OBJECT_DEFINITION,
                format!("the operator class of index \"{}\" is none of neardup's", index.name()),
            )
        })
    }
}

/// With what the names of the functions that name a class begin.
const PREFIX: &[u8] = b"neardup_signature_class_";

/// Returns the class that a support function names, if the function is one of ours.
pub(crate) fn class_of(function: Oid) -> Option<OperatorClass> {
    let symbol = symbol(function)?;
    let name = symbol.strip_prefix(PREFIX)?;
    CLASSES.iter().find(|facts| facts.2.as_bytes() == name).map(|facts| facts.0)
}
