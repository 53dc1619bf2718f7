//! One comparison: it computes the filtered sketches of two texts, the LCS of the sketches, and the
//! part of the LCS in the trustable region; and further regions, of passages that were moved, in
//! the characters that earlier regions leave of the two texts.

use std::ops::Range;

use super::parameters::Parameters;
use crate::error::Result;
use crate::executor::Stop;
use crate::memory;
use crate::verify::filter::Filter;
use crate::verify::lcs::{Lcs, LcsBounds, containment, resemblance};
use crate::verify::region::Curve;
use crate::verify::region_bound::may_hold;
use crate::verify::windows::WindowedText;

const DOING: &str = "comparing two texts";

/// The state of a comparison. Its space is reused.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    /// The filter, which finds the windows that both texts have.
    pub filter: Filter,
    lcs: Lcs,
    /// The places of matched characters in the shorter and in the longer text.
    matched: Vec<(u32, u32)>,
    curve: Curve,
    /// Decides which of two texts of the same length counts as A, the shorter text: the right text
    /// if this is true, else the left text.
    pub right_first: bool,
    /// The counters so far.
    pub steps: Steps,
}

impl Workspace {
    /// Reports whether A, the shorter text, is the right text.
    pub(super) fn swaps(&self, left: &WindowedText, right: &WindowedText) -> bool {
        let (x, y) = (left.symbols.len(), right.symbols.len());
        x > y || (x == y && self.right_first)
    }

    /// Returns the part that two texts have in common, or `None` if it is shorter than `least`. The
    /// ranges of the part are indices of symbols. The filter must have been set to the left text.
    pub(super) fn part(
        &mut self,
        parameters: &Parameters,
        left: &WindowedText,
        right: &WindowedText,
        least: usize,
        stop: &Stop,
    ) -> Result<Option<SharedPart>> {
        // A is the shorter one of the texts, not of the sketches.
        let swapped = self.swaps(left, right);
        let Self { filter, lcs, matched, curve, steps, .. } = self;
        if parameters.window == 0 || left.is_empty() || right.is_empty() {
            filter.keep_all(left, right)?;
        } else {
            filter.sketch(left, right, stop)?;
        }
        steps.characters += (left.symbols.len() + right.symbols.len()) as u64;
        let kept = [&filter.left, &filter.right].map(|sketch| sketch.places.len());
        steps.kept += (kept[0] + kept[1]) as u64;
        let least = least.max(1);
        if kept[0].min(kept[1]) < least {
            steps.filtered += 1;
            return Ok(None);
        }
        let (centre, blocks) = (parameters.centre, parameters.blocks as usize);
        let (a, a_text, b, b_text) = match swapped {
            true => (&filter.right, right, &filter.left, left),
            false => (&filter.left, left, &filter.right, right),
        };
        if parameters.trustable {
            let length = a_text.symbols.len();
            if !may_hold(&a.places, length, parameters.slope, blocks, centre, least)? {
                steps.filtered += 1;
                return Ok(None);
            }
        }
        steps.aligned += 1;
        let bounds = LcsBounds { least, known: filter.runs.common() };
        if !parameters.trustable {
            let length = lcs.length(&a.symbols, &b.symbols, bounds, stop)?;
            let whole = |text: &WindowedText| 0..text.symbols.len();
            return Ok(length.map(|length| SharedPart { left: whole(left), right: whole(right), length }));
        }
        matched.clear();
        memory::reserve(matched, kept[0].min(kept[1]), DOING)?;
        let each = |i: usize, j: usize| matched.push((a.places[i], b.places[j]));
        if !lcs.matches(&a.symbols, &b.symbols, bounds, stop, each)? {
            return Ok(None);
        }
        matched.reverse();
        curve.set(a_text.symbols.len(), b_text.symbols.len(), matched)?;
        let Some(region) = curve.trustable(parameters.slope, blocks, centre) else {
            return Ok(None);
        };
        let inside = |n: u32| matched.partition_point(|&(a, _)| a < n);
        let inside = inside(region.start as u32)..inside(region.end as u32);
        matched.drain(inside.end..);
        matched.drain(..inside.start);
        let (Some(first), Some(last)) = (matched.first(), matched.last()) else { return Ok(None) };
        let other = first.1 as usize..last.1 as usize + 1;
        let (left, right) = if swapped { (other, region) } else { (region, other) };
        Ok(Some(SharedPart { left, right, length: matched.len() }))
    }

