//! The storage parameters of the index and the options of its operator classes.

use std::mem::offset_of;
use std::sync::atomic::{AtomicU32, Ordering};

use pgrx::pg_sys;

use super::class::OperatorClass;
use crate::pg::compat::option_at;
use crate::pg::index::layout::format::PAGE;
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::query::decode::elements;
use crate::pg::request::example::did_you_mean;
use crate::pg::server::call::FunctionCall;
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::guard::guard;
use neardup_core::sketches::minhash::MOST_PERMUTATIONS;
use neardup_core::sketches::wire::SketchSource;

/// The storage parameters of WITH (…), as the server keeps them.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct StorageOptions {
    vl_len_: i32,
    pending_limit: i32,
    distance: i32,
    stop_signature_limit: i32,
    threshold: f64,
}

impl StorageOptions {
    /// The threshold of an index that gives none.
    const NO_THRESHOLD: f64 = 0.0;
    /// The limit of an index that gives none: [`StorageOptions::pending_limit`].
    const NO_LIMIT: i32 = 0;
    const DEFAULT: Self = Self {
        vl_len_: 0,
        pending_limit: Self::NO_LIMIT,
        distance: 3,
        stop_signature_limit: 0,
        threshold: Self::NO_THRESHOLD,
    };

    /// Returns the storage parameters of an index.
    pub(crate) fn read(index: OpenIndex) -> Self {
        // SAFETY: an open relation; its options, if it has any, were made by `parse`.
        unsafe {
            let options: *const Self = (*index.relation()).rd_options.cast();
            if options.is_null() { Self::DEFAULT } else { options.read() }
        }
    }

    /// Returns the least similarity that the bands of a minhash index find, if one is given.
    pub(crate) fn threshold(&self) -> Option<f64> {
        Some(self.threshold).filter(|&threshold| threshold != Self::NO_THRESHOLD)
    }

    /// Returns the greatest distance that the blocks of a simhash index find.
    pub(crate) fn distance(&self) -> u32 {
        self.distance.unsigned_abs()
    }

    /// Returns the size of the pending area in kilobytes above which an insert flushes it. Each
    /// insert into a table with an exclusion constraint searches the index, and reads this area in
    /// full.
    fn pending_limit(&self, is_of_constraint: bool) -> u32 {
        match self.pending_limit {
            Self::NO_LIMIT if is_of_constraint => 512,
            Self::NO_LIMIT => 4096,
            given => given.unsigned_abs(),
        }
    }

    /// Returns the number of rows above which a signature is not searched, or 0 if all signatures
    /// are searched.
    pub(crate) fn stop_limit(&self) -> u64 {
        self.stop_signature_limit.unsigned_abs().into()
    }
}

/// Returns the number of pages of the pending area above which an insert flushes it.
pub(crate) fn pending_pages(index: OpenIndex) -> u64 {
    // SAFETY: an open index has its row of pg_index.
    let is_of_constraint = unsafe { (*(*index.relation()).rd_index).indisexclusion };
    let kilobytes = StorageOptions::read(index).pending_limit(is_of_constraint);
    (u64::from(kilobytes) << 10).div_ceil(PAGE as u64).max(1)
}

static KIND: AtomicU32 = AtomicU32::new(0);

/// Declares the storage parameters. Called once, when the library is loaded.
pub(crate) fn define() {
    let lock = pg_sys::ShareUpdateExclusiveLock as pg_sys::LOCKMODE;
    let default = StorageOptions::DEFAULT;
    // SAFETY: C strings that outlive the calls; the server copies them.
    unsafe {
        let kind = pg_sys::add_reloption_kind();
        pg_sys::add_real_reloption(
            kind,
            c"threshold".as_ptr(),
            c"Least similarity that an index of minhash sketches or texts finds by its signatures.".as_ptr(),
            default.threshold,
            0.0001,
            1.0,
            lock,
        );
        let ints = [
            (
                c"distance",
                c"Greatest distance that an index of simhash sketches finds by its signatures.",
                default.distance,
                0,
                1023,
            ),
            (
                c"pending_limit",
                c"Size of the pending area from which on it is made a segment, in kilobytes; 4096, and 512 for an exclusion constraint.",
                default.pending_limit,
                64,
                i32::MAX,
            ),
            (
                c"stop_signature_limit",
                c"Signatures that more rows have are not searched; 0 searches all.",
                default.stop_signature_limit,
                0,
                i32::MAX,
            ),
        ];
        for (name, what, default, least, most) in ints {
            pg_sys::add_int_reloption(kind, name.as_ptr(), what.as_ptr(), default, least, most, lock);
        }
        KIND.store(kind, Ordering::Relaxed);
    }
}

