//! Turns the sets of all workers into the records of a join: equal sets become one record, tokens
//! are in ascending order of document frequency, and records in ascending order of size.
//!
//! Having rare tokens first makes prefixes selective (Xiao et al., PPJoin+ (WWW 2008), section 3).
//! Tokens that are in only one document can never be shared: a record keeps only the number of such
//! tokens that it has. The result does not depend on the order of the documents or on the number of
//! workers, except for which row is first in a record.

use std::ops::Range;

use super::collect::Collector;
use super::counted::CountedNumbers;
use super::members::Members;
use super::number_sets::Sets;
use super::records::{Records, TokensPlace};
use super::store::{RecordStore, RecordTable};
use super::token_blocks::NextTokens;
use super::translate::{Translated, pack, translate};
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::dictionary::Dictionary;
use crate::features::dictionary::by_content::Weigher;
use crate::features::dictionary::rank::{ByNumber, rank};
use crate::features::dictionary::weights::{MOST, TOO_HEAVY, TokenWeights, Weighing};
use crate::memory;

const DOING: &str = "ordering token sets";

/// The records of one or two tables.
#[derive(Debug)]
pub struct Ordered {
    /// The records of the only table, or of the left one.
    pub left: RecordTable,
    /// The records of the right table, if there are two.
    pub right: Option<RecordTable>,
    /// The number of distinct tokens of the documents.
    pub distinct_tokens: usize,
    /// The number of tokens that can be shared; records number them from 0.
    pub shared_tokens: usize,
    /// The weights of these tokens. With weights, the size of a record is the weight of its tokens.
    pub weights: TokenWeights,
    /// The greatest number of bytes held at one time.
    pub peak_bytes: usize,
    /// The number of these bytes that the dictionary took.
    pub dictionary_bytes: usize,
}

impl Ordered {
    /// Reports whether the records are in temporary files.
    pub fn is_in_files(&self) -> bool {
        matches!(self.left.store, RecordStore::File { .. })
    }
}

/// Orders the sets of the collectors, whose tokens the dictionary numbered. With `right_from`, the
/// rows from that row number on are in the right table. O(N log n) for N tokens in sets of n
/// tokens.
pub fn order(
    mut collectors: Vec<Collector>,
    mut dictionary: Dictionary,
    right_from: Option<u32>,
    weighing: &Weighing,
    executor: &dyn Executor,
) -> Result<Ordered> {
    collectors.iter_mut().for_each(|collector| collector.settle(&mut dictionary));
    let mut parts: Vec<Sets> = collectors.into_iter().map(|collector| collector.sets).collect();
    let lefts = parts.len();
    if let Some(right_from) = right_from {
        let rights = parts.iter_mut().map(|part| part.split_off(right_from));
        let rights = rights.collect::<Result<Vec<_>>>()?;
        parts.extend(rights);
    }
    let documents = parts.iter().map(|part| part.rows.len()).sum();
    let weights = weighing.of_dictionary(&dictionary, documents, executor)?;
    let new = |of| Weigher::new(weighing, documents, &dictionary, of, executor);
    // It reads the whole dictionary, so it is made only for tokens that are not there.
    let has_numbers = parts.iter().any(|part| !part.numbers.is_empty());
    let weigher = weights.as_ref().filter(|_| has_numbers).map(new).transpose()?;
    let two_tables = right_from.is_some();
    let counted = CountedNumbers::new(&mut parts, lefts, two_tables, weigher.as_ref(), executor)?;
    drop(weigher);
    let sizes = sizes(&parts, weights.as_ref(), &counted, executor)?;
    let entries = entries(&parts, sizes)?;
    let mut frequencies = counted.frequencies(executor)?;
    let ranks = rank(&dictionary, Some(&mut frequencies), two_tables, executor)?;
    let mut by_rank = TokenWeights::by_rank(weights.as_ref(), &ranks)?;
    let weights_bytes = weights.map_or(0, |weights| weights.bytes());
    let distinct_tokens = dictionary.len() + counted.distinct;
    let sets_bytes: usize = parts.iter().map(Sets::bytes).sum();
    let dictionary_bytes = dictionary.bytes() + ranks.bytes() + counted.bytes();
    let held = dictionary_bytes + weights_bytes + sets_bytes + memory::bytes(&entries);
    counted.take_ranks(&mut parts, frequencies, ranks.given, &mut by_rank, executor)?;
    let weights = by_rank;
    drop(dictionary);

    let mut parts = parts.into_iter().map(Translated::new).collect::<Result<Vec<_>>>()?;
    translate(&mut parts, &ranks, executor)?;
    let mut groups = group_equal_sets(entries, &parts, lefts, executor)?;
    let split = groups.starts.partition_point(|&start| (groups.entries[start].part as usize) < lefts);
    let groups_bytes = memory::bytes(&groups.entries) + memory::bytes(&groups.starts);
    let shared_tokens = ranks.shared;
    let kept = groups.starts.iter().map(|&start| groups.entries[start].place());
    pack(&mut parts, kept, shared_tokens as u32, executor)?;
    drop(ranks);
    groups.starts.push(groups.entries.len());
    let laid_out = [0..split, split..groups.starts.len() - 1].map(|range| lay_out(&groups, range, &parts));
    let [left, right] = laid_out;
    let mut tokens: Vec<Vec<u32>> = parts.into_iter().map(Translated::into_tokens).collect();
    let rights = tokens.split_off(lefts);
    let left = left?.table(tokens, 0);
    let right = right?.table(rights, lefts);
    let peak_bytes = held.max(groups_bytes + left.bytes() + right.bytes());
    let right = right_from.map(|_| right);
    Ok(Ordered { left, right, distinct_tokens, shared_tokens, weights, peak_bytes, dictionary_bytes })
}

