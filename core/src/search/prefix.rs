//! How many elements of a row an index stores, how many elements of a ball a search looks up, and
//! how many hits a similar row must have. If words weigh, weights take the place of numbers.
//!
//! [`super`] explains why nothing is lost. All bounds are found by trying the predicate itself
//! ([`Bounds`]), never by a formula.

use std::ops::RangeInclusive;

use super::ball::SetParameters;
use super::weights::{self, HIT, KeyWeights};
use crate::error::{Error, Result};
use crate::features::dictionary::weights::GREATEST;
use crate::joins::sets::bounds::{Bounds, PairSide};
use crate::set_index::bitmap::Width;
use crate::set_index::by_size::BySize;
use crate::verify::predicate::Predicate;

/// The specification of an index: how documents become sets and are compared, and the least
/// similarity that it finds.
#[derive(Debug, Clone)]
pub struct SetSpec {
    /// The parameters by which sets are made and compared. For a measure with a direction, rows are
    /// the left sets.
    pub parameters: SetParameters,
    /// The least similarity that the index serves.
    pub least: f64,
    bounds: Bounds,
    /// Cached results of [`SetSpec::indexed`].
    known: BySize,
}

impl SetSpec {
    /// Creates a specification. Fails for a least similarity outside (0, 1].
    pub fn new(parameters: SetParameters, least: f64) -> Result<Self> {
        let bounds = Bounds::new(Predicate::new(parameters.measure, least)?);
        Ok(Self { parameters, least, bounds, known: BySize::default() })
    }

    /// Returns the weights, unless all tokens weigh 1.
    pub fn weights(&self) -> Option<&KeyWeights> {
        self.parameters.weights.as_deref()
    }

    /// Returns the weight of the heaviest token. A token flips a bit of a bitmap if it weighs so
    /// much; lighter ones flip none.
    pub fn heaviest(&self) -> u32 {
        if self.weights().is_some() { GREATEST.into() } else { 1 }
    }

    /// Returns the weight of a hit.
    fn hit(&self) -> u32 {
        if self.weights().is_some() { HIT } else { 1 }
    }

    /// Returns the size of a set: the number of its elements, or their weight. Fails if that has
    /// more than 32 bits.
    pub fn size(&self, keys: &[u32]) -> Result<u32> {
        // Documents have fewer than 2^32 tokens.
        self.weights().map_or(Ok(keys.len() as u32), |weights| {
            weights::sum(keys.iter().map(|&key| Ok(weights.of_key(key))))
        })
    }

    /// Returns the size of a set of so many tokens that are as heavy as any.
    pub fn size_of(&self, tokens: u32) -> u32 {
        tokens.saturating_mul(self.heaviest())
    }

    /// Returns how many tokens weigh so much, if they are as heavy as any.
    fn tokens(&self, weight: u32) -> u32 {
        weight.div_ceil(self.heaviest())
    }

    /// Returns the least weight of the elements that an index stores of a row of this size. They
    /// are the first elements in the order. The weight is one heaviest element more than is needed
    /// to share one element with each similar set, if similar sets cannot share only one. So the
    /// stored elements share two elements with a similar set. It is a rule of the format on disk
    /// and depends on the measure and the least similarity. O(log size), for small sets O(1).
    pub fn indexed(&self, size: u32) -> u32 {
        self.known.get(size, || self.reached(size, self.bounds.whole_prefix(size)))
    }

    /// Returns the number of elements that are stored of a row of so many elements that are as
    /// heavy as any.
    pub fn usual_indexed(&self, tokens: u32) -> u32 {
        self.tokens(self.indexed(self.size_of(tokens)))
    }

    /// Returns the weight of the first elements of a set of which it has at least two in common
    /// with each similar set, or one if it may share only one. `one` is the weight of that of which
    /// it has at least one in common.
    fn reached(&self, size: u32, one: u32) -> u32 {
        let heaviest = self.heaviest();
        if size - one >= heaviest { one + heaviest } else { one }
    }

