//! An open index: its operator class with the options from the metapage, and its family.

use std::ops::Deref;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::Datum;

use super::arrays::{ArrayKeys, element_of};
use super::class::{IN_BALL, OperatorClass};
use super::family::Family;
use super::grams::{self, GramKeys};
use super::groups::{IndexedRow, check_columns};
use super::probe::{Probe, Target};
use super::runs::{self, RunKeys};
use super::sets::{self, SetKeys};
use super::sketches::{self, SketchKeys};
use super::value_lists;
use super::values::{ColumnValue, Posted, StoredValue};
use crate::pg::index::layout::format::{Meta, Pieces, SegmentLayout, StoredFamily};
use crate::pg::index::layout::group::{GROUP, NO_GROUP, OF_ALL, SoughtGroup, salt_of};
use crate::pg::index::layout::items::{CONTENTS_OF_ITEM, HeapRow, Item, Tid, number};
use crate::pg::index::layout::meta::{Directory, unlike};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::compute_with;
use neardup_core::search::grams::SALTED;
use neardup_core::search::runs::signature::of_anchor;
use neardup_core::{error, memory, text};

/// The operator class of an index with its options, and the family that works by them.
#[derive(Debug)]
pub(crate) struct ClassKeys {
    /// The class.
    pub class: OperatorClass,
    /// The options from the metapage.
    pub meta: Meta,
    family: Box<dyn Family>,
    /// The group that a scan asks for.
    group: Option<u64>,
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
        check_columns(index)?;
        let class = OperatorClass::read(index)?;
        let meta = match class.family() {
            StoredFamily::Sets => sets::choose(index, class)?,
            StoredFamily::Runs => runs::choose(index)?,
            StoredFamily::Grams => grams::choose(index, class)?,
            _ if class.has_sketches() => sketches::choose(index, class)?,
            _ => Meta { class: class as u8, ..Meta::default() },
        };
        Ok(Meta { groups: index.group_columns() as u8, ..meta })
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
        let groups = index.group_columns();
        // SAFETY: an open index has the types of its classes.
        let column = unsafe { *(*index.relation()).rd_opcintype.add(groups) };
        let has_lists = class == OperatorClass::Minhash && meta.family == StoredFamily::Values as u8;
        let stored = if has_lists { StoredFamily::Values } else { class.family() };
        if !class.takes(column) || meta.family != stored as u8 || usize::from(meta.groups) != groups {
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
        Self { class, meta, family, group: None }
    }

    /// Describes the options of the index.
    pub(crate) fn describe(&self) -> String {
        let columns = match self.meta.groups {
            0 => String::new(),
            1 => "1 group column; ".to_owned(),
            columns => format!("{columns} group columns; "),
        };
        columns + &self.family.describe()
    }

    /// Returns the keys of the index as it is now, if the order of tokens was settled after `self`
    /// was read. Otherwise returns None.
    pub(crate) fn now(&self, index: OpenIndex, meta: &Meta) -> Option<Self> {
        (self.meta.order != meta.order).then(|| Self { group: self.group, ..Self::open(index, meta) })
    }

    /// Returns the number of bytes next to a row in a segment.
    pub(crate) fn payload(&self) -> usize {
        self.group_bytes() + self.meta.payload as usize
    }

    /// Returns the number of bytes of a group, which come before everything that is kept of a
    /// value.
    fn group_bytes(&self) -> usize {
        if self.meta.groups > 0 { GROUP } else { 0 }
    }

