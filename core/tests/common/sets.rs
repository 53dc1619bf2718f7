//! Sets of numbers that make pairs.

use proptest::prelude::*;

/// Copies of a few sets with some elements changed, tiny ones, and equal ones.
pub fn set() -> impl Strategy<Value = Vec<i64>> {
    prop_oneof![
        3 => prop::collection::vec(0..12i64, 0..12),
        1 => prop::collection::vec(0..4i64, 0..3),
        2 => (0..4i64, prop::collection::vec(0..1000i64, 0..4), 5..30i64)
            .prop_map(|(base, extra, size)| (base * 100..base * 100 + size).chain(extra).collect()),
        1 => Just(vec![1, 2, 3, 4, 5]),
    ]
}
