//! Decides whether pieces tell long texts apart with less work than gram counts do, and which shape
//! the pieces then have. It decides by trying both on a sample, and by the number of texts.

use std::ops::Range;

use super::batch_lookup::Looks;
use super::cut::{CutShare, PieceEntry};
use super::index::PieceIndex;
use super::query::PieceQuery;
use super::shape::Shape;
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::texts::Texts;
use crate::joins::edit::length_filter::TextSides;
use crate::joins::edit::profiles::Profiles;
use crate::joins::edit::sample::sample;
use crate::verify::edit::EditPredicate;

/// The costs of steps in nanoseconds, as measured.
mod cost {
    /// A piece of the index that is examined for a key, at about the right position.
    pub(super) const SEEN: f64 = 4.0;
    /// A key that is looked up.
    pub(super) const LOOK: f64 = 30.0;
    /// A key of the index.
    pub(super) const KEY: f64 = 100.0;
    /// A comparison of the counts of grams of two characters. `TRIPLES` is the cost for three
    /// characters.
    pub(super) const PAIRS: f64 = 20.0;
    pub(super) const TRIPLES: f64 = 150.0;
    /// A step in the comparison of two texts.
    pub(super) const STEP: f64 = 0.2;
}

/// Estimates how many bytes the pieces of a text take in an index.
pub(super) fn bytes_of(length: u32, shape: Shape) -> usize {
    (length as usize / shape.length()).min(PieceEntry::MOST_PIECES) * shape.keys() * PieceEntry::BYTES
}

/// Returns the best shape of pieces, or `None` if profiles are less work than pieces. `sides` has
/// the range of texts of each table. Sampled texts have at least `shortest` characters. A join by
/// pieces may take about `budget` bytes.
pub(in super::super) fn best_shape(
    texts: &Texts,
    sides: &[Range<u32>],
    edit: EditPredicate,
    shortest: u32,
    budget: usize,
    executor: &dyn Executor,
) -> Result<Option<Shape>> {
    let Some(sample) = sample(texts, sides, shortest) else { return Ok(None) };
    let of_all = TextSides { edit, lefts: sides[0].clone(), rights: sides.get(1).cloned() };
    let mut best = None;
    executor::one(executor, &mut best, |best, stop| {
        let sampled = TextSample::new(texts, &of_all, &sample, budget);
        let mut least = sampled.of_profiles(stop)?;
        *best = None;
        for shape in Shape::all() {
            if let Some(cost) = sampled.of_pieces(shape, least, stop)? {
                (*best, least) = (Some(shape), cost);
            }
        }
        Ok(())
    })?;
    Ok(best)
}

/// A sample of the texts.
struct TextSample<'a> {
    texts: &'a Texts,
    sides: &'a TextSides,
    /// The sampled texts whose pieces are indexed. `rights` are the sampled texts that they are
    /// compared with.
    lefts: &'a [u32],
    rights: &'a [u32],
    /// The number of texts of each side. `partners` is the mean number of partners of a left text.
    all: [f64; 2],
    partners: f64,
    budget: usize,
}

impl<'a> TextSample<'a> {
    fn new(texts: &'a Texts, sides: &'a TextSides, all: &'a [u32], budget: usize) -> Self {
        let (lefts, rights) = if sides.rights.is_none() { (all, all) } else { all.split_at(all.len() / 2) };
        let partners: usize = lefts.iter().map(|&text| sides.partners(texts, text).len()).sum();
        let partners = partners as f64 / lefts.len() as f64;
        let all = [&sides.lefts, sides.rights.as_ref().unwrap_or(&sides.lefts)].map(|side| side.len() as f64);
        Self { texts, sides, lefts, rights, all, partners, budget }
    }

    /// Returns the positions in the sample of all pairs with compatible lengths.
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

    /// Returns how many pairs one sampled pair represents.
    fn weight(&self) -> f64 {
        self.all[0] * self.partners / (self.pairs().count() as f64).max(1.0)
    }

    /// Estimates the cost to compare a pair.
    fn comparing(&self, left: usize, right: usize) -> f64 {
        let longer = self.texts.length(self.lefts[left]).max(self.texts.length(self.rights[right]));
        let most = self.sides.edit.most_distance(longer);
        cost::STEP * f64::from(longer) * f64::from(1 + most / 64)
    }

    fn of_profiles(&self, stop: &Stop) -> Result<f64> {
        let [lefts, rights] = [self.lefts, self.rights].map(|side| Profiles::of_some(self.texts, side, stop));
        let (lefts, rights) = (lefts?, rights?);
        let mut sum = 0.0;
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
                    sum += self.comparing(left, right);
                }
            }
        }
        Ok(sum * self.weight())
    }

    /// Estimates the cost of pieces of a shape. Returns `None` if the cost is not less than
    /// `least`, or if most texts have too few pieces.
    fn of_pieces(&self, shape: Shape, least: f64, stop: &Stop) -> Result<Option<f64>> {
        let mean = |side: &[u32]| {
            side.iter().map(|&text| f64::from(self.texts.length(text))).sum::<f64>() / side.len() as f64
        };
        let [left, right] = [mean(self.lefts), mean(self.rights)];
        // If the index is built in parts, each text is looked up in each part.
        let parts =
            (self.partners * bytes_of(left as u32, shape) as f64 / (self.budget / 2).max(1) as f64).max(1.0);
        let keys = self.all[0] * left / shape.length() as f64 * shape.keys() as f64;
        let looks = self.all[1] * parts * right * shape.looks() as f64;
        let fixed = cost::KEY * keys + cost::LOOK * looks;
        let todo: Vec<(u32, u32)> =
            self.lefts.iter().map(|&text| (text, self.sides.distance(self.texts, text))).collect();
        let too_few = |&&(text, distance): &&(u32, u32)| {
            self.texts.length(text) as usize / shape.length() <= (distance / shape.edits()) as usize
        };
        // With this shape most texts would have too few pieces to rule anything out.
        if fixed >= least || 2 * todo.iter().filter(too_few).count() > todo.len() {
            return Ok(None);
        }
        let mut share = CutShare::new(todo, 0);
        share.cut(self.texts, shape, stop)?;
        let lengths = self.lefts.iter().map(|&text| self.texts.length(text));
        let others = lengths.clone().min().zip(lengths.max()).unwrap_or_default();
        // A sample has few texts, so their number fits 32 bits.
        let all = self.lefts.len() as u32;
        let queries = (0..).zip(self.rights).map(|(n, &text)| PieceQuery {
            text: self.texts.text(text),
            length: self.texts.length(text),
            others,
            among: 0..all,
            own: self.sides.rights.is_none().then_some(n),
        });
        let index = PieceIndex::new(&[share], shape, queries.clone(), stop)?;
        let (mut tally, mut is_near) = (index.tally()?, vec![false; self.lefts.len() * self.rights.len()]);
        let mut looks = Looks::new(0);
        for (query, is_near) in queries.zip(is_near.chunks_mut(self.lefts.len())) {
            // Pairs of one table are counted once, as in the join.
            let query = PieceQuery { among: query.own.map_or(0, |own| own + 1)..all, ..query };
            index.count(&query, &mut tally, &mut looks, stop)?;
            index.near(&mut tally, |member| {
                is_near[member as usize] = true;
                Ok(())
            })?;
        }
        let mut sum = cost::SEEN * looks.seen as f64;
        for (left, right) in self.pairs() {
            if is_near[right * self.lefts.len() + left] {
                sum += self.comparing(left, right);
            }
        }
        let cost = fixed + sum * self.weight();
        Ok((cost < least).then_some(cost))
    }
}
