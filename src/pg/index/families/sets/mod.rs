//! Indexes of sets: which tokens of a set are posted, and which rows can be in a ball. The server
//! rechecks the rows that the index finds, because only the text itself decides whether a row is in
//! the ball.

pub(crate) mod item;
pub(crate) mod keys;
mod weights;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use super::class::OperatorClass;
use super::class_options::ClassOptions;
use super::family::Family;
use super::hints;
use super::options::refuse_storage_parameters;
use super::probe::{OUTSIDE, Probe, SetProbe, Target, step_of};
use super::values::{ColumnValue, Cutter, Posted, StoredValue, meta_of_texts, text_of};
use crate::pg::compat;
use crate::pg::index::layout::format::{Meta, NONE};
use crate::pg::index::layout::items::{CONTENTS_OF_ITEM, HeapRow, Item};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::query::decode::{ColumnContent, decode};
use crate::pg::request::features::spec_of;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::error::{Result, SqlError};
use item::{BITMAPS, Outline, SetItem};
pub(crate) use keys::SetKeys;
use keys::{Settled, number_of};
use neardup_core::error;
use neardup_core::features::origin::Origin;
use neardup_core::features::tokens::Document;
use neardup_core::search::ball::{SetBall, SetParameters, measure_of_number};
use neardup_core::search::edit_ball::{self, EditBall};
use neardup_core::search::keys::{KeyScratch, bitmap, prefix_keys};
use neardup_core::verify::measure::Measure;
use weights::weighed;

/// The assumed number of tokens of an unknown document.
const USUAL_SIZE: u32 = 60;

impl Family for SetKeys {
    fn describe(&self) -> String {
        let settled = match &self.settled {
            Some(Settled { order, words, class_bits }) => {
                let bits = words * u64::BITS as usize;
                format!("{} tokens in order, {bits} bits a bitmap, {class_bits} bits a class", order.len())
            }
            None => "no order of tokens yet".to_owned(),
        };
        let (name, least) = (self.class.name(), self.spec.least);
        format!("{name}: {}; threshold {least}; {settled}", self.spec.parameters.describe())
    }

    fn usual_probes(&self) -> f64 {
        self.spec.usual_indexed(USUAL_SIZE).into()
    }

    unsafe fn read(&self, value: Datum) -> Result<ColumnValue> {
        // SAFETY: the caller's promise.
        Ok(ColumnValue::Document(unsafe { self.document(value)? }))
    }

    /// Returns a cutter for this index.
    fn cutter(&self) -> Cutter<'_> {
        let (mut scratch, mut tokens, mut prefix) = (KeyScratch::default(), Vec::new(), Vec::new());
        Box::new(move |document, stop| {
            self.keys_of(document, &mut scratch, &mut tokens, stop)?;
            let size = self.spec.size(&tokens)?;
            if size == 0 {
                return Ok(StoredValue { flags: HeapRow::EMPTY, bytes: Vec::new() });
            }
            let Some(settled) = &self.settled else {
                let bytes = SetItem::write(size, None, &tokens)?;
                return Ok(StoredValue { flags: HeapRow::WHOLE, bytes });
            };
            let mut bits = [0; BITMAPS[BITMAPS.len() - 1]];
            let bits = &mut bits[..settled.words];
            bitmap(&tokens, self.spec.weights(), bits);
            let ordered = settled.ordered(&self.spec);
            prefix_keys(&tokens, ordered, self.spec.indexed(size), &mut scratch, &mut prefix)?;
            Ok(StoredValue { flags: 0, bytes: SetItem::write(size, Some(bits), &prefix)? })
        })
    }

    fn items(&self, row: HeapRow, bytes: &[u8], each: &mut dyn FnMut(Item<'_>)) -> error::Result<()> {
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

    fn is_item(&self, row: HeapRow, bytes: &[u8]) -> bool {
        if row.has(HeapRow::EMPTY) { bytes.is_empty() } else { SetItem::read(row, bytes).is_some() }
    }

    /// As long as nothing is settled, tokens are in the place of signatures.
    fn post(&self, item: &Item<'_>, posted: &mut Posted) -> error::Result<HeapRow> {
        if let Some(settled) = &self.settled {
            return settled.post(&self.spec, item, posted);
        }
        let Posted { sketch, signatures, tokens, .. } = posted;
        sketch.clear();
        signatures.clear();
        if let Some(set) = SetItem::read(item.row, item.bytes) {
            set.tokens(tokens)?;
            signatures.extend(tokens.iter().map(|&token| u64::from(token)));
        }
        Ok(item.row)
    }

    fn fault(&self, row: HeapRow, sketch: &[u8]) -> Option<&'static str> {
        let right = !row.has(HeapRow::WHOLE) && Outline::read(sketch).is_of(row, self.spec.heaviest());
        (!right).then_some("a row has a bitmap that no set of its size has")
    }

    unsafe fn probe(&self, argument: Datum) -> Result<Probe> {
        // SAFETY: a ball, which is a varlena.
        let bytes = unsafe { varlena_bytes(argument) };
        if self.unfit(bytes).is_some() {
            return Ok(Probe::Everything);
        }
        let ball = SetBall::parse(bytes)?;
        let tokens = self.tokens(&ball.document()?)?;
        let similarity = ball.similarity;
        let reach = self.spec.reach(similarity, self.spec.size(&tokens)?)?;
        Ok(reach.map_or(Probe::Nothing, |reach| Probe::Sets(SetProbe { tokens, reach, similarity })))
    }

    /// Returns probes for the rows of a ball, the most similar rows first. Each probe looks up at
    /// least twice as many tokens as the one before it, so that all of them together cost little
    /// more than the last one.
    fn near(&self, target: &Target) -> Vec<(Probe, u64)> {
        let Target::Ball(ball) = target else { return Vec::new() };
        let Probe::Sets(probe) = &**ball else { return Vec::new() };
        let mut probes = vec![(Probe::Sets(probe.clone()), u64::from(OUTSIDE) - 1)];
        let mut fewest = probe.reach.probes();
        for similarity in (1..10).map(|n| f64::from(n) / 10.0) {
            if similarity > probe.similarity
                && let Ok(size) = self.spec.size(&probe.tokens)
                && let Ok(Some(reach)) = self.spec.reach(similarity, size)
                && reach.probes().saturating_mul(2) <= fewest
            {
                fewest = reach.probes();
                let nearer = SetProbe { tokens: probe.tokens.clone(), reach, similarity };
                probes.push((Probe::Sets(nearer), step_of(similarity).into()));
            }
        }
        probes.reverse();
        probes
    }

    fn unfit(&self, ball: &[u8]) -> Option<String> {
        if EditBall::is(ball) {
            return Some(hints::unlike(edit_ball::METHOD, &self.spec.parameters.describe()));
        }
        let ball = SetBall::parse(ball).ok()?;
        if ball.parameters != self.spec.parameters {
            return Some(hints::unlike(&ball.parameters.describe(), &self.spec.parameters.describe()));
        }
        let least = self.spec.least;
        (ball.similarity < least).then(|| format!("{} is below threshold = {least}", ball.similarity))
    }

    fn sets(&self) -> Option<&SetKeys> {
        Some(self)
    }
}

