//! The trustable region (Huang et al., TLCS (CIKM 2008), section 3.4; docs/design/algorithms.md
//! section 5): the part of the shorter text in which the alignment with the other text is nearly
//! unbroken.
//!
//! The edit curve counts insertions and deletions from the start of the text. A region is trustable
//! if the slope of the curve in it is small. The text is cut into blocks, and runs of blocks are
//! tried. The best run is the one with the greatest weight, where a block in the middle of the text
//! has more weight than a block near its ends. The best run is extended at both ends by up to one
//! block. The result may miss up to two blocks of a longer region, because the curve is not
//! examined elsewhere. O(characters + blocks²).

use std::ops::Range;

use super::column::DOING;
use crate::error::Result;
use crate::memory;

/// The number of blocks that a text is cut into by default.
pub const BLOCKS: usize = 16;

/// The insertions and deletions of a text, as sums from its start.
#[derive(Debug, Default)]
pub struct Curve {
    /// The number of deletions before each character.
    deletions: Vec<u32>,
    /// For each gap, the number of insertions in all gaps before it. Gap n is before character n,
    /// and the last gap is at the end.
    insertions: Vec<u32>,
}

impl Curve {
    /// Sets the curve for a text of `length` characters. `matched` lists, in order, its characters
    /// that are matched and the characters of the other text that they are matched with. The other
    /// text has `other` characters. An insertion lies in the gap before the next matched character.
    pub fn set(&mut self, length: usize, other: usize, matched: &[(u32, u32)]) -> Result<()> {
        let Self { deletions, insertions } = self;
        deletions.clear();
        insertions.clear();
        memory::reserve(deletions, length + 1, DOING)?;
        memory::reserve(insertions, length + 2, DOING)?;
        let (mut deleted, mut inserted) = (0, 0);
        let mut behind = 0;
        deletions.push(0);
        for &(a, b) in matched {
            let a = a as usize;
            // Mostly the previous character is matched, too.
            if deletions.len() <= a {
                let gap = (a + 1 - deletions.len()) as u32;
                deletions.extend(deleted + 1..=deleted + gap);
                deleted += gap;
                insertions.resize(a, inserted);
            }
            deletions.push(deleted);
            insertions.push(inserted);
            inserted += b - behind;
            behind = b + 1;
        }
        while deletions.len() <= length {
            deleted += 1;
            deletions.push(deleted);
        }
        insertions.resize(length + 1, inserted);
        insertions.push(inserted + other as u32 - behind);
        Ok(())
    }

    /// Returns the number of characters of the text.
    pub fn length(&self) -> usize {
        self.deletions.len() - 1
    }

    /// Returns the number of insertions and deletions in a part of the text: deletions of its
    /// characters, and insertions between two of them.
    pub fn operations(&self, part: Range<usize>) -> u32 {
        if part.is_empty() {
            return 0;
        }
        self.deletions[part.end] - self.deletions[part.start] + self.insertions[part.end]
            - self.insertions[part.start + 1]
    }

    /// Returns the number of operations per character, which is at least 0; 0 for an empty part.
    pub fn slope(&self, part: Range<usize>) -> f64 {
        let length = part.len();
        if length == 0 { 0.0 } else { f64::from(self.operations(part)) / length as f64 }
    }

