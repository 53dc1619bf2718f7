//! The operator class of an index with its options. It determines the signatures and the sketch of
//! a row.

use pgrx::pg_sys;

use super::class::OperatorClass;
use super::grams::{GramKeys, USUAL_ELEMENTS};
use super::posted::Posted;
use super::runs::{RunKeys, USUAL_ANCHORS};
use super::sets::SetKeys;
use super::value_lists;
use crate::pg::index::layout::format::{CONTENTS, Family, Meta, Pieces, SegmentLayout};
use crate::pg::index::layout::items::{HeapRow, Item, LARGEST_PAYLOAD, number};
use crate::pg::index::layout::meta::unlike;
use crate::pg::index::pages::buffer::OpenIndex;
use neardup_core::error::Result;
use neardup_core::features::FeatureSpec;
use neardup_core::sketches::minhash::check_permutations;
use neardup_core::sketches::pigeonhole::Bands;
use neardup_core::sketches::simhash::check_bits;
use neardup_core::sketches::wire::{Minhash, MinhashHeader, Simhash, SimhashHeader, SketchSource};
use neardup_core::text;

/// The operator class of an index with its options.
#[derive(Debug)]
pub(crate) struct ClassKeys {
    /// The class.
    pub class: OperatorClass,
    /// The options from the metapage.
    pub meta: Meta,
    bands: Bands,
    /// For a class of sets, the parameters by which sets are made and stored.
    pub sets: Option<SetKeys>,
    /// For a class of runs, the parameters by which anchors are chosen.
    pub runs: Option<RunKeys>,
    /// For a class of grams, the parameters by which grams are made.
    pub grams: Option<GramKeys>,
}

/// The number of signatures of an array that fit into one pending item.
const PER_ITEM: usize = (CONTENTS - Item::HEAD) / 8;

impl ClassKeys {
    /// Returns the keys of an existing index.
    pub(crate) fn open(index: OpenIndex, meta: &Meta) -> Self {
        let Some(class) = OperatorClass::from_number(meta.class.into()) else {
            index.corrupted(0, "the operator class is unknown");
        };
        // SAFETY: an open index has the type of its class.
        let column = unsafe { *(*index.relation()).rd_opcintype };
        let fits = match class {
            OperatorClass::Bigint => column == pg_sys::INT8ARRAYOID,
            OperatorClass::Uuid => column == pg_sys::UUIDARRAYOID,
            OperatorClass::TextSet | OperatorClass::TextRuns | OperatorClass::TextGrams => {
                column == pg_sys::TEXTOID
            }
            OperatorClass::ArraySet => column == pg_sys::ANYARRAYOID,
            OperatorClass::VectorSet => column == pg_sys::TSVECTOROID,
            OperatorClass::Minhash
            | OperatorClass::Simhash
            | OperatorClass::BallSet
            | OperatorClass::BallGrams => {
                ![pg_sys::INT8ARRAYOID, pg_sys::UUIDARRAYOID, pg_sys::TEXTOID].contains(&column)
            }
        };
        let family = match class {
            OperatorClass::TextRuns => Family::Runs,
            class if class.is_of_grams() => Family::Grams,
            OperatorClass::Minhash if meta.family == Family::Values as u8 => Family::Values,
            class if class.is_of_sets() => Family::Sets,
            _ => Family::Pairs,
        };
        let fits = fits && meta.family == family as u8;
        if !fits {
            index.corrupted(0, "the metapage says another operator class than the index has");
        }
        let contradiction = || -> ! { index.corrupted(0, "the options of the index contradict one another") };
        let sets = class
            .is_of_sets()
            .then(|| SetKeys::from_meta(index, class, meta).unwrap_or_else(|| contradiction()));
        let runs = (class == OperatorClass::TextRuns)
            .then(|| RunKeys::from_meta(meta).unwrap_or_else(|| contradiction()));
        let grams = class.is_of_grams().then(|| GramKeys::from_meta(meta).unwrap_or_else(|| contradiction()));
        let keys = Self {
            class,
            meta: *meta,
            sets,
            runs,
            grams,
            bands: Bands::new(meta.width as u16, meta.bands.saturating_sub(1)),
        };
        if class.has_sketches() {
            let values = meta.width as usize;
            let (size, payload) = match class {
                OperatorClass::Simhash => (check_bits(meta.width.into()), values.div_ceil(8)),
                _ => (check_permutations(meta.width.into()), values * 4),
            };
            let right = size.is_ok()
                && (1..=LARGEST_PAYLOAD).contains(&payload)
                && payload == meta.payload as usize
                && keys.bands.count() == meta.bands as usize
                && (!keys.has_value_lists() || meta.bands == meta.width)
                && keys.source().is_some()
                && FeatureSpec::check_shingle("k", meta.k.into()).is_ok();
            if !right {
                contradiction();
            }
        } else if keys.sets.is_none() && keys.grams.is_none() && meta.payload != 0 {
            contradiction();
        }
        if (class.has_sketches() || class.has_lists()) && meta.text_version != text::VERSION {
            unlike(index, "text", meta.text_version.into(), text::VERSION.into());
        }
        keys
    }

