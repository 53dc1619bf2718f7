//! Grows data-sized vectors without aborting: if the allocator refuses memory, the caller gets an
//! [`Error`]. So it does where the call may not hold as much ([`allowance`]).
//!
//! Requests that cannot fail, such as the small ones of the standard library, may be served from a
//! reserve of the allocator (src/pg/server/allocator.rs). From then on memory is *short*, and every
//! request that can fail does fail. Otherwise data that comes in many small pieces would use up the
//! reserve, and the next request that cannot fail would abort. So a request that may be larger than
//! the reserve has to be one that can fail: it is made by this module, which tells the allocator so
//! ([`request`]).

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::hash::{BuildHasher, Hash};
use std::sync::atomic::{AtomicBool, Ordering};

use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_vec;

use crate::allowance;
use crate::error::{Error, Result};

static SHORT: AtomicBool = AtomicBool::new(false);

/// Sets whether memory is short. The allocator calls this.
pub fn set_short(short: bool) {
    SHORT.store(short, Ordering::Relaxed);
}

/// Fails while memory is short, or more of it is held than calls may hold. It costs two loads. It
/// is for work in small steps, none of which fails by itself.
#[inline]
pub fn suffices(doing: &'static str) -> Result<()> {
    if SHORT.load(Ordering::Relaxed) { Err(Error::OutOfMemory { doing }) } else { allowance::is_kept(doing) }
}

thread_local! {
    static REQUEST: Cell<MemoryRequest> = const { Cell::new(MemoryRequest::Infallible) };
}

/// What happens if a request for memory is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryRequest {
    /// The process ends. So it has to be smaller than the reserve.
    Infallible,
    /// The caller gets an error.
    Fallible,
    /// The process ends, but there is room for the request: it was looked for before.
    Assured,
}

/// Makes a request for memory that can fail: one of the methods `try_…` of a collection.
pub fn attempt<T, E>(doing: &'static str, request: impl FnOnce() -> std::result::Result<T, E>) -> Result<T> {
    let before = REQUEST.replace(MemoryRequest::Fallible);
    let got = request();
    REQUEST.set(before);
    got.map_err(|_| Error::OutOfMemory { doing })
}

/// Makes sure that there is room for `bytes` bytes, and does work that takes at most as much in
/// requests that cannot fail, such as those of a parser of another crate. No other thread of the
/// call may take memory meanwhile.
pub fn with_room<T>(bytes: usize, doing: &'static str, work: impl FnOnce() -> T) -> Result<T> {
    let mut room: Vec<u8> = Vec::new();
    reserve(&mut room, bytes, doing)?;
    drop(room);
    let before = REQUEST.replace(MemoryRequest::Assured);
    let done = work();
    REQUEST.set(before);
    Ok(done)
}

/// Returns what happens if the request that this thread is making is refused. The allocator asks
/// this.
pub fn request() -> MemoryRequest {
    REQUEST.get()
}

/// Appends `item`; the vector grows when it is full ([`reserve`]). O(1) amortised.
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

/// Appends all of `items`. If their number is known, room for all of them is made first.
#[inline]
pub fn append<T>(vec: &mut Vec<T>, items: impl IntoIterator<Item = T>, doing: &'static str) -> Result<()> {
    let mut items = items.into_iter();
    let (least, most) = items.size_hint();
    reserve(vec, least, doing)?;
    if most == Some(least) {
        vec.extend(items);
        return Ok(());
    }
    items.try_for_each(|item| push(vec, item, doing))
}

/// Replaces what the vector has by `items`.
#[inline]
pub fn refill<T>(vec: &mut Vec<T>, items: impl IntoIterator<Item = T>, doing: &'static str) -> Result<()> {
    vec.clear();
    append(vec, items, doing)
}

/// Appends `more` copies of `value`.
#[inline]
pub fn fill<T: Clone>(vec: &mut Vec<T>, value: T, more: usize, doing: &'static str) -> Result<()> {
    reserve(vec, more, doing)?;
    vec.resize(vec.len() + more, value);
    Ok(())
}

