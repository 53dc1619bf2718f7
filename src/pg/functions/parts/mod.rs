//! A method in parts, for `near_duplicates_into`: what is carried of a document, the rows by which
//! documents meet in parts, the join of a part, and the comparison of two documents
//! (core/src/methods/carrier.rs). Any user may call these functions with any arguments.

mod document;
mod join;
mod passages;
mod ranks;

use std::cell::RefCell;
use std::rc::Rc;

use crate::pg::request::in_parts::{Described, EXAMPLE, MethodCall};
use crate::pg::server::call::{FunctionCall, is_null};
use crate::pg::server::error::{Result, SqlError};

const DOING: &str = "meeting in parts";

/// Returns the method that the JSON object in argument `n` describes. The method of the last call
/// is kept, because all calls of a query have the same.
pub(super) fn method(call: FunctionCall, n: usize) -> Result<Rc<Described>> {
    thread_local! {
        static LAST: RefCell<Option<(Vec<u8>, Rc<Described>)>> = const { RefCell::new(None) };
    }
    let bytes = call.bytes(n).ok_or_else(|| is_null("method").hint(EXAMPLE))?;
    let last = LAST.with_borrow(|last| {
        last.as_ref().filter(|(known, _)| known == bytes).map(|(_, method)| Rc::clone(method))
    });
    if let Some(method) = last {
        return Ok(method);
    }
    let json = call.json(n, "method")?.unwrap_or_default();
    let described: MethodCall = serde_json::from_value(json)
        .map_err(|error| SqlError::parameter(format!("method cannot be read: {error}")).hint(EXAMPLE))?;
    let method = Rc::new(described.parse()?);
    LAST.set(Some((bytes.to_vec(), Rc::clone(&method))));
    Ok(method)
}
