//! Expands the record pairs of a join into pairs of rows, one at a time.
//!
//! Rows with equal sets, or equal texts, are one record of the join. The pairs of such equal rows
//! come first, followed by the row pairs of each pair of records. Row pairs are enumerated without
//! being stored, so memory does not grow with their number.

use super::Algorithm;
use super::{Counts, JoinedSets, RecordJoin, RecordPair};
use crate::error::Result;
use crate::executor::Executor;
use crate::features::sets::members::Members;
use crate::features::sets::order::Ordered;
use crate::features::sets::store::RecordTable;
use crate::memory;
use crate::storage::files::Resources;
use crate::verify::predicate::Predicate;

/// Two rows and their similarity.
///
/// Rows are numbered from 0. A similarity is above 0 and at most 1; the method defines what it
/// measures. If there is only one collection, the left row is the smaller one.
///
/// ```
/// use neardup_core::{Pair, near_duplicates};
///
/// let pairs = near_duplicates(&["a b c", "d", "a b c e"], 0.5)?;
/// assert_eq!(pairs, [Pair { left: 0, right: 2, similarity: 0.75 }]);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// A row of the left table, or of the only table.
    pub left: u32,
    /// A row of the right table, or another row of the only table.
    pub right: u32,
    /// The similarity of the two rows.
    pub similarity: f64,
}

/// Returns the records of the only table whose rows form pairs with each other: those of several
/// rows for which `passes` returns true. With two tables there are none.
pub(super) fn equal_records(
    left: &Members,
    right: Option<&Members>,
    mut passes: impl FnMut(u32) -> bool,
) -> Result<Vec<u32>> {
    let mut equal = Vec::new();
    let records = if right.is_some() { 0 } else { left.len() };
    for record in (0..records).filter(|&record| left.rows(record).len() > 1) {
        // Records are numbered with 32 bits.
        let record = record as u32;
        if passes(record) {
            memory::push(&mut equal, record, "listing equal documents")?;
        }
    }
    Ok(equal)
}

/// The records of a join, and which of them have rows that form pairs with each other.
#[derive(Debug, Default)]
pub(crate) struct PairedRecords {
    pub(crate) left: Members,
    /// The rows of the right table, if there are two tables.
    pub(crate) right: Option<Members>,
    /// The records whose rows form pairs with each other.
    pub(crate) equal: Vec<u32>,
    /// The similarities of their rows, if they are not all 1.
    pub(crate) similarities: Vec<f64>,
}

impl PairedRecords {
    /// Returns the rows of the records that are on the right of pairs.
    #[inline]
    fn rights(&self) -> &Members {
        self.right.as_ref().unwrap_or(&self.left)
    }

    /// Returns the rows of the two records of a pair.
    #[inline]
    fn rows(&self, pair: &RecordPair) -> [&[u32]; 2] {
        [self.left.rows(pair.left as usize), self.rights().rows(pair.right as usize)]
    }

    /// Returns the similarity of the rows of a record, which is given by its place in `equal`.
    pub(crate) fn similarity(&self, place: usize) -> f64 {
        self.similarities.get(place).copied().unwrap_or(1.0)
    }

    /// Returns the number of pairs of rows of equal records, or the greatest number if there are
    /// more.
    pub(crate) fn certain(&self) -> u64 {
        let pairs = self.equal.iter().map(|&record| {
            let rows = self.left.rows(record as usize).len() as u64;
            rows * (rows - 1) / 2
        });
        pairs.fold(0, u64::saturating_add)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.left.bytes()
            + self.right.as_ref().map_or(0, Members::bytes)
            + memory::bytes(&self.equal)
            + memory::bytes(&self.similarities)
    }
}

/// The row pairs of a join. In a self-join each pair comes once, with its rows in either order.
#[derive(Debug)]
pub struct Pairs {
    pub(crate) join: Box<dyn RecordJoin>,
    pub(crate) records: PairedRecords,
    /// The place of the next record of `equal` of the records.
    next_equal: usize,
    batch: Vec<RecordPair>,
    next_in_batch: usize,
    /// The progress of the join before the batch.
    before: f64,
    /// The pair of records that is being expanded. To expand equal rows, a record is paired with
    /// itself.
    current: Option<RecordPair>,
    /// The next positions in the row lists of the two records.
    at: (usize, usize),
    /// Set if all pairs of a row of the right record come one after the other, and not all pairs of
    /// a row of the left record.
    by_right: bool,
    given: u64,
}

