//! The stored form of a value in an index of sets.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::Datum;

use super::SetKeys;
use super::item::{BITMAPS, SetItem};
use super::options::LEAST;
use crate::pg::index::layout::items::HeapRow;
use crate::pg::index::families::class::OperatorClass;
use crate::pg::index::families::values::{StoredValue, text_of};
use crate::pg::query::decode::{ColumnContent, decode};
use crate::pg::request::features::spec_of;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::checks::ball_of_a_document;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::executor_for;
use neardup_core::error;
use neardup_core::executor::{self, Stop};
use neardup_core::features::normalization::Normalization;
use neardup_core::features::origin::Origin;
use neardup_core::features::tokens::Document;
use neardup_core::joins::search::ball::{SetBall, SetParameters, measure_name};
use neardup_core::joins::search::edit_ball::EditBall;
use neardup_core::joins::search::keys::{KeyScratch, bitmap, keys_of, prefix_keys};
use neardup_core::joins::search::prefix::SetSpec;
use neardup_core::joins::set_index::token_order::TokenOrder;
use neardup_core::verify::measure::Measure;

/// Makes the stored forms of documents.
#[derive(Debug)]
pub(crate) struct Cutter<'a> {
    spec: &'a SetSpec,
    /// The order of tokens and the number of words of a bitmap, if these are settled.
    settled: Option<(&'a TokenOrder, usize)>,
    scratch: KeyScratch,
    tokens: Vec<u32>,
    prefix: Vec<u32>,
}

impl<'a> Cutter<'a> {
    /// Makes a cutter for an index.
    pub(crate) fn new(spec: &'a SetSpec, settled: Option<(&'a TokenOrder, usize)>) -> Self {
        Self { spec, settled, scratch: KeyScratch::default(), tokens: Vec::new(), prefix: Vec::new() }
    }

    /// Returns the stored form of a document. May be called again after a stop.
    pub(crate) fn keep(&mut self, document: &Document, stop: &Stop) -> error::Result<StoredValue> {
        let Self { spec, settled, scratch, tokens, prefix } = self;
        keys_of(document, &spec.features, scratch, tokens, stop)?;
        // Documents have fewer than 2^32 tokens.
        let size = tokens.len() as u32;
        if size == 0 {
            return Ok(StoredValue { flags: HeapRow::EMPTY, bytes: Vec::new() });
        }
        let Some((order, words)) = settled else {
            return Ok(StoredValue { flags: HeapRow::WHOLE, bytes: SetItem::write(size, None, tokens)? });
        };
        let mut bits = [0; BITMAPS[BITMAPS.len() - 1]];
        let bits = &mut bits[..*words];
        bitmap(tokens, bits);
        prefix_keys(tokens, order, spec.indexed(size), scratch, prefix)?;
        Ok(StoredValue { flags: 0, bytes: SetItem::write(size, Some(bits), prefix)? })
    }
}

/// The hint for balls that no index can find.
pub(crate) const NO_OVERLAP: &str =
    "No index finds by measure overlap: near(body, 0.8, method => 'containment')";

/// Returns the operator class whose indexes can contain a ball, with the options that are not its
/// defaults, or `None` if there is none.
pub(crate) fn class_for(ball: &[u8]) -> Option<String> {
    let normalize = |form: Normalization| format!("normalize = {}", form.name());
    if EditBall::is(ball) {
        let form = EditBall::parse(ball).ok()?.normalization;
        return Some(with_options(OperatorClass::BallGrams, [form.map(normalize)]));
    }
    let SetBall { parameters, similarity, .. } = SetBall::parse(ball).ok()?;
    let SetParameters { measure, origin, features, normalization } = parameters;
    let tokenizer = origin.tokenizer();
    let usual = spec_of(tokenizer, None, None, 1).ok()?;
    let repeats = spec_of(tokenizer, Some(features.shingle as i32), None, 1).ok()?.multiset;
    let options = [
        (measure != Measure::Jaccard).then(|| format!("measure = {}", measure_name(measure))),
        (features.shingle != usual.shingle).then(|| format!("shingle = {}", features.shingle)),
        (features.multiset != repeats).then(|| format!("multiset = {}", features.multiset)),
        (origin != Origin::Words).then(|| format!("tokenizer = {}", origin.name())),
        normalization.map(normalize),
        (similarity < LEAST).then(|| format!("threshold = {similarity}")),
    ];
    (measure != Measure::Overlap).then(|| with_options(OperatorClass::BallSet, options))
}

