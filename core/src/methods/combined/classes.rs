//! Rows with equal documents, of the same site if sites are known. Every method says the same of
//! all rows of such a class, so one of them stands for all in pairs with other classes, and two of
//! them for all in pairs of the class itself.

use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::sets::members::Members;
use crate::joins::pairs::Pairs;
use crate::memory;

const DOING: &str = "finding equal documents";

/// The number of rows without a document or a site.
const NONE: u32 = u32::MAX;

/// The classes of the rows of one or two tables. Those of the right table, if there is one, follow
/// those of the left one.
#[derive(Debug)]
pub(super) struct DocumentClasses {
    /// The class of each row.
    of: Vec<u32>,
    /// The place of each row among the rows of its class; the places after the second are 2.
    places: Vec<u8>,
    /// The site of each class.
    sites: Vec<u32>,
    pub(super) left: Members,
    pub(super) right: Option<Members>,
}

impl DocumentClasses {
    /// Finds the classes of rows with these hashes. There are `count` rows.
    pub(super) fn new(
        mut hashes: Vec<([u64; 2], u32)>,
        count: usize,
        sites: Option<&[u32]>,
        right_from: Option<u32>,
        executor: &dyn Executor,
    ) -> Result<Self> {
        let site = |row: u32| sites.and_then(|sites| sites.get(row as usize)).copied().unwrap_or(NONE);
        let is_right = |row: u32| right_from.is_some_and(|from| row >= from);
        let key = |&(hash, row): &([u64; 2], u32)| (is_right(row), hash, site(row));
        executor::sort(executor, &mut hashes, |a, b| (key(a), a.1).cmp(&(key(b), b.1)))?;
        let mut classes = Self {
            of: memory::filled(NONE, count, DOING)?,
            places: memory::filled(0, count, DOING)?,
            sites: Vec::new(),
            left: Members::default(),
            right: right_from.map(|_| Members::default()),
        };
        let mut rows = Vec::new();
        for class in hashes.chunk_by(|a, b| key(a) == key(b)) {
            let (is_right, _, site) = key(&class[0]);
            // Rows are numbered with 32 bits.
            let number = classes.sites.len() as u32;
            memory::push(&mut classes.sites, site, DOING)?;
            memory::refill(&mut rows, class.iter().map(|&(_, row)| row), DOING)?;
            for (place, &row) in rows.iter().enumerate() {
                classes.of[row as usize] = number;
                classes.places[row as usize] = place.min(2) as u8;
            }
            let members = if is_right { classes.right.as_mut() } else { None };
            members.unwrap_or(&mut classes.left).push(&rows)?;
        }
        Ok(classes)
    }

    /// Returns the number of classes.
    pub(super) fn len(&self) -> usize {
        self.sites.len()
    }

    /// Returns the class of a row, if the row is the first one of its class.
    pub(super) fn of_first(&self, row: u32) -> Option<u32> {
        let class = self.of[row as usize];
        (class != NONE && self.places[row as usize] == 0).then_some(class)
    }

    /// Leaves of the rows of a join those that stand for their classes.
    pub(super) fn represent(&self, pairs: &mut Pairs) -> Result<()> {
        let last = if self.right.is_some() { 0 } else { 1 };
        for members in [Some(&mut pairs.records.left), pairs.records.right.as_mut()].into_iter().flatten() {
            let (mut few, mut rows) = (Members::default(), Vec::new());
            for record in 0..members.len() {
                let all = members.rows(record).iter().copied();
                memory::refill(&mut rows, all.filter(|&row| self.places[row as usize] <= last), DOING)?;
                few.push(&rows)?;
            }
            *members = few;
        }
        Ok(())
    }

    /// Returns the classes of two rows, the lesser one first, or `None` if other rows stand for the
    /// pair.
    pub(super) fn pair(&self, left: u32, right: u32) -> Option<[u32; 2]> {
        let [a, b] = [left, right].map(|row| self.of[row as usize]);
        let are_first = [left, right].iter().all(|&row| self.places[row as usize] == 0);
        (a == b || are_first).then(|| [a.min(b), a.max(b)])
    }

    /// Reports whether the documents of two classes are of the same site.
    pub(super) fn is_same_site(&self, a: u32, b: u32) -> bool {
        let [a, b] = [a, b].map(|class| self.sites[class as usize]);
        a == b && a != NONE
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        let members = self.left.bytes() + self.right.as_ref().map_or(0, Members::bytes);
        members + memory::bytes(&self.of) + memory::bytes(&self.places) + memory::bytes(&self.sites)
    }
}
