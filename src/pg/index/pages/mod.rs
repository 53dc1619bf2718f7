//! Pages of an index: in the buffers of the server, and changed under generic log records.

pub(crate) mod buffer;
pub(crate) mod page;
pub(crate) mod record;
