//! An index in memory for exact search, made of the parts of `neardup_core::search` as the one on
//! disk is, and naive comparison of all pairs: whatever the measure, the way of cutting, the
//! thresholds, the order of tokens and the collisions of keys, both give the same rows and the same
//! similarities.

use std::collections::{BTreeMap, BTreeSet};

use neardup_core::error::{Error, Result};
use neardup_core::features::dictionary::weights::{Weights, WordWeights};
use neardup_core::features::origin::Origin;
use neardup_core::features::tokens::Document;
use neardup_core::features::{FeatureSpec, Tokenizer};
use neardup_core::hash::mix;
use neardup_core::search::ball::{SetBall, SetParameters};
use neardup_core::search::keys::{
    KeyScratch, OrderedTokens, bitmap, class_of, keys_of, prefix_classes, prefix_keys,
};
use neardup_core::search::verifier::Verifier;
use neardup_core::search::weights::KeyWeights;

use neardup_core::executor::Stop;
use neardup_core::joins::Algorithm;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::pair::TwoTexts;
use neardup_core::methods::sets::Sets;
use neardup_core::search::prefix::{SearchReach, SetSpec};
use neardup_core::search::sample::TokenSample;
use neardup_core::set_index::rice::{self, Decoder, Until};
use neardup_core::set_index::token_order::TokenOrder;
use neardup_core::verify::measure::Measure;
use neardup_core::verify::predicate::Predicate;
use proptest::prelude::*;

use crate::common::cases;

/// A row as an index has it, beside the lists.
struct Row {
    size: u32,
    bitmap: Vec<u64>,
}

/// A list in its code.
struct List {
    k: u8,
    rows: u32,
    bytes: Vec<u8>,
}

impl List {
    /// Its rows, all less than `limit`, of the code in pieces.
    fn rows(&self, limit: u32) -> Result<Vec<u32>> {
        let mut decoder = Decoder::new(self.k, self.rows, self.bytes.len() as u32, limit)?;
        let mut rows = Vec::new();
        for mut piece in self.bytes.chunks(3) {
            while decoder.read(&mut piece, 2, &mut rows)? == Until::Most {}
        }
        assert_eq!(decoder.rows(), 0);
        Ok(rows)
    }
}

struct Index {
    spec: SetSpec,
    order: TokenOrder,
    rows: Vec<Row>,
    lists: BTreeMap<u32, List>,
    class_bits: u32,
    /// Upper bits of keys that are looked at: few make collisions.
    mask: u32,
}

/// How an index is made.
#[derive(Debug, Clone)]
struct Making {
    class_bits: u32,
    mask: u32,
    words: usize,
    /// Documents of the sample that the order is made of: each has keys of some rows, or of none.
    order: u64,
    /// How many elements more than are needed some rows have in the index.
    more: u32,
}

fn keys(document: &Document, parameters: &SetParameters, mask: u32) -> Vec<u32> {
    let mut keys = Vec::new();
    let (features, weights) = (&parameters.features, parameters.weights.as_deref());
    keys_of(document, features, weights, &mut KeyScratch::default(), &mut keys, &Stop::default()).unwrap();
    // The key of a word that weighs says what it weighs.
    if weights.is_none() {
        keys.iter_mut().for_each(|key| *key &= mask);
    }
    keys
}

impl Index {
    fn new(spec: SetSpec, documents: &[Document], making: &Making) -> Result<Self> {
        let Making { class_bits, mask, words, order, more } = *making;
        let all: Vec<_> = documents.iter().map(|document| keys(document, &spec.parameters, mask)).collect();
        // Any order will do: here tokens are as frequent as a hash says.
        let mut sample = TokenSample::new()?;
        let known: BTreeSet<u32> = all.iter().flatten().copied().collect();
        for round in 0..9 {
            let some = |key: &u32| mix(order ^ u64::from(*key)) % 9 > round && order > 0;
            sample.add(&known.iter().copied().filter(some).collect::<Vec<_>>())?;
        }
        let order = TokenOrder::from_bytes(&sample.order()?.to_bytes()?)?;
        let (mut rows, mut postings) = (Vec::new(), BTreeMap::<u32, Vec<u32>>::new());
        for (row, keys) in (0..).zip(&all) {
            let mut bits = vec![0; words];
            bitmap(keys, spec.weights(), &mut bits);
            let size = spec.size(keys)?;
            rows.push(Row { size, bitmap: bits });
            let length = spec.indexed(size) + if row % 3 == 0 { more } else { 0 };
            let mut prefix = Vec::new();
            let ordered = OrderedTokens { order: &order, weights: spec.weights() };
            prefix_keys(keys, ordered, length, &mut KeyScratch::default(), &mut prefix)?;
            let classes: BTreeSet<u32> = prefix.iter().map(|&key| class_of(key, class_bits)).collect();
            classes.into_iter().for_each(|class| postings.entry(class).or_default().push(row));
        }
        let mut lists = BTreeMap::new();
        for (class, rows) in postings {
            let mut bytes = Vec::new();
            let k = rice::encode(&rows, &mut bytes)?;
            lists.insert(class, List { k, rows: rows.len() as u32, bytes });
        }
        Ok(Self { spec, order, rows, lists, class_bits, mask })
    }

