//! The lists of a segment, written and read again.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::*;
use crate::pg::index::pages::buffer::Looked;
use crate::pg::index::storage::list_bytes::ListSource;
use crate::pg::index::storage::list_reader::{PartReader, PieceRows};
use proptest::prelude::*;

impl ByteStore for Vec<u8> {
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
    pieces: Pieces,
    class_bits: u32,
    lists: u32,
    rows: u32,
    directory: Vec<u8>,
    bytes: Vec<u8>,
}

/// The payload of the panic of [`Source::corrupted`].
struct Corrupted;

impl ListSource for Memory {
    fn shape(&self) -> (u32, u32) {
        (self.class_bits, self.lists)
    }

    fn pieces(&self) -> Pieces {
        self.pieces
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

    fn with(&self, from: u64, until: u64, each: &mut dyn FnMut(&[u8])) -> Looked<bool> {
        each(&self.bytes[from as usize..until as usize]);
        Ok(true)
    }

    fn corrupted(&self, _: &str) -> ! {
        resume_unwind(Box::new(Corrupted))
    }

    fn failed(&self, error: Error) -> ! {
        panic!("{error}")
    }
}

const PIECES: [Pieces; 3] = [Pieces::Coded, Pieces::CodedOrSingle, Pieces::Grouped];

type Classes = BTreeMap<u64, BTreeSet<u32>>;

/// Writes lists of these rows and returns them with the directory's entry.
fn write(
    pieces: Pieces,
    class_bits: u32,
    guess: u64,
    rows: u32,
    classes: &Classes,
    split: &[u32],
) -> (Memory, Descriptor) {
    let mut about = Descriptor::default();
    let mut lists = SegmentLists::new(pieces, class_bits, guess, [Vec::new(), Vec::new()]);
    for (class, rows) in classes {
        for &row in rows {
            // The lower bits of a signature do not matter, and a pair may come twice.
            let signature = class << (u64::BITS - class_bits) | 1;
            lists.push(signature, row, &mut about).unwrap();
            lists.push(signature, row, &mut about).unwrap();
        }
    }
    let count = lists.finish(split, &mut about).unwrap();
    let SegmentLists { directory, bytes, .. } = lists;
    (Memory { pieces, class_bits, lists: count, rows, directory, bytes }, about)
}

fn looked<T>(looked: Looked<T>) -> T {
    looked.unwrap_or_else(|_| unreachable!("nothing moves"))
}

/// Reads all lists from start to end, and the list after them.
fn read(memory: &Memory) -> (Classes, Vec<u32>) {
    let (mut classes, mut rows) = (Classes::new(), Vec::new());
    for n in 0..memory.lists - 1 {
        let mut part = looked(PartReader::open(memory, n));
        while let Some(class) = looked(part.next(&mut rows)) {
            assert!(class >> memory.class_bits == 0 && classes.range(class + 1..).next().is_none());
            let known = classes.entry(class).or_default();
            assert!(!rows.is_empty() && rows.len() <= PIECE && known.last() < rows.first());
            assert!(rows.is_sorted_by(|a, b| a < b) && rows[rows.len() - 1] < memory.rows);
            known.extend(&rows);
        }
    }
    let (mut part, mut split) = (looked(PartReader::of_split(memory)), Vec::new());
    while looked(part.next(&mut rows)).is_some() {
        split.extend(&rows);
    }
    (classes, split)
}

/// Finds the rows of a class step by step, as a search does.
fn find(memory: &Memory, class: u64, step: u32) -> BTreeSet<u32> {
    let mut part = looked(PartReader::of_class(memory, class));
    let (mut found, mut end) = (Vec::new(), 0_u32);
    if looked(part.find(class)) {
        loop {
            end = end.saturating_add(step);
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

/// Reads the rows of a class run by run, and fails if the first row is not what [`Part::first`]
/// says.
fn runs(memory: &Memory, class: u64) -> BTreeSet<u32> {
    let mut part = looked(PartReader::of_class(memory, class));
    let mut found = Vec::new();
    if looked(part.find(class)) {
        let first = looked(part.first());
        let mut more = true;
        while more {
            let before = found.len();
            more = looked(part.each_run(|run| match run {
                PieceRows::Rows(rows) => found.extend(rows),
                PieceRows::Plain(first, distances) => {
                    found.extend(distances.iter().map(|&next| first + u32::from(u16::from_le_bytes(next))));
                }
            }));
            assert!((before + 1..=before + PIECE).contains(&found.len()));
        }
        assert_eq!(first, found.first().copied());
    }
    assert!(found.is_sorted_by(|a, b| a < b) && found.last().is_none_or(|&row| row < memory.rows));
    found.into_iter().collect()
}

/// Returns the classes from `first` to `last` in the part of `first`, and their numbers of rows.
fn within(memory: &Memory, first: u64, last: u64) -> Vec<(u64, u64)> {
    let (mut part, mut rows, mut all) = (looked(PartReader::of_class(memory, first)), Vec::new(), Vec::new());
    looked(part.skip_to(first));
    while let Some(class) = looked(part.next(&mut rows)).filter(|&class| class <= last) {
        all.push((class, rows.len() as u64));
    }
    all
}

fn some_classes(bits: u32, rows: u32) -> impl Strategy<Value = Classes> {
    let few = prop_oneof![0..40_u64, 0..1_u64 << bits];
    prop::collection::btree_map(few, prop::collection::btree_set(0..rows, 1..40), 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pg_lists_are_read_as_they_were_written(
        (bits, classes) in prop::sample::select(vec![10, 16, 24, 32, 42]).prop_flat_map(|bits| (Just(bits), some_classes(bits, 5000))),
        guess in prop_oneof![Just(0), 0..100_000_u64, Just(u64::MAX)].prop_map(|guess| guess >> 20),
        split in prop::collection::btree_set(0..5000_u32, 0..9),
        step in 1..6000_u32,
        pieces in prop::sample::select(PIECES.to_vec()),
    ) {
        let split: Vec<u32> = split.into_iter().collect();
        // There may be as many parts as classes, and each of them takes memory.
        let guess = if bits > 24 { guess % 100_000 } else { guess };
        let (memory, about) = write(pieces, bits, guess, 5000, &classes, &split);
        prop_assert_eq!(bits_of_parts(memory.lists, bits), Some(part_bits(pieces, guess, bits)));
        prop_assert_eq!(read(&memory), (classes.clone(), split));
        let sizes = classes.values().map(|rows| rows.len() as u64);
        prop_assert_eq!(about.postings, sizes.clone().sum::<u64>());
        prop_assert_eq!((about.signatures, u64::from(about.longest)), (sizes.len() as u64, sizes.max().unwrap_or(0)));
        for (class, rows) in &classes {
            prop_assert_eq!(&find(&memory, *class, step), rows);
            prop_assert_eq!(&runs(&memory, *class), rows);
            let next = (class + 1) % (1_u64 << bits);
            prop_assert_eq!(find(&memory, next, 5000), classes.get(&next).cloned().unwrap_or_default());
            // The classes of a range that lies in the part of this class.
            let in_part = 1_u64 << (bits - part_bits(pieces, guess, bits));
            let (first, last) = (class / in_part * in_part, *class + 3);
            let expected: Vec<_> = classes.range(first..=last).map(|(class, rows)| (*class, rows.len() as u64)).filter(|(class, _)| class / in_part == first / in_part).collect();
            prop_assert_eq!(within(&memory, first, last), expected.clone());
            let (mut part, mut few) = (looked(PartReader::of_class(&memory, first)), Vec::new());
            looked(part.skip_to(first));
            for (class, count) in expected {
                prop_assert_eq!(looked(part.next_of_few(20, &mut few)), Some((class, count)));
                let rows = classes[&class].iter().copied().filter(|_| count <= 20);
                prop_assert!(few.iter().copied().eq(rows));
            }
            prop_assert_eq!(within(&memory, *class, *class), [(*class, rows.len() as u64)]);
        }
    }

    /// A read returns rows in order, or fails.
    #[test]
    fn pg_any_bytes_are_lists_or_corrupted(
        classes in some_classes(10, 300),
        damages in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..5),
        class in 0..1024_u64,
        pieces in prop::sample::select(PIECES.to_vec()),
    ) {
        let (mut memory, _) = write(pieces, 10, 3000, 300, &classes, &[3, 4]);
        for (at, with, is_directory) in damages {
            let bytes = if is_directory { &mut memory.directory } else { &mut memory.bytes };
            let at = at.index(bytes.len());
            bytes[at] = with;
        }
        let looks =
            [&(|| drop(read(&memory))) as &dyn Fn(), &|| drop(find(&memory, class, 7)), &|| drop(runs(&memory, class))];
        for look in looks {
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
    for pieces in PIECES {
        let (memory, about) = write(pieces, 10, 200_000, 300_000, &classes, &split);
        assert_eq!(read(&memory), (classes.clone(), split.clone()));
        assert_eq!((about.longest, find(&memory, 1023, 1 << 16)), (100_000, rows.clone()));
        assert_eq!(runs(&memory, 5), rows);
    }
}

#[test]
fn pg_golden_lists() {
    let mut piece = vec![7];
    write_piece(Pieces::Coded, 300, &[100, 250, 300, 512], &mut Vec::new(), &mut piece).unwrap();
    // A class with gap 300, 4 rows, 5 bytes, parameter 6, and the code.
    assert_eq!(piece, [0xac, 2, 4, 5, 6, 146, 172, 198, 56, 1]);
    let classes = Classes::from([(2, BTreeSet::from([0, 1, 2])), (700, BTreeSet::from([2]))]);
    let (memory, _) = write(Pieces::Coded, 10, 2000, 3, &classes, &[1]);
    assert_eq!(memory.lists, 3);
    // 700 is the 188th class of the second part. The list after the parts counts from zero.
    assert_eq!(memory.bytes, [2, 3, 1, 0, 0b111, 0xbc, 1, 1, 1, 0, 0b100, 0, 1, 1, 0, 0b10]);
    let entry = |offset: u8, length, rows| [offset, 0, 0, 0, 0, 0, 0, 0, length, 0, 0, 0, rows, 0, 0, 0];
    assert_eq!(memory.directory, [entry(0, 5, 3), entry(5, 6, 1), entry(11, 5, 1)].concat());
}

#[test]
fn pg_golden_lists_of_anchors() {
    let mut piece = vec![7];
    write_piece(Pieces::CodedOrSingle, 300, &[300], &mut Vec::new(), &mut piece).unwrap();
    // Twice the gap 300 plus 1, and the row.
    assert_eq!(piece, [0xd9, 4, 0xac, 2]);
    let classes = Classes::from([(2, BTreeSet::from([0, 1, 2])), (700, BTreeSet::from([2]))]);
    let (memory, _) = write(Pieces::CodedOrSingle, 32, 160, 3, &classes, &[]);
    assert_eq!((memory.lists, memory.bytes), (2, vec![4, 3, 1, 0, 0b111, 0xf5, 10, 2]));
}

#[test]
fn pg_golden_lists_of_grams() {
    let write = |rows: &[u32]| {
        let mut piece = vec![7];
        write_piece(Pieces::Grouped, 300, rows, &mut Vec::new(), &mut piece).unwrap();
        piece
    };
    assert_eq!(write(&[300]), [0xd9, 4, 0xac, 2]);
    // Few rows, and rows that are far from one another, have a code.
    assert_eq!(write(&[100, 250, 300, 512]), [0xd8, 4, 4, 5, 6, 146, 172, 198, 56, 1]);
    let far: Vec<u32> = (0..16).map(|row| row * 5000).collect();
    assert_ne!(write(&far)[4], PLAIN);
    // Twice the gap 300, 16 rows, 34 bytes, no parameter, the first row, and distances from it.
    let rows: Vec<u32> = (0..16).map(|row| 0x0001_0203 + row * 300).collect();
    let piece = write(&rows);
    assert_eq!(piece[..11], [0xd8, 4, 16, 34, 0xff, 3, 2, 1, 0, 44, 1]);
    assert_eq!((piece.len(), &piece[37..]), (39, &[0x94, 0x11][..]));
}

/// The rows of a piece are plain if they are near to one another, however far the list goes.
#[test]
fn pg_plain_rows_at_the_limits() {
    let span = u32::from(u16::MAX);
    let near = |first: u32| (0..15).map(move |row| first + row * 100);
    let most = u32::MAX - 1;
    let rows: BTreeSet<u32> =
        [near(0).collect(), vec![span, span + 1, most - span], near(most - 1400).collect(), vec![most]]
            .concat()
            .into_iter()
            .collect();
    let classes = Classes::from([(5, rows.clone())]);
    let (memory, _) = write(Pieces::Grouped, 10, 100, u32::MAX, &classes, &[]);
    assert_eq!((runs(&memory, 5), find(&memory, 5, 1 << 30)), (rows.clone(), rows));
}
