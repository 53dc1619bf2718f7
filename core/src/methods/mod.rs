//! Methods, which find pairs of documents. Each is a plain struct of parameters. It reads its
//! documents ([`reading`]) from any source ([`documents`]), converts them to the form that it
//! compares, and passes them to a join ([`crate::joins`]). The [`account`] records what the method
//! did. The tables of a server are one source of documents, a [`corpus`] in memory is another.
//!
//! ```
//! use neardup_core::methods::corpus::Corpus;
//! use neardup_core::methods::edit::Edit;
//!
//! let mut corpus = Corpus::of_texts(&["Port Ellis", "port Ellis", "Ellis port"]);
//! let pairs = corpus.pairs(&Edit::new(0.8)?)?;
//! assert_eq!((pairs.len(), pairs[0].left, pairs[0].right, pairs[0].similarity), (1, 0, 1, 0.9));
//! # Ok::<(), neardup_core::error::Error>(())
//! ```

pub mod account;
pub mod batch;
pub mod codes;
pub mod corpus;
pub mod documents;
pub mod edit;
pub mod explain;
pub mod gather;
pub mod imatch;
pub mod method;
pub mod pair;
pub mod passages;
pub mod reading;
pub mod sets;
pub mod sites;
pub mod sketches;
pub mod spotsigs;
pub mod stored;
pub mod tlcs;

pub use method::{Grouping, Method, Update};
