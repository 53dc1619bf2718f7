//! The data that a session remembers for the triggers of jobs. Without it, the insert of a single
//! row would need a dozen catalog lookups, which took twice as long as writing the row's mark.
//!
//! Only data that follows from the catalogs and from the settings of a job is remembered; the job's
//! row itself is read each time. All of it is discarded as soon as the server reports a change of a
//! relation that it refers to, or of any function, schema or role. The server reports changes by
//! other sessions when the session acquires a lock that it did not hold, so the functions here
//! acquire locks before they use the data.

use std::cell::{Cell, RefCell};

use pgrx::pg_sys::{self, Datum, Oid, SysCacheIdentifier};

use super::statements::registry::{Registry, TriggerEntry};
use crate::pg::query::as_user::Extension;
use crate::pg::server::call::FunctionCall;
use crate::pg::server::error::Result;

/// The way to note changes of a relation.
#[derive(Debug, Clone, Copy)]
pub(super) struct TriggerPlan {
    /// The relation.
    pub docs: Oid,
    /// The owner of the relation.
    pub owner: Oid,
    /// The table of states.
    pub state: Oid,
    /// The type of the ids.
    pub id_type: Oid,
    /// The number of the id column.
    pub id: i16,
    /// The number of the text column.
    pub text: i16,
    /// The numbers of the other columns on which the pairs of a row depend.
    pub others: [Option<i16>; 4],
    /// Set if rows store the values of these columns and of the text column: the value of a virtual
    /// column may change with any update.
    pub shows_changes: bool,
}

/// All remembered data.
#[derive(Default)]
struct Memory {
    /// The OID of a function, and the registry of the extension that the function belongs to.
    registry: Option<(Oid, Registry)>,
    /// The plans, and for each of them the stored settings that it follows from.
    ways: Vec<(TriggerPlan, Vec<u8>)>,
}

thread_local! {
    static MEMORY: RefCell<Memory> = const { RefCell::new(Memory { registry: None, ways: Vec::new() }) };
    /// The relations that the data refers to.
    static ABOUT: RefCell<Vec<Oid>> = const { RefCell::new(Vec::new()) };
    /// Set if something has changed since the data was remembered.
    static STALE: Cell<bool> = const { Cell::new(false) };
    /// Set during a lookup, whose result may refer to any relation.
    static LEARNING: Cell<bool> = const { Cell::new(false) };
    /// Set once the callbacks are registered with the server.
    static TOLD: Cell<bool> = const { Cell::new(false) };
}

/// Returns the registry of the extension that the called function belongs to; its table of jobs is
/// locked.
pub(super) fn registry(call: FunctionCall) -> Result<Registry> {
    // SAFETY: set by the function manager.
    let function = unsafe { (*(*call.info).flinfo).fn_oid };
    let known = MEMORY.with_borrow(|memory| memory.registry.filter(|(of, _)| *of == function));
    if let Some((_, registry)) = known.filter(|_| !STALE.get()) {
        // SAFETY: any OID can be locked; the lock stays until the transaction ends.
        unsafe { pg_sys::LockRelationOid(registry.jobs, pg_sys::AccessShareLock as i32) };
        if !STALE.get() {
            return Ok(registry);
        }
    }
    let (registry, keep) = learn(|| Registry::open(&Extension::from_call(call)?))?;
    if keep {
        remember(|memory| memory.registry = Some((function, registry)));
    }
    Ok(registry)
}