    /// Returns the keys of the index as it is now, if the order of tokens was settled after `self`
    /// was read. Otherwise returns None.
    pub(crate) fn now(&self, index: OpenIndex, meta: &Meta) -> Option<Self> {
        (self.meta.order != meta.order).then(|| Self::open(index, meta))
    }

    fn source(&self) -> Option<SketchSource> {
        SketchSource::from_byte(self.meta.tokenizer)
    }

    /// Returns the header of every sketch of a minhash index.
    pub(crate) fn minhash_header(&self) -> MinhashHeader {
        MinhashHeader {
            hash_version: self.meta.hash_version,
            text_version: self.meta.text_version,
            source: self.source().expect("checked when the metapage was read"),
            empty: false,
            k: self.meta.k as u16,
            permutations: self.meta.width as u16,
            seed: self.meta.seed.cast_signed(),
        }
    }

    /// Returns the header of every sketch of a simhash index. Only raw bits, which were made
    /// elsewhere, may have another header.
    pub(crate) fn simhash_header(&self) -> SimhashHeader {
        SimhashHeader {
            hash_version: self.meta.hash_version,
            text_version: self.meta.text_version,
            source: self.source().expect("checked when the metapage was read"),
            empty: false,
            k: self.meta.k as u16,
            bits: self.meta.width as u16,
        }
    }

    /// Returns the number of bytes of a sketch in a segment.
    pub(crate) fn payload(&self) -> usize {
        self.meta.payload as usize
    }

    /// Reports whether segments have a list for each value of the sketches.
    pub(crate) fn has_value_lists(&self) -> bool {
        self.class == OperatorClass::Minhash && self.meta.family == Family::Values as u8
    }

    /// Returns the layout of the segments.
    pub(crate) fn layout(&self) -> SegmentLayout {
        let class_bits = if self.has_value_lists() {
            Some(value_lists::BITS)
        } else {
            self.class.has_lists().then_some(self.meta.bands)
        };
        let pieces = if self.grams.is_some() {
            Pieces::Grouped
        } else if self.runs.is_some() || self.has_value_lists() {
            Pieces::CodedOrSingle
        } else {
            Pieces::Coded
        };
        SegmentLayout { payload: self.payload(), class_bits, pieces }
    }

