//! Finds the pairs of similar sentences in different documents, or in all: sentences with equal
//! signatures become one record, an exact join finds the pairs of records, and each pair of records
//! is expanded to the pairs of sentences that it represents.
//!
//! A sentence to which very many sentences are similar, such as a copyright notice, would give far
//! too many pairs. So if more sentences than a limit are similar to a sentence, this sentence gives
//! no pairs. This also limits the number of pairs per sentence. Such a sentence still counts where
//! a passage reaches it from another sentence ([`Bridges`]). Some of these sentences can be
//! recognised before the join ([`super::frequent_sentences`]); they are not compared with each
//! other.

use std::collections::HashMap;

use super::classes::{Classes, PartClasses, parts_of_join, take_part};
use super::frequent_sentences::{ClassStores, HotRecords};
use super::starts::Starts;
use super::{Capped, Parameters, Phase};
use crate::clusters::edges::{Edge, Edges};
use crate::error::Result;
use crate::executor::Executor;
use crate::features::dictionary::weights::TokenWeights;
use crate::features::sets::order::Ordered;
use crate::features::sets::store::RecordStore;
use crate::joins::{Algorithm, Counts, JoinedSets, RecordJoin};
use crate::memory;
use crate::storage::files::Resources;
use crate::verify::measure::Measure;
use crate::verify::predicate::Predicate;

const DOING: &str = "joining sentences";

/// Pairs of sentences, and further results of the join.
pub struct SentencePairs<'f> {
    /// Pairs of sentence numbers.
    pub pairs: Edges<'f>,
    /// The sentences that gave no pairs although other sentences are similar to them.
    pub bridges: Option<Bridges>,
    /// The counts of sentences that gave no pairs because of the limit.
    pub capped: Capped,
    /// The counts of the filters of the join.
    pub counts: Counts,
}

/// Joins sentences by their signatures. `all` is the number of sentences.
///
/// Returns the pairs, the sentences that gave no pairs because too many sentences are similar to
/// them, and the counts of the filters. Fails if memory or temporary space runs out. O(pairs), in
/// addition to the join.
pub fn sentence_pairs<'f>(
    ordered: Ordered,
    all: u32,
    starts: &Starts,
    parameters: &Parameters,
    resources: Resources<'f>,
    progress: &mut dyn FnMut(Phase, f64),
) -> Result<SentencePairs<'f>> {
    let Resources { files, budget, executor } = resources;
    let predicate = Predicate::new(Measure::Jaccard, parameters.threshold)?;
    let Ordered { left, right, shared_tokens, .. } = ordered;
    let (right_store, right_members) = right.map(|right| (right.store, right.members)).unzip();
    let classes = Classes::new(left.members, right_members);
    let mut stores: Vec<RecordStore> = [Some(left.store), right_store].into_iter().flatten().collect();
    let mut joined = JoinedParts::new(&classes, parameters.most_similar, resources)?;
    let size = |class: u32| classes.size(class);
    let mut of = ClassStores { stores: &mut stores, size: &size, shared_tokens };
    let hot = of.hot(&predicate, joined.most, budget / 8, executor)?;
    let mut hot_records = None;
    if let Some(hot) = &hot {
        hot_records = HotRecords::new(&mut of, hot, predicate, files, budget / 8)?;
        joined.mark_hot(hot);
    }
    let parts = parts_of_join(hot.is_some(), classes.two);
    for (n, &part) in parts.iter().enumerate() {
        let (left, right, numbers) = take_part(part, &mut of, hot.as_deref(), classes.two, resources)?;
        let (algorithm, budget) = (Algorithm::Auto, budget / 2);
        let weights = TokenWeights::default();
        let sets = JoinedSets { left, right, shared_tokens, weights, predicate, algorithm, budget };
        joined.take(&mut *sets.join(files)?, &numbers, &mut |done| {
            progress(Phase::Joining, (n as f64 + done) / parts.len() as f64);
        })?;
    }
    drop(stores);

    let (capped_classes, occurrences) = joined.stopped_classes();
    let mut pairs = Edges::new(files, budget / 4);
    let within = parameters.within_documents;
    let mut expansion = Expansion { starts, within, pairs: &mut pairs, executor };
    joined.expand(&mut expansion, progress)?;
    let JoinedParts { degrees, stopped, counts, most, .. } = joined;
    let equal_only = stopped.too_many || hot.is_some() && hot_records.is_none();
    let capped = Capped { sentences: capped_classes, occurrences, equal_only };
    let stops = |class: u32| degrees[class as usize] > most;
    let bridges = match capped.sentences {
        0 => None,
        _ => Some(Bridges::new(&classes, all, stops, stopped.pairs, hot_records)?),
    };
    Ok(SentencePairs { pairs, bridges, capped, counts })
}

