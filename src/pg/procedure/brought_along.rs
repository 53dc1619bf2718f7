//! What a relation brings along that is code, or may be: read from the catalogues, so that nothing
//! of it runs. The functions of the server that return the expressions of an index, its predicate
//! or the key of partitions are not called: they compute what looks constant.

use pgrx::PgList;
use pgrx::pg_sys::ffi::pg_guard_ffi_boundary;
use pgrx::pg_sys::{self, Datum, Oid};

use super::form::{IndexedRows, TableIndex, Trigger};
use crate::pg::compat;
use crate::pg::query::catalog::{function_owner, role_name, type_row};
use crate::pg::query::names::type_name;
use crate::pg::query::ours::symbol;
use crate::pg::server::encoding::c_string;
use crate::pg::server::syscache::{self, attribute};

unsafe extern "C-unwind" {
    fn has_superclass(relation: Oid) -> bool;
    fn find_inheritance_children(parent: Oid, lock: i32) -> *mut pg_sys::List;
}

/// What a relation brings along.
#[derive(Debug)]
pub(super) struct Brought {
    /// The first thing that no table of ours has.
    pub never: Option<&'static str>,
    /// The first thing that only a result may have.
    pub only_on_results: Option<&'static str>,
    /// The indexes.
    pub indexes: Vec<TableIndex>,
    /// The triggers that the server did not make by itself.
    pub triggers: Vec<Trigger>,
    /// Set if it has any triggers.
    pub has_triggers: bool,
}