impl Pairs {
    /// Prepares to find all pairs that pass. About as many bytes of records and index as the budget
    /// says are in memory at a time.
    pub fn new(
        ordered: Ordered,
        predicate: Predicate,
        algorithm: Algorithm,
        resources: Resources<'_>,
    ) -> Result<Self> {
        let Ordered { left, right, shared_tokens, weights, .. } = ordered;
        let rights = right.as_ref().map(|right| &right.members);
        let equal = equal_records(&left.members, rights, |record| {
            let size = left.store.size(record as usize);
            predicate.passes(size, size, size)
        })?;
        let (right_store, right) = right.map(|right| (right.store, right.members)).unzip();
        let RecordTable { store: left, members } = left;
        let budget = resources.budget;
        let sets =
            JoinedSets { left, right: right_store, shared_tokens, weights, predicate, algorithm, budget };
        Ok(Self::of_records(sets.join(resources.files)?, members, right, equal))
    }

    /// Expands the pairs of records that `join` finds, and the rows of each record in `equal`.
    pub fn of_records(
        join: Box<dyn RecordJoin>,
        left: Members,
        right: Option<Members>,
        equal: Vec<u32>,
    ) -> Self {
        Self {
            join,
            records: PairedRecords { left, right, equal, similarities: Vec::new() },
            next_equal: 0,
            batch: Vec::new(),
            next_in_batch: 0,
            before: 0.0,
            current: None,
            at: (0, 0),
            by_right: false,
            given: 0,
        }
    }

    /// Says how similar the rows of the records in `equal` are to each other, in this order.
    #[must_use]
    pub fn with_similarities(self, similarities: Vec<f64>) -> Self {
        Self { records: PairedRecords { similarities, ..self.records }, ..self }
    }

    /// Lets another join take the place of this one, which has not begun. `narrow` receives the
    /// sets and the rows of each, and the new join may leave out pairs. Does nothing if the pairs
    /// are not found by the sets of one table.
    pub fn narrow<E>(
        &mut self,
        narrow: impl FnOnce(JoinedSets, &Members) -> std::result::Result<Box<dyn RecordJoin>, E>,
    ) -> std::result::Result<(), E> {
        if let Some(sets) = self.join.take_sets() {
            self.join = narrow(sets, &self.records.left)?;
        }
        Ok(())
    }

    /// Lets the pairs of two records come by the rows of the right table: all pairs of a right row,
    /// then all pairs of the next one. There must be two tables. Otherwise they come by left rows.
    #[must_use]
    pub fn by_right(self) -> Self {
        Self { by_right: self.records.right.is_some(), ..self }
    }

    /// Leaves out what remains of the pairs of the row whose pair [`Pairs::take`] returned last,
    /// and of the same two records: the row of the left table, or of the right one after
    /// [`Pairs::by_right`]. So a caller that looks for one pair of each row does not enumerate all
    /// pairs of many equal rows.
    #[inline]
    pub fn skip_row(&mut self) {
        self.at.1 = usize::MAX;
    }

    /// Returns the number of pairs of equal rows. These pairs are known before the join runs.
    pub fn certain(&self) -> u64 {
        self.records.certain()
    }

    /// Returns the next pair, or `None` after the last. Takes O(1) amortised, except when the join
    /// has to advance: then it takes as long as one batch of the join.
    pub fn next(&mut self, executor: &dyn Executor) -> Result<Option<Pair>> {
        loop {
            if let Some(pair) = self.take() {
                return Ok(Some(pair));
            }
            if !self.advance(executor)? {
                return Ok(None);
            }
        }
    }

    /// Returns the next pair that the join has already found, or `None` when [`Pairs::advance`] has
    /// to be called. O(1) amortised.
    #[inline]
    pub fn take(&mut self) -> Option<Pair> {
        loop {
            if let Some(pair) = self.take_current() {
                return Some(pair);
            }
            if let Some(&record) = self.records.equal.get(self.next_equal) {
                let similarity = self.records.similarity(self.next_equal);
                self.next_equal += 1;
                self.current = Some(RecordPair { left: record, right: record, similarity });
                self.at = (0, 1);
            } else {
                self.current = Some(*self.batch.get(self.next_in_batch)?);
                self.next_in_batch += 1;
                self.prefetch();
                self.at = (0, 0);
            }
        }
    }

