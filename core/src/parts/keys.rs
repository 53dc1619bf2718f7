//! The join of documents by keys, in independent parts.
//!
//! The keys of a document in a part are encoded as the version of this format, then each key in 8
//! bytes with its role, little-endian, ascending.

use std::cmp::Reverse;

use super::earlier;
use super::groups::RowGroups;
use super::ranks::TokenRanks;
use crate::error::{Error, Result, check_version};
use crate::executor::{self, Executor, Stop};
use crate::joins::keys::{Key, KeyPosting, for_each_meeting, weighted_keys};
use crate::memory;
use crate::storage::files::TempFiles;
use crate::storage::log::Log;
use crate::storage::sort::{Groups, Sorter};

/// The name of the value, for error messages.
const NAME: &str = "keys";
const VERSION: u8 = 1;
const BYTES: usize = size_of::<u64>();
const DOING: &str = "joining by keys";
/// The number of hashes between two checks for interrupts.
const CHECK_EVERY: usize = 1 << 12;
/// The greatest number of pairs of a part, repeats included: they take 16 GB of temporary files.
const MOST: u64 = 1 << 30;

/// Returns the rows of a document: for each part the keys that fall into it. Sorts the keys and
/// removes repeats. O(keys · log keys).
pub fn groups(keys: &mut Vec<Key>, parts: u32, stop: &Stop) -> Result<RowGroups> {
    executor::sort_unstable_by(keys, stop, &Ord::cmp)?;
    // A key that is offered and looked up is one key.
    keys.dedup_by(|later, kept| kept.unite(*later));
    let part = |key: &Key| earlier::part(key.0, parts);
    let mut rows = RowGroups::default();
    // Parts are ranges of hashes.
    for keys in keys.chunk_by(|a, b| part(a) == part(b)) {
        stop.check()?;
        let mut bytes = Vec::new();
        memory::reserve(&mut bytes, 1 + keys.len() * BYTES, DOING)?;
        bytes.push(VERSION);
        keys.iter().for_each(|key| bytes.extend_from_slice(&key.0.to_le_bytes()));
        memory::push(&mut rows.parts, (part(&keys[0]), bytes), DOING)?;
    }
    Ok(rows)
}

/// The keys of a part, as they arrive.
#[derive(Debug)]
pub struct KeyPart<F> {
    /// Those of known documents are of the second side.
    entries: Log<KeyPosting>,
    files: F,
    budget: usize,
    most: u64,
}

impl<F: TempFiles> KeyPart<F> {
    /// Creates a part without documents, to be joined with about `budget` bytes. Limited keys that
    /// more than `most` documents have do not count.
    pub fn new(files: F, budget: usize, most: Option<u64>) -> Self {
        Self { entries: Log::new(budget / 8), files, budget, most: most.unwrap_or(u64::MAX) }
    }

    /// Adds the encoded keys of a document. Two documents that are `known` are no candidate.
    pub fn add(&mut self, document: u64, bytes: &[u8], known: bool) -> Result<()> {
        let bad = |why: String| Error::Malformed { what: NAME, why };
        let (&version, keys) = bytes.split_first().ok_or_else(|| bad("it is cut short".to_owned()))?;
        check_version(NAME, version, VERSION)?;
        let (keys, rest) = keys.as_chunks::<BYTES>();
        if !rest.is_empty() {
            return Err(bad("a key is cut short".to_owned()));
        }
        let mut keys = keys.iter().map(|&key| Key(u64::from_le_bytes(key)));
        keys.try_for_each(|key| self.entries.push(key.posting(document, known), &self.files))
    }

    /// Calls `each` once for each candidate, in order, the lesser number first.
    pub fn candidates(
        self,
        executor: &dyn Executor,
        each: &mut dyn FnMut(u64, u64) -> Result<()>,
    ) -> Result<()> {
        let Self { entries, files, budget, most } = self;
        let entries = entries.sorted(&files, budget / 4, executor)?;
        let mut pairs = Sorter::new(&files, budget / 2);
        let is_left_out = |group: &[KeyPosting]| group[0].is_limited() && group.len() as u64 > most;
        for_each_meeting(Groups::new(entries, executor)?, true, is_left_out, executor, |a, b| {
            if pairs.len() > MOST {
                return Err(Error::TooMany { what: "candidates of a part", limit: MOST });
            }
            pairs.push([a.record(), b.record()], executor)
        })?;
        let mut pairs = pairs.sorted(executor)?;
        let mut last = None;
        while let Some(pair) = pairs.next(executor)? {
            if last.replace(pair) != Some(pair) {
                each(pair[0], pair[1])?;
            }
        }
        Ok(())
    }
}

