//! Turns units of documents (sentences or whole texts) into sets of signatures, in two passes.
//! While documents are read, their texts are kept and, if needed, their words are counted. After
//! that, the sets are made, numbered, and ordered for a join.

use super::batch::{UnitSlice, make_batch};
use super::document_counts::DocumentCounts;
use super::signatures::{Features, Maker};
use super::text_store::{TextStore, UnitTextCollector};
use crate::error::{Error, Result};
use crate::executor::{Executor, Stop};
use crate::features::FeatureSpec;
use crate::features::sets::builder::SetBuilder;
use crate::features::sets::collect::Collector;
use crate::features::sets::order::Ordered;
use crate::features::tokens::Document;
use crate::memory;
use crate::storage::files::{Resources, TempFiles};
use crate::storage::sort::{Groups, Sorter};
use crate::text::sentences::for_each_sentence;
use crate::text::spans::{Position, Span};

const DOING: &str = "cutting documents into sentences";

/// The units into which documents are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentUnit {
    /// Sentences.
    Sentence,
    /// Whole documents: each row is one unit.
    Document,
}

/// The documents that one worker has read.
#[derive(Debug)]
pub struct UnitReader {
    unit: DocumentUnit,
    shelf: UnitTextCollector,
    /// Collects words, if words are counted.
    words: Option<Collector>,
    spans: Vec<Span>,
    /// Scratch memory for the texts of pages.
    page: Document,
    empty: u64,
}

const WORDS: FeatureSpec = FeatureSpec { multiset: false, ..FeatureSpec::WORDS };

impl UnitReader {
    /// Adds a document. After a stop, everything is as it was before.
    pub fn add(&mut self, row: u32, document: &Document, stop: &Stop) -> Result<()> {
        let Self { spans, page, .. } = self;
        let is_long = document.bytes() > SetBuilder::LONG;
        let document = document.read(page, stop)?;
        // There are no other documents here: columns of other types are refused.
        let Document::Text(text) = document else { return Ok(()) };
        spans.clear();
        match self.unit {
            DocumentUnit::Sentence => for_each_sentence(text, stop, |span| memory::push(spans, span, DOING))?,
            DocumentUnit::Document => {
                let end = Position { byte: text.len(), char: 0 };
                memory::push(spans, Position::default().to(end), DOING)?;
            }
        }
        if let Some(words) = &mut self.words
            && !is_long
        {
            words.add(row, document, stop)?;
        }
        self.shelf.add(row, text, spans)?;
        self.empty += u64::from(spans.is_empty());
        Ok(())
    }
}

/// The documents of all readers, while documents are read.
pub struct Gathering<'f> {
    /// The readers, one for each worker.
    pub readers: Vec<UnitReader>,
    library: TextStore,
    /// Numbers the words that the readers count. It has the collectors of the readers only while it
    /// does so.
    words: SetBuilder<'static>,
    /// The hashes of words, and how many documents have them, once there are too many words.
    counts: Option<Sorter<'f, [u64; 2]>>,
    files: &'f dyn TempFiles,
}

impl<'f> Gathering<'f> {
    /// Creates a gathering without documents.
    pub fn new(
        unit: DocumentUnit,
        features: &Features,
        files: &'f dyn TempFiles,
        executor: &dyn Executor,
    ) -> Self {
        let reader = || UnitReader {
            unit,
            shelf: UnitTextCollector::default(),
            words: features.are_counted().then(|| Collector::new(WORDS)),
            spans: Vec::new(),
            page: Document::default(),
            empty: 0,
        };
        Self {
            readers: (0..executor.count()).map(|_| reader()).collect(),
            library: TextStore::default(),
            words: SetBuilder::new(WORDS, 0),
            counts: None,
            files,
        }
    }

