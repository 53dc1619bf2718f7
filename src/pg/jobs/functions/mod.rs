//! The internal functions of jobs: what SQL cannot do. They are called by statements of a refresh, as the owner of the relation;
//! anyone else may call them as well, with anything, and gets nothing by them that is not theirs.

mod arguments;
mod check;
mod clusters;
mod merge;
mod outline;
mod pairs;