    /// Returns the length of bitmaps, in words, for rows of so many tokens. This is the smallest of
    /// 1, 2, 4 and 8 with which sets that have little in common mostly differ in more bits than
    /// similar sets may. The length does not grow further once a bitmap has four times as many bits
    /// as its set has elements.
    pub fn bitmap_words(&self, tokens: u32) -> usize {
        self.bounds.bitmap_words(Width::STORED, self.size_of(tokens), self.heaviest()).unwrap_or(1)
    }

    /// Returns the parameters of a search for rows of at least this similarity to a set of `size`
    /// elements, or `None` if no row can be so similar. Fails for a similarity outside (0, 1], or
    /// below the least similarity that the index serves.
    pub fn reach(&self, similarity: f64, size: u32) -> Result<Option<SearchReach>> {
        let bounds = Bounds::new(Predicate::new(self.parameters.measure, similarity)?);
        if similarity < self.least {
            let (name, value) = ("similarity", similarity.to_string());
            return Err(Error::Parameter { name, value, allowed: "at least the one that the index serves" });
        }
        let Some(sizes) = bounds.partner_sizes(PairSide::Right, size, u32::MAX) else { return Ok(None) };
        let Some(least) = bounds.least_overlap(PairSide::Right, size, *sizes.start()) else {
            return Ok(None);
        };
        let probes = self.reached(size, size - (least - 1));
        Ok(Some(SearchReach { spec: self.clone(), bounds, size, sizes, probes, least }))
    }
}

/// The parameters of a search: which elements it looks up, and its requirements on rows. Sizes and
/// what is shared are numbers of elements, or their weights.
#[derive(Debug, Clone)]
pub struct SearchReach {
    spec: SetSpec,
    /// The bounds for the ball's similarity.
    bounds: Bounds,
    /// The size of the ball's set.
    size: u32,
    sizes: RangeInclusive<u32>,
    probes: u32,
    /// The least overlap with a row of the least size.
    least: u32,
}

impl SearchReach {
    /// Returns the sizes that rows can have.
    #[cfg(test)]
    pub fn sizes(&self) -> &RangeInclusive<u32> {
        &self.sizes
    }

    /// Returns the least weight of the elements of the ball's set that are looked up. They are the
    /// first elements in the order.
    pub fn probes(&self) -> u32 {
        self.probes
    }

    /// Returns how many elements are looked up, if they are as heavy as any.
    pub fn lookups(&self) -> u32 {
        self.spec.tokens(self.probes)
    }

    /// Returns the weights, unless all tokens weigh 1.
    pub fn weights(&self) -> Option<&KeyWeights> {
        self.spec.weights()
    }

    /// Returns the least number of hits of the looked-up elements that are among the indexed
    /// elements of a similar row. Without weights, this is 2, or 1 if similar sets need not share
    /// two.
    pub fn least_hits(&self) -> u32 {
        // A row is not less than `least` - 1 beyond what one of both leaves out, which is at most
        // `least` - 1 - `heaviest` of a set that cannot share one element only, and at most
        // `heaviest` - 1 of another.
        let (least, heaviest) = (self.least, self.spec.heaviest());
        let weight = if least > heaviest { heaviest.min(least - heaviest) + 1 } else { 1 };
        weight.div_ceil(self.spec.hit())
    }

    /// Returns what a row of this size must share with the ball's set, or `None` if no row of this
    /// size is similar.
    pub fn shared(&self, row_size: u32) -> Option<u32> {
        if !self.sizes.contains(&row_size) {
            return None;
        }
        self.bounds.least_overlap(PairSide::Right, self.size, row_size)
    }

    /// Returns the most that a row of this size and the ball may share without a hit.
    fn unseen(&self, row_size: u32) -> u32 {
        (row_size - self.spec.indexed(row_size)).max(self.size - self.probes)
    }

