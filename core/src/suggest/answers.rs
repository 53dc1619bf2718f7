//! Precision and recall of each threshold, from answers to some of the pairs.
//!
//! Pairs are in strata by their similarity, and it is known how many there are in each. The share
//! of duplicates in a stratum is estimated from its answers. Where it would fall as similarity
//! rises, and that may be chance, adjacent strata have one share (isotonic regression by pooling
//! adjacent violators: Ayer and others, *An empirical distribution function for sampling with
//! incomplete information*, 1955, section 2). Where it is more than chance, it falls: texts of one
//! template are very similar, and need not be duplicates. Each stratum weighs as many pairs as it
//! has, so it does not matter how many answers each got.
//!
//! An interval is that of Wilson (*Probable inference*, 1927) for the number of answers that would
//! have the same variance if they were drawn from all pairs alike (Kish, *Survey sampling*, 1965,
//! section 8.2). A threshold is chosen by the same answers as its interval is made of, so intervals
//! are those of 97.5 %: after the choice they hold the true value in 95 of 100 cases or more
//! (evaluation/pages/suggest.md). That of recall combines the intervals of the duplicates above and
//! below the threshold (Zou and Donner, *Construction of confidence limits about effect measures*,
//! 2008).

use super::curve::{BINS, bin, similarity_of};

/// The value of the normal distribution for intervals of 97.5 %.
const Z: f64 = 2.241_403;

/// A share that falls by more than so many standard deviations does not fall by chance. With a
/// greater number the intervals of shares that really fall hold their values less often than they
/// promise, with a lesser one those of shares that do not fall.
const CHANCE: f64 = 1.5;
/// What is not a difference of two shares but of their rounding.
const FALL: f64 = 1e-9;

/// How many pairs there are in each stratum.
pub type Strata = [u64; BINS + 1];

/// A value with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The most likely value.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The most likely value; where there is none, the least there can be.
pub(super) fn value(of: Option<Interval>) -> f64 {
    of.map_or(0.0, |of| of.value)
}

/// What is known of a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThresholdEstimate {
    /// The threshold.
    pub threshold: f64,
    /// The number of pairs that reach it.
    pub pairs: u64,
    /// The number of answers to these.
    pub answers: u64,
    /// The share of duplicates among these pairs; `None` if there are no such pairs.
    pub precision: Option<Interval>,
    /// The share of these pairs among all duplicates of the curve; `None` if there seem to be none.
    pub recall: Option<Interval>,
    /// The least similarity above the threshold from which on fewer of the pairs are duplicates
    /// than just below it, if there is one.
    pub falls: Option<f64>,
}

/// Answers to pairs: whether these are duplicates.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    /// For each stratum the number of answers, and how many of these say that it is a duplicate.
    counts: [[u64; 2]; BINS + 1],
    /// The same for pairs below the floor of the curve.
    pub below: [u64; 2],
}

/// What the answers say of a stratum.
#[derive(Debug, Clone, Copy, Default)]
struct AnswerShare {
    /// The number of pairs.
    pairs: f64,
    /// The share of duplicates.
    share: f64,
    /// The same, further from 0 and 1, as few answers do not exclude others.
    cautious: f64,
    /// The variance of the share.
    variance: f64,
}

impl Answers {
    /// Adds an answer to a pair. A pair below the floor of the curve has no similarity.
    pub fn add(&mut self, similarity: Option<f64>, is_duplicate: bool) {
        let [answers, duplicates] = match similarity {
            Some(similarity) => &mut self.counts[bin(similarity)],
            None => &mut self.below,
        };
        *answers += 1;
        *duplicates += u64::from(is_duplicate);
    }

    /// Returns the number of answers to pairs that are on the curve, and of those that say that the
    /// pair is a duplicate.
    pub fn counted(&self) -> [u64; 2] {
        self.counts.iter().fold([0, 0], |[all, yes], [answers, duplicates]| [all + answers, yes + duplicates])
    }

    /// Returns how many pairs an answer to one of this similarity stands for.
    pub fn stands_for(&self, similarity: f64, pairs: &Strata) -> f64 {
        let [answers, _] = self.counts[bin(similarity)];
        pairs[bin(similarity)].max(answers) as f64 / answers.max(1) as f64
    }