    /// Returns the characters of both texts that have to be removed after the last part was found:
    /// the region of the shorter text, and the matched characters of the longer one.
    pub(super) fn removed(&self, part: &SharedPart, swapped: bool) -> [Vec<u32>; 2] {
        let matched = self.matched.iter().map(|&(_, b)| b).collect();
        let region = |part: &Range<usize>| part.clone().map(|n| n as u32).collect();
        if swapped { [matched, region(&part.right)] } else { [region(&part.left), matched] }
    }
}

/// Takes a part, removes it from both texts and searches the rest, as long as further parts are
/// long enough. Each region is trustable in what is left of the texts, and so touches the centre of
/// what is left of A. A stays the shorter text: no region is shorter than what it matches in B.
pub(super) fn search_again(
    work: &mut Workspace,
    parameters: &Parameters,
    texts: [&WindowedText; 2],
    mut part: SharedPart,
    found: &mut Found,
    stop: &Stop,
) -> Result<()> {
    let width = parameters.window.max(1);
    let mut rest = [WindowedText::default(), WindowedText::default()];
    for (rest, text) in rest.iter_mut().zip(texts) {
        rest.take(text, width, |_| true)?;
    }
    let least = parameters.least_part as usize;
    loop {
        let [left, right] = &rest;
        found.take(part.length, left.span(part.left.clone()), right.span(part.right.clone()));
        let mut next = [WindowedText::default(), WindowedText::default()];
        let removed = work.removed(&part, work.swaps(left, right));
        for ((next, rest), removed) in next.iter_mut().zip(&rest).zip(&removed) {
            next.take(rest, width, |n| removed.binary_search(&(n as u32)).is_err())?;
        }
        rest = next;
        let [left, right] = &rest;
        if parameters.window > 0 && !left.is_empty() && !right.is_empty() {
            work.filter.set(left, stop)?;
        }
        match work.part(parameters, left, right, least, stop)? {
            Some(next) if next.length >= least => part = next,
            _ => break,
        }
    }
    Ok(())
}

/// A part of both texts that counts as shared.
///
/// ```
/// use neardup_core::Stop;
/// use neardup_core::compare::{TlcsComparer, TlcsPart};
///
/// let mut comparer = TlcsComparer::new(Default::default())?;
/// let found = comparer.compare("quay", "quay", None, &Stop::default())?.expect("no threshold");
/// assert_eq!(found.parts, [TlcsPart { left: 0..4, right: 0..4, length: 4 }]);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedPart {
    /// The range in the left text, in characters from 0.
    pub left: Range<usize>,
    /// The range in the right text.
    pub right: Range<usize>,
    /// The number of characters that both texts have in common in these ranges.
    pub length: usize,
}

/// The common parts of two texts.
///
/// ```
/// use neardup_core::compare::TlcsFound;
///
/// let found = TlcsFound { shared: 6, left: 12, right: 6, parts: Vec::new() };
/// assert_eq!((found.resemblance(), found.containment()), (12.0 / 18.0, 1.0));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The number of characters that the texts share.
    pub shared: usize,
    /// The number of characters of the left text that counted. A run of white space counts as one.
    pub left: usize,
    /// The number of characters of the right text that counted.
    pub right: usize,
    /// The parts that count, in the order in which they were found.
    pub parts: Vec<SharedPart>,
}

impl Found {
    /// Returns 2·|TLCS| / (|A| + |B|).
    ///
    /// It is from 0 to 1.
    ///
    /// ```
    /// use neardup_core::compare::TlcsFound;
    ///
    /// let found = TlcsFound { shared: 3, left: 4, right: 4, parts: Vec::new() };
    /// assert_eq!(found.resemblance(), 0.75);
    /// ```
    pub fn resemblance(&self) -> f64 {
        resemblance(self.shared, self.left, self.right)
    }

    /// Returns the share of the right text that is in the TLCS.
    ///
    /// It is from 0 to 1.
    ///
    /// ```
    /// use neardup_core::compare::TlcsFound;
    ///
    /// let found = TlcsFound { shared: 3, left: 9, right: 4, parts: Vec::new() };
    /// assert_eq!(found.containment(), 0.75);
    /// ```
    pub fn containment(&self) -> f64 {
        containment(self.shared, self.right)
    }

    /// Adds a part.
    pub(super) fn take(&mut self, length: usize, left: Range<usize>, right: Range<usize>) {
        self.shared += length;
        self.parts.push(SharedPart { left, right, length });
    }
}

/// Counters of comparisons.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Steps {
    /// The number of pairs whose sketches are too short, or cannot have a long enough trustable
    /// part. No LCS was computed for these pairs.
    pub filtered: u64,
    /// The number of pairs whose LCS was computed.
    pub aligned: u64,
    /// The number of characters of all pairs.
    pub characters: u64,
    /// The number of characters of all pairs that are in the sketches.
    pub kept: u64,
}
