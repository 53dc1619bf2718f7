//! A record that searches for its nearest ones: which partners can still be among them.
//!
//! The search goes through the tokens of the record, the rarest first. A partner that shares none
//! of the tokens so far shares at most the tokens that are left. So the sizes that such a partner
//! can have become fewer with every token, and with every partner that is found, until there are
//! none. All bounds are integers, found by searching with the predicate itself.

use super::top::{Partner, Top};
use crate::error::Result;
use crate::joins::sets::bounds::partition;
use crate::verify::measure::Measure;
use crate::verify::predicate::Predicate;

/// The state of the search of a record.
#[derive(Debug)]
pub struct RecordProbe {
    /// The best rows so far, among them those of the record itself.
    pub top: Top,
    /// The size of the record.
    pub size: u32,
    /// Its tokens that the search has not come to yet, and that can be shared.
    pub left: TokensLeft,
    /// What the search by lists has cost so far.
    pub cost: ListCost,
    /// The condition that a partner has to meet.
    predicate: Predicate,
    /// The condition was raised, and the sizes do not follow it yet: there may be fewer of them.
    raised: bool,
    /// The least size that a partner can have which shares none of the tokens so far.
    pub least: u32,
    /// The greatest such size; it is less than the least one if there is no such partner.
    pub most: u32,
}

/// Tokens that a search has not come to yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokensLeft {
    /// The number of the tokens.
    pub count: u32,
    /// What they weigh, or their number.
    pub weight: u32,
}

/// What the search for a record by lists has cost so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListCost {
    /// The entries of lists that were compared.
    pub entries: u64,
    /// The time of these and of what was looked at, very roughly, in nanoseconds.
    pub spent: u64,
    /// When this is spent, the rest is estimated again.
    pub check: u64,
    /// The time that counting takes; 0 before it is estimated.
    pub counting: u64,
}

impl RecordProbe {
    /// Begins the search of a record of this size. `left` are those of its tokens that can be
    /// shared, `own` the ranks of its own rows, in order, `wanted` is the number of rows to find,
    /// and `largest` the greatest size of all records. Rows that are less similar than `least` need
    /// not be found.
    pub fn new(
        measure: Measure,
        [size, largest]: [u32; 2],
        left: TokensLeft,
        own: &[u32],
        wanted: usize,
        least: Option<f64>,
    ) -> Result<Self> {
        let mut top = Top::new(wanted);
        for &rank in own.iter().take(wanted) {
            top.push(Partner::new(measure.similarity(size, size, size), rank))?;
        }
        let known = least.and_then(|least| Predicate::new(measure, least).ok());
        let raised = known.is_some();
        let predicate = known.unwrap_or_else(|| Predicate::shared(measure, 1));
        let cost = ListCost::default();
        // One shared token is enough so far.
        let most = if left.count > 0 { largest } else { 0 };
        let mut probe = Self { top, size, left, cost, predicate, raised, least: 1, most };
        probe.raise(measure);
        probe.follow(largest);
        Ok(probe)
    }

