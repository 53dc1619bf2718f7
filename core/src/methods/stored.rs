//! Methods `minhash` and `simhash` on sketches that were computed and stored earlier
//! ([`crate::sketches::stored`]). They find all pairs by the estimated similarity of the sketches,
//! which is the result of the functions `minhash_similarity` and `simhash_similarity`.
//!
//! No pair is lost ([`crate::joins::stored`], [`crate::joins::sketches::hamming`]). Sketches that
//! have no room in memory are joined in temporary files: minhash sketches as the sets of their
//! values with their positions, of which similar ones share as many as they agree in; simhash
//! sketches block by block. Their numbers are carried, the first of which is the size.

use super::account::AllWithAll;
use super::carrier::{Carrier, LeftOut, Meeting, Places, malformed, of_words, to_words};
use super::explain::{Agreement, Alike, Details, Explanation};
use super::method::{Method, Update};
use super::pair::TwoTexts;
use super::reading::Reading;
use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::features::hash_sets::make_set;
use crate::features::signatures::{SignatureCollector, Signatures, distinct};
use crate::features::tokens::Document;
use crate::hash::mix;
use crate::joins::pairs::Pairs;
use crate::joins::sketches::hamming::Hamming;
use crate::joins::sketches::technique::{Technique, agreeing_values};
use crate::joins::sketches::{Comparison, sketch_pairs};
use crate::joins::stored::minhash_pairs;
use crate::memory;
use crate::sketches::minhash::least_agreeing;
use crate::sketches::simhash::{check_distance, usual_share};
use crate::sketches::stored::SketchKind;
use crate::sketches::wire::{Minhash, Simhash};
use crate::sketches::{minhash, simhash};
use crate::verify::measure::{Measure, check_threshold};
use crate::verify::predicate::Predicate;

const DOING: &str = "carrying a sketch";

/// Finds pairs of minhash sketches in which at least the share `threshold` of the values agrees.
///
/// All such pairs are found; the similarity is the share of agreeing values, which estimates the
/// Jaccard similarity. The documents are made by [`SketchReader`](crate::sketch::SketchReader).
///
/// ```
/// use neardup_core::sketch::{MinhashHeader, Origin, SketchKind, SketchReader};
/// use neardup_core::{Corpus, Document, Stop, StoredMinhash, minhash_sketch};
///
/// let header = MinhashHeader::new(Origin::Words, 1, 64, 1);
/// let mut reader = SketchReader::default();
/// let mut documents = Vec::new();
/// for text in ["red crane", "crane, red", "north quay"] {
///     let sketch = minhash_sketch(&Document::from(text), &header, &Stop::default())?;
///     documents.push(reader.read(SketchKind::Minhash, &sketch)?);
/// }
/// let mut corpus = Corpus::new(documents.len(), |row| Some(documents[row].clone()));
/// let pairs = corpus.pairs(&StoredMinhash { threshold: 0.8 })?;
/// assert_eq!((pairs.len(), pairs[0].left, pairs[0].right), (1, 0, 1));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct StoredMinhash {
    /// The least share of agreeing values.
    pub threshold: f64,
}

impl StoredMinhash {
    /// Explains the result for two sketches.
    ///
    /// Fails if the sketches are of different kinds. O(values).
    ///
    /// ```
    /// use neardup_core::StoredMinhash;
    /// use neardup_core::sketch::{Minhash, MinhashHeader, Origin};
    ///
    /// let header = MinhashHeader::new(Origin::Words, 1, 4, 1);
    /// let (a, b) = (header.sketch(Some(&[1, 2, 3, 4])), header.sketch(Some(&[1, 2, 3, 9])));
    /// let method = StoredMinhash { threshold: 0.7 };
    /// let explained = method.of_sketches(&Minhash::parse(&a)?, &Minhash::parse(&b)?)?;
    /// assert_eq!((explained.similarity, explained.evidence.pair), (Some(0.75), Some(true)));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn of_sketches(&self, a: &Minhash<'_>, b: &Minhash<'_>) -> Result<Explanation> {
        let (alike, values) = (a.agreeing(b)?, a.header.permutations);
        let similarity = minhash::similarity(alike, values);
        let alike = Alike { alike, values: Some(values.into()), ..Alike::default() };
        Ok(Explanation::new(similarity, similarity >= self.threshold).with(alone(alike)))
    }
}

