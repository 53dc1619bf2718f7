//! A text whose pieces are looked up, and the distance within which they are looked up.

use std::ops::Range;

/// A text whose pieces are looked up.
#[derive(Debug, Clone)]
pub(super) struct PieceQuery<'a> {
    pub text: &'a str,
    /// The number of characters of the text.
    pub length: u32,
    /// The texts of the index that the text is compared with.
    pub among: Range<u32>,
    /// The least and the greatest length of these texts.
    pub others: (u32, u32),
    /// The number of the text itself in the index, if the index contains it.
    pub own: Option<u32>,
}

/// The range of positions in which a text looks for a key.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyWindow {
    pub length: u32,
    down: u32,
    up: u32,
    /// The first of the texts that the text is compared with. `count` is the number of these texts.
    pub first: u32,
    pub count: u32,
}

impl KeyWindow {
    /// Returns the window of a text whose distance to the compared texts is at most `reach`, or
    /// `None` if all of them are too far away.
    pub(super) fn new(query: &PieceQuery<'_>, reach: u32) -> Option<Self> {
        let reach = i64::from(reach);
        // `least` and `most` are the bounds of i, by how many characters the text is longer than a
        // compared text. If a piece moved by s characters, at least |s| of the d edits are before
        // it and at least |i - s| after it, so s is between half of i - d and half of i + d.
        let [least, most] =
            [query.others.1, query.others.0].map(|other| i64::from(query.length) - i64::from(other));
        let [down, up] = [most.min(reach) + reach, reach - least.max(-reach)].map(|twice| (twice + 1) / 2);
        if down < 0 || up < 0 || query.among.is_empty() {
            return None;
        }
        // A text has fewer than 2^31 characters.
        let (down, up) = (down as u32, up as u32);
        Some(Self {
            length: query.length,
            down,
            up,
            first: query.among.start,
            count: query.among.len() as u32,
        })
    }

    /// Returns the range in which an equal key may begin: the first position, and the position
    /// after the last one.
    #[inline]
    pub(super) fn places(&self, place: u32) -> [u32; 2] {
        [place.saturating_sub(self.down), place + self.up + 1]
    }
}
