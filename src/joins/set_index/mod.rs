//! What every kept or sent form of a set of tokens is made of, defined once: the join in memory, the access method, jobs and the
//! join in parts use the same.
//!
//! * an element's hash is [`Token::hash`](crate::features::tokens::Token::hash)
//! * [`bitmap`]: the parity bitmap of a set, and how wide it has to be
//! * [`by_size`]: what is known of sets by their size, such as the length of a prefix
//! * [`token_counts`], [`token_order`]: how many sets have a token, and the order that prefixes are taken in
//! * [`rice`]: lists of the rows that have a token

pub mod bitmap;
pub mod by_size;
pub mod rice;
pub mod token_counts;
pub mod token_order;
