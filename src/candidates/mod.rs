//! Which pairs are worth checking, and the exact join made of them: bounds from sizes ([`bounds`]),
//! posting lists of prefixes ([`index`]), the join of distinct sets ([`prefix_join`]), and the pairs
//! of rows it stands for ([`pairs`]).

pub mod bounds;
pub mod index;
pub mod pairs;
pub mod prefix_join;
