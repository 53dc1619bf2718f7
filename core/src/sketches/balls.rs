//! A ball has a sketch in its middle, and a limit for how near to it other sketches have to be.
//! Searches use balls as queries.
//!
//! | bytes | |
//! | --- | --- |
//! | 0 | version of this format |
//! | 1 to 7 | 0 |
//! | 8 to 15 | least similarity (minhash) or greatest distance (simhash), a double, little-endian |
//! | from 16 on | the sketch in its middle ([`super::wire`]) |

use super::minhash::{self, least_agreeing};
use super::simhash;
use super::wire::{Minhash, Simhash};
use crate::error::{Error, Result, split_header};

/// The version of the format in this file.
pub const VERSION: u8 = 1;

/// The number of bytes before the sketch.
pub const BYTES: usize = 16;

const _: () = assert!(BYTES == size_of::<u64>() + size_of::<f64>());

/// The minhash sketches whose similarity to the sketch in the middle is at least a given
/// similarity.
#[derive(Debug, Clone, Copy)]
pub struct MinhashBall<'a> {
    /// The sketch in the middle.
    pub middle: Minhash<'a>,
    /// The least similarity, in (0, 1].
    pub similarity: f64,
    /// The number of values that have to agree.
    pub least_agreeing: u32,
}

impl<'a> MinhashBall<'a> {
    const NAME: &'static str = "minhash_ball";

    /// Builds the bytes of the ball around a sketch. Fails for a similarity outside (0, 1].
    pub fn build(middle: &[u8], similarity: f64) -> Result<Vec<u8>> {
        minhash::check_similarity(similarity)?;
        Ok(build(middle, similarity))
    }

    /// Reads a ball. Fails for malformed bytes.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let (similarity, middle) = parse(bytes, Self::NAME)?;
        minhash::check_similarity(similarity).map_err(|error| malformed(Self::NAME, &error))?;
        let middle = Minhash::parse(middle)?;
        let least_agreeing = least_agreeing(similarity, middle.header.permutations);
        Ok(Self { middle, similarity, least_agreeing })
    }

    /// Reports whether the ball contains a sketch of its kind: exactly if [`minhash::similarity`]
    /// of the agreeing values is at least the similarity of the ball. Fails for a sketch of another
    /// kind.
    pub fn contains(&self, sketch: &Minhash<'_>) -> Result<bool> {
        Ok(self.middle.agreeing(sketch)? >= self.least_agreeing)
    }

    /// Returns the ball as text: `<minhash:…,0.8>`.
    pub fn to_text(&self) -> Result<String> {
        Ok(format!("<{},{}>", self.middle.to_text()?, self.similarity))
    }

    /// Reads the output of [`MinhashBall::to_text`] and returns the ball's bytes.
    pub fn from_text(text: &str) -> Result<Vec<u8>> {
        let (middle, similarity) = split(text, Self::NAME)?;
        Self::build(&Minhash::from_text(middle)?, similarity).map_err(|error| malformed(Self::NAME, &error))
    }
}

/// The simhash sketches whose Hamming distance to the sketch in the middle is at most a given
/// distance.
#[derive(Debug, Clone, Copy)]
pub struct SimhashBall<'a> {
    /// The sketch in the middle.
    pub middle: Simhash<'a>,
    /// The greatest distance, less than the number of bits.
    pub distance: u16,
}

impl<'a> SimhashBall<'a> {
    const NAME: &'static str = "simhash_ball";

    /// Builds the bytes of the ball around a sketch. Fails unless the distance is a whole number
    /// that is at least 0 and less than the number of bits.
    pub fn build(middle: &[u8], distance: f64) -> Result<Vec<u8>> {
        let bits = Simhash::parse(middle)?.header.bits;
        Ok(build(middle, simhash::check_distance(distance, bits)?.into()))
    }

