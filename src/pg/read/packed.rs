//! Texts in the server's compressed form. Who needs a text, or its beginning, decompresses it.

use pgrx::pg_sys::{self, Datum};

use crate::pg::query::decode::{ColumnContent, decode};
use crate::pg::server::encoding;
use crate::pg::server::error::Result;
use neardup_core::error::Result as CoreResult;
use neardup_core::features::source_document::SourceDocument;
use neardup_core::memory;
use neardup_core::text::packed::{PackedText, Packing};

/// Returns the value as it is stored, in one piece: an out-of-line value is fetched, but not
/// decompressed.
///
/// # Safety
/// The value is a varlena. A copy, if one is needed, is left in the current memory context.
pub(crate) unsafe fn fetched(value: Datum) -> Datum {
    // SAFETY: the caller's promise.
    unsafe {
        let varlena: *mut pg_sys::varlena = value.cast_mut_ptr();
        if pgrx::varatt_is_1b_e(varlena) { pg_sys::detoast_external_attr(varlena).into() } else { value }
    }
}

/// Returns the stored bytes of a compressed value. Returns `None` if the value is not compressed,
/// or if its compression method is unknown.
///
/// # Safety
/// The value is a varlena that holds a text, and stays in place as long as the bytes are used.
pub(crate) unsafe fn packed<'a>(value: Datum) -> Option<PackedText<&'a [u8]>> {
    /// The number of bytes of the header (varattrib_4b of varatt.h): the length of the value with
    /// its flags, and the length of the text with the compression method.
    const HEADER: usize = 2 * size_of::<u32>();
    // SAFETY: the caller's promise; a compressed value begins with both numbers of the header, and
    // is as long as the first number says.
    let (info, bytes) = unsafe {
        let varlena: *const pg_sys::varlena = value.cast_mut_ptr();
        if !pgrx::varatt_is_4b_c(varlena) {
            return None;
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
        _ => return None,
    };
    Some(PackedText { bytes, len: (info & pg_sys::VARLENA_EXTSIZE_MASK) as usize, packing })
}

/// Reads a document, compressed if it is stored so. Returns `None` if it contains bytes that are
/// not valid text.
///
/// # Safety
/// `value` has this kind. Intermediate copies are left in the current memory context.
pub(crate) unsafe fn source_document(
    kind: ColumnContent,
    mut value: Datum,
) -> Result<Option<SourceDocument>> {
    // If the text must be converted, the server also decompresses it.
    if kind == ColumnContent::Text && encoding::is_utf8() {
        // SAFETY: the caller's promise: a text.
        let packed = unsafe {
            value = fetched(value);
            packed(value)
        };
        if let Some(packed) = packed {
            return Ok(Some(SourceDocument::Text(own(packed)?)));
        }
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { decode(kind, value)? }.map(SourceDocument::Document))
}

/// Copies the stored bytes of a compressed value.
fn own(PackedText { bytes, len, packing }: PackedText<&[u8]>) -> CoreResult<PackedText> {
    let mut own = Vec::new();
    memory::extend(&mut own, bytes, "copying a text")?;
    Ok(PackedText { bytes: own, len, packing })
}
