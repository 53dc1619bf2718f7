//! Techniques and their combinations against naive implementations: of the sketches by their definitions, and of
//! the search by comparing all pairs; on random texts, and on the corpora of NEARDUP_DATA where these are.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use flate2::read::GzDecoder;
use neardup::candidates::bands::Bands;
use neardup::candidates::combination::{Combination, Documents, Resources, TechniqueSpec, join};
use neardup::candidates::pairs::Pairs;
use neardup::candidates::prefix_join::Algorithm;
use neardup::candidates::technique::Rule;
use neardup::features::FeatureSpec;
use neardup::features::collect::Collector;
use neardup::features::dictionary::Dictionary;
use neardup::features::hash_sets::HashSets;
use neardup::features::numbering::number;
use neardup::features::order::order;
use neardup::features::store::{MemoryFiles, NoFiles, TempFiles};
use neardup::features::tokens::Document;
use neardup::hash::{hash_bytes, hash_sequence, mix};
use neardup::sketches::sign::Signer;
use neardup::text::words::words;
use neardup::verify::measure::{Measure, Predicate};
use neardup::workers::{PlainThreads, Stop};
use proptest::prelude::*;

type Found = BTreeMap<(u32, u32), f64>;

/// How a combination is run.
#[derive(Debug, Clone, Copy)]
struct Run {
    threads: usize,
    right_from: Option<u32>,
    spill: bool,
    budget: usize,
}

const PLAIN: Run = Run { threads: 4, right_from: None, spill: false, budget: 1 << 30 };

/// The pairs that the code under test finds.
fn find(combination: &Combination, texts: &[String], sites: Option<&[u32]>, run: Run) -> Found {
    let workers = PlainThreads(run.threads);
    let (recipe, comparison) = combination.compile(sites.is_some()).unwrap();
    let mut signers: Vec<_> = (0..run.threads).map(|_| Signer::new(&recipe)).collect();
    let mut sets = HashSets::new();
    for (row, text) in texts.iter().enumerate() {
        let document = Document::Text(text.clone());
        signers[row % run.threads].add(row as u32, &document, &Stop::default()).unwrap();
        if run.spill && row % 5 == 0 {
            let mut own: Vec<_> = signers.iter_mut().map(|signer| std::mem::take(&mut signer.sets)).collect();
            sets.spill(&mut own, &MemoryFiles).unwrap();
        }
    }
    let documents = Documents { signers, sets, sites, right_from: run.right_from };
    let files: &dyn TempFiles = if run.spill { &MemoryFiles } else { &NoFiles };
    let resources = Resources { files, budget: run.budget, workers: &workers };
    let mut pairs = join(documents, &recipe, comparison, 0, resources).unwrap().pairs;
    let mut found = Found::new();
    while let Some(pair) = pairs.next(&workers).unwrap() {
        let key = (pair.left.min(pair.right), pair.left.max(pair.right));
        assert!(found.insert(key, pair.similarity).is_none(), "{key:?} comes once");
    }
    found
}

/// Hashes of shingles, by the definition.
fn shingles(text: &str, k: usize, wrap: bool) -> Vec<u64> {
    let hashes: Vec<u64> = words(text).iter().map(|word| hash_bytes(word.as_bytes())).collect();
    let n = hashes.len();
    let window = |start: usize, k: usize| -> Vec<u64> { (start..start + k).map(|i| hashes[i % n]).collect() };
    let of = |window: Vec<u64>| if k == 1 { window[0] } else { hash_sequence(&window, &mut Vec::new()) };
    match n {
        0 => Vec::new(),
        n if n < k => vec![of(window(0, n))],
        n => (0..if wrap { n } else { n - k + 1 }).map(|start| of(window(start, k))).collect(),
    }
}

/// Simhash: a sum of ±1 for each bit. Words of the sketch, the most significant bit first.
fn simhash(elements: &[u64], bits: usize) -> Vec<bool> {
    let vector = |element: u64, bit: usize| {
        let word = (bit as u64 / 64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        if mix(element.wrapping_add(word)) << (bit % 64) >> 63 == 1 { 1i64 } else { -1 }
    };
    (0..bits).map(|bit| elements.iter().map(|&element| vector(element, bit)).sum::<i64>() > 0).collect()
}

fn agreeing<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a == b).count()
}

/// Minhash values.
fn minhash(elements: &[u64], m: u64, seed: i64) -> Vec<u32> {
    let start = mix(seed.cast_unsigned());
    let drawn = |n: u64| (mix(start.wrapping_add(n)) >> 32) as u32;
    let value = |i: u64, element: u64| {
        ((mix(element) >> 32) as u32).wrapping_mul(drawn(2 * i) | 1).wrapping_add(drawn(2 * i + 1))
    };
    let least = |i: u64| elements.iter().map(|&element| value(i, element)).min();
    (0..m).map(|i| least(i).expect("an element")).collect()
}

