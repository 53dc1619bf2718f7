//! Stored sketches against their specification: all pairs by the estimate of each.

use neardup_core::executor::PlainThreads;
use neardup_core::features::origin::Origin;
use neardup_core::features::tokens::Document;
use neardup_core::hash::mix;
use neardup_core::methods::Method;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::stored::{NearBits, StoredMinhash, StoredSimhash};
use neardup_core::sketches::stored::{SketchKind, SketchReader};
use neardup_core::sketches::wire::{Minhash, MinhashHeader, Simhash, SimhashHeader};
use neardup_core::sketches::{minhash, simhash};
use proptest::prelude::*;

use crate::common::cases;
use crate::common::run::{ENOUGH, Found, find};

/// Sketches, the first of which are copied with some of their positions changed; some are of empty
/// documents.
fn sketches<T: Clone>(
    count: u64,
    seed: u64,
    first: impl Fn(u64) -> Vec<T>,
    change: impl Fn(&mut Vec<T>, u64),
) -> Vec<Option<Vec<T>>> {
    let mut all: Vec<Option<Vec<T>>> = Vec::new();
    for n in 0..count {
        let random = mix(seed ^ n << 20);
        let before = (random >> 8) as usize % all.len().max(1);
        all.push(match all.get(before) {
            _ if random.is_multiple_of(17) => None,
            Some(Some(before)) if !random.is_multiple_of(4) => {
                let mut copy = before.clone();
                (0..random >> 32 & 31).for_each(|k| change(&mut copy, mix(random + k)));
                Some(copy)
            }
            _ => Some(first(random)),
        });
    }
    all
}

/// The pairs by a method; the answer depends neither on threads nor on memory.
fn join(
    kind: SketchKind,
    method: &dyn Method,
    bytes: &[Vec<u8>],
    right_from: Option<usize>,
    threads: usize,
) -> Found {
    let mut reader = SketchReader::default();
    let documents: Vec<Document> = bytes.iter().map(|bytes| reader.read(kind, bytes).unwrap()).collect();
    let of = |threads, budget| {
        let corpus = Corpus::new(documents.len(), |row| Some(documents[row].clone())).split(right_from);
        find(method, corpus, &PlainThreads(threads), budget)
    };
    let (found, account) = of(threads, ENOUGH);
    assert_eq!(found, of(1, 1 << 16).0, "threads and memory make no difference");
    assert_eq!(account.skipped_empty, bytes.iter().filter(|bytes| bytes[4] == 1).count() as u64);
    found
}

/// All pairs that `similarity` gives, one by one.
fn naive(count: usize, right_from: Option<usize>, similarity: impl Fn(usize, usize) -> Option<f64>) -> Found {
    let mut found = Vec::new();
    for left in 0..right_from.unwrap_or(count) {
        for right in right_from.unwrap_or(left + 1)..count {
            found.extend(similarity(left, right).map(|s| (left as u32, right as u32, s.to_bits())));
        }
    }
    found
}

