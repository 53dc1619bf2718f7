//! What the operator classes know: which signatures a value has, and which sketch stands for it.

use std::cell::RefCell;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use super::buffer::Index;
use super::class::Class;
use super::format::{CONTENTS, Meta};
use super::items::{Item, LARGEST_PAYLOAD, Row, number};
use super::texts::Sketcher;
use super::values::text_of;
use crate::features::FeatureSpec;
use crate::features::tokens::Document;
use crate::pg::call::varlena_bytes;
use crate::pg::error::{Result, SqlError};
use crate::pg::functions::workers_for;
use crate::sketches::bands::Bands;
use crate::sketches::minhash::check_permutations;
use crate::sketches::simhash::check_bits;
use crate::sketches::wire::{Minhash, MinhashHeader, Simhash, SimhashHeader, Source};
use crate::{memory, text, workers};

/// The operator class of an index with its options.
#[derive(Debug)]
pub struct Keys {
    /// The class.
    pub class: Class,
    /// The options, as the metapage has them.
    pub meta: Meta,
    bands: Bands,
    sketcher: RefCell<Option<Sketcher>>,
}

/// What an index keeps of a value.
#[derive(Debug, PartialEq, Eq)]
pub struct Kept {
    /// Flags of the row.
    pub flags: u16,
    /// The sketch, or the signatures of an array.
    pub bytes: Vec<u8>,
}

/// Signatures of an array that fit into one pending item.
const PER_ITEM: usize = (CONTENTS - Item::HEAD) / 8;

impl Keys {
    /// Those of an existing index.
    pub fn of(index: Index, meta: &Meta) -> Self {
        let Some(class) = Class::from_number(meta.class.into()) else {
            index.corrupted(0, "the operator class is unknown");
        };
        // SAFETY: an open index has the type of its class.
        let column = unsafe { *(*index.relation()).rd_opcintype };
        let fits = match class {
            Class::Bigint => column == pg_sys::INT8ARRAYOID,
            Class::Uuid => column == pg_sys::UUIDARRAYOID,
            Class::Text => column == pg_sys::TEXTOID,
            Class::Minhash | Class::Simhash => {
                ![pg_sys::INT8ARRAYOID, pg_sys::UUIDARRAYOID, pg_sys::TEXTOID].contains(&column)
            }
        };
        if !fits {
            index.corrupted(0, "the metapage says another operator class than the index has");
        }
        let keys = Self {
            class,
            meta: *meta,
            bands: Bands::new(meta.width as u16, meta.bands.saturating_sub(1)),
            sketcher: RefCell::new(None),
        };
        if class.has_sketches() {
            let values = meta.width as usize;
            let (size, payload) = match class {
                Class::Simhash => (check_bits(meta.width.into()), values / 8),
                _ => (check_permutations(meta.width.into()), values * 4),
            };
            let right = size.is_ok()
                && (1..=LARGEST_PAYLOAD).contains(&payload)
                && payload == meta.payload as usize
                && keys.bands.count() == meta.bands as usize
                && keys.source().is_some()
                && FeatureSpec::check_shingle("k", meta.k.into()).is_ok();
            if !right {
                index.corrupted(0, "the options of the index contradict one another");
            }
            if meta.text_version != text::VERSION {
                super::meta::unlike(index, "text", meta.text_version.into(), text::VERSION.into());
            }
        } else if meta.payload != 0 {
            index.corrupted(0, "the options of the index contradict one another");
        }
        keys
    }

    fn source(&self) -> Option<Source> {
        Source::from_byte(self.meta.tokenizer)
    }