/// A set: the place of its tokens, and its sort key.
#[derive(Debug, Clone, Copy)]
struct SetEntry {
    size: u32,
    fingerprint: u64,
    row: u32,
    part: u32,
    set: u32,
}

impl SetEntry {
    /// Returns the part, and the number of the set in it.
    fn place(self) -> (usize, u32) {
        (self.part as usize, self.set)
    }

    /// Reports whether two sets of one table are equal. No set equals one with a token that no
    /// other document has.
    fn equals(self, other: Self, parts: &[Translated]) -> bool {
        let [own, others] = [self, other].map(|SetEntry { part, set, .. }| parts[part as usize].whole(set));
        own.is_some() && own == others
    }

    /// Returns a key that is the same for equal sets; distinct sets of one table hardly ever share
    /// it. The parts from number `lefts` on are of the right table.
    fn key(&self, lefts: usize) -> (bool, u32, u64) {
        (self.part as usize >= lefts, self.size, self.fingerprint)
    }
}

/// All sets, ordered by table and then by size, with equal sets of a table next to each other.
#[derive(Debug, Default)]
struct SetGroups {
    entries: Vec<SetEntry>,
    /// The start of each group in `entries`.
    starts: Vec<usize>,
}

/// Returns the size of each set of each part: the number of its tokens or, if they have weights,
/// what they weigh.
fn sizes(
    parts: &[Sets],
    weights: Option<&ByNumber<u16>>,
    counted: &CountedNumbers,
    executor: &dyn Executor,
) -> Result<Vec<Vec<u32>>> {
    let mut sizes: Vec<(usize, Vec<u32>)> = (0..parts.len()).map(|part| (part, Vec::new())).collect();
    executor::each(executor, &mut sizes, |(part, sizes), stop| {
        let mut next = NextTokens::default();
        let part = &parts[*part];
        sizes.clear();
        memory::reserve(sizes, part.rows.len(), DOING)?;
        for set in 0..part.rows.len() {
            stop.check()?;
            let Some(weights) = weights else {
                // The tokens of a document are counted with 32 bits.
                sizes.push(part.count(set) as u32);
                continue;
            };
            let tokens = part.tokens[part.range(set)].iter().map(|&token| u64::from(weights.get(token)));
            let numbers =
                next.of_set(&part.numbers, set)?.map(|(partition, place)| counted.weight(partition, place));
            let size = tokens.chain(numbers).sum::<u64>();
            sizes.push(u32::try_from(size).ok().filter(|&size| size <= MOST).ok_or(TOO_HEAVY)?);
        }
        Ok(())
    })?;
    Ok(sizes.into_iter().map(|(_, sizes)| sizes).collect())
}

/// Returns all sets, which have these sizes.
fn entries(parts: &[Sets], sizes: Vec<Vec<u32>>) -> Result<Vec<SetEntry>> {
    let mut entries = Vec::new();
    memory::reserve(&mut entries, parts.iter().map(|part| part.rows.len()).sum(), DOING)?;
    for (n, (part, sizes)) in parts.iter().zip(sizes).enumerate() {
        entries.extend(part.rows.iter().enumerate().map(|(set, &row)| SetEntry {
            size: sizes[set],
            fingerprint: part.fingerprints[set],
            row,
            part: n as u32,
            set: set as u32,
        }));
    }
    Ok(entries)
}

