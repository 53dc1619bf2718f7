//! `neardup_plan(threshold, recall, preset)`: returns the detection curve of minhash bands
//! (docs/reference/functions.md).

use pgrx::pg_sys::Datum;

use crate::pg::server::call::sql_functions;
use crate::pg::server::error::SqlError;
use crate::pg::server::set_returning::{self, Rows, float};
use neardup_core::joins::sketches::banding::Banding;
use neardup_core::joins::sketches::presets;

/// The number of similarities of a curve, from 0.05 to 1.
const STEPS: u32 = 20;

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
        let columns = ["bands", "rows", "permutations", "detection_at_threshold", "similarity", "detection"];
        let row = |step: u32| {
            let similarity = f64::from(step) / f64::from(STEPS);
            let [bands, rows, permutations] = [plan.bands, plan.rows, plan.values()].map(|n| Some(Datum::from(n)));
            let at_threshold = float(plan.detection(threshold));
            Ok([bands, rows, permutations, at_threshold, float(similarity), float(plan.detection(similarity))])
        };
        set_returning::all(call, Rows(columns, (1..=STEPS).map(row)))
    };
}
