//! `amvalidate`: whether an operator class is one that the access method can work with.

use std::ffi::CStr;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};

use super::class::Class;
use super::probe::{DISTANCE, IN_BALL, OVERLAPS};
use crate::pg::server::encoding;
use crate::pg::server::error::{SqlError, guard};

// Functions of the server (access/amvalidate.h) that pgrx does not declare.
unsafe extern "C-unwind" {
    fn check_amop_signature(operator: Oid, result: Oid, left: Oid, right: Oid) -> bool;
    fn check_amoptsproc_signature(function: Oid) -> bool;
    fn opfamily_can_sort_type(family: Oid, of: Oid) -> bool;
}

/// ClanguageId of pg_language.h.
const C_LANGUAGE: Oid = Oid::from_u32(13);

/// `amvalidate`
pub unsafe extern "C-unwind" fn validate(class: Oid) -> bool {
    // SAFETY: the outermost frame; cached rows are released.
    unsafe {
        guard(|| {
            let id = pg_sys::SysCacheIdentifier::CLAOID as i32;
            let tuple = pg_sys::SearchSysCache1(id, class.into());
            if tuple.is_null() {
                let message = format!("there is no operator class with OID {}", class.to_u32());
                return Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT, message));
            }
            let form = *fields::<pg_sys::FormData_pg_opclass>(tuple);
            let name = encoding::c_string(form.opcname.data.as_ptr());
            pg_sys::ReleaseSysCache(tuple);
            let checked = Checked { name: &name, family: form.opcfamily, of: form.opcintype };
            Ok(checked.functions().is_some_and(|number| checked.operators(number)))
        })
    }
}

/// The columns of a row of a catalogue that cannot be NULL.
///
/// # Safety
/// `tuple` is a row of the catalogue that `T` describes.
unsafe fn fields<T>(tuple: pg_sys::HeapTuple) -> *const T {
    // SAFETY: the caller's promise; the columns begin behind the header.
    unsafe { (*tuple).t_data.cast::<u8>().add((*(*tuple).t_data).t_hoff.into()).cast() }
}

/// All rows of a catalogue's cache with this first key.
///
/// # Safety
/// `T` describes the catalogue of the cache.
unsafe fn rows<T: Copy>(cache: pg_sys::SysCacheIdentifier::Type, key: Oid) -> Vec<T> {
    let none = pg_sys::Datum::from(0);
    // SAFETY: the caller's promise; the list is released after its rows were copied.
    unsafe {
        let list = pg_sys::SearchSysCacheList(cache as i32, 1, key.into(), none, none);
        let members = (*list).members.as_slice((*list).n_members as usize);
        let rows = members.iter().map(|&member| *fields::<T>(&raw mut (*member).tuple)).collect();
        pg_sys::ReleaseCatCacheList(list);
        rows
    }
}

/// The class that a support function names, if it is one of ours.
pub fn class_of(function: Oid) -> Option<Class> {
    const OURS: [&CStr; 5] = [
        c"neardup_class_bigint",
        c"neardup_class_uuid",
        c"neardup_class_minhash",
        c"neardup_class_simhash",
        c"neardup_class_text",
    ];
    // SAFETY: a function that exists; its source is a text.
    unsafe {
        let tuple = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::PROCOID as i32, function.into());
        if tuple.is_null() {
            return None;
        }
        let mut null = false;
        let source = pg_sys::SysCacheGetAttr(
            pg_sys::SysCacheIdentifier::PROCOID as i32,
            tuple,
            pg_sys::Anum_pg_proc_prosrc as i16,
            &raw mut null,
        );
        let language = (*fields::<pg_sys::FormData_pg_proc>(tuple)).prolang;
        let ours = !null && language == C_LANGUAGE && {
            let source = crate::pg::server::call::varlena_bytes(source).to_vec();
            OURS.iter().any(|name| name.to_bytes() == source)
        };
        pg_sys::ReleaseSysCache(tuple);
        if !ours {
            return None;
        }
        let number = pg_sys::OidFunctionCall1Coll(function, pg_sys::InvalidOid, pg_sys::Datum::from(0));
        Class::from_number(number.value() as i32)
    }
}

struct Checked<'a> {
    name: &'a str,
    family: Oid,
    of: Oid,
}

impl Checked<'_> {
    fn wrong(&self, what: &str) {
        pgrx::info!("operator class \"{}\" of access method signature {what}", self.name);
    }

    /// Checks the support functions, and says which class this is.
    fn functions(&self) -> Option<Class> {
        // SAFETY: the cache of pg_amproc.
        let functions: Vec<pg_sys::FormData_pg_amproc> =
            unsafe { rows(pg_sys::SysCacheIdentifier::AMPROCNUM, self.family) };
        let (mut class, mut right) = (None, true);
        for function in functions {
            if (function.amproclefttype, function.amprocrighttype) != (self.of, self.of) {
                continue;
            }
            match function.amprocnum {
                1 => class = class_of(function.amproc),
                2 => {
                    // SAFETY: a function that exists.
                    if !unsafe { check_amoptsproc_signature(function.amproc) } {
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
        if class.is_none() {
            self.wrong("lacks support function 1, a function signature_class of neardup's for its type");
        }
        class.filter(|_| right)
    }

    /// Checks the operators of a class.
    fn operators(&self, class: Class) -> bool {
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
            let known = match class {
                Class::Bigint | Class::Uuid => strategy == OVERLAPS,
                Class::Minhash | Class::Simhash => strategy == IN_BALL || strategy == DISTANCE,
                Class::Text => strategy == IN_BALL,
            };
            if !known {
                right = wrong("which this class does not know");
                continue;
            }
            let result = if strategy == DISTANCE { pg_sys::FLOAT8OID } else { pg_sys::BOOLOID };
            if order != (strategy == DISTANCE) {
                right = wrong("with the wrong purpose");
            }
            // SAFETY: an operator that exists.
            unsafe {
                if order && !opfamily_can_sort_type(operator.amopsortfamily, result) {
                    right = wrong("whose result its sort family cannot order");
                }
                if !check_amop_signature(
                    operator.amopopr,
                    result,
                    operator.amoplefttype,
                    operator.amoprighttype,
                ) {
                    right = wrong("with the wrong signature");
                }
            }
            searches |= strategy == IN_BALL || strategy == OVERLAPS;
        }
        if !searches {
            self.wrong("lacks an operator to search by");
        }
        right && searches
    }
}
