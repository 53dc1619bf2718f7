//! The shape of a piece, and the keys by which other texts look it up.
//!
//! A plain piece is a run of characters: one edit changes it. A piece of several parts is looked up
//! by all parts but one, so it takes two edits to change it. Then lookups can use more characters,
//! and a text can have more edits. One edit changes one part, or adds a character between two
//! parts, which is the same as adding it to one of them. If the changed part is the first or the
//! last, the other parts remain adjacent. Otherwise the parts before and after the changed part are
//! as far apart as that part is long, or one character more or less.

use std::ops::Range;

use crate::error::Result;
use crate::executor::Stop;
use crate::hash::mix;

/// The shape of pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Shape {
    /// The number of parts: one, or at least three, of which one may change.
    parts: usize,
    /// The number of characters of a part.
    width: usize,
}

impl Shape {
    /// Returns the shape of plain pieces of `width` characters.
    pub(super) const fn plain(width: usize) -> Self {
        Self { parts: 1, width }
    }

    /// Returns the shape of pieces of at least three parts.
    pub(super) const fn of_parts(parts: usize, width: usize) -> Self {
        Self { parts, width }
    }

    /// Returns all shapes that are tried, those with fewer lookups first.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        const PLAIN: [usize; 15] = [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 32];
        const OF_PARTS: [(usize, usize); 9] =
            [(3, 2), (3, 3), (3, 4), (4, 2), (4, 3), (4, 4), (5, 2), (5, 3), (6, 2)];
        let of_parts = OF_PARTS.into_iter().map(|(parts, width)| Self::of_parts(parts, width));
        PLAIN.into_iter().map(Self::plain).chain(of_parts)
    }

    /// Returns the number of characters of a piece.
    pub(super) fn length(self) -> usize {
        self.parts * self.width
    }

    /// Returns the least number of edits that change a piece beyond recognition.
    pub(super) fn edits(self) -> u32 {
        if self.parts == 1 { 1 } else { 2 }
    }

    /// Returns the maximum number of edits on one side of a key, if `pieces` indexed pieces are on
    /// that side. So this is also how far the key has moved at most. The limit holds for at least
    /// the needed number of the pieces that are found in a similar text (`index`).
    #[inline]
    pub(super) fn most_edits_beside(self, pieces: u16) -> u32 {
        let edits = self.edits();
        edits * u32::from(pieces) + 2 * (edits - 1)
    }

    /// Returns the number of keys of a piece.
    pub(super) fn keys(self) -> usize {
        self.parts
    }

    /// Returns the number of keys that are looked up at each position of a text.
    pub(super) fn looks(self) -> usize {
        if self.parts == 1 { 1 } else { 1 + 3 * (self.parts - 2) }
    }

    /// Returns the number of characters of a key that consists of one run.
    fn run(self) -> usize {
        self.width * (self.parts - 1).max(1)
    }

    /// Returns the indices of the parts that may change and have other parts on both sides.
    fn between(self) -> Range<usize> {
        1..self.parts.saturating_sub(1).max(1)
    }

    /// Calls `each` with the keys of the pieces of a text. Each key comes with its range: the
    /// position of its first character and the position after its last character. A piece begins
    /// every [`length`](Self::length) characters; a key lies within its piece.
    pub(super) fn for_each_key(
        self,
        text: &str,
        stop: &Stop,
        mut each: impl FnMut(Range<u32>, u32) -> Result<()>,
    ) -> Result<()> {
        let (length, width) = (self.length(), self.width);
        walk(text, stop, |end, sums| {
            if !end.is_multiple_of(length) {
                return Ok(());
            }
            let start = end - length;
            if self.parts == 1 {
                return each(places(start, end), sums.key(0, start..end, end..end));
            }
            each(places(start, end - width), sums.key(0, start..end - width, end..end))?;
            each(places(start + width, end), sums.key(0, start + width..end, end..end))?;
            for changed in self.between() {
                let part = start + changed * width;
                each(places(start, end), sums.key(changed, start..part, part + width..end))?;
            }
            Ok(())
        })
    }

    /// Calls `each` with all keys that pieces of other texts may have in common with this text.
    /// Each key comes with its range: the position of its first character and the position after
    /// its last character.
    pub(super) fn for_each_look(
        self,
        text: &str,
        stop: &Stop,
        mut each: impl FnMut(Range<u32>, u32) -> Result<()>,
    ) -> Result<()> {
        let (run, width) = (self.run(), self.width);
        walk(text, stop, |end, sums| {
            if let Some(start) = end.checked_sub(run) {
                each(places(start, end), sums.key(0, start..end, end..end))?;
            }
            for changed in self.between() {
                let second = end.saturating_sub(run - changed * width);
                for gap in width - 1..=width + 1 {
                    if let Some(start) = end.checked_sub(run + gap) {
                        let first = start..start + changed * width;
                        each(places(start, end), sums.key(changed, first, second..end))?;
                    }
                }
            }
            Ok(())
        })
    }
}