    /// The rows that may be in a ball, each with the greatest similarity that it can have.
    fn candidates(&self, document: &Document, similarity: f64) -> Result<Vec<(u32, f64)>> {
        let keys = keys(document, &self.spec.parameters, self.mask);
        let Some(reach) = self.spec.reach(similarity, self.spec.size(&keys)?)? else { return Ok(vec![]) };
        let mut classes = Vec::new();
        let scratch = &mut KeyScratch::default();
        let ordered = OrderedTokens { order: &self.order, weights: self.spec.weights() };
        prefix_classes(&keys, ordered, reach.probes(), self.class_bits, scratch, &mut classes)?;
        let mut hits = BTreeMap::<u32, u32>::new();
        for (class, weight) in classes {
            if let Some(list) = self.lists.get(&class) {
                let rows = list.rows(self.rows.len() as u32)?;
                rows.into_iter().for_each(|row| *hits.entry(row).or_default() += weight);
            }
        }
        hits.retain(|_, hits| *hits >= reach.least_hits());
        let mut own = vec![0; self.rows.first().map_or(1, |row| row.bitmap.len())];
        bitmap(&keys, self.spec.weights(), &mut own);
        let mut candidates = Vec::new();
        for (row, hits) in hits {
            candidates.extend(self.candidate(&reach, &own, row, hits).map(|most| (row, most)));
        }
        Ok(candidates)
    }

    /// The greatest similarity that a row can have, if it can be near.
    fn candidate(&self, reach: &SearchReach, own: &[u64], row: u32, hits: u32) -> Option<f64> {
        let Row { size, bitmap } = &self.rows[row as usize];
        let differ: u32 = bitmap.iter().zip(own).map(|(x, y)| (x ^ y).count_ones()).sum();
        let near = hits >= reach.need(*size)? && differ <= reach.bits(*size)?;
        near.then(|| reach.most_similar(*size, hits, differ))
    }
}

fn spec() -> impl Strategy<Value = (Origin, FeatureSpec)> {
    let origins = vec![
        Origin::Words,
        Origin::Words,
        Origin::Chars,
        Origin::Whitespace,
        Origin::Html,
        Origin::Tokens,
        Origin::Lexemes,
        Origin::Numbers,
    ];
    (prop::sample::select(origins), prop_oneof![Just(1usize), 1..6usize], any::<bool>()).prop_map(
        |(origin, shingle, multiset)| {
            (origin, FeatureSpec { tokenizer: origin.tokenizer(), shingle, multiset, wrap: false })
        },
    )
}

/// Documents that vary from a few: words of them are left out, come twice, or are others.
fn documents(origin: Origin, seeds: &[Vec<u8>], variants: &[(usize, Vec<(usize, u8)>)]) -> Vec<Document> {
    let vary = |(seed, changes): &(usize, Vec<(usize, u8)>)| {
        let mut words = seeds[seed % seeds.len()].clone();
        for &(at, with) in changes {
            let at = at % (words.len() + 1);
            match with % 3 {
                0 if at < words.len() => drop(words.remove(at)),
                1 if at < words.len() => words[at] = with,
                _ => words.insert(at, with),
            }
        }
        words
    };
    let document = |words: Vec<u8>| match origin {
        Origin::Numbers => Document::Numbers(words.into_iter().map(i64::from).collect()),
        Origin::Tokens | Origin::Lexemes => {
            Document::Tokens(words.iter().map(|word| format!("t{word}")).collect())
        }
        Origin::Chars => Document::Text(words.iter().map(|word| char::from(b'a' + word % 26)).collect()),
        _ => Document::Text(words.iter().map(|word| format!("w{word} ")).collect()),
    };
    variants.iter().map(vary).map(document).collect()
}