    /// Counts the words of the documents that the readers have read, and of long documents, which
    /// `add_long` adds. Writes texts or counts to files if these take more than `budget` bytes.
    /// Returns the greatest number of bytes that were held at one time.
    pub fn settle(
        &mut self,
        add_long: impl FnOnce(&mut SetBuilder<'_>) -> Result<()>,
        budget: usize,
        executor: &dyn Executor,
    ) -> Result<usize> {
        self.words.collectors = self.readers.iter_mut().filter_map(|reader| reader.words.take()).collect();
        let mut pending = 0;
        if !self.words.collectors.is_empty() {
            pending = self.words.number(executor)?;
            add_long(&mut self.words)?;
            // Only the dictionary's counts are needed.
            self.words.forget_sets();
            if self.words.dictionary_bytes() > budget / 2 {
                self.write_counts(budget / 8, executor)?;
            }
            for (reader, collector) in self.readers.iter_mut().zip(self.words.collectors.drain(..)) {
                reader.words = Some(collector);
            }
        }
        let shelves: usize = self.readers.iter().map(|reader| reader.shelf.bytes()).sum();
        let kept = shelves + self.library.bytes() + self.words.dictionary_bytes();
        if kept > budget && shelves > (budget / 8).min(1 << 22) {
            self.library.spill(self.readers.iter_mut().map(|reader| &mut reader.shelf), self.files)?;
        }
        Ok(kept + pending)
    }

    /// Moves what the dictionary and the collectors have counted to a file. The next documents are
    /// counted in a new dictionary.
    fn write_counts(&mut self, budget: usize, executor: &dyn Executor) -> Result<()> {
        let counts = self.counts.get_or_insert_with(|| Sorter::new(self.files, budget));
        let mut held = DocumentCounts::Held(self.words.dictionary());
        held.for_each(executor, &mut |hash, documents| counts.push([hash, documents], executor))?;
        self.words = SetBuilder::new(WORDS, self.words.collectors.len());
        Ok(())
    }

    /// Returns all texts, the maker of their signatures, and the number of documents without any
    /// unit. `documents` is the number of documents that were read, not counting NULLs.
    pub fn finish(
        mut self,
        features: &Features,
        documents: u64,
        executor: &dyn Executor,
    ) -> Result<(TextStore, Maker, u64)> {
        self.library.finish(self.readers.iter_mut().map(|reader| &mut reader.shelf), self.files)?;
        self.words.collectors = self.readers.iter_mut().filter_map(|reader| reader.words.take()).collect();
        let are_whole = self.readers.iter().all(|reader| reader.unit == DocumentUnit::Document);
        if self.counts.is_some() {
            self.write_counts(0, executor)?;
        }
        let mut counts = match self.counts.take() {
            Some(counts) => {
                DocumentCounts::Sorted(Box::new(Groups::new(counts.sorted(executor)?, executor)?))
            }
            None => DocumentCounts::Held(self.words.dictionary()),
        };
        let maker = features.ready(&mut counts, documents, are_whole, executor)?;
        drop(counts);
        Ok((self.library, maker, self.readers.iter().map(|reader| reader.empty).sum()))
    }
}

/// The units of documents, numbered consecutively.
#[derive(Debug, Default)]
pub struct Units {
    /// The rows that have units, or nothing if they are the first rows.
    rows: Vec<u32>,
    /// The number of the first unit of each row, and at the end the number of all units.
    firsts: Vec<u32>,
    /// The number of the first unit of the right table, if there are two tables.
    pub right_from: Option<u32>,
}

impl Units {
    /// Numbers the units of the given rows in the order of the rows, those of the left table first.
    ///
    /// `library` forgets how many units each row has.
    pub fn in_order(library: &mut TextStore, left: &[u32], right: Option<&[u32]>) -> Result<Self> {
        let mut units = Self { firsts: vec![0], ..Self::default() };
        units.append(library, left)?;
        if let Some(right) = right {
            units.right_from = units.firsts.last().copied();
            units.append(library, right)?;
        }
        library.forget_counts();
        Ok(units)
    }

    fn append(&mut self, library: &TextStore, rows: &[u32]) -> Result<()> {
        for &row in rows.iter().filter(|&&row| library.units(row) > 0) {
            let next = self.len().checked_add(library.units(row));
            let next = next.ok_or(Error::TooMany { what: "sentences", limit: u32::MAX.into() })?;
            // Rows are numbered with 32 bits.
            let document = self.documents() as u32;
            if self.rows.is_empty() && row != document {
                memory::append(&mut self.rows, 0..document, DOING)?;
            }
            if row != document || !self.rows.is_empty() {
                memory::push(&mut self.rows, row, DOING)?;
            }
            memory::push(&mut self.firsts, next, DOING)?;
        }
        Ok(())
    }

    /// Makes each row one unit with the row's number.
    pub fn of_rows(rows: u32, right_from: Option<u32>) -> Result<Self> {
        Ok(Self { rows: Vec::new(), firsts: memory::collect(0..=rows, DOING)?, right_from })
    }

