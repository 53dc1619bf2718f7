//! Assigns pairs to search methods by the length of their longer text.

use std::cmp::Ordering;
use std::ops::{Range, RangeInclusive};

use super::profiles::ByProfiles;
use super::sample::meet_in_vain;
use super::segments::BySegments;
use super::segments::choice::best_shape;
use super::segments::shape::Shape;
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::texts::Texts;
use crate::joins::Counts;
use crate::joins::pairs::{Pair, Pairs};
use crate::memory;
use crate::verify::edit::{EditPredicate, GramBound};

const DOING: &str = "finding texts to compare";

/// A range of lengths of the longer text, and the method that finds its pairs.
#[derive(Debug, Clone)]
pub(super) struct LengthSpan {
    /// The number of characters of the longer text.
    pub longer: RangeInclusive<u32>,
    /// The method that finds the pairs.
    pub by: By,
}

/// A method to find candidates, named by what the texts of a candidate have in common.
#[derive(Debug, Clone, Copy)]
pub(super) enum By {
    /// Texts that share enough grams.
    Grams(GramBound),
    /// Texts with similar counts of most grams.
    Profiles,
    /// Texts that have enough pieces of this shape in common.
    Segments(Shape),
    /// Equal texts.
    Equality,
    /// All pairs.
    All,
}

/// Returns the spans for a predicate; each pair belongs to exactly one of the spans. `sides` has
/// the range of texts of each table.
pub(super) fn spans(
    texts: &Texts,
    sides: &[Range<u32>],
    edit: EditPredicate,
    budget: usize,
    executor: &dyn Executor,
) -> Result<Vec<LengthSpan>> {
    let all = |by| vec![LengthSpan { longer: 0..=u32::MAX, by }];
    if edit.first_length(1).is_none() {
        return Ok(all(By::Equality));
    }
    let Some(distance) = edit.distance_alone() else {
        let bound = GramBound::new(edit);
        if !meet_in_vain(texts, sides, bound, ByProfiles::SHORTEST, executor)? {
            return Ok(all(By::Grams(bound)));
        }
        let shape = best_shape(texts, sides, edit, ByProfiles::SHORTEST, budget, executor)?;
        return Ok(vec![
            LengthSpan { longer: 0..=ByProfiles::SHORTEST - 1, by: By::Grams(bound) },
            LengthSpan {
                longer: ByProfiles::SHORTEST..=u32::MAX,
                by: shape.map_or(By::Profiles, By::Segments),
            },
        ]);
    };
    let [one, two] = [1, 2].map(|q| GramBound::with_grams_of(edit, q));
    let [single, double] = [one, two].map(|bound| bound.least_length(distance));
    let span = |longer, bound| LengthSpan { longer, by: By::Grams(bound) };
    Ok(vec![
        span(double..=u32::MAX, two),
        span(single..=double - 1, one),
        LengthSpan { longer: 0..=single - 1, by: By::All },
    ])
}

/// Finds the pairs of equal texts of two tables.
pub(super) fn equal_texts(
    texts: &Texts,
    lefts: Range<u32>,
    rights: Range<u32>,
    executor: &dyn Executor,
) -> Result<Vec<Pair>> {
    const CHECK_EVERY: u32 = 1 << 10;
    let key = |text: u32| (texts.length(text), texts.hash(text));
    let mut state = (Vec::new(), lefts, rights);
    executor::one(executor, &mut state, |(equal, lefts, rights), stop| {
        while let (Some(left), Some(right)) = (lefts.clone().next(), rights.clone().next()) {
            if left.is_multiple_of(CHECK_EVERY) || right.is_multiple_of(CHECK_EVERY) {
                stop.check()?;
            }
            match key(left).cmp(&key(right)) {
                Ordering::Less => lefts.start += 1,
                Ordering::Greater => rights.start += 1,
                Ordering::Equal => {
                    // Other texts may have the same hash.
                    let mut same = rights.clone().take_while(|&right| key(right) == key(left));
                    if let Some(right) = same.find(|&right| texts.text(right) == texts.text(left)) {
                        memory::push(equal, Pair { left, right, similarity: 1.0 }, DOING)?;
                    }
                    lefts.start += 1;
                }
            }
        }
        Ok(())
    })?;
    Ok(state.0)
}

