//! Bounds of the distance to the centre of a ball by edit distance, for texts of which only the
//! start and the counts of characters are known.
//!
//! A path through the table of the centre and a text leaves the start of the text at some row *i*.
//! It costs at least the distance of the start to the first *i* characters of the centre, and the
//! difference in length between the rest of the centre and the rest of the text. The distances of
//! the start to all prefixes of the centre are the last column of their table, which takes one step
//! of 64 rows for each character of the start (Myers, JACM 1999). A swap of the last character of
//! the start and the next one leaves out this column; the row between has no greater value.

use super::edit_ball::{EditBall, characters};
use crate::error::Result;
use crate::joins::sets::bounds::partition;
use crate::verify::character_counts::CharacterCounts;
use crate::verify::column::{Carry, ColumnBefore, SymbolPage, WORD, step, swapping_step};
use crate::verify::edit::{self, EditPredicate};

/// Bounds the distance of texts to the centre of a ball.
#[derive(Debug)]
pub struct EditBounds {
    predicate: EditPredicate,
    /// Compares the centre with the starts of texts, unless it is too long for that.
    start: Option<TextStart>,
    counts: CharacterCounts,
    characters: u32,
}

impl EditBounds {
    /// Prepares the comparison. O(bytes).
    pub fn new(ball: &EditBall<'_>) -> Result<Self> {
        Ok(Self {
            predicate: ball.predicate()?,
            start: TextStart::new(ball.text, ball.swaps)?,
            counts: CharacterCounts::new(ball.text),
            characters: characters(ball.text),
        })
    }

    /// Returns the number of characters of the centre or of a text, whichever has more.
    #[inline]
    pub fn longer(&self, characters: u32) -> u32 {
        characters.max(self.characters)
    }

    /// Returns the least distance that a text of `characters` characters cannot have if it is in
    /// the ball and `is_wanted` holds for its similarity. `is_wanted` holds for every similarity
    /// above one for which it holds.
    pub fn end_of_distances(&self, characters: u32, is_wanted: impl Fn(f64) -> bool) -> u32 {
        let longer = self.longer(characters);
        partition(0, longer, |distance| {
            self.predicate.passes(distance, longer) && is_wanted(edit::similarity(distance, longer))
        })
    }

    /// Returns the least distance of a text with these counts of its characters and `characters`
    /// characters, or less.
    #[inline]
    pub fn least_by_counts(&self, counts: &CharacterCounts, characters: u32) -> u32 {
        let more = i64::from(self.characters) - i64::from(characters);
        self.counts.least_distance(counts, more).min(self.longer(characters))
    }

    /// Returns the least distance of a text that begins with `start` and has `size` characters,
    /// or less. If `start` is all of the text, this is its distance, unless the centre
    /// has more than 64 characters.
    #[inline]
    pub fn least_by_start(&self, start: &str, size: u32) -> u32 {
        let distance = match &self.start {
            Some(centre) => {
                let known = if start.is_ascii() { start.len() as u32 } else { characters(start) };
                centre.least_distance(start, size.saturating_sub(known))
            }
            None => size.abs_diff(self.characters),
        };
        distance.min(self.longer(size))
    }

    /// Reports whether [`EditBounds::least_by_start`] returns the distance of a whole text.
    pub fn is_exact(&self) -> bool {
        self.start.is_some()
    }
}

/// A text that is compared with the starts of other texts.
#[derive(Debug)]
struct TextStart {
    rows: usize,
    symbols: SymbolPage,
    swaps: bool,
}

impl TextStart {
    /// Prepares the comparison. Returns None for an empty text and for one of more than 64
    /// characters.
    fn new(text: &str, swaps: bool) -> Result<Option<Self>> {
        let rows: Vec<u32> = text.chars().take(WORD + 1).map(u32::from).collect();
        if rows.is_empty() || rows.len() > WORD {
            return Ok(None);
        }
        let mut symbols = SymbolPage::default();
        symbols.set(&rows)?;
        Ok(Some(Self { rows: rows.len(), symbols, swaps }))
    }

    /// Returns the least distance that a text can have that begins with `start` and has `left` more
    /// characters, or fewer. If `left` is 0, it is the distance of `start`. O(characters of
    /// `start`).
    #[inline]
    fn least_distance(&self, start: &str, left: u32) -> u32 {
        if start.is_ascii() {
            self.least(start.bytes().map(u32::from), left)
        } else {
            self.least(start.chars().map(u32::from), left)
        }
    }

