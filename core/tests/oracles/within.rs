//! Pairs within groups and across sources are those of the call of each group alone, without the
//! pairs of one source.

use neardup_core::error::Result;
use neardup_core::executor::{Executor, PlainThreads};
use neardup_core::features::source_document::SourceDocument;
use neardup_core::features::tokens::Document;
use neardup_core::hash::mix;
use neardup_core::methods::account::Account;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::{Documents, Quiet, Side};
use neardup_core::methods::reading::Reading;
use neardup_core::methods::sites::Sites;
use neardup_core::methods::{Method, within};
use neardup_core::resources::Resources;
use neardup_core::storage::files::MemoryFiles;
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

    fn end(&mut self, _: Side, _: &dyn Executor) -> Result<()> {
        Ok(())
    }

    fn rows(&self, side: Side) -> usize {
        let all = self.rows[side as usize].len();
        if side as usize == self.side { self.read.max(if self.group.is_none() { all } else { 0 }) } else { all }
    }

    fn ids_bytes(&self) -> usize {
        0
    }

    fn order(&mut self, side: Side, _: &dyn Executor) -> Result<Vec<u32>> {
        Ok((0..self.rows(side) as u32).collect())
    }

    fn sites(&self) -> Option<&Sites> {
        None
    }

    fn weights(&mut self, _: &[u32]) -> Result<Option<Vec<i64>>> {
        Ok(None)
    }

    fn is_grouped(&self) -> bool {
        self.is_grouped
    }

    fn next_group(&mut self) -> Result<Option<[u32; 2]>> {
        let groups = || self.tables[0].iter().map(|&(_, group, _)| group);
        let after = groups().filter(|&group| self.group.is_none_or(|last| group > last));
        let in_both = after.filter(|group| self.tables.iter().all(|rows| rows.iter().any(|row| row.1 == *group)));
        let next = in_both.min();
        for (rows, range) in self.tables.iter().zip(&mut self.rows) {
            let of = |group| rows.partition_point(|row| row.1 < group)..rows.partition_point(|row| row.1 <= group);
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

/// Finds the same by one call for each group, and leaves out the pairs of one source. Also returns
/// the number of candidates.
fn expected(method: &dyn Method, tables: &[Vec<Row>], is_grouped: bool, is_across: bool) -> (Found, u64) {
    let left_rows = tables[0].len();
    let all: Vec<(usize, &Row)> = tables.iter().flatten().enumerate().collect();
    let groups: Vec<Vec<usize>> = match is_grouped {
        false => vec![(0..all.len()).collect()],
        true => {
            let mut groups: Vec<u32> = all.iter().map(|(_, row)| row.1).collect();
            groups.sort_unstable();
            groups.dedup();
            groups.iter().map(|group| all.iter().filter(|(_, row)| row.1 == *group).map(|&(n, _)| n).collect()).collect()
        }
    };
    let (mut found, mut candidates) = (Vec::new(), 0);
    for rows in groups {
        let split = (tables.len() == 2).then(|| rows.partition_point(|&row| row < left_rows));
        let text = |n: usize| all[rows[n]].1.0.clone().map(Document::Text);
        let (pairs, account) =
            find(method, Corpus::new(rows.len(), text).split(split), &PlainThreads(1), ENOUGH);
        candidates += account.counts.candidates;
        let source = |row: u32| all[row as usize].1.2;
        found.extend(pairs.into_iter().filter_map(|(left, right, similarity)| {
            let [left, right] = [left, right].map(|row| rows[row as usize] as u32);
            let differ = source(left).zip(source(right)).is_some_and(|(a, b)| a != b);
            (!is_across || differ).then_some((left, right, similarity))
        }));
    }
    found.sort_unstable();
    (found, candidates)
}

/// Texts with words, sentences and parts in common; some are equal, some empty.
fn text(seed: u64) -> String {
    const WORDS: [&str; 12] =
        ["the", "a", "is", "harbour", "of", "quay", "to", "crane", "and", "ellis", "moved", "north"];
    let mut text = String::new();
    for n in 0..seed % 5 * 6 {
        let changed = mix(seed) % 30 == n;
        text.push_str(WORDS[mix(seed % 7 << 32 | n | u64::from(changed) << 20) as usize % WORDS.len()]);
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
            let (expected, candidates) = expected(&*method, &tables, is_grouped, is_across);
            let documents = || Grouped::new(&tables, is_grouped, is_across);
            let (found, account) = pairs(&*method, documents(), &PlainThreads(threads), budget);
            prop_assert_eq!(&found, &expected, "{}", name);
            prop_assert_eq!(account.documents, rows.len() as u64, "{}", name);
            if is_grouped && budget == ENOUGH {
                prop_assert_eq!(account.counts.candidates, candidates, "{}", name);
            }
            let (found, _) = pairs(&*method, documents(), &Interrupted::default(), budget);
            prop_assert_eq!(&found, &expected, "{} interrupted", name);
        }
    }
}