/// The results of the parts of a join.
struct JoinedParts<'a, 'f> {
    classes: &'a Classes,
    executor: &'a dyn Executor,
    /// For each class, the number of sentences that are known so far to be similar to its
    /// sentences; the greatest possible number for hot classes.
    degrees: Vec<u32>,
    /// A class whose degree is greater than this gives no pairs.
    most: u32,
    /// Pairs of two classes neither of which was known to be stopped when the pair was found.
    similar: Edges<'f>,
    /// Pairs of classes at least one of which is stopped.
    stopped: Stopped,
    counts: Counts,
}

impl<'a, 'f> JoinedParts<'a, 'f> {
    fn new(classes: &'a Classes, most: u32, resources: Resources<'f>) -> Result<Self>
    where
        'f: 'a,
    {
        let Resources { files, budget, executor } = resources;
        let mut degrees = memory::filled(0u32, classes.len(), DOING)?;
        if !classes.two {
            (degrees.iter_mut().zip(0..)).for_each(|(degree, class)| *degree = classes.size(class));
        }
        let (similar, stopped) = (Edges::new(files, budget / 4), Stopped::new(budget / 4));
        Ok(Self { classes, executor, degrees, most, similar, stopped, counts: Counts::default() })
    }

    /// Marks the classes that are known to have too many similar sentences, although these
    /// sentences themselves are not known.
    fn mark_hot(&mut self, hot: &[bool]) {
        hot.iter().zip(&mut self.degrees).filter(|(hot, _)| **hot).for_each(|(_, degree)| *degree = u32::MAX);
    }

    fn stops(&self, class: u32) -> bool {
        self.degrees[class as usize] > self.most
    }

    /// Takes the pairs of a part of the join. Calls `progress` with the share of the part that is
    /// done.
    fn take(
        &mut self,
        join: &mut dyn RecordJoin,
        numbers: &PartClasses,
        progress: &mut dyn FnMut(f64),
    ) -> Result<()> {
        while let Some(batch) = join.next_batch(self.executor)? {
            for pair in batch {
                let (a, b) = (numbers.left(pair.left), numbers.right(self.classes, pair.right));
                for (of, other) in [(a, b), (b, a)] {
                    let degree = &mut self.degrees[of as usize];
                    *degree = degree.saturating_add(self.classes.size(other));
                }
                let edge = Edge::new(a, b, pair.similarity);
                // The pairs of a class that is already stopped are not stored until the end,
                // because there may be very many of them.
                if self.stops(a) || self.stops(b) {
                    self.stopped.add(edge)?;
                } else {
                    self.similar.push(edge)?;
                }
            }
            progress(join.progress());
        }
        self.counts.add(&join.counts());
        Ok(())
    }

    /// Returns the number of stopped classes and the number of their sentences.
    fn stopped_classes(&self) -> (u64, u64) {
        let stopped = (0..self.classes.len() as u32).filter(|&class| self.stops(class));
        stopped.fold((0, 0), |(count, sentences), class| {
            (count + 1, sentences + u64::from(self.classes.size(class)))
        })
    }

    /// Adds the pairs of sentences that the pairs of classes represent, and the pairs of sentences
    /// within each class.
    fn expand(
        &mut self,
        expansion: &mut Expansion<'_, '_>,
        progress: &mut dyn FnMut(Phase, f64),
    ) -> Result<()> {
        let Self { classes, executor, degrees, most, similar, stopped, .. } = self;
        let stops = |class: u32| degrees[class as usize] > *most;
        if !classes.two {
            for class in (0..classes.len() as u32).filter(|&class| !stops(class)) {
                let rows = classes.rows(class);
                for (n, &sentence) in rows.iter().enumerate() {
                    expansion.add(sentence, &rows[n + 1..], 1.0)?;
                }
            }
        }
        let (total, mut walked) = (similar.len(), 0u64);
        similar.for_each(*executor, |edge| {
            walked += 1;
            if stops(edge.left) || stops(edge.right) {
                return stopped.add(edge);
            }
            if walked.is_multiple_of(1 << 10) {
                progress(Phase::Pairing, walked as f64 / total as f64);
            }
            let others = classes.rows(edge.right);
            (classes.rows(edge.left).iter())
                .try_for_each(|&sentence| expansion.add(sentence, others, edge.similarity))
        })
    }
}

