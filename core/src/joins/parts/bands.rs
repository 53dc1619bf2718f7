//! Minhash in parts. A set is sent to each part into which one of its bands falls, with its size, a
//! bitmap, and the keys of the bands that fall into the part. In a part, sets that share a key are
//! candidates, as in the join on one machine (docs/design/algorithms.md section 2), unless their
//! sizes or their bitmaps show that they are not similar ([`super::engine`]).
//!
//! The keys of a row are encoded as the version of this format, from version 2 on [`earlier`]
//! marks, and then each key in 8 bytes, little-endian.

use super::bitmaps;
use super::earlier::{self, Earlier};
use super::groups::Groups;
use super::token_set::TokenSet;
use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::hash::unmix;
use crate::joins::sets::bounds::Bounds;
use crate::joins::sketches::banding::Banding;
use crate::sketches::minhash::Minhasher;
use crate::sketches::sign::band_keys;

/// The name of the value, for error messages.
pub(super) const NAME: &str = "bands";
const KEY: usize = size_of::<u64>();

/// Returns the rows of a set, with the keys of its bands in place of tokens. A set without tokens
/// has no rows. O(n · m) for n tokens and m values.
pub fn groups(
    set: &TokenSet<'_>,
    minhasher: &mut Minhasher,
    rows: usize,
    bounds: &Bounds,
    parts: u32,
    stop: &Stop,
) -> Result<Groups> {
    minhasher.clear();
    let is_of_numbers = set.is_of_numbers();
    for (n, hash) in set.hashes().enumerate() {
        if n.is_multiple_of(1 << 12) {
            stop.check()?;
        }
        // If tokens are numbers, sketches are computed from the numbers and not from their hashes.
        minhasher.add(if is_of_numbers { unmix(hash) } else { hash });
    }
    let Some(values) = minhasher.values() else { return Ok(Groups::default()) };
    let mut keys = Vec::new();
    // Keys are practically random.
    let part = |key: u64| ((u64::from(earlier::mark(key)) * u64::from(parts)) >> u32::BITS) as u32;
    band_keys(values, rows, &mut Vec::new(), |key| keys.push((part(key), key)));
    keys.sort_unstable();
    let mut passed = Earlier::default();
    let groups = keys.chunk_by(|a, b| a.0 == b.0).map(|keys| {
        let mut bytes = Vec::new();
        passed.begin_row(&mut bytes);
        passed.add(keys.iter().map(|&(_, key)| key));
        keys.iter().for_each(|(_, key)| bytes.extend_from_slice(&key.to_le_bytes()));
        (keys[0].0, bytes)
    });
    let size = set.len();
    let bitmap = bitmaps::encode(set.hashes(), bitmaps::words(bounds, size))?;
    Ok(Groups { size, bitmap, parts: groups.collect() })
}

/// Returns the minhasher for the values of a plan.
pub fn minhasher(plan: Banding, seed: i64) -> Minhasher {
    // The number of values of a plan fits in 16 bits.
    Minhasher::new(plan.values() as u16, seed)
}

