//! Techniques that compare signatures (Broder; Charikar; Henzinger; docs/design/algorithms.md
//! sections 2 to 4).

use super::buckets::keys::Keys;
use super::hamming::{BlockKeys, Hamming};
use crate::features::signatures::Signatures;
use crate::hash::mix;
use crate::verify::overlap::TokenOverlap;
use crate::verify::predicate::Predicate;

/// A technique that compares two signatures. `at` is always the index of the technique's first word
/// in a signature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Technique {
    /// Compares simhashes by the bits that agree (Charikar): C-similarity.
    Simhash(Hamming),
    /// Compares documents by the supershingles that agree (Broder): B-similarity.
    Shingling(Shingling),
    /// Compares documents that share a band, either by their sets or by the share of agreeing
    /// values.
    Minhash(MinhashBands),
    /// Compares words for equality: a checksum.
    Equal {
        /// The index of the first word.
        at: usize,
        /// The number of words.
        words: usize,
    },
    /// Compares sets by this predicate. Finds no candidates itself.
    Sets(Predicate),
}

/// Supershingles, and the number of them that have to agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shingling {
    /// The index of the first supershingle.
    pub at: usize,
    /// The number of supershingles.
    pub groups: u32,
    /// The least number of supershingles that agree, at least 1.
    pub least: u32,
    /// True if candidates are found by pairs of supershingles. The result is the same either way.
    pub megashingles: bool,
}

impl Shingling {
    /// Returns supershingles that are similar if the share that agrees, a float8 quotient, is at
    /// least `threshold`.
    pub fn at_least(at: usize, groups: u32, threshold: f64, megashingles: bool) -> Self {
        let least = (1..=groups).find(|&agree| f64::from(agree) / f64::from(groups) >= threshold);
        let least = least.unwrap_or(groups);
        Self { at, groups, least, megashingles: megashingles && least >= 2 }
    }

    /// Returns the number of supershingles that agree: the B-similarity.
    #[inline]
    pub fn agreeing(&self, a: &[u64], b: &[u64]) -> u32 {
        let range = self.at..self.at + self.groups as usize;
        a[range.clone()].iter().zip(&b[range]).map(|(a, b)| u32::from(a == b)).sum()
    }

    /// Returns `agreeing` as a share of all supershingles.
    #[inline]
    pub fn share(&self, agreeing: u32) -> f64 {
        f64::from(agreeing) / f64::from(self.groups)
    }
}

/// The keys of bands, and the verification of documents that share a band.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MinhashBands {
    /// The index of the first key.
    pub at: usize,
    /// The number of keys.
    pub bands: usize,
    /// The verification.
    pub verify: Verify,
}

/// The verification of two documents that share a band.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verify {
    /// Compares the sets of the documents.
    Sets(Predicate),
    /// Compares the minhash values of the documents, of which a share of at least `threshold` has
    /// to agree. Each word from `at` on stores two values.
    Values {
        /// The index of the first word.
        at: usize,
        /// The number of values.
        values: u32,
        /// The least share.
        threshold: f64,
    },
}

/// Returns the number of equal values of two lists of `values` values, of which each word has two.
/// The second half of the last word is unused, and equal, if their number is odd.
#[inline]
pub fn agreeing_values(a: &[u64], b: &[u64], values: u32) -> u32 {
    let same = |x: u64| u32::from(x as u32 == 0) + u32::from(x >> 32 == 0);
    let agreeing: u32 = a.iter().zip(b).map(|(a, b)| same(a ^ b)).sum();
    agreeing - values % 2
}

/// Returns the share of equal values of two lists of values.
fn share_of_values(a: &[u64], b: &[u64], values: u32) -> f64 {
    let a = &a[..values.div_ceil(2) as usize];
    f64::from(agreeing_values(a, b, values)) / f64::from(values)
}

/// Compares the sets of two documents.
pub type Compare<'a> = &'a dyn Fn() -> TokenOverlap;

