//! Where data is kept that may be too much for memory, and how it is laid out.
//!
//! * [`files`]: temporary files, as the caller provides them
//! * [`sort`]: records in order
//! * [`log`]: records in order of arrival
//! * [`blobs`]: bytes by their numbers
//! * [`rows`]: rows of different lengths, in memory

pub mod blobs;
pub mod files;
pub mod log;
pub mod rows;
pub mod sort;
