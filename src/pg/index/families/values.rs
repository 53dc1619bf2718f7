//! Decodes the values of a column.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use super::class::OperatorClass;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::encoding;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::executor_for;
use crate::pg::server::normalization::normalized;
use neardup_core::error;
use neardup_core::executor::{self, Stop};
use neardup_core::features::normalization::Normalization;
use neardup_core::features::tokens::Document;
use neardup_core::hash;
use neardup_core::memory;

/// Returns a text as UTF-8, in a normalization form.
///
/// # Safety
/// `value` is a text and not NULL.
pub(crate) unsafe fn text_of(value: Datum, form: Option<Normalization>) -> Result<String> {
    // SAFETY: the caller's promise.
    let text = encoding::to_utf8(unsafe { varlena_bytes(value) })?.ok_or_else(|| {
        SqlError::new(
            PgSqlErrorCode::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE,
            "a text to be indexed is not valid UTF-8",
        )
    })?;
    Ok(memory::owned(normalized(form, text)?, "reading a text")?)
}

/// Returns the stored form of a document that `cut` makes. `cut` may be called again after a stop.
pub(super) fn keep_document(
    document: &Document,
    cut: impl FnMut(&Document, &Stop) -> error::Result<StoredValue> + Send,
) -> Result<StoredValue> {
    let mut work = (cut, None);
    executor::one(executor_for(document.bytes()), &mut work, |(cut, kept), stop| {
        *kept = Some(cut(document, stop)?);
        Ok(())
    })?;
    Ok(work.1.expect("done where there was no error"))
}

/// The stored form of a value in an index.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StoredValue {
    /// The flags of the row.
    pub flags: u16,
    /// The sketch, or the signatures of an array.
    pub bytes: Vec<u8>,
}

/// Returns the signatures of an array of this class, in ascending order.
///
/// # Safety
/// `value` is an array of the class's type and not NULL.
pub(crate) unsafe fn elements(class: OperatorClass, value: Datum) -> Result<Vec<u64>> {
    let (element, length, by_value, align) = match class {
        OperatorClass::Uuid => (pg_sys::UUIDOID, 16, false, b'c'),
        _ => (pg_sys::INT8OID, 8, true, b'd'),
    };
    let mut signatures = Vec::new();
    // SAFETY: an array of this type, which the server decodes into memory of its own.
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
        memory::reserve(&mut signatures, count as usize, "reading an array")?;
        for n in 0..count as usize {
            if !*nulls.add(n) {
                let element = *elements.add(n);
                signatures.push(match class {
                    OperatorClass::Uuid => {
                        hash::hash_bytes(std::slice::from_raw_parts(element.cast_mut_ptr::<u8>(), 16))
                    }
                    _ => hash::mix(element.value() as u64),
                });
            }
        }
        pg_sys::pfree(elements.cast());
        pg_sys::pfree(nulls.cast());
    }
    signatures.sort_unstable();
    signatures.dedup();
    Ok(signatures)
}

/// Returns the element of a `bigint[]` that has this signature.
pub(crate) fn element_of(signature: u64) -> i64 {
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
