//! SQL of ours, or of users, as one statement that is prepared and checked before anything of it is run or read: it is
//! about the relations that were locked, and its columns have the types that are read.

pub mod as_user;
pub mod attempt;
pub mod by_number;
pub mod column;
mod columns;
pub mod cursor;
pub mod decode;
mod id_values;
pub mod ids;
pub mod names;
pub mod operators;
mod prepared;
pub mod relation;
mod run;
mod statement;
pub mod transition;
pub mod written_ids;

pub use run::Done;
pub use statement::{Parameter, Query};
