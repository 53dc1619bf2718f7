//! The join of documents by their signatures. Two documents that share a key form a candidate. The
//! rule checks each candidate, and compares the token sets of its documents if it needs them.
//!
//! Rows with equal signatures form one record. If several techniques of a rule find candidates,
//! they run one after the other, and each technique skips the pairs that an earlier one compared.

pub mod banding;
pub mod buckets;
pub mod combination;
mod exact;
pub mod explain;
pub mod hamming;
pub mod presets;
pub mod recall;
pub(crate) mod record_sets;
pub mod rule;
pub(crate) mod skew;
mod source;
pub mod technique;

use std::cell::OnceCell;
use std::sync::atomic::{AtomicU64, Ordering};

use super::pairs::{Pairs, equal_records};
use super::{Counts, RecordJoin, RecordPair};
use crate::error::{Error, Result};
use crate::executor::{self, Executor};
use crate::features::hash_sets::HashSets;
use crate::features::sets::members::Members;
use crate::features::signatures::Signatures;
use crate::memory;
use crate::verify::overlap::TokenOverlap;
use buckets::keys::Keys;
use buckets::windows::Windows;
use buckets::{Buckets, HotDocuments, MostNeighbours};
use hamming::Hamming;
use rule::Rule;
use source::TechniqueSource;
use technique::{Compare, Technique};

const DOING: &str = "joining by signatures";

/// The definition of similar documents.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The techniques that the rule refers to.
    pub techniques: Vec<Technique>,
    /// The rule that decides which pairs are similar.
    pub rule: Rule,
    /// The position in a signature of the number of tokens of its set, if sets are used.
    pub sizes: Option<usize>,
    /// The limit above which buckets are expanded only in part.
    pub most: MostNeighbours,
}

impl Comparison {
    /// Reports whether any technique compares sets.
    pub fn needs_sets(&self) -> bool {
        self.techniques.iter().any(Technique::needs_sets)
    }

    /// Compares signatures by one technique alone, which needs no sets.
    pub fn by_technique(technique: Technique) -> Self {
        Self { techniques: vec![technique], rule: Rule::Technique(0), sizes: None, most: None }
    }

    /// Returns the similarity of two documents if they are similar, and a source would find them.
    pub fn similarity(&self, a: &[u64], b: &[u64], sets: Compare<'_>) -> Option<f64> {
        let sources = self.rule.sources(&self.techniques).unwrap_or_default();
        let is_found = sources.iter().any(|&source| self.techniques[source].finds(a, b, None));
        if is_found { self.rule.similarity(&self.techniques, a, b, Some(sets)) } else { None }
    }

    /// Returns the bit vectors if candidates are found by comparing every vector with every other.
    pub fn all_with_all(&self) -> Option<Hamming> {
        let sources = self.rule.sources(&self.techniques)?;
        sources.into_iter().find_map(|technique| match self.techniques[technique] {
            Technique::Simhash(vectors) if vectors.compares_all() => Some(vectors),
            _ => None,
        })
    }
}

/// Prepares the search for all pairs of similar rows. `sets` holds the sets of all rows if the
/// comparison needs them. Signatures stay in memory; the data that is sorted takes about `budget`
/// bytes.
pub fn sketch_pairs(
    mut signatures: Signatures,
    sets: Option<HashSets>,
    comparison: Comparison,
    budget: usize,
) -> Result<Pairs> {
    let Comparison { techniques, rule, sizes, most } = &comparison;
    let sources = TechniqueSource::all(rule, techniques, *sizes, signatures.width(), most.is_some());
    let sources = sources.ok_or_else(|| Error::Parameter {
        name: "combination",
        value: "one of exact measures alone".to_owned(),
        allowed: "one that has a technique which finds candidates in every alternative",
    })?;
    let (left, right) = signatures.take_members();
    let records = signatures.len() as u32;
    let rows = |record| Members::of_either(&left, right.as_ref(), record);
    let mut hot = HotDocuments::default();
    if most.is_some() {
        // Row numbers have 32 bits.
        let counts = (0..records).map(|record| rows(record).len() as u32);
        hot = HotDocuments::new(memory::collect(counts, DOING)?)?;
    }
    let split = if right.is_some() { signatures.split } else { records };
    let mut first_rows = Vec::new();
    if sets.is_some() {
        first_rows = memory::collect((0..records).map(|record| rows(record)[0]), DOING)?;
    }
    let equal = equal_records(&left, right.as_ref(), |record| {
        let signature = signatures.get(record);
        // Documents with equal signatures are equal in everything, including their sites.
        let one = || TokenOverlap { left: 1, right: 1, shared: 1 };
        comparison.rule.similarity(&comparison.techniques, signature, signature, Some(&one)).is_some()
    })?;
    let self_join = right.is_none();
    let join = SketchJoin {
        buckets: None,
        judge: PairVerifier { signatures, first_rows, comparison, sources, source: 0, split, self_join },
        sets,
        hot,
        budget,
        counts: Counts::default(),
    };
    Ok(Pairs::of_records(Box::new(join), left, right, equal))
}

