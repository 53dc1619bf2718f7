//! Exact search for short strings by the grams of their characters: what an index stores of a
//! string, and which strings can be similar enough.
//!
//! An *element* is a gram together with the number of its occurrence, as in [`super`]. The index
//! stores *all* elements of a string, by the *group* of its size: sizes up to 19 have a group each,
//! and from there on a group has sizes that differ by at most a tenth. So a search visits one group
//! after the other, the sizes nearest to its own first, and knows from the group alone how many
//! elements a similar string must share. It reads the lists of a group from the shortest to the
//! longest, and stops as soon as no string can reach that number with the lists that are left
//! (Sarawagi and Kirpal, SIGMOD 2004; Li, Lu and Lu, ICDE 2008: the lists of frequent grams decide
//! nothing unless another list has found a string).
//!
//! Only some bits of an element's hash are stored. Equal bits of different elements can make a
//! string look more similar than it is, but never less similar, as its size is known.

pub mod edit;

use std::ops::RangeInclusive;

use crate::error::Result;
use crate::hash;
use crate::joins::sets::bounds::{Bounds, PairSide};
use crate::memory;
use crate::verify::measure::Measure;
use crate::verify::predicate::Predicate;

/// The number of bits of a signature, its upper ones: those of the group and those of the element.
/// The others are 0.
pub const BITS: u32 = GROUP_BITS + ELEMENT_BITS;
const GROUP_BITS: u32 = 6;
const ELEMENT_BITS: u32 = 24;
/// The number of groups.
pub const GROUPS: u32 = 1 << GROUP_BITS;
/// The greatest number of elements of a string whose elements are stored. Of longer strings only
/// the size is stored. This is a rule of the format on disk.
pub const MOST_ELEMENTS: u32 = 1000;
const DOING: &str = "searching by grams";

/// The least size of each group.
const STARTS: [u32; GROUPS as usize] = {
    let mut starts = [0; GROUPS as usize];
    let (mut n, mut start) = (0, 1);
    while n < starts.len() {
        starts[n] = start;
        start += if start < 20 { 1 } else { start / 10 };
        n += 1;
    }
    starts
};

/// Returns the group of the strings that have `size` elements, at least 1.
pub fn group(size: u32) -> u32 {
    (STARTS.partition_point(|&start| start <= size) as u32).saturating_sub(1)
}

/// Returns the sizes of a group.
pub fn sizes(group: u32) -> RangeInclusive<u32> {
    let n = group as usize;
    STARTS[n]..=STARTS.get(n + 1).map_or(u32::MAX, |next| next - 1)
}

/// Replaces the contents of `elements` by the bits of the elements of a set, in ascending order.
/// `keys` are the keys of the set's tokens, in ascending order, one for each element.
pub fn elements_of(keys: &[u32], elements: &mut Vec<u32>) -> Result<()> {
    elements.clear();
    memory::reserve(elements, keys.len(), DOING)?;
    for same in keys.chunk_by(u32::eq) {
        let bits = |(occurrence, &key): (u64, &u32)| {
            (hash::mix(occurrence << u32::BITS | u64::from(key)) >> (u64::BITS - ELEMENT_BITS)) as u32
        };
        elements.extend((0..).zip(same).map(bits));
    }
    elements.sort_unstable();
    Ok(())
}

/// Returns the signature of an element of a string of this group.
pub fn signature(group: u32, element: u32) -> u64 {
    u64::from(group << ELEMENT_BITS | element) << (u64::BITS - BITS)
}

/// The bits of a signature that an index may exchange for others: those of an element's hash in
/// which no group of strings is stored.
pub const SALTED: u64 = (u64::MAX >> GROUP_BITS) & (u64::MAX << (u64::BITS - BITS + GROUP_BITS));

/// The group whose signatures are not those of elements, since no elements are stored of strings of
/// its sizes.
const SPACED: u32 = GROUPS - 1;

