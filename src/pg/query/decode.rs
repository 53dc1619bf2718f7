//! Converts values of the server into documents of the core.

use pgrx::pg_sys::{self, Datum};

use super::ours::is_type;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::encoding;
use crate::pg::server::error::Result;
use neardup_core::features::tokens::Document;
use neardup_core::memory;
use neardup_core::sketches::stored::{SketchKind, SketchReader};

const DOING: &str = "reading a document";

/// The content of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnContent {
    /// A text to be cut into tokens.
    Text,
    /// `text[]`, or an array that can be cast to it: ready-made tokens.
    Tokens,
    /// `bigint[]`, or an array of smaller integers: ready-made numbers.
    Numbers,
    /// `tsvector`: lexemes with positions.
    Vector,
    /// Stored sketches: their kind and their SQL type.
    Sketches(SketchKind, pg_sys::Oid),
}

impl ColumnContent {
    /// Returns the content of a column with the type `base_type`, which must not be a domain.
    pub(crate) fn for_type(base_type: pg_sys::Oid) -> Self {
        if base_type == pg_sys::TSVECTOROID {
            return Self::Vector;
        }
        // SAFETY: any type may be looked up; elements have a type that exists.
        let element = unsafe {
            match pg_sys::get_element_type(base_type) {
                pg_sys::InvalidOid => {
                    return sketches(base_type).map_or(Self::Text, |kind| Self::Sketches(kind, base_type));
                }
                element => pg_sys::getBaseType(element),
            }
        };
        match element {
            pg_sys::INT2OID | pg_sys::INT4OID | pg_sys::INT8OID => Self::Numbers,
            _ => Self::Tokens,
        }
    }

    /// Returns the kind of sketches, if the column holds sketches.
    pub(crate) fn sketches(self) -> Option<SketchKind> {
        match self {
            Self::Sketches(kind, _) => Some(kind),
            _ => None,
        }
    }

    /// Returns the type of the values that [`decode`] takes.
    pub(crate) fn type_oid(self) -> pg_sys::Oid {
        match self {
            Self::Text => pg_sys::TEXTOID,
            Self::Tokens => pg_sys::TEXTARRAYOID,
            Self::Numbers => pg_sys::INT8ARRAYOID,
            Self::Vector => pg_sys::TSVECTOROID,
            Self::Sketches(_, of) => of,
        }
    }
}

/// Returns the kind of the sketches of a type, or `None` if it is not one of the two sketch types
/// of this extension, in any schema.
fn sketches(of: pg_sys::Oid) -> Option<SketchKind> {
    [SketchKind::Minhash, SketchKind::Simhash].into_iter().find(|kind| is_type(of, kind.type_name()))
}

/// Decodes a document from a value of the kind `kind`. Returns `None` if the value contains bytes
/// that are not valid text.
///
/// # Safety
/// `value` is a text, `text[]`, array of integers, tsvector or sketch, as `kind` says. Intermediate
/// copies are left in the current memory context.
pub(crate) unsafe fn decode(kind: ColumnContent, value: Datum) -> Result<Option<Document>> {
    // SAFETY: the caller's promise, for each kind.
    unsafe {
        match kind {
            ColumnContent::Text => Ok(text(varlena_bytes(value))?.map(Document::Text)),
            ColumnContent::Tokens => {
                let mut tokens = Vec::new();
                for element in elements(value, pg_sys::TEXTOID)? {
                    let Some(token) = text(varlena_bytes(element))? else { return Ok(None) };
                    memory::push(&mut tokens, token, DOING)?;
                }
                Ok(Some(Document::Tokens(tokens)))
            }
            ColumnContent::Numbers => {
                let array = pg_sys::pg_detoast_datum(value.cast_mut_ptr()).cast();
                let of = element_type(array);
                let mut numbers = Vec::new();
                for element in elements(array.into(), of)? {
                    // The upper bits of a datum of a narrower integer may have any value.
                    let number = match of {
                        pg_sys::INT2OID => i64::from(element.value() as i16),
                        pg_sys::INT4OID => i64::from(element.value() as i32),
                        _ => element.value() as i64,
                    };
                    memory::push(&mut numbers, number, DOING)?;
                }
                Ok(Some(Document::Numbers(numbers)))
            }
            ColumnContent::Vector => vector(value),
            ColumnContent::Sketches(kind, _) => {
                Ok(Some(SketchReader::default().read(kind, varlena_bytes(value))?))
            }
        }
    }
}

