//! The comparison of the probes of a token with the list of the token, by sizes, bitmaps and the
//! tokens just before it, and the cut of all such comparisons into units. Both joins by bitmaps are
//! made of it, in memory and in partitions: it is compiled for each of them.

use std::ops::Range;

use super::bitmap::Bitmap;
use super::bounds::Reach;
use super::posting::Posting;
use crate::error::Result;
use crate::executor::Stop;
use crate::memory;
use crate::simd::planes::{self, PlanesKernel};

const DOING: &str = "joining by bitmaps";

/// The indexed postings of a token, in the order of records.
#[derive(Debug, Clone, Copy)]
pub struct TokenList<'a, const W: usize> {
    /// The postings.
    pub postings: &'a [Posting],
    /// The bitmaps of their records: the first words of all, then the second words, and so on.
    pub planes: [&'a [u64]; W],
}

/// A record that probes with a token.
#[derive(Debug, Clone, Copy)]
pub struct TokenProbe<const W: usize> {
    /// Its posting of the token.
    pub posting: Posting,
    /// The records that it may be paired with.
    pub reach: Reach,
    /// Its bitmap.
    pub bitmap: Bitmap<W>,
}

impl<const W: usize> TokenList<'_, W> {
    /// Compares the probes at the places `todo`, which `probe` returns in the order of their
    /// records, with the list. Calls `met` with a probe, the places of the postings that are near
    /// it, and the number of those that their bitmaps rule out, until it returns that there are
    /// enough pairs. `todo` becomes the rest, also after an error.
    #[inline]
    pub fn join(
        &self,
        todo: &mut Range<usize>,
        kernel: PlanesKernel<W>,
        near: &mut Vec<u32>,
        stop: &Stop,
        mut probe: impl FnMut(usize) -> TokenProbe<W>,
        mut met: impl FnMut(&TokenProbe<W>, &[u32], u64) -> Result<bool>,
    ) -> Result<()> {
        let Self { postings: list, planes } = *self;
        memory::reserve(near, list.len() + planes::IN_ADVANCE, DOING)?;
        // Each probe is at least as large as the one before it, so both ends of the range of
        // possible partners move up.
        let (mut from, mut to) = (0, 0);
        while todo.start < todo.end {
            stop.check()?;
            let probe = probe(todo.start);
            todo.start += 1;
            let TokenProbe { reach, bitmap, .. } = &probe;
            from += list[from..].iter().take_while(|posting| posting.record < reach.first).count();
            to = to.max(from);
            to += list[to..].iter().take_while(|posting| posting.record < reach.end).count();
            if from == to {
                continue;
            }
            near.clear();
            stop.work(to - from);
            kernel(bitmap, &planes.map(|plane| &plane[from..to]), reach.differ, from as u32, near);
            if met(&probe, near, (to - from - near.len()) as u64)? {
                break;
            }
        }
        Ok(())
    }
}

/// Cuts the probes of the tokens below `tokens` into ranges of about equal work. `start` returns
/// the number of probes of all tokens before one, and `indexed` the length of a token's list.
pub fn plan_units(
    tokens: usize,
    start: impl Fn(usize) -> usize,
    indexed: impl Fn(usize) -> usize,
) -> Result<Vec<Range<usize>>> {
    const COMPARISONS_A_UNIT: usize = 1 << 20;
    /// The cost of a probe in addition to its comparisons, given as a number of comparisons.
    const PROBE: usize = 16;
    let mut units = Vec::new();
    let (mut from, mut at, mut work) = (0, 0, 0);
    for token in 0..tokens {
        let end = start(token + 1);
        let each = PROBE + indexed(token) / 2;
        while at < end {
            let fit = (COMPARISONS_A_UNIT.saturating_sub(work) / each).max(1).min(end - at);
            at += fit;
            work += fit * each;
            if work >= COMPARISONS_A_UNIT {
                memory::push(&mut units, from..at, DOING)?;
                (from, work) = (at, 0);
            }
        }
    }
    if from < at {
        memory::push(&mut units, from..at, DOING)?;
    }
    Ok(units)
}
