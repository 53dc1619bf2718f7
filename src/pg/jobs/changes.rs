//! The trigger that notes the ids of changed rows.
//!
//! A job must never make a write fail. So no code here raises an error, except the errors that
//! would end any statement. If a change cannot be noted in the present state of the job's tables
//! and columns, the relation is marked instead, so that the next refresh compares all of its rows.
//! No code here waits for a refresh or for another writer.

use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{IntoDatum, PgMemoryContexts, PgSqlErrorCode, check_for_interrupts};

use super::remembered::{self, TriggerPlan};
use super::statements::registry::TriggerEntry;
use crate::pg::procedure::table::{OpenedTable, Table};
use crate::pg::query::as_user::{as_user, without_sql_as};
use crate::pg::query::by_oid::Inserter;
use crate::pg::query::catalog::owner_of;
use crate::pg::query::ids::RowIds;
use crate::pg::query::relation::Relation;
use crate::pg::query::transition::{TransitionRow, TransitionRows};
use crate::pg::server::call::{FunctionCall, sql_functions, varlena_bytes};
use crate::pg::server::encoding;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::hash;

sql_functions! {
    /// `neardup_changed()`: notes the ids of changed rows, as the owner of the watched table.
    neardup_changed, within ItsCalls: |call| {
        note_changes(call)?;
        // A trigger returns a null pointer, not an SQL NULL.
        Ok(Datum::null())
    };
}

/// The mark of a row that waits for a refresh.
const WAITS: i16 = 1;

fn note_changes(call: FunctionCall) -> Result<()> {
    // SAFETY: the context of a call is a node; in a trigger it is the trigger data, which live as
    // long as the call.
    let trigger = unsafe {
        let trigger: *mut pg_sys::TriggerData = (*call.info).context.cast();
        if trigger.is_null() || (*trigger).type_ != pg_sys::NodeTag::T_TriggerData {
            let message = "neardup_changed() is a trigger of neardup_watch";
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED, message));
        }
        &*trigger
    };
    // SAFETY: a trigger's relation is open.
    let docs = unsafe { (*trigger.tg_relation).rd_id };
    let registry = remembered::registry(call)?;
    // Without a job in the registry, the trigger was left behind, or it comes from a restored dump
    // whose job is not in the registry yet. The first refresh of such a job compares all rows.
    let Some(job) = registry.noted(docs)? else { return Ok(()) };
    let noted = match remembered::way(docs, &job, || find_way(docs, &job))? {
        Some(way) => note(trigger, &way)?,
        None => false,
    };
    if !noted {
        registry.add_unnoted(docs)?;
    }
    Ok(())
}

/// Finds the way to note changes in the table of states, and locks this table. Returns None if
/// changes cannot be noted.
fn find_way(docs: Oid, job: &TriggerEntry) -> Result<Option<TriggerPlan>> {
    let relation = Relation::open(docs)?;
    let Ok(settings) = job.settings() else { return Ok(None) };
    let Some(columns) = settings.columns(&relation) else { return Ok(None) };
    if columns.id.is_virtual {
        return Ok(None);
    }
    let (owner, id_type) = (relation.owner, columns.id.base_type);
    if owner_of(job.state) != Some(owner) || !remembered::lock_state(job.state) {
        return Ok(None);
    }
    let opened = Table::open(job.state, pg_sys::RowExclusiveLock, |of| of == owner)?;
    let OpenedTable::Table(state) = opened else { return Ok(None) };
    Ok(state.takes_marks(id_type).then_some(TriggerPlan {
        docs,
        owner,
        state: state.oid,
        id_type,
        id: columns.id.number,
        text: columns.text.number,
        others: columns.others.map(|column| column.map(|column| column.number)),
        shows_changes: ![Some(columns.text)]
            .into_iter()
            .chain(columns.others)
            .flatten()
            .any(|of| of.is_virtual),
    }))
}

/// Notes the changed rows in the table of states; returns false if that is not possible.
fn note(trigger: &pg_sys::TriggerData, way: &TriggerPlan) -> Result<bool> {
    let work = || {
        let mut marks = ChangedIds::new(way);
        let noted = read(trigger, way, &mut marks)?;
        marks.flush()?;
        Ok(noted)
    };
    // User-defined types may be compared by user-defined functions.
    if way.id_type.to_u32() < pg_sys::FirstNormalObjectId {
        without_sql_as(way.owner, work)
    } else {
        as_user(way.owner, work)
    }
}

