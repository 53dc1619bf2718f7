//! The facts that an index derives from a sample of its rows: the order of tokens and the sizes of
//! sets.

use crate::error::Result;
use crate::executor::Stop;
use crate::memory;
use crate::set_index::token_counts::TokenCounts;
use crate::set_index::token_order::TokenOrder;

const DOING: &str = "looking at a sample";

/// The document frequencies of tokens in a sample, and the numbers of tokens of its documents.
/// Memory is bounded, however many documents are added.
#[derive(Debug)]
pub struct TokenSample {
    counts: TokenCounts<u32>,
    /// The number of documents in each size class.
    sizes: Vec<u64>,
    documents: u64,
}

/// Each size below this is a size class of its own. Above it, the sizes between two consecutive
/// powers of two have half as many classes.
const SMALL: u32 = 128;
const SIZE_CLASSES: usize = SMALL as usize + (u32::BITS - SMALL.ilog2()) as usize * SMALL as usize / 2;

/// Returns the class of a size. The class is determined by the uppermost bits of the size.
/// `greatest_of_class` returns the greatest size of a class.
fn size_class(size: u32) -> usize {
    let shift = (size / SMALL).checked_ilog2().map_or(0, |bits| bits + 1);
    shift as usize * (SMALL / 2) as usize + (size >> shift) as usize
}

fn greatest_of_class(class: usize) -> u32 {
    let half = SMALL as usize / 2;
    let shift = (class / half).saturating_sub(1);
    let upper = (class - shift * half) as u64;
    u32::try_from(((upper + 1) << shift) - 1).unwrap_or(u32::MAX)
}

impl TokenSample {
    /// The greatest number of tokens that are counted.
    const COUNTED: usize = 1 << 21;

    /// Creates an empty sample.
    pub fn new() -> Result<Self> {
        let sizes = memory::filled(0, SIZE_CLASSES, DOING)?;
        Ok(Self { counts: TokenCounts::new(Self::COUNTED), sizes, documents: 0 })
    }

    /// Adds a document. `keys` are the keys of its set, in ascending order.
    pub fn add(&mut self, keys: &[u32]) -> Result<()> {
        self.documents += 1;
        // A document has at most `u32::MAX` tokens.
        self.sizes[size_class(keys.len() as u32)] += 1;
        let distinct = keys.chunk_by(|a, b| a == b).map(|same| same[0]);
        distinct.into_iter().try_for_each(|key| self.counts.add(key, &Stop::default()))
    }

    /// Returns the least size that at most one in twenty documents exceeds, or a slightly greater
    /// size; 0 if there are no documents.
    pub fn usual_size(&self) -> u32 {
        let mut left = self.documents - self.documents / 20;
        for (class, &count) in self.sizes.iter().enumerate() {
            left = left.saturating_sub(count);
            if left == 0 {
                return if self.documents == 0 { 0 } else { greatest_of_class(class) };
            }
        }
        u32::MAX
    }

    /// Returns the order of the counted tokens.
    pub fn order(mut self) -> Result<TokenOrder> {
        TokenOrder::from_counts(&mut self.counts, &Stop::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sizes_are_in_their_classes(size in prop_oneof![0..3000u32, any::<u32>()]) {
            let class = size_class(size);
            let greatest = greatest_of_class(class);
            prop_assert!(class < SIZE_CLASSES && size <= greatest && greatest - size <= size / 32, "{class} {greatest}");
            prop_assert_eq!(size_class(greatest), class);
            prop_assert!(greatest == u32::MAX || size_class(greatest + 1) == class + 1);
        }
    }

    #[test]
    fn usual_sizes() {
        let usual = |sizes: &[usize]| {
            let mut sample = TokenSample::new().unwrap();
            sizes.iter().for_each(|&size| sample.add(&(0..size as u32).collect::<Vec<_>>()).unwrap());
            sample.usual_size()
        };
        assert_eq!(usual(&[]), 0);
        assert_eq!(usual(&[60]), 60);
        assert_eq!(usual(&[[60; 19].as_slice(), &[5000]].concat()), 60);
        assert_eq!(usual(&[[60; 18].as_slice(), &[5000; 2]].concat()), 5055);
    }
}