/// Adds the keys of a document from hashes, their weights, and the ranks of the frequent ones among
/// them. The document offers all of them and looks up only the rarest.
pub fn rarest(
    weighted: &[(u64, u32)],
    needed: f64,
    ranks: &TokenRanks<'_>,
    keys: &mut Vec<Key>,
    stop: &Stop,
) -> Result<()> {
    let mut order = Vec::new();
    memory::reserve(&mut order, weighted.len(), DOING)?;
    for pieces in weighted.chunks(CHECK_EVERY) {
        stop.check()?;
        order.extend(pieces.iter().map(|&(hash, weight)| (Reverse(ranks.rank(hash)), hash, weight)));
    }
    executor::sort_unstable_by(&mut order, stop, &Ord::cmp)?;
    let weighted = order.into_iter().map(|(_, hash, weight)| (hash, weight));
    memory::append(keys, weighted_keys(weighted, needed), DOING)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::executor::PlainThreads;
    use crate::hash::mix;
    use crate::joins::keys::{LIMITED, LOOKS, OFFERS, ROLES};
    use crate::storage::files::MemoryFiles;

    fn key((value, role): (u64, u8)) -> Key {
        let hash = mix(value);
        match role {
            0 => Key::offered(hash),
            1 => Key::looked_up(hash),
            2 if value % 2 == 0 => Key::limited(hash),
            _ => Key::from_hash(hash),
        }
    }

    proptest! {
        #[test]
        fn candidates_are_those_of_the_definition(
            documents in prop::collection::vec(prop::collection::vec((0..12u64, 0..3u8), 0..6), 0..30),
            parts in 1..5u32,
            most in prop::option::of(0..6u64),
            budget in prop::sample::select(vec![0, usize::MAX]),
            known in prop::collection::vec(any::<bool>(), 30),
        ) {
            let stop = Stop::default();
            let all: Vec<Vec<Key>> =
                documents.iter().map(|keys| keys.iter().copied().map(key).collect()).collect();
            // The roles that a document has for a hash.
            let role = |keys: &[Key], hash: u64| {
                keys.iter().filter(|key| key.hash() == hash).fold(0, |role, key| role | key.0 & ROLES)
            };
            let mut expected = BTreeSet::new();
            for hash in (0..12).map(|value| mix(value) & !ROLES) {
                let roles: Vec<u64> = all.iter().map(|keys| role(keys, hash)).collect();
                let having = roles.iter().filter(|&&role| role != 0).count() as u64;
                let limited = roles.iter().any(|role| role & LIMITED != 0);
                if limited && roles.iter().all(|role| *role == 0 || role & LIMITED != 0) && most.is_some_and(|most| having > most) {
                    continue;
                }
                for a in 0..all.len() {
                    for b in 0..all.len() {
                        if a != b && roles[a] & OFFERS != 0 && roles[b] & LOOKS != 0 && !(known[a] && known[b]) {
                            expected.insert((a.min(b) as u64, a.max(b) as u64));
                        }
                    }
                }
            }
            let mut found = BTreeSet::new();
            for part in 0..parts {
                let mut joined = KeyPart::new(MemoryFiles, budget, most);
                for (n, keys) in all.iter().enumerate() {
                    let rows = groups(&mut keys.clone(), parts, &stop).unwrap();
                    for (_, bytes) in rows.parts.iter().filter(|(of, _)| *of == part) {
                        joined.add(n as u64, bytes, known[n]).unwrap();
                    }
                }
                let mut last = None;
                joined
                    .candidates(&PlainThreads(1), &mut |a, b| {
                        assert!(last.replace((a, b)) < Some((a, b)));
                        found.insert((a, b));
                        Ok(())
                    })
                    .unwrap();
            }
            // Whether a key counts that is limited for some of its documents only does not matter.
            prop_assert!(found.is_subset(&expected));
            if documents.iter().flatten().all(|(value, role)| *role == 2 || value % 2 == 1) || most.is_none() {
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn bytes_that_are_no_keys() {
        let mut part = KeyPart::new(MemoryFiles, 0, None);
        for bytes in [&[][..], &[2], &[1, 0, 0]] {
            assert!(part.add(1, bytes, false).is_err(), "{bytes:?}");
        }
        assert!(part.add(1, &[1, 7, 0, 0, 0, 0, 0, 0, 0], true).is_ok());
    }
}
