//! Fixed-size summaries of documents (docs/design/algorithms.md sections 2 and 3).
//!
//! There are minhash ([`minhash`]) with supershingles and megashingles ([`supershingles`]), simhash
//! ([`simhash`]), signatures of sentences ([`sentence`], [`sentence_parameters`]; section 5), and
//! sketches that users have already stored ([`stored`]). [`of_documents`] makes whole sketches.
//! [`pigeonhole`] has the bands and blocks by which sketches are searched. [`wire`] and [`balls`]
//! have their stored forms. The inner loops of sketches are in [`crate::simd`]. [`sign`] makes the
//! signature of a document by a recipe that says which sketches make it up, with a [`checksum`] of
//! the text on request.

pub mod balls;
pub mod checksum;
pub mod minhash;
pub mod of_documents;
pub mod pigeonhole;
pub mod sentence;
pub mod sentence_parameters;
pub mod sign;
pub mod simhash;
pub mod stored;
pub mod supershingles;
pub mod wire;
