//! The stored form of a value in an index: the signatures of an array, or a sketch that was made
//! with the settings of the index.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::Datum;

use super::class::OperatorClass;
use super::keys::ClassKeys;
use super::values::{StoredValue, element_of, elements};
use crate::pg::index::layout::items::HeapRow;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::memory;
use neardup_core::sketches::wire::{Minhash, MinhashHeader, Simhash, SimhashHeader, SketchSource};

impl ClassKeys {
    /// Returns the stored form of a value.
    ///
    /// # Safety
    /// `value` is of the type of the index's column and not NULL.
    pub(crate) unsafe fn keep(&self, value: Datum) -> Result<StoredValue> {
        let sketch = |empty: bool, bytes: &[u8]| StoredValue {
            flags: if empty { HeapRow::EMPTY } else { 0 },
            bytes: bytes.to_vec(),
        };
        if let Some(sets) = &self.sets {
            // SAFETY: the caller's promise.
            return unsafe { sets.keep(self.class, value) };
        }
        if let Some(runs) = &self.runs {
            // SAFETY: the caller's promise; the class is one of texts.
            return unsafe { runs.keep(value) };
        }
        if let Some(grams) = &self.grams {
            // SAFETY: the caller's promise.
            return unsafe { grams.keep(self.class, value) };
        }
        match self.class {
            OperatorClass::Bigint | OperatorClass::Uuid => {
                // SAFETY: the caller's promise.
                let signatures = unsafe { elements(self.class, value)? };
                let mut bytes = Vec::new();
                memory::reserve(&mut bytes, signatures.len() * 8, "reading an array")?;
                bytes.extend(signatures.iter().flat_map(|signature| signature.to_le_bytes()));
                Ok(StoredValue { flags: 0, bytes })
            }
            OperatorClass::Minhash => {
                // SAFETY: the caller's promise; the value is a varlena.
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
            OperatorClass::Simhash => {
                // SAFETY: the caller's promise; the value is a varlena.
                let it = Simhash::parse(unsafe { varlena_bytes(value) })?;
                let header = self.simhash_header();
                let fits = match header.source {
                    // Raw bits can be compared with any sketch of a text, but two sketches of texts
                    // cannot always be compared with each other. So an index of raw bits takes only
                    // raw bits.
                    SketchSource::Bits => {
                        header.bits == it.header.bits && it.header.source == SketchSource::Bits
                    }
                    _ => header.check_like(&it.header).is_ok(),
                };
                if !fits {
                    let SimhashHeader { source, k, bits, .. } = it.header;
                    let options = format!("k = {k}, bits = {bits}, source = '{}'", source.name());
                    return Err(self.refuse(&header.describe(), &it.header.describe(), &options));
                }
                Ok(sketch(it.header.empty, it.bits))
            }
            _ => unreachable!("sets, runs and grams are kept above"),
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

    /// Returns a signature in the form in which users see it: for an array of numbers, the element
    /// of the array.
    pub(crate) fn shown(&self, signature: u64) -> i64 {
        match self.class {
            OperatorClass::Bigint => element_of(signature),
            _ => match self.layout().class_bits {
                Some(bits) => (signature >> (u64::BITS - bits.clamp(1, 63))).cast_signed(),
                None => signature.cast_signed(),
            },
        }
    }
}
