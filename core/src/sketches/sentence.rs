//! Sentence signatures (Huang et al., TLCS (CIKM 2008), section 3.2; docs/design/algorithms.md
//! section 5): documents that have long sentences in common are likely to have a signature in
//! common.
//!
//! Each sentence, written as its words joined by single spaces, has an MD5 fingerprint of 16 bytes.
//! A fingerprint has 16 derivatives: its bytes form a ring, which is read from each of the bytes
//! on. The derivatives of each kind are divided into m parts by their remainder modulo m. In each
//! part, the s least derivatives vote on each bit of the signature, with the weight 1 + ln(width of
//! the sentence). If the voting sentences are to be dispersed over the document, derivatives are
//! chosen in ascending order, each only if its sentence is far enough from the sentences chosen
//! before it; a part with fewer than s such derivatives makes no signature. O(bytes) and, for each
//! sentence, O(n), or O(n · log sentences) if dispersed.

use md5::{Digest, Md5};

pub use super::sentence_parameters::SignatureParameters;
use crate::error::Result;
use crate::executor::Stop;
use crate::memory;
use crate::text::characters::width;
use crate::text::sentences::for_each_sentence;
use crate::text::words::{WordScratch, for_each_word};

const DOING: &str = "making sentence signatures";

/// A fingerprint and the weight of its vote.
type Weighted = (u128, u64);

/// A sentence that may vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Fingerprint {
    /// The fingerprint, or a derivative of it.
    value: u128,
    /// The place of the sentence's first occurrence among the sentences that are wide enough.
    place: u32,
    /// The weight of its vote.
    weight: u64,
}

/// Makes the sentence signatures of texts. Its memory is reused for further texts.
///
/// Texts that share long sentences are likely to share a signature (Huang, Wang, Li, CIKM 2008).
///
/// ```
/// use neardup_core::Stop;
/// use neardup_core::parameters::SentenceParameters;
/// use neardup_core::sketch::SentenceSigner;
///
/// let mut signer = SentenceSigner::new(SentenceParameters::default())?;
/// let stop = Stop::default();
/// let a = signer.signatures("A sentence of some length. Another one that is long!", &stop)?.to_vec();
/// let b = signer.signatures("another  one that is LONG", &stop)?;
/// assert!(a.iter().any(|signature| b.contains(signature)));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct SentenceSigner {
    parameters: SignatureParameters,
    word: WordScratch,
    sentence: Vec<u8>,
    fingerprints: Vec<Fingerprint>,
    /// The derivatives of a kind, ascending, if sentences are to be dispersed.
    derivatives: Vec<Fingerprint>,
    /// The places of the least derivatives of each part, if sentences are to be dispersed.
    places: Vec<Vec<u32>>,
    /// The least derivatives of each part, ascending.
    least: Vec<Vec<Weighted>>,
    signatures: Vec<u128>,
}

impl SentenceSigner {
    /// Creates a signer with these parameters.
    ///
    /// Fails if parameters are out of their ranges.
    ///
    /// ```
    /// use neardup_core::parameters::SentenceParameters;
    /// use neardup_core::sketch::SentenceSigner;
    ///
    /// let none = SentenceParameters { parts: 0, ..Default::default() };
    /// assert!(SentenceSigner::new(none).is_err());
    /// ```
    pub fn new(parameters: SignatureParameters) -> Result<Self> {
        parameters.check()?;
        Ok(Self { parameters, ..Self::default() })
    }

