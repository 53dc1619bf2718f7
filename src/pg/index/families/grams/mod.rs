//! Indexes of grams: what an index keeps of a short string, and what a search looks for. The server
//! rechecks the rows that the index finds, because the index has only some bits of the hash of a
//! gram.

pub(crate) mod item;

use pgrx::pg_sys::Datum;

use super::class::OperatorClass;
use super::class_options::ClassOptions;
use super::family::Family;
use super::hints;
use super::options::refuse_storage_parameters;
use super::probe::{GramProbe, Probe};
use super::values::{ColumnValue, Cutter, Posted, StoredValue, meta_of_texts, read_cut, text_of};
use crate::pg::index::layout::format::Meta;
use crate::pg::index::layout::items::{HeapRow, Item};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::error::Result;
use crate::pg::server::executor::compute;
use item::{GramItem, HEAD, head_of, is_head_of};
use neardup_core::error;
use neardup_core::features::FeatureSpec;
use neardup_core::features::normalization::Normalization;
use neardup_core::features::origin::Origin;
use neardup_core::features::tokens::Document;
use neardup_core::memory;
use neardup_core::search::ball::{SetBall, SetParameters};
use neardup_core::search::edit_ball::{EditBall, characters};
use neardup_core::search::grams::edit::EditDemand;
use neardup_core::search::grams::edit::Sought;
use neardup_core::search::grams::{
    BITS, Demand, MOST_ELEMENTS, StoredSize, elements_of, group, signature, spaced,
};
use neardup_core::search::keys::{KeyScratch, keys_of};
use neardup_core::verify::measure::Measure;

/// The parameters of an index of grams.
#[derive(Debug)]
pub(super) struct GramKeys {
    class: OperatorClass,
    /// The parameters by which grams are made and compared.
    parameters: SetParameters,
}

/// Returns the metapage of a new index.
pub(super) fn choose(index: OpenIndex, class: OperatorClass) -> Result<Meta> {
    refuse_storage_parameters(index, class, |_| "It serves every similarity: RESET (threshold)".to_owned())?;
    let (options, origin) = (ClassOptions::read(index), Origin::Chars);
    Ok(Meta {
        k: options.shingle().unwrap_or_default().unsigned_abs(),
        bands: BITS,
        distance: Measure::Jaccard as u32,
        payload: HEAD as u32,
        ..meta_of_texts(class, origin, options.normalization())?
    })
}

impl GramKeys {
    /// Returns the parameters in a metapage, or None if the metapage contradicts itself.
    pub(super) fn from_meta(class: OperatorClass, meta: &Meta) -> Option<Self> {
        FeatureSpec::check_shingle("shingle", meta.k.into()).ok()?;
        let (origin, form) = read_cut(meta.tokenizer)?;
        let right = origin == Origin::Chars
            && meta.distance == Measure::Jaccard as u32
            && meta.bands == BITS
            && meta.payload as usize == HEAD;
        right.then(|| Self::new(class, meta.k as usize, form))
    }

    /// Returns the parameters for grams of `shingle` characters. They are those of
    /// `near(…, shingle => shingle, tokenizer => 'chars')`.
    fn new(class: OperatorClass, shingle: usize, normalization: Option<Normalization>) -> Self {
        let origin = Origin::Chars;
        let features = FeatureSpec { tokenizer: origin.tokenizer(), shingle, multiset: true, wrap: false };
        let parameters =
            SetParameters { measure: Measure::Jaccard, origin, features, normalization, weights: None };
        Self { class, parameters }
    }

    /// Returns the elements of a document, in ascending order.
    fn elements(&self, document: &Document) -> Result<Vec<u32>> {
        Ok(compute(document.bytes(), |stop| {
            let (mut keys, mut elements) = (Vec::new(), Vec::new());
            keys_of(document, &self.parameters.features, None, &mut KeyScratch::default(), &mut keys, stop)?;
            elements_of(&keys, &mut elements).map(|()| elements)
        })?)
    }
}

impl Family for GramKeys {
    fn describe(&self) -> String {
        format!("{}: {}", self.class.name(), self.parameters.describe())
    }

    /// Values are texts, or the texts in the middles of balls by edit distance.
    unsafe fn read(&self, value: Datum) -> Result<ColumnValue> {
        let form = self.parameters.normalization;
        if self.class == OperatorClass::TextGrams {
            // SAFETY: the caller's promise.
            return Ok(ColumnValue::Document(Document::Text(unsafe { text_of(value, form)? })));
        }
        // SAFETY: the caller's promise; a ball is a varlena.
        let bytes = unsafe { varlena_bytes(value) };
        let ball = hints::ball_of_edits(self.class, bytes)?;
        if ball.normalization != form {
            let [index, value] = [form, ball.normalization].map(Normalization::describe);
            return Err(hints::other_ball(&index, &value, bytes));
        }
        let text = memory::copied(ball.text, "indexing the grams of a text")?;
        Ok(ColumnValue::Document(Document::Text(text)))
    }

