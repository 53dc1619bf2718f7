//! What holds for every method, whatever it compares: memory, threads, interrupts and how documents
//! come make no difference, and what cannot be read is said.

use neardup_core::error::{Error, Result};
use neardup_core::executor::{Executor, PlainThreads};
use neardup_core::features::FeatureSpec;
use neardup_core::features::source_document::SourceDocument;
use neardup_core::features::tokens::Document;
use neardup_core::hash::mix;
use neardup_core::methods::account::Account;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::{Documents, Quiet, Side};
use neardup_core::methods::passages;
use neardup_core::methods::reading::Reading;
use neardup_core::methods::sets::Sets;
use neardup_core::passages::Parameters as PassageParameters;
use neardup_core::storage::files::{MemoryFiles, Resources};
use neardup_core::text::packed::{PackedText, Packing};
use neardup_core::verify::measure::Measure;

use crate::common::methods::methods;
use crate::common::run::{Counted, ENOUGH, Found, Interrupted, find, find_with};

/// Texts of a small vocabulary: some short, some long, some equal, some nearly so, some empty.
fn texts() -> Vec<String> {
    let word = |n: u64| -> String {
        const FREQUENT: [&str; 6] = ["the", "a", "is", "of", "to", "and"];
        match mix(n) % 3 {
            0 => FREQUENT[mix(n) as usize / 3 % FREQUENT.len()].to_owned(),
            _ => format!("w{}", mix(n) / 3 % 700),
        }
    };
    let text = |seed: u64, words: u64, changed: u64| -> String {
        let mut text = String::new();
        for n in 0..words {
            let other = if n < changed { 1 << 40 } else { 0 };
            text.push_str(&word(seed << 32 | other | n));
            text.push_str(if n % 11 == 10 { ". The " } else { " " });
        }
        text
    };
    (0..150)
        .map(|n: u64| match n % 10 {
            0 => String::new(),
            1..4 => text(n % 10, 40, 0),
            4..7 => text(n % 40, 60 + n % 3, n % 4),
            // Longer than a thirty-second of the memory below.
            7 => text(n % 20, 3000, n % 7),
            _ => text(n, 30 + n % 50, 0),
        })
        .collect()
}

/// Too little for the texts, so that what can go to files does.
const LITTLE: usize = 64 << 10;

#[test]
fn memory_threads_and_interrupts_make_no_difference() {
    let texts = texts();
    for right_from in [None, Some(70)] {
        for (name, method) in methods() {
            let corpus = || Corpus::of_texts(&texts).split(right_from);
            let (found, account) = find(&*method, corpus(), &PlainThreads(2), ENOUGH);
            assert!(!found.is_empty(), "{name} finds something");
            assert_eq!((account.documents, account.skipped_null), (150, 0), "{name}");
            assert!(account.peak_memory > 0 && account.distinct_sets > 0, "{name}");
            for budget in [0, 4 << 10, LITTLE, 1 << 20] {
                let (small, other) = find(&*method, corpus(), &PlainThreads(3), budget);
                assert!(small == found, "{name} with {budget} bytes");
                let numbers = |account: &Account| {
                    // In files, sets of two tables that have tokens of their own are not known to
                    // be equal.
                    let sets = if right_from.is_none() { account.distinct_sets } else { 0 };
                    (account.skipped_empty, account.tokens, account.distinct_tokens, sets)
                };
                assert_eq!(numbers(&other), numbers(&account), "{name} with {budget} bytes");
            }
            assert!(
                find(&*method, corpus(), &Interrupted::default(), LITTLE).0 == found,
                "{name}, interrupted"
            );
        }
    }
}

#[test]
fn sets_go_to_files_where_memory_is_small() {
    let texts = texts();
    // The grams of short texts only are sets for edit.
    let short: Vec<String> = texts.iter().map(|text| text.chars().take(100).collect()).collect();
    let files = Counted::default();
    let resources = |budget| Resources { files: &files, budget, executor: &PlainThreads(2) };
    for (name, method) in methods() {
        // These keep texts or signatures in memory, until a call as a whole goes to files, or nothing
        // that grows.
        let spills = !matches!(name, "imatch" | "minhash" | "simhash" | "exact_code");
        let texts = if name == "edit" { &short } else { &texts };
        files.0.set(0);
        find_with(&*method, Corpus::of_texts(texts), resources(16 << 10));
        assert_eq!(files.0.get() > 0, spills, "{name}");
        files.0.set(0);
        find_with(&*method, Corpus::of_texts(texts), resources(1 << 30));
        assert_eq!(files.0.get(), 0, "{name} needs no file");
    }
}

