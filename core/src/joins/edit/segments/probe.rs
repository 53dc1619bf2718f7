//! Looks up several texts in an index together, and finds the texts of the index that have enough
//! pieces in common with them.

use std::ops::Range;

use super::batch_lookup::Looks;
use super::index::{PieceIndex, Tally};
use super::query::PieceQuery;
use crate::error::Result;
use crate::executor::Stop;
use crate::joins::pairs::Pair;
use crate::memory;

const DOING: &str = "looking for pieces in common";

/// Some partners, and the pairs with enough pieces in common.
pub(super) struct PartnerProbe {
    pub partners: Range<u32>,
    pub found: Vec<Pair>,
    /// The number of pairs with a piece in common.
    pub met: u64,
    /// About how many bytes the keys that are looked up may take. The matches may take as many
    /// bytes again.
    pub room: usize,
}

impl PartnerProbe {
    /// Looks up as many of the partners at a time as there is room for. The matches are stored by
    /// partner, then counted partner by partner. If the matches do not fit in `room`, fewer
    /// partners are looked up together. With a single partner the matches are counted directly.
    pub(super) fn compare<'a>(
        &mut self,
        index: &PieceIndex,
        query: &impl Fn(u32) -> PieceQuery<'a>,
        pair: &impl Fn(u32, u32) -> Pair,
        looks: &mut Looks,
        stop: &Stop,
    ) -> Result<()> {
        /// When so many pairs are found, they are compared before more are searched.
        const MOST_FOUND: usize = 1 << 16;
        let mut tally = index.tally()?;
        let mut met: Vec<Vec<u32>> = Vec::new();
        // The maximum number of partners that are looked up together.
        let mut most = usize::MAX;
        while !self.partners.is_empty() && self.found.len() < MOST_FOUND {
            stop.check()?;
            let mut queries: Vec<PieceQuery<'_>> = Vec::new();
            let (mut keys, mut end) = (0, self.partners.start);
            while end < self.partners.end && (queries.is_empty() || queries.len() < most && keys < looks.most)
            {
                let query = query(end);
                keys += query.length as usize * index.shape.looks();
                memory::push(&mut queries, query, DOING)?;
                end += 1;
            }
            if queries.len() > 1 {
                met.iter_mut().for_each(Vec::clear);
                memory::lengthen(&mut met, Vec::new(), queries.len(), DOING)?;
                let (mut left, met) = (self.room / size_of::<u32>(), &mut met);
                let is_all = index.meet(&queries, looks, stop, |query, entry| {
                    memory::push(&mut met[query], entry.member, DOING)?;
                    left = left.saturating_sub(1);
                    Ok(left > 0)
                })?;
                if !is_all {
                    most = queries.len() / 2;
                    met.clear();
                    continue;
                }
            }
            for (number, query) in queries.iter().enumerate() {
                stop.check()?;
                if queries.len() > 1 {
                    met[number].iter().try_for_each(|&member| tally.add(member))?;
                } else {
                    index.count(query, &mut tally, looks, stop)?;
                }
                self.take_near(index, query, pair, &mut tally)?;
                if self.found.len() >= MOST_FOUND {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Records the texts with which the next partner has enough pieces in common.
    fn take_near(
        &mut self,
        index: &PieceIndex,
        query: &PieceQuery<'_>,
        pair: &impl Fn(u32, u32) -> Pair,
        tally: &mut Tally,
    ) -> Result<()> {
        let partner = self.partners.start;
        self.met += index.near(tally, |member| {
            if query.among.contains(&member) {
                memory::push(&mut self.found, pair(partner, member), DOING)?;
            }
            Ok(())
        })?;
        self.partners.start += 1;
        Ok(())
    }
}
