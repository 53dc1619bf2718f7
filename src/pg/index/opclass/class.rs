//! The operator classes.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys;

use super::validate::class_of;
use crate::pg::index::pages::buffer::Index;
use crate::pg::server::error::{Result, SqlError};

/// An operator class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// `bigint_signature_ops`
    Bigint = 1,
    /// `uuid_signature_ops`
    Uuid = 2,
    /// `minhash_jaccard_ops`
    Minhash = 3,
    /// `simhash_hamming_ops`
    Simhash = 4,
    /// `text_minhash_ops`
    Text = 5,
}

impl Class {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Bigint, "bigint_signature_ops"),
        (Self::Uuid, "uuid_signature_ops"),
        (Self::Minhash, "minhash_jaccard_ops"),
        (Self::Simhash, "simhash_hamming_ops"),
        (Self::Text, "text_minhash_ops"),
    ];

    /// The class with this number.
    pub fn from_number(number: i32) -> Option<Self> {
        Self::ALL.into_iter().map(|(class, _)| class).find(|&class| class as i32 == number)
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize - 1].1
    }

    /// Whether its indexes keep sketches.
    pub fn has_sketches(self) -> bool {
        !matches!(self, Self::Bigint | Self::Uuid)
    }

    /// The class of an index, by its support function.
    pub fn of(index: Index) -> Result<Self> {
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
