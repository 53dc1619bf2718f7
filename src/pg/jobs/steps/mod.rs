//! The steps of a refresh, carried out: each runs its statements, and keeps what they tell in the state of the [`work`]. What
//! each is for says `crate::jobs::step`.

pub mod clusters;
pub mod lists;
pub mod pairs;
pub mod registry;
pub mod rows;
pub mod tables;
pub mod work;
