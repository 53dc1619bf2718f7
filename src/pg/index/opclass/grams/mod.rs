//! Indexes of grams: what an index keeps of a short string, and what a search looks for. The server
//! rechecks the rows that the index finds, because the index has only some bits of the hash of a
//! gram.

pub(crate) mod options;
mod probe;

use pgrx::pg_sys::Datum;

use super::class::OperatorClass;
use super::cut;
use super::posted::Posted;
use super::sets::keep::{NO_OVERLAP, class_for};
use super::sets::probe::{OUTSIDE, distance_of, step_of};
use super::values::{StoredValue, keep_document, text_of};
use crate::pg::index::layout::format::Meta;
use crate::pg::index::layout::items::{CONTENTS_OF_ITEM, HeapRow, Item, short};
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::error;
use neardup_core::executor::Stop;
use neardup_core::features::FeatureSpec;
use neardup_core::features::normalization::Normalization;
use neardup_core::features::origin::Origin;
use neardup_core::features::tokens::Document;
use neardup_core::joins::search::ball::{SetParameters, measure_number};
use neardup_core::joins::search::edit_ball::{EditBall, characters};
use neardup_core::joins::search::grams::edit::{EditDemand, Sought};
use neardup_core::joins::search::grams::{
    BITS, MOST_ELEMENTS, StoredSize, elements_of, group, signature, spaced,
};
use neardup_core::joins::search::keys::{KeyScratch, keys_of};
use neardup_core::memory;
use neardup_core::verify::character_counts::CharacterCounts;
use neardup_core::verify::edit;
use neardup_core::verify::measure::Measure;

/// The number of elements of a string that a search is assumed to look for as long as it is not
/// known.
pub(super) const USUAL_ELEMENTS: f64 = 32.0;
/// The number of bytes of a size, and of an element in an item.
const NUMBER: usize = size_of::<u32>();
/// The number of bytes of the sizes of a string: its elements and its characters.
const SIZES: usize = 2 * NUMBER;
/// The number of bytes of the start of a string, which is all of most short strings. A longer start
/// spares reading more rows of the table, and makes the index larger.
const START: usize = 56;
/// Where the start of a string is, after its sizes and the counts of its characters.
const BEFORE: usize = SIZES + CharacterCounts::SIZE;
/// The number of bytes that stand next to a row.
pub(crate) const HEAD: usize = BEFORE + START;
const _: () = assert!(HEAD + MOST_ELEMENTS as usize * NUMBER <= CONTENTS_OF_ITEM);
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
    /// The string of a ball by edit distance, and its least similarity.
    pub edits: Option<(String, f64)>,
}

impl GramProbe {
    /// Returns the ball, if it is one by edit distance.
    pub(crate) fn ball(&self) -> Option<EditBall<'_>> {
        self.edits.as_ref().map(|(text, similarity)| EditBall {
            similarity: *similarity,
            // Texts are in the form of the index when they are compared with it.
            normalization: None,
            text,
        })
    }

    /// Returns the distance by edits that all texts have whose distance is in a step, if there can
    /// be no more than one. Two different fractions of at most 255 are farther apart than a step,
    /// and the longer a text is, the farther it is.
    pub(crate) fn only_distance(&self, step: u32) -> Option<f64> {
        const LONGEST: u32 = 255;
        let characters = self.demand.edit()?.characters();
        let longest = f64::from(characters) / (1.0 - distance_of(step + 1));
        if step + 1 >= OUTSIDE || !(0.0..=f64::from(LONGEST)).contains(&longest) {
            return None;
        }
        (characters..=longest as u32).find_map(|longer| {
            let edits = (distance_of(step) * f64::from(longer)) as u32;
            let similar = [edits, edits + 1].map(|edits| edit::similarity(edits.min(longer), longer));
            similar.into_iter().find(|&similar| step_of(similar) == step).map(|similar| 1.0 - similar)
        })
    }
}

/// A string in the bytes of an item, which is not NULL: the number of its elements, the number of
/// its characters, how often these occur, its start in UTF-8 with zeros after it, and unless it is
/// too long, its elements. The numbers are u32.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GramItem<'a> {
    /// The sizes of the string.
    pub sizes: StoredSize,
    /// The bytes that stand next to the row.
    pub head: &'a [u8],
    elements: &'a [u8],
}

