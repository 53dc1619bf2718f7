//! The differences between the supported versions of PostgreSQL: the rest of `src/pg` uses the
//! names in this file, and no other code checks the version.
//!
//! Functions of the server that this library declares itself have the same signature in all of
//! these versions.

use std::ffi::CStr;

use pgrx::pg_sys::{self, Oid};

/// Returns the columns of a descriptor, including dropped ones.
///
/// # Safety
/// The descriptor was made by the server, and outlives the result.
pub(crate) unsafe fn attributes<'a>(descriptor: pg_sys::TupleDesc) -> &'a [pg_sys::FormData_pg_attribute] {
    // SAFETY: the caller's promise: the descriptor has `natts` attributes; since version 18 they
    // follow the compact attributes.
    unsafe {
        let count = (*descriptor).natts as usize;
        #[cfg(not(feature = "pg18"))]
        return (*descriptor).attrs.as_slice(count);
        #[cfg(feature = "pg18")]
        return std::slice::from_raw_parts(
            (*descriptor).compact_attrs.as_ptr().add(count).cast::<pg_sys::FormData_pg_attribute>(),
            count,
        );
    }
}

/// Returns the OID of the index of a table's primary key, or the invalid OID if there is none. A
/// deferrable primary key does not count; since version 18 an argument must say so.
///
/// # Safety
/// The relation is open.
pub(crate) unsafe fn primary_key(relation: pg_sys::Relation) -> Oid {
    // SAFETY: the caller's promise.
    unsafe {
        #[cfg(not(feature = "pg18"))]
        return pg_sys::RelationGetPrimaryKeyIndex(relation);
        #[cfg(feature = "pg18")]
        return pg_sys::RelationGetPrimaryKeyIndex(relation, false);
    }
}

/// Reports whether this transaction created a relation or gave it new files.
pub(crate) fn has_new_files(relation: &pg_sys::RelationData) -> bool {
    #[cfg(feature = "pg15")]
    let files = relation.rd_firstRelfilenodeSubid;
    #[cfg(not(feature = "pg15"))]
    let files = relation.rd_firstRelfilelocatorSubid;
    relation.rd_createSubid != 0 || files != 0
}

/// Locks a tuple address of a relation if this needs no waiting, and reports whether it did. A
/// failure is not logged.
///
/// # Safety
/// The relation is open.
pub(crate) unsafe fn lock_tuple_if_free(
    relation: pg_sys::Relation,
    mut address: pg_sys::ItemPointerData,
    mode: i32,
) -> bool {
    // SAFETY: the caller's promise; the address is copied.
    unsafe {
        #[cfg(not(feature = "pg18"))]
        return pg_sys::ConditionalLockTuple(relation, &raw mut address, mode);
        #[cfg(feature = "pg18")]
        return pg_sys::ConditionalLockTuple(relation, &raw mut address, mode, false);
    }
}

/// Returns the description by which the server parses a storage parameter and stores its value. The
/// server does not record whether the value was given or is the default.
pub(crate) fn option_at(
    name: &'static std::ffi::CStr,
    opttype: pg_sys::relopt_type::Type,
    offset: usize,
) -> pg_sys::relopt_parse_elt {
    pg_sys::relopt_parse_elt {
        optname: name.as_ptr(),
        opttype,
        offset: offset as i32,
        #[cfg(feature = "pg18")]
        isset_offset: 0,
    }
}

/// Reports whether a user owns a relation.
pub(crate) fn owns_relation(relation: Oid, user: Oid) -> bool {
    // SAFETY: looks up OIDs.
    unsafe {
        #[cfg(feature = "pg15")]
        return pg_sys::pg_class_ownercheck(relation, user);
        #[cfg(not(feature = "pg15"))]
        return pg_sys::object_ownercheck(pg_sys::RelationRelationId, relation, user);
    }
}

/// Reports whether a user has the privilege to maintain a table, which exists since version 17.
pub(crate) fn may_maintain(table: Oid, user: Oid) -> bool {
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    {
        let _ = (table, user);
        false
    }
    // SAFETY: looks up OIDs.
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    unsafe {
        let maintain = pg_sys::ACL_MAINTAIN.into();
        pg_sys::pg_class_aclcheck(table, user, maintain) == pg_sys::AclResult::ACLCHECK_OK
    }
}

/// Counts an index scan in the statistics, like pgstat_count_index_scan of pgstat.h, and for
/// EXPLAIN ANALYZE, which shows the count since version 18.
///
/// # Safety
/// The index of the scan is open.
pub(crate) unsafe fn count_index_scan(scan: pg_sys::IndexScanDesc) {
    // SAFETY: the caller's promise; the statistics, if they are kept, belong to this backend.
    unsafe {
        let relation = (*scan).indexRelation;
        if (*relation).pgstat_info.is_null() && (*relation).pgstat_enabled {
            pg_sys::pgstat_assoc_relation(relation);
        }
        if let Some(statistics) = (*relation).pgstat_info.as_mut() {
            #[cfg(feature = "pg15")]
            let scans = &mut statistics.t_counts.t_numscans;
            #[cfg(not(feature = "pg15"))]
            let scans = &mut statistics.counts.numscans;
            *scans += 1;
        }
        #[cfg(feature = "pg18")]
        if let Some(counts) = (*scan).instrument.as_mut() {
            counts.nsearches += 1;
        }
    }
}

