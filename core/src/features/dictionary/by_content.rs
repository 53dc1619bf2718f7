//! The tokens of a dictionary or of a list by what files keep of a token: a short string, a number,
//! or the hash of a long string; and what tokens weigh that a full dictionary has no number for.

use super::Dictionary;
use super::lookup::{ContentKind, Lookup, hash_of};
use super::rank::ByNumber;
use super::shard::Shard;
use super::weights::{Weighing, Weights};
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::hash;
use crate::memory;

const DOING: &str = "weighing tokens";

/// Tokens that are found by their content.
struct ByContent<'d> {
    shards: &'d [Shard],
    /// The hash of each long string, its shard and its place, ascending.
    long: Vec<([u64; 2], u32, u32)>,
}

/// Returns the hash of a long string.
pub(crate) fn of_long(bytes: &[u8]) -> [u64; 2] {
    let hash = hash::hash_bytes_128(bytes);
    [hash as u64, (hash >> 64) as u64]
}

impl<'d> ByContent<'d> {
    /// Takes the tokens of the shards of a dictionary. O(bytes of their long strings).
    fn new(shards: &'d [Shard], executor: &dyn Executor) -> Result<Self> {
        let mut long = Vec::new();
        for (number, shard) in (0..).zip(shards) {
            for place in 0..shard.len() {
                executor::breathe(executor, place, 1 << 14)?;
                if let Some(bytes) = shard.long_token(place) {
                    memory::push(&mut long, (of_long(bytes), number, place as u32), DOING)?;
                }
            }
        }
        executor::sort(executor, &mut long, Ord::cmp)?;
        Ok(Self { shards, long })
    }

    /// Returns the shard and the place of a token.
    fn place(&self, kind: ContentKind, content: [u64; 2]) -> Option<(usize, usize)> {
        if kind == ContentKind::Long {
            let at = self.long.binary_search_by_key(&content, |long| long.0).ok()?;
            let (_, shard, place) = self.long[at];
            return Some((shard as usize, place as usize));
        }
        let lookup = Lookup { hash: hash_of(kind, content), content, document: 0, kind };
        let shard = Dictionary::shard_of_some(self.shards, lookup.hash);
        Some((shard, self.shards[shard].find(&lookup, &[])? as usize))
    }
}

/// What tokens weigh that a full dictionary has no number for.
pub(crate) struct Weigher<'d> {
    weighing: &'d Weighing,
    documents: usize,
    /// The weights of the tokens of the dictionary.
    of: &'d ByNumber<u16>,
    known: ByContent<'d>,
    listed: Option<ByContent<'d>>,
}

impl<'d> Weigher<'d> {
    /// Prepares for the tokens of so many documents. `of` has the weights of the tokens of the
    /// dictionary.
    pub(crate) fn new(
        weighing: &'d Weighing,
        documents: usize,
        dictionary: &'d Dictionary,
        of: &'d ByNumber<u16>,
        executor: &dyn Executor,
    ) -> Result<Self> {
        let listed = match &weighing.weights {
            Weights::Words(words) => Some(ByContent::new(words.shards(), executor)?),
            _ => None,
        };
        let known = ByContent::new(dictionary.shards(), executor)?;
        Ok(Self { weighing, documents, of, known, listed })
    }

    /// Returns the weight of a token that `having` documents have, if the dictionary does not have
    /// it: it may have a first occurrence, and only further ones in a document are counted here.
    pub(crate) fn weigh(&self, kind: ContentKind, content: [u64; 2], having: u64) -> u16 {
        if let Some((shard, place)) = self.known.place(kind, content) {
            return self.of.at(shard, place);
        }
        let listed = self.listed.as_ref().and_then(|listed| listed.place(kind, content));
        self.weighing.of_unknown(listed.map(|(_, place)| place), self.documents, having)
    }
}
