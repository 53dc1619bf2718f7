//! Growing data-sized vectors without aborting: a refusal of the allocator is an [`Error`].
//!
//! Requests that cannot fail, the small ones of the standard library and others, may be served from what the allocator
//! keeps back (src/pg/server/allocator.rs). From then on memory is *short*, and whatever can fail does: data that comes
//! in many small pieces would otherwise use up what is kept back, and the next request that cannot fail would abort.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

static SHORT: AtomicBool = AtomicBool::new(false);

/// Says whether memory is short. For the allocator.
pub fn set_short(short: bool) {
    SHORT.store(short, Ordering::Relaxed);
}

/// An error while memory is short. One load, for work that goes on in small steps: none of them fails by itself.
#[inline]
pub fn suffices(doing: &'static str) -> Result<()> {
    if SHORT.load(Ordering::Relaxed) { Err(Error::OutOfMemory { doing }) } else { Ok(()) }
}

/// Appends `item`; the vector doubles when it is full. O(1) amortised.
#[inline]
pub fn push<T>(vec: &mut Vec<T>, item: T, doing: &'static str) -> Result<()> {
    if vec.len() == vec.capacity() {
        reserve(vec, 1, doing)?;
    }
    vec.push(item);
    Ok(())
}

/// Appends all of `items`.
#[inline]
pub fn extend<T: Copy>(vec: &mut Vec<T>, items: &[T], doing: &'static str) -> Result<()> {
    reserve(vec, items.len(), doing)?;
    vec.extend_from_slice(items);
    Ok(())
}

/// Makes room for `more` further items.
#[inline]
pub fn reserve<T>(vec: &mut Vec<T>, more: usize, doing: &'static str) -> Result<()> {
    suffices(doing)?;
    vec.try_reserve(more).map_err(|_| Error::OutOfMemory { doing })
}

/// Makes room for `more` further bytes of a text.
#[inline]
pub fn reserve_text(text: &mut String, more: usize, doing: &'static str) -> Result<()> {
    suffices(doing)?;
    text.try_reserve(more).map_err(|_| Error::OutOfMemory { doing })
}

/// A vector of `len` copies of `value`.
pub fn filled<T: Clone>(value: T, len: usize, doing: &'static str) -> Result<Vec<T>> {
    let mut vec = Vec::new();
    suffices(doing)?;
    vec.try_reserve_exact(len).map_err(|_| Error::OutOfMemory { doing })?;
    vec.resize(len, value);
    Ok(vec)
}

/// Bytes a vector holds on the heap.
pub fn bytes<T>(vec: &Vec<T>) -> usize {
    vec.capacity() * size_of::<T>()
}