/// Looks at a relation.
///
/// # Safety
/// The relation is open and locked.
pub(super) unsafe fn find(relation: pg_sys::Relation) -> Brought {
    // SAFETY: the caller's promise: an open relation has its row of the catalogue; lists of OIDs,
    // or null.
    unsafe {
        let class = &*(*relation).rd_rel;
        let oid = (*relation).rd_id;
        let is_partitioned = class.relkind.cast_unsigned() == pg_sys::RELKIND_PARTITIONED_TABLE;
        let statistics = pg_sys::RelationGetStatExtList(relation);
        let never = [
            (!(*relation).rd_rules.is_null() && (*(*relation).rd_rules).numLocks > 0, "a rule"),
            (class.relchecks != 0, "a check"),
            (class.relrowsecurity && class.relforcerowsecurity, "row security that is forced"),
            (class.relhassubclass && !is_partitioned && has_heirs(oid), "tables that inherit from it"),
            (
                !class.relispartition && pg_guard_ffi_boundary(|| has_superclass(oid)),
                "a table from which it inherits",
            ),
            (!statistics.is_null() && (*statistics).length > 0, "a statistics object"),
            (is_partitioned && is_partitioned_by_expressions(oid), "partitions by an expression"),
        ];
        let only_on_results =
            [(class.relrowsecurity, "row security"), (is_filtered(oid), "a publication of some of its rows")];
        let first =
            |all: &[(bool, &'static str)]| all.iter().find(|(holds, _)| *holds).map(|(_, what)| *what);
        let indexes = PgList::<Oid>::from_pg(pg_sys::RelationGetIndexList(relation));
        let columns = compat::attributes((*relation).rd_att);
        Brought {
            never: first(&never),
            only_on_results: first(&only_on_results),
            indexes: indexes.iter_oid().map(|oid| index(oid, columns)).collect(),
            triggers: triggers(relation),
            has_triggers: !(*relation).trigdesc.is_null(),
        }
    }
}

/// Reports whether tables inherit from a table: the mark in its row of the catalogue may be old.
fn has_heirs(table: Oid) -> bool {
    // SAFETY: any OID may be looked up; a list of OIDs, or null.
    unsafe {
        let heirs = pg_guard_ffi_boundary(|| find_inheritance_children(table, pg_sys::NoLock as i32));
        !heirs.is_null() && (*heirs).length > 0
    }
}

/// Reports whether a value of a column may run code that is not the server's: of a domain, of a
/// generated or numbered column, of a default that is more than a function of the server without
/// arguments.
///
/// # Safety
/// The relation is open, and the attribute is one of its columns.
pub(super) unsafe fn computes(relation: pg_sys::Relation, column: &pg_sys::FormData_pg_attribute) -> bool {
    // SAFETY: the caller's promise; the constraints of a descriptor have as many defaults as they
    // say, and the stored expressions are read, and not computed.
    unsafe {
        if column.attidentity != 0
            || column.attgenerated != 0
            || pg_sys::getBaseType(column.atttypid) != column.atttypid
        {
            return true;
        }
        let constraints = (*(*relation).rd_att).constr;
        if !column.atthasdef || constraints.is_null() {
            return column.atthasdef;
        }
        let defaults = std::slice::from_raw_parts((*constraints).defval, (*constraints).num_defval as usize);
        let is_of_server = |default: &pg_sys::AttrDefault| {
            let call: *const pg_sys::FuncExpr = pg_sys::stringToNode(default.adbin).cast();
            (*call).xpr.type_ == pg_sys::NodeTag::T_FuncExpr
                && (*call).funcid.to_u32() < pg_sys::FirstNormalObjectId
                && (*call).args.is_null()
        };
        !defaults.iter().any(|default| default.adnum == column.attnum && is_of_server(default))
    }
}

/// Lists the triggers that the server did not make by itself, as it does for foreign keys.
///
/// # Safety
/// The relation is open.
unsafe fn triggers(relation: pg_sys::Relation) -> Vec<Trigger> {
    // SAFETY: the caller's promise; the description has as many triggers as it says.
    unsafe {
        let described = (*relation).trigdesc;
        if described.is_null() {
            return Vec::new();
        }
        let all = std::slice::from_raw_parts((*described).triggers, (*described).numtriggers as usize);
        let made = all.iter().filter(|trigger| !trigger.tgisinternal).map(|trigger| Trigger {
            name: c_string(trigger.tgname),
            function: trigger.tgfoid,
            has_condition: !trigger.tgqual.is_null(),
            has_arguments: trigger.tgnargs > 0,
        });
        made.collect()
    }
}

/// Reports whether the rows of a partitioned table are told by expressions, and not by columns.
fn is_partitioned_by_expressions(table: Oid) -> bool {
    /// The number of `partexprs` in `pg_partitioned_table`.
    const EXPRESSIONS: u32 = 8;
    let cache = pg_sys::SysCacheIdentifier::PARTRELID;
    // SAFETY: the rows have this attribute.
    let is_told = |row| unsafe { attribute(cache, row, EXPRESSIONS) }.is_some();
    // SAFETY: any OID may be looked up.
    unsafe { syscache::row(cache, &[table.into()], is_told) }.unwrap_or(true)
}

/// Reports whether a publication names the table and filters its rows.
fn is_filtered(table: Oid) -> bool {
    /// The number of `prqual` in `pg_publication_rel`.
    const FILTER: u32 = 4;
    let cache = pg_sys::SysCacheIdentifier::PUBLICATIONRELMAP;
    // SAFETY: the rows have this attribute.
    let filters = |row| unsafe { attribute(cache, row, FILTER) }.is_some();
    // SAFETY: any OID may be looked up.
    unsafe { syscache::rows(cache, table.into(), filters) }.contains(&true)
}

/// Describes an index of a table with these columns.
///
/// # Safety
/// The table is open and locked.
unsafe fn index(oid: Oid, columns: &[pg_sys::FormData_pg_attribute]) -> TableIndex {
    let cache = pg_sys::SysCacheIdentifier::INDEXRELID;
    // SAFETY: the caller's promise; an index has a row in pg_index, whose vectors have as many
    // entries as the index has keys.
    unsafe {
        let index = pg_sys::index_open(oid, pg_sys::AccessShareLock as i32);
        let (form, row) = (&*(*index).rd_index, (*index).rd_indextuple);
        let class = &*(*index).rd_rel;
        let count = form.indnkeyatts as usize;
        let keys = form.indkey.values.as_slice(form.indnatts as usize).to_vec();
        let of = |key: i16| usize::try_from(key - 1).ok().and_then(|at| columns.get(at));
        let vector = |number: u32| {
            attribute(cache, row, number).map(|value| {
                let vector: *const pg_sys::oidvector = value.cast_mut_ptr();
                (*vector).values.as_slice(count).to_vec()
            })
        };
        let classes = vector(pg_sys::Anum_pg_index_indclass).unwrap_or_default();
        let collations = vector(pg_sys::Anum_pg_index_indcollation).unwrap_or_default();
        let is_of_column = |n: usize| {
            of(keys[n]).is_some_and(|column| {
                classes.get(n) == Some(&pg_sys::GetDefaultOpClass(column.atttypid, class.relam))
                    && collations.get(n) == Some(&column.attcollation)
            })
        };
        let expressions = attribute(cache, row, pg_sys::Anum_pg_index_indexprs);
        let predicate = attribute(cache, row, pg_sys::Anum_pg_index_indpred);
        let is_usual = class.relam == pg_sys::BTREE_AM_OID
            && form.indnatts == form.indnkeyatts
            && !form.indisexclusion
            && form.indisvalid
            && expressions.is_none()
            && std::slice::from_raw_parts((*index).rd_indoption, count).iter().all(|&option| option == 0)
            && (0..count).all(is_of_column);
        let described = TableIndex {
            name: c_string(class.relname.data.as_ptr()),
            keys,
            is_unique: form.indisunique,
            is_usual,
            rows: predicate.map_or(IndexedRows::All, |predicate| rows(predicate)),
        };
        pg_sys::index_close(index, pg_sys::NoLock as i32);
        described
    }
}

/// Returns the rows that a predicate selects. The stored expression is read, and not computed.
///
/// # Safety
/// The value is the predicate of an index: a text of the server's with an expression.
unsafe fn rows(predicate: Datum) -> IndexedRows<i16> {
    // SAFETY: the caller's promise; a node of a tag is of its type.
    unsafe {
        let text = pg_sys::text_to_cstring(predicate.cast_mut_ptr());
        let test: *const pg_sys::NullTest = pg_sys::stringToNode(text).cast();
        if (*test).xpr.type_ != pg_sys::NodeTag::T_NullTest
            || (*(*test).arg).type_ != pg_sys::NodeTag::T_Var
            || (*test).argisrow
        {
            return IndexedRows::Other;
        }
        let column = (*(*test).arg.cast::<pg_sys::Var>()).varattno;
        if (*test).nulltesttype == pg_sys::NullTestType::IS_NULL {
            IndexedRows::Null(column)
        } else {
            IndexedRows::NotNull(column)
        }
    }
}

/// A row of `pg_depend`.
#[repr(C)]
struct Dependency {
    class: Oid,
    object: Oid,
    part: i32,
    of_class: Oid,
    of: Oid,
}

/// Finds a function or a type that the expressions of an index use, and that neither `trusted` owns
/// nor a superuser, and describes it. The dependencies of the index name them all; those of the
/// server are not noted there.
pub(crate) fn code_of_others(index: Oid, trusted: Oid) -> Option<String> {
    const DEPENDENCIES: Oid = Oid::from_u32(2608);
    const BY_DEPENDER: Oid = Oid::from_u32(2673);
    // SAFETY: reads roles.
    let is_trusted = |owner: Oid| owner == trusted || unsafe { pg_sys::superuser_arg(owner) };
    // SAFETY: a catalogue with an index of these columns; rows have these fields, and are read
    // before the scan goes on.
    unsafe {
        let table = pg_sys::table_open(DEPENDENCIES, pg_sys::AccessShareLock as i32);
        let mut keys = [pg_sys::ScanKeyData::default(); 2];
        for (n, value) in [pg_sys::RelationRelationId, index].into_iter().enumerate() {
            let equals = Oid::from(pg_sys::F_OIDEQ);
            let strategy = pg_sys::BTEqualStrategyNumber as u16;
            pg_sys::ScanKeyInit(&raw mut keys[n], n as i16 + 1, strategy, equals, value.into());
        }
        let scan =
            pg_sys::systable_beginscan(table, BY_DEPENDER, true, std::ptr::null_mut(), 2, keys.as_mut_ptr());
        let mut found = None;
        while found.is_none() {
            let row = pg_sys::systable_getnext(scan);
            if row.is_null() {
                break;
            }
            let of = &*pg_sys::GETSTRUCT(row).cast::<Dependency>();
            debug_assert!(of.class == pg_sys::RelationRelationId && of.object == index && of.part >= 0);
            found = match of.of_class {
                pg_sys::ProcedureRelationId => function_of_others(of.of, is_trusted),
                pg_sys::OperatorRelationId => function_of_others(pg_sys::get_opcode(of.of), is_trusted),
                pg_sys::TypeRelationId => type_of_others(of.of, is_trusted),
                _ => None,
            };
        }
        pg_sys::systable_endscan(scan);
        pg_sys::table_close(table, pg_sys::AccessShareLock as i32);
        found
    }
}

/// Describes a function of a role that is not trusted. Only superusers make functions in C.
fn function_of_others(function: Oid, is_trusted: impl Fn(Oid) -> bool) -> Option<String> {
    let owner = function_owner(function)?;
    if is_trusted(owner) || symbol(function).is_some() {
        return None;
    }
    // SAFETY: a C string for any OID.
    let name = unsafe { c_string(pg_sys::format_procedure(function)) };
    Some(format!("{name} of {}", role_name(owner).unwrap_or_default()))
}

/// Describes a type of a role that is not trusted, if values of the type run code.
fn type_of_others(of: Oid, is_trusted: impl Fn(Oid) -> bool) -> Option<String> {
    let (owner, kind) = type_row(of, |row| (row.typowner, row.typtype.cast_unsigned()))?;
    let is_plain = [pg_sys::TYPTYPE_BASE, pg_sys::TYPTYPE_ENUM, pg_sys::TYPTYPE_PSEUDO].contains(&kind);
    (!is_plain && !is_trusted(owner))
        .then(|| format!("type {} of {}", type_name(of), role_name(owner).unwrap_or_default()))
}