impl SetKeys {
    /// Decodes the document of a value.
    ///
    /// # Safety
    /// `value` is of the type of the index's column and not NULL.
    pub(crate) unsafe fn document(&self, value: Datum) -> Result<Document> {
        let SetParameters { origin, normalization, .. } = self.spec.parameters;
        // SAFETY: the caller's promise, for each class.
        let document = unsafe {
            match self.class {
                OperatorClass::BallSet => return self.middle(varlena_bytes(value)),
                OperatorClass::VectorSet => decode(ColumnContent::Vector, value)?,
                OperatorClass::ArraySet if origin == Origin::Numbers => {
                    decode(ColumnContent::Numbers, value)?
                }
                OperatorClass::ArraySet => decode(ColumnContent::Tokens, value)?,
                _ => Some(Document::Text(text_of(value, normalization)?)),
            }
        };
        document.ok_or_else(|| SqlError::not_utf8("a value to be indexed has text that"))
    }

    /// Returns the document in the middle of a ball. Fails if this index of balls cannot contain
    /// the ball.
    fn middle(&self, bytes: &[u8]) -> Result<Document> {
        let ball = hints::ball_of_sets(bytes)?;
        if ball.parameters != self.spec.parameters || ball.similarity < self.spec.least {
            let what = |parameters: &SetParameters, similarity: f64| {
                format!("{}, similarity {similarity}", parameters.describe())
            };
            let (index, value) =
                (what(&self.spec.parameters, self.spec.least), what(&ball.parameters, ball.similarity));
            return Err(hints::other_ball(&format!("{index} or more"), &value, bytes));
        }
        Ok(ball.document()?)
    }
}

/// Returns the metapage of a new index.
pub(crate) fn choose(index: OpenIndex, class: OperatorClass) -> Result<Meta> {
    let options = ClassOptions::read(index);
    let Some(measure) = options.measure().and_then(measure_of_number) else {
        let message = "an index of sets has a direction only with measure = containment";
        return Err(SqlError::parameter(message)
            .hint("Rows that contain the query: USING signature (body text_set_ops (measure = containment, direction = query))"));
    };
    if measure == Measure::Overlap {
        return Err(SqlError::new(
            PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
            "an index of sets cannot find by measure overlap",
        )
        .hint(
            "A pair may share any token of the longer text, so that all would have to be in the index: use measure = containment, or USING gin (shingles(body, 1)).",
        ));
    }
    refuse_storage_parameters(index, class, |storage| {
        let (name, given) = (class.name(), storage.threshold().unwrap_or_default());
        format!(
            "The least similarity is an option of the class: CREATE INDEX … USING signature (… {name} (threshold = {given}));"
        )
    })?;
    let origin = origin_of(index, class, &options)?;
    let meta = meta_of_texts(class, origin, options.normalization())?;
    let features = spec_of(origin.tokenizer(), options.shingle(), options.multiset(), 1)?;
    let (k, normalization) = (features.shingle as u32, options.normalization());
    let parameters = SetParameters { measure, origin, features, normalization, weights: None };
    let distance = number_of(&weighed(index, parameters)?);
    Ok(Meta { k, threshold: options.threshold, distance, order: NONE, ..meta })
}

/// Returns the origin of the sets of a column.
fn origin_of(index: OpenIndex, class: OperatorClass, options: &ClassOptions) -> Result<Origin> {
    match class {
        OperatorClass::VectorSet => return Ok(Origin::Lexemes),
        OperatorClass::ArraySet => {}
        _ => return Ok(options.origin()),
    }
    // SAFETY: an open index.
    let (column, element) = unsafe {
        let attributes = compat::attributes((*index.relation()).rd_att);
        let column = pg_sys::getBaseType(attributes[index.group_columns()].atttypid);
        (column, pg_sys::getBaseType(pg_sys::get_element_type(column)))
    };
    match ColumnContent::for_type(column) {
        ColumnContent::Numbers => Ok(Origin::Numbers),
        _ if [pg_sys::TEXTOID, pg_sys::VARCHAROID].contains(&element) => Ok(Origin::Tokens),
        _ => Err(SqlError::new(
            PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
            format!("{} takes arrays of text or integers", class.name()),
        )
        .hint("Cast the column: CREATE INDEX … USING signature ((tags::text[]));")),
    }
}
