//! What a call takes on each node, for `near_duplicates_plan`: [`measure`] takes its steps on a
//! sample, and [`by_node`] makes the estimate of what they took.

mod by_node;
mod measure;
mod near_duplicates_plan;
