//! All pairs of 64-bit simhashes at a Hamming distance of at most 3 against sorted blocks of 16 bits, in one run.
//!
//!     cargo bench -p neardup-benches --bench hamming -- [MILLIONS …] [random] [texts] [attack] [threads=N]
//!
//! Prints seconds from the vectors to the last pair, and their ratio to the peer's; the numbers of pairs must agree.

#[path = "peers/blocks.rs"]
mod blocks;
#[path = "common/machine.rs"]
mod machine;

use std::time::Instant;

use neardup_core::executor::{PlainThreads, Stop, each};
use neardup_core::features::signatures::{SignatureCollector, distinct};
use neardup_core::hash::mix;
use neardup_core::joins::sketches::hamming::Hamming;
use neardup_core::joins::sketches::rule::Rule;
use neardup_core::joins::sketches::technique::Technique;
use neardup_core::joins::sketches::{Comparison, sketch_pairs};
use neardup_core::sketches::simhash::Simhasher;

/// A vector by its number and how many there are.
type Vector = fn(u64, u64) -> u64;

const INPUTS: [(&str, Vector); 3] = [("random", random), ("texts", text), ("attack", attack)];

fn main() {
    let (mut threads, mut millions, mut inputs) = (vec![1, 4], Vec::new(), Vec::new());
    for arg in std::env::args().skip(1).filter(|arg| arg != "--bench") {
        if let Some(n) = arg.strip_prefix("threads=") {
            threads = vec![n.parse().expect("a number of threads")];
        } else if let Some(input) = INPUTS.into_iter().find(|(name, _)| *name == arg) {
            inputs.push(input);
        } else {
            millions.push(arg.parse().expect("how many millions of vectors"));
        }
    }
    if inputs.is_empty() {
        inputs = INPUTS.to_vec();
    }
    if millions.is_empty() {
        millions = vec![1, 10];
    }
    machine::Machine::measure().print();
    print!("\n| vectors    | input  |    pairs | compared, M | sorted blocks, s |");
    threads.iter().for_each(|n| print!(" ours {n}, s |  ratio |"));
    print!("\n|-----------:|--------|---------:|------------:|-----------------:|");
    threads.iter().for_each(|_| print!("----------:|-------:|"));
    println!();
    for count in millions.into_iter().map(|n: u64| n * 1_000_000) {
        for &(name, vector) in &inputs {
            let vectors = vectors(count, vector);
            let (peer, found) = best(|| blocks::join(&vectors));
            print!(
                "| {count:>10} | {name:<6} | {:>8} | {:>11} | {peer:>16.3} |",
                found.pairs,
                found.compared / 1_000_000
            );
            for &threads in &threads {
                let (seconds, pairs) = best(|| ours(&vectors, threads));
                assert_eq!(pairs, found.pairs, "both find all pairs");
                print!(" {seconds:>9.3} | {:>6.2} |", seconds / peer);
            }
            println!();
        }
    }
}

/// Seconds, the least of three times where once takes less than 2 s.
fn best<R>(work: impl Fn() -> R) -> (f64, R) {
    let once = || {
        let began = Instant::now();
        let result = work();
        (began.elapsed().as_secs_f64(), result)
    };
    let (mut least, result) = once();
    if least < 2.0 {
        least = least.min(once().0).min(once().0);
    }
    (least, result)
}

/// As a call of the method simhash has it: signatures of each thread, the different ones, pairs of rows.
fn ours(vectors: &[u64], threads: usize) -> u64 {
    let executor = PlainThreads(threads);
    let mut parts: Vec<_> = (0..threads).map(|part| (part, SignatureCollector::new(1))).collect();
    each(&executor, &mut parts, |(part, collector), _: &Stop| {
        let size = vectors.len().div_ceil(threads);
        let rows = (0..).zip(vectors).skip(*part * size).take(size);
        rows.into_iter().try_for_each(|(row, &vector)| collector.add(row, &[vector]))
    })
    .expect("memory");
    let parts = parts.into_iter().map(|(_, collector)| collector).collect();
    let signatures = distinct(parts, None, &executor).expect("memory");
    let comparison = Comparison {
        techniques: vec![Technique::Simhash(Hamming { at: 0, bits: 64, most: 3 })],
        rule: Rule::Technique(0),
        sizes: None,
        most: None,
    };
    let mut pairs = sketch_pairs(signatures, None, comparison, 1 << 30).expect("memory");
    while pairs.next(&executor).expect("memory").is_some() {}
    pairs.given()
}

fn vectors(count: u64, vector: Vector) -> Vec<u64> {
    const PARTS: u64 = 64;
    let mut parts: Vec<_> = (0..PARTS).map(|part| (part, Vec::new())).collect();
    each(&PlainThreads(4), &mut parts, |(part, vectors), _: &Stop| {
        vectors.extend((*part * count / PARTS..(*part + 1) * count / PARTS).map(|n| vector(n, count)));
        Ok(())
    })
    .expect("memory");
    parts.into_iter().flat_map(|(_, vectors)| vectors).collect()
}

/// Random bits; every tenth vector is the one before with 0 to 5 bits turned.
fn random(n: u64, _: u64) -> u64 {
    if n % 10 != 9 {
        return mix(n);
    }
    let bits = mix(!n);
    (0..bits % 6).fold(mix(n - 1), |vector, bit| vector ^ 1 << (bits >> (8 + 8 * bit) & 63))
}

/// Simhashes of 60 words of 50,000, the frequent ones far more often; every tenth text is the one before with two
/// words changed.
fn text(n: u64, _: u64) -> u64 {
    let (of, changed) = if n % 10 == 9 { (n - 1, 2) } else { (n, 0) };
    let mut hasher = Simhasher::new(64);
    for word in 0..60 {
        let other = if word < changed { n } else { of };
        let uniform = mix(mix(other) ^ word) as f64 / u64::MAX as f64;
        hasher.add(mix((50_000.0 * uniform * uniform) as u64));
    }
    let bytes = hasher.bits().and_then(|bits| bits.try_into().ok());
    u64::from_be_bytes(bytes.expect("64 bits of a text with words"))
}

/// Blocks of few values: a vector shares each with 2,000 others among a million, with 1,200 among ten.
fn attack(n: u64, count: u64) -> u64 {
    let values = if count <= 1_000_000 { 512 } else { 8192 };
    let vector = random(n, count);
    (0..4).fold(0, |blocks, block| blocks << 16 | mix((vector >> (16 * block) & 0xffff) % values) & 0xffff)
}
