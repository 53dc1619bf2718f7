//! The join of real documents at every threshold from 0.01 to 1.00 against all pairs, one by one.
//!
//! The corpora are the folder NEARDUP_DATA; of these the ones with 500
//! to 5,000 documents. All overlaps of a corpus are counted once. At low thresholds there are
//! millions of pairs, so what is compared is their number and a sum of hashes of (row, row, bits of
//! the similarity). Where documents are long and share much, only every tenth of the low thresholds
//! is tried.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use neardup_core::executor::PlainThreads;
use neardup_core::hash::mix;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::sets::Sets;
use neardup_core::storage::files::{NoFiles, Resources};
use neardup_core::text::words::words;
use neardup_core::verify::measure::Measure;

use crate::common::corpora;

const DOCUMENTS: std::ops::RangeInclusive<usize> = 500..=5000;

/// Thresholds are k / PERCENT.
const PERCENT: usize = 100;

/// How many tokens the pairs of a corpus share, at most, where it is joined at every threshold, and
/// by all measures and not by Jaccard alone; that is the work of a join at a low threshold.
const LITTLE: u64 = 100_000_000;

/// A number of pairs and a sum of their hashes: the same for the same pairs in any order.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Sum {
    pairs: u64,
    hashes: u64,
}

impl Sum {
    fn add(&mut self, row: u32, other: u32, similarity: f64) {
        let rows = u64::from(row.min(other)) << 32 | u64::from(row.max(other));
        self.pairs += 1;
        self.hashes = self.hashes.wrapping_add(mix(mix(rows) ^ similarity.to_bits()));
    }

    fn and(self, other: Self) -> Self {
        Self { pairs: self.pairs + other.pairs, hashes: self.hashes.wrapping_add(other.hashes) }
    }
}

fn say(line: &str) {
    corpora::say(&format!("thresholds: {line}"));
}

/// Runs `work` on every number below `count`, on all processors.
fn on_all(count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(n) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&n| n < count) {
                    work(n);
                }
            });
        }
    });
}

/// The documents as sets of numbers: a word's second, third … occurrence is a token of its own.
fn sets(texts: &[String]) -> Vec<Vec<i64>> {
    let mut numbers = HashMap::new();
    let mut set = |text: &String| {
        let mut times: HashMap<String, u32> = HashMap::new();
        let mut set = Vec::new();
        for word in words(text) {
            let nth = times.entry(word.clone()).or_default();
            *nth += 1;
            let next = numbers.len() as i64;
            set.push(*numbers.entry((word, *nth)).or_insert(next));
        }
        set
    };
    texts.iter().map(&mut set).collect()
}

/// A measure as its definition says it; not the code under test.
fn similarity(measure: Measure, shared: u32, x: usize, y: usize) -> f64 {
    let (shared, x, y) = (f64::from(shared), x as f64, y as f64);
    match measure {
        Measure::Jaccard => shared / (x + y - shared),
        Measure::Cosine => shared / (x * y).sqrt(),
        Measure::Dice => 2.0 * shared / (x + y),
        Measure::Overlap => shared / x.min(y),
        Measure::Containment | Measure::Coverage => unreachable!("a measure between two tables"),
    }
}

/// The rows of each token, ascending.
fn rows_with(sets: &[Vec<i64>]) -> Vec<Vec<u32>> {
    let tokens = sets.iter().flatten().max().map_or(0, |&most| most as usize + 1);
    let mut rows = vec![Vec::new(); tokens];
    for (row, set) in sets.iter().enumerate() {
        set.iter().for_each(|&token| rows[token as usize].push(row as u32));
    }
    rows
}

