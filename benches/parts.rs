//! What a join in parts takes of one processor, step by step, without a server: sets, ranks, rows of parts, candidates, in seconds.
//!
//!     cargo bench -p neardup-benches --bench parts -- NAME.tsv [0.8] [parts=6] [rows=100000] [runs=3]
//!
//! NAME.tsv has an id, a tab and a text in each line (see benches/README.md). Of several runs the least of each step counts.

use std::io::{BufRead, BufReader};
use std::time::Instant;

use neardup_core::error::Result;
use neardup_core::executor::{PlainThreads, Stop};
use neardup_core::features::FeatureSpec;
use neardup_core::features::hash_sets::make_set;
use neardup_core::features::tokens::{Document, Scratch, for_each_token};
use neardup_core::joins::sets::bounds::Bounds;
use neardup_core::parts::groups::groups;
use neardup_core::parts::part::Part;
use neardup_core::parts::ranks::{self, TokenPlaces, TokenRanks};
use neardup_core::parts::rows::Shared;
use neardup_core::set_index::token_counts::TokenCounts;
use neardup_core::storage::files::MemoryFiles;
use neardup_core::verify::measure::Measure;
use neardup_core::verify::predicate::Predicate;

/// Of how many sets the order of tokens is made, and how many tokens it has at most; as `near_duplicates_into` has them.
const SAMPLE: usize = 20_000;
const MOST_RANKS: usize = 200_000;
const BUDGET: usize = 1 << 30;

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let Some(path) = args.next() else {
        eprintln!(
            "usage: cargo bench -p neardup-benches --bench parts -- NAME.tsv [THRESHOLD] [parts=6] [rows=100000] [runs=3]"
        );
        return;
    };
    let (mut threshold, mut parts, mut rows, mut runs) = (0.8, 6, 100_000, 3);
    for arg in args {
        match arg.split_once('=') {
            Some(("parts", text)) => parts = text.parse().expect("a number"),
            Some(("rows", text)) => rows = text.parse().expect("a number"),
            Some(("runs", text)) => runs = text.parse().expect("a number"),
            _ => threshold = arg.parse().expect("a threshold"),
        }
    }
    let file = BufReader::new(std::fs::File::open(&path).expect("the file"));
    let texts: Vec<String> = file.lines().take(rows).map(|line| text_of(&line.expect("text"))).collect();
    let mut best = [f64::INFINITY; 4];
    let mut found = [0; 2];
    for _ in 0..runs {
        let (seconds, counts) = run(&texts, threshold, parts).expect("a join");
        best.iter_mut().zip(seconds).for_each(|(best, now)| *best = best.min(now));
        found = counts;
    }
    println!("| sets | ranks | rows | candidates | rows of parts | candidates |");
    println!("|-----:|------:|-----:|-----------:|--------------:|-----------:|");
    let [sets, ranks, rows, candidates] = best;
    println!("| {sets:.2} | {ranks:.2} | {rows:.2} | {candidates:.2} | {} | {} |", found[0], found[1]);
}

fn text_of(line: &str) -> String {
    line.split_once('\t').expect("an id, a tab and a text").1.to_owned()
}

fn run(texts: &[String], threshold: f64, parts: u32) -> Result<([f64; 4], [usize; 2])> {
    let (spec, stop) = (FeatureSpec::WORDS, &Stop::default());
    let mut scratch = Scratch::default();
    let start = Instant::now();
    let mut sets = Vec::new();
    for text in texts {
        let mut set = Vec::new();
        for_each_token(&Document::Text(text.clone()), &spec, &mut scratch, stop, |token| {
            set.push(token.hash());
            Ok(())
        })?;
        make_set(&mut set, spec.multiset, stop)?;
        sets.push(set);
    }
    let made = start.elapsed();
    let mut counts = TokenCounts::new(BUDGET / TokenCounts::<u64>::ENTRY);
    for set in sets.iter().step_by(sets.len().div_ceil(SAMPLE).max(1)) {
        set.iter().try_for_each(|&token| counts.add(token, stop))?;
    }
    let ranks = ranks::ranks(&mut counts, MOST_RANKS, stop)?;
    let ranks = TokenRanks::parse(&ranks)?;
    let places = TokenPlaces::new(&ranks)?;
    let ranks = ranks.with(&places);
    let ranked = start.elapsed();
    let predicate = Predicate::new(Measure::Jaccard, threshold)?;
    let bounds = Bounds::new(predicate);
    let mut all: Vec<Part<MemoryFiles>> =
        (0..parts).map(|_| Part::new(predicate, MemoryFiles, BUDGET)).collect();
    let mut routes = 0;
    for (id, set) in sets.iter().enumerate() {
        let of = groups(set, &ranks, &bounds, parts, stop)?;
        for (part, prefix) in &of.parts {
            all[*part as usize].add(id as u64, of.size, &of.bitmap, Shared::Tokens(prefix), false)?;
            routes += 1;
        }
    }
    let grouped = start.elapsed();
    let mut candidates = 0;
    for part in all {
        part.candidates(&PlainThreads(1), &mut |_, _| {
            candidates += 1;
            Ok(())
        })?;
    }
    let joined = start.elapsed();
    let seconds = [made, ranked - made, grouped - ranked, joined - grouped].map(|step| step.as_secs_f64());
    Ok((seconds, [routes, candidates]))
}
