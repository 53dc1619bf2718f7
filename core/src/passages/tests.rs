//! The search against what docs/design/algorithms.md section 6 says, word by word.

mod definition;

use definition::naive;
use proptest::prelude::*;

use super::grow::{backwards, forwards};
use super::search::{Search, SearchAccount};
use super::{Parameters, Passage, PassageSearch, between};
use crate::executor::{PlainThreads, Stop};
use crate::features::imatch::IdfRange;
use crate::features::spotsigs::{Antecedents, SpotSpec};
use crate::features::tokens::Document;
use crate::features::units::sets::{DocumentUnit, Gathering, Units};
use crate::features::units::signatures::Features;
use crate::storage::files::{MemoryFiles, Resources, TempFiles};
use crate::text::characters::width;

/// What a search finds.
fn found(
    texts: &[String],
    split: Option<usize>,
    parameters: &Parameters,
    (threads, budget): (usize, usize),
) -> (Vec<Passage>, SearchAccount) {
    let executor = PlainThreads(threads);
    let files: &dyn TempFiles = &MemoryFiles;
    let mut gathering = Gathering::new(DocumentUnit::Sentence, &parameters.features, files, &executor);
    for (row, text) in texts.iter().enumerate() {
        let document = Document::Text(text.clone());
        gathering.readers[row % threads].add(row as u32, &document, &Stop::default()).unwrap();
        gathering.settle(|_| Ok(()), budget, &executor).unwrap();
    }
    let (mut library, maker, _) =
        gathering.finish(&parameters.features, texts.len() as u64, &executor).unwrap();
    let rows: Vec<u32> = (0..texts.len() as u32).collect();
    let (left, right) = rows.split_at(split.unwrap_or(rows.len()));
    let units = Units::in_order(&mut library, left, split.map(|_| right)).unwrap();
    let resources = Resources { files, budget, executor: &executor };
    let mut search = Search::new(library, units, &maker, parameters, resources, &mut |_| {}).unwrap();
    let mut all = Vec::new();
    while let Some(mut batch) = search.next_batch(&executor).unwrap() {
        all.append(&mut batch);
    }
    (all, search.account)
}

/// Few sentences, of few words, some of them in many documents.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let sentence = prop_oneof![
        Just("Copy and go."),
        Just("Copy  AND go!"),
        Just("The red crane moved a box."),
        Just("The red crane moved a box today."),
        Just("The red\ncrane moved the box."),
        Just("A der Kran B."),
        Just("Der Kran B."),
        Just("..."),
        Just("好雨知时节。"),
        Just("好雨知时，节。"),
        Just("of the"),
    ];
    let text = prop::collection::vec(sentence, 0..7).prop_map(|sentences| sentences.join(" "));
    prop::collection::vec(text, 0..7)
}

fn features() -> impl Strategy<Value = Features> {
    let spots = |chain| SpotSpec {
        antecedents: Antecedents::Listed(vec![
            "the".into(),
            "der".into(),
            "a".into(),
            "of".into(),
            "and".into(),
        ]),
        chain,
        distance: 1,
    };
    prop_oneof![
        (1..5usize).prop_map(Features::Shingles),
        prop_oneof![Just((0.0, 1.0)), Just((0.1, 1.0)), Just((0.3, 0.9))]
            .prop_map(|(lo, hi)| Features::Imatch(IdfRange::new(lo, hi).unwrap())),
        (1..3u32).prop_map(move |chain| Features::Spotsigs(spots(chain))),
    ]
}

