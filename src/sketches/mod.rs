//! Fixed-size summaries of documents: signatures of their sentences ([`sentence`]; algorithms.md section 5).

pub mod sentence;
