//! Counts against those of a map.

use super::*;
use crate::executor::PlainThreads;
use crate::features::sets::equal_tokens::NO_PLACE;
use crate::features::sets::token_blocks::NextTokens;
use crate::hash::mix;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

proptest! {
    /// The counts are those of a map, and each token of each set gets its own.
    #[test]
    fn counts_are_those_of_a_map(
        documents in prop::collection::vec(prop::collection::vec(0..40u64, 0..20), 1..40),
        lefts in 1..4usize, rights in 0..3usize, threads in 1..4usize,
    ) {
        let parts_count = lefts + rights;
        let mut parts: Vec<Sets> = (0..parts_count).map(|_| Sets::default()).collect();
        let mut counts: BTreeMap<(u64, usize), [BTreeSet<usize>; 2]> = BTreeMap::new();
        let mut sets = vec![Vec::new(); parts_count];
        for (row, document) in documents.iter().enumerate() {
            let part = row % parts_count;
            let mut hashes: Vec<u64> = document.iter().map(|&number| mix(number)).collect();
            hashes.sort_unstable();
            let mut tokens = Vec::new();
            for (n, &hash) in hashes.iter().enumerate() {
                let before = hashes[..n].iter().filter(|&&other| other == hash).count();
                counts.entry((hash, before)).or_default()[usize::from(part >= lefts)].insert(row);
                tokens.push((hash, before));
            }
            sets[part].push(tokens);
            parts[part].numbers.open().unwrap().extend(hashes);
            parts[part].close(row as u32, 0).unwrap();
        }
        let (two, executor) = (rights > 0, PlainThreads(threads));
        let counted = CountedNumbers::new(&mut parts, lefts, two, None, &executor).unwrap();
        prop_assert_eq!(counted.distinct, counts.len());
        let mut places = BTreeMap::new();
        for (part, sets) in parts.iter().zip(&sets) {
            let mut next = NextTokens::default();
            for (set, tokens) in sets.iter().enumerate() {
                let first: Vec<_> = next.of_set(&part.numbers, set).unwrap().collect();
                next.back(&part.numbers, set).unwrap();
                let own: Vec<_> = next.of_set(&part.numbers, set).unwrap().collect();
                prop_assert_eq!(&own, &first);
                prop_assert_eq!(own.len(), tokens.len());
                for (&(partition, place), token) in own.iter().zip(tokens) {
                    let [left, right] = counts[token].each_ref().map(BTreeSet::len);
                    prop_assert_eq!(place == u64::from(NO_PLACE), left + right == 1);
                    prop_assert_eq!(*places.entry(*token).or_insert((partition, place)), (partition, place));
                    let shared = if two { left > 0 && right > 0 } else { left > 1 };
                    let expected = if shared { (left + right) as u32 } else { 0 };
                    let ranks = &counted.partitions[partition].ranks;
                    prop_assert!(ranks.get(place as usize).is_none_or(|&rank| rank == expected));
                }
            }
        }
        places.retain(|_, (_, place)| *place != u64::from(NO_PLACE));
        let different: BTreeSet<(usize, u64)> = places.values().copied().collect();
        prop_assert_eq!(different.len(), places.len());
    }
}