/// The pairs at each threshold, 0 to PERCENT, of each measure, by counting the shared tokens of
/// every pair.
fn naive(sets: &[Vec<i64>], rows_with: &[Vec<u32>], measures: &[Measure]) -> Vec<Vec<Sum>> {
    // By the greatest threshold that a pair reaches.
    let reached = Mutex::new(vec![vec![Sum::default(); PERCENT + 1]; measures.len()]);
    const ROWS_A_PIECE: usize = 16;
    on_all(sets.len().div_ceil(ROWS_A_PIECE), |piece| {
        let mut own = vec![vec![Sum::default(); PERCENT + 1]; measures.len()];
        let mut shared = vec![0u32; sets.len()];
        for row in (piece * ROWS_A_PIECE..sets.len()).take(ROWS_A_PIECE) {
            shared.fill(0);
            for &token in &sets[row] {
                let before = rows_with[token as usize].iter().take_while(|&&other| (other as usize) < row);
                before.for_each(|&other| shared[other as usize] += 1);
            }
            for (other, &shared) in shared[..row].iter().enumerate().filter(|(_, shared)| **shared > 0) {
                for (measure, sums) in measures.iter().zip(&mut own) {
                    let similarity = similarity(*measure, shared, sets[row].len(), sets[other].len());
                    let percent = (0..=PERCENT).rev().find(|&k| similarity >= k as f64 / PERCENT as f64);
                    sums[percent.expect("0 or more")].add(row as u32, other as u32, similarity);
                }
            }
        }
        let mut all = reached.lock().expect("no panic");
        for (all, own) in all.iter_mut().flatten().zip(own.iter().flatten()) {
            *all = all.and(*own);
        }
    });
    let mut sums = reached.into_inner().expect("no panic");
    for sums in &mut sums {
        for k in (0..PERCENT).rev() {
            sums[k] = sums[k].and(sums[k + 1]);
        }
    }
    sums
}

/// The same for one threshold and measure by the method.
fn join(sets: &[Vec<i64>], measure: Measure, threshold: f64, threads: usize) -> Sum {
    let method = Sets::of_words(measure, threshold).expect("a threshold");
    let resources = Resources { files: &NoFiles, budget: 1 << 40, executor: &PlainThreads(threads) };
    let (pairs, _) = Corpus::of_sets(sets).pairs_with(&method, resources).expect("memory");
    let mut sum = Sum::default();
    pairs.iter().for_each(|pair| sum.add(pair.left, pair.right, pair.similarity));
    sum
}

/// The corpora: folders with documents, the smallest first.
fn all_corpora() -> Vec<(String, Vec<Vec<i64>>)> {
    let Some(folder) = corpora::folder("thresholds") else { return Vec::new() };
    let mut all = Vec::new();
    for name in corpora::names(&folder) {
        let texts = corpora::texts(&folder, &name);
        if DOCUMENTS.contains(&texts.len()) {
            all.push((name, sets(&texts)));
        }
    }
    all.sort_by_key(|(name, sets)| (sets.len(), name.clone()));
    all
}

#[test]
fn every_threshold_gives_all_pairs() {
    if cfg!(debug_assertions) {
        return say("skipped: too slow where it is not compiled with --release");
    }
    for (name, sets) in all_corpora() {
        let began = Instant::now();
        let rows = rows_with(&sets);
        let work: u64 = rows.iter().map(|rows| (rows.len() * (rows.len() - 1) / 2) as u64).sum();
        let measures = match work <= LITTLE {
            true => &[Measure::Jaccard, Measure::Cosine, Measure::Dice, Measure::Overlap][..],
            false => &[Measure::Jaccard][..],
        };
        let tried = |k: &usize| work <= LITTLE || *k >= PERCENT / 2 || k.is_multiple_of(10);
        // The low ones, which take longest, first.
        let thresholds: Vec<usize> = (1..=PERCENT).filter(tried).collect();
        let expected = naive(&sets, &rows, measures);
        let counted = began.elapsed();
        let joins = measures.len() * thresholds.len();
        on_all(joins, |n| {
            let (k, measure) = (thresholds[n / measures.len()], n % measures.len());
            let found = join(&sets, measures[measure], k as f64 / PERCENT as f64, 1 + k % 2);
            assert_eq!(found, expected[measure][k], "{name}: {:?} >= {k} / {PERCENT}", measures[measure]);
        });
        let pairs: u64 = expected.iter().flat_map(|sums| thresholds.iter().map(|&k| sums[k].pairs)).sum();
        say(&format!(
            "{name}: {} documents, {joins} joins, {pairs} pairs, {work} shared tokens; {:.1} s, of it {:.1} s counting",
            sets.len(),
            began.elapsed().as_secs_f64(),
            counted.as_secs_f64()
        ));
    }
}
