//! Method `imatch`: documents of equal I-Match signatures.

use crate::features::FeatureSpec;
use crate::features::imatch::IdfRange;
use crate::methods::Method;
use crate::methods::imatch::Imatch;
use crate::pg::request::{Arguments, such_as};
use crate::pg::server::error::{Result, SqlError};

/// Reads the parameters.
pub fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    let options = arguments.options(&["lo", "hi"])?;
    arguments.only_threshold_one("has equal signatures only")?;
    let example = &arguments.example;
    let bound = |key: &str, default: f64| match options.value(key) {
        None => Ok(default),
        Some(value) => value.as_f64().ok_or_else(|| {
            SqlError::parameter(format!("{key} must be a number from 0 to 1, not {value}"))
                .hint(such_as(example))
        }),
    };
    let range = IdfRange::new(bound("lo", 0.1)?, bound("hi", 1.0)?)
        .map_err(|error| SqlError::from(error).hint(such_as(example)))?;
    arguments.accept(options);
    // Distinct terms.
    let spec = FeatureSpec { multiset: false, ..arguments.feature_spec(1)? };
    Ok(Box::new(Imatch { spec, range }))
}