impl<'a> GramItem<'a> {
    /// Reads an item. Returns None if the bytes are not a valid one.
    pub(crate) fn read(row: HeapRow, bytes: &'a [u8]) -> Option<Self> {
        let (head, elements) = bytes.split_at_checked(HEAD)?;
        let sizes = sizes_of(head);
        let size = sizes.size;
        let right = if row.has(HeapRow::SPLIT) {
            size > MOST_ELEMENTS && elements.is_empty()
        } else {
            size <= MOST_ELEMENTS
                && row.has(HeapRow::EMPTY) == (size == 0)
                && elements.len() == size as usize * NUMBER
        };
        (right && is_start(head)).then_some(Self { sizes, head, elements })
    }

    /// Iterates over the elements, in ascending order.
    pub(crate) fn elements(&self) -> impl Iterator<Item = u32> + use<'a> {
        self.elements.chunks_exact(NUMBER).map(short)
    }
}

/// Reads the sizes of a string, which stand next to its row.
pub(crate) fn sizes_of(bytes: &[u8]) -> StoredSize {
    StoredSize { size: short(bytes), characters: short(&bytes[NUMBER..]) }
}

/// Returns how often the characters of a string occur, which stands next to its row.
pub(crate) fn counts_of(head: &[u8]) -> CharacterCounts {
    CharacterCounts(*head[SIZES..].first_chunk().unwrap_or(&[0; CharacterCounts::SIZE]))
}

/// Returns the start of a string, which stands next to its row, or "" if it cannot be read.
pub(crate) fn start_of(head: &[u8]) -> &str {
    let start = &head[BEFORE..];
    let end = start.iter().position(|&byte| byte == 0).unwrap_or(start.len());
    std::str::from_utf8(&start[..end]).unwrap_or_default()
}

/// Reports whether the start of a string has no more characters than the string, and only zeros
/// after it.
fn is_start(head: &[u8]) -> bool {
    let start = start_of(head);
    characters(start) <= sizes_of(head).characters
        && head[BEFORE + start.len()..].iter().all(|&byte| byte == 0)
}

/// Returns the bytes that stand next to the row of a string.
fn head_of(sizes: StoredSize, text: &str) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    let StoredSize { size, characters } = sizes;
    head[..NUMBER].copy_from_slice(&size.to_le_bytes());
    head[NUMBER..SIZES].copy_from_slice(&characters.to_le_bytes());
    let start = &text[..text.floor_char_boundary(START)];
    head[SIZES..BEFORE].copy_from_slice(&CharacterCounts::new(text).0);
    head[BEFORE..][..start.len()].copy_from_slice(start.as_bytes());
    head
}

impl GramKeys {
    /// Returns the parameters in a metapage, or None if the metapage contradicts itself.
    pub(super) fn from_meta(meta: &Meta) -> Option<Self> {
        FeatureSpec::check_shingle("shingle", meta.k.into()).ok()?;
        let (origin, form) = cut::read(meta.tokenizer)?;
        let right = origin == Origin::Chars
            && meta.distance == u32::from(measure_number(Measure::Jaccard))
            && meta.bands == BITS
            && meta.payload as usize == HEAD;
        right.then(|| Self::new(meta.k as usize, form))
    }

    /// Returns the parameters for grams of `shingle` characters. They are those of
    /// `near(…, shingle => shingle, tokenizer => 'chars')`.
    fn new(shingle: usize, normalization: Option<Normalization>) -> Self {
        let origin = Origin::Chars;
        let features = FeatureSpec { tokenizer: origin.tokenizer(), shingle, multiset: true, wrap: false };
        Self { parameters: SetParameters { measure: Measure::Jaccard, origin, features, normalization } }
    }

