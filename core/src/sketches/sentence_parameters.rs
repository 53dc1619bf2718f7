//! The parameters of sentence signatures.

use crate::error::{Error, Result};

/// The parameters of signatures. Only signatures made with the same parameters are comparable.
///
/// ```
/// use neardup_core::parameters::SentenceParameters;
/// use neardup_core::sketch::SentenceSigner;
///
/// let dispersed = SentenceParameters { dispersed: 100, ..Default::default() };
/// assert_eq!(dispersed.most(), 7 * 16);
/// assert!(SentenceSigner::new(dispersed).is_ok());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignatureParameters {
    /// m: the number of parts into which the derivatives of one kind are divided.
    pub parts: u32,
    /// n: the number of kinds of derivatives.
    pub kinds: u32,
    /// s: the number of fingerprints that vote on a signature. 1 finds the most pairs; 2 is not
    /// allowed.
    pub smallest: u32,
    /// The width that a sentence must exceed.
    pub wider_than: u32,
    /// The least distance of the sentences that vote on a signature, in thousandths of the
    /// document's sentences; 0 allows any distance.
    pub dispersed: u32,
}

impl Default for SignatureParameters {
    fn default() -> Self {
        Self { parts: 7, kinds: 16, smallest: 3, wider_than: 16, dispersed: 0 }
    }
}

impl SignatureParameters {
    /// Fails for values outside their ranges.
    ///
    /// ```
    /// use neardup_core::parameters::SentenceParameters;
    ///
    /// assert!(SentenceParameters::default().check().is_ok());
    /// assert!(SentenceParameters { smallest: 2, ..Default::default() }.check().is_err());
    /// ```
    pub fn check(&self) -> Result<()> {
        let wrong =
            |name, value: u32, allowed| Err(Error::Parameter { name, value: value.to_string(), allowed });
        match *self {
            Self { parts, .. } if !(1..=64).contains(&parts) => wrong("m", parts, "between 1 and 64"),
            Self { kinds, .. } if !(1..=16).contains(&kinds) => wrong("n", kinds, "between 1 and 16"),
            // If two fingerprints vote, the heavier one decides every bit: the signature would
            // depend on one sentence only.
            Self { smallest, .. } if smallest == 2 || !(1..=64).contains(&smallest) => {
                wrong("s", smallest, "1 or between 3 and 64")
            }
            // Three voting sentences extend over twice the distance, which cannot be more than the
            // document.
            Self { dispersed, .. } if dispersed > 500 => {
                wrong("dispersed", dispersed, "between 0 and 500 thousandths")
            }
            _ => Ok(()),
        }
    }

    /// Returns the greatest number of signatures of a document, m · n.
    ///
    /// ```
    /// assert_eq!(neardup_core::parameters::SentenceParameters::default().most(), 112);
    /// ```
    pub fn most(&self) -> usize {
        (self.parts * self.kinds) as usize
    }
}
