//! Methods, which find pairs of documents. Each is a plain struct of parameters. It reads its
//! documents ([`reading`]) from any source ([`documents`]), converts them to the form that it
//! compares, and passes them to a join ([`crate::joins`]). The [`account`] records what the method
//! did. The tables of a server are one source of documents, a [`corpus`] in memory is another.

pub mod account;
pub mod batch;
pub mod carried;
pub mod carrier;
pub mod codes;
pub mod combined;
pub mod corpus;
pub mod documents;
pub mod edit;
pub mod estimate;
pub mod explain;
pub mod gather;
pub mod imatch;
pub mod method;
pub mod near_words;
pub mod nearest;
pub mod overflow;
pub mod pair;
pub mod passages;
pub mod reading;
pub mod repeats;
pub mod runs;
pub mod sets;
pub mod short_texts;
pub mod sites;
pub mod sketches;
pub mod spotsigs;
pub mod stored;
pub mod tlcs;
pub mod within;

pub use method::{Grouping, Method, Update};
