//! What the operator classes know: which signatures a value has, and which sketch stands for it.

use std::cell::RefCell;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use super::buffer::Index;
use super::class::Class;
use super::format::{CONTENTS, Item, LARGEST_PAYLOAD, Meta, Row, number};
use super::options::{ClassOptions, Options};
use crate::features::tokens::{Document, Scratch};
use crate::features::{FeatureSpec, Tokenizer};
use crate::pg::call::varlena_bytes;
use crate::pg::encoding;
use crate::pg::error::{Result, SqlError};
use crate::pg::functions::workers_for;
use crate::sketches::bands::Bands;
use crate::sketches::minhash::{self, Minhasher, least_agreeing};
use crate::sketches::simhash;
use crate::sketches::wire::{Minhash, MinhashHeader, Simhash, SimhashHeader, Source};
use crate::{hash, sketches, text, workers};

/// The operator class of an index with its options.
#[derive(Debug)]
pub struct Keys {
    /// The class.
    pub class: Class,
    /// The options, as the metapage has them.
    pub meta: Meta,
    bands: Bands,
    hasher: RefCell<Option<Minhasher>>,
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
    /// The seed of sketches of texts, as `near(text, …)` takes them.
    const TEXT_SEED: i64 = 1;

    /// Those of an existing index.
    pub fn of(index: Index, meta: &Meta) -> Self {
        let Some(class) = Class::from_number(meta.class.into()) else {
            index.corrupted(0, "the operator class is unknown");
        };
        let keys = Self {
            class,
            meta: *meta,
            bands: Bands::new(meta.width as u16, meta.bands.saturating_sub(1)),
            hasher: RefCell::new(None),
        };
        if class.has_sketches() {
            let values = meta.width as usize;
            let payload = if class == Class::Simhash { values / 8 } else { values * 4 };
            let right = (1..=LARGEST_PAYLOAD).contains(&payload)
                && payload == meta.payload as usize
                && keys.bands.count() == meta.bands as usize
                && keys.source().is_some();
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

    /// Those that a new index gets, for its metapage.
    pub fn choose(index: Index) -> Result<Meta> {
        let class = Class::of(index)?;
        let meta = Meta { class: class as u8, ..Meta::default() };
        if !class.has_sketches() {
            return Ok(meta);
        }
        let (options, storage) = (ClassOptions::of(index), Options::of(index));
        let k = FeatureSpec::check_shingle("k", options.k.into())? as u32;
        let (tokenizer, seed) = match class {
            Class::Text => (Source::Words as u8, Self::TEXT_SEED),
            _ => (options.source(), options.seed.into()),
        };
        let meta = Meta { k, tokenizer, text_version: text::VERSION, seed: seed.cast_unsigned(), ..meta };
        if class == Class::Simhash {
            let bits = simhash::check_bits(options.bits.into())?;
            let distance = storage.distance().min(u32::from(bits) - 1);
            let bands = Bands::simhash(bits, distance as u16).count() as u32;
            return Ok(Meta { width: bits.into(), bands, distance, payload: u32::from(bits) / 8, ..meta });
        }
        let permutations = minhash::check_permutations(options.permutations.into())?;
        if usize::from(permutations) * 4 > LARGEST_PAYLOAD {
            let most = LARGEST_PAYLOAD / 4;
            return Err(SqlError::new(
                PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
                format!("an index can keep sketches of at most {most} permutations, not {permutations}"),
            )
            .hint("128 are enough for most purposes: permutations => 128"));
        }
        let threshold = storage.threshold();
        let least = least_agreeing(threshold, permutations);
        let bands = Bands::minhash(permutations, threshold).count() as u32;
        Ok(Meta {
            width: permutations.into(),
            bands,
            threshold,
            distance: u32::from(permutations) - least,
            payload: u32::from(permutations) * 4,
            ..meta
        })
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
                let signatures = unsafe { self.elements(value) };
                let bytes = signatures.iter().flat_map(|signature| signature.to_le_bytes()).collect();
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
                // SAFETY: the caller's promise: a text.
                let text = encoding::to_utf8(unsafe { varlena_bytes(value) })?.ok_or_else(|| {
                    SqlError::new(
                        PgSqlErrorCode::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE,
                        "a text to be indexed is not valid UTF-8",
                    )
                })?;
                self.sketch_text(&text)
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

    fn sketch_text(&self, text: &str) -> Result<Kept> {
        let header = self.minhash_header();
        let mut slot = self.hasher.borrow_mut();
        let hasher = slot.get_or_insert_with(|| Minhasher::new(header.permutations, header.seed));
        let document = Document::Text(encoding::own(text)?);
        let spec = FeatureSpec {
            tokenizer: Tokenizer::Words,
            shingle: header.k.into(),
            multiset: false,
            wrap: false,
        };
        workers::one(workers_for(text.len()), hasher, |hasher, stop| {
            hasher.clear();
            sketches::for_each_hash(&document, &spec, &mut Scratch::default(), stop, |hash| hasher.add(hash))
        })?;
        Ok(match hasher.values() {
            Some(values) => {
                Kept { flags: 0, bytes: values.iter().flat_map(|value| value.to_le_bytes()).collect() }
            }
            None => Kept { flags: Row::EMPTY, bytes: vec![0xff; self.payload()] },
        })
    }

    /// The signatures of an array, ascending.
    ///
    /// # Safety
    /// As in [`Self::keep`].
    pub unsafe fn elements(&self, value: Datum) -> Vec<u64> {
        let (element, length, by_value, align) = match self.class {
            Class::Uuid => (pg_sys::UUIDOID, 16, false, b'c'),
            _ => (pg_sys::INT8OID, 8, true, b'd'),
        };
        let mut signatures = Vec::new();
        // SAFETY: an array of this type, which the server takes apart into memory of its own.
        unsafe {
            let array = pg_sys::pg_detoast_datum(value.cast_mut_ptr());
            let (mut elements, mut nulls, mut count) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
            pg_sys::deconstruct_array(
                array.cast(),
                element,
                length,
                by_value,
                align as std::ffi::c_char,
                &raw mut elements,
                &raw mut nulls,
                &raw mut count,
            );
            for n in 0..count as usize {
                if !*nulls.add(n) {
                    let element = *elements.add(n);
                    signatures.push(match self.class {
                        Class::Uuid => {
                            hash::hash_bytes(std::slice::from_raw_parts(element.cast_mut_ptr::<u8>(), 16))
                        }
                        _ => hash::mix(element.value() as u64),
                    });
                }
            }
            pg_sys::pfree(elements.cast());
            pg_sys::pfree(nulls.cast());
        }
        signatures.sort_unstable();
        signatures.dedup();
        signatures
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

/// The inverse of [`hash::mix`].
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

    #[test]
    fn pg_mixed_elements_come_back() {
        for value in (0..1000).map(|n| hash::mix(n) ^ n).chain([0, 1, u64::MAX, 1 << 63]) {
            assert_eq!(unmix(hash::mix(value)), value);
        }
    }
}
