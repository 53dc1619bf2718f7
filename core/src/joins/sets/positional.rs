//! Probing as in All-Pairs, PPJoin and PPJoin+: posting lists with positions, a counter for each
//! record that a probe meets, then verification (Xiao et al., PPJoin+ (WWW 2008), sections 3 to 5).

use std::ops::Range;

use super::engine::{Engine, PostingRange, ProbeScratch};
use super::inputs::{Inputs, Needs};
use super::near_pairs::FoundPairs;
use super::posting::Posting;
use super::postings::Postings;
use crate::error::Result;
use crate::executor::Stop;
use crate::joins::{Counts, RecordPair};
use crate::memory;
use crate::verify::overlap::{shared_at_least, shared_weight_at_least};

const DOING: &str = "joining by positions";

/// The filters between the posting lists and verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filters {
    /// No filters: All-Pairs.
    Size,
    /// The positions of the shared tokens: PPJoin.
    Positional,
    /// The positions and the suffix filter, which splits this many times: PPJoin+.
    Suffix(u32),
}

/// The index of the records to be found, and the filters to use with it.
#[derive(Debug)]
pub struct Positional {
    filters: Filters,
    indexed: Postings,
}

/// A token that a probe shares with the records of a list.
#[derive(Clone, Copy)]
struct SharedToken<'a> {
    /// The probe's tokens from the shared token on.
    tokens: &'a [u32],
    /// Their weight.
    rest: u32,
}

/// The mark of a record that is ruled out.
const PRUNED: u32 = u32::MAX;

impl Positional {
    /// Creates an engine that probes these posting lists.
    pub fn new(indexed: Postings, filters: Filters) -> Self {
        Self { filters, indexed }
    }
}

impl Engine for Positional {
    /// Splits the probes into ranges with about the same number of tokens to look up.
    fn plan(&self, inputs: &Inputs) -> Result<Vec<Range<usize>>> {
        const TOKENS_A_UNIT: usize = 1 << 12;
        let mut units = Vec::new();
        let (mut from, mut tokens) = (0, 0);
        let probes = inputs.left().len();
        for probe in 0..probes {
            tokens += 1 + inputs.probing_prefix(probe).len();
            if tokens >= TOKENS_A_UNIT || probe + 1 == probes {
                memory::push(&mut units, from..probe + 1, DOING)?;
                (from, tokens) = (probe + 1, 0);
            }
        }
        Ok(units)
    }

