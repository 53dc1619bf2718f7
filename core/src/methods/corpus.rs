//! Documents in memory as a source for methods, for programs, tests and benchmarks.

use super::account::Account;
use super::documents::{Documents, Quiet, Side};
use super::method::Method;
use super::nearest;
use super::passages::search;
use super::reading::Reading;
use super::sites::Sites;
use crate::error::{Error, Result};
use crate::executor::PlainThreads;
use crate::features::FeatureSpec;
use crate::features::dictionary::weights::Weights;
use crate::features::source_document::SourceDocument;
use crate::features::tokens::Document;
use crate::joins::nearest::found::NearestRow;
use crate::joins::pairs::Pair;
use crate::memory;
use crate::passages::{Parameters, Passage};
use crate::storage::files::{MemoryFiles, Resources};
use crate::verify::measure::Measure;

/// Resources of two threads and a gigabyte.
const USUAL: Resources<'static> =
    Resources { files: &MemoryFiles, budget: 1 << 30, executor: &PlainThreads(2) };

/// Returns the document of a row, or `None` if the row has none.
type Make<'a> = Box<dyn Fn(usize) -> Option<SourceDocument> + 'a>;

/// Documents of one table or of two. The id of a row is its number.
///
/// Documents are made when they are read, one at a time, so a corpus takes no memory for them. All
/// calls with the same documents and method return the same pairs.
///
/// ```
/// use neardup_core::{Corpus, Measure, Sets};
///
/// let mut corpus = Corpus::of_texts(&["red crane", "blue crane", "crane, red"]);
/// let pairs = corpus.pairs(&Sets::of_words(Measure::Jaccard, 0.9)?)?;
/// assert_eq!((pairs.len(), pairs[0].left, pairs[0].right), (1, 0, 2));
/// # Ok::<(), neardup_core::Error>(())
/// ```
pub struct Corpus<'a> {
    /// The number of rows of each table.
    rows: [usize; 2],
    has_right: bool,
    /// The function that makes the documents. Rows of the right table are numbered after those of
    /// the left one.
    make: Make<'a>,
    sites: Option<Sites>,
    weights: Option<Vec<i64>>,
    /// The table that is being read. `read` is the number of its rows that were read so far.
    side: Side,
    read: usize,
}

impl<'a> Corpus<'a> {
    /// Creates one table of `rows` rows.
    ///
    /// Each search, such as [`Corpus::pairs`], calls `make` once for each row, in order. Rows for
    /// which it returns `None` are in no pair.
    ///
    /// ```
    /// use neardup_core::{Corpus, Document, Edit};
    ///
    /// let lines = ["quay", "", "quays"];
    /// let row = |row: usize| Some(lines[row]).filter(|line| !line.is_empty()).map(Document::from);
    /// let pairs = Corpus::new(lines.len(), row).pairs(&Edit::within(1))?;
    /// assert_eq!((pairs[0].left, pairs[0].right), (0, 2));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
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
    ///
    /// ```
    /// use neardup_core::{Corpus, Edit};
    ///
    /// let texts: Vec<String> = vec!["quay".into(), "quays".into()];
    /// assert_eq!(Corpus::of_texts(&texts).pairs(&Edit::new(0.8)?)?.len(), 1);
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn of_texts<T: AsRef<str>>(texts: &'a [T]) -> Self {
        Self::new(texts.len(), |row| Some(Document::Text(texts[row].as_ref().to_owned())))
    }

