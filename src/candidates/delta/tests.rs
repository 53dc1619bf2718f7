//! No pair is missed, whatever is stored how.

use super::lookup::{Changed, Found};
use super::order::Order;
use super::outline::{Outliner, Outlines, words};
use super::segment::{Documents, Segment};
use super::verify::{Matcher, Matches, TokenSets};
use crate::candidates::bounds::Bounds;
use crate::features::FeatureSpec;
use crate::features::tokens::Document;
use crate::verify::measure::{Measure, Predicate};
use crate::workers::{PlainThreads, Stop};
use proptest::prelude::*;

const THREADS: PlainThreads = PlainThreads(2);

fn document(text: &str) -> Document {
    Document::Text(text.to_owned())
}

/// A segment as it is stored: blocks, parts, and the rows in its order.
type Stored = (Vec<Vec<u8>>, Vec<Vec<u8>>, Vec<u32>);

fn store(outlines: Outlines, words: usize) -> Stored {
    let segment = Segment::new(&outlines, words, &THREADS).unwrap();
    let blocks = segment.blocks().map(Result::unwrap).collect();
    let parts = segment.parts.clone();
    (blocks, parts, segment.into_rows())
}

fn documents((blocks, ..): &Stored, words: usize) -> Documents {
    let mut documents = Documents::new(words);
    blocks.iter().for_each(|block| documents.push(block).unwrap());
    documents
}

/// The rows that a look at one segment finds.
fn look(changed: &Changed, stored: &Stored, words: usize) -> Vec<u32> {
    let documents = documents(stored, words);
    let comparison = changed.against(&documents).unwrap();
    let mut found = Found::new(documents.sizes.len()).unwrap();
    for part in changed.parts(stored.1.len()).unwrap() {
        comparison.compare(&stored.1[part as usize], &mut found, &Stop::default()).unwrap();
    }
    Found::all([found]).into_iter().map(|place| stored.2[place as usize]).collect()
}

/// An order made of some texts, and its outlines of all.
fn outline(texts: &[String], counted: usize, spec: &FeatureSpec, bounds: &Bounds) -> (Order, Outlines) {
    let stop = Stop::default();
    let mut outliner = Outliner::default();
    for (row, text) in (0..).zip(&texts[..counted]) {
        outliner.keep(row, &document(text), spec, &stop).unwrap();
    }
    let (count, tokens) = outliner.tokens();
    let order = Order::new(&[&outliner.counts], words(bounds, (tokens / count.max(1)) as u32));
    let order = Order::from_bytes(&order.unwrap().to_bytes().unwrap()).unwrap().unwrap();
    outliner.release(&order, bounds, &stop).unwrap();
    for (row, text) in (0..).zip(texts).skip(counted) {
        outliner.add(row, &document(text), spec, (&order, bounds), &stop).unwrap();
    }
    (order, outliner.outlines)
}

/// How many tokens two texts share, and how many they have.
fn counts(a: &str, b: &str, multiset: bool) -> [u32; 3] {
    let words = |text: &str| {
        let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        words.sort();
        if !multiset {
            words.dedup();
        }
        words
    };
    let (a, b) = (words(a), words(b));
    let mut rest = b.clone();
    let shared = a.iter().filter(|w| rest.iter().position(|r| r == *w).map(|at| rest.remove(at)).is_some());
    [shared.count() as u32, a.len() as u32, b.len() as u32]
}

fn copy(outlines: &Outlines) -> Outlines {
    let mut copy = Outlines::default();
    copy.append(outlines, |row| row).unwrap();
    copy
}