/// Groups equal sets. Sets with equal fingerprints are compared token by token. The first `lefts`
/// parts are of the only or left table.
fn group_equal_sets(
    mut entries: Vec<SetEntry>,
    parts: &[Translated],
    lefts: usize,
    executor: &dyn Executor,
) -> Result<SetGroups> {
    executor::sort(executor, &mut entries, |a, b| (a.key(lefts), a.row).cmp(&(b.key(lefts), b.row)))?;
    let mut state = (SetGroups { entries, starts: Vec::new() }, 0);
    executor::one(executor, &mut state, |(groups, next), stop| {
        while *next < groups.entries.len() {
            let run = &mut groups.entries[*next..];
            let length =
                run.iter().position(|entry| entry.key(lefts) != run[0].key(lefts)).unwrap_or(run.len());
            let starts = split_run(&mut run[..length], parts, stop)?;
            memory::append(&mut groups.starts, starts.iter().map(|start| *next + start), DOING)?;
            *next += length;
        }
        Ok(())
    })?;
    Ok(state.0)
}

/// Reorders a run of entries with equal keys so that equal sets are next to each other. Returns the
/// start of each group.
fn split_run(run: &mut [SetEntry], parts: &[Translated], stop: &Stop) -> Result<Vec<usize>> {
    stop.check()?;
    if run.len() == 1 {
        return Ok(vec![0]);
    }
    let mut starts = Vec::new();
    let mut begun = 0;
    while begun < run.len() {
        memory::push(&mut starts, begun, DOING)?;
        let first = run[begun];
        let mut equal = memory::collect([first], DOING)?;
        let mut unlike = Vec::new();
        for &entry in &run[begun + 1..] {
            stop.check()?;
            let group = if first.equals(entry, parts) { &mut equal } else { &mut unlike };
            memory::push(group, entry, DOING)?;
        }
        run[begun..][..equal.len()].copy_from_slice(&equal);
        begun += equal.len();
        run[begun..].copy_from_slice(&unlike);
    }
    Ok(starts)
}

/// The records of a table, except their tokens.
struct RecordLayout {
    places: Vec<TokensPlace>,
    sizes: Vec<u32>,
    members: Members,
}

/// Lays out the records of some groups. The last element of `groups.starts` is the end of the last
/// group.
fn lay_out(groups: &SetGroups, range: Range<usize>, parts: &[Translated]) -> Result<RecordLayout> {
    let starts = &groups.starts[range.start..=range.end];
    let count = range.len();
    let first_of = |&start: &usize| groups.entries[start];
    let entries = &groups.entries[starts[0]..starts[count]];
    let places = starts[..count].iter().map(first_of).map(|SetEntry { part, set, .. }| {
        let (start, length) = parts[part as usize].place(set);
        TokensPlace { part, length, start }
    });
    let places = memory::collect(places, DOING)?;
    let sizes = memory::collect(starts[..count].iter().map(|start| first_of(start).size), DOING)?;
    let members = Members::of_part(entries.iter().map(|entry| entry.row), starts, DOING)?;
    Ok(RecordLayout { places, sizes, members })
}

