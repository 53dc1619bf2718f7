//! The exact join on ready integer sets against a textbook PPJoin, in one run.
//!
//!     cargo bench --no-default-features --bench join -- DIR [NAME:THRESHOLD …] [threads=N]
//!
//! DIR holds NAME.sets (see benches/README.md). Prints seconds and the ratio; numbers of pairs must agree.

#[path = "peers/textbook.rs"]
mod textbook;

use std::path::PathBuf;
use std::time::Instant;

use neardup::candidates::pairs::Pairs;
use neardup::candidates::prefix_join::Algorithm;
use neardup::features::FeatureSpec;
use neardup::features::collect::Collector;
use neardup::features::order::order;
use neardup::features::tokens::Document;
use neardup::verify::measure::{Measure, Predicate};
use neardup::workers::{PlainThreads, Stop};

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

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let Some(dir) = args.next().map(PathBuf::from) else {
        eprintln!("usage: cargo bench --bench join -- DIR [NAME:THRESHOLD …] [threads=N]");
        return;
    };
    let mut threads = vec![1, 4];
    let mut runs = Vec::new();
    for arg in args {
        if let Some(n) = arg.strip_prefix("threads=") {
            threads = vec![n.parse().expect("a number of threads")];
        } else {
            let (name, t) = arg.split_once(':').expect("NAME:THRESHOLD");
            runs.push((name.to_owned(), t.parse().expect("a threshold")));
        }
    }
    if runs.is_empty() {
        runs = RUNS.iter().map(|(name, t)| ((*name).to_owned(), *t)).collect();
    }
    println!("{:<14} {:>4} {:>10} {:>9}  ours by threads: seconds, ratio", "input", "t", "pairs", "textbook");
    for (name, t) in runs {
        let Ok(sets) = textbook::Sets::read(&dir.join(format!("{name}.sets"))) else {
            println!("{name:<14} skipped: no {name}.sets in {}", dir.display());
            continue;
        };
        let began = Instant::now();
        let found = textbook::join(&sets, t);
        let textbook = began.elapsed().as_secs_f64();
        print!("{name:<14} {t:>4} {:>10} {textbook:>9.3}", found.pairs);
        for &threads in &threads {
            let (pairs, seconds) = ours(&sets, t, threads);
            assert_eq!(pairs, found.pairs, "both find all pairs");
            print!("  {threads}: {seconds:>8.3} {:>5.2}", seconds / textbook);
        }
        println!();
    }
}

/// Pairs, and the seconds of the join from ordered records on.
fn ours(sets: &textbook::Sets, t: f64, threads: usize) -> (u64, f64) {
    let workers = PlainThreads(threads);
    let mut collector = Collector::new(FeatureSpec { multiset: false, ..FeatureSpec::WORDS });
    for n in 0..sets.len() {
        let numbers = sets.set(n).iter().map(|&token| i64::from(token)).collect();
        collector.add(n as u32, &Document::Numbers(numbers), &Stop::default()).expect("memory");
    }
    let ordered = order(vec![collector], None, &workers).expect("memory");
    let predicate = Predicate::new(Measure::Jaccard, t).expect("a threshold");
    let began = Instant::now();
    let mut pairs = Pairs::new(ordered, predicate, Algorithm::Auto, usize::MAX).expect("memory");
    while pairs.next(&workers).expect("memory").is_some() {}
    (pairs.given(), began.elapsed().as_secs_f64())
}
