//! Pages of an index in the buffers of the server. They are changed with generic WAL records.

pub(crate) mod buffer;
pub(crate) mod page;
pub(crate) mod record;
