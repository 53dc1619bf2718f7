//! Which records a record may be paired with, and how many of its tokens have to be looked at, as
//! far as the sizes of records alone decide.

use std::ops::RangeInclusive;

use super::bounds::{Bounds, PairSide};
use crate::error::Result;
use crate::features::sets::records::SizeRuns;
use crate::memory;

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
    /// The length of the record's probing prefix.
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
        let mut prefixes = Vec::new();
        memory::reserve(&mut prefixes, self.indexed().sizes().len(), DOING)?;
        prefixes.extend(self.indexed().sizes().iter().map(prefix));
        Ok(prefixes)
    }

    /// Returns the reach of each size of records that probe, as if all records of compatible sizes
    /// came before them.
    pub fn reaches(&self) -> Result<Vec<Reach>> {
        let mut reaches = Vec::new();
        memory::reserve(&mut reaches, self.left.sizes().len(), DOING)?;
        reaches.extend(self.left.sizes().iter().map(|&size| self.reach(size)));
        Ok(reaches)
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
