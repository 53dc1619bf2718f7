//! A join by one of the algorithms, its candidates and its time.

use std::time::Duration;

use neardup_core::executor::PlainThreads;
use neardup_core::features::FeatureSpec;
use neardup_core::joins::Algorithm;
use neardup_core::methods::Method;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::Quiet;
use neardup_core::methods::reading::Reading;
use neardup_core::methods::sets::Sets;
use neardup_core::storage::files::{NoFiles, Resources};
use neardup_core::verify::measure::Measure;
use neardup_core::verify::predicate::Predicate;

use crate::{processor, small};

/// In the order of the paper, then what is used where nobody chooses.
pub const ALGORITHMS: [(&str, Algorithm); 4] = [
    ("All-Pairs", Algorithm::AllPairs),
    ("PPJoin", Algorithm::PpJoin),
    ("PPJoin+", Algorithm::PpJoinPlus(2)),
    ("neardup", Algorithm::Auto),
];

/// What a join found, and what it took.
pub struct Joined {
    pub pairs: u64,
    /// Pairs that were compared token by token.
    pub candidates: u64,
    pub seconds: f64,
}

/// Of joins that take fewer seconds, the least time of a few counts: other work only adds to it.
const SHORT: f64 = 0.02;
const RUNS: usize = 3;

/// Seconds of the processor. The kernel keeps them up to date where a thread leaves it, and every
/// few milliseconds else.
fn now() -> f64 {
    std::thread::sleep(Duration::from_micros(1));
    processor::seconds()
}

/// Joins sets with themselves.
pub fn join(sets: &[Vec<i64>], measure: Measure, threshold: f64, algorithm: Algorithm) -> Joined {
    let spec = FeatureSpec { multiset: false, ..FeatureSpec::WORDS };
    let predicate = Predicate::new(measure, threshold).expect("a threshold");
    let method = Sets { spec, predicate, algorithm, weights: Default::default() };
    let once = || {
        let mut corpus = Corpus::of_sets(sets);
        let resources = Resources { files: &NoFiles, budget: 1 << 40, executor: &PlainThreads(1) };
        let mut pairs = method.pairs(&mut Reading::new(&mut corpus, &mut Quiet, resources)).expect("memory");
        let began = now();
        while pairs.next(&PlainThreads(1)).expect("memory").is_some() {}
        let seconds = now() - began;
        Joined { pairs: pairs.given(), candidates: pairs.counts().verified, seconds }
    };
    let mut joined = once();
    if joined.seconds < SHORT && !small::small() {
        for _ in 1..RUNS {
            joined.seconds = joined.seconds.min(once().seconds);
        }
    }
    joined
}
