//! Sketches as bytes: in tables, in indexes and over the wire. All numbers are little-endian.
//!
//! | bytes | minhash | simhash |
//! | --- | --- | --- |
//! | 0 | version of this format | the same |
//! | 1 | version of the hash | |
//! | 2 | version of the text rules | |
//! | 3 | kind of elements ([`Origin`](crate::features::origin::Origin)) | |
//! | 4 | 1 for an empty document, else 0 | |
//! | 5 | 0 | |
//! | 6, 7 | k, words in a shingle | |
//! | 8, 9 | number of permutations, m | number of bits, b |
//! | 10, 11 | 0 | 0 |
//! | 12 to 19 | seed | the bits begin, the first is the most significant |
//! | from 20 on | m values of 4 bytes | |
//!
//! In an empty document's sketch, all bits of the values are 1 (0 for simhash). So equal sketches
//! have equal bytes.

mod common;
mod minhash;
mod simhash;

pub use common::{VERSION, from_hex, number, push_hex};
pub use minhash::{Minhash, MinhashHeader};
pub use simhash::{Simhash, SimhashHeader};

const _: () = assert!(MinhashHeader::BYTES == 20 && SimhashHeader::BYTES == 12);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::features::origin::Origin;
    use proptest::prelude::*;

    fn minhash(values: &[u32]) -> Vec<u8> {
        MinhashHeader::new(Origin::Words, 5, values.len() as u16, 1).sketch(Some(values))
    }

    #[test]
    fn golden_bytes() {
        let bytes = minhash(&[0x0102_0304, 0xffff_ffff]);
        assert_eq!(
            bytes,
            [1, 1, 1, 1, 0, 0, 5, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 4, 3, 2, 1, 255, 255, 255, 255]
        );
        let text = "minhash:v1:words:h1.1:k5:seed1:m2:01020304ffffffff";
        assert_eq!(Minhash::parse(&bytes).unwrap().to_text().unwrap(), text);
        assert_eq!(Minhash::from_text(text).unwrap(), bytes);
        let bytes = SimhashHeader::new(Origin::Bits, 1, 64).sketch(Some(&[1, 2, 3, 4, 5, 6, 7, 0xab]));
        assert_eq!(bytes, [1, 1, 1, 0, 0, 0, 1, 0, 64, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 0xab]);
        let text = "simhash:v1:bits:h1.1:k1:01020304050607ab";
        assert_eq!(Simhash::parse(&bytes).unwrap().to_text().unwrap(), text);
        assert_eq!(Simhash::from_text(text).unwrap(), bytes);
        // Half a byte at the end is stored in the upper half of a byte.
        let bytes = SimhashHeader::new(Origin::Bits, 1, 12).sketch(Some(&[0xab, 0xc0]));
        assert_eq!(bytes, [1, 1, 1, 0, 0, 0, 1, 0, 12, 0, 0, 0, 0xab, 0xc0]);
        let text = "simhash:v1:bits:h1.1:k1:abc";
        assert_eq!(Simhash::parse(&bytes).unwrap().to_text().unwrap(), text);
        assert_eq!(Simhash::from_text(text).unwrap(), bytes);
        let more = [&bytes[..13], &[0xc1]].concat();
        assert!(Simhash::parse(&more).is_err() && Simhash::from_text("simhash:v1:bits:h1.1:k1:a").is_err());
    }

    proptest! {
        #[test]
        fn texts_and_bytes_come_back(
            values in prop::collection::vec(any::<u32>(), 1..100),
            k in 1..1000u16, seed in any::<i64>(), source in 0..7u8, empty in any::<bool>(),
            digits in 2..=256u16,
        ) {
            let source = Origin::of_sketch(|origin| origin as u8 == source).unwrap();
            let header = MinhashHeader::new(source, k, values.len() as u16, seed);
            let bytes = header.sketch((!empty).then_some(&values));
            let sketch = Minhash::parse(&bytes).unwrap();
            prop_assert_eq!(sketch.header, MinhashHeader { empty, ..header });
            prop_assert_eq!(Minhash::from_text(&sketch.to_text().unwrap()).unwrap(), bytes);
            let size = usize::from(digits).div_ceil(2);
            let mut bits: Vec<u8> = values.iter().cycle().take(size).map(|v| *v as u8).collect();
            if digits % 2 == 1 {
                bits[size - 1] &= 0xf0;
            }
            let header = SimhashHeader::new(source, k, 4 * digits);
            let bytes = header.sketch((!empty).then_some(&bits));
            let sketch = Simhash::parse(&bytes).unwrap();
            prop_assert_eq!(sketch.header, SimhashHeader { empty, ..header });
            prop_assert_eq!(Simhash::from_text(&sketch.to_text().unwrap()).unwrap(), bytes);
        }

        /// Any bytes give an error or a sketch that is written as it was read.
        #[test]
        fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..60), head in any::<bool>(), cut in any::<prop::sample::Index>(), with in any::<u8>()) {
            let mut bytes = bytes;
            if head {
                bytes = minhash(&[1, 2, 3]);
                let at = cut.index(bytes.len());
                bytes[at] = with;
            }
            if let Ok(sketch) = Minhash::parse(&bytes) {
                prop_assert_eq!(Minhash::from_text(&sketch.to_text().unwrap()).unwrap(), bytes.clone());
            }
            if let Ok(sketch) = Simhash::parse(&bytes) {
                prop_assert_eq!(Simhash::from_text(&sketch.to_text().unwrap()).unwrap(), bytes);
            }
        }

        #[test]
        fn any_text(text in ".{0,40}", head in any::<bool>()) {
            let text = if head { format!("minhash:v1:words:h1.1:k5:seed1:{text}") } else { text };
            let _ = (Minhash::from_text(&text), Simhash::from_text(&text));
        }
    }

    #[test]
    fn sketches_that_are_cut_short_are_errors() {
        let bytes = minhash(&[1, 2, 3]);
        assert!((0..bytes.len()).all(|length| Minhash::parse(&bytes[..length]).is_err()));
        let bytes = SimhashHeader::new(Origin::Words, 1, 64).sketch(Some(&[7; 8]));
        assert!((0..bytes.len()).all(|length| Simhash::parse(&bytes[..length]).is_err()));
    }

    #[test]
    fn unlike_sketches_do_not_compare() {
        let base = MinhashHeader::new(Origin::Words, 5, 2, 1);
        let others = [
            MinhashHeader { seed: 2, ..base },
            MinhashHeader { k: 4, ..base },
            MinhashHeader { source: Origin::Tokens, ..base },
            MinhashHeader { hash_version: 2, ..base },
            MinhashHeader { text_version: 2, ..base },
        ];
        let bytes = base.sketch(Some(&[1, 2]));
        let sketch = Minhash::parse(&bytes).unwrap();
        for other in others {
            let bytes = other.sketch(Some(&[1, 2]));
            let other = Minhash::parse(&bytes).unwrap();
            assert!(matches!(sketch.agreeing(&other), Err(Error::Unlike { .. })));
        }
        let empty = base.sketch(None);
        let empty = Minhash::parse(&empty).unwrap();
        assert_eq!(
            (sketch.agreeing(&sketch), sketch.agreeing(&empty), empty.agreeing(&empty)),
            (Ok(2), Ok(0), Ok(0))
        );
    }

    #[test]
    fn bits_from_elsewhere_compare_with_as_many() {
        let [words, shingles, given, long] =
            [(Origin::Words, 1, 64), (Origin::Words, 2, 64), (Origin::Bits, 1, 64), (Origin::Bits, 1, 128)]
                .map(|(source, k, bits)| SimhashHeader::new(source, k, bits));
        assert!(words.check_like(&shingles).is_err() && given.check_like(&long).is_err());
        assert!(words.check_like(&given).is_ok() && given.check_like(&shingles).is_ok());
        let (empty, full) = (words.sketch(None), words.sketch(Some(&[0; 8])));
        let (empty, full) = (Simhash::parse(&empty).unwrap(), Simhash::parse(&full).unwrap());
        assert_eq!(
            (empty.distance(&empty), empty.distance(&full), full.distance(&full)),
            (Ok(64), Ok(64), Ok(0))
        );
    }
}