    fn cutter(&self) -> Cutter<'_> {
        let (mut scratch, mut keys, mut elements) = (KeyScratch::default(), Vec::new(), Vec::new());
        Box::new(move |document, stop| {
            keys_of(document, &self.parameters.features, None, &mut scratch, &mut keys, stop)?;
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
            Ok(StoredValue { flags, bytes: item::write(head, &elements)? })
        })
    }

    fn is_item(&self, row: HeapRow, bytes: &[u8]) -> bool {
        GramItem::read(row, bytes).is_some()
    }

    /// A string that is too long has no signatures; a search looks at all such strings.
    fn post(&self, item: &Item<'_>, posted: &mut Posted) -> error::Result<HeapRow> {
        let Posted { sketch, signatures, .. } = posted;
        sketch.clear();
        signatures.clear();
        let Some(string) = GramItem::read(item.row, item.bytes).filter(|_| !item.row.has(HeapRow::NULL))
        else {
            sketch.extend([0; HEAD]);
            return Ok(item.row);
        };
        sketch.extend(string.head);
        if item.row.has(HeapRow::EMPTY | HeapRow::SPLIT) {
            return Ok(item.row);
        }
        memory::reserve(signatures, string.size() + 1, "indexing the grams of a text")?;
        let group = group(string.sizes.size);
        if EditDemand::is_spaced(string.sizes, self.parameters.features.shingle as u32) {
            signatures.push(spaced(group));
        }
        signatures.extend(string.elements().map(|element| signature(group, element)));
        signatures.sort_unstable();
        signatures.dedup();
        Ok(item.row)
    }

    fn fault(&self, row: HeapRow, sketch: &[u8]) -> Option<&'static str> {
        let right = !row.has(HeapRow::WHOLE) && is_head_of(row, sketch);
        (!right).then_some("a row has a size or a start that no string of its kind has")
    }

    unsafe fn probe(&self, argument: Datum) -> Result<Probe> {
        // SAFETY: a ball, which is a varlena.
        let bytes = unsafe { varlena_bytes(argument) };
        if self.unfit(bytes).is_some() {
            return Ok(Probe::Everything);
        }
        let (elements, demand, edits) = if EditBall::is(bytes) {
            const READING: &str = "reading a ball";
            let ball = EditBall::parse(bytes)?;
            let elements = self.elements(&Document::Text(memory::copied(ball.text, READING)?))?;
            let string = StoredSize { size: elements.len() as u32, characters: characters(ball.text) };
            let q = self.parameters.features.shingle as u32;
            let demand = EditDemand::new(ball.predicate()?, string, q);
            let mut edits = Vec::new();
            memory::extend(&mut edits, bytes, READING)?;
            (elements, demand.map(Sought::Edit), Some(edits))
        } else {
            let ball = SetBall::parse(bytes)?;
            let elements = self.elements(&ball.document()?)?;
            let demand = Demand::new(ball.similarity, elements.len() as u32)?;
            (elements, demand.map(Sought::Grams), None)
        };
        let normalization = self.parameters.normalization;
        let probe = |demand| Probe::Grams(GramProbe { elements, demand, edits, normalization });
        Ok(demand.map_or(Probe::Nothing, probe))
    }

    fn unfit(&self, ball: &[u8]) -> Option<String> {
        let form = self.parameters.normalization;
        if EditBall::is(ball) {
            let of_ball = EditBall::parse(ball).ok()?.normalization;
            let [ball, index] = [of_ball, form].map(Normalization::describe);
            return (of_ball != form).then(|| hints::unlike(&ball, &index));
        }
        let ball = SetBall::parse(ball).ok()?;
        (ball.parameters != self.parameters)
            .then(|| hints::unlike(&ball.parameters.describe(), &self.parameters.describe()))
    }
}

#[cfg(test)]
mod tests {
    use super::item::{BEFORE, NUMBER, START, is_start, start_of};
    use super::*;
    use crate::pg::index::families::probe::{OUTSIDE, step_of};
    use neardup_core::verify::edit::{self, EditPredicate};

    fn item(size: u32, elements: &[u32]) -> Vec<u8> {
        item::write(head_of(StoredSize { size, characters: 9 }, "some text"), elements).unwrap()
    }

    #[test]
    fn pg_steps_of_edits_have_one_distance() {
        for characters in [1, 2, 9, 34, 64] {
            let string = StoredSize { size: 1, characters };
            let predicate = EditPredicate::new(0.001).unwrap();
            let demand = Sought::Edit(EditDemand::new(predicate, string, 3).unwrap());
            let probe = GramProbe { elements: Vec::new(), demand, edits: None, normalization: None };
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
        let grams = GramKeys::new(OperatorClass::TextGrams, 3, None);
        let is_item = |row: HeapRow, bytes: &[u8]| {
            if row.has(HeapRow::NULL) { bytes.is_empty() } else { grams.is_item(row, bytes) }
        };
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
            assert_eq!(is_item(row(flags), &bytes), right, "{flags} {bytes:?}");
        }
        let mut posted = Posted::default();
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
            assert_eq!(is_head_of(row(flags), &head), right, "{flags} {size}");
        }
        for text in ["", "é", &"é".repeat(30), &"a字".repeat(11), &"b".repeat(START)] {
            let head = head_of(StoredSize { size: 1, characters: characters(text) }, text);
            let start = start_of(&head);
            assert!(text.starts_with(start) && is_start(&head));
            assert!(start == text || start.len() + 4 > START, "{start}");
        }
    }
}