    #[inline]
    fn least(&self, start: impl Iterator<Item = u32>, left: u32) -> u32 {
        let (mut more, mut less) = (u64::MAX, 0_u64);
        let (mut columns, mut distance, last) = (0, self.rows as u32, self.rows - 1);
        let mut before = ColumnBefore::NOTHING;
        for symbol in start {
            let equal = self.symbols.rows_of(symbol)[0];
            let carry = match self.swaps {
                true => swapping_step(equal, &mut before, &mut more, &mut less, Carry::TOP, &mut 0, last),
                false => step(equal, &mut more, &mut less, Carry::TOP, last),
            };
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
    use crate::search::edit_ball::EditVerifier;
    use crate::verify::edit::distance_by;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn starts_promise_enough(a in "[abé ]{0,9}|[ab]{60,70}", b in "[abcé ]{0,9}", at in 0..9_usize, similarity in 0.01..=1.0_f64, swaps: bool) {
            let bytes = EditBall { similarity, normalization: None, swaps, text: &a }.build().unwrap();
            let mut verifier = EditVerifier::new(&EditBall::parse(&bytes).unwrap()).unwrap();
            let bounds = EditBounds::new(&EditBall::parse(&bytes).unwrap()).unwrap();
            let found = verifier.within(&b, &Stop::default()).unwrap();
            let start: String = b.chars().take(at).collect();
            let size = characters(&b);
            let (distance, longer) = distance_by(&a, &b, swaps, &Stop::default()).unwrap();
            prop_assert!(bounds.least_by_start(&start, size) <= distance);
            prop_assert!(bounds.least_by_counts(&CharacterCounts::new(&b), size) <= distance);
            if bounds.is_exact() {
                prop_assert_eq!(bounds.least_by_start(&b, size), distance);
            }
            for least in [0.0, 0.3, 0.5, 1.0] {
                let wanted = found.is_some_and(|found| found >= least);
                let end = bounds.end_of_distances(size, |similar| similar >= least);
                prop_assert_eq!(longer > 0 && distance < end, wanted, "{} {}", distance, end);
            }
        }
    }

    proptest! {
        #![proptest_config(crate::cases::cases(2000))]

        /// The bound of a whole text is its distance, and no start says more than the whole.
        #[test]
        fn bounds_hold(x in "[abcé]{1,70}|[a-f字]{1,9}", y in "[abcé]{0,70}|[a-f字]{0,9}", at in 0..70_usize, swaps: bool) {
            let distance = |x: &str, y: &str| distance_by(x, y, swaps, &Stop::default());
            let Some(bound) = TextStart::new(&x, swaps).unwrap() else {
                prop_assert!(x.chars().count() > 64);
                return Ok(());
            };
            let (found, _) = distance(&x, &y).unwrap();
            prop_assert_eq!(bound.least_distance(&y, 0), found);
            let start: String = y.chars().take(at).collect();
            let left = y.chars().skip(at).count() as u32;
            prop_assert!(bound.least_distance(&start, left) <= found);
            // The best rest that a text can have reaches the bound.
            let rest = (0..=x.chars().count()).map(|from| x.chars().skip(from).take(left as usize));
            let reached = rest.map(|rest| {
                let missing = left as usize - rest.clone().count();
                let other: String = start.chars().chain(rest).chain((0..missing).map(|_| '-')).collect();
                distance(&x, &other).unwrap().0
            });
            prop_assert!(reached.min().is_some_and(|least| least >= bound.least_distance(&start, left)));
        }
    }

    #[test]
    fn known_bounds() {
        let bound = TextStart::new("kitten", false).unwrap().unwrap();
        assert_eq!(bound.least_distance("sitting", 0), 3);
        assert_eq!((bound.least_distance("sit", 3), bound.least_distance("", 6)), (1, 0));
        assert_eq!((bound.least_distance("kitten", 4), bound.least_distance("xyz", 3)), (4, 3));
        let is_none = |text: &str| TextStart::new(text, true).unwrap().is_none();
        assert!(is_none("") && is_none(&"a".repeat(65)));
        // The swap that the end of the start cuts in two costs no more than the start.
        let bound = |swaps| TextStart::new("ab", swaps).unwrap().unwrap().least_distance("b", 1);
        assert_eq!((bound(false), bound(true)), (1, 1));
    }
}
