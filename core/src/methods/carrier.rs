//! The description by which a method is made in parts, on any number of machines
//! ([`crate::parts`]): what is carried of each document in its place, how documents that may
//! be similar meet, and how two of them are compared.
//!
//! The carried bytes of two documents decide alone whether the documents are a pair, and with which
//! similarity. So documents with equal bytes are one record.
//!
//! Numbers are carried little-endian, in 64 bits; texts as they are.

use std::fmt::Debug;

use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::features::hash_sets::make_set;
use crate::features::tokens::{Document, DocumentRef, FeatureSpec, Scratch, for_each_token};
use crate::joins::keys::Key;
use crate::joins::sentences::lister::StopRules;
use crate::memory;
use crate::verify::overlap::TokenOverlap;
use crate::verify::predicate::Predicate;

/// The name of carried bytes, for error messages.
const NAME: &str = "carried document";
/// The first byte: whether documents with the same bytes are a pair with similarity 1.
const ALIKE: u8 = 1;
const APART: u8 = 2;

/// How documents meet that may be similar.
#[derive(Debug, Clone, Copy)]
pub enum Meeting {
    /// By keys. Limited keys that more than `most` documents have do not count.
    Keys {
        /// The greatest number of documents.
        most: Option<u64>,
        /// The predicate that accepts the sets of similar documents, if they have sets. Then no key
        /// is limited.
        filter: Option<Predicate>,
    },
    /// By the keys that are left of a document without the terms that too many or too few documents
    /// have. Limited keys that more than `most` documents have do not count.
    Terms {
        /// The greatest number of documents.
        most: Option<u64>,
    },
    /// By the keys of [`Carrier::weights`], of which a document looks up only the rarest.
    Rarest,
    /// By sets. Similar documents have sets that this predicate accepts.
    Sets(Predicate),
}

/// What is done about keys that very many documents share.
#[derive(Debug, Clone, Copy)]
pub struct BucketRules {
    /// True if the exact join may take over.
    pub hand_over: bool,
    /// The number of neighbours that a document is compared with, if there is a limit.
    pub most: Option<u32>,
}

/// The terms that do not count, ascending: the numbers, little-endian.
#[derive(Debug, Clone, Copy, Default)]
pub struct LeftOut<'a>(&'a [[u8; size_of::<u64>()]]);

impl<'a> LeftOut<'a> {
    /// Reads the terms from their bytes.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let (terms, rest) = bytes.as_chunks();
        if rest.is_empty() { Ok(Self(terms)) } else { Err(malformed("a term is cut short")) }
    }

    /// Returns the terms.
    pub fn terms(self) -> impl ExactSizeIterator<Item = u64> {
        self.0.iter().map(|&term| u64::from_le_bytes(term))
    }

    /// Reports whether a term does not count.
    pub fn has(&self, term: u64) -> bool {
        self.0.binary_search_by_key(&term, |&other| u64::from_le_bytes(other)).is_ok()
    }
}

/// Where a document comes from, as far as it is known.
#[derive(Debug, Clone, Copy, Default)]
pub struct Places<'a> {
    /// Its site.
    pub site: Option<&'a str>,
    /// The group whose documents are compared with it.
    pub group: Option<&'a str>,
    /// The source whose documents are not compared with it.
    pub source: Option<&'a str>,
}

/// The description of a method.
pub trait Carrier: Debug + Sync {
    /// Returns what is carried of a document in its places, or nothing if no document is similar to
    /// it.
    fn carry(&self, document: &Document, places: Places<'_>, stop: &Stop) -> Result<Vec<u8>>;

    /// Returns a description of the same method that has made what all documents need, if that
    /// takes work.
    fn prepared(&self) -> Result<Option<Box<dyn Carrier + '_>>> {
        Ok(None)
    }

    /// Records the number of the site of a document that was carried without its site.
    fn set_site(&self, _carried: &mut [u8], _site: u32) -> Result<()> {
        Ok(())
    }

    /// Returns how documents meet.
    fn meeting(&self) -> Meeting;

    /// Adds the keys of a document. `left_out` has the terms that do not count, in ascending order,
    /// if documents meet by [`Meeting::Terms`].
    fn keys(
        &self,
        _carried: &[u8],
        _left_out: LeftOut<'_>,
        _keys: &mut Vec<Key>,
        _stop: &Stop,
    ) -> Result<()> {
        Ok(())
    }

    /// Replaces `weighted` with hashes and their weights, ascending, if documents meet by
    /// [`Meeting::Rarest`]. Returns the least weight of what a similar document shares with this
    /// one.
    fn weights(&self, _carried: &[u8], _weighted: &mut Vec<(u64, u32)>, _stop: &Stop) -> Result<f64> {
        Ok(0.0)
    }

    /// Returns the set or the terms of a document, ascending, if documents meet by sets or terms,
    /// or are filtered by sets; or the hashes of [`Carrier::weights`].
    fn set(&self, _carried: &[u8], _stop: &Stop) -> Result<Vec<u64>> {
        Ok(Vec::new())
    }

    /// Reports whether a term counts that `having` of `all` documents have.
    fn counts(&self, _having: u64, _all: u64) -> bool {
        true
    }

