//! The options of the operator classes of sets.

use std::ffi::CStr;
use std::mem::offset_of;

use pgrx::pg_sys;

use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::server::call::FunctionCall;
use neardup_core::features::FeatureSpec;
use neardup_core::features::normalization::Normalization;
use neardup_core::features::origin::Origin;
use neardup_core::joins::search::ball::measure_number;
use neardup_core::verify::measure::Measure;

/// The default of the least similarity that an index serves.
pub(super) const LEAST: f64 = 0.7;

/// The options of a class, as the server keeps them.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct SetOptions {
    vl_len_: i32,
    measure: i32,
    shingle: i32,
    multiset: i32,
    tokenizer: i32,
    direction: i32,
    normalize: i32,
    /// The least similarity that the index serves.
    pub least: f64,
}

impl SetOptions {
    /// Returns the options of an index.
    pub(crate) fn read(index: OpenIndex) -> Self {
        // SAFETY: an open index of one column, whose class has the options that `declare` declares,
        // so there is always a struct of options.
        unsafe {
            let all = pg_sys::RelationGetIndexAttOptions(index.relation(), false);
            (*all).cast::<Self>().read()
        }
    }

    /// Returns the number of the measure, or `None` if it has no such direction.
    pub(crate) fn measure(&self) -> Option<u8> {
        let containment = measure_number(Measure::Containment);
        match (self.measure as u8, self.direction) {
            (measure, 0) => Some(measure),
            (measure, _) => (measure == containment).then_some(measure_number(Measure::Coverage)),
        }
    }

    /// Returns the number of tokens of a shingle, if this option was given.
    pub(crate) fn shingle(&self) -> Option<i32> {
        (self.shingle > 0).then_some(self.shingle)
    }

    /// Returns the option that says whether repeats count, if it was given.
    pub(crate) fn multiset(&self) -> Option<bool> {
        (self.multiset >= 0).then_some(self.multiset > 0)
    }

    /// Returns the number of the tokenizer.
    pub(crate) fn tokenizer(&self) -> u8 {
        self.tokenizer as u8
    }

    /// Returns the form in which texts are compared.
    pub(crate) fn normalization(&self) -> Option<Normalization> {
        Normalization::from_number(self.normalize as u8).flatten()
    }
}

/// Makes an allowed value of an option, with its name.
pub(crate) fn element(name: &'static CStr, value: i32) -> pg_sys::relopt_enum_elt_def {
    pg_sys::relopt_enum_elt_def { string_val: name.as_ptr(), symbol_val: value }
}

/// How texts are cut: the values of the option `tokenizer` for texts.
pub(crate) const TEXTS: &[(&CStr, Origin)] = &[
    (c"words", Origin::Words),
    (c"chars", Origin::Chars),
    (c"whitespace", Origin::Whitespace),
    (c"html", Origin::Html),
];
/// The values of the option for balls, whose documents may be given as tokens.
pub(crate) const DOCUMENTS: &[(&CStr, Origin)] = &[
    TEXTS[0],
    TEXTS[1],
    TEXTS[2],
    TEXTS[3],
    (c"tokens", Origin::Tokens),
    (c"numbers", Origin::Numbers),
    (c"lexemes", Origin::Lexemes),
];

/// Returns what the server says of a wrong value of the option for which so many values are valid.
fn valid_tokenizers(count: usize) -> &'static CStr {
    if count == TEXTS.len() {
        c"Valid values are \"words\", \"chars\", \"whitespace\" and \"html\"."
    } else {
        c"Valid values are \"words\", \"chars\", \"whitespace\", \"html\", \"tokens\", \"numbers\" and \"lexemes\"."
    }
}

/// Returns the measures, with the numbers that balls have for them.
fn measures() -> [pg_sys::relopt_enum_elt_def; 5] {
    [
        element(c"jaccard", measure_number(Measure::Jaccard).into()),
        element(c"cosine", measure_number(Measure::Cosine).into()),
        element(c"dice", measure_number(Measure::Dice).into()),
        element(c"overlap", measure_number(Measure::Overlap).into()),
        element(c"containment", measure_number(Measure::Containment).into()),
    ]
}

