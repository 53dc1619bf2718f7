//! The windows of as many words as a run that is found has, and the places that share one.

use bytemuck::{Pod, Zeroable};

use super::EditedWords;
use super::seeds::{RankedRows, Seed, SeedFilter};
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::hash_sets::SetCollector;
use crate::features::row_words::RowWords;
use crate::features::runs::places::token_places;
use crate::features::runs::tokens::{Rolling, read_tokens};
use crate::features::tokens::{Document, Scratch, Tokenizer};
use crate::memory;
use crate::passages::Capped;
use crate::row_set::RowSet;
use crate::storage::files::Resources;
use crate::storage::sort::{Groups, Sorted, Sorter, both, order_by_key};
use crate::text::spans::Span;

const DOING: &str = "looking for runs of words";

/// A window of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C)]
pub struct PlacedWindow {
    hash: u64,
    /// The hash of the window that begins one word before, or 0.
    before: u64,
    row: u32,
    /// The number of the first word.
    first: u32,
}

order_by_key!(PlacedWindow, |window| (window.hash, both(window.row, window.first), window.before));

/// Reads documents on one thread.
#[derive(Default)]
pub struct WindowReader {
    run: usize,
    scratch: Scratch,
    page: String,
    words: Vec<u64>,
    places: Vec<Span>,
    space: Vec<u64>,
    /// The windows that were read.
    pub windows: Vec<PlacedWindow>,
    /// The words of each document, and then the characters of each word.
    pub texts: SetCollector,
    /// The number of words of all documents.
    pub count: u64,
    /// The number of documents without a word.
    pub empty: u64,
}

impl WindowReader {
    /// Makes a reader.
    pub fn new(edits: EditedWords) -> Self {
        Self { run: edits.run(), ..Self::default() }
    }

    /// Reads a document. If this fails, nothing is added.
    pub fn add(&mut self, row: u32, document: &Document, stop: &Stop) -> Result<()> {
        let text = match document {
            Document::Text(text) => text,
            Document::Page(page) => {
                page.read(&mut self.page, stop)?;
                &self.page
            }
            // A search for passages takes no tokens already made.
            Document::Tokens(_) | Document::Numbers(_) => return Ok(()),
        };
        let Self { run, scratch, words, places, space, windows, .. } = self;
        read_tokens(text.as_str(), Tokenizer::Words, scratch, words, stop)?;
        token_places(text, Tokenizer::Words, stop, places)?;
        memory::refill(space, words.iter().copied(), DOING)?;
        // A text of the server has fewer than 2^31 characters.
        let chars = places.iter().map(|place| both(place.chars.start as u32, place.chars.end as u32));
        memory::append(space, chars, DOING)?;
        memory::reserve(windows, words.len(), DOING)?;
        self.texts.add(row, space)?;
        let (mut rule, mut before) = (Rolling::new(*run), 0);
        for n in 0..words.len() {
            let hash = rule.roll(&words[..=n]);
            if let Some(first) = (n + 1).checked_sub(*run) {
                windows.push(PlacedWindow { hash, before, row, first: first as u32 });
                before = hash;
            }
        }
        self.count += words.len() as u64;
        self.empty += u64::from(words.is_empty());
        Ok(())
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        let words = memory::bytes(&self.words) + memory::bytes(&self.places) + memory::bytes(&self.space);
        words + self.page.capacity() + memory::bytes(&self.windows) + self.texts.bytes()
    }
}

/// The words of all documents that are in windows of too many places.
struct FrequentWords<'a> {
    /// The number of words of the rows before each row, and of all rows.
    starts: &'a [u64],
    /// These words.
    words: RowSet,
    /// The number of words of a window.
    run: u64,
}

/// Returns the number of words of the rows before each row, and of all rows.
fn word_starts(texts: &mut RowWords, rows: usize) -> Result<Vec<u64>> {
    let (mut all, mut starts) = (0, Vec::new());
    memory::reserve(&mut starts, rows + 1, DOING)?;
    for row in 0..rows {
        starts.push(all);
        // The other half are the places of the words.
        all += texts.size(row as u32)? as u64 / 2;
    }
    starts.push(all);
    Ok(starts)
}

