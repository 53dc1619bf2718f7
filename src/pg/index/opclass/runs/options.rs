//! The options of the operator class of runs.

use std::mem::offset_of;

use pgrx::pg_sys;

use crate::pg::index::opclass::sets::options::{add_enum, add_normalize, element};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::server::call::FunctionCall;
use neardup_core::features::normalization::Normalization;
use neardup_core::features::origin::Origin;

/// The default of the least run that an index finds, in tokens.
const LEAST: i32 = 12;
/// The greatest one.
pub(super) const GREATEST: u32 = 1000;

/// The options of the class, as the server keeps them.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct RunOptions {
    vl_len_: i32,
    least: i32,
    tokenizer: i32,
    normalize: i32,
}

impl RunOptions {
    /// Returns the options of an index.
    pub(super) fn read(index: OpenIndex) -> Self {
        // SAFETY: an open index of one column, whose class has the options that `declare` declares,
        // so there is always a struct of options.
        unsafe {
            let all = pg_sys::RelationGetIndexAttOptions(index.relation(), false);
            (*all).cast::<Self>().read()
        }
    }

    /// Returns the least number of tokens of a run that the index finds.
    pub(super) fn least(&self) -> u32 {
        self.least.unsigned_abs()
    }

    /// Returns the origin of the tokens.
    pub(super) fn origin(&self) -> Origin {
        Origin::from_byte(self.tokenizer as u8).unwrap_or(Origin::Words)
    }

    /// Returns the form in which texts are compared.
    pub(super) fn normalization(&self) -> Option<Normalization> {
        Normalization::from_number(self.normalize as u8).flatten()
    }
}

/// Declares the options of the class to the server. The server calls this for an index of the
/// class.
pub(crate) fn declare(call: FunctionCall) -> pg_sys::Datum {
    // SAFETY: argument 0 is the server's list of options.
    let list: *mut pg_sys::local_relopts = unsafe {
        pgrx::fcinfo::pg_getarg_datum(call.info, 0).map_or(std::ptr::null_mut(), |datum| datum.cast_mut_ptr())
    };
    if list.is_null() {
        return pg_sys::Datum::from(0);
    }
    let origins = [Origin::Words, Origin::Chars, Origin::Whitespace, Origin::Html];
    let names = [c"words", c"chars", c"whitespace", c"html"];
    let origins: Vec<_> =
        names.iter().zip(origins).map(|(name, origin)| element(name, origin as i32)).collect();
    // SAFETY: C strings outlive the calls; the list is the server's.
    unsafe {
        pg_sys::init_local_reloptions(list, size_of::<RunOptions>());
        pg_sys::add_local_int_reloption(
            list,
            c"min_run".as_ptr(),
            c"Least number of tokens of a run that the index finds.".as_ptr(),
            LEAST,
            1,
            GREATEST as i32,
            offset_of!(RunOptions, least) as i32,
        );
        add_enum(
            list,
            c"tokenizer",
            c"How texts are cut.",
            c"Valid values are \"words\", \"chars\", \"whitespace\" and \"html\".",
            &origins,
            offset_of!(RunOptions, tokenizer),
        );
        add_normalize(list, offset_of!(RunOptions, normalize));
    }
    pg_sys::Datum::from(0)
}
