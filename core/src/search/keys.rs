//! Sets, represented by the keys of their tokens. A key is the upper half of a token's hash.
//!
//! An element of a set is a token together with the number of its occurrence; its key is the key of
//! the token. Two tokens with the same key can make a row look more similar than it is, but never
//! less similar, as long as the *number* of elements is right. So if repeats do not count, tokens
//! with equal hashes are distinguished by their bytes.

use super::weights::KeyWeights;
use crate::error::{Error, Result};
use crate::executor::{self, Stop};
use crate::features::FeatureSpec;
use crate::features::dictionary::weights::GREATEST;
use crate::features::sets::exact::TokenSets;
use crate::features::tokens::{Document, Scratch, Token, for_each_token};
use crate::memory;
use crate::set_index::bitmap;
use crate::set_index::token_order::TokenOrder;

const DOING: &str = "taking the keys of tokens";

/// The order of tokens, and what they weigh, unless all weigh 1.
#[derive(Debug, Clone, Copy)]
pub struct OrderedTokens<'a> {
    /// The order.
    pub order: &'a TokenOrder,
    /// The weights.
    pub weights: Option<&'a KeyWeights>,
}

/// Scratch space that is reused from document to document.
#[derive(Debug, Default)]
pub struct KeyScratch {
    tokens: Scratch,
    hashes: Vec<u64>,
    set: TokenSets,
    /// The places of keys in an order.
    places: Vec<u64>,
}

/// Computes the keys of a document's set in ascending order, one for each element. If words weigh,
/// a key tells what its tokens weigh. O(tokens · log tokens).
pub fn keys_of(
    document: &Document,
    features: &FeatureSpec,
    weights: Option<&KeyWeights>,
    scratch: &mut KeyScratch,
    keys: &mut Vec<u32>,
    stop: &Stop,
) -> Result<()> {
    let KeyScratch { tokens, hashes, set, .. } = scratch;
    keys.clear();
    hashes.clear();
    let hash_of = |token: Token<'_>| match weights {
        Some(weights) => weights.key(token).map(|key| u64::from(key) << u32::BITS),
        None => Ok(token.hash()),
    };
    if features.multiset {
        for_each_token(document, features, tokens, stop, |token| {
            memory::push(hashes, hash_of(token)?, DOING)
        })?;
    } else {
        set.clear();
        set.add(0, document, features, stop)?;
        if weights.is_some() {
            for token in set.tokens(0) {
                memory::push(hashes, hash_of(Token::Bytes(token))?, DOING)?;
            }
        } else {
            memory::extend(hashes, set.last(), DOING)?;
        }
    }
    executor::sort_unstable_by(hashes, stop, &u64::cmp)?;
    if u32::try_from(hashes.len()).is_err() {
        return Err(Error::TooMany { what: "tokens in a document", limit: u32::MAX.into() });
    }
    memory::append(keys, hashes.iter().map(|hash| (hash >> u32::BITS) as u32), DOING)
}

/// Computes the distinct keys of the first elements of a set: as few as weigh `weight`. The keys
/// are returned in ascending order. An index stores these keys of a row.
pub fn prefix_keys(
    keys: &[u32],
    ordered: OrderedTokens<'_>,
    weight: u32,
    scratch: &mut KeyScratch,
    out: &mut Vec<u32>,
) -> Result<()> {
    prefix(keys, ordered, weight, scratch, out)?;
    out.dedup();
    Ok(())
}

/// Returns the classes of the first elements of a set, as few as weigh `weight`, and for each class
/// the number of hits that these elements are. The classes are returned in ascending order. A class
/// consists of the upper `bits` bits of a key, at most 32.
pub fn prefix_classes(
    keys: &[u32],
    ordered: OrderedTokens<'_>,
    weight: u32,
    bits: u32,
    scratch: &mut KeyScratch,
    out: &mut Vec<(u32, u32)>,
) -> Result<()> {
    let mut first = Vec::new();
    prefix(keys, ordered, weight, scratch, &mut first)?;
    let classes = first.chunk_by(|&a, &b| class_of(a, bits) == class_of(b, bits));
    let hits = |same: &[u32]| match ordered.weights {
        Some(weights) => same.iter().fold(0, |sum: u32, &key| sum.saturating_add(weights.hits(key))),
        None => same.len() as u32,
    };
    memory::refill(out, classes.map(|same| (class_of(same[0], bits), hits(same))), DOING)
}

/// Returns the class of a key: its upper `bits` bits.
#[inline]
pub fn class_of(key: u32, bits: u32) -> u32 {
    key.checked_shr(u32::BITS - bits).unwrap_or(0)
}

