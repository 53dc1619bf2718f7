//! Numbers the tokens of a batch of documents with all workers at once.
//!
//! First each worker sorts the tokens that it has collected by shard. Then each shard is filled by
//! a single worker, with the tokens that all workers collected for it. Then each worker puts the
//! numbers into the order of its documents. There are no locks, and the sets do not depend on the
//! number of workers.

use super::pending::Pending;
use super::shard::{REPEAT, Shard, TOGETHER, is_place};
use super::{Dictionary, Numbering};
use crate::error::{Error, Result};
use crate::executor::{self, Executor, Stop};
use crate::features::sets::collect::Collector;
use crate::memory;

const DOING: &str = "numbering tokens";

/// The tokens of one collector by shard.
#[derive(Debug, Default)]
struct Routed {
    /// The start of each shard's tokens in `order`, and the end of the last shard's tokens.
    starts: Vec<usize>,
    /// The tokens sorted by shard, each given as its index among the pending lookups.
    order: Vec<u32>,
    /// The numbers of the tokens, in the same order.
    numbers: Vec<u32>,
    /// The stamp of the collector's first document.
    stamp: u32,
}

/// The part of a collector's tokens that belongs to one shard.
struct ShardPart<'a> {
    pending: &'a Pending,
    order: &'a [u32],
    numbers: &'a mut [u32],
    stamp: u32,
    table: usize,
}

/// A shard that is being filled. `number` is the number of the shard, `parts` has the parts that
/// are not done, and `done` is the number of tokens that are done in the first of these parts.
struct Filling<'a> {
    shard: &'a mut Shard,
    number: usize,
    parts: Vec<ShardPart<'a>>,
    done: usize,
}

/// The greatest number of tokens that are numbered without further threads. In tests it is so low
/// that there are batches with fewer tokens and batches with more.
const FEW: usize = if cfg!(test) { 40 } else { 1 << 12 };

/// Numbers all tokens that the collectors hold, and makes their sets. Takes about 48 bytes for each
/// token that is not in its worker's vocabulary, and 8 bytes for each other token. O(tokens).
pub fn number(
    dictionary: &mut Dictionary,
    collectors: &mut [Collector],
    executor: &dyn Executor,
) -> Result<()> {
    let few =
        |count: fn(&Pending) -> usize| collectors.iter().map(|c| count(&c.pending)).sum::<usize>() <= FEW;
    let (few_lookups, few_tokens) =
        (few(|pending| pending.lookups.len()), few(|pending| pending.tokens.len()));
    for collector in collectors.iter_mut() {
        collector.vocabulary.number(dictionary)?;
        if few_lookups {
            collector.number_here(dictionary, executor)?;
        }
    }
    if !few_lookups {
        look_up(dictionary, collectors, executor)?;
    }
    if few_tokens {
        collectors.iter_mut().try_for_each(|collector| collector.make_sets(&Stop::default()))?;
    } else {
        executor::each(executor, collectors, Collector::make_sets)?;
    }
    for collector in collectors {
        collector.vocabulary.keep_small(dictionary);
    }
    Ok(())
}

