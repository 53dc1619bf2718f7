//! The corpora of NEARDUP_DATA, where these are, against comparing all pairs and against the exact
//! join.

use neardup_core::methods::sets::Sets;

use super::*;
use crate::common::corpora as read;

fn corpora() -> Vec<(String, Vec<String>)> {
    let Some(folder) = std::env::var_os("NEARDUP_DATA").and_then(|_| read::folder("techniques")) else {
        return Vec::new();
    };
    read::names(&folder).into_iter().map(|name| (name.clone(), read::texts(&folder, &name))).collect()
}

/// Sketches of all texts by definition, as numbers that are compared position by position.
fn all_sketches<T: Send>(texts: &[String], sketch: impl Fn(&str) -> T + Sync) -> Vec<T> {
    const THREADS: usize = 4;
    let share = texts.len().div_ceil(THREADS).max(1);
    std::thread::scope(|scope| {
        let shares = texts.chunks(share).map(|texts| {
            let sketch = &sketch;
            scope.spawn(move || texts.iter().map(|text| sketch(text)).collect::<Vec<_>>())
        });
        let shares: Vec<_> = shares.collect();
        shares.into_iter().flat_map(|share| share.join().expect("no panic")).collect()
    })
}

/// All pairs of rows that pass, each compared.
fn brute_force(n: usize, similar: impl Fn(usize, usize) -> Option<f64> + Sync) -> Found {
    const THREADS: usize = 4;
    std::thread::scope(|scope| {
        let shares: Vec<_> = (0..THREADS)
            .map(|thread| {
                let similar = &similar;
                scope.spawn(move || {
                    let mut found = Vec::new();
                    for a in (thread..n).step_by(THREADS) {
                        for b in a + 1..n {
                            if let Some(similarity) = similar(a, b) {
                                found.push(((a as u32, b as u32), similarity));
                            }
                        }
                    }
                    found
                })
            })
            .collect();
        shares.into_iter().flat_map(|share| share.join().expect("no panic")).collect()
    })
}

fn bits_of(text: &str, bits: usize) -> Vec<u64> {
    let bits = simhash(&shingles(text, 1, false), bits);
    bits.chunks(64).map(|word| word.iter().fold(0, |w, &bit| w << 1 | u64::from(bit))).collect()
}

