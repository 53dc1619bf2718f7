//! Candidates by sentence signatures: pairs that have one in common.

use neardup_core::executor::PlainThreads;
use neardup_core::joins::sentences::lister::StopRules;
use neardup_core::methods::account::Account;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::tlcs::Tlcs;
use neardup_core::sketches::sentence::SignatureParameters as Signing;
use neardup_core::storage::files::{MemoryFiles, Resources};
use neardup_core::verify::tlcs::{Parameters, Thresholds};

/// A pair of documents, the lesser number first.
pub type Pair = (u32, u32);

/// Near duplicates by the thresholds of Huang et al. (CIKM 2008).
pub const THRESHOLDS: Thresholds = Thresholds { resemblance: 0.28, containment: Some(0.7) };

/// The published rules, which try no frequent signature.
pub const PUBLISHED: StopRules =
    StopRules { most_documents: 10_000, most_of_a_site: 400, tried_beyond: None };

/// Anything that two texts share.
pub const ANYTHING: Thresholds = Thresholds { resemblance: 1e-9, containment: None };

/// The pairs that share a signature, by the method itself with thresholds that any character passes
/// which both begin with.
pub fn candidates(texts: &[String], signatures: Signing) -> Vec<Pair> {
    const BEGINNING: u64 = 200;
    let parameters = Parameters { first: BEGINNING, window: 0, trustable: false, ..Parameters::default() };
    let method = Tlcs {
        signatures,
        rules: PUBLISHED,
        parameters,
        thresholds: ANYTHING,
        weight: None,
        words: None,
        whole_sets: false,
    };
    found(texts, &method, 2).0.into_iter().map(|(pair, _)| pair).collect()
}

/// The pairs that a method gives, with their resemblance, and what was done.
pub fn found(texts: &[String], method: &Tlcs, threads: usize) -> (Vec<(Pair, f64)>, Account) {
    let executor = PlainThreads(threads);
    let resources = Resources { files: &MemoryFiles, budget: 1 << 30, executor: &executor };
    let (pairs, account) = Corpus::of_texts(texts).pairs_with(method, resources).expect("memory");
    (pairs.into_iter().map(|pair| ((pair.left, pair.right), pair.similarity)).collect(), account)
}
