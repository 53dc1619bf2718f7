//! What the operator classes know: which signatures a value has, and which sketch stands for it.

use std::borrow::Cow;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use super::buffer::Index;
use super::format::{CONTENTS, Item, Meta, Row};
use crate::hash;
use crate::pg::error::{Result, SqlError};

/// An operator class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// `bigint_signature_ops`
    Bigint = 1,
    /// `uuid_signature_ops`
    Uuid = 2,
}

impl Class {
    /// The class with this number.
    pub fn from_number(number: i32) -> Option<Self> {
        [Self::Bigint, Self::Uuid].into_iter().find(|&class| class as i32 == number)
    }

    /// The class of an index, by its support function.
    pub fn of(index: Index) -> Result<Self> {
        // SAFETY: an open index of this access method, whose classes all have support function 1; its
        // implementations do not look at their argument.
        let number = unsafe {
            let function = pg_sys::index_getprocinfo(index.relation(), 1, 1);
            pg_sys::FunctionCall1Coll(function, pg_sys::InvalidOid, Datum::from(0)).value() as i32
        };
        Self::from_number(number).ok_or_else(|| {
            SqlError::new(
                PgSqlErrorCode::ERRCODE_INVALID_OBJECT_DEFINITION,
                format!("the operator class of index \"{}\" is none of neardup's", index.name()),
            )
        })
    }
}

/// Strategy number of `<@`: a value in a ball.
pub const IN_BALL: u16 = 1;
/// Strategy number of `&&`: arrays that share an element.
pub const OVERLAPS: u16 = 2;
/// Strategy number of `<%>` and `<~>`: the distance to order by.
pub const DISTANCE: u16 = 3;

/// A condition of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// No row meets it.
    Nothing,
    /// Rows with one of these signatures, and whether these surely meet it.
    Signatures {
        /// The signatures, ascending.
        signatures: Vec<u64>,
        /// Whether no other row has one of them.
        exact: bool,
    },
    /// The index cannot tell: all rows.
    Everything,
}

impl Probe {
    /// The signatures to look up; none: all rows have to be looked at.
    pub fn signatures(&self) -> Option<&[u64]> {
        match self {
            Self::Nothing => Some(&[]),
            Self::Signatures { signatures, .. } => Some(signatures),
            Self::Everything => None,
        }
    }

    /// Whether the rows that it finds need no other look.
    pub fn is_exact(&self) -> bool {
        matches!(self, Self::Nothing | Self::Signatures { exact: true, .. })
    }

    /// Whether a row can be judged by its sketch.
    pub fn is_near(&self) -> bool {
        false
    }

    /// Orders probes by what they cost.
    pub fn effort(&self) -> usize {
        self.signatures().map_or(usize::MAX, <[u64]>::len)
    }
}

/// What distances are measured to.
pub type Target = Vec<u8>;

/// The operator class of an index with its options.
#[derive(Debug, Clone, Copy)]
pub struct Keys {
    /// The class.
    pub class: Class,
}

/// Signatures of an array that fit into one pending item.
const PER_ITEM: usize = (CONTENTS - Item::HEAD) / 8;

impl Keys {
    /// Those of an existing index.
    pub fn of(index: Index, meta: &Meta) -> Self {
        let Some(class) = Class::from_number(meta.class.into()) else {
            index.corrupted(0, "the operator class is unknown");
        };
        Self { class }
    }

    /// Those that a new index gets, for its metapage.
    pub fn choose(index: Index) -> Result<Meta> {
        let class = Class::of(index)?;
        Ok(Meta { class: class as u8, ..Meta::default() })
    }

    /// Bytes of a sketch in a segment.
    pub fn payload(&self) -> usize {
        match self.class {
            Class::Bigint | Class::Uuid => 0,
        }
    }

    /// What an item keeps of a value: its sketch, or its signatures.
    ///
    /// # Safety
    /// `value` is of the type of the index's column and not NULL.
    pub unsafe fn item_of(&self, value: Datum) -> Result<Vec<u8>> {
        // SAFETY: the caller's promise.
        match self.class {
            Class::Bigint | Class::Uuid => {
                let signatures = unsafe { self.elements(value) };
                Ok(signatures.iter().flat_map(|signature| signature.to_le_bytes()).collect())
            }
        }
    }

    /// The signatures of an array, ascending.
    ///
    /// # Safety
    /// As in [`Self::item_of`].
    pub unsafe fn elements(&self, value: Datum) -> Vec<u64> {
        let (element, length, by_value, align) = match self.class {
            Class::Bigint => (pg_sys::INT8OID, 8, true, b'd'),
            Class::Uuid => (pg_sys::UUIDOID, 16, false, b'c'),
        };
        let mut signatures = Vec::new();
        // SAFETY: an array of this type, which the server takes apart into memory of its own.
        unsafe {
            let array = pg_sys::pg_detoast_datum(value.cast_mut_ptr());
            let (mut elements, mut nulls, mut count) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
            pg_sys::deconstruct_array(
                array.cast(),
                element,
                length,
                by_value,
                align as std::ffi::c_char,
                &raw mut elements,
                &raw mut nulls,
                &raw mut count,
            );
            for n in 0..count as usize {
                if !*nulls.add(n) {
                    let element = *elements.add(n);
                    signatures.push(match self.class {
                        Class::Bigint => hash::mix(element.value() as u64),
                        Class::Uuid => {
                            hash::hash_bytes(std::slice::from_raw_parts(element.cast_mut_ptr::<u8>(), 16))
                        }
                    });
                }
            }
            pg_sys::pfree(elements.cast());
            pg_sys::pfree(nulls.cast());
            if !std::ptr::eq(array.cast(), value.cast_mut_ptr::<pg_sys::varlena>()) {
                pg_sys::pfree(array.cast());
            }
        }
        signatures.sort_unstable();
        signatures.dedup();
        signatures
    }

