//! Counts against those of a map.

use super::*;
use crate::executor::PlainThreads;
use crate::features::sets::equal_tokens::NO_PLACE;
use crate::hash::mix;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

proptest! {
    /// The counts are those of a map, and each token of each set gets its own.
    #[test]
    fn counts_are_those_of_a_map(
        documents in prop::collection::vec(prop::collection::vec(0..40u64, 1..20), 1..40),
        lefts in 1..4usize, rights in 0..3usize, threads in 1..4usize,
    ) {
        let parts_count = lefts + rights;
        let mut parts: Vec<Sets> = (0..parts_count).map(|_| Sets::default()).collect();
        let mut counts: BTreeMap<(u64, usize), [BTreeSet<usize>; 2]> = BTreeMap::new();
        let mut tokens = vec![Vec::new(); parts_count];
        for (row, document) in documents.iter().enumerate() {
            let mut hashes: Vec<u64> = document.iter().map(|&number| mix(number)).collect();
            hashes.sort_unstable();
            let part = row % parts_count;
            for (n, &hash) in hashes.iter().enumerate() {
                let before = hashes[..n].iter().filter(|&&other| other == hash).count();
                let sides = counts.entry((hash, before)).or_default();
                sides[usize::from(part >= lefts)].insert(row);
                tokens[part].push((hash, before));
            }
            parts[part].extend_hashes(&hashes).unwrap();
            parts[part].close(row as u32, 0).unwrap();
        }
        let two = rights > 0;
        let counted = CountedHashes::new(&parts, lefts, two, None, &PlainThreads(threads)).unwrap();
        prop_assert_eq!(counted.distinct, counts.len());
        let mut places = BTreeMap::new();
        for (number, (part, tokens)) in parts.iter().zip(&tokens).enumerate() {
            prop_assert_eq!(part.hashes.len(), tokens.len());
            let mut next = counted.places(number).unwrap();
            next.pass(&counted, &part.hashes);
            next.back(&counted, &part.hashes);
            for (&hash, token) in part.hashes.iter().zip(tokens) {
                let (partition, place) = next.next(&counted, hash);
                let [left, right] = counts[token].each_ref().map(BTreeSet::len);
                prop_assert_eq!(place == NO_PLACE, left + right == 1);
                let place_of = (partition, place);
                prop_assert_eq!(*places.entry(*token).or_insert(place_of), place_of);
                let shared = if two { left > 0 && right > 0 } else { left > 1 };
                let expected = if shared { (left + right) as u32 } else { 0 };
                prop_assert!(place == NO_PLACE || counted.partitions[partition].ranks[place as usize] == expected);
            }
        }
        places.retain(|_, (_, place)| *place != NO_PLACE);
        let different: BTreeSet<(usize, u32)> = places.values().copied().collect();
        prop_assert_eq!(different.len(), places.len());
    }
}