/// Returns the way to note changes of a relation for this job; the job's table of states is locked.
/// If no way is remembered, or the remembered way may be out of date, calls `find`, which also
/// locks the table.
pub(super) fn way(
    docs: Oid,
    job: &TriggerEntry,
    find: impl FnOnce() -> Result<Option<TriggerPlan>>,
) -> Result<Option<TriggerPlan>> {
    let known = MEMORY.with_borrow(|memory| {
        let is_it = |(way, settings): &&(TriggerPlan, Vec<u8>)| {
            way.docs == docs && way.state == job.state && settings == job.bytes()
        };
        memory.ways.iter().find(is_it).map(|(way, _)| *way)
    });
    if let Some(way) = known.filter(|_| !STALE.get()) {
        if !lock_state(way.state) {
            return Ok(None);
        }
        if !STALE.get() {
            return Ok(Some(way));
        }
    }
    /// The largest number of plans that are remembered: more than the number of watched relations
    /// that a session usually writes to in turn.
    const MOST: usize = 64;
    let (found, keep) = learn(find)?;
    if let Some(way) = found.filter(|_| keep) {
        remember(|memory| {
            memory.ways.retain(|(way, _)| way.docs != docs);
            if memory.ways.len() == MOST {
                memory.ways.remove(0);
            }
            memory.ways.push((way, job.bytes().to_vec()));
        });
    }
    Ok(found)
}

/// Locks a table of states without waiting. Returns false if a refresh that changes its type has
/// locked it exclusively.
pub(super) fn lock_state(state: Oid) -> bool {
    // SAFETY: any OID can be locked; the lock stays until the transaction ends.
    unsafe { pg_sys::ConditionalLockRelationOid(state, pg_sys::RowExclusiveLock as i32) }
}

/// Remembers something, and updates the list of relations that the data refers to.
fn remember(keep: impl FnOnce(&mut Memory)) {
    MEMORY.with_borrow_mut(|memory| {
        keep(memory);
        let registry = memory.registry.iter().flat_map(|(_, registry)| registry.tables());
        let ways = memory.ways.iter().flat_map(|(way, _)| [way.docs, way.state]);
        ABOUT.set(registry.chain(ways).collect());
    });
}

/// Looks something up, and reports whether it may be remembered, that is, whether nothing changed
/// meanwhile.
fn learn<T>(look: impl FnOnce() -> Result<T>) -> Result<(T, bool)> {
    /// Ends the lookup, also after an error.
    struct Learning;
    impl Drop for Learning {
        fn drop(&mut self) {
            LEARNING.set(false);
        }
    }
    be_told();
    if STALE.get() {
        MEMORY.take();
        ABOUT.take();
    }
    STALE.set(false);
    LEARNING.set(true);
    let learning = Learning;
    let found = look()?;
    drop(learning);
    Ok((found, !STALE.get()))
}

/// Registers the callbacks for changes, once in a session.
fn be_told() {
    if TOLD.replace(true) {
        return;
    }
    // SAFETY: the callbacks are functions that exist until the session ends. A session has room for
    // ten callbacks for relations, for all libraries together; one more would end the session, here
    // as in any other library.
    unsafe {
        pg_sys::CacheRegisterRelcacheCallback(Some(relation_changed), Datum::null());
        for cache in [
            SysCacheIdentifier::PROCOID,
            SysCacheIdentifier::NAMESPACEOID,
            SysCacheIdentifier::AUTHOID,
            SysCacheIdentifier::AUTHMEMMEMROLE,
        ] {
            pg_sys::CacheRegisterSyscacheCallback(cache as i32, Some(catalog_changed), Datum::null());
        }
    }
}

/// Called when a relation, or all of them, may have changed. Nothing in here can fail.
unsafe extern "C-unwind" fn relation_changed(_: Datum, relation: Oid) {
    let is_about = || {
        let has =
            |about: &RefCell<Vec<Oid>>| about.try_borrow().is_ok_and(|about| !about.contains(&relation));
        !ABOUT.try_with(has).unwrap_or(false)
    };
    if relation == pg_sys::InvalidOid || LEARNING.get() || is_about() {
        STALE.set(true);
    }
}

/// Called when a function, a schema, a role or a membership may have changed.
unsafe extern "C-unwind" fn catalog_changed(_: Datum, _: i32, _: u32) {
    STALE.set(true);
}
