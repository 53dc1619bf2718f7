//! The stored lists of jobs: outlines of all rows, and what is found by them (`joins/incremental`).
//!
//! A job's table of lists has rows `(kind, segment, part, documents, data, ids)`: one of kind `o`, the order of tokens;
//! and for each segment one of kind `s`, with the numbers of its parts and documents, one of kind `l` for each part that is not
//! empty, and for each block of documents one of kind `d` and one of kind `i` with their ids. A document that changes
//! gets an outline in a new segment; what was said of it before only leads to a row that is compared in vain. A row of kind
//! `!` is none of the table: it says that the lists are damaged, or of another version, and have to be made anew.
//!
//! [`stored`] reads them and [`writer`] writes them: the [`outline`]s of rows, and small segments as one ([`merge`]). [`neighbours`] are the rows that may be similar to changed ones: found by
//! [`search`] in each segment, collected as [`candidates`].

pub(super) mod candidates;
pub(super) mod merge;
pub(super) mod neighbours;
pub(super) mod outline;
pub(super) mod search;
pub(super) mod stored;
pub(super) mod writer;
