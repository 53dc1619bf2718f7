//! Which pairs are worth checking, and the exact join made of them.
//!
//! Bounds from sizes ([`bounds`]) for the records of one or two tables ([`sides`]); posting lists of
//! their prefixes ([`lists`]), used record by record with positions ([`positional`], [`suffix`]) or token
//! by token with bitmaps ([`streaming`], [`bitmap`], [`popcount`]); the join of distinct sets
//! ([`prefix_join`]) in blocks that fit into memory ([`blocks`]), and that of distinct texts by edit distance
//! made of it ([`edit_join`]); the lists of documents with a sentence signature in common
//! ([`signature_lists`]) and the join made of them ([`sentence_join`]); feature codes by common substrings
//! ([`code_join`]); few new sets against sketches of many old ones ([`delta`]); the pairs of rows they all stand
//! for ([`pairs`]).

pub mod bands;
pub mod bitmap;
pub mod blocks;
pub mod bounds;
pub mod code_join;
pub mod combination;
pub mod delta;
pub mod edit_join;
pub mod hamming;
pub mod lists;
pub mod pairs;
pub mod popcount;
pub mod positional;
pub mod prefix_join;
pub mod presets;
pub mod recall;
pub mod sentence_join;
pub mod sharing;
pub mod sides;
pub mod signature_lists;
pub mod sketch_join;
pub mod streaming;
pub mod suffix;
pub mod technique;
pub mod two_documents;