/// Computes the keys of the first elements, as few as weigh `weight`, in ascending order.
fn prefix(
    keys: &[u32],
    ordered: OrderedTokens<'_>,
    weight: u32,
    scratch: &mut KeyScratch,
    out: &mut Vec<u32>,
) -> Result<()> {
    out.clear();
    let OrderedTokens { order, weights } = ordered;
    let mut length = (weight as usize).min(keys.len());
    if weights.is_none() && length == keys.len() {
        return memory::extend(out, keys, DOING);
    }
    let places = &mut scratch.places;
    memory::refill(places, keys.iter().map(|&key| order.place(key)), DOING)?;
    // The lower half of a place is the key.
    if let Some(weights) = weights {
        places.sort_unstable();
        let mut rest = weight;
        let first = places.iter().take_while(|&&place| {
            let goes_on = rest > 0;
            rest = rest.saturating_sub(weights.of_key(place as u32));
            goes_on
        });
        length = first.count();
    } else if length > 0 {
        places.select_nth_unstable(length - 1);
    }
    memory::reserve(out, length, DOING)?;
    out.extend(places[..length].iter().map(|&place| place as u32));
    out.sort_unstable();
    Ok(())
}

/// Computes the parity bitmap of a set from its keys in ascending order: each element that is as
/// heavy as any flips one bit. Two bitmaps differ in no more bits than their sets differ in such
/// elements.
pub fn bitmap(keys: &[u32], weights: Option<&KeyWeights>, bitmap: &mut [u64]) {
    let flips =
        keys.iter().filter(|&&key| weights.is_none_or(|weights| weights.of_key(key) == u32::from(GREATEST)));
    bitmap::of_hashes(flips.map(|&key| u64::from(key) << u32::BITS), bitmap);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;
    use crate::search::sample::TokenSample;
    use proptest::prelude::*;

    /// Tests the facts that an index and its searches must always agree on: keys, the order of
    /// keys, and bitmaps.
    #[test]
    fn keys_stay_as_they_are() {
        let (mut scratch, stop) = (KeyScratch::default(), Stop::default());
        let text = Document::Text("one two, two THREE".to_owned());
        let mut of = |document: &Document, shingle, multiset| {
            let mut keys = Vec::new();
            let features = FeatureSpec { shingle, multiset, ..FeatureSpec::WORDS };
            keys_of(document, &features, None, &mut scratch, &mut keys, &stop).unwrap();
            keys
        };
        let expected: Vec<u32> = {
            let mut keys =
                ["one", "two", "two", "three"].map(|word| (hash::hash_bytes(word.as_bytes()) >> 32) as u32);
            keys.sort_unstable();
            keys.to_vec()
        };
        let keys = of(&text, 1, true);
        assert_eq!(keys, expected);
        assert_eq!(
            (of(&text, 1, false).len(), of(&text, 2, true).len(), of(&text, 9, true).len()),
            (3, 3, 1)
        );
        assert_eq!(of(&Document::Numbers(vec![1, 1]), 1, true), [0x910a_2dec, 0x910a_2dec]);
        assert!(of(&Document::Text(" ".to_owned()), 1, true).is_empty());
        let mut words = [0; 2];
        bitmap(&[1, 1, 2], None, &mut words);
        assert_eq!(words, GOLDEN);
        bitmap(&[], None, &mut words);
        assert_eq!(words, [0, 0]);
    }

    const GOLDEN: [u64; 2] = [73183493944770560, 140737488355328];

    proptest! {
        #[test]
        fn prefixes_are_the_first(
            mut keys in proptest::collection::vec(prop_oneof![0..9u32, any::<u32>()], 0..30),
            length in 0..40u32,
            bits in prop_oneof![0..=32u32, Just(10)],
        ) {
            keys.sort_unstable();
            let mut sample = TokenSample::new().unwrap();
            [&keys[..], &keys[..keys.len() / 2]].iter().for_each(|keys| sample.add(keys).unwrap());
            let order = sample.order().unwrap();
            let mut expected: Vec<u64> = keys.iter().map(|&key| order.place(key)).collect();
            expected.sort_unstable();
            expected.truncate(length as usize);
            let mut expected: Vec<u32> = expected.iter().map(|&place| place as u32).collect();
            expected.sort_unstable();

            let order = OrderedTokens { order: &order, weights: None };
            let (mut scratch, mut found, mut classes) = (KeyScratch::default(), vec![7], vec![(7, 7)]);
            prefix_classes(&keys, order, length, bits, &mut scratch, &mut classes).unwrap();
            let again: Vec<u32> = classes.iter().flat_map(|&(class, weight)| vec![class; weight as usize]).collect();
            prop_assert_eq!(again, expected.iter().map(|&key| class_of(key, bits)).collect::<Vec<_>>());
            prop_assert!(classes.is_sorted_by(|a, b| a.0 < b.0));
            prefix_keys(&keys, order, length, &mut scratch, &mut found).unwrap();
            expected.dedup();
            prop_assert_eq!(found, expected);
        }
    }
}
