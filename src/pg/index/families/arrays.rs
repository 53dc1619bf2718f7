//! Indexes of arrays of signatures.

use pgrx::pg_sys::{self, Datum};

use super::class::OperatorClass;
use super::family::Family;
use super::probe::Probe;
use super::values::{ColumnValue, StoredValue};
use crate::pg::index::layout::format::Meta;
use crate::pg::query::decode::elements;
use crate::pg::server::error::Result;
use neardup_core::hash;
use neardup_core::memory;

const DOING: &str = "reading an array";

/// An index of arrays.
#[derive(Debug)]
pub(super) struct ArrayKeys(OperatorClass);

impl ArrayKeys {
    /// Returns the keys of an index, or None if its metapage contradicts itself.
    pub(super) fn from_meta(class: OperatorClass, meta: &Meta) -> Option<Self> {
        (meta.payload == 0).then_some(Self(class))
    }
}

impl Family for ArrayKeys {
    fn describe(&self) -> String {
        self.0.name().to_owned()
    }

    fn usual_probes(&self) -> f64 {
        16.0
    }

    unsafe fn read(&self, value: Datum) -> Result<ColumnValue> {
        // SAFETY: the caller's promise.
        let signatures = unsafe { signatures_of(self.0, value)? };
        Ok(ColumnValue::Kept(StoredValue::with_numbers(0, &signatures, DOING)?))
    }

    unsafe fn probe(&self, argument: Datum) -> Result<Probe> {
        // SAFETY: an array of the class's type: `&&` has the same type on both sides.
        let signatures = unsafe { signatures_of(self.0, argument)? };
        let exact = self.0 == OperatorClass::Bigint;
        Ok(if signatures.is_empty() { Probe::Nothing } else { Probe::Signatures { signatures, exact } })
    }
}

/// Returns the signatures of an array of this class, in ascending order.
///
/// # Safety
/// `value` is an array of the class's type and not NULL.
unsafe fn signatures_of(class: OperatorClass, value: Datum) -> Result<Vec<u64>> {
    let is_uuid = class == OperatorClass::Uuid;
    // SAFETY: the caller's promise.
    let elements = unsafe { elements(value, if is_uuid { pg_sys::UUIDOID } else { pg_sys::INT8OID })? };
    let signature = |element: &Datum| match is_uuid {
        // SAFETY: a UUID has 16 bytes.
        true => hash::hash_bytes(unsafe { std::slice::from_raw_parts(element.cast_mut_ptr::<u8>(), 16) }),
        false => hash::mix(element.value() as u64),
    };
    let mut signatures = memory::collect(elements.iter().map(signature), DOING)?;
    signatures.sort_unstable();
    signatures.dedup();
    Ok(signatures)
}

/// Returns the element of a `bigint[]` that has this signature.
pub(super) fn element_of(signature: u64) -> i64 {
    unmix(signature).cast_signed()
}

/// Inverts [`neardup_core::hash::mix`].
fn unmix(mixed: u64) -> u64 {
    // The steps of the mix are undone in reverse order. The multipliers are the inverses, modulo
    // 2^64, of the multipliers of the mix.
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
    use neardup_core::hash;

    #[test]
    fn pg_mixed_elements_come_back() {
        for value in (0..1000).map(|n| hash::mix(n) ^ n).chain([0, 1, u64::MAX, 1 << 63]) {
            assert_eq!(unmix(hash::mix(value)), value);
        }
    }
}
