//! The cost of a scan: the cost of the condition that the scan starts with, or of the order in
//! which it returns rows, from the statistics in the metapage. An order costs more the more rows
//! the query wants.

use pgrx::pg_sys;

use super::placeholder_ball::stand_in;
use crate::pg::compat;
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::probe::{Probe, Target};
use crate::pg::index::layout::format::{Descriptor, StoredFamily};
use crate::pg::index::layout::items::rows_per_page;
use crate::pg::index::layout::meta::Directory;
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::query::nodes::constant;
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
            if !has_groups(path, ordered || probe.is_some()) {
                cost += PROHIBITIVE;
            }
            match &probe {
                None => {
                    cost += match &order {
                        Some(order) => known.nearest(order, wanted(root, info), *selectivity),
                        None => known.comparing_all(),
                    } + *selectivity * rows * pg_sys::cpu_tuple_cost;
                }
                Some(Some(probe @ (Probe::Grams(_) | Probe::Sets(_)))) => {
                    cost += known.searching(probe.lookups());
                }
                Some(None) => cost += known.searching(known.keys.usual_probes()),
                Some(Some(probe)) => match probe.signatures() {
                    Some(signatures) => {
                        let probes = signatures.len() as f64;
                        let mut candidates = known.candidates(probes).min(rows);
                        if known.keys.class.has_sketches() {
                            *selectivity = selectivity.read().min((candidates / rows).max(1.0 / rows));
                        } else if known.keys.class.family() != StoredFamily::Runs {
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
            // The scan collects everything before it returns the first row. There is a scan for
            // each element of an array that a group column is compared with.
            *startup = cost;
            *total = cost * generic.num_sa_scans.max(1.0)
                + pg_sys::cpu_index_tuple_cost * *selectivity * info.tuples;
            Ok(())
        });
    }
}

/// Reports whether a path has a condition on each group column of its index, if there are any, and
/// another one or an order: `searches`. Otherwise it reads all of the index.
///
/// # Safety
/// `path` is a node of the planner.
unsafe fn has_groups(path: *mut pg_sys::IndexPath, searches: bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let clauses = pgrx::PgList::<pg_sys::IndexClause>::from_pg((*path).indexclauses);
        let has = |column| searches && clauses.iter_ptr().any(|clause| (*clause).indexcol == column);
        (0..group_columns(path)).all(has)
    }
}

/// Returns the number of group columns of the index of a path.
///
/// # Safety
/// `path` is a node of the planner.
unsafe fn group_columns(path: *mut pg_sys::IndexPath) -> i16 {
    // SAFETY: the caller's promise. An index has at most 32 columns.
    unsafe { (*(*path).indexinfo).nkeycolumns as i16 - 1 }
}

/// Returns the condition of a path that is cheapest to start with, if there is one; `Some(None)` if
/// it is not known before the query runs. Conditions on group columns are none of these.
///
/// # Safety
/// `path` is a node of the planner.
unsafe fn best_probe(path: *mut pg_sys::IndexPath, keys: &ClassKeys) -> Option<Option<Probe>> {
    let mut best: Option<Option<Probe>> = None;
    // SAFETY: lists of nodes of these kinds; conditions on the column that is searched are always
    // operators with two arguments.
    unsafe {
        let groups = group_columns(path);
        let family = *(*(*path).indexinfo).opfamily.add(groups as usize);
        let relam = (*(*path).indexinfo).relam;
        let clauses = pgrx::PgList::<pg_sys::IndexClause>::from_pg((*path).indexclauses);
        for clause in clauses.iter_ptr().filter(|&clause| (*clause).indexcol >= groups) {
            let quals = pgrx::PgList::<pg_sys::RestrictInfo>::from_pg((*clause).indexquals);
            for qual in quals.iter_ptr() {
                let operator: *mut pg_sys::OpExpr = (*qual).clause.cast();
                if (*operator).xpr.type_ != pg_sys::NodeTag::T_OpExpr {
                    continue;
                }
                let strategy = pg_sys::get_op_opfamily_strategy((*operator).opno, family);
                let probe = |value| keys.probe(strategy as u16, value).ok();
                let seen = seen(operator, relam, Probe::Nothing, probe, Probe::is_served);
                best = Some(match (best.take(), seen) {
                    (Some(Some(a)), Some(b)) => Some(if b.effort() < a.effort() { b } else { a }),
                    (Some(Some(probe)), None) | (Some(None), Some(probe)) => {
                        Some(probe).filter(Probe::is_served)
                    }
                    (_, seen) => seen,
                });
            }
        }
    }
    best
}