    /// Decodes the document of a value: a text, or the text in the middle of a ball by edit
    /// distance.
    ///
    /// # Safety
    /// `value` is of the column type of an index of this class and not NULL.
    pub(crate) unsafe fn document(&self, class: OperatorClass, value: Datum) -> Result<Document> {
        let form = self.parameters.normalization;
        if class == OperatorClass::TextGrams {
            // SAFETY: the caller's promise.
            return Ok(Document::Text(unsafe { text_of(value, form)? }));
        }
        // SAFETY: the caller's promise; a ball is a varlena.
        let ball = unsafe { varlena_bytes(value) };
        if !EditBall::is(ball) {
            let message = format!("{} is for balls by edit distance, not for balls of sets", class.name());
            return Err(SqlError::parameter(message).hint(match class_for(ball) {
                Some(class) => format!(
                    "Make them by edit distance: near(body, 0.8, method => 'edit'); or make an index for them: USING signature (… {class} WITH &&)"
                ),
                None => NO_OVERLAP.to_owned(),
            }));
        }
        let EditBall { text, normalization, .. } = EditBall::parse(ball)?;
        if normalization != form {
            let [index, value] = [form, normalization].map(Normalization::describe);
            let class = class_for(ball).unwrap_or_default();
            return Err(SqlError::parameter(format!("the index is for balls of {index}, not of {value}"))
                .hint(format!("Make an index for them: USING signature (… {class} WITH &&)")));
        }
        Ok(Document::Text(memory::copied(text, DOING)?))
    }