    /// Reads a ball. Fails for malformed bytes.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let (distance, middle) = parse(bytes, Self::NAME)?;
        let middle = Simhash::parse(middle)?;
        let distance = simhash::check_distance(distance, middle.header.bits);
        Ok(Self { middle, distance: distance.map_err(|error| malformed(Self::NAME, &error))? })
    }

    /// Reports whether the ball contains a sketch of its kind. Fails for a sketch of another kind.
    pub fn contains(&self, sketch: &Simhash<'_>) -> Result<bool> {
        Ok(self.middle.distance(sketch)? <= self.distance.into())
    }

    /// Returns the ball as text: `<simhash:…,3>`.
    pub fn to_text(&self) -> Result<String> {
        Ok(format!("<{},{}>", self.middle.to_text()?, self.distance))
    }

    /// Reads the output of [`SimhashBall::to_text`] and returns the ball's bytes.
    pub fn from_text(text: &str) -> Result<Vec<u8>> {
        let (middle, distance) = split(text, Self::NAME)?;
        Self::build(&Simhash::from_text(middle)?, distance).map_err(|error| malformed(Self::NAME, &error))
    }
}

fn build(middle: &[u8], limit: f64) -> Vec<u8> {
    let mut bytes = vec![0; BYTES];
    bytes[0] = VERSION;
    // Adding 0.0 turns -0.0 into 0.0, so equal balls have equal bytes.
    bytes[8..].copy_from_slice(&(limit + 0.0).to_le_bytes());
    bytes.extend_from_slice(middle);
    bytes
}

fn parse<'a>(bytes: &'a [u8], what: &'static str) -> Result<(f64, &'a [u8])> {
    let bad = |why: String| Error::Malformed { what, why };
    let (&[_, zeros @ .., l0, l1, l2, l3, l4, l5, l6, l7], middle) =
        split_header::<BYTES>(what, bytes, VERSION)?;
    let limit = f64::from_le_bytes([l0, l1, l2, l3, l4, l5, l6, l7]);
    if zeros.iter().any(|&byte| byte != 0) || limit == 0.0 && limit.is_sign_negative() {
        return Err(bad("reserved bytes are not 0".to_owned()));
    }
    Ok((limit, middle))
}

fn split<'a>(text: &'a str, what: &'static str) -> Result<(&'a str, f64)> {
    let bad = |why: &str| Error::Malformed { what, why: why.to_owned() };
    let inner = text.trim().strip_prefix('<').and_then(|text| text.strip_suffix('>'));
    let parts = inner.and_then(|inner| inner.rsplit_once(','));
    let (middle, limit) = parts.ok_or_else(|| bad("it should be <sketch,limit>"))?;
    Ok((middle, limit.trim().parse().map_err(|_| bad("its limit is not a number"))?))
}