/// A task ends once it has found enough pairs, and goes on where it ended, also between the probes
/// of one token.
#[test]
fn more_pairs_than_are_found_at_a_time() {
    let letters = |n: u64| (0..3 + n % 9).map(move |k| mix(n / 3 * 100 + k) % 6);
    let texts: Vec<String> =
        (0..900).map(|n| letters(n).map(|letter| format!("w{letter} ")).collect()).collect();
    let counts: Vec<[u32; 6]> = (0..900)
        .map(|n| {
            let mut counts = [0; 6];
            letters(n).for_each(|letter| counts[letter as usize] += 1);
            counts
        })
        .collect();
    let mut expected = Vec::new();
    for (right, b) in counts.iter().enumerate() {
        for (left, a) in counts[..right].iter().enumerate() {
            let shared: u32 = a.iter().zip(b).map(|(a, b)| a.min(b)).sum();
            let size = a.iter().sum::<u32>().min(b.iter().sum());
            let similarity = f64::from(shared) / f64::from(size);
            if similarity >= 0.5 {
                expected.push((left as u32, right as u32, similarity.to_bits()));
            }
        }
    }
    expected.sort_unstable();
    assert!(expected.len() > 100_000);
    let method = Sets::of_words(Measure::Overlap, 0.5).unwrap();
    for budget in [ENOUGH, LITTLE] {
        for threads in [1, 2] {
            let (mut found, _) = find(&method, Corpus::of_texts(&texts), &PlainThreads(threads), budget);
            found.sort_unstable();
            assert!(found == expected, "{} and not {} pairs", found.len(), expected.len());
        }
    }
}

#[test]
fn long_documents_give_the_sets_of_short_ones() {
    // Longer than any memory makes long.
    let long: String = (0..200_000u64).map(|n| format!("w{} ", mix(n) % 60_000)).collect();
    let texts = [long.clone(), "w1 w2 w3".to_owned(), format!("{long} w1"), "w3 w2 w1".to_owned()];
    assert!(long.len() > 1 << 20);
    for shingle in [1, 2] {
        let spec = FeatureSpec { shingle, ..FeatureSpec::WORDS };
        let method = Sets { spec, ..Sets::of_words(Measure::Jaccard, 0.9).unwrap() };
        let (found, account) = find(&method, Corpus::of_texts(&texts), &PlainThreads(2), ENOUGH);
        let tokens = |words: u64| words + 1 - shingle as u64;
        let sizes = [tokens(200_000), tokens(3), tokens(200_001), tokens(3)];
        assert_eq!(account.tokens, sizes.iter().sum::<u64>());
        let similarity = (sizes[0] as f64 / sizes[2] as f64).to_bits();
        let equal = (1, 3, 1f64.to_bits());
        assert_eq!(
            found,
            if shingle == 1 { vec![(0, 2, similarity), equal] } else { vec![(0, 2, similarity)] }
        );
    }
}

#[test]
fn little_memory_is_kept_to() {
    let texts: Vec<String> =
        (0..20_000u64).map(|n| (0..40).map(|k| format!("w{} ", mix(n << 8 | k) % 3000)).collect()).collect();
    const BUDGET: usize = 4 << 20;
    assert!(texts.iter().map(String::len).sum::<usize>() > BUDGET);
    let method = Sets::of_words(Measure::Jaccard, 0.9).unwrap();
    let (_, account) = find(&method, Corpus::of_texts(&texts), &PlainThreads(2), BUDGET);
    // Batches are read until they are large enough, so that the last document goes beyond.
    assert!(account.peak_memory as usize <= BUDGET + BUDGET / 64, "{} bytes", account.peak_memory);
}

#[test]
fn tables_of_nothing() {
    let nothing: [String; 0] = [];
    let empty = vec![String::new(); 3];
    for (name, method) in methods() {
        for texts in [&nothing[..], &empty[..]] {
            for right_from in [None, Some(0), Some(texts.len())] {
                let corpus = Corpus::of_texts(texts).split(right_from);
                let (found, account) = find(&*method, corpus, &PlainThreads(2), LITTLE);
                let expected = (Found::new(), texts.len() as u64);
                assert_eq!((found, account.skipped_empty), expected, "{name} {right_from:?}");
            }
        }
    }
}

#[test]
fn rows_without_a_text_are_counted_only() {
    let texts = texts();
    let every_second = |row: usize| row.is_multiple_of(2).then(|| Document::Text(texts[row].clone()));
    for (name, method) in methods() {
        let all = find(&*method, Corpus::new(150, every_second), &PlainThreads(2), ENOUGH);
        let blank: Vec<String> = (0..150usize)
            .map(|row| if row.is_multiple_of(2) { texts[row].clone() } else { String::new() })
            .collect();
        let same = find(&*method, Corpus::of_texts(&blank), &PlainThreads(2), ENOUGH);
        assert_eq!((all.1.documents, all.1.skipped_null), (150, 75), "{name}");
        assert_eq!(all.1.skipped_empty + 75, same.1.skipped_empty, "{name}");
        // Which words are frequent goes by how many documents there are.
        if !matches!(name, "imatch") {
            assert!(all.0 == same.0, "{name}");
        }
    }
}