    /// Returns the least number of hits of a similar row of this size, or `None` if no row of this
    /// size is similar.
    pub fn need(&self, row_size: u32) -> Option<u32> {
        // The result is at least 1, because enough elements are indexed and looked up.
        Some(self.shared(row_size)?.saturating_sub(self.unseen(row_size)).div_ceil(self.spec.hit()))
    }

    /// Returns the number of bits in which the bitmap of a similar row of this size may differ from
    /// the bitmap of the ball, or `None` if no row of this size is similar.
    pub fn bits(&self, row_size: u32) -> Option<u32> {
        let apart = u64::from(self.size) + u64::from(row_size) - 2 * u64::from(self.shared(row_size)?);
        Some(self.bits_of(apart))
    }

    /// Returns the greatest number of bits that elements of this weight flip.
    pub fn bits_of(&self, weight: u64) -> u32 {
        u32::try_from(weight / u64::from(self.spec.heaviest())).unwrap_or(u32::MAX)
    }

    /// Returns the most that a row with `hits` hits and a bitmap that differs in `differ`
    /// bits can share with the ball.
    pub fn most_shared(&self, row_size: u32, hits: u32, differ: u32) -> u32 {
        let by_hits = hits.saturating_mul(self.spec.hit()).saturating_add(self.unseen(row_size));
        let apart = u64::from(differ) * u64::from(self.spec.heaviest());
        let by_bits = (u64::from(self.size) + u64::from(row_size)).saturating_sub(apart) / 2;
        let by_bits = u32::try_from(by_bits).unwrap_or(u32::MAX);
        row_size.min(self.size).min(by_hits).min(by_bits)
    }

    /// Returns the greatest similarity that a row with `hits` hits and a bitmap that differs in
    /// `differ` bits can have.
    pub fn most_similar(&self, row_size: u32, hits: u32, differ: u32) -> f64 {
        let shared = self.most_shared(row_size, hits, differ);
        self.spec.parameters.measure.similarity(shared, row_size, self.size)
    }
}

/// Returns the number of upper bits of a key that form its class. It is chosen so that a class has
/// about 512 postings.
pub fn class_bits(postings: u64) -> u32 {
    const OF_A_CLASS: u64 = 512;
    (postings / OF_A_CLASS).checked_ilog2().unwrap_or(0).clamp(LEAST_CLASS_BITS, MOST_CLASS_BITS)
}