/// The part of the join that decides which pairs are similar.
#[derive(Debug)]
struct PairVerifier {
    signatures: Signatures,
    /// For each record, the row whose set is compared, or empty if no sets are compared.
    first_rows: Vec<u32>,
    comparison: Comparison,
    /// The sources of candidates, and the index of the current one.
    sources: Vec<TechniqueSource>,
    source: usize,
    split: u32,
    self_join: bool,
}

impl PairVerifier {
    /// Returns the pairs that are similar. There are `sets` if sets are compared.
    fn similar(
        &self,
        pairs: &[(u32, u32)],
        sets: Option<&HashSets>,
        verified: &AtomicU64,
        executor: &dyn Executor,
    ) -> Result<Vec<RecordPair>> {
        const PAIRS_A_UNIT: usize = 1 << 11;
        let earlier: Vec<_> = self.sources[..self.source].iter().map(|source| self.earlier(source)).collect();
        let mut units: Vec<_> = pairs.chunks(PAIRS_A_UNIT).map(|pairs| (pairs, Vec::new())).collect();
        executor::each(executor, &mut units, |(pairs, found), stop| {
            while let Some((&(left, right), rest)) = pairs.split_first() {
                stop.check()?;
                if let Some(pair) = self.pair(left, right, &earlier, sets, verified) {
                    memory::push(found, pair, DOING)?;
                }
                *pairs = rest;
            }
            Ok(())
        })?;
        let mut all = Vec::new();
        memory::reserve(&mut all, units.iter().map(|(_, found)| found.len()).sum(), DOING)?;
        units.iter().for_each(|(_, found)| all.extend_from_slice(found));
        Ok(all)
    }

    /// Describes a source that has finished.
    fn earlier<'a>(&'a self, source: &'a TechniqueSource) -> EarlierTechnique<'a> {
        let Comparison { techniques, sizes, .. } = &self.comparison;
        let technique = &techniques[source.technique];
        let keys = technique.keys(&self.signatures, *sizes);
        let cut = keys.filter(|keys| !source.done.is_empty_before(keys.bands()));
        EarlierTechnique { technique, sizes: *sizes, cut: cut.map(|keys| (keys, &source.done)) }
    }

    /// Returns the pair if it is similar and no earlier source compared it.
    fn pair(
        &self,
        left: u32,
        right: u32,
        earlier: &[EarlierTechnique<'_>],
        sets: Option<&HashSets>,
        verified: &AtomicU64,
    ) -> Option<RecordPair> {
        let Comparison { techniques, rule, .. } = &self.comparison;
        let (a, b) = (self.signatures.get(left), self.signatures.get(right));
        if earlier.iter().any(|earlier| earlier.compared(left, right, a, b)) {
            return None;
        }
        // The sets are compared at most once, however often the rule asks for them.
        let known = OnceCell::new();
        let compare = |sets: &HashSets| {
            *known.get_or_init(|| {
                verified.fetch_add(1, Ordering::Relaxed);
                let [a, b] = [left, right].map(|record| sets.get(self.first_rows[record as usize]));
                TokenOverlap::of_sets(a, b)
            })
        };
        let similarity = match sets {
            Some(sets) => rule.similarity(techniques, a, b, Some(&|| compare(sets))),
            None => rule.similarity(techniques, a, b, None),
        };
        let right = if self.self_join { right } else { right - self.split };
        similarity.map(|similarity| RecordPair { left, right, similarity })
    }
}

/// A technique whose candidates have already been compared.
struct EarlierTechnique<'a> {
    technique: &'a Technique,
    sizes: Option<usize>,
    /// The keys of the technique, and the windows of the pairs that were compared, if some buckets
    /// were expanded only in part.
    cut: Option<(Box<dyn Keys + 'a>, &'a Windows)>,
}

