//! `amvalidate`: reports whether the access method can work with an operator class.

use pgrx::pg_sys::ffi::pg_guard_ffi_boundary;
use pgrx::pg_sys::{self, Oid};
use pgrx::{PgLogLevel, PgSqlErrorCode};

use super::class::{DISTANCE, EQUALS, IN_BALL, OperatorClass, class_of};
use super::groups::HASH;
use crate::pg::query::catalog::cached;
use crate::pg::server::encoding;
use crate::pg::server::error::SqlError;
use crate::pg::server::guard::guard;
use crate::pg::server::notices::report;
use crate::pg::server::syscache;

// Functions of the server (access/amvalidate.h) that pgrx does not declare.
unsafe extern "C-unwind" {
    fn check_amop_signature(operator: Oid, result: Oid, left: Oid, right: Oid) -> bool;
    fn check_amoptsproc_signature(function: Oid) -> bool;
    fn opfamily_can_sort_type(family: Oid, of: Oid) -> bool;
}

/// `amvalidate`
pub(crate) unsafe extern "C-unwind" fn validate(class: Oid) -> bool {
    // SAFETY: this is the outermost frame; cached rows are released.
    unsafe {
        guard(|| {
            let read = |row: &pg_sys::FormData_pg_opclass| Checked {
                name: encoding::c_string(row.opcname.data.as_ptr()),
                family: row.opcfamily,
                of: row.opcintype,
            };
            let checked = cached(pg_sys::SysCacheIdentifier::CLAOID, class, read).ok_or_else(|| {
                let message = format!("there is no operator class with OID {}", class.to_u32());
                SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT, message)
            })?;
            Ok(match checked.functions() {
                Some(ClassKind::Searched(class)) => {
                    let distance = (class.strategy() == IN_BALL).then_some(DISTANCE);
                    checked.operators(class.strategy(), distance)
                }
                Some(ClassKind::Group) => checked.operators(EQUALS, None),
                None => false,
            })
        })
    }
}

/// The kind of a class, as its support functions tell it.
#[derive(Clone, Copy)]
enum ClassKind {
    /// A class of a column that is searched.
    Searched(OperatorClass),
    /// A class of a group column.
    Group,
}

struct Checked {
    name: String,
    family: Oid,
    of: Oid,
}

impl Checked {
    fn wrong(&self, what: &str) {
        report(
            PgLogLevel::INFO,
            format!("operator class \"{}\" of access method signature {what}", self.name),
        );
    }

    /// Checks the support functions and returns the kind of class that they name.
    fn functions(&self) -> Option<ClassKind> {
        // SAFETY: the cache of pg_amproc.
        let functions: Vec<pg_sys::FormData_pg_amproc> =
            unsafe { rows(pg_sys::SysCacheIdentifier::AMPROCNUM, self.family) };
        let (mut kind, mut right) = (None, true);
        for function in functions {
            if (function.amproclefttype, function.amprocrighttype) != (self.of, self.of) {
                continue;
            }
            match function.amprocnum as u16 {
                1 => kind = class_of(function.amproc).map(ClassKind::Searched),
                HASH => {
                    // SAFETY: the function exists.
                    let shape = unsafe {
                        (pg_sys::get_func_nargs(function.amproc), pg_sys::get_func_rettype(function.amproc))
                    };
                    if shape != (2, pg_sys::INT8OID) {
                        self.wrong(
                            "has support function 3 with another signature than (type, bigint) → bigint",
                        );
                        right = false;
                    }
                    kind = Some(ClassKind::Group);
                }
                2 => {
                    // SAFETY: the function exists.
                    if !unsafe { pg_guard_ffi_boundary(|| check_amoptsproc_signature(function.amproc)) } {
                        self.wrong("has support function 2 with another signature than (internal) → void");
                        right = false;
                    }
                }
                number => {
                    self.wrong(&format!("has support function {number}, which does not exist"));
                    right = false;
                }
            }
        }
        if kind.is_none() {
            self.wrong("lacks support function 1, a function signature_class of neardup's for its type");
        }
        kind.filter(|_| right)
    }

    /// Checks the operators of a class, whose indexes search by one of them, and perhaps know a
    /// distance.
    fn operators(&self, searched: u16, distance: Option<u16>) -> bool {
        // SAFETY: the cache of pg_amop.
        let operators: Vec<pg_sys::FormData_pg_amop> =
            unsafe { rows(pg_sys::SysCacheIdentifier::AMOPSTRATEGY, self.family) };
        let mut right = true;
        let mut searches = false;
        for operator in
            operators.iter().filter(|o| o.amoplefttype == self.of || o.amoplefttype == pg_sys::ANYARRAYOID)
        {
            let strategy = operator.amopstrategy as u16;
            let wrong = |what: &str| {
                self.wrong(&format!("has operator {strategy} {what}"));
                false
            };
            let order = operator.amoppurpose as u8 == pg_sys::AMOP_ORDER;
            if strategy != searched && Some(strategy) != distance {
                right = wrong("which this class does not know");
                continue;
            }
            let result = if Some(strategy) == distance { pg_sys::FLOAT8OID } else { pg_sys::BOOLOID };
            if order != (Some(strategy) == distance) {
                right = wrong("with the wrong purpose");
            }
            // SAFETY: any OID of a family may be asked for.
            let can_sort = || unsafe {
                pg_guard_ffi_boundary(|| opfamily_can_sort_type(operator.amopsortfamily, result))
            };
            if order && !can_sort() {
                right = wrong("whose result its sort family cannot order");
            }
            let (left, other) = (operator.amoplefttype, operator.amoprighttype);
            // SAFETY: the operator exists.
            let is_right = unsafe {
                pg_guard_ffi_boundary(|| check_amop_signature(operator.amopopr, result, left, other))
            };
            if !is_right {
                right = wrong("with the wrong signature");
            }
            searches |= strategy == searched;
        }
        if !searches {
            self.wrong("lacks an operator to search by");
        }
        right && searches
    }
}

/// Returns all rows of a catalogue whose first key in its cache is `key`.
///
/// # Safety
/// `T` describes the catalogue of the cache.
unsafe fn rows<T: Copy>(cache: pg_sys::SysCacheIdentifier::Type, key: Oid) -> Vec<T> {
    // SAFETY: the caller's promise.
    unsafe { syscache::rows(cache, key.into(), |row| *pg_sys::GETSTRUCT(row).cast::<T>()) }
}
