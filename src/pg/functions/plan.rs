//! `neardup_plan(threshold, recall, preset)`: returns the detection curve of minhash bands
//! (docs/reference/functions.md).

use pgrx::pg_sys::Datum;

use crate::pg::server::call::sql_functions;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::set_returning::{self, RowSource};
use neardup_core::joins::sketches::banding::Banding;
use neardup_core::joins::sketches::presets;

sql_functions! {
    /// `neardup_plan(threshold, recall, preset)`
    neardup_plan, within Arguments: |call| {
        let hint = "For example: SELECT * FROM neardup_plan(0.8, 0.95);";
        let with_hint = |error: neardup_core::error::Error| SqlError::from(error).hint(hint);
        let threshold: f64 = call.get(0).unwrap_or(0.8);
        neardup_core::verify::measure::check_threshold(threshold).map_err(with_hint)?;
        let plan = match call.name(2)? {
            Some(name) => presets::find(&name).and_then(|preset| preset.bands).ok_or_else(|| {
                SqlError::parameter(format!("there is no preset \"{name}\" with bands"))
                    .hint(format!("Presets: {}. {hint}", presets::names(None)))
            })?,
            None => Banding::for_recall(threshold, call.get(1).unwrap_or(0.95)).map_err(with_hint)?,
        };
        set_returning::all(call, DetectionCurve { plan, threshold, step: 0 })
    };
}

/// The detection curve as rows, for similarities from 0.05 to 1.
struct DetectionCurve {
    plan: Banding,
    threshold: f64,
    step: u32,
}

impl RowSource<6> for DetectionCurve {
    fn columns(&self) -> [&'static str; 6] {
        ["bands", "rows", "permutations", "detection_at_threshold", "similarity", "detection"]
    }

    fn next(&mut self) -> Result<Option<[Datum; 6]>> {
        const STEPS: u32 = 20;
        self.step += 1;
        if self.step > STEPS {
            return Ok(None);
        }
        let Self { plan, threshold, step } = *self;
        let float = |value: f64| Datum::from(value.to_bits());
        let similarity = f64::from(step) / f64::from(STEPS);
        Ok(Some([
            Datum::from(plan.bands),
            Datum::from(plan.rows),
            Datum::from(plan.values()),
            float(plan.detection(threshold)),
            float(similarity),
            float(plan.detection(similarity)),
        ]))
    }
}