    /// Returns what is known of each threshold from `floor` to 1, in ascending order.
    pub fn estimates(&self, pairs: &Strata, floor: f64) -> Vec<ThresholdEstimate> {
        let first = bin(floor);
        let shares = self.shares(pairs, first);
        let thresholds = first..=BINS;
        thresholds
            .map(|at| {
                let (below, above) = shares.split_at(at - first);
                let [above, below] = [above, below].map(duplicates);
                let fall =
                    (at + 1..=BINS).find(|n| shares[n - first].share < shares[n - 1 - first].share - FALL);
                ThresholdEstimate {
                    threshold: similarity_of(at),
                    pairs: pairs[at..].iter().copied().fold(0, u64::saturating_add),
                    answers: self.counts[at..].iter().map(|[answers, _]| answers).sum(),
                    precision: above.map(|[share, _]| share),
                    recall: recall(above.map(|[_, number]| number), below.map(|[_, number]| number)),
                    falls: fall.map(similarity_of),
                }
            })
            .collect()
    }

    /// Estimates the share of duplicates in each stratum from `first` on.
    fn shares(&self, pairs: &Strata, first: usize) -> Vec<AnswerShare> {
        let strata = || pairs[first..].iter().zip(&self.counts[first..]);
        // More answers than pairs: the pairs were counted on a sample.
        let sizes: Vec<f64> = strata().map(|(&pairs, [answers, _])| pairs.max(*answers) as f64).collect();
        let mut blocks: Vec<StrataBlock> = Vec::new();
        for (place, (&size, (_, &[answers, duplicates]))) in sizes.iter().zip(strata()).enumerate() {
            if answers == 0 {
                continue;
            }
            let share = duplicates as f64 / answers as f64;
            let mut block = StrataBlock {
                first: place,
                last: place,
                pairs: size,
                of_pairs: size * share,
                answers,
                duplicates,
            };
            let is_chance = |before: &StrataBlock, block: &StrataBlock| {
                before.share() >= block.share() && !before.is_above(block)
            };
            while let Some(before) = blocks.pop_if(|before| is_chance(before, &block)) {
                block = block.and(before);
            }
            blocks.push(block);
        }
        let mut at = 0;
        let mut before: Option<StrataBlock> = None;
        let of = |(place, &size): (usize, &f64)| {
            while blocks.get(at).is_some_and(|block| block.last < place) {
                before = Some(blocks[at]);
                at += 1;
            }
            let [answers, _] = self.counts[first + place];
            let (share, cautious) = match (answers, before, blocks.get(at)) {
                // Between two blocks; inside one, its share is that of all its strata.
                (0, Some(before), Some(after)) if place < after.first => {
                    let mean = |of: fn(&StrataBlock) -> f64| f64::midpoint(of(&before), of(after));
                    (mean(StrataBlock::share), mean(StrataBlock::cautious))
                }
                (_, _, Some(block)) => (block.share(), block.cautious()),
                (_, Some(block), None) => (block.share(), block.cautious()),
                (_, None, None) => (0.5, 0.5),
            };
            let spread = if answers == 0 { 0.25 } else { cautious * (1.0 - cautious) };
            AnswerShare { pairs: size, share, cautious, variance: spread / answers.max(1) as f64 }
        };
        sizes.iter().enumerate().map(of).collect()
    }
}

/// Adjacent strata with one share of duplicates.
#[derive(Debug, Clone, Copy)]
struct StrataBlock {
    /// The places of the first and the last stratum.
    first: usize,
    last: usize,
    pairs: f64,
    /// The estimated number of duplicates among the pairs.
    of_pairs: f64,
    answers: u64,
    duplicates: u64,
}

impl StrataBlock {
    fn share(&self) -> f64 {
        self.of_pairs / self.pairs
    }

    fn cautious(&self) -> f64 {
        (self.duplicates as f64 + 1.0) / (self.answers as f64 + 2.0)
    }

    /// Reports whether this block has a greater share than another one, and not by chance.
    fn is_above(&self, other: &Self) -> bool {
        let variance = |of: &Self| of.cautious() * (1.0 - of.cautious()) / of.answers as f64;
        self.cautious() - other.cautious() > CHANCE * (variance(self) + variance(other)).sqrt()
    }

    fn and(self, before: Self) -> Self {
        Self {
            first: before.first,
            last: self.last,
            pairs: self.pairs + before.pairs,
            of_pairs: self.of_pairs + before.of_pairs,
            answers: self.answers + before.answers,
            duplicates: self.duplicates + before.duplicates,
        }
    }
}

