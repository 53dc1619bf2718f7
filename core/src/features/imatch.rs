//! I-Match: one signature of the significant terms of a text (Chowdhury, Frieder, Grossman, McCabe,
//! TOIS 2002; docs/design/algorithms.md section 6).
//!
//! A distinct term of a document or a sentence is kept if its normalised idf, ln(N / df) / ln(N),
//! is within a range. This excludes the words that nearly all documents have. If the range keeps no
//! term of a text, all terms of the text are kept: among few or equal documents, no word is rare.
//! The terms are sorted and hashed with SHA-1; documents with equal signatures are duplicates. N is
//! the number of documents, and df the number of those that have the term.

use sha1::{Digest, Sha1};

use super::dictionary::Dictionary;
use super::sets::collect::Collector;
use super::signatures::SignatureCollector;
use crate::error::{Error, Result};
use crate::executor::{self, Executor, Stop};
use crate::memory;

const DOING: &str = "making I-Match signatures";

/// A signature: the SHA-1 of the terms.
pub type Signature = [u8; 20];

/// The range of the normalised idf of the terms that are kept, both ends included.
///
/// The normalised idf of a term is ln(N / df) / ln(N): 0 if all N documents have the term, 1 if
/// only one document has it.
///
/// ```
/// let range = neardup_core::parameters::IdfRange::default();
/// // Of ten documents all have "the", two have "quay".
/// assert!(!range.keeps(10, 10) && range.keeps(2, 10));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IdfRange {
    lo: f64,
    hi: f64,
}

impl Default for IdfRange {
    /// Returns [0.1, 1]: all but the most frequent terms.
    fn default() -> Self {
        Self { lo: 0.1, hi: 1.0 }
    }
}

impl IdfRange {
    /// Creates the range from `lo` to `hi`; 0 <= lo <= hi <= 1.
    ///
    /// Fails for other bounds.
    ///
    /// ```
    /// use neardup_core::parameters::IdfRange;
    ///
    /// assert!(IdfRange::new(0.0, 1.0)?.keeps(10, 10));
    /// assert!(IdfRange::new(0.8, 0.2).is_err());
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn new(lo: f64, hi: f64) -> Result<Self> {
        for (name, bound) in [("lo", lo), ("hi", hi)] {
            if !(0.0..=1.0).contains(&bound) {
                return Err(Error::Parameter { name, value: bound.to_string(), allowed: "between 0 and 1" });
            }
        }
        if lo > hi {
            return Err(Error::Parameter { name: "lo", value: lo.to_string(), allowed: "at most hi" });
        }
        Ok(Self { lo, hi })
    }

    /// Reports whether a term that is in `df` of `documents` documents is kept. With one document,
    /// every idf is 1.
    ///
    /// ```
    /// // Neither the most frequent words nor the rarest.
    /// let middle = neardup_core::parameters::IdfRange::new(0.2, 0.8)?;
    /// assert_eq!([1, 10, 100].map(|df| middle.keeps(df, 100)), [false, true, false]);
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn keeps(&self, df: u64, documents: u64) -> bool {
        let idf = match documents {
            0 | 1 => 1.0,
            _ => (documents as f64 / df.max(1) as f64).ln() / (documents as f64).ln(),
        };
        (self.lo..=self.hi).contains(&idf)
    }
}

/// Returns the signature of distinct terms in ascending order of their bytes: the SHA-1 of the
/// terms, with one space between two. Returns `None` if there is no term.
pub fn signature<'a>(terms: impl IntoIterator<Item = &'a [u8]>) -> Option<Signature> {
    let mut hash = Sha1::new();
    let mut any = false;
    for term in terms {
        if any {
            hash.update(b" ");
        }
        hash.update(term);
        any = true;
    }
    any.then(|| hash.finalize().into())
}

/// Returns the signature of one or more terms that are already joined as [`signature`] joins them.
pub fn signature_of_joined(terms: &[u8]) -> Signature {
    Sha1::digest(terms).into()
}

/// Returns a signature as [`WIDTH`] numbers, the form in which [`super::signatures`] keeps it.
pub fn words(signature: &Signature) -> [u64; 3] {
    let mut padded = [0; 24];
    padded[..signature.len()].copy_from_slice(signature);
    let (chunks, _) = padded.as_chunks::<8>();
    std::array::from_fn(|n| u64::from_be_bytes(chunks[n]))
}