/// Returns the agreement of two sketches as details.
fn alone(alike: Alike) -> Details {
    Details::Sketches(Agreement { alike: Some(alike), techniques: None, sets: None })
}

impl Method for StoredMinhash {
    fn explain(&self, pair: &TwoTexts<'_>, _stop: &Stop) -> Result<Explanation> {
        let [a, b] = pair.texts.map(Minhash::from_text);
        let (a, b) = (a?, b?);
        self.of_sketches(&Minhash::parse(&a)?, &Minhash::parse(&b)?)
    }

    fn update(&self) -> Update {
        // All sketches are read, which shows whether they were made in the same way.
        Update::Pairs
    }

    fn of_two(&self) -> Option<&dyn Carrier> {
        Some(self)
    }

    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs> {
        check_threshold(self.threshold)?;
        let (signatures, values) = read(SketchKind::Minhash, reading)?;
        reading.account.tokens *= u64::from(values);
        let (held, budget) = (signatures.bytes(), reading.left_after(signatures.bytes()));
        let (pairs, peak) = minhash_pairs(signatures, values, self.threshold, budget, reading.executor)?;
        reading.held(held.max(peak));
        Ok(pairs)
    }
}

/// The definition of similar simhashes.
///
/// ```
/// use neardup_core::StoredSimhash;
/// use neardup_core::parameters::NearBits;
///
/// // 61 of 64 bits agree.
/// let usual = StoredSimhash { near: NearBits::Usual };
/// assert_ne!(usual.near, NearBits::Distance(3));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NearBits {
    /// Simhashes whose documents are usually near duplicates.
    Usual,
    /// Simhashes that agree in at least this share of their bits.
    Share(f64),
    /// Simhashes that differ in at most this number of bits.
    Distance(u32),
}

/// Finds simhashes that are near each other.
///
/// All such pairs are found; the similarity is the share of agreeing bits. The documents are made
/// by [`SketchReader`](crate::sketch::SketchReader).
///
/// ```
/// use neardup_core::parameters::NearBits;
/// use neardup_core::sketch::{Origin, SimhashHeader, SketchKind, SketchReader};
/// use neardup_core::{Corpus, StoredSimhash};
///
/// let header = SimhashHeader::new(Origin::Bits, 1, 64);
/// let mut reader = SketchReader::default();
/// let mut read = |bits: u64| {
///     reader.read(SketchKind::Simhash, &header.sketch(Some(&bits.to_be_bytes())))
/// };
/// let documents = [read(0)?, read(0b111)?, read(u64::MAX)?];
/// let mut corpus = Corpus::new(3, |row| Some(documents[row].clone()));
/// let pairs = corpus.pairs(&StoredSimhash { near: NearBits::Distance(3) })?;
/// assert_eq!((pairs.len(), pairs[0].similarity), (1, 61.0 / 64.0));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct StoredSimhash {
    /// The definition of similar simhashes.
    pub near: NearBits,
}

