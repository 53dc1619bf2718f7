//! The tables of a job, found by their numbers and locked until the end of the transaction. What the books say of them is
//! not trusted: work on them runs as the owner of the watched relation, so they must be the owner's, and as a job makes
//! them.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};

use super::books::Entry;
use super::not_now;
use crate::pg::query::relation::{quote_identifier, type_name};
use crate::pg::request::example::literal;
use crate::pg::server::encoding::{self, c_string};
use crate::pg::server::error::{Result, SqlError};

/// The name of a relation with its schema, as SQL text needs it.
pub fn name_of(relation: Oid) -> Result<String> {
    // SAFETY: any number is looked up; a relation is in a schema, unless it is dropped just now.
    let [schema, name] = unsafe {
        [pg_sys::get_namespace_name(pg_sys::get_rel_namespace(relation)), pg_sys::get_rel_name(relation)]
            .map(|name| if name.is_null() { relation.to_u32().to_string() } else { c_string(name) })
    };
    Ok(format!("{}.{}", quote_identifier(&schema)?, quote_identifier(&name)?))
}

/// The name of a role, as SQL text needs it.
pub fn role(oid: Oid) -> Result<String> {
    // SAFETY: any number is looked up; null if there is no such role.
    let name = unsafe { pg_sys::GetUserNameFromId(oid, true) };
    // SAFETY: a C string.
    if name.is_null() { Ok(oid.to_u32().to_string()) } else { quote_identifier(&unsafe { c_string(name) }) }
}

/// A locked table.
#[derive(Debug)]
pub struct Table {
    /// Its number.
    pub oid: Oid,
    /// Its name with its schema, as SQL text needs it.
    pub name: String,
    /// Who owns it.
    pub owner: Oid,
    /// Whether it is a plain table of its own without rules, triggers, forced policies, constraints or partitions.
    is_bare: bool,
    /// The like, but with triggers: those of its owner may be there.
    is_plain: bool,
    /// Its columns, without those that were dropped.
    columns: Vec<(String, Oid)>,
    /// Whether some were dropped, so that places among the others are not what columns are stored by.
    has_gaps: bool,
    /// Whether each of its indexes takes any row.
    indexes: Vec<bool>,
}

/// What a number of a table leads to.
#[derive(Debug)]
pub enum Opened {
    /// To nothing: it was dropped.
    Gone,
    /// To a relation of an owner with whom nothing is to be done, which is not locked for long.
    Others(Oid),
    /// To a table.
    Table(Table),
}

/// Who owns a relation; none if there is no such relation.
pub fn owner_of(relation: Oid) -> Option<Oid> {
    // SAFETY: any number is looked up; the row is read before it is released.
    unsafe {
        let row = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::RELOID as i32, relation.into());
        if row.is_null() {
            return None;
        }
        let class: *const pg_sys::FormData_pg_class = pg_sys::GETSTRUCT(row).cast();
        let owner = (*class).relowner;
        pg_sys::ReleaseSysCache(row);
        Some(owner)
    }
}

/// The relation of a name in a schema, if there is one.
pub fn relation_named(name: &str, namespace: Oid) -> Result<Option<Oid>> {
    let name = encoding::to_server(name)?;
    // SAFETY: a C string; no relation is the number 0.
    let relation = unsafe { pg_sys::get_relname_relid(name.as_ptr(), namespace) };
    Ok((relation != pg_sys::InvalidOid).then_some(relation))
}

