//! Opens an index that a user named: finds it, locks it and its table, and runs work on it as the
//! table's owner.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};

use super::insert;
use crate::pg::compat;
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::procedure::brought_along::code_of_others;
use crate::pg::query::as_user::as_user;
use crate::pg::query::citus::is_spread;
use crate::pg::query::names::{name_of, role};
use crate::pg::request::example::literal;
use crate::pg::server::call::FunctionCall;
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::{Result, SqlError};

/// An open index of the access method signature and its table, both locked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UserIndex {
    /// The index.
    pub index: OpenIndex,
    /// Its table.
    pub table: pg_sys::Relation,
    /// The user who calls.
    user: Oid,
}

/// Opens the index that argument 0 of a call names, and runs `work` on it as the owner of the
/// table. The user must be the owner of the index, a member of pg_monitor, or a user who may
/// maintain its table, as for VACUUM and REINDEX. The role is changed so that nothing runs with the
/// rights of the user; what would run expressions of the index asks [`UserIndex::check_code`]
/// first.
pub(crate) fn on_index<T>(
    call: FunctionCall,
    lock: u32,
    work: impl FnOnce(UserIndex) -> Result<T>,
) -> Result<T> {
    let oid: Oid = call.need(0, "index")?;
    let lock = lock as i32;
    let found = NamedIndex::find(oid)?;
    // The rights are checked before anything is locked. A user without rights to the index must not
    // keep others waiting.
    found.check_rights()?;
    let opened = found.open(lock)?;
    // SAFETY: open relations.
    unsafe {
        let owner = (*(*opened.table).rd_rel).relowner;
        let result = as_user(owner, || work(opened))?;
        // After an error the server closes the relations. Relations that were locked for a change
        // stay locked until the transaction ends.
        let unlock = if lock > pg_sys::AccessShareLock as i32 { pg_sys::NoLock as i32 } else { lock };
        pg_sys::relation_close(opened.index.relation(), unlock);
        pg_sys::relation_close(opened.table, unlock);
        Ok(result)
    }
}

/// The index that an OID refers to, as the catalogue describes it now.
struct NamedIndex {
    index: Oid,
    table: Oid,
    name: String,
}

impl NamedIndex {
    fn find(oid: Oid) -> Result<Self> {
        // SAFETY: looks up an OID; the name is null if the OID is not that of a relation.
        let (name, kind) = unsafe {
            let name = pg_sys::get_rel_name(oid);
            if name.is_null() {
                return Err(missing(oid));
            }
            (c_string(name), pg_sys::get_rel_relkind(oid).cast_unsigned())
        };
        if kind != pg_sys::RELKIND_INDEX {
            return Err(not_ours(&name));
        }
        // SAFETY: looks up an OID.
        let table = unsafe { pg_sys::IndexGetRelation(oid, true) };
        if table == pg_sys::InvalidOid {
            return Err(missing(oid));
        }
        Ok(Self { index: oid, table, name })
    }

    fn check_rights(&self) -> Result<()> {
        let monitor = Oid::from(pg_sys::ROLE_PG_MONITOR);
        // SAFETY: looks up OIDs.
        let (user, monitors) = unsafe {
            let user = pg_sys::GetUserId();
            (user, pg_sys::has_privs_of_role(user, monitor))
        };
        if monitors || compat::owns_relation(self.index, user) || compat::may_maintain(self.table, user) {
            return Ok(());
        }
        let message = format!("permission denied for index {}", self.name);
        Err(SqlError::new(PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE, message)
            .hint("It takes the index's owner or a member of pg_monitor: GRANT pg_monitor TO …;"))
    }

    /// Opens and locks the table before the index, as the server does. Then checks again that the
    /// index belongs to the table and that the user has the rights.
    fn open(self, lock: i32) -> Result<UserIndex> {
        // SAFETY: the result is null for a relation that no longer exists; `on_index` closes what
        // is opened here, or the server does after an error.
        unsafe {
            let table = pg_sys::try_relation_open(self.table, lock);
            if table.is_null() {
                return Err(missing(self.index));
            }
            let relation = pg_sys::try_relation_open(self.index, lock);
            if relation.is_null() || pg_sys::IndexGetRelation(self.index, true) != self.table {
                return Err(missing(self.index));
            }
            self.check_rights()?;
            let index = OpenIndex::new(relation);
            let opened = UserIndex { index, table, user: pg_sys::GetUserId() };
            opened.check_state()?;
            Ok(opened)
        }
    }
}

