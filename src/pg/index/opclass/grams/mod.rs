//! Indexes of grams: what an index keeps of a short string, and what a search looks for. The server
//! rechecks the rows that the index finds, because the index has only some bits of the hash of a
//! gram.

pub(crate) mod choose;
pub(crate) mod options;
mod probe;

use pgrx::pg_sys::Datum;

use super::class::Class;
use super::posted::Posted;
use super::values::{StoredValue, keep_text};
use crate::pg::index::layout::format::Meta;
use crate::pg::index::layout::items::{CONTENTS_OF_ITEM, Item, Row, short};
use crate::pg::server::error::Result;
use neardup_core::error;
use neardup_core::executor::Stop;
use neardup_core::features::FeatureSpec;
use neardup_core::features::tokens::Document;
use neardup_core::joins::parts::token_set::Origin;
use neardup_core::joins::search::ball::{SetParameters, measure_number};
use neardup_core::joins::search::edit_ball::characters;
use neardup_core::joins::search::grams::edit::EditDemand;
use neardup_core::joins::search::grams::sought::Sought;
use neardup_core::joins::search::grams::{
    BITS, MOST_ELEMENTS, Stored, elements_of, group, signature, spaced,
};
use neardup_core::joins::search::keys::{KeyScratch, keys_of};
use neardup_core::memory;
use neardup_core::verify::measure::Measure;

/// The number of elements of a string that a search is assumed to look for as long as it is not
/// known.
pub(super) const USUAL_ELEMENTS: f64 = 32.0;
/// The number of bytes of a size, and of an element in an item.
const NUMBER: usize = size_of::<u32>();
/// The number of bytes of the sizes of a string: its elements and its characters.
pub(crate) const SIZES: usize = 2 * NUMBER;
const _: () = assert!(SIZES + MOST_ELEMENTS as usize * NUMBER <= CONTENTS_OF_ITEM);
const DOING: &str = "indexing the grams of a text";

/// The parameters of an index of grams.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GramKeys {
    /// The parameters by which grams are made and compared.
    pub parameters: SetParameters,
}

/// A probe for strings that may be in a ball.
#[derive(Debug, Clone)]
pub(crate) struct GramProbe {
    /// The elements of the ball's string, in ascending order.
    pub elements: Vec<u32>,
    /// What the ball demands of strings.
    pub demand: Sought,
}

/// A string in the bytes of an item, which is not NULL: the number of its elements, the number of
/// its characters, and unless it is too long, its elements. All numbers are u32.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GramItem<'a> {
    /// The sizes of the string.
    pub sizes: Stored,
    elements: &'a [u8],
}

impl<'a> GramItem<'a> {
    /// Reads an item. Returns None if the bytes are not a valid one.
    pub(crate) fn read(row: Row, bytes: &'a [u8]) -> Option<Self> {
        let (sizes, elements) = bytes.split_at_checked(SIZES)?;
        let sizes = sizes_of(sizes);
        let size = sizes.size;
        let right = if row.has(Row::SPLIT) {
            size > MOST_ELEMENTS && elements.is_empty()
        } else {
            size <= MOST_ELEMENTS
                && row.has(Row::EMPTY) == (size == 0)
                && elements.len() == size as usize * NUMBER
        };
        right.then_some(Self { sizes, elements })
    }

    /// Iterates over the elements, in ascending order.
    pub(crate) fn elements(&self) -> impl Iterator<Item = u32> + use<'a> {
        self.elements.chunks_exact(NUMBER).map(short)
    }
}

/// Reads the sizes of a string, which stand next to its row.
pub(crate) fn sizes_of(bytes: &[u8]) -> Stored {
    Stored { size: short(bytes), characters: short(&bytes[NUMBER..]) }
}

impl GramKeys {
    /// Returns the parameters in a metapage, or None if the metapage contradicts itself.
    pub(super) fn of(meta: &Meta) -> Option<Self> {
        FeatureSpec::check_shingle("shingle", meta.k.into()).ok()?;
        let right = meta.tokenizer == Origin::Chars as u8
            && meta.distance == u32::from(measure_number(Measure::Jaccard))
            && meta.bands == BITS
            && meta.payload as usize == SIZES;
        right.then(|| Self::new(meta.k as usize))
    }

    /// Returns the parameters for grams of `shingle` characters. They are those of
    /// `near(…, shingle => shingle, tokenizer => 'chars')`.
    fn new(shingle: usize) -> Self {
        let origin = Origin::Chars;
        let features = FeatureSpec { tokenizer: origin.tokenizer(), shingle, multiset: true, wrap: false };
        Self { parameters: SetParameters { measure: Measure::Jaccard, origin, features } }
    }

    /// Returns the stored form of a value.
    ///
    /// # Safety
    /// `value` is a text and not NULL.
    pub(super) unsafe fn keep(&self, value: Datum) -> Result<StoredValue> {
        // SAFETY: the caller's promise.
        unsafe { keep_text(value, self.cutter()) }
    }

