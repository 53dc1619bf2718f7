//! The perhaps-similar sets of a table's rows by the sentence signatures of their texts (Huang et
//! al., CIKM 2008; docs/design/algorithms.md section 5), and the similarity of each member to the
//! representative of its set.
//!
//! Rows with the same text have the same signatures, so the sets are built from texts. A text is
//! represented by the row with the greatest weight among the rows that have this text; if there are
//! several such rows, by the one with the greatest number. A text that several rows have and that
//! shares no signature with other texts forms a set by itself. As in [`crate::clusters::grouping`],
//! vertices are rows numbered in the order of their ids, which serves as the order of arrival here.

use super::of_signatures::{Set, signature_sets};
use crate::clusters::grouping::Clusters;
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::sets::members::Members;
use crate::features::texts::Distinct;
use crate::joins::sentences::signature_lists::SignatureLists;
use crate::joins::sentences::text_measure::TextMeasure;
use crate::joins::sentences::{equal_rows, representative_pairs};
use crate::joins::{Counts, RecordJoin};
use crate::memory;
use crate::storage::log::Log;

const DOING: &str = "making perhaps-similar sets";

/// Sets whose members are being compared with their representatives.
#[derive(Debug)]
pub struct SentenceSets {
    /// The sets of texts.
    sets: Vec<Set>,
    /// The similarity of each member to the representative of its set, or NaN if they are not a
    /// pair.
    similarity: Vec<Vec<f64>>,
    /// The number of the set that each text represents.
    represents: Vec<u32>,
    /// The vertex of each row. `standing` contains the vertex that represents each text.
    vertices: Vec<u32>,
    standing: Vec<u32>,
    rows: Members,
    join: Box<dyn RecordJoin>,
    /// The number of pairs of rows found so far.
    pairs: u64,
}

impl SentenceSets {
    /// Builds the sets of one table. `vertices` contains the vertex of each row. `weights` contains
    /// a weight for each vertex, which replaces the number of signatures. `file` is that of the
    /// texts, if they are in one, and how many bytes of them to have in memory. O(postings +
    /// texts·log texts).
    pub fn new(
        distinct: Distinct,
        lists: SignatureLists,
        vertices: Vec<u32>,
        weights: Option<&[i64]>,
        measure: TextMeasure,
        file: (Log<u8>, usize),
        executor: &dyn Executor,
    ) -> Result<Self> {
        let texts = distinct.left.len();
        let of_rows = |text: usize| distinct.left.rows(text).iter().map(|&row| vertices[row as usize]);
        let ranks = memory::collect((0..texts).map(|text| of_rows(text).min().unwrap_or(0)), DOING)?;
        let (mut sets, standing) = sets_of_texts(&distinct, &lists, &vertices, weights, executor)?;
        for text in equal_rows(&distinct)? {
            if lists.for_document(text).is_empty() {
                let mut documents = Vec::new();
                memory::push(&mut documents, text, DOING)?;
                memory::push(&mut sets, Set { representative: text, documents }, DOING)?;
            }
        }
        const NONE: u32 = u32::MAX;
        let mut represents = memory::filled(NONE, texts, DOING)?;
        let mut representatives = memory::filled(false, texts, DOING)?;
        let mut similarity = Vec::new();
        memory::reserve(&mut similarity, sets.len(), DOING)?;
        let mut pairs = 0;
        for (set, number) in sets.iter().zip(0..) {
            represents[set.representative as usize] = number;
            representatives[set.representative as usize] = true;
            let mut own = memory::filled(f64::NAN, set.documents.len(), DOING)?;
            if let Ok(place) = set.documents.binary_search(&set.representative) {
                own[place] = 1.0;
            }
            similarity.push(own);
            pairs += distinct.left.rows(set.representative as usize).len() as u64 - 1;
        }
        let Distinct { texts, left, .. } = distinct;
        let join = representative_pairs(texts, lists, ranks, representatives, measure, file)?;
        Ok(Self { sets, similarity, represents, vertices, standing, rows: left, join: Box::new(join), pairs })
    }

