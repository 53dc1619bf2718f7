//! Pairs within groups and across sources are those of the call of each group alone, without the
//! pairs of one source.

use neardup_core::error::{Error, Result};
use neardup_core::executor::{Executor, PlainThreads, Stop};
use neardup_core::features::FeatureSpec;
use neardup_core::features::dictionary::weights::Weights;
use neardup_core::features::source_document::SourceDocument;
use neardup_core::features::tokens::Document;
use neardup_core::hash::mix;
use neardup_core::joins::nearest::found::NearestRow;
use neardup_core::joins::pairs::Pairs;
use neardup_core::methods::account::Account;
use neardup_core::methods::carrier::Carrier;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::{Documents, Quiet, Side};
use neardup_core::methods::explain::Explanation;
use neardup_core::methods::pair::TwoTexts;
use neardup_core::methods::reading::Reading;
use neardup_core::methods::{Method, nearest, passages, within};
use neardup_core::passages::{Parameters as PassageParameters, Passage};

use neardup_core::storage::files::{MemoryFiles, Resources};
use neardup_core::verify::measure::Measure;
use proptest::prelude::*;

use crate::common::cases::cases;
use crate::common::methods::methods;
use crate::common::run::{ENOUGH, Found, Interrupted, find};

/// A row: its text, its group and its source.
type Row = (Option<String>, u32, Option<u32>);

/// Rows of one or two tables. Those of a group come together in each table.
struct Grouped {
    tables: Vec<Vec<Row>>,
    is_grouped: bool,
    across: Option<Vec<u32>>,
    /// The current group, and its rows in each table.
    group: Option<u32>,
    rows: [std::ops::Range<usize>; 2],
    side: usize,
    read: usize,
}

impl Grouped {
    fn new(tables: &[Vec<Row>], is_grouped: bool, is_across: bool) -> Self {
        let sources = tables.iter().flatten().map(|(.., source)| source.unwrap_or(u32::MAX));
        Self {
            tables: tables.to_vec(),
            is_grouped,
            across: is_across.then(|| sources.collect()),
            group: None,
            rows: [0..0, 0..0],
            side: 0,
            read: 0,
        }
    }
}

impl Documents for Grouped {
    fn has_right(&self) -> bool {
        self.tables.len() == 2
    }

    fn again(&mut self) {
        (self.group, self.rows) = (None, [0..0, 0..0]);
    }

    fn begin(&mut self, side: Side) -> Result<()> {
        (self.side, self.read) = (side as usize, 0);
        if !self.is_grouped {
            self.rows[self.side] = 0..self.tables[self.side].len();
        }
        Ok(())
    }

    fn fetch(&mut self, documents: &mut Vec<(u32, SourceDocument)>) -> Result<usize> {
        let row = self.read;
        self.read += 1;
        let (text, ..) = &self.tables[self.side][self.rows[self.side].start + row];
        let Some(text) = text else { return Ok(0) };
        documents.push((row as u32, SourceDocument::Document(Document::Text(text.clone()))));
        Ok(text.len())
    }

    fn ended(&self) -> bool {
        self.read == self.rows[self.side].len()
    }

    fn is_ready(&self) -> bool {
        true
    }

    fn rows(&self, side: Side) -> usize {
        let all = self.rows[side as usize].len();
        if side as usize == self.side {
            self.read.max(if self.group.is_none() { all } else { 0 })
        } else {
            all
        }
    }

    fn is_grouped(&self) -> bool {
        self.is_grouped
    }

    fn next_group(&mut self) -> Result<Option<[u32; 2]>> {
        let groups = || self.tables[0].iter().map(|&(_, group, _)| group);
        let after = groups().filter(|&group| self.group.is_none_or(|last| group > last));
        let in_both =
            after.filter(|group| self.tables.iter().all(|rows| rows.iter().any(|row| row.1 == *group)));
        let next = in_both.min();
        for (rows, range) in self.tables.iter().zip(&mut self.rows) {
            let of =
                |group| rows.partition_point(|row| row.1 < group)..rows.partition_point(|row| row.1 <= group);
            *range = next.map_or(0..rows.len(), of);
        }
        self.group = next;
        self.read = 0;
        Ok(next.map(|_| [0, 1].map(|side| self.rows[side].start as u32)))
    }

