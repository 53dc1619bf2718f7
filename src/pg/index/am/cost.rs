//! The cost of a scan: the cost of the condition that the scan starts with, or of the order in
//! which it returns rows.

use pgrx::pg_sys;

use super::cost_model::{IndexFacts, PROHIBITIVE, Seen, wanted};
use super::placeholder_ball::stand_in;
use crate::pg::compat;
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::probe::{Probe, Target};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::server::guard::guard;

/// `amcostestimate`
#[allow(clippy::too_many_arguments)] // The server defines the parameters.
pub(crate) unsafe extern "C-unwind" fn estimate(
    root: *mut pg_sys::PlannerInfo,
    path: *mut pg_sys::IndexPath,
    loops: f64,
    startup: *mut pg_sys::Cost,
    total: *mut pg_sys::Cost,
    selectivity: *mut pg_sys::Selectivity,
    correlation: *mut f64,
    pages: *mut f64,
) {
    // SAFETY: this is the outermost frame; the planner passes nodes of its own, has locked the
    // index, and reads the results.
    unsafe {
        guard(|| {
            let mut generic = pg_sys::GenericCosts::default();
            pg_sys::genericcostestimate(root, path, loops, &raw mut generic);
            *correlation = 0.0;
            *selectivity = generic.indexSelectivity;
            *pages = generic.numIndexPages;
            let info = &*(*path).indexinfo;
            let ordered = !(*path).indexorderbys.is_null();
            if info.hypothetical {
                *startup = generic.indexStartupCost;
                *total = generic.indexTotalCost;
                return Ok(());
            }
            let relation = pg_sys::index_open(info.indexoid, pg_sys::NoLock as i32);
            let known = IndexFacts::read(OpenIndex::new(relation), info.reltablespace);
            let probe = best_probe(path, &known.keys);
            let order = (ordered && probe.is_none()).then(|| order_of(path, &known.keys));
            pg_sys::index_close(relation, pg_sys::NoLock as i32);

            let rows = known.directory.rows().max(1) as f64;
            let mut cost = known.fixed() + generic.indexStartupCost;
            match &probe {
                None => {
                    cost += match &order {
                        Some(order) => known.nearest(order, wanted(root, info)),
                        None => known.comparing_all(),
                    } + rows * pg_sys::cpu_tuple_cost;
                }
                Some(Seen::Now(Probe::Grams(probe))) => {
                    cost += known.searching_strings(probe.elements.len() as f64);
                }
                Some(Seen::Now(Probe::Sets(probe))) => cost += known.counting(probe.reach.probes().into()),
                Some(Seen::AtRunTime) => cost += known.searching_at_run_time(rows),
                Some(Seen::Now(probe)) => match probe.signatures() {
                    Some(signatures) => {
                        let probes = signatures.len() as f64;
                        let mut candidates = known.candidates(probes).min(rows);
                        if known.keys.class.has_sketches() {
                            *selectivity = selectivity.read().min((candidates / rows).max(1.0 / rows));
                        } else if known.keys.runs.is_none() {
                            // Some elements are far more frequent than others, and only the
                            // column's statistics show that.
                            candidates = candidates.max(*selectivity * rows);
                        }
                        cost += known.probing(probes, candidates);
                    }
                    None => cost += known.comparing_all() + PROHIBITIVE,
                },
            }
            if ordered && (*(*path).indexorderbys).length > 4 {
                cost += PROHIBITIVE;
            }
            if cost >= PROHIBITIVE {
                compat::disable(&mut (*path).path);
            }
            // The scan collects everything before it returns the first row.
            *startup = cost;
            *total = cost + pg_sys::cpu_index_tuple_cost * *selectivity * info.tuples;
            Ok(())
        });
    }
}