proptest! {
    #![proptest_config(cases::cases(150))]

    #[test]
    fn minhash_sketches(
        permutations in prop_oneof![1..20u16, Just(128u16), 20..300u16],
        threshold in prop_oneof![(1..=20u32, 1..=20u32).prop_map(|(a, b)| f64::from(a.min(b)) / f64::from(a.max(b))), 0.01..1.0f64],
        values in prop::sample::select(vec![2u64, 40, 1 << 32]),
        count in 0..120u64,
        seed in any::<u64>(),
        at in prop::option::of(0..120usize),
        threads in 1..4usize,
    ) {
        let m = u64::from(permutations);
        let value = |random: u64| (mix(random) % values) as u32;
        let all = sketches(count, seed, |random| (0..m).map(|n| value(random + n)).collect(), |copy: &mut Vec<u32>, random| {
            copy[(random % m) as usize] = value(random);
        });
        let header = MinhashHeader::new(Origin::Words, 5, permutations, 1);
        let bytes: Vec<Vec<u8>> = all.iter().map(|values| header.sketch(values.as_deref())).collect();
        let from = at.map(|at| at.min(bytes.len()));
        let expected = naive(bytes.len(), from, |a, b| {
            let [a, b] = [a, b].map(|n| Minhash::parse(&bytes[n]).unwrap());
            Some(minhash::similarity(a.agreeing(&b).unwrap(), permutations)).filter(|&s| s >= threshold)
        });
        prop_assert_eq!(join(SketchKind::Minhash, &StoredMinhash { threshold }, &bytes, from, threads), expected);
    }

    #[test]
    fn simhashes(
        digits in prop_oneof![2..=40u16, Just(16u16), Just(25u16), 2..=256u16],
        near in prop_oneof![
            Just(NearBits::Usual),
            (0.3..=1.0f64).prop_map(NearBits::Share),
            (0..8u32).prop_map(NearBits::Distance),
        ],
        count in 0..150u64,
        seed in any::<u64>(),
        at in prop::option::of(0..150usize),
        threads in 1..4usize,
    ) {
        let bits = 4 * digits;
        let turn = |copy: &mut Vec<u8>, random: u64| {
            let bit = (random % u64::from(bits)) as usize;
            copy[bit / 8] ^= 0x80 >> (bit % 8);
        };
        let all = sketches(count, seed, |random| {
            let mut bytes: Vec<u8> = (0..simhash::bytes(bits) as u64).map(|n| mix(random + n) as u8).collect();
            *bytes.last_mut().unwrap() &= if digits % 2 == 0 { 0xff } else { 0xf0 };
            bytes
        }, turn);
        let header = SimhashHeader::new(Origin::Words, 1, bits);
        let bytes: Vec<Vec<u8>> = all.iter().map(|bits| header.sketch(bits.as_deref())).collect();
        let from = at.map(|at| at.min(bytes.len()));
        let expected = naive(bytes.len(), from, |a, b| {
            let [a, b] = [a, b].map(|n| Simhash::parse(&bytes[n]).unwrap());
            let distance = a.distance(&b).unwrap();
            let similarity = simhash::similarity(distance, bits);
            let passes = match near {
                NearBits::Usual => similarity >= simhash::usual_share(bits),
                NearBits::Share(share) => similarity >= share,
                NearBits::Distance(most) => distance <= most,
            };
            (passes && distance < bits.into()).then_some(similarity)
        });
        prop_assert_eq!(join(SketchKind::Simhash, &StoredSimhash { near }, &bytes, from, threads), expected);
    }
}

/// Sketches of a template that all rows share, and a tenth of their own: no pair, and none is
/// nearly found.
#[test]
fn a_template_costs_little() {
    let header = MinhashHeader::new(Origin::Words, 5, 128, 1);
    let value =
        |n: u64, place: u64| if place.is_multiple_of(2) { place as u32 } else { mix(n << 8 | place) as u32 };
    let sketch = |n: u64| -> Vec<u32> { (0..128).map(|place| value(n, place)).collect() };
    let documents: Vec<Document> = (0..3000)
        .map(|n| SketchReader::default().read(SketchKind::Minhash, &header.sketch(Some(&sketch(n)))).unwrap())
        .collect();
    let corpus = Corpus::new(documents.len(), |row| Some(documents[row].clone()));
    let (found, account) = find(&StoredMinhash { threshold: 0.8 }, corpus, &PlainThreads(2), ENOUGH);
    assert_eq!((found.len(), account.counts.verified), (0, 0));
}

/// A method says of the texts of two sketches what it finds of the sketches.
#[test]
fn what_is_said_of_one_pair() {
    use neardup_core::executor::Stop;
    use neardup_core::methods::pair::TwoTexts;

    let header = MinhashHeader::new(Origin::Words, 5, 4, 1);
    let texts = [[1, 2, 3, 4], [1, 2, 3, 5]]
        .map(|values| Minhash::parse(&header.sketch(Some(&values))).unwrap().to_text().unwrap());
    let pair = TwoTexts::new([&texts[0], &texts[1]]).unwrap();
    let said = StoredMinhash { threshold: 0.8 }.explain(&pair, &Stop::default()).unwrap();
    assert_eq!((said.similarity, said.evidence.pair), (Some(0.75), Some(false)));
    let header = SimhashHeader::new(Origin::Words, 1, 8);
    let texts =
        [[1], [3]].map(|bits| Simhash::parse(&header.sketch(Some(&bits))).unwrap().to_text().unwrap());
    let pair = TwoTexts::new([&texts[0], &texts[1]]).unwrap();
    let said = StoredSimhash { near: NearBits::Distance(1) }.explain(&pair, &Stop::default()).unwrap();
    assert_eq!((said.similarity, said.evidence.pair), (Some(0.875), Some(true)));
}
