//! The options of the operator class of grams, and the check of the settings of a new index.

use std::mem::offset_of;

use pgrx::pg_sys;

use super::HEAD;
use crate::pg::index::layout::format::{Family, Meta};
use crate::pg::index::families::class::OperatorClass;
use crate::pg::index::families::cut;
use crate::pg::index::families::options::{StorageOptions, refuse_stop_limit};
use crate::pg::index::families::sets::options::add_normalize;
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::server::call::FunctionCall;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::features::FeatureSpec;
use neardup_core::features::normalization::Normalization;
use neardup_core::features::origin::Origin;
use neardup_core::joins::search::ball::measure_number;
use neardup_core::joins::search::grams::BITS;
use neardup_core::text;
use neardup_core::verify::measure::Measure;

/// The default of the number of characters of a gram, as that of `near(…, tokenizer => 'chars')`.
const SHINGLE: i32 = 3;

/// The options of the class, as the server keeps them.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct GramOptions {
    vl_len_: i32,
    shingle: i32,
    normalize: i32,
}

impl GramOptions {
    /// Returns the options of an index.
    pub(super) fn read(index: OpenIndex) -> Self {
        // SAFETY: an open index of one column, whose class has the options that `declare` declares,
        // so there is always a struct of options.
        unsafe {
            let all = pg_sys::RelationGetIndexAttOptions(index.relation(), false);
            (*all).cast::<Self>().read()
        }
    }

    /// Returns the number of characters of a gram.
    pub(super) fn shingle(&self) -> u32 {
        self.shingle.unsigned_abs()
    }

    /// Returns the form in which texts are compared.
    pub(super) fn normalization(&self) -> Option<Normalization> {
        Normalization::from_number(self.normalize as u8).flatten()
    }
}

/// Declares the options of the class to the server. The server calls this for an index of the
/// class.
pub(crate) fn declare(call: FunctionCall) -> pg_sys::Datum {
    // SAFETY: argument 0 is the server's list of options; C strings outlive the calls.
    unsafe {
        let list: *mut pg_sys::local_relopts = pgrx::fcinfo::pg_getarg_datum(call.info, 0)
            .map_or(std::ptr::null_mut(), |datum| datum.cast_mut_ptr());
        if !list.is_null() {
            pg_sys::init_local_reloptions(list, size_of::<GramOptions>());
            pg_sys::add_local_int_reloption(
                list,
                c"shingle".as_ptr(),
                c"Characters of a gram.".as_ptr(),
                SHINGLE,
                1,
                FeatureSpec::LONGEST_SHINGLE as i32,
                offset_of!(GramOptions, shingle) as i32,
            );
            add_normalize(list, offset_of!(GramOptions, normalize));
        }
    }
    pg_sys::Datum::from(0)
}

/// Returns the metapage of a new index.
pub(crate) fn choose(index: OpenIndex, class: OperatorClass) -> Result<Meta> {
    let name = class.name();
    if StorageOptions::read(index).threshold().is_some() {
        return Err(SqlError::parameter(format!("{name} has no storage parameter threshold"))
            .hint("It serves every similarity: RESET (threshold)"));
    }
    refuse_stop_limit(index, class)?;
    let (options, origin) = (GramOptions::read(index), Origin::Chars);
    cut::check_form(origin, options.normalization())?;
    Ok(Meta {
        family: Family::Grams as u8,
        class: class as u8,
        text_version: text::VERSION,
        tokenizer: cut::number_of(origin, options.normalization()),
        k: options.shingle(),
        bands: BITS,
        distance: measure_number(Measure::Jaccard).into(),
        payload: HEAD as u32,
        ..Meta::default()
    })
}
