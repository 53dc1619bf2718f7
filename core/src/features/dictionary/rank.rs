//! The order of tokens by document frequency.

use super::shard::Shard;
use super::{Dictionary, Numbering};
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::memory;

const DOING: &str = "ordering tokens";

/// A value for each token of a dictionary.
#[derive(Debug)]
pub struct ByNumber<T> {
    /// The values of all tokens, ordered by the shard of the token and its place in the shard.
    of: Vec<T>,
    /// The beginning of the values of each shard.
    starts: Vec<usize>,
    numbering: Numbering,
}

impl<T: Copy> ByNumber<T> {
    /// Gives all tokens the same value.
    pub(super) fn filled(value: T, dictionary: &Dictionary) -> Result<Self> {
        let mut starts = Vec::new();
        let mut end = 0;
        for shard in dictionary.shards() {
            starts.push(end);
            end += shard.len();
        }
        let of = memory::filled(value, end, DOING)?;
        Ok(Self { of, starts, numbering: dictionary.numbering() })
    }

    /// Returns the shards of the dictionary, each with the values of its tokens.
    pub(super) fn shards_of<'a>(&'a mut self, dictionary: &'a Dictionary) -> Vec<(&'a Shard, &'a mut [T])> {
        let mut rest = self.of.as_mut_slice();
        let with_values = dictionary.shards().iter().map(|shard| {
            let (of, after) = std::mem::take(&mut rest).split_at_mut(shard.len());
            rest = after;
            (shard, of)
        });
        with_values.collect()
    }

    /// Returns the value of a token.
    #[inline]
    pub fn get(&self, number: u32) -> T {
        let (shard, place) = self.numbering.place(number);
        self.at(shard, place)
    }

    /// Returns the value of the token at a place of a shard.
    #[inline]
    pub(super) fn at(&self, shard: usize, place: usize) -> T {
        self.of[self.starts[shard] + place]
    }

    /// Returns the values of all tokens, in the same order for each kind of value.
    pub(super) fn values(&self) -> &[T] {
        &self.of
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.of) + memory::bytes(&self.starts)
    }
}

/// The rank of each token in the order of frequency.
#[derive(Debug)]
pub struct Ranks {
    /// The ranks of all tokens.
    pub(super) of: ByNumber<u32>,
    /// The number of tokens that can be shared.
    pub shared: usize,
    /// The number of ranks that are given: also those of tokens that several documents of one table
    /// have, and none of the other, which follow those of tokens that can be shared.
    pub(crate) given: u32,
}

/// The rank of a token that only one document has.
pub const LONE: u32 = u32::MAX;

impl Ranks {
    /// Returns the rank of a token, or [`LONE`] if only one document has it.
    #[inline]
    pub fn rank(&self, number: u32) -> u32 {
        self.of.get(number)
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.of.bytes()
    }
}

/// Tokens of at least this frequency are ranked for all shards together; the many rarer tokens are
/// ranked shard by shard.
const FREQUENT: u32 = 256;

/// Tokens that are counted elsewhere and ranked together with those of the dictionary.
#[derive(Debug)]
pub struct OtherTokens {
    /// For each lower frequency, at first the number of tokens that have it, and later the rank of
    /// the next of these tokens.
    ranks: Vec<u32>,
    /// The frequencies of the others, in the order in which they were added, and later their ranks.
    frequent: Vec<u32>,
    /// The number of frequent tokens whose ranks were asked for.
    next: usize,
}

impl Default for OtherTokens {
    fn default() -> Self {
        Self { ranks: vec![0; FREQUENT as usize], frequent: Vec::new(), next: 0 }
    }
}

impl OtherTokens {
    /// Adds a token that this many documents have.
    pub(crate) fn add(&mut self, frequency: u32) -> Result<()> {
        match self.ranks.get_mut(frequency as usize) {
            Some(count) => *count += 1,
            None => memory::push(&mut self.frequent, frequency, DOING)?,
        }
        Ok(())
    }

    /// Returns the rank of the next token with this frequency, after [`rank`]. Tokens must come in
    /// the order in which they were added.
    pub(crate) fn next_rank(&mut self, frequency: u32) -> u32 {
        let next = match self.ranks.get_mut(frequency as usize) {
            Some(rank) => rank,
            None => {
                self.next += 1;
                return self.frequent[self.next - 1];
            }
        };
        *next += 1;
        *next - 1
    }
}

/// The tokens of a shard that can be shared, while they are ranked.
struct Ranking<'a> {
    shard: &'a Shard,
    of: &'a mut [u32],
    /// The frequency, hash and place of each token, ascending.
    order: Vec<(u32, u64, u32)>,
    /// For each frequency less than [`FREQUENT`]: at first the number of tokens of the shard that
    /// have this frequency, later the rank of the next one of them.
    ranks: Vec<u32>,
    /// At first the number of tokens that several documents of only one table have, later the rank
    /// of the first one of them.
    apart: u32,
}