    /// Reports whether no record that shares none of the tokens so far can be among the nearest.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.least > self.most
    }

    /// Returns the least number of tokens that the record and a partner of this size must share, or
    /// what these weigh; `None` if all are not enough.
    #[inline]
    pub fn need(&self, size: u32) -> Option<u32> {
        // Of two records of one table, the larger one is the left set of the measure.
        self.predicate.least_overlap(self.size.max(size), self.size.min(size))
    }

    /// Returns the weight of the tokens that have to be searched for if no better row is found.
    pub fn needed(&self) -> u32 {
        // A larger partner must share at least as many tokens.
        let TokensLeft { weight, .. } = self.left;
        self.need(self.least).map_or(0, |need| (weight + 1).saturating_sub(need)).min(weight)
    }

    /// Reports whether a partner of this size that shares only tokens that are left can be among
    /// the nearest. The answer rises with the size up to the weight of these tokens, and falls from
    /// there on.
    fn reaches(&self, size: u32) -> bool {
        self.need(size).is_some_and(|need| need <= self.left.weight)
    }

    /// Says that one more token, of this weight, was searched for. O(log sizes), but mostly O(1).
    #[inline]
    pub fn advance(&mut self, weight: u32) {
        self.left.count -= 1;
        self.left.weight -= weight;
        if !self.reaches(self.most) {
            self.lower();
        }
    }

    /// Lowers the greatest size to the greatest one that the record reaches.
    fn lower(&mut self) {
        let middle = self.left.weight.min(self.most);
        self.most = match self.least <= middle && self.reaches(middle) {
            true => partition(middle, self.most, |size| self.reaches(size)) - 1,
            false => 0,
        };
    }

    /// Takes over the condition of the worst of the best rows, but not for the sizes. O(1).
    #[inline]
    pub fn raise(&mut self, measure: Measure) {
        let Some(worst) = self.top.worst() else { return };
        let similarity = worst.similarity();
        if similarity > self.predicate.threshold() {
            // A similarity of two sets that share a token is a valid threshold.
            let Ok(predicate) = Predicate::new(measure, similarity) else { return };
            (self.predicate, self.raised) = (predicate, true);
        }
    }

    /// Applies the condition to the sizes, if it was raised. O(log largest).
    #[inline]
    pub fn follow(&mut self, largest: u32) {
        if self.raised {
            self.bound(largest);
        }
    }

    /// Begins the search again, from the first of the `left` tokens on: all rows that meet the
    /// condition so far are to be found again.
    pub fn again(&mut self, left: TokensLeft, own: &[u32], measure: Measure, largest: u32) -> Result<()> {
        if self.left == left && self.cost.entries == 0 {
            return Ok(()); // Nothing was found yet.
        }
        self.top.clear();
        for &rank in own {
            if !self.top.push(Partner::new(measure.similarity(self.size, self.size, self.size), rank))? {
                break;
            }
        }
        self.left = left;
        self.bound(largest);
        Ok(())
    }

    /// Returns the least number of tokens that the record and any partner of these sizes must
    /// share, or `None` if no number is enough. The sizes need not follow the condition.
    #[inline]
    pub fn need_within(&mut self, first: u32, last: u32, largest: u32) -> Option<u32> {
        // A larger partner must share at least as many tokens.
        self.need(first).or_else(|| {
            self.follow(largest);
            let least = first.max(self.least);
            if least <= last.min(self.most) { self.need(least) } else { None }
        })
    }

    /// Returns the least number of tokens that the record and a partner of this size must share, or
    /// `None` if no number is enough. At least this many are needed, and hardly more.
    #[inline]
    pub fn need_from(&self, size: u32, least: u32) -> Option<u32> {
        let (left, right) = (self.size.max(size), self.size.min(size));
        let mut need = least;
        while !self.predicate.passes(need, left, right) {
            if need >= right {
                return None;
            }
            need += 1;
        }
        Some(need)
    }

    /// Finds the sizes that the record reaches.
    fn bound(&mut self, largest: u32) {
        self.least = partition(1, self.left.weight.min(largest), |size| !self.reaches(size));
        self.most = largest;
        self.lower();
        self.raised = false;
    }

    /// Returns the least number of tokens that a partner must share so that its first row, whose
    /// rank is `rank`, is one of the best; `None` if no number is enough.
    #[inline]
    pub fn need_of_row(&self, size: u32, rank: u32) -> Option<u32> {
        let need = self.need(size)?;
        let Some(worst) = self.top.worst() else { return Some(need) };
        let similar = self.similarity(need, size);
        match Partner::new(similar, rank) < worst {
            true => Some(need),
            false => Some(need + 1).filter(|&need| need <= size.min(self.size)),
        }
    }

    /// Returns the similarity of a partner.
    #[inline]
    pub fn similarity(&self, shared: u32, size: u32) -> f64 {
        self.predicate.similarity(shared, self.size.max(size), self.size.min(size))
    }
}