/// Returns the signature of the strings of a group of which grams leave out white space.
pub fn spaced(group: u32) -> u64 {
    signature(SPACED, group)
}

/// Returns the group of the strings that have a signature.
pub fn group_of(signature: u64) -> u32 {
    match (signature >> (u64::BITS - GROUP_BITS)) as u32 {
        SPACED => (signature >> (u64::BITS - BITS)) as u32 & (GROUPS - 1),
        group => group,
    }
}

/// What an index stores of the size of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredSize {
    /// The number of elements.
    pub size: u32,
    /// The number of characters, with all white space.
    pub characters: u32,
}

/// Counts the elements that two sets have in common.
pub fn common(mut one: &[u32], mut other: &[u32]) -> u32 {
    let mut count = 0;
    while let ([a, rest @ ..], [b, others @ ..]) = (one, other) {
        count += u32::from(a == b);
        if a <= b {
            one = rest;
        }
        if b <= a {
            other = others;
        }
    }
    count
}

/// The similarity that a search demands of strings.
#[derive(Debug, Clone)]
pub struct Demand {
    /// The number of elements of the sought string.
    size: u32,
    bounds: Bounds,
    sizes: RangeInclusive<u32>,
}

impl Demand {
    /// Creates the demand that a string has at least this similarity to a string of `size`
    /// elements. Returns None if no string has. Fails for a similarity outside (0, 1].
    pub fn new(similarity: f64, size: u32) -> Result<Option<Self>> {
        let bounds = Bounds::new(Predicate::new(Measure::Jaccard, similarity)?);
        let sizes = bounds.partner_sizes(PairSide::Right, size, u32::MAX);
        Ok(sizes.map(|sizes| Self { size, bounds, sizes }))
    }

    /// Reports whether a string of this size that shares `shared` elements, or perhaps fewer, can
    /// be similar enough.
    pub fn accepts(&self, size: u32, shared: u32) -> bool {
        self.sizes.contains(&size)
            && self
                .bounds
                .least_overlap(PairSide::Right, self.size, size)
                .is_some_and(|least| shared >= least)
    }

    /// Returns the similarity of a string of this size that shares `shared` elements, or the
    /// greatest that it can have if it shares perhaps fewer.
    pub fn similarity(&self, size: u32, shared: u32) -> f64 {
        Measure::Jaccard.similarity(shared.min(size).min(self.size), size, self.size)
    }

    /// Returns the greatest similarity of a string of a group that shares `shared` elements, or
    /// None if no string of the group is similar enough with so few.
    pub fn greatest(&self, group: u32, shared: u32) -> Option<f64> {
        let sizes = sizes(group);
        // With more elements than are shared, a string is less similar the more it has.
        let size = (*sizes.start()).max(shared).clamp(*self.sizes.start(), *self.sizes.end());
        (sizes.contains(&size) && self.accepts(size, shared.min(size))).then(|| self.similarity(size, shared))
    }