/// Pairs of classes that give no pairs of sentences, stored as long as there is room for them.
struct Stopped {
    pairs: HashMap<u64, f64>,
    room: usize,
    /// Whether there were more pairs than room. Then all pairs were dropped.
    too_many: bool,
}

impl Stopped {
    fn new(budget: usize) -> Self {
        const LEAST_ROOM: usize = 1 << 12;
        let room = (budget / (2 * size_of::<(u64, f64)>())).max(LEAST_ROOM);
        Self { pairs: HashMap::new(), room, too_many: false }
    }

    fn add(&mut self, edge: Edge) -> Result<()> {
        if self.pairs.len() == self.room {
            self.pairs = HashMap::new();
            self.too_many = true;
        }
        if !self.too_many {
            memory::attempt(DOING, || self.pairs.try_reserve(1))?;
            self.pairs.insert(edge.vertices(), edge.similarity);
        }
        Ok(())
    }
}

/// Expands pairs of classes to pairs of sentences.
struct Expansion<'a, 'f> {
    starts: &'a Starts,
    /// Whether two sentences of one document are a pair, too.
    within: bool,
    pairs: &'a mut Edges<'f>,
    executor: &'a dyn Executor,
}

impl Expansion<'_, '_> {
    /// Adds the pairs of `sentence` with those of `others` that are in other documents, or all
    /// pairs.
    fn add(&mut self, sentence: u32, others: &[u32], similarity: f64) -> Result<()> {
        const BREATHE_FOR: usize = 256;
        if others.len() > BREATHE_FOR || sentence.is_multiple_of(64) {
            self.executor.check_interrupts()?;
        }
        let document = self.starts.document(sentence);
        let is_wanted = |other: u32| self.within || self.starts.document(other) != document;
        for &other in others.iter().filter(|&&other| is_wanted(other)) {
            self.pairs.push(Edge::new(sentence, other, similarity))?;
        }
        Ok(())
    }
}

/// Sentences to which too many other sentences are similar. A passage that reaches such a sentence
/// from another one continues across it.
#[derive(Debug)]
pub struct Bridges {
    /// The class of each sentence; [`NONE`] for those without signatures.
    classes: Vec<u32>,
    /// One bit for each class, which is set if the class gives no pairs.
    stops: Vec<u64>,
    /// The similarities of pairs of classes at least one of which gives no pairs, by the numbers of
    /// the two classes, the smaller first.
    similar: HashMap<u64, f64>,
    /// The hot classes, which no part of the join compared with each other.
    hot: Option<HotRecords>,
    /// Whether there are two tables, whose classes are never equal.
    two: bool,
}

const NONE: u32 = u32::MAX;

impl Bridges {
    fn new(
        of: &Classes,
        all: u32,
        stops: impl Fn(u32) -> bool,
        similar: HashMap<u64, f64>,
        hot: Option<HotRecords>,
    ) -> Result<Self> {
        let mut classes = memory::filled(NONE, all as usize, DOING)?;
        let mut bits = memory::filled(0u64, of.len().div_ceil(64), DOING)?;
        for class in 0..of.len() as u32 {
            of.rows(class).iter().for_each(|&sentence| classes[sentence as usize] = class);
            bits[class as usize / 64] |= u64::from(stops(class)) << (class % 64);
        }
        Ok(Self { classes, stops: bits, similar, hot, two: of.two })
    }

    fn stops(&self, class: u32) -> bool {
        self.stops[class as usize / 64] >> (class % 64) & 1 == 1
    }

    /// Returns the similarity of two sentences at least one of which gave no pairs, if they are
    /// similar.
    pub fn similarity(&self, a: u32, b: u32) -> Option<f64> {
        let (a, b) = (self.classes[a as usize], self.classes[b as usize]);
        if a == NONE || b == NONE || !(self.stops(a) || self.stops(b)) {
            return None;
        }
        if a == b && !self.two {
            return Some(1.0);
        }
        let known = self.similar.get(&Edge::new(a, b, 0.0).vertices()).copied();
        known.or_else(|| self.hot.as_ref()?.similarity(a.min(b), a.max(b)))
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.classes)
            + memory::bytes(&self.stops)
            + self.similar.capacity() * size_of::<(u64, f64)>()
            + self.hot.as_ref().map_or(0, HotRecords::bytes)
    }
}
