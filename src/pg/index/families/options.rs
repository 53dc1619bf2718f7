//! The storage parameters of an index.

use std::ffi::{CStr, c_char};
use std::mem::offset_of;
use std::sync::atomic::{AtomicU32, Ordering};

use pgrx::pg_sys;

use super::class::OperatorClass;
use crate::pg::compat::option_at;
use crate::pg::index::layout::format::PAGE;
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::query::decode::elements;
use crate::pg::request::example::did_you_mean;
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::guard::guard;

/// An option of an index or of an operator class, as it is declared to the server.
pub(super) struct IndexOption {
    /// The name.
    pub name: &'static CStr,
    /// What the option is.
    pub what: &'static CStr,
    /// The values.
    pub values: Values,
    /// Where the server puts the value.
    pub offset: usize,
}

/// The values of an option.
pub(super) enum Values {
    /// Integers: the default, the least one and the greatest one.
    Int([i32; 3]),
    /// Numbers, in the same way.
    Real([f64; 3]),
    /// NamedValues of numbers.
    Named(NamedValues),
    /// A string, with what fails if it is none of the values.
    Text(unsafe extern "C-unwind" fn(*const c_char)),
}

/// The values of an option that are named.
pub(super) struct NamedValues {
    /// The names with their numbers.
    pub names: Vec<(&'static str, i32)>,
    /// How many of the names the server says to be valid.
    pub shown: usize,
    /// The default.
    pub usual: i32,
}

impl NamedValues {
    /// Returns what the server says of another name.
    pub(super) fn describe(&self) -> String {
        let names: Vec<String> =
            self.names[..self.shown].iter().map(|(name, _)| format!("\"{name}\"")).collect();
        let (last, others) = names.split_last().expect("an option has values");
        format!("Valid values are {} and {last}.", others.join(", "))
    }
}

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

/// Returns the storage parameters.
fn parameters() -> [IndexOption; 4] {
    let default = StorageOptions::DEFAULT;
    [
        IndexOption {
            name: c"threshold",
            what: c"Least similarity that an index of minhash sketches or texts finds by its signatures.",
            values: Values::Real([default.threshold, 0.0001, 1.0]),
            offset: offset_of!(StorageOptions, threshold),
        },
        IndexOption {
            name: c"distance",
            what: c"Greatest distance that an index of simhash sketches finds by its signatures.",
            values: Values::Int([default.distance, 0, 1023]),
            offset: offset_of!(StorageOptions, distance),
        },
        IndexOption {
            name: c"pending_limit",
            what: c"Size of the pending area from which on it is made a segment, in kilobytes; 4096, and 512 for an exclusion constraint.",
            values: Values::Int([default.pending_limit, 64, i32::MAX]),
            offset: offset_of!(StorageOptions, pending_limit),
        },
        IndexOption {
            name: c"stop_signature_limit",
            what: c"Signatures that more rows have are not searched; 0 searches all.",
            values: Values::Int([default.stop_signature_limit, 0, i32::MAX]),
            offset: offset_of!(StorageOptions, stop_signature_limit),
        },
    ]
}

static KIND: AtomicU32 = AtomicU32::new(0);

/// Declares the storage parameters. Called once, when the library is loaded.
pub(crate) fn define() {
    let lock = pg_sys::ShareUpdateExclusiveLock as pg_sys::LOCKMODE;
    // SAFETY: C strings that outlive the calls; the server copies them.
    unsafe {
        let kind = pg_sys::add_reloption_kind();
        for IndexOption { name, what, values, .. } in parameters() {
            let (name, what) = (name.as_ptr(), what.as_ptr());
            match values {
                Values::Int([usual, least, most]) => {
                    pg_sys::add_int_reloption(kind, name, what, usual, least, most, lock);
                }
                Values::Real([usual, least, most]) => {
                    pg_sys::add_real_reloption(kind, name, what, usual, least, most, lock);
                }
                Values::Named(_) | Values::Text(_) => {}
            }
        }
        KIND.store(kind, Ordering::Relaxed);
    }
}

/// `amoptions`
pub(crate) unsafe extern "C-unwind" fn parse(options: pg_sys::Datum, validate: bool) -> *mut pg_sys::bytea {
    use pg_sys::relopt_type::{RELOPT_TYPE_INT, RELOPT_TYPE_REAL};
    let parameters = parameters();
    let table = parameters.each_ref().map(|parameter| {
        let is_real = matches!(parameter.values, Values::Real(_));
        let kind = if is_real { RELOPT_TYPE_REAL } else { RELOPT_TYPE_INT };
        option_at(parameter.name, kind, parameter.offset)
    });
    let (kind, size, count) = (KIND.load(Ordering::Relaxed), size_of::<StorageOptions>(), table.len() as i32);
    // SAFETY: this is the outermost frame; the table describes the struct, whose size is given.
    unsafe {
        guard(|| {
            if validate && options.value() != 0 {
                only_known(options, parameters.map(|parameter| parameter.name.to_str().unwrap_or_default()))?;
            }
            Ok(pg_sys::build_reloptions(options, validate, kind, size, table.as_ptr(), count).cast())
        })
    }
}

/// Refuses storage parameters with names other than the known ones: the server names no others.
///
/// # Safety
/// An array of texts of the form `name=value`.
unsafe fn only_known(options: pg_sys::Datum, known: [&str; 4]) -> Result<()> {
    // SAFETY: the caller's promise.
    for option in unsafe { elements(options, pg_sys::TEXTOID)? } {
        // SAFETY: a text; the copy lives as long as the call.
        let option = unsafe { c_string(pg_sys::text_to_cstring(option.cast_mut_ptr())) };
        let name = option.split('=').next().unwrap_or_default();
        if !known.contains(&name) {
            let meant = did_you_mean(name, known);
            return Err(SqlError::parameter(format!("unrecognized parameter \"{name}\""))
                .hint(format!("{meant}Parameters of signature indexes: {}.", known.join(", "))));
        }
    }
    Ok(())
}

/// Fails if an index of this class, which has no use for them, has the storage parameters of
/// sketches. `hint` is what to do in place of giving a threshold.
pub(super) fn refuse_storage_parameters(
    index: OpenIndex,
    class: OperatorClass,
    hint: impl FnOnce(&StorageOptions) -> String,
) -> Result<()> {
    let (storage, name) = (StorageOptions::read(index), class.name());
    if storage.threshold().is_some() {
        return Err(
            SqlError::parameter(format!("{name} has no storage parameter threshold")).hint(hint(&storage))
        );
    }
    if storage.stop_limit() > 0 {
        return Err(SqlError::parameter(format!(
            "{name} has no storage parameter stop_signature_limit: it would lose answers"
        ))
        .hint("RESET (stop_signature_limit)"));
    }
    Ok(())
}