    fn work(
        &self,
        inputs: &Inputs,
        todo: &mut Range<usize>,
        scratch: &mut ProbeScratch,
        stop: &Stop,
        found: &mut FoundPairs,
    ) -> Result<()> {
        /// How many records in advance the tokens of a record are prefetched.
        const AHEAD: usize = 4;
        if scratch.marks.is_empty() {
            scratch.needs = Needs::new(inputs)?;
            scratch.marks = memory::filled(0, inputs.indexed().len(), DOING)?;
        }
        while todo.start < todo.end && !found.is_enough() {
            stop.check()?;
            if todo.start + 1 < todo.end {
                let next = inputs.probing_prefix(todo.start + 1);
                // Records are in order of size, so the prefixes of the next ones are as long.
                inputs.left().prefetch(todo.start + AHEAD, next.len());
                next.iter().for_each(|&token| self.indexed.prefetch_head(token));
            }
            let (kept, counts) = (found.pairs.len(), found.counts);
            let probed = self.probe(inputs, todo.start, scratch, stop, found);
            for record in scratch.touched.drain(..) {
                scratch.marks[record as usize] = 0;
            }
            if let Err(error) = probed {
                // The probe is repeated from its beginning, so its results are dropped.
                found.pairs.truncate(kept);
                found.counts = counts;
                return Err(error);
            }
            todo.start += 1;
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.indexed.bytes()
    }
}

impl Positional {
    /// Finds all partners of one record of the left side.
    fn probe(
        &self,
        inputs: &Inputs,
        probe: usize,
        scratch: &mut ProbeScratch,
        stop: &Stop,
        found: &mut FoundPairs,
    ) -> Result<()> {
        let FoundPairs { pairs, counts, .. } = found;
        let reach = inputs.reach(probe as u32);
        let partners = reach.first..reach.end;
        if partners.is_empty() {
            return Ok(());
        }
        let size = inputs.left().size(probe);
        scratch.needs.prepare(size);
        let tokens = inputs.left().tokens(probe);
        let prefix = inputs.probing_prefix(probe);
        // Look up all lists first, then read one posting of each, and only then walk the lists.
        // This way the processor waits for many cache misses at a time, not for each in turn.
        let mut lists = std::mem::take(&mut scratch.lists);
        lists.clear();
        memory::reserve(&mut lists, prefix.len(), DOING)?;
        let mut rest = inputs.weights.sum(tokens);
        for (n, &token) in prefix.iter().enumerate() {
            let from_here = rest;
            rest -= inputs.weights.weight(token);
            let Some(range) = self.indexed.range_before(token, partners.end) else { continue };
            lists.push(PostingRange { place: n as u32, rest: from_here, range, middle: 0 });
        }
        for list in &mut lists {
            list.middle = self.indexed.postings[list.range.start.midpoint(list.range.end)].record;
        }
        let mut counted = Ok(());
        for PostingRange { place, rest, range, middle } in &lists {
            let list = &self.indexed.postings[range.clone()];
            let (before, after) = list.split_at(list.len() / 2);
            let from = if *middle < partners.start {
                before.len() + after.partition_point(|posting| posting.record < partners.start)
            } else {
                before.partition_point(|posting| posting.record < partners.start)
            };
            let to = from + list[from..].partition_point(|posting| posting.record < partners.end);
            counts.pruned_by_size += from as u64;
            let shared = SharedToken { tokens: &tokens[*place as usize..], rest: *rest };
            counted = self.count_shared(inputs, &list[from..to], shared, scratch, stop, counts);
            if counted.is_err() {
                break;
            }
        }
        scratch.lists = lists;
        counted?;
        for &partner in &scratch.touched {
            let found = scratch.marks[partner as usize];
            if found == PRUNED {
                continue;
            }
            stop.check()?;
            counts.verified += 1;
            let least = scratch.needs.least(inputs, inputs.size_of[partner as usize] as usize);
            if let Some(shared) = verify(inputs, probe, partner as usize, found, least) {
                let other = inputs.indexed().size(partner as usize);
                let similarity = inputs.bounds.predicate().similarity(shared, size, other);
                memory::push(pairs, RecordPair { left: probe as u32, right: partner, similarity }, DOING)?;
            }
        }
        Ok(())
    }

