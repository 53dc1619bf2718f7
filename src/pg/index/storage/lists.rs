//! Writes the lists of a segment. The rows of each class are stored as gaps, and neighbouring
//! classes are in parts of about a page.
//!
//! A part consists of pieces of lists in the order of their classes. A piece has these fields:
//!
//! - the gap between its class and that of the piece before, or the first class of the part;
//! - the number of rows;
//! - the number of bytes, each of these numbers in LEB128;
//! - one byte with the parameter of the code;
//! - the code of the rows ([`rice`]). If the piece before has the same class, the rows are counted
//!   from after its last row.
//!
//! After the parts there is one more list: the rows whose signatures are spread over several rows.

use super::spool::Spool;
use crate::error::{Error, Result};
use crate::joins::set_index::rice;
use crate::leb128;
use crate::memory;
use crate::pg::index::layout::format::{Descriptor, List};

const DOING: &str = "writing lists of rows";

/// The largest number of rows of a piece. A reader or a writer keeps this much of a list in memory.
pub(super) const PIECE: usize = 1 << 15;
/// The target size of a part in bytes.
const PART_BYTES: u64 = 1 << 10;

/// Returns the number of parts for this many postings, as a power of two. A posting takes about 12
/// bits.
fn part_bits(postings: u64, class_bits: u32) -> u32 {
    let parts = (postings.saturating_mul(3) / 2 / PART_BYTES).max(1);
    parts.ilog2().min(class_bits)
}

/// Returns the number of parts for this many lists, as a power of two, or None if the number is
/// invalid.
pub(super) fn bits_of_parts(lists: u32, class_bits: u32) -> Option<u32> {
    let parts = lists.checked_sub(1)?;
    (parts.is_power_of_two() && parts.ilog2() <= class_bits).then(|| parts.ilog2())
}

/// A destination for what is written.
pub(super) trait Store {
    /// Appends bytes.
    fn push(&mut self, bytes: &[u8]) -> Result<()>;

    /// Returns the number of bytes.
    fn len(&self) -> u64;
}

impl Store for Spool {
    fn push(&mut self, bytes: &[u8]) -> Result<()> {
        Spool::push(self, bytes)
    }

    fn len(&self) -> u64 {
        Spool::len(self)
    }
}

/// Replaces the contents of `piece` by a piece. `rows` are counted from their base, and `gap` is
/// the distance from the previous class. `code` is scratch space.
fn write_piece(gap: u64, rows: &[u32], code: &mut Vec<u8>, piece: &mut Vec<u8>) -> Result<()> {
    code.clear();
    piece.clear();
    let k = rice::encode(rows, code)?;
    for number in [gap, rows.len() as u64, code.len() as u64] {
        leb128::write(number, piece, DOING)?;
    }
    memory::push(piece, k, DOING)?;
    memory::extend(piece, code, DOING)
}

/// Collects the lists of a segment.
pub(super) struct Lists<S> {
    class_bits: u32,
    part_bits: u32,
    /// The part that is being written, the offset where it begins, and the number of its postings.
    part: u32,
    start: u64,
    postings: u64,
    /// The class of the last piece of this part, or the part's first class.
    before: u64,
    /// The class whose rows are being collected, and these rows.
    class: u64,
    rows: Vec<u32>,
    /// The base from which the rows of the next piece are counted, and how many rows of the class
    /// were written.
    base: u32,
    written: u64,
    code: Vec<u8>,
    piece: Vec<u8>,
    /// The places of the parts.
    pub directory: S,
    /// The bytes of the parts.
    pub bytes: S,
}

impl<S: Store> Lists<S> {
    /// Starts lists of classes with this many bits and about this many postings. The arguments in
    /// the array take the directory and the bytes.
    pub(super) fn new(class_bits: u32, postings: u64, [directory, bytes]: [S; 2]) -> Self {
        Self {
            class_bits,
            part_bits: part_bits(postings, class_bits),
            part: 0,
            start: 0,
            postings: 0,
            before: 0,
            class: 0,
            rows: Vec::new(),
            base: 0,
            written: 0,
            code: Vec::new(),
            piece: Vec::new(),
            directory,
            bytes,
        }
    }

