//! Whether long texts are told apart by segments with less work than by how often they have each gram, and how long
//! segments are then: by what both find in a sample.

use std::ops::Range;

use super::index::{Frequencies, Index, LENGTHS, Share};
use super::sides::Sides;
use crate::error::Result;
use crate::features::texts::Texts;
use crate::joins::edit::profiles::Profiles;
use crate::joins::edit::sample::sample;
use crate::memory;
use crate::verify::edit::EditPredicate;
use crate::workers::{self, Stop, Workers};

const DOING: &str = "looking at a sample of texts";

/// What steps take, in tenths of nanoseconds, by what they took where they were measured.
mod cost {
    /// A segment that both may have.
    pub(super) const SEGMENT: u64 = 25;
    /// A look at a count of segments.
    pub(super) const COUNT: u64 = 3;
    /// The counts of the grams of two characters, and those of three.
    pub(super) const PAIRS: u64 = 200;
    pub(super) const TRIPLES: u64 = 1500;
    /// A step of the comparison of two texts.
    pub(super) const STEP: u64 = 2;
}

/// The length of segments, where these are less work than profiles. `sides` are the texts of each table; those of a
/// sample have at least `shortest` characters.
pub(in super::super) fn segment_length(
    texts: &Texts,
    sides: &[Range<u32>],
    edit: EditPredicate,
    shortest: u32,
    workers: &dyn Workers,
) -> Result<Option<usize>> {
    let Some(sample) = sample(texts, sides, shortest) else { return Ok(None) };
    let of_all = Sides { edit, lefts: sides[0].clone(), rights: sides.get(1).cloned() };
    let mut best = None;
    workers::one(workers, &mut best, |best, stop| {
        let sampled = Sample::new(texts, &of_all, &sample);
        let mut least = sampled.of_profiles(stop)?;
        *best = None;
        for length in LENGTHS {
            let cost = sampled.of_segments(length, stop)?;
            if cost < least {
                (*best, least) = (Some(length), cost);
            }
        }
        Ok(())
    })?;
    Ok(best)
}

/// Texts of a sample.
struct Sample<'a> {
    texts: &'a Texts,
    sides: &'a Sides,
    /// Those whose segments are looked for, and those they are compared with.
    lefts: &'a [u32],
    rights: &'a [u32],
}

impl<'a> Sample<'a> {
    fn new(texts: &'a Texts, sides: &'a Sides, all: &'a [u32]) -> Self {
        let (lefts, rights) = if sides.rights.is_none() { (all, all) } else { all.split_at(all.len() / 2) };
        Self { texts, sides, lefts, rights }
    }

    /// The places in the sample of all pairs whose lengths go together.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let edit = self.sides.edit;
        (0..self.lefts.len()).flat_map(move |left| {
            let others = if self.sides.rights.is_none() { left } else { self.rights.len() };
            let length = self.texts.length(self.lefts[left]);
            (0..others).map(move |right| (left, right)).filter(move |&(_, right)| {
                let other = self.texts.length(self.rights[right]);
                edit.least_partner(length) <= other && edit.least_partner(other) <= length
            })
        })
    }

    /// What it takes to compare a pair.
    fn comparing(&self, (left, right): (usize, usize)) -> u64 {
        let longer = self.texts.length(self.lefts[left]).max(self.texts.length(self.rights[right]));
        let most = u64::from(self.sides.edit.most_distance(longer));
        cost::STEP * u64::from(longer) * (1 + most / 64)
    }

    fn of_profiles(&self, stop: &Stop) -> Result<u64> {
        let [lefts, rights] = [self.lefts, self.rights].map(|side| Profiles::of_some(self.texts, side, stop));
        let (lefts, rights) = (lefts?, rights?);
        let mut sum = 0;
        for (left, right) in self.pairs() {
            stop.check()?;
            sum += cost::PAIRS;
            let lengths = [self.texts.length(self.lefts[left]), self.texts.length(self.rights[right])];
            let differ = |grams| {
                let [a, b] = [lefts.get(left as u32, grams), rights.get(right as u32, grams)];
                Profiles::tell_apart(a, b, grams, lengths, self.sides.edit)
            };
            if !differ(0) {
                sum += cost::TRIPLES;
                if !differ(1) {
                    sum += self.comparing((left, right));
                }
            }
        }
        Ok(sum)
    }

    fn of_segments(&self, length: usize, stop: &Stop) -> Result<u64> {
        let rights = self.rights.iter().copied();
        let frequencies = Frequencies::new(self.texts, rights, length, self.sides.edit, stop)?;
        let todo = self.lefts.iter().map(|&text| (text, self.sides.distance(self.texts, text)));
        let mut share = Share::new(todo.collect(), 0);
        share.cut(self.texts, length, &frequencies, stop)?;
        let index = Index::new(&[share], length, stop)?;
        let mut counts = memory::filled(0u16, self.lefts.len() * self.rights.len(), DOING)?;
        let mut looked = 0;
        for (counts, &right) in counts.chunks_mut(self.lefts.len()).zip(self.rights) {
            looked += index.count(self.texts.text(right), self.texts.length(right), counts, stop)?;
        }
        if self.sides.rights.is_none() {
            // The index knows pairs in both orders, and each text with itself.
            looked /= 2;
        }
        let mut sum = cost::SEGMENT * looked;
        for (left, right) in self.pairs() {
            sum += cost::COUNT;
            if index.is_near(left, counts[right * self.lefts.len() + left]) {
                sum += self.comparing((left, right));
            }
        }
        Ok(sum)
    }
}
