//! Reads both sides of a join once, finds the pairs, and gives the rows of each.

use pgrx::{check_for_interrupts, pg_sys};

use super::state::{NearJoin, evaluate};
use crate::pg::read::packed::source_document;
use crate::pg::server::allocator;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::error::{Result, SqlError, catch};
use crate::pg::server::executor::BackendExecutor;
use crate::pg::server::settings;
use crate::pg::server::temp_file::ServerFiles;
use neardup_core::allowance::Allowance;
use neardup_core::error::{Error, Result as CoreResult};
use neardup_core::executor::Executor;
use neardup_core::features::source_document::SourceDocument;
use neardup_core::joins::pairs::Pairs;
use neardup_core::joins::search::ball::SetBall;
use neardup_core::joins::sets::Algorithm;
use neardup_core::kept_rows::KeptRows;
use neardup_core::memory;
use neardup_core::methods::Method;
use neardup_core::methods::documents::{Documents, Quiet, Side};
use neardup_core::methods::reading::Reading;
use neardup_core::methods::sets::Sets;
use neardup_core::methods::sites::Sites;
use neardup_core::resources::Resources;
use neardup_core::verify::predicate::Predicate;

// The plans of both sides run user-defined functions, whose errors must be returned with all
// details.
unsafe extern "C-unwind" {
    fn ExecReScan(node: *mut pg_sys::PlanState);
    fn ExecFetchSlotMinimalTuple(
        slot: *mut pg_sys::TupleTableSlot,
        is_new: *mut bool,
    ) -> pg_sys::MinimalTuple;
}

/// The pairs of a join and the rows of its sides. The allowance is dropped last.
pub(super) struct Work {
    pairs: Pairs,
    executor: BackendExecutor,
    rows: [KeptRows<ServerFiles>; 2],
    /// The number of the first document, as the join numbers them.
    from: u32,
    /// The rows that were read last, one of each side.
    read: [Vec<u64>; 2],
    _allowance: Allowance,
}

impl Work {
    /// Reads both sides and prepares the join. The current memory context must outlive the work.
    ///
    /// # Safety
    /// A node that the server has initialized.
    pub(super) unsafe fn new(node: *mut NearJoin) -> Result<Self> {
        allocator::keep_little();
        let allowance = Allowance::new(settings::memory());
        let files = ServerFiles::in_current_context();
        let executor = BackendExecutor::new();
        // SAFETY: the caller's promise.
        let method = unsafe { method(node)? };
        let kept = settings::memory() / 16;
        let mut sides = Sides {
            node,
            side: Side::Left,
            rows: [KeptRows::new(files, kept), KeptRows::new(files, kept)],
            ended: false,
            failed: None,
        };
        let budget = settings::memory() - 2 * kept;
        let resources = Resources { files: &files, budget, executor: &executor };
        let mut quiet = Quiet;
        let pairs = method.pairs(&mut Reading::new(&mut sides, &mut quiet, resources));
        let Sides { rows, failed, .. } = sides;
        let pairs = pairs.map_err(|error| failed.unwrap_or_else(|| error.into()))?;
        let from = rows[0].len() as u32;
        Ok(Self { pairs, executor, rows, from, read: Default::default(), _allowance: allowance })
    }

    /// Reads the rows of the next pair, and returns their tuples, or None after the last pair. The
    /// tuples live until the next call.
    pub(super) fn next(&mut self) -> Result<Option<[pg_sys::MinimalTuple; 2]>> {
        check_for_interrupts!();
        let pair = loop {
            if let Some(pair) = self.pairs.take() {
                break pair;
            }
            if !self.pairs.advance(&self.executor)? {
                return Ok(None);
            }
        };
        let [left, right] = &mut self.rows;
        left.read(pair.left as usize, &mut self.read[0])?;
        right.read((pair.right - self.from) as usize, &mut self.read[1])?;
        Ok(Some(self.read.each_mut().map(|row| row.as_mut_ptr().cast())))
    }
}

/// Returns the method by which the ball of a node compares documents.
///
/// # Safety
/// A node that the server has initialized.
unsafe fn method(node: *mut NearJoin) -> Result<Sets> {
    // SAFETY: the caller's promise; the expression makes a ball, which is not NULL as its document
    // is not.
    unsafe {
        let ball = evaluate((*node).ball, node)?
            .ok_or_else(|| SqlError::parameter("a ball around a document is NULL"))?;
        let SetBall { parameters, similarity, .. } = SetBall::parse(varlena_bytes(ball))?;
        let predicate = Predicate::new(parameters.measure, similarity)?;
        Ok(Sets { spec: parameters.features, predicate, algorithm: Algorithm::Auto })
    }
}