/// The similarity of two texts by one technique, where it is enough; `a` is the left text.
fn naive_technique(spec: &TechniqueSpec, a: &str, b: &str) -> Option<f64> {
    let enough = |similarity: f64, threshold: f64| (similarity >= threshold).then_some(similarity);
    match *spec {
        TechniqueSpec::Simhash { feature, bits, frequency, threshold } => {
            let [x, y] = [a, b].map(|text| {
                let mut elements = shingles(text, feature.shingle, false);
                if !frequency {
                    elements = elements.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
                }
                simhash(&elements, bits.into())
            });
            enough(agreeing(&x, &y) as f64 / f64::from(bits), threshold)
        }
        TechniqueSpec::Shingling { feature, values, groups, seed, threshold, .. } => {
            let [x, y] = [a, b]
                .map(|text| minhash(&shingles(text, feature.shingle, feature.wrap), values.into(), seed));
            let size = usize::from(values / groups);
            let (x, y): (Vec<_>, Vec<_>) = (x.chunks(size).collect(), y.chunks(size).collect());
            enough(agreeing(&x, &y) as f64 / f64::from(groups), threshold)
        }
        TechniqueSpec::Minhash { feature, plan, seed, threshold, verify } => {
            let [x, y] = [a, b].map(|text| shingles(text, feature.shingle, false));
            let [u, v] = [&x, &y].map(|elements| minhash(elements, plan.values() as u64, seed));
            if agreeing(&u.chunks(plan.rows).collect::<Vec<_>>(), &v.chunks(plan.rows).collect::<Vec<_>>())
                == 0
            {
                return None;
            }
            if verify {
                return enough(naive_sets(Measure::Jaccard, &x, &y), threshold);
            }
            enough(agreeing(&u, &v) as f64 / plan.values() as f64, threshold)
        }
        TechniqueSpec::ExactText { clean, .. } => {
            let clean =
                |text: &str| text.chars().filter(|c| !clean || !c.is_whitespace()).collect::<String>();
            (clean(a) == clean(b)).then_some(1.0)
        }
        TechniqueSpec::Sets { feature, predicate } => {
            let [x, y] = [a, b].map(|text| shingles(text, feature.shingle, false));
            enough(naive_sets(Measure::Cosine, &x, &y), predicate.threshold())
        }
    }
}

fn naive_sets(measure: Measure, a: &[u64], b: &[u64]) -> f64 {
    let [a, b] = [a, b].map(|set| set.iter().collect::<BTreeSet<_>>());
    measure.similarity(a.intersection(&b).count() as u32, a.len() as u32, b.len() as u32)
}

fn naive_rule(
    rule: &Rule,
    techniques: &[TechniqueSpec],
    (a, b): (&str, &str),
    same_site: bool,
) -> Option<f64> {
    let of = |rule| naive_rule(rule, techniques, (a, b), same_site);
    match rule {
        Rule::Technique(n) => naive_technique(&techniques[*n], a, b),
        Rule::All(rules) => {
            let all: Option<Vec<f64>> = rules.iter().map(of).collect();
            all.and_then(|all| all.last().copied())
        }
        Rule::Any(rules) => rules.iter().find_map(of),
        Rule::BySite { same, different, .. } => {
            if same_site { same } else { different }.as_ref().and_then(|rule| of(rule))
        }
    }
}

/// All pairs, one by one.
fn naive(
    combination: &Combination,
    texts: &[String],
    sites: Option<&[u32]>,
    right_from: Option<u32>,
) -> Found {
    let mut found = Found::new();
    let n = texts.len() as u32;
    for a in 0..right_from.unwrap_or(n).min(n) {
        for b in right_from.unwrap_or(a + 1)..n {
            let (x, y) = (&texts[a as usize], &texts[b as usize]);
            if words(x).is_empty() || words(y).is_empty() {
                continue;
            }
            let same_site = sites.is_some_and(|sites| {
                let site = sites[a as usize];
                site == sites[b as usize] && site != u32::MAX
            });
            let pair = naive_rule(&combination.rule, &combination.techniques, (x, y), same_site);
            if let Some(similarity) = pair {
                found.insert((a, b), similarity);
            }
        }
    }
    found
}

fn words_of(shingle: usize, wrap: bool) -> FeatureSpec {
    FeatureSpec { shingle, wrap, multiset: false, ..FeatureSpec::WORDS }
}

