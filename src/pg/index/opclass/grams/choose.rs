//! Checks the settings of a new index of grams.

use super::HEAD;
use super::options::GramOptions;
use crate::pg::index::layout::format::{Family, Meta};
use crate::pg::index::opclass::class::OperatorClass;
use crate::pg::index::opclass::cut;
use crate::pg::index::opclass::options::{StorageOptions, refuse_stop_limit};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::features::origin::Origin;
use neardup_core::joins::search::ball::measure_number;
use neardup_core::joins::search::grams::BITS;
use neardup_core::text;
use neardup_core::verify::measure::Measure;

/// Returns the metapage of a new index.
pub(crate) fn choose(index: OpenIndex, class: OperatorClass) -> Result<Meta> {
    let name = class.name();
    if StorageOptions::read(index).threshold().is_some() {
        return Err(SqlError::parameter(format!("{name} has no storage parameter threshold"))
            .hint("It serves every similarity: RESET (threshold)"));
    }
    refuse_stop_limit(index, class)?;
    let (options, origin) = (GramOptions::read(index), Origin::Chars);
    cut::check_form(origin, options.normalization())?;
    Ok(Meta {
        family: Family::Grams as u8,
        class: class as u8,
        text_version: text::VERSION,
        tokenizer: cut::number_of(origin, options.normalization()),
        k: options.shingle(),
        bands: BITS,
        distance: measure_number(Measure::Jaccard).into(),
        payload: HEAD as u32,
        ..Meta::default()
    })
}
