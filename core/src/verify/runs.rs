//! Finds common text that is certain: runs of equal characters that come in the same order in both
//! texts. Their length limits the width of the table of the longest common subsequence.

use super::column::DOING;
use crate::error::Result;
use crate::memory;

/// A run of characters that are equal in two texts.
#[derive(Debug, Clone, Copy)]
struct CommonRun {
    left: u32,
    right: u32,
    length: u32,
    /// The number of characters of the longest known chain of runs that ends with this run.
    chained: u32,
}

/// Runs, ordered by their places in the right text.
#[derive(Debug, Default)]
pub struct CommonRuns(Vec<CommonRun>);

impl CommonRuns {
    /// Removes all runs.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a run, which must begin and end after all earlier runs in the right text. No text has
    /// more characters than 32 bits can count.
    pub fn add(&mut self, left: usize, right: usize, length: usize) -> Result<()> {
        let run = CommonRun { left: left as u32, right: right as u32, length: length as u32, chained: 0 };
        memory::push(&mut self.0, run, DOING)
    }

    /// Returns the number of characters of a long chain of runs whose places ascend in both texts.
    /// The longest common subsequence has at least this many characters. O(runs), since only a few
    /// runs before each run are examined.
    pub fn common(&mut self) -> usize {
        const BEFORE: usize = 32;
        let mut most = 0;
        for n in 0..self.0.len() {
            let (before, from) = self.0.split_at_mut(n);
            let Some(run) = from.first_mut() else { break };
            run.chained = run.length;
            for other in before.iter().rev().take(BEFORE) {
                // Overlapping characters count once.
                let [left, right] = [(other.left, run.left), (other.right, run.right)]
                    .map(|(before, own)| (before + other.length).saturating_sub(own));
                let own = run.length.saturating_sub(left.max(right));
                if own > 0 {
                    run.chained = run.chained.max(other.chained + own);
                }
            }
            most = most.max(run.chained);
        }
        most as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::Stop;
    use crate::verify::lcs::{Lcs, LcsBounds};
    use proptest::prelude::*;

    proptest! {
        /// However the runs lie, their common characters are in a subsequence of both texts.
        #[test]
        fn no_more_than_the_longest_subsequence(
            a in prop::collection::vec(0..3u32, 0..60),
            b in prop::collection::vec(0..3u32, 0..60),
            starts in prop::collection::vec((0..60usize, 0..60usize, 1..20usize), 0..50),
        ) {
            let mut runs = CommonRuns::default();
            let mut starts = starts;
            starts.sort_unstable_by_key(|&(_, right, _)| right);
            for (left, right, most) in starts {
                let equal = a.iter().skip(left).zip(b.iter().skip(right)).take_while(|(x, y)| x == y);
                runs.add(left, right, equal.take(most).count()).unwrap();
            }
            let common = runs.common();
            let length = Lcs::default().length(&a, &b, LcsBounds::default(), &Stop::default()).unwrap();
            prop_assert!(Some(common) <= length);
        }
    }

    #[test]
    fn runs_that_overlap_count_once() {
        let mut runs = CommonRuns::default();
        for (left, right, length) in [(0, 0, 10), (30, 12, 5), (8, 20, 10), (25, 28, 4)] {
            runs.add(left, right, length).unwrap();
        }
        // The second run ends too far on in the left text. The third and the fourth overlap earlier
        // runs by 2 characters each.
        assert_eq!(runs.common(), 10 + 8 + 2);
        runs.clear();
        assert_eq!(runs.common(), 0);
    }
}
