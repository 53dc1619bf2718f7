//! The layer above the server: calls and errors, memory, threads, files, settings.

pub(crate) mod activity;
pub(crate) mod aggregate;
pub(crate) mod allocator;
pub(crate) mod call;
pub(crate) mod checks;
pub(crate) mod contexts;
pub(crate) mod deadline;
pub(crate) mod encoding;
pub(crate) mod error;
pub(crate) mod executor;
pub(crate) mod explaining;
pub(crate) mod guard;
pub(crate) mod normalization;
pub(crate) mod notices;
pub(crate) mod own_schema;
pub(crate) mod set_returning;
pub(crate) mod settings;
pub(crate) mod syscache;
pub(crate) mod temp_file;
pub(crate) mod values;
pub(crate) mod version;
