//! A join by one of the algorithms, its candidates and its time.

use neardup::features::FeatureSpec;
use neardup::files::NoFiles;
use neardup::joins::sets::Algorithm;
use neardup::methods::Method;
use neardup::methods::corpus::Corpus;
use neardup::methods::documents::Quiet;
use neardup::methods::reading::Reading;
use neardup::methods::sets::Sets;
use neardup::resources::Resources;
use neardup::verify::measure::Measure;
use neardup::verify::predicate::Predicate;
use neardup::workers::PlainThreads;

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

/// The time is the mean of as many joins as take so many seconds together, and of at most so many: the clock of a process may
/// tick every four milliseconds only.
const SECONDS: f64 = 0.1;
const MOST: usize = 40;

/// Joins sets with themselves.
pub fn join(sets: &[Vec<i64>], measure: Measure, threshold: f64, algorithm: Algorithm) -> Joined {
    let spec = FeatureSpec { multiset: false, ..FeatureSpec::WORDS };
    let predicate = Predicate::new(measure, threshold).expect("a threshold");
    let method = Sets { spec, predicate, algorithm };
    let once = || {
        let mut corpus = Corpus::of_sets(sets);
        let resources = Resources { files: &NoFiles, budget: 1 << 40, workers: &PlainThreads(1) };
        let mut pairs = method.pairs(&mut Reading::new(&mut corpus, &mut Quiet, resources)).expect("memory");
        let began = processor::seconds();
        while pairs.next(&PlainThreads(1)).expect("memory").is_some() {}
        let seconds = processor::seconds() - began;
        Joined { pairs: pairs.given(), candidates: pairs.counts().verified, seconds }
    };
    let (mut joined, mut runs) = (once(), 1);
    while !small::small() && joined.seconds < SECONDS && runs < MOST {
        joined.seconds += once().seconds;
        runs += 1;
    }
    joined.seconds /= runs as f64;
    joined
}