    /// Returns the signatures of a text, grouped by kind. There are at most m · n signatures. The
    /// last four bits of a signature are its kind, so signatures of different kinds are never
    /// equal. A text without sentences that are wide enough has no signatures.
    ///
    /// ```
    /// use neardup_core::Stop;
    /// use neardup_core::sketch::SentenceSigner;
    ///
    /// let mut signer = SentenceSigner::new(Default::default())?;
    /// assert!(signer.signatures("Too short.", &Stop::default())?.is_empty());
    /// assert_eq!(signer.signatures("One sentence that is long enough.", &Stop::default())?.len(), 16);
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn signatures(&mut self, text: &str, stop: &Stop) -> Result<&[u128]> {
        self.fingerprint(text, stop)?;
        self.signatures.clear();
        memory::reserve(&mut self.signatures, self.parameters.most(), DOING)?;
        self.least.resize_with(self.parameters.parts as usize, Vec::new);
        let apart = self.fingerprints.len() as u64 * u64::from(self.parameters.dispersed) / 1000;
        for kind in 0..self.parameters.kinds {
            stop.check()?;
            self.least.iter_mut().for_each(Vec::clear);
            // No two sentences have the same place, so all sentences have at least a distance of 1.
            if apart > 1 {
                self.choose_dispersed(kind, apart, stop)?;
            } else {
                self.choose(kind)?;
            }
            for least in self.least.iter().filter(|least| !least.is_empty()) {
                self.signatures.push(vote(least) & !0xf | u128::from(kind));
            }
        }
        Ok(&self.signatures)
    }

    /// Finds the least derivatives of a kind.
    fn choose(&mut self, kind: u32) -> Result<()> {
        let Self { parameters, fingerprints, least, .. } = self;
        for fingerprint in fingerprints {
            let derivative = fingerprint.value.rotate_left(8 * kind);
            let least = &mut least[remainder(derivative, parameters.parts)];
            let place = least.partition_point(|&(other, _)| other < derivative);
            if place < parameters.smallest as usize {
                least.truncate(parameters.smallest as usize - 1);
                memory::reserve(least, 1, DOING)?;
                least.insert(place, (derivative, fingerprint.weight));
            }
        }
        Ok(())
    }

    /// Finds the least derivatives of a kind whose sentences are at least `apart` places apart. A
    /// part that has too few of them gets no derivatives.
    fn choose_dispersed(&mut self, kind: u32, apart: u64, stop: &Stop) -> Result<()> {
        let Self { parameters, fingerprints, derivatives, least, places, .. } = self;
        let enough = parameters.smallest as usize;
        let rotated =
            fingerprints.iter().map(|of| Fingerprint { value: of.value.rotate_left(8 * kind), ..*of });
        memory::refill(derivatives, rotated, DOING)?;
        crate::executor::sort_unstable_by(derivatives, stop, &|a, b| a.cmp(b))?;
        places.resize_with(least.len(), Vec::new);
        places.iter_mut().for_each(Vec::clear);
        for &Fingerprint { value, place, weight } in derivatives.iter() {
            let part = remainder(value, parameters.parts);
            let (least, places) = (&mut least[part], &mut places[part]);
            let is_far = |&other: &u32| u64::from(place.abs_diff(other)) >= apart;
            if least.len() < enough && places.iter().all(is_far) {
                memory::push(least, (value, weight), DOING)?;
                memory::push(places, place, DOING)?;
            }
        }
        least.iter_mut().filter(|least| least.len() < enough).for_each(Vec::clear);
        Ok(())
    }

    /// Computes the fingerprints of the text's sentences. Equal fingerprints are kept once.
    fn fingerprint(&mut self, text: &str, stop: &Stop) -> Result<()> {
        let Self { parameters, word, sentence, fingerprints, .. } = self;
        fingerprints.clear();
        let mut place = 0;
        for_each_sentence(text, stop, |span| {
            sentence.clear();
            for_each_word(span.slice(text), word, stop, |word| {
                memory::reserve(sentence, word.len() + 1, DOING)?;
                if !sentence.is_empty() {
                    sentence.push(b' ');
                }
                sentence.extend_from_slice(word);
                Ok(())
            })?;
            // The number of columns of a text always fits in 32 bits.
            let wide = width(str::from_utf8(sentence).unwrap_or_default()) as u32;
            if wide > parameters.wider_than {
                let digest = Md5::digest(&*sentence);
                let value = u128::from_be_bytes(digest.into());
                memory::push(fingerprints, Fingerprint { value, place, weight: weight(wide) }, DOING)?;
                place += 1;
            }
            Ok(())
        })?;
        crate::executor::sort_unstable_by(fingerprints, stop, &|a, b| a.cmp(b))?;
        fingerprints.dedup_by_key(|fingerprint| fingerprint.value);
        Ok(())
    }
}

