//! Sizes of possible partners, and lengths of prefixes, as far as the sizes of records alone decide
//! (Xiao et al., PPJoin+ (WWW 2008), sections 2, 3, 4.3 and 6; docs/design/algorithms.md section
//! 8).
//!
//! All bounds are found by searching with the predicate itself, never by a floating point formula.
//! So every pair that passes the predicate also passes the bounds. The searches rely on a property
//! of every measure: at full containment, similarity falls as sizes move apart.

use std::ops::RangeInclusive;

use crate::error::Result;
use crate::features::sets::records::SizeRuns;
use crate::memory;
use crate::set_index::bitmap::Width;
use crate::verify::predicate::Predicate;

/// The side of the pair that a set is on. It matters for measures with a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairSide {
    /// The first set of the measure.
    Left,
    /// The second set of the measure.
    Right,
}

/// Bounds on the partners of a set.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    predicate: Predicate,
}

impl Bounds {
    /// Creates the bounds of a predicate.
    pub fn new(predicate: Predicate) -> Self {
        Self { predicate }
    }

    /// Returns the predicate.
    #[inline]
    pub fn predicate(&self) -> &Predicate {
        &self.predicate
    }

    /// Returns the least overlap of a set of `size` on `side` with a partner of size `partner`.
    #[inline]
    pub fn least_overlap(&self, side: PairSide, size: u32, partner: u32) -> Option<u32> {
        match side {
            PairSide::Left => self.predicate.least_overlap(size, partner),
            PairSide::Right => self.predicate.least_overlap(partner, size),
        }
    }

    /// Returns the sizes, within 1 to `largest`, that a partner of a set of `size` can have; `None`
    /// if no set can be its partner. O(log largest).
    pub fn partner_sizes(&self, side: PairSide, size: u32, largest: u32) -> Option<RangeInclusive<u32>> {
        let possible = |partner: u32| self.least_overlap(side, size, partner).is_some();
        let middle = size.min(largest);
        // A partner that is smaller than the set has to be large enough; a larger partner has to be
        // small enough.
        let least = partition(1, middle, |partner| !possible(partner));
        if least > middle {
            return None;
        }
        let most = partition(middle, largest, possible) - 1;
        Some(least..=most)
    }

    /// Returns the length of a set's prefix: so many of its rarest tokens that every partner of
    /// size `least_partner` or more shares at least one of them.
    pub fn prefix(&self, side: PairSide, size: u32, least_partner: u32) -> u32 {
        let least = match side {
            PairSide::Left => self.predicate.least_overlap_from(size, least_partner),
            PairSide::Right => self.predicate.least_overlap_from(least_partner, size),
        };
        least.map_or(0, |overlap| size - overlap + 1)
    }

    /// Returns the length of the prefix of a left set of which every partner, of any size, shares
    /// at least one token; 0 if no set can be its partner.
    pub fn whole_prefix(&self, size: u32) -> u32 {
        let partners = self.partner_sizes(PairSide::Left, size, u32::MAX);
        partners.map_or(0, |partners| self.prefix(PairSide::Left, size, *partners.start()))
    }

    /// Returns the number of words that a rule gives to the bitmaps of sets of this size, in which
    /// a token flips a bit for each `unit` of its weight.
    pub fn bitmap_words(&self, width: Width, size: u32, unit: u32) -> Option<usize> {
        let least = self.least_overlap(PairSide::Left, size, size).unwrap_or(size);
        width.words(size / unit, (size - least.min(size)).saturating_mul(2) / unit)
    }
}

/// Returns the size that nearly all sets do not exceed. Takes the sizes in ascending order, and
/// with each size a weight.
pub fn largest_but_few(sizes: impl Iterator<Item = (u32, u64)> + Clone) -> Option<u32> {
    let nearly_all = sizes.clone().map(|(_, weight)| weight).sum::<u64>() / 20 * 19;
    let mut seen = 0;
    let mut from = sizes.skip_while(|&(_, weight)| {
        seen += weight;
        seen <= nearly_all
    });
    from.next().map(|(size, _)| size)
}

/// Returns the first number in `from..=to` for which `holds` is false, or `to + 1` if there is
/// none. `holds` may change from true to false, at most once.
pub fn partition(from: u32, to: u32, holds: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (u64::from(from), u64::from(to) + 1);
    while low < high {
        let middle = low.midpoint(high);
        // The middle lies between two u32 values, so it fits.
        if holds(middle as u32) { low = middle + 1 } else { high = middle }
    }
    u32::try_from(low).unwrap_or(u32::MAX)
}

const DOING: &str = "preparing the join";

/// The indexed records that a record may be paired with, as far as their sizes alone decide.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reach {
    /// The first of these indexed records.
    pub first: u32,
    /// The record after the last of them. In a self-join this is the record itself.
    pub end: u32,
    /// The maximum number of tokens in which the record may differ from any of them.
    pub differ: u32,
    /// The length of the record's probing prefix. In [`super::inputs::Inputs`] only tokens that can
    /// be shared count, otherwise all, or their weights.
    pub prefix: u32,
}