proptest! {
    #![proptest_config(crate::cases::cases(400))]

    #[test]
    fn finds_what_the_definition_says(
        texts in texts(),
        split in prop::option::of(0..7usize),
        features in features(),
        threshold in prop_oneof![Just(0.9), Just(0.5), Just(2.0 / 3.0), Just(0.01), Just(1.0)],
        min_sentences in 1..4u32,
        most_similar in prop_oneof![Just(1000u32), 1..6u32],
        min_width in prop_oneof![Just(0u32), 1..60u32],
        within_documents: bool,
        threads in 1..4usize,
        budget in prop_oneof![Just(0usize), Just(1 << 30)],
    ) {
        // The naive one has no list of its own for spot signatures beside the stop words of the
        // language.
        let split = split.map(|split| split.min(texts.len()));
        let parameters = Parameters {
            features, threshold, min_sentences, extend: None, most_similar, min_width, within_documents, edits: None,
        };
        let (all, account) = found(&texts, split, &parameters, (threads, budget));
        prop_assert_eq!(&all, &naive(&texts, split, &parameters));
        prop_assert!(!account.capped.equal_only);
        // Passages grow, and nothing else of them changes; those that grew wide enough come, too.
        let plain = Parameters { min_width: 0, ..parameters };
        let (all, _) = found(&texts, split, &plain, (threads, budget));
        let grown = Parameters { extend: Some(12), ..plain };
        let (wider, _) = found(&texts, split, &grown, (threads, budget));
        prop_assert_eq!(wider.len(), all.len());
        for (wide, plain) in wider.iter().zip(&all) {
            let (l, r) = (&wide.left_span, &wide.right_span);
            prop_assert!(l.start <= plain.left_span.start && l.end >= plain.left_span.end);
            prop_assert!(r.start <= plain.right_span.start && r.end >= plain.right_span.end);
            prop_assert!(wide.left_row < wide.right_row || l.end <= r.start, "{wide:?}");
            let as_before = Passage {
                left_span: plain.left_span.clone(),
                right_span: plain.right_span.clone(),
                ..wide.clone()
            };
            prop_assert_eq!(&as_before, plain);
            prop_assert!(l.end <= texts[wide.left_row as usize].chars().count());
            prop_assert!(r.end <= texts[wide.right_row as usize].chars().count());
        }
        let least = |passage: &&Passage| {
            let side = |row, span| width(&cut(&texts[row as usize], span).split_whitespace().collect::<String>());
            side(passage.left_row, &passage.left_span).min(side(passage.right_row, &passage.right_span))
                >= min_width as usize
        };
        let expected: Vec<Passage> = wider.iter().filter(least).cloned().collect();
        let grown = Parameters { min_width, ..grown };
        prop_assert_eq!(found(&texts, split, &grown, (threads, budget)).0, expected);
    }
}

/// Cuts a span out of a text.
fn cut(text: &str, span: &std::ops::Range<usize>) -> String {
    text.chars().skip(span.start).take(span.len()).collect()
}

/// A text with line breaks where the next word would not fit.
fn wrapped(text: &str, width: usize) -> String {
    let (mut all, mut column) = (String::new(), 0);
    for word in text.split(' ') {
        let breaks = column > 0 && column + 1 + word.len() > width;
        all.push_str(if breaks {
            "\n"
        } else if column > 0 {
            " "
        } else {
            ""
        });
        column = if breaks { word.len() } else { column + usize::from(column > 0) + word.len() };
        all.push_str(word);
    }
    all
}

#[test]
fn spans_cut_the_very_passages_out() {
    let passage = "The crane moved to the north quay in March. Nobody saw it happen, as it was dark. It was 3.5 m high.";
    let text = |before: &str, after: &str| format!("{before} {passage} {after}");
    let a = text("Harbour news of the week, first part.", "No ship came in on Sunday.");
    let b = text(
        "Letters to the editor were few this week. They were short, too.",
        "Weather: rain. More rain came.",
    );
    let (a, b) = (wrapped(&a, 72), wrapped(&b, 41));
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for features in [Features::Shingles(2), Features::Shingles(4), Features::Imatch(IdfRange::default())] {
        for extend in [None, Some(0), Some(12)] {
            let parameters = Parameters { features: features.clone(), extend, ..Parameters::default() };
            let found = between(&a, &b, &parameters, &Stop::default()).unwrap();
            assert_eq!(found.len(), 1, "{features:?} {extend:?}");
            let Passage { left_sentence, right_sentence, sentences, similarity, .. } = found[0];
            assert_eq!((left_sentence, right_sentence, sentences, similarity), (1, 2, 3, 1.0));
            assert_eq!(plain(&cut(&a, &found[0].left_span)), passage);
            assert_eq!(plain(&cut(&b, &found[0].right_span)), passage);
        }
    }
}

#[test]
fn passages_grow_into_sentences_that_are_not_similar() {
    let a = "Rain. As we know, the crane moved to the north quay. Nobody saw it happen. It was dark and cold on the quay, so they left.";
    let b = "He said the crane moved to the north quay. Nobody saw it happen. It was dark and cold on the quay but some stayed.";
    let parameters = Parameters { min_sentences: 1, ..Parameters::default() };
    let found = between(a, b, &parameters, &Stop::default()).unwrap();
    let shared = "the crane moved to the north quay. Nobody saw it happen. It was dark and cold on the quay";
    assert_eq!(found.len(), 1);
    assert_eq!(
        (cut(a, &found[0].left_span).as_str(), cut(b, &found[0].right_span).as_str()),
        (shared, shared)
    );
    assert_eq!(found[0].sentences, 1);
    assert_eq!(
        backwards("", "x", 12, &Stop::default()).unwrap(),
        forwards("x", "", 12, &Stop::default()).unwrap()
    );
}