/// Numbers the tokens that are not in the vocabulary of their worker, by looking them up in the
/// dictionary.
fn look_up(dictionary: &mut Dictionary, collectors: &mut [Collector], executor: &dyn Executor) -> Result<()> {
    let mut routed: Vec<(&Collector, Routed)> = Vec::new();
    for collector in collectors.iter() {
        let stamp = dictionary.stamps(collector.pending.documents.len())?;
        routed.push((collector, Routed { stamp, ..Routed::default() }));
    }
    let of = &*dictionary;
    executor::each(executor, &mut routed, |(collector, routed), stop| {
        routed.sort_by_shard(&collector.pending, of, stop)
    })?;

    let repeats_count = collectors[0].spec.multiset;
    let numbering = dictionary.numbering();
    let mut fillings: Vec<Filling<'_>> = (dictionary.shards_mut().iter_mut().enumerate())
        .map(|(number, shard)| Filling { shard, number, parts: Vec::new(), done: 0 })
        .collect();
    for (collector, routed) in &mut routed {
        let Routed { starts, order, numbers, stamp } = routed;
        let (pending, table, mut rest) = (&collector.pending, collector.table, numbers.as_mut_slice());
        for (filling, range) in fillings.iter_mut().zip(starts.windows(2).map(|ends| ends[0]..ends[1])) {
            let (numbers, after) = rest.split_at_mut(range.len());
            rest = after;
            if !range.is_empty() {
                filling.parts.push(ShardPart {
                    pending,
                    order: &order[range],
                    numbers,
                    stamp: *stamp,
                    table,
                });
            }
        }
    }
    executor::each(executor, &mut fillings, |filling, stop| filling.fill(numbering, repeats_count, stop))?;
    drop(fillings);

    let routed: Vec<Routed> = routed.into_iter().map(|(_, routed)| routed).collect();
    let mut parts: Vec<_> = collectors.iter_mut().map(|c| &mut c.pending).zip(routed).collect();
    executor::each(executor, &mut parts, |(pending, routed), stop| routed.scatter(&mut pending.numbers, stop))
}

impl Routed {
    /// Sorts the tokens by shard, with a counting sort. After a stop, the next call starts over.
    fn sort_by_shard(&mut self, pending: &Pending, dictionary: &Dictionary, stop: &Stop) -> Result<()> {
        const CHECK_EVERY: usize = 1 << 16;
        let tokens = pending.lookups.len();
        if u32::try_from(tokens).is_err() {
            return Err(Error::TooMany { what: "tokens of a batch of documents", limit: u32::MAX.into() });
        }
        let shards = dictionary.shards().len();
        self.starts = memory::filled(0, shards + 1, DOING)?;
        for lookups in pending.lookups.chunks(CHECK_EVERY) {
            stop.check()?;
            lookups.iter().for_each(|lookup| self.starts[dictionary.shard_of(lookup.hash) + 1] += 1);
        }
        for shard in 0..shards {
            self.starts[shard + 1] += self.starts[shard];
        }
        self.order = memory::filled(0, tokens, DOING)?;
        self.numbers = memory::filled(0, tokens, DOING)?;
        let mut next = self.starts.clone();
        for (n, lookup) in pending.lookups.iter().enumerate() {
            stop.check_every(n, CHECK_EVERY)?;
            let place = &mut next[dictionary.shard_of(lookup.hash)];
            self.order[*place] = n as u32;
            *place += 1;
        }
        Ok(())
    }
}

impl Routed {
    /// Puts the numbers into the order of the documents. After a stop, the next call starts over.
    fn scatter(&self, numbers: &mut Vec<u32>, stop: &Stop) -> Result<()> {
        const CHECK_EVERY: usize = 1 << 14;
        numbers.clear();
        memory::fill(numbers, REPEAT, self.numbers.len(), DOING)?;
        for (order, of) in self.order.chunks(CHECK_EVERY).zip(self.numbers.chunks(CHECK_EVERY)) {
            stop.check()?;
            order.iter().zip(of).for_each(|(&n, &number)| numbers[n as usize] = number);
        }
        Ok(())
    }
}

