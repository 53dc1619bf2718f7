//! The inner loops one by one: bytes, tokens or calls a second, beside the speed of memory in the
//! same run.
//!
//!     cargo bench -p neardup-benches --bench kernels [-- FILTER]
//!
//! All inputs are made here, from fixed numbers.

#[path = "common/machine.rs"]
mod machine;

use std::fmt::Write;
use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use neardup_core::executor::{PlainThreads, Stop};
use neardup_core::features::FeatureSpec;
use neardup_core::features::dictionary::Dictionary;
use neardup_core::features::dictionary::numbering::number;
use neardup_core::features::sets::collect::Collector;
use neardup_core::features::tokens::Document;
use neardup_core::hash;
use neardup_core::simd::instructions::runnable;
use neardup_core::simd::sketch_loops::KINDS;
use neardup_core::simd::{planes, popcount};
use neardup_core::text::words::{WordScratch, for_each_word};
use neardup_core::verify::measure::Measure;
use neardup_core::verify::overlap::{disjoint, shared_at_least};
use neardup_core::verify::predicate::Predicate;

/// More than any cache holds.
const LARGE: usize = 128 << 20;

/// What the others are compared with: copying, and reading alone, which is what most of them do.
fn memory(c: &mut Criterion) {
    machine::Machine::measure().print();
    let mut group = c.benchmark_group("memory");
    let (from, mut to) = (vec![1u64; LARGE / 8], vec![0u64; LARGE / 8]);
    group.throughput(Throughput::Bytes(LARGE as u64));
    group.bench_function("memcpy", |b| b.iter(|| black_box(&mut to).copy_from_slice(black_box(&from))));
    let sum = |words: &[u64]| words.iter().fold(0u64, |sum, word| sum.wrapping_add(*word));
    group.bench_function("read", |b| b.iter(|| sum(black_box(&from))));
}

/// Words by rank, the frequent ones first and short.
fn vocabulary(words: usize) -> Vec<String> {
    let letters =
        |n: usize| (0..2 + n.ilog2() as usize / 2).map(move |k| hash::mix((n * 64 + k) as u64) % 26);
    (1..=words).map(|n| letters(n).map(|letter| (b'a' + letter as u8) as char).collect()).collect()
}

/// Ranks as they follow one another in a text: about as 1 / rank.
fn ranks(words: usize, many: usize) -> Vec<usize> {
    let share = |n: usize| hash::mix(n as u64) as f64 / u64::MAX as f64;
    (0..many).map(|n| (words as f64).powf(share(n)) as usize % words).collect()
}

fn tokenizer(c: &mut Criterion) {
    const WORDS: usize = 200_000;
    let vocabulary = vocabulary(50_000);
    let mut ascii = String::new();
    for (n, rank) in ranks(vocabulary.len(), WORDS).into_iter().enumerate() {
        ascii.push_str(&vocabulary[rank]);
        ascii.push_str(if n % 11 == 10 { ", " } else { " " });
        if n % 97 == 96 {
            write!(ascii, "The {n}. ").expect("memory");
        }
    }
    let han = |n: usize| char::from_u32(0x4e00 + (hash::mix(n as u64) % 5000) as u32).expect("a character");
    let cjk: String = (0..WORDS).map(|n| if n % 17 == 16 { '，' } else { han(n) }).collect();
    // Each letter as one of two bytes, and one in nine.
    let cyrillic = |c: char| char::from_u32(0x430 + (c as u32 - 'a' as u32)).expect("a letter");
    let is_letter = |c: char| c.is_ascii_lowercase();
    let cyrillic: String = ascii.chars().map(|c| if is_letter(c) { cyrillic(c) } else { c }).collect();
    let accents: String =
        (ascii.chars().enumerate()).map(|(n, c)| if is_letter(c) && n % 9 == 0 { 'é' } else { c }).collect();
    let mut group = c.benchmark_group("words");
    for (name, text) in [("ascii", ascii), ("accents", accents), ("cyrillic", cyrillic), ("cjk", cjk)] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        let (stop, mut scratch) = (Stop::default(), WordScratch::default());
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut words = 0u64;
                let done = for_each_word(black_box(&text), &mut scratch, &stop, |word| {
                    words += u64::from(!black_box(word).is_empty());
                    Ok(())
                });
                done.map(|()| words)
            })
        });
    }
}

