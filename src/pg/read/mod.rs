//! Reads documents and pairs from the server: through a cursor, in batches for the workers.

pub(crate) mod documents;
pub(crate) mod expressions;
mod groups;
pub(crate) mod packed;
pub(crate) mod pairs;
mod refusals;
pub(crate) mod sample;
mod sites;
pub(crate) mod source;
mod stream;
