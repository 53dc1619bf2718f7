use super::*;
use proptest::prelude::*;

#[test]
fn groups_are_ranges_one_after_the_other() {
    assert_eq!(*sizes(0).start(), 1);
    assert_eq!(*sizes(GROUPS - 1).end(), u32::MAX);
    for n in 0..GROUPS {
        let sizes = sizes(n);
        assert!(sizes.start() <= sizes.end());
        assert_eq!((group(*sizes.start()), group(*sizes.end())), (n, n));
        assert!(n == 0 || *sizes.start() == super::sizes(n - 1).end() + 1);
    }
    assert!(*sizes(GROUPS - 1).start() > MOST_ELEMENTS);
    assert_eq!((group(0), group(u32::MAX)), (0, GROUPS - 1));
}

/// The signatures of a string are in indexes and must not change.
#[test]
fn signatures_stay_as_they_are() {
    let mut elements = vec![9];
    elements_of(&[7, 7, 9], &mut elements).unwrap();
    assert_eq!(elements, GOLDEN);
    assert_eq!(signature(group(3), elements[0]), 2 << 58 | u64::from(GOLDEN[0]) << 34);
    assert_eq!(signature(group(1000), 0) >> 58, u64::from(group(1000)));
    assert_eq!(STARTS, GOLDEN_STARTS);
}

const GOLDEN: [u32; 3] = [2_608_919, 6_540_257, 11_448_146];
const GOLDEN_STARTS: [u32; 64] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 24, 26, 28, 30, 33, 36, 39,
    42, 46, 50, 55, 60, 66, 72, 79, 86, 94, 103, 113, 124, 136, 149, 163, 179, 196, 215, 236, 259, 284, 312,
    343, 377, 414, 455, 500, 550, 605, 665, 731, 804, 884, 972, 1069,
];

#[test]
fn repeats_are_elements_of_their_own() {
    let (mut one, mut other) = (Vec::new(), Vec::new());
    elements_of(&[1, 1, 1, 5], &mut one).unwrap();
    elements_of(&[1, 1, 4, 5, 6], &mut other).unwrap();
    assert_eq!((common(&one, &other), common(&one, &one), common(&one, &[])), (3, 4, 0));
}

proptest! {
    /// Every string that a search may find is within the bounds of its group.
    #[test]
    fn bounds_equal_brute_force(size in 1..60_u32, similarity in 0.001..=1.0_f64, wanted in 0.0..=1.0_f64) {
        let similarity = if wanted < 0.1 { 1.0 / f64::from(size) } else { similarity };
        let Some(demand) = Demand::new(similarity, size).unwrap() else { return Ok(()) };
        let groups = demand.groups();
        let mut last = f64::INFINITY;
        for &group in &groups {
            let best = demand.greatest(group, size.min(*sizes(group).end()));
            if let Some(best) = best {
                prop_assert!(best <= last);
                last = best;
            }
        }
        for other in 1..200_u32 {
            let group = group(other);
            let least = demand.least_shared(group, |similarity| similarity >= wanted);
            for shared in 1..=other.min(size) {
                let its = Measure::Jaccard.similarity(shared, other, size);
                let is_near = its >= similarity;
                prop_assert_eq!(demand.accepts(other, shared), is_near);
                prop_assert_eq!(demand.similarity(other, shared), its);
                if is_near {
                    prop_assert!(groups.contains(&group));
                    prop_assert!(demand.greatest(group, shared).is_some_and(|greatest| greatest >= its));
                    if its >= wanted {
                        prop_assert!(least.is_some_and(|least| least <= shared));
                    }
                }
            }
        }
    }
}

#[test]
fn what_nothing_is_similar_to() {
    assert!(Demand::new(0.5, 0).unwrap().is_none());
    assert!(Demand::new(0.0, 3).is_err());
    let demand = Demand::new(1e-9, u32::MAX).unwrap().unwrap();
    assert_eq!(demand.least_shared(0, |_| true), None);
    assert_eq!(demand.least_shared(group(5000), |_| true), Some(5));
}