#[test]
fn passages_of_one_document_are_beside_each_other() {
    let refrain = "The crane moved to the quay. Nobody saw it.";
    let text = format!("One. {refrain} {refrain} {refrain} Two of it. {refrain} Three.");
    let parameters = Parameters {
        min_sentences: 2,
        within_documents: true,
        features: Features::Shingles(2),
        ..Parameters::default()
    };
    let (all, _) = found(std::slice::from_ref(&text), None, &parameters, (2, 1 << 30));
    let places: Vec<[u32; 3]> = all
        .iter()
        .map(|passage| [passage.left_sentence, passage.right_sentence, passage.sentences])
        .collect();
    // The first two with the next two, once more from there, and each with the last one.
    assert_eq!(places, [[1, 3, 2], [1, 5, 2], [1, 8, 2], [3, 5, 2], [3, 8, 2], [5, 8, 2]]);
    for Passage { left_row, right_row, left_span, right_span, .. } in &all {
        assert_eq!((left_row, right_row), (&0, &0));
        assert_eq!((&*cut(&text, left_span), &*cut(&text, right_span)), (refrain, refrain));
    }
    let parameters = Parameters { within_documents: false, ..parameters };
    assert_eq!(found(&[text], None, &parameters, (2, 1 << 30)).0, []);
}

#[test]
fn frequent_sentences_are_not_quadratic_and_are_told() {
    // All have the notice, and two of them more in common.
    let mut texts: Vec<String> = (0..3000)
        .map(|n| format!("Story number {n} of {}. All rights are reserved by us. Ends {n}.", n * 7919))
        .collect();
    for text in &mut texts[..2] {
        text.push_str(" The crane moved. All rights are reserved by us. It came back.");
    }
    let parameters = Parameters {
        features: Features::Shingles(2),
        extend: None,
        most_similar: 100,
        ..Parameters::default()
    };
    let (found, account) = found(&texts, None, &parameters, (3, 1 << 30));
    assert_eq!((account.capped.sentences, account.capped.occurrences), (1, 3002));
    assert!(account.pairs < 100, "{}", account.pairs);
    assert_eq!(found.len(), 1);
    assert_eq!(
        cut(&texts[0], &found[0].left_span),
        "The crane moved. All rights are reserved by us. It came back."
    );
}

#[test]
fn sentences_of_a_template_are_not_compared_with_each_other() {
    // Each page has its own, and two of them more in common.
    let notice = |n: usize| {
        format!("All rights of page {n} and of item {} are reserved by the harbour office.", n * 7919)
    };
    let mut texts: Vec<String> =
        (0..2000).map(|n| format!("Story {n} of {}. {} Ends {n}.", n * 7919, notice(n))).collect();
    for (n, text) in texts[..2].iter_mut().enumerate() {
        text.push_str(&format!(" The crane moved. {} It came back.", notice(n)));
    }
    let parameters = Parameters {
        features: Features::Shingles(1),
        threshold: 0.6,
        extend: None,
        most_similar: 100,
        ..Parameters::default()
    };
    for split in [None, Some(1)] {
        let (found, account) = found(&texts, split, &parameters, (2, 1 << 30));
        assert!(account.counts.verified < 20_000, "{:?}", account.counts);
        assert!(!account.capped.equal_only && account.capped.sentences >= 1999 * u64::from(split.is_none()));
        let of_two = found.iter().filter(|passage| (passage.left_row, passage.right_row) == (0, 1));
        let cuts: Vec<String> = of_two.map(|passage| cut(&texts[1], &passage.right_span)).collect();
        assert_eq!(cuts, [format!("The crane moved. {} It came back.", notice(1))]);
    }
}

#[test]
fn a_stopped_search_ends() {
    let stop = Stop::default();
    stop.request();
    let found = between("A b c. D e f.", "A b c. D e f.", &Parameters::default(), &stop);
    assert_eq!(found, Err(crate::error::Error::Stopped));
}
