//! The work of jobs that SQL cannot do: sketches of rows, and the pairs of those that changed.

use std::cmp::Ordering;

use pgrx::pg_sys::{self, Datum};
use pgrx::{IntoDatum, PgMemoryContexts, check_for_interrupts};

use super::call::{sql_function, varlena_bytes};
use super::clusters::{ARGUMENTS_OF_JOIN, How};
use super::cursor::Cursor;
use super::error::{Result, SqlError};
use super::example::literal;
use super::ids::Ids;
use super::jobs::equality;
use super::join::Run;
use super::methods::Update;
use super::reading::Reading;
use super::request::{Form, Request};
use super::rows::{self, Rows};
use super::workers::BackendWorkers;
use crate::candidates::delta::{Candidates, Delta, Sketcher};
use crate::features::FeatureSpec;
use crate::memory;
use crate::verify::measure::Predicate;
use crate::workers::{self, Workers};

const DOING: &str = "comparing sketches";
/// The first argument behind those of a join.
const NEXT: usize = ARGUMENTS_OF_JOIN + 1;
/// Hints show a call that users know.
const FORM: Form = Form { name: "near_duplicates", relations: 1, typed: true };

sql_function! {
    /// `neardup_job_check(…, clustering, max_cluster_size)`: how the pairs can be brought up to date.
    neardup_job_check, pg_finfo_neardup_job_check, |call| {
        let request = Request::new(call, FORM)?;
        let how = How::new(call, [NEXT, NEXT + 1], &request.example)?;
        Ok(call.give(Some(match request.method.update() {
            // Sets that are not made of pairs depend on all rows.
            _ if how.grouping(&request).is_some() => "signatures",
            Update::Sets(..) => "sets",
            Update::Pairs => "pairs",
            Update::Whole => "whole",
        })))
    }
}

sql_function! {
    /// `neardup_job_sketches(…, ids)`: the sketches of rows that a condition holds for.
    neardup_job_sketches, pg_finfo_neardup_job_sketches, |call| {
        rows::answer(call, || {
            let mut request = Request::new(call, FORM)?;
            let Update::Sets(spec, _) = request.method.update() else {
                return Err(SqlError::parameter("this method makes no sketches"));
            };
            if let Some(condition) = call.text(NEXT)? {
                request.left = request.left.only(&condition);
            }
            sketches(&request, spec)
        })
    }
}

fn sketches(request: &Request, spec: FeatureSpec) -> Result<Sketches> {
    type State = (Sketcher, Vec<(u32, Vec<u16>)>);
    let mut reading = Reading::new(request);
    let count = reading.workers.count();
    let mut states: Vec<State> = (0..count).map(|_| State::default()).collect();
    reading.read(|batch| {
        batch.share_out(&mut states, |(sketcher, sketches), row, document, stop| {
            let sketch = sketcher.sketch(document, &spec, stop)?;
            memory::push(sketches, (row, sketch), DOING)
        })?;
        let bytes = states.iter().flat_map(|(_, sketches)| sketches).map(|(_, s)| memory::bytes(s) + 32);
        Ok(bytes.sum())
    })?;
    let all: Vec<_> = states.into_iter().flat_map(|(_, sketches)| sketches).collect();
    Ok(Sketches { ids: reading.left, all: all.into_iter(), last: None })
}

/// Ids and sketches, little-endian.
struct Sketches {
    ids: Ids,
    all: std::vec::IntoIter<(u32, Vec<u16>)>,
    /// The sketch given last, as the server has it.
    last: Option<Datum>,
}

impl Rows<2> for Sketches {
    fn next(&mut self) -> Result<Option<[Datum; 2]>> {
        if let Some(last) = self.last.take() {
            // SAFETY: made below; who got it has copied it.
            unsafe { pg_sys::pfree(last.cast_mut_ptr()) };
        }
        let Some((row, sketch)) = self.all.next() else { return Ok(None) };
        let bytes: Vec<u8> = sketch.iter().flat_map(|hash| hash.to_le_bytes()).collect();
        self.last = bytes.into_datum();
        Ok(self.last.map(|sketch| [self.ids.datum(row), sketch]))
    }
}

sql_function! {
    /// `neardup_job_pairs(…, changed, others, sketches)`: pairs of a row that the condition `changed` holds for and
    /// one that `others` holds for; of the latter among themselves where there is none. `sketches` is a query for the
    /// ids and sketches of all rows, and whether they are changed ones, to look only at those that may be pairs.
    neardup_job_pairs, pg_finfo_neardup_job_pairs, |call| {
        rows::answer(call, || {
            let mut request = Request::new(call, FORM)?;
            let all = request.left.clone();
            let [changed, others, sketches] = [call.text(NEXT)?, call.text(NEXT + 1)?, call.text(NEXT + 2)?];
            if let Some(others) = others {
                request.left = all.only(&others);
            }
            if let Some(changed) = changed {
                request.right = Some(match (sketches, request.method.update()) {
                    (Some(sketches), Update::Sets(_, predicate)) => {
                        all.only(&near(&sketches, &request, predicate)?)
                    }
                    _ => request.left,
                });
                request.left = all.only(&changed);
            }
            Ok(Changed(Run::new(&request)?))
        })
    }
}

