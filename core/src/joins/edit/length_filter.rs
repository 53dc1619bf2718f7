//! Selects which texts of one table, or of two, are compared: those with compatible lengths.

use std::ops::Range;

use crate::features::texts::Texts;
use crate::verify::edit::EditPredicate;

/// Returns those of some texts, which are in the order of their lengths, that have at least
/// `shortest` characters and may be similar to a text of `length` characters.
pub(super) fn compatible(
    texts: &Texts,
    edit: EditPredicate,
    length: u32,
    all: Range<u32>,
    shortest: u32,
) -> Range<u32> {
    let lengths = &texts.lengths()[all.start as usize..all.end as usize];
    let least = edit.least_partner(length).max(shortest);
    let from = lengths.partition_point(|&other| other < least);
    let to = lengths.partition_point(|&other| edit.least_partner(other) <= length);
    all.start + from as u32..all.start + to.max(from) as u32
}

/// Returns the least range that has all of some ranges.
pub(super) fn span(ranges: impl Iterator<Item = Range<u32>>) -> Range<u32> {
    let some = ranges.filter(|range| range.start < range.end);
    some.reduce(|all, range| all.start.min(range.start)..all.end.max(range.end)).unwrap_or_default()
}

/// The texts of each side of the comparison.
#[derive(Debug, Clone)]
pub(super) struct TextSides {
    /// The rule that decides whether a pair is similar.
    pub edit: EditPredicate,
    /// The texts whose segments are indexed.
    pub lefts: Range<u32>,
    /// The texts of another table. If there is only one table, the partners of a text are the texts
    /// before it in this table, which are not longer.
    pub rights: Option<Range<u32>>,
}

impl TextSides {
    /// Returns the partners of a text that have compatible lengths.
    pub(super) fn partners(&self, texts: &Texts, text: u32) -> Range<u32> {
        let all = self.rights.clone().unwrap_or(self.lefts.start..text);
        compatible(texts, self.edit, texts.length(text), all, 0)
    }

    /// Returns the greatest distance between a text and one of its partners, in insertions,
    /// deletions and replacements: a swap of two neighbours may change two pieces.
    pub(super) fn distance(&self, texts: &Texts, text: u32) -> u32 {
        let longest = self.partners(texts, text).last().map_or(0, |partner| texts.length(partner));
        self.edit.without_swaps(self.edit.most_distance(longest.max(texts.length(text))))
    }
}
