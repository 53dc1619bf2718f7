//! The functions that SQL declares, a file for each file of `sql/`.

pub mod building_blocks;
pub mod clusters;
pub mod clusters_of_pairs;
pub mod codes;
pub mod eliminate;
pub mod explain;
pub mod html;
pub mod lcs;
pub mod near;
pub mod near_duplicates;
pub mod near_duplicates_stats;
pub mod passages;
pub mod plan;
pub mod report;
pub mod shares;
pub mod signatures;
pub mod sketch_types;
pub mod sketches;
pub mod spans;
