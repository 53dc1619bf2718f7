//! Methods `imatch` and `spotsigs`: signatures of documents that are made of some of their words.

use serde::Deserialize;

use super::sets::DEFAULT_THRESHOLD;
use crate::pg::request::arguments::Arguments;
use crate::pg::request::example::such_as;
use crate::pg::request::features::{SpotOptions, idf_range};
use crate::pg::request::options::{Bound, Options};
use crate::pg::server::error::Result;
use neardup_core::features::FeatureSpec;
use neardup_core::methods::Method;
use neardup_core::methods::imatch::Imatch;
use neardup_core::methods::spotsigs::SpotSigs;
use neardup_core::verify::measure::Measure;
use neardup_core::verify::predicate::Predicate;

/// Options of I-Match.
#[derive(Debug, Default, Deserialize)]
struct ImatchOptions {
    lo: Option<Bound>,
    hi: Option<Bound>,
}

impl Options for ImatchOptions {
    fn good(_: &str) -> Option<String> {
        None
    }
}

/// Reads the parameters of `imatch`, which finds documents with equal I-Match signatures.
pub(crate) fn parse_imatch(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    let ImatchOptions { lo, hi } = arguments.options()?;
    arguments.only_threshold_one("has equal signatures only")?;
    let range = idf_range(lo, hi).map_err(|error| error.hint(such_as(&arguments.example)))?;
    arguments.accept();
    // I-Match uses distinct terms.
    let spec = FeatureSpec { multiset: false, ..arguments.feature_spec(1)? };
    Ok(Box::new(Imatch { spec, range }))
}

/// Reads the parameters of `spotsigs`, the exact join of the documents' sets of spot signatures by
/// Jaccard similarity.
pub(crate) fn parse_spotsigs(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    let predicate = Predicate::new(Measure::Jaccard, arguments.threshold(DEFAULT_THRESHOLD)?)?;
    let spec = arguments.options::<SpotOptions>()?.spec(&arguments.example)?;
    arguments.accept();
    arguments.whole_texts("compares chains of words")?;
    Ok(Box::new(SpotSigs { spec, predicate }))
}