impl Table {
    /// Opens and locks a table, if it has an owner of whom that `may` be: nobody can make us lock other people's.
    pub fn open(oid: Oid, lock: u32, may: impl Fn(Oid) -> bool) -> Result<Opened> {
        match owner_of(oid) {
            None => return Ok(Opened::Gone),
            Some(owner) if !may(owner) => return Ok(Opened::Others(owner)),
            Some(_) => {}
        }
        // SAFETY: any number is looked up; null if it is no relation.
        let relation = unsafe { pg_sys::try_relation_open(oid, lock as i32) };
        if relation.is_null() {
            return Ok(Opened::Gone);
        }
        // SAFETY: an open relation has its catalogue row and its tuple descriptor; what is read is copied before it is
        // closed. The lock stays.
        unsafe {
            let class = &*(*relation).rd_rel;
            let forced = class.relrowsecurity && class.relforcerowsecurity;
            let is_plain = class.relkind.cast_unsigned() == pg_sys::RELKIND_RELATION
                && !(class.relhasrules || class.relispartition || class.relhassubclass || forced);
            let owner = class.relowner;
            let descriptor = (*relation).rd_att;
            let attributes = (*descriptor).attrs.as_slice((*descriptor).natts as usize);
            // What is not given a value must do without one.
            let needs_nothing = attributes.iter().all(|attribute| {
                attribute.attisdropped
                    || (!attribute.atthasdef
                        && attribute.attidentity == 0
                        && (!attribute.attnotnull || attribute.attnum == 1))
            });
            let is_bare = is_plain
                && needs_nothing
                && !class.relhastriggers
                && class.relchecks == 0
                && !class.relrowsecurity
                && may_insert(oid, class.relnamespace, owner);
            let has_gaps = attributes.iter().any(|attribute| attribute.attisdropped);
            let columns = attributes
                .iter()
                .filter(|attribute| !attribute.attisdropped)
                .map(|attribute| (c_string(attribute.attname.data.as_ptr()), attribute.atttypid))
                .collect();
            let list = pg_sys::RelationGetIndexList(relation);
            let count = if list.is_null() { 0 } else { (*list).length };
            let indexes = (0..count).map(|n| is_harmless(pg_sys::list_nth_oid(list, n))).collect();
            pg_sys::relation_close(relation, pg_sys::NoLock as i32);
            if !may(owner) {
                return Ok(Opened::Others(owner));
            }
            Ok(Opened::Table(Self {
                oid,
                name: name_of(oid)?,
                owner,
                is_bare,
                is_plain,
                columns,
                has_gaps,
                indexes,
            }))
        }
    }

    /// Whether it has columns of these names and types.
    pub fn has(&self, columns: &[(&str, Oid)]) -> bool {
        self.is_plain
            && columns
                .iter()
                .all(|(name, of)| self.columns.iter().any(|column| column.0 == *name && column.1 == *of))
    }

    /// The type of a column.
    fn type_of(&self, column: &str) -> Option<Oid> {
        self.columns.iter().find(|(name, _)| name == column).map(|&(_, of)| of)
    }

    /// Whether it is such a table as jobs make, for ids of any type.
    pub fn is_of_job(&self) -> bool {
        let of = |column: &str| self.type_of(column).unwrap_or(pg_sys::InvalidOid);
        self.has(&pair_columns(of("left_id")))
            || self.has(&cluster_columns(of("cluster_id")))
            || self.has(&state_columns(of("id")))
            || self.has(&LIST_COLUMNS)
    }

    /// Whether rows can be put into it without anything going wrong: whether it is a table of states just as a job makes
    /// them, for ids of this type.
    pub fn takes_marks(&self, id_type: Oid) -> bool {
        self.is_bare
            && self.indexes == [true; 2]
            && !self.has_gaps
            && self.columns.iter().map(|(name, of)| (&**name, *of)).eq(state_columns(id_type))
    }
}

/// Whether an owner can put rows into a table: also owners can take rights from themselves.
fn may_insert(table: Oid, schema: Oid, owner: Oid) -> bool {
    // SAFETY: functions of the server that take these types; what they answer is a bool.
    let has = |function: u32, object: Oid, right: &std::ffi::CStr| unsafe {
        let right = pg_sys::cstring_to_text(right.as_ptr());
        let arguments = [owner.into(), object.into(), pg_sys::Datum::from(right)];
        let [role, object, right] = arguments;
        pg_sys::OidFunctionCall3Coll(function.into(), pg_sys::InvalidOid, role, object, right).value() != 0
    };
    has(pg_sys::F_HAS_TABLE_PRIVILEGE_OID_OID_TEXT, table, c"INSERT")
        && has(pg_sys::F_HAS_SCHEMA_PRIVILEGE_OID_OID_TEXT, schema, c"USAGE")
}

/// Whether an index of a table of states takes any row: it computes nothing, and is unique for ids only, of rows that its
/// predicate leaves to it.
///
/// # Safety
/// An index of a table that is open and locked.
unsafe fn is_harmless(index: Oid) -> bool {
    // SAFETY: the caller's promise; an index has a row in pg_index with as many keys as it says.
    unsafe {
        let index = pg_sys::index_open(index, pg_sys::AccessShareLock as i32);
        let form = &*(*index).rd_index;
        let keys = form.indkey.values.as_slice(form.indnkeyatts as usize);
        let plain = keys.iter().all(|&key| key > 0) && !form.indisexclusion;
        let partial = !pg_sys::RelationGetIndexPredicate(index).is_null();
        let harmless = plain && (!form.indisunique || (partial && keys == [1]));
        pg_sys::index_close(index, pg_sys::NoLock as i32);
        harmless
    }
}