    /// The items of a row: one, or several where an array has many elements.
    pub fn items<'a>(&self, row: Row, bytes: &'a [u8]) -> impl Iterator<Item = Item<'a>> + use<'a> {
        let size = match self.class {
            Class::Bigint | Class::Uuid => PER_ITEM * 8,
        };
        let rest = bytes.get(size..).unwrap_or_default().chunks(size);
        let first = Item { row, bytes: &bytes[..bytes.len().min(size)] };
        std::iter::once(first).chain(rest.map(move |bytes| Item { row: row.with(Row::CONTINUED), bytes }))
    }

    /// Ends the call if an item cannot be one of this class.
    pub fn check(&self, index: Index, block: u32, item: &Item<'_>) {
        let right = match self.class {
            _ if item.row.has(Row::NULL) => item.bytes.is_empty(),
            Class::Bigint | Class::Uuid => item.bytes.len().is_multiple_of(8),
        };
        if !right {
            index.corrupted(block, "a pending item has the wrong length");
        }
    }

    /// The sketch of an item, for a segment.
    pub fn sketch_of<'a>(&self, item: &Item<'a>) -> &'a [u8] {
        match self.class {
            Class::Bigint | Class::Uuid => &[],
        }
    }

    /// The signatures of an item that is not NULL.
    pub fn signatures_of(&self, bytes: &[u8], signatures: &mut Vec<u64>) {
        signatures.clear();
        match self.class {
            Class::Bigint | Class::Uuid => {
                signatures.extend(bytes.chunks_exact(8).map(super::format::number));
            }
        }
    }

    /// A condition of a query.
    ///
    /// # Safety
    /// `argument` is of the right type of the class's operator with this strategy number.
    pub unsafe fn probe(&self, strategy: u16, argument: Datum) -> Result<Probe> {
        match (self.class, strategy) {
            (Class::Bigint | Class::Uuid, OVERLAPS) => {
                // SAFETY: an array of the class's type: `&&` has the same type on both sides.
                let signatures = unsafe { self.elements(argument) };
                Ok(if signatures.is_empty() {
                    Probe::Nothing
                } else {
                    Probe::Signatures { signatures, exact: self.class == Class::Bigint }
                })
            }
            _ => Ok(Probe::Everything),
        }
    }

    /// What an `ORDER BY` measures distances to.
    ///
    /// # Safety
    /// As in [`Self::probe`].
    pub unsafe fn target(&self, _argument: Datum) -> Result<Target> {
        Err(SqlError::new(
            PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
            format!("{} knows no distance", self.name()),
        ))
    }

    /// Finds all rows up to the greatest distance of which the signatures tell, and that distance.
    pub fn near(&self, _target: &Target) -> Option<(Probe, u64)> {
        None
    }

    /// In how many values or bits a sketch differs.
    pub fn difference(&self, _target: &Target, _sketch: &[u8]) -> u16 {
        0
    }

    /// The distance that the operator gives for so many differences.
    pub fn distance(&self, difference: u32) -> f64 {
        difference.into()
    }

    /// Whether a pending item is one of those that a probe finds.
    pub fn finds(&self, probe: &Probe, item: &Item<'_>) -> bool {
        match probe {
            Probe::Nothing => false,
            Probe::Everything => true,
            Probe::Signatures { signatures, .. } => {
                item.bytes.chunks_exact(8).any(|bytes| signatures.binary_search(&super::format::number(bytes)).is_ok())
            }
        }
    }

    /// Whether a row of a segment, found by its signatures where there are any to look up, is one of
    /// those that a probe finds.
    pub fn accepts(&self, probe: &Probe, _row: Row, _sketch: &[u8]) -> bool {
        !matches!(probe, Probe::Nothing)
    }

    /// Signatures that a query usually looks up, where it is not known yet.
    pub fn usual_probes(&self) -> f64 {
        match self.class {
            Class::Bigint | Class::Uuid => 16.0,
        }
    }

    /// A signature as users know it: the element of an array of numbers.
    pub fn shown(&self, signature: u64) -> i64 {
        match self.class {
            Class::Bigint => unmix(signature).cast_signed(),
            Class::Uuid => signature.cast_signed(),
        }
    }

    /// The class with its options.
    pub fn describe(&self) -> String {
        self.name().into_owned()
    }

    /// What the class is called.
    pub fn name(&self) -> Cow<'static, str> {
        match self.class {
            Class::Bigint => "bigint_signature_ops".into(),
            Class::Uuid => "uuid_signature_ops".into(),
        }
    }
}

/// The inverse of [`hash::mix`].
fn unmix(mixed: u64) -> u64 {
    // Each step of the mix backwards: the multipliers are inverses modulo 2^64.
    let mut z = mixed ^ (mixed >> 31) ^ (mixed >> 62);
    z = z.wrapping_mul(0x3196_42b2_d24d_8ec3);
    z = z ^ (z >> 27) ^ (z >> 54);
    z = z.wrapping_mul(0x96de_1b17_3f11_9089);
    z = z ^ (z >> 30) ^ (z >> 60);
    z.wrapping_sub(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pg_mixed_elements_come_back() {
        for value in (0..1000).map(|n| hash::mix(n) ^ n).chain([0, 1, u64::MAX, 1 << 63]) {
            assert_eq!(unmix(hash::mix(value)), value);
        }
    }
}