fn hashes(c: &mut Criterion) {
    let bytes: Vec<u8> = (0..1 << 20).map(|n| hash::mix(n) as u8).collect();
    let (keys, _) = bytes.as_chunks::<{ machine::KEY }>();
    let mut group = c.benchmark_group("hash");
    group.throughput(Throughput::Elements(keys.len() as u64));
    group.bench_function("xxh3, 30 bytes", |b| {
        b.iter(|| black_box(keys).iter().fold(0u64, |sum, key| sum.wrapping_add(hash::hash_bytes(key))))
    });
    group.bench_function("mix", |b| {
        b.iter(|| (0..keys.len() as u64).fold(0, |sum: u64, n| sum.wrapping_add(hash::mix(black_box(n)))))
    });
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function("xxh3, 1 MB", |b| b.iter(|| hash::hash_bytes(black_box(&bytes))));
}

fn dictionary(c: &mut Criterion) {
    const TOKENS: usize = 200_000;
    let vocabulary = vocabulary(50_000);
    let text: Vec<&str> =
        ranks(vocabulary.len(), TOKENS).into_iter().map(|rank| vocabulary[rank].as_str()).collect();
    let executor = PlainThreads(1);
    let words = Document::Tokens(text.iter().map(|&word| word.to_owned()).collect());
    let numbers = Document::Numbers((0..TOKENS as i64).collect());
    let mut group = c.benchmark_group("dictionary");
    group.throughput(Throughput::Elements(TOKENS as u64));
    for (name, document) in [("words of a text", words), ("new numbers", numbers)] {
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut dictionary = Dictionary::default();
                let mut collector = Collector::new(FeatureSpec::WORDS);
                collector.add(0, &document, &Stop::default()).expect("memory");
                number(&mut dictionary, std::slice::from_mut(&mut collector), &executor).expect("memory");
                dictionary.len()
            })
        });
    }
}

/// Two ascending lists without repeats, of which the second has about `share` of the first's
/// tokens.
fn lists(size: usize, other: usize, share: f64, seed: u64) -> (Vec<u32>, Vec<u32>) {
    let token = |n: usize| hash::mix(seed << 32 | n as u64) as u32;
    let common = (size as f64 * share) as usize;
    let sorted = |tokens: &mut dyn Iterator<Item = u32>| {
        let mut tokens: Vec<u32> = tokens.collect();
        tokens.sort_unstable();
        tokens.dedup();
        tokens
    };
    (sorted(&mut (0..size).map(token)), sorted(&mut (size - common..size - common + other).map(token)))
}

fn overlap(c: &mut Criterion) {
    /// So many that the processor cannot learn them by heart.
    const PAIRS: u64 = 256;
    let mut group = c.benchmark_group("shared_at_least");
    let jaccard = Predicate::new(Measure::Jaccard, 0.8).expect("a threshold");
    let mut bench = |name: String, pairs: &[(Vec<u32>, Vec<u32>)], need: &dyn Fn(usize, usize) -> usize| {
        let pairs: Vec<_> = pairs.iter().map(|(x, y)| (x, y, need(x.len(), y.len()))).collect();
        group.throughput(Throughput::Elements(PAIRS));
        group.bench_function(name, |b| {
            b.iter(|| {
                black_box(&pairs)
                    .iter()
                    .filter_map(|(x, y, need)| shared_at_least(x, y, *need))
                    .sum::<usize>()
            })
        });
    };
    for size in [32, 128, 1024] {
        for percent in [10, 95] {
            let pairs: Vec<_> =
                (0..PAIRS).map(|n| lists(size, size, f64::from(percent) / 100.0, n)).collect();
            bench(format!("{size} tokens, {percent} % shared, all"), &pairs, &|_, _| 1);
            bench(format!("{size} tokens, {percent} % shared, for 0.8"), &pairs, &|x, y| {
                jaccard.least_overlap(x as u32, y as u32).map_or(usize::MAX, |least| least as usize)
            });
        }
    }
    let pairs: Vec<_> = (0..PAIRS).map(|n| lists(16, 4096, 0.5, n)).collect();
    bench("16 tokens among 4096, all".to_owned(), &pairs, &|_, _| 1);
    drop(group);
    let mut group = c.benchmark_group("disjoint");
    let pairs: Vec<_> = (0..PAIRS).map(|n| lists(16, 16, 0.0, n)).collect();
    group.throughput(Throughput::Elements(PAIRS));
    group.bench_function("16 tokens", |b| {
        b.iter(|| black_box(&pairs).iter().filter(|(x, y)| disjoint(x, y)).count())
    });
}

fn least_overlap(c: &mut Criterion) {
    let sizes: Vec<(u32, u32)> = (0..1024u64)
        .map(|n| (50 + hash::mix(n) % 100, 50 + hash::mix(n + 1024) % 100))
        .map(|(x, y)| (x as u32, y as u32))
        .collect();
    let mut group = c.benchmark_group("least_overlap");
    for (name, measure) in [("jaccard", Measure::Jaccard), ("cosine", Measure::Cosine)] {
        let predicate = Predicate::new(measure, 0.8).expect("a threshold");
        group.throughput(Throughput::Elements(sizes.len() as u64));
        group.bench_function(name, |b| {
            b.iter(|| {
                black_box(&sizes).iter().filter_map(|&(x, y)| predicate.least_overlap(x, y)).sum::<u32>()
            })
        });
    }
}

