//! Documents in memory as a source for methods, for programs, tests and benchmarks.

use super::account::Account;
use super::documents::{Documents, Quiet, Side};
use super::method::Method;
use super::passages::search;
use super::reading::Reading;
use super::sites::Sites;
use crate::error::{Error, Result};
use crate::executor::{Executor, PlainThreads};
use crate::features::source_document::SourceDocument;
use crate::features::tokens::Document;
use crate::files::MemoryFiles;
use crate::joins::pairs::Pair;
use crate::memory;
use crate::passages::{Parameters, Passage};
use crate::resources::Resources;

/// Two threads and a gigabyte.
const USUAL: Resources<'static> =
    Resources { files: &MemoryFiles, budget: 1 << 30, executor: &PlainThreads(2) };

/// Returns the document of a row, or `None` if the row has none.
type Make<'a> = Box<dyn Fn(usize) -> Option<SourceDocument> + 'a>;

/// Documents of one table or of two. The id of a row is its number.
pub struct Corpus<'a> {
    /// The number of rows of each table.
    rows: [usize; 2],
    has_right: bool,
    /// The function that makes the documents. Rows of the right table are numbered after those of
    /// the left one.
    make: Make<'a>,
    sites: Option<Sites>,
    weights: Option<Vec<i64>>,
    /// The table that is being read, and the number of its rows read so far.
    side: Side,
    read: usize,
}

impl<'a> Corpus<'a> {
    /// Creates one table of `rows` rows.
    pub fn new(rows: usize, make: impl Fn(usize) -> Option<Document> + 'a) -> Self {
        Self::of_given(rows, move |row| make(row).map(SourceDocument::Document))
    }

    /// Creates one table of documents that may be packed.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn of_given(rows: usize, make: impl Fn(usize) -> Option<SourceDocument> + 'a) -> Self {
        let make: Make<'a> = Box::new(make);
        Self {
            rows: [rows, 0],
            has_right: false,
            make,
            sites: None,
            weights: None,
            side: Side::Left,
            read: 0,
        }
    }

    /// Creates one table of texts.
    pub fn of_texts<T: AsRef<str>>(texts: &'a [T]) -> Self {
        Self::new(texts.len(), |row| Some(Document::Text(texts[row].as_ref().to_owned())))
    }

    /// Creates one table of sets of numbers.
    pub fn of_sets(sets: &'a [Vec<i64>]) -> Self {
        Self::new(sets.len(), |row| Some(Document::Numbers(sets[row].clone())))
    }

    /// Splits the rows into two tables, the second one from `right_from` on.
    #[must_use]
    pub fn split(self, right_from: Option<usize>) -> Self {
        let all = self.rows[0];
        let left = right_from.unwrap_or(all).min(all);
        Self { rows: [left, all - left], has_right: right_from.is_some(), ..self }
    }

    /// Sets the site of each row, `None` if it is unknown.
    pub fn with_sites<S: AsRef<str>>(self, sites: &[Option<S>]) -> Result<Self> {
        let mut all = Sites::default();
        sites.iter().try_for_each(|site| all.push(site.as_ref().map(AsRef::as_ref)))?;
        Ok(Self { sites: Some(all), ..self })
    }

    /// Sets the weight of each row.
    #[must_use]
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn with_weights(self, weights: Vec<i64>) -> Self {
        Self { weights: Some(weights), ..self }
    }

    /// Returns all pairs that a method finds, using two threads and a gigabyte, in the order of
    /// their rows.
    pub fn pairs(&mut self, method: &dyn Method) -> Result<Vec<Pair>> {
        Ok(self.pairs_with(method, USUAL)?.0)
    }

    /// Returns all pairs that a method finds with the given threads, files and memory, and the
    /// account of the call.
    pub fn pairs_with(
        &mut self,
        method: &dyn Method,
        resources: Resources<'_>,
    ) -> Result<(Vec<Pair>, Account)> {
        let mut quiet = Quiet;
        let mut reading = Reading::new(self, &mut quiet, resources);
        let mut pairs = method.pairs(&mut reading)?;
        let mut account = reading.account;
        let mut all = Vec::new();
        while let Some(mut pair) = pairs.next(resources.executor)? {
            if !self.has_right && pair.left > pair.right {
                std::mem::swap(&mut pair.left, &mut pair.right);
            }
            memory::push(&mut all, pair, "collecting pairs")?;
            account.peak_memory = account.peak_memory.max(pairs.bytes() as u64);
        }
        account.counts = pairs.counts();
        account.pairs = pairs.given();
        all.sort_unstable_by_key(|pair| (pair.left, pair.right));
        Ok((all, account))
    }

    /// Returns the passages that documents share, using two threads and a gigabyte.
    pub fn passages(&mut self, parameters: &Parameters) -> Result<Vec<Passage>> {
        let mut quiet = Quiet;
        let mut reading = Reading::new(self, &mut quiet, USUAL);
        let mut search = search(parameters, &mut reading)?;
        let mut all = Vec::new();
        while let Some(mut batch) = search.next_batch(USUAL.executor)? {
            memory::reserve(&mut all, batch.len(), "collecting passages")?;
            all.append(&mut batch);
        }
        Ok(all)
    }
}

