//! Fixed-size summaries of documents (docs/design/algorithms.md sections 2 and 3): minhash ([`minhash`]) with
//! supershingles and megashingles ([`supershingles`]), simhash ([`simhash`]), signatures of sentences
//! ([`sentence`]; section 5), sketches that are there already ([`stored`]), the bands and blocks that a
//! search for them needs ([`pigeonhole`]), their bytes ([`wire`], [`balls`]), and the inner loops
//! ([`kernels`]). A [`recipe`] says which of them make a signature, [`sign`] makes it, with a [`checksum`] of
//! the text where that is asked for.

pub mod balls;
pub mod checksum;
pub mod kernels;
pub mod minhash;
pub mod pigeonhole;
pub mod recipe;
pub mod sentence;
pub mod sign;
pub mod simhash;
pub mod stored;
pub mod supershingles;
pub mod wire;

use crate::error::Result;
use crate::executor::Stop;
use crate::features::tokens::{Document, FeatureSpec, Scratch, Token, for_each_token};
use crate::hash;

/// Calls `each` with the 64-bit hash of every shingle of a document, repeats included: what sketches are
/// made of. Numbers at one to a shingle stand for themselves. O(bytes · shingle).
pub fn for_each_hash(
    document: &Document,
    spec: &FeatureSpec,
    scratch: &mut Scratch,
    stop: &Stop,
    mut each: impl FnMut(u64),
) -> Result<()> {
    for_each_token(document, spec, scratch, stop, |token| {
        each(match token {
            Token::Bytes(bytes) => hash::hash_bytes(bytes),
            Token::Number(number) => number,
        });
        Ok(())
    })
}