    /// Returns what stands after the group.
    pub(crate) fn sketch<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.group_bytes()..]
    }

    /// Puts the group before what is kept of a value, if the index has groups.
    pub(crate) fn with_group(&self, group: u64, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
        if self.meta.groups > 0 {
            memory::reserve(&mut bytes, GROUP, "indexing a row")?;
            bytes.splice(..0, group.to_le_bytes());
        }
        Ok(bytes)
    }

    /// Restricts searches to a group. Reports whether the signatures that the index has can be
    /// searched: those of an index with groups cannot be, without a group.
    pub(crate) fn seek(&mut self, group: Option<u64>) -> bool {
        self.group = group;
        self.meta.groups == 0 || group.is_some()
    }

    /// Returns the group that is sought in the segments.
    pub(crate) fn sought(&self) -> Option<SoughtGroup> {
        self.group.map(|group| SoughtGroup { group, salt: self.salt(group), of_all: self.of_all() })
    }

    /// Returns the item of a sought row, without its group, or None for a row of another group.
    pub(crate) fn sought_item<'a>(&self, item: Item<'a>) -> Option<Item<'a>> {
        let is_sought = self.group.is_none_or(|group| number(item.bytes) == group);
        is_sought.then(|| Item { bytes: self.sketch(item.bytes), ..item })
    }

    /// Returns the bits in which the signatures of the rows of a group differ from those of their
    /// sketches alone.
    fn salt(&self, group: u64) -> u64 {
        salt_of(group) & self.hashed()
    }

    /// Returns the bits of a signature that are only a hash. In the others the family finds more.
    fn hashed(&self) -> u64 {
        match self.class.family() {
            StoredFamily::Sets => !u64::MAX.checked_shr(self.meta.bands).unwrap_or(0),
            StoredFamily::Grams => SALTED,
            StoredFamily::Runs => of_anchor(u64::MAX),
            _ if self.has_value_lists() => u64::MAX << (u64::BITS - value_lists::BITS),
            _ => u64::MAX,
        }
    }

    /// Returns the signature that all rows of a group have, without the salt, by which a search for
    /// any of them finds them. In an index of grams, a signature says of which group of sizes its
    /// rows are.
    fn of_all(&self) -> Option<u64> {
        (self.class.family() != StoredFamily::Grams).then(|| OF_ALL & self.hashed())
    }

    /// Fills `posted` with the data that a segment stores of an item, and returns the row that it
    /// stores.
    pub(crate) fn post(&self, item: &Item<'_>, posted: &mut Posted) -> error::Result<HeapRow> {
        let row = self.family.post(&Item { bytes: self.sketch(item.bytes), ..*item }, posted)?;
        if self.meta.groups > 0 {
            let group = number(item.bytes);
            posted.sketch.resize(self.meta.payload as usize, 0);
            posted.sketch.splice(..0, group.to_le_bytes());
            let signatures = &mut posted.signatures;
            if group == NO_GROUP {
                signatures.clear();
            } else {
                let of_all = self.of_all().filter(|any| !signatures.contains(any));
                memory::append(signatures, of_all, "indexing a row")?;
                let salt = self.salt(group);
                signatures.iter_mut().for_each(|signature| *signature ^= salt);
            }
        }
        Ok(row)
    }

    /// Calls `each` with the items of a row; see [`Family::items`].
    pub(crate) fn items(
        &self,
        row: HeapRow,
        bytes: &[u8],
        each: &mut dyn FnMut(Item<'_>),
    ) -> error::Result<()> {
        if self.meta.groups == 0 {
            return self.family.items(row, bytes, each);
        }
        let (group, bytes) = bytes.split_at(self.group_bytes());
        let mut whole = Vec::with_capacity(bytes.len().min(CONTENTS_OF_ITEM) + GROUP);
        self.family.items(row, bytes, &mut |item| {
            whole.clear();
            whole.extend_from_slice(group);
            whole.extend_from_slice(item.bytes);
            each(Item { bytes: &whole, ..item });
        })
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
        SegmentLayout { payload: self.payload(), group: self.group_bytes(), class_bits, pieces }
    }

    /// Returns the row of a value, or of NULL, with what an index keeps of it.
    ///
    /// # Safety
    /// The values are of the types of the index's columns.
    pub(crate) unsafe fn keep(&self, tid: Tid, values: IndexedRow) -> Result<(HeapRow, Vec<u8>)> {
        let IndexedRow { group, value } = values;
        // SAFETY: the caller's promise.
        let value = value.map(|value| unsafe { self.family.read(value) }).transpose()?;
        let StoredValue { flags, bytes } = match value.unwrap_or(ColumnValue::Kept(StoredValue::null())) {
            ColumnValue::Kept(kept) => kept,
            ColumnValue::Document(document) => {
                compute_with(document.bytes(), &mut self.family.cutter(), |cut, stop| cut(&document, stop))?
            }
        };
        Ok((HeapRow::new(tid, flags), self.with_group(group, bytes)?))
    }

    /// Fails if an item cannot belong to an index of this class.
    pub(crate) fn check(&self, index: OpenIndex, block: u32, item: &Item<'_>) {
        let row = item.row;
        let is_item = |bytes: &[u8]| match row.has(HeapRow::NULL) {
            true => bytes.is_empty(),
            false => self.family.is_item(row, bytes),
        };
        if !item.bytes.get(self.group_bytes()..).is_some_and(is_item) {
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

    /// Reports whether a probe finds a pending item, which has no group.
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
    /// of the array, if the index has no groups.
    pub(crate) fn shown(&self, signature: u64) -> i64 {
        match self.layout().class_bits {
            _ if self.class == OperatorClass::Bigint && self.meta.groups == 0 => element_of(signature),
            Some(bits) => (signature >> (u64::BITS - bits.clamp(1, 63))).cast_signed(),
            None => signature.cast_signed(),
        }
    }
}

fn boxed(family: Option<impl Family + 'static>) -> Option<Box<dyn Family>> {
    family.map(|family| Box::new(family) as Box<dyn Family>)
}