/// The fewest bits of a class.
pub const LEAST_CLASS_BITS: u32 = 10;
/// The most bits of a class.
pub const MOST_CLASS_BITS: u32 = 24;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::cases;
    use crate::features::FeatureSpec;
    use crate::features::origin::Origin;
    use crate::verify::measure::Measure;

    fn new(measure: Measure, least: f64) -> Result<SetSpec> {
        let (origin, features) = (Origin::Words, FeatureSpec::WORDS);
        let parameters = SetParameters { measure, origin, features, normalization: None, weights: None };
        SetSpec::new(parameters, least)
    }

    fn spec(measure: Measure, least: f64) -> SetSpec {
        new(measure, least).unwrap()
    }

    /// Tests all sizes up to 40: the bounds equal those found by trying every number of shared
    /// elements.
    #[test]
    fn bounds_equal_brute_force() {
        for measure in Measure::ALL {
            // Ten thresholds, or three.
            let step = if cases(256).cases < 256 { 12 } else { 3 };
            for least in (1..=28).step_by(step).map(|n| f64::from(n) / 28.0).chain([0.7, 0.8]) {
                let spec = spec(measure, least);
                let overlap = |t: f64, row: u32, ball: u32| {
                    (1..=row.min(ball)).find(|&shared| measure.similarity(shared, row, ball) >= t)
                };
                let indexed = |row: u32| {
                    let least = (1..=400).filter_map(|ball| overlap(least, row, ball)).min().unwrap();
                    row.min(row - least + 2)
                };
                (1..=40)
                    .for_each(|row| assert_eq!(spec.indexed(row), indexed(row), "{measure:?} {least} {row}"));
                for (t, ball) in [0.0, 0.1, 0.5, 1.0].into_iter().flat_map(|x| (1..=40).map(move |b| (x, b)))
                {
                    let t = least + t * (1.0 - least);
                    let possible: Vec<u32> =
                        (1..=40).filter(|&row| overlap(t, row, ball).is_some()).collect();
                    let reach = spec.reach(t, ball).unwrap().unwrap();
                    let all = (1..=40).filter(|row| reach.sizes().contains(row));
                    assert_eq!(all.collect::<Vec<_>>(), possible);
                    let lowest = overlap(t, possible[0], ball).unwrap();
                    assert_eq!(reach.probes(), ball.min(ball - lowest + 2));
                    assert_eq!(reach.least_hits(), lowest.min(2));
                    for row in 1..=40 {
                        let shared = overlap(t, row, ball);
                        assert_eq!(reach.shared(row), shared);
                        let apart = (row - indexed(row)).max(ball - reach.probes());
                        assert_eq!(reach.need(row), shared.map(|shared| shared - apart));
                        assert!(reach.need(row).is_none_or(|need| need >= reach.least_hits()));
                        assert_eq!(reach.bits(row), shared.map(|shared| row + ball - 2 * shared));
                    }
                }
            }
        }
    }

    /// The number of indexed elements is a rule of the format on disk and must not change.
    #[test]
    fn what_is_indexed_stays_as_it_is() {
        let hashes = Measure::ALL.map(|measure| {
            let mut bytes = Vec::new();
            for least in [0.01, 0.5, 0.7, 0.8, 0.9, 1.0] {
                let spec = spec(measure, least);
                let lengths: Vec<u32> = (1..=4200).map(|size| spec.indexed(size)).collect();
                assert!(lengths.iter().zip(1..).all(|(&length, size)| (1..=size).contains(&length)));
                // The second time the results come from the cache.
                assert_eq!(lengths, (1..=4200).map(|size| spec.indexed(size)).collect::<Vec<_>>());
                bytes.extend(lengths.iter().flat_map(|length| length.to_le_bytes()));
            }
            crate::hash::hash_bytes(&bytes)
        });
        assert_eq!(hashes, GOLDEN);
        let of_60 = |measure| spec(measure, 0.7).indexed(60);
        assert_eq!(Measure::ALL.map(of_60), [20, 32, 29, 60, 20, 60]);
    }

    const GOLDEN: [u64; 6] = [
        1671625132581092701,
        2795767177604755624,
        15658883378276826352,
        14019376191440534061,
        1671625132581092701,
        14019376191440534061,
    ];

    #[test]
    fn what_is_not_served_is_an_error() {
        let spec = spec(Measure::Jaccard, 0.7);
        for similarity in [0.0, -1.0, 0.69, 1.1, f64::NAN] {
            assert!(spec.reach(similarity, 5).is_err(), "{similarity}");
        }
        assert!(spec.reach(0.7, 0).unwrap().is_none());
        assert_eq!(spec.indexed(0), 0);
        let reach = spec.reach(0.7, u32::MAX).unwrap().unwrap();
        assert!(reach.need(1).is_none() && *reach.sizes().end() >= u32::MAX - 1);
        assert!(reach.need(u32::MAX - 1).unwrap() >= 2 && reach.bits(u32::MAX - 1).unwrap() > 1 << 30);
        assert!(new(Measure::Dice, 0.0).is_err());
    }

    #[test]
    fn widths() {
        assert_eq!([0, 1 << 19, 20_000_000, u64::MAX].map(class_bits), [10, 10, 15, 24]);
        let words = |size| spec(Measure::Jaccard, 0.7).bitmap_words(size);
        assert_eq!([1, 60, 200, 1000, 100_000].map(words), WORDS);
    }

    const WORDS: [usize; 5] = [1, 1, 4, 8, 8];
}
