//! Settles the parameters of an index of sets by its first rows: the order of tokens, the size of
//! bitmaps, and the number of classes.

use std::rc::Rc;

use super::Settled;
use super::item::Outline;
use crate::pg::index::layout::format::Meta;
use neardup_core::error::Result;
use neardup_core::joins::search::prefix::{SetSpec, class_bits};
use neardup_core::joins::search::sample::TokenSample;

/// The number of bits of a class if the number of rows is not known, and the least number of bits
/// if the number of rows is known. A table grows, but the number of classes of its index does not.
const USUAL_BITS: u32 = 18;
const FEWEST_BITS: u32 = 16;

impl Settled {
    /// Settles an index by a sample of its rows. `rows` is the expected number of rows, if it is
    /// known.
    pub(crate) fn from_sample(spec: &SetSpec, sample: TokenSample, rows: Option<f64>) -> Result<Self> {
        let size = sample.usual_size();
        let words = spec.bitmap_words(size);
        // The cast saturates.
        let postings = rows.map(|rows| (rows * f64::from(spec.indexed(size))) as u64);
        let class_bits = postings.map_or(USUAL_BITS, |postings| class_bits(postings).max(FEWEST_BITS));
        Ok(Self { order: Rc::new(sample.order()?), words, class_bits })
    }

    /// Returns the metapage with the settled parameters, the first block of the order, and the hash
    /// of the order.
    pub(crate) fn put(&self, meta: Meta, order: u32, hash: u64) -> Meta {
        Meta {
            width: self.words as u32,
            bands: self.class_bits,
            seed: hash,
            payload: Outline::bytes(self.words) as u32,
            order,
            ..meta
        }
    }
}
