//! Reads documents and pairs from the server: through a cursor, in batches for the workers.

mod carried;
pub(crate) mod documents;
pub(crate) mod packed;
pub(crate) mod pairs;
pub(crate) mod ranks;
pub(crate) mod sample;
pub(crate) mod source;