/// Returns what the index makes of the second argument of an operator: `null` for NULL, and the
/// result of `read` for a valid value. `None` means that the argument is not known before the query
/// runs. An invalid value counts as not known, and the query raises the error. An expression on a
/// placeholder document can only prove that the index does not serve the argument; otherwise the
/// argument counts as not known.
///
/// # Safety
/// `operator` is a node of the planner with two arguments; `relam` is its access method.
unsafe fn seen<T>(
    operator: *mut pg_sys::OpExpr,
    relam: pg_sys::Oid,
    null: T,
    read: impl Fn(pg_sys::Datum) -> Option<T>,
    is_served: impl Fn(&T) -> bool,
) -> Option<T> {
    // SAFETY: the caller's promise; nodes of this tag are of this type.
    unsafe {
        let node = pgrx::PgList::<pg_sys::Node>::from_pg((*operator).args).get_ptr(1)?;
        if (*node).type_ == pg_sys::NodeTag::T_Const {
            return constant(node).map_or(Some(null), read);
        }
        read(stand_in(node, relam)?.constvalue).filter(|seen| !is_served(seen))
    }
}

/// Returns the target that the distances of a path are measured to. From NULL, all rows are
/// equally far. Several targets count as one target that the index does not serve.
///
/// # Safety
/// `path` is a node of the planner, with an order.
unsafe fn order_of(path: *mut pg_sys::IndexPath, keys: &ClassKeys) -> Option<Target> {
    // SAFETY: a list of operators of this access method, which have two arguments.
    unsafe {
        let orders = pgrx::PgList::<pg_sys::OpExpr>::from_pg((*path).indexorderbys);
        let Some(order) = orders.get_ptr(0).filter(|_| orders.len() == 1) else {
            return Some(Target::Unlike);
        };
        let target = |value| keys.target(value).ok();
        let is_served = |target: &Target| !matches!(target, Target::Unlike);
        let null = Target::Ball(Box::new(Probe::Nothing));
        seen(order, (*(*path).indexinfo).relam, null, target, is_served)
    }
}

/// The cost that the server adds to a plan that is switched off (disable_cost of costsize.c).
pub(super) const PROHIBITIVE: f64 = 1.0e10;

/// The facts about an index that costs depend on.
pub(super) struct IndexFacts {
    pub directory: Directory,
    pub keys: ClassKeys,
    /// The costs of a page in the index's tablespace.
    random: f64,
    sequential: f64,
}

/// Returns the cost of a comparison.
fn operator_cost() -> f64 {
    // SAFETY: a setting.
    unsafe { pg_sys::cpu_operator_cost }
}

impl IndexFacts {
    /// # Safety
    /// The index is open.
    pub(super) unsafe fn read(index: OpenIndex, tablespace: pg_sys::Oid) -> Self {
        let (directory, keys) = ClassKeys::read(index);
        let (mut random, mut sequential) = (0.0, 0.0);
        // SAFETY: writes two numbers.
        unsafe { pg_sys::get_tablespace_page_costs(tablespace, &raw mut random, &raw mut sequential) };
        Self { directory, keys, random, sequential }
    }

    fn sum(&self, of: impl Fn(&Descriptor) -> u64) -> f64 {
        self.directory.segments.iter().map(of).sum::<u64>() as f64
    }

    /// Returns the cost of reading the metapage, the pending area, and the roots of the segments.
    pub(super) fn fixed(&self) -> f64 {
        let pending = self.directory.pending_pages() as f64;
        let per_page = rows_per_page(self.keys.payload().max(64)) as f64;
        (1.0 + self.directory.segments.len() as f64) * self.random
            + pending * (self.sequential + per_page * operator_cost())
    }

    /// Estimates the number of rows that have at least one signature of a list of `signatures`
    /// signatures.
    pub(super) fn candidates(&self, signatures: f64) -> f64 {
        signatures * self.sum(|s| s.postings) / self.sum(|s| s.signatures).max(1.0)
    }

