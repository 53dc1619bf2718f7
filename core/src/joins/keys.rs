//! The join of records by equal keys: records that share a key are candidates.
//!
//! A key is a hash with a role. A record that *offers* a key is a candidate with all records that
//! *look* for it, and most keys are both. So a record may look for the pieces that other records
//! offer, without meeting those that look for the same pieces. A *limited* key makes no candidates
//! if more records than a given number have it.

use bytemuck::{Pod, Zeroable};

use crate::error::Result;
use crate::executor::Executor;
use crate::hash::mix;
use crate::storage::sort::{Groups, both_long, order_by_key};

/// The number of records between two checks for interrupts.
const CHECK_EVERY: usize = 1 << 12;

pub(crate) const OFFERS: u64 = 1;
pub(crate) const LOOKS: u64 = 2;
pub(crate) const LIMITED: u64 = 4;
/// The bits of a key that are its role and no part of its hash.
pub(crate) const ROLES: u64 = OFFERS | LOOKS | LIMITED;
/// Set among the keys of a join if the record is of the second side. This bit of hashes does not
/// count in a join.
const SECOND: u64 = 8;

/// A key of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(pub(crate) u64);

/// An entry of a join: a key of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C)]
pub(crate) struct KeyPosting {
    /// The hash with its role, and the side of the record.
    key: u64,
    record: u64,
}

order_by_key!(KeyPosting, |posting| both_long(posting.key, posting.record));

impl Key {
    /// Makes a key that all records with this hash share.
    pub fn from_hash(hash: u64) -> Self {
        Self(hash & !ROLES | OFFERS | LOOKS)
    }

    /// Makes a key that only records that look for this hash share.
    pub fn offered(hash: u64) -> Self {
        Self(hash & !ROLES | OFFERS)
    }

    /// Makes a key that only records that offer this hash share.
    pub fn looked_up(hash: u64) -> Self {
        Self(hash & !ROLES | LOOKS)
    }

    /// Makes a key like [`Key::from_hash`] that does not count if too many records have it.
    pub fn limited(hash: u64) -> Self {
        Self(hash & !ROLES | OFFERS | LOOKS | LIMITED)
    }

    /// Returns the key of the same role for one of several kinds of keys.
    pub(crate) fn of_kind(self, kind: u64) -> Self {
        self.with_hash(mix(self.hash() ^ mix(kind + 1)))
    }

    /// Returns the key of the same role with another hash.
    pub(crate) fn with_hash(self, hash: u64) -> Self {
        Self(hash & !ROLES | self.0 & ROLES)
    }

    /// Takes the role of a key of the same hash, too. Returns false if the hash is another one.
    pub(crate) fn unite(&mut self, other: Self) -> bool {
        let is_same = self.hash() == other.hash();
        self.0 |= if is_same { other.0 } else { 0 };
        is_same
    }

    /// Returns the key without its role.
    pub(crate) fn hash(self) -> u64 {
        self.0 & !ROLES
    }

    /// Returns the entry of a record that has the key.
    pub(crate) fn posting(self, record: u64, is_second: bool) -> KeyPosting {
        KeyPosting { key: self.0 & !SECOND | if is_second { SECOND } else { 0 }, record }
    }
}

impl KeyPosting {
    /// Returns the number of the record.
    pub(crate) fn record(&self) -> u64 {
        self.record
    }

    /// Returns the hash of the key.
    pub(crate) fn hash(&self) -> u64 {
        self.key & !(ROLES | SECOND)
    }

    /// Reports whether the key counts only if few records have it.
    pub(crate) fn is_limited(&self) -> bool {
        self.key & LIMITED != 0
    }

    /// Reports whether the record offers the key.
    pub(crate) fn is_offered(&self) -> bool {
        self.key & OFFERS != 0
    }
}

/// Returns the keys of a record, given their hashes and weights from the most frequent one on. The
/// record offers all of them, and looks up all but the most frequent ones, whose weights sum to
/// less than the `needed` weight that two records have to share.
pub(crate) fn weighted_keys(
    weighted: impl Iterator<Item = (u64, u32)>,
    needed: f64,
) -> impl Iterator<Item = Key> {
    let mut left_out = 0u64;
    weighted.map(move |(hash, weight)| {
        left_out = left_out.saturating_add(weight.into());
        // Rounding errs towards looking.
        if left_out as f64 >= needed - 1e-6 { Key::from_hash(hash) } else { Key::offered(hash) }
    })
}

