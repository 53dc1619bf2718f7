//! The search for passages. It turns sentences into sets, sets into pairs, pairs into diagonals,
//! and diagonals into places in the texts, a few documents at a time.

use std::ops::Range;

use super::diagonals::{Diagonal, Diagonals, by_diagonal};
use super::edited::search::edited_between;
use super::grow::{backwards, forwards};
use super::pairs::{SentencePairs, sentence_pairs};
use super::starts::Starts;
use super::{Capped, Parameters, Passage, PassageSearch, Phase, SearchProgress};
use crate::clusters::edges::Edge;
use crate::error::Result;
use crate::executor::{self, CallingThread, Executor, Stop};
use crate::features::tokens::Document;
use crate::features::units::sets::{DocumentUnit, Gathering, UnitSets, Units, make_sets};
use crate::features::units::signatures::Maker;
use crate::features::units::text_store::{LoadedTexts, OpenText, TextStore};
use crate::joins::Counts;
use crate::memory;
use crate::storage::files::{NoFiles, Resources};
use crate::text::characters::{is_space, width_of};
use crate::text::spans::Span;

const DOING: &str = "finding passages";

/// Counts of the work done before the first passage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SearchAccount {
    /// The number of sentences of all documents.
    pub sentences: u64,
    /// The number of sentences that have words but no signature.
    pub unsigned: u64,
    /// The number of signatures of all sentences, and the number of distinct signatures.
    pub signatures: u64,
    /// See `signatures`.
    pub distinct_signatures: u64,
    /// The number of distinct sets of signatures.
    pub distinct_sets: u64,
    /// The number of pairs of similar sentences that count.
    pub pairs: u64,
    /// The counts of the filters of the join.
    pub counts: Counts,
    /// The counts of sentences to which too many sentences are similar.
    pub capped: Capped,
    /// The greatest number of bytes held at a time.
    pub peak_bytes: usize,
}

/// A search for passages.
#[derive(Debug)]
pub struct Search {
    library: TextStore,
    units: Units,
    diagonals: Diagonals,
    min_sentences: u32,
    extend: Option<u32>,
    min_width: u32,
    /// The counts of the work done.
    pub account: SearchAccount,
}

impl Search {
    /// Joins the sentences of all documents.
    pub fn new(
        mut library: TextStore,
        units: Units,
        maker: &Maker,
        parameters: &Parameters,
        resources: Resources<'_>,
        progress: SearchProgress<'_>,
    ) -> Result<Self> {
        parameters.check()?;
        let all = units.len();
        let signing = |done: u32| progress((Phase::Signing, f64::from(done) / f64::from(all.max(1))));
        let UnitSets { ordered, signatures, unsigned, .. } =
            make_sets(&mut library, &units, maker, resources, signing)?;
        let right_sets = ordered.right.as_ref().map_or(0, |right| right.members.len());
        let mut account = SearchAccount {
            sentences: all.into(),
            unsigned,
            signatures,
            distinct_signatures: ordered.distinct_tokens as u64,
            distinct_sets: (ordered.left.members.len() + right_sets) as u64,
            peak_bytes: ordered.peak_bytes,
            ..SearchAccount::default()
        };
        let starts = Starts::new(units.firsts())?;
        let joining = &mut |phase, share| progress((phase, share));
        let SentencePairs { pairs, bridges, capped, counts } =
            sentence_pairs(ordered, all, &starts, parameters, resources, joining)?;
        (account.capped, account.counts, account.pairs) = (capped, counts, pairs.len());
        progress((Phase::Sorting, 0.0));
        let left = |edge: Edge| starts.document(edge.left);
        let in_order = pairs.in_order(resources.executor, left, |edge| by_diagonal(&starts, edge))?;
        let diagonals = Diagonals::new(starts, in_order, bridges, all);
        let Parameters { min_sentences, extend, min_width, .. } = *parameters;
        Ok(Self { library, units, diagonals, min_sentences, extend, min_width, account })
    }
}

