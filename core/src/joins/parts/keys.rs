//! The join of documents by keys, in independent parts. Documents that share a key are candidates.
//!
//! A key is a hash with a role. A document that *offers* a key is a candidate with all documents
//! that *look* for it, and most keys are both. So a document may look for the pieces that other
//! documents offer, without meeting those that look for the same pieces. A *limited* key makes no
//! candidates if more documents than a given number have it. The keys of a document in a part are
//! encoded as the version of this format, then each key in 8 bytes, little-endian, ascending.

use std::cmp::Reverse;

use super::earlier;
use super::groups::RowGroups;
use super::ranks::TokenRanks;
use crate::error::{Error, Result};
use crate::executor::{self, Executor, Stop};
use crate::memory;
use crate::storage::files::TempFiles;
use crate::storage::log::Log;
use crate::storage::sort::Sorter;

/// The name of the value, for error messages.
const NAME: &str = "keys";
const VERSION: u8 = 1;
const BYTES: usize = size_of::<u64>();
const DOING: &str = "joining by keys";
/// The number of records between two checks for interrupts.
const CHECK_EVERY: usize = 1 << 12;

const OFFERS: u64 = 1;
const LOOKS: u64 = 2;
const LIMITED: u64 = 4;
/// The bits of a key that are its role and no part of its hash.
const ROLES: u64 = OFFERS | LOOKS | LIMITED;
/// Set among the keys of a part if the document is known. This bit of hashes does not count in a
/// part.
const KNOWN: u64 = 8;

/// A key of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(u64);

impl Key {
    /// Makes a key that all documents with this hash share.
    pub fn from_hash(hash: u64) -> Self {
        Self(hash & !ROLES | OFFERS | LOOKS)
    }

    /// Makes a key that only documents that look for this hash share.
    pub fn offered(hash: u64) -> Self {
        Self(hash & !ROLES | OFFERS)
    }

    /// Makes a key that only documents that offer this hash share.
    pub fn looked_up(hash: u64) -> Self {
        Self(hash & !ROLES | LOOKS)
    }

    /// Makes a key like [`Key::from_hash`] that does not count if too many documents have it.
    pub fn limited(hash: u64) -> Self {
        Self(hash & !ROLES | OFFERS | LOOKS | LIMITED)
    }

    /// Returns the key without its role.
    pub(super) fn hash(self) -> u64 {
        self.0 & !ROLES
    }
}

/// Returns the rows of a document: for each part the keys that fall into it. Sorts the keys and
/// removes repeats. O(keys · log keys).
pub fn groups(keys: &mut Vec<Key>, parts: u32, stop: &Stop) -> Result<RowGroups> {
    executor::sort_unstable_by(keys, stop, &Ord::cmp)?;
    // A key that is offered and looked up is one key.
    keys.dedup_by(|later, kept| {
        let is_same = later.hash() == kept.hash();
        if is_same {
            kept.0 |= later.0;
        }
        is_same
    });
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
    /// A key and the number of its document.
    entries: Log<[u64; 2]>,
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
        if version != VERSION {
            return Err(bad(format!("its format is version {version}, this neardup knows {VERSION}")));
        }
        let (keys, rest) = keys.as_chunks::<BYTES>();
        if !rest.is_empty() {
            return Err(bad("a key is cut short".to_owned()));
        }
        let known = if known { KNOWN } else { 0 };
        keys.iter().try_for_each(|&key| {
            let entry = [u64::from_le_bytes(key) & !KNOWN | known, document];
            self.entries.push(entry, &self.files)
        })
    }

    /// Calls `each` once for each candidate, in order, the lesser number first.
    pub fn candidates(
        self,
        executor: &dyn Executor,
        each: &mut dyn FnMut(u64, u64) -> Result<()>,
    ) -> Result<()> {
        let Self { entries, files, budget, most } = self;
        let mut entries = entries.sorted(&files, budget / 4, executor)?;
        let mut pairs = Sorter::new(&files, budget / 2);
        let mut group: Vec<(u64, u64)> = Vec::new();
        let mut hash = 0;
        loop {
            let next = entries.next(executor)?;
            if next.is_none_or(|[key, _]| key & !(ROLES | KNOWN) != hash) {
                let is_limited = group.first().is_some_and(|&(_, role)| role & LIMITED != 0);
                if !(is_limited && group.len() as u64 > most) {
                    expand(&mut group, &mut pairs, executor)?;
                }
                group.clear();
            }
            let Some([key, document]) = next else { break };
            hash = key & !(ROLES | KNOWN);
            memory::push(&mut group, (document, key & (ROLES | KNOWN)), DOING)?;
        }
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

/// Chooses, of the weighted keys of a record, those that are looked up: all but the most frequent
/// ones whose weights sum to less than two records need to share.
pub(crate) struct Rarest {
    needed: f64,
    left_out: u64,
}

impl Rarest {
    /// Starts with the most frequent key.
    pub(crate) fn new(needed: f64) -> Self {
        Self { needed, left_out: 0 }
    }

    /// Reports whether the next key, which is not more frequent than the last one, is looked up.
    pub(crate) fn looks_up(&mut self, weight: u32) -> bool {
        self.left_out = self.left_out.saturating_add(weight.into());
        // Rounding errs towards looking.
        self.left_out as f64 >= self.needed - 1e-6
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
    memory::reserve(keys, order.len(), DOING)?;
    let mut rarest = Rarest::new(needed);
    keys.extend(order.into_iter().map(|(_, hash, weight)| match rarest.looks_up(weight) {
        true => Key::from_hash(hash),
        false => Key::offered(hash),
    }));
    Ok(())
}

/// Adds the pairs of the documents that share a key.
fn expand(group: &mut [(u64, u64)], pairs: &mut Sorter<'_, [u64; 2]>, executor: &dyn Executor) -> Result<()> {
    /// The greatest number of pairs, repeats included: they take 16 GB of temporary files.
    const MOST: u64 = 1 << 30;
    if group.len() < 2 {
        return Ok(());
    }
    // First those that offer and look, then those that only offer, which are no pairs among
    // themselves, and then those that only look, which are none either.
    let kind = |role: u64| 2 * u8::from(role & OFFERS == 0) + u8::from(role & LOOKS == 0);
    executor::one(executor, &mut &mut *group, |group, stop| {
        executor::sort_unstable_by(group, stop, &|a, b| (kind(a.1), a).cmp(&(kind(b.1), b)))
    })?;
    let [both, offering] = [1, 2].map(|end| group.partition_point(|&(_, role)| kind(role) < end));
    for (n, &(a, role)) in group[..offering].iter().enumerate() {
        let from = if n < both { n + 1 } else { offering };
        for others in group[from..].chunks(CHECK_EVERY) {
            executor.check_interrupts()?;
            if pairs.len() > MOST {
                return Err(Error::TooMany { what: "candidates of a part", limit: MOST });
            }
            for &(b, other) in others {
                if a != b && role & other & KNOWN == 0 {
                    pairs.push([a.min(b), a.max(b)], executor)?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::executor::PlainThreads;
    use crate::hash::mix;
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