fn text(bytes: &[u8]) -> Result<Option<String>> {
    Ok(encoding::to_utf8(bytes)?.map(|text| memory::owned(text, DOING)).transpose()?)
}

/// Returns the element type of an array, or its base type if it is a domain.
///
/// # Safety
/// The array is not toasted.
pub(crate) unsafe fn element_type(array: *mut pg_sys::ArrayType) -> pg_sys::Oid {
    // SAFETY: the caller's promise; elements have a type that exists.
    match unsafe { (*array).elemtype } {
        of @ (pg_sys::INT2OID | pg_sys::INT4OID | pg_sys::INT8OID | pg_sys::TEXTOID) => of,
        // SAFETY: any type may be looked up.
        of => unsafe { pg_sys::getBaseType(of) },
    }
}

/// Returns the elements of an array that are not NULL. The array may have any number of dimensions.
///
/// # Safety
/// The datum is an array whose elements have the type `element_type`.
pub(crate) unsafe fn elements(array: Datum, element_type: pg_sys::Oid) -> Result<Vec<Datum>> {
    let mut elements = Vec::new();
    let (mut length, mut by_value, mut align) = (0, false, 0);
    let (mut values, mut nulls, mut count) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
    // SAFETY: an array of that type; the server fills `count` values and flags.
    unsafe {
        pg_sys::get_typlenbyvalalign(element_type, &raw mut length, &raw mut by_value, &raw mut align);
        pg_sys::deconstruct_array(
            pg_sys::pg_detoast_datum(array.cast_mut_ptr()).cast(),
            element_type,
            i32::from(length),
            by_value,
            align,
            &raw mut values,
            &raw mut nulls,
            &raw mut count,
        );
        memory::reserve(&mut elements, count as usize, DOING)?;
        elements.extend((0..count as usize).filter(|&n| !*nulls.add(n)).map(|n| *values.add(n)));
    }
    Ok(elements)
}

/// Returns the lexemes of a tsvector in the order of their positions. Each lexeme is returned once
/// for each of its positions; a lexeme without positions is returned once. The layout of a tsvector
/// is defined in tsearch/ts_type.h.
///
/// # Safety
/// The datum is a tsvector.
unsafe fn vector(value: Datum) -> Result<Option<Document>> {
    let mut lexemes: Vec<(u16, String)> = Vec::new();
    // SAFETY: a detoasted tsvector has `size` entries, followed by the lexemes to which they point.
    // If the flag of an entry says so, its lexeme is followed, after alignment, by the number of
    // its positions and the positions.
    unsafe {
        let vector: *const pg_sys::TSVectorData = pg_sys::pg_detoast_datum(value.cast_mut_ptr()).cast();
        let count = (*vector).size as usize;
        let entries = (*vector).entries.as_ptr();
        let strings: *const u8 = entries.add(count).cast();
        for entry in std::slice::from_raw_parts(entries, count) {
            let (start, length) = (entry.pos() as usize, entry.len() as usize);
            let bytes = std::slice::from_raw_parts(strings.add(start), length);
            let Some(lexeme) = text(bytes)? else { return Ok(None) };
            if entry.haspos() == 0 {
                memory::push(&mut lexemes, (0, lexeme), DOING)?;
                continue;
            }
            let positions: *const u16 = strings.add((start + length).next_multiple_of(2)).cast();
            for n in 1..=usize::from(*positions) {
                // The two upper bits are the weight.
                memory::push(&mut lexemes, (*positions.add(n) & 0x3fff, lexeme.clone()), DOING)?;
            }
        }
    }
    lexemes.sort();
    Ok(Some(Document::Tokens(lexemes.into_iter().map(|(_, lexeme)| lexeme).collect())))
}
