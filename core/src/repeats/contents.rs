//! The second pass: the contents of windows that are asked for, or of all units.

use bytemuck::{Pod, Zeroable};

use super::texts::{OrderedTexts, TextTask, Walk};
use super::units::{Cut, PlacedUnit, read_units};
use super::{Order, RunParameters, Unit};
use crate::error::Result;
use crate::executor::{Executor, Stop};
use crate::features::runs::contents::{Contents, content};
use crate::features::runs::tokens::read_tokens;
use crate::features::tokens::{Scratch, Tokenizer};
use crate::hash;
use crate::memory;
use crate::storage::sort::{Groups, Sorter, both, both_long, order_by_key};
use crate::text::spans::Span;

const DOING: &str = "listing windows of tokens";

/// A place of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C)]
pub struct ContentPlace {
    /// The content, as a hash of 128 bits. The first half is that of the anchor of a window, so
    /// windows beside each other, which have one anchor, come together.
    pub content: [u64; 2],
    /// The rank of the document.
    pub rank: u32,
    /// The number of the first token of a window, or of a unit.
    pub first: u32,
}

order_by_key!(ContentPlace, |place| {
    (both_long(place.content[0], place.content[1]), both(place.rank, place.first))
});

/// Windows one after the other that are to be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C)]
pub struct AskedWindows {
    /// The round in which they are listed.
    pub round: u32,
    /// The row of the document.
    pub row: u32,
    /// The number of the first token of the first window.
    pub first: u32,
    /// The number of windows.
    pub windows: u32,
    /// The number of the class, or a hash of the anchor.
    pub number: u64,
}

order_by_key!(AskedWindows, |asked| {
    (both_long(both(asked.round, asked.row), both(asked.first, asked.windows)), asked.number)
});

/// A few windows of a class, one after the other. Records of several windows are fewer to sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C)]
pub struct ClassWindows {
    /// The class, the number of the first window, and the number of windows.
    key: u64,
    contents: [[u64; 2]; ClassWindows::MOST as usize],
}

order_by_key!(ClassWindows, |windows| windows.key);

impl ClassWindows {
    /// The number of windows.
    pub const MOST: u32 = 4;
    const COUNT_BITS: u32 = 3;
    /// A row of windows has fewer than 2^20, as a window has at most a million tokens.
    const BITS: u32 = 20;

    /// Takes windows of a class, of which the first one has the number `first`.
    fn new(class: u64, first: u32, contents: impl Iterator<Item = u128>) -> Self {
        let key = (class << Self::BITS | u64::from(first)) << Self::COUNT_BITS;
        let mut windows = Self { key, ..Self::zeroed() };
        for (place, content) in windows.contents.iter_mut().zip(contents) {
            *place = [(content >> 64) as u64, content as u64];
            windows.key += 1;
        }
        windows
    }

    /// Returns the number of the class.
    pub fn class(&self) -> u64 {
        self.key >> (Self::BITS + Self::COUNT_BITS)
    }

    /// Returns the contents of the windows, as hashes of 128 bits.
    pub fn contents(&self) -> &[[u64; 2]] {
        &self.contents[..self.key as usize % (1 << Self::COUNT_BITS)]
    }
}

/// Scratch memory of a thread that reads texts.
#[derive(Default)]
pub(super) struct TextScratch {
    scratch: Scratch,
    tokens: Vec<u64>,
    contents: Option<Contents>,
    pub(super) places: Vec<Span>,
    pub(super) units: Vec<PlacedUnit>,
    pub(super) unit_tokens: UnitTokens,
}

/// Returns what is asked about a text, if it has a key and passes `filter`. Texts come in order.
pub(super) fn asked_of<T: Pod + Ord, K: PartialOrd>(
    asked: &mut Groups<T>,
    wanted: K,
    key: impl Fn(&T) -> K,
    filter: impl Fn(&T) -> bool,
    executor: &dyn Executor,
) -> Result<Option<Vec<T>>> {
    let mut of_text: Vec<T> = Vec::new();
    let take = |asked| if filter(&asked) { memory::push(&mut of_text, asked, DOING) } else { Ok(()) };
    asked.for_key(wanted, key, take, executor)?;
    Ok(Some(of_text).filter(|asked| !asked.is_empty()))
}

/// Returns the tokenizer for texts that were made of documents.
pub(crate) fn of_texts(tokenizer: Tokenizer) -> Tokenizer {
    if tokenizer == Tokenizer::Html { Tokenizer::Words } else { tokenizer }
}

/// What a pass over the texts uses.
#[derive(Clone, Copy)]
pub struct Pass<'a> {
    /// The parameters.
    pub parameters: &'a RunParameters,
    /// The order and the groups of the documents.
    pub order: &'a Order,
    /// The threads.
    pub executor: &'a dyn Executor,
    /// The number of bytes to work with.
    pub budget: usize,
}

/// What is asked about a text, and its answers.
pub(super) type TextListing<G, T> = TextTask<G, Vec<T>>;

