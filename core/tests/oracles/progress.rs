//! What a join says of its progress.

use neardup_core::executor::PlainThreads;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::Quiet;
use neardup_core::methods::edit::Edit;
use neardup_core::methods::method::Method as _;
use neardup_core::methods::reading::Reading;
use neardup_core::storage::files::{NoFiles, Resources};

/// The grams of all pairs are found at once, and the pairs are then compared in many batches.
#[test]
fn pairs_that_wait_to_be_compared_are_not_done() {
    let texts: Vec<String> = (0..400).map(|n| format!("{}{n}", "north quay ".repeat(4))).collect();
    let executor = &PlainThreads(1);
    let (mut corpus, mut quiet) = (Corpus::of_texts(&texts), Quiet);
    let resources = Resources { files: &NoFiles, budget: 1 << 40, executor };
    let mut reading = Reading::new(&mut corpus, &mut quiet, resources);
    let mut pairs = Edit::new(0.8).unwrap().pairs(&mut reading).unwrap();
    let (mut seen, mut given) = (Vec::new(), Vec::new());
    while pairs.advance(executor).unwrap() {
        while pairs.take().is_some() {}
        seen.push(pairs.progress());
        given.push(pairs.given());
    }
    assert!(seen.is_sorted() && seen[seen.len() - 1] == 1.0, "{seen:?}");
    let all = pairs.given();
    for (progress, given) in seen.into_iter().zip(given) {
        assert!(progress < 1.0 || given == all, "{progress} after {given} of {all} pairs");
    }
}
