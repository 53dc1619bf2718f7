//! Sorts by some bits of a number, digit by digit: in O(n), where a comparison sort takes O(n log
//! n).

use crate::error::Result;
use crate::executor::{self, Stop};
use crate::memory;

const DIGIT: u32 = 8;
const DIGITS: usize = 1 << DIGIT;
/// The number of items between two checks of the stop flag. They take less than a millisecond.
const CHECK_EVERY: usize = 1 << 16;
/// So few items are sorted by insertion once most are in their place: short runs are unforeseeable.
const FEW: usize = 1 << 8;

/// Returns the number of bits of a hash, at most `bits`, that distinguish all but a few of `items`
/// items. After sorting by that many bits, only short runs are left to be sorted by comparison.
pub fn telling_bits(items: usize, bits: u32) -> u32 {
    (usize::BITS - items.leading_zeros()).next_multiple_of(DIGIT).min(bits)
}

/// Sorts by the `bits` bits of the key from bit `from` on. Items that are equal in these bits keep
/// their order. O(n · bits / 8). `other` is scratch space, which grows to the number of items. The
/// next sort may use it again.
///
/// If it is stopped, it leaves the items in some order.
pub fn sort_by_bits<T: Copy>(
    items: &mut Vec<T>,
    other: &mut Vec<T>,
    from: u32,
    bits: u32,
    stop: &Stop,
    doing: &'static str,
    key: impl Fn(&T) -> u64,
) -> Result<()> {
    let Some(&any) = items.first() else { return Ok(()) };
    let of = |item: &T| if bits == 0 { 0 } else { key(item) >> from << (u64::BITS - bits) };
    stop.check()?;
    if items.is_sorted_by_key(of) {
        return Ok(());
    }
    memory::reserve(other, items.len().saturating_sub(other.len()), doing)?;
    other.resize(items.len(), any);
    let mut shift = from;
    while shift < from + bits {
        let mask = (1 << DIGIT.min(from + bits - shift)) - 1;
        let digit = |item: &T| (key(item) >> shift & mask) as usize;
        let mut places = [0usize; DIGITS];
        for items in items.chunks(CHECK_EVERY) {
            stop.check()?;
            stop.work(items.len());
            items.iter().for_each(|item| places[digit(item)] += 1);
        }
        let mut next = 0;
        for place in &mut places {
            next += std::mem::replace(place, next);
        }
        for items in items.chunks(CHECK_EVERY) {
            stop.check()?;
            for item in items {
                let place = &mut places[digit(item)];
                other[*place] = *item;
                *place += 1;
            }
        }
        std::mem::swap(items, other);
        shift += DIGIT;
    }
    Ok(())
}

/// Sorts items that hardly have to move. O(n²) at worst.
fn insert_each<T: Copy>(items: &mut [T], compare: &impl Fn(&T, &T) -> std::cmp::Ordering) {
    for n in 1..items.len() {
        let (item, mut at) = (items[n], n);
        while at > 0 && compare(&item, &items[at - 1]).is_lt() {
            items[at] = items[at - 1];
            at -= 1;
        }
        items[at] = item;
    }
}

/// Sorts by the key, and by `compare` among equal keys. It first sorts by the upper bits of the
/// key, by enough of them to distinguish most items if the key is a hash. Then it sorts each run of
/// items that are equal in these bits by comparison. `other` is scratch space, which grows to the
/// number of items. O(n) for hashes, O(n log n) at worst.
///
/// If it is stopped, it leaves the items in some order.
pub fn sort_by_hash<T: Copy>(
    items: &mut Vec<T>,
    other: &mut Vec<T>,
    stop: &Stop,
    doing: &'static str,
    key: impl Fn(&T) -> u64,
    compare: &impl Fn(&T, &T) -> std::cmp::Ordering,
) -> Result<()> {
    let bits = telling_bits(items.len(), u64::BITS);
    let shift = u64::BITS - bits;
    sort_by_bits(items, other, shift, bits, stop, doing, &key)?;
    if items.len() <= FEW {
        insert_each(items, compare);
        return Ok(());
    }
    let mut checked = 0;
    for run in items.chunk_by_mut(|a, b| key(a) >> shift == key(b) >> shift) {
        checked += run.len();
        if checked >= CHECK_EVERY {
            stop.check()?;
            checked = 0;
        }
        if run.len() > 1 {
            executor::sort_unstable_by(run, stop, compare)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_a_stable_sort_by_these_bits(
            keys in prop::collection::vec(prop_oneof![any::<u64>(), 0..4u64, (0..4u64).prop_map(|n| n << 60)], 0..600),
            from in 0..64u32,
            bits in 0..=64u32,
        ) {
            let bits = bits.min(64 - from);
            let of = |key: u64| if bits == 0 { 0 } else { key >> from << (64 - bits) };
            let mut items: Vec<(u64, usize)> = keys.iter().copied().zip(0..).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|&(key, _)| of(key));
            sort_by_bits(&mut items, &mut Vec::new(), from, bits, &Stop::default(), "", |item| item.0).unwrap();
            prop_assert_eq!(&items, &expected);
            expected.sort_unstable();
            sort_by_hash(&mut items, &mut Vec::new(), &Stop::default(), "", |item| item.0, &Ord::cmp).unwrap();
            prop_assert_eq!(&items, &expected);
        }
    }

    #[test]
    fn sorts_many_and_stops() {
        let mut items: Vec<u64> = (0..300_000).map(|n| mix(n % 70_000) >> (n % 2 * 40)).collect();
        let mut expected = items.clone();
        expected.sort_unstable();
        sort_by_hash(&mut items, &mut Vec::new(), &Stop::default(), "", |&item| item, &Ord::cmp).unwrap();
        assert_eq!(items, expected);
        let stop = Stop::default();
        stop.request();
        let stopped = sort_by_hash(&mut items, &mut Vec::new(), &stop, "", |&item| item, &Ord::cmp);
        assert_eq!(stopped, Err(crate::error::Error::Stopped));
        assert_eq!(telling_bits(0, 64), 0);
        assert_eq!((telling_bits(1_000_000, 64), telling_bits(1_000_000, 16)), (24, 16));
    }
}