    /// Compares some more members with their representatives. Returns false when all have been
    /// compared.
    pub fn advance(&mut self, executor: &dyn Executor) -> Result<bool> {
        let Some(batch) = self.join.next_batch(executor)? else { return Ok(false) };
        for pair in batch {
            let set = self.represents[pair.left as usize] as usize;
            if let Ok(place) = self.sets[set].documents.binary_search(&pair.right) {
                self.similarity[set][place] = pair.similarity;
                self.pairs += self.rows.rows(pair.right as usize).len() as u64;
            }
        }
        Ok(true)
    }

    /// Returns the counts of the filters so far.
    pub fn counts(&self) -> Counts {
        self.join.counts()
    }

    /// Returns the number of rows that were found similar to their representatives so far. A row
    /// counts once for each set.
    pub fn pairs(&self) -> u64 {
        self.pairs
    }

    /// Returns the share of the comparisons that is done, 0 to 1.
    pub fn progress(&self) -> f64 {
        self.join.progress()
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        let of_sets: usize = self.sets.iter().map(|set| memory::bytes(&set.documents)).sum();
        // There is one similarity for each member, of twice the size.
        3 * of_sets
            + memory::bytes(&self.sets)
            + memory::bytes(&self.represents)
            + memory::bytes(&self.vertices)
            + memory::bytes(&self.standing)
            + self.rows.bytes()
            + self.join.bytes()
    }

    /// Finishes the comparison and returns the sets of rows.
    pub fn clusters(mut self, executor: &dyn Executor) -> Result<Clusters> {
        while self.advance(executor)? {}
        let mut members = Vec::new();
        for (set, similarity) in self.sets.iter().zip(&self.similarity) {
            let representative = self.standing[set.representative as usize];
            for (&text, &similarity) in set.documents.iter().zip(similarity) {
                let rows = self.rows.rows(text as usize);
                let rows = rows.iter().map(|&row| (representative, self.vertices[row as usize], similarity));
                memory::append(&mut members, rows, DOING)?;
            }
        }
        Clusters::of_sets(members, executor)
    }
}

/// Builds the sets of texts. Also returns the vertex that represents each text. `vertices` and
/// `weights` are those of [`SentenceSets::new`]; the vertices of a right table follow those of the
/// left one.
fn sets_of_texts(
    distinct: &Distinct,
    lists: &SignatureLists,
    vertices: &[u32],
    weights: Option<&[i64]>,
    executor: &dyn Executor,
) -> Result<(Vec<Set>, Vec<u32>)> {
    let texts = distinct.texts.len();
    let weight = |text: u32, vertex: u32| match weights {
        Some(weights) => weights[vertex as usize],
        None => lists.weights()[text as usize].into(),
    };
    let (mut heaviest, mut standing): (Vec<i64>, Vec<u32>) = (Vec::new(), Vec::new());
    memory::reserve(&mut heaviest, texts, DOING)?;
    memory::reserve(&mut standing, texts, DOING)?;
    // Text numbers have 32 bits.
    for text in 0..texts as u32 {
        let rows = Members::of_either(&distinct.left, distinct.right.as_ref(), text);
        let of_rows = rows.iter().map(|&row| vertices[row as usize]);
        // Each text has at least one row.
        let best = of_rows.max_by_key(|&vertex| (weight(text, vertex), vertex)).unwrap_or(0);
        heaviest.push(weight(text, best));
        standing.push(best);
    }
    let mut sets = Vec::new();
    executor::one(executor, &mut sets, |sets, stop| {
        *sets = signature_sets(lists, &heaviest, &standing, stop)?;
        Ok(())
    })?;
    Ok((sets, standing))
}

/// Replaces the lists by the perhaps-similar sets, so that all pairs of a set are candidates (Huang
/// et al., section 3.3: the LCS of two documents in each set). `vertices` are those of the rows of
/// both tables.
pub fn compare_whole_sets(
    distinct: &Distinct,
    lists: &mut SignatureLists,
    vertices: &[u32],
    executor: &dyn Executor,
) -> Result<()> {
    let (sets, _) = sets_of_texts(distinct, lists, vertices, None, executor)?;
    executor::one(executor, lists, |lists, stop| lists.replace(sets.iter().map(|set| &*set.documents), stop))
}
