//! Whether two texts go on alike behind a piece that both have: a look at some characters behind it, for those that have it
//! by chance.
//!
//! Of the pieces that an index has of a text, a similar text has as many as it needs behind which there is never more than
//! one edit for each piece (docs/design/algorithms.md section 8): so at most one in the next piece. Some bits of its
//! characters are kept with each piece, so that nearly all that are there by chance are left out without a look at a text.

use super::shape::Shape;
use crate::error::Result;
use crate::memory;

const DOING: &str = "looking for pieces in common";
/// Characters that are kept.
const CHARACTERS: u32 = 8;
/// Bits of each.
const BITS: u32 = u32::BITS / CHARACTERS;

/// Some bits of each character of a text.
#[derive(Debug, Default)]
pub(super) struct Codes(Vec<u32>);

impl Codes {
    /// Makes them those of a text of so many characters.
    pub(super) fn set(&mut self, text: &str, length: u32) -> Result<()> {
        self.0.clear();
        // One that is not full, and one that is read behind it.
        memory::reserve(&mut self.0, (length / CHARACTERS) as usize + 2, DOING)?;
        let (mut word, mut shift) = (0, 0);
        for symbol in text.chars() {
            word |= (u32::from(symbol) % (1 << BITS)) << shift;
            shift += BITS;
            if shift == u32::BITS {
                self.0.push(word);
                (word, shift) = (0, 0);
            }
        }
        self.0.extend([word, 0]);
        Ok(())
    }

    /// The codes from a place on that is not behind the end of the text; those behind its end are 0.
    #[inline]
    pub(super) fn from(&self, place: u32) -> u32 {
        let (at, shift) = ((place / CHARACTERS) as usize, place % CHARACTERS * BITS);
        self.0[at] >> shift | self.0[at + 1] << 1 << (u32::BITS - 1 - shift)
    }
}

/// What has to follow pieces of a shape.
#[derive(Debug, Clone, Copy)]
pub(super) struct Following {
    /// The bits of the characters that are alike but for an edit.
    all: u32,
    /// From the beginning of a piece on so many characters are at least as many as are looked at.
    enough: u32,
}

impl Following {
    /// Behind pieces of this shape. Nothing where it takes two edits to change one: behind these there may be three in the
    /// next, with which too much is alike.
    pub(super) fn of(shape: Shape) -> Option<Self> {
        let length = shape.length() as u32;
        // One that may be added to the other text is looked at, too.
        let alike = length.min(CHARACTERS - 1);
        let all = (1 << (BITS * alike)) - 1;
        (shape.edits() == 1).then_some(Self { all, enough: length + alike })
    }

    /// Whether what follows a piece, from whose beginning on its text has so many characters, and what follows in the other
    /// text may belong to similar texts.
    #[inline]
    pub(super) fn may_follow(self, own: u32, other: u32, characters: u32) -> bool {
        self.is_within_one(own, other) || characters < self.enough
    }

    /// Whether the characters are alike but for one edit.
    #[inline]
    fn is_within_one(self, own: u32, other: u32) -> bool {
        /// The lowest bit of each code.
        const LOWEST: u32 = u32::MAX / ((1 << BITS) - 1);
        let differ = own ^ other;
        let differing = (differ | differ >> 1 | differ >> 2 | differ >> 3) & LOWEST;
        let first = differing & differing.wrapping_neg();
        // All bits from the first character on that differs, and those behind it.
        let [from, behind] = [first.wrapping_neg(), (first << BITS).wrapping_neg()];
        // It is changed, taken away, or one is added before it.
        let is_changed = differ & behind & self.all == 0;
        let is_away = (own >> BITS ^ other) & from & self.all >> BITS == 0;
        let is_added = (own ^ other >> BITS) & from & self.all == 0;
        is_changed | is_away | is_added
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::Stop;
    use crate::verify::edit::distance;
    use proptest::prelude::*;

    proptest! {
        /// As many characters as are looked at pass if some beginning of the other text is an edit away, and only then where
        /// their codes tell them apart.
        #[test]
        fn one_edit_passes(own in "[a-c]{8}", other in "[a-c]{8,12}", at in 0..4usize) {
            let ahead: String = "b".repeat(at);
            let codes = [&own, &other].map(|text| {
                let (text, mut codes) = (format!("{ahead}{text}"), Codes::default());
                codes.set(&text, text.len() as u32).unwrap();
                codes.from(at as u32)
            });
            for width in [2, 3, 5, 7, 8, 20] {
                let following = Following::of(Shape::plain(width)).unwrap();
                let alike = width.min(7);
                let is_near = (alike - 1..=alike + 1).any(|end| {
                    distance(&own[..alike], &other[..end], &Stop::default()).unwrap().0 <= 1
                });
                let length = 2 * width as u32 + 7;
                prop_assert_eq!(following.may_follow(codes[0], codes[1], length), is_near, "{}", width);
                // Of what is behind the end nothing is known.
                prop_assert!(following.may_follow(codes[0], codes[1], width as u32));
            }
        }
    }

    #[test]
    fn pieces_of_parts_are_not_looked_behind() {
        assert!(Shape::all().all(|shape| Following::of(shape).is_some() == (shape.edits() == 1)));
    }
}
