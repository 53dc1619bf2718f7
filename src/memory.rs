//! Growing data-sized vectors without aborting: a refusal of the allocator is an [`Error`].

use crate::error::{Error, Result};

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
    vec.try_reserve(more).map_err(|_| Error::OutOfMemory { doing })
}

/// Makes room for `more` further bytes of a text.
#[inline]
pub fn reserve_text(text: &mut String, more: usize, doing: &'static str) -> Result<()> {
    text.try_reserve(more).map_err(|_| Error::OutOfMemory { doing })
}

/// A vector of `len` copies of `value`.
pub fn filled<T: Clone>(value: T, len: usize, doing: &'static str) -> Result<Vec<T>> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(len).map_err(|_| Error::OutOfMemory { doing })?;
    vec.resize(len, value);
    Ok(vec)
}

/// Bytes a vector holds on the heap.
pub fn bytes<T>(vec: &Vec<T>) -> usize {
    vec.capacity() * size_of::<T>()
}
