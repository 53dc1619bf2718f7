//! Which texts of one table, or of two, are compared by segments: those whose lengths go together.

use std::ops::Range;

use crate::features::texts::Texts;
use crate::verify::edit::EditPredicate;

/// The texts that each of a table is compared with.
#[derive(Debug, Clone)]
pub(super) struct Sides {
    /// Which are near.
    pub edit: EditPredicate,
    /// Those whose segments are looked for.
    pub lefts: Range<u32>,
    /// Another table, or none where the shorter ones of the same are the partners.
    pub rights: Option<Range<u32>>,
}

impl Sides {
    /// The partners of a text whose length goes with its own.
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

    /// The greatest distance of a text from a partner of its own.
    pub(super) fn distance(&self, texts: &Texts, text: u32) -> u32 {
        let longest = self.partners(texts, text).last().map_or(0, |partner| texts.length(partner));
        self.edit.most_distance(longest.max(texts.length(text)))
    }
}