fn making() -> impl Strategy<Value = Making> {
    let mask = prop_oneof![Just(u32::MAX), Just(0xfc00_0000), Just(0xe000_0000), Just(0xffff_0000)];
    let bits = prop::sample::select(vec![0, 2, 3, 5, 10, 16, 24, 32]);
    let words = prop::sample::select(vec![1usize, 2, 4, 8]);
    (bits, mask, words, any::<u64>(), any::<bool>(), 0..4u32).prop_map(
        |(class_bits, mask, words, order, is_ordered, more)| Making {
            class_bits,
            mask,
            words,
            order: if is_ordered { order } else { 0 },
            more,
        },
    )
}

/// Weights of some of the words of documents, if these are of single words.
fn weighed(parameters: SetParameters, weights: &[(u8, f64)]) -> SetParameters {
    if !parameters.can_weigh() {
        return parameters;
    }
    let mut list = WordWeights::new(parameters.features);
    let words: BTreeMap<u8, f64> = weights.iter().copied().collect();
    for (word, weight) in words {
        list.add(format!("w{word}"), weight, &Stop::default()).unwrap();
    }
    parameters.weighed(&KeyWeights::bytes_of(&list).unwrap()).unwrap()
}

proptest! {
    #![proptest_config(cases::cases(400))]

    #[test]
    fn an_index_finds_what_all_pairs_are(
        measure in prop::sample::select(Measure::ALL.to_vec()),
        (origin, features) in spec(),
        least in prop_oneof![Just(0.7), Just(0.3), Just(0.5), 0.05..1.0f64, Just(1.0)],
        above in prop_oneof![Just(0.0), Just(1.0), 0.0..1.0f64],
        seeds in proptest::collection::vec(proptest::collection::vec(0..60u8, 0..40), 1..4),
        variants in proptest::collection::vec(
            (0..4usize, proptest::collection::vec((any::<usize>(), 0..60u8), 0..8)), 2..24),
        making in making(),
        weights in proptest::collection::vec(
            (0..60u8, prop_oneof![Just(0.5), Just(1.0), 0.0001..1.0f64, 1.0..9.0f64]), 0..30),
    ) {
        let stop = Stop::default();
        let documents = documents(origin, &seeds, &variants);
        let parameters = SetParameters { measure, origin, features, normalization: None, weights: None };
        let parameters = weighed(parameters, &weights);
        let spec = SetSpec::new(parameters.clone(), least).unwrap();
        let index = Index::new(spec, &documents, &making).unwrap();
        let similarity = (least + above * (1.0 - least)).clamp(least, 1.0);
        for document in &documents {
            let bytes = SetBall::build(&parameters, similarity, document).unwrap();
            let ball = SetBall::parse(&bytes).unwrap();
            let mut judge = Verifier::new(&ball, &stop).unwrap();
            let candidates = index.candidates(document, similarity).unwrap();
            prop_assert!(candidates.is_sorted_by(|a, b| a.0 < b.0));
            let mut bounds: BTreeMap<u32, f64> = candidates.into_iter().collect();
            for (row, other) in (0..).zip(&documents) {
                let exact = judge.similarity(other, &stop).unwrap();
                let most = bounds.remove(&row);
                prop_assert!(exact < similarity || most.is_some(), "row {row} is lost");
                prop_assert!(most.is_none_or(|most| most >= exact), "{most:?} is no bound of {exact}");
            }
            prop_assert!(bounds.is_empty());
        }
    }

    /// The one test of rows, beside what the join says of two texts: the same counts, the same
    /// bits.
    #[test]
    fn what_is_judged_is_what_is_joined(
        measure in prop::sample::select(Measure::ALL.to_vec()),
        tokenizer in prop::sample::select(vec![
            Tokenizer::Words, Tokenizer::Chars, Tokenizer::Whitespace, Tokenizer::Html,
        ]),
        shingle in 1..5usize,
        multiset in any::<bool>(),
        texts in [0, 1].map(|_| "[abA, .<>é中-]{0,40}"),
        similarity in prop_oneof![0.01..=1.0f64, Just(0.5), Just(1.0)],
    ) {
        let stop = Stop::default();
        let features = FeatureSpec { tokenizer, shingle, multiset, wrap: false };
        let origin = Origin::of_text(tokenizer).unwrap();
        let parameters = SetParameters { measure, origin, features, normalization: None, weights: None };
        let [row, ball] = texts.each_ref().map(|text| Document::Text(text.clone()));
        let bytes = SetBall::build(&parameters, similarity, &ball).unwrap();
        let mut judge = Verifier::new(&SetBall::parse(&bytes).unwrap(), &stop).unwrap();
        let pair = TwoTexts::new([&texts[0], &texts[1]]).unwrap();
        let [shared, left, right] = pair.shared(features, &stop).unwrap();
        let predicate = Predicate::new(measure, similarity).unwrap();
        let expected = predicate.similarity(shared, left, right);
        prop_assert_eq!(judge.similarity(&row, &stop).unwrap().to_bits(), expected.to_bits());
        prop_assert_eq!(expected >= similarity, predicate.passes(shared, left, right));
        // As many keys as elements.
        prop_assert_eq!(keys(&row, &parameters, u32::MAX).len() as u32, left);
    }

    /// The same with words that weigh, beside what the join of two rows says; and the boundary:
    /// a ball with just this similarity has the row.
    #[test]
    fn what_is_judged_is_what_is_joined_by_weight(
        measure in prop::sample::select(vec![Measure::Jaccard, Measure::Cosine, Measure::Dice, Measure::Overlap]),
        multiset in any::<bool>(),
        words in [0, 1].map(|_| proptest::collection::vec(0..9u8, 1..9)),
        weights in proptest::collection::vec((0..9u8, prop_oneof![Just(0.5), 0.0001..4.0f64]), 1..9),
    ) {
        let stop = Stop::default();
        let features = FeatureSpec { multiset, ..FeatureSpec::WORDS };
        let parameters =
            SetParameters { measure, origin: Origin::Words, features, normalization: None, weights: None };
        let parameters = weighed(parameters, &weights);
        let texts = words.map(|words| words.iter().map(|word| format!("w{word} ")).collect::<String>());
        let method = Sets {
            spec: features,
            predicate: Predicate::new(measure, f64::MIN_POSITIVE).unwrap(),
            algorithm: Algorithm::Auto,
            weights: parameters.weights.as_ref().map_or(Weights::Equal, |of| Weights::Words(of.words().clone())),
        };
        let pairs = Corpus::of_texts(&[&texts[0], &texts[1]]).pairs(&method).unwrap();
        let joined = pairs.first().map_or(0.0, |pair| pair.similarity);
        let least = joined.max(f64::MIN_POSITIVE);
        let bytes = SetBall::build(&parameters, least, &Document::Text(texts[1].clone())).unwrap();
        let ball = SetBall::parse(&bytes).unwrap();
        prop_assert_eq!(&ball.parameters, &parameters);
        let text = ball.to_text(usize::MAX, &stop).unwrap();
        prop_assert_eq!(SetBall::from_text(&text, &stop).unwrap(), bytes.clone());
        let mut judge = Verifier::new(&ball, &stop).unwrap();
        let found = judge.similarity(&Document::Text(texts[0].clone()), &stop).unwrap();
        prop_assert_eq!(found.to_bits(), joined.to_bits());
    }

    /// Lists whose bytes are damaged: an error, or rows that are there.
    #[test]
    fn damaged_lists_are_errors_or_harmless(
        (origin, features) in spec(),
        seeds in proptest::collection::vec(proptest::collection::vec(0..60u8, 0..40), 1..4),
        variants in proptest::collection::vec(
            (0..4usize, proptest::collection::vec((any::<usize>(), 0..60u8), 0..8)), 2..24),
        making in making(),
        damages in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..6),
    ) {
        let documents = documents(origin, &seeds, &variants);
        let measure = Measure::Jaccard;
        let parameters = SetParameters { measure, origin, features, normalization: None, weights: None };
        let spec = SetSpec::new(parameters, 0.3).unwrap();
        let mut index = Index::new(spec, &documents, &making).unwrap();
        let mut lists: Vec<&mut List> = index.lists.values_mut().collect();
        for (at, with, what) in damages {
            if lists.is_empty() {
                return Ok(());
            }
            let which = at.index(lists.len());
            let list = &mut lists[which];
            match what {
                0 => list.k = with,
                1 => list.rows = with.into(),
                2 => list.bytes.push(with),
                _ => {
                    let at = at.index(list.bytes.len());
                    list.bytes[at] = with;
                }
            }
        }
        for document in &documents {
            match index.candidates(document, 0.5) {
                Ok(candidates) => prop_assert!(candidates.iter().all(|(row, _)| (*row as usize) < documents.len())),
                Err(error) => prop_assert!(matches!(error, Error::Malformed { .. }), "{error}"),
            }
        }
    }
}
