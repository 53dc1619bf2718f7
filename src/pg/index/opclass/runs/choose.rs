//! Checks the settings of a new index of runs.

use super::RunKeys;
use super::options::RunOptions;
use crate::pg::index::layout::format::{Family, Meta};
use crate::pg::index::opclass::class::OperatorClass;
use crate::pg::index::opclass::cut;
use crate::pg::index::opclass::options::refuse_storage_parameters;
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::server::error::Result;
use neardup_core::joins::search::runs::signature::BITS;
use neardup_core::text;

/// Returns the metapage of a new index.
pub(crate) fn choose(index: OpenIndex) -> Result<Meta> {
    let options = RunOptions::read(index);
    let example = format!("min_run = {}", options.least());
    refuse_storage_parameters(index, OperatorClass::TextRuns, "The least run", &example)?;
    let (origin, form) = (options.origin(), options.normalization());
    cut::check_form(origin, form)?;
    let keys = RunKeys::new(origin, form, options.least());
    let gram = keys.map_or(0, |keys| keys.gram());
    Ok(Meta {
        family: Family::Runs as u8,
        class: OperatorClass::TextRuns as u8,
        text_version: text::VERSION,
        tokenizer: cut::number_of(origin, form),
        k: gram,
        bands: BITS,
        distance: options.least(),
        ..Meta::default()
    })
}