    /// Calls `each` with the items of a row. There is one item, or several if an array has many
    /// elements.
    pub(crate) fn items(&self, row: HeapRow, bytes: &[u8], mut each: impl FnMut(Item<'_>)) -> Result<()> {
        if self.sets.is_some() {
            return SetKeys::items(row, bytes, each);
        }
        if self.grams.is_some() {
            each(Item { row, bytes });
            return Ok(());
        }
        let size = if self.class.has_sketches() { self.payload() } else { PER_ITEM * 8 };
        // A search that wants several anchors of a text must know that others are elsewhere.
        let is_split = self.runs.is_some() && bytes.len() > size;
        let row = if is_split { row.with(HeapRow::SPLIT) } else { row };
        each(Item { row, bytes: &bytes[..bytes.len().min(size)] });
        for bytes in bytes.get(size..).unwrap_or_default().chunks(size) {
            each(Item { row: row.with(HeapRow::CONTINUED), bytes });
        }
        Ok(())
    }

    /// Fails if an item cannot belong to an index of this class.
    pub(crate) fn check(&self, index: OpenIndex, block: u32, item: &Item<'_>) {
        let right = if self.sets.is_some() {
            SetKeys::is_item(item.row, item.bytes)
        } else if self.grams.is_some() {
            GramKeys::is_item(item.row, item.bytes)
        } else if item.row.has(HeapRow::NULL) {
            item.bytes.is_empty()
        } else if self.class.has_sketches() {
            item.bytes.len() == self.payload()
        } else {
            item.bytes.len().is_multiple_of(8)
        };
        if !right {
            index.corrupted(block, "a pending item has the wrong length");
        }
    }

    /// Fills `posted` with the data that a segment stores of an item, and returns the row that it
    /// stores.
    pub(crate) fn post(&self, item: &Item<'_>, posted: &mut Posted) -> Result<HeapRow> {
        if let Some(sets) = &self.sets {
            let settled = sets.settled.as_ref().expect("settled before there is a segment");
            return settled.post(&sets.spec, item, posted);
        }
        if let Some(grams) = &self.grams {
            grams.post(item, posted)?;
            return Ok(item.row);
        }
        posted.sketch.clear();
        posted.sketch.extend_from_slice(self.sketch_of(item.bytes));
        self.signatures_of(item.row, item.bytes, &mut posted.signatures);
        Ok(item.row)
    }

    /// Returns the sketch in the bytes of an item. It is empty if the class has no sketches.
    pub(crate) fn sketch_of<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        if self.class.has_sketches() { bytes } else { &[] }
    }

    /// Makes the signatures of an item or of a sketch.
    pub(crate) fn signatures_of(&self, row: HeapRow, bytes: &[u8], signatures: &mut Vec<u64>) {
        signatures.clear();
        if row.has(HeapRow::NULL | HeapRow::EMPTY) {
            return;
        }
        let push = |signature| signatures.push(signature);
        match self.class {
            OperatorClass::Bigint | OperatorClass::Uuid | OperatorClass::TextRuns => {
                bytes.chunks_exact(8).map(number).for_each(push);
            }
            OperatorClass::Simhash => {
                self.bands.of_simhash(&Simhash { header: self.simhash_header(), bits: bytes }, push);
            }
            OperatorClass::Minhash if self.has_value_lists() => value_lists::signatures(bytes, push),
            OperatorClass::Minhash => {
                self.bands.of_minhash(&Minhash { header: self.minhash_header(), values: bytes }, push);
            }
            // Only `post` makes the signatures of a set or of a string.
            OperatorClass::TextSet
            | OperatorClass::ArraySet
            | OperatorClass::VectorSet
            | OperatorClass::BallSet
            | OperatorClass::TextGrams
            | OperatorClass::BallGrams => {}
        }
    }

    /// Returns the number of signatures that a query is assumed to look up as long as its argument
    /// is not known.
    pub(crate) fn usual_probes(&self) -> f64 {
        match &self.sets {
            Some(sets) => sets.usual_probes(),
            None if self.class.has_sketches() => self.meta.bands.into(),
            None if self.runs.is_some() => USUAL_ANCHORS,
            None if self.grams.is_some() => USUAL_ELEMENTS,
            None => 16.0,
        }
    }

    /// Describes the class with its options.
    pub(crate) fn describe(&self) -> String {
        if let Some(sets) = &self.sets {
            return sets.describe(self.class);
        }
        if let Some(runs) = &self.runs {
            return runs.describe();
        }
        if let Some(grams) = &self.grams {
            return grams.describe(self.class);
        }
        let Meta { threshold, distance, bands, .. } = self.meta;
        let name = self.class.name();
        match self.class {
            OperatorClass::Bigint | OperatorClass::Uuid => name.to_owned(),
            OperatorClass::Simhash => {
                format!("{name}: {}; distance {distance}, {bands} blocks", self.simhash_header().describe())
            }
            _ if self.has_value_lists() => {
                format!("{name}: {}; every threshold, {bands} lists", self.minhash_header().describe())
            }
            _ => {
                format!("{name}: {}; threshold {threshold}, {bands} bands", self.minhash_header().describe())
            }
        }
    }
}
