//! Checks the settings of a new index: its operator class, options and storage parameters.

use pgrx::PgSqlErrorCode;

use super::class::OperatorClass;
use super::keys::ClassKeys;
use super::options::{ClassOptions, StorageOptions};
use super::{grams, runs, sets, value_lists};
use crate::pg::index::layout::format::Meta;
use crate::pg::index::layout::items::LARGEST_PAYLOAD;
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::server::checks;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::sketches::minhash::least_agreeing;
use neardup_core::sketches::pigeonhole::Bands;
use neardup_core::text;

impl ClassKeys {
    /// Returns the settings of a new index, for its metapage.
    pub(crate) fn choose(index: OpenIndex) -> Result<Meta> {
        let class = OperatorClass::read(index)?;
        if class.is_of_sets() {
            return sets::choose::choose(index, class);
        }
        if class == OperatorClass::TextRuns {
            return runs::choose(index);
        }
        if class.is_of_grams() {
            return grams::options::choose(index, class);
        }
        let meta = Meta { class: class as u8, ..Meta::default() };
        if !class.has_sketches() {
            return Ok(meta);
        }
        let (options, storage) = (ClassOptions::read(index), StorageOptions::read(index));
        let k = checks::k(options.k.into())?.into();
        let (tokenizer, seed) = (options.source(), i64::from(options.seed));
        let meta = Meta { k, tokenizer, text_version: text::VERSION, seed: seed.cast_unsigned(), ..meta };
        if class == OperatorClass::Simhash {
            let bits = checks::bits(options.bits.into())?;
            let distance = storage.distance().min(u32::from(bits) - 1);
            let bands = Bands::simhash(bits, distance as u16).count() as u32;
            return Ok(Meta {
                width: bits.into(),
                bands,
                distance,
                payload: u32::from(bits).div_ceil(8),
                ..meta
            });
        }
        let permutations = checks::permutations(options.permutations.into())?;
        if usize::from(permutations) * 4 > LARGEST_PAYLOAD {
            let most = LARGEST_PAYLOAD / 4;
            return Err(SqlError::new(
                PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
                format!("an index can keep sketches of at most {most} permutations, not {permutations}"),
            )
            .hint("128 are enough for most purposes: permutations => 128"));
        }
        let Some(threshold) = storage.threshold().filter(|&t| !value_lists::are_smaller(permutations, t))
        else {
            return Ok(value_lists::choose(permutations, meta));
        };
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
}