    /// Returns the groups in which strings can be similar enough, the most similar ones first.
    pub fn groups(&self) -> Vec<u32> {
        let best = |group: u32| {
            let sizes = sizes(group);
            let nearest = self.size.clamp(*sizes.start(), *sizes.end());
            self.similarity(nearest, u32::MAX)
        };
        let first = group(*self.sizes.start());
        let mut groups: Vec<u32> = (first..=group(*self.sizes.end())).collect();
        groups.sort_by(|&a, &b| best(b).total_cmp(&best(a)));
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::edit::Sought;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn groups_are_ranges_one_after_the_other() {
        assert_eq!(*sizes(0).start(), 1);
        assert_eq!(*sizes(GROUPS - 1).end(), u32::MAX);
        for n in 0..GROUPS {
            let sizes = sizes(n);
            assert!(sizes.start() <= sizes.end());
            assert_eq!((group(*sizes.start()), group(*sizes.end())), (n, n));
            assert!(n == 0 || *sizes.start() == super::sizes(n - 1).end() + 1);
        }
        assert!(*sizes(GROUPS - 1).start() > MOST_ELEMENTS);
        assert_eq!((group(0), group(u32::MAX)), (0, GROUPS - 1));
    }

    /// The signatures of a string are in indexes and must not change.
    #[test]
    fn signatures_stay_as_they_are() {
        let mut elements = vec![9];
        elements_of(&[7, 7, 9], &mut elements).unwrap();
        assert_eq!(elements, GOLDEN);
        assert_eq!(signature(group(3), elements[0]), 2 << 58 | u64::from(GOLDEN[0]) << 34);
        assert_eq!(signature(group(1000), 0) >> 58, u64::from(group(1000)));
        assert_eq!(STARTS, GOLDEN_STARTS);
    }

    /// What an index exchanges says neither of which group a string is nor that it is spaced.
    #[test]
    fn salted_signatures_keep_their_group() {
        for (group, salt) in (0..SPACED).zip((1..).map(hash::mix)) {
            for plain in [signature(group, salt as u32 >> (u32::BITS - ELEMENT_BITS)), spaced(group)] {
                let salted = plain ^ (salt & SALTED);
                assert_eq!((group_of(salted), salted << BITS), (group, 0));
                assert_ne!(salted, plain);
            }
        }
    }

    const GOLDEN: [u32; 3] = [2_608_919, 6_540_257, 11_448_146];
    const GOLDEN_STARTS: [u32; 64] = [
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 24, 26, 28, 30, 33, 36,
        39, 42, 46, 50, 55, 60, 66, 72, 79, 86, 94, 103, 113, 124, 136, 149, 163, 179, 196, 215, 236, 259,
        284, 312, 343, 377, 414, 455, 500, 550, 605, 665, 731, 804, 884, 972, 1069,
    ];

    #[test]
    fn repeats_are_elements_of_their_own() {
        let (mut one, mut other) = (Vec::new(), Vec::new());
        elements_of(&[1, 1, 1, 5], &mut one).unwrap();
        elements_of(&[1, 1, 4, 5, 6], &mut other).unwrap();
        assert_eq!((common(&one, &other), common(&one, &one), common(&one, &[])), (3, 4, 0));
    }

    proptest! {
        /// Every string that a search may find is within the bounds of its group.
        #[test]
        fn bounds_equal_brute_force(size in 1..60_u32, similarity in 0.001..=1.0_f64, wanted in 0.0..=1.0_f64) {
            let similarity = if wanted < 0.1 { 1.0 / f64::from(size) } else { similarity };
            let Some(demand) = Demand::new(similarity, size).unwrap() else { return Ok(()) };
            let groups = demand.groups();
            let mut last = f64::INFINITY;
            for &group in &groups {
                let best = demand.greatest(group, size.min(*sizes(group).end()));
                if let Some(best) = best {
                    prop_assert!(best <= last);
                    last = best;
                }
            }
            for other in 1..200_u32 {
                let group = group(other);
                let least = Sought::Grams(demand.clone()).least_shared(group, |similarity| similarity >= wanted);
                for shared in 1..=other.min(size) {
                    let its = Measure::Jaccard.similarity(shared, other, size);
                    let is_near = its >= similarity;
                    prop_assert_eq!(demand.accepts(other, shared), is_near);
                    prop_assert_eq!(demand.similarity(other, shared), its);
                    if is_near {
                        prop_assert!(groups.contains(&group));
                        prop_assert!(demand.greatest(group, shared).is_some_and(|greatest| greatest >= its));
                        if its >= wanted {
                            prop_assert!(least.is_some_and(|least| least <= shared));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_nothing_is_similar_to() {
        assert!(Demand::new(0.5, 0).unwrap().is_none());
        assert!(Demand::new(0.0, 3).is_err());
        let demand = Sought::Grams(Demand::new(1e-9, u32::MAX).unwrap().unwrap());
        assert_eq!(demand.least_shared(0, |_| true), None);
        assert_eq!(demand.least_shared(group(5000), |_| true), Some(5));
    }
}
