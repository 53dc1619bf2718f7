//! Keys with a filter: documents that share a key, such as that of a band of minhash, and that have
//! similar sets. A document is sent to each part into which one of its keys falls, with the size
//! and a bitmap of its set, and the keys that fall into the part. In a part, documents that share a
//! key are candidates, unless the sizes or the bitmaps of their sets show that these are not
//! similar ([`super::engine`]).
//!
//! The keys of a row are encoded as the version of this format, from version 2 on [`earlier`]
//! marks, and then each key in 8 bytes, little-endian.

use super::bitmaps;
use super::earlier::{self, Earlier};
use super::groups::RowGroups;
use crate::error::{Error, Result};
use crate::executor::{self, Stop};
use crate::joins::keys::Key;
use crate::joins::sets::bounds::Bounds;
use crate::memory;

/// The name of the value, for error messages.
pub(super) const NAME: &str = "bands";
const KEY: usize = size_of::<u64>();
const DOING: &str = "grouping keys";

/// Returns the rows of a document by its keys, whatever their roles, and by its set, whose hashes
/// ascend. O(n · log n) for n keys.
pub fn groups(keys: &[Key], set: &[u64], bounds: &Bounds, parts: u32, stop: &Stop) -> Result<RowGroups> {
    // Keys are practically random.
    let own = keys.iter().map(|key| (earlier::part(key.hash(), parts), key.hash()));
    let mut own: Vec<(u32, u64)> = memory::collect(own, DOING)?;
    executor::sort_unstable_by(&mut own, stop, &Ord::cmp)?;
    // A document has at most `u32::MAX` tokens.
    let size = set.len() as u32;
    let bitmap = bitmaps::encode(set.iter().copied(), bitmaps::words(bounds, size))?;
    let mut rows = RowGroups { size, bitmap, parts: Vec::new() };
    let mut passed = Earlier::default();
    for keys in own.chunk_by(|a, b| a.0 == b.0) {
        stop.check()?;
        let mut bytes = Vec::new();
        memory::reserve(&mut bytes, earlier::MOST_BYTES + size_of_val(keys), DOING)?;
        passed.begin_row(&mut bytes);
        passed.add(keys.iter().map(|&(_, key)| key));
        keys.iter().for_each(|(_, key)| bytes.extend_from_slice(&key.to_le_bytes()));
        memory::push(&mut rows.parts, (keys[0].0, bytes), DOING)?;
    }
    Ok(rows)
}

/// Calls `each` with each key of a row and the place 0, because keys have no order. Fails for
/// malformed bytes.
pub fn for_each_key(bytes: &[u8], mut each: impl FnMut(u64, u32) -> Result<()>) -> Result<()> {
    let (keys, rest) = earlier::split(bytes, NAME)?.1.as_chunks::<KEY>();
    if !rest.is_empty() {
        return Err(Error::Malformed { what: NAME, why: "a key is cut short".to_owned() });
    }
    keys.iter().try_for_each(|&key| each(u64::from_le_bytes(key), 0))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::executor::PlainThreads;
    use crate::features::hash_sets::shared;
    use crate::hash::mix;
    use crate::parts::part::Part;
    use crate::parts::rows::Shared;
    use crate::storage::files::MemoryFiles;
    use crate::verify::measure::Measure;
    use crate::verify::predicate::Predicate;

    /// Returns sets, some of which share many hashes.
    fn sets() -> Vec<Vec<u64>> {
        let set = |n: u64| {
            let own = (n % 7) * (n % 5);
            let (family, size) = (n / 10, 3 + n / 10 % 40);
            let mut set: Vec<u64> =
                (0..size).map(|m| mix(if m < own { n << 32 | m } else { family << 16 | m })).collect();
            set.sort_unstable();
            set
        };
        (0..300).map(set).collect()
    }

    /// Returns keys such that many sets share one and have little else in common.
    fn keys(set: &[u64]) -> Vec<Key> {
        set.iter().step_by(3).map(|hash| Key::from_hash(mix(hash % 5 + hash % 2 * (hash % 977)))).collect()
    }

    /// Tests that all documents that share a key are candidates, each pair once in a part, unless
    /// their sets are not similar.
    #[test]
    fn who_shares_a_key_and_is_similar_is_found() -> Result<()> {
        let (sets, stop) = (sets(), Stop::default());
        for threshold in [0.3, 0.5, 0.8, 1.0] {
            let bounds = Bounds::new(Predicate::new(Measure::Jaccard, threshold)?);
            let rows: Vec<RowGroups> =
                sets.iter().map(|set| groups(&keys(set), set, &bounds, 3, &stop)).collect::<Result<_>>()?;
            let keys: Vec<BTreeSet<Key>> = sets.iter().map(|set| keys(set).into_iter().collect()).collect();
            let (mut sharing, mut similar) = (BTreeSet::new(), BTreeSet::new());
            for a in 0..sets.len() as u64 {
                for b in a + 1..sets.len() as u64 {
                    let [one, other] = [a, b].map(|n| n as usize);
                    if keys[one].is_disjoint(&keys[other]) {
                        continue;
                    }
                    sharing.insert((a, b));
                    let [left, right] = [one, other].map(|n| sets[n].len() as u32);
                    if bounds.predicate().passes(shared(&sets[one], &sets[other]) as u32, left, right) {
                        similar.insert((a, b));
                    }
                }
            }
            assert!(similar.len() > 50, "{threshold}");
            for budget in [0, 10_000, usize::MAX] {
                let mut found = BTreeSet::new();
                for part in 0..3 {
                    let mut joined = Part::new(*bounds.predicate(), MemoryFiles, budget);
                    for (n, row) in rows.iter().enumerate() {
                        for (_, keys) in row.parts.iter().filter(|(its, _)| *its == part) {
                            joined.add(n as u64, row.size, &row.bitmap, Shared::Keys(keys), false)?;
                        }
                    }
                    let mut here = BTreeSet::new();
                    joined.candidates(&PlainThreads(1), &mut |a, b| {
                        assert!(here.insert((a.min(b), a.max(b))));
                        Ok(())
                    })?;
                    found.extend(here);
                }
                assert!(found.is_superset(&similar) && sharing.is_superset(&found), "{threshold} {budget}");
                // Most of the other pairs are ruled out.
                assert!(threshold < 0.8 || found.len() < similar.len() + sharing.len() / 4, "{threshold}");
            }
        }
        Ok(())
    }

    #[test]
    fn bytes_that_are_no_keys() {
        for bytes in [&[][..], &[2], &[3], &[2, 1, 0], &[2, 4], &[1, 0, 0]] {
            assert!(for_each_key(bytes, |_, _| Ok(())).is_err(), "{bytes:?}");
        }
    }
}