    /// Adds a row of a class, which is in the upper bits of its signature. Pairs must come in
    /// order. A repeated pair is stored once.
    pub(super) fn push(&mut self, signature: u64, row: u32, about: &mut Descriptor) -> Result<()> {
        let class = signature >> (u64::BITS - self.class_bits);
        if class != self.class {
            self.close(about)?;
            self.class = class;
        }
        if self.rows.last() == Some(&row) || self.rows.is_empty() && self.written > 0 && row < self.base {
            return Ok(());
        }
        if self.rows.len() == PIECE {
            self.write_piece_of_class()?;
        }
        memory::push(&mut self.rows, row, DOING)
    }

    /// Ends the list of a class.
    fn close(&mut self, about: &mut Descriptor) -> Result<()> {
        if !self.rows.is_empty() {
            self.write_piece_of_class()?;
            about.signatures += 1;
            about.postings += self.written;
            about.longest = about.longest.max(u32::try_from(self.written).unwrap_or(u32::MAX));
        }
        (self.base, self.written) = (0, 0);
        Ok(())
    }

    fn write_piece_of_class(&mut self) -> Result<()> {
        self.go_to((self.class >> (self.class_bits - self.part_bits)) as u32)?;
        self.write_piece()
    }

    /// Writes the rows that are waiting.
    fn write_piece(&mut self) -> Result<()> {
        let Some(&last) = self.rows.last() else { return Ok(()) };
        self.rows.iter_mut().for_each(|row| *row -= self.base);
        write_piece(self.class - self.before, &self.rows, &mut self.code, &mut self.piece)?;
        self.bytes.push(&self.piece)?;
        self.before = self.class;
        self.written += self.rows.len() as u64;
        self.postings += self.rows.len() as u64;
        self.rows.clear();
        self.base = last + 1;
        Ok(())
    }

    /// Ends the parts before this one.
    fn go_to(&mut self, part: u32) -> Result<()> {
        while self.part < part {
            self.end_part()?;
        }
        Ok(())
    }

    fn end_part(&mut self) -> Result<()> {
        let too_long =
            |_| Error::TooMany { what: "rows of frequent tokens in an index", limit: u32::MAX.into() };
        let list = List {
            offset: self.start,
            length: u32::try_from(self.bytes.len() - self.start).map_err(too_long)?,
            rows: u32::try_from(self.postings).map_err(too_long)?,
        };
        let mut entry = [0; List::SIZE];
        list.write(&mut entry);
        self.directory.push(&entry)?;
        (self.start, self.postings) = (self.bytes.len(), 0);
        self.part += 1;
        self.before = u64::from(self.part) << (self.class_bits - self.part_bits);
        Ok(())
    }

