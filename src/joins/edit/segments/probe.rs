//! Some texts looked up in an index together, and which of its texts they have enough in common with.

use std::ops::Range;

use super::batch_lookup::Rooms;
use super::index::{Index, Tally};
use super::query::Query;
use crate::error::Result;
use crate::executor::Stop;
use crate::joins::pairs::Pair;
use crate::memory;

const DOING: &str = "looking for pieces in common";

/// Some partners, and what they have enough in common with.
pub(super) struct Probe {
    pub partners: Range<u32>,
    pub found: Vec<Pair>,
    /// Pairs that have a piece in common.
    pub met: u64,
    /// About how many bytes what is looked up takes, and as many what is met.
    pub room: usize,
}

impl Probe {
    /// Looks up as many of the partners at a time as there is room for. What they meet is kept by partner, and counted for one
    /// after the other. Where it is too much for the room, fewer are looked up, at last one, of which it is counted at once.
    pub(super) fn compare<'a>(
        &mut self,
        index: &Index,
        query: &impl Fn(u32) -> Query<'a>,
        pair: &impl Fn(u32, u32) -> Pair,
        rooms: &Rooms,
        stop: &Stop,
    ) -> Result<()> {
        /// Then what was found is compared first.
        const MOST_FOUND: usize = 1 << 16;
        let (mut tally, mut looks) = (index.tally()?, rooms.take(self.room));
        let mut met: Vec<Vec<u32>> = Vec::new();
        // So many are looked up together.
        let mut most = usize::MAX;
        while !self.partners.is_empty() && self.found.len() < MOST_FOUND {
            stop.check()?;
            let mut queries: Vec<Query<'_>> = Vec::new();
            let (mut keys, mut end) = (0, self.partners.start);
            while end < self.partners.end
                && (queries.is_empty() || queries.len() < most && keys < looks.most())
            {
                let query = query(end);
                keys += query.length as usize * index.shape.looks();
                memory::push(&mut queries, query, DOING)?;
                end += 1;
            }
            if queries.len() > 1 {
                met.iter_mut().for_each(Vec::clear);
                let more = queries.len().saturating_sub(met.len());
                memory::reserve(&mut met, more, DOING)?;
                met.resize_with(met.len() + more, Vec::new);
                let (mut left, met) = (self.room / size_of::<u32>(), &mut met);
                let is_all = index.meet(&queries, &mut looks, stop, |query, entry| {
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
                    index.count(query, &mut tally, &mut looks, stop)?;
                }
                self.take_near(index, query, pair, &mut tally)?;
                if self.found.len() >= MOST_FOUND {
                    break;
                }
            }
        }
        rooms.give_back(looks)
    }

    /// Takes what the next partner has enough in common with.
    fn take_near(
        &mut self,
        index: &Index,
        query: &Query<'_>,
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
