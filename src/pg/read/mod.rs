//! Reads documents and pairs from the server: through a cursor, in batches for the workers.

pub(crate) mod documents;
mod packed;
pub(crate) mod pairs;
pub(crate) mod ranks;
pub(crate) mod sample;
pub(crate) mod source;
