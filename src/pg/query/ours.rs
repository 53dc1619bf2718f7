//! Which objects are of this library: known by their OID and by their shape, which only a superuser
//! can give, and never by a name alone. The owner of the extension, who may be an ordinary role,
//! can add any object of any name to it.
//! Functions in C are known by the names that they have in their libraries.

use pgrx::pg_sys::{self, Oid};

use super::catalog::type_row;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::own_schema::is_neardup;
use crate::pg::server::syscache;

/// Reports whether a function is in C and a member of an extension.
pub(crate) fn is_function_of(extension: Oid, function: Oid) -> bool {
    // SAFETY: any OID may be looked up.
    let of = unsafe { pg_sys::getExtensionOfObject(pg_sys::ProcedureRelationId, function) };
    of == extension && of != Oid::INVALID && symbol(function).is_some()
}

/// Reports whether a type is the one that this library calls `name`: a type of variable length,
/// passed by reference, which is read by this library's function, and is a member of this
/// extension.
pub(crate) fn is_type(of: Oid, name: &str) -> bool {
    let found = type_row(of, |row| {
        let is_base = row.typtype.cast_unsigned() == pg_sys::TYPTYPE_BASE;
        (is_base && row.typlen == -1 && !row.typbyval, row.typinput)
    });
    let Some((is_shaped, input)) = found else { return false };
    // SAFETY: any OID may be looked up.
    let extension = unsafe { pg_sys::getExtensionOfObject(pg_sys::TypeRelationId, of) };
    is_shaped
        && is_neardup(extension)
        && is_function_of(extension, input)
        && symbol(input).is_some_and(|symbol| symbol == format!("neardup_{name}_in").as_bytes())
}

/// ClanguageId of pg_language.h.
const C_LANGUAGE: Oid = Oid::from_u32(13);

/// Returns the name of a function in its library, or `None` for a function in another language.
pub(crate) fn symbol(function: Oid) -> Option<Vec<u8>> {
    let cache = pg_sys::SysCacheIdentifier::PROCOID;
    // SAFETY: any OID may be looked up; the row is of a function, whose source is a text, which is
    // copied.
    unsafe {
        syscache::row(cache, &[function.into()], |row| {
            let form: *const pg_sys::FormData_pg_proc = pg_sys::GETSTRUCT(row).cast();
            let source = syscache::attribute(cache, row, pg_sys::Anum_pg_proc_prosrc);
            source.filter(|_| (*form).prolang == C_LANGUAGE).map(|source| varlena_bytes(source).to_vec())
        })
        .flatten()
    }
}
