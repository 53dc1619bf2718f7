//! The frozen order of tokens that prefixes are taken in: rare ones first.
//!
//! Frequencies are counted by class of hashes, and kept as eight steps to the power of two. That tells the words of
//! every text from those of a few; which of two rare ones comes first does not matter.

use crate::error::{Error, Result};
use crate::memory;

const DOING: &str = "ordering tokens";
const BITS: u32 = 18;
const CLASSES: usize = 1 << BITS;
/// Of the order as it is stored, of hashes, and of how digests are made and stored.
pub const VERSION: u8 = 2;

/// How often tokens occur, by class.
#[derive(Debug, Default)]
pub struct TokenCounts(Vec<u32>);

impl TokenCounts {
    /// Counts tokens by their hashes.
    pub fn add(&mut self, hashes: &[u64]) -> Result<()> {
        if self.0.is_empty() {
            self.0 = memory::filled(0, CLASSES, DOING)?;
        }
        for &hash in hashes {
            let count = &mut self.0[(hash >> (u64::BITS - BITS)) as usize];
            *count = count.saturating_add(1);
        }
        Ok(())
    }
}

/// An order of tokens, and how long the bitmaps of digests are.
#[derive(Debug, Clone)]
pub struct Order {
    ranks: Vec<u8>,
    /// Words of a bitmap.
    pub words: usize,
}

impl Order {
    /// The order of ascending counts.
    pub fn new(counts: &[&TokenCounts], words: usize) -> Result<Self> {
        const STEPS: f64 = 8.0;
        let mut ranks = memory::filled(0, CLASSES, DOING)?;
        for (class, rank) in ranks.iter_mut().enumerate() {
            let count: f64 = counts.iter().filter_map(|c| c.0.get(class)).map(|&n| f64::from(n)).sum();
            // A cast saturates.
            *rank = (STEPS * (1.0 + count).log2()).round() as u8;
        }
        Ok(Self { ranks, words })
    }

    /// The place of a token among all.
    #[inline]
    pub fn place(&self, key: u32) -> u64 {
        let rank = self.ranks[(key >> (u32::BITS - BITS)) as usize];
        u64::from(rank) << u32::BITS | u64::from(key)
    }

    /// As it is stored.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        memory::reserve(&mut bytes, CLASSES + 2, DOING)?;
        bytes.extend([VERSION, self.words as u8]);
        bytes.extend(&self.ranks);
        Ok(bytes)
    }

    /// What was stored; none if that was by another version, whose digests are of no use.
    pub fn from_bytes(bytes: &[u8]) -> Result<Option<Self>> {
        let [VERSION, words @ (1 | 2 | 4 | 8), ranks @ ..] = bytes else { return Ok(None) };
        if ranks.len() != CLASSES {
            let why = format!("{} ranks", ranks.len());
            return Err(Error::Malformed { what: "order of tokens", why });
        }
        let mut copy = Vec::new();
        memory::extend(&mut copy, ranks, DOING)?;
        Ok(Some(Self { ranks: copy, words: usize::from(*words) }))
    }
}
