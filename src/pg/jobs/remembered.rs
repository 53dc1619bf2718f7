//! What a session remembers for the triggers of jobs: a row that is inserted by itself is not to pay for a dozen looks at
//! the catalogs, which took twice as long as writing its mark.
//!
//! Remembered is only what follows from the catalogs and from the settings of a job; the job's row itself is read each time.
//! All is forgotten as soon as the server tells of a change of a relation that it is about, or of any function, schema or
//! role. Of changes by other sessions it tells when a lock is taken that the session did not have: so locks come first.

use std::cell::{Cell, RefCell};

use pgrx::pg_sys::{self, Datum, Oid, SysCacheIdentifier};

use super::registry::{Registry, TriggerEntry};
use crate::pg::query::as_user::Extension;
use crate::pg::server::call::Call;
use crate::pg::server::error::Result;

/// How changes of a relation are noted.
#[derive(Debug, Clone, Copy)]
pub(super) struct TriggerPlan {
    /// The relation.
    pub docs: Oid,
    /// Who owns it.
    pub owner: Oid,
    /// The table of states.
    pub state: Oid,
    /// The type of its ids.
    pub id_type: Oid,
    /// The number of the column of the ids.
    pub id: i16,
    /// That of the texts.
    pub text: i16,
    /// That of the sites, if there is one.
    pub site: Option<i16>,
    /// Whether rows keep what is in these columns: what is virtual may have changed with any update.
    pub shows_changes: bool,
}

/// All that is remembered.
#[derive(Default)]
struct Memory {
    /// The tables of the extension that a function belongs to.
    registry: Option<(Oid, Registry)>,
    /// Ways, with the settings that they follow from.
    ways: Vec<(TriggerPlan, Vec<u8>)>,
}

thread_local! {
    static MEMORY: RefCell<Memory> = const { RefCell::new(Memory { registry: None, ways: Vec::new() }) };
    /// The relations that it is about.
    static ABOUT: RefCell<Vec<Oid>> = const { RefCell::new(Vec::new()) };
    /// Whether something has changed since.
    static STALE: Cell<bool> = const { Cell::new(false) };
    /// Whether something is being looked up: then any relation may be one that it is about.
    static LEARNING: Cell<bool> = const { Cell::new(false) };
    /// Whether the server tells us.
    static TOLD: Cell<bool> = const { Cell::new(false) };
}

/// The registry of the extension that the called function belongs to; its table of jobs is locked.
pub(super) fn registry(call: Call) -> Result<Registry> {
    // SAFETY: set by the function manager.
    let function = unsafe { (*(*call.info).flinfo).fn_oid };
    let known = MEMORY.with_borrow(|memory| memory.registry.filter(|(of, _)| *of == function));
    if let Some((_, registry)) = known.filter(|_| !STALE.get()) {
        // SAFETY: any number can be locked; the lock stays until the transaction ends.
        unsafe { pg_sys::LockRelationOid(registry.jobs, pg_sys::AccessShareLock as i32) };
        if !STALE.get() {
            return Ok(registry);
        }
    }
    let (registry, keep) = learn(|| Registry::open(&Extension::of(call)?))?;
    if keep {
        remember(|memory| memory.registry = Some((function, registry)));
    }
    Ok(registry)
}

/// The way in which changes of a relation are noted by the job that was found; its table of states is locked. If none is
/// remembered, or that may not hold any more, it is what `find` gives, which locks the table, too.
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
    /// More relations than a session writes to in turn.
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

/// Locks a table of states, unless a refresh that gives it another type has it for itself: nothing waits.
pub(super) fn lock_state(state: Oid) -> bool {
    // SAFETY: any number can be locked; the lock stays until the transaction ends.
    unsafe { pg_sys::ConditionalLockRelationOid(state, pg_sys::RowExclusiveLock as i32) }
}

/// Keeps something in mind, and which relations all of it is about.
fn remember(keep: impl FnOnce(&mut Memory)) {
    MEMORY.with_borrow_mut(|memory| {
        keep(memory);
        let registry = memory.registry.iter().flat_map(|(_, registry)| registry.tables());
        let ways = memory.ways.iter().flat_map(|(way, _)| [way.docs, way.state]);
        ABOUT.set(registry.chain(ways).collect());
    });
}

/// Looks something up, and says whether it may be kept: whether nothing changed meanwhile.
fn learn<T>(look: impl FnOnce() -> Result<T>) -> Result<(T, bool)> {
    /// However it ends.
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

/// Asks the server to tell of changes, once in a session.
fn be_told() {
    if TOLD.replace(true) {
        return;
    }
    // SAFETY: functions that stay. A session has room for ten such functions that are told of relations, of all libraries
    // together; one more would end it, here as in any of the others.
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

/// A relation, or all of them, may have changed. Nothing in here can fail.
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

/// A function, a schema, a role or a membership may have changed.
unsafe extern "C-unwind" fn catalog_changed(_: Datum, _: i32, _: u32) {
    STALE.set(true);
}