    /// Returns the number of units.
    pub fn len(&self) -> u32 {
        self.firsts.last().copied().unwrap_or(0)
    }

    /// Returns the number of documents: of rows that have units.
    fn documents(&self) -> usize {
        self.firsts.len().saturating_sub(1)
    }

    /// Returns the row of a document. Documents are in the order of their units.
    pub fn row(&self, document: usize) -> u32 {
        // Rows are numbered with 32 bits.
        self.rows.get(document).copied().unwrap_or(document as u32)
    }

    /// Returns the numbers of the first units of all documents, and at the end the number of all
    /// units.
    pub fn firsts(&self) -> &[u32] {
        &self.firsts
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.rows) + memory::bytes(&self.firsts)
    }
}

/// The sets of signatures of all units. The rows of a set are the numbers of the units that have
/// it.
#[derive(Debug)]
pub struct UnitSets {
    /// The distinct sets, ready to be joined.
    pub ordered: Ordered,
    /// The number of signatures of all units.
    pub signatures: u64,
    /// The number of units without signatures.
    pub empty: u64,
    /// The number of units without signatures that have words.
    pub unsigned: u64,
}

/// Makes the sets of all units. `progress` is called with the number of units that are done.
pub fn make_sets(
    library: &mut TextStore,
    units: &Units,
    maker: &Maker,
    resources: Resources<'_>,
    mut progress: impl FnMut(u32),
) -> Result<UnitSets> {
    let Resources { files, budget, executor } = resources;
    let mut builder = SetBuilder::new(WORDS, executor.count()).with_files(files);
    let (mut peak_bytes, mut unsigned) = (0, 0);
    let mut parts = UnitBatches { units, at: (0, 0), bytes: (budget / 64).clamp(1 << 14, 4 << 20) };
    while let Some(batch) = parts.next(library)? {
        let first = batch.first().map_or(0, |part| part.number);
        if units.right_from == Some(first) {
            builder.go_right(first);
        }
        let mut rows = batch.iter().map(|part| part.row).collect();
        let open = library.open(&mut rows)?;
        let (pending, without) = make_batch(&open, batch, maker, &mut builder, executor)?;
        unsigned += without;
        let held = builder.spill(0, budget)?;
        peak_bytes = peak_bytes.max(held.max(pending) + 2 * parts.bytes);
        progress(parts.done());
    }
    if let Some(from) = units.right_from {
        // If the right table has no unit, no batch has started it.
        builder.go_right(from);
    }
    let (signatures, empty) = (builder.tokens(), builder.empty());
    let mut ordered = builder.order(budget, executor)?;
    ordered.peak_bytes = ordered.peak_bytes.max(peak_bytes);
    Ok(UnitSets { ordered, signatures, empty, unsigned })
}

/// Divides all units into batches.
struct UnitBatches<'a> {
    units: &'a Units,
    /// The next document, and the next of its units.
    at: (usize, u32),
    /// The approximate number of bytes of texts in a batch.
    bytes: usize,
}

impl UnitBatches<'_> {
    fn done(&self) -> u32 {
        self.units.firsts[self.at.0] + self.at.1
    }

    /// Returns the units of the next batch, which are all of one table, or `None` after the last
    /// batch.
    fn next(&mut self, library: &mut TextStore) -> Result<Option<Vec<UnitSlice>>> {
        let Units { firsts, right_from, .. } = self.units;
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while self.at.0 < self.units.documents() && bytes < self.bytes {
            let (document, from) = self.at;
            let (row, first) = (self.units.row(document), firsts[document]);
            if *right_from == Some(first) && from == 0 && !batch.is_empty() {
                break;
            }
            let count = firsts[document + 1] - first;
            // This assumes that all units of a document have the same length.
            let each = library.size(row)? / count as usize + 1;
            let fit = u32::try_from((self.bytes - bytes).div_ceil(each)).unwrap_or(u32::MAX);
            let to = from + fit.min(count - from);
            bytes += each * (to - from) as usize;
            memory::push(&mut batch, UnitSlice { row, number: first + from, units: from..to }, DOING)?;
            self.at = if to == count { (document + 1, 0) } else { (document, to) };
        }
        Ok((!batch.is_empty()).then_some(batch))
    }
}