    /// Counts one more shared token for the record of every posting, unless the tokens after the
    /// shared token cannot bring the overlap to the least overlap that is needed.
    fn count_shared(
        &self,
        inputs: &Inputs,
        list: &[Posting],
        SharedToken { tokens, rest }: SharedToken<'_>,
        scratch: &mut ProbeScratch,
        stop: &Stop,
        counts: &mut Counts,
    ) -> Result<()> {
        const CHECK_EVERY: usize = 1 << 12;
        let (weight, is_weighed) = (inputs.weights.weight(tokens[0]), inputs.weights.each().is_some());
        let ProbeScratch { marks, touched, needs, .. } = scratch;
        for piece in list.chunks(CHECK_EVERY) {
            stop.check()?;
            memory::reserve(touched, piece.len(), DOING)?;
            for posting in piece {
                let mark = &mut marks[posting.record as usize];
                if *mark == PRUNED {
                    continue;
                }
                let size = inputs.size_of[posting.record as usize] as usize;
                let first = *mark == 0;
                if first {
                    counts.candidates += 1;
                    touched.push(posting.record);
                }
                let other_rest = match is_weighed {
                    true => posting.weight_from(inputs.sizes[size]),
                    false => inputs.sizes[size] - posting.place(inputs.indexed(), tokens[0]),
                };
                let least = needs.least(inputs, size);
                if self.filters == Filters::Size || *mark + rest.min(other_rest) >= least {
                    *mark += weight;
                } else {
                    *mark = PRUNED;
                    counts.pruned_by_position += 1;
                    continue;
                }
                if let (Filters::Suffix(depth), true) = (self.filters, first && !is_weighed) {
                    // The tokens after the current token, which is shared, may differ in at most
                    // `most` tokens.
                    let most = (rest + other_rest).saturating_sub(2 * least);
                    let others = inputs.indexed().tokens(posting.record as usize);
                    let others = &others[others.len() - other_rest as usize + 1..];
                    if hamming_at_least(&tokens[1..], others, most, depth) > most {
                        *mark = PRUNED;
                        counts.pruned_by_suffix += 1;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Returns the number of tokens that a probe and a partner share, if it is at least `least`.
/// `found` shared tokens are in both prefixes. The comparison starts after the smaller of the two
/// last prefix tokens: up to there all shared tokens are in both prefixes, so they are already
/// counted.
fn verify(inputs: &Inputs, probe: usize, partner: usize, found: u32, least: u32) -> Option<u32> {
    let (tokens, prefix) = (inputs.left().tokens(probe), inputs.probing_prefix(probe).len());
    let others = inputs.indexed().tokens(partner);
    let other_prefix = inputs.indexing_prefix(partner).len();
    let (last, other_last) = (tokens[prefix - 1], others[other_prefix - 1]);
    let (rest, other_rest) = if last < other_last {
        (&tokens[prefix..], &others[others[..other_prefix].partition_point(|&t| t <= last)..])
    } else {
        (&tokens[tokens[..prefix].partition_point(|&t| t <= other_last)..], &others[other_prefix..])
    };
    let need = least.saturating_sub(found);
    let more = match inputs.weights.each() {
        None => shared_at_least(rest, other_rest, need as usize)? as u32,
        Some(weights) => {
            let sizes = u64::from(inputs.left().size(probe)) + u64::from(inputs.indexed().size(partner));
            let lost = sizes.checked_sub(2 * u64::from(least))?;
            shared_weight_at_least(rest, other_rest, need, lost, weights)?
        }
    };
    Some(found + more)
}

/// The suffix filter: returns a lower bound of the number of tokens in which two ascending lists
/// differ, by splitting both at the middle token of one (section 5). If the bound exceeds `most`,
/// the result may be any number greater than `most`. Splits the lists `depth` times.
/// O(2^depth · log length).
fn hamming_at_least(x: &[u32], y: &[u32], most: u32, depth: u32) -> u32 {
    let by_length = x.len().abs_diff(y.len()) as u32;
    if depth == 0 || by_length > most || x.is_empty() || y.is_empty() {
        return by_length;
    }
    let middle = y.len() / 2;
    let (y_left, y_right) = (&y[..middle], &y[middle + 1..]);
    let at = x.partition_point(|&token| token < y[middle]);
    let missing = u32::from(x.get(at) != Some(&y[middle]));
    let (x_left, x_right) = (&x[..at], &x[at + 1 - missing as usize..]);
    let right_by_length = x_right.len().abs_diff(y_right.len()) as u32;
    let others = right_by_length + missing;
    if others > most {
        return others;
    }
    let left = hamming_at_least(x_left, y_left, most - others, depth - 1);
    if left + others > most {
        return left + others;
    }
    left + missing + hamming_at_least(x_right, y_right, most - left - missing, depth - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn never_over_the_true_distance(
            x in btree_set(0..50u32, 0..40),
            y in btree_set(0..50u32, 0..40),
            most in 0..60u32,
            depth in 0..6u32,
        ) {
            let distance = x.symmetric_difference(&y).count() as u32;
            let (x, y): (Vec<_>, Vec<_>) = (x.into_iter().collect(), y.into_iter().collect());
            let bound = hamming_at_least(&x, &y, most, depth);
            prop_assert!(bound <= distance, "{} > {}", bound, distance);
            // When split to the end, the bound is the distance itself.
            let deep = hamming_at_least(&x, &y, most, 10);
            prop_assert_eq!(deep > most, distance > most);
        }
    }
}
