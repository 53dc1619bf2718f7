//! The parameters of an index of sets, some of which its first rows settle: the order of tokens,
//! the size of bitmaps, and the number of classes.

use std::sync::Arc;

use super::item::{BITMAPS, Outline, SetItem, words};
use super::weights::weighed;
use crate::pg::index::families::class::OperatorClass;
use crate::pg::index::families::values::{Posted, read_cut};
use crate::pg::index::layout::format::{Meta, NONE};
use crate::pg::index::layout::items::{HeapRow, Item};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::index::storage::order;
use crate::pg::server::error::Result as SqlResult;
use crate::pg::server::executor::compute;
use neardup_core::error::Result;
use neardup_core::executor::Stop;
use neardup_core::features::FeatureSpec;
use neardup_core::features::origin::Origin;
use neardup_core::features::tokens::Document;
use neardup_core::memory;
use neardup_core::search::ball::{SetParameters, measure_of_number};
use neardup_core::search::keys::{KeyScratch, OrderedTokens, bitmap, class_of, keys_of, prefix_keys};
use neardup_core::search::prefix::{LEAST_CLASS_BITS, MOST_CLASS_BITS, SetSpec, class_bits};
use neardup_core::search::sample::TokenSample;
use neardup_core::set_index::token_order::TokenOrder;

/// The number of bits of a class if the number of rows is not known, and the least number of bits
/// if the number of rows is known. A table grows, but the number of classes of its index does not.
const USUAL_BITS: u32 = 18;
const FEWEST_BITS: u32 = 16;
/// The bit of [`Meta::distance`] that means that repeats count.
const MULTISET: u32 = 1 << 8;
/// The bit of [`Meta::distance`] that means that words weigh, as an option of the class says.
const WEIGHED: u32 = 1 << 9;

/// The parameters of an index of sets.
#[derive(Debug)]
pub(crate) struct SetKeys {
    /// The class.
    pub class: OperatorClass,
    /// The specification, which says how sets are made and compared, and which part of a set is
    /// posted.
    pub spec: SetSpec,
    /// The parameters that the first rows of the index settled, or None as long as they are not
    /// settled.
    pub settled: Option<Settled>,
}

/// The parameters that the first rows of an index settle.
#[derive(Debug, Clone)]
pub(crate) struct Settled {
    /// The order of tokens.
    pub order: Arc<TokenOrder>,
    /// The number of words of a bitmap.
    pub words: usize,
    /// The number of bits of a class of tokens.
    pub class_bits: u32,
}

/// Returns the number that encodes these parameters in [`Meta::distance`].
pub(super) fn number_of(parameters: &SetParameters) -> u32 {
    let flag = |is_set, flag| if is_set { flag } else { 0 };
    let (multiset, weighed) = (parameters.features.multiset, parameters.weights.is_some());
    parameters.measure as u32 | flag(multiset, MULTISET) | flag(weighed, WEIGHED)
}

impl SetKeys {
    /// Returns the parameters in a metapage, or None if the metapage contradicts itself.
    pub(crate) fn from_meta(index: OpenIndex, class: OperatorClass, meta: &Meta) -> Option<Self> {
        let (origin, normalization) = read_cut(meta.tokenizer)?;
        let right = match class {
            OperatorClass::VectorSet => origin == Origin::Lexemes,
            OperatorClass::ArraySet => matches!(origin, Origin::Tokens | Origin::Numbers),
            _ => true,
        };
        let measure = measure_of_number((meta.distance & 0xff) as u8)?;
        let (multiset, shingle) = (meta.distance & MULTISET != 0, meta.k as usize);
        let features = FeatureSpec { tokenizer: origin.tokenizer(), shingle, multiset, wrap: false };
        let right = right
            && meta.distance >> 10 == 0
            && FeatureSpec::check_shingle("shingle", meta.k.into()).is_ok()
            && meta.threshold > 0.0
            && meta.threshold <= 1.0;
        let words = meta.width as usize;
        let is_settled = meta.order != NONE;
        let sized = if is_settled {
            BITMAPS.contains(&words)
                && meta.payload as usize == Outline::bytes(words)
                && (LEAST_CLASS_BITS..=MOST_CLASS_BITS).contains(&meta.bands)
        } else {
            (meta.width, meta.payload, meta.bands, meta.segments) == (0, 0, 0, 0)
        };
        if !right || !sized {
            return None;
        }
        let settled =
            is_settled.then(|| Settled { order: order::load(index, meta), words, class_bits: meta.bands });
        let parameters = SetParameters { measure, origin, features, normalization, weights: None };
        let parameters = match meta.distance & WEIGHED {
            0 => parameters,
            _ => weighed(index, parameters).unwrap_or_else(|error| error.raise()),
        };
        let is_same = number_of(&parameters) == meta.distance;
        let spec = SetSpec::new(parameters, meta.threshold).ok().filter(|_| is_same)?;
        Some(Self { class, spec, settled })
    }