    /// Ends the last list and adds the list of the rows that hold a part of a split set. Returns
    /// the number of lists.
    pub(super) fn finish(&mut self, split: &[u32], about: &mut Descriptor) -> Result<u32> {
        self.close(about)?;
        let parts = 1 << self.part_bits;
        self.go_to(parts)?;
        self.class = self.before;
        for rows in split.chunks(PIECE) {
            memory::extend(&mut self.rows, rows, DOING)?;
            self.write_piece()?;
        }
        self.end_part()?;
        Ok(parts + 1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    use super::*;
    use crate::pg::index::pages::buffer::Looked;
    use crate::pg::index::storage::list_reader::{Part, Source};
    use proptest::prelude::*;

    impl Store for Vec<u8> {
        fn push(&mut self, bytes: &[u8]) -> Result<()> {
            self.extend(bytes);
            Ok(())
        }

        fn len(&self) -> u64 {
            self.len() as u64
        }
    }

    /// Lists in memory.
    struct Memory {
        class_bits: u32,
        lists: u32,
        rows: u32,
        directory: Vec<u8>,
        bytes: Vec<u8>,
    }

    /// The payload of the panic of [`Source::corrupted`].
    struct Corrupted;

    impl Source for Memory {
        fn shape(&self) -> (u32, u32) {
            (self.class_bits, self.lists)
        }

        fn rows(&self) -> u32 {
            self.rows
        }

        fn entry(&self, n: u32) -> Looked<List> {
            let list = List::read(&self.directory[n as usize * List::SIZE..][..List::SIZE]);
            if list.offset.saturating_add(list.length.into()) > self.bytes.len() as u64 {
                self.corrupted("a list is longer than all");
            }
            Ok(list)
        }

        fn read(&self, from: u64, until: u64, bytes: &mut Vec<u8>) -> Looked<bool> {
            *bytes = self.bytes[from as usize..until as usize].to_vec();
            Ok(true)
        }

        fn corrupted(&self, _: &str) -> ! {
            resume_unwind(Box::new(Corrupted))
        }

        fn failed(&self, error: Error) -> ! {
            panic!("{error}")
        }
    }

    type Classes = BTreeMap<u64, BTreeSet<u32>>;

    /// Writes lists of these rows and returns them with the directory's entry.
    fn write(
        class_bits: u32,
        guess: u64,
        rows: u32,
        classes: &Classes,
        split: &[u32],
    ) -> (Memory, Descriptor) {
        let mut about = Descriptor::default();
        let mut lists = Lists::new(class_bits, guess, [Vec::new(), Vec::new()]);
        for (class, rows) in classes {
            for &row in rows {
                // The lower bits of a signature do not matter, and a pair may come twice.
                let signature = class << (u64::BITS - class_bits) | 1;
                lists.push(signature, row, &mut about).unwrap();
                lists.push(signature, row, &mut about).unwrap();
            }
        }
        let count = lists.finish(split, &mut about).unwrap();
        let Lists { directory, bytes, .. } = lists;
        (Memory { class_bits, lists: count, rows, directory, bytes }, about)
    }

    fn looked<T>(looked: Looked<T>) -> T {
        looked.unwrap_or_else(|_| unreachable!("nothing moves"))
    }

    /// Reads all lists from start to end, and the list after them.
    fn read(memory: &Memory) -> (Classes, Vec<u32>) {
        let (mut classes, mut rows) = (Classes::new(), Vec::new());
        for n in 0..memory.lists - 1 {
            let mut part = looked(Part::open(memory, n));
            while let Some(class) = looked(part.next(&mut rows)) {
                assert!(class >> memory.class_bits == 0 && classes.range(class + 1..).next().is_none());
                let known = classes.entry(class).or_default();
                assert!(!rows.is_empty() && rows.len() <= PIECE && known.last() < rows.first());
                assert!(rows.is_sorted_by(|a, b| a < b) && rows[rows.len() - 1] < memory.rows);
                known.extend(&rows);
            }
        }
        let (mut part, mut split) = (looked(Part::of_split(memory)), Vec::new());
        while looked(part.next(&mut rows)).is_some() {
            split.extend(&rows);
        }
        (classes, split)
    }

    /// Finds the rows of a class step by step, as a search does.
    fn find(memory: &Memory, class: u64, step: u32) -> BTreeSet<u32> {
        let mut part = looked(Part::of_class(memory, class));
        let (mut found, mut end) = (Vec::new(), 0);
        if looked(part.find(class)) {
            loop {
                end += step;
                let before = found.len();
                let more = looked(part.rows_before(end, &mut found));
                assert!(found[before..].iter().all(|row| (end - step..end).contains(row)));
                if !more {
                    break;
                }
            }
        }
        found.into_iter().collect()
    }

    fn some_classes(bits: u32, rows: u32) -> impl Strategy<Value = Classes> {
        let few = prop_oneof![0..40_u64, 0..1_u64 << bits];
        prop::collection::btree_map(few, prop::collection::btree_set(0..rows, 1..40), 0..60)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn pg_lists_are_read_as_they_were_written(
            (bits, classes) in prop::sample::select(vec![10, 16, 24]).prop_flat_map(|bits| (Just(bits), some_classes(bits, 5000))),
            guess in prop_oneof![Just(0), 0..100_000_u64, Just(u64::MAX)].prop_map(|guess| guess >> 20),
            split in prop::collection::btree_set(0..5000_u32, 0..9),
            step in 1..6000_u32,
        ) {
            let split: Vec<u32> = split.into_iter().collect();
            let (memory, about) = write(bits, guess, 5000, &classes, &split);
            prop_assert_eq!(bits_of_parts(memory.lists, bits), Some(part_bits(guess, bits)));
            prop_assert_eq!(read(&memory), (classes.clone(), split));
            let sizes = classes.values().map(|rows| rows.len() as u64);
            prop_assert_eq!(about.postings, sizes.clone().sum::<u64>());
            prop_assert_eq!((about.signatures, u64::from(about.longest)), (sizes.len() as u64, sizes.max().unwrap_or(0)));
            for (class, rows) in &classes {
                prop_assert_eq!(&find(&memory, *class, step), rows);
                let next = (class + 1) % (1 << bits);
                prop_assert_eq!(find(&memory, next, 5000), classes.get(&next).cloned().unwrap_or_default());
            }
        }

        /// A read returns rows in order, or fails.
        #[test]
        fn pg_any_bytes_are_lists_or_corrupted(
            classes in some_classes(10, 300),
            damages in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..5),
            class in 0..1024_u64,
        ) {
            let (mut memory, _) = write(10, 3000, 300, &classes, &[3, 4]);
            for (at, with, is_directory) in damages {
                let bytes = if is_directory { &mut memory.directory } else { &mut memory.bytes };
                let at = at.index(bytes.len());
                bytes[at] = with;
            }
            for look in [&(|| drop(read(&memory))) as &dyn Fn(), &|| drop(find(&memory, class, 7))] {
                if let Err(ended) = catch_unwind(AssertUnwindSafe(look)) {
                    prop_assert!(ended.is::<Corrupted>());
                }
            }
        }
    }

    #[test]
    fn pg_long_lists_are_in_pieces() {
        let rows: BTreeSet<u32> = (0..300_000).step_by(3).collect();
        let classes = Classes::from([(5, rows.clone()), (6, BTreeSet::from([9])), (1023, rows.clone())]);
        let split: Vec<u32> = (0..80_000).map(|row| row * 2).collect();
        let (memory, about) = write(10, 200_000, 300_000, &classes, &split);
        assert_eq!(read(&memory), (classes, split));
        assert_eq!((about.longest, find(&memory, 1023, 1 << 16)), (100_000, rows));
    }

    #[test]
    fn pg_golden_lists() {
        let mut piece = vec![7];
        write_piece(300, &[100, 250, 300, 512], &mut Vec::new(), &mut piece).unwrap();
        // A class with gap 300, 4 rows, 5 bytes, parameter 6, and the code.
        assert_eq!(piece, [0xac, 2, 4, 5, 6, 146, 172, 198, 56, 1]);
        let classes = Classes::from([(2, BTreeSet::from([0, 1, 2])), (700, BTreeSet::from([2]))]);
        let (memory, _) = write(10, 2000, 3, &classes, &[1]);
        assert_eq!(memory.lists, 3);
        // 700 is the 188th class of the second part. The list after the parts counts from zero.
        assert_eq!(memory.bytes, [2, 3, 1, 0, 0b111, 0xbc, 1, 1, 1, 0, 0b100, 0, 1, 1, 0, 0b10]);
        let entry = |offset: u8, length, rows| [offset, 0, 0, 0, 0, 0, 0, 0, length, 0, 0, 0, rows, 0, 0, 0];
        assert_eq!(memory.directory, [entry(0, 5, 3), entry(5, 6, 1), entry(11, 5, 1)].concat());
    }
}
