//! Finds the document that contains a sentence.

use crate::error::Result;
use crate::row_set::{NumberedRows, RowSet};

/// The sentences with which documents begin.
#[derive(Debug)]
pub struct Starts(NumberedRows);

impl Starts {
    /// `firsts` has the number of the first sentence of each document, ascending from 0, and at its
    /// end the number of all sentences.
    pub fn new(firsts: &[u32]) -> Result<Self> {
        let (all, firsts) = firsts.split_last().unwrap_or((&0, &[]));
        let mut begun = RowSet::new(*all as usize)?;
        firsts.iter().for_each(|&first| begun.insert(first as usize));
        begun.numbered().map(Self)
    }

    /// Returns the number of the document that contains a sentence. O(1).
    #[inline]
    pub fn document(&self, sentence: u32) -> u32 {
        self.0.up_to(sentence) - 1
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
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
