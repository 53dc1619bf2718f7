//! Tests that no pair is missed, however the documents are stored.

use super::changed::Changed;
use super::digest::{Digester, Digests, OutlineOrder, words};
use super::lookup::{Candidates, SegmentLookup, together};
use super::matcher::{Matcher, Matches};
use super::segment::{ListSegment, SegmentDocuments};
use crate::executor::{PlainThreads, Stop};
use crate::features::FeatureSpec;
use crate::features::sets::exact::TokenSets;
use crate::features::tokens::Document;
use crate::joins::sets::bounds::Bounds;
use crate::set_index::token_order::TokenOrder;
use crate::verify::measure::Measure;
use crate::verify::predicate::Predicate;
use proptest::prelude::*;

pub(crate) const THREADS: PlainThreads = PlainThreads(2);

pub(crate) fn document(text: &str) -> Document {
    Document::Text(text.to_owned())
}

/// A segment in its stored form: blocks, parts, and the rows in its order.
pub(crate) type Stored = (Vec<Vec<u8>>, Vec<Vec<u8>>, Vec<u32>);

pub(crate) fn store(digests: Digests, words: usize) -> Stored {
    let segment = ListSegment::new(&digests, words, &THREADS).unwrap();
    let blocks = segment.blocks().map(Result::unwrap).collect();
    let parts = segment.parts.clone();
    (blocks, parts, segment.into_rows())
}

fn documents((blocks, ..): &Stored, words: usize) -> SegmentDocuments {
    let mut documents = SegmentDocuments::new(words);
    blocks.iter().for_each(|block| documents.push(block).unwrap());
    documents
}

/// Returns the rows that a lookup in one segment finds, each with the rows of changed documents
/// that it may be similar to.
fn look(changed: &Changed, stored: &Stored, words: usize, most: usize) -> Vec<(u32, Option<Vec<u32>>)> {
    let documents = documents(stored, words);
    let comparison = SegmentLookup::new(changed, &documents).unwrap();
    // Divide the parts as two threads would.
    let mut found =
        vec![Candidates::new(documents.sizes.len(), most), Candidates::new(documents.sizes.len(), most)];
    for part in changed.parts(stored.1.len()).unwrap() {
        let part = part as usize;
        comparison.compare(&stored.1[part], &mut found[part % 2], &Stop::default()).unwrap();
    }
    let (places, partners) = together(found, changed, &THREADS).unwrap();
    let rows = places.iter().map(|&place| stored.2[place as usize]);
    let mut rows: Vec<_> =
        rows.enumerate().map(|(n, row)| (row, partners.for_document(n).map(<[u32]>::to_vec))).collect();
    rows.sort_unstable();
    rows
}

/// Builds an order from some texts, and the digests of all by it.
pub(crate) fn digest(
    texts: &[String],
    counted: usize,
    spec: &FeatureSpec,
    bounds: &Bounds,
) -> (OutlineOrder, Digests) {
    let stop = Stop::default();
    let mut digester = Digester::default();
    for (row, text) in (0..).zip(&texts[..counted]) {
        digester.keep(row, &document(text), spec, &stop).unwrap();
    }
    let (count, tokens) = digester.tokens();
    let words = words(bounds, (tokens / count.max(1)) as u32);
    let order =
        OutlineOrder { tokens: TokenOrder::from_counts(&mut digester.take_counts(), &stop).unwrap(), words };
    let order = OutlineOrder::from_bytes(&order.to_bytes().unwrap()).unwrap().unwrap();
    digester.release(&order, bounds, &stop).unwrap();
    for (row, text) in (0..).zip(texts).skip(counted) {
        digester.add(row, &document(text), spec, &order, bounds, &stop).unwrap();
    }
    (order, digester.digests)
}

/// Returns the number of tokens that two texts share, and the number of tokens of each.
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

fn copy(digests: &Digests) -> Digests {
    let mut copy = Digests::default();
    copy.append(digests, |row| row).unwrap();
    copy
}

/// Checks that no pair of one of the first `new` texts and any text is missed or added. `counted`
/// texts determine the order.
fn check(texts: &[String], new: usize, counted: usize, spec: &FeatureSpec, predicate: Predicate) {
    let stop = Stop::default();
    let bounds = Bounds::new(predicate);
    let (order, all) = digest(texts, counted.min(texts.len()), spec, &bounds);
    let mut digester = Digester::default();
    for (row, text) in (0..).zip(&texts[..new]) {
        digester.add(row, &document(text), spec, &order, &bounds, &stop).unwrap();
    }
    let changed = Changed::new(digester.digests, order.words, bounds, &THREADS).unwrap();
    // Store the documents at once, and as two segments that are merged.
    let stored = store(copy(&all), order.words);
    let mut merged = Digests::default();
    for half in 0..2 {
        let mut part = Digests::default();
        for (row, text) in (0..).zip(texts).filter(|(row, _)| row % 2 == half) {
            let mut one = Digester::default();
            one.add(row, &document(text), spec, &order, &bounds, &stop).unwrap();
            part.append(&one.digests, |row| row).unwrap();
        }
        let half = store(part, order.words);
        let parts = half.1.iter().map(Vec::as_slice);
        let again = documents(&half, order.words).digests(0, parts).unwrap();
        merged.append(&again, |place| half.2[place as usize]).unwrap();
    }
    let merged = store(merged, order.words);
    let found = look(&changed, &stored, order.words, usize::MAX);
    assert_eq!(found, look(&changed, &merged, order.words, usize::MAX));
    // Where there are too many pairs, at least the places are the same.
    let places: Vec<_> = found.iter().map(|(row, _)| (*row, None)).collect();
    assert_eq!(places, look(&changed, &stored, order.words, 0));

    let mut expected = Vec::new();
    for (row, old) in (0..).zip(texts) {
        for (changed, text) in (0..).zip(&texts[..new]) {
            let [shared, left, right] = counts(text, old, spec.multiset);
            if left > 0 && right > 0 && predicate.passes(shared, left, right) {
                expected.push((row, changed, predicate.similarity(shared, left, right)));
            }
        }
    }
    // The sets are in two parts, as two threads would build them.
    let mut sets = vec![TokenSets::default(), TokenSets::default()];
    for (row, text) in (0..).zip(&texts[..new]) {
        sets[row as usize % 2].add(row, &document(text), spec, &stop).unwrap();
    }
    let matcher = Matcher::new(changed, sets, order, *spec, predicate).unwrap();
    let mut matches = Matches::default();
    for (row, partners) in &found {
        let document = document(&texts[*row as usize]);
        matcher.find(*row, &document, partners.as_deref(), &mut matches, &stop).unwrap();
    }
    assert_eq!(matches.found, expected);
    let mut matches = Matches::default();
    for (row, old) in (0..).zip(texts) {
        matcher.find(row, &document(old), None, &mut matches, &stop).unwrap();
    }
    assert_eq!(matches.found, expected);
    let mut among = Matches::default();
    for part in 0..matcher.parts() {
        assert!(matcher.find_among(part, &mut 0, &mut among, &stop).unwrap());
    }
    among.found.sort_by_key(|&(row, changed, _)| (row, changed));
    expected.retain(|&(row, _, _)| (row as usize) < new);
    assert_eq!(among.found, expected);
}