/// Shows a text instead of the query as the activity of this session. The query id does not change,
/// and since version 18 the plan id does not change, either.
pub(crate) fn show_activity(text: &std::ffi::CStr) {
    // SAFETY: a C string, which is copied; the ids are this session's.
    unsafe {
        let query = pg_sys::pgstat_get_my_query_id();
        #[cfg(feature = "pg18")]
        let plan = pg_sys::pgstat_get_my_plan_id();
        pg_sys::pgstat_report_activity(pg_sys::BackendState::STATE_RUNNING, text.as_ptr());
        pg_sys::pgstat_report_query_id(query, true);
        #[cfg(feature = "pg18")]
        pg_sys::pgstat_report_plan_id(plan, true);
    }
}

/// Makes VACUUM sleep if its cost limit requires it, and checks for interrupts.
pub(crate) fn vacuum_delay() {
    // SAFETY: called while nothing is locked; no ANALYZE is running.
    unsafe {
        #[cfg(not(feature = "pg18"))]
        pg_sys::vacuum_delay_point();
        #[cfg(feature = "pg18")]
        pg_sys::vacuum_delay_point(false);
    }
}

/// Marks a path of an index as one to use only if there is no other path: since version 18 the
/// planner compares the numbers of disabled nodes of paths before it compares their costs.
pub(crate) fn disable(path: &mut pg_sys::Path) {
    #[cfg(feature = "pg18")]
    {
        // A sequential scan that a setting disables has the number 1, which is less.
        path.disabled_nodes = 2;
    }
    let _ = path;
}

/// Marks a variable or a placeholder as one that the same outer joins may have made NULL as another
/// one. There are such marks since version 16.
///
/// # Safety
/// Nodes of the planner, both of the type `Var` or both of the type `PlaceHolderVar`.
pub(crate) unsafe fn mark_nulled_like(node: *mut pg_sys::Node, other: *mut pg_sys::Node) {
    #[cfg(feature = "pg15")]
    let _ = (node, other);
    // SAFETY: the caller's promise; the set is a copy.
    #[cfg(not(feature = "pg15"))]
    unsafe {
        if (*node).type_ == pg_sys::NodeTag::T_Var {
            let (node, other) = (node.cast::<pg_sys::Var>(), other.cast::<pg_sys::Var>());
            (*node).varnullingrels = pg_sys::bms_copy((*other).varnullingrels);
        } else {
            let (node, other) =
                (node.cast::<pg_sys::PlaceHolderVar>(), other.cast::<pg_sys::PlaceHolderVar>());
            (*node).phnullingrels = pg_sys::bms_copy((*other).phnullingrels);
        }
    }
}

/// Declares that the access method lacks the capabilities that were added after version 15.
pub(crate) fn complete(am: &mut pg_sys::IndexAmRoutine) {
    #[cfg(not(feature = "pg15"))]
    {
        // Every update of an indexed column must reach the index.
        am.amsummarizing = false;
    }
    #[cfg(any(feature = "pg17", feature = "pg18"))]
    {
        // A build sorts with threads of a single backend, not with parallel workers, and an insert
        // leaves nothing open that needs a cleanup.
        am.amcanbuildparallel = false;
        am.aminsertcleanup = None;
    }
    #[cfg(feature = "pg18")]
    {
        // The operators are neither equality nor order, and the cost estimate does not need the
        // height of a tree.
        am.amcanhash = false;
        am.amconsistentequality = false;
        am.amconsistentordering = false;
        am.amgettreeheight = None;
        am.amtranslatestrategy = None;
        am.amtranslatecmptype = None;
    }
    let _ = am;
}

/// Returns the search path of the session as it is written, where a command of the server replaced
/// it by one that has no schema of a user: since version 17, commands that maintain tables do so,
/// while an index is made or a materialized view is filled.
pub(crate) fn replaced_search_path() -> Option<&'static CStr> {
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    return None;
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    // SAFETY: the setting exists. Its former values are strings of the server, which restores them
    // after the command.
    unsafe {
        let of = |path: *const std::ffi::c_char| (!path.is_null()).then(|| CStr::from_ptr(path));
        let safe = |path: &&CStr| *path == c"pg_catalog, pg_temp";
        of(pg_sys::namespace_search_path).filter(safe)?;
        let setting = pg_sys::find_option(c"search_path".as_ptr(), false, true, 0);
        let mut former = setting.as_ref()?.stack.as_ref();
        while let Some(entry) = former {
            let path = of(entry.prior.val.stringval)?;
            if !safe(&path) {
                return Some(path);
            }
            former = entry.prev.as_ref();
        }
        None
    }
}