impl Technique {
    /// Returns the similarity of two documents if they are similar. Without `sets`, a similarity
    /// that depends on sets is taken to be 1.
    pub fn similarity(&self, a: &[u64], b: &[u64], sets: Option<Compare<'_>>) -> Option<f64> {
        match self {
            Self::Simhash(hamming) => hamming.similarity(a, b),
            Self::Shingling(shingling) => {
                let agree = shingling.agreeing(a, b);
                (agree >= shingling.least).then(|| shingling.share(agree))
            }
            Self::Minhash(MinhashBands { verify: Verify::Values { at, values, threshold }, .. }) => {
                Some(share_of_values(&a[*at..], &b[*at..], *values)).filter(|share| share >= threshold)
            }
            Self::Minhash(MinhashBands { verify: Verify::Sets(predicate), .. }) | Self::Sets(predicate) => {
                let Some(sets) = sets else { return Some(1.0) };
                let TokenOverlap { left, right, shared } = sets();
                predicate.passes(shared, left, right).then(|| predicate.similarity(shared, left, right))
            }
            Self::Equal { at, words } => (a[*at..*at + words] == b[*at..*at + words]).then_some(1.0),
        }
    }

    /// Returns the similarity of any two documents. `sets` is used by techniques that compare sets.
    pub fn measure(&self, a: &[u64], b: &[u64], sets: TokenOverlap) -> f64 {
        match self {
            Self::Simhash(hamming) => hamming.share(hamming.distance(a, b)),
            Self::Shingling(shingling) => shingling.share(shingling.agreeing(a, b)),
            Self::Minhash(MinhashBands { verify: Verify::Values { at, values, .. }, .. }) => {
                share_of_values(&a[*at..], &b[*at..], *values)
            }
            Self::Minhash(MinhashBands { verify: Verify::Sets(predicate), .. }) | Self::Sets(predicate) => {
                predicate.similarity(sets.shared, sets.left, sets.right)
            }
            Self::Equal { .. } => self.similarity(a, b, None).unwrap_or(0.0),
        }
    }

    /// Returns the number of parts that agree, and the number of all parts. A part is a bit, a
    /// supershingle or a band.
    pub fn alike(&self, a: &[u64], b: &[u64]) -> Option<(u32, u32)> {
        match self {
            Self::Simhash(hamming) => Some((hamming.bits - hamming.distance(a, b), hamming.bits)),
            Self::Shingling(shingling) => Some((shingling.agreeing(a, b), shingling.groups)),
            Self::Minhash(MinhashBands { at, bands, .. }) => {
                let range = *at..*at + bands;
                let alike = a[range.clone()].iter().zip(&b[range]).filter(|(a, b)| a == b);
                // There are at most 2048 values.
                Some((alike.count() as u32, *bands as u32))
            }
            Self::Equal { .. } | Self::Sets(_) => None,
        }
    }

    /// Reports whether the technique compares sets.
    pub fn needs_sets(&self) -> bool {
        matches!(self, Self::Sets(_) | Self::Minhash(MinhashBands { verify: Verify::Sets(_), .. }))
    }

    /// Reports whether the keys of the technique make the pair a candidate if all buckets are
    /// expanded completely. `sizes` is as in [`Technique::keys`].
    pub fn finds(&self, a: &[u64], b: &[u64], sizes: Option<usize>) -> bool {
        match self {
            Self::Minhash(_) if !self.may_pass(a, b, sizes) => false,
            Self::Minhash(MinhashBands { at, bands, .. }) => {
                a[*at..*at + bands].iter().zip(&b[*at..*at + bands]).any(|(a, b)| a == b)
            }
            Self::Sets(_) => false,
            others => others.similarity(a, b, None).is_some(),
        }
    }

    /// Reports whether sets of these sizes can be similar. Returns true if the technique compares
    /// no sets or their sizes are unknown.
    #[inline]
    fn may_pass(&self, a: &[u64], b: &[u64], sizes: Option<usize>) -> bool {
        let (Self::Minhash(MinhashBands { verify: Verify::Sets(predicate), .. }), Some(at)) = (self, sizes)
        else {
            return true;
        };
        // The numbers at this position are sizes of sets, which have 32 bits.
        let (x, y) = (a[at] as u32, b[at] as u32);
        predicate.least_overlap(x, y).is_some_and(|least| least <= x.min(y))
    }

