//! The operator classes.

use std::ffi::CStr;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};

use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::query::ours::symbol;
use crate::pg::server::error::{Result, SqlError};

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

impl OperatorClass {
    const ALL: [(Self, &'static str); 11] = [
        (Self::Bigint, "bigint_signature_ops"),
        (Self::Uuid, "uuid_signature_ops"),
        (Self::Minhash, "minhash_jaccard_ops"),
        (Self::Simhash, "simhash_hamming_ops"),
        (Self::TextSet, "text_set_ops"),
        (Self::ArraySet, "array_set_ops"),
        (Self::VectorSet, "tsvector_set_ops"),
        (Self::BallSet, "text_ball_set_ops"),
        (Self::TextRuns, "text_runs_ops"),
        (Self::TextGrams, "text_gram_ops"),
        (Self::BallGrams, "text_ball_gram_ops"),
    ];

    /// Returns the class with this number.
    pub(crate) fn from_number(number: i32) -> Option<Self> {
        Self::ALL.into_iter().map(|(class, _)| class).find(|&class| class as i32 == number)
    }

    /// Returns the name of the class.
    pub(crate) fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|&(class, _)| class == self).map_or("", |(_, name)| name)
    }

    /// Reports whether indexes of the class keep sketches.
    pub(crate) fn has_sketches(self) -> bool {
        matches!(self, Self::Minhash | Self::Simhash)
    }

    /// Reports whether indexes of the class find sets that are similar to a given set.
    pub(crate) fn is_of_sets(self) -> bool {
        matches!(self, Self::TextSet | Self::ArraySet | Self::VectorSet | Self::BallSet)
    }

    /// Reports whether indexes of the class find short strings by their grams.
    pub(crate) fn is_of_grams(self) -> bool {
        matches!(self, Self::TextGrams | Self::BallGrams)
    }

    /// Reports whether indexes of the class store signatures in lists, without their lower bits.
    pub(crate) fn has_lists(self) -> bool {
        self.is_of_sets() || self.is_of_grams() || self == Self::TextRuns
    }

    /// Finds the class of an index by its support function.
    pub(crate) fn read(index: OpenIndex) -> Result<Self> {
        // SAFETY: an open index.
        let function = unsafe { pg_sys::index_getprocid(index.relation(), 1, 1) };
        class_of(function).ok_or_else(|| {
            SqlError::new(
                PgSqlErrorCode::ERRCODE_INVALID_OBJECT_DEFINITION,
                format!("the operator class of index \"{}\" is none of neardup's", index.name()),
            )
        })
    }
}

/// Returns the class whose number a support function returns, if the function is one of ours.
pub(crate) fn class_of(function: Oid) -> Option<OperatorClass> {
    const OURS: [&CStr; 11] = [
        c"neardup_signature_class_bigint",
        c"neardup_signature_class_uuid",
        c"neardup_signature_class_minhash",
        c"neardup_signature_class_simhash",
        c"neardup_signature_class_text_set",
        c"neardup_signature_class_array_set",
        c"neardup_signature_class_tsvector_set",
        c"neardup_signature_class_ball_set",
        c"neardup_signature_class_text_runs",
        c"neardup_signature_class_text_grams",
        c"neardup_signature_class_ball_grams",
    ];
    let source = symbol(function)?;
    if !OURS.iter().any(|name| name.to_bytes() == source) {
        return None;
    }
    // SAFETY: a function of ours that takes a number.
    unsafe {
        let number = pg_sys::OidFunctionCall1Coll(function, pg_sys::InvalidOid, pg_sys::Datum::from(0));
        OperatorClass::from_number(number.value() as i32)
    }
}