/// A span together with the source of its pairs.
#[derive(Debug)]
pub(super) struct SpanStage {
    pub span: LengthSpan,
    pub source: PairSource,
    /// The number of characters of the texts whose lengths are in the span, as a measure of the
    /// work.
    pub characters: u64,
}

/// A source of candidates.
#[derive(Debug)]
pub(super) enum PairSource {
    /// Pairs of texts that share enough grams, and the bound. The rows of these pairs are the
    /// texts.
    Grams(Pairs, GramBound),
    /// Pairs of texts with compatible profiles.
    Profiles(ByProfiles),
    /// Pairs of texts that have enough pieces in common.
    Segments(BySegments),
    /// Pairs that are known in advance.
    Known(Vec<Pair>),
    /// All pairs.
    All(AllPairs),
}

/// All pairs of texts of one table, or of two.
#[derive(Debug)]
pub(super) struct AllPairs {
    lefts: Range<u32>,
    /// The number of left texts when the search began.
    all: usize,
    rights: Option<Range<u32>>,
    next: Option<u32>,
    looked_at: u64,
}

impl AllPairs {
    /// Prepares to enumerate all pairs.
    pub(super) fn new(lefts: Range<u32>, rights: Option<Range<u32>>) -> Self {
        Self { all: lefts.len(), lefts, rights, next: None, looked_at: 0 }
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

impl PairSource {
    /// Returns the next candidate that is already found.
    pub(super) fn take(&mut self) -> Option<Pair> {
        match self {
            Self::Grams(pairs, _) => pairs.take(),
            Self::Profiles(pairs) => pairs.take(),
            Self::Segments(pairs) => pairs.take(),
            Self::Known(pairs) => pairs.pop(),
            Self::All(pairs) => pairs.next(),
        }
    }

    /// Looks for more candidates. Returns false when there are none left.
    pub(super) fn advance(&mut self, texts: &Texts, executor: &dyn Executor) -> Result<bool> {
        match self {
            Self::Grams(pairs, _) => pairs.advance(executor),
            Self::Profiles(pairs) => pairs.advance(texts, executor),
            Self::Segments(pairs) => pairs.advance(texts, executor),
            Self::Known(_) | Self::All(_) => Ok(false),
        }
    }

    /// Returns the bound of the shared grams, if the similarity of the candidates is that of their
    /// grams.
    pub(super) fn bound(&self) -> Option<GramBound> {
        match self {
            Self::Grams(_, bound) => Some(*bound),
            _ => None,
        }
    }

    /// Returns what the filters have counted so far.
    pub(super) fn counts(&self) -> Counts {
        match self {
            Self::Grams(pairs, _) => pairs.counts(),
            Self::Profiles(pairs) => pairs.counts(),
            Self::Segments(pairs) => pairs.counts(),
            Self::Known(_) => Counts::default(),
            Self::All(pairs) => Counts { candidates: pairs.looked_at, ..Counts::default() },
        }
    }

    /// Returns the share of the work that is done, 0 to 1.
    pub(super) fn progress(&self, texts: &Texts) -> f64 {
        match self {
            Self::Grams(pairs, _) => pairs.progress(),
            Self::Profiles(pairs) => pairs.progress(texts),
            Self::Segments(pairs) => pairs.progress(),
            Self::Known(_) => 0.0,
            Self::All(pairs) => 1.0 - pairs.lefts.len() as f64 / pairs.all.max(1) as f64,
        }
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Grams(pairs, _) => pairs.bytes(),
            Self::Profiles(pairs) => pairs.bytes(),
            Self::Segments(pairs) => pairs.bytes(),
            Self::Known(pairs) => memory::bytes(pairs),
            Self::All(_) => 0,
        }
    }
}