#[test]
fn passages_do_not_depend_on_memory() {
    let texts = texts();
    let parameters = PassageParameters { min_sentences: 1, ..PassageParameters::default() };
    let run = |budget, threads, right_from| {
        let files = Counted::default();
        let resources = Resources { files: &files, budget, executor: &PlainThreads(threads) };
        let (mut corpus, mut quiet) = (Corpus::of_texts(&texts).split(right_from), Quiet);
        let mut search =
            passages::search(&parameters, &mut Reading::new(&mut corpus, &mut quiet, resources)).unwrap();
        let mut all = Vec::new();
        while let Some(mut batch) = search.next_batch(resources.executor).unwrap() {
            all.append(&mut batch);
        }
        (all, files.0.get())
    };
    for right_from in [None, Some(70)] {
        let (all, files) = run(1 << 30, 1, right_from);
        assert!(!all.is_empty() && files == 0);
        let (small, files) = run(LITTLE, 2, right_from);
        assert!(small == all && files > 0);
    }
}

/// Texts that are packed, in two ways by turns, without any copying: what is to be copied, the
/// packings' own tests have.
fn packed(text: &str, row: usize) -> PackedText {
    let mut bytes = Vec::new();
    let packing = if row.is_multiple_of(2) { Packing::Pglz } else { Packing::Lz4 };
    if row.is_multiple_of(2) {
        text.as_bytes().chunks(8).for_each(|eight| bytes.extend([&[0], eight].concat()));
    } else {
        bytes.push(15 << 4);
        let mut more = text.len() - 15;
        while more >= 255 {
            bytes.push(255);
            more -= 255;
        }
        bytes.push(more as u8);
        bytes.extend(text.as_bytes());
    }
    PackedText { bytes, len: text.len(), packing }
}

#[test]
fn packed_texts_are_as_others_and_damage_is_met() {
    let text = |row: usize| {
        // Each of the left table has its like in the right one.
        let row = row % 70;
        let words: Vec<String> = (0..40).map(|n| (row / 3 + n * 7 % (5 + row % 3)).to_string()).collect();
        // Some are long where memory is little.
        words.join(" ").repeat(if row % 10 < 3 { 60 } else { 1 })
    };
    let texts: Vec<String> = (0..200).map(text).collect();
    let method = Sets::of_words(Measure::Jaccard, 0.6).unwrap();
    for (budget, threads) in [(1 << 30, 1), (1 << 30, 3), (LITTLE, 2)] {
        let files = MemoryFiles;
        let resources = Resources { files: &files, budget, executor: &PlainThreads(threads) };
        let pairs = |corpus: Corpus<'_>| {
            corpus.split(Some(70)).pairs_with(&method, resources).map(|(pairs, _)| pairs)
        };
        let plain = pairs(Corpus::of_texts(&texts)).unwrap();
        assert!(!plain.is_empty());
        let given = |row: usize| Some(SourceDocument::Text(packed(&texts[row], row)));
        assert_eq!(pairs(Corpus::of_given(texts.len(), given)), Ok(plain));
        // Of several that cannot be read the first one is told of; in one batch here.
        let not_text = |row: usize| {
            let mut packed = packed(&texts[row], row);
            match row {
                90 => packed.bytes[1] = 0xff,
                91 | 199 => packed.len += 1,
                _ => {}
            }
            Some(SourceDocument::Text(packed))
        };
        assert_eq!(pairs(Corpus::of_given(texts.len(), not_text)), Err(Error::NotText));
        let damaged = |row: usize| if row < 91 { given(row) } else { not_text(row) };
        assert_eq!(pairs(Corpus::of_given(texts.len(), damaged)), Err(Error::Damaged));
    }
}

/// A source of three documents that fails at one of its calls.
struct Failing {
    left: usize,
    busy: bool,
}

impl Failing {
    fn call(&mut self) -> Result<()> {
        self.left = self.left.checked_sub(1).ok_or(Error::Source)?;
        Ok(())
    }
}

impl Documents for Failing {
    fn has_right(&self) -> bool {
        false
    }

    fn begin(&mut self, _: Side) -> Result<()> {
        self.call()
    }

    fn fetch(&mut self, documents: &mut Vec<(u32, SourceDocument)>) -> Result<usize> {
        self.call()?;
        documents.push((0, SourceDocument::Document(Document::Text("some words".to_owned()))));
        Ok(1 << 30)
    }

    fn ended(&self) -> bool {
        false
    }

    fn is_ready(&self) -> bool {
        self.busy
    }

    fn end(&mut self, _: Side, _: &dyn Executor) -> Result<()> {
        self.call()
    }

    fn rows(&self, _: Side) -> usize {
        1
    }
}

/// Also where it fails while workers are busy, and is read ahead.
#[test]
fn a_source_that_fails_ends_the_call() {
    for left in 0..6 {
        for busy in [false, true] {
            for (name, method) in methods() {
                let files = Counted::default();
                let resources = Resources { files: &files, budget: 1 << 20, executor: &PlainThreads(2) };
                let (mut source, mut quiet) = (Failing { left, busy }, Quiet);
                let mut reading = Reading::new(&mut source, &mut quiet, resources);
                assert_eq!(method.pairs(&mut reading).err(), Some(Error::Source), "{name}");
            }
        }
    }
}