/// Ranks the tokens that can be shared by the number of documents they are in. With one table, a
/// token can be shared if it is in at least two documents; with two tables, if it is in documents
/// of both tables. Ties are broken by shard and hash, so the order does not depend on how the
/// tokens were numbered; of tokens with the same frequency, `others` come first. Tokens that
/// several documents of only one table have come last, in any order. O(n log n) for n tokens.
pub fn rank(
    dictionary: &Dictionary,
    others: Option<&mut OtherTokens>,
    two_tables: bool,
    executor: &dyn Executor,
) -> Result<Ranks> {
    let mut none = OtherTokens::default();
    let others = others.unwrap_or(&mut none);
    let mut of = ByNumber::filled(LONE, dictionary)?;
    let ranking = |(shard, of)| Ranking { shard, of, order: Vec::new(), ranks: Vec::new(), apart: 0 };
    let mut rankings: Vec<_> = of.shards_of(dictionary).into_iter().map(ranking).collect();
    executor::each(executor, &mut rankings, |ranking, stop| {
        ranking.order.clear();
        ranking.apart = 0;
        for place in 0..ranking.shard.len() {
            let [left, right] = ranking.shard.documents(place);
            let frequency = left.saturating_add(right);
            let shared = if two_tables { left > 0 && right > 0 } else { left > 1 };
            if shared {
                memory::push(
                    &mut ranking.order,
                    (frequency, ranking.shard.hash(place), place as u32),
                    DOING,
                )?;
            } else if frequency > 1 {
                ranking.apart += 1;
            }
        }
        executor::sort_unstable_by(&mut ranking.order, stop, &Ord::cmp)?;
        ranking.ranks = memory::filled(0, FREQUENT as usize, DOING)?;
        ranking
            .order
            .iter()
            .filter(|token| token.0 < FREQUENT)
            .for_each(|t| ranking.ranks[t.0 as usize] += 1);
        Ok(())
    })?;
    let mut shared = 0;
    for frequency in 0..FREQUENT as usize {
        shared += std::mem::replace(&mut others.ranks[frequency], shared);
        for ranking in &mut rankings {
            shared += std::mem::replace(&mut ranking.ranks[frequency], shared);
        }
    }
    executor::each(executor, &mut rankings, |ranking, stop| {
        stop.check()?;
        let rare = ranking.order.partition_point(|token| token.0 < FREQUENT);
        for &(frequency, _, place) in &ranking.order[..rare] {
            let rank = &mut ranking.ranks[frequency as usize];
            ranking.of[place as usize] = *rank;
            *rank += 1;
        }
        ranking.order.drain(..rare);
        Ok(())
    })?;
    /// Stands for the shard of other tokens.
    const OTHERS: usize = usize::MAX;
    let others_of = (0..).zip(&others.frequent).map(|(place, &frequency)| (frequency, 0, OTHERS, place));
    let mut frequent = memory::collect(others_of, DOING)?;
    for (shard, ranking) in rankings.iter().enumerate() {
        memory::reserve(&mut frequent, ranking.order.len(), DOING)?;
        frequent
            .extend(ranking.order.iter().map(|&(frequency, hash, place)| (frequency, hash, shard, place)));
    }
    executor::sort(executor, &mut frequent, Ord::cmp)?;
    for (_, _, shard, place) in frequent {
        match shard {
            OTHERS => others.frequent[place as usize] = shared,
            _ => rankings[shard].of[place as usize] = shared,
        }
        shared += 1;
    }
    let given = rank_apart(&mut rankings, shared, executor)?;
    Ok(Ranks { of, shared: shared as usize, given })
}

/// Gives the tokens that several documents of only one table have the ranks from number `given` on.
/// Returns the number of ranks that are given then.
fn rank_apart(rankings: &mut [Ranking<'_>], mut given: u32, executor: &dyn Executor) -> Result<u32> {
    let shared = given;
    for ranking in &mut *rankings {
        given += std::mem::replace(&mut ranking.apart, given);
    }
    if given == shared {
        return Ok(given);
    }
    executor::each(executor, rankings, |ranking, stop| {
        stop.check()?;
        let mut next = ranking.apart;
        for (place, rank) in ranking.of.iter_mut().enumerate().filter(|(_, rank)| **rank == LONE) {
            if ranking.shard.documents(place).iter().any(|&documents| documents > 1) {
                *rank = next;
                next += 1;
            }
        }
        Ok(())
    })?;
    Ok(given)
}