/// Every corpus: simhash at distance 3 of 64 and at 372 of 384, B-similarity with and without
/// megashingles, its combination with C-similarity, and the union of that with the C-similar pairs
/// at 97 %.
#[test]
fn corpora_equal_brute_force() {
    for (name, texts) in corpora() {
        let n = texts.len();
        let empty: Vec<bool> = texts.iter().map(|text| words(text).is_empty()).collect();
        let small = all_sketches(&texts, |text| bits_of(text, 64));
        let large = all_sketches(&texts, |text| bits_of(text, 384));
        let shingled = all_sketches(&texts, |text| {
            let shingles = shingles(text, 8, false);
            if shingles.is_empty() {
                return vec![0; 6];
            }
            let values = minhash(&shingles, 84, 1);
            let group = |values: &[u32]| {
                hash_bytes(&values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
            };
            values.chunks(14).map(group).collect::<Vec<u64>>()
        });
        let differ =
            |a: &[u64], b: &[u64]| -> u32 { a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum() };
        let some = |a: usize, b: usize| !empty[a] && !empty[b];
        let near = |a: usize, b: usize, most: u32| {
            let distance = differ(&large[a], &large[b]);
            (distance <= most).then(|| f64::from(384 - distance) / 384.0)
        };
        let simhash = |bits, threshold| TechniqueSpec::Simhash {
            feature: words_of(1, false),
            bits,
            frequency: true,
            threshold,
        };
        let shingling = |megashingles| TechniqueSpec::Shingling {
            feature: words_of(8, false),
            values: 84,
            groups: 6,
            seed: 1,
            threshold: 2.0 / 6.0,
            megashingles,
        };
        let techniques = vec![
            simhash(64, 61.0 / 64.0),
            simhash(384, 372.0 / 384.0),
            shingling(false),
            shingling(true),
            simhash(384, 0.97),
        ];
        let check = |rule: Rule, expected: &Found, what: &str| {
            let combination = Combination { techniques: techniques.clone(), rule, most: None };
            let found = find(&combination, &texts, None, PLAIN);
            assert_eq!(found.len(), expected.len(), "{name}: {what}");
            assert!(found == *expected, "{name}: {what}: pairs or similarities differ");
        };
        let expected = brute_force(n, |a, b| {
            let distance = differ(&small[a], &small[b]);
            (some(a, b) && distance <= 3).then(|| f64::from(64 - distance) / 64.0)
        });
        check(Rule::Technique(0), &expected, "simhash 64");
        let c_similar = brute_force(n, |a, b| near(a, b, 12).filter(|_| some(a, b)));
        check(Rule::Technique(1), &c_similar, "simhash 384");
        let b_similar = brute_force(n, |a, b| {
            let agree = agreeing(&shingled[a], &shingled[b]);
            (some(a, b) && agree >= 2).then(|| agree as f64 / 6.0)
        });
        check(Rule::Technique(2), &b_similar, "shingling");
        check(Rule::Technique(3), &b_similar, "megashingles");
        let both: Found = c_similar
            .iter()
            .filter(|(pair, _)| b_similar.contains_key(pair))
            .map(|(pair, similarity)| (*pair, *similarity))
            .collect();
        let chain = Rule::All(vec![Rule::Technique(2), Rule::Technique(1)]);
        check(chain.clone(), &both, "combined");
        let mut union = both.clone();
        union.extend(c_similar.iter().filter(|(_, similarity)| **similarity >= 0.97).map(|(p, s)| (*p, *s)));
        check(Rule::Any(vec![chain, Rule::Technique(4)]), &union, "high recall");
        eprintln!(
            "sketches: {name}: {n} documents, {} B-similar, {} C-similar, {} both, {} in the union",
            b_similar.len(),
            c_similar.len(),
            both.len(),
            union.len()
        );
    }
}

/// The exact pairs, by the exact join.
fn exact(texts: &[String], shingle: usize, threshold: f64) -> Found {
    let sets =
        Sets { spec: words_of(shingle, false), ..Sets::of_words(Measure::Jaccard, threshold).unwrap() };
    let pairs = Corpus::of_texts(texts).pairs(&sets).unwrap();
    pairs.into_iter().map(|pair| ((pair.left, pair.right), pair.similarity)).collect()
}

/// The recall that was asked for is found, and nothing that is not similar.
#[test]
fn corpora_keep_the_recall() {
    for (name, texts) in corpora() {
        if !["en_reuters_a", "lic_scancode_a", "zh_poetry_a"].contains(&name.as_str()) {
            continue;
        }
        for threshold in [0.7, 0.8, 0.9] {
            let exact = exact(&texts, 5, threshold);
            for recall in [0.95, 0.99] {
                let plan = Banding::for_recall(threshold, recall).unwrap();
                let spec = TechniqueSpec::Minhash {
                    feature: words_of(5, false),
                    plan,
                    seed: 1,
                    threshold,
                    verify: true,
                };
                let combination =
                    Combination { techniques: vec![spec], rule: Rule::Technique(0), most: Some(10_000) };
                let found = find(&combination, &texts, None, PLAIN);
                let right = found.iter().all(|(pair, similarity)| exact.get(pair) == Some(similarity));
                assert!(right, "{name} {threshold}: every pair is one of the exact join");
                let measured = found.len() as f64 / exact.len() as f64;
                eprintln!(
                    "sketches: {name} {threshold} {recall}: {} pairs, recall {measured:.4}",
                    exact.len()
                );
                assert!(measured >= recall, "{name} {threshold}: recall {measured}, asked {recall}");
            }
        }
    }
}