    /// Returns the trustable region, whose slope is at most `slope`, found with `blocks` blocks.
    /// Returns `None` if no run of blocks has such a slope, or if the region does not touch the
    /// part of the text that `centre` gives, as shares of the text's length.
    pub fn trustable(&self, slope: f64, blocks: usize, centre: [f64; 2]) -> Option<Range<usize>> {
        let length = self.length();
        let blocks = blocks.min(length);
        let start = |block: usize| block * length / blocks;
        let mut best: Vec<(usize, usize)> = Vec::new();
        // A greater weight is better. If weights are equal, fewer blocks are better.
        let mut most = (0, 0);
        for from in 0..blocks {
            let mut weight = 0;
            for to in from + 1..=blocks {
                weight += to.min(blocks + 1 - to);
                let key = (weight, blocks - (to - from));
                if key >= most && self.slope(start(from)..start(to)) <= slope {
                    if key > most {
                        best.clear();
                        most = key;
                    }
                    best.push((from, to));
                }
            }
        }
        let regions = best.into_iter().map(|(from, to)| {
            let ends = start(to)..=start((to + 1).min(blocks));
            let left = (start(from.saturating_sub(1))..start(from))
                .find(|&left| self.slope(left..start(to)) <= slope)
                .unwrap_or(start(from));
            let right = ends.rev().find(|&right| self.slope(left..right) <= slope).unwrap_or(start(to));
            left..right
        });
        // Takes the first of the longest regions.
        let region = regions.rev().max_by_key(Range::len)?;
        let touches = |region: &Range<usize>| {
            (region.start as f64) < centre[1] * length as f64 && region.end as f64 > centre[0] * length as f64
        };
        Some(region).filter(touches)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    const ANYWHERE: [f64; 2] = [0.0, 1.0];

    /// Counts operation by operation, as in the definition.
    fn operations(matched: &[(u32, u32)], other: usize, part: Range<usize>) -> u32 {
        let matches = |a: usize| matched.iter().any(|m| m.0 as usize == a);
        let deletions = part.clone().filter(|&a| !matches(a)).count();
        let inserted = (0..other).filter(|&b| matched.iter().all(|m| m.1 as usize != b));
        let inside = inserted.filter(|&b| {
            let next = matched.iter().find(|m| m.1 as usize > b).map(|m| m.0 as usize);
            next.is_some_and(|gap| gap > part.start && gap < part.end)
        });
        (deletions + inside.count()) as u32
    }

    /// Follows the steps of docs/design/algorithms.md section 5 literally.
    pub(in crate::verify) fn stepwise(curve: &Curve, slope: f64) -> Option<Range<usize>> {
        let n = curve.length();
        let k = BLOCKS.min(n);
        let at = |block: usize| block * n / k;
        let mut base: Vec<(usize, usize, usize)> = Vec::new();
        for x in 0..k {
            for y in x + 1..=k {
                if curve.slope(at(x)..at(y)) <= slope {
                    base.push((x, y, (x + 1..=y).map(|i| i.min(k + 1 - i)).sum()));
                }
            }
        }
        let weight = base.iter().map(|b| b.2).max()?;
        base.retain(|b| b.2 == weight);
        let fewest = base.iter().map(|b| b.1 - b.0).min()?;
        base.retain(|b| b.1 - b.0 == fewest);
        assert!(base.len() <= 2, "at most two remain");
        let mut regions = Vec::new();
        for (x, y, _) in base {
            let mut region = at(x)..at(y);
            for left in (at(x.max(1) - 1)..at(x)).rev() {
                if curve.slope(left..at(y)) <= slope {
                    region.start = left;
                }
            }
            for right in at(y)..=at((y + 1).min(k)) {
                if curve.slope(region.start..right) <= slope {
                    region.end = right;
                }
            }
            regions.push(region);
        }
        let longest = regions.iter().map(Range::len).max()?;
        regions.into_iter().filter(|r| r.len() == longest).min_by_key(|r| r.start)
    }

    prop_compose! {
        /// Generates a text's length, the length of the other text, and the matched characters:
        /// runs and gaps.
        fn alignments()(runs in prop::collection::vec((0..40u32, 0..6u32, 0..6u32), 0..12))
            -> (usize, usize, Vec<(u32, u32)>)
        {
            let (mut a, mut b, mut matched) = (0, 0, Vec::new());
            for (run, deleted, inserted) in runs {
                matched.extend((0..run).map(|n| (a + n, b + n)));
                a += run + deleted;
                b += run + inserted;
            }
            (a as usize, b as usize, matched)
        }
    }

    proptest! {
        #[test]
        fn equals_the_steps((length, other, matched) in alignments(), slope in 0..30u32) {
            let mut curve = Curve::default();
            curve.set(length, other, &matched).unwrap();
            prop_assert_eq!(curve.length(), length);
            for start in (0..=length).step_by(7) {
                for end in (start..=length).step_by(3) {
                    let expected = if start == end { 0 } else { operations(&matched, other, start..end) };
                    prop_assert_eq!(curve.operations(start..end), expected);
                }
            }
            let slope = f64::from(slope) / 100.0;
            let found = (length > 0).then(|| curve.trustable(slope, BLOCKS, ANYWHERE)).flatten();
            let expected = if length == 0 { None } else { stepwise(&curve, slope) };
            prop_assert_eq!(found.clone(), expected);
            if let Some(found) = found {
                prop_assert!(curve.slope(found) <= slope);
            }
        }

        /// For a passage in the middle of another text, the longest of all trustable regions is the
        /// passage and what the slope allows around it, and the blocks find all of it but two
        /// blocks.
        #[test]
        fn equals_all_regions_to_within_two_blocks(before in 0..400u32, run in 200..600u32, after in 0..400u32) {
            let length = (before + run + after) as usize;
            let matched: Vec<_> = (0..run).map(|n| (before + n, 3 + n)).collect();
            let mut curve = Curve::default();
            curve.set(length, run as usize + 7, &matched).unwrap();
            let all = (0..length).flat_map(|x| (x + 1..=length).map(move |y| x..y));
            let longest = all.filter(|r| curve.slope(r.clone()) <= 0.1).map(|r| r.len()).max().unwrap();
            let found = curve.trustable(0.1, BLOCKS, ANYWHERE).map_or(0, |r| r.len());
            prop_assert!(found <= longest);
            prop_assert!(found + 2 * length.div_ceil(BLOCKS) >= longest, "{found} of {longest}");
        }
    }

    #[test]
    fn the_middle_weighs_most() {
        // 160 characters, blocks of 10. The first three blocks match, with weight 1 + 2 + 3 = 6,
        // and so does the block 80..90, with weight 8. The single block is taken, though it is
        // shorter.
        let matched: Vec<(u32, u32)> = (0..30).chain(80..90).map(|n| (n, n)).collect();
        let mut curve = Curve::default();
        curve.set(160, 160, &matched).unwrap();
        assert_eq!(curve.trustable(0.0, BLOCKS, ANYWHERE), Some(80..90));
        // Slope 0.1 allows one more operation: the deletion after the block, but not the one before
        // it, since then the 50 insertions in the gap before the block would be inside.
        assert_eq!(curve.trustable(0.1, BLOCKS, ANYWHERE), Some(80..91));
        // Without the block in the middle the region is the start, which does not touch the centre.
        curve.set(160, 160, &matched[..30]).unwrap();
        assert_eq!(curve.trustable(0.0, BLOCKS, ANYWHERE), Some(0..30));
        assert_eq!(curve.trustable(0.0, BLOCKS, [0.4, 0.6]), None);
        assert_eq!(curve.trustable(0.0, BLOCKS, [0.1, 0.2]), Some(0..30));
        curve.set(160, 160, &[]).unwrap();
        assert_eq!(curve.trustable(0.5, BLOCKS, ANYWHERE), None);
    }

    #[test]
    fn of_two_the_longer_and_of_equal_ones_the_first() {
        // Blocks 3 and 14 of 16, with weight 3 each. One more match next to the later block makes
        // it longer.
        let two = |more: u32| {
            let matched: Vec<(u32, u32)> = (20..30).chain(130..140 + more).map(|n| (n, n)).collect();
            let mut curve = Curve::default();
            curve.set(160, 160, &matched).unwrap();
            curve.trustable(0.0, BLOCKS, ANYWHERE)
        };
        assert_eq!(two(0), Some(20..30));
        assert_eq!(two(1), Some(130..141));
    }
}