/// One bitmap against many, one behind the other and word by word, with every kernel of this
/// processor; hardly one in a thousand is near.
fn bitmaps_of<const W: usize>(c: &mut Criterion) {
    for (place, bytes) in [("in cache", 256 << 10), ("in memory", LARGE)] {
        let mut group = c.benchmark_group(format!("bitmaps {place}"));
        let bitmaps: Vec<[u64; W]> = (0..bytes / 8 / W)
            .map(|n| std::array::from_fn(|word| hash::mix((n * W + word) as u64)))
            .collect();
        let probe: [u64; W] = std::array::from_fn(|word| !hash::mix(word as u64));
        // Three standard deviations below the half of the bits.
        let allowed = (32.0 * W as f64 - 12.0 * (W as f64).sqrt()) as u32;
        let planes: [Vec<u64>; W] =
            std::array::from_fn(|word| bitmaps.iter().map(|bitmap| bitmap[word]).collect());
        let planes: [&[u64]; W] = std::array::from_fn(|word| &*planes[word]);
        let mut near = Vec::with_capacity(bitmaps.len());
        group.throughput(Throughput::Bytes(bytes as u64));
        for (name, kernel) in runnable(popcount::kinds::<W>()) {
            group.bench_function(format!("{} bits, {name}", W * 64), |b| {
                b.iter(|| {
                    near.clear();
                    kernel(black_box(&probe), black_box(&bitmaps), allowed, 0, &mut near);
                    near.len()
                })
            });
        }
        for (name, kernel) in runnable(planes::kinds::<W>()) {
            group.bench_function(format!("{} bits word by word, {name}", W * 64), |b| {
                b.iter(|| {
                    near.clear();
                    kernel(black_box(&probe), black_box(&planes), allowed, 0, &mut near);
                    near.len()
                })
            });
        }
    }
}

fn bitmaps(c: &mut Criterion) {
    bitmaps_of::<1>(c);
    bitmaps_of::<2>(c);
    bitmaps_of::<4>(c);
    bitmaps_of::<8>(c);
}

/// Minhash and simhash with every kernel of this processor, and sketches compared with stored ones.
fn sketches(c: &mut Criterion) {
    const ELEMENTS: usize = 2000;
    let elements: Vec<u64> = (0..ELEMENTS as u64).map(hash::mix).collect();
    let small: Vec<u32> = elements.iter().map(|&element| element as u32).collect();
    let numbers = |n: u32| -> Vec<u32> { (0..n).map(|n| hash::mix(n.into()) as u32 | 1).collect() };
    let (factors, addends, mut minima) = (numbers(128), numbers(128), vec![u32::MAX; 128]);
    let stored: Vec<u8> = (0..LARGE as u64 / 8).flat_map(|n| hash::mix(n).to_ne_bytes()).collect();
    for (_, kernels) in runnable(KINDS) {
        let mut group = c.benchmark_group(format!("sketches, {}", kernels.name));
        group.throughput(Throughput::Elements(ELEMENTS as u64));
        group.bench_function("minhash, 128 permutations", |b| {
            b.iter(|| (kernels.minima)(black_box(&small), &factors, &addends, &mut minima))
        });
        for words in [1u64, 6] {
            group.bench_function(format!("simhash, {} bits", 64 * words), |b| {
                b.iter(|| {
                    let mut counts = [0; 64];
                    for word in 0..words {
                        (kernels.count_bits)(black_box(&elements), word, &mut counts);
                    }
                    counts
                })
            });
        }
        group.throughput(Throughput::Bytes(LARGE as u64));
        group.bench_function("agreeing of 128 values, in memory", |b| {
            let sketches = stored.chunks_exact(512);
            b.iter(|| sketches.clone().map(|sketch| (kernels.agreeing)(sketch, &stored[..512])).max())
        });
        group.bench_function("hamming of 384 bits, in memory", |b| {
            let sketches = stored.chunks_exact(48);
            b.iter(|| sketches.clone().map(|sketch| (kernels.hamming)(sketch, &stored[..48])).min())
        });
    }
}

criterion_group! {
    name = kernels;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
        .sample_size(20);
    targets = memory, tokenizer, hashes, dictionary, overlap, least_overlap, bitmaps, sketches
}
criterion_main!(kernels);
