//! Texts in the server's compressed form: the leader copies the stored value, and workers
//! decompress it.

use pgrx::pg_sys::{self, Datum};

use crate::pg::server::call::is_on_disk;
use neardup_core::error::Error;
use neardup_core::memory;
use neardup_core::text::packed::{Packed, Packing};

/// Returns the value as it is stored, in one piece: an out-of-line value is fetched, but not
/// decompressed.
///
/// # Safety
/// The value is a varlena. A copy, if one is needed, is left in the current memory context.
pub(super) unsafe fn fetched(value: Datum) -> Datum {
    // SAFETY: the caller's promise.
    unsafe {
        let varlena: *mut pg_sys::varlena = value.cast_mut_ptr();
        if is_on_disk(varlena) { pg_sys::detoast_external_attr(varlena).into() } else { value }
    }
}

/// Copies a compressed value. Returns `None` if the value is not compressed, or if its compression
/// method is unknown.
///
/// # Safety
/// The value is a varlena that holds a text.
pub(super) unsafe fn packed(value: Datum) -> Result<Option<Packed>, Error> {
    /// The number of bytes of the header (varattrib_4b of varatt.h): the length of the value with
    /// its flags, and the length of the text with the compression method.
    const HEADER: usize = 2 * size_of::<u32>();
    // SAFETY: the caller's promise; a compressed value begins with both numbers of the header, and
    // is as long as the first number says.
    let (info, stored) = unsafe {
        let varlena: *const pg_sys::varlena = value.cast_mut_ptr();
        if !pgrx::varatt_is_4b_c(varlena) {
            return Ok(None);
        }
        let start: *const u8 = varlena.cast();
        let info: u32 = start.add(size_of::<u32>()).cast::<u32>().read_unaligned();
        let length = pgrx::varsize_4b(varlena).max(HEADER);
        (info, std::slice::from_raw_parts(start.add(HEADER), length - HEADER))
    };
    // The values are those of ToastCompressionId in toast_compression.h.
    let packing = match info >> pg_sys::VARLENA_EXTSIZE_BITS {
        0 => Packing::Pglz,
        1 => Packing::Lz4,
        _ => return Ok(None),
    };
    let mut bytes = Vec::new();
    memory::extend(&mut bytes, stored, "copying a text")?;
    Ok(Some(Packed { bytes, len: (info & pg_sys::VARLENA_EXTSIZE_MASK) as usize, packing }))
}
