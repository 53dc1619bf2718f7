//! An upper bound of the number of matched characters in a trustable region, found before the
//! alignment is known (docs/design/algorithms.md section 5).
//!
//! A character of A that the filter removed is a deletion in every alignment. So a run of blocks
//! whose slope is too great because of these deletions alone cannot be a base region, which is a
//! run that is extended to a trustable region. A trustable region extends at most one block beyond
//! its base region on either side. Most pairs of pages of one site have only their common frame in
//! their sketches. They are rejected here, because no part of the frame is trustable and touches
//! the centre. O(blocks² + blocks · log of the length of the sketch).

use crate::error::Result;
use crate::memory;

/// Reports whether a trustable region of a text of `length` characters may hold `least` matched
/// characters. All matched characters are among those in `kept`, which are in ascending order. The
/// other parameters are as in [`super::region::Curve::trustable`].
pub fn may_hold(
    kept: &[u32],
    length: usize,
    slope: f64,
    blocks: usize,
    centre: [f64; 2],
    least: usize,
) -> Result<bool> {
    let blocks = blocks.min(length);
    if blocks == 0 {
        return Ok(false);
    }
    let start = |block: usize| block * length / blocks;
    // The number of kept characters before each block.
    let before = (0..=blocks).map(|block| kept.partition_point(|&n| (n as usize) < start(block)));
    let before: Vec<usize> = memory::collect(before, super::column::DOING)?;
    for from in 0..blocks {
        for to in from + 1..=blocks {
            let (first, last) = (from.saturating_sub(1), (to + 1).min(blocks));
            let touches = (start(first) as f64) < centre[1] * length as f64
                && start(last) as f64 > centre[0] * length as f64;
            if !touches || before[last] - before[first] < least {
                continue;
            }
            let characters = start(to) - start(from);
            // No text has more characters than 32 bits can count.
            let deletions = (characters - (before[to] - before[from])) as u32;
            if f64::from(deletions) / characters as f64 <= slope {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::region::{BLOCKS, Curve};
    use proptest::prelude::*;

    /// Returns an alignment from the whole table of longest common subsequences: any of the optimal
    /// ones.
    fn aligned(a: &[u8], b: &[u8], left_first: bool) -> Vec<(u32, u32)> {
        let mut table = vec![vec![0u32; b.len() + 1]; a.len() + 1];
        for i in (0..a.len()).rev() {
            for j in (0..b.len()).rev() {
                table[i][j] = match a[i] == b[j] {
                    true => table[i + 1][j + 1] + 1,
                    false => table[i + 1][j].max(table[i][j + 1]),
                };
            }
        }
        let (mut i, mut j, mut matched) = (0, 0, Vec::new());
        while i < a.len() && j < b.len() {
            if a[i] == b[j] && table[i][j] == table[i + 1][j + 1] + 1 {
                matched.push((i as u32, j as u32));
                (i, j) = (i + 1, j + 1);
            } else if table[i + 1][j] == table[i][j] && (left_first || table[i][j + 1] < table[i][j]) {
                i += 1;
            } else {
                j += 1;
            }
        }
        matched
    }

    proptest! {
        #![proptest_config(crate::cases::cases(2000))]

        /// The bound accepts whatever is matched in the region of the alignment of two sketches.
        #[test]
        fn passes_what_the_region_holds(
            runs in prop::collection::vec(("[ab]{1,30}", prop::bool::weighted(0.8), prop::bool::weighted(0.8)), 0..12),
            left_first: bool,
            slope in 0..40u32,
            blocks in prop_oneof![Just(BLOCKS), 1..40usize],
            centre in prop_oneof![Just([0.0, 1.0]), Just([0.4, 0.6]), Just([0.5, 0.5])],
        ) {
            // Text in both is kept. The rest is a text's own, which no window of the other covers.
            let (mut a, mut b, mut kept, mut others) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for (text, in_left, in_right) in &runs {
                let both = *in_left && *in_right;
                for (has, text_of, kept) in [(*in_left, &mut a, &mut kept), (*in_right, &mut b, &mut others)] {
                    if has {
                        let from = text_of.len() as u32;
                        text_of.extend_from_slice(text.as_bytes());
                        kept.extend((from..text_of.len() as u32).filter(|_| both));
                    }
                }
            }
            let sketch = |text: &[u8], kept: &[u32]| kept.iter().map(|&n| text[n as usize]).collect::<Vec<_>>();
            let matched: Vec<(u32, u32)> = aligned(&sketch(&a, &kept), &sketch(&b, &others), left_first)
                .into_iter()
                .map(|(i, j)| (kept[i as usize], others[j as usize]))
                .collect();
            let slope = f64::from(slope) / 100.0;
            let mut curve = Curve::default();
            curve.set(a.len(), b.len(), &matched).unwrap();
            let region = (!a.is_empty()).then(|| curve.trustable(slope, blocks, centre)).flatten();
            if let Some(region) = region {
                let inside = matched.iter().filter(|(n, _)| region.contains(&(*n as usize))).count();
                prop_assert!(may_hold(&kept, a.len(), slope, blocks, centre, inside).unwrap());
            }
        }
    }

    #[test]
    fn a_frame_does_not_reach_the_centre() {
        let length = 2000;
        let may = |kept: &[u32], least| may_hold(kept, length, 0.1, BLOCKS, [0.4, 0.6], least).unwrap();
        // A frame of 300 characters at each end, of which the first holds two blocks.
        let frame: Vec<u32> = (0..300).chain(1700..2000).collect();
        assert!(!may(&frame, 1));
        // With the centre it does, but only for as many characters as a run and its neighbours
        // hold.
        let all: Vec<u32> = (0..300).chain(800..1200).chain(1700..2000).collect();
        assert!(may(&all, 400) && !may(&all, 500));
        assert!(may(&(0..2000).collect::<Vec<_>>(), 2000) && !may(&[], 0) && !may(&[], 1));
        assert!(!may_hold(&[], 0, 0.1, BLOCKS, [0.0, 1.0], 0).unwrap());
    }
}
