//! Tests that any content of a table of lists leads to an error or to documents that exist.

use super::changed::Changed;
use super::digest::{DOING, Digester, Digests, OutlineOrder};
use super::lookup::{Candidates, SegmentLookup, together};
use super::segment::{BLOCK, ListSegment, SegmentDocuments};
use super::tests::{Stored, THREADS, digest, document, store};
use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::features::FeatureSpec;
use crate::joins::sets::bounds::Bounds;
use crate::leb128;
use crate::verify::measure::Measure;
use crate::verify::predicate::Predicate;
use proptest::prelude::*;

/// A change of bytes: its position, the number of bytes removed, and the bytes inserted.
type Damage = (usize, usize, Vec<u8>);

fn damaged(bytes: &[u8], damages: &[Damage]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (at, out, new) in damages {
        let at = at % (bytes.len() + 1);
        let end = (at + out).min(bytes.len());
        bytes.splice(at..end, new.iter().copied());
    }
    bytes
}

fn damages() -> impl Strategy<Value = Vec<Damage>> {
    let byte = prop_oneof![any::<u8>(), Just(0), Just(0xff), Just(0x7f), Just(0x80)];
    let damage = (any::<usize>(), 0usize..12, proptest::collection::vec(byte, 0..12));
    proptest::collection::vec(damage, 0..4)
}

/// Returns changed documents and a segment of all documents, of many sizes and with lists of all
/// lengths.
fn example() -> (OutlineOrder, Changed, Stored) {
    let spec = FeatureSpec::WORDS;
    let bounds = Bounds::new(Predicate::new(Measure::Jaccard, 0.4).unwrap());
    let text = |n: usize| (0..3 + n % 29).map(|k| format!("w{} ", (n / 3 * k) % 97)).collect();
    let texts: Vec<String> = (0..BLOCK + 300).map(text).collect();
    let (order, all) = digest(&texts, 100, &spec, &bounds);
    let mut digester = Digester::default();
    for (row, text) in (0..).zip(texts.iter().step_by(7)) {
        digester.add(row, &document(text), &spec, &order, &bounds, &Stop::default()).unwrap();
    }
    let changed = Changed::new(digester.digests, order.words, bounds, &THREADS).unwrap();
    let stored = store(all, order.words);
    (order, changed, stored)
}

/// Looks changed documents up, and merges the segment.
fn try_all(changed: &Changed, words: usize, blocks: &[Vec<u8>], parts: &[Vec<u8>]) -> Result<()> {
    let mut documents = SegmentDocuments::new(words);
    blocks.iter().try_for_each(|block| documents.push(block))?;
    let count = documents.sizes.len();
    let comparison = SegmentLookup::new(changed, &documents)?;
    for most in [0, usize::MAX] {
        let mut found = Candidates::new(count, most);
        parts.iter().try_for_each(|part| comparison.compare(part, &mut found, &Stop::default()))?;
        let (places, _) = together(vec![found], changed, &THREADS)?;
        assert!(places.iter().all(|&place| (place as usize) < count), "a place that is not there");
    }
    let mut merged = Digests::default();
    merged.append(&documents.digests(7, parts.iter().map(Vec::as_slice))?, |row| row)?;
    let segment = ListSegment::new(&merged, words, &THREADS)?;
    segment.blocks().try_for_each(|block| block.map(drop))?;
    assert_eq!(segment.into_rows().len(), count);
    Ok(())
}

/// Reports whether the result is a success or an error about malformed data, and not a lack of
/// memory, which a wrong number would cause.
fn is_well_or_malformed(result: &Result<()>) -> bool {
    matches!(result, Ok(()) | Err(Error::Malformed { .. }))
}

proptest! {
    #![proptest_config(crate::cases::cases(64))]
    #[test]
    fn damaged_segments_are_errors_or_harmless(blocks in damages(), parts in damages(), which: usize) {
        let (order, changed, stored) = example();
        try_all(&changed, order.words, &stored.0, &stored.1).unwrap();
        let (mut of_blocks, mut of_parts) = (stored.0.clone(), stored.1.clone());
        let block = which % of_blocks.len();
        of_blocks[block] = damaged(&of_blocks[block], &blocks);
        let part = which % of_parts.len();
        of_parts[part] = damaged(&of_parts[part], &parts);
        for (blocks, parts) in
            [(&of_blocks, &of_parts), (&stored.0, &of_parts), (&of_blocks, &stored.1)]
        {
            let result = try_all(&changed, order.words, blocks, parts);
            prop_assert!(is_well_or_malformed(&result), "{result:?}");
        }
    }

    #[test]
    fn random_bytes_are_errors_or_harmless(
        block in proptest::collection::vec(any::<u8>(), 0..200),
        parts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..200), 0..4),
        small in proptest::collection::vec(0u8..9, 0..100),
    ) {
        let (order, changed, stored) = example();
        for parts in [parts, vec![small]] {
            for blocks in [vec![], vec![block.clone()], stored.0.clone()] {
                let result = try_all(&changed, order.words, &blocks, &parts);
                prop_assert!(is_well_or_malformed(&result), "{result:?}");
            }
        }
        let mut bytes = order.to_bytes()?;
        bytes.splice(..block.len().min(3), block.iter().copied());
        for bytes in [bytes, block] {
            if let Ok(Some(order)) = OutlineOrder::from_bytes(&bytes) {
                order.tokens.place(u32::MAX);
            }
        }
    }
}

/// Tests numbers that once led outside the data or requested all memory.
#[test]
fn numbers_that_lead_astray_are_errors() {
    let (order, changed, stored) = example();
    let count = BLOCK as u32 + 300;
    let number = |number: u64| {
        let mut bytes = Vec::new();
        leb128::write(number, &mut bytes, DOING).unwrap();
        bytes
    };
    let list = |hash: u64, head: u64, place: u64, rest: &[u8]| {
        [number(hash), number(head), number(place), rest.to_vec()].concat()
    };
    let bad = [
        // Lists without documents, and lists that are cut off.
        list(5, 0, count.into(), &[]),
        list(5, 0, u64::MAX, &[]),
        list(5, 1 << 2 | 2, 9, &u32::MAX.to_le_bytes()),
        list(5, 2 << 2 | 2, 9, &[u32::MAX.to_le_bytes(), 5u32.to_le_bytes()].concat()),
        // More documents than there are, including so many that their length in bytes overflows.
        list(5, u64::from(count) << 2, 0, &vec![1; count as usize]),
        list(5, u64::MAX - 1, 0, &[]),
        list(5, 1 << 62 | 2, 0, &[]),
        // Lists that are cut off, hashes of more than 32 bits, and a malformed number.
        list(5, 1 << 2, 7, &[0]),
        list(5, 3, 7, &[]),
        list(1 << 32, 0, 7, &[]),
        [list(u32::MAX.into(), 0, 7, &[]), list(1, 0, 7, &[])].concat(),
        vec![0xff; 11],
    ];
    for part in bad {
        let result = try_all(&changed, order.words, &stored.0, std::slice::from_ref(&part));
        assert!(matches!(result, Err(Error::Malformed { .. })), "{part:?}: {result:?}");
    }
    for size in [0, 1 << 31, u32::MAX] {
        let block: Vec<u8> = [&u32::to_le_bytes(size)[..], &vec![0; 8 * order.words]].concat();
        assert!(SegmentDocuments::new(order.words).push(&block).is_err(), "{size}");
    }
    let mut documents = SegmentDocuments::new(order.words);
    documents.push(&stored.0[1]).unwrap();
    assert!(documents.push(&stored.0[0]).is_err(), "after a block that is not full");
}
