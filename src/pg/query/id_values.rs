//! Copied ids of any type, and their order.

use pgrx::check_for_interrupts;
use pgrx::pg_sys::{self, Datum};

use super::names::value_as_text;
use crate::pg::server::error::Result;
use neardup_core::hash;
use neardup_core::memory;

const DOING: &str = "keeping ids";

/// Copied ids of any type.
#[derive(Debug)]
pub(crate) struct IdValues {
    /// The type of the ids.
    pub type_oid: pg_sys::Oid,
    /// The server's cache entry for the type, with its comparison function. The entry lives as long
    /// as the session.
    cache: *mut pg_sys::TypeCacheEntry,
    /// The collation of comparisons.
    collation: pg_sys::Oid,
    /// The values themselves if the type is passed by value, and otherwise their places in `arena`.
    places: Vec<usize>,
    /// Consists of words, so that every value has the alignment that any type may need.
    arena: Vec<u64>,
    /// The place of each row in the order of ids.
    pub rank: Vec<u32>,
}

/// Returns the server's cache entry for a type, with the comparison function of the type, if any.
pub(super) fn cache(type_oid: pg_sys::Oid) -> *mut pg_sys::TypeCacheEntry {
    // SAFETY: any type may be looked up; the entry is never freed.
    unsafe { pg_sys::lookup_type_cache(type_oid, pg_sys::TYPECACHE_CMP_PROC_FINFO as i32) }
}

impl IdValues {
    /// Makes an empty store for ids of the type `type_oid`, which must have an order.
    pub(crate) fn new(type_oid: pg_sys::Oid) -> Self {
        // SAFETY: the entry lives as long as the session.
        Self::with_collation(type_oid, unsafe { (*cache(type_oid)).typcollation })
    }

    /// Makes an empty store for values that are compared by a collation, which is not that of their
    /// type.
    pub(crate) fn with_collation(type_oid: pg_sys::Oid, collation: pg_sys::Oid) -> Self {
        let cache = cache(type_oid);
        Self { type_oid, cache, collation, places: Vec::new(), arena: Vec::new(), rank: Vec::new() }
    }

    /// Returns the number of ids.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the number of bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        memory::bytes(&self.places) + memory::bytes(&self.arena) + memory::bytes(&self.rank)
    }

    /// Copies an id.
    ///
    /// # Safety
    /// The datum is of the ids' type.
    pub(crate) unsafe fn push(&mut self, id: Datum) -> Result<()> {
        if self.by_value() {
            memory::push(&mut self.places, id.value(), DOING)?;
            return Ok(());
        }
        memory::push(&mut self.places, self.arena.len(), DOING)?;
        // SAFETY: the caller's promise.
        unsafe { append(self.cache, id, &mut self.arena) }
    }

    fn by_value(&self) -> bool {
        // SAFETY: the entry lives as long as the session.
        unsafe { (*self.cache).typbyval }
    }

    /// Returns the value of a row, valid as long as `self` lives.
    pub(crate) fn datum(&self, row: usize) -> Datum {
        let place = self.places[row];
        if self.by_value() { Datum::from(place) } else { Datum::from(&raw const self.arena[place]) }
    }

    /// Returns a hash of the bytes of the value of a row.
    pub(crate) fn hash(&self, row: usize) -> u64 {
        let place = self.places[row];
        if self.by_value() {
            return hash::mix(place as u64);
        }
        let end = self.places.get(row + 1).copied().unwrap_or(self.arena.len());
        self.arena[place..end].iter().fold(0, |hash, &word| hash::mix(hash ^ word))
    }

    /// Returns the value of a row as text.
    pub(crate) fn show(&self, row: usize) -> String {
        // SAFETY: the type of the values.
        unsafe { value_as_text(self.type_oid, self.datum(row)) }.unwrap_or_else(|error| error.raise())
    }

    /// Compares two ids of this type.
    pub(crate) fn compare(&self, a: Datum, b: Datum) -> std::cmp::Ordering {
        // SAFETY: both values have the type to which this comparison function belongs; the function
        // frees nothing of ours.
        unsafe {
            let function = &raw mut (*self.cache).cmp_proc_finfo;
            let order = pg_sys::FunctionCall2Coll(function, self.collation, a, b);
            (order.value() as i32).cmp(&0)
        }
    }

    /// Ranks the rows by their ids. If two rows have the same id, returns one of these rows.
    pub(crate) fn sort(&mut self) -> Result<Option<u32>> {
        let compare = |a: u32, b: u32| self.compare(self.datum(a as usize), self.datum(b as usize));
        let count = self.places.len();
        let mut order = memory::collect(0..count as u32, DOING)?;
        let mut compared = 0u64;
        // Comparisons may leave memory in the current context, so they run in a separate one.
        let mut context = pgrx::PgMemoryContexts::new("neardup: comparing ids");
        // SAFETY: nothing allocated inside is used afterwards.
        unsafe {
            context.switch_to(|context| {
                order.sort_unstable_by(|&a, &b| {
                    compared += 1;
                    if compared.is_multiple_of(1 << 12) {
                        check_for_interrupts!();
                        context.reset();
                    }
                    compare(a, b)
                });
            });
        }
        let double = order.windows(2).find(|pair| compare(pair[0], pair[1]).is_eq()).map(|pair| pair[0]);
        let mut rank = memory::filled(0u32, count, DOING)?;
        order.iter().zip(0..).for_each(|(&row, place)| rank[row as usize] = place);
        self.rank = rank;
        Ok(double)
    }
}

/// Appends the bytes of a value that is passed by reference. They are stored in words, so the value
/// has the alignment that any type may need.
///
/// # Safety
/// `cache` is the entry of the datum's type.
unsafe fn append(cache: *mut pg_sys::TypeCacheEntry, id: Datum, words: &mut Vec<u64>) -> Result<()> {
    // SAFETY: the entry lives as long as the session; a datum by reference is a varlena (-1), a C
    // string (-2), or has a fixed length.
    let bytes: &[u8] = unsafe {
        match (*cache).typlen {
            -1 => {
                let plain = pg_sys::pg_detoast_datum(id.cast_mut_ptr());
                std::slice::from_raw_parts(plain.cast(), pgrx::varsize_any(plain))
            }
            -2 => std::ffi::CStr::from_ptr(id.cast_mut_ptr()).to_bytes_with_nul(),
            fixed => std::slice::from_raw_parts(id.cast_mut_ptr(), fixed as usize),
        }
    };
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    };
    Ok(memory::append(words, bytes.chunks(8).map(word), DOING)?)
}
