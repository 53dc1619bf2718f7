//! Joins both sides, and gives the rows of each pair, and the rows that have had no match.

use pgrx::{check_for_interrupts, pg_sys};

use super::join_kind::JoinKind;
use super::sides::JoinSides;
use super::state::{NearJoin, evaluate};
use crate::pg::server::allocator;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::BackendExecutor;
use crate::pg::server::settings;
use crate::pg::server::temp_file::ServerFiles;
use neardup_core::allowance::Allowance;
use neardup_core::features::dictionary::weights::Weights;
use neardup_core::features::normalization::Normalization;
use neardup_core::joins::Algorithm;
use neardup_core::joins::pairs::Pairs;
use neardup_core::methods::documents::{Documents as _, Quiet, Side};
use neardup_core::methods::reading::Reading;
use neardup_core::methods::sets::Sets;
use neardup_core::methods::within;
use neardup_core::row_set::RowSet;
use neardup_core::search::ball::SetBall;
use neardup_core::storage::files::Resources;
use neardup_core::verify::predicate::Predicate;

/// The pairs of a join and the rows of its sides. The allowance is dropped last.
pub(super) struct JoinWork {
    kind: JoinKind,
    /// The number of the outer side.
    outer: usize,
    /// Set if other conditions decide whether a pair is a match.
    is_checked: bool,
    sides: JoinSides,
    method: Sets,
    files: ServerFiles,
    budget: usize,
    /// The pairs, some groups at a time if there are groups, until the last one has been seen.
    pairs: Option<Pairs>,
    /// The pairs of distinct documents that were compared, of groups whose last pair has been seen.
    candidates: u64,
    /// The most bytes that reading and comparing took.
    pub memory: u64,
    executor: BackendExecutor,
    /// The sides whose rows are wanted for the rows of the join.
    wanted: [bool; 2],
    /// The number of the first document, as the join numbers them.
    from: u32,
    /// The rows of a side that have had a match, where this counts.
    matched: [Option<RowSet>; 2],
    /// The first row of each side that has not been looked at for having had no match.
    next_alone: [usize; 2],
    /// The rows that were read last, one of each side.
    read: [Vec<u64>; 2],
    _allowance: Allowance,
}

/// The tuples of what may be a row of the join. A side without one has only NULL.
pub(super) struct TupleCandidate {
    pub tuples: [Option<pg_sys::MinimalTuple>; 2],
    /// The rows, as they were read, that are a match if the other conditions hold. None for a row
    /// that has had no match.
    pub pair: Option<[usize; 2]>,
}

impl JoinWork {
    /// Reads both sides and prepares the join. The current memory context must outlive the work.
    ///
    /// # Safety
    /// A node that the server has initialized.
    pub(super) unsafe fn new(node: *mut NearJoin) -> Result<Self> {
        allocator::keep_little();
        let allowance = Allowance::new(settings::memory());
        let files = ServerFiles::in_current_context();
        let executor = BackendExecutor::new();
        let kept = settings::memory() / 16;
        // SAFETY: the caller's promise.
        let ((method, normalization), kind, outer, wanted, is_checked) = unsafe {
            (method(node)?, (*node).join, (*node).outer, (*node).wanted, !(*node).others.is_null())
        };
        let is_noted = |side| kind.is_of_first_matches() && side == outer || kind.keeps(side == outer);
        let noted = [is_noted(0), is_noted(1)];
        // SAFETY: the caller's promise.
        let mut sides = unsafe { JoinSides::new(node, normalization, files, kept, noted) };
        // SAFETY: the caller's promise.
        unsafe { sides.read_keys(&executor)? };
        let mut work = Self {
            kind,
            outer,
            is_checked,
            sides,
            method,
            files,
            budget: settings::memory() - 2 * kept,
            pairs: None,
            candidates: 0,
            memory: 0,
            executor,
            wanted,
            from: 0,
            matched: [None, None],
            next_alone: [0; 2],
            read: Default::default(),
            _allowance: allowance,
        };
        work.join()?;
        for (side, _) in noted.into_iter().enumerate().filter(|&(_, is_noted)| is_noted) {
            work.matched[side] = Some(RowSet::new(work.sides.rows[side].len())?);
        }
        Ok(work)
    }

    /// Joins the documents, those of some groups if there are groups.
    fn join(&mut self) -> Result<()> {
        let Self { sides, method, files, executor, .. } = self;
        let resources = Resources { files: &*files, budget: self.budget, executor: &*executor };
        let mut quiet = Quiet;
        let mut reading = Reading::new(sides, &mut quiet, resources);
        let pairs = within::pairs(method, &mut reading);
        self.memory = self.memory.max(reading.account.peak_memory);
        self.from = sides.rows(Side::Left) as u32;
        let pairs = pairs.map_err(|error| sides.failed.take().unwrap_or_else(|| error.into()))?;
        // The pairs of an outer row come one after the other, so that those after a match can be
        // left out.
        let by_right = self.kind.is_of_first_matches() && self.outer == 1;
        self.pairs = Some(if by_right { pairs.by_right() } else { pairs });
        Ok(())
    }