impl EarlierTechnique<'_> {
    /// Reports whether a pair with these signatures was compared.
    fn compared(&self, left: u32, right: u32, a: &[u64], b: &[u64]) -> bool {
        self.technique.finds(a, b, self.sizes)
            && self.cut.as_ref().is_none_or(|(keys, windows)| {
                let mut bands = 0..keys.bands();
                bands.any(|band| keys.meet(left, right, band) && windows.compare(left, right, band))
            })
    }
}

/// A join in progress.
#[derive(Debug)]
struct SketchJoin {
    judge: PairVerifier,
    sets: Option<HashSets>,
    /// The buckets of the current source, once it has started.
    buckets: Option<Buckets>,
    /// The documents in large buckets of the sources that have finished.
    hot: HotDocuments,
    budget: usize,
    counts: Counts,
}

impl SketchJoin {
    /// Returns the next candidates, or `None` after the last.
    fn candidates(&mut self, executor: &dyn Executor) -> Result<Option<Vec<(u32, u32)>>> {
        let PairVerifier { signatures, comparison, sources, source, split, self_join, .. } = &mut self.judge;
        let Comparison { techniques, sizes, most, .. } = &*comparison;
        while let Some(at_work) = sources.get_mut(*source) {
            let buckets = match &mut self.buckets {
                Some(buckets) => buckets,
                none => {
                    let new = Buckets::new(signatures.len() as u32, *split, *self_join, *most, self.budget);
                    let classes = at_work.classes(signatures, executor)?;
                    none.insert(new.with_classes(classes).counting(std::mem::take(&mut self.hot)))
                }
            };
            let keys = techniques[at_work.technique].keys(signatures, *sizes);
            let found = keys.map_or(Ok(None), |keys| buckets.next_batch(&*keys, executor))?;
            if found.is_some() {
                return Ok(found);
            }
            let met = buckets.met();
            self.counts.candidates += met.compared;
            self.counts.hot_buckets += met.hot_buckets;
            (at_work.done, self.hot) = self.buckets.take().map(Buckets::into_parts).unwrap_or_default();
            *source += 1;
        }
        Ok(None)
    }
}

impl RecordJoin for SketchJoin {
    fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<RecordPair>>> {
        let Some(candidates) = self.candidates(executor)? else { return Ok(None) };
        let verified = AtomicU64::new(0);
        let found = self.judge.similar(&candidates, self.sets.as_ref(), &verified, executor);
        let by_sets = verified.into_inner();
        self.counts.verified += if self.sets.is_some() { by_sets } else { candidates.len() as u64 };
        found.map(Some)
    }

    fn counts(&self) -> Counts {
        let met = self.buckets.as_ref().map(Buckets::met).unwrap_or_default();
        Counts {
            candidates: self.counts.candidates + met.compared,
            hot_buckets: self.counts.hot_buckets + met.hot_buckets,
            hot_documents: self.hot.count().max(met.hot_documents),
            ..self.counts
        }
    }

    fn progress(&self) -> f64 {
        let PairVerifier { signatures, comparison, sources, source, .. } = &self.judge;
        let bands = (sources.get(*source))
            .and_then(|source| comparison.techniques[source.technique].keys(signatures, None))
            .map_or(1, |keys| keys.bands());
        let of_source = self.buckets.as_ref().map_or(0.0, |buckets| buckets.progress(bands));
        (*source as f64 + of_source) / (sources.len() as f64).max(1.0)
    }

    fn bytes(&self) -> usize {
        self.judge.signatures.bytes()
            + self.sets.as_ref().map_or(0, HashSets::bytes)
            + memory::bytes(&self.judge.first_rows)
            + self.hot.bytes()
            + self.buckets.as_ref().map_or(0, Buckets::bytes)
            + self.judge.sources.iter().map(|source| source.done.bytes()).sum::<usize>()
    }
}
