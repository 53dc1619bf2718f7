//! How many documents have each word, in memory or in temporary files.

use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::dictionary::Dictionary;
use crate::hash::hash_bytes;
use crate::memory;
use crate::storage::sort::Groups;

const DOING: &str = "counting words";

/// How many documents have each word.
pub enum DocumentCounts<'a> {
    /// The words and their counts are in a dictionary.
    Held(&'a Dictionary),
    /// The hash of each word, and the numbers of documents that several dictionaries counted.
    Sorted(Box<Groups<[u64; 2]>>),
}

impl DocumentCounts<'_> {
    /// Calls `each` with the hash of every word and the number of documents that have it.
    pub fn for_each(
        &mut self,
        executor: &dyn Executor,
        each: &mut dyn FnMut(u64, u64) -> Result<()>,
    ) -> Result<()> {
        match self {
            Self::Held(words) => {
                for shard in words.shards() {
                    for place in 0..shard.len() {
                        let documents = shard.documents(place).map(u64::from).iter().sum();
                        each(hash_bytes(&shard.token(place)), documents)?;
                    }
                }
                Ok(())
            }
            Self::Sorted(counts) => {
                counts.rewind(executor)?;
                let mut word = Vec::new();
                while counts.next(&mut word, |[hash, _]| *hash, |_, _| false, executor)? {
                    each(word[0][0], word.iter().map(|[_, documents]| documents).sum())?;
                }
                Ok(())
            }
        }
    }

    /// Returns the hashes of the `count` words that are in the most documents. Among equally
    /// frequent words, those with the least hashes are taken.
    pub(super) fn most_frequent(&mut self, count: usize, executor: &dyn Executor) -> Result<Vec<u64>> {
        let mut best: Vec<(u64, u64)> = Vec::new();
        let shorten = |best: &mut Vec<(u64, u64)>| {
            executor::sort(executor, best, Ord::cmp)?;
            best.truncate(count);
            Ok(())
        };
        self.for_each(executor, &mut |hash, df| {
            memory::push(&mut best, (!df, hash), DOING)?;
            if best.len() >= 2 * count.max(MANY_WORDS) { shorten(&mut best) } else { Ok(()) }
        })?;
        shorten(&mut best)?;
        memory::collect(best.iter().map(|&(_, hash)| hash), DOING)
    }
}

/// So many words are sorted at a time, at least. Few in tests.
const MANY_WORDS: usize = if cfg!(test) { 1 << 2 } else { 1 << 16 };