/// The condition for the rows whose sketches may be similar to one of the changed rows'.
fn near(sketches: &str, request: &Request, predicate: Predicate) -> Result<String> {
    /// Sketches that are compared at one time.
    const PIECE: usize = 1 << 15;
    let id_type = super::jobs::qualified_type(request.id_type);
    let select = format!("SELECT x.id::{id_type}, x.sketch FROM ({sketches}) AS x(id, sketch, changed)");
    let mut new = Vec::new();
    read_sketches(&format!("{select} WHERE x.changed"), |next| match next {
        Some((_, sketch)) => Ok(memory::push(&mut new, sketch, DOING)?),
        None => Ok(()),
    })?;
    let delta = Delta::new(new, predicate)?;
    let backend = BackendWorkers::new();
    let mut spaces: Vec<Candidates> = (0..backend.count()).map(|_| Candidates::default()).collect();
    let mut ids = Ids::new(request.id_type);
    let mut pending: Vec<Vec<u16>> = Vec::new();
    let mut chosen: Vec<u32> = Vec::new();
    read_sketches(&select, |next| {
        let last = next.is_none();
        if let Some((id, sketch)) = next {
            // SAFETY: the query casts ids to their type.
            unsafe { ids.push(id) }?;
            memory::push(&mut pending, sketch, DOING)?;
        }
        if pending.len() == PIECE || (last && !pending.is_empty()) {
            let from = (ids.len() - pending.len()) as u32;
            compare(&delta, &mut spaces, &pending, from, &backend, &mut chosen)?;
            pending.clear();
        }
        Ok(())
    })?;
    let list = chosen.iter().map(|&row| {
        let id = ids.show(row).replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{id}\"")
    });
    let list = literal(&format!("{{{}}}", list.collect::<Vec<_>>().join(",")));
    Ok(format!("{} {} ANY ({list}::{id_type}[])", request.left.key, equality(request.id_type)?))
}

/// Adds the rows of sketches, which count from `from`, that may be similar to a new one.
fn compare(
    delta: &Delta,
    spaces: &mut [Candidates],
    sketches: &[Vec<u16>],
    from: u32,
    backend: &BackendWorkers,
    chosen: &mut Vec<u32>,
) -> Result<()> {
    let share = sketches.len().div_ceil(spaces.len());
    let pieces = sketches.chunks(share).zip((from..).step_by(share));
    let mut shares: Vec<_> =
        spaces.iter_mut().zip(pieces).map(|(space, (rows, from))| (space, rows, from, Vec::new())).collect();
    workers::each(backend, &mut shares, |(space, rows, from, near), stop| {
        while let Some((sketch, rest)) = rows.split_first() {
            stop.check()?;
            let mut is_near = false;
            delta.for_each_candidate(sketch, space, |_| is_near = true)?;
            if is_near {
                memory::push(near, *from, DOING)?;
            }
            (*rows, *from) = (rest, *from + 1);
        }
        Ok(())
    })?;
    for (_, _, _, near) in shares {
        memory::extend(chosen, &near, DOING)?;
    }
    Ok(())
}

/// Calls `each` with the ids and sketches that a query gives, and at the end with none.
fn read_sketches(sql: &str, mut each: impl FnMut(Option<(Datum, Vec<u16>)>) -> Result<()>) -> Result<()> {
    const ROWS_A_FETCH: usize = 1 << 12;
    let mut cursor = Cursor::open(sql)?;
    // Detoasted copies live here until their row is done.
    let mut context = PgMemoryContexts::new("neardup: sketches");
    loop {
        check_for_interrupts!();
        let mut fetched = 0;
        for [id, sketch] in cursor.fetch(ROWS_A_FETCH)? {
            fetched += 1;
            let (Some(id), Some(sketch)) = (id, sketch) else { continue };
            // SAFETY: the query gives bytea; what is kept of both are copies.
            unsafe {
                context.switch_to(|_| {
                    let bytes = varlena_bytes(sketch);
                    let mut sketch = Vec::new();
                    memory::reserve(&mut sketch, bytes.len() / 2, DOING)?;
                    let (pairs, _) = bytes.as_chunks();
                    sketch.extend(pairs.iter().map(|&pair| u16::from_le_bytes(pair)));
                    each(Some((id, sketch)))
                })?;
                context.reset();
            }
        }
        if fetched == 0 {
            return each(None);
        }
    }
}

/// The pairs of changed rows: the lesser id first, and none of a row with itself; some come twice.
struct Changed(Run);

impl Rows<3> for Changed {
    fn next(&mut self) -> Result<Option<[Datum; 3]>> {
        while let Some([left, right, similarity]) = self.0.next()? {
            match self.0.left.compare(left, right) {
                Ordering::Less => return Ok(Some([left, right, similarity])),
                Ordering::Greater => return Ok(Some([right, left, similarity])),
                Ordering::Equal => {}
            }
        }
        Ok(None)
    }
}