/// Calls `each` with the entries of each two records that share a key, the lesser record first,
/// once for each key that they share. Records of the second side meet only those of the first,
/// which meet each other if `within`. Keys do not count if `is_left_out` says so of their
/// entries.
pub(crate) fn for_each_meeting(
    mut postings: Groups<KeyPosting>,
    within: bool,
    is_left_out: impl Fn(&[KeyPosting]) -> bool,
    executor: &dyn Executor,
    mut each: impl FnMut(&KeyPosting, &KeyPosting) -> Result<()>,
) -> Result<()> {
    let mut group: Vec<KeyPosting> = Vec::new();
    while postings.next(&mut group, KeyPosting::hash, |_, _| false, executor)? {
        if is_left_out(&group) {
            continue;
        }
        // Those of one side and role are adjacent.
        let mut rest = &group[..];
        while let Some(&KeyPosting { key, .. }) = rest.first() {
            let (alike, after) = rest.split_at(rest.partition_point(|posting| posting.key == key));
            let classes = rest.chunk_by(|a, b| a.key == b.key);
            for class in classes.filter(|class| meet(key, class[0].key, within)) {
                for (n, one) in alike.iter().enumerate() {
                    let others = if class[0].key == key { &alike[n + 1..] } else { class };
                    for others in others.chunks(CHECK_EVERY) {
                        executor.check_interrupts()?;
                        for other in others.iter().filter(|other| other.record != one.record) {
                            let (lesser, greater) =
                                if one.record < other.record { (one, other) } else { (other, one) };
                            each(lesser, greater)?;
                        }
                    }
                }
            }
            rest = after;
        }
    }
    Ok(())
}

/// Reports whether records with these keys of one hash meet.
fn meet(one: u64, other: u64, within: bool) -> bool {
    let looks_for = |one: u64, other: u64| one & LOOKS != 0 && other & OFFERS != 0;
    let both_are_first = (one | other) & SECOND == 0;
    let sides_meet = one & SECOND != other & SECOND || within && both_are_first;
    sides_meet && (looks_for(one, other) || looks_for(other, one))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::executor::PlainThreads;
    use crate::hash::mix;
    use crate::storage::files::MemoryFiles;
    use crate::storage::sort::Sorter;

    proptest! {
        #[test]
        fn meetings_are_those_of_the_definition(
            records in prop::collection::vec(prop::collection::btree_map(0..8u64, 1..5u64, 0..6), 0..30),
            second in prop::collection::vec(any::<bool>(), 30),
            within in any::<bool>(),
            most in 0..8u64,
            budget in prop::sample::select(vec![0, usize::MAX]),
        ) {
            let executor = &PlainThreads(1);
            let mut postings = Sorter::new(&MemoryFiles, budget);
            for (n, keys) in records.iter().enumerate() {
                for (&value, &role) in keys {
                    let hash = mix(value);
                    // The keys of one hash are all limited, or none is.
                    let key = match role {
                        _ if value == 0 => Key::limited(hash),
                        1 => Key::offered(hash),
                        2 => Key::looked_up(hash),
                        _ => Key::from_hash(hash),
                    };
                    postings.push(key.posting(n as u64, second[n]), executor).unwrap();
                }
            }
            let roles = |n: usize, value: u64| match records[n].get(&value).copied() {
                Some(_) if value == 0 => 3,
                role => role.map_or(0, |role| role.min(3)),
            };
            let mut expected = BTreeMap::new();
            for value in 0..8 {
                let having = records.iter().filter(|keys| keys.contains_key(&value)).count() as u64;
                if value == 0 && having > most {
                    continue;
                }
                for a in 0..records.len() {
                    for b in a + 1..records.len() {
                        let meet = [(a, b), (b, a)].iter().any(|&(a, b)| roles(a, value) & 1 != 0 && roles(b, value) & 2 != 0);
                        let sides = if second[a] == second[b] { within && !second[a] } else { true };
                        if meet && sides {
                            *expected.entry((a as u64, b as u64)).or_insert(0) += 1;
                        }
                    }
                }
            }
            let mut found = BTreeMap::new();
            let postings = Groups::new(postings.sorted(executor).unwrap(), executor).unwrap();
            let is_left_out = |group: &[KeyPosting]| group[0].is_limited() && group.len() as u64 > most;
            for_each_meeting(postings, within, is_left_out, executor, |a, b| {
                *found.entry((a.record, b.record)).or_insert(0) += 1;
                Ok(())
            }).unwrap();
            prop_assert_eq!(found, expected);
        }
    }
}
