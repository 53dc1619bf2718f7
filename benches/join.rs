//! The exact join on ready integer sets against a textbook PPJoin, in one run.
//!
//!     cargo bench -p neardup-benches --bench join -- DIR [NAME:THRESHOLD …] [threads=N] [algorithms] [weights]
//!     cargo bench -p neardup-benches --bench join -- machine
//!
//! DIR holds NAME.sets (see benches/README.md). Prints seconds and their ratio to the textbook's; the numbers
//! of pairs must agree. With `algorithms` the join is made by each of ours instead, on one thread: seconds, and
//! how many candidates are verified, of which PPJoin+ has the fewest and All-Pairs the most in Xiao et al. With
//! `weights` tokens weigh by frequency instead, in one thread, and the ratio is to ours without weights. With
//! `machine` in the place of DIR only the machine is described.

#[path = "common/machine.rs"]
mod machine;
#[path = "peers/textbook.rs"]
mod textbook;

use std::path::PathBuf;
use std::time::Instant;

use neardup_core::executor::PlainThreads;
use neardup_core::features::FeatureSpec;
use neardup_core::features::dictionary::weights::Weights;
use neardup_core::features::tokens::Document;
use neardup_core::joins::Algorithm;
use neardup_core::joins::pairs::Pairs;
use neardup_core::methods::Method;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::Quiet;
use neardup_core::methods::reading::Reading;
use neardup_core::methods::sets::Sets;
use neardup_core::storage::files::{NoFiles, Resources};
use neardup_core::verify::measure::Measure;
use neardup_core::verify::predicate::Predicate;

const RUNS: [(&str, f64); 10] = [
    ("reuters", 0.9),
    ("reuters", 0.8),
    ("reuters", 0.6),
    ("rules", 0.9),
    ("rules", 0.8),
    ("rules", 0.6),
    ("big200k", 0.9),
    ("big200k", 0.8),
    ("big200k", 0.6),
    ("big200k_sh5", 0.8),
];

/// In the order of Xiao et al. (WWW 2008), then what is used where nobody chooses.
const ALGORITHMS: [(&str, Algorithm); 4] = [
    ("All-Pairs", Algorithm::AllPairs),
    ("PPJoin", Algorithm::PpJoin),
    ("PPJoin+", Algorithm::PpJoinPlus(2)),
    ("ours", Algorithm::Auto),
];

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let Some(dir) = args.next().map(PathBuf::from) else {
        eprintln!(
            "usage: cargo bench -p neardup-benches --bench join -- DIR [NAME:THRESHOLD …] [threads=N] [algorithms]"
        );
        return;
    };
    let (mut threads, mut algorithms, mut weights, mut runs) = (vec![1, 4], false, false, Vec::new());
    for arg in args {
        if let Some(n) = arg.strip_prefix("threads=") {
            threads = vec![n.parse().expect("a number of threads")];
        } else if arg == "algorithms" {
            algorithms = true;
        } else if arg == "weights" {
            weights = true;
        } else {
            let (name, t) = arg.split_once(':').expect("NAME:THRESHOLD");
            runs.push((name.to_owned(), t.parse().expect("a threshold")));
        }
    }
    if runs.is_empty() {
        runs = RUNS.iter().map(|(name, t)| ((*name).to_owned(), *t)).collect();
    }
    let machine = machine::Machine::measure();
    machine.print();
    if dir.as_os_str() == "machine" {
        return;
    }
    println!();
    if algorithms {
        head(&ALGORITHMS.map(|(name, _)| (format!("{name}, s"), "verified".to_owned())));
    } else {
        head(&threads.iter().map(|n| (format!("ours {n}, s"), "ratio".to_owned())).collect::<Vec<_>>());
    }
    for (name, t) in runs {
        let Ok(sets) = textbook::Sets::read(&dir.join(format!("{name}.sets"))) else {
            eprintln!("{name} {t}: skipped, there is no {name}.sets");
            continue;
        };
        if weights {
            for measure in [Measure::Jaccard, Measure::Cosine] {
                let by = |weights| ours(&sets, measure, t, Algorithm::Auto, 1, weights);
                let (plain, weighed) = (by(Weights::Equal), by(Weights::Idf));
                let [a, b] =
                    [&plain, &weighed].map(|of| format!("{:.3} s, {} pairs, {} verified", of.0, of.1, of.2));
                println!("{name} {t} {measure:?}: {a}; weighed {b}: {:.2}", weighed.0 / plain.0);
            }
            continue;
        }
        let (textbook, found) = best(|| (), |()| textbook::join(&sets, t));
        // No join is done before it has read every token.
        let floor = (sets.tokens.len() * size_of::<u32>()) as f64 / machine.memcpy / 1e9;
        print!(
            "| {name:<12} | {t:>4} | {:>9} | {floor:>8.4} | {textbook:>11.4} | {:>10} |",
            found.pairs, found.candidates
        );
        if algorithms {
            for (_, algorithm) in ALGORITHMS {
                let (seconds, pairs, verified) =
                    ours(&sets, Measure::Jaccard, t, algorithm, 1, Weights::Equal);
                assert_eq!(pairs, found.pairs, "both find all pairs");
                print!(" {seconds:>12.4} | {verified:>10} |");
            }
        } else {
            for &threads in &threads {
                let (seconds, pairs, _) =
                    ours(&sets, Measure::Jaccard, t, Algorithm::Auto, threads, Weights::Equal);
                assert_eq!(pairs, found.pairs, "both find all pairs");
                print!(" {seconds:>12.4} | {:>10.2} |", seconds / textbook);
            }
        }
        println!();
    }
}

