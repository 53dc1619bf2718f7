//! TLCS beside simhash and the cosine on the same candidates, as in table 1 of Huang et al. (CIKM 2008).

use std::collections::HashMap;
use std::time::Instant;

use neardup::hash;
use neardup::text::words::words;
use neardup::verify::measure::Measure;
use neardup::verify::tlcs::{Comparer, Parameters};
use neardup::workers::Stop;

use crate::corpus::Corpus;
use crate::pairs::{Candidates, Pair, THRESHOLDS, documents, measure, sample, sets};
use crate::plot::table;

/// 64 bits; each word's occurrence adds its hash as a vector of ±1.
fn simhash(text: &str) -> u64 {
    let mut sums = [0i64; 64];
    for word in words(text) {
        let hashed = hash::hash_bytes(word.as_bytes());
        sums.iter_mut()
            .enumerate()
            .for_each(|(bit, sum)| *sum += if hashed >> bit & 1 == 1 { 1 } else { -1 });
    }
    sums.iter().enumerate().fold(0, |bits, (bit, &sum)| bits | u64::from(sum > 0) << bit)
}

/// Precision, labelled pairs found, and time of each method.
pub fn compare(corpora: &[(Corpus, Candidates)]) {
    const PAIRS: usize = 20_000;
    println!("### TLCS, simhash and cosine on the same candidates\n");
    let head =
        ["corpus", "method", "pairs", "precision", "labelled pairs found", "to simhash", "ms", "µs a pair"];
    let mut rows = Vec::new();
    for (corpus, candidates) in corpora {
        let pairs = sample(candidates.pairs(), PAIRS);
        let mut to = f64::NAN;
        let mut report = |method: &str, began: Instant, similar: Vec<bool>| {
            let seconds = began.elapsed().as_secs_f64();
            let known = pairs.iter().zip(&similar).filter(|(pair, _)| !candidates.unknown.contains(pair));
            let found = known.filter(|(_, similar)| **similar).count();
            let right = pairs
                .iter()
                .zip(&similar)
                .filter(|(pair, similar)| **similar && corpus.labelled.contains(pair));
            let right = right.count();
            if method == "simhash" {
                to = right as f64;
            }
            rows.push(vec![
                corpus.name.clone(),
                method.to_owned(),
                found.to_string(),
                if found == 0 { "-".to_owned() } else { format!("{:.3}", right as f64 / found as f64) },
                right.to_string(),
                if to == 0.0 { "-".to_owned() } else { format!("{:.2}", right as f64 / to) },
                format!("{:.0}", seconds * 1e3),
                format!("{:.1}", seconds * 1e6 / pairs.len().max(1) as f64),
            ]);
        };
        let began = Instant::now();
        let sketches: HashMap<u32, u64> =
            documents(&pairs).into_iter().map(|n| (n, simhash(&corpus.texts[n as usize]))).collect();
        let agree = |(a, b): &Pair| (sketches[a] ^ sketches[b]).count_zeros() >= 59;
        report("simhash", began, pairs.iter().map(agree).collect());

        let began = Instant::now();
        let sets = sets(corpus, &pairs);
        let cosine = |(a, b): &Pair| measure(Measure::Cosine, &sets[a], &sets[b]) >= 0.95;
        report("cosine", began, pairs.iter().map(cosine).collect());

        for (name, trustable) in [("LCS", false), ("TLCS", true)] {
            let mut comparer =
                Comparer::new(Parameters { trustable, ..Parameters::default() }).expect("good");
            let (stop, mut left) = (Stop::default(), None);
            let began = Instant::now();
            let similar = |&(a, b): &Pair| {
                if left.replace(a) != Some(a) {
                    comparer.set_left(&corpus.texts[a as usize], &stop).expect("memory");
                }
                let found =
                    comparer.compare_right(&corpus.texts[b as usize], false, Some(&THRESHOLDS), &stop);
                found.expect("memory").is_some()
            };
            let similar = pairs.iter().map(similar).collect();
            report(name, began, similar);
        }
    }
    table(&head.map(str::to_owned), &rows);
}