/// The sizes of the records of a join.
#[derive(Debug, Clone, Copy)]
pub struct SizesOfJoin<'a> {
    /// The bounds between the two inputs.
    pub bounds: &'a Bounds,
    /// The sizes of the records that probe.
    pub left: &'a SizeRuns,
    /// The sizes of the indexed records, unless they are the same records.
    pub right: Option<&'a SizeRuns>,
}

impl SizesOfJoin<'_> {
    fn indexed(&self) -> &SizeRuns {
        self.right.unwrap_or(self.left)
    }

    /// Returns the length of the indexing prefix of each size of indexed records.
    pub fn indexing_prefixes(&self) -> Result<Vec<u32>> {
        let lefts = self.left.sizes();
        let smallest_left = lefts.first().copied().unwrap_or(0);
        let largest_left = lefts.last().copied().unwrap_or(0);
        let bounds = self.bounds;
        let prefix = |&size: &u32| {
            let least_partner = match self.right {
                Some(_) => bounds
                    .partner_sizes(PairSide::Right, size, largest_left)
                    .map(|partners| smallest_left.max(*partners.start()))
                    .filter(|&least| bounds.least_overlap(PairSide::Right, size, least).is_some()),
                // A record that probes is not smaller than the indexed record.
                None => Some(size),
            };
            least_partner.map_or(0, |least| bounds.prefix(PairSide::Right, size, least))
        };
        memory::collect(self.indexed().sizes().iter().map(prefix), DOING)
    }

    /// Returns the reach of each size of records that probe, as if all records of compatible sizes
    /// came before them.
    pub fn reaches(&self) -> Result<Vec<Reach>> {
        memory::collect(self.left.sizes().iter().map(|&size| self.reach(size)), DOING)
    }

    fn reach(&self, size: u32) -> Reach {
        let all = self.indexed();
        let largest = all.sizes().last().copied().unwrap_or(0);
        let Some(partners) = self.bounds.partner_sizes(PairSide::Left, size, largest) else {
            return Reach::default();
        };
        let first = all.first_of_size(*partners.start());
        let end = partners.end().checked_add(1).map_or(all.records() as u32, |size| all.first_of_size(size));
        let least = all.sizes().get(all.sizes().partition_point(|other| other < partners.start()));
        let prefix = least.map_or(0, |&least| self.bounds.prefix(PairSide::Left, size, least));
        Reach { first, end, differ: self.most_difference(size, &partners), prefix }
    }

    /// Returns the maximum number of tokens in which a record of this size and a record with one of
    /// the sizes `partners` may differ. The maximum is at one of the ends of the range of sizes or
    /// at the record's own size, except for a ripple
    /// ([`crate::verify::predicate::Predicate::ripple`]).
    fn most_difference(&self, size: u32, partners: &RangeInclusive<u32>) -> u32 {
        let largest = if self.right.is_none() { size } else { *partners.end() };
        let differ = |other: u32| {
            let least = self.bounds.least_overlap(PairSide::Left, size, other).unwrap_or(0);
            (size - least.min(size)).saturating_add(other - least.min(other))
        };
        let own = size.clamp(*partners.start(), largest);
        let most = differ(*partners.start()).max(differ(own)).max(differ(largest));
        most.saturating_add(self.bounds.predicate().ripple())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::measure::Measure;

    /// For all sizes to 40 and many thresholds, the bounds equal the result of trying every size.
    #[test]
    fn bounds_equal_brute_force() {
        let mut predicates = Vec::new();
        for measure in Measure::ALL {
            for n in 1..=28 {
                let p = Predicate::new(measure, f64::from(n) / 28.0).unwrap();
                predicates.extend([p, p.and_shared(4), p.and_within(5), p.and_shared(4).and_within(9)]);
            }
            predicates.extend([Predicate::shared(measure, 7), Predicate::shared(measure, 1).and_within(6)]);
            predicates.push(Predicate::new(measure, 0.8).unwrap());
        }
        for predicate in predicates {
            let bounds = Bounds::new(predicate);
            for side in [PairSide::Left, PairSide::Right] {
                for size in 1..=40 {
                    for largest in [1, size, size + 3, 40] {
                        let possible: Vec<u32> = (1..=largest)
                            .filter(|&partner| {
                                let (l, r) =
                                    if side == PairSide::Left { (size, partner) } else { (partner, size) };
                                predicate.passes(l.min(r), l, r)
                            })
                            .collect();
                        let found = bounds.partner_sizes(side, size, largest);
                        assert_eq!(
                            found.clone().map(|r| r.collect()),
                            Some(possible.clone()).filter(|p| !p.is_empty())
                        );
                        let Some(found) = found else { continue };
                        for least in found.clone() {
                            let overlap = (least..=*found.end())
                                .filter_map(|partner| bounds.least_overlap(side, size, partner))
                                .min();
                            let expected = overlap.map_or(0, |o| size - o + 1);
                            assert_eq!(
                                bounds.prefix(side, size, least),
                                expected,
                                "{predicate:?} {size} {least}"
                            );
                        }
                    }
                }
            }
        }
    }
}
