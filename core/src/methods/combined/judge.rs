//! Decides about the pairs that methods have found: all that was found of two classes comes
//! together, and the rule says whether they are similar.

use std::collections::HashMap;

use bytemuck::{Pod, Zeroable};

use super::carried::{CarriedDocuments, content};
use super::classes::DocumentClasses;
use crate::error::Result;
use crate::executor::{Executor, Stop};
use crate::joins::candidates::{Slice, each_slice};
use crate::joins::grouped::LoggedJoin;
use crate::joins::pairs::Pairs;
use crate::joins::sketches::rule::Rule;
use crate::joins::{Counts, RecordPair};
use crate::memory;
use crate::methods::carrier::{Carrier, LeftOut};
use crate::storage::files::{Resources, TempFiles};
use crate::storage::log::Log;
use crate::storage::sort::{Groups, Sorter, both, order_by_key};

const DOING: &str = "deciding about pairs";

/// Two classes that a method finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C)]
pub(super) struct TechniquePair {
    left: u32,
    right: u32,
    /// The method.
    technique: u64,
    /// The bits of the similarity.
    similarity: u64,
}

order_by_key!(TechniquePair, |of| (both(of.left, of.right), of.technique, of.similarity));

impl TechniquePair {
    pub(super) fn new([left, right]: [u32; 2], technique: usize, similarity: f64) -> Self {
        Self { left, right, technique: technique as u64, similarity: similarity.to_bits() }
    }
}

/// What decides about pairs of classes.
pub(super) struct Judge<'j> {
    pub(super) rule: &'j Rule,
    /// The methods of which at least one finds each pair.
    pub(super) finders: Vec<usize>,
    /// For each method, what it carries of documents, if it only looks at the pairs of others.
    pub(super) carriers: &'j [Option<&'j dyn Carrier>],
    pub(super) classes: &'j DocumentClasses,
}

/// Some pairs of classes, and what is known of them.
#[derive(Default)]
struct PairBatch {
    pairs: Vec<[u32; 2]>,
    /// For each pair, what each method found.
    says: Vec<Option<f64>>,
    /// What is carried of the classes in these pairs.
    carried: HashMap<u32, Vec<Vec<u64>>>,
    bytes: usize,
}

/// The pairs of classes that are similar.
pub(super) struct SimilarClasses {
    pairs: Log<RecordPair>,
    /// The classes whose rows form pairs with each other, and their similarities.
    equal: Vec<u32>,
    similarities: Vec<f64>,
}

impl Judge<'_> {
    /// Returns the pairs that are similar, at most `most` or a few more.
    pub(super) fn pairs(
        &self,
        found: Sorter<'_, TechniquePair>,
        mut carried: CarriedDocuments,
        most: Option<u64>,
        Resources { files, budget, executor }: Resources<'_>,
        report: &mut dyn FnMut(f64),
    ) -> Result<SimilarClasses> {
        const PAIRS: usize = 1 << 14;
        let mut similar =
            SimilarClasses { pairs: Log::new(budget / 8), equal: Vec::new(), similarities: Vec::new() };
        let (all, mut taken) = (found.len() as f64, 0);
        let mut groups = Groups::new(found.sorted(executor)?, executor)?;
        let (mut group, mut batch) = (Vec::new(), PairBatch::default());
        let pair = |of: &TechniquePair| [of.left, of.right];
        while most.is_none_or(|most| similar.pairs.len() <= most)
            && groups.next(&mut group, pair, |_, _| false, executor)?
        {
            taken += group.len();
            self.add(&group, &mut carried, &mut batch)?;
            if batch.pairs.len() == PAIRS || batch.bytes > budget / 8 {
                self.decide(std::mem::take(&mut batch), &mut similar, files, executor)?;
                report(taken as f64 / all);
            }
        }
        self.decide(batch, &mut similar, files, executor)?;
        Ok(similar)
    }

    /// Adds a pair to a batch, unless no finder has found it.
    fn add(
        &self,
        group: &[TechniquePair],
        carried: &mut CarriedDocuments,
        batch: &mut PairBatch,
    ) -> Result<()> {
        let Some(&TechniquePair { left, right, .. }) = group.first() else { return Ok(()) };
        let said = |n: usize| group.iter().find(|of| of.technique == n as u64);
        if !self.finders.iter().any(|&n| said(n).is_some()) {
            return Ok(());
        }
        memory::push(&mut batch.pairs, [left, right], DOING)?;
        let says = (0..self.carriers.len()).map(|n| said(n).map(|of| f64::from_bits(of.similarity)));
        memory::append(&mut batch.says, says, DOING)?;
        for class in [left, right] {
            if self.carriers.iter().flatten().next().is_some() && !batch.carried.contains_key(&class) {
                let loaded = carried.load(class)?;
                batch.bytes += loaded.iter().map(memory::bytes).sum::<usize>();
                memory::insert(&mut batch.carried, class, loaded, DOING)?;
            }
        }
        Ok(())
    }

    /// Adds the pairs of a batch that are similar.
    fn decide(
        &self,
        batch: PairBatch,
        similar: &mut SimilarClasses,
        files: &dyn TempFiles,
        executor: &dyn Executor,
    ) -> Result<()> {
        const SLICE: u32 = 64;
        let of_right = if self.classes.right.is_some() { self.classes.left.len() as u32 } else { 0 };
        let work = |slice: &mut Slice<Vec<RecordPair>>, stop: &Stop| {
            slice.found.clear();
            for n in slice.records.clone() {
                stop.check()?;
                let [left, right] = batch.pairs[n as usize];
                if let Some(similarity) = self.similarity(&batch, n as usize, stop)? {
                    memory::push(&mut slice.found, RecordPair { left, right, similarity }, DOING)?;
                }
            }
            Ok(())
        };
        each_slice(batch.pairs.len() as u32, SLICE, executor, work, |found| {
            found.into_iter().try_for_each(|pair| {
                if pair.left == pair.right {
                    memory::push(&mut similar.equal, pair.left, DOING)?;
                    return memory::push(&mut similar.similarities, pair.similarity, DOING);
                }
                similar.pairs.push(RecordPair { right: pair.right - of_right, ..pair }, files)
            })
        })
    }

    /// Returns the similarity of a pair if it is similar.
    fn similarity(&self, batch: &PairBatch, n: usize, stop: &Stop) -> Result<Option<f64>> {
        let [a, b] = batch.pairs[n];
        let said = &batch.says[n * self.carriers.len()..];
        let says = |n: usize| {
            let Some(carrier) = self.carriers[n] else { return Ok(said[n]) };
            let place = self.carriers[..n].iter().flatten().count();
            let of = |class: u32| {
                batch.carried.get(&class).and_then(|all| all.get(place)).map_or(&[][..], |row| content(row))
            };
            let pair = [of(a), of(b)];
            if pair.iter().any(|carried| carried.is_empty()) {
                return Ok(None);
            }
            carrier.similarity(pair, LeftOut::default(), stop)
        };
        self.rule.try_decide(&says, &|_| self.classes.is_same_site(a, b))
    }
}

impl SimilarClasses {
    /// Returns the pairs of rows.
    pub(super) fn pairs(self, classes: DocumentClasses, counts: Counts) -> Result<Pairs> {
        let Self { pairs, equal, similarities } = self;
        let DocumentClasses { left, right, .. } = classes;
        let join = Box::new(LoggedJoin::new(pairs, counts));
        Ok(Pairs::of_records(join, left, right, equal).with_similarities(similarities))
    }
}
