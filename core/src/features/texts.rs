//! Texts kept unchanged for comparisons character by character: each distinct text once, with the
//! rows that have it. The texts are in memory, or in a file if they take too much of it.

use super::sets::members::Members;
pub use super::text_collector::TextCollector;
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::memory;
use crate::simd::prefetch::prefetch;
use crate::storage::log::Log;
use crate::text::characters::is_space;

const DOING: &str = "collecting texts";

/// Distinct texts: first the texts of the left table, then those of the right table. Within a
/// table, shorter texts come first.
#[derive(Debug)]
pub struct Texts {
    parts: Vec<TextCollector>,
    /// For each text, the number of its collector and the number of the text in this collector.
    places: Vec<(u32, u32)>,
    lengths: Vec<u32>,
}

impl Texts {
    /// Returns the number of texts.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns a text. The texts must be in memory.
    #[inline]
    pub fn text(&self, text: u32) -> &str {
        let (part, n) = self.places[text as usize];
        self.parts[part as usize].text(n as usize)
    }

    /// Reports whether the texts are in a file.
    #[inline]
    pub fn are_in_file(&self) -> bool {
        self.parts.iter().any(|part| !part.written.is_empty())
    }

    /// Returns the number of bytes of a text.
    pub fn size(&self, text: u32) -> usize {
        let (part, n) = self.places[text as usize];
        let part = &self.parts[part as usize];
        part.written.get(n as usize).map_or_else(|| part.text(n as usize).len(), |&(_, bytes)| bytes as usize)
    }

    /// Returns the place of a text in the file, or 0 if the texts are in memory.
    pub fn start(&self, text: u32) -> u64 {
        let (part, n) = self.places[text as usize];
        self.parts[part as usize].written.get(n as usize).map_or(0, |&(start, _)| start)
    }

    /// Reports whether a text is only white space.
    pub fn is_blank(&self, text: u32) -> bool {
        let (part, n) = self.places[text as usize];
        let part = &self.parts[part as usize];
        match part.written.is_empty() {
            true => part.text(n as usize).chars().all(is_space),
            false => part.blank.binary_search(&n).is_ok(),
        }
    }

    /// Prefetches the beginning of a text that is needed soon.
    #[inline]
    pub fn prefetch(&self, text: u32) {
        const LINE: usize = 64;
        const LINES: usize = 4;
        let bytes = self.text(text).as_bytes();
        (0..LINES).for_each(|line| prefetch(bytes, line * LINE));
    }

    /// Prefetches the place of a text.
    #[inline]
    pub fn prefetch_place(&self, text: u32) {
        prefetch(&self.places, text as usize);
    }

    /// Returns the hash of a text, which is the same in every table.
    pub fn hash(&self, text: u32) -> u64 {
        let (part, n) = self.places[text as usize];
        self.parts[part as usize].hashes[n as usize]
    }

    /// Returns the number of characters of a text.
    #[inline]
    pub fn length(&self, text: u32) -> u32 {
        self.lengths[text as usize]
    }

    /// Returns the numbers of characters of all texts, ascending in each table.
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(TextCollector::bytes).sum::<usize>()
            + memory::bytes(&self.places)
            + memory::bytes(&self.lengths)
    }
}

/// The distinct texts of one or two tables, and the rows that have them.
#[derive(Debug)]
pub struct Distinct {
    /// The texts of both tables.
    pub texts: Texts,
    /// The rows of the texts of the only table, or of the left one.
    pub left: Members,
    /// The rows of the texts of the right table, if there are two.
    pub right: Option<Members>,
}

/// A text: its sort key and its place.
#[derive(Debug, Clone, Copy)]
struct TextEntry {
    right: bool,
    length: u32,
    hash: u64,
    row: u32,
    place: (u32, u32),
}

impl TextEntry {
    /// Returns a key that is the same for equal texts of a table; distinct texts hardly ever share
    /// it.
    fn key(&self) -> (bool, u32, u64) {
        (self.right, self.length, self.hash)
    }
}

/// Groups equal texts of all workers, which are in memory. With `right_from`, the rows from that
/// row number on are in the right table. O(n log n) for n texts. The result does not depend on the
/// number of workers.
pub fn distinct(
    parts: Vec<TextCollector>,
    right_from: Option<u32>,
    executor: &dyn Executor,
) -> Result<Distinct> {
    distinct_in(parts, &mut Log::default(), right_from, executor)
}