    fn across(&self) -> Option<&[u32]> {
        self.across.as_deref()
    }
}

/// Finds pairs as (left row, right row, bits of the similarity); the rows of the right table
/// follow those of the left one.
fn pairs(
    method: &dyn Method,
    mut documents: Grouped,
    executor: &dyn Executor,
    budget: usize,
) -> (Found, Account) {
    let has_right = documents.has_right();
    let mut quiet = Quiet;
    let mut reading =
        Reading::new(&mut documents, &mut quiet, Resources { files: &MemoryFiles, budget, executor });
    let mut pairs = within::pairs(method, &mut reading).expect("memory");
    let mut account = reading.account;
    let certain = pairs.certain();
    let groups: Vec<u32> = pairs.equal_rows().flat_map(|(rows, _)| rows.to_vec()).collect();
    assert!(groups.len() <= account.documents as usize);
    let mut found = Vec::new();
    while let Some(pair) = pairs.next(executor).expect("memory") {
        let in_order = has_right || pair.left < pair.right;
        let (left, right) = if in_order { (pair.left, pair.right) } else { (pair.right, pair.left) };
        found.push((left, right, pair.similarity.to_bits()));
    }
    assert!(certain <= pairs.given() && pairs.given() == found.len() as u64);
    found.sort_unstable();
    account.counts = pairs.counts();
    (found, account)
}

/// A method that has no room for its documents.
#[derive(Debug)]
struct WithoutRoom<'m>(&'m dyn Method);

impl Method for WithoutRoom<'_> {
    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs> {
        reading.read(|_| Ok(0))?;
        Err(Error::BeyondAllowance { doing: "testing", needed: 2, allowed: 1 })
    }

    fn explain(&self, pair: &TwoTexts<'_>, stop: &Stop) -> Result<Explanation> {
        self.0.explain(pair, stop)
    }

    fn carrier(&self) -> Option<&dyn Carrier> {
        self.0.carrier()
    }
}

/// Finds the same by one call for each group, and leaves out the pairs of one source.
fn expected(method: &dyn Method, tables: &[Vec<Row>], is_grouped: bool, is_across: bool) -> Found {
    let left_rows = tables[0].len() as u32;
    let groups = match is_grouped {
        true => groups(tables),
        false => vec![(0..).zip(tables.iter().flatten().cloned()).collect()],
    };
    let mut found = Vec::new();
    for rows in groups {
        let split = (tables.len() == 2).then(|| rows.partition_point(|(row, _)| *row < left_rows));
        let text = |n: usize| rows[n].1.0.clone().map(Document::Text);
        let corpus = Corpus::new(rows.len(), text).split(split);
        let (pairs, _) = find(method, corpus, &PlainThreads(1), ENOUGH);
        found.extend(pairs.into_iter().filter_map(|(left, right, similarity)| {
            let [(left, one), (right, other)] = [left, right].map(|row| &rows[row as usize]);
            let differ = one.2.zip(other.2).is_some_and(|(a, b)| a != b);
            (!is_across || differ).then_some((*left, *right, similarity))
        }));
    }
    found.sort_unstable();
    found
}

/// Rows of each group by their numbers; those of the right table follow those of the left one.
fn groups(tables: &[Vec<Row>]) -> Vec<Vec<(u32, Row)>> {
    let all: Vec<(u32, Row)> = (0..).zip(tables.iter().flatten().cloned()).collect();
    let mut groups: Vec<u32> = all.iter().map(|(_, row)| row.1).collect();
    groups.sort_unstable();
    groups.dedup();
    groups.iter().map(|group| all.iter().filter(|(_, row)| row.1 == *group).cloned().collect()).collect()
}