impl UserIndex {
    /// Fails if the index has expressions or a predicate with code of others than the server and
    /// the owner of the table, or of the owner, who is not the user: an index that changed hands
    /// keeps its expressions, and whoever looks after indexes is not to run what their owners
    /// wrote.
    pub(crate) fn check_code(&self, call: &str) -> Result<()> {
        // SAFETY: open relations.
        let (index, owner) = unsafe { ((*self.index.relation()).rd_id, (*(*self.table).rd_rel).relowner) };
        let trusted = if owner == self.user { owner } else { Oid::INVALID };
        let Some(code) = code_of_others(index, trusted) else { return Ok(()) };
        let message =
            format!("index \"{}\" runs {code}, so not everybody may compute its values", self.index.name());
        let owner = role(owner)?;
        Err(SqlError::new(PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE, message).hint(format!(
            "If you trust it: SET ROLE {owner}; SELECT {call}; without heapallindexed no value is computed."
        )))
    }

    /// Reports whether the user may see values of the indexed columns.
    pub(crate) fn shows_values(&self) -> bool {
        // SAFETY: open relations; reads the rights of a role.
        unsafe {
            let table = (*self.table).rd_id;
            let form = &*(*self.index.relation()).rd_index;
            let keys = form.indkey.values.as_slice(form.indnatts as usize);
            let may = pg_sys::AclResult::ACLCHECK_OK;
            let select = pg_sys::ACL_SELECT as pg_sys::AclMode;
            let hides = pg_sys::CheckEnableRlsResult::RLS_ENABLED;
            let of_table = pg_sys::pg_class_aclcheck(table, self.user, select) == may;
            let of_columns = keys
                .iter()
                .all(|&key| key > 0 && pg_sys::pg_attribute_aclcheck(table, key, self.user, select) == may);
            (of_table || of_columns) && pg_sys::check_enable_rls(table, self.user, true) as u32 != hides
        }
    }

    /// Fails unless the index is a signature index whose pages can be read.
    fn check_state(&self) -> Result<()> {
        let name = self.index.name();
        // SAFETY: open relations; an index has an access method and a row of pg_index.
        unsafe {
            let relation = &*self.index.relation();
            let ours = (*relation.rd_indam)
                .aminsert
                .is_some_and(|f| f as usize == insert::insert as *const () as usize);
            if !ours {
                return Err(not_ours(&name));
            }
            let kind = (*relation.rd_rel).relpersistence.cast_unsigned();
            if kind == pg_sys::RELPERSISTENCE_TEMP && !relation.rd_islocaltemp {
                let message = "cannot access temporary indexes of other sessions";
                return Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message)
                    .hint("Call it in the session that made the table."));
            }
            if kind == pg_sys::RELPERSISTENCE_UNLOGGED && pg_sys::RecoveryInProgress() {
                let message = format!("cannot access unlogged index \"{name}\" during recovery");
                return Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message)
                    .hint("A standby does not have it: look at it on the primary."));
            }
            if !(*relation.rd_index).indisvalid || !(*relation.rd_index).indisready {
                let message = format!("index \"{name}\" is not valid");
                let hint = format!(
                    "CREATE INDEX CONCURRENTLY or REINDEX CONCURRENTLY is still at it, or has failed: then REINDEX INDEX {} or drop it.",
                    self.index.quoted()
                );
                return Err(SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
                    .hint(hint));
            }
        }
        Ok(())
    }
}

fn missing(oid: Oid) -> SqlError {
    let message = format!("relation with OID {} does not exist", oid.to_u32());
    SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE, message)
        .hint("Name an index: SELECT * FROM signature_index_stats('my_index');")
}

fn not_ours(name: &str) -> SqlError {
    let message = format!("\"{name}\" is no index of access method signature");
    SqlError::new(PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE, message).hint(
        "Such an index is made by CREATE INDEX … USING signature (…); of a partitioned one, name those of the partitions.",
    )
}

/// Fails for an index of a table that Citus distributes, with a hint that shows how to query all
/// shards. The query in the hint calls the function in `call` for each index `c`, names the rows of
/// its result `s`, and selects the expression `shown`.
pub(crate) fn refuse_spread(opened: &UserIndex, call: &str, shown: &str) -> Result<()> {
    // SAFETY: an open relation.
    let table = unsafe { (*opened.table).rd_id };
    if !is_spread(table)? {
        return Ok(());
    }
    let name = opened.index.name();
    let (table, begin) = (name_of(table)?, literal(&format!("{name}_")));
    let message = format!("index \"{name}\" is of a table that Citus spreads, and has no rows here");
    let hint = format!(
        "Ask all shards: SELECT shardid, result FROM run_command_on_shards({}, $$SELECT {shown} FROM pg_index i \
         JOIN pg_class c ON c.oid = i.indexrelid, {call} s \
         WHERE i.indrelid = '%s'::regclass AND starts_with(c.relname, {begin})$$);",
        literal(&table)
    );
    Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message).hint(hint))
}