/// Does the same as [`distinct`] for texts that are in memory or, all of them, in a file. Of texts
/// in the file, those that have the same length and hash are read.
pub fn distinct_in(
    mut parts: Vec<TextCollector>,
    file: &mut Log<u8>,
    right_from: Option<u32>,
    executor: &dyn Executor,
) -> Result<Distinct> {
    let mut entries = Vec::new();
    memory::reserve(&mut entries, parts.iter().map(|part| part.rows.len()).sum(), DOING)?;
    for (number, part) in parts.iter_mut().enumerate() {
        let rows = std::mem::take(&mut part.rows);
        entries.extend(rows.iter().enumerate().map(|(n, &row)| TextEntry {
            right: right_from.is_some_and(|from| row >= from),
            length: part.lengths[n],
            hash: part.hashes[n],
            row,
            place: (number as u32, n as u32),
        }));
        part.lengths = Vec::new();
    }
    executor::sort(executor, &mut entries, |a, b| (a.key(), a.row).cmp(&(b.key(), b.row)))?;
    let (entries, mut starts) = match file.is_in_file() {
        true => split_in_file(&parts, file, entries, executor)?,
        false => {
            let mut state = (entries, Vec::new(), 0);
            executor::one(executor, &mut state, |(entries, starts, next), stop| {
                let text = |entry: &TextEntry| parts[entry.place.0 as usize].text(entry.place.1 as usize);
                let mut equal = |a: &TextEntry, b: &TextEntry| Ok(text(a) == text(b));
                while *next < entries.len() {
                    *next = split_run(&mut equal, entries, *next, starts, stop)?;
                }
                Ok(())
            })?;
            (state.0, state.1)
        }
    };
    let places = memory::collect(starts.iter().map(|&start: &usize| entries[start].place), DOING)?;
    let lengths = memory::collect(starts.iter().map(|&start| entries[start].length), DOING)?;
    let split = starts.partition_point(|&start| !entries[start].right);
    memory::push(&mut starts, entries.len(), DOING)?;
    let left = members(&entries, &starts[..=split])?;
    let right = right_from.map(|_| members(&entries, &starts[split..])).transpose()?;
    Ok(Distinct { texts: Texts { parts, places, lengths }, left, right })
}

/// Splits all runs of entries of texts that are in a file, in the leader's thread.
fn split_in_file(
    parts: &[TextCollector],
    file: &mut Log<u8>,
    mut entries: Vec<TextEntry>,
    executor: &dyn Executor,
) -> Result<(Vec<TextEntry>, Vec<usize>)> {
    let mut starts = Vec::new();
    let (mut first, mut other) = ((None, Vec::new()), Vec::new());
    let mut equal = |a: &TextEntry, b: &TextEntry| {
        executor.check_interrupts()?;
        let mut read = |entry: &TextEntry, space: &mut Vec<u8>| {
            let (start, bytes) = parts[entry.place.0 as usize].written[entry.place.1 as usize];
            space.clear();
            file.append(start, bytes as usize, space)
        };
        if first.0 != Some(a.place) {
            read(a, &mut first.1)?;
            first.0 = Some(a.place);
        }
        read(b, &mut other)?;
        Ok(first.1 == other)
    };
    let mut next = 0;
    while next < entries.len() {
        next = split_run(&mut equal, &mut entries, next, &mut starts, &Stop::default())?;
    }
    Ok((entries, starts))
}

/// Reorders the run of entries that begins at `from` and has equal keys, so that equal texts are
/// next to each other. Adds the start of each group of equal texts to `starts`, and returns the
/// place after the run. `equal` compares the texts of two entries.
fn split_run(
    equal: &mut dyn FnMut(&TextEntry, &TextEntry) -> Result<bool>,
    entries: &mut [TextEntry],
    from: usize,
    starts: &mut Vec<usize>,
    stop: &Stop,
) -> Result<usize> {
    const CHECK_EVERY: usize = 1 << 20;
    let key = entries[from].key();
    let end = from + entries[from..].iter().take_while(|entry| entry.key() == key).count();
    let (mut begun, known) = (from, starts.len());
    let mut compared = CHECK_EVERY;
    while begun < end {
        memory::push(starts, begun, DOING)?;
        let mut next = begun + 1;
        for n in begun + 1..end {
            if compared >= CHECK_EVERY {
                compared = 0;
                // After a stop, the run is processed again from its beginning.
                stop.check().inspect_err(|_| starts.truncate(known))?;
            }
            compared += entries[begun].length as usize;
            if equal(&entries[begun], &entries[n])? {
                entries.swap(next, n);
                next += 1;
            }
        }
        entries[begun..next].sort_unstable_by_key(|entry| entry.row);
        begun = next;
    }
    Ok(end)
}

