//! Corpora and parameters for the tests of repeated runs.

use neardup_core::executor::PlainThreads;
use neardup_core::methods::documents::Quiet;
use neardup_core::methods::reading::Reading;
use neardup_core::methods::repeats;
use neardup_core::repeats::cut::{CutText, Cutting};
use neardup_core::repeats::located::RepeatedRun;
use neardup_core::repeats::{RunParameters, Unit};
use neardup_core::storage::files::{MemoryFiles, Resources};
use neardup_core::{Corpus, Document, Tokenizer};
use proptest::prelude::*;

/// A corpus with the columns that an order and groups are made of.
#[derive(Debug, Clone, Default)]
pub(crate) struct Case {
    pub(crate) texts: Vec<Option<String>>,
    pub(crate) weights: Option<Vec<i64>>,
    pub(crate) sites: Option<Vec<Option<String>>>,
}

impl Case {
    pub(crate) fn of<T: AsRef<str>>(texts: &[T]) -> Self {
        Self { texts: texts.iter().map(|text| Some(text.as_ref().to_owned())).collect(), ..Self::default() }
    }

    pub(crate) fn read<T>(
        &self,
        threads: usize,
        budget: usize,
        with: impl FnOnce(&mut Reading<'_>) -> T,
    ) -> T {
        let mut corpus = Corpus::new(self.texts.len(), |row| self.texts[row].as_deref().map(Document::from));
        if let Some(weights) = &self.weights {
            corpus = corpus.with_weights(weights.clone());
        }
        if let Some(sites) = &self.sites {
            corpus = corpus.with_sites(sites).unwrap();
        }
        let resources = Resources { files: &MemoryFiles, budget, executor: &PlainThreads(threads) };
        with(&mut Reading::new(&mut corpus, &mut Quiet, resources))
    }

    pub(crate) fn runs(&self, parameters: &RunParameters, threads: usize, budget: usize) -> Vec<RepeatedRun> {
        let mut found = self.read(threads, budget, |reading| repeats::runs(parameters, reading).unwrap());
        std::iter::from_fn(|| found.next(&PlainThreads(1)).unwrap()).collect()
    }

    pub(crate) fn cut(
        &self,
        parameters: &RunParameters,
        cutting: Cutting,
        threads: usize,
        budget: usize,
    ) -> Vec<CutText> {
        let mut found =
            self.read(threads, budget, |reading| repeats::cut(parameters, cutting, reading).unwrap());
        std::iter::from_fn(|| found.next_batch(&PlainThreads(1)).unwrap()).flatten().collect()
    }

    /// The rows from the first to keep to the last.
    pub(crate) fn order(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.texts.len()).collect();
        if let Some(weights) = &self.weights {
            rows.sort_by_key(|&row| std::cmp::Reverse(weights[row]));
        }
        rows
    }

    /// Rows with equal groups are compared.
    pub(crate) fn group(&self, row: usize) -> Result<Option<&str>, usize> {
        match &self.sites {
            None => Ok(None),
            Some(sites) => sites[row].as_deref().map(Some).ok_or(row),
        }
    }
}

pub(crate) fn cases() -> impl Strategy<Value = Case> {
    let text = prop_oneof![
        4 => "([ab][ .,]){0,20}",
        3 => "([abc]{1,2}[ .\n]){0,30}",
        2 => "[甲乙 。\n]{0,20}",
        1 => "[!~ \n]{0,8}",
        1 => "(One two\\. |Three four five\\.\n|Six\\.\r\n|\n){0,9}",
        1 => "(<p>|<li>a</li>|<b>b|</b>|&amp;|a |b\\. |<!--c-->|\n){0,20}",
    ];
    prop::collection::vec((prop::option::weighted(0.95, text), 0..3i64, prop::option::of("[xy]")), 0..7)
        .prop_flat_map(|rows| {
            let texts = rows.iter().map(|(text, ..)| text.clone()).collect::<Vec<_>>();
            let weights = rows.iter().map(|(_, weight, _)| *weight).collect::<Vec<_>>();
            let sites = rows.iter().map(|(.., site)| site.clone()).collect::<Vec<_>>();
            let (weights, sites) = (prop::option::of(Just(weights)), prop::option::of(Just(sites)));
            (Just(texts), weights, sites).prop_map(|(texts, weights, sites)| Case { texts, weights, sites })
        })
}

prop_compose! {
    pub(crate) fn parameters()(
        unit in prop_oneof![
            4 => (1..7usize).prop_map(Unit::Window),
            1 => Just(Unit::Line),
            1 => Just(Unit::Sentence),
            1 => Just(Unit::Paragraph),
        ],
        tokenizer in prop_oneof![
            2 => Just(Tokenizer::Words),
            1 => Just(Tokenizer::Chars),
            1 => Just(Tokenizer::Whitespace),
            1 => Just(Tokenizer::Html),
        ],
        min_tokens in 1..4usize,
        min_documents in 1..4u32,
        min_share in prop::option::weighted(0.3, prop_oneof![Just(0.5), Just(1.0), Just(1.0 / 3.0)]),
        within_documents: bool,
        keeps_first: bool,
    ) -> RunParameters {
        RunParameters { unit, tokenizer, min_tokens, min_documents, min_share, within_documents, keeps_first }
    }
}
