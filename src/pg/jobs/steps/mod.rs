//! The steps of a refresh, carried out: each runs its statements, and keeps what they tell in the state of the [`work`]. What
//! each is for says `crate::jobs::step`.

pub(super) mod clusters;
pub(super) mod lists;
pub(super) mod pairs;
pub(super) mod registry;
pub(super) mod rows;
pub(super) mod tables;
pub(super) mod work;