    /// Returns the stored form of a value.
    ///
    /// # Safety
    /// As for [`Self::document`].
    pub(super) unsafe fn keep(&self, class: OperatorClass, value: Datum) -> Result<StoredValue> {
        // SAFETY: the caller's promise.
        keep_document(&unsafe { self.document(class, value)? }, self.cutter())
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
            // Values of the class are texts.
            let text = if let Document::Text(text) = document { text.as_str() } else { "" };
            let head = head_of(StoredSize { size, characters: characters(text) }, text);
            let flags = match size {
                0 => HeapRow::EMPTY,
                size if size > MOST_ELEMENTS => HeapRow::SPLIT,
                _ => 0,
            };
            elements.clear();
            if flags == 0 {
                elements_of(&keys, &mut elements)?;
            }
            let mut bytes = Vec::new();
            memory::reserve(&mut bytes, HEAD + elements.len() * NUMBER, DOING)?;
            bytes.extend(head);
            bytes.extend(elements.iter().flat_map(|element| element.to_le_bytes()));
            Ok(StoredValue { flags, bytes })
        }
    }

    /// Reports whether these bytes can be an item of a row.
    pub(super) fn is_item(row: HeapRow, bytes: &[u8]) -> bool {
        if row.has(HeapRow::NULL) { bytes.is_empty() } else { GramItem::read(row, bytes).is_some() }
    }

    /// Reports whether a row of a segment can have these bytes next to it.
    pub(crate) fn is_head_of(row: HeapRow, head: &[u8]) -> bool {
        let right = match sizes_of(head).size {
            0 => row.has(HeapRow::NULL | HeapRow::EMPTY),
            size => {
                !row.has(HeapRow::NULL | HeapRow::EMPTY) && row.has(HeapRow::SPLIT) == (size > MOST_ELEMENTS)
            }
        };
        right && is_start(head)
    }

    /// Fills `posted` with the head and the signatures that a segment stores of an item. A string
    /// that is too long has no signatures; a search looks at all such strings.
    pub(super) fn post(&self, item: &Item<'_>, posted: &mut Posted) -> error::Result<()> {
        let Posted { sketch, signatures, .. } = posted;
        sketch.clear();
        signatures.clear();
        let Some(string) = GramItem::read(item.row, item.bytes).filter(|_| !item.row.has(HeapRow::NULL))
        else {
            sketch.extend([0; HEAD]);
            return Ok(());
        };
        sketch.extend(string.head);
        if item.row.has(HeapRow::EMPTY | HeapRow::SPLIT) {
            return Ok(());
        }
        memory::reserve(signatures, string.elements.len() / NUMBER + 1, DOING)?;
        let group = group(string.sizes.size);
        if EditDemand::is_spaced(string.sizes, self.parameters.features.shingle as u32) {
            signatures.push(spaced(group));
        }
        signatures.extend(string.elements().map(|element| signature(group, element)));
        signatures.sort_unstable();
        signatures.dedup();
        Ok(())
    }

    /// Describes the class with its options.
    pub(super) fn describe(&self, class: OperatorClass) -> String {
        format!("{}: {}", class.name(), self.parameters.describe())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(size: u32, elements: &[u32]) -> Vec<u8> {
        let mut bytes = head_of(StoredSize { size, characters: 9 }, "some text").to_vec();
        bytes.extend(elements.iter().flat_map(|number| number.to_le_bytes()));
        bytes
    }

    #[test]
    fn pg_steps_of_edits_have_one_distance() {
        for characters in [1, 2, 9, 34, 64] {
            let string = StoredSize { size: 1, characters };
            let demand = Sought::Edit(EditDemand::new(0.001, string, 3).unwrap().unwrap());
            let probe = GramProbe { elements: Vec::new(), demand, edits: None };
            for longer in characters..300 {
                // A longer text has characters that are not in the string.
                for edits in longer - characters..=longer {
                    let similar = edit::similarity(edits, longer);
                    let found = probe.only_distance(step_of(similar));
                    assert!(
                        found.is_none_or(|found| found == 1.0 - similar),
                        "{characters} {edits}/{longer}"
                    );
                    assert!(found.is_some() || similar < 0.26, "{characters} {edits}/{longer}");
                }
            }
            assert_eq!((probe.only_distance(0), probe.only_distance(OUTSIDE)), (Some(0.0), None));
        }
    }

    #[test]
    fn pg_items_of_grams() {
        let row = |flags| HeapRow::new(7 << 16 | 1, flags);
        for (flags, bytes, right) in [
            (0, item(2, &[1, 5]), true),
            (0, item(3, &[1, 5]), false),
            (0, item(0, &[]), false),
            (HeapRow::SPLIT, item(MOST_ELEMENTS + 1, &[]), true),
            (HeapRow::SPLIT, item(2, &[]), false),
            (0, item(MOST_ELEMENTS + 1, &[]), false),
            (HeapRow::NULL, vec![], true),
            (HeapRow::EMPTY, vec![0], false),
            (HeapRow::EMPTY, item(0, &[]), true),
            (HeapRow::EMPTY, item(1, &[3]), false),
            (0, vec![1, 0], false),
            (0, [&item(1, &[])[..BEFORE], &[0xff; START], &[0; NUMBER]].concat(), false),
            (0, [&item(1, &[])[..BEFORE], b"ab\0c", &[0; START]].concat(), false),
            (0, [&item(1, &[])[..BEFORE], &[b'a'; 10], &[0; START + NUMBER - 10]].concat(), false),
        ] {
            assert_eq!(GramKeys::is_item(row(flags), &bytes), right, "{flags} {bytes:?}");
        }
        let (grams, mut posted) = (GramKeys::new(3, None), Posted::default());
        grams.post(&Item { row: row(0), bytes: &item(3, &[4, 4, 9]) }, &mut posted).unwrap();
        assert_eq!(posted.sketch, head_of(StoredSize { size: 3, characters: 9 }, "some text"));
        // A string of three grams of three characters has five characters; the others are left out.
        assert_eq!(posted.signatures, [signature(2, 4), signature(2, 9), spaced(2)]);
        grams.post(&Item { row: row(0), bytes: &item(7, &[1, 2, 3, 4, 5, 6, 7]) }, &mut posted).unwrap();
        assert_eq!(posted.signatures.len(), 7);
        grams.post(&Item { row: row(HeapRow::EMPTY), bytes: &item(0, &[]) }, &mut posted).unwrap();
        let head = head_of(StoredSize { size: 0, characters: 9 }, "some text");
        assert_eq!((posted.sketch.as_slice(), posted.signatures.len()), (&head[..], 0));
        grams.post(&Item { row: row(HeapRow::NULL), bytes: &[] }, &mut posted).unwrap();
        assert_eq!((posted.sketch.as_slice(), posted.signatures.len()), (&[0; HEAD][..], 0));
        for (flags, size, right) in [
            (0, 0, false),
            (HeapRow::EMPTY, 0, true),
            (0, 9, true),
            (HeapRow::SPLIT, 9, false),
            (HeapRow::SPLIT, 5000, true),
            (HeapRow::NULL, 1, false),
        ] {
            let head = head_of(StoredSize { size, characters: 20 }, "");
            assert_eq!(GramKeys::is_head_of(row(flags), &head), right, "{flags} {size}");
        }
        for text in ["", "é", &"é".repeat(30), &"a字".repeat(11), &"b".repeat(START)] {
            let head = head_of(StoredSize { size: 1, characters: characters(text) }, text);
            let start = start_of(&head);
            assert!(text.starts_with(start) && is_start(&head));
            assert!(start == text || start.len() + 4 > START, "{start}");
        }
    }
}