    /// Creates one table of sets of numbers.
    ///
    /// Repeats in a list count if the method compares multisets.
    ///
    /// ```
    /// use neardup_core::{Corpus, Measure, Sets};
    ///
    /// let sets = [vec![1, 2, 3, 4], vec![5], vec![4, 3, 2, 6]];
    /// let pairs = Corpus::of_sets(&sets).pairs(&Sets::of_words(Measure::Overlap, 0.75)?)?;
    /// assert_eq!((pairs[0].left, pairs[0].right, pairs[0].similarity), (0, 2, 0.75));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn of_sets(sets: &'a [Vec<i64>]) -> Self {
        Self::new(sets.len(), |row| Some(Document::Numbers(sets[row].clone())))
    }

    /// Splits the rows into two tables, the second one from `right_from` on.
    ///
    /// Each pair then has one row of each table. Rows keep their numbers: the numbers of the right
    /// table begin with `right_from`. With `None` there is one table.
    ///
    /// ```
    /// use neardup_core::{Corpus, Edit};
    ///
    /// let mut corpus = Corpus::of_texts(&["quay", "quay", "quays"]).split(Some(2));
    /// let pairs = corpus.pairs(&Edit::within(1))?;
    /// let rows: Vec<_> = pairs.iter().map(|pair| (pair.left, pair.right)).collect();
    /// assert_eq!(rows, [(0, 2), (1, 2)]);
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    #[must_use]
    pub fn split(self, right_from: Option<usize>) -> Self {
        let all = self.rows[0];
        let left = right_from.unwrap_or(all).min(all);
        Self { rows: [left, all - left], has_right: right_from.is_some(), ..self }
    }

    /// Sets the site of each row, `None` if it is unknown.
    ///
    /// A [`Rule::BySite`](crate::parameters::Rule::BySite) distinguishes pairs of the same site
    /// from other pairs, and the rules of [`Tlcs`](crate::Tlcs) count by site. Fails only if memory
    /// is short.
    ///
    /// ```
    /// use neardup_core::parameters::{Rule, TechniqueSpec};
    /// use neardup_core::{Corpus, Sketches};
    ///
    /// let technique = TechniqueSpec::ExactText { clean: false, html: false };
    /// let mut method = Sketches { sites: true, ..Sketches::by_technique(technique) };
    /// // Pairs of two sites only.
    /// let different = Some(Box::new(Rule::Technique(0)));
    /// method.combination.rule = Rule::BySite { at: 0, same: None, different };
    /// let sites = [Some("a.org"), Some("a.org"), Some("b.org")];
    /// let mut corpus = Corpus::of_texts(&["red crane"; 3]).with_sites(&sites)?;
    /// assert_eq!(corpus.pairs(&method)?.len(), 2);
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn with_sites<S: AsRef<str>>(self, sites: &[Option<S>]) -> Result<Self> {
        let mut all = Sites::default();
        sites.iter().try_for_each(|site| all.push(site.as_ref().map(AsRef::as_ref)).map(|_| ()))?;
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
    ///
    /// Fails if a parameter of the method is out of its range, or if memory is short.
    ///
    /// ```
    /// use neardup_core::{Corpus, Measure, Sets};
    ///
    /// let mut corpus = Corpus::of_texts(&["a b", "b a", "a"]);
    /// let pairs = corpus.pairs(&Sets::of_words(Measure::Dice, 0.6)?)?;
    /// assert_eq!((pairs[0].similarity, pairs[1].similarity), (1.0, 2.0 / 3.0));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn pairs(&mut self, method: &dyn Method) -> Result<Vec<Pair>> {
        Ok(self.pairs_with(method, USUAL)?.0)
    }

    /// Returns all pairs that a method finds with the given threads, files and memory, and the
    /// account of the call.
    ///
    /// ```
    /// use neardup_core::{Corpus, Measure, MemoryFiles, PlainThreads, Resources, Sets};
    ///
    /// let executor = &PlainThreads(4);
    /// let resources = Resources { files: &MemoryFiles, budget: 1 << 24, executor };
    /// let mut corpus = Corpus::of_texts(&["a b", "a b c", ""]);
    /// let method = Sets::of_words(Measure::Jaccard, 0.5)?;
    /// let (pairs, account) = corpus.pairs_with(&method, resources)?;
    /// assert_eq!((pairs.len(), account.documents, account.skipped_empty), (1, 3, 1));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
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

    /// Returns the `k` nearest rows of each row, using two threads and a gigabyte.
    ///
    /// The rows are in order, and for each row the most similar one comes first. Of equally similar
    /// rows, those of the first numbers are the nearest. Rows that share no token are not near, so
    /// a row may have fewer than `k` nearest ones. Fails if memory is short.
    ///
    /// ```
    /// use neardup_core::{Corpus, FeatureSpec, Measure};
    ///
    /// let mut corpus = Corpus::of_texts(&["red crane", "blue crane", "crane, red", "quay"]);
    /// let nearest = corpus.nearest(FeatureSpec::WORDS, Measure::Jaccard, 1)?;
    /// let found: Vec<_> = nearest.iter().map(|near| (near.row, near.nearest)).collect();
    /// assert_eq!(found, [(0, 2), (1, 0), (2, 0)]);
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn nearest(&mut self, spec: FeatureSpec, measure: Measure, k: usize) -> Result<Vec<NearestRow>> {
        self.nearest_with(spec, measure, &Weights::Equal, k, USUAL)
    }

    /// Returns the same with weights, and with the given threads, files and memory.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn nearest_with(
        &mut self,
        spec: FeatureSpec,
        measure: Measure,
        weights: &Weights,
        k: usize,
        resources: Resources<'_>,
    ) -> Result<Vec<NearestRow>> {
        let mut quiet = Quiet;
        let mut reading = Reading::new(self, &mut quiet, resources);
        let mut rows = nearest::search(spec, measure, weights, k, &mut reading)?;
        let mut all = Vec::new();
        rows.for_each(resources.executor, |row| memory::push(&mut all, row, "collecting the nearest"))?;
        all.sort_unstable_by_key(|near: &NearestRow| (near.row, near.rank));
        Ok(all)
    }

    /// Returns the passages that documents share, using two threads and a gigabyte.
    ///
    /// Passages are in the order of their documents, and then in the order of their sentences in
    /// the left document. With two tables, rows are numbered as in pairs. Words that nearly all
    /// documents have do not count if the [features](crate::parameters::SentenceFeatures) leave
    /// them out.
    ///
    /// ```
    /// use neardup_core::parameters::SentenceFeatures;
    /// use neardup_core::{Corpus, PassageParameters};
    ///
    /// let texts = ["One. The crane moved to the quay.", "The crane moved to the quay! Two."];
    /// let features = SentenceFeatures::Shingles(3);
    /// let parameters = PassageParameters { features, min_sentences: 1, ..Default::default() };
    /// let passages = Corpus::of_texts(&texts).passages(&parameters)?;
    /// assert_eq!((passages.len(), passages[0].left_row, passages[0].right_row), (1, 0, 1));
    /// assert_eq!((passages[0].left_sentence, passages[0].right_sentence), (1, 0));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn passages(&mut self, parameters: &Parameters) -> Result<Vec<Passage>> {
        let mut quiet = Quiet;
        let mut reading = Reading::new(self, &mut quiet, USUAL);
        let mut search = search(parameters, &mut reading)?;
        let mut all = Vec::new();
        while let Some(batch) = search.next_batch(USUAL.executor)? {
            memory::append(&mut all, batch, "collecting passages")?;
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

    fn rows(&self, side: Side) -> usize {
        if side == self.side { self.read } else { self.rows[side as usize] }
    }

    fn sites(&self) -> Option<&Sites> {
        self.sites.as_ref()
    }

    fn weights(&mut self, _order: &[u32]) -> Result<Option<Vec<i64>>> {
        Ok(self.weights.clone())
    }
}

/// Returns the pairs of texts whose words have at least this Jaccard similarity, in the order of
/// their rows.
///
/// Words are lower-cased runs of letters and numbers ([`words`](crate::words)), and each occurrence
/// of a word counts. Every such pair is found, and no other. Fails unless the threshold is greater
/// than 0 and at most 1. For other measures and methods see [`Corpus::pairs`].
///
/// ```
/// let texts = ["red crane, north quay", "Red crane; north quay!", "red crane"];
/// let pairs = neardup_core::near_duplicates(&texts, 0.5)?;
/// let found: Vec<_> = pairs.iter().map(|pair| (pair.left, pair.right, pair.similarity)).collect();
/// assert_eq!(found, [(0, 1, 1.0), (0, 2, 0.5), (1, 2, 0.5)]);
/// # Ok::<(), neardup_core::Error>(())
/// ```
pub fn near_duplicates<T: AsRef<str>>(texts: &[T], threshold: f64) -> Result<Vec<Pair>> {
    use crate::methods::sets::Sets;

    Corpus::of_texts(texts).pairs(&Sets::of_words(Measure::Jaccard, threshold)?)
}
