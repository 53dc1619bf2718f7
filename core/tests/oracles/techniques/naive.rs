//! Sketches and rules by their definitions, and the search by comparing all pairs.

use super::*;

/// Hashes of shingles, by the definition.
pub fn shingles(text: &str, k: usize, wrap: bool) -> Vec<u64> {
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
pub fn simhash(elements: &[u64], bits: usize) -> Vec<bool> {
    let vector = |element: u64, bit: usize| {
        let word = (bit as u64 / 64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        if mix(element.wrapping_add(word)) << (bit % 64) >> 63 == 1 { 1i64 } else { -1 }
    };
    (0..bits).map(|bit| elements.iter().map(|&element| vector(element, bit)).sum::<i64>() > 0).collect()
}

pub fn agreeing<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a == b).count()
}

/// Minhash values.
pub fn minhash(elements: &[u64], m: u64, seed: i64) -> Vec<u32> {
    let start = mix(seed.cast_unsigned());
    let drawn = |n: u64| (mix(start.wrapping_add(n)) >> 32) as u32;
    let value = |i: u64, element: u64| {
        ((mix(element) >> 32) as u32).wrapping_mul(drawn(2 * i) | 1).wrapping_add(drawn(2 * i + 1))
    };
    let least = |i: u64| elements.iter().map(|&element| value(i, element)).min();
    (0..m).map(|i| least(i).expect("an element")).collect()
}

/// The similarity of two texts by one technique, where it is enough; `a` is the left text.
pub fn naive_technique(spec: &TechniqueSpec, a: &str, b: &str) -> Option<f64> {
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

pub fn naive_sets(measure: Measure, a: &[u64], b: &[u64]) -> f64 {
    let [a, b] = [a, b].map(|set| set.iter().collect::<BTreeSet<_>>());
    measure.similarity(a.intersection(&b).count() as u32, a.len() as u32, b.len() as u32)
}

pub fn naive_rule(
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
pub fn naive(
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