/// `amoptions`
pub(crate) unsafe extern "C-unwind" fn parse(options: pg_sys::Datum, validate: bool) -> *mut pg_sys::bytea {
    use pg_sys::relopt_type::{RELOPT_TYPE_INT, RELOPT_TYPE_REAL};
    let table = [
        option_at(c"threshold", RELOPT_TYPE_REAL, offset_of!(StorageOptions, threshold)),
        option_at(c"distance", RELOPT_TYPE_INT, offset_of!(StorageOptions, distance)),
        option_at(c"pending_limit", RELOPT_TYPE_INT, offset_of!(StorageOptions, pending_limit)),
        option_at(c"stop_signature_limit", RELOPT_TYPE_INT, offset_of!(StorageOptions, stop_signature_limit)),
    ];
    let (kind, size, count) = (KIND.load(Ordering::Relaxed), size_of::<StorageOptions>(), table.len() as i32);
    // SAFETY: this is the outermost frame; the table describes the struct, whose size is given.
    unsafe {
        guard(|| {
            if validate && options.value() != 0 {
                only_known(options)?;
            }
            Ok(pg_sys::build_reloptions(options, validate, kind, size, table.as_ptr(), count).cast())
        })
    }
}

/// Refuses storage parameters with unknown names: the server names no others.
///
/// # Safety
/// An array of texts of the form `name=value`.
unsafe fn only_known(options: pg_sys::Datum) -> Result<()> {
    const KNOWN: [&str; 4] = ["threshold", "distance", "pending_limit", "stop_signature_limit"];
    // SAFETY: the caller's promise.
    for option in unsafe { elements(options, pg_sys::TEXTOID)? } {
        // SAFETY: a text; the copy lives as long as the call.
        let option = unsafe { c_string(pg_sys::text_to_cstring(option.cast_mut_ptr())) };
        let name = option.split('=').next().unwrap_or_default();
        if !KNOWN.contains(&name) {
            let meant = did_you_mean(name, KNOWN);
            return Err(SqlError::parameter(format!("unrecognized parameter \"{name}\""))
                .hint(format!("{meant}Parameters of signature indexes: {}.", KNOWN.join(", "))));
        }
    }
    Ok(())
}

/// The options of an operator class, as the server keeps them.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClassOptions {
    vl_len_: i32,
    /// The number of words of a shingle.
    pub k: i32,
    /// The number of values of a minhash sketch.
    pub permutations: i32,
    /// The seed of a minhash sketch.
    pub seed: i32,
    /// The number of bits of a simhash sketch.
    pub bits: i32,
    source: i32,
}

impl ClassOptions {
    /// Returns the options of an index.
    pub(crate) fn read(index: OpenIndex) -> Self {
        // SAFETY: an open index of one column, whose class has the options that `declare` declares,
        // so there is always a struct of options.
        unsafe {
            let all = pg_sys::RelationGetIndexAttOptions(index.relation(), false);
            (*all).cast::<Self>().read()
        }
    }

    /// Returns the source of the sketches.
    pub(crate) fn source(&self) -> u8 {
        self.source as u8
    }
}

/// A numeric option: its name, description, default, least value, greatest value, and its offset in
/// [`ClassOptions`].
type IntOption = (&'static std::ffi::CStr, &'static std::ffi::CStr, i32, i32, i32, usize);

