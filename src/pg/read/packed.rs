//! Texts as the server has packed them: the leader copies what is stored, and workers unpack it.

use pgrx::pg_sys::{self, Datum};

use crate::error::Error;
use crate::memory;
use crate::pg::server::call::is_on_disk;
use crate::text::packed::{Packed, Packing};

/// The value as it is stored, by itself: what is out of line is fetched, and not unpacked.
///
/// # Safety
/// It is a varlena. A copy that is needed is left in the current memory context.
pub(super) unsafe fn fetched(value: Datum) -> Datum {
    // SAFETY: the caller's promise.
    unsafe {
        let varlena: *mut pg_sys::varlena = value.cast_mut_ptr();
        if is_on_disk(varlena) { pg_sys::detoast_external_attr(varlena).into() } else { value }
    }
}

/// A copy of what is packed; none of what is not, or in a way that is not known here.
///
/// # Safety
/// It is a varlena, and a text.
pub(super) unsafe fn packed(value: Datum) -> Result<Option<Packed>, Error> {
    /// The length with its flags, and that of the text with the method: varattrib_4b of varatt.h.
    const HEADER: usize = 2 * size_of::<u32>();
    // SAFETY: the caller's promise; such a value begins with both numbers, and is as long as the first says.
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
    // ToastCompressionId of toast_compression.h.
    let packing = match info >> pg_sys::VARLENA_EXTSIZE_BITS {
        0 => Packing::Pglz,
        1 => Packing::Lz4,
        _ => return Ok(None),
    };
    let mut bytes = Vec::new();
    memory::extend(&mut bytes, stored, "copying a text")?;
    Ok(Some(Packed { bytes, len: (info & pg_sys::VARLENA_EXTSIZE_MASK) as usize, packing }))
}
