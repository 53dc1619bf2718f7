//! Indexes of sets: which tokens of a set are posted, and which rows can be in a ball. The server
//! rechecks the rows that the index finds, because only the text itself decides whether a row is in
//! the ball.

pub(crate) mod choose;
pub(crate) mod item;
pub(crate) mod keep;
pub(crate) mod options;
pub(crate) mod probe;

use std::rc::Rc;

use super::class::OperatorClass;
use super::cut;
use super::posted::Posted;
use crate::pg::index::layout::format::{Meta, NONE};
use crate::pg::index::layout::items::{CONTENTS_OF_ITEM, HeapRow, Item};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::index::storage::order;
use item::{BITMAPS, Outline, SetItem, words};
use neardup_core::error::Result;
use neardup_core::features::FeatureSpec;
use neardup_core::features::origin::Origin;
use neardup_core::joins::search::ball::{SetParameters, measure_of_number};
use neardup_core::joins::search::keys::{bitmap, class_of, prefix_keys};
use neardup_core::joins::search::prefix::{LEAST_CLASS_BITS, MOST_CLASS_BITS, SetSpec};
use neardup_core::joins::set_index::token_order::TokenOrder;

/// The assumed number of tokens of an unknown document.
const USUAL_SIZE: u32 = 60;
/// The bit of [`Meta::distance`] that means that repeats count.
const MULTISET: u32 = 1 << 8;

/// The parameters of an index of sets.
#[derive(Debug)]
pub(crate) struct SetKeys {
    /// The parameters by which sets are made and compared.
    pub parameters: SetParameters,
    /// The specification that says which part of a set is posted.
    pub spec: SetSpec,
    /// The parameters that the first rows of the index settled, or None as long as they are not
    /// settled.
    pub settled: Option<Settled>,
}

/// The parameters that the first rows of an index settle.
#[derive(Debug, Clone)]
pub(crate) struct Settled {
    /// The order of tokens.
    pub order: Rc<TokenOrder>,
    /// The number of words of a bitmap.
    pub words: usize,
    /// The number of bits of a class of tokens.
    pub class_bits: u32,
}

/// Returns the number that encodes these parameters in [`Meta::distance`].
fn number_of(measure: u8, multiset: bool) -> u32 {
    u32::from(measure) | if multiset { MULTISET } else { 0 }
}

impl SetKeys {
    /// Returns the parameters in a metapage, or None if the metapage contradicts itself.
    pub(crate) fn from_meta(index: OpenIndex, class: OperatorClass, meta: &Meta) -> Option<Self> {
        let (origin, normalization) = cut::read(meta.tokenizer)?;
        let right = match class {
            OperatorClass::VectorSet => origin == Origin::Lexemes,
            OperatorClass::ArraySet => matches!(origin, Origin::Tokens | Origin::Numbers),
            _ => true,
        };
        let measure = measure_of_number((meta.distance & 0xff) as u8)?;
        let (multiset, shingle) = (meta.distance & MULTISET != 0, meta.k as usize);
        let features = FeatureSpec { tokenizer: origin.tokenizer(), shingle, multiset, wrap: false };
        let right = right
            && meta.distance >> 9 == 0
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
        let parameters = SetParameters { measure, origin, features, normalization };
        let spec = SetSpec::new(measure, meta.threshold, features).ok()?;
        Some(Self { parameters, spec, settled })
    }

    /// Reports whether these bytes can be an item of a row.
    pub(crate) fn is_item(row: HeapRow, bytes: &[u8]) -> bool {
        if row.has(HeapRow::NULL | HeapRow::EMPTY) {
            bytes.is_empty()
        } else {
            SetItem::read(row, bytes).is_some()
        }
    }

