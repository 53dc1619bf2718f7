//! An open index: its operator class with the options from the metapage, and its family.

use std::ops::Deref;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::Datum;

use super::arrays::{ArrayKeys, element_of};
use super::class::{IN_BALL, OperatorClass};
use super::family::Family;
use super::grams::{self, GramKeys};
use super::probe::{Probe, Target};
use super::runs::{self, RunKeys};
use super::sets::{self, SetKeys};
use super::sketches::{self, SketchKeys};
use super::value_lists;
use super::values::{ColumnValue, StoredValue};
use crate::pg::index::layout::format::{Meta, Pieces, SegmentLayout, StoredFamily};
use crate::pg::index::layout::items::{HeapRow, Item, Tid, number};
use crate::pg::index::layout::meta::{Directory, unlike};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::compute_with;
use neardup_core::search::runs::signature::of_anchor;
use neardup_core::text;

/// The operator class of an index with its options, and the family that works by them.
#[derive(Debug)]
pub(crate) struct ClassKeys {
    /// The class.
    pub class: OperatorClass,
    /// The options from the metapage.
    pub meta: Meta,
    family: Box<dyn Family>,
}

/// What all indexes of a family do alike is a method of [`Family`].
impl Deref for ClassKeys {
    type Target = dyn Family;

    fn deref(&self) -> &Self::Target {
        &*self.family
    }
}

impl ClassKeys {
    /// Returns the settings of a new index, for its metapage: checks its operator class, options
    /// and storage parameters.
    pub(crate) fn choose(index: OpenIndex) -> Result<Meta> {
        let class = OperatorClass::read(index)?;
        match class.family() {
            StoredFamily::Sets => sets::choose(index, class),
            StoredFamily::Runs => runs::choose(index),
            StoredFamily::Grams => grams::choose(index, class),
            _ if class.has_sketches() => sketches::choose(index, class),
            _ => Ok(Meta { class: class as u8, ..Meta::default() }),
        }
    }

    /// Reads the directory of an existing index, and returns it with the keys.
    pub(crate) fn read(index: OpenIndex) -> (Directory, Self) {
        let directory = Directory::read(index);
        let keys = Self::open(index, &directory.meta);
        (directory, keys)
    }

    /// Returns the keys of an existing index.
    pub(crate) fn open(index: OpenIndex, meta: &Meta) -> Self {
        let Some(class) = OperatorClass::from_number(meta.class) else {
            index.corrupted(0, "the operator class is unknown");
        };
        // SAFETY: an open index has the type of its class.
        let column = unsafe { *(*index.relation()).rd_opcintype };
        let has_lists = class == OperatorClass::Minhash && meta.family == StoredFamily::Values as u8;
        let stored = if has_lists { StoredFamily::Values } else { class.family() };
        if !class.takes(column) || meta.family != stored as u8 {
            index.corrupted(0, "the metapage says another operator class than the index has");
        }
        let meta = *meta;
        let family: Option<Box<dyn Family>> = match stored {
            StoredFamily::Sets => boxed(SetKeys::from_meta(index, class, &meta)),
            StoredFamily::Runs => boxed(RunKeys::from_meta(&meta)),
            StoredFamily::Grams => boxed(GramKeys::from_meta(class, &meta)),
            _ if class.has_sketches() => boxed(SketchKeys::from_meta(class, &meta)),
            _ => boxed(ArrayKeys::from_meta(class, &meta)),
        };
        let Some(family) = family else {
            index.corrupted(0, "the options of the index contradict one another");
        };
        let has_texts = class.has_sketches() || class.family() != StoredFamily::Pairs;
        if has_texts && meta.text_version != text::VERSION {
            unlike(index, "text", meta.text_version.into(), text::VERSION.into());
        }
        Self { class, meta, family }
    }

    /// Returns the keys of the index as it is now, if the order of tokens was settled after `self`
    /// was read. Otherwise returns None.
    pub(crate) fn now(&self, index: OpenIndex, meta: &Meta) -> Option<Self> {
        (self.meta.order != meta.order).then(|| Self::open(index, meta))
    }

    /// Returns the number of bytes of a sketch in a segment.
    pub(crate) fn payload(&self) -> usize {
        self.meta.payload as usize
    }

    /// Reports whether segments have a list for each value of the sketches.
    pub(crate) fn has_value_lists(&self) -> bool {
        self.meta.family == StoredFamily::Values as u8
    }

    /// Returns the layout of the segments.
    pub(crate) fn layout(&self) -> SegmentLayout {
        let bits = self.meta.bands;
        let (class_bits, pieces) = match self.class.family() {
            StoredFamily::Sets => (Some(bits), Pieces::Coded),
            StoredFamily::Runs => (Some(bits), Pieces::CodedOrSingle),
            StoredFamily::Grams => (Some(bits), Pieces::Grouped),
            _ if self.has_value_lists() => (Some(value_lists::BITS), Pieces::CodedOrSingle),
            _ => (None, Pieces::Coded),
        };
        SegmentLayout { payload: self.payload(), class_bits, pieces }
    }

