//! What a piece of a text is made of, and what of another text it is looked up by.
//!
//! A plain piece is a run of characters: one edit changes it. A piece of several parts is looked up by all but one of
//! them, so that it takes two edits to change it, and there may be as many characters to a look-up and more edits to a
//! text. One edit changes one part, or adds a character between two, which is as if it were added to one of them; the
//! others then stand together where that is the first or the last, else as far apart as the part is long, or one more
//! or less.

use std::ops::Range;

use crate::error::Result;
use crate::executor::Stop;
use crate::hash::mix;

/// What pieces are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Shape {
    /// One, or three and more, of which one may be changed.
    parts: usize,
    /// Characters of a part.
    width: usize,
}

impl Shape {
    /// Plain pieces of so many characters.
    pub(super) const fn plain(width: usize) -> Self {
        Self { parts: 1, width }
    }

    /// Pieces of at least three parts.
    pub(super) const fn of_parts(parts: usize, width: usize) -> Self {
        Self { parts, width }
    }

    /// All that are tried, those with fewer look-ups first.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        const PLAIN: [usize; 15] = [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 32];
        const OF_PARTS: [(usize, usize); 9] =
            [(3, 2), (3, 3), (3, 4), (4, 2), (4, 3), (4, 4), (5, 2), (5, 3), (6, 2)];
        let of_parts = OF_PARTS.into_iter().map(|(parts, width)| Self::of_parts(parts, width));
        PLAIN.into_iter().map(Self::plain).chain(of_parts)
    }

    /// Characters of a piece.
    pub(super) fn length(self) -> usize {
        self.parts * self.width
    }

    /// How many edits it takes at least to change it beyond recognition.
    pub(super) fn edits(self) -> u32 {
        if self.parts == 1 { 1 } else { 2 }
    }

    /// How far at most a key has moved, and so how many edits there are on one side of it, if so many pieces are there: of
    /// those pieces of a similar text that are found by at least as many as there have to be (`index`).
    #[inline]
    pub(super) fn most_edits_beside(self, pieces: u16) -> u32 {
        let edits = self.edits();
        edits * u32::from(pieces) + 2 * (edits - 1)
    }

    /// How many keys a piece has.
    pub(super) fn keys(self) -> usize {
        self.parts
    }

    /// How many keys are looked up at each place of a text.
    pub(super) fn looks(self) -> usize {
        if self.parts == 1 { 1 } else { 1 + 3 * (self.parts - 2) }
    }

    /// Characters of a run that is looked up by itself.
    fn run(self) -> usize {
        self.width * (self.parts - 1).max(1)
    }

    /// The numbers of parts that may be changed between others.
    fn between(self) -> Range<usize> {
        1..self.parts.saturating_sub(1).max(1)
    }

    /// Calls `each` with the keys of the pieces of a text, the place of the first character of each key and the one behind
    /// its last. A piece begins every [`length`](Self::length) characters; a key is within its own.
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

    /// Calls `each` with all keys that pieces of other texts may have in common with this text, the places of their first
    /// characters and those behind their last.
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

/// Of a text, which has no more characters than 32 bits count.
#[inline]
fn places(start: usize, end: usize) -> Range<u32> {
    start as u32..end as u32
}

/// Hashes of the beginnings of a text up to its last places.
struct Sums([u64; Self::PLACES]);

impl Sums {
    /// More than the characters from the first of a key to the last, with those between its runs.
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
    fn of(&self, places: Range<usize>) -> u64 {
        let [from, to] = [places.start, places.end].map(|place| self.0[place % Self::PLACES]);
        to.wrapping_sub(from.wrapping_mul(Self::POWERS[places.len() % Self::PLACES]))
    }

    /// The key of one run, or of two between which the part of this number is.
    #[inline]
    fn key(&self, changed: usize, first: Range<usize>, second: Range<usize>) -> u32 {
        let both = mix(self.of(first).wrapping_add(changed as u64)).wrapping_add(self.of(second));
        (mix(both) >> 32) as u32
    }
}

/// Calls `each` at the end of every character of a text.
#[inline]
fn walk(text: &str, stop: &Stop, mut each: impl FnMut(usize, &Sums) -> Result<()>) -> Result<()> {
    const CHECK_EVERY: usize = 1 << 14;
    let mut sums = Sums([0; Sums::PLACES]);
    for (n, symbol) in text.chars().enumerate() {
        if n % CHECK_EVERY == 0 {
            stop.check()?;
        }
        let symbol = u64::from(u32::from(symbol)) + 1;
        sums.0[(n + 1) % Sums::PLACES] =
            sums.0[n % Sums::PLACES].wrapping_mul(Sums::BASE).wrapping_add(symbol);
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
        assert!(Shape::all().all(|shape| shape.length() + 1 < Sums::PLACES && shape.parts != 2));
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
        #![proptest_config(ProptestConfig::with_cases(100))]

        /// One edit less than it takes leaves a key of each piece.
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
                // The edit may have moved what is behind it by one.
                let is_found = |place: u32, key| (1..4).any(|moved| found.contains(&(place + moved, key)));
                prop_assert!(of.iter().any(|&(place, key)| is_found(place, key)), "{:?}", shape);
            }
        }
    }
}