fn predicates(threshold: f64) -> impl Iterator<Item = Predicate> {
    [Measure::Jaccard, Measure::Cosine, Measure::Dice, Measure::Overlap].into_iter().flat_map(
        move |measure| {
            let predicate = Predicate::new(measure, threshold).unwrap();
            [predicate, predicate.and_shared(2), predicate.and_within(3), Predicate::shared(measure, 3)]
        },
    )
}

proptest! {
    // Each case checks sixteen predicates, so there are fewer cases than usual.
    #![proptest_config(crate::cases::cases(48))]
    #[test]
    fn no_pair_is_missed(
        texts in proptest::collection::vec("[a-f]( [a-h]){0,12}|", 1..30),
        new in 1usize..10,
        counted in 0usize..30,
        n in 1u32..=20,
        multiset: bool,
    ) {
        let spec = FeatureSpec { multiset, ..FeatureSpec::WORDS };
        for predicate in predicates(f64::from(n) / 20.0) {
            check(&texts, new.min(texts.len()), counted, &spec, predicate);
        }
    }

    /// Tests pieces of one long text, of many sizes, so that there are all kinds of partners.
    #[test]
    fn no_pair_of_long_texts_is_missed(
        pieces in proptest::collection::vec((0usize..60, 1usize..250), 2..40),
        new in 1usize..10,
        counted in 0usize..40,
        n in 5u32..=20,
    ) {
        let piece = |(from, length): (usize, usize)| (from..from + length).map(|n| format!("w{n} ")).collect();
        let texts: Vec<String> = pieces.into_iter().map(piece).collect();
        for predicate in predicates(f64::from(n) / 20.0) {
            check(&texts, new.min(texts.len()), counted, &FeatureSpec::WORDS, predicate);
        }
    }
}

#[test]
fn many_documents_in_many_parts() {
    let spec = FeatureSpec { multiset: false, ..FeatureSpec::WORDS };
    let bounds = Bounds::new(Predicate::new(Measure::Jaccard, 0.8).unwrap());
    // Each text is near the one before and far from all others.
    let text = |n: u64| {
        let words = (0..20).map(|k| crate::hash::mix(n / 2 * 100 + k) % 1_000_000);
        words.map(|w| format!("w{w} ")).collect::<String>() + &format!("own{n}")
    };
    let texts: Vec<String> = (0..20_000).map(text).collect();
    let (order, all) = digest(&texts, 1000, &spec, &bounds);
    let stored = store(all, order.words);
    assert!(stored.0.len() > 10 && stored.1.len() > 10);
    let mut digester = Digester::default();
    for row in [0u32, 777, 19_999] {
        digester.add(row, &document(&texts[row as usize]), &spec, &order, &bounds, &Stop::default()).unwrap();
    }
    let changed = Changed::new(digester.digests, order.words, bounds, &THREADS).unwrap();
    let found = look(&changed, &stored, order.words, usize::MAX);
    assert_eq!(
        found,
        [(0, 0), (1, 0), (776, 777), (777, 777), (19_998, 19_999), (19_999, 19_999)]
            .map(|(row, partner)| (row, Some(vec![partner])))
    );
}

#[test]
fn what_is_cut_off_is_an_error() {
    let spec = FeatureSpec::WORDS;
    let bounds = Bounds::new(Predicate::new(Measure::Jaccard, 0.5).unwrap());
    let texts: Vec<String> = (0..50).map(|n| format!("a b c{} d{}", n % 7, n % 5)).collect();
    let (order, all) = digest(&texts, 50, &spec, &bounds);
    let (blocks, parts, _) = store(all, order.words);
    let mut documents = SegmentDocuments::new(order.words);
    assert!(documents.push(&blocks[0][1..]).is_err());
    documents.push(&blocks[0]).unwrap();
    assert!(documents.digests(0, [&parts[0][..parts[0].len() - 1]]).is_err());
    assert!(OutlineOrder::from_bytes(&order.to_bytes().unwrap()[..9]).is_err());
    assert!(OutlineOrder::from_bytes(&[0, 4]).unwrap().is_none(), "another version");
}
