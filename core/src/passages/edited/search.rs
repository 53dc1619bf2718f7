//! The search for edited passages, some pairs of documents at a time.

use super::EditedWords;
use super::seeds::{RankedRows, Seed};
use super::stretch::stretches;
use super::windows::{PlacedWindow, WindowReader, seeds};
use crate::error::Result;
use crate::executor::{self, CallingThread, Executor, Stop};
use crate::features::row_words::{LoadedWords, RowWords};
use crate::features::tokens::Document;
use crate::memory;
use crate::passages::{Capped, Parameters, Passage, PassageSearch};
use crate::storage::files::{NoFiles, Resources};
use crate::storage::sort::{Groups, Sorted, Sorter};

const DOING: &str = "finding edited passages";

/// A search for edited passages.
pub struct EditedSearch {
    /// The words of each document, and their characters.
    texts: RowWords,
    rows: RankedRows,
    seeds: Groups<Seed>,
    edits: EditedWords,
    /// The number of seeds, and of those that were taken.
    pub all: u64,
    taken: u64,
    /// The runs that too many places have.
    pub capped: Capped,
}

impl EditedSearch {
    /// Finds the runs that documents share.
    pub fn new(
        mut texts: RowWords,
        rows: RankedRows,
        windows: Sorted<PlacedWindow>,
        edits: EditedWords,
        most: u32,
        resources: Resources<'_>,
    ) -> Result<Self> {
        let (found, capped) = seeds(windows, &mut texts, &rows, edits, most, resources)?;
        let all = found.len();
        let seeds = Groups::new(found.sorted(resources.executor)?, resources.executor)?;
        Ok(Self { texts, rows, seeds, edits, all, taken: 0, capped })
    }
}

impl PassageSearch for EditedSearch {
    fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<Passage>>> {
        const SEEDS: usize = 1 << 14;
        const BYTES: usize = 8 << 20;
        let (mut pairs, mut rows): (Vec<EditedPair>, Vec<u32>) = (Vec::new(), Vec::new());
        let (mut bytes, mut count) = (0, 0);
        let mut group: Vec<Seed> = Vec::new();
        while bytes < BYTES
            && count < SEEDS
            && self.seeds.next(&mut group, |seed| seed.ranks, |_, _| false, executor)?
        {
            let of = group[0].ranks.map(|rank| self.rows.rows[rank as usize]);
            memory::extend(&mut rows, &of, DOING)?;
            for row in of {
                bytes += self.texts.size(row)? * size_of::<u64>();
            }
            count += group.len();
            let seeds = memory::collect(group.iter().map(|seed| seed.firsts), DOING)?;
            memory::push(&mut pairs, EditedPair { rows: of, seeds, passages: Vec::new() }, DOING)?;
        }
        if pairs.is_empty() {
            return Ok(None);
        }
        self.taken += count as u64;
        let open = self.texts.load(&mut rows)?;
        let edits = self.edits;
        executor::each(executor, &mut pairs, |pair, stop| pair.compare(&open, edits, stop))?;
        memory::collect(pairs.into_iter().flat_map(|pair| pair.passages), DOING).map(Some)
    }

    fn capped(&self) -> Capped {
        self.capped
    }

    fn progress(&self) -> f64 {
        self.taken as f64 / self.all.max(1) as f64
    }

    fn bytes(&self) -> usize {
        let rows = memory::bytes(&self.rows.rows) + memory::bytes(&self.rows.ranks);
        self.texts.bytes() + rows + self.seeds.bytes()
    }
}

/// Two documents that share runs.
struct EditedPair {
    rows: [u32; 2],
    seeds: Vec<[u32; 2]>,
    passages: Vec<Passage>,
}

impl EditedPair {
    /// Finds the passages. After a stop, the next call starts from the beginning.
    fn compare(&mut self, open: &LoadedWords<'_>, edits: EditedWords, stop: &Stop) -> Result<()> {
        let texts = self.rows.map(|row| {
            let text = open.get(row);
            text.split_at(text.len() / 2)
        });
        self.passages.clear();
        let words = texts.map(|(words, _)| words);
        for mut stretch in stretches(words, &mut self.seeds, edits, stop)? {
            if self.rows[0] == self.rows[1] && !stretch.cut(edits) {
                continue;
            }
            let [left_span, right_span] = [0, 1].map(|side| {
                let places = &texts[side].1[stretch.places[side].clone()];
                (places[0] >> 32) as usize..places[places.len() - 1] as u32 as usize
            });
            let similarity = stretch.similarity(words, stop)?;
            let [left_row, right_row] = self.rows;
            let passage =
                Passage { left_row, right_row, left_span, right_span, similarity, ..Passage::default() };
            memory::push(&mut self.passages, passage, DOING)?;
        }
        Ok(())
    }
}

/// Returns the edited passages of two documents, in the order of the left one.
pub fn edited_between(
    documents: [&Document; 2],
    parameters: &Parameters,
    edits: EditedWords,
    stop: &Stop,
) -> Result<Vec<Passage>> {
    let executor = CallingThread { stop };
    let mut reader = WindowReader::new(edits);
    let mut windows = Sorter::new(&NoFiles, usize::MAX);
    for (row, document) in (0..).zip(documents) {
        reader.add(row, document, stop)?;
        reader.windows.drain(..).try_for_each(|window| windows.push(window, &executor))?;
    }
    let mut texts = RowWords::default();
    texts.finish(vec![reader.texts], &NoFiles)?;
    let rows = RankedRows { rows: vec![0, 1], ranks: vec![0, 1], right_from: Some(1), within: false };
    let resources = Resources { files: &NoFiles, budget: usize::MAX / 4, executor: &executor };
    let windows = windows.sorted(&executor)?;
    let mut search = EditedSearch::new(texts, rows, windows, edits, parameters.most_similar, resources)?;
    let mut all = Vec::new();
    while let Some(batch) = search.next_batch(&executor)? {
        memory::append(&mut all, batch, DOING)?;
    }
    Ok(all)
}
