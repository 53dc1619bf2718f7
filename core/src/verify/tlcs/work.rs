//! One comparison: it computes the filtered sketches of two texts, the LCS of the sketches, and the
//! part of the LCS in the trustable region.

use std::ops::Range;

use super::found::{SharedPart, Steps};
use super::parameters::Parameters;
use crate::error::Result;
use crate::executor::Stop;
use crate::memory;
use crate::verify::filter::Filter;
use crate::verify::lcs::{Lcs, LcsBounds};
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
        let centre = if parameters.least_part > 0 { [0.0, 1.0] } else { parameters.centre };
        let blocks = parameters.blocks as usize;
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