/// Returns the name of a class with those options that are given.
fn with_options(class: OperatorClass, options: impl IntoIterator<Item = Option<String>>) -> String {
    let options: Vec<String> = options.into_iter().flatten().collect();
    let name = class.name();
    if options.is_empty() { name.to_owned() } else { format!("{name} ({})", options.join(", ")) }
}

impl SetKeys {
    /// Decodes the document of a value.
    ///
    /// # Safety
    /// `value` is of the column type of an index of this class and not NULL.
    pub(crate) unsafe fn document(&self, class: OperatorClass, value: Datum) -> Result<Document> {
        let origin = self.parameters.origin;
        // SAFETY: the caller's promise, for each class.
        let document = unsafe {
            match class {
                OperatorClass::BallSet => return self.middle(varlena_bytes(value)),
                OperatorClass::VectorSet => decode(ColumnContent::Vector, value)?,
                OperatorClass::ArraySet if origin == Origin::Numbers => {
                    decode(ColumnContent::Numbers, value)?
                }
                OperatorClass::ArraySet => decode(ColumnContent::Tokens, value)?,
                _ => Some(Document::Text(text_of(value, self.parameters.normalization)?)),
            }
        };
        document.ok_or_else(|| {
            SqlError::new(
                PgSqlErrorCode::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE,
                "a value to be indexed has text that is not valid UTF-8",
            )
        })
    }

    /// Returns the document in the middle of a ball. Fails if this index of balls cannot contain
    /// the ball.
    fn middle(&self, bytes: &[u8]) -> Result<Document> {
        let ball = ball_of_a_document(bytes).map_err(|error| match EditBall::is(bytes) {
            true => error.hint(format!(
                "Make it by a measure of sets: near(body, 0.8, method => 'jaccard'); or make an index for such balls: USING signature (… {} WITH &&)",
                OperatorClass::BallGrams.name()
            )),
            false => error,
        })?;
        if ball.parameters != self.parameters || ball.similarity < self.spec.least {
            let what = |parameters: &SetParameters, similarity: f64| {
                format!("{}, similarity {similarity}", parameters.describe())
            };
            let index = what(&self.parameters, self.spec.least);
            return Err(SqlError::parameter(format!(
                "the index is for balls of {index} or more, not of {}",
                what(&ball.parameters, ball.similarity)
            ))
            .hint(match class_for(bytes) {
                Some(class) => format!("Make an index for them: USING signature (… {class} WITH &&)"),
                None => NO_OVERLAP.to_owned(),
            }));
        }
        Ok(ball.document()?)
    }

    /// Returns the stored form of a value.
    ///
    /// # Safety
    /// As for [`Self::document`].
    pub(crate) unsafe fn keep(&self, class: OperatorClass, value: Datum) -> Result<StoredValue> {
        // SAFETY: the caller's promise.
        let document = unsafe { self.document(class, value)? };
        let mut work = (self.cutter(), None);
        executor::one(executor_for(document.bytes()), &mut work, |(cutter, kept), stop| {
            *kept = Some(cutter.keep(&document, stop)?);
            Ok(())
        })?;
        Ok(work.1.expect("done where there was no error"))
    }

    /// Returns a cutter for this index.
    pub(crate) fn cutter(&self) -> Cutter<'_> {
        Cutter::new(&self.spec, self.settled.as_ref().map(|settled| (&*settled.order, settled.words)))
    }
}