/// Converts a range of positions in a text; a text has fewer than 2^32 characters.
#[inline]
fn places(start: usize, end: usize) -> Range<u32> {
    start as u32..end as u32
}

/// Hashes of the prefixes of a text that end at the last few positions.
struct PrefixHashes([u64; Self::PLACES]);

impl PrefixHashes {
    /// More than the number of characters from the first to the last of a key, including those
    /// between its runs.
    const PLACES: usize = 64;
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
    const POWERS: [u64; Self::PLACES] = {
        let (mut powers, mut n) = ([1u64; Self::PLACES], 1);
        while n < Self::PLACES {
            powers[n] = powers[n - 1].wrapping_mul(Self::BASE);
            n += 1;
        }
        powers
    };

    #[inline]
    fn hash(&self, places: Range<usize>) -> u64 {
        let [from, to] = [places.start, places.end].map(|place| self.0[place % Self::PLACES]);
        to.wrapping_sub(from.wrapping_mul(Self::POWERS[places.len() % Self::PLACES]))
    }

    /// Returns the key of one run, or of two runs around part number `changed`.
    #[inline]
    fn key(&self, changed: usize, first: Range<usize>, second: Range<usize>) -> u32 {
        let both = mix(self.hash(first).wrapping_add(changed as u64)).wrapping_add(self.hash(second));
        (mix(both) >> 32) as u32
    }
}

/// Calls `each` after every character of a text.
#[inline]
fn walk(text: &str, stop: &Stop, mut each: impl FnMut(usize, &PrefixHashes) -> Result<()>) -> Result<()> {
    const CHECK_EVERY: usize = 1 << 14;
    let mut sums = PrefixHashes([0; PrefixHashes::PLACES]);
    for (n, symbol) in text.chars().enumerate() {
        stop.check_every(n, CHECK_EVERY)?;
        let symbol = u64::from(u32::from(symbol)) + 1;
        sums.0[(n + 1) % PrefixHashes::PLACES] =
            sums.0[n % PrefixHashes::PLACES].wrapping_mul(PrefixHashes::BASE).wrapping_add(symbol);
        each(n + 1, &sums)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    #[test]
    fn keys_fit_what_is_kept_of_a_text() {
        assert!(Shape::all().all(|shape| shape.length() + 1 < PrefixHashes::PLACES && shape.parts != 2));
    }

    fn keys(shape: Shape, text: &str) -> Vec<(u32, u32)> {
        let mut keys = Vec::new();
        let each = |places: Range<u32>, key| {
            keys.push((places.start, key));
            Ok(())
        };
        shape.for_each_key(text, &Stop::default(), each).unwrap();
        keys
    }

    fn looks(shape: Shape, text: &str) -> Vec<(u32, u32)> {
        let mut looks = Vec::new();
        let each = |places: Range<u32>, key| {
            looks.push((places.start, key));
            Ok(())
        };
        shape.for_each_look(text, &Stop::default(), each).unwrap();
        looks
    }

    proptest! {
        #![proptest_config(crate::cases::cases(100))]

        /// One edit fewer than it takes to change a piece leaves one of its keys.
        #[test]
        fn an_edit_leaves_a_key(
            text in prop::collection::vec(any::<char>(), 1..40),
            at in any::<prop::sample::Index>(),
            kind in 0..3,
            symbol in any::<char>(),
        ) {
            for shape in Shape::all() {
                let mut piece: Vec<char> = text.iter().copied().cycle().take(shape.length()).collect();
                let of = keys(shape, &piece.iter().collect::<String>());
                prop_assert_eq!(of.len(), shape.keys());
                prop_assert!(of.iter().all(|&(place, _)| (place as usize) < shape.length()));
                if shape.edits() == 2 {
                    let at = at.index(piece.len());
                    match kind {
                        0 => piece[at] = symbol,
                        1 => piece.insert(at, symbol),
                        _ => drop(piece.remove(at)),
                    }
                }
                let around: String = ['<', '>'].into_iter().chain(piece).chain(['<']).collect();
                let found = looks(shape, &around);
                prop_assert!(found.len() <= shape.looks() * around.chars().count());
                let found: HashSet<(u32, u32)> = found.into_iter().collect();
                // The edit may have moved the characters after it by one.
                let is_found = |place: u32, key| (1..4).any(|moved| found.contains(&(place + moved, key)));
                prop_assert!(of.iter().any(|&(place, key)| is_found(place, key)), "{:?}", shape);
            }
        }
    }
}