/// Returns the share of duplicates in some strata, and their number.
fn duplicates(strata: &[AnswerShare]) -> Option<[Interval; 2]> {
    let pairs: f64 = strata.iter().map(|stratum| stratum.pairs).sum();
    if pairs == 0.0 {
        return None;
    }
    let mean = |of: fn(&AnswerShare) -> f64| strata.iter().map(|s| s.pairs / pairs * of(s)).sum::<f64>();
    let cautious = mean(|stratum| stratum.cautious);
    let variance: f64 = strata.iter().map(|stratum| (stratum.pairs / pairs).powi(2) * stratum.variance).sum();
    let answers = cautious * (1.0 - cautious) / variance;
    let share = wilson(mean(|stratum| stratum.share).clamp(0.0, 1.0), answers);
    let of = |share: f64| share * pairs;
    Some([share, Interval { value: of(share.value), low: of(share.low), high: of(share.high) }])
}

/// The interval of a share that was found among so many answers.
fn wilson(value: f64, answers: f64) -> Interval {
    let z2 = Z * Z / answers;
    let middle = (value + z2 / 2.0) / (1.0 + z2);
    let half = Z * (value * (1.0 - value) / answers + z2 / answers / 4.0).sqrt() / (1.0 + z2);
    let [low, high] = [middle - half, middle + half];
    Interval { value, low: low.clamp(0.0, value), high: high.clamp(value, 1.0) }
}

/// Returns the share of the duplicates that are above a threshold.
fn recall(above: Option<Interval>, below: Option<Interval>) -> Option<Interval> {
    let none = Interval { value: 0.0, low: 0.0, high: 0.0 };
    let [above, below] = [above, below].map(|duplicates| duplicates.unwrap_or(none));
    let all = above.value + below.value;
    if all == 0.0 {
        return None;
    }
    if below.high == 0.0 {
        return Some(Interval { value: 1.0, low: 1.0, high: 1.0 });
    }
    if above.high == 0.0 {
        return Some(none);
    }
    // On the scale of logarithms of odds, in which the two parts are a difference.
    let apart = |from: f64, to: f64| (from.ln() - to.ln()).abs();
    let odds = above.value.ln() - below.value.ln();
    let of = |odds: f64| 1.0 / (1.0 + (-odds).exp());
    let value = above.value / all;
    let [low, high] = match (above.value > 0.0, below.value > 0.0) {
        (true, true) => [
            of(odds - apart(above.value, above.low).hypot(apart(below.high, below.value))),
            of(odds + apart(above.high, above.value).hypot(apart(below.value, below.low))),
        ],
        (_, false) => [above.low / (above.low + below.high), 1.0],
        (false, _) => [0.0, above.high / (above.high + below.low)],
    };
    Some(Interval { value, low: low.min(value), high: high.max(value) })
}

/// Returns the lowest threshold that has the wanted precision. Without a wanted precision, or if no
/// threshold has it, returns the threshold with the best mean of precision and recall (F1), and
/// whether nothing else was wanted: the highest of several precisions would be the one that was
/// overestimated most. Of thresholds with the same pairs it is the one in the middle, which other
/// documents than those of a sample are the least likely to cross.
pub fn best(estimates: &[ThresholdEstimate], wanted: Option<f64>) -> Option<(ThresholdEstimate, bool)> {
    let mut known = estimates.iter().filter(|estimate| estimate.precision.is_some());
    if let Some(wanted) = wanted
        && let Some(found) = known.clone().find(|estimate| value(estimate.precision) >= wanted)
    {
        return Some((in_the_middle(estimates, found), true));
    }
    let f1 = |estimate: &ThresholdEstimate| {
        let [precision, recall] = [estimate.precision, estimate.recall].map(value);
        if precision + recall == 0.0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) }
    };
    let first = known.next()?;
    let best = known.fold(first, |best, next| if f1(next) > f1(best) { next } else { best });
    Some((in_the_middle(estimates, best), wanted.is_none()))
}

/// Returns the threshold in the middle of those with the same pairs as a threshold.
fn in_the_middle(estimates: &[ThresholdEstimate], of: &ThresholdEstimate) -> ThresholdEstimate {
    let first = estimates.partition_point(|estimate| estimate.pairs > of.pairs);
    let end = estimates.partition_point(|estimate| estimate.pairs >= of.pairs);
    estimates[usize::midpoint(first, end - 1)]
}

#[cfg(test)]
mod tests;
