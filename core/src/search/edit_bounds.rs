//! Bounds of the distance to the centre of a ball by edit distance, for texts of which only the
//! start and the counts of characters are known.

use super::edit_ball::{EditBall, characters};
use crate::error::Result;
use crate::joins::sets::bounds::partition;
use crate::verify::character_counts::CharacterCounts;
use crate::verify::edit::{self, EditPredicate};
use crate::verify::text_start::TextStart;

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
            predicate: EditPredicate::new(ball.similarity)?,
            start: TextStart::new(ball.text)?,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::Stop;
    use crate::search::edit_ball::EditVerifier;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn starts_promise_enough(a in "[abé ]{0,9}|[ab]{60,70}", b in "[abcé ]{0,9}", at in 0..9_usize, similarity in 0.01..=1.0_f64) {
            let bytes = EditBall::build(similarity, None, &a).unwrap();
            let mut verifier = EditVerifier::new(&EditBall::parse(&bytes).unwrap()).unwrap();
            let bounds = EditBounds::new(&EditBall::parse(&bytes).unwrap()).unwrap();
            let found = verifier.within(&b, &Stop::default()).unwrap();
            let start: String = b.chars().take(at).collect();
            let size = characters(&b);
            let (distance, longer) = edit::distance(&a, &b, &Stop::default()).unwrap();
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
}
