//! The cost of a scan in the order of a distance. It depends on how many rows the query wants.

use pgrx::pg_sys;

use super::cost_model::{IndexFacts, PROHIBITIVE, Seen};
use crate::pg::index::opclass::probe::Target;

/// The probability that signatures find the next wanted row. Most texts have few near duplicates.
const FOUND: f64 = 0.9;

/// Returns how many rows of a table the query wants in order, or infinity if that is not known.
///
/// # Safety
/// Both arguments are nodes of the planner.
pub(super) unsafe fn wanted(root: *mut pg_sys::PlannerInfo, index: &pg_sys::IndexOptInfo) -> f64 {
    // SAFETY: the caller's promise.
    let (limit, alone, rows) = unsafe {
        let alone = pg_sys::bms_num_members((*root).all_baserels) == 1;
        ((*root).limit_tuples, alone, (*index.rel).rows)
    };
    // In a join it is not known how many rows of each table make one row of the result.
    if limit <= 0.0 || !alone {
        return f64::INFINITY;
    }
    // Other conditions remove some rows.
    limit * (index.tuples / rows.max(1.0)).max(1.0)
}

impl IndexFacts {
    /// Returns the cost of finding the wanted number of nearest rows.
    pub(super) fn nearest(&self, order: &Seen<Target>, wanted: f64) -> f64 {
        let (rows, all) = (self.directory.rows().max(1) as f64, self.comparing_all());
        // Rows at equal distance are returned without being compared.
        let ties = all * (wanted / rows).min(1.0);
        let of_balls = self.keys.sets.is_some() || self.keys.grams.is_some();
        match order {
            Seen::Now(Target::Ball(Some(probe))) => self.counting(probe.reach.probes().into()) + ties,
            Seen::Now(Target::Grams(probe)) => self.searching_strings(probe.elements.len() as f64) + ties,
            Seen::AtRunTime if self.keys.grams.is_some() => {
                self.searching_strings(self.keys.usual_probes()) + ties
            }
            Seen::AtRunTime if of_balls => self.counting(self.keys.usual_probes()) + ties,
            Seen::Now(Target::Ball(None) | Target::Empty) => ties,
            // The server would have to keep all rows until it has compared them.
            Seen::Now(Target::Unlike) if of_balls => all + PROHIBITIVE,
            Seen::Now(Target::Unlike) => all,
            Seen::AtRunTime | Seen::Now(Target::Sketch(_)) => {
                let probes = self.keys.usual_probes();
                let near = self.probing(probes, self.candidates(probes).min(rows));
                let rest =
                    if self.keys.has_single_values() { ties } else { all * (1.0 - FOUND.powf(wanted)) };
                (near + rest).min(all)
            }
        }
    }
}
