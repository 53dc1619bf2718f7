//! Which pairs are found in which way, by the length of their longer text.

use std::ops::{Range, RangeInclusive};

use crate::error::Result;
use crate::joins::Counts;
use crate::joins::pairs::{Pair, Pairs};
use crate::verify::edit::{EditPredicate, GramBound};
use crate::workers::Workers;

/// Pairs by the length of their longer text, and how they are found.
#[derive(Debug, Clone)]
pub(super) struct Span {
    /// Characters of the longer text.
    pub longer: RangeInclusive<u32>,
    /// By grams in common; none where all pairs are in.
    pub bound: Option<GramBound>,
}

/// The spans that a predicate takes; each pair is of one of them.
pub(super) fn spans(edit: EditPredicate) -> Vec<Span> {
    let Some(distance) = edit.distance_alone() else {
        return vec![Span { longer: 0..=u32::MAX, bound: Some(GramBound::new(edit)) }];
    };
    // Of texts of n characters at least n - q + 1 - q·distance grams are shared.
    let (single, double) = (distance.saturating_add(1), distance.saturating_mul(2).saturating_add(2));
    let span = |longer, q| Span { longer, bound: Some(GramBound::with_grams_of(edit, q)) };
    vec![
        span(double..=u32::MAX, 2),
        span(single..=double - 1, 1),
        Span { longer: 0..=single - 1, bound: None },
    ]
}

/// What finds the pairs of a span.
#[derive(Debug)]
pub(super) struct Stage {
    /// The pairs.
    pub span: Span,
    /// What finds them.
    pub source: Source,
}

/// Where candidates come from.
#[derive(Debug)]
pub(super) enum Source {
    /// Pairs of texts that share enough grams, in place of rows.
    Grams(Pairs),
    /// All pairs.
    All(AllPairs),
}

/// All pairs of texts of one table, or of two.
#[derive(Debug)]
pub(super) struct AllPairs {
    lefts: Range<u32>,
    rights: Option<Range<u32>>,
    next: Option<u32>,
    looked_at: u64,
}

impl AllPairs {
    /// None was taken yet.
    pub(super) fn new(lefts: Range<u32>, rights: Option<Range<u32>>) -> Self {
        Self { lefts, rights, next: None, looked_at: 0 }
    }
}

impl Iterator for AllPairs {
    type Item = Pair;

    fn next(&mut self) -> Option<Pair> {
        while let Some(left) = self.lefts.clone().next() {
            let (first, end) = match &self.rights {
                Some(rights) => (rights.start, rights.end),
                None => (left + 1, self.lefts.end),
            };
            let right = self.next.unwrap_or(first);
            if right < end {
                self.next = Some(right + 1);
                self.looked_at += 1;
                return Some(Pair { left, right, similarity: 0.0 });
            }
            self.lefts.start += 1;
            self.next = None;
        }
        None
    }
}

impl Source {
    /// The next candidate that is there already.
    pub(super) fn take(&mut self) -> Option<Pair> {
        match self {
            Self::Grams(pairs) => pairs.take(),
            Self::All(pairs) => pairs.next(),
        }
    }

    /// Goes on to more of them; false where there are none.
    pub(super) fn advance(&mut self, workers: &dyn Workers) -> Result<bool> {
        match self {
            Self::Grams(pairs) => pairs.advance(workers),
            Self::All(_) => Ok(false),
        }
    }

    /// What the filters did so far.
    pub(super) fn counts(&self) -> Counts {
        match self {
            Self::Grams(pairs) => pairs.counts(),
            Self::All(pairs) => Counts { candidates: pairs.looked_at, ..Counts::default() },
        }
    }
}
