//! Storage parameters of the index and options of its operator classes.

use std::mem::offset_of;
use std::sync::atomic::{AtomicU32, Ordering};

use pgrx::pg_sys;

use super::buffer::Index;
use super::merge::pages_of;

/// WITH (…), as the server keeps it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Options {
    vl_len_: i32,
    pending_limit: i32,
    distance: i32,
    stop_signature_limit: i32,
    threshold: f64,
}

impl Options {
    const DEFAULT: Self =
        Self { vl_len_: 0, pending_limit: 4096, distance: 3, stop_signature_limit: 0, threshold: 0.8 };

    /// Those of an index.
    pub fn of(index: Index) -> Self {
        // SAFETY: an open relation; its options, if it has any, are what `parse` made.
        unsafe {
            let options: *const Self = (*index.relation()).rd_options.cast();
            if options.is_null() { Self::DEFAULT } else { options.read() }
        }
    }

    /// The least similarity that the bands of a minhash index find.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// The greatest distance that the blocks of a simhash index find.
    pub fn distance(&self) -> u32 {
        self.distance.unsigned_abs()
    }

    /// Signatures of more rows are not searched; 0: all are.
    pub fn stop_limit(&self) -> u64 {
        self.stop_signature_limit.unsigned_abs().into()
    }
}

/// Pages of the pending area from which on an insert flushes it.
pub fn pending_pages(index: Index) -> u64 {
    pages_of(Options::of(index).pending_limit)
}

static KIND: AtomicU32 = AtomicU32::new(0);

/// Declares the storage parameters. Once, when the library is loaded.
pub fn define() {
    let lock = pg_sys::ShareUpdateExclusiveLock as pg_sys::LOCKMODE;
    let default = Options::DEFAULT;
    // SAFETY: C strings that outlive the calls; the server copies them.
    unsafe {
        let kind = pg_sys::add_reloption_kind();
        pg_sys::add_real_reloption(
            kind,
            c"threshold".as_ptr(),
            c"Least similarity that an index of minhash sketches or texts finds by its signatures.".as_ptr(),
            default.threshold,
            0.01,
            1.0,
            lock,
        );
        let ints = [
            (c"distance", c"Greatest distance that an index of simhash sketches finds by its signatures.", default.distance, 0, 1023),
            (c"pending_limit", c"Size of the pending area from which on it is made a segment, in kilobytes.", default.pending_limit, 64, i32::MAX),
            (c"stop_signature_limit", c"Signatures that more rows have are not searched; 0 searches all.", default.stop_signature_limit, 0, i32::MAX),
        ];
        for (name, what, default, least, most) in ints {
            pg_sys::add_int_reloption(kind, name.as_ptr(), what.as_ptr(), default, least, most, lock);
        }
        KIND.store(kind, Ordering::Relaxed);
    }
}

/// `amoptions`
#[pgrx::pg_guard]
pub unsafe extern "C-unwind" fn parse(options: pg_sys::Datum, validate: bool) -> *mut pg_sys::bytea {
    use pg_sys::relopt_type::{RELOPT_TYPE_INT, RELOPT_TYPE_REAL};
    let entry = |name: &'static std::ffi::CStr, opttype, offset: usize| pg_sys::relopt_parse_elt {
        optname: name.as_ptr(),
        opttype,
        offset: offset as i32,
    };
    let table = [
        entry(c"threshold", RELOPT_TYPE_REAL, offset_of!(Options, threshold)),
        entry(c"distance", RELOPT_TYPE_INT, offset_of!(Options, distance)),
        entry(c"pending_limit", RELOPT_TYPE_INT, offset_of!(Options, pending_limit)),
        entry(c"stop_signature_limit", RELOPT_TYPE_INT, offset_of!(Options, stop_signature_limit)),
    ];
    // SAFETY: the table describes the struct, whose size is given.
    unsafe {
        let kind = KIND.load(Ordering::Relaxed);
        let size = size_of::<Options>();
        pg_sys::build_reloptions(options, validate, kind, size, table.as_ptr(), table.len() as i32).cast()
    }
}
