//! The implementation of the steps of a refresh: each step runs its statements, and stores their
//! results in the state of the [`work`]. `crate::jobs::step` says what each step is for.

pub(super) mod clusters;
pub(super) mod lists;
pub(super) mod pairs;
pub(super) mod registry;
pub(super) mod rows;
pub(super) mod tables;
pub(super) mod work;
