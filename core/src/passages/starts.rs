//! Finds the document that contains a sentence.

use crate::error::Result;
use crate::memory;

const DOING: &str = "numbering sentences";

/// One bit for each sentence, which is set if a document begins with the sentence, and for each
/// word of 64 bits the number of bits set in the words before it.
#[derive(Debug, Default)]
pub struct Starts {
    bits: Vec<u64>,
    before: Vec<u32>,
}

impl Starts {
    /// `firsts` has the number of the first sentence of each document, ascending from 0, and at its
    /// end the number of all sentences.
    pub fn new(firsts: &[u32]) -> Result<Self> {
        let all = firsts.last().copied().unwrap_or(0) as usize;
        let mut bits = memory::filled(0u64, all.div_ceil(64), DOING)?;
        for &first in &firsts[..firsts.len().saturating_sub(1)] {
            bits[first as usize / 64] |= 1 << (first % 64);
        }
        let mut before = Vec::new();
        memory::reserve(&mut before, bits.len(), DOING)?;
        let mut set = 0;
        for word in &bits {
            before.push(set);
            set += word.count_ones();
        }
        Ok(Self { bits, before })
    }

    /// Returns the number of the document that contains a sentence. O(1).
    #[inline]
    pub fn document(&self, sentence: u32) -> u32 {
        let word = sentence as usize / 64;
        let upto = self.bits[word] & (u64::MAX >> (63 - sentence % 64));
        self.before[word] + upto.count_ones() - 1
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.bits) + memory::bytes(&self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn documents_of_sentences(counts in prop::collection::vec(1..90u32, 0..20)) {
            let mut firsts = vec![0];
            counts.iter().for_each(|count| firsts.push(firsts[firsts.len() - 1] + count));
            let starts = Starts::new(&firsts).unwrap();
            for sentence in 0..firsts[counts.len()] {
                let document = firsts.partition_point(|&first| first <= sentence) - 1;
                prop_assert_eq!(starts.document(sentence) as usize, document);
            }
        }
    }
}
