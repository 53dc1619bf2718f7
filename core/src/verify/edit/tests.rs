use super::*;

fn thresholds() -> Vec<f64> {
    let mut all: Vec<f64> = (1..=100).map(|n| f64::from(n) / 100.0).collect();
    for b in 1..=12 {
        all.extend((1..=b).map(|a| f64::from(a) / f64::from(b)));
    }
    let near = [0.8f64, 0.5, 0.75, 2.0 / 3.0, 1.0];
    all.extend(near.iter().map(|t| t.next_down()));
    all.extend(near[..4].iter().map(|t| t.next_up()));
    all.extend([1e-12, 0.55, 0.999_999]);
    all
}

#[test]
fn ties_at_the_threshold_are_in() {
    assert_eq!(similarity(1, 5), 0.8);
    assert_eq!(EditPredicate::new(0.8).unwrap().most_distance(5), 1);
    assert_eq!(EditPredicate::new(0.8f64.next_up()).unwrap().most_distance(5), 0);
    assert_eq!(EditPredicate::new(0.833_333_333_333_333_4).unwrap().most_distance(6), 1);
    assert_eq!(EditPredicate::new(0.833_333_333_333_333_5).unwrap().most_distance(6), 0);
    assert_eq!(similarity(0, 0), 0.0);
    for t in [0.0, -1.0, 1.5, f64::NAN] {
        assert!(EditPredicate::new(t).is_err());
    }
}

#[test]
fn bounds_equal_brute_force() {
    for t in thresholds() {
        let edit = EditPredicate::new(t).unwrap();
        let most: Vec<u32> =
            (1..=150).map(|longer| (0..=longer).rfind(|&d| similarity(d, longer) >= t).unwrap()).collect();
        for (longer, &most) in (1..=150).zip(&most) {
            assert_eq!(edit.most_distance(longer), most, "{t} {longer}");
        }
        for distance in 0..=most[149] {
            let first = (1..=150).find(|&n| most[n as usize - 1] >= distance);
            assert_eq!(edit.first_length(distance), first, "{t} {distance}");
        }
    }
    assert_eq!(EditPredicate::new(1.0).unwrap().first_length(1), None);
    assert_eq!(EditPredicate::new(1.0).unwrap().most_distance(u32::MAX), 0);
}

#[test]
fn distances_bound_what_thresholds_let_pass() {
    for t in [0.0, 0.3, 0.5, 0.8, 1.0] {
        for distance in [0, 1, 2, 5, 70, u32::MAX] {
            let edit = match t {
                0.0 => EditPredicate::within(distance),
                t => EditPredicate::new(t).unwrap().and_within(distance),
            };
            let most: Vec<u32> = (1..=150)
                .map(|longer| (0..=longer.min(distance)).rfind(|&d| similarity(d, longer) >= t).unwrap())
                .collect();
            for (longer, &most) in (1..=150).zip(&most) {
                assert_eq!(edit.most_distance(longer), most, "{t} {distance} {longer}");
            }
            for d in 0..=most[149] {
                let first = (1..=150).find(|&n| most[n as usize - 1] >= d);
                assert_eq!(edit.first_length(d), first, "{t} {distance} {d}");
            }
            for (q, swaps) in [(1, false), (1, true), (2, false), (2, true)] {
                check_bound(GramBound::with_grams_of(edit.with_swaps(swaps), q));
            }
        }
    }
}

/// Checks that the bound for ranges of lengths agrees with the bound for each length.
fn check_bound(bound: GramBound) {
    const LONGEST: u32 = 320;
    let q = bound.q();
    let least = |size: u32| {
        let longer = size + q - 1;
        bound.least(longer, bound.edit.most_distance(longer)).max(1)
    };
    for size in 1..=LONGEST / 2 {
        let lowest = (size..=LONGEST).map(least).min().unwrap() as u32;
        // The bound may be lower if single steps are less than q lengths long.
        assert!(bound.least_overlap_from(size, size / 2 + 1) <= lowest, "{bound:?} {size}");
        let differ =
            |other: u32| bound.least_overlap(size, other).map(|o| i64::from(size + other) - 2 * i64::from(o));
        let first = (1..=size).find(|&other| differ(other).is_some()).unwrap();
        let last = (size..=LONGEST).take_while(|&other| differ(other).is_some()).last().unwrap();
        let last = [size, (size + last) / 2, last];
        for (first, last) in [first, (first + size) / 2].into_iter().flat_map(|f| last.map(|l| (f, l))) {
            let ends = [differ(first), differ(size), differ(last)].into_iter().flatten().max().unwrap();
            for other in first..=last {
                let over = differ(other).unwrap() - ends;
                // A filter of sets allows 4 in addition.
                assert!(over <= i64::from(bound.ripple()) + 4, "{bound:?} {size} {other}: {over}");
            }
        }
    }
}

/// Checks the traps of docs/design/algorithms.md section 8 against integers, for lengths up to
/// some thousands.
#[test]
fn most_distance_agrees_with_integers() {
    for percent in [1u32, 50, 55, 64, 70, 80, 90, 95, 99, 100] {
        let edit = EditPredicate::new(f64::from(percent) / 100.0).unwrap();
        for longer in 1..5000 {
            assert_eq!(edit.most_distance(longer), (100 - percent) * longer / 100, "{percent} {longer}");
        }
    }
}

#[test]
fn gram_bounds_equal_brute_force() {
    const LONGEST: u32 = 400;
    for (t, swaps) in thresholds().into_iter().flat_map(|t| [(t, false), (t, true)]) {
        let edit = EditPredicate::new(t).unwrap().with_swaps(swaps);
        let bound = GramBound::new(edit);
        let q = bound.q();
        for longer in (1..=LONGEST).filter(|&longer| edit.most_distance(longer) > 0) {
            assert!(bound.least(longer, edit.most_distance(longer)) > 0, "{t} {longer}");
        }
        let least = |size: u32| bound.least(size + q - 1, edit.most_distance(size + q - 1));
        for size in 1..=LONGEST / 2 {
            let lowest = (size..=LONGEST).map(least).min().unwrap().max(1) as u32;
            assert_eq!(bound.least_overlap_from(size, size / 2 + 1), lowest, "{t} {size}");
            assert_eq!(bound.least_overlap_from(size / 2 + 1, size), lowest);
        }
        for size in [1, 7, 20, 50] {
            let differ = |other: u32| {
                bound.least_overlap(size, other).map(|o| i64::from(size + other) - 2 * i64::from(o))
            };
            let last = (size..=LONGEST).take_while(|&other| differ(other).is_some()).last().unwrap();
            let ends = [differ(size), differ(last)].into_iter().flatten().max().unwrap();
            for other in size..=last {
                assert!(differ(other).unwrap() <= ends + i64::from(bound.ripple()), "{t} {size} {other}");
            }
        }
    }
    let q = |t, swaps| GramBound::new(EditPredicate::new(t).unwrap().with_swaps(swaps)).q();
    let least = [0.01, 0.5, 2.0 / 3.0, 0.67, 0.75, 0.76, 0.8, 1.0];
    assert_eq!(least.map(|t| q(t, false)), [1, 1, 1, 2, 2, 2, 2, 2]);
    assert_eq!(least.map(|t| q(t, true)), [1, 1, 1, 1, 1, 2, 2, 2]);
}