/// Returns the signatures of the documents in the collectors, where each token is a single term.
/// `documents` is N. If the range keeps none of the terms of a document, the document is signed by
/// all its terms. These terms are not kept in other documents either, so such a document is equal
/// only to documents with the same terms. O(all terms · log of the terms of a document).
pub fn of_documents(
    mut collectors: Vec<Collector>,
    mut dictionary: Dictionary,
    range: IdfRange,
    documents: u64,
    executor: &dyn Executor,
) -> Result<Vec<SignatureCollector>> {
    collectors.iter_mut().for_each(|collector| collector.settle(&mut dictionary));
    // The kept terms in the order of their bytes, and the place of each term in this order.
    let numbering = dictionary.numbering();
    let mut kept = Vec::new();
    for (number, shard) in dictionary.shards().iter().enumerate() {
        for place in 0..shard.len() {
            let df = shard.documents(place).map(u64::from).iter().sum();
            if range.keeps(df, documents) {
                let beginning = beginning(&shard.token(place));
                memory::push(&mut kept, (beginning, numbering.number(number, place as u32)), DOING)?;
            }
        }
    }
    let term = |number: u32| {
        let (shard, place) = numbering.place(number);
        dictionary.shards()[shard].token(place)
    };
    executor::sort(executor, &mut kept, |a, b| {
        a.0.cmp(&b.0).then_with(|| term(a.1).as_ref().cmp(term(b.1).as_ref()))
    })?;
    let kept = memory::collect(kept.into_iter().map(|(_, number)| number), DOING)?;
    let mut places: Vec<Vec<u32>> = Vec::new();
    for shard in dictionary.shards() {
        places.push(memory::filled(u32::MAX, shard.len(), DOING)?);
    }
    for (&number, rank) in kept.iter().zip(0..) {
        let (shard, place) = numbering.place(number);
        places[shard][place] = rank;
    }

    let mut parts: Vec<_> =
        collectors.into_iter().map(|collector| (collector.sets, 0, SignatureCollector::new(WIDTH))).collect();
    executor::each(executor, &mut parts, |(sets, done, signatures), stop: &Stop| {
        let mut places_of = Vec::new();
        while *done < sets.rows.len() {
            stop.check()?;
            places_of.clear();
            let all = &sets.tokens[sets.range(*done)];
            for &token in all {
                let (shard, place) = numbering.place(token);
                let rank = places[shard][place];
                if rank != u32::MAX {
                    memory::push(&mut places_of, rank, DOING)?;
                }
            }
            places_of.sort_unstable();
            let mut of = Vec::new();
            memory::reserve(&mut of, if places_of.is_empty() { all.len() } else { places_of.len() }, DOING)?;
            if places_of.is_empty() {
                of.extend(all.iter().map(|&token| term(token)));
                executor::sort_unstable_by(&mut of, stop, &|a, b| a.as_ref().cmp(b.as_ref()))?;
            } else {
                of.extend(places_of.iter().map(|&rank| term(kept[rank as usize])));
            }
            if let Some(signature) = signature(of.iter().map(AsRef::as_ref)) {
                signatures.add(sets.rows[*done], &words(&signature))?;
            }
            *done += 1;
        }
        Ok(())
    })?;
    Ok(parts.into_iter().map(|(.., signatures)| signatures).collect())
}

/// Returns the first bytes of a term as a number, which orders most terms without looking them up.
fn beginning(term: &[u8]) -> u128 {
    let mut bytes = [0; size_of::<u128>()];
    let length = term.len().min(bytes.len());
    bytes[..length].copy_from_slice(&term[..length]);
    u128::from_be_bytes(bytes)
}

/// The number of 64-bit numbers in a signature.
pub const WIDTH: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::PlainThreads;
    use crate::features::FeatureSpec;
    use crate::features::dictionary::numbering::number;
    use crate::features::signatures::distinct;
    use crate::features::tokens::Document;
    use crate::text;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn terms_outside_the_range_do_not_count() {
        let range = IdfRange::default();
        // With one document, every idf is 1. With more documents, the idf of a term that only one
        // of them has is 1, too.
        assert!(range.keeps(1, 1) && range.keeps(1, 7) && !range.keeps(7, 7));
        assert!(!IdfRange::new(0.2, 0.9).unwrap().keeps(1, 7));
        assert!(IdfRange::new(0.5, 0.4).is_err() && IdfRange::new(f64::NAN, 1.0).is_err());
        let golden = signature([b"a".as_slice(), b"b".as_slice()]).unwrap();
        assert_eq!(golden[..4], Sha1::digest(b"a b")[..4]);
    }

    /// Returns the groups of rows with equal signatures, as the definition gives them.
    fn naive(texts: &[String], range: IdfRange) -> BTreeSet<Vec<u32>> {
        let sets: Vec<BTreeSet<String>> =
            texts.iter().map(|t| text::words::words(t).into_iter().collect()).collect();
        let n = texts.len() as u64;
        let mut groups = BTreeMap::<Vec<&str>, Vec<u32>>::new();
        for (row, set) in (0..).zip(&sets) {
            let df = |word: &str| sets.iter().filter(|set| set.contains(word)).count() as u64;
            let all = || set.iter().map(String::as_str);
            let mut kept: Vec<_> = all().filter(|w| range.keeps(df(w), n)).collect();
            if kept.is_empty() {
                kept.extend(all());
            }
            if !kept.is_empty() {
                groups.entry(kept).or_default().push(row);
            }
        }
        groups.into_values().collect()
    }

    proptest! {
        #[test]
        fn signatures_group_as_their_terms_do(
            texts in prop::collection::vec("([a-d]{1,2} |a |averyveryverylongword ){0,6}", 0..30),
            threads in 1..4usize,
        ) {
            let spec = FeatureSpec { multiset: false, ..FeatureSpec::WORDS };
            let mut collectors: Vec<_> = (0..threads).map(|_| Collector::new(spec)).collect();
            for (row, text) in texts.iter().enumerate() {
                let document = Document::Text(text.clone());
                collectors[row % threads].add(row as u32, &document, &Stop::default()).unwrap();
            }
            let range = IdfRange::default();
            let executor = PlainThreads(threads);
            let mut dictionary = Dictionary::default();
            number(&mut dictionary, &mut collectors, &executor).unwrap();
            let parts = of_documents(collectors, dictionary, range, texts.len() as u64, &executor).unwrap();
            let found = distinct(parts, None, &executor).unwrap();
            let groups = (0..found.left.len()).map(|n| found.left.rows(n).to_vec()).collect::<BTreeSet<_>>();
            prop_assert_eq!(groups, naive(&texts, range));
        }
    }
}
