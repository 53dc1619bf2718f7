//! How many pairs reach each similarity, and the threshold that parts near duplicates from the
//! rest.
//!
//! Pairs of unrelated documents are most at low similarities, and their number falls quickly.
//! Near duplicates are few and similar. Between the two there are hardly any pairs; the pairs of a
//! threshold there depend least on where exactly it is. Where nothing parts them, the middle
//! counts.

use crate::clusters::components::Components;
use crate::error::Result;
use crate::joins::pairs::{Pair, Pairs};

pub(super) use crate::clusters::samples::{STEPS as BINS, least_of as similarity_of, step_of as bin};

/// The pairs of documents by their similarity, from [`PairCurve::FLOOR`] on.
#[derive(Debug)]
pub struct PairCurve {
    /// The number of pairs in each bin. The last one has the pairs of similarity 1 alone.
    pairs: [u64; BINS + 1],
    /// For each bin, the clusters of the pairs in it and above it.
    clusters: Vec<Components>,
}

/// A threshold and what speaks for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Suggested {
    /// The threshold.
    pub threshold: f64,
    /// The number of pairs that reach it.
    pub pairs: u64,
    /// The number of pairs whose similarity is less or greater by up to 0.05.
    pub around: u64,
    /// The number of pairs that are less similar than those.
    pub below: u64,
    /// The number of documents in the largest cluster of the pairs.
    pub largest: u32,
    /// The same of the pairs with a similarity of 0.95 or more.
    pub largest_alike: u32,
}

impl PairCurve {
    /// The least similarity of the pairs. Below it, pairs of unrelated documents are too many to
    /// list.
    pub const FLOOR: f64 = 0.3;

    /// Starts a curve of the pairs of so many documents. Each takes 112 bytes.
    pub fn new(documents: usize) -> Result<Self> {
        let first = Self::first();
        let clusters: Result<Vec<Components>> = (first..BINS).map(|_| Components::new(documents)).collect();
        Ok(Self { pairs: [0; BINS + 1], clusters: clusters? })
    }

    /// The bin of the least similarity.
    fn first() -> usize {
        bin(Self::FLOOR)
    }

    /// Adds a pair of two documents, which are given by their numbers. `rows` is how many pairs of
    /// rows it stands for.
    pub fn add(&mut self, [a, b]: [u32; 2], similarity: f64, rows: u64) {
        let of = bin(similarity);
        self.pairs[of] = self.pairs[of].saturating_add(rows);
        for clusters in self.clusters.iter_mut().take((of + 1).saturating_sub(Self::first())) {
            clusters.unite(a, b, u32::MAX);
        }
    }

    /// Adds the pairs of equal rows of a join that has not begun.
    pub fn add_equal(&mut self, pairs: &Pairs) {
        self.pairs[BINS] = self.pairs[BINS].saturating_add(pairs.certain());
        // Equal sets have similarity 1.
        for (rows, _) in pairs.equal_rows().filter(|(_, similarity)| similarity.is_some()) {
            rows.iter().for_each(|&row| self.add([rows[0], row], 1.0, 0));
        }
    }

    /// Adds the next pairs of a join that are already found, those of two groups of equal rows.
    /// Returns the pair of their first rows and how many pairs of rows it stands for, or `None` if
    /// there are none.
    pub fn add_next(&mut self, pairs: &mut Pairs) -> Option<(Pair, u64)> {
        let known = if pairs.given() == 0 { pairs.certain() } else { 0 };
        let before = pairs.given().saturating_add(known);
        let pair = pairs.take_group()?;
        let rows = pairs.given().saturating_sub(before);
        self.add([pair.left, pair.right], pair.similarity, rows);
        Some((pair, rows))
    }

    /// Reports whether there are so many pairs that more of them tell nothing new.
    pub fn is_full(&self) -> bool {
        const MOST: u64 = 10_000_000;
        self.all() - self.pairs[BINS] > MOST
    }

    /// Returns the number of pairs in each stratum of similarity.
    pub fn strata(&self) -> &[u64; BINS + 1] {
        &self.pairs
    }

    /// Returns the number of all pairs.
    pub fn all(&self) -> u64 {
        self.pairs.iter().copied().fold(0, u64::saturating_add)
    }

