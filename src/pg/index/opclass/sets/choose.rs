//! Checks the settings of a new index of sets: its options and its column.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys;

use super::number_of;
use super::options::SetOptions;
use crate::pg::compat;
use crate::pg::index::layout::format::{Family, Meta, NONE};
use crate::pg::index::opclass::class::OperatorClass;
use crate::pg::index::opclass::cut;
use crate::pg::index::opclass::options::{StorageOptions, refuse_storage_parameters};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::query::decode::ColumnContent;
use crate::pg::request::features::spec_of;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::features::origin::Origin;
use neardup_core::joins::search::ball::measure_number;
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