/// Appends copies of `value` until there are `len` items, unless there are as many.
#[inline]
pub fn lengthen<T: Clone>(vec: &mut Vec<T>, value: T, len: usize, doing: &'static str) -> Result<()> {
    if vec.len() < len { fill(vec, value, len - vec.len(), doing) } else { Ok(()) }
}

/// Makes room for `more` further items. The capacity of a small vector doubles. A large vector
/// grows by an eighth, because the system moves its pages instead of copying them.
#[inline]
pub fn reserve<T>(vec: &mut Vec<T>, more: usize, doing: &'static str) -> Result<()> {
    suffices(doing)?;
    if vec.capacity() - vec.len() >= more {
        return Ok(());
    }
    grow(vec, more, doing)
}

/// The size of a large vector, in bytes.
const MANY: usize = 16 << 20;

#[cold]
fn grow<T>(vec: &mut Vec<T>, more: usize, doing: &'static str) -> Result<()> {
    if bytes(vec) < MANY {
        allowance::has_room(more.saturating_mul(size_of::<T>()), doing)?;
        return attempt(doing, || vec.try_reserve(more));
    }
    let eighth = more.max(vec.capacity() / 8);
    let mut exactly = |more: usize| {
        allowance::has_room(more.saturating_mul(size_of::<T>()), doing)?;
        attempt(doing, || vec.try_reserve_exact(more))
    };
    exactly(eighth).or_else(|_| exactly(more))
}

/// Removes all items. The vector keeps its space, unless the items took only a small part of it:
/// then the excess is freed.
pub fn clear<T>(vec: &mut Vec<T>) {
    const FAR_MORE: usize = 4;
    let used = vec.len();
    vec.clear();
    if vec.capacity() / FAR_MORE > used {
        vec.shrink_to(2 * used);
    }
}

/// Makes room for `more` further bytes of a text, which grows like a vector.
#[inline]
pub fn reserve_text(text: &mut String, more: usize, doing: &'static str) -> Result<()> {
    suffices(doing)?;
    if text.capacity() - text.len() >= more {
        return Ok(());
    }
    grow_text(text, more, doing)
}

#[cold]
fn grow_text(text: &mut String, more: usize, doing: &'static str) -> Result<()> {
    allowance::has_room(more, doing)?;
    if text.capacity() < MANY {
        return attempt(doing, || text.try_reserve(more));
    }
    let eighth = more.max(text.capacity() / 8);
    allowance::has_room(eighth, doing)
        .and_then(|()| attempt(doing, || text.try_reserve_exact(eighth)))
        .or_else(|_| attempt(doing, || text.try_reserve_exact(more)))
}

/// A text that grows without aborting when something is written to it (`write!`). When it has been
/// refused memory, nothing more is written, and [`finish`](Self::finish) fails.
#[derive(Debug)]
pub struct Written {
    text: String,
    refused: Option<Error>,
    doing: &'static str,
}

impl Written {
    /// Makes an empty text. `doing` is its purpose.
    pub fn new(doing: &'static str) -> Self {
        Self { text: String::new(), refused: None, doing }
    }

    /// Appends a text.
    pub fn push_str(&mut self, more: &str) {
        if self.refused.is_some() {
            return;
        }
        match reserve_text(&mut self.text, more.len(), self.doing) {
            Ok(()) => self.text.push_str(more),
            Err(error) => self.refused = Some(error),
        }
    }

    /// Appends something that is written. What it writes does not fail.
    pub fn push(&mut self, what: fmt::Arguments<'_>) {
        let _ = self.write_fmt(what);
    }

    /// Returns the whole text, unless it was refused memory.
    pub fn finish(self) -> Result<String> {
        self.refused.map_or(Ok(self.text), Err)
    }
}