    /// Returns a function that makes the stored form of a document. The function may be called
    /// again after a stop.
    pub(crate) fn cutter(&self) -> impl FnMut(&Document, &Stop) -> error::Result<StoredValue> + use<> {
        let features = self.parameters.features;
        let (mut scratch, mut keys, mut elements) = (KeyScratch::default(), Vec::new(), Vec::new());
        move |document, stop| {
            keys_of(document, &features, &mut scratch, &mut keys, stop)?;
            // Documents have fewer than 2^32 tokens.
            let size = keys.len() as u32;
            let characters = match document {
                Document::Text(text) => characters(text),
                // Values of the class are texts.
                _ => 0,
            };
            let flags = match size {
                0 => Row::EMPTY,
                size if size > MOST_ELEMENTS => Row::SPLIT,
                _ => 0,
            };
            elements.clear();
            if flags == 0 {
                elements_of(&keys, &mut elements)?;
            }
            let mut bytes = Vec::new();
            memory::reserve(&mut bytes, SIZES + elements.len() * NUMBER, DOING)?;
            bytes.extend([size, characters].into_iter().flat_map(u32::to_le_bytes));
            bytes.extend(elements.iter().flat_map(|element| element.to_le_bytes()));
            Ok(StoredValue { flags, bytes })
        }
    }

    /// Reports whether these bytes can be an item of a row.
    pub(super) fn is_item(row: Row, bytes: &[u8]) -> bool {
        if row.has(Row::NULL) { bytes.is_empty() } else { GramItem::read(row, bytes).is_some() }
    }

    /// Reports whether a row of a segment can have these sizes next to it.
    pub(crate) fn are_sizes_of(row: Row, sizes: &[u8]) -> bool {
        match sizes_of(sizes).size {
            0 => row.has(Row::NULL | Row::EMPTY),
            size => !row.has(Row::NULL | Row::EMPTY) && row.has(Row::SPLIT) == (size > MOST_ELEMENTS),
        }
    }

    /// Fills `posted` with the sizes and the signatures that a segment stores of an item. A string
    /// that is too long has no signatures; a search looks at all such strings.
    pub(super) fn post(&self, item: &Item<'_>, posted: &mut Posted) -> error::Result<()> {
        let Posted { sketch, signatures, .. } = posted;
        sketch.clear();
        signatures.clear();
        let Some(string) = GramItem::read(item.row, item.bytes).filter(|_| !item.row.has(Row::NULL)) else {
            sketch.extend([0; SIZES]);
            return Ok(());
        };
        let Stored { size, characters } = string.sizes;
        sketch.extend([size, characters].into_iter().flat_map(u32::to_le_bytes));
        if item.row.has(Row::EMPTY | Row::SPLIT) {
            return Ok(());
        }
        memory::reserve(signatures, string.elements.len() / NUMBER + 1, DOING)?;
        let group = group(size);
        if EditDemand::is_spaced(string.sizes, self.parameters.features.shingle as u32) {
            signatures.push(spaced(group));
        }
        signatures.extend(string.elements().map(|element| signature(group, element)));
        signatures.sort_unstable();
        signatures.dedup();
        Ok(())
    }

    /// Describes the class with its options.
    pub(super) fn describe(&self) -> String {
        format!("{}: {}", Class::TextGrams.name(), self.parameters.describe())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(size: u32, elements: &[u32]) -> Vec<u8> {
        [size, 9].iter().chain(elements).flat_map(|number| number.to_le_bytes()).collect()
    }

    #[test]
    fn pg_items_of_grams() {
        let row = |flags| Row::new(7 << 16 | 1, flags);
        for (flags, bytes, right) in [
            (0, item(2, &[1, 5]), true),
            (0, item(3, &[1, 5]), false),
            (0, item(0, &[]), false),
            (Row::SPLIT, item(MOST_ELEMENTS + 1, &[]), true),
            (Row::SPLIT, item(2, &[]), false),
            (0, item(MOST_ELEMENTS + 1, &[]), false),
            (Row::NULL, vec![], true),
            (Row::EMPTY, vec![0], false),
            (Row::EMPTY, item(0, &[]), true),
            (Row::EMPTY, item(1, &[3]), false),
            (0, vec![1, 0], false),
        ] {
            assert_eq!(GramKeys::is_item(row(flags), &bytes), right, "{flags} {bytes:?}");
        }
        let (grams, mut posted) = (GramKeys::new(3), Posted::default());
        grams.post(&Item { row: row(0), bytes: &item(3, &[4, 4, 9]) }, &mut posted).unwrap();
        assert_eq!(posted.sketch, [3, 0, 0, 0, 9, 0, 0, 0]);
        // A string of three grams of three characters has five characters; the others are left out.
        assert_eq!(posted.signatures, [signature(2, 4), signature(2, 9), spaced(2)]);
        grams.post(&Item { row: row(0), bytes: &item(7, &[1, 2, 3, 4, 5, 6, 7]) }, &mut posted).unwrap();
        assert_eq!(posted.signatures.len(), 7);
        grams.post(&Item { row: row(Row::EMPTY), bytes: &item(0, &[]) }, &mut posted).unwrap();
        assert_eq!((posted.sketch.as_slice(), posted.signatures.len()), (&[0, 0, 0, 0, 9, 0, 0, 0][..], 0));
        grams.post(&Item { row: row(Row::NULL), bytes: &[] }, &mut posted).unwrap();
        assert_eq!((posted.sketch.as_slice(), posted.signatures.len()), (&[0; SIZES][..], 0));
        for (flags, size, right) in [
            (0, 0, false),
            (Row::EMPTY, 0, true),
            (0, 9, true),
            (Row::SPLIT, 9, false),
            (Row::SPLIT, 5000, true),
            (Row::NULL, 1, false),
        ] {
            let sizes = [size, 20].map(u32::to_le_bytes).concat();
            assert_eq!(GramKeys::are_sizes_of(row(flags), &sizes), right, "{flags} {size}");
        }
    }
}