    /// Returns the cost of looking up signatures in every segment and of reading the rows that have
    /// them.
    pub(super) fn probing(&self, signatures: f64, candidates: f64) -> f64 {
        let (lists, segments) = (self.sum(|s| s.lists.into()), self.directory.segments.len() as f64);
        let pages = self.sum(|s| (s.signature_pages).into()).min(1.2 * signatures * segments);
        let list_pages = if lists > 0.0 { (signatures * segments).min(2.0 * lists) } else { 0.0 };
        let row_pages = self.sum(|s| s.row_pages.into()).min(candidates);
        // SAFETY: a setting.
        let search = signatures * segments * unsafe { pg_sys::cpu_index_tuple_cost };
        self.near_pages(pages + list_pages + row_pages) + search + candidates * operator_cost()
    }

    /// Returns the cost of pages of one segment, which are close to one another and mostly in
    /// memory.
    fn near_pages(&self, pages: f64) -> f64 {
        pages * ((self.random + self.sequential) / 2.0)
    }

    /// Returns the cost of reading the lists of this many classes in every segment and of checking
    /// the rows that are in two of these lists.
    fn counting(&self, classes: f64) -> f64 {
        let segments = self.directory.segments.len() as f64;
        let read =
            classes * self.sum(|s| s.postings) / self.sum(|s| s.signatures).max(1.0) * segments.max(1.0);
        let read = read.min(self.sum(|s| s.postings));
        let row_pages = self.sum(|s| s.row_pages.into()).min(read / 100.0);
        // Each class takes one page that locates its part, and the pages of the part itself.
        self.near_pages(self.list_pages(2.2 * classes) + row_pages) + read * operator_cost() / 10.0
    }

    /// Returns the number of pages of lists of which `pages` are read in every segment.
    fn list_pages(&self, pages: f64) -> f64 {
        let all = self.sum(|s| u64::from(s.pages - s.row_pages.min(s.pages)));
        (pages * self.directory.segments.len() as f64).min(all)
    }

    /// Returns the cost of a search that looks up this many lists or signatures.
    pub(super) fn searching(&self, probes: f64) -> pg_sys::Cost {
        match self.keys.class.family() {
            StoredFamily::Sets => self.counting(probes),
            StoredFamily::Grams => self.searching_strings(probes),
            _ => {
                let rows = self.directory.rows().max(1) as f64;
                self.probing(probes, self.candidates(probes).min(rows))
            }
        }
    }

    /// Returns the cost of finding strings that are similar to one of this many elements.
    fn searching_strings(&self, elements: f64) -> f64 {
        /// The groups of sizes that a search visits, and the share of the rows that are in the
        /// lists of an element in these groups. Elements that many rows have make this share.
        const VISITED: f64 = 20.0;
        const SHARE: f64 = 0.01;
        let pages = self.list_pages(1.2 * elements * VISITED);
        let read = (elements * self.directory.rows() as f64 * SHARE).min(self.sum(|s| s.postings));
        self.near_pages(pages) + read * operator_cost() / 10.0
    }

    /// Returns the cost of comparing all sketches.
    pub(super) fn comparing_all(&self) -> f64 {
        self.sum(|s| s.row_pages.into()) * self.sequential
            + self.directory.rows() as f64 * operator_cost() * 2.0
    }
}

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
    /// Returns the cost of finding the wanted number of nearest rows, of a group that has this
    /// share of all rows.
    pub(super) fn nearest(&self, order: &Option<Target>, wanted: f64, share: f64) -> f64 {
        let rows = self.directory.rows().max(1) as f64;
        // The rows of a group are together in each segment.
        let pages = self.sum(|s| s.row_pages.into()) * share + self.directory.segments.len() as f64;
        let in_group = self.near_pages(pages.min(share * rows)) + share * rows * operator_cost() * 2.0;
        let all =
            if self.keys.meta.groups > 0 { self.comparing_all().min(in_group) } else { self.comparing_all() };
        // Rows at equal distance are returned without being compared.
        let ties = all * (wanted / rows).min(1.0);
        let has_balls = self.keys.class.has_balls();
        match order {
            Some(Target::Ball(probe)) => self.searching(probe.lookups()) + ties,
            // The server would have to keep all rows until it has compared them.
            Some(Target::Unlike) if has_balls => all + PROHIBITIVE,
            Some(Target::Unlike) => all,
            None if has_balls => self.searching(self.keys.usual_probes()) + ties,
            None | Some(Target::Sketch(_)) => {
                let near = self.searching(self.keys.usual_probes());
                let rest =
                    if self.keys.has_single_values() { ties } else { all * (1.0 - FOUND.powf(wanted)) };
                (near + rest).min(all)
            }
        }
    }
}