    /// Returns the similarity of two documents if they are a pair; the one with the lesser id comes
    /// first.
    fn similarity(&self, pair: [&[u8]; 2], left_out: LeftOut<'_>, stop: &Stop) -> Result<Option<f64>>;

    /// Reports whether documents with the same bytes are a pair with similarity 1.
    fn is_like_itself(&self, carried: &[u8], stop: &Stop) -> Result<bool> {
        Ok(self.similarity([carried; 2], LeftOut::default(), stop)? == Some(1.0))
    }

    /// Reports whether it matters for some pairs which of the two documents has the lesser id.
    fn is_ordered(&self) -> bool {
        false
    }

    /// Returns the rules by which limited keys do not count in memory. The carried bytes are texts
    /// then.
    fn stop_rules(&self) -> Option<StopRules> {
        None
    }

    /// Returns what the join in memory does about keys that very many documents share, if documents
    /// are filtered by sets.
    fn buckets(&self) -> Option<BucketRules> {
        None
    }

    /// Returns the place of a document in the order of the records of the join in memory, if there
    /// are [`Carrier::buckets`].
    fn place(&self, _carried: &[u8]) -> Result<[u64; 2]> {
        Ok([0; 2])
    }

    /// Reports whether documents are joined block by block in temporary files, because they share
    /// no key that few of them have.
    fn in_blocks(&self) -> bool {
        false
    }

    /// Returns the document of carried bytes, if documents are joined block by block.
    fn document(&self, carried: &[u8]) -> Result<Document> {
        memory::copied(to_text(carried)?, DOING).map(Document::Text)
    }

    /// Reports whether the method finds the same pairs in temporary files as in memory.
    fn overflows(&self) -> bool {
        self.differs().is_none()
    }

    /// Reports whether the method makes use of sites in parts.
    fn takes_sites(&self) -> bool {
        false
    }

    /// Returns a sentence about pairs that may be found in parts only, if there may be such pairs.
    fn differs(&self) -> Option<&'static str> {
        None
    }
}

/// Returns the bytes that stand for a document everywhere, or nothing if no document is similar to
/// it.
pub fn carried(
    carrier: &dyn Carrier,
    document: &Document,
    places: Places<'_>,
    stop: &Stop,
) -> Result<Vec<u8>> {
    let mut bytes = carrier.carry(document, places, stop)?;
    if !bytes.is_empty() {
        let first = if carrier.is_like_itself(&bytes, stop)? { ALIKE } else { APART };
        memory::push(&mut bytes, first, "carrying a document")?;
        // The first byte is made last.
        bytes.rotate_right(1);
    }
    Ok(bytes)
}

/// Returns what [`Carrier::carry`] returned.
pub fn content(bytes: &[u8]) -> Result<&[u8]> {
    match bytes.split_first() {
        None => Ok(bytes),
        Some((&(ALIKE | APART), content)) => Ok(content),
        Some(_) => Err(malformed("its first byte is not known")),
    }
}

/// Returns the error for bytes that are no carried document of the method.
pub(in crate::methods) fn malformed(why: &str) -> Error {
    Error::Malformed { what: NAME, why: why.to_owned() }
}

const DOING: &str = "carrying a document";

/// Returns the bytes of numbers.
pub(crate) fn of_words(words: &[u64]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    memory::reserve(&mut bytes, size_of_val(words), DOING)?;
    words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    Ok(bytes)
}

/// Returns the numbers of bytes.
pub(crate) fn to_words(bytes: &[u8]) -> Result<Vec<u64>> {
    let (chunks, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        return Err(malformed("a number is cut short"));
    }
    memory::collect(chunks.iter().map(|&chunk| u64::from_le_bytes(chunk)), DOING)
}

/// Returns the numbers of bytes, which are to ascend.
pub(crate) fn to_set(bytes: &[u8]) -> Result<Vec<u64>> {
    let words = to_words(bytes)?;
    if words.is_sorted_by(|a, b| a < b) { Ok(words) } else { Err(malformed("its numbers do not ascend")) }
}

/// Returns the set of the hashes of a document's tokens, with repeats if the tokens have them.
pub(crate) fn hashes_of<'a>(
    document: impl Into<DocumentRef<'a>>,
    spec: &FeatureSpec,
    doing: &'static str,
    stop: &Stop,
) -> Result<Vec<u64>> {
    let mut hashes = Vec::new();
    for_each_token(document, spec, &mut Scratch::default(), stop, |token| {
        memory::push(&mut hashes, token.hash(), doing)
    })?;
    make_set(&mut hashes, spec.multiset, stop)?;
    Ok(hashes)
}

/// Returns the similarity of two documents that are carried as sets, if they are a pair.
pub(crate) fn similarity_of_sets(predicate: Predicate, [a, b]: [&[u8]; 2]) -> Result<Option<f64>> {
    let [a, b] = [to_set(a)?, to_set(b)?];
    let TokenOverlap { shared, left, right } = TokenOverlap::of_sets(&a, &b);
    let passes = predicate.passes(shared, left, right);
    Ok(passes.then(|| predicate.similarity(shared, left, right)))
}

/// Returns the bytes of a document that is a text.
pub(crate) fn of_text(document: &Document) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Columns of other types are refused.
    if let Document::Text(text) = document {
        memory::extend(&mut bytes, text.as_bytes(), DOING)?;
    }
    Ok(bytes)
}

/// Returns the text of bytes.
pub(crate) fn to_text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| malformed("it is not UTF-8"))
}

/// Returns the texts of two documents.
pub(crate) fn to_texts([left, right]: [&[u8]; 2]) -> Result<[&str; 2]> {
    Ok([to_text(left)?, to_text(right)?])
}
