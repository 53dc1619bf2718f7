//! The trigger that notes the ids of changed rows.
//!
//! A job must never make a write fail. So nothing here may raise an error but what would end any statement: a change that
//! cannot be noted, whatever became of the job's tables and of the columns, marks the relation as one whose rows are all to
//! be compared. Nothing waits, either: not for a refresh, not for another writer.

use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{IntoDatum, PgMemoryContexts, PgSqlErrorCode, check_for_interrupts};

use super::registry::{Entry, Registry};
use super::settings::Columns;
use super::tables::catalog::owner_of;
use super::tables::table::{Opened, Table};
use crate::pg::query::as_user::{Extension, as_user};
use crate::pg::query::by_number::Inserter;
use crate::pg::query::column::Column;
use crate::pg::query::ids::Ids;
use crate::pg::query::relation::Relation;
use crate::pg::query::transition::{Row, Rows};
use crate::pg::server::call::{Call, sql_function, varlena_bytes};
use crate::pg::server::error::{Result, SqlError};

sql_function! {
    /// `neardup_changed()`: notes the ids of changed rows, as the owner of the watched table.
    neardup_changed, pg_finfo_neardup_changed, |call| {
        note_changes(call)?;
        // A trigger's NULL is a pointer to nothing, not a NULL of SQL.
        Ok(Datum::null())
    }
}

/// The mark of a row that waits for a refresh.
const WAITS: i16 = 1;

fn note_changes(call: Call) -> Result<()> {
    // SAFETY: the context of a call is a node, of a trigger its data, which live as long as the call.
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
    let extension = Extension::of(call)?;
    let registry = Registry::open(&extension)?;
    // A trigger that was left behind, or one of a restored dump whose job is not known yet: it will compare all rows.
    let Some(job) = registry.entry(docs)? else { return Ok(()) };
    let relation = Relation::open(docs)?;
    if !note(trigger, &relation, &job)? {
        registry.add_unnoted(docs);
    }
    Ok(())
}

/// Notes the changed rows in the table of states; false if that cannot be done.
fn note(trigger: &pg_sys::TriggerData, relation: &Relation, job: &Entry) -> Result<bool> {
    let Some(columns) = job.settings.as_ref().ok().and_then(|settings| settings.columns(relation)) else {
        return Ok(false);
    };
    let id_type = columns.id.base_type;
    if owner_of(job.state) != Some(relation.owner) {
        return Ok(false);
    }
    // A refresh that gives the table another type has it for itself.
    // SAFETY: any number can be locked; the lock stays until the transaction ends.
    if !unsafe { pg_sys::ConditionalLockRelationOid(job.state, pg_sys::RowExclusiveLock as i32) } {
        return Ok(false);
    }
    let opened = Table::open(job.state, pg_sys::RowExclusiveLock, |owner| owner == relation.owner)?;
    let Opened::Table(state) = opened else { return Ok(false) };
    if !state.takes_marks(id_type) {
        return Ok(false);
    }
    as_user(relation.owner, || {
        let mut marks = Marks::new(&state, id_type);
        let noted = read(trigger, &columns, &mut marks)?;
        marks.flush()?;
        Ok(noted)
    })
}

/// Reads what a statement did, in the tables that the server keeps of it; false if that is not as it should be.
fn read(trigger: &pg_sys::TriggerData, columns: &Columns<'_>, marks: &mut Marks<'_>) -> Result<bool> {
    // SAFETY: the trigger's relation is open, its tables are null or tuple stores of rows of that.
    let rows = |store| unsafe { Rows::new(store, trigger.tg_relation) };
    if columns.id.is_virtual {
        return Ok(false);
    }
    let id = columns.id.number;
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
        // Both have a row for each one that was updated, in the same order.
        (pg_sys::TRIGGER_EVENT_UPDATE, Some(mut before), Some(mut after)) => loop {
            let (Some(old), Some(new)) = (before.next(), after.next()) else {
                return Ok(before.is_done() && after.is_done());
            };
            // What rows do not keep may have changed with them.
            let mut same = |column: &Column| !column.is_virtual && marks.same(&old, &new, column.number);
            let same_id = same(columns.id);
            if same_id && columns.site.is_none_or(&mut same) && same(columns.text) {
                continue;
            }
            if !marks.add(old.get(id))? || (!same_id && !marks.add(new.get(id))?) {
                return Ok(false);
            }
        },
        _ => Ok(false),
    }
}

/// Ids on their way into the table of states.
struct Marks<'a> {
    state: &'a Table,
    id_type: Oid,
    ids: Ids,
    bytes: usize,
    context: PgMemoryContexts,
}

impl<'a> Marks<'a> {
    fn new(state: &'a Table, id_type: Oid) -> Self {
        let context = PgMemoryContexts::new("neardup: changed rows");
        Self { state, id_type, ids: Ids::new(id_type), bytes: 0, context }
    }

    /// Whether a column of a row is as it was.
    fn same(&mut self, old: &Row, new: &Row, number: i16) -> bool {
        // SAFETY: detoasted copies of texts, which may be many and long, go with what the context has.
        unsafe {
            let same = self.context.switch_to(|_| Row::same(old, new, number));
            self.context.reset();
            same
        }
    }

    /// Notes the id of a row; false if it cannot be noted. A row without an id is none of the job's.
    fn add(&mut self, id: Option<Datum>) -> Result<bool> {
        /// What an entry of an index may have, with room for what is around it.
        const LONGEST: usize = 2000;
        const MOST: usize = 1 << 14;
        const MOST_BYTES: usize = 4 << 20;
        let Some(id) = id else { return Ok(true) };
        let Self { id_type, ids, bytes, context, .. } = self;
        // SAFETY: a value of this type; detoasted copies go when it is kept.
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

    /// Writes what is there.
    fn flush(&mut self) -> Result<()> {
        check_for_interrupts!();
        let Self { state, id_type, ids, bytes, context } = self;
        if ids.len() == 0 {
            return Ok(());
        }
        // SAFETY: a table of states as jobs make them, for ids of this type; what is made for it goes with the context.
        unsafe {
            context.switch_to(|_| {
                let mut inserter = Inserter::new(state.oid);
                for row in 0..ids.len() as u32 {
                    inserter.insert([Some(ids.datum(row)), None, WAITS.into_datum()]);
                }
            });
            context.reset();
        }
        *ids = Ids::new(*id_type);
        *bytes = 0;
        Ok(())
    }
}

/// About how many bytes a value takes where it is stored by itself.
///
/// # Safety
/// A value of this type; a detoasted copy is left in the current memory context.
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
