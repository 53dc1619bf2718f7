//! The cost of the parts of a scan, from the statistics in the metapage; and the cost of a scan in
//! the order of a distance, which depends on how many rows the query wants.

use pgrx::pg_sys;

use crate::pg::index::layout::format::Descriptor;
use crate::pg::index::layout::items::rows_per_page;
use crate::pg::index::layout::meta::Directory;
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::probe::Target;
use crate::pg::index::pages::buffer::OpenIndex;

/// The cost that the server adds to a plan that is switched off (disable_cost of costsize.c).
pub(super) const PROHIBITIVE: f64 = 1.0e10;

/// The facts about an index that costs depend on.
pub(super) struct IndexFacts {
    pub directory: Directory,
    pub keys: ClassKeys,
    page: PageCost,
}

/// The cost of a page in the index's tablespace.
struct PageCost {
    random: f64,
    sequential: f64,
}

/// A condition or an order as the planner sees it.
pub(super) enum Seen<T> {
    /// The argument is known.
    Now(T),
    /// The argument is not known before the query runs.
    AtRunTime,
}

impl IndexFacts {
    /// # Safety
    /// The index is open.
    pub(super) unsafe fn read(index: OpenIndex, tablespace: pg_sys::Oid) -> Self {
        let directory = Directory::read(index);
        let keys = ClassKeys::open(index, &directory.meta);
        let mut page = PageCost { random: 0.0, sequential: 0.0 };
        // SAFETY: writes two numbers.
        unsafe {
            pg_sys::get_tablespace_page_costs(tablespace, &raw mut page.random, &raw mut page.sequential);
        }
        Self { directory, keys, page }
    }

    fn sum(&self, of: impl Fn(&Descriptor) -> u64) -> f64 {
        self.directory.segments.iter().map(of).sum::<u64>() as f64
    }

    /// Returns the cost of reading the metapage, the pending area, and the roots of the segments.
    pub(super) fn fixed(&self) -> f64 {
        let pending = self.directory.pending_pages() as f64;
        let per_page = rows_per_page(self.keys.payload().max(64)) as f64;
        // SAFETY: a setting.
        let look = unsafe { pg_sys::cpu_operator_cost };
        (1.0 + self.directory.segments.len() as f64) * self.page.random
            + pending * (self.page.sequential + per_page * look)
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
        // SAFETY: settings.
        let (search, look) = unsafe { (pg_sys::cpu_index_tuple_cost, pg_sys::cpu_operator_cost) };
        // The pages of one segment are close to one another and mostly in memory.
        let page = (self.page.random + self.page.sequential) / 2.0;
        (pages + list_pages + row_pages) * page + signatures * segments * search + candidates * look
    }

    /// Returns the cost of reading the lists of this many classes in every segment and of checking
    /// the rows that are in two of these lists.
    pub(super) fn counting(&self, classes: f64) -> f64 {
        let segments = self.directory.segments.len() as f64;
        let read =
            classes * self.sum(|s| s.postings) / self.sum(|s| s.signatures).max(1.0) * segments.max(1.0);
        let read = read.min(self.sum(|s| s.postings));
        // Each class takes one page that locates its part, and the pages of the part itself.
        let pages =
            (2.2 * classes * segments).min(self.sum(|s| u64::from(s.pages - s.row_pages.min(s.pages))));
        let row_pages = self.sum(|s| s.row_pages.into()).min(read / 100.0);
        // SAFETY: a setting.
        let look = unsafe { pg_sys::cpu_operator_cost };
        let page = (self.page.random + self.page.sequential) / 2.0;
        (pages + row_pages) * page + read * look / 10.0
    }

    /// Estimates a search for a ball that is only known when the query runs, among `rows` rows.
    pub(super) fn searching_at_run_time(&self, rows: f64) -> pg_sys::Cost {
        let probes = self.keys.usual_probes();
        if self.keys.sets.is_some() {
            self.counting(probes)
        } else if self.keys.grams.is_some() {
            self.searching_strings(probes)
        } else {
            self.probing(probes, self.candidates(probes).min(rows))
        }
    }

    /// Returns the cost of finding strings that are similar to one of this many elements.
    pub(super) fn searching_strings(&self, elements: f64) -> f64 {
        /// The groups of sizes that a search visits, and the share of the rows that are in the
        /// lists of an element in these groups. Elements that many rows have make this share.
        const VISITED: f64 = 20.0;
        const SHARE: f64 = 0.01;
        let segments = self.directory.segments.len() as f64;
        let all = self.sum(|s| u64::from(s.pages - s.row_pages.min(s.pages)));
        let pages = (1.2 * elements * VISITED * segments).min(all);
        let read = (elements * self.directory.rows() as f64 * SHARE).min(self.sum(|s| s.postings));
        // SAFETY: a setting.
        let look = unsafe { pg_sys::cpu_operator_cost };
        let page = (self.page.random + self.page.sequential) / 2.0;
        pages * page + read * look / 10.0
    }

    /// Returns the cost of comparing all sketches.
    pub(super) fn comparing_all(&self) -> f64 {
        // SAFETY: a setting.
        let look = unsafe { pg_sys::cpu_operator_cost };
        self.sum(|s| s.row_pages.into()) * self.page.sequential + self.directory.rows() as f64 * look * 2.0
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
