//! Reads ids back from texts, and makes arrays of ids for queries.

use pgrx::check_for_interrupts;
use pgrx::pg_sys::{self, Datum};

use super::ids::RowIds;
use super::prepared::Parameter;
use super::subtransaction::attempt;
use crate::pg::server::contexts::RowMemory;
use crate::pg::server::encoding::to_server;
use crate::pg::server::error::{Result, catch};
use crate::pg::server::values::array_of;
use neardup_core::memory;

const DOING: &str = "reading ids";

// Input functions may be user-defined; their errors must be returned with all details.
unsafe extern "C-unwind" {
    fn InputFunctionCall(
        function: *mut pg_sys::FmgrInfo,
        text: *mut std::ffi::c_char,
        element: pg_sys::Oid,
        modifier: i32,
    ) -> Datum;
}

impl RowIds {
    /// Reads ids from the texts that [`RowIds::show`] wrote. Returns `None` if a text is not a
    /// valid value of the type.
    pub(crate) fn read<'a>(
        type_oid: pg_sys::Oid,
        written: impl IntoIterator<Item = &'a str>,
    ) -> Result<Option<Self>> {
        /// The number of ids that are read between two checks for interrupts.
        const AT_A_TIME: usize = 1 << 12;
        let mut ids = Self::new(type_oid);
        let (mut input, mut element) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
        let mut function = pg_sys::FmgrInfo::default();
        // SAFETY: a type that exists has an input function.
        unsafe {
            pg_sys::getTypeInputInfo(type_oid, &raw mut input, &raw mut element);
            pg_sys::fmgr_info(input, &raw mut function);
        }
        let mut memory = RowMemory::new("neardup: reading ids");
        let mut written = written.into_iter();
        loop {
            check_for_interrupts!();
            let some = written.by_ref().take(AT_A_TIME).map(to_server).collect::<Result<Vec<_>>>()?;
            if some.is_empty() {
                return Ok(Some(ids));
            }
            let read = || {
                some.iter().try_for_each(|text| {
                    let (function, text) = (&raw mut function, text.as_ptr().cast_mut());
                    // SAFETY: the function takes a C string, and returns a value of the type, which
                    // is copied.
                    unsafe { ids.push(catch(|| InputFunctionCall(function, text, element, -1))?) }
                })
            };
            // The values are copied.
            if memory.make(|| attempt(read))?.is_none() {
                return Ok(None);
            }
        }
    }

    /// Returns all ids as an array in the current memory context, or `None` if their type has no
    /// array type.
    pub(crate) fn array(&self) -> Result<Option<Parameter>> {
        let type_oid = self.type_oid();
        let mut values = memory::collect((0..self.len() as u32).map(|row| self.datum(row)), DOING)?;
        // SAFETY: any type may be looked up; there are `count` values of it, and they are copied.
        unsafe {
            let array_type = pg_sys::get_array_type(type_oid);
            if array_type == pg_sys::InvalidOid {
                return Ok(None);
            }
            Ok(Some((array_type, Some(array_of(type_oid, &mut values)?))))
        }
    }
}
