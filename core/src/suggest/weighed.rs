//! Whether words that weigh by their frequency tell duplicates from others better, by answers to
//! pairs: the best F1 of all thresholds with and without weights, on the same pairs.
//!
//! An answer stands for as many pairs as its stratum has for each answer (Horvitz and Thompson, *A
//! generalization of sampling without replacement*, 1952). Whether a difference is more than chance
//! is told by samples of the answers with replacement (Efron, *Bootstrap methods*, 1979), which are
//! the same for the same answers, in whatever order.

use super::answers::{Answers, Strata};
use super::curve::{BINS, bin, similarity_of};
use crate::error::Result;
use crate::hash::mix;
use crate::memory;

/// With fewer answers, nothing is compared.
const FEWEST: usize = 30;
/// The number of samples, and in how many of them weights must be better.
const SAMPLES: u64 = 1000;
const ENOUGH: u64 = 975;

/// A pair with an answer.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct JudgedPair {
    /// The similarity without weights.
    pub plain: f64,
    /// The similarity with weights; 0 if it is below the floor.
    pub weighed: f64,
    /// Whether it is a duplicate.
    pub is_duplicate: bool,
}

/// What weights change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightGain {
    /// The best threshold with weights.
    pub threshold: f64,
    /// The best F1 without weights, and with them.
    pub f1: [f64; 2],
    /// In how many of a thousand samples of the answers F1 with weights is the greater one.
    pub better: u64,
}

/// The best F1 of all thresholds, and the bin of the threshold.
type BestF1 = (f64, usize);

/// Says what weights change, if they are better by more than chance. `strata` says how many pairs
/// there are by their similarity without weights, `weighed` by that with weights: more of them than
/// the answers stand for are taken as no duplicates. O(answers · samples).
pub fn gain(
    mut pairs: Vec<JudgedPair>,
    answers: &Answers,
    strata: &Strata,
    weighed: &Strata,
) -> Result<Option<WeightGain>> {
    if pairs.len() < FEWEST {
        return Ok(None);
    }
    pairs.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    let weights = memory::collect(pairs.iter().map(|pair| answers.stands_for(pair.plain, strata)), DOING)?;
    let best = |count: &dyn Fn(usize) -> f64, more: &[f64; BINS + 1]| -> [BestF1; 2] {
        let (mut found, mut right) = ([[0.0; BINS + 1]; 2], [[0.0; BINS + 1]; 2]);
        for (n, pair) in pairs.iter().enumerate() {
            let weight = weights[n] * count(n);
            for (by, similarity) in [pair.plain, pair.weighed].into_iter().enumerate() {
                found[by][bin(similarity)] += weight;
                right[by][bin(similarity)] += if pair.is_duplicate { weight } else { 0.0 };
            }
        }
        [0, 1].map(|by| best_f1(&found[by], &right[by], if by == 1 { more } else { &[0.0; BINS + 1] }))
    };
    // What the answers stand for, of each similarity with weights.
    let mut known = [0.0; BINS + 1];
    pairs.iter().zip(&weights).for_each(|(pair, weight)| known[bin(pair.weighed)] += weight);
    let mut more = [0.0; BINS + 1];
    for (more, (&all, known)) in more.iter_mut().zip(weighed.iter().zip(known)) {
        *more = (all as f64 - known).max(0.0);
    }
    let [plain, better_by] = best(&|_| 1.0, &more);
    let mut better = 0;
    let mut drawn = memory::filled(0u32, pairs.len(), DOING)?;
    for sample in 0..SAMPLES {
        drawn.fill(0);
        let draw = |n: u64| mix(mix(sample) ^ n) % pairs.len() as u64;
        (0..pairs.len() as u64).for_each(|n| drawn[draw(n) as usize] += 1);
        let [(plain, _), (weighed, _)] = best(&|n| f64::from(drawn[n]), &more);
        better += u64::from(weighed > plain);
    }
    let is_better = better >= ENOUGH && better_by.0 > plain.0;
    let f1 = [plain.0, better_by.0];
    Ok(is_better.then(|| WeightGain { threshold: similarity_of(better_by.1), f1, better }))
}

const DOING: &str = "comparing answers";

/// Returns the best F1 of the pairs from a bin on. `more` are further pairs that are no duplicates.
fn best_f1(found: &[f64; BINS + 1], right: &[f64; BINS + 1], more: &[f64; BINS + 1]) -> BestF1 {
    let all: f64 = right.iter().sum();
    let (mut taken, mut hits, mut best) = (0.0, 0.0, (0.0, BINS));
    for at in (1..=BINS).rev() {
        taken += found[at] + more[at];
        hits += right[at];
        let f1 = if hits > 0.0 { 2.0 * hits / (taken + all) } else { 0.0 };
        if f1 > best.0 {
            best = (f1, at);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs of two kinds, whose similarity without weights is the same.
    fn judged(count: usize, of: impl Fn(usize) -> (f64, bool)) -> (Vec<JudgedPair>, Answers, [Strata; 2]) {
        let (mut answers, mut strata) = (Answers::default(), [[0; BINS + 1]; 2]);
        let pairs = (0..count).map(|n| {
            let (weighed, is_duplicate) = of(n);
            answers.add(Some(0.42), is_duplicate);
            strata[0][bin(0.42)] += 10;
            strata[1][bin(weighed)] += 10;
            JudgedPair { plain: 0.42, weighed, is_duplicate }
        });
        (pairs.collect(), answers, strata)
    }

    #[test]
    fn weights_that_tell_them_apart_are_better() {
        let (pairs, answers, [strata, weighed]) =
            judged(40, |n| if n % 2 == 0 { (0.9, true) } else { (0.21, false) });
        let found = gain(pairs.clone(), &answers, &strata, &weighed).unwrap().unwrap();
        assert_eq!((found.threshold, found.f1[1]), (0.9, 1.0));
        assert!((found.f1[0] - 2.0 / 3.0).abs() < 1e-9 && found.better > 990, "{found:?}");
        let mut reversed = pairs.clone();
        reversed.reverse();
        assert_eq!(gain(reversed, &answers, &strata, &weighed).unwrap(), Some(found));
        // Pairs that only weights make similar, and that have no answers, are no duplicates.
        let mut more = weighed;
        more[bin(0.9)] += 10_000;
        assert_eq!(gain(pairs.clone(), &answers, &strata, &more).unwrap(), None);
        assert_eq!(gain(pairs[..29].to_vec(), &answers, &strata, &weighed).unwrap(), None);
    }

    #[test]
    fn chance_is_no_gain() {
        let (pairs, answers, [strata, weighed]) =
            judged(60, |n| (if mix(n as u64) >> 63 == 0 { 0.9 } else { 0.3 }, n % 2 == 0));
        assert_eq!(gain(pairs, &answers, &strata, &weighed).unwrap(), None);
        let (pairs, answers, [strata, weighed]) = judged(60, |_| (0.42, true));
        assert_eq!(gain(pairs, &answers, &strata, &weighed).unwrap(), None);
    }
}