/// The head of the table: what all have, and pairs of columns.
fn head(columns: &[(String, String)]) {
    print!(
        "| {:<12} | {:>4} | {:>9} | {:>8} | {:>11} | {:>10} |",
        "input", "t", "pairs", "floor, s", "textbook, s", "verified"
    );
    columns.iter().for_each(|(a, b)| print!(" {a:>12} | {b:>10} |"));
    print!("\n|{:-<14}|{:->5}:|{:->10}:|{:->9}:|{:->12}:|{:->11}:|", "", "", "", "", "", "");
    columns.iter().for_each(|_| print!("{:->13}:|{:->11}:|", "", ""));
    println!();
}

/// Seconds of `work` on what `prepare` made, the least of three times where once takes less than 2 s.
fn best<P, R>(mut prepare: impl FnMut() -> P, mut work: impl FnMut(P) -> R) -> (f64, R) {
    let mut once = || {
        let prepared = prepare();
        let began = Instant::now();
        let result = work(prepared);
        (began.elapsed().as_secs_f64(), result)
    };
    let (mut least, result) = once();
    if least < 2.0 {
        least = least.min(once().0).min(once().0);
    }
    (least, result)
}

/// Seconds of the join from ordered records on, and how many pairs were found and verified.
fn ours(
    sets: &textbook::Sets,
    measure: Measure,
    t: f64,
    algorithm: Algorithm,
    threads: usize,
    weights: Weights,
) -> (f64, u64, u64) {
    let predicate = Predicate::new(measure, t).expect("a threshold");
    let executor = PlainThreads(threads);
    let (seconds, pairs) = best(
        || prepare(sets, predicate, algorithm, weights.clone()),
        |mut pairs| {
            while pairs.next(&executor).expect("memory").is_some() {}
            pairs
        },
    );
    (seconds, pairs.given(), pairs.counts().verified)
}

/// The sets as records in order: what a call has read when it begins to join.
fn prepare(sets: &textbook::Sets, predicate: Predicate, algorithm: Algorithm, weights: Weights) -> Pairs {
    let spec = FeatureSpec { multiset: false, ..FeatureSpec::WORDS };
    let method = Sets { spec, predicate, algorithm, weights };
    let numbers = |n| sets.set(n).iter().map(|&token| i64::from(token)).collect();
    let mut corpus = Corpus::new(sets.len(), |n| Some(Document::Numbers(numbers(n))));
    let resources = Resources { files: &NoFiles, budget: 1 << 40, executor: &PlainThreads(4) };
    method.pairs(&mut Reading::new(&mut corpus, &mut Quiet, resources)).expect("memory")
}