impl Filling<'_> {
    /// Numbers the tokens of all parts. After a stop, the next call goes on from there.
    fn fill(&mut self, numbering: Numbering, repeats_count: bool, stop: &Stop) -> Result<()> {
        while let Some(part) = self.parts.first_mut() {
            while self.done < part.order.len() {
                stop.check()?;
                let to = part.order.len().min(self.done + TOGETHER);
                let lookups = part.order[self.done..to].iter().map(|&n| &part.pending.lookups[n as usize]);
                self.shard.touch(lookups);
                for (&n, number) in part.order[self.done..to].iter().zip(&mut part.numbers[self.done..to]) {
                    let lookup = &part.pending.lookups[n as usize];
                    let document = part.stamp + lookup.document;
                    let place =
                        self.shard.place(lookup, &part.pending.long, document, part.table, repeats_count)?;
                    *number = if is_place(place) { numbering.number(self.number, place) } else { place };
                }
                self.done = to;
            }
            self.parts.remove(0);
            self.done = 0;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::PlainThreads;
    use crate::features::dictionary::lookup::Lookup;
    use crate::features::tokens::{Document, Token};
    use crate::features::{FeatureSpec, Tokenizer};
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// Returns the expected set: each token with the number of its occurrence.
    fn expected(document: &[String], repeats_count: bool) -> Vec<(&String, usize)> {
        let mut counts: HashMap<&String, usize> = HashMap::new();
        let mut set = Vec::new();
        for token in document {
            let count = counts.entry(token).or_default();
            *count += 1;
            if repeats_count || *count == 1 {
                set.push((token, *count));
            }
        }
        set
    }

    /// Returns the number of an occurrence of a token. The occurrence is added if the dictionary
    /// does not have it.
    fn number_of(dictionary: &mut Dictionary, token: &str, occurrence: usize) -> u32 {
        let mut long = Vec::new();
        let lookup = Lookup::new(Token::Bytes(token.as_bytes()), 0, &mut long).unwrap();
        let (shard, numbering) = (dictionary.shard_of(lookup.hash), dictionary.numbering());
        let place = dictionary.shards_mut()[shard].find_or_add(&lookup, &long).unwrap();
        let first = numbering.number(shard, place);
        (1..occurrence).fold(first, |number, _| dictionary.number_after(number).unwrap())
    }

    proptest! {
        #[test]
        fn equal_tokens_and_only_these_share_a_number(
            documents in prop::collection::vec(prop::collection::vec("[ab]{0,3}|a{0,9}[ab]{0,3}|[a-c]{15,18}", 1..20), 1..30),
            threads in 1..4usize, repeats_count: bool, small: bool,
        ) {
            let spec = FeatureSpec {
                tokenizer: Tokenizer::Words, shingle: 1, multiset: repeats_count, wrap: false,
            };
            let mut dictionary = if small { Dictionary::small() } else { Dictionary::default() };
            let mut collectors: Vec<_> = (0..threads).map(|_| Collector::new(spec)).collect();
            if small {
                collectors.iter_mut().for_each(|collector| collector.vocabulary.close(&mut dictionary));
            }
            for (row, document) in documents.iter().enumerate() {
                let tokens = Document::Tokens(document.clone());
                let collector = row % threads;
                // Adds documents in batches of different sizes, and some documents one by one.
                if row % 5 == 4 {
                    number(&mut dictionary, &mut collectors, &PlainThreads(threads)).unwrap();
                    let (row, stop) = (row as u32, Stop::default());
                    collectors[collector].add_at_once(row, &tokens, &mut dictionary, &stop).unwrap();
                } else {
                    collectors[collector].add(row as u32, &tokens, &Stop::default()).unwrap();
                }
            }
            number(&mut dictionary, &mut collectors, &PlainThreads(threads)).unwrap();
            collectors.iter_mut().for_each(|collector| collector.settle(&mut dictionary));
            let mut numbers = HashMap::new();
            let mut tokens = HashMap::new();
            let mut frequency: HashMap<u32, u32> = HashMap::new();
            let known = dictionary.len();
            for collector in &collectors {
                for (set, &row) in collector.sets.rows.iter().enumerate() {
                    let mut found = collector.sets.tokens[collector.sets.range(set)].to_vec();
                    let mut wanted = Vec::new();
                    for (token, occurrence) in expected(&documents[row as usize], repeats_count) {
                        let number = number_of(&mut dictionary, token, occurrence);
                        wanted.push(number);
                        prop_assert_eq!(*numbers.entry((token, occurrence)).or_insert(number), number);
                        prop_assert_eq!(*tokens.entry(number).or_insert((token, occurrence)), (token, occurrence));
                        *frequency.entry(number).or_default() += 1;
                    }
                    found.sort_unstable();
                    wanted.sort_unstable();
                    prop_assert_eq!(found, wanted);
                }
            }
            prop_assert_eq!(dictionary.len(), known);
            prop_assert_eq!(dictionary.len(), tokens.len());
            for (number, count) in frequency {
                let (shard, place) = dictionary.place(number);
                prop_assert_eq!(dictionary.shards()[shard].documents(place), [count, 0]);
            }
        }
    }
}
