//! Tests of estimates: by hand, and of how often intervals hold what answers were drawn from.

use super::*;
use proptest::prelude::*;

fn strata(pairs: &[(f64, u64)]) -> Strata {
    let mut strata = [0; BINS + 1];
    pairs.iter().for_each(|&(similarity, pairs)| strata[bin(similarity)] += pairs);
    strata
}

fn answers(given: &[(f64, u64, u64)]) -> Answers {
    let mut answers = Answers::default();
    for &(similarity, yes, no) in given {
        (0..yes).for_each(|_| answers.add(Some(similarity), true));
        (0..no).for_each(|_| answers.add(Some(similarity), false));
    }
    answers
}

fn at(estimates: &[ThresholdEstimate], threshold: f64) -> ThresholdEstimate {
    *estimates.iter().find(|estimate| estimate.threshold == threshold).unwrap()
}

#[test]
fn strata_weigh_as_many_pairs_as_they_have() {
    let pairs = strata(&[(0.4, 900), (0.7, 90), (0.9, 10)]);
    let estimates = answers(&[(0.4, 0, 10), (0.7, 5, 5), (0.9, 10, 0)]).estimates(&pairs, 0.3);
    assert_eq!(estimates.len(), 15);
    let (low, middle) = (at(&estimates, 0.4), at(&estimates, 0.7));
    assert_eq!((low.pairs, low.answers, middle.pairs, middle.answers), (1000, 30, 100, 20));
    let near = |found: Option<Interval>, value: f64| {
        let Interval { value: found, low, high } = found.unwrap();
        assert!((found - value).abs() < 1e-9 && low < value && value <= high, "{found} {low} {high}");
    };
    near(low.precision, 0.055);
    near(middle.precision, 0.55);
    near(middle.recall, 1.0);
    near(at(&estimates, 0.9).recall, 10.0 / 55.0);
    assert_eq!(at(&estimates, 0.95).precision, None);
    assert_eq!(at(&estimates, 0.95).recall.unwrap().value, 0.0);
    let best_of = |wanted| best(&estimates, wanted).map(|(best, fits)| (best.threshold, fits));
    // The middle one of those that have the same pairs.
    assert_eq!(best_of(Some(0.5)), Some((0.55, true)));
    assert_eq!(best_of(Some(0.99)), Some((0.8, true)));
    assert_eq!(best_of(None), Some((0.55, true)));
    assert_eq!(best(&[], None), None);
}

#[test]
fn a_share_does_not_fall_by_chance() {
    let pairs = strata(&[(0.5, 100), (0.6, 300), (0.8, 10), (0.9, 50)]);
    let answers = answers(&[(0.5, 5, 5), (0.6, 4, 6), (0.9, 10, 0)]);
    let shares = answers.shares(&pairs, bin(0.5));
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
    // 50 and 120 of 400 pairs.
    near(shares[0].share, 0.425);
    near(shares[2].share, 0.425);
    // Between 0.5 and 1, without an answer.
    near(shares[6].share, 0.7125);
    near(shares[6].variance, 0.25);
    near(shares[8].share, 1.0);
}

#[test]
fn a_share_may_fall() {
    let pairs = strata(&[(0.5, 100), (0.6, 300), (0.9, 50)]);
    let answers = answers(&[(0.5, 1, 9), (0.6, 9, 1), (0.9, 2, 8)]);
    let estimates = answers.estimates(&pairs, 0.3);
    let of = |threshold: f64| at(&estimates, threshold).precision.unwrap().value;
    assert!((of(0.9) - 0.2).abs() < 1e-9 && (of(0.6) - 280.0 / 350.0).abs() < 1e-9);
    // Between 0.6 and 0.9 nobody has answered, and there are no pairs.
    let falls: Vec<Option<f64>> =
        [0.3, 0.5, 0.65, 0.9].map(|threshold| at(&estimates, threshold).falls).into();
    assert_eq!(falls, [Some(0.65), Some(0.65), Some(0.9), None]);
}