fn malformed(what: &'static str, error: &Error) -> Error {
    Error::Malformed { what, why: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::origin::Origin;
    use crate::sketches::wire::{MinhashHeader, SimhashHeader};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn balls_contain_what_the_reported_number_says(
            a in prop::collection::vec(0..2u32, 1..80),
            changes in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
            similarity in 0.001..=1.0f64,
            exact in any::<bool>(),
        ) {
            let mut b = a.clone();
            changes.iter().for_each(|n| b[n.index(a.len())] += 1);
            let m = a.len() as u16;
            let header = MinhashHeader::new(Origin::Words, 5, m, 1);
            let (a, b) = (header.sketch(Some(&a)), header.sketch(Some(&b)));
            let (x, y) = (Minhash::parse(&a).unwrap(), Minhash::parse(&b).unwrap());
            let reported = minhash::similarity(x.agreeing(&y).unwrap(), m);
            let similarity = if exact && reported > 0.0 { reported } else { similarity };
            let bytes = MinhashBall::build(&a, similarity).unwrap();
            let ball = MinhashBall::parse(&bytes).unwrap();
            prop_assert_eq!(ball.contains(&y).unwrap(), reported >= similarity);
            prop_assert!(ball.contains(&x).unwrap());
            prop_assert_eq!(MinhashBall::from_text(&ball.to_text().unwrap()).unwrap(), bytes.clone());
            for length in 0..bytes.len() {
                prop_assert!(MinhashBall::parse(&bytes[..length]).is_err());
            }
        }

        #[test]
        fn balls_of_bits(a in any::<u64>(), flips in prop::collection::vec(0..64u32, 0..12), distance in 0..12u16) {
            let b = flips.iter().fold(a, |b, flip| b ^ 1 << flip);
            let header = SimhashHeader::new(Origin::Words, 1, 64);
            let [a, b] = [a, b].map(|bits| header.sketch(Some(&bits.to_be_bytes())));
            let bytes = SimhashBall::build(&a, distance.into()).unwrap();
            let ball = SimhashBall::parse(&bytes).unwrap();
            let (x, y) = (Simhash::parse(&a).unwrap(), Simhash::parse(&b).unwrap());
            prop_assert_eq!(ball.contains(&y).unwrap(), x.distance(&y).unwrap() <= distance.into());
            prop_assert_eq!(SimhashBall::from_text(&ball.to_text().unwrap()).unwrap(), bytes);
        }
    }

    proptest! {
        /// Any bytes give an error or a ball that is written as it was read.
        #[test]
        fn any_bytes(
            random in prop::collection::vec(any::<u8>(), 0..60),
            form in 0..3u8,
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            more in prop::option::of(0..50usize),
        ) {
            let mut bytes = match form {
                0 => random,
                1 => build(&MinhashHeader::new(Origin::Words, 5, 2, 1).sketch(Some(&[1, 2])), 0.5),
                _ => build(&SimhashHeader::new(Origin::Words, 1, 64).sketch(Some(&[7; 8])), 3.0),
            };
            for (at, with) in changes {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] = with;
                }
            }
            if let Some(length) = more {
                bytes.resize(length, 0);
            }
            if let Ok(ball) = MinhashBall::parse(&bytes) {
                prop_assert_eq!(MinhashBall::from_text(&ball.to_text().unwrap()).unwrap(), bytes.clone());
            }
            if let Ok(ball) = SimhashBall::parse(&bytes) {
                prop_assert_eq!(SimhashBall::from_text(&ball.to_text().unwrap()).unwrap(), bytes);
            }
        }

        #[test]
        fn any_text(text in ".{0,40}", middle in "(minhash|simhash):v1:[a-z]{0,6}:h1.1:k[0-9]{0,5}:.{0,20}", limit in ".{0,6}") {
            for text in [text, format!("<{middle},{limit}>")] {
                let _ = (MinhashBall::from_text(&text), SimhashBall::from_text(&text));
            }
        }
    }

    #[test]
    fn limits_are_checked() {
        let middle = MinhashHeader::new(Origin::Words, 5, 2, 1).sketch(Some(&[1, 2]));
        for similarity in [0.0, -0.5, 1.5, f64::NAN, f64::INFINITY] {
            assert!(MinhashBall::build(&middle, similarity).is_err());
        }
        let middle = SimhashHeader::new(Origin::Words, 1, 64).sketch(Some(&[0; 8]));
        for distance in [-1.0, 64.0, 2.5, f64::NAN] {
            assert!(SimhashBall::build(&middle, distance).is_err());
        }
        let bytes = SimhashBall::build(&middle, -0.0).unwrap();
        assert_eq!(bytes, SimhashBall::build(&middle, 0.0).unwrap());
    }

    #[test]
    fn nothing_is_near_an_empty_document() {
        let header = SimhashHeader::new(Origin::Words, 1, 64);
        let (empty, full) = (header.sketch(None), header.sketch(Some(&[0; 8])));
        let ball = SimhashBall::build(&full, 63.0).unwrap();
        let ball = SimhashBall::parse(&ball).unwrap();
        assert_eq!(ball.contains(&Simhash::parse(&empty).unwrap()), Ok(false));
        assert_eq!(ball.contains(&Simhash::parse(&full).unwrap()), Ok(true));
    }
}
