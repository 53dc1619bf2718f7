//! Method `imatch`: finds documents with equal I-Match signatures.

use serde::Deserialize;

use crate::pg::request::arguments::Arguments;
use crate::pg::request::example::such_as;
use crate::pg::request::features::idf_range;
use crate::pg::request::options::{Bound, Options};
use crate::pg::server::error::Result;
use neardup_core::features::FeatureSpec;
use neardup_core::methods::Method;
use neardup_core::methods::imatch::Imatch;

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

/// Reads the parameters.
pub(crate) fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    let ImatchOptions { lo, hi } = arguments.options()?;
    arguments.only_threshold_one("has equal signatures only")?;
    let range = idf_range(lo, hi).map_err(|error| error.hint(such_as(&arguments.example)))?;
    arguments.accept();
    // I-Match uses distinct terms.
    let spec = FeatureSpec { multiset: false, ..arguments.feature_spec(1)? };
    Ok(Box::new(Imatch { spec, range }))
}