/// The intervals hold their values where nearly all, some or no share falls, as often as they
/// promise. Answers are drawn by a hash.
#[test]
fn intervals_hold_where_shares_rise_and_fall() {
    let sizes = [5000, 4000, 3000, 2000, 1000, 500, 300, 200, 150, 120, 100, 80, 160, 150, 400];
    let rising = [1, 2, 5, 10, 20, 40, 60, 80, 90, 95, 97, 99, 99, 100, 100];
    let falling = [0, 1, 5, 20, 50, 80, 95, 95, 90, 80, 60, 50, 40, 30, 30];
    let dipping = [1, 2, 5, 10, 30, 60, 90, 90, 90, 50, 50, 90, 99, 100, 100];
    let mut pairs = [0; BINS + 1];
    pairs[bin(0.3)..].copy_from_slice(&sizes);
    for (number, truth) in [rising, falling, dipping].into_iter().enumerate() {
        for each in [4u64, 8, 16] {
            let (mut holds, mut all) = (0, 0);
            for round in 0..100u64 {
                let mut answers = Answers::default();
                for (n, &share) in truth.iter().enumerate() {
                    for answer in 0..each {
                        let drawn = [number as u64, each, round, n as u64, answer];
                        let drawn =
                            drawn.into_iter().fold(7, |hash, part| crate::hash::mix(hash ^ part)) % 100;
                        answers.add(Some(similarity_of(bin(0.3) + n)), drawn < share);
                    }
                }
                for (n, estimate) in answers.estimates(&pairs, 0.3).iter().enumerate() {
                    let of = |from: usize| sizes[from..].iter().sum::<u64>() as f64;
                    let duplicates: u64 =
                        sizes[n..].iter().zip(&truth[n..]).map(|(size, share)| size * share).sum();
                    let precision = duplicates as f64 / 100.0 / of(n);
                    let Interval { low, high, .. } = estimate.precision.unwrap();
                    holds += u32::from(low - 1e-9 <= precision && precision <= high + 1e-9);
                    all += 1;
                }
            }
            assert!(holds * 100 >= all * 95, "{number}, {each} answers: {holds} of {all}");
        }
    }
}

#[test]
fn no_answers_and_answers_of_one_kind() {
    let pairs = strata(&[(0.5, 10), (1.0, 10)]);
    let none = Answers::default().estimates(&pairs, 0.3);
    let Interval { value, low, high } = at(&none, 0.5).precision.unwrap();
    assert!(value == 0.5 && low < 0.1 && high > 0.9, "{low} {high}");
    let mut never = answers(&[(0.5, 0, 5), (1.0, 0, 5)]);
    never.add(None, true);
    assert_eq!((never.counted(), never.below), ([10, 0], [1, 1]));
    let never = never.estimates(&pairs, 0.3);
    assert_eq!(at(&never, 0.5).recall, None);
    assert!(!best(&never, Some(0.9)).unwrap().1);
    let always = answers(&[(0.5, 5, 0), (1.0, 5, 0)]).estimates(&pairs, 0.3);
    let precision = at(&always, 0.5).precision.unwrap();
    assert!(precision.value == 1.0 && precision.high == 1.0 && precision.low > 0.6, "{precision:?}");
    assert_eq!(at(&always, 0.5).recall.unwrap().value, 1.0);
}

proptest! {
    #[test]
    fn intervals_hold_their_values(
        given in prop::collection::vec((6usize..=BINS, any::<bool>()), 0..60),
        sizes in prop::collection::vec(0u64..1 << 40, BINS + 1),
    ) {
        let pairs: Strata = sizes.try_into().unwrap();
        let mut answers = Answers::default();
        given.iter().for_each(|&(n, yes)| answers.add(Some(similarity_of(n)), yes));
        for estimate in answers.estimates(&pairs, 0.3) {
            for interval in [estimate.precision, estimate.recall].into_iter().flatten() {
                let Interval { value, low, high } = interval;
                prop_assert!(0.0 <= low && low <= value && value <= high && high <= 1.0, "{interval:?}");
            }
        }
    }
}