impl PassageSearch for Search {
    fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<Passage>>> {
        const PASSAGES: usize = 1 << 12;
        const BYTES: usize = 8 << 20;
        let Self { library, units, diagonals, min_sentences, .. } = self;
        let mut found: Vec<Diagonal> = Vec::new();
        let (mut pairs, mut rows): (Vec<DocumentPair>, Vec<u32>) = (Vec::new(), Vec::new());
        let (mut bytes, mut ended) = (0, false);
        while found.len() < PASSAGES && bytes < BYTES && !ended {
            let from = found.len();
            let Some((left, right)) = diagonals.next(*min_sentences, &mut found, executor)? else {
                ended = true;
                break;
            };
            if found.len() > from {
                let documents = [left, right].map(|document| document as usize);
                let rows_of = documents.map(|document| units.row(document));
                let firsts = documents.map(|document| units.firsts()[document]);
                memory::extend(&mut rows, &rows_of, DOING)?;
                for row in rows_of {
                    bytes += library.size(row)?;
                }
                let pair = DocumentPair {
                    rows: rows_of,
                    firsts,
                    diagonals: from..found.len(),
                    passages: Vec::new(),
                };
                memory::push(&mut pairs, pair, DOING)?;
            }
        }
        if ended && pairs.is_empty() {
            return Ok(None);
        }
        let open = library.open(&mut rows)?;
        let (extend, min_width) = (self.extend, self.min_width as usize);
        let locate =
            |pair: &mut DocumentPair, stop: &Stop| pair.locate(&open, &found, extend, min_width, stop);
        executor::each(executor, &mut pairs, locate)?;
        memory::collect(pairs.into_iter().flat_map(|pair| pair.passages), DOING).map(Some)
    }

    fn capped(&self) -> Capped {
        self.account.capped
    }

    fn progress(&self) -> f64 {
        self.diagonals.seen as f64 / self.account.pairs.max(1) as f64
    }

    fn bytes(&self) -> usize {
        self.library.bytes() + self.units.bytes() + self.diagonals.bytes()
    }
}

/// Two documents and their diagonals.
struct DocumentPair {
    rows: [u32; 2],
    /// The number of the first sentence of each document.
    firsts: [u32; 2],
    diagonals: Range<usize>,
    passages: Vec<Passage>,
}

/// The places of a passage in both texts.
type PassagePlaces = [Span; 2];

