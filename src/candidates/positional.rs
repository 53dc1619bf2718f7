//! Probing as All-Pairs, PPJoin and PPJoin+ do it: posting lists with positions, a counter for each
//! record met, then verification (ppjoin-similarity-joins.txt, sections 3 and 4).

use super::prefix_join::{Counts, Prober, RecordPair, Scratch};
use super::sides::Sides;
use super::suffix::hamming_at_least;
use crate::error::Result;
use crate::memory;
use crate::verify::overlap::shared_at_least;
use crate::workers::{self, Stop, Workers};

const DOING: &str = "building the posting lists";

/// A token of a record's prefix.
#[derive(Debug, Clone, Copy)]
struct Posting {
    record: u32,
    /// How many tokens of the record are rarer, those included that no other record has.
    position: u32,
}

/// Which filters stand between the posting lists and verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filters {
    /// None: All-Pairs.
    Size,
    /// The positions of the shared tokens: PPJoin.
    Positional,
    /// These and the suffix filter, split so many times: PPJoin+.
    Suffix(u32),
}

/// Posting lists of all shared tokens, smallest record first. 8 bytes a posting and 8 a token.
#[derive(Debug)]
pub struct Positional {
    filters: Filters,
    starts: Vec<usize>,
    postings: Vec<Posting>,
}

/// The mark of a record that is ruled out.
const PRUNED: u32 = u32::MAX;

impl Positional {
    /// Lists the indexing prefixes of all indexed records. O(tokens + postings).
    pub fn new(sides: &Sides, filters: Filters, workers: &dyn Workers) -> Result<Self> {
        let starts = list_starts(sides, workers)?;
        let empty = Posting { record: 0, position: 0 };
        let postings = memory::filled(empty, starts[sides.shared_tokens], DOING)?;
        let mut next = Vec::new();
        memory::extend(&mut next, &starts, DOING)?;
        let mut filling = (postings, next, 0..sides.indexed().len());
        workers::one(workers, &mut filling, |(postings, next, todo), stop| {
            for record in todo {
                let prefix = sides.indexing_prefix(record);
                for (position, &token) in (prefix.lone..).zip(prefix.tokens) {
                    let place = &mut next[token as usize];
                    postings[*place] = Posting { record: record as u32, position };
                    *place += 1;
                }
                stop.check()?;
            }
            Ok(())
        })?;
        Ok(Self { filters, starts, postings: filling.0 })
    }

    fn list(&self, token: u32) -> &[Posting] {
        &self.postings[self.starts[token as usize]..self.starts[token as usize + 1]]
    }
}

/// Where the list of each token starts, and behind the last the number of postings.
pub fn list_starts(sides: &Sides, workers: &dyn Workers) -> Result<Vec<usize>> {
    let starts = memory::filled(0usize, sides.shared_tokens + 1, DOING)?;
    let mut counting = (starts, 0..sides.indexed().len());
    workers::one(workers, &mut counting, |(starts, todo), stop| {
        for record in todo {
            let prefix = sides.indexing_prefix(record);
            prefix.tokens.iter().for_each(|&token| starts[token as usize + 1] += 1);
            stop.check()?;
        }
        Ok(())
    })?;
    let mut starts = counting.0;
    for token in 0..sides.shared_tokens {
        starts[token + 1] += starts[token];
    }
    Ok(starts)
}

impl Prober for Positional {
    fn probe(
        &self,
        sides: &Sides,
        probe: usize,
        scratch: &mut Scratch,
        stop: &Stop,
        pairs: &mut Vec<RecordPair>,
        counts: &mut Counts,
    ) -> Result<()> {
        let Some(partners) = sides.partners(probe) else { return Ok(()) };
        let size = sides.left().size(probe);
        scratch.needs.of(sides, size, &partners);
        let tokens = sides.left().tokens(probe);
        let prefix = sides.probing_prefix(probe, &partners);
        for (n, &token) in prefix.tokens.iter().enumerate() {
            let list = self.list(token);
            let from = list.partition_point(|posting| posting.record < partners.start);
            let to = from + list[from..].partition_point(|posting| posting.record < partners.end);
            counts.pruned_by_size += from as u64;
            self.count_shared(sides, &list[from..to], &tokens[n..], scratch, stop, counts)?;
        }
        for &partner in &scratch.touched {
            let found = scratch.marks[partner as usize];
            if found == PRUNED {
                continue;
            }
            stop.check()?;
            counts.verified += 1;
            let least = scratch.needs.least[sides.size_of[partner as usize] as usize];
            if let Some(shared) = verify(sides, tokens, prefix.tokens.len(), partner as usize, found, least) {
                let other = sides.indexed().size(partner as usize);
                let similarity = sides.bounds().predicate().similarity(shared, size, other);
                memory::push(pairs, RecordPair { left: probe as u32, right: partner, similarity }, DOING)?;
            }
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        memory::bytes(&self.starts) + memory::bytes(&self.postings)
    }
}

impl Positional {
    /// Counts one shared token for every posting, unless what stands behind it cannot bring the
    /// overlap to what is needed. `tokens` are the probe's from this one on.
    fn count_shared(
        &self,
        sides: &Sides,
        list: &[Posting],
        tokens: &[u32],
        scratch: &mut Scratch,
        stop: &Stop,
        counts: &mut Counts,
    ) -> Result<()> {
        const CHECK_EVERY: usize = 1 << 12;
        let rest = tokens.len() as u32;
        let Scratch { marks, touched, needs, .. } = scratch;
        for piece in list.chunks(CHECK_EVERY) {
            stop.check()?;
            memory::reserve(touched, piece.len(), DOING)?;
            for posting in piece {
                let mark = &mut marks[posting.record as usize];
                if *mark == PRUNED {
                    continue;
                }
                let size = sides.size_of[posting.record as usize] as usize;
                let first = *mark == 0;
                if first {
                    counts.candidates += 1;
                    touched.push(posting.record);
                }
                let other_rest = sides.sizes[size] - posting.position;
                let least = needs.least[size];
                if self.filters == Filters::Size || *mark + rest.min(other_rest) >= least {
                    *mark += 1;
                } else {
                    *mark = PRUNED;
                    counts.pruned_by_position += 1;
                    continue;
                }
                if let (Filters::Suffix(depth), true) = (self.filters, first) {
                    // What is left of both may differ in so many tokens; this one is shared.
                    let most = (rest + other_rest).saturating_sub(2 * least);
                    let others = sides.indexed().tokens(posting.record as usize);
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

/// The shared tokens of a probe and a partner of which `found` are in both prefixes, if there are
/// `least`. Starts behind the smaller of the two last prefix tokens: up to there all shared tokens
/// are in both prefixes, so they are counted.
fn verify(
    sides: &Sides,
    tokens: &[u32],
    prefix: usize,
    partner: usize,
    found: u32,
    least: u32,
) -> Option<u32> {
    let others = sides.indexed().tokens(partner);
    let other_prefix = sides.indexing_prefix(partner).tokens.len();
    let (last, other_last) = (tokens[prefix - 1], others[other_prefix - 1]);
    let (rest, other_rest) = if last < other_last {
        (&tokens[prefix..], &others[others[..other_prefix].partition_point(|&t| t <= last)..])
    } else {
        (&tokens[tokens[..prefix].partition_point(|&t| t <= other_last)..], &others[other_prefix..])
    };
    let more = shared_at_least(rest, other_rest, least.saturating_sub(found) as usize)?;
    Some(found + more as u32)
}
