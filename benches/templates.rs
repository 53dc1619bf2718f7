//! Pages of a site, whose frame is 10 to 90 % of them: seconds from texts to the last pair, by method.
//!
//!     cargo bench --no-default-features --bench templates [-- PAGES ...]
//!
//! All pages are made here, from fixed numbers (tests/common/pages.rs). PAGES are the largest number of pages for the
//! measures of words and minhash, 10,000 if not given, and for tlcs, 1,000; each is also run with a tenth and, for tlcs, a
//! quarter. The pairs of minhash are compared with those of the exact join: nothing else, and no fewer than promised.

#[path = "common/machine.rs"]
mod machine;
#[path = "../tests/common/pages.rs"]
mod pages;
#[path = "../tests/common/run.rs"]
mod run;

use std::collections::HashSet;
use std::time::Instant;

use neardup::features::FeatureSpec;
use neardup::joins::sentences::signing::StopRules;
use neardup::joins::sketches::banding::Banding;
use neardup::joins::sketches::combination::{Safeguards, TechniqueSpec};
use neardup::methods::Method;
use neardup::methods::account::Account;
use neardup::methods::corpus::Corpus;
use neardup::methods::sets::Sets;
use neardup::methods::sketches::Sketches;
use neardup::methods::tlcs::Tlcs;
use neardup::sketches::sentence;
use neardup::verify::measure::Measure;
use neardup::verify::tlcs::{Parameters, Thresholds};
use neardup::workers::PlainThreads;

use run::{ENOUGH, Found, find};

const THRESHOLD: f64 = 0.9;
const RECALL: f64 = 0.95;
const WORDS_A_PAGE: u64 = 200;

fn main() {
    let arguments: Vec<u64> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let largest = |n: usize, default| arguments.get(n).copied().unwrap_or(default);
    machine::Machine::measure().print();
    println!("\nOne thread, texts of {WORDS_A_PAGE} words, threshold {THRESHOLD}, shingles of 3 words:\n");
    println!("| frame | pages | pairs | exact, s | minhash, s | ratio | handed over | minhash finds |");
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: |");
    for frame in [10, 30, 50, 70, 90] {
        for count in [largest(0, 10_000) / 10, largest(0, 10_000)] {
            sets_and_minhash(frame, count);
        }
    }
    println!("\nThe same pages by tlcs:\n");
    println!("| frame | pages | pairs | s | candidates | aligned |");
    println!("| ---: | ---: | ---: | ---: | ---: | ---: |");
    for frame in [10, 30, 50] {
        for count in [largest(1, 1000) / 4, largest(1, 1000)] {
            tlcs(frame, count);
        }
    }
}

fn timed(method: &dyn Method, texts: &[String]) -> (Found, Account, f64) {
    let began = Instant::now();
    let (found, account) = find(method, Corpus::of_texts(texts), &PlainThreads(1), ENOUGH);
    (found, account, began.elapsed().as_secs_f64())
}

fn sets_and_minhash(frame: u64, count: u64) {
    let texts = pages::pages(count, WORDS_A_PAGE, frame);
    let feature = FeatureSpec { shingle: 3, multiset: false, ..FeatureSpec::WORDS };
    let measure = Sets::of_words(Measure::Jaccard, THRESHOLD).expect("a good threshold");
    let (all, _, exact) = timed(&Sets { spec: feature, ..measure }, &texts);
    let plan = Banding::for_recall(THRESHOLD, RECALL).expect("a good recall");
    let spec = TechniqueSpec::Minhash { feature, plan, seed: 1, threshold: THRESHOLD, verify: true };
    let mut method = Sketches::of(spec);
    method.combination.most = Some(10_000);
    method.safeguards = Safeguards { sample: 1000, hand_over: true };
    let (found, account, seconds) = timed(&method, &texts);
    let known: HashSet<_> = all.iter().collect();
    assert!(found.iter().all(|pair| known.contains(pair)), "minhash finds similar pairs only");
    let share = found.len() as f64 / all.len().max(1) as f64;
    assert!(all.is_empty() || share >= RECALL - 0.05, "minhash finds {share} of the pairs");
    println!(
        "| {frame} % | {count} | {} | {exact:.2} | {seconds:.2} | {:.1} | {} | {share:.3} |",
        all.len(),
        seconds / exact,
        if account.handed_over { "yes" } else { "no" },
    );
}

fn tlcs(frame: u64, count: u64) {
    let texts = pages::pages(count, WORDS_A_PAGE, frame);
    let method = Tlcs {
        signatures: sentence::Parameters::default(),
        rules: StopRules::default(),
        parameters: Parameters::default(),
        thresholds: Thresholds { resemblance: 0.28, containment: Some(0.7) },
        weight: None,
    };
    let (found, account, seconds) = timed(&method, &texts);
    let counts = account.counts;
    println!(
        "| {frame} % | {count} | {} | {seconds:.2} | {} | {} |",
        found.len(),
        counts.candidates,
        counts.verified
    );
}