/// Calls `each` with each key of a row and the place 0, because keys have no order. Fails for
/// malformed bytes.
pub fn for_each_key(bytes: &[u8], mut each: impl FnMut(u64, u32) -> Result<()>) -> Result<()> {
    let (keys, rest) = earlier::split(bytes, NAME)?.1.as_chunks::<KEY>();
    if !rest.is_empty() {
        return Err(Error::Malformed { what: NAME, why: "a key is cut short".to_owned() });
    }
    keys.iter().try_for_each(|&key| each(u64::from_le_bytes(key), 0))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::executor::PlainThreads;
    use crate::features::signatures::distinct;
    use crate::features::tokens::{Document, Scratch};
    use crate::features::{FeatureSpec, Tokenizer};
    use crate::files::MemoryFiles;
    use crate::hash::mix;
    use crate::joins::parts::part::Part;
    use crate::joins::parts::rows::Shared;
    use crate::joins::parts::token_set::{Origin, of_document};
    use crate::joins::sketches::combination::{Combination, TechniqueSpec};
    use crate::joins::sketches::rule::Rule;
    use crate::sketches::sign::Signer;
    use crate::verify::measure::Measure;
    use crate::verify::predicate::Predicate;

    fn bounds(threshold: f64) -> Bounds {
        Bounds::new(Predicate::new(Measure::Jaccard, threshold).unwrap())
    }

    fn keys_of(bytes: &[u8]) -> Vec<u64> {
        let mut keys = Vec::new();
        for_each_key(bytes, |key, _| {
            keys.push(key);
            Ok(())
        })
        .unwrap();
        keys
    }

    /// Returns the keys of a document's bands as computed by the join on one machine.
    fn keys(document: &Document, feature: FeatureSpec, plan: Banding) -> Result<Vec<u64>> {
        let spec = TechniqueSpec::Minhash { feature, plan, seed: 7, threshold: 0.5, verify: true };
        let combination = Combination { techniques: vec![spec], rule: Rule::Technique(0), most: None };
        let (recipe, _) = combination.compile(false)?;
        let mut signer = Signer::new(&recipe);
        signer.add(0, document, &Stop::default())?;
        let signatures = distinct(vec![signer.signatures], None, &PlainThreads(1))?;
        let mut keys = signatures.get(0)[recipe.at(0)..][..plan.bands].to_vec();
        keys.sort_unstable();
        Ok(keys)
    }

    #[test]
    fn keys_are_those_of_one_machine() -> Result<()> {
        let text =
            || Document::Text("to be or not to be that is to be or not the question is it not".to_owned());
        let words = || Document::Tokens(["a", "b", "a", "b", "c"].map(str::to_owned).to_vec());
        let numbers = || Document::Numbers(vec![1, -2, 3, 3, i64::MAX]);
        let (w, set) = (FeatureSpec::WORDS, FeatureSpec { multiset: false, ..FeatureSpec::WORDS });
        let chars = FeatureSpec { tokenizer: Tokenizer::Chars, shingle: 3, ..w };
        let all = [
            (text(), w, Origin::Words),
            (text(), set, Origin::Words),
            (text(), FeatureSpec { shingle: 5, ..set }, Origin::Words),
            (text(), chars, Origin::Chars),
            (words(), w, Origin::Tokens),
            (words(), FeatureSpec { shingle: 2, ..set }, Origin::Tokens),
            (numbers(), set, Origin::Numbers),
            (numbers(), FeatureSpec { shingle: 2, ..set }, Origin::Numbers),
        ];
        let (plan, stop) = (Banding::new(20, 3)?, Stop::default());
        for (document, spec, origin) in all {
            let bytes = of_document(&document, &spec, origin, &mut Scratch::default(), &stop)?;
            let set = TokenSet::check(&bytes)?;
            let rows = groups(&set, &mut minhasher(plan, 7), plan.rows, &bounds(0.5), 9, &stop)?;
            let mut found: Vec<u64> = rows.parts.iter().flat_map(|(_, keys)| keys_of(keys)).collect();
            found.sort_unstable();
            assert_eq!(found, keys(&document, spec, plan)?, "{spec:?} {origin:?}");
        }
        Ok(())
    }

    /// Returns sets of numbers, some of which share many.
    fn sets() -> Vec<Vec<u8>> {
        let numbers = |n: u64| {
            let own = (n % 7) * (n % 5);
            let (family, size) = (n / 10, 3 + n / 10 % 40);
            (0..size)
                .map(move |m| mix(if m < own { n << 32 | m } else { family << 16 | m }).cast_signed())
                .collect()
        };
        let (spec, stop) = (FeatureSpec { multiset: false, ..FeatureSpec::WORDS }, Stop::default());
        (0..300)
            .map(|n| {
                let document = Document::Numbers(numbers(n));
                of_document(&document, &spec, Origin::Numbers, &mut Scratch::default(), &stop).unwrap()
            })
            .collect()
    }

    /// Tests that all sets that share a key are candidates, each pair once in a part, unless they
    /// are not similar.
    #[test]
    fn who_shares_a_key_and_is_similar_is_found() -> Result<()> {
        let (sets, stop) = (sets(), Stop::default());
        let sets: Vec<TokenSet<'_>> = sets.iter().map(|set| TokenSet::check(set).unwrap()).collect();
        let plan = Banding::new(12, 2)?;
        for threshold in [0.3, 0.5, 0.8, 1.0] {
            let bounds = bounds(threshold);
            let of = |set| groups(set, &mut minhasher(plan, 3), plan.rows, &bounds, 3, &stop);
            let rows: Vec<Groups> = sets.iter().map(of).collect::<Result<_>>()?;
            let keys = |n: usize| -> BTreeSet<u64> {
                rows[n].parts.iter().flat_map(|(_, keys)| keys_of(keys)).collect()
            };
            let keys: Vec<BTreeSet<u64>> = (0..sets.len()).map(keys).collect();
            let (mut sharing, mut similar) = (BTreeSet::new(), BTreeSet::new());
            for a in 0..sets.len() as u64 {
                for b in a + 1..sets.len() as u64 {
                    let [one, other] = [a, b].map(|n| n as usize);
                    if keys[one].is_disjoint(&keys[other]) {
                        continue;
                    }
                    sharing.insert((a, b));
                    let shared = sets[one].shared(&sets[other], &stop)?;
                    if bounds.predicate().passes(shared, sets[one].len(), sets[other].len()) {
                        similar.insert((a, b));
                    }
                }
            }
            assert!(similar.len() > 50, "{threshold}");
            for budget in [0, 10_000, usize::MAX] {
                let mut found = BTreeSet::new();
                for part in 0..3 {
                    let mut joined = Part::new(*bounds.predicate(), MemoryFiles, budget);
                    for (n, of) in rows.iter().enumerate() {
                        for (_, keys) in of.parts.iter().filter(|(of, _)| *of == part) {
                            joined.add(&[n as u64], of.size, &of.bitmap, Shared::Keys(keys), false)?;
                        }
                    }
                    let mut here = BTreeSet::new();
                    joined.candidates(&PlainThreads(1), &mut |a, b| {
                        assert!(here.insert((a[0].min(b[0]), a[0].max(b[0]))));
                        Ok(())
                    })?;
                    found.extend(here);
                }
                assert!(found.is_superset(&similar) && sharing.is_superset(&found), "{threshold} {budget}");
                // Most of the other pairs are ruled out.
                assert!(threshold < 0.8 || found.len() < similar.len() + sharing.len() / 4, "{threshold}");
            }
        }
        Ok(())
    }

    #[test]
    fn bytes_that_are_no_keys() {
        for bytes in [&[][..], &[2], &[3], &[2, 1, 0], &[2, 4], &[1, 0, 0]] {
            assert!(for_each_key(bytes, |_, _| Ok(())).is_err(), "{bytes:?}");
        }
    }
}
