//! Unpacks pglz, the server's packing of long values. Any thread may unpack a value, and can be
//! stopped while it does so.
//!
//! The format is defined by `src/common/pg_lzcompress.c` and is the same in tables of every
//! version. The server's own function is not called: in many releases it reads up to two bytes
//! after its input, and it never checks whether it is to stop.

use crate::error::Result;
use crate::executor::Stop;

/// How far a value is unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unpacking {
    /// The number of packed bytes that were read.
    pub taken: usize,
    /// The number of unpacked bytes.
    pub at: usize,
}

/// Fills `bytes` with the unpacked content of `packed`. Returns false if the content is not as long
/// as `bytes` or `packed` is not valid pglz. O(bytes).
#[cfg(test)]
pub fn unpack(packed: &[u8], bytes: &mut [u8], stop: &Stop) -> Result<bool> {
    unpack_until(packed, &mut Unpacking::default(), bytes, bytes.len(), stop)
}

/// Goes on from `progress` until `until` bytes are unpacked, or somewhat more. The bytes after
/// these are changed. Returns false as soon as it is known that the content is not as long as
/// `bytes`, or that `packed` is not valid pglz.
pub fn unpack_until(
    all: &[u8],
    progress: &mut Unpacking,
    bytes: &mut [u8],
    until: usize,
    stop: &Stop,
) -> Result<bool> {
    const CHECK_EVERY: usize = 1 << 16;
    let Unpacking { taken, mut at } = *progress;
    let (mut packed, mut check_at) = (all.get(taken..).unwrap_or_default(), at);
    let until = until.min(bytes.len());
    while at < until
        && let Some((&control, rest)) = packed.split_first()
    {
        packed = rest;
        if at >= check_at {
            stop.check()?;
            check_at = at + CHECK_EVERY;
        }
        // The control byte has a bit for each of eight items: an item is a literal byte or a place
        // to copy from. A processor cannot predict the order of the items, so all literal bytes
        // before the next place are taken at once.
        let (mut items, mut control) = (8, control);
        while items > 0 && at < bytes.len() && !packed.is_empty() {
            let mut run = items.min(control.trailing_zeros());
            (items, control) = (items - run, control.unbounded_shr(run));
            if let (Some(from), Some(to)) = (packed.first_chunk::<8>(), bytes[at..].first_chunk_mut::<8>()) {
                // Excess bytes are overwritten by the next items.
                *to = *from;
            } else {
                run = run.min(packed.len() as u32).min((bytes.len() - at) as u32);
                bytes[at..at + run as usize].copy_from_slice(&packed[..run as usize]);
            }
            (at, packed) = (at + run as usize, &packed[run as usize..]);
            if items == 0 || at == bytes.len() || packed.is_empty() {
                break;
            }
            (items, control) = (items - 1, control >> 1);
            let Some((tag, rest)) = packed.split_first_chunk::<2>() else { return Ok(false) };
            packed = rest;
            let back = usize::from(tag[0] & 0xf0) << 4 | usize::from(tag[1]);
            let mut length = usize::from(tag[0] & 0x0f) + 3;
            if length == LONG {
                let Some((&more, rest)) = packed.split_first() else { return Ok(false) };
                (length, packed) = (length + usize::from(more), rest);
            }
            if back == 0 || back > at {
                return Ok(false);
            }
            // The server ignores the bytes of a copy that are beyond the end.
            let length = length.min(bytes.len() - at);
            repeat(bytes, at, back, length);
            at += length;
        }
    }
    *progress = Unpacking { taken: all.len() - packed.len(), at };
    // All of one means all of the other.
    Ok((at == bytes.len()) == packed.is_empty())
}

/// The length that means that another byte follows, which is added to the length.
const LONG: usize = 18;

