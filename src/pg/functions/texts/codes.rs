//! Feature codes and their repeatability as SQL functions (docs/reference/functions.md).

use std::borrow::Cow;

use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::compute;
use crate::pg::server::values::text;
use neardup_core::features::codes::{CodeSpec, feature_code};
use neardup_core::verify::repeatability::repeatability;

sql_functions! {
    /// `feature_code(text, anchors, cut, unit_length, unit_share, paragraphs, ends, min_length,
    /// fallback) → text`
    neardup_feature_code, within Arguments: |call| {
        let Some(body) = call.text(0)? else { return Ok(call.give::<i32>(None)) };
        let spec = spec(call)?;
        let code = compute(body.len(), |stop| feature_code(&body, &spec, stop))?;
        text(&code)
    };

    /// `repeatability(container text, contained text) → float8`
    neardup_repeatability, within Arguments: |call| {
        Ok(call.give(call.two_texts()?.map(|texts| of_texts(&texts)).transpose()?))
    };

    /// `code_repeatability(container text, contained text) → float8`
    neardup_code_repeatability, within Arguments: |call| {
        Ok(call.give(call.two_texts()?.map(|codes| of_codes(&codes)).transpose()?))
    };
}

/// Reads the parameters of feature codes from the arguments after the text.
fn spec(call: FunctionCall) -> Result<CodeSpec> {
    let spec = CodeSpec {
        anchors: call.name(1)?.unwrap_or_default().chars().collect(),
        cut: call.whole(2, "cut")? as usize,
        unit_length: call.whole(3, "unit_length")? as usize,
        unit_share: call.need(4, "unit_share")?,
        paragraphs: call.whole(5, "paragraphs")? as usize,
        ends: call.whole(6, "ends")? as usize,
        min_length: call.whole(7, "min_length")? as usize,
        fallback: call.whole(8, "fallback")? as usize,
    };
    let example = "For example: SELECT feature_code(body, cut => 1000, unit_share => 0.75, ends => 10);";
    spec.check().map_err(|error| SqlError::from(error).hint(example))?;
    Ok(spec)
}

/// Computes the repeatability of two documents from feature codes with the default parameters.
fn of_texts([container, contained]: &[Cow<'static, str>; 2]) -> Result<f64> {
    let found = compute(container.len() + contained.len(), |stop| {
        let spec = CodeSpec::default();
        let codes = (feature_code(container, &spec, stop)?, feature_code(contained, &spec, stop)?);
        repeatability(&codes.0, &codes.1, stop)
    })?;
    Ok(found)
}

/// Computes the repeatability of two feature codes. Fails if one is longer than a code can be.
fn of_codes([container, contained]: &[Cow<'static, str>; 2]) -> Result<f64> {
    const LONGEST: usize = 2 * CodeSpec::LONGEST_CUT;
    for code in [container, contained] {
        if code.len() > LONGEST && code.chars().nth(LONGEST).is_some() {
            return Err(SqlError::parameter(format!("a feature code has at most {LONGEST} characters"))
                .hint("Of whole texts use repeatability(container, contained)."));
        }
    }
    let found = compute(container.len() + contained.len(), |stop| repeatability(container, contained, stop))?;
    Ok(found)
}
