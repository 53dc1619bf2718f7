//! The server underneath: calls and errors, memory, threads, files, settings.

pub mod allocator;
pub mod call;
pub mod checks;
pub mod encoding;
pub mod error;
pub mod guard;
pub mod panics;
pub mod progress;
pub mod set_returning;
pub mod settings;
pub mod temp_file;
pub mod values;
pub mod workers;
