//! A text whose pieces are looked up, and how far away.

use std::ops::Range;

/// A text whose pieces are looked up.
#[derive(Debug, Clone)]
pub(super) struct Query<'a> {
    pub text: &'a str,
    /// Characters of it.
    pub length: u32,
    /// The texts of the index that it is compared with.
    pub among: Range<u32>,
    /// The least and the most characters of these.
    pub others: (u32, u32),
    /// Its own number, where the index has it.
    pub own: Option<u32>,
}

/// How far away a text looks for a key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub length: u32,
    down: u32,
    up: u32,
    /// The first of the texts it is compared with, and how many they are.
    pub first: u32,
    pub count: u32,
}

impl Window {
    /// Of a text that is compared with others, of which the greatest distance is `reach`; none where all are too far.
    pub(super) fn new(query: &Query<'_>, reach: u32) -> Option<Self> {
        let reach = i64::from(reach);
        // By how much it is longer than others. Of the edits at least s are before a piece that moved by s, and |i - s|
        // behind it: s is between half of i - d and half of i + d.
        let [least, most] =
            [query.others.1, query.others.0].map(|other| i64::from(query.length) - i64::from(other));
        let [down, up] = [most.min(reach) + reach, reach - least.max(-reach)].map(|twice| (twice + 1) / 2);
        if down < 0 || up < 0 || query.among.is_empty() {
            return None;
        }
        // No text has more characters than 31 bits count.
        let (down, up) = (down as u32, up as u32);
        Some(Self {
            length: query.length,
            down,
            up,
            first: query.among.start,
            count: query.among.len() as u32,
        })
    }

    /// Where an equal key begins at least, and the place that it does not reach.
    #[inline]
    pub(super) fn places(&self, place: u32) -> [u32; 2] {
        [place.saturating_sub(self.down), place + self.up + 1]
    }
}