    /// Returns the keys by which candidates are found, or `None` if the technique finds none.
    /// `sizes` is the position of the set's size in a signature, if signatures have one.
    pub fn keys<'a>(&self, signatures: &'a Signatures, sizes: Option<usize>) -> Option<Box<dyn Keys + 'a>> {
        let shared = |technique, bands| Box::new(StoredKeys { technique, bands, signatures, sizes });
        Some(match *self {
            Self::Simhash(hamming) => match hamming.bits {
                0..=64 => Box::new(BlockKeys::<1>::new(hamming, signatures)),
                65..=128 => Box::new(BlockKeys::<2>::new(hamming, signatures)),
                129..=256 => Box::new(BlockKeys::<4>::new(hamming, signatures)),
                _ => Box::new(BlockKeys::<8>::new(hamming, signatures)),
            },
            technique => shared(technique, technique.stored_keys()?),
        })
    }

    /// Returns how many of its keys the technique takes from a signature as they are, or `None` if
    /// it takes none.
    fn stored_keys(&self) -> Option<usize> {
        match *self {
            Self::Shingling(Shingling { groups, megashingles: true, .. }) => {
                Some((groups * (groups - 1) / 2) as usize)
            }
            // At least `least` supershingles agree, and only least - 1 of them can be outside the
            // first groups - least + 1. So one of these first supershingles agrees.
            Self::Shingling(Shingling { groups, least, .. }) => Some((groups - least + 1) as usize),
            Self::Minhash(MinhashBands { bands, .. }) => Some(bands),
            Self::Equal { .. } => Some(1),
            Self::Simhash(_) | Self::Sets(_) => None,
        }
    }

    /// Returns a key of a signature; `band` is less than the number of stored keys.
    fn stored_key(&self, signature: &[u64], band: usize) -> u64 {
        match *self {
            Self::Shingling(Shingling { at, groups, megashingles: true, .. }) => {
                let (a, b) = pair_of(band, groups as usize);
                mix(mix(signature[at + a]) ^ signature[at + b])
            }
            Self::Shingling(Shingling { at, .. }) | Self::Minhash(MinhashBands { at, .. }) => {
                signature[at + band]
            }
            Self::Equal { at, words } => {
                signature[at..at + words].iter().fold(0, |key, &word| mix(key ^ word))
            }
            Self::Simhash(_) | Self::Sets(_) => 0,
        }
    }

    /// Calls `each` with all keys of a signature. Two signatures are a candidate of the technique
    /// if they have a key in common.
    pub fn each_key(&self, signature: &[u64], mut each: impl FnMut(u64)) {
        if let Self::Simhash(hamming) = self {
            return hamming.each_key(signature, each);
        }
        (0..self.stored_keys().unwrap_or(0))
            .for_each(|band| each(mix(self.stored_key(signature, band) ^ mix(band as u64))));
    }
}

/// Keys that are stored in the signatures.
#[derive(Debug)]
struct StoredKeys<'a> {
    technique: Technique,
    bands: usize,
    signatures: &'a Signatures,
    /// The position of the set's size in a signature, if signatures have one.
    sizes: Option<usize>,
}

/// Returns the `n`th pair of `groups` numbers: (0, 1), (0, 2), … (1, 2), ….
fn pair_of(mut n: usize, groups: usize) -> (usize, usize) {
    let mut first = 0;
    while n >= groups - 1 - first {
        n -= groups - 1 - first;
        first += 1;
    }
    (first, first + 1 + n)
}

impl Keys for StoredKeys<'_> {
    fn bands(&self) -> usize {
        self.bands
    }

    fn key(&self, record: u32, band: usize) -> u64 {
        self.technique.stored_key(self.signatures.get(record), band)
    }

    #[inline]
    fn meet(&self, a: u32, b: u32, band: usize) -> bool {
        let of = |record| self.technique.stored_key(self.signatures.get(record), band);
        of(a) == of(b)
    }

    #[inline]
    fn is_near(&self, probe: u32, other: u32) -> bool {
        let [signature, other] = [probe, other].map(|record| self.signatures.get(record));
        match self.technique {
            Technique::Minhash(_) => self.technique.may_pass(signature, other, self.sizes),
            technique => technique.finds(signature, other, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_groups_are_numbered() {
        let pairs: Vec<_> = (0..15).map(|n| pair_of(n, 6)).collect();
        let expected: Vec<_> = (0..6).flat_map(|a| (a + 1..6).map(move |b| (a, b))).collect();
        assert_eq!(pairs, expected);
    }

    #[test]
    fn thresholds_are_quotients() {
        let least = |groups, t| Shingling::at_least(0, groups, t, false).least;
        assert_eq!((least(6, 2.0 / 6.0), least(6, 0.334), least(6, 1.0), least(6, 1e-9)), (2, 3, 6, 1));
        let most = |bits, t| Hamming::at_least(0, bits, t).most;
        assert_eq!((most(64, 61.0 / 64.0), most(384, 372.0 / 384.0), most(64, 1.0)), (3, 12, 0));
        assert_eq!((most(64, 0.9531), most(64, 0.95312500001)), (3, 2));
    }
}