impl Pass<'_> {
    /// Lists the windows of classes of a round.
    pub fn list_classes(
        &self,
        texts: &mut OrderedTexts,
        asked: &mut Groups<AskedWindows>,
        round: u32,
        windows: &mut Sorter<'_, ClassWindows>,
        progress: &mut dyn FnMut(f64),
    ) -> Result<()> {
        let Self { parameters, executor, .. } = *self;
        let key = |asked: &AskedWindows| (asked.round, asked.row);
        let given = |row| asked_of(asked, (round, row), key, |_| true, executor);
        let work = |task: &mut TextListing<Vec<AskedWindows>, ClassWindows>,
                    space: &mut TextScratch,
                    stop: &Stop| {
            windows_of(parameters, task, space, stop, |asked, contents, made| {
                let chunks = (0..asked.windows).step_by(ClassWindows::MOST as usize);
                let made_of = chunks.map(|first| {
                    let windows = first..asked.windows.min(first + ClassWindows::MOST);
                    let contents = windows.map(|number| contents.content((asked.first + number) as usize));
                    ClassWindows::new(asked.number, first, contents)
                });
                memory::append(made, made_of, DOING)
            })
        };
        self.list(texts, given, work, windows, progress)
    }

    /// Lists the windows of anchors that very many places have: the part `round` of `rounds`, so
    /// that files remain small.
    pub fn list_windows(
        &self,
        texts: &mut OrderedTexts,
        asked: &mut Groups<AskedWindows>,
        [round, rounds]: [u64; 2],
        places: &mut Sorter<'_, ContentPlace>,
        progress: &mut dyn FnMut(f64),
    ) -> Result<()> {
        let Self { parameters, order, executor, .. } = *self;
        let in_round = |asked: &AskedWindows| asked.number % rounds == round;
        let given = |row| asked_of(asked, row, |asked| asked.row, in_round, executor);
        let work = |task: &mut TextListing<Vec<AskedWindows>, ContentPlace>,
                    space: &mut TextScratch,
                    stop: &Stop| {
            let rank = order.ranks[task.row as usize];
            windows_of(parameters, task, space, stop, |asked, contents, made| {
                let places = (asked.first..asked.first + asked.windows).map(|first| {
                    let content = contents.content(first as usize);
                    let content = (content >> 64) as u64 ^ hash::mix(content as u64);
                    ContentPlace { content: [asked.number, content], rank, first }
                });
                memory::append(made, places, DOING)
            })
        };
        self.list(texts, given, work, places, progress)
    }

    /// Lists all units of all texts.
    pub fn list_units(
        &self,
        texts: &mut OrderedTexts,
        places: &mut Sorter<'_, ContentPlace>,
        progress: &mut dyn FnMut(f64),
    ) -> Result<()> {
        let Self { parameters, order, .. } = *self;
        let cut = Cut::for_unit(parameters.unit);
        let work = |task: &mut TextListing<(), ContentPlace>, space: &mut TextScratch, stop: &Stop| {
            units_of(parameters, order, task, cut, space, stop)
        };
        self.list(texts, |_| Ok(Some(())), work, places, progress)
    }

    pub(super) fn list<G: Send, T: Pod + Ord + Send>(
        &self,
        texts: &mut OrderedTexts,
        mut given: impl FnMut(u32) -> Result<Option<G>>,
        work: impl Fn(&mut TextListing<G, T>, &mut TextScratch, &Stop) -> Result<()> + Sync,
        places: &mut Sorter<'_, T>,
        progress: &mut dyn FnMut(f64),
    ) -> Result<()> {
        let Self { executor, budget, .. } = *self;
        let mut walk = Walk::default();
        while let Some(tasks) = walk.next(texts, executor, budget, &mut given, &work)? {
            let mut made = tasks.iter().flat_map(|task| &task.made);
            made.try_for_each(|&place| places.push(place, executor))?;
            progress(walk.progress(texts));
        }
        Ok(())
    }
}

/// Lists the windows of a text that are asked for.
fn windows_of<T>(
    parameters: &RunParameters,
    task: &mut TextListing<Vec<AskedWindows>, T>,
    space: &mut TextScratch,
    stop: &Stop,
    list: impl Fn(&AskedWindows, &Contents, &mut Vec<T>) -> Result<()>,
) -> Result<()> {
    task.made.clear();
    let Unit::Window(least) = parameters.unit else { return Ok(()) };
    let tokenizer = of_texts(parameters.tokenizer);
    read_tokens(task.text.as_str(), tokenizer, &mut space.scratch, &mut space.tokens, stop)?;
    let contents = space.contents.get_or_insert_with(|| Contents::new(least));
    contents.set(&space.tokens, stop)?;
    task.given.iter().try_for_each(|asked| list(asked, contents, &mut task.made))
}

/// Lists all units of a text that have enough tokens.
fn units_of(
    parameters: &RunParameters,
    order: &Order,
    task: &mut TextListing<(), ContentPlace>,
    cut: Cut,
    space: &mut TextScratch,
    stop: &Stop,
) -> Result<()> {
    task.made.clear();
    let (rank, group) = (order.ranks[task.row as usize], order.group(task.row));
    let TextScratch { units, unit_tokens, .. } = space;
    read_units(&task.text, cut, stop, units)?;
    // Units are fewer than characters.
    for (first, unit) in (0..).zip(&*units) {
        let tokens = unit_tokens.read(unit.slice(&task.text), parameters.tokenizer, stop)?;
        if tokens.len() < parameters.min_tokens {
            continue;
        }
        let content = content(tokens);
        let key = hash::mix((content >> 64) as u64 ^ hash::mix(group));
        let place = ContentPlace { content: [key, content as u64], rank, first };
        memory::push(&mut task.made, place, DOING)?;
    }
    Ok(())
}

/// Reads the tokens of units.
#[derive(Debug, Default)]
pub struct UnitTokens {
    scratch: Scratch,
    tokens: Vec<u64>,
}

impl UnitTokens {
    /// Returns the tokens of a unit of a text that was made of a document.
    pub fn read(&mut self, unit: &str, tokenizer: Tokenizer, stop: &Stop) -> Result<&[u64]> {
        read_tokens(unit, of_texts(tokenizer), &mut self.scratch, &mut self.tokens, stop)?;
        Ok(&self.tokens)
    }
}
