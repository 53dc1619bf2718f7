//! Bounds of the edit distance to texts of which only the start is known.
//!
//! A path through the table for a text and another one leaves the start of the other text at some
//! row *i*. It costs at least the distance of the start to the first *i* characters of the text,
//! and the difference in length between the rest of the text and the rest of the other one. The
//! distances of the start to all prefixes of the text are the last column of their table, which
//! takes one step of 64 rows for each character of the start (Myers, JACM 1999).

use super::column::{Carry, SymbolPage, WORD, step};
use crate::error::Result;

/// A text that is compared with the starts of other texts.
#[derive(Debug)]
pub struct TextStart {
    rows: usize,
    symbols: SymbolPage,
}

impl TextStart {
    /// Prepares the comparison. Returns None for an empty text and for one of more than 64
    /// characters.
    pub fn new(text: &str) -> Result<Option<Self>> {
        let rows: Vec<u32> = text.chars().take(WORD + 1).map(u32::from).collect();
        if rows.is_empty() || rows.len() > WORD {
            return Ok(None);
        }
        let mut symbols = SymbolPage::default();
        symbols.set(&rows)?;
        Ok(Some(Self { rows: rows.len(), symbols }))
    }

    /// Returns the least distance that a text can have that begins with `start` and has `left` more
    /// characters, or fewer. If `left` is 0, it is the distance of `start`. O(characters of
    /// `start`).
    #[inline]
    pub fn least_distance(&self, start: &str, left: u32) -> u32 {
        if start.is_ascii() {
            self.least(start.bytes().map(u32::from), left)
        } else {
            self.least(start.chars().map(u32::from), left)
        }
    }

    #[inline]
    fn least(&self, start: impl Iterator<Item = u32>, left: u32) -> u32 {
        let (mut more, mut less) = (u64::MAX, 0_u64);
        let (mut columns, mut distance) = (0, self.rows as u32);
        for symbol in start {
            let carry =
                step(self.symbols.rows_of(symbol)[0], &mut more, &mut less, Carry::TOP, self.rows - 1);
            distance = distance + carry.more as u32 - carry.less as u32;
            columns += 1;
        }
        if left == 0 {
            return distance;
        }
        let (mut here, mut least) = (columns, u32::MAX);
        for row in 0..=self.rows {
            least = least.min(here + left.abs_diff((self.rows - row) as u32));
            if row < self.rows {
                here = here + (more >> row & 1) as u32 - (less >> row & 1) as u32;
            }
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::Stop;
    use crate::verify::edit::distance;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(crate::cases::cases(2000))]

        /// The bound of a whole text is its distance, and no start says more than the whole.
        #[test]
        fn bounds_hold(x in "[abcé]{1,70}|[a-f字]{1,9}", y in "[abcé]{0,70}|[a-f字]{0,9}", at in 0..70_usize) {
            let Some(bound) = TextStart::new(&x).unwrap() else {
                prop_assert!(x.chars().count() > 64);
                return Ok(());
            };
            let (found, _) = distance(&x, &y, &Stop::default()).unwrap();
            prop_assert_eq!(bound.least_distance(&y, 0), found);
            let start: String = y.chars().take(at).collect();
            let left = y.chars().skip(at).count() as u32;
            prop_assert!(bound.least_distance(&start, left) <= found);
            // The best rest that a text can have reaches the bound.
            let rest = (0..=x.chars().count()).map(|from| x.chars().skip(from).take(left as usize));
            let reached = rest.map(|rest| {
                let missing = left as usize - rest.clone().count();
                let other: String = start.chars().chain(rest).chain((0..missing).map(|_| '-')).collect();
                distance(&x, &other, &Stop::default()).unwrap().0
            });
            prop_assert!(reached.min().is_some_and(|least| least >= bound.least_distance(&start, left)));
        }
    }

    #[test]
    fn known_bounds() {
        let bound = TextStart::new("kitten").unwrap().unwrap();
        assert_eq!(bound.least_distance("sitting", 0), 3);
        assert_eq!((bound.least_distance("sit", 3), bound.least_distance("", 6)), (1, 0));
        assert_eq!((bound.least_distance("kitten", 4), bound.least_distance("xyz", 3)), (4, 3));
        assert!(TextStart::new("").unwrap().is_none() && TextStart::new(&"a".repeat(65)).unwrap().is_none());
    }
}