impl StoredSimhash {
    /// Explains the result for two sketches.
    ///
    /// Fails if the sketches are of different kinds, or if a distance is not less than the number
    /// of their bits. O(bits).
    ///
    /// ```
    /// use neardup_core::StoredSimhash;
    /// use neardup_core::parameters::NearBits;
    /// use neardup_core::sketch::{Origin, Simhash, SimhashHeader};
    ///
    /// let header = SimhashHeader::new(Origin::Bits, 1, 8);
    /// let (a, b) = (header.sketch(Some(&[0b1111_0000])), header.sketch(Some(&[0b1111_0001])));
    /// let method = StoredSimhash { near: NearBits::Share(0.9) };
    /// let explained = method.of_sketches(&Simhash::parse(&a)?, &Simhash::parse(&b)?)?;
    /// assert_eq!((explained.similarity, explained.evidence.pair), (Some(0.875), Some(false)));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn of_sketches(&self, a: &Simhash<'_>, b: &Simhash<'_>) -> Result<Explanation> {
        let (bits, distance) = (a.header.bits, a.distance(b)?);
        let alike = u32::from(bits) - distance;
        let alike = Alike { alike, bits: Some(bits.into()), ..Alike::default() };
        let near = distance <= self.hamming(bits)?.most;
        Ok(Explanation::new(simhash::similarity(distance, bits), near).with(alone(alike)))
    }

    /// Returns the vectors to compare, for simhashes of `bits` bits.
    fn hamming(&self, bits: u16) -> Result<Hamming> {
        Ok(match self.near {
            NearBits::Usual => Hamming::at_least(0, bits.into(), usual_share(bits)),
            NearBits::Share(share) => Hamming::at_least(0, bits.into(), share),
            NearBits::Distance(distance) => {
                let most = check_distance(distance.into(), bits)?.into();
                Hamming { at: 0, bits: bits.into(), most }
            }
        })
    }
}

impl Method for StoredSimhash {
    fn explain(&self, pair: &TwoTexts<'_>, _stop: &Stop) -> Result<Explanation> {
        let [a, b] = pair.texts.map(Simhash::from_text);
        let (a, b) = (a?, b?);
        self.of_sketches(&Simhash::parse(&a)?, &Simhash::parse(&b)?)
    }

    fn update(&self) -> Update {
        Update::Pairs
    }

    fn of_two(&self) -> Option<&dyn Carrier> {
        Some(self)
    }

    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs> {
        let (signatures, bits) = read(SketchKind::Simhash, reading)?;
        reading.account.tokens = 0;
        let comparison = Comparison::by_technique(Technique::Simhash(self.hamming(bits)?));
        let sketches = signatures.len() as u64;
        reading.account.all_with_all = AllWithAll::new(comparison.all_with_all(), sketches);
        let budget = reading.left_after(signatures.bytes());
        sketch_pairs(signatures, None, comparison, budget)
    }
}

/// Returns what is carried of a sketch: its size and its numbers.
fn carry(kind: SketchKind, document: &Document) -> Result<Vec<u8>> {
    match kind.parts(document)? {
        Some((size, words)) => {
            let mut carried = of_words(&[size.into()])?;
            memory::extend(&mut carried, bytemuck::cast_slice(words), DOING)?;
            Ok(carried)
        }
        None => Ok(Vec::new()),
    }
}

/// Returns the size of a sketch that was carried, and its numbers.
fn size_and_words(carried: &[u8]) -> Result<(u16, Vec<u64>)> {
    let mut words = to_words(carried)?;
    let size = words.first().and_then(|&size| u16::try_from(size).ok());
    let size = size.ok_or_else(|| malformed("it has no size"))?;
    words.remove(0);
    Ok((size, words))
}

/// Returns the common size of two sketches that were carried, and their numbers.
fn two_sketches(kind: SketchKind, pair: [&[u8]; 2]) -> Result<(u16, [Vec<u64>; 2])> {
    let [(size, a), (other, b)] = [size_and_words(pair[0])?, size_and_words(pair[1])?];
    if size == other { Ok((size, [a, b])) } else { Err(unlike(kind, size, other)) }
}

fn unlike(kind: SketchKind, a: u16, b: u16) -> Error {
    let [a, b] = [a, b].map(|size| format!("{size} values or bits"));
    Error::Unlike { what: kind.type_name(), a, b }
}

impl Carrier for StoredMinhash {
    fn carry(&self, document: &Document, _: Places<'_>, _: &Stop) -> Result<Vec<u8>> {
        carry(SketchKind::Minhash, document)
    }

    fn meeting(&self) -> Meeting {
        // Of sets of equally many values, dice is the share of these that they have in common.
        let dice = Predicate::new(Measure::Dice, self.threshold);
        Meeting::Sets(dice.unwrap_or_else(|_| Predicate::shared(Measure::Dice, 1)))
    }