impl<'a> FrequentWords<'a> {
    fn new(starts: &'a [u64], run: usize) -> Result<Self> {
        let all = starts.last().map_or(0, |&all| all as usize);
        Ok(Self { starts, words: RowSet::new(all)?, run: run as u64 })
    }

    fn places(&self, row: u32, first: u32) -> impl Iterator<Item = usize> + use<> {
        let first = self.starts[row as usize] + u64::from(first);
        (first..first + self.run).map(|word| word as usize)
    }

    fn add(&mut self, window: &PlacedWindow) {
        self.places(window.row, window.first).for_each(|word| self.words.insert(word));
    }

    /// Reports whether a window has such a word.
    fn are_in(&self, row: u32, first: u32) -> bool {
        self.places(row, first).any(|word| self.words.contains(word))
    }

    /// Reports whether a place begins a run: whether the windows of both places before are not the
    /// same, or one of them has such a word.
    fn begin(&self, one: &PlacedWindow, other: &PlacedWindow) -> bool {
        one.before == 0
            || one.before != other.before
            || [one, other].into_iter().any(|window| self.are_in(window.row, window.first - 1))
    }

    /// Finds the windows that more than `most` places have. Returns them as sentences.
    fn find(
        &mut self,
        windows: &mut Sorted<PlacedWindow>,
        most: u32,
        executor: &dyn Executor,
    ) -> Result<Capped> {
        let (mut capped, mut own, mut places) = (Capped::default(), Vec::new(), 0);
        let mut last = None;
        while let Some(window) = windows.next(executor)? {
            if last.replace(window.hash) != Some(window.hash) {
                own.clear();
                places = 0;
            }
            places += 1;
            memory::push(&mut own, window, DOING)?;
            if places > most {
                capped.sentences += u64::from(places == most + 1);
                capped.occurrences += own.len() as u64;
                own.drain(..).for_each(|window| self.add(&window));
            }
        }
        windows.rewind(executor)?;
        Ok(capped)
    }
}

/// Lists the places that share a window, once for each run: at the first window. A window with a
/// word of a window that more than `most` places have does not count, nor does a run that cannot be
/// continued to a passage. Returns the windows of too many places as sentences.
pub fn seeds<'f>(
    mut windows: Sorted<PlacedWindow>,
    texts: &mut RowWords,
    rows: &RankedRows,
    edits: EditedWords,
    most: u32,
    resources: Resources<'f>,
) -> Result<(Sorter<'f, Seed>, Capped)> {
    let Resources { files, budget, executor } = resources;
    let starts = word_starts(texts, rows.rows.len())?;
    let mut frequent = FrequentWords::new(&starts, edits.run())?;
    let mut filter = SeedFilter::new(texts, &starts, rows, edits, budget / 2, executor)?;
    let capped = frequent.find(&mut windows, most, executor)?;
    let mut found = Sorter::new(files, budget / 4);
    let mut windows = Groups::new(windows, executor)?;
    let mut own: Vec<PlacedWindow> = Vec::new();
    let rank = |window: &PlacedWindow| rows.ranks[window.row as usize];
    let is_left_out = |_: &mut PlacedWindow, next: &PlacedWindow| frequent.are_in(next.row, next.first);
    while windows.next(&mut own, |window| window.hash, is_left_out, executor)? {
        if own.len() < 2 {
            continue;
        }
        own.retain(|window| !frequent.are_in(window.row, window.first));
        own.sort_unstable_by_key(|window| both(rank(window), window.first));
        for (n, one) in own.iter().enumerate() {
            executor::breathe(executor, n, 1 << 6)?;
            let left = rank(one);
            if rows.right_from.is_some_and(|from| left >= from) {
                break;
            }
            let least = match rows.right_from {
                Some(from) => both(from, 0),
                None if rows.within => both(left, one.first) + edits.most() as u64 + 1,
                None => both(left + 1, 0),
            };
            let others = own[n..].partition_point(|other| both(rank(other), other.first) < least);
            for other in own[n + others..].iter().filter(|other| frequent.begin(one, other)) {
                let seed = Seed { ranks: [left, rank(other)], firsts: [one.first, other.first] };
                filter.push(seed, &mut found, executor)?;
            }
        }
    }
    filter.finish(&mut found, executor)?;
    Ok((found, capped))
}