/// Returns the rows of the groups that start at the places in `starts`. The last element of
/// `starts` is the end of the last group.
fn members(entries: &[TextEntry], starts: &[usize]) -> Result<Members> {
    let rows = entries[starts[0]..starts[starts.len() - 1]].iter().map(|entry| entry.row);
    Members::of_part(rows, starts, DOING)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::PlainThreads;
    use crate::storage::files::MemoryFiles;
    use proptest::prelude::*;

    fn collect(texts: &[String], threads: usize) -> Vec<TextCollector> {
        let mut collectors: Vec<_> = (0..threads).map(|_| TextCollector::default()).collect();
        for (row, text) in texts.iter().enumerate() {
            collectors[row % threads].add(row as u32, text).unwrap();
        }
        collectors
    }

    /// Does what [`distinct`] does, by a file, and returns it described.
    fn in_file(mut parts: Vec<TextCollector>, right: Option<u32>) -> Vec<(String, u32, Vec<u32>)> {
        let mut file = Log::default();
        // Some are written first, and the others follow.
        for part in parts.iter_mut().rev().chain(&mut [TextCollector::default()]) {
            part.spill(&mut file, &MemoryFiles).unwrap();
        }
        let found = distinct_in(parts, &mut file, right, &PlainThreads(2)).unwrap();
        let mut all: Vec<u32> = (0..found.texts.len() as u32).rev().collect();
        all.extend_from_within(..);
        let open = found.texts.open(&mut all, &mut file).unwrap();
        let spaces = |text: &str| text.chars().all(char::is_whitespace);
        for n in 0..found.texts.len() as u32 {
            assert_eq!(found.texts.size(n), open.text(n).len());
            assert_eq!(found.texts.is_blank(n), spaces(open.text(n)));
            assert_eq!(found.texts.hash(n), crate::hash::hash_bytes(open.text(n).as_bytes()));
        }
        describe_by(&found, |n| open.text(n).to_owned())
    }

    /// Returns the texts with their lengths and rows.
    fn describe(distinct: &Distinct) -> Vec<(String, u32, Vec<u32>)> {
        describe_by(distinct, |n| distinct.texts.text(n).to_owned())
    }

    fn describe_by(distinct: &Distinct, text: impl Fn(u32) -> String) -> Vec<(String, u32, Vec<u32>)> {
        let Distinct { texts, left, right } = distinct;
        (0..texts.len() as u32)
            .map(|n| {
                let members = if (n as usize) < left.len() {
                    left.rows(n as usize)
                } else {
                    right.as_ref().unwrap().rows(n as usize - left.len())
                };
                (text(n), texts.length(n), members.to_vec())
            })
            .collect()
    }

    #[test]
    fn equal_hashes_do_not_make_equal_texts() {
        let mut parts = collect(&["ab", "ba", "ab", "", "é"].map(str::to_owned), 1);
        assert_eq!(parts[0].rows, [0, 1, 2, 4]);
        parts[0].hashes.fill(9);
        let found = distinct(parts, None, &PlainThreads(1)).unwrap();
        let expected = [("é", 1, vec![4]), ("ab", 2, vec![0, 2]), ("ba", 2, vec![1])]
            .map(|(text, length, rows)| (text.to_owned(), length, rows));
        assert_eq!(describe(&found), expected);
        let mut parts = collect(&["ab", "ba", "ab", "", "é"].map(str::to_owned), 1);
        parts[0].hashes.fill(9);
        let mut file = Log::default();
        parts[0].spill(&mut file, &MemoryFiles).unwrap();
        let found = distinct_in(parts, &mut file, None, &PlainThreads(1)).unwrap();
        let open = found.texts.open(&mut vec![0, 1, 2], &mut file).unwrap();
        assert_eq!(describe_by(&found, |n| open.text(n).to_owned()), expected);
    }

    proptest! {
        #[test]
        fn texts_do_not_depend_on_workers(
            texts in prop::collection::vec("[ab字 ]{0,3}", 0..30),
            right in prop::option::of(0..30u32),
        ) {
            let one = distinct(collect(&texts, 1), right, &PlainThreads(1)).unwrap();
            let many = distinct(collect(&texts, 3), right, &PlainThreads(3)).unwrap();
            prop_assert_eq!(describe(&one), describe(&many));
            prop_assert_eq!(describe(&one), in_file(collect(&texts, 3), right));
            let rows: usize = describe(&one).iter().map(|(.., rows)| rows.len()).sum();
            prop_assert_eq!(rows, texts.iter().filter(|text| !text.is_empty()).count());
            for (text, length, rows) in describe(&one) {
                prop_assert_eq!(length as usize, text.chars().count());
                prop_assert!(rows.iter().all(|&row| texts[row as usize] == text));
                prop_assert!(rows.is_sorted());
            }
        }
    }
}
