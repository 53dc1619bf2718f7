//! The ten nearest of each beside the exact join at 0.5, on ready integer sets, in one run.
//!
//!     cargo bench -p neardup-benches --bench nearest -- DIR [NAME …] [k=10] [threads=2] [at=0.5] [first=200000]
//!
//! DIR holds NAME.sets (see benches/README.md). Prints seconds from ordered records to the last row, and their ratio; the
//! lesser of two runs each, alternately. The nearest of some rows are compared with all rows, one by one.

#[path = "common/machine.rs"]
mod machine;
#[allow(dead_code, reason = "only its reader of sets is used here")]
#[path = "peers/textbook.rs"]
mod textbook;

use std::path::PathBuf;
use std::time::Instant;

use neardup_core::executor::PlainThreads;
use neardup_core::features::FeatureSpec;
use neardup_core::features::dictionary::weights::Weighing;
use neardup_core::features::tokens::Document;
use neardup_core::joins::nearest::SHORT;
use neardup_core::joins::nearest::found::NearestRow;
use neardup_core::joins::nearest::pieces::NearestSearch;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::Quiet;
use neardup_core::methods::reading::Reading;
use neardup_core::methods::sets::Sets;
use neardup_core::methods::{Method, nearest};
use neardup_core::storage::files::{NoFiles, Resources};
use neardup_core::verify::measure::Measure;

const SPEC: FeatureSpec = FeatureSpec { multiset: false, ..FeatureSpec::WORDS };

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let Some(dir) = args.next().map(PathBuf::from) else {
        eprintln!(
            "usage: cargo bench -p neardup-benches --bench nearest -- DIR [NAME …] [k=10] [threads=2] [at=0.5] [first=200000]"
        );
        return;
    };
    let (mut names, mut k, mut threads, mut at, mut first) = (Vec::new(), 10, 2, 0.5, usize::MAX);
    for arg in args {
        match arg.split_once('=') {
            Some(("k", value)) => k = value.parse().expect("a number of rows"),
            Some(("threads", value)) => threads = value.parse().expect("a number of threads"),
            Some(("at", value)) => at = value.parse().expect("a threshold"),
            Some(("first", value)) => first = value.parse().expect("a number of sets"),
            _ => names.push(arg),
        }
    }
    if names.is_empty() {
        names = ["reuters", "rules", "big200k"].map(str::to_owned).to_vec();
    }
    machine::Machine::measure().print();
    println!(
        "\n| input | sets | threads | pairs at {at} | join, s | nearest {k} | s | ratio | 10th percentile of the last similarity, median |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for name in names {
        let Ok(sets) = textbook::Sets::read(&dir.join(format!("{name}.sets"))) else {
            eprintln!("{name}: skipped, there is no {name}.sets");
            continue;
        };
        // Every so many, so that there are sets of all sizes.
        let step = sets.len().div_ceil(first.min(sets.len()));
        let some: Vec<usize> = (0..sets.len()).step_by(step).collect();
        let mut times = [f64::INFINITY; 2];
        let (mut pairs, mut found) = (0, Vec::new());
        for _ in 0..2 {
            let (seconds, count) = join(&sets, &some, at, threads);
            times[0] = times[0].min(seconds);
            pairs = count;
            let (seconds, rows) = nearest_of(&sets, &some, k, threads);
            times[1] = times[1].min(seconds);
            found = rows;
        }
        check(&sets, &some, &found, k);
        let mut last: Vec<f64> =
            found.iter().filter(|near| near.rank as usize == k).map(|near| near.similarity).collect();
        last.sort_by(f64::total_cmp);
        let of = |percent: usize| last.get(last.len() * percent / 100).copied().unwrap_or(0.0);
        println!(
            "| {name} | {} | {threads} | {pairs} | {:.3} | {} | {:.3} | {:.2} | {:.2}, {:.2} |",
            some.len(),
            times[0],
            found.len(),
            times[1],
            times[1] / times[0],
            of(10),
            of(50)
        );
    }
}

fn corpus<'a>(sets: &'a textbook::Sets, some: &'a [usize]) -> Corpus<'a> {
    let numbers = |n: usize| sets.set(some[n]).iter().map(|&token| i64::from(token)).collect();
    Corpus::new(some.len(), move |n| Some(Document::Numbers(numbers(n))))
}

/// Seconds and pairs of the join.
fn join(sets: &textbook::Sets, some: &[usize], at: f64, threads: usize) -> (f64, u64) {
    let method = Sets { spec: SPEC, ..Sets::of_words(Measure::Jaccard, at).expect("a threshold") };
    let executor = PlainThreads(threads);
    let resources = Resources { files: &NoFiles, budget: 1 << 40, executor: &executor };
    let mut corpus = corpus(sets, some);
    let mut pairs = method.pairs(&mut Reading::new(&mut corpus, &mut Quiet, resources)).expect("memory");
    let began = Instant::now();
    while pairs.next(&executor).expect("memory").is_some() {}
    (began.elapsed().as_secs_f64(), pairs.given())
}

/// Seconds and rows of the search. Listing the records of the tokens counts, as it does in the join.
fn nearest_of(sets: &textbook::Sets, some: &[usize], k: usize, threads: usize) -> (f64, Vec<NearestRow>) {
    let executor = PlainThreads(threads);
    let resources = Resources { files: &NoFiles, budget: 1 << 40, executor: &executor };
    let (mut corpus, mut quiet) = (corpus(sets, some), Quiet);
    let mut reading = Reading::new(&mut corpus, &mut quiet, resources);
    let ordered = nearest::ordered(SPEC, Weighing::default(), &mut reading).expect("memory");
    let began = Instant::now();
    let how = NearestSearch { measure: Measure::Jaccard, k, short: SHORT, sources: None };
    let mut rows = nearest::of_ordered(ordered, how, &mut reading).expect("memory");
    let mut found = Vec::new();
    loop {
        found.extend(std::iter::from_fn(|| rows.take()));
        if !rows.advance(&executor).expect("memory") {
            break;
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    eprintln!("{:?}", rows.counts());
    (seconds, found)
}

/// Compares the nearest of some rows with all rows.
fn check(sets: &textbook::Sets, some: &[usize], found: &[NearestRow], k: usize) {
    const ROWS: usize = 20;
    for row in (0..some.len()).step_by(some.len().div_ceil(ROWS).max(1)) {
        let own = sets.set(some[row]);
        let mut all: Vec<(f64, u32)> = (0u32..)
            .zip(some)
            .filter(|&(other, _)| other as usize != row)
            .map(|(other, &set)| (similarity(own, sets.set(set)), other))
            .filter(|&(similarity, _)| similarity > 0.0)
            .collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        all.truncate(k);
        let mut ours: Vec<&NearestRow> = found.iter().filter(|near| near.row as usize == row).collect();
        ours.sort_by_key(|near| near.rank);
        let ours: Vec<(f64, u32)> = ours.iter().map(|near| (near.similarity, near.nearest)).collect();
        assert_eq!(ours, all, "the nearest of row {row}");
    }
}

fn similarity(a: &[u32], b: &[u32]) -> f64 {
    let (mut i, mut j, mut shared) = (0, 0, 0u32);
    while i < a.len() && j < b.len() {
        shared += u32::from(a[i] == b[j]);
        let (x, y) = (a[i], b[j]);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    Measure::Jaccard.similarity(shared, a.len() as u32, b.len() as u32)
}
