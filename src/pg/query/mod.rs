//! A single SQL statement of this extension or of a user. It is prepared and checked before it is
//! run or its rows are read: it must refer to the relations that were locked, and its columns must
//! have the types that are read.

pub(super) mod as_user;
pub(super) mod by_oid;
pub(super) mod catalog;
pub(super) mod citus;
pub(super) mod column;
mod columns;
pub(super) mod cursor;
pub(super) mod decode;
mod id_values;
pub(super) mod ids;
pub(super) mod moment;
pub(super) mod names;
pub(super) mod nodes;
pub(super) mod ours;
mod prepared;
pub(super) mod relation;
mod run;
pub(super) mod subtransaction;
pub(super) mod transition;
pub(super) mod written_ids;

pub(super) use prepared::{Parameter, Query};
pub(super) use run::Done;
