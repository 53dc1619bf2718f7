//! Exact search for the sets that are similar to a given one, by an index that is kept (docs/design/algorithms.md
//! section 8 has the prefix filter; Xiao et al., PPJoin+ (WWW 2008)).
//!
//! A [`ball`] is a document, a measure, and how similar others have to be; a [`verifier`] says of a row whether it is in. The
//! rest finds the rows that are worth being judged. Of each row an index has the size of its set, a bitmap, and the
//! classes of the first l(n) of its n elements, in an [order](super::set_index::token_order) that never changes ([`prefix`] says how many these
//! are); rows stand in one list a class ([code](super::set_index::rice)). A search looks for the first p of the q elements of the ball's set,
//! in the same order ([`keys`]), and counts in how many of their lists a row is.
//!
//! # Nothing is lost
//!
//! Elements are a token and which of its occurrences it is. Let them be ordered by their places, then by their bytes,
//! then by the occurrence: one total order for all sets, of which an index need know no more than the places, because
//! the places of the first elements do not depend on how ties are broken.
//!
//! Let a row of n elements and the ball's set share o of them, and the ball ask for at least A. Common element number i,
//! from 1 on, has at most n - o elements before it in the row that are not common, so it is among the first i + n - o;
//! in the ball's set among the first i + q - o. So all those with i at most o - max(n - l(n), q - p) are indexed and
//! looked for: at least A - max(n - l(n), q - p). The row stands in the list of the class of each of them, and a class
//! counts with as many elements as the ball's set has in it among its first p. Equal classes, two tokens of one key, and
//! more classes of a row than are needed only add to what is counted.
//!
//! l(n) is chosen so that n - l(n) is at most A - 2 for every ball that the index serves, and p so that q - p is, for
//! every row that the ball can contain: where A is at least 2, so are the hits. Frequencies are in none of this: with any
//! order that stays as it is nothing is lost.

pub mod ball;
pub mod json;
pub mod keys;
pub mod prefix;
pub mod sample;
pub mod verifier;