/// Returns 1 + ln(width) as a whole number, so sums do not depend on the order of their terms.
fn weight(width: u32) -> u64 {
    (65536.0 * (1.0 + f64::from(width).ln())).round() as u64
}

/// Returns a 128-bit number modulo a small number.
fn remainder(number: u128, modulus: u32) -> usize {
    let modulus = u64::from(modulus);
    let (high, low) = ((number >> 64) as u64 % modulus, number as u64 % modulus);
    // 2^64 modulo m.
    let power = (u64::MAX % modulus + 1) % modulus;
    ((high * power + low) % modulus) as usize
}

/// Returns the bits for which the votes in favour weigh more than the votes against.
fn vote(fingerprints: &[Weighted]) -> u128 {
    /// Up to this number of fingerprints, there are fewer groups of fingerprints that can win than
    /// bits.
    const FEW: usize = 4;
    let all: u64 = fingerprints.iter().map(|&(_, weight)| weight).sum();
    if fingerprints.len() <= FEW {
        // A bit is set if all fingerprints of a group that weighs more than the rest have it.
        return (1..1u32 << fingerprints.len()).fold(0, |signature, some| {
            let voters = || fingerprints.iter().enumerate().filter(|(n, _)| some >> n & 1 == 1);
            let weight: u64 = voters().map(|(_, (_, weight))| weight).sum();
            let common = voters().fold(u128::MAX, |common, (_, (fingerprint, _))| common & fingerprint);
            if 2 * weight > all { signature | common } else { signature }
        });
    }
    (0..u128::BITS).fold(0, |signature, bit| {
        let voters = fingerprints.iter().filter(|(fingerprint, _)| fingerprint >> bit & 1 == 1);
        let weight: u64 = voters.map(|&(_, weight)| weight).sum();
        signature | u128::from(2 * weight > all) << bit
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::sentences::sentences;
    use crate::text::words::words;
    use proptest::prelude::*;

    /// The definition of docs/design/algorithms.md section 5, as code.
    fn definition(text: &str, parameters: SignatureParameters) -> Vec<u128> {
        let SignatureParameters { parts, kinds, smallest, wider_than, dispersed } = parameters;
        let (mut all, mut wide) = (std::collections::BTreeMap::new(), 0usize);
        for span in sentences(text) {
            let sentence = words(span.slice(text)).join(" ");
            if width(&sentence) > wider_than as usize {
                let digest: [u8; 16] = Md5::digest(&*sentence).into();
                all.entry(digest).or_insert((width(&sentence), wide));
                wide += 1;
            }
        }
        let mut signatures = Vec::new();
        for j in 0..kinds as usize {
            let derivatives: Vec<(u128, usize, usize)> = all
                .iter()
                .map(|(digest, &(width, place))| {
                    let ring: [u8; 16] = std::array::from_fn(|n| digest[(n + j) % 16]);
                    (u128::from_be_bytes(ring), width, place)
                })
                .collect();
            let apart = all.len() * dispersed as usize / 1000;
            for i in 0..parts {
                let mut part: Vec<_> =
                    derivatives.iter().filter(|(d, ..)| d % u128::from(parts) == u128::from(i)).collect();
                part.sort();
                let mut chosen: Vec<usize> = Vec::new();
                part.retain(|(.., place)| {
                    let far = chosen.len() < smallest as usize
                        && chosen.iter().all(|other| other.abs_diff(*place) >= apart);
                    if far {
                        chosen.push(*place);
                    }
                    far
                });
                if part.is_empty() || apart > 1 && part.len() < smallest as usize {
                    continue;
                }
                let mut signature = 0u128;
                for bit in 0..128 {
                    let sum: f64 = part
                        .iter()
                        .map(|(d, width, _)| {
                            let w = (65536.0 * (1.0 + (*width as f64).ln())).round();
                            if d >> bit & 1 == 1 { w } else { -w }
                        })
                        .sum();
                    if sum > 0.0 {
                        signature |= 1 << bit;
                    }
                }
                signatures.push((signature >> 4) << 4 | j as u128);
            }
        }
        signatures
    }

    proptest! {
        #[test]
        fn equals_the_definition(
            sentences in prop::collection::vec("[a-c]{2,4} [a-d]{9,12} [0-9]{1,4}( 漢字)?", 0..60),
            parts in 1..12u32,
            kinds in 1..=16u32,
            smallest in prop_oneof![Just(1u32), 3..6u32],
            dispersed in prop_oneof![Just(0u32), 0..=500u32],
        ) {
            let text: String = sentences.iter().map(|sentence| format!("{sentence}. ")).collect();
            let parameters = SignatureParameters { parts, kinds, smallest, wider_than: 16, dispersed };
            let mut signatures = SentenceSigner::new(parameters).unwrap();
            let stop = Stop::default();
            prop_assert_eq!(signatures.signatures(&text, &stop).unwrap(), definition(&text, parameters));
        }
    }

    #[test]
    fn equal_sentences_count_once_however_they_are_written() {
        let stop = Stop::default();
        let mut signatures = SentenceSigner::new(SignatureParameters::default()).unwrap();
        let once = signatures.signatures("The quick brown fox jumps.", &stop).unwrap().to_vec();
        assert_eq!(once.len(), 16);
        let twice = "the quick BROWN fox jumps!\n\nThe  quick brown\tfox – jumps.";
        assert_eq!(signatures.signatures(twice, &stop).unwrap(), once);
        // 16 columns are not enough; eight characters of two columns with spaces between them are.
        assert!(signatures.signatures("one two three 45", &stop).unwrap().is_empty());
        assert!(!signatures.signatures("一二三四五六七八。", &stop).unwrap().is_empty());
        // The last four bits are the kind; the kinds follow each other in order.
        assert!(once.iter().zip(0..).all(|(signature, kind)| signature & 0xf == kind));
    }

    #[test]
    fn dispersed_sentences_are_of_several_places() {
        let stop = Stop::default();
        let sentence = |name: &str, n: usize| format!("The {name} of sentence number {n} is here. ");
        let frame = |half: usize| (0..10).map(|n| sentence("frame", 10 * half + n)).collect::<String>();
        let page = |own: &str| {
            let content: String = (0..20).map(|n| sentence(own, n)).collect();
            format!("{}{content}{}", frame(0), frame(1))
        };
        let pages =
            [page("harbour"), page("council"), page("harbour").replace("number 7 is", "number 7 was")];
        let met = |parameters: SignatureParameters, a: usize, b: usize| {
            let mut signer = SentenceSigner::new(parameters).unwrap();
            let of = signer.signatures(&pages[a], &stop).unwrap().to_vec();
            signer.signatures(&pages[b], &stop).unwrap().iter().any(|signature| of.contains(signature))
        };
        let dispersed = SignatureParameters { dispersed: 300, ..SignatureParameters::default() };
        // Three sentences from one half of the frame make a signature that all pages of the site
        // share.
        assert!(met(SignatureParameters::default(), 0, 1) && met(SignatureParameters::default(), 0, 2));
        assert!(!met(dispersed, 0, 1) && met(dispersed, 0, 2));
    }

    #[test]
    fn pinned() {
        let stop = Stop::default();
        let mut signatures = SentenceSigner::new(SignatureParameters::default()).unwrap();
        let all = signatures.signatures("The quick brown fox jumps.", &stop).unwrap();
        // echo -n 'the quick brown fox jumps' | md5sum, its last digit replaced.
        assert_eq!(format!("{:032x}", all[0] >> 4), format!("0{}", &PINNED[..31]));
    }

    /// The output of md5sum.
    const PINNED: &str = "170077285ecc90bfc4f817925c083ee9";

    #[test]
    fn parameters_outside_their_ranges_are_refused() {
        let good = SignatureParameters::default();
        for bad in [
            SignatureParameters { parts: 0, ..good },
            SignatureParameters { kinds: 17, ..good },
            SignatureParameters { smallest: 2, ..good },
            SignatureParameters { smallest: 0, ..good },
            SignatureParameters { dispersed: 501, ..good },
        ] {
            assert!(SentenceSigner::new(bad).is_err(), "{bad:?}");
        }
    }
}
