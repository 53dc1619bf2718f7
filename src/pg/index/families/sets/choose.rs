//! Checks the settings of a new index of sets, and settles its parameters by its first rows: the
//! order of tokens, the size of bitmaps, and the number of classes.

use std::rc::Rc;

use pgrx::{PgSqlErrorCode, pg_sys};

use super::item::Outline;
use super::options::SetOptions;
use super::{Settled, number_of};
use crate::pg::compat;
use crate::pg::index::layout::format::{Family, Meta, NONE};
use crate::pg::index::families::class::OperatorClass;
use crate::pg::index::families::cut;
use crate::pg::index::families::options::{StorageOptions, refuse_storage_parameters};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::query::decode::ColumnContent;
use crate::pg::request::features::spec_of;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::error::Result as CoreResult;
use neardup_core::features::origin::Origin;
use neardup_core::joins::search::ball::measure_number;
use neardup_core::joins::search::prefix::{SetSpec, class_bits};
use neardup_core::joins::search::sample::TokenSample;
use neardup_core::text;
use neardup_core::verify::measure::Measure;

/// Returns the metapage of a new index.
pub(crate) fn choose(index: OpenIndex, class: OperatorClass) -> Result<Meta> {
    let options = SetOptions::read(index);
    let Some(measure) = options.measure() else {
        let message = "an index of sets has a direction only with measure = containment";
        return Err(SqlError::parameter(message)
            .hint("Rows that contain the query: USING signature (body text_set_ops (measure = containment, direction = query))"));
    };
    if measure == measure_number(Measure::Overlap) {
        return Err(SqlError::new(
            PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
            "an index of sets cannot find by measure overlap",
        )
        .hint(
            "A pair may share any token of the longer text, so that all would have to be in the index: use measure = containment, or USING gin (shingles(body, 1)).",
        ));
    }
    let least = format!("threshold = {}", StorageOptions::read(index).threshold().unwrap_or_default());
    refuse_storage_parameters(index, class, "The least similarity", &least)?;
    let origin = origin_of(index, class, &options)?;
    let form = options.normalization();
    cut::check_form(origin, form)?;
    let spec = spec_of(origin.tokenizer(), options.shingle(), options.multiset(), 1)?;
    Ok(Meta {
        family: Family::Sets as u8,
        class: class as u8,
        text_version: text::VERSION,
        tokenizer: cut::number_of(origin, form),
        k: spec.shingle as u32,
        threshold: options.least,
        distance: number_of(measure, spec.multiset),
        order: NONE,
        ..Meta::default()
    })
}

/// Returns the origin of the sets of a column.
fn origin_of(index: OpenIndex, class: OperatorClass, options: &SetOptions) -> Result<Origin> {
    match class {
        OperatorClass::VectorSet => return Ok(Origin::Lexemes),
        OperatorClass::ArraySet => {}
        _ => return Ok(Origin::from_byte(options.tokenizer()).unwrap_or(Origin::Words)),
    }
    // SAFETY: an open index of one column.
    let (column, element) = unsafe {
        let column = pg_sys::getBaseType(compat::attributes((*index.relation()).rd_att)[0].atttypid);
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

/// The number of bits of a class if the number of rows is not known, and the least number of bits
/// if the number of rows is known. A table grows, but the number of classes of its index does not.
const USUAL_BITS: u32 = 18;
const FEWEST_BITS: u32 = 16;

impl Settled {
    /// Settles an index by a sample of its rows. `rows` is the expected number of rows, if it is
    /// known.
    pub(crate) fn from_sample(spec: &SetSpec, sample: TokenSample, rows: Option<f64>) -> CoreResult<Self> {
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
