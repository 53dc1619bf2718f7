//! The functions that SQL declares, one file for each file of `sql/`.

pub(crate) mod bands;
pub(crate) mod building_blocks;
pub(crate) mod clusters;
pub(crate) mod clusters_of_pairs;
pub(crate) mod codes;
pub(crate) mod eliminate;
pub(crate) mod explain;
pub(crate) mod html;
mod kept;
pub(crate) mod lcs;
pub(crate) mod near;
pub(crate) mod near_duplicates;
pub(crate) mod near_duplicates_stats;
pub(crate) mod near_minhash_text;
pub(crate) mod near_runs;
pub(crate) mod near_sets;
pub(crate) mod parts;
pub(crate) mod passages;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod shares;
pub(crate) mod signatures;
pub(crate) mod sketch_types;
pub(crate) mod sketches;
pub(crate) mod spans;
pub(crate) mod token_sets;
pub(crate) mod version;