/// Returns the numeric options of a class.
fn int_options(class: OperatorClass) -> impl Iterator<Item = IntOption> {
    let k = if class == OperatorClass::Simhash { 1 } else { 5 };
    let most = MOST_PERMUTATIONS as i32;
    let all = [
        (c"k", c"Words of a shingle.", k, 1, i32::from(u16::MAX), offset_of!(ClassOptions, k)),
        (c"permutations", c"Values of a sketch.", 128, 1, most, offset_of!(ClassOptions, permutations)),
        (c"seed", c"Seed of the sketches.", 1, i32::MIN, i32::MAX, offset_of!(ClassOptions, seed)),
        (c"bits", c"Bits of a sketch.", 64, 8, 1024, offset_of!(ClassOptions, bits)),
    ];
    all.into_iter().filter(move |(name, ..)| {
        matches!(
            (class, name.to_bytes()),
            (_, b"k")
                | (OperatorClass::Minhash, b"permutations")
                | (OperatorClass::Minhash, b"seed")
                | (OperatorClass::Simhash, b"bits")
        )
    })
}

/// The values of the option `source`, with an empty element at the end.
fn sources() -> [pg_sys::relopt_enum_elt_def; 8] {
    let element = |name: &'static std::ffi::CStr, source: SketchSource| pg_sys::relopt_enum_elt_def {
        string_val: name.as_ptr(),
        symbol_val: source as i32,
    };
    [
        element(c"bits", SketchSource::Bits),
        element(c"words", SketchSource::Words),
        element(c"chars", SketchSource::Chars),
        element(c"whitespace", SketchSource::Whitespace),
        element(c"tokens", SketchSource::Tokens),
        element(c"numbers", SketchSource::Numbers),
        element(c"lexemes", SketchSource::Lexemes),
        pg_sys::relopt_enum_elt_def::default(),
    ]
}

/// Declares the options of a class to the server. The server calls this for an index of the class.
pub(crate) fn declare(call: FunctionCall, class: OperatorClass) -> pg_sys::Datum {
    let sources = sources();
    // SAFETY: argument 0 is the server's list of options; C strings outlive the call; the server
    // keeps a reference to the list of sources, so the list is copied into memory that outlives
    // this call.
    unsafe {
        let list: *mut pg_sys::local_relopts = pgrx::fcinfo::pg_getarg_datum(call.info, 0)
            .map_or(std::ptr::null_mut(), |datum| datum.cast_mut_ptr());
        if list.is_null() {
            return pg_sys::Datum::from(0);
        }
        pg_sys::init_local_reloptions(list, size_of::<ClassOptions>());
        for (name, what, default, least, most, offset) in int_options(class) {
            pg_sys::add_local_int_reloption(
                list,
                name.as_ptr(),
                what.as_ptr(),
                default,
                least,
                most,
                offset as i32,
            );
        }
        let members: *mut pg_sys::relopt_enum_elt_def = pg_sys::palloc(size_of_val(&sources)).cast();
        members.copy_from_nonoverlapping(sources.as_ptr(), sources.len());
        pg_sys::add_local_enum_reloption(
            list,
            c"source".as_ptr(),
            c"Of what the sketches are made.".as_ptr(),
            members,
            SketchSource::Words as i32,
            c"Valid values are \"bits\", \"words\", \"chars\", \"whitespace\", \"tokens\", \"numbers\" and \"lexemes\".".as_ptr(),
            offset_of!(ClassOptions, source) as i32,
        );
    }
    pg_sys::Datum::from(0)
}

/// Fails if an index of this class, which has no use for them, has the storage parameters of
/// sketches. `what` is what the class has in place of a threshold, `example` the option for it.
pub(super) fn refuse_storage_parameters(
    index: OpenIndex,
    class: OperatorClass,
    what: &str,
    example: &str,
) -> Result<()> {
    let storage = StorageOptions::read(index);
    let name = class.name();
    if storage.threshold().is_some() {
        return Err(SqlError::parameter(format!("{name} has no storage parameter threshold")).hint(format!(
            "{what} is an option of the class: CREATE INDEX … USING signature (… {name} ({example}));"
        )));
    }
    refuse_stop_limit(index, class)
}

/// Fails if an index of this class, which loses no answers, has a limit for signatures.
pub(super) fn refuse_stop_limit(index: OpenIndex, class: OperatorClass) -> Result<()> {
    let name = class.name();
    if StorageOptions::read(index).stop_limit() > 0 {
        return Err(SqlError::parameter(format!(
            "{name} has no storage parameter stop_signature_limit: it would lose answers"
        ))
        .hint("RESET (stop_signature_limit)"));
    }
    Ok(())
}