/// Techniques with parameters at which short random texts are similar now and then.
fn techniques() -> Vec<TechniqueSpec> {
    let cosine = Predicate::new(Measure::Cosine, 0.6).unwrap();
    let shingling = |threshold: f64, wrap, megashingles| TechniqueSpec::Shingling {
        feature: words_of(2, wrap),
        values: 12,
        groups: 6,
        seed: 7,
        threshold,
        megashingles,
    };
    let simhash = |bits, shingle, frequency, threshold| TechniqueSpec::Simhash {
        feature: words_of(shingle, false),
        bits,
        frequency,
        threshold,
    };
    let minhash = |verify| TechniqueSpec::Minhash {
        feature: words_of(2, false),
        plan: Bands { bands: 5, rows: 3 },
        seed: 1,
        threshold: 0.5,
        verify,
    };
    vec![
        shingling(2.0 / 6.0, false, false),
        shingling(2.0 / 6.0, true, true),
        shingling(0.5, false, true),
        shingling(1.0, false, false),
        simhash(64, 1, true, 61.0 / 64.0),
        simhash(384, 1, true, 372.0 / 384.0),
        simhash(64, 2, false, 0.8),
        simhash(128, 1, true, 0.6),
        simhash(1024, 1, false, 0.9),
        minhash(true),
        minhash(false),
        TechniqueSpec::ExactText { clean: true, html: false },
        TechniqueSpec::Sets { feature: words_of(2, false), predicate: cosine },
    ]
}

const SOURCES: usize = 12;

