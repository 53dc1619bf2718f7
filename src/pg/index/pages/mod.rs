//! Pages of an index: in the buffers of the server, and changed under generic log records.

pub mod buffer;
pub mod page;
pub mod record;
