//! Searches for passages, and the signatures that they compare.

use std::path::Path;

use neardup_core::executor::PlainThreads;
use neardup_core::features::imatch::IdfRange;
use neardup_core::features::spotsigs::{Antecedents, SpotSpec};
use neardup_core::features::units::signatures::Features;
use neardup_core::methods::account::Account;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::Quiet;
use neardup_core::methods::passages::search;
use neardup_core::methods::reading::Reading;
use neardup_core::passages::{Parameters, Passage};
use neardup_core::storage::files::{MemoryFiles, Resources};

use crate::{corpora, small};

/// The texts of a corpus; some of them in the small form.
pub fn few_texts(data: &Path, name: &str) -> Vec<String> {
    const FEW: usize = 40;
    let mut texts = corpora::texts(data, name);
    texts.truncate(if small::small() { FEW } else { usize::MAX });
    texts
}

/// Gives `each` the passages that a table of these texts has, some at a time; what was done.
pub fn for_each_batch(
    texts: &[String],
    parameters: &Parameters,
    threads: usize,
    mut each: impl FnMut(Vec<Passage>),
) -> Account {
    let executor = PlainThreads(threads);
    let resources = Resources { files: &MemoryFiles, budget: 1 << 30, executor: &executor };
    let (mut corpus, mut quiet) = (Corpus::of_texts(texts), Quiet);
    let mut reading = Reading::new(&mut corpus, &mut quiet, resources);
    let mut search = search(parameters, &mut reading).expect("parameters");
    while let Some(batch) = search.next_batch(&executor).expect("memory") {
        each(batch);
    }
    reading.account
}

/// All passages that a table of these texts has.
pub fn passages(texts: &[String], parameters: &Parameters) -> Vec<Passage> {
    let mut all = Vec::new();
    for_each_batch(texts, parameters, 2, |mut batch| all.append(&mut batch));
    all
}

pub fn shingles(k: usize) -> Features {
    Features::Shingles(k)
}

pub fn imatch() -> Features {
    Features::Imatch(IdfRange::default())
}

pub fn idf(lo: f64, hi: f64) -> Features {
    Features::Imatch(IdfRange::new(lo, hi).expect("a range"))
}

pub fn spotsigs(antecedents: Antecedents) -> Features {
    Features::Spotsigs(SpotSpec { antecedents, ..SpotSpec::default() })
}

/// The signatures that are compared, by their names.
pub fn kinds_of_features() -> Vec<(&'static str, Features)> {
    vec![
        ("2-shingles", shingles(2)),
        ("3-shingles", shingles(3)),
        ("4-shingles", shingles(4)),
        ("I-Match [0.1, 1]", imatch()),
        ("I-Match [0.2, 1]", idf(0.2, 1.0)),
        ("SpotSigs, stop words", spotsigs(Antecedents::Common)),
        ("SpotSigs, 60 words", spotsigs(Antecedents::Counted(60))),
        ("SpotSigs, 10,000 words", spotsigs(Antecedents::Counted(10_000))),
    ]
}