/// Declares the options of a class to the server. The server calls this for an index of the class.
/// `tokenizers` are the values of the option `tokenizer`, which classes of tokens do not have.
pub(crate) fn declare(call: FunctionCall, tokenizers: &[(&'static CStr, Origin)]) -> pg_sys::Datum {
    // SAFETY: argument 0 is the server's list of options.
    let list: *mut pg_sys::local_relopts = unsafe {
        pgrx::fcinfo::pg_getarg_datum(call.info, 0).map_or(std::ptr::null_mut(), |datum| datum.cast_mut_ptr())
    };
    if list.is_null() {
        return pg_sys::Datum::from(0);
    }
    let measures = measures();
    let repeats = [
        element(c"auto", -1),
        element(c"true", 1),
        element(c"false", 0),
        element(c"on", 1),
        element(c"off", 0),
    ];
    let origins: Vec<_> = tokenizers.iter().map(|&(name, origin)| element(name, origin as i32)).collect();
    let valid = valid_tokenizers(tokenizers.len());
    // SAFETY: C strings outlive the calls; the list is the server's.
    unsafe {
        pg_sys::init_local_reloptions(list, size_of::<SetOptions>());
        add_enum(
            list,
            c"measure",
            c"How similarity is measured.",
            c"Valid values are \"jaccard\", \"cosine\", \"dice\" and \"containment\".",
            &measures,
            offset_of!(SetOptions, measure),
        );
        pg_sys::add_local_int_reloption(
            list,
            c"shingle".as_ptr(),
            c"Tokens to a shingle; 0 is the default of near().".as_ptr(),
            0,
            0,
            FeatureSpec::LONGEST_SHINGLE as i32,
            offset_of!(SetOptions, shingle) as i32,
        );
        add_enum(
            list,
            c"multiset",
            c"Whether the k-th occurrence of a token is a token of its own; auto is the default of near().",
            c"Valid values are \"auto\", \"true\" and \"false\".",
            &repeats,
            offset_of!(SetOptions, multiset),
        );
        add_enum(
            list,
            c"direction",
            c"Of which text containment is the share: of a row, or of the query.",
            c"Valid values are \"row\" and \"query\".",
            &[element(c"row", 0), element(c"query", 1)],
            offset_of!(SetOptions, direction),
        );
        if !origins.is_empty() {
            add_enum(
                list,
                c"tokenizer",
                c"How texts are cut.",
                valid,
                &origins,
                offset_of!(SetOptions, tokenizer),
            );
            add_normalize(list, offset_of!(SetOptions, normalize));
        }
        pg_sys::add_local_real_reloption(
            list,
            c"threshold".as_ptr(),
            c"Least similarity that the index serves.".as_ptr(),
            LEAST,
            0.01,
            1.0,
            offset_of!(SetOptions, least) as i32,
        );
    }
    pg_sys::Datum::from(0)
}

/// Adds the option for the normalization form of texts.
///
/// # Safety
/// As for [`add_enum`].
pub(crate) unsafe fn add_normalize(list: *mut pg_sys::local_relopts, offset: usize) {
    let form = |name, form| element(name, Normalization::number(form).into());
    let forms = [
        form(c"none", None),
        form(c"nfc", Some(Normalization::Nfc)),
        form(c"nfkc", Some(Normalization::Nfkc)),
    ];
    // SAFETY: the caller's promise.
    unsafe {
        add_enum(
            list,
            c"normalize",
            c"The normalization form of Unicode in which texts are compared: the normalization of near().",
            c"Valid values are \"none\", \"nfc\" and \"nfkc\".",
            &forms,
            offset,
        );
    }
}

/// Adds an option whose default is the first of its values.
///
/// # Safety
/// `list` was given by the server.
pub(crate) unsafe fn add_enum(
    list: *mut pg_sys::local_relopts,
    name: &'static CStr,
    what: &'static CStr,
    hint: &'static CStr,
    values: &[pg_sys::relopt_enum_elt_def],
    offset: usize,
) {
    // SAFETY: the server keeps a reference to the values, which must end with an empty element, so
    // the values are copied into memory that outlives this call.
    unsafe {
        let bytes = size_of::<pg_sys::relopt_enum_elt_def>() * (values.len() + 1);
        let members: *mut pg_sys::relopt_enum_elt_def = pg_sys::palloc0(bytes).cast();
        members.copy_from_nonoverlapping(values.as_ptr(), values.len());
        let default = values[0].symbol_val;
        pg_sys::add_local_enum_reloption(
            list,
            name.as_ptr(),
            what.as_ptr(),
            members,
            default,
            hint.as_ptr(),
            offset as i32,
        );
    }
}