proptest! {
    // Each case makes tables of all classes.
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_pair_is_missed(
        texts in proptest::collection::vec("[a-f]( [a-h]){0,12}|", 1..30),
        new in 1usize..10,
        counted in 0usize..30,
        n in 1u32..=20,
        multiset: bool,
    ) {
        let spec = FeatureSpec { multiset, ..FeatureSpec::WORDS };
        let new = new.min(texts.len());
        for measure in [Measure::Jaccard, Measure::Cosine, Measure::Dice, Measure::Overlap] {
            let predicate = Predicate::new(measure, f64::from(n) / 20.0).unwrap();
            for predicate in [predicate, predicate.and_shared(2), Predicate::shared(measure, 3)] {
                let bounds = Bounds::new(predicate);
                let (order, all) = outline(&texts, counted.min(texts.len()), &spec, &bounds);
                let mut outliner = Outliner::default();
                for (row, text) in (0..).zip(&texts[..new]) {
                    outliner.add(row, &document(text), &spec, (&order, &bounds), &Stop::default()).unwrap();
                }
                let changed = Changed::new(outliner.outlines, order.words, bounds, &THREADS).unwrap();
                // At once, and as two segments that were merged.
                let stored = store(copy(&all), order.words);
                let mut merged = Outlines::default();
                for half in 0..2 {
                    let mut part = Outlines::default();
                    for (row, text) in (0..).zip(&texts).filter(|(row, _)| row % 2 == half) {
                        let mut one = Outliner::default();
                        one.add(row, &document(text), &spec, (&order, &bounds), &Stop::default()).unwrap();
                        part.append(&one.outlines, |row| row).unwrap();
                    }
                    let half = store(part, order.words);
                    let parts = half.1.iter().map(Vec::as_slice);
                    let again = documents(&half, order.words).outlines(0, parts).unwrap();
                    merged.append(&again, |place| half.2[place as usize]).unwrap();
                }
                let merged = store(merged, order.words);
                let mut found = look(&changed, &stored, order.words);
                found.sort_unstable();
                let mut found_merged = look(&changed, &merged, order.words);
                found_merged.sort_unstable();
                prop_assert_eq!(&found, &found_merged);
                for (row, old) in (0..).zip(&texts) {
                    let similar = texts[..new].iter().any(|text| {
                        let [shared, left, right] = counts(text, old, multiset);
                        left > 0 && right > 0 && predicate.passes(shared, left, right)
                    });
                    prop_assert!(!similar || found.contains(&row), "{}", old);
                }
                // The sets in two parts, as two threads make them.
                let mut sets = vec![TokenSets::default(), TokenSets::default()];
                for (row, text) in (0..).zip(&texts[..new]) {
                    sets[row as usize % 2].add(row, &document(text), &spec, &Stop::default()).unwrap();
                }
                let matcher = Matcher::new(changed, sets, order, (spec, predicate)).unwrap();
                let mut matches = Matches::default();
                let mut expected = Vec::new();
                for (row, old) in (0..).zip(&texts) {
                    matcher.find(row, &document(old), &mut matches, &Stop::default()).unwrap();
                    for (changed, text) in (0..).zip(&texts[..new]) {
                        let [shared, left, right] = counts(text, old, multiset);
                        if left > 0 && right > 0 && predicate.passes(shared, left, right) {
                            expected.push((row, changed, predicate.similarity(shared, left, right)));
                        }
                    }
                }
                prop_assert_eq!(&matches.found, &expected);
                let mut among = Matches::default();
                for part in 0..matcher.parts() {
                    prop_assert!(matcher.find_among(part, &mut 0, &mut among, &Stop::default()).unwrap());
                }
                among.found.sort_by_key(|&(row, changed, _)| (row, changed));
                expected.retain(|&(row, _, _)| (row as usize) < new);
                prop_assert_eq!(&among.found, &expected);
            }
        }
    }
}

#[test]
fn many_documents_in_many_parts() {
    let spec = FeatureSpec { multiset: false, ..FeatureSpec::WORDS };
    let bounds = Bounds::new(Predicate::new(Measure::Jaccard, 0.8).unwrap());
    // Each near the one before, unlike all others.
    let text = |n: u64| {
        let words = (0..20).map(|k| crate::hash::mix(n / 2 * 100 + k) % 1_000_000);
        words.map(|w| format!("w{w} ")).collect::<String>() + &format!("own{n}")
    };
    let texts: Vec<String> = (0..20_000).map(text).collect();
    let (order, all) = outline(&texts, 1000, &spec, &bounds);
    let stored = store(all, order.words);
    assert!(stored.0.len() > 10 && stored.1.len() > 10);
    let mut outliner = Outliner::default();
    for row in [0u32, 777, 19_999] {
        outliner
            .add(row, &document(&texts[row as usize]), &spec, (&order, &bounds), &Stop::default())
            .unwrap();
    }
    let changed = Changed::new(outliner.outlines, order.words, bounds, &THREADS).unwrap();
    let mut found = look(&changed, &stored, order.words);
    found.sort_unstable();
    assert_eq!(found, [0, 1, 776, 777, 19_998, 19_999]);
}

#[test]
fn what_is_cut_off_is_an_error() {
    let spec = FeatureSpec::WORDS;
    let bounds = Bounds::new(Predicate::new(Measure::Jaccard, 0.5).unwrap());
    let texts: Vec<String> = (0..50).map(|n| format!("a b c{} d{}", n % 7, n % 5)).collect();
    let (order, all) = outline(&texts, 50, &spec, &bounds);
    let (blocks, parts, _) = store(all, order.words);
    let mut documents = Documents::new(order.words);
    assert!(documents.push(&blocks[0][1..]).is_err());
    documents.push(&blocks[0]).unwrap();
    assert!(documents.outlines(0, [&parts[0][..parts[0].len() - 1]]).is_err());
    assert!(Order::from_bytes(&order.to_bytes().unwrap()[..99]).is_err());
    assert!(Order::from_bytes(&[0, 4]).unwrap().is_none(), "another version");
}