/// Reads the changes of a statement from the transition tables; returns false if the transition
/// tables are not as expected.
fn read(trigger: &pg_sys::TriggerData, way: &TriggerPlan, marks: &mut ChangedIds) -> Result<bool> {
    // SAFETY: the trigger's relation is open; its transition tables are null or tuple stores of
    // rows of this relation.
    let rows = |store| unsafe { TransitionRows::new(store, trigger.tg_relation) };
    let id = way.id;
    let (old, new) = (rows(trigger.tg_oldtable), rows(trigger.tg_newtable));
    match (trigger.tg_event & pg_sys::TRIGGER_EVENT_OPMASK, old, new) {
        (pg_sys::TRIGGER_EVENT_INSERT, _, Some(mut rows))
        | (pg_sys::TRIGGER_EVENT_DELETE, Some(mut rows), _) => {
            while let Some(row) = rows.next() {
                if !marks.add(row.get(id))? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        // Both tables have one row for each updated row, in the same order.
        (pg_sys::TRIGGER_EVENT_UPDATE, Some(mut before), Some(mut after)) => loop {
            let (Some(old), Some(new)) = (before.next(), after.next()) else {
                return Ok(before.is_done() && after.is_done());
            };
            let mut same = |number: i16| marks.same(&old, &new, number);
            let same_id = same(id);
            if same_id
                && way.shows_changes
                && way.others.into_iter().flatten().all(&mut same)
                && same(way.text)
            {
                continue;
            }
            if !marks.add(old.get(id))? || (!same_id && !marks.add(new.get(id))?) {
                return Ok(false);
            }
        },
        _ => Ok(false),
    }
}

/// Ids to be written to the table of states.
struct ChangedIds {
    state: Oid,
    id_type: Oid,
    ids: RowIds,
    bytes: usize,
    context: PgMemoryContexts,
}

impl ChangedIds {
    fn new(way: &TriggerPlan) -> Self {
        let &TriggerPlan { state, id_type, .. } = way;
        let context = PgMemoryContexts::new("neardup: changed rows");
        Self { state, id_type, ids: RowIds::new(id_type), bytes: 0, context }
    }

    /// Reports whether a column of a row is unchanged.
    fn same(&mut self, old: &TransitionRow, new: &TransitionRow, number: i16) -> bool {
        // SAFETY: detoasted copies of texts, which may be many and long, are freed with the
        // context.
        unsafe {
            let same = self.context.switch_to(|_| TransitionRow::same(old, new, number));
            self.context.reset();
            same
        }
    }

    /// Notes the id of a row; returns false if it cannot be noted. A row without an id does not
    /// belong to the job.
    fn add(&mut self, id: Option<Datum>) -> Result<bool> {
        /// The maximum size of an id: an index entry holds it together with its overhead.
        const LONGEST: usize = 2000;
        const MOST: usize = 1 << 14;
        const MOST_BYTES: usize = 4 << 20;
        let Some(id) = id else { return Ok(true) };
        let Self { id_type, ids, bytes, context, .. } = self;
        // SAFETY: a value of this type; detoasted copies are freed once the value is stored.
        unsafe {
            let size = context.switch_to(|_| {
                let size = size_of_value(id, *id_type);
                if size <= LONGEST { ids.push(id).map(|()| size) } else { Ok(size) }
            })?;
            context.reset();
            if size > LONGEST {
                return Ok(false);
            }
            *bytes += size;
        }
        if self.ids.len() >= MOST || self.bytes >= MOST_BYTES {
            self.flush()?;
        }
        Ok(true)
    }

    /// Writes the collected ids.
    fn flush(&mut self) -> Result<()> {
        check_for_interrupts!();
        let Self { state, id_type, ids, bytes, context } = self;
        if ids.len() == 0 {
            return Ok(());
        }
        // SAFETY: a table of states in the form that jobs make, for ids of this type; everything
        // allocated for it is freed with the context.
        unsafe {
            context.switch_to(|_| {
                let mut inserter = Inserter::new(*state);
                for row in 0..ids.len() as u32 {
                    inserter.insert([Some(ids.datum(row)), None, WAITS.into_datum()]);
                }
            });
            context.reset();
        }
        *ids = RowIds::new(*id_type);
        *bytes = 0;
        Ok(())
    }
}

/// Returns the approximate size of a value in bytes if it is stored by itself.
///
/// # Safety
/// The value has this type. A detoasted copy is left in the current memory context.
unsafe fn size_of_value(value: Datum, of: Oid) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        match pg_sys::get_typlen(of) {
            -1 => varlena_bytes(value).len(),
            -2 => std::ffi::CStr::from_ptr(value.cast_mut_ptr()).count_bytes(),
            fixed => fixed as usize,
        }
    }
}

sql_functions! {
    /// `neardup_job_hash(content)`: returns a hash for detecting changes, which does not depend on
    /// the encoding of the database.
    neardup_job_hash, within Arguments: |call| {
        let Some(content) = call.bytes(0) else { return Ok(call.give::<pgrx::Uuid>(None)) };
        let hash = match encoding::to_utf8(content)? {
            Some(content) => hash::hash_bytes_128(content.as_bytes()),
            None => hash::hash_bytes_128(content),
        };
        Ok(call.give(Some(pgrx::Uuid::from_bytes(hash.to_be_bytes()))))
    };
}
