//! Which pairs are worth checking, and the exact joins made of them.
//!
//! * [`sets`]: distinct sets by prefix, size, positions, suffixes and bitmaps
//! * [`edit`]: distinct texts by edit distance, made of the join of their q-grams
//! * [`sketches`]: signatures by keys in common, and combinations of them
//! * [`sentences`]: documents that have sentence signatures in common
//! * [`codes`]: feature codes by common substrings
//! * [`incremental`]: few changed sets against digests of many others
//! * [`pairs`]: the pairs of rows that the records of all these stand for

pub mod codes;
pub mod edit;
pub mod incremental;
pub mod pairs;
pub mod sentences;
pub mod sets;
pub mod sketches;
