//! Selects which texts of one table, or of two, are compared by segments: those with compatible
//! lengths.

use std::ops::Range;

use crate::features::texts::Texts;
use crate::verify::edit::EditPredicate;

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
        let length = texts.length(text);
        let all = self.rights.clone().unwrap_or(self.lefts.start..text);
        let first = |holds: &dyn Fn(u32) -> bool| {
            let lengths = &texts.lengths()[all.start as usize..all.end as usize];
            all.start + lengths.partition_point(|&other| !holds(other)) as u32
        };
        let from = first(&|other| other >= self.edit.least_partner(length));
        from..first(&|other| self.edit.least_partner(other) > length).max(from)
    }

    /// Returns the greatest distance between a text and one of its partners.
    pub(super) fn distance(&self, texts: &Texts, text: u32) -> u32 {
        let longest = self.partners(texts, text).last().map_or(0, |partner| texts.length(partner));
        self.edit.most_distance(longest.max(texts.length(text)))
    }
}