fn pair_columns(id_type: Oid) -> [(&'static str, Oid); 3] {
    [("left_id", id_type), ("right_id", id_type), ("similarity", pg_sys::FLOAT8OID)]
}

fn cluster_columns(id_type: Oid) -> [(&'static str, Oid); 3] {
    [("cluster_id", id_type), ("id", id_type), ("representative", pg_sys::BOOLOID)]
}

/// The columns of a table of what is known of rows.
pub fn state_columns(id_type: Oid) -> [(&'static str, Oid); 3] {
    [("id", id_type), ("hash", pg_sys::UUIDOID), ("change", pg_sys::INT2OID)]
}

/// The columns of a table of lists.
pub const LIST_COLUMNS: [(&str, Oid); 6] = [
    ("kind", pg_sys::CHAROID),
    ("segment", pg_sys::INT8OID),
    ("part", pg_sys::INT4OID),
    ("documents", pg_sys::INT4OID),
    ("data", pg_sys::BYTEAOID),
    ("ids", pg_sys::TEXTARRAYOID),
];

/// All tables of a job.
#[derive(Debug)]
pub struct Tables {
    /// The pairs.
    pub pairs: Table,
    /// The clusters.
    pub clusters: Table,
    /// What is known of rows.
    pub state: Table,
    /// Where changed rows are looked up, if the method has that.
    pub lists: Option<Table>,
}

impl Tables {
    /// Locks the tables of a job, all of which must be the owner's.
    pub fn open(entry: &Entry, docs: &str, owner: Oid) -> Result<Self> {
        let mut missing = Vec::new();
        let mut open = |oid: Oid, what: &'static str| -> Result<Option<Table>> {
            match Table::open(oid, pg_sys::RowExclusiveLock, |of| of == owner)? {
                Opened::Table(table) => return Ok(Some(table)),
                Opened::Gone => missing.push(what),
                Opened::Others(other) => {
                    let (name, other, owner) = (name_of(oid)?, role(other)?, role(owner)?);
                    return Err(not_now(
                        format!("{name} of the job of {docs} belongs to {other}, and {docs} to {owner}"),
                        format!("A job works with tables of one owner: ALTER TABLE {name} OWNER TO {owner};"),
                    ));
                }
            }
            Ok(None)
        };
        let state = open(entry.state, "neardup")?;
        let lists = entry.lists.map(|lists| open(lists, "neardup_lists")).transpose()?.flatten();
        let pairs = open(entry.pairs, "pairs")?;
        let clusters = open(entry.clusters, "clusters")?;
        if let (Some(pairs), Some(clusters), Some(state), []) = (pairs, clusters, state, &missing[..]) {
            return Ok(Self { pairs, clusters, state, lists });
        }
        let message = format!("tables of the job of {docs} are gone: {}", missing.join(", "));
        Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE, message).hint(anew(docs)))
    }

    /// The tables.
    pub fn all(&self) -> impl Iterator<Item = &Table> {
        [&self.pairs, &self.clusters, &self.state].into_iter().chain(&self.lists)
    }

    /// Checks that the tables are as a job makes them, but for the type of the ids, which is that of the answer; by right
    /// it is `wanted`.
    pub fn check(&self, docs: &str, wanted: Oid) -> Result<Oid> {
        let id_type = self.state.type_of("id").unwrap_or(wanted);
        let wrong = [
            (Some(&self.pairs), &pair_columns(id_type)[..]),
            (Some(&self.clusters), &cluster_columns(id_type)[..]),
            (Some(&self.state), &state_columns(id_type)[..]),
            (self.lists.as_ref(), &LIST_COLUMNS[..]),
        ];
        let wrong = wrong
            .into_iter()
            .find_map(|(table, columns)| table.filter(|table| !table.has(columns)).zip(Some(columns)));
        match wrong {
            None => Ok(id_type),
            Some((table, columns)) => {
                let columns: Vec<String> =
                    columns.iter().map(|&(name, of)| format!("{name} {}", type_name(of))).collect();
                let message = format!(
                    "{} is not as the job of {docs} made it: a table with {}, without rules, partitions or forced policies",
                    table.name,
                    columns.join(", ")
                );
                Err(not_now(message, anew(docs)))
            }
        }
    }
}

/// How to begin anew.
pub fn anew(docs: &str) -> String {
    format!("Begin anew: SELECT neardup_unwatch({0}); SELECT neardup_watch({0}, 0.8);", literal(docs))
}