    /// Returns the row of a value, or of NULL, with what an index keeps of it.
    ///
    /// # Safety
    /// `value` is of the type of the index's column.
    pub(crate) unsafe fn keep(&self, tid: Tid, value: Option<Datum>) -> Result<(HeapRow, Vec<u8>)> {
        // SAFETY: the caller's promise.
        let value = value.map(|value| unsafe { self.family.read(value) }).transpose()?;
        let StoredValue { flags, bytes } = match value.unwrap_or(ColumnValue::Kept(StoredValue::null())) {
            ColumnValue::Kept(kept) => kept,
            ColumnValue::Document(document) => {
                compute_with(document.bytes(), &mut self.family.cutter(), |cut, stop| cut(&document, stop))?
            }
        };
        Ok((HeapRow::new(tid, flags), bytes))
    }

    /// Fails if an item cannot belong to an index of this class.
    pub(crate) fn check(&self, index: OpenIndex, block: u32, item: &Item<'_>) {
        let Item { row, bytes } = *item;
        if !if row.has(HeapRow::NULL) { bytes.is_empty() } else { self.family.is_item(row, bytes) } {
            index.corrupted(block, "a pending item has the wrong length");
        }
    }

    /// Makes a probe of a condition of a query.
    ///
    /// # Safety
    /// `argument` has the right-hand type of the class's operator with this strategy number.
    pub(crate) unsafe fn probe(&self, strategy: u16, argument: Datum) -> Result<Probe> {
        if strategy != self.class.strategy() {
            return Ok(Probe::Everything);
        }
        // SAFETY: the caller's promise.
        unsafe { self.family.probe(argument) }
    }

    /// Returns the target that an `ORDER BY` measures distances to.
    ///
    /// # Safety
    /// `argument` is a sketch of the class's kind, or a ball.
    pub(crate) unsafe fn target(&self, argument: Datum) -> Result<Target> {
        if self.class.strategy() != IN_BALL {
            let message = format!("{} knows no distance", self.class.name());
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message));
        }
        // SAFETY: the caller's promise.
        unsafe { self.family.target(argument) }
    }

    /// Reports whether each value of a sketch is a band of its own. In this case, a row that shares
    /// no band differs in every value.
    pub(crate) fn has_single_values(&self) -> bool {
        self.meta.bands == self.meta.width
    }

    /// Reports whether all rows that the probes of [`Family::near`] do not find are equally far
    /// from the target, at [`Family::farthest`].
    pub(crate) fn tells_all(&self, target: &Target) -> bool {
        match target {
            Target::Sketch(_) => self.has_single_values(),
            Target::Ball(_) => true,
            Target::Unlike => false,
        }
    }

    /// Returns the number of values or bits in which a sketch differs from the target, or 0 if that
    /// is not known. A set that is not known to be in the target's ball counts as outside it.
    pub(crate) fn difference_from(&self, target: &Target, row: HeapRow, sketch: &[u8]) -> u32 {
        match target {
            Target::Unlike => 0,
            Target::Sketch(target) if !row.has(HeapRow::EMPTY) => self.family.difference(target, sketch),
            _ => self.family.farthest(),
        }
    }

    /// Reports whether a probe finds a pending item.
    pub(crate) fn finds(&self, probe: &Probe, item: &Item<'_>) -> bool {
        let mut signatures = item.bytes.chunks_exact(8).map(number);
        match probe {
            Probe::Signatures { signatures: sought, .. } => {
                signatures.any(|signature| sought.binary_search(&signature).is_ok())
            }
            Probe::Runs { hashes, .. } => {
                signatures.any(|signature| hashes.binary_search(&of_anchor(signature)).is_ok())
            }
            probe => self.accepts(probe, item.row, item.bytes),
        }
    }

    /// Reports whether a probe finds a row of a segment. If the probe has signatures to look up,
    /// the row must have been found by them.
    pub(crate) fn accepts(&self, probe: &Probe, row: HeapRow, sketch: &[u8]) -> bool {
        match probe {
            Probe::Nothing => false,
            Probe::Near { sketch: sought, most, .. } => {
                !row.has(HeapRow::NULL | HeapRow::EMPTY) && self.family.difference(sought, sketch) <= *most
            }
            _ => true,
        }
    }

    /// Returns a signature in the form in which users see it: for an array of numbers, the element
    /// of the array.
    pub(crate) fn shown(&self, signature: u64) -> i64 {
        match self.layout().class_bits {
            _ if self.class == OperatorClass::Bigint => element_of(signature),
            Some(bits) => (signature >> (u64::BITS - bits.clamp(1, 63))).cast_signed(),
            None => signature.cast_signed(),
        }
    }
}

fn boxed(family: Option<impl Family + 'static>) -> Option<Box<dyn Family>> {
    family.map(|family| Box::new(family) as Box<dyn Family>)
}
