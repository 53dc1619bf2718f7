//! The building blocks of every stored or sent form of a token set. They are defined once and
//! shared by the join in memory, the access method, jobs and the join in parts.
//!
//! * an element's hash is [`Token::hash`](crate::features::tokens::Token::hash)
//! * [`bitmap`]: the parity bitmap of a set, and its width
//! * [`by_size`]: values that depend only on a set's size, such as the length of a prefix
//! * [`token_counts`], [`token_order`]: the number of sets that have a token, and the token order
//!   from which prefixes are taken
//! * [`rice`]: lists of the rows that have a token

pub mod bitmap;
pub mod by_size;
pub mod rice;
pub mod token_counts;
pub mod token_order;