    /// Returns the groups of two or more rows of the only table that are one record, and for each
    /// group the similarity of its rows to each other, or `None` if they form no pairs.
    /// [`Pairs::take_group`] leaves these groups out.
    pub fn equal_rows(&self) -> impl Iterator<Item = (&[u32], Option<f64>)> + Clone {
        let PairedRecords { left, equal, .. } = &self.records;
        let mut equal = equal.iter().enumerate().peekable();
        (0..left.len()).filter(|&record| left.rows(record).len() > 1).map(move |record| {
            let place = equal.next_if(|&(_, &next)| next as usize == record).map(|(place, _)| place);
            (left.rows(record), place.map(|place| self.records.similarity(place)))
        })
    }

    /// Returns the next pair of records that the join has already found, as the pair of their first
    /// rows, which represents all pairs of their rows. It is used in place of [`Pairs::take`].
    /// Returns `None` when [`Pairs::advance`] has to be called. All row pairs that are represented
    /// count as given; the pairs of equal rows count as given on the first call.
    pub fn take_group(&mut self) -> Option<Pair> {
        if self.next_equal < self.records.equal.len() {
            self.given = self.given.saturating_add(self.certain());
            self.next_equal = self.records.equal.len();
        }
        let pair = self.batch.get(self.next_in_batch)?;
        self.next_in_batch += 1;
        let ([lefts, rights], similarity) = (self.records.rows(pair), pair.similarity);
        self.given = self.given.saturating_add(lefts.len() as u64 * rights.len() as u64);
        Some(Pair { left: *lefts.first()?, right: *rights.first()?, similarity })
    }

    /// Prefetches the rows of records that come soon, because they are scattered over memory.
    #[inline]
    fn prefetch(&self) {
        const AHEAD: usize = 2 * Pairs::AHEAD;
        let (lefts, rights) = (&self.records.left, self.records.rights());
        if let Some(pair) = self.batch.get(self.next_in_batch + 2 * AHEAD) {
            lefts.prefetch_range(pair.left);
            rights.prefetch_range(pair.right);
        }
        if let Some(pair) = self.batch.get(self.next_in_batch + AHEAD) {
            lefts.prefetch(pair.left);
            rights.prefetch(pair.right);
        }
    }

    /// How many pairs of records [`Pairs::coming`] looks ahead.
    const AHEAD: usize = 8;

    /// Returns the first rows of two records whose pairs come soon, if there are any, so that a
    /// caller can prefetch its own data about these rows.
    #[inline]
    pub fn coming(&self) -> Option<[u32; 2]> {
        let [lefts, rights] = self.records.rows(self.batch.get(self.next_in_batch + Self::AHEAD)?);
        Some([*lefts.first()?, *rights.first()?])
    }

    /// Returns the next row pair of the current two records.
    #[inline]
    fn take_current(&mut self) -> Option<Pair> {
        let pair = self.current?;
        let [lefts, rights] = self.records.rows(&pair);
        let same = self.records.right.is_none() && pair.left == pair.right;
        let (firsts, seconds) = if self.by_right { (rights, lefts) } else { (lefts, rights) };
        if self.at.1 >= seconds.len() {
            let next = self.at.0 + 1;
            self.at = (next, if same { next + 1 } else { 0 });
        }
        let (Some(&first), Some(&second)) = (firsts.get(self.at.0), seconds.get(self.at.1)) else {
            self.current = None;
            return None;
        };
        self.at.1 += 1;
        self.given += 1;
        let (left, right) = if self.by_right { (second, first) } else { (first, second) };
        Some(Pair { left, right, similarity: pair.similarity })
    }

    /// Joins another batch, which may be empty. Returns false when the join is done.
    pub fn advance(&mut self, executor: &dyn Executor) -> Result<bool> {
        self.before = self.join.progress();
        self.next_in_batch = 0;
        let batch = self.join.next_batch(executor)?;
        let more = batch.is_some();
        self.batch = batch.unwrap_or_default();
        Ok(more)
    }

    /// Returns what the filters have counted so far.
    pub fn counts(&self) -> Counts {
        self.join.counts()
    }

    /// Returns how many pairs were given so far.
    pub fn given(&self) -> u64 {
        self.given
    }

    /// Returns the share of the join that is done, 0 to 1. Pairs that are not taken yet are not
    /// done: a caller may take much longer for them than it took to find them.
    pub fn progress(&self) -> f64 {
        let done = self.join.progress();
        match self.batch.len() {
            0 => done,
            all => self.before + (done - self.before) * self.next_in_batch as f64 / all as f64,
        }
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.join.bytes() + self.records.bytes() + memory::bytes(&self.batch)
    }
}
