//! Sketches that were made and stored earlier, as documents of numbers. The first number is the
//! count of values or bits of the sketch. Each further number holds two values of a minhash sketch,
//! or 64 bits of a simhash sketch. The sketch of an empty document has no numbers: it is similar to
//! nothing.

use super::wire::{Minhash, MinhashHeader, Simhash, SimhashHeader};
use crate::error::{Error, Result};
use crate::features::origin::Origin;
use crate::features::tokens::Document;
use crate::memory;
use crate::sketches::{minhash, simhash};

const DOING: &str = "reading a sketch";

/// The kind of the sketches of a column.
///
/// ```
/// use neardup_core::sketch::{SketchKind, SketchReader};
///
/// assert!(SketchReader::default().read(SketchKind::Minhash, b"no sketch").is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SketchKind {
    /// Minhash sketches.
    Minhash,
    /// Simhash sketches.
    Simhash,
}

#[cfg_attr(not(feature = "internals"), doc(hidden))]
impl SketchKind {
    /// Returns the name of the method that compares the sketches.
    pub fn method(self) -> &'static str {
        match self {
            Self::Minhash => "minhash",
            Self::Simhash => "simhash",
        }
    }

    /// Returns the name of the SQL type of the sketches.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Minhash => "minhash_sketch",
            Self::Simhash => "simhash_sketch",
        }
    }
}

/// Reads sketches that are to be compared with each other and must therefore have been made in the
/// same way.
///
/// The documents are meant for [`StoredMinhash`](crate::StoredMinhash) and
/// [`StoredSimhash`](crate::StoredSimhash).
///
/// ```
/// use neardup_core::Document;
/// use neardup_core::sketch::{MinhashHeader, SketchKind, SketchReader, Origin};
///
/// let header = MinhashHeader::new(Origin::Words, 1, 2, 1);
/// let mut reader = SketchReader::default();
/// let document = reader.read(SketchKind::Minhash, &header.sketch(Some(&[7, 8])))?;
/// assert_eq!(document, Document::Numbers(vec![2, 8 << 32 | 7]));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SketchReader {
    minhash: Option<MinhashHeader>,
    simhash: Option<SimhashHeader>,
}

impl SketchReader {
    /// Reads a sketch as a document. Fails if the bytes are malformed, or if the sketch is not
    /// comparable with the sketches that were read before.
    ///
    /// O(bytes).
    ///
    /// ```
    /// use neardup_core::Error;
    /// use neardup_core::sketch::{MinhashHeader, SketchKind, SketchReader, Origin};
    ///
    /// let header = |seed| MinhashHeader::new(Origin::Words, 1, 2, seed);
    /// let sketch = |seed| header(seed).sketch(Some(&[7, 8]));
    /// let mut reader = SketchReader::default();
    /// assert!(reader.read(SketchKind::Minhash, &sketch(1)).is_ok());
    /// let other = reader.read(SketchKind::Minhash, &sketch(2));
    /// assert!(matches!(other, Err(Error::Unlike { .. })));
    /// ```
    pub fn read(&mut self, kind: SketchKind, bytes: &[u8]) -> Result<Document> {
        match kind {
            SketchKind::Minhash => self.minhash(&Minhash::parse(bytes)?),
            SketchKind::Simhash => self.simhash(&Simhash::parse(bytes)?),
        }
    }

    fn minhash(&mut self, sketch: &Minhash<'_>) -> Result<Document> {
        self.minhash.get_or_insert(sketch.header).check_like(&sketch.header)?;
        let mut numbers = Vec::new();
        if !sketch.header.empty {
            memory::reserve(&mut numbers, 1 + sketch.values.len().div_ceil(8), DOING)?;
            numbers.push(sketch.header.permutations.into());
            numbers.extend(sketch.values.chunks(8).map(|two| {
                let mut bytes = [0; 8];
                bytes[..two.len()].copy_from_slice(two);
                i64::from_le_bytes(bytes)
            }));
        }
        Ok(Document::Numbers(numbers))
    }

