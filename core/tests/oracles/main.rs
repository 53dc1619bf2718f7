//! All methods and joins against their definitions, in one program: each would be linked by itself otherwise.

#[path = "../common/mod.rs"]
mod common;

mod char_pairs;
mod codes;
mod combined;
mod edit;
mod equal;
mod limits;
mod methods;
mod near_words;
mod nearest;
mod nearest_across;
mod needed;
mod oracle;
mod planted;
mod progress;
mod run_pairs;
mod runs;
mod runs_corpora;
mod search;
mod sites;
mod sketches;
mod skew;
mod stored;
mod techniques;
mod thresholds;
mod tlcs;
mod tlcs_frames;
mod weights;
mod weights_nearest;
mod within;
