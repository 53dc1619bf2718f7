//! Supershingles and megashingles: fingerprints of groups of minhash values, and of pairs of such
//! fingerprints (Broder et al., WWW 1997; Henzinger, SIGIR 2006; docs/design/algorithms.md section
//! 2).

use super::wire::Minhash;
use crate::error::{Error, Result};
use crate::hash;

/// Returns a fingerprint for each of `groups` groups of consecutive values. The groups are equally
/// large; values that are left over are in no group. Two sketches of the same kind share
/// fingerprint i exactly if all values of group i agree (or by chance, once in 2^64). Sketches of
/// different kinds share no fingerprints, nor do different groups. An empty document has no
/// fingerprints.
///
/// Fails if there are more groups than values. O(m).
///
/// ```
/// use neardup_core::sketch::{Minhash, MinhashHeader, Origin, supershingles};
///
/// let header = MinhashHeader::new(Origin::Words, 8, 4, 1);
/// let of = |values| {
///     let bytes = header.sketch(Some(values));
///     Minhash::parse(&bytes).and_then(|sketch| supershingles(&sketch, 2))
/// };
/// let (a, b) = (of(&[1, 2, 3, 4])?, of(&[1, 2, 3, 9])?);
/// assert_eq!((a[0] == b[0], a[1] == b[1]), (true, false));
/// # Ok::<(), neardup_core::Error>(())
/// ```
pub fn supershingles(sketch: &Minhash<'_>, groups: i64) -> Result<Vec<u64>> {
    let permutations = usize::from(sketch.header.permutations);
    let Some(groups) = usize::try_from(groups).ok().filter(|groups| (1..=permutations).contains(groups))
    else {
        return Err(Error::Parameter {
            name: "groups",
            value: groups.to_string(),
            allowed: "between 1 and the number of permutations of the sketch",
        });
    };
    if sketch.header.empty {
        return Ok(Vec::new());
    }
    let size = permutations / groups * 4;
    let kind = hash::hash_bytes(&sketch.header.kind_bytes());
    let mut bytes = Vec::with_capacity(16 + size);
    let fingerprint = |(group, values): (u64, &[u8])| {
        bytes.clear();
        bytes.extend_from_slice(&kind.to_le_bytes());
        bytes.extend_from_slice(&group.to_le_bytes());
        bytes.extend_from_slice(values);
        hash::hash_bytes(&bytes)
    };
    Ok((0..).zip(sketch.values.chunks_exact(size)).take(groups).map(fingerprint).collect())
}

/// Returns a fingerprint of each pair of supershingles. n supershingles give n (n - 1) / 2
/// megashingles, and two documents share a megashingle exactly if they share two supershingles.
///
/// O(n²).
///
/// ```
/// use neardup_core::sketch::megashingles;
///
/// assert_eq!(megashingles(&[1, 2, 3]).len(), 3);
/// assert_eq!(megashingles(&[1, 2, 3])[0], megashingles(&[1, 2])[0]);
/// ```
pub fn megashingles(supershingles: &[u64]) -> Vec<u64> {
    let mut scratch = Vec::new();
    let pairs = supershingles
        .iter()
        .enumerate()
        .flat_map(|(i, first)| supershingles[i + 1..].iter().map(move |second| [*first, *second]));
    pairs.map(|pair| hash::hash_sequence(&pair, &mut scratch)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::origin::Origin;
    use crate::sketches::wire::MinhashHeader;
    use proptest::prelude::*;

    fn sketch(values: &[u32], seed: i64) -> Vec<u8> {
        MinhashHeader::new(Origin::Words, 8, values.len() as u16, seed).sketch(Some(values))
    }

    proptest! {
        #[test]
        fn agree_exactly_where_groups_do(
            a in prop::collection::vec(0..2u32, 84),
            changes in prop::collection::vec(0..84usize, 0..8),
            groups in 1..84usize,
        ) {
            let mut b = a.clone();
            changes.iter().for_each(|&n| b[n] += 1);
            let [x, y] = [&a, &b].map(|values| {
                let bytes = sketch(values, 1);
                supershingles(&Minhash::parse(&bytes).unwrap(), groups as i64).unwrap()
            });
            let size = 84 / groups;
            prop_assert_eq!(x.len(), groups);
            for group in 0..groups {
                let range = group * size..(group + 1) * size;
                prop_assert_eq!(x[group] == y[group], a[range.clone()] == b[range]);
            }
            let agree = x.iter().zip(&y).filter(|(x, y)| x == y).count();
            let (m, n) = (megashingles(&x), megashingles(&y));
            prop_assert_eq!(m.len(), groups * (groups - 1) / 2);
            let shared = m.iter().filter(|m| n.contains(m)).count();
            prop_assert_eq!(shared, agree * agree.saturating_sub(1) / 2);
        }
    }

    #[test]
    fn unlike_sketches_share_nothing() {
        let [a, b] = [1, 2].map(|seed| {
            let bytes = sketch(&[5; 84], seed);
            supershingles(&Minhash::parse(&bytes).unwrap(), 6).unwrap()
        });
        assert!(a.iter().all(|x| !b.contains(x)));
        assert_ne!(a[0], a[1], "groups of equal values at other places");
        let empty = MinhashHeader::new(Origin::Words, 8, 84, 1).sketch(None);
        let empty = Minhash::parse(&empty).unwrap();
        assert!(supershingles(&empty, 6).unwrap().is_empty());
        assert!(supershingles(&empty, 85).is_err() && supershingles(&empty, 0).is_err());
    }
}