/// Returns the condition of a path that is cheapest to start with.
///
/// # Safety
/// `path` is a node of the planner.
unsafe fn best_probe(path: *mut pg_sys::IndexPath, keys: &ClassKeys) -> Option<Seen<Probe>> {
    let mut best: Option<Seen<Probe>> = None;
    // SAFETY: lists of nodes of these kinds; index conditions of this access method are always
    // operators with two arguments.
    unsafe {
        let relam = (*(*path).indexinfo).relam;
        let clauses = pgrx::PgList::<pg_sys::IndexClause>::from_pg((*path).indexclauses);
        for clause in clauses.iter_ptr() {
            let quals = pgrx::PgList::<pg_sys::RestrictInfo>::from_pg((*clause).indexquals);
            for qual in quals.iter_ptr() {
                let operator: *mut pg_sys::OpExpr = (*qual).clause.cast();
                if (*operator).xpr.type_ != pg_sys::NodeTag::T_OpExpr {
                    continue;
                }
                let family = *(*(*path).indexinfo).opfamily;
                let strategy = pg_sys::get_op_opfamily_strategy((*operator).opno, family);
                let probe = |value| keys.probe(strategy as u16, value).ok();
                let seen = argument(operator, relam).seen(Probe::Nothing, probe, Probe::is_served);
                best = Some(match (best.take(), seen) {
                    (Some(Seen::Now(a)), Seen::Now(b)) => {
                        Seen::Now(if b.effort() < a.effort() { b } else { a })
                    }
                    (Some(Seen::Now(probe)), Seen::AtRunTime) | (Some(Seen::AtRunTime), Seen::Now(probe)) => {
                        if probe.is_served() {
                            Seen::Now(probe)
                        } else {
                            Seen::AtRunTime
                        }
                    }
                    (_, seen) => seen,
                });
            }
        }
    }
    best
}

/// The argument of an operator.
enum Argument<'a> {
    /// A known constant.
    Known(&'a pg_sys::Const),
    /// An argument that is not known yet. The constant is the value that it has for a placeholder
    /// document.
    Like(&'a pg_sys::Const),
    /// An argument about which nothing is known.
    AtRunTime,
}

impl Argument<'_> {
    /// Returns what the index makes of the argument: `null` for NULL, and the result of `read` for
    /// a valid value. An invalid value counts as not known, and the query raises the error. A
    /// placeholder value can only prove that the index does not serve the argument; otherwise the
    /// argument counts as not known.
    fn seen<T>(
        &self,
        null: T,
        read: impl Fn(pg_sys::Datum) -> Option<T>,
        is_served: impl Fn(&T) -> bool,
    ) -> Seen<T> {
        let seen = match self {
            Self::Known(constant) if constant.constisnull => Some(null),
            Self::Known(constant) => read(constant.constvalue),
            Self::Like(constant) => read(constant.constvalue).filter(|seen| !is_served(seen)),
            Self::AtRunTime => None,
        };
        seen.map_or(Seen::AtRunTime, Seen::Now)
    }
}

/// Returns the second argument of an operator of the access method `relam`.
///
/// # Safety
/// `operator` is a node of the planner with two arguments.
unsafe fn argument<'a>(operator: *mut pg_sys::OpExpr, relam: pg_sys::Oid) -> Argument<'a> {
    // SAFETY: the caller's promise; nodes of this tag are of this type.
    unsafe {
        let arguments = pgrx::PgList::<pg_sys::Node>::from_pg((*operator).args);
        let Some(node) = arguments.get_ptr(1) else { return Argument::AtRunTime };
        if (*node).type_ == pg_sys::NodeTag::T_Const {
            return Argument::Known(&*node.cast());
        }
        stand_in(node, relam).map_or(Argument::AtRunTime, Argument::Like)
    }
}

/// Returns the target that the distances of a path are measured to. NULL counts as a ball that no
/// row can be in. Several targets count as one target that the index does not serve.
///
/// # Safety
/// `path` is a node of the planner, with an order.
unsafe fn order_of(path: *mut pg_sys::IndexPath, keys: &ClassKeys) -> Seen<Target> {
    // SAFETY: a list of operators of this access method, which have two arguments.
    unsafe {
        let orders = pgrx::PgList::<pg_sys::OpExpr>::from_pg((*path).indexorderbys);
        let Some(order) = orders.get_ptr(0).filter(|_| orders.len() == 1) else {
            return Seen::Now(Target::Unlike);
        };
        let target = |value| keys.target(value).ok();
        let is_served = |target: &Target| !matches!(target, Target::Unlike);
        argument(order, (*(*path).indexinfo).relam).seen(Target::Ball(None), target, is_served)
    }
}