    fn simhash(&mut self, sketch: &Simhash<'_>) -> Result<Document> {
        let known = self.simhash.get_or_insert(sketch.header);
        known.check_like(&sketch.header)?;
        // Bits that were made elsewhere are comparable with any sketch. If there are other sketches
        // as well, later sketches must also be comparable with these.
        if known.source == Origin::Bits {
            *known = sketch.header;
        }
        let mut numbers = Vec::new();
        if !sketch.header.empty {
            memory::reserve(&mut numbers, 1 + sketch.bits.len().div_ceil(8), DOING)?;
            numbers.push(sketch.header.bits.into());
            numbers.extend(simhash::words(sketch.bits, sketch.header.bits).map(u64::cast_signed));
        }
        Ok(Document::Numbers(numbers))
    }
}

#[cfg_attr(not(feature = "internals"), doc(hidden))]
impl SketchKind {
    /// Returns how many numbers hold `size` values or bits.
    pub fn words(self, size: u16) -> usize {
        match self {
            Self::Minhash => usize::from(size).div_ceil(2),
            Self::Simhash => usize::from(size).div_ceil(64),
        }
    }

    /// Takes a document that [`SketchReader::read`] made from a sketch. Returns the count of values
    /// or bits of the sketch, and the numbers that hold these. Returns `None` for the sketch of an
    /// empty document. Fails for a document that is not such a sketch.
    pub fn parts(self, document: &Document) -> Result<Option<(u16, &[i64])>> {
        let wrong = || Error::Malformed {
            what: self.type_name(),
            why: "its numbers are not as many as it says".to_owned(),
        };
        let Document::Numbers(numbers) = document else { return Err(wrong()) };
        let Some((&size, words)) = numbers.split_first() else { return Ok(None) };
        let size = match self {
            Self::Minhash => minhash::check_permutations(size)?,
            Self::Simhash => simhash::check_bits(size)?,
        };
        if words.len() == self.words(size) { Ok(Some((size, words))) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_values(k: u16, values: Option<&[u32]>) -> Vec<u8> {
        MinhashHeader::new(Origin::Words, k, 2, 1).sketch(values)
    }

    fn of_bits(source: Origin, k: u16, bits: Option<&[u8]>) -> Vec<u8> {
        SimhashHeader::new(source, k, 100).sketch(bits)
    }

    #[test]
    fn numbers_of_sketches() {
        let mut reader = SketchReader::default();
        let mut read = |bytes: &[u8]| reader.read(SketchKind::Minhash, bytes);
        assert_eq!(read(&of_values(5, None)), Ok(Document::Numbers(vec![])));
        assert_eq!(read(&of_values(5, Some(&[7, u32::MAX]))), Ok(Document::Numbers(vec![2, 7 | -1 << 32])));
        assert!(matches!(read(&of_values(4, Some(&[1, 2]))), Err(Error::Unlike { .. })));
        assert!(matches!(read(&[1, 2]), Err(Error::Malformed { .. })));

        let bits = [&[0xff; 12][..], &[0x50]].concat();
        let document = SketchReader::default()
            .read(SketchKind::Simhash, &of_bits(Origin::Words, 1, Some(&bits)))
            .unwrap();
        assert_eq!(document, Document::Numbers(vec![100, -1, (1 << 36) - 1 - 0xa]));
        assert_eq!(SketchKind::Simhash.parts(&document).unwrap().unwrap().0, 100);
        for wrong in [vec![100, 1], vec![3, 1], vec![-64, 1], vec![64, 1, 2]] {
            assert!(SketchKind::Simhash.parts(&Document::Numbers(wrong)).is_err());
        }
        assert_eq!(SketchKind::Minhash.parts(&Document::Numbers(vec![3, 1, 2])), Ok(Some((3, &[1, 2][..]))));
        for wrong in [vec![3, 1], vec![0], vec![-1, 2], vec![4000]] {
            assert!(SketchKind::Minhash.parts(&Document::Numbers(wrong)).is_err());
        }
    }

    #[test]
    fn bits_from_elsewhere_hide_no_difference() {
        let bits = [0; 13];
        let of = |source, k| of_bits(source, k, Some(&bits));
        let all = [of(Origin::Words, 1), of(Origin::Bits, 1), of(Origin::Words, 2)];
        for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
            let mut reader = SketchReader::default();
            let read = order.map(|n: usize| reader.read(SketchKind::Simhash, &all[n]).is_ok());
            assert_eq!(read.iter().filter(|good| **good).count(), 2, "{order:?}");
        }
    }
}