    /// Returns what may be the next row of the join, or None after the last one. The tuples live
    /// until the next call.
    pub(super) fn next(&mut self) -> Result<Option<TupleCandidate>> {
        while let Some(pair) = self.next_pair()? {
            if self.kind == JoinKind::Anti && !self.is_checked {
                self.note(pair);
                continue;
            }
            let mut tuples = [None; 2];
            for side in 0..2 {
                if self.wanted[side] {
                    tuples[side] = Some(self.tuple(side, pair[side])?);
                }
            }
            return Ok(Some(TupleCandidate { tuples, pair: Some(pair) }));
        }
        self.next_alone()
    }

    /// Returns how many pairs of distinct documents were compared.
    pub(super) fn candidates(&self) -> u64 {
        self.candidates + self.pairs.as_ref().map_or(0, |pairs| pairs.counts().candidates)
    }

    /// Notes that a pair is a match. Returns whether it is a row of the join.
    pub(super) fn note(&mut self, pair: [usize; 2]) -> bool {
        for (matched, row) in self.matched.iter_mut().zip(pair) {
            if let Some(matched) = matched {
                matched.insert(row);
            }
        }
        self.kind != JoinKind::Anti
    }

    /// Returns the rows of the next pair that can change something.
    fn next_pair(&mut self) -> Result<Option<[usize; 2]>> {
        while let Some(pairs) = &mut self.pairs {
            check_for_interrupts!();
            let first_matches = self.matched[self.outer].as_ref().filter(|_| self.kind.is_of_first_matches());
            let is_full = first_matches.is_some_and(RowSet::is_full);
            let Some(pair) = pairs.take().filter(|_| !is_full) else {
                if is_full || !pairs.advance(&self.executor)? {
                    self.candidates += pairs.counts().candidates;
                    self.pairs = None;
                    if !is_full && self.sides.resume() {
                        self.join()?;
                    }
                }
                continue;
            };
            let places = [pair.left as usize, (pair.right - self.from) as usize];
            let pair = match &self.sides.order {
                Some(order) => [0, 1].map(|side| order[side][places[side]].row as usize),
                None => places,
            };
            if first_matches.is_some_and(|matched| matched.contains(pair[self.outer])) {
                pairs.skip_row();
                continue;
            }
            return Ok(Some(pair));
        }
        Ok(None)
    }

    /// Returns the next row that has had no match, of the sides that keep such rows.
    fn next_alone(&mut self) -> Result<Option<TupleCandidate>> {
        check_for_interrupts!();
        for side in [self.outer, 1 - self.outer] {
            let Some(matched) = &self.matched[side] else { continue };
            if !self.kind.keeps(side == self.outer) {
                continue;
            }
            if let Some(row) = matched.next_absent(self.next_alone[side]) {
                self.next_alone[side] = row + 1;
                let mut tuples = [None; 2];
                tuples[side] = Some(self.tuple(side, row)?);
                return Ok(Some(TupleCandidate { tuples, pair: None }));
            }
            self.next_alone[side] = usize::MAX;
        }
        Ok(None)
    }

    /// Reads a row of a side.
    fn tuple(&mut self, side: usize, row: usize) -> Result<pg_sys::MinimalTuple> {
        self.sides.rows[side].read(row, &mut self.read[side])?;
        Ok(self.read[side].as_mut_ptr().cast())
    }
}

/// Returns the method by which the ball of a node compares documents, and the form of these.
///
/// # Safety
/// A node that the server has initialized.
unsafe fn method(node: *mut NearJoin) -> Result<(Sets, Option<Normalization>)> {
    // SAFETY: the caller's promise; the expression makes a ball, which is not NULL as its document
    // is not.
    unsafe {
        let ball = evaluate((*node).ball, node)?
            .ok_or_else(|| SqlError::parameter("a ball around a document is NULL"))?;
        let SetBall { parameters, similarity, .. } = SetBall::parse(varlena_bytes(ball))?;
        let predicate = Predicate::new(parameters.measure, similarity)?;
        let of_words = parameters.weights.map(|weights| Weights::Words(weights.words().clone()));
        let (spec, weights) = (parameters.features, of_words.unwrap_or_default());
        let sets = Sets { spec, predicate, algorithm: Algorithm::Auto, weights };
        Ok((sets, parameters.normalization))
    }
}
