//! Minhash in parts: a set goes to each part that one of its bands falls into, with the keys of these; in a part sets that share
//! a key are candidates, as they are in the join of one machine (docs/design/algorithms.md section 2).
//!
//! The keys of a row as bytes: the version of this format, then each key in 8 bytes, little-endian.

use super::token_set::TokenSet;
use crate::error::{Error, Result};
use crate::joins::sketches::banding::Banding;
use crate::memory;
use crate::sketches::minhash::Minhasher;
use crate::sketches::sign::band_keys;
use crate::workers::{self, Stop, Workers};

/// The value, for errors.
const NAME: &str = "bands";
const VERSION: u8 = 1;
const DOING: &str = "joining by bands";
const KEY: usize = size_of::<u64>();

/// The parts that bands of a set fall into, ascending, with the keys of these; none of a set without tokens. O(n · m) for n tokens
/// and m values.
pub fn groups(
    set: &TokenSet<'_>,
    minhasher: &mut Minhasher,
    rows: usize,
    parts: u32,
    stop: &Stop,
) -> Result<Vec<(u32, Vec<u8>)>> {
    minhasher.clear();
    for (n, hash) in set.hashes().enumerate() {
        if n.is_multiple_of(1 << 12) {
            stop.check()?;
        }
        minhasher.add(hash);
    }
    let mut keys = Vec::new();
    if let Some(values) = minhasher.values() {
        // A key is as good as random.
        let part = |key: u64| (((key >> 32) * u64::from(parts)) >> 32) as u32;
        band_keys(values, rows, &mut Vec::new(), |key| keys.push((part(key), key)));
    }
    keys.sort_unstable();
    let groups = keys.chunk_by(|a, b| a.0 == b.0).map(|keys| {
        let mut bytes = vec![VERSION];
        keys.iter().for_each(|(_, key)| bytes.extend_from_slice(&key.to_le_bytes()));
        (keys[0].0, bytes)
    });
    Ok(groups.collect())
}

/// What makes the values of a plan.
pub fn minhasher(plan: Banding, seed: i64) -> Minhasher {
    // A plan has no more values than 16 bits count.
    Minhasher::new(plan.values() as u16, seed)
}

/// The rows of a part: keys with numbers of sets.
#[derive(Debug, Default)]
pub struct Banded {
    keys: Vec<(u64, i64)>,
}

impl Banded {
    /// Adds a row.
    pub fn add(&mut self, id: i64, bytes: &[u8]) -> Result<()> {
        let bad = |why: String| Error::Malformed { what: NAME, why };
        let (&version, keys) = bytes.split_first().ok_or_else(|| bad("it is cut short".to_owned()))?;
        if version != VERSION {
            return Err(bad(format!("its format is version {version}, this neardup knows {VERSION}")));
        }
        let (keys, rest) = keys.as_chunks::<KEY>();
        if !rest.is_empty() {
            return Err(bad("a key is cut short".to_owned()));
        }
        keys.iter().try_for_each(|&key| memory::push(&mut self.keys, (u64::from_le_bytes(key), id), DOING))
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.keys)
    }

    /// All pairs of numbers that share a key, each once, the lesser first; none if they are more than `most`.
    pub fn pairs(self, most: usize, workers: &dyn Workers) -> Result<Option<Vec<[i64; 2]>>> {
        let mut state: (_, Option<Vec<[i64; 2]>>) = (self.keys, None);
        workers::one(workers, &mut state, |(keys, pairs), stop| {
            workers::sort_unstable_by(keys, stop, &Ord::cmp)?;
            let mut found = Vec::new();
            // Beyond it, pairs that were found by more than one key are put together.
            let mut room = 1 << 20;
            for bucket in keys.chunk_by(|a, b| a.0 == b.0) {
                for (n, &(_, left)) in bucket.iter().enumerate() {
                    stop.check()?;
                    for &(_, right) in bucket[n + 1..].iter().filter(|other| other.1 != left) {
                        memory::push(&mut found, [left, right], DOING)?;
                    }
                    if found.len() > room {
                        workers::sort_unstable_by(&mut found, stop, &Ord::cmp)?;
                        found.dedup();
                        if found.len() > most {
                            return Ok(());
                        }
                        room = 2 * found.len().max(1 << 19);
                    }
                }
            }
            workers::sort_unstable_by(&mut found, stop, &Ord::cmp)?;
            found.dedup();
            *pairs = Some(found).filter(|found| found.len() <= most);
            Ok(())
        })?;
        Ok(state.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workers::PlainThreads;

    fn row(keys: &[u64]) -> Vec<u8> {
        [VERSION].into_iter().chain(keys.iter().flat_map(|key| key.to_le_bytes())).collect()
    }

    #[test]
    fn who_shares_a_key_is_a_pair_once() -> Result<()> {
        let mut part = Banded::default();
        for (id, keys) in [(7, &[1, 2][..]), (-3, &[2, 1]), (5, &[3]), (6, &[3, 2]), (5, &[3])] {
            part.add(id, &row(keys))?;
        }
        let expected = vec![[-3, 6], [-3, 7], [5, 6], [6, 7]];
        assert_eq!(part.pairs(10, &PlainThreads(1))?, Some(expected));
        Ok(())
    }

    #[test]
    fn more_than_are_wanted_are_none() -> Result<()> {
        let mut part = Banded::default();
        (0..100).try_for_each(|id| part.add(id, &row(&[9])))?;
        assert_eq!(part.pairs(4949, &PlainThreads(1))?, None);
        Ok(())
    }

    #[test]
    fn bytes_that_are_no_keys() {
        for bytes in [&[][..], &[2], &[1, 0, 0]] {
            assert!(Banded::default().add(1, bytes).is_err(), "{bytes:?}");
        }
    }
}