impl fmt::Write for Written {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        self.push_str(more);
        // What is left is not even formatted.
        if self.refused.is_some() { Err(fmt::Error) } else { Ok(()) }
    }
}

/// Returns a copy of a text.
pub fn copied(text: &str, doing: &'static str) -> Result<String> {
    let mut copy = String::new();
    suffices(doing)?;
    allowance::has_room(text.len(), doing)?;
    attempt(doing, || copy.try_reserve_exact(text.len()))?;
    copy.push_str(text);
    Ok(copy)
}

/// Returns a text that the caller owns: a copy, if it is borrowed.
pub fn owned(text: Cow<'_, str>, doing: &'static str) -> Result<String> {
    match text {
        Cow::Owned(text) => Ok(text),
        Cow::Borrowed(text) => copied(text, doing),
    }
}

/// Collects items. Their number may be unknown.
pub fn collect<T>(items: impl IntoIterator<Item = T>, doing: &'static str) -> Result<Vec<T>> {
    let mut collected = Vec::new();
    append(&mut collected, items, doing)?;
    Ok(collected)
}

/// Adds a value to a hash table, and returns the one that its key had before.
#[inline]
pub fn insert<K: Eq + Hash, V, S: BuildHasher>(
    map: &mut HashMap<K, V, S>,
    key: K,
    value: V,
    doing: &'static str,
) -> Result<Option<V>> {
    suffices(doing)?;
    attempt(doing, || map.try_reserve(1))?;
    Ok(map.insert(key, value))
}

/// Returns a vector of `len` copies of `value`.
pub fn filled<T: Clone>(value: T, len: usize, doing: &'static str) -> Result<Vec<T>> {
    let mut vec = Vec::new();
    suffices(doing)?;
    allowance::has_room(len.saturating_mul(size_of::<T>()), doing)?;
    attempt(doing, || vec.try_reserve_exact(len))?;
    vec.resize(len, value);
    Ok(vec)
}

/// Returns a vector of `len` zeroed items. The system supplies zeroed pages, so that a large vector
/// is not written before it is used.
pub fn zeroed<T: Zeroable>(len: usize, doing: &'static str) -> Result<Vec<T>> {
    suffices(doing)?;
    allowance::has_room(len.saturating_mul(size_of::<T>()), doing)?;
    attempt(doing, || try_zeroed_vec(len))
}

/// Returns the number of bytes that a vector holds on the heap.
pub fn bytes<T>(vec: &Vec<T>) -> usize {
    vec.capacity() * size_of::<T>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_double_and_many_grow_by_an_eighth() {
        let (mut items, mut grown) = (Vec::new(), Vec::new());
        for n in 0..12u64 << 20 {
            if items.len() == items.capacity() {
                grown.push(items.len());
            }
            push(&mut items, n, "testing").unwrap();
        }
        let (few, many): (Vec<usize>, Vec<usize>) = grown.iter().partition(|&&len| len * 8 < 16 << 20);
        assert!(few[2..].windows(2).all(|lens| lens[1] == 2 * lens[0]), "{few:?}");
        assert!(many.windows(2).all(|lens| lens[1] == lens[0] + lens[0] / 8), "{many:?}");
        assert!(items.capacity() < items.len() / 8 * 9 && items.iter().copied().eq(0..12 << 20));
        reserve(&mut items, 5 << 20, "testing").unwrap();
        assert!(items.capacity() >= 17 << 20);
        assert_eq!(
            reserve(&mut items, usize::MAX / 16, "testing"),
            Err(Error::OutOfMemory { doing: "testing" })
        );
    }

    #[test]
    fn what_is_cleared_keeps_room_for_as_many() {
        let mut items = filled(1u32, 1000, "testing").unwrap();
        clear(&mut items);
        assert!(items.is_empty() && items.capacity() == 1000);
        items.extend(0..100);
        clear(&mut items);
        assert!((200..1000).contains(&items.capacity()));
    }
}
