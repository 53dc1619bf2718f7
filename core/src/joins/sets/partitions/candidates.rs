//! Pairs of records that the entries do not rule out, and their verification: the sets of the
//! records are read from their file in ascending order.

use std::ops::Range;

use super::side::InputSide;
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::dictionary::weights::TokenWeights;
use crate::features::sets::records::Records;
use crate::joins::sets::near_pairs::{FoundPairs, SplitTokens, verify};
use crate::memory;
use crate::verify::overlap::disjoint;
use crate::verify::predicate::Predicate;

const DOING: &str = "comparing candidates";

/// A pair of records that share a token of their prefixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) token: u32,
}

/// Candidates that are being verified, some records at a time.
#[derive(Debug, Default)]
pub(super) struct Verification {
    /// The candidates in the order of their left records.
    candidates: Vec<Candidate>,
    /// The number of candidates that are done.
    done: usize,
    /// The left records at work, their sets, and the candidates of these records.
    lefts: Vec<u32>,
    left: Records,
    at_work: Range<usize>,
}

impl Verification {
    /// Takes candidates.
    pub(super) fn new(candidates: Vec<Candidate>, executor: &dyn Executor) -> Result<Self> {
        let mut verification = Self { candidates, ..Self::default() };
        executor::one(executor, &mut verification.candidates, |candidates, stop| {
            executor::sort_unstable_by(candidates, stop, &Ord::cmp)
        })?;
        // Of several shared tokens, only the rarest one can be the first.
        verification.candidates.dedup_by(|a, b| (a.left, a.right) == (b.left, b.right));
        Ok(verification)
    }

    /// Reports whether all candidates are verified.
    pub(super) fn is_done(&self) -> bool {
        self.done == self.candidates.len()
    }

    /// Returns the memory of the candidates, to be used again.
    pub(super) fn into_space(mut self) -> Vec<Candidate> {
        self.candidates.clear();
        self.candidates
    }

    /// Verifies the next candidates. At most about `budget` bytes of sets are in memory.
    pub(super) fn next(
        &mut self,
        sides: &mut [InputSide],
        predicate: &Predicate,
        budget: usize,
        executor: &dyn Executor,
    ) -> Result<FoundPairs> {
        if self.done == self.at_work.end {
            self.load_left(&mut sides[0], budget / 2, executor)?;
        }
        let right = sides.len() - 1;
        let right = &mut sides[right];
        let mut rights: Vec<u32> = Vec::new();
        let mut bytes = 0;
        let mut to = self.done;
        while let Some(candidate) = self.candidates[..self.at_work.end].get(to) {
            if rights.last() != Some(&candidate.right) {
                if bytes > budget / 2 {
                    break;
                }
                bytes += right.shape.bytes_of(candidate.right);
                memory::push(&mut rights, candidate.right, DOING)?;
            }
            to += 1;
        }
        let records = right.store.fetch(&rights, executor)?;
        const CANDIDATES_A_TASK: usize = 1 << 12;
        let mut tasks: Vec<_> = self.candidates[self.done..to]
            .chunks(CANDIDATES_A_TASK)
            .map(|candidates| (candidates, FoundPairs::default()))
            .collect();
        let all =
            LoadedSets { predicate, lefts: &self.lefts, left: &self.left, rights: &rights, right: &records };
        executor::each(executor, &mut tasks, |(candidates, found), stop| {
            all.verify(candidates, found, stop)
        })?;
        let mut found = FoundPairs::default();
        for (_, more) in tasks {
            memory::extend(&mut found.pairs, &more.pairs, DOING)?;
            found.counts.add(&more.counts);
        }
        self.done = to;
        Ok(found)
    }

    /// Loads the sets of the next left records, and puts their candidates into the order of the
    /// right records.
    fn load_left(&mut self, side: &mut InputSide, budget: usize, executor: &dyn Executor) -> Result<()> {
        self.lefts.clear();
        self.left = Records::default();
        let (mut bytes, mut to) = (0, self.done);
        while let Some(candidate) = self.candidates.get_mut(to) {
            if self.lefts.last() != Some(&candidate.left) {
                if bytes > budget {
                    break;
                }
                bytes += side.shape.bytes_of(candidate.left);
                memory::push(&mut self.lefts, candidate.left, DOING)?;
            }
            // From here on, the candidate has the place of its left record among those at work.
            candidate.left = self.lefts.len() as u32 - 1;
            to += 1;
        }
        self.left = side.store.fetch(&self.lefts, executor)?;
        self.at_work = self.done..to;
        let mut at_work = &mut self.candidates[self.done..to];
        executor::one(executor, &mut at_work, |candidates, stop| {
            executor::sort_unstable_by(candidates, stop, &|a, b| (a.right, a.left).cmp(&(b.right, b.left)))
        })
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        memory::bytes(&self.candidates) + memory::bytes(&self.lefts) + self.left.bytes()
    }
}

/// The sets of some records of both sides.
struct LoadedSets<'a> {
    predicate: &'a Predicate,
    lefts: &'a [u32],
    left: &'a Records,
    rights: &'a [u32],
    right: &'a Records,
}

impl LoadedSets<'_> {
    /// Verifies candidates, which are in the order of their right records, and removes them.
    fn verify(&self, candidates: &mut &[Candidate], found: &mut FoundPairs, stop: &Stop) -> Result<()> {
        let Some(first) = candidates.first() else { return Ok(()) };
        let mut place = self.rights.partition_point(|&right| right < first.right);
        while let Some((&candidate, rest)) = candidates.split_first() {
            stop.check()?;
            while self.rights[place] < candidate.right {
                place += 1;
            }
            let Candidate { left, right, token } = candidate;
            let record = self.lefts[left as usize];
            let left = SplitTokens::at_token(self.left, left as usize, record, token);
            let right = SplitTokens::at_token(self.right, place, right, token);
            // A pair that shares a rarer token is found at that token.
            if disjoint(left.before, right.before) {
                verify(self.predicate, &TokenWeights::default(), &left, &right, found)?;
            }
            *candidates = rest;
        }
        Ok(())
    }
}