impl DocumentPair {
    /// Turns the diagonals into passages, and keeps the passages that are at least `min_width` wide
    /// after they have grown. After a stop, the next call starts from the beginning.
    fn locate(
        &mut self,
        open: &LoadedTexts<'_>,
        found: &[Diagonal],
        extend: Option<u32>,
        min_width: usize,
        stop: &Stop,
    ) -> Result<()> {
        let entries = self.rows.map(|row| open.get(row));
        let diagonals = &found[self.diagonals.clone()];
        let mut places: Vec<PassagePlaces> = Vec::new();
        memory::reserve(&mut places, diagonals.len(), DOING)?;
        for (n, diagonal) in diagonals.iter().enumerate() {
            stop.check_every(n, 1 << 10)?;
            let from = [diagonal.left - self.firsts[0], diagonal.right - self.firsts[1]];
            places.push([0, 1].map(|side| {
                let first = from[side] as usize;
                let last = first + diagonal.length as usize - 1;
                entries[side].span(first).to(&entries[side].span(last))
            }));
        }
        if let Some(gap) = extend {
            for n in 0..places.len() {
                extend_one(&mut places, n, &entries, self.rows[0] == self.rows[1], gap, stop)?;
            }
        }
        self.passages.clear();
        memory::reserve(&mut self.passages, places.len(), DOING)?;
        for (diagonal, places) in diagonals.iter().zip(places) {
            let is_wide =
                |(place, entry): (&Span, &OpenText<'_>)| is_wide(place.slice(entry.text), min_width);
            if !places.iter().zip(&entries).all(is_wide) {
                continue;
            }
            let [left, right] = places;
            self.passages.push(Passage {
                left_row: self.rows[0],
                right_row: self.rows[1],
                left_sentence: diagonal.left - self.firsts[0],
                right_sentence: diagonal.right - self.firsts[1],
                sentences: diagonal.length,
                left_span: left.chars,
                right_span: right.chars,
                similarity: diagonal.sum / f64::from(diagonal.length),
            });
        }
        Ok(())
    }
}

/// Reports whether a text has at least `least` columns without its white space. White space does
/// not count because a copy may change it.
fn is_wide(text: &str, least: usize) -> bool {
    let mut columns = 0;
    least == 0
        || text.chars().filter(|&c| !is_space(c)).any(|c| {
            columns += width_of(c);
            columns >= least
        })
}

/// Extends passage `n` at both ends. It grows at most to the end of the nearest passage that is
/// before it in both texts, and to the beginning of the nearest passage that is after it in both
/// texts. If both texts are one document, its two places do not grow into each other.
fn extend_one(
    places: &mut [PassagePlaces],
    n: usize,
    entries: &[OpenText<'_>; 2],
    is_one_document: bool,
    gap: u32,
    stop: &Stop,
) -> Result<()> {
    // Passages are in the order of the left text. Passages that overlap passage `n`, or are in the
    // opposite order in the right text, are skipped.
    const NEIGHBOURS: usize = 64;
    let [left, right] = &places[n];
    let behind = places[n + 1..].iter().take(NEIGHBOURS).find(|[other_left, other_right]| {
        other_left.bytes.start >= left.bytes.end && other_right.bytes.start >= right.bytes.end
    });
    let before = places[..n].iter().rev().take(NEIGHBOURS).find(|[other_left, other_right]| {
        other_left.bytes.end <= left.bytes.start && other_right.bytes.end <= right.bytes.start
    });
    let texts = entries.each_ref().map(|entry| entry.text);
    let mut from = before.map_or([0; 2], |before| before.each_ref().map(|place| place.bytes.end));
    let mut to = texts.map(str::len);
    if let Some(behind) = behind {
        to = behind.each_ref().map(|place| place.bytes.start);
    }
    if is_one_document {
        from[1] = from[1].max(left.bytes.end);
    }
    let backwards =
        backwards(&texts[0][from[0]..left.bytes.start], &texts[1][from[1]..right.bytes.start], gap, stop)?;
    if is_one_document {
        to[0] = to[0].min(right.bytes.start - backwards[1].bytes);
    }
    let forwards = forwards(&texts[0][left.bytes.end..to[0]], &texts[1][right.bytes.end..to[1]], gap, stop)?;
    for (place, (back, forth)) in places[n].iter_mut().zip(backwards.into_iter().zip(forwards)) {
        place.bytes = place.bytes.start - back.bytes..place.bytes.end + forth.bytes;
        place.chars = place.chars.start - back.chars..place.chars.end + forth.chars;
    }
    Ok(())
}

/// Returns the passages that two texts share, in the order of the left text. Words have no document
/// frequency here, so all words count.
///
/// The rows of the passages are 0 and 1. Fails if parameters are out of range, or after a request
/// to stop.
///
/// ```
/// use neardup_core::parameters::SentenceFeatures;
/// use neardup_core::{PassageParameters, Stop, passages_between};
///
/// let a = "A plain start. The crane moved to the north quay in March. Nobody saw it happen.";
/// let b = "More words. The crane moved to the\nnorth quay in March. Nobody saw it happen. End.";
/// let features = SentenceFeatures::Shingles(4);
/// let parameters = PassageParameters { features, min_sentences: 1, ..Default::default() };
/// let passages = passages_between(a, b, &parameters, &Stop::default())?;
/// // Both sentences, though a line break cuts one of them.
/// assert_eq!(&a[passages[0].left_span.clone()], &a[15..]);
/// # Ok::<(), neardup_core::Error>(())
/// ```
pub fn between(a: &str, b: &str, parameters: &Parameters, stop: &Stop) -> Result<Vec<Passage>> {
    between_documents([a, b].map(|text| Document::Text(text.to_owned())), parameters, stop)
}

/// Returns the passages that two documents share, like [`between`]. Each document is a text or a
/// page.
pub fn between_documents(
    documents: [Document; 2],
    parameters: &Parameters,
    stop: &Stop,
) -> Result<Vec<Passage>> {
    parameters.check()?;
    if let Some(edits) = parameters.edits {
        return edited_between(documents.each_ref(), parameters, edits, stop);
    }
    let executor = CallingThread { stop };
    let mut gathering = Gathering::new(DocumentUnit::Sentence, &parameters.features, &NoFiles, &executor);
    for (row, document) in (0..).zip(&documents) {
        gathering.readers[0].add(row, document, stop)?;
        gathering.settle(|_| Ok(()), usize::MAX, &executor)?;
    }
    let (mut library, maker, _) = gathering.finish(&parameters.features, 1, &executor)?;
    let units = Units::in_order(&mut library, &[0], Some(&[1]))?;
    let resources = Resources { files: &NoFiles, budget: usize::MAX / 4, executor: &executor };
    let mut search = Search::new(library, units, &maker, parameters, resources, &mut |_| {})?;
    let mut all = Vec::new();
    while let Some(mut batch) = search.next_batch(&executor)? {
        all.append(&mut batch);
    }
    Ok(all)
}
