//! Method `spotsigs`: the exact join of the documents' sets of spot signatures by Jaccard
//! similarity.

use crate::pg::request::arguments::Arguments;
use crate::pg::request::features::SpotOptions;
use crate::pg::server::error::Result;
use neardup_core::methods::Method;
use neardup_core::methods::spotsigs::SpotSigs;
use neardup_core::verify::measure::Measure;
use neardup_core::verify::predicate::Predicate;

/// Reads the parameters.
pub(crate) fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    const THRESHOLD: f64 = 0.8;
    let predicate = Predicate::new(Measure::Jaccard, arguments.threshold(THRESHOLD)?)?;
    let spec = arguments.options::<SpotOptions>()?.spec(&arguments.example)?;
    arguments.accept();
    arguments.whole_texts("compares chains of words")?;
    Ok(Box::new(SpotSigs { spec, predicate }))
}
