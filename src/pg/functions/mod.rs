//! The functions that SQL declares: a file for each file of `sql/`, in the folder of the same name.

/// What groups pairs into clusters, and says which rows stay.
pub(crate) mod clusters {
    pub(crate) mod clusters_of_pairs;
    pub(crate) mod eliminate;
    pub(crate) mod near_duplicate_clusters;
}

pub(crate) mod internal;

/// What is near to a text, a set or a sketch: balls, and membership in them.
pub(crate) mod near {
    pub(crate) mod kept;
    pub(crate) mod near_runs;
    pub(crate) mod near_sets;
    pub(crate) mod shares;
    pub(crate) mod sketch_balls;
}

/// What finds pairs of rows, and tells why two texts are a pair.
pub(crate) mod pairs {
    pub(crate) mod explain;
    pub(crate) mod near_duplicates;
    pub(crate) mod near_duplicates_rows;
    pub(crate) mod near_duplicates_stats;
    pub(crate) mod nearest;
    pub(crate) mod sampled_method;
}

pub(crate) mod parts;

/// What texts have in common word for word: passages, runs, subsequences.
pub(crate) mod passages {
    pub(crate) mod lcs;
    pub(crate) mod partial_duplicates;
    pub(crate) mod runs;
}

pub(crate) mod report;

/// Sketches: their types, and what makes and compares them.
pub(crate) mod sketches {
    pub(crate) mod minhash_simhash;
    pub(crate) mod sketch_types;
}

pub(crate) mod suggest;

/// Functions of one or two texts.
pub(crate) mod texts {
    pub(crate) mod building_blocks;
    pub(crate) mod codes;
    pub(crate) mod signatures;
    pub(crate) mod spans;
    pub(crate) mod text_arguments;
}

pub(crate) mod version;
