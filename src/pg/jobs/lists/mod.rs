//! The stored lists of jobs: the outlines of all rows, and the search that uses these outlines
//! (`incremental`).
//!
//! A job's table of lists has rows `(kind, segment, part, documents, data, ids)`. One row of kind
//! `o` holds the order of tokens. Each segment has one row of kind `s`, with its numbers of parts
//! and documents, one row of kind `l` for each part that is not empty, and for each block of
//! documents one row of kind `d` and one row of kind `i` with the ids of these documents. A
//! document that changes gets an outline in a new segment; its old outline only leads to a row that
//! is compared in vain. A row of kind `!` holds no data: it says that the lists are damaged, or of
//! another version, and must be rebuilt from scratch.
//!
//! [`stored`] reads the lists. [`writer`] writes them: the [`outline`]s of rows, and small segments
//! merged into one. [`neighbours`] are the rows that may be similar to changed rows:
//! [`candidates`] finds them in each segment.

pub(super) mod candidates;
pub(super) mod neighbours;
pub(super) mod outline;
pub(super) mod stored;
pub(super) mod writer;
