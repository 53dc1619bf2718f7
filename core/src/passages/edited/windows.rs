//! The windows of as many words as a run that is found has, and the places that share one.

use bytemuck::{Pod, Zeroable};

use super::Edits;
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::hash_sets::SetCollector;
use crate::features::runs::places::token_places;
use crate::features::runs::tokens::{Rolling, read_tokens};
use crate::features::tokens::{Document, Scratch, Tokenizer};
use crate::memory;
use crate::passages::Capped;
use crate::storage::files::Resources;
use crate::storage::sort::{Sorted, Sorter, both, both_long, order_by_key};
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

/// Two places of a window, in two documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C)]
pub struct Seed {
    /// The positions of the documents in the order of their ids; those of a right table come after
    /// those of the left one.
    pub ranks: [u32; 2],
    /// The numbers of the first words.
    pub firsts: [u32; 2],
}

order_by_key!(Seed, |seed| {
    both_long(both(seed.ranks[0], seed.ranks[1]), both(seed.firsts[0], seed.firsts[1]))
});

/// Reads documents on one thread.
pub struct WindowReader {
    rule: Rolling,
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
    pub fn new(edits: Edits) -> Self {
        Self {
            rule: Rolling::new(edits.run()),
            run: edits.run(),
            scratch: Scratch::default(),
            page: String::new(),
            words: Vec::new(),
            places: Vec::new(),
            space: Vec::new(),
            windows: Vec::new(),
            texts: SetCollector::default(),
            count: 0,
            empty: 0,
        }
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
        let Self { rule, run, scratch, words, places, space, windows, .. } = self;
        read_tokens(text.as_str(), Tokenizer::Words, scratch, words, stop)?;
        token_places(text, Tokenizer::Words, stop, places)?;
        memory::refill(space, words.iter().copied(), DOING)?;
        // A text of the server has fewer than 2^31 characters.
        let chars = places.iter().map(|place| both(place.chars.start as u32, place.chars.end as u32));
        memory::append(space, chars, DOING)?;
        rule.restart();
        memory::reserve(windows, words.len(), DOING)?;
        self.texts.add(row, space)?;
        let mut before = 0;
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

/// The documents of one or two tables in the order of their ids.
#[derive(Debug)]
pub struct RankedRows {
    /// The rows, first those of the left table.
    pub rows: Vec<u32>,
    /// The position of each row in `rows`.
    pub ranks: Vec<u32>,
    /// The number of rows of the left table, if there are two tables.
    pub right_from: Option<u32>,
}

/// Lists the places that share a window, once for each run: at its first window, or after windows
/// that more than `most` places have. Returns these windows as sentences.
pub fn seeds<'f>(
    mut windows: Sorted<PlacedWindow>,
    rows: &RankedRows,
    most: u32,
    resources: Resources<'f>,
) -> Result<(Sorter<'f, Seed>, Capped)> {
    let Resources { files, budget, executor } = resources;
    let (frequent, capped) = frequent(&mut windows, most, executor)?;
    windows.rewind(executor)?;
    let mut found = Sorter::new(files, budget / 4);
    let mut own: Vec<PlacedWindow> = Vec::new();
    let mut next_frequent = frequent.iter().peekable();
    loop {
        let next = windows.next(executor)?;
        if own.last().is_some_and(|last| next.is_none_or(|next| next.hash != last.hash)) {
            own.sort_unstable_by_key(|window| both(rows.ranks[window.row as usize], window.first));
            for (n, one) in own.iter().enumerate() {
                executor::breathe(executor, n, 1 << 6)?;
                let rank = rows.ranks[one.row as usize];
                if rows.right_from.is_some_and(|from| rank >= from) {
                    break;
                }
                let after = rows.right_from.unwrap_or(rank + 1);
                let others = own[n..].partition_point(|other| rows.ranks[other.row as usize] < after);
                for other in &own[n + others..] {
                    // The run goes on from a window before.
                    if one.before != 0
                        && one.before == other.before
                        && frequent.binary_search(&one.before).is_err()
                    {
                        continue;
                    }
                    let ranks = [rank, rows.ranks[other.row as usize]];
                    found.push(Seed { ranks, firsts: [one.first, other.first] }, executor)?;
                }
            }
            own.clear();
        }
        let Some(window) = next else { break };
        while next_frequent.next_if(|&&hash| hash < window.hash).is_some() {}
        if next_frequent.peek() != Some(&&window.hash) {
            memory::push(&mut own, window, DOING)?;
        }
    }
    Ok((found, capped))
}

/// Returns the hashes of the windows that more than `most` places have, ascending.
fn frequent(
    windows: &mut Sorted<PlacedWindow>,
    most: u32,
    executor: &dyn Executor,
) -> Result<(Vec<u64>, Capped)> {
    let (mut frequent, mut capped) = (Vec::new(), Capped::default());
    let (mut last, mut places) = (None, 0u64);
    loop {
        let next = windows.next(executor)?.map(|window| window.hash);
        if let Some(hash) = last.filter(|_| next != last && places > most.into()) {
            memory::push(&mut frequent, hash, DOING)?;
            capped.sentences += 1;
            capped.occurrences += places;
        }
        places = if next == last { places + 1 } else { 1 };
        last = next;
        if next.is_none() {
            return Ok((frequent, capped));
        }
    }
}