impl std::fmt::Debug for Corpus<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Corpus of {:?} rows", self.rows)
    }
}

#[cfg_attr(not(feature = "internals"), doc(hidden))]
impl Documents for Corpus<'_> {
    fn has_right(&self) -> bool {
        self.has_right
    }

    fn begin(&mut self, side: Side) -> Result<()> {
        (self.side, self.read) = (side, 0);
        match u32::try_from(self.rows[0] + self.rows[1]) {
            Ok(_) => Ok(()),
            Err(_) => Err(Error::TooMany { what: "documents", limit: u32::MAX.into() }),
        }
    }

    /// Reads one document at a time.
    fn fetch(&mut self, documents: &mut Vec<(u32, SourceDocument)>) -> Result<usize> {
        let before = if self.side == Side::Left { 0 } else { self.rows[0] };
        let row = self.read;
        self.read += 1;
        let Some(document) = (self.make)(before + row) else { return Ok(0) };
        let bytes = document.bytes();
        memory::push(documents, (row as u32, document), "reading documents")?;
        Ok(bytes)
    }

    fn ended(&self) -> bool {
        self.read == self.rows[self.side as usize]
    }

    fn is_ready(&self) -> bool {
        true
    }

    fn end(&mut self, _side: Side, _workers: &dyn Executor) -> Result<()> {
        Ok(())
    }

    fn rows(&self, side: Side) -> usize {
        if side == self.side { self.read } else { self.rows[side as usize] }
    }

    fn ids_bytes(&self) -> usize {
        0
    }

    fn order(&mut self, side: Side, _workers: &dyn Executor) -> Result<Vec<u32>> {
        let mut order = Vec::new();
        let rows = self.rows[side as usize];
        memory::reserve(&mut order, rows, "ordering rows")?;
        order.extend(0..rows as u32);
        Ok(order)
    }

    fn sites(&self) -> Option<&Sites> {
        self.sites.as_ref()
    }

    fn weights(&mut self, _order: &[u32]) -> Result<Option<Vec<i64>>> {
        Ok(self.weights.clone())
    }
}

/// Returns the pairs of texts whose words have at least this Jaccard similarity. Each pair has two
/// positions in the list and the similarity. For other measures see [`crate::methods`].
pub fn near_duplicates<T: AsRef<str>>(texts: &[T], threshold: f64) -> Result<Vec<Pair>> {
    use crate::methods::sets::Sets;
    use crate::verify::measure::Measure;

    Corpus::of_texts(texts).pairs(&Sets::of_words(Measure::Jaccard, threshold)?)
}