/// Copies `length` bytes to `at` from the place `back` bytes before it. If `back` is less than
/// `length`, the bytes before `at` are repeated.
#[inline]
fn repeat(bytes: &mut [u8], at: usize, back: usize, length: usize) {
    /// The number of bytes copied by one instruction. Excess bytes are overwritten by the next
    /// items.
    const VECTOR: usize = 16;
    if length <= VECTOR && back >= VECTOR && at + VECTOR <= bytes.len() {
        let (before, after) = bytes.split_at_mut(at);
        if let (Some(from), Some(to)) = (before[at - back..].first_chunk::<VECTOR>(), after.first_chunk_mut())
        {
            *to = *from;
            return;
        }
    }
    let (mut copied, mut step) = (0, back);
    while step < length - copied {
        bytes.copy_within(at - back..at - back + step, at + copied);
        copied += step;
        step = copied + back;
    }
    bytes.copy_within(at - back..at - back + length - copied, at + copied);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use proptest::prelude::*;

    /// A literal byte, or a copy by its distance and length.
    #[derive(Debug, Clone)]
    enum Item {
        Byte(u8),
        Copy { back: usize, length: usize },
    }

    fn items() -> impl Strategy<Value = Vec<Item>> {
        let copy = (1..4096usize, 3..=273usize).prop_map(|(back, length)| Item::Copy { back, length });
        let near = (1..40usize, 3..=30usize).prop_map(|(back, length)| Item::Copy { back, length });
        prop::collection::vec(
            prop_oneof![6 => any::<u8>().prop_map(Item::Byte), 1 => copy, 3 => near],
            0..200,
        )
    }

    /// Returns the bytes that the items represent, plain and packed. Copies from before the start
    /// are left out.
    fn pack(items: &[Item]) -> (Vec<u8>, Vec<u8>) {
        let (mut bytes, mut packed, mut count, mut control) = (Vec::new(), Vec::new(), 0, 0);
        for item in items {
            let is_copy = match *item {
                Item::Byte(_) => false,
                Item::Copy { back, .. } if back > bytes.len() => continue,
                Item::Copy { .. } => true,
            };
            if count % 8 == 0 {
                control = packed.len();
                packed.push(0);
            }
            packed[control] |= u8::from(is_copy) << (count % 8);
            count += 1;
            match *item {
                Item::Byte(byte) => {
                    bytes.push(byte);
                    packed.push(byte);
                }
                Item::Copy { back, length } => {
                    let short = length.min(LONG) - 3;
                    packed.extend([((back >> 4) & 0xf0 | short) as u8, back as u8]);
                    packed.extend((length >= LONG).then(|| (length - LONG) as u8));
                    (0..length).for_each(|_| bytes.push(bytes[bytes.len() - back]));
                }
            }
        }
        (bytes, packed)
    }

    fn unpacked(packed: &[u8], len: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0xee; len];
        unpack(packed, &mut bytes, &Stop::default()).unwrap().then_some(bytes)
    }

    proptest! {
        #[test]
        fn is_what_the_items_stand_for(items in items()) {
            let (bytes, packed) = pack(&items);
            prop_assert_eq!(unpacked(&packed, bytes.len()), Some(bytes.clone()));
            // A wrong length.
            prop_assert_eq!(unpacked(&packed, bytes.len() + 1), None);
        }

        #[test]
        fn piece_by_piece_is_the_same(items in items(), step in 1..500usize) {
            let (bytes, packed) = pack(&items);
            let (mut out, mut progress) = (vec![0xee; bytes.len()], Unpacking::default());
            for until in (0..bytes.len() + step).step_by(step) {
                let valid = unpack_until(&packed, &mut progress, &mut out, until, &Stop::default()).unwrap();
                prop_assert!(valid && progress.at >= until.min(bytes.len()));
                prop_assert_eq!(&out[..progress.at], &bytes[..progress.at]);
            }
        }

        #[test]
        fn any_bytes_are_looked_at_and_no_others(packed in prop::collection::vec(any::<u8>(), 0..300), len in 0..3000usize) {
            let _ = unpacked(&packed, len);
        }

        #[test]
        fn what_is_cut_off_or_changed_is_met_or_harmless(items in items(), at: prop::sample::Index, to: u8) {
            let (bytes, mut packed) = pack(&items);
            prop_assume!(!packed.is_empty());
            let at = at.index(packed.len());
            prop_assert_eq!(unpacked(&packed[..at], bytes.len()).filter(|_| !bytes.is_empty()), None);
            packed[at] = to;
            let _ = unpacked(&packed, bytes.len());
        }
    }

    #[test]
    fn stops() {
        let stop = Stop::default();
        stop.request();
        assert_eq!(unpack(&[0, 1], &mut [0], &stop), Err(Error::Stopped));
    }
}