impl RecordLayout {
    /// Returns the table with its tokens. `first_part` is the number of the first of the table's
    /// parts.
    fn table(mut self, tokens: Vec<Vec<u32>>, first_part: usize) -> RecordTable {
        self.places.iter_mut().for_each(|place| place.part -= first_part as u32);
        let store = RecordStore::Memory(Records::of_parts(tokens, self.places, self.sizes));
        RecordTable { store, members: self.members }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::PlainThreads;
    use crate::features::FeatureSpec;
    use crate::features::dictionary::numbering::number;
    use crate::features::tokens::Document;
    use crate::hash::{mix, unmix};
    use proptest::prelude::*;

    fn ordered(texts: &[String], right_from: Option<u32>, threads: usize) -> Ordered {
        let executor = PlainThreads(threads);
        let mut dictionary = Dictionary::default();
        let mut collectors: Vec<_> = (0..threads).map(|_| Collector::new(FeatureSpec::WORDS)).collect();
        for (row, text) in texts.iter().enumerate() {
            if right_from == Some(row as u32) {
                number(&mut dictionary, &mut collectors, &executor).unwrap();
                collectors.iter_mut().for_each(Collector::go_right);
            }
            let document = Document::Text(text.clone());
            collectors[row % threads].add(row as u32, &document, &Stop::default()).unwrap();
        }
        number(&mut dictionary, &mut collectors, &executor).unwrap();
        order(collectors, dictionary, right_from, &Weighing::default(), &executor).unwrap()
    }

    fn describe(table: &RecordTable) -> Vec<(u32, Vec<u32>, Vec<u32>)> {
        let RecordTable { store: RecordStore::Memory(records), members } = table else { unreachable!() };
        (0..records.len())
            .map(|r| (records.size(r), records.tokens(r).to_vec(), members.rows(r).to_vec()))
            .collect()
    }

    #[test]
    fn rare_tokens_first_and_equal_sets_once() {
        let texts = ["b a", "a b", "a c d", "a a", "", "a b c"].map(str::to_owned);
        let ordered = ordered(&texts, None, 1);
        assert_eq!((ordered.distinct_tokens, ordered.shared_tokens), (5, 3));
        // a is in 4 records, b and c are in 2 each; d and the second a are in one each.
        let a = 2;
        let mut records = describe(&ordered.left);
        records.iter_mut().for_each(|r| r.2.sort_unstable());
        assert!(records.contains(&(2, vec![a], vec![3])));
        assert!(records.iter().any(|r| r.0 == 2 && r.1.len() == 2 && r.2 == [0, 1]));
        assert!(records.contains(&(3, vec![0, 1, a], vec![5])));
        let none =
            order(Vec::new(), Dictionary::default(), None, &Weighing::default(), &PlainThreads(2)).unwrap();
        assert!(none.left.members.len() == 0);
        let none = order(Vec::new(), Dictionary::default(), Some(0), &Weighing::default(), &PlainThreads(2))
            .unwrap();
        assert!(none.right.unwrap().members.len() == 0);
    }

    #[test]
    fn equal_fingerprints_do_not_make_equal_sets() {
        // The sums of the hashes of two numbers each are the same.
        let (a, b, c) = (1, 2, 3);
        let d = unmix(mix(a).wrapping_add(mix(b)).wrapping_sub(mix(c)));
        let mut collector = Collector::new(FeatureSpec::WORDS);
        collector.keeps_hashes = true;
        for (row, numbers) in [[a, b], [c, d], [b, a], [d, c]].into_iter().enumerate() {
            let numbers = numbers.map(u64::cast_signed).to_vec();
            collector.add(row as u32, &Document::Numbers(numbers), &Stop::default()).unwrap();
        }
        assert_eq!(collector.sets.fingerprints, [collector.sets.fingerprints[0]; 4]);
        let (dictionary, weighing) = (Dictionary::default(), Weighing::default());
        let ordered = order(vec![collector], dictionary, None, &weighing, &PlainThreads(1)).unwrap();
        let mut rows: Vec<_> = describe(&ordered.left).into_iter().map(|(.., rows)| rows).collect();
        rows.sort_unstable();
        assert_eq!(rows, [[0, 2], [1, 3]]);
    }

    #[test]
    fn equal_sets_of_a_table_need_no_token_of_the_other() {
        let mut collector = Collector::new(FeatureSpec::WORDS);
        collector.keeps_hashes = true;
        for (row, numbers) in [vec![1, 2, 3], vec![3, 2, 1], vec![1, 2, 4], vec![1]].into_iter().enumerate() {
            if row == 3 {
                collector.go_right();
            }
            collector.add(row as u32, &Document::Numbers(numbers), &Stop::default()).unwrap();
        }
        let (dictionary, weighing) = (Dictionary::default(), Weighing::default());
        let ordered = order(vec![collector], dictionary, Some(3), &weighing, &PlainThreads(1)).unwrap();
        let mut rows: Vec<_> = describe(&ordered.left).into_iter().map(|(.., rows)| rows).collect();
        rows.sort_unstable();
        assert_eq!(rows, [vec![0, 1], vec![2]]);
        assert_eq!(ordered.shared_tokens, 1);
    }

    proptest! {
        #[test]
        fn records_do_not_depend_on_workers(texts in prop::collection::vec("[a-e ]{0,9}", 0..30), right in 0..30u32) {
            for right_from in [None, Some(right)] {
                let one = ordered(&texts, right_from, 1);
                let many = ordered(&texts, right_from, 3);
                prop_assert_eq!(describe(&one.left), describe(&many.left));
                prop_assert_eq!(one.right.as_ref().map(describe), many.right.as_ref().map(describe));
                prop_assert_eq!(one.distinct_tokens, many.distinct_tokens);
            }
        }
    }
}
