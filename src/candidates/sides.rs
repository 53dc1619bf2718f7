//! The records of one table or two, and what follows from their sizes alone.

use std::ops::Range;

use super::bounds::{Bounds, Side};
use crate::error::Result;
use crate::features::order::{Ordered, Records};
use crate::memory;
use crate::verify::measure::Predicate;

const DOING: &str = "preparing the join";

/// What probes read: who probes, who is found, and the bounds between them.
#[derive(Debug)]
pub struct Sides {
    left: Records,
    right: Option<Records>,
    bounds: Bounds,
    /// How many tokens can be shared.
    pub shared_tokens: usize,
    /// The different sizes of the indexed records, ascending.
    pub sizes: Vec<u32>,
    /// The place of each indexed record's size among `sizes`.
    pub size_of: Vec<u32>,
    /// The length of the indexing prefix for each of `sizes`.
    prefixes: Vec<u32>,
}

/// The prefix of a record: those of its first tokens that can be shared.
#[derive(Debug, Clone, Copy)]
pub struct Prefix<'a> {
    /// The tokens.
    pub tokens: &'a [u32],
    /// How many rarer tokens stand before them, which no other record has.
    pub lone: u32,
}

impl Sides {
    /// Takes the records of a join. The right table is indexed, or the only one.
    pub fn new(ordered: Ordered, predicate: Predicate) -> Result<Self> {
        let Ordered { left, right, shared_tokens, .. } = ordered;
        let bounds = Bounds::new(predicate);
        let largest_left = left.sizes().last().copied().unwrap_or(0);
        let indexed = right.as_ref().unwrap_or(&left);
        let (mut sizes, mut prefixes, mut size_of) = (Vec::<u32>::new(), Vec::new(), Vec::new());
        memory::reserve(&mut size_of, indexed.len(), DOING)?;
        for &size in indexed.sizes() {
            if sizes.last() != Some(&size) {
                let least_partner = match right {
                    Some(_) => bounds.partner_sizes(Side::Right, size, largest_left).map(|p| *p.start()),
                    // Who probes is not smaller.
                    None => Some(size),
                };
                let prefix = least_partner.map_or(0, |least| bounds.prefix(Side::Right, size, least));
                memory::push(&mut sizes, size, DOING)?;
                memory::push(&mut prefixes, prefix, DOING)?;
            }
            size_of.push(sizes.len() as u32 - 1);
        }
        Ok(Self { left, right, bounds, shared_tokens, sizes, size_of, prefixes })
    }

    /// The records that probe.
    #[inline]
    pub fn left(&self) -> &Records {
        &self.left
    }

    /// The records that are found.
    #[inline]
    pub fn indexed(&self) -> &Records {
        self.right.as_ref().unwrap_or(&self.left)
    }

    /// Whether a table is joined with itself.
    pub fn is_self_join(&self) -> bool {
        self.right.is_none()
    }

    /// The bounds between the two sides.
    #[inline]
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// The tokens under which a record is indexed.
    #[inline]
    pub fn indexing_prefix(&self, record: usize) -> Prefix<'_> {
        prefix(self.indexed(), record, self.prefixes[self.size_of[record] as usize])
    }

    /// The tokens with which a record probes for `partners`.
    pub fn probing_prefix(&self, probe: usize, partners: &Range<u32>) -> Prefix<'_> {
        let least_partner = self.indexed().size(partners.start as usize);
        let length = self.bounds.prefix(Side::Left, self.left.size(probe), least_partner);
        prefix(&self.left, probe, length)
    }

    /// The indexed records that a probe may be paired with by their size, and before itself in a
    /// self-join.
    pub fn partners(&self, probe: usize) -> Option<Range<u32>> {
        let largest = self.sizes.last().copied().unwrap_or(0);
        let sizes = self.bounds.partner_sizes(Side::Left, self.left.size(probe), largest)?;
        let all = self.indexed().sizes();
        let from = all.partition_point(|size| size < sizes.start());
        let to = match self.right {
            Some(_) => all.partition_point(|size| size <= sizes.end()),
            None => probe,
        };
        // Records are numbered with 32 bits.
        (from < to).then_some(from as u32..to as u32)
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.left.bytes()
            + self.right.as_ref().map_or(0, Records::bytes)
            + memory::bytes(&self.sizes)
            + memory::bytes(&self.size_of)
            + memory::bytes(&self.prefixes)
    }
}

fn prefix(records: &Records, record: usize, length: u32) -> Prefix<'_> {
    let tokens = records.tokens(record);
    let lone = records.size(record) - tokens.len() as u32;
    let shared = (length.saturating_sub(lone) as usize).min(tokens.len());
    Prefix { tokens: &tokens[..shared], lone }
}

/// What a probe of some size needs of each possible partner; worked out once for all probes of that
/// size, which follow one another.
#[derive(Debug, Default)]
pub struct Needs {
    /// The least overlap with each of [`Sides::sizes`]; [`u32::MAX`] where there is none.
    pub least: Vec<u32>,
    /// How many tokens the probe and a partner up to that size may differ in, at most.
    pub differ: Vec<u32>,
    size: Option<u32>,
}

impl Needs {
    /// Needs of nobody yet.
    pub fn new(sides: &Sides) -> Result<Self> {
        let sizes = sides.sizes.len();
        Ok(Self {
            least: memory::filled(u32::MAX, sizes, DOING)?,
            differ: memory::filled(0, sizes, DOING)?,
            size: None,
        })
    }

    /// Makes them those of a probe of `size` with its partners.
    pub fn of(&mut self, sides: &Sides, size: u32, partners: &Range<u32>) {
        if self.size == Some(size) {
            return;
        }
        self.size = Some(size);
        let last = if sides.is_self_join() {
            // Later probes of this size may meet earlier ones of it.
            sides.sizes.partition_point(|&other| other < size)
        } else {
            sides.size_of[partners.end as usize - 1] as usize
        };
        let mut most = 0;
        for n in sides.size_of[partners.start as usize] as usize..=last {
            let least = sides.bounds.least_overlap(Side::Left, size, sides.sizes[n]);
            self.least[n] = least.unwrap_or(u32::MAX);
            if let Some(least) = least {
                most = most.max((size - least).saturating_add(sides.sizes[n] - least));
            }
            self.differ[n] = most;
        }
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.least) + memory::bytes(&self.differ)
    }
}
