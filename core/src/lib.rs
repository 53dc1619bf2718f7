//! neardup finds near-duplicate documents.
//!
//! ```
//! let texts = [
//!     "The quick brown fox jumps over the lazy dog.",
//!     "the QUICK brown fox jumps over the lazy dog!",
//!     "A quick brown fox jumped over a dog.",
//! ];
//! let pairs = neardup_core::near_duplicates(&texts, 0.8)?;
//! assert_eq!(pairs.len(), 1);
//! assert_eq!((pairs[0].left, pairs[0].right, pairs[0].similarity), (0, 1, 1.0));
//! # Ok::<(), neardup_core::error::Error>(())
//! ```
//!
//! The modules are the stages of a pipeline; each uses only earlier ones:
//!
//! * [`error`], [`memory`], [`simd`], [`ragged`], [`files`], [`hash`], [`radix`], [`executor`],
//!   [`resources`]: the base of all other modules
//! * [`text`]: from texts to words and other units
//! * [`features`]: from units to sets of tokens or shingles
//! * [`sketches`]: from sets to minhash and simhash sketches, and to the signatures that find them
//! * [`verify`]: the similarity of two sets or two texts
//! * [`joins`]: the candidate pairs that are worth comparing, and the joins
//! * [`clusters`]: from pairs and signatures to clusters, and what to keep of each cluster
//! * [`passages`]: from pairs of sentences to passages that documents share
//! * [`methods`]: the whole way from documents to pairs
//! * [`report`]: pairs and clusters for people to look at

#![warn(unreachable_pub)]

pub mod clusters;
pub mod error;
pub mod executor;
pub mod features;
pub mod files;
pub mod hash;
pub mod joins;
pub mod leb128;
pub mod memory;
pub mod methods;
pub mod passages;
pub mod radix;
pub mod ragged;
pub mod report;
pub mod resources;
pub mod simd;
pub mod sketches;
pub mod text;
pub mod turns;
pub mod verify;

pub use joins::pairs::Pair;
pub use methods::corpus::near_duplicates;
