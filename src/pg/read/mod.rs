//! Documents and pairs read from the server: through a cursor, in batches for the workers.

pub mod documents;
pub mod pairs;
pub mod ranks;
pub mod source;