    /// The header of every sketch of a minhash index.
    pub fn minhash_header(&self) -> MinhashHeader {
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

    /// The header of every sketch of a simhash index, but for bits that were made elsewhere.
    pub fn simhash_header(&self) -> SimhashHeader {
        SimhashHeader {
            hash_version: self.meta.hash_version,
            text_version: self.meta.text_version,
            source: self.source().expect("checked when the metapage was read"),
            empty: false,
            k: self.meta.k as u16,
            bits: self.meta.width as u16,
        }
    }

    /// Bytes of a sketch in a segment.
    pub fn payload(&self) -> usize {
        self.meta.payload as usize
    }

    /// What the index keeps of a value.
    ///
    /// # Safety
    /// `value` is of the type of the index's column and not NULL.
    pub unsafe fn keep(&self, value: Datum) -> Result<Kept> {
        let sketch = |empty: bool, bytes: &[u8]| Kept {
            flags: if empty { Row::EMPTY } else { 0 },
            bytes: bytes.to_vec(),
        };
        match self.class {
            Class::Bigint | Class::Uuid => {
                // SAFETY: the caller's promise.
                let signatures = unsafe { self.elements(value)? };
                let mut bytes = Vec::new();
                memory::reserve(&mut bytes, signatures.len() * 8, "reading an array")?;
                bytes.extend(signatures.iter().flat_map(|signature| signature.to_le_bytes()));
                Ok(Kept { flags: 0, bytes })
            }
            Class::Minhash => {
                // SAFETY: the caller's promise: a varlena.
                let it = Minhash::parse(unsafe { varlena_bytes(value) })?;
                let header = self.minhash_header();
                if header.check_like(&it.header).is_err() {
                    let MinhashHeader { source, k, permutations, seed, .. } = it.header;
                    let options = format!(
                        "k = {k}, permutations = {permutations}, seed = {seed}, source = '{}'",
                        source.name()
                    );
                    return Err(self.refuse(&header.describe(), &it.header.describe(), &options));
                }
                Ok(sketch(it.header.empty, it.values))
            }
            Class::Simhash => {
                // SAFETY: the caller's promise: a varlena.
                let it = Simhash::parse(unsafe { varlena_bytes(value) })?;
                let header = self.simhash_header();
                let fits = match header.source {
                    // What was made of texts compares with other bits, but not with one another.
                    Source::Bits => header.bits == it.header.bits && it.header.source == Source::Bits,
                    _ => header.check_like(&it.header).is_ok(),
                };
                if !fits {
                    let SimhashHeader { source, k, bits, .. } = it.header;
                    let options = format!("k = {k}, bits = {bits}, source = '{}'", source.name());
                    return Err(self.refuse(&header.describe(), &it.header.describe(), &options));
                }
                Ok(sketch(it.header.empty, it.bits))
            }
            Class::Text => {
                // SAFETY: the caller's promise.
                let document = Document::Text(unsafe { text_of(value)? });
                let size = document.bytes();
                let mut slot = self.sketcher.borrow_mut();
                let sketcher = slot.get_or_insert_with(|| Sketcher::new(self.minhash_header()));
                let mut work = (sketcher, None);
                workers::one(workers_for(size), &mut work, |(sketcher, kept), stop| {
                    *kept = Some(sketcher.sketch(&document, stop)?);
                    Ok(())
                })?;
                Ok(work.1.expect("done where there was no error"))
            }
        }
    }

    fn refuse(&self, index: &str, value: &str, options: &str) -> SqlError {
        SqlError::new(
            PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE,
            format!("the index is for sketches of {index}, not of {value}"),
        )
        .hint(format!(
            "Make an index for them: CREATE INDEX … USING signature (… {} ({options}));",
            self.class.name()
        ))
    }

    /// The items of a row: one, or several where an array has many elements.
    pub fn items<'a>(&self, row: Row, bytes: &'a [u8]) -> impl Iterator<Item = Item<'a>> + use<'a> {
        let size = if self.class.has_sketches() { self.payload() } else { PER_ITEM * 8 };
        let rest = bytes.get(size..).unwrap_or_default().chunks(size);
        let first = Item { row, bytes: &bytes[..bytes.len().min(size)] };
        std::iter::once(first).chain(rest.map(move |bytes| Item { row: row.with(Row::CONTINUED), bytes }))
    }

    /// Ends the call if an item cannot be one of this class.
    pub fn check(&self, index: Index, block: u32, item: &Item<'_>) {
        let right = if item.row.has(Row::NULL) {
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

    /// The sketch of an item, for a segment.
    pub fn sketch_of<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        if self.class.has_sketches() { bytes } else { &[] }
    }

    /// The signatures of an item or of a sketch.
    pub fn signatures_of(&self, row: Row, bytes: &[u8], signatures: &mut Vec<u64>) {
        signatures.clear();
        if row.has(Row::NULL | Row::EMPTY) {
            return;
        }
        let push = |signature| signatures.push(signature);
        match self.class {
            Class::Bigint | Class::Uuid => bytes.chunks_exact(8).map(number).for_each(push),
            Class::Simhash => {
                self.bands.of_simhash(&Simhash { header: self.simhash_header(), bits: bytes }, push);
            }
            Class::Minhash | Class::Text => {
                self.bands.of_minhash(&Minhash { header: self.minhash_header(), values: bytes }, push);
            }
        }
    }

    /// Signatures that a query usually looks up, where it is not known yet.
    pub fn usual_probes(&self) -> f64 {
        if self.class.has_sketches() { self.meta.bands.into() } else { 16.0 }
    }

    /// A signature as users know it: the element of an array of numbers.
    pub fn shown(&self, signature: u64) -> i64 {
        match self.class {
            Class::Bigint => unmix(signature).cast_signed(),
            _ => signature.cast_signed(),
        }
    }

    /// The class with its options.
    pub fn describe(&self) -> String {
        let Meta { threshold, distance, bands, .. } = self.meta;
        let name = self.class.name();
        match self.class {
            Class::Bigint | Class::Uuid => name.to_owned(),
            Class::Simhash => {
                format!("{name}: {}; distance {distance}, {bands} blocks", self.simhash_header().describe())
            }
            _ => {
                format!("{name}: {}; threshold {threshold}, {bands} bands", self.minhash_header().describe())
            }
        }
    }
}

/// The inverse of [`crate::hash::mix`].
fn unmix(mixed: u64) -> u64 {
    // Each step of the mix backwards: the multipliers are inverses modulo 2^64.
    let mut z = mixed ^ (mixed >> 31) ^ (mixed >> 62);
    z = z.wrapping_mul(0x3196_42b2_d24d_8ec3);
    z = z ^ (z >> 27) ^ (z >> 54);
    z = z.wrapping_mul(0x96de_1b17_3f11_9089);
    z = z ^ (z >> 30) ^ (z >> 60);
    z.wrapping_sub(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;

    #[test]
    fn pg_mixed_elements_come_back() {
        for value in (0..1000).map(|n| hash::mix(n) ^ n).chain([0, 1, u64::MAX, 1 << 63]) {
            assert_eq!(unmix(hash::mix(value)), value);
        }
    }
}
