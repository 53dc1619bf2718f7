//! Checks whether two texts continue alike after a piece that both have. Comparing a few characters
//! after the piece rules out texts that have the piece by chance.
//!
//! The needed number of the pieces of an indexed text that a similar text has are each followed by
//! at most one edit per piece (docs/design/algorithms.md section 8), so by at most one edit in the
//! next piece. Each piece is stored with some bits of the characters that follow it. Nearly all
//! chance matches are ruled out by these bits, without reading a text.

use super::shape::Shape;
use crate::error::Result;
use crate::memory;

const DOING: &str = "looking for pieces in common";
/// The number of characters whose bits are stored.
const CHARACTERS: u32 = 8;
/// The number of bits that are stored of each character.
const BITS: u32 = u32::BITS / CHARACTERS;

/// Some bits of each character of a text.
#[derive(Debug, Default)]
pub(super) struct CharacterBits(Vec<u32>);

impl CharacterBits {
    /// Replaces the codes with those of a text of `length` characters.
    pub(super) fn set(&mut self, text: &str, length: u32) -> Result<()> {
        self.0.clear();
        // Room for one partial word, and one word read after it.
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

    /// Returns the codes of the characters from a position on. The position must not be after the
    /// end of the text. Codes after the end are 0.
    #[inline]
    pub(super) fn from(&self, place: u32) -> u32 {
        let (at, shift) = ((place / CHARACTERS) as usize, place % CHARACTERS * BITS);
        self.0[at] >> shift | self.0[at + 1] << 1 << (u32::BITS - 1 - shift)
    }
}

/// The condition on the characters that follow a piece of a shape.
#[derive(Debug, Clone, Copy)]
pub(super) struct Following {
    /// A mask of the bits of the characters that must agree except for an edit.
    all: u32,
    /// A text with this many characters from the beginning of the piece on has enough characters to
    /// compare after the piece.
    enough: u32,
}

impl Following {
    /// Returns the condition for pieces of this shape, or `None` if it takes two edits to change a
    /// piece. After such pieces there may be three edits in the next piece, and then too many
    /// characters look alike.
    pub(super) fn for_shape(shape: Shape) -> Option<Self> {
        let length = shape.length() as u32;
        // One more character is read, because the edit may add one to the other text.
        let alike = length.min(CHARACTERS - 1);
        let all = (1 << (BITS * alike)) - 1;
        (shape.edits() == 1).then_some(Self { all, enough: length + alike })
    }

    /// Reports whether the characters after a piece in one text and in the other may belong to
    /// similar texts. The first text has `characters` characters from the beginning of the piece
    /// on.
    #[inline]
    pub(super) fn may_follow(self, own: u32, other: u32, characters: u32) -> bool {
        self.is_within_one(own, other) || characters < self.enough
    }

    /// Reports whether the characters agree except for one edit.
    #[inline]
    fn is_within_one(self, own: u32, other: u32) -> bool {
        /// A mask of the lowest bit of each code.
        const LOWEST: u32 = u32::MAX / ((1 << BITS) - 1);
        let differ = own ^ other;
        let differing = (differ | differ >> 1 | differ >> 2 | differ >> 3) & LOWEST;
        let first = differing & differing.wrapping_neg();
        // Masks of all bits from the first differing character on, and of the bits after that
        // character.
        let [from, behind] = [first.wrapping_neg(), (first << BITS).wrapping_neg()];
        // The character is replaced or removed, or one is inserted before it.
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
        /// The check passes texts of as many characters as are compared if some beginning of the
        /// other text is one edit away. It passes no other texts whose codes differ.
        #[test]
        fn one_edit_passes(own in "[a-c]{8}", other in "[a-c]{8,12}", at in 0..4usize) {
            let ahead: String = "b".repeat(at);
            let codes = [&own, &other].map(|text| {
                let (text, mut codes) = (format!("{ahead}{text}"), CharacterBits::default());
                codes.set(&text, text.len() as u32).unwrap();
                codes.from(at as u32)
            });
            for width in [2, 3, 5, 7, 8, 20] {
                let following = Following::for_shape(Shape::plain(width)).unwrap();
                let alike = width.min(7);
                let is_near = (alike - 1..=alike + 1).any(|end| {
                    distance(&own[..alike], &other[..end], &Stop::default()).unwrap().0 <= 1
                });
                let length = 2 * width as u32 + 7;
                prop_assert_eq!(following.may_follow(codes[0], codes[1], length), is_near, "{}", width);
                // Nothing is known about the characters after the end.
                prop_assert!(following.may_follow(codes[0], codes[1], width as u32));
            }
        }
    }

    #[test]
    fn pieces_of_parts_are_not_looked_behind() {
        assert!(Shape::all().all(|shape| Following::for_shape(shape).is_some() == (shape.edits() == 1)));
    }
}