    /// Puts the tokens of a document into `tokens`.
    pub(super) fn keys_of(
        &self,
        document: &Document,
        scratch: &mut KeyScratch,
        tokens: &mut Vec<u32>,
        stop: &Stop,
    ) -> Result<()> {
        keys_of(document, &self.spec.parameters.features, self.spec.weights(), scratch, tokens, stop)
    }

    /// Returns the tokens of a document.
    pub(crate) fn tokens(&self, document: &Document) -> SqlResult<Vec<u32>> {
        Ok(compute(document.bytes(), |stop| {
            let mut tokens = Vec::new();
            self.keys_of(document, &mut KeyScratch::default(), &mut tokens, stop)?;
            Ok(tokens)
        })?)
    }
}

impl Settled {
    /// Settles an index by a sample of its rows. `rows` is the expected number of rows, if it is
    /// known.
    pub(crate) fn from_sample(spec: &SetSpec, sample: TokenSample, rows: Option<f64>) -> Result<Self> {
        let size = sample.usual_size();
        let words = spec.bitmap_words(size);
        // The cast saturates.
        let postings = rows.map(|rows| (rows * f64::from(spec.usual_indexed(size))) as u64);
        let class_bits = postings.map_or(USUAL_BITS, |postings| class_bits(postings).max(FEWEST_BITS));
        Ok(Self { order: Arc::new(sample.order()?), words, class_bits })
    }

    /// Returns the order of tokens, with what they weigh.
    pub(crate) fn ordered<'a>(&'a self, spec: &'a SetSpec) -> OrderedTokens<'a> {
        OrderedTokens { order: &self.order, weights: spec.weights() }
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

    /// Fills `posted` with the outline and the signatures that a segment stores of an item, and
    /// returns the row that it stores.
    pub(crate) fn post(&self, spec: &SetSpec, item: &Item<'_>, posted: &mut Posted) -> Result<HeapRow> {
        let Posted { sketch, signatures, tokens, prefix, scratch } = posted;
        signatures.clear();
        let Some(set) =
            SetItem::read(item.row, item.bytes).filter(|_| !item.row.has(HeapRow::NULL | HeapRow::EMPTY))
        else {
            Outline::write(0, (0..self.words).map(|_| 0), sketch);
            return Ok(item.row);
        };
        set.tokens(tokens)?;
        let mut bits = [0; BITMAPS[BITMAPS.len() - 1]];
        let bits = &mut bits[..self.words];
        let tokens = match set.bitmap {
            Some(known) => {
                bits.iter_mut().zip(words(known)).for_each(|(bits, known)| *bits = known);
                tokens
            }
            None if item.row.has(HeapRow::WHOLE) => {
                bitmap(tokens, spec.weights(), bits);
                prefix_keys(tokens, self.ordered(spec), spec.indexed(set.size), scratch, prefix)?;
                prefix
            }
            None => tokens,
        };
        Outline::write(set.size, bits.iter().copied(), sketch);
        let shift = u64::BITS - self.class_bits;
        let signed = tokens.iter().map(|&token| u64::from(class_of(token, self.class_bits)) << shift);
        memory::append(signatures, signed, "indexing a set")?;
        signatures.sort_unstable();
        signatures.dedup();
        Ok(item.row.without(HeapRow::WHOLE))
    }
}