    /// Returns the threshold around which there are the fewest pairs; thresholds far from the
    /// middle need fewer than others.
    pub fn suggest(&self) -> Suggested {
        /// The distance from the middle at which a threshold needs fewer pairs by a factor of
        /// the square root of e.
        const SPREAD: f64 = 0.08;
        const MIDDLE: f64 = 0.5;
        let around = |n: usize| self.pairs[n - 1] + self.pairs[n];
        let cost = |n: usize| {
            let away = (similarity_of(n) - MIDDLE) / SPREAD;
            ((around(n) + 1) as f64).ln() + away * away / 2.0
        };
        // The bin below a threshold has to be complete.
        let thresholds = Self::first() + 1..=BINS - 2;
        let middle = bin(MIDDLE);
        let best = thresholds.fold(middle, |best, n| if cost(n) < cost(best) { n } else { best });
        Suggested {
            threshold: similarity_of(best),
            pairs: self.pairs[best..].iter().sum(),
            around: around(best),
            below: self.pairs[..best - 1].iter().sum(),
            largest: self.clusters[best - Self::first()].largest(),
            largest_alike: self.clusters.last().map_or(0, Components::largest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::PlainThreads;
    use crate::methods::Method;
    use crate::methods::corpus::Corpus;
    use crate::methods::documents::Quiet;
    use crate::methods::reading::Reading;
    use crate::methods::sets::Sets;
    use crate::storage::files::{NoFiles, Resources};
    use crate::verify::measure::Measure;
    use proptest::prelude::*;

    /// A curve with so many pairs of each similarity.
    fn of(pairs: &[(f64, u64)]) -> PairCurve {
        let mut curve = PairCurve::new(1000).unwrap();
        for &(similarity, count) in pairs {
            (0..count as u32).for_each(|n| curve.add([2 * n, 2 * n + 1], similarity, 1));
        }
        curve
    }

    proptest! {
        #[test]
        fn a_curve_counts_all_pairs_of_a_join(
            texts in prop::collection::vec("[a-d]( [a-d]){0,4}", 0..30),
            threads in 1usize..3,
        ) {
            let method = Sets::of_words(Measure::Jaccard, PairCurve::FLOOR).unwrap();
            let (mut expected, mut curve) = (PairCurve::new(texts.len()).unwrap(), PairCurve::new(texts.len()).unwrap());
            let mut corpus = Corpus::of_texts(&texts);
            for pair in corpus.pairs(&method).unwrap() {
                expected.add([pair.left, pair.right], pair.similarity, 1);
            }
            let executor = PlainThreads(threads);
            let resources = Resources { files: &NoFiles, budget: 1 << 24, executor: &executor };
            let mut pairs = method.pairs(&mut Reading::new(&mut corpus, &mut Quiet, resources)).unwrap();
            curve.add_equal(&pairs);
            loop {
                while curve.add_next(&mut pairs).is_some() {}
                if !pairs.advance(&executor).unwrap() {
                    break;
                }
            }
            prop_assert_eq!(curve.pairs, expected.pairs);
            prop_assert_eq!(curve.suggest(), expected.suggest());
            let largest = |curve: &PairCurve| curve.clusters.iter().map(Components::largest).collect::<Vec<_>>();
            prop_assert_eq!(largest(&curve), largest(&expected));
        }
    }

    #[test]
    fn the_threshold_is_where_pairs_are_few() {
        assert_eq!(
            of(&[]).suggest(),
            Suggested { threshold: 0.5, pairs: 0, around: 0, below: 0, largest: 1, largest_alike: 1 }
        );
        // Unrelated pairs up to 0.55, near duplicates from 0.7 on.
        let curve =
            of(&[(0.32, 400), (0.42, 300), (0.52, 200), (0.57, 40), (0.72, 50), (0.9, 80), (1.0, 20)]);
        let expected =
            Suggested { threshold: 0.65, pairs: 150, around: 0, below: 940, largest: 2, largest_alike: 2 };
        assert_eq!(curve.suggest(), expected);
        assert_eq!(curve.all(), 1090);
        // Evenly spread pairs: the middle.
        let even: Vec<(f64, u64)> = (6..20).map(|n| (f64::from(n) / 20.0, 10)).collect();
        assert_eq!(of(&even).suggest().threshold, 0.5);
    }

    #[test]
    fn clusters_are_those_of_the_pairs_from_the_threshold_on() {
        let mut curve = PairCurve::new(6).unwrap();
        curve.add([0, 1], 0.8, 1);
        curve.add([1, 2], 0.5, 3);
        curve.add([3, 4], 0.3, 1);
        curve.add([2, 3], 0.42, 1);
        curve.add([4, 5], 1.0, 1);
        let at = |threshold: f64| curve.clusters[bin(threshold) - PairCurve::first()].largest();
        assert_eq!([0.3, 0.35, 0.45, 0.55, 0.85, 0.95].map(at), [6, 4, 3, 2, 2, 2]);
        assert_eq!(curve.all(), 7);
    }
}
