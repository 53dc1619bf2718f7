//! Exact search for the sets that are similar to a given set, by a stored index
//! (docs/design/algorithms.md section 8 describes the prefix filter; Xiao et al., PPJoin+ (WWW
//! 2008)).
//!
//! A [`ball`] consists of a document, a measure, and a least similarity. A [`verifier`] decides
//! whether a row is in a ball. The other modules find the rows that are worth verifying. For each
//! row an index stores the size of its set, a bitmap, and the classes of the first l(n) of its n
//! elements, in an [order](super::set_index::token_order) that never changes ([`prefix`] defines
//! l(n)). Each class has one posting list of rows ([code](super::set_index::rice)). A search looks
//! up the first p of the q elements of the ball's set, in the same order ([`keys`]), and counts,
//! for each row, in how many of the lists of these elements the row is.
//!
//! # Nothing is lost
//!
//! An element is a token together with the number of its occurrence. Let elements be ordered by
//! their places, then by their bytes, then by the occurrence. This is one total order for all sets.
//! An index needs to know only the places, because the places of the first elements do not depend
//! on how ties are broken.
//!
//! Let a row of n elements and the ball's set share o elements, and let the ball require at least A
//! shared elements. Common element number i, from 1 on, is preceded in the row by at most n - o
//! elements that are not common, so it is among the first i + n - o elements; in the ball's set it
//! is among the first i + q - o elements. So all common elements with i at most o - max(n - l(n),
//! q - p) are both indexed and looked up. These are at least A - max(n - l(n), q - p) elements. The
//! row is in the list of the class of each of these elements, and a class counts once for each of
//! the first p elements of the ball's set that is in it. Equal classes, two tokens with the same
//! key, and more classes of a row than needed only increase the count.
//!
//! l(n) is chosen so that n - l(n) is at most A - 2 for every ball that the index serves, and p so
//! that q - p is at most A - 2 for every row that the ball can contain. So if A is at least 2,
//! there are at least 2 hits. Frequencies play no part in this argument: with any order that never
//! changes, nothing is lost.
//!
//! # Words that weigh
//!
//! With [`weights`], sizes and overlaps are weights, and so are l(n) and p: the first elements
//! are as few as weigh so much. Let the heaviest element weigh h, and the row and the ball share
//! elements of weight o. Those that are not both indexed and looked up are all in what is left out
//! of the row, or all in what is left out of the ball's set, so they weigh at most max(n - l(n),
//! q - p), and the others at least A less that. What is left out weighs at most A - 1, or A - 1 - h
//! if A is greater than h. With h = 1 this is what is said above.

pub mod ball;
pub mod edit_ball;
pub mod edit_bounds;
pub mod grams;
pub mod json;
pub mod keys;
pub mod prefix;
pub mod runs;
pub mod sample;
pub mod verifier;
pub mod weights;