    fn set(&self, carried: &[u8], stop: &Stop) -> Result<Vec<u64>> {
        let (size, words) = size_and_words(carried)?;
        let value = |place: u64| words[place as usize / 2] >> (32 * (place % 2)) & u64::from(u32::MAX);
        let mut set = memory::collect((0..size.into()).map(|place| mix(place << 32 | value(place))), DOING)?;
        make_set(&mut set, false, stop)?;
        Ok(set)
    }

    fn similarity(&self, pair: [&[u8]; 2], _: LeftOut<'_>, _: &Stop) -> Result<Option<f64>> {
        let (values, [a, b]) = two_sketches(SketchKind::Minhash, pair)?;
        let alike = agreeing_values(&a, &b, values.into());
        let passes = alike >= least_agreeing(self.threshold, values);
        Ok(passes.then(|| minhash::similarity(alike, values)))
    }
}

impl Carrier for StoredSimhash {
    fn carry(&self, document: &Document, _: Places<'_>, _: &Stop) -> Result<Vec<u8>> {
        carry(SketchKind::Simhash, document)
    }

    fn meeting(&self) -> Meeting {
        Meeting::Keys { most: None, filter: None }
    }

    fn in_blocks(&self) -> bool {
        true
    }

    fn document(&self, carried: &[u8]) -> Result<Document> {
        let numbers = to_words(carried)?.into_iter().map(u64::cast_signed);
        memory::collect(numbers, DOING).map(Document::Numbers)
    }

    fn similarity(&self, pair: [&[u8]; 2], _: LeftOut<'_>, _: &Stop) -> Result<Option<f64>> {
        let (bits, [a, b]) = two_sketches(SketchKind::Simhash, pair)?;
        Ok(self.hamming(bits)?.similarity(&a, &b))
    }
}

/// Reads sketches and records them in the account. Returns the distinct sketches, and the number of
/// values or bits of each sketch. Each sketch counts as one token.
fn read(kind: SketchKind, reading: &mut Reading<'_>) -> Result<(Signatures, u16)> {
    /// The number of values or bits for a table without any sketch.
    const NONE: u16 = 64;
    let count = reading.executor.count();
    let mut known: Option<u16> = None;
    let mut shares: Vec<WorkerSketches> = Vec::new();
    reading.read(|batch| {
        if known.is_none() {
            let size = |document| kind.parts(document).ok().flatten().map(|(size, _)| size);
            known = batch.plain().find_map(size);
            let empty = shares.drain(..).map(|share| share.empty).sum();
            shares.extend((0..count).map(|_| WorkerSketches::new(kind, known.unwrap_or(NONE))));
            shares[0].empty = empty;
        }
        batch.share_out(&mut shares, |share, row, document, stop| {
            stop.check()?;
            share.add(row, document)
        })?;
        Ok(shares.iter().map(|share| share.signatures.bytes()).sum())
    })?;
    reading.account.skipped_empty = shares.iter().map(|share| share.empty).sum();
    let parts: Vec<_> = shares.into_iter().map(|share| share.signatures).collect();
    reading.account.tokens = parts.iter().map(|part| part.len() as u64).sum();
    let held: usize = parts.iter().map(SignatureCollector::bytes).sum();
    let signatures = distinct(parts, reading.right_from(), reading.executor)?;
    reading.account.distinct_sets = signatures.len() as u64;
    reading.held(held + signatures.bytes());
    Ok((signatures, known.unwrap_or(NONE)))
}

/// The sketches of one worker.
#[derive(Debug)]
struct WorkerSketches {
    kind: SketchKind,
    size: u16,
    signatures: SignatureCollector,
    /// The number of sketches of empty documents.
    empty: u64,
}

impl WorkerSketches {
    fn new(kind: SketchKind, size: u16) -> Self {
        let signatures = SignatureCollector::new(kind.words(size));
        Self { kind, size, signatures, empty: 0 }
    }

    fn add(&mut self, row: u32, document: &Document) -> Result<()> {
        let Some((size, words)) = self.kind.parts(document)? else {
            self.empty += 1;
            return Ok(());
        };
        if size != self.size {
            return Err(unlike(self.kind, self.size, size));
        }
        self.signatures.add(row, bytemuck::cast_slice(words))
    }
}
