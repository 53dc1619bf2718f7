//! Sketches of whole documents in their stored form.

use super::minhash::Minhasher;
use super::simhash::Simhasher;
use super::wire::{MinhashHeader, SimhashHeader};
use crate::error::Result;
use crate::executor::Stop;
use crate::features::origin::Origin;
use crate::features::tokens::{Document, FeatureSpec, Scratch, for_each_token};

/// Calls `add` with the elements of the sketch of a document, including repeats.
fn for_each_element(
    document: &Document,
    source: Origin,
    k: u16,
    stop: &Stop,
    mut add: impl FnMut(u64),
) -> Result<()> {
    let (tokenizer, shingle) = (source.tokenizer(), k.into());
    let spec = FeatureSpec { tokenizer, shingle, multiset: false, wrap: false };
    for_each_token(document, &spec, &mut Scratch::default(), stop, |token| {
        add(token.element());
        Ok(())
    })
}

/// Makes the minhash sketch of a document with the parameters in a header: the kind of its
/// elements, the words in a shingle, the number of values, the seed.
///
/// The source in the header says how a text is cut; for tokens and numbers, use a header with that
/// source. Returns bytes to store, which [`Minhash::parse`](crate::sketch::Minhash::parse) reads.
/// Fails only if memory is short, or after a request to stop. O(bytes · k + elements · values).
///
/// ```
/// use neardup_core::sketch::{Minhash, MinhashHeader, Origin};
/// use neardup_core::{Document, Stop, minhash_sketch};
///
/// let header = MinhashHeader::new(Origin::Words, 2, 128, 1);
/// let sketch = minhash_sketch(&Document::from("to be or not"), &header, &Stop::default())?;
/// assert_eq!((sketch.len(), Minhash::parse(&sketch)?.header), (20 + 4 * 128, header));
/// # Ok::<(), neardup_core::Error>(())
/// ```
pub fn minhash_sketch(document: &Document, header: &MinhashHeader, stop: &Stop) -> Result<Vec<u8>> {
    let mut hasher = Minhasher::new(header.permutations, header.seed);
    for_each_element(document, header.source, header.k, stop, |element| hasher.add(element))?;
    Ok(header.sketch(hasher.values()))
}

/// Makes the simhash sketch of a document with the parameters in a header: the kind of its
/// elements, the words in a shingle, the number of bits.
///
/// Each occurrence of an element counts. Returns bytes to store, which
/// [`Simhash::parse`](crate::sketch::Simhash::parse) reads. Fails only if memory is short, or after
/// a request to stop. O(bytes · k + elements · bits).
///
/// ```
/// use neardup_core::sketch::{Origin, Simhash, SimhashHeader};
/// use neardup_core::{Document, Stop, simhash_sketch};
///
/// let header = SimhashHeader::new(Origin::Words, 1, 64);
/// let of = |text: &str| simhash_sketch(&Document::from(text), &header, &Stop::default());
/// let (a, b) = (of("to be or not to be")?, of("not to be, or to be")?);
/// assert_eq!(Simhash::parse(&a)?.distance(&Simhash::parse(&b)?)?, 0);
/// # Ok::<(), neardup_core::Error>(())
/// ```
pub fn simhash_sketch(document: &Document, header: &SimhashHeader, stop: &Stop) -> Result<Vec<u8>> {
    let mut hasher = Simhasher::new(header.bits);
    for_each_element(document, header.source, header.k, stop, |element| hasher.add(element))?;
    Ok(header.sketch(hasher.bits().as_deref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash_bytes;
    use crate::sketches::wire::{Minhash, Simhash};

    #[test]
    fn elements_are_what_the_source_says() {
        let stop = &Stop::default();
        let text = Document::Text("To be, or".to_owned());
        let words = ["to", "be", "or"].map(|word| hash_bytes(word.as_bytes()));
        let mut minhasher = Minhasher::new(8, 3);
        words.iter().for_each(|&word| minhasher.add(word));
        let header = MinhashHeader::new(Origin::Words, 1, 8, 3);
        assert_eq!(minhash_sketch(&text, &header, stop), Ok(header.sketch(minhasher.values())));
        let mut simhasher = Simhasher::new(64);
        words.iter().for_each(|&word| simhasher.add(word));
        let header = SimhashHeader::new(Origin::Words, 1, 64);
        let made = simhash_sketch(&text, &header, stop).unwrap();
        assert_eq!(made, header.sketch(simhasher.bits().as_deref()));
        for source in [Origin::Chars, Origin::Whitespace] {
            let other = simhash_sketch(&text, &SimhashHeader { source, ..header }, stop).unwrap();
            assert_ne!(other[SimhashHeader::BYTES..], made[SimhashHeader::BYTES..]);
        }
        let none = Document::Text(" \u{ad} ".to_owned());
        assert!(Simhash::parse(&simhash_sketch(&none, &header, stop).unwrap()).unwrap().header.empty);
        let header = MinhashHeader::new(Origin::Words, 5, 8, 3);
        assert!(Minhash::parse(&minhash_sketch(&none, &header, stop).unwrap()).unwrap().header.empty);
    }
}