fn rule() -> impl Strategy<Value = Rule> {
    let leaf = (0..SOURCES).prop_map(Rule::Technique);
    leaf.prop_recursive(3, 8, 3, |inner| {
        // Whether minhash finds a pair depends on who asks: as a filter it only compares.
        prop_oneof![
            (prop::collection::vec(inner.clone(), 1..3), prop::bool::ANY).prop_map(|(mut rules, sets)| {
                if sets {
                    rules.push(Rule::Technique(SOURCES));
                }
                Rule::All(rules)
            }),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Rule::Any),
            (prop::option::of(inner.clone()), prop::option::of(inner)).prop_map(|(same, different)| {
                Rule::BySite { at: 0, same: same.map(Box::new), different: different.map(Box::new) }
            }),
        ]
    })
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    let word = prop_oneof![Just("a"), Just("b"), Just("c"), Just("字"), Just("long"), Just(" ")];
    let text = prop::collection::vec(word, 0..14).prop_map(|words| words.join(" "));
    // Texts that are near others, and equal ones.
    (prop::collection::vec(text, 0..12), prop::collection::vec((0..100usize, "[ab]? ?"), 0..10)).prop_map(
        |(mut texts, copies)| {
            for (n, more) in copies {
                if let Some(text) = texts.get(n % texts.len().max(1)) {
                    texts.push(format!("{text} {more}"));
                }
            }
            texts
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn single_techniques_equal_all_pairs(
        texts in texts(),
        technique in 0..SOURCES,
        right in prop::option::of(0..12u32),
        threads in 1..4usize,
        spill in prop::bool::ANY,
    ) {
        let combination =
            Combination { techniques: techniques(), rule: Rule::Technique(technique), most: None };
        let right_from = right.map(|right| right.min(texts.len() as u32));
        let run = Run { threads, right_from, spill, budget: if spill { 64 } else { 1 << 20 } };
        let found = find(&combination, &texts, None, run);
        prop_assert_eq!(found, naive(&combination, &texts, None, right_from));
    }

    #[test]
    fn rules_equal_all_pairs(
        texts in texts(),
        rule in rule(),
        sites in prop::collection::vec(prop_oneof![0..3u32, Just(u32::MAX)], 30),
        right in prop::option::of(0..12u32),
        threads in 1..4usize,
    ) {
        // Minhash is left out: who shares no band is found where another technique makes the candidates.
        let mut techniques = techniques();
        for n in [9, 10] {
            techniques[n] = TechniqueSpec::ExactText { clean: true, html: false };
        }
        let combination = Combination { techniques, rule, most: None };
        let right_from = right.map(|right| right.min(texts.len() as u32));
        let run = Run { threads, right_from, spill: false, budget: 1 << 20 };
        let sites = &sites[..texts.len()];
        let found = find(&combination, &texts, Some(sites), run);
        prop_assert_eq!(found, naive(&combination, &texts, Some(sites), right_from));
    }
}

/// The share of agreeing bits follows the angle: 1 - θ/π (Charikar 2002; Goemans, Williamson 1995).
#[test]
fn agreeing_bits_follow_the_angle() {
    const BITS: usize = 1024;
    const PAIRS: u64 = 300;
    const TOKENS: u64 = 400;
    for shared in [40, 200, 320, 380, 396] {
        let mut agree = 0;
        for pair in 0..PAIRS {
            let token = |of: u64, n: u64| mix(pair << 32 | of << 20 | n);
            let set = |of: u64| -> Vec<u64> {
                (0..TOKENS).map(|n| token(if n < shared { 0 } else { of }, n)).collect()
            };
            agree += agreeing(&simhash(&set(1), BITS), &simhash(&set(2), BITS));
        }
        let cosine = shared as f64 / TOKENS as f64;
        let expected = 1.0 - cosine.acos() / std::f64::consts::PI;
        let trials = (PAIRS as usize * BITS) as f64;
        // Four standard errors; ties, which give 0, move the share by less than 1/√(π · tokens / 2) of a bit's error.
        let bound = 4.0 * (expected * (1.0 - expected) / trials).sqrt() + 0.004;
        let share = agree as f64 / trials;
        assert!((share - expected).abs() < bound, "{shared}: {share}, expected {expected} ± {bound}");
    }
}

/// The share of agreeing values is the resemblance, with the standard error sqrt(J (1 - J) / m).
#[test]
fn agreeing_values_follow_the_resemblance() {
    const VALUES: u64 = 256;
    const PAIRS: u64 = 300;
    const TOKENS: u64 = 200;
    for shared in [20, 100, 160, 190, 198] {
        let (mut agree, mut squares) = (0.0, 0.0);
        let resemblance = shared as f64 / (2 * TOKENS - shared) as f64;
        for pair in 0..PAIRS {
            let token = |of: u64, n: u64| mix(pair << 32 | of << 20 | n);
            let set = |of: u64| -> Vec<u64> {
                (0..TOKENS).map(|n| token(if n < shared { 0 } else { of }, n)).collect()
            };
            let seed = pair as i64;
            let share = agreeing(&minhash(&set(1), VALUES, seed), &minhash(&set(2), VALUES, seed)) as f64
                / VALUES as f64;
            agree += share;
            squares += (share - resemblance).powi(2);
        }
        let error = (resemblance * (1.0 - resemblance) / VALUES as f64).sqrt();
        let mean = agree / PAIRS as f64;
        assert!((mean - resemblance).abs() < 4.0 * error / (PAIRS as f64).sqrt(), "{shared}: {mean}");
        // The error too is what theory says, within a quarter.
        let measured = (squares / PAIRS as f64).sqrt();
        assert!((measured / error - 1.0).abs() < 0.25, "{shared}: {measured}, expected {error}");
    }
}

/// The texts of a corpus.
fn corpus(folder: &std::path::Path) -> Option<Vec<String>> {
    let file = File::open(folder.join("docs.jsonl.gz")).ok()?;
    let text = |line: std::io::Result<String>| {
        let document: serde_json::Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        document["text"].as_str().unwrap_or_default().to_owned()
    };
    Some(BufReader::new(GzDecoder::new(file)).lines().map(text).collect())
}

fn corpora() -> Vec<(String, Vec<String>)> {
    let folder = std::env::var_os("NEARDUP_DATA").map(PathBuf::from);
    let Some(entries) = folder.and_then(|folder| std::fs::read_dir(folder).ok()) else { return Vec::new() };
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    folders.sort();
    let name = |folder: &PathBuf| folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    folders.iter().filter_map(|folder| Some((name(folder), corpus(folder)?))).collect()
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

/// Every corpus: simhash at distance 3 of 64 and at 372 of 384, B-similarity with and without megashingles, its
/// combination with C-similarity, and the union of that with the C-similar pairs at 97 %.
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
    let workers = PlainThreads(4);
    let mut collector = Collector::new(words_of(shingle, false));
    for (row, text) in (0..).zip(texts) {
        collector.add(row, &Document::Text(text.clone()), &Stop::default()).unwrap();
    }
    let predicate = Predicate::new(Measure::Jaccard, threshold).unwrap();
    let mut dictionary = Dictionary::default();
    number(&mut dictionary, std::slice::from_mut(&mut collector), &workers).unwrap();
    let ordered = order(vec![collector], dictionary, None, &workers).unwrap();
    let mut pairs = Pairs::new(ordered, predicate, Algorithm::Auto, usize::MAX).unwrap();
    let mut found = Found::new();
    while let Some(pair) = pairs.next(&workers).unwrap() {
        found.insert((pair.left.min(pair.right), pair.left.max(pair.right)), pair.similarity);
    }
    found
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
                let plan = Bands::for_recall(threshold, recall).unwrap();
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