/// The nearest rows of one group and of other sources are the first of all of the group. Rows
/// without a source have no document.
fn nearest_of_other_sources(rows: &[Row], weights: &Weights, resources: Resources<'_>) {
    let with_source = |(text, group, source): &Row| {
        (text.clone().filter(|_| source.is_some()), *group, Some(source.unwrap_or(9)))
    };
    let rows: Vec<Row> = rows.iter().map(with_source).collect();
    let mut expected = Vec::new();
    for of_group in groups(std::slice::from_ref(&rows)) {
        let text = |n: usize| of_group[n].1.0.clone().map(Document::Text);
        let all = Corpus::new(of_group.len(), text).nearest_with(
            FeatureSpec::WORDS,
            Measure::Cosine,
            weights,
            rows.len(),
            Resources { budget: ENOUGH, ..resources },
        );
        let all = all.unwrap();
        for own in all.chunk_by(|a, b| a.row == b.row) {
            let differ =
                |near: &&NearestRow| of_group[near.row as usize].1.2 != of_group[near.nearest as usize].1.2;
            expected.extend(own.iter().filter(differ).take(2).zip(1..).map(|(near, rank)| {
                let [row, nearest] = [near.row, near.nearest].map(|row| of_group[row as usize].0);
                (row, rank, nearest, near.similarity.to_bits())
            }));
        }
    }
    let (mut documents, mut quiet) = (Grouped::new(&[rows], true, true), Quiet);
    let mut reading = Reading::new(&mut documents, &mut quiet, resources);
    let mut search = nearest::search(FeatureSpec::WORDS, Measure::Cosine, weights, 2, &mut reading).unwrap();
    let mut found = Vec::new();
    let mut take = |near: NearestRow| {
        found.push((near.row, near.rank, near.nearest, near.similarity.to_bits()));
        Ok(())
    };
    search.for_each(resources.executor, &mut take).unwrap();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

/// The nearest rows of one table, and the passages, are those of each group alone.
fn nearest_and_passages(tables: &[Vec<Row>], weights: &Weights, executor: &dyn Executor, budget: usize) {
    let resources = Resources { files: &MemoryFiles, budget, executor };
    let parameters = PassageParameters { min_sentences: 1, min_width: 0, ..PassageParameters::default() };
    let left_rows = tables[0].len() as u32;
    let (mut near, mut passages) = (Vec::new(), Vec::new());
    for rows in groups(tables) {
        let split = (tables.len() == 2).then(|| rows.partition_point(|(row, _)| *row < left_rows));
        let text = |n: usize| rows[n].1.0.clone().map(Document::Text);
        let mut corpus = Corpus::new(rows.len(), text).split(split);
        if split.is_none() {
            let found = corpus
                .nearest_with(
                    FeatureSpec::WORDS,
                    Measure::Cosine,
                    weights,
                    2,
                    Resources { budget: ENOUGH, ..resources },
                )
                .unwrap();
            near.extend(found.into_iter().map(|found| {
                let [row, nearest] = [found.row, found.nearest].map(|row| rows[row as usize].0);
                (row, found.rank, nearest, found.similarity.to_bits())
            }));
        }
        passages.extend(corpus.passages(&parameters).unwrap().into_iter().map(|found| Passage {
            left_row: rows[found.left_row as usize].0,
            right_row: rows[found.right_row as usize].0,
            ..found
        }));
    }
    let mut quiet = Quiet;
    if tables.len() == 1 {
        let mut documents = Grouped::new(tables, true, false);
        let mut reading = Reading::new(&mut documents, &mut quiet, resources);
        let mut rows =
            nearest::search(FeatureSpec::WORDS, Measure::Cosine, weights, 2, &mut reading).unwrap();
        let mut found = Vec::new();
        while rows.advance(executor).unwrap() {
            found.extend(std::iter::from_fn(|| rows.take()));
        }
        let found =
            found.iter().map(|found| (found.row, found.rank, found.nearest, found.similarity.to_bits()));
        let mut found: Vec<_> = found.collect();
        found.sort_unstable();
        near.sort_unstable();
        assert_eq!(found, near);
        nearest_of_other_sources(&tables[0], weights, resources);
    }
    for is_across in [false, true] {
        let mut documents = Grouped::new(tables, true, is_across);
        let mut reading = Reading::new(&mut documents, &mut quiet, resources);
        let mut search = passages::search(&parameters, &mut reading).unwrap();
        let mut found = Vec::new();
        while let Some(batch) = search.next_batch(executor).unwrap() {
            found.extend(batch);
        }
        let source = |row: u32| tables.iter().flatten().nth(row as usize).unwrap().2;
        let differ = |passage: &Passage| {
            source(passage.left_row).zip(source(passage.right_row)).is_some_and(|(a, b)| a != b)
        };
        let mut expected: Vec<_> =
            passages.iter().filter(|passage| !is_across || differ(passage)).cloned().collect();
        let key = |passage: &Passage| {
            (passage.left_row, passage.right_row, passage.left_sentence, passage.right_sentence)
        };
        expected.sort_by_key(key);
        found.sort_by_key(key);
        assert_eq!(found, expected);
    }
}

/// Texts with words, sentences and parts in common; some are equal, some empty.
fn text(seed: u64) -> String {
    const WORDS: [&str; 12] =
        ["the", "a", "is", "harbour", "of", "quay", "to", "crane", "and", "ellis", "moved", "north"];
    let mut text = String::new();
    for n in 0..seed % 5 * 6 {
        let changed = mix(seed) % 30 == n;
        text.push_str(WORDS[mix((seed % 7) << 32 | n | (u64::from(changed) << 20)) as usize % WORDS.len()]);
        text.push_str(if n % 7 == 6 { ". The " } else { " " });
    }
    text
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn pairs_are_those_of_each_group_alone(
        rows in prop::collection::vec((0..200u64, prop_oneof![Just(3u32), 0..8u32, 0..60u32], prop::option::of(0..3u32)), 0..90),
        split in prop::option::of(0..90usize),
        (is_grouped, is_across) in prop::sample::select(vec![(true, false), (false, true), (true, true)]),
        threads in 1..4usize,
        budget in prop::sample::select(vec![0, 20 << 10, 1 << 20, ENOUGH]),
    ) {
        let row = |&(seed, group, source): &(u64, u32, Option<u32>)| {
            ((seed % 13 > 0).then(|| text(seed)), group, source)
        };
        let mut tables: Vec<Vec<Row>> = vec![rows.iter().map(row).collect()];
        if let Some(split) = split {
            let right = tables[0].split_off(split.min(rows.len()));
            tables.push(right);
        }
        tables.iter_mut().for_each(|rows| rows.sort_by_key(|row| row.1));
        for (name, method) in methods() {
            let expected = expected(&*method, &tables, is_grouped, is_across);
            let documents = || Grouped::new(&tables, is_grouped, is_across);
            let (found, account) = pairs(&*method, documents(), &PlainThreads(threads), budget);
            prop_assert_eq!(&found, &expected, "{}", name);
            prop_assert_eq!(account.documents, rows.len() as u64, "{}", name);
            if is_grouped && name == "words" {
                let all: usize = groups(&tables).iter().map(|rows| rows.len() * rows.len() / 2).sum();
                prop_assert!(account.counts.candidates <= all as u64);
                let texts = tables[0].iter().filter_map(|row| row.0.as_ref());
                let bytes: usize = texts.map(String::len).sum();
                prop_assert!(split.is_some() || account.bytes == bytes as u64);
            }
            let (found, _) = pairs(&*method, documents(), &Interrupted::default(), budget);
            prop_assert_eq!(&found, &expected, "{} interrupted", name);
            if method.carrier().is_none() {
                continue;
            }
            let short = WithoutRoom(&*method);
            let (found, account) = pairs(&short, documents(), &PlainThreads(threads), budget);
            prop_assert_eq!(&found, &expected, "{} in files", name);
            prop_assert_eq!(account.documents, rows.len() as u64, "{} in files", name);
            let (found, _) = pairs(&short, documents(), &Interrupted::default(), budget);
            prop_assert_eq!(&found, &expected, "{} in files, interrupted", name);
        }
        nearest_and_passages(&tables, &Weights::Idf, &PlainThreads(threads), budget);
        nearest_and_passages(&tables, &Weights::Equal, &Interrupted::default(), budget);
    }
}