    /// Calls `each` with the items of a row. There is one item, or several if the row has many
    /// tokens.
    pub(crate) fn items(row: HeapRow, bytes: &[u8], mut each: impl FnMut(Item<'_>)) -> Result<()> {
        let Some(item) = (bytes.len() > CONTENTS_OF_ITEM).then(|| SetItem::read(row, bytes)).flatten() else {
            each(Item { row, bytes });
            return Ok(());
        };
        let mut tokens = Vec::new();
        item.tokens(&mut tokens)?;
        tokens.dedup();
        let mut row = row.without(HeapRow::WHOLE).with(HeapRow::SPLIT);
        for tokens in tokens.chunks(CONTENTS_OF_ITEM / size_of::<u32>() - 1) {
            each(Item { row, bytes: &SetItem::write(item.size, None, tokens)? });
            row = row.with(HeapRow::CONTINUED);
        }
        Ok(())
    }
}

impl SetKeys {
    /// Makes the marks by which a check identifies an item of an index for which nothing is settled
    /// yet. The tokens of the item take the place of its signatures.
    pub(crate) fn unsettled_marks(&self, item: &Item<'_>, posted: &mut Posted) -> Result<()> {
        let Posted { signatures, tokens, .. } = posted;
        signatures.clear();
        if let Some(set) = SetItem::read(item.row, item.bytes) {
            set.tokens(tokens)?;
            signatures.extend(tokens.iter().map(|&token| u64::from(token)));
        }
        Ok(())
    }

    /// Describes the class with its options and the settled parameters.
    pub(crate) fn describe(&self, class: OperatorClass) -> String {
        let settled = match &self.settled {
            Some(Settled { order, words, class_bits }) => {
                let bits = words * u64::BITS as usize;
                format!("{} tokens in order, {bits} bits a bitmap, {class_bits} bits a class", order.len())
            }
            None => "no order of tokens yet".to_owned(),
        };
        let least = self.spec.least;
        format!("{}: {}; threshold {least}; {settled}", class.name(), self.parameters.describe())
    }

    /// Returns the number of tokens that a query is assumed to look up as long as its argument is
    /// not known.
    pub(crate) fn usual_probes(&self) -> f64 {
        f64::from(self.spec.indexed(USUAL_SIZE))
    }
}

impl Settled {
    /// Fills `posted` with the outline and the signatures that a segment stores of an item, and
    /// returns the row that it stores.
    pub(crate) fn post(&self, spec: &SetSpec, item: &Item<'_>, posted: &mut Posted) -> Result<HeapRow> {
        let Posted { sketch, signatures, tokens, prefix, scratch } = posted;
        signatures.clear();
        let empty = |sketch: &mut Vec<u8>, size| Outline::write(size, (0..self.words).map(|_| 0), sketch);
        let Some(set) =
            SetItem::read(item.row, item.bytes).filter(|_| !item.row.has(HeapRow::NULL | HeapRow::EMPTY))
        else {
            empty(sketch, 0);
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
                bitmap(tokens, bits);
                prefix_keys(tokens, &self.order, spec.indexed(set.size), scratch, prefix)?;
                prefix
            }
            None => tokens,
        };
        Outline::write(set.size, bits.iter().copied(), sketch);
        self.classes(tokens, signatures)?;
        Ok(item.row.without(HeapRow::WHOLE))
    }

    /// Makes the signatures of tokens; the signatures are ascending and distinct.
    pub(crate) fn classes(&self, tokens: &[u32], signatures: &mut Vec<u64>) -> Result<()> {
        signatures.clear();
        neardup_core::memory::reserve(signatures, tokens.len(), "indexing a set")?;
        signatures.extend(tokens.iter().map(|&token| self.signature(token)));
        signatures.sort_unstable();
        signatures.dedup();
        Ok(())
    }

    /// Returns the signature of a token: the class of the token in its upper bits.
    pub(crate) fn signature(&self, token: u32) -> u64 {
        self.class(token) << (u64::BITS - self.class_bits)
    }

    /// Returns the class of a token.
    pub(crate) fn class(&self, token: u32) -> u64 {
        class_of(token, self.class_bits).into()
    }
}