/// The two sides of a join as documents: the values of rows, and the middles of balls.
struct Sides {
    node: *mut NearJoin,
    side: Side,
    rows: [KeptRows<ServerFiles>; 2],
    ended: bool,
    failed: Option<SqlError>,
}

impl Sides {
    /// Reads the next row. Returns its number and its document, if it has one, or None after the
    /// last row.
    ///
    /// # Safety
    /// A node that the server has initialized.
    unsafe fn next(&mut self) -> Result<Option<(u32, Option<SourceDocument>)>> {
        let (node, side) = (self.node, self.side as usize);
        // SAFETY: the caller's promise. The document is copied before the memory of the row is
        // freed, and the tuple before the next row is read.
        unsafe {
            let child = (*node).children[side];
            let slot = catch(|| {
                if !(*child).chgParam.is_null() {
                    ExecReScan(child);
                }
                (*child).ExecProcNode.map_or(std::ptr::null_mut(), |next| next(child))
            })?;
            if slot.is_null() || u32::from((*slot).tts_flags) & pg_sys::TTS_FLAG_EMPTY != 0 {
                return Ok(None);
            }
            let row = u32::try_from(self.rows[side].len())
                .map_err(|_| Error::TooMany { what: "rows in a join", limit: u32::MAX.into() })?;
            let mut is_new = false;
            let tuple = catch(|| ExecFetchSlotMinimalTuple(slot, &raw mut is_new))?;
            let bytes = std::slice::from_raw_parts(tuple.cast::<u8>(), (*tuple).t_len as usize);
            self.rows[side].push(bytes)?;
            if is_new {
                pg_sys::pfree(tuple.cast());
            }
            let context = (*node).scan.ss.ps.ps_ExprContext;
            pg_sys::MemoryContextReset((*context).ecxt_per_tuple_memory);
            (*node).show(side, slot)?;
            let Some(value) = evaluate((*node).documents[side], node)? else { return Ok(Some((row, None))) };
            let before = pg_sys::CurrentMemoryContext;
            pg_sys::CurrentMemoryContext = (*context).ecxt_per_tuple_memory;
            let document = source_document((*node).kind, value);
            pg_sys::CurrentMemoryContext = before;
            let not_text = || SqlError::from(Error::NotText);
            Ok(Some((row, Some(document?.ok_or_else(not_text)?))))
        }
    }
}

impl Documents for Sides {
    fn has_right(&self) -> bool {
        true
    }

    fn begin(&mut self, side: Side) -> CoreResult<()> {
        (self.side, self.ended) = (side, false);
        Ok(())
    }

    fn fetch(&mut self, documents: &mut Vec<(u32, SourceDocument)>) -> CoreResult<usize> {
        const ROWS: usize = 64;
        const BYTES: usize = 1 << 16;
        check_for_interrupts!();
        let mut bytes = 0;
        for _ in 0..ROWS {
            // SAFETY: `Work::new` has the promise of its caller.
            let next = unsafe { self.next() };
            match next {
                Ok(None) => {
                    self.ended = true;
                    break;
                }
                Ok(Some((row, document))) => {
                    if let Some(document) = document {
                        bytes += document.bytes();
                        memory::push(documents, (row, document), "reading rows of a join")?;
                    }
                }
                Err(error) => {
                    self.failed = Some(error);
                    return Err(Error::Source);
                }
            }
            if bytes >= BYTES {
                break;
            }
        }
        Ok(bytes)
    }

    fn ended(&self) -> bool {
        self.ended
    }

    fn is_ready(&self) -> bool {
        false
    }

    fn end(&mut self, _side: Side, _executor: &dyn Executor) -> CoreResult<()> {
        Ok(())
    }

    fn rows(&self, side: Side) -> usize {
        self.rows[side as usize].len()
    }

    fn ids_bytes(&self) -> usize {
        self.rows.iter().map(KeptRows::bytes).sum()
    }

    fn order(&mut self, side: Side, _executor: &dyn Executor) -> CoreResult<Vec<u32>> {
        let rows = self.rows(side);
        let mut order = memory::filled(0, rows, "ordering rows")?;
        order.iter_mut().zip(0..).for_each(|(place, row)| *place = row);
        Ok(order)
    }

    fn sites(&self) -> Option<&Sites> {
        None
    }

    fn weights(&mut self, _order: &[u32]) -> CoreResult<Option<Vec<i64>>> {
        Ok(None)
    }
}
