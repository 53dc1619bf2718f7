//! The second pass: the contents of the windows around repeated anchors, or of all units.

use bytemuck::{Pod, Zeroable};

use super::anchored::RepeatedAnchor;
use super::texts::{Task, Texts, Walk};
use super::units::{Cut, read_units};
use super::{Order, Parameters, Unit};
use crate::error::Result;
use crate::executor::{Executor, Stop};
use crate::external_sort::{Sorted, Sorter};
use crate::features::runs::anchors::{Anchor, Anchors};
use crate::features::runs::contents::{Contents, content};
use crate::features::runs::tokens::read_tokens;
use crate::features::tokens::{Document, Scratch, Tokenizer};
use crate::hash;
use crate::memory;
use crate::text::spans::Span;

const DOING: &str = "listing windows of tokens";

/// A place of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Zeroable, Pod)]
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

/// Scratch memory of a thread.
#[derive(Default)]
struct Space {
    scratch: Scratch,
    tokens: Vec<u64>,
    anchors: Option<Anchors>,
    chosen: Vec<Anchor>,
    contents: Option<Contents>,
    units: Vec<Span>,
    unit_tokens: UnitTokens,
}

/// The part of the windows that is listed at one time, so that files remain small: those whose
/// anchors leave a given remainder.
#[derive(Debug, Clone, Copy)]
pub struct Round {
    /// The remainder.
    pub number: u64,
    /// The number of rounds.
    pub of: u64,
}

impl Round {
    /// Returns the number of rounds for which the places of contents take about as much space as
    /// the texts.
    pub fn count(repeated: u64, texts: u64, parameters: &Parameters) -> u64 {
        /// The size below which one round is enough.
        const SMALL: u64 = 1 << 24;
        let Unit::Window(least) = parameters.unit else { return 1 };
        let windows = repeated * ((least - Anchors::gram(least) + 3) as u64 / 2);
        (windows * size_of::<ContentPlace>() as u64).div_ceil(texts.max(SMALL)).max(1)
    }
}

/// Returns the tokenizer for texts that were made of documents.
pub(super) fn of_texts(tokenizer: Tokenizer) -> Tokenizer {
    if tokenizer == Tokenizer::Html { Tokenizer::Words } else { tokenizer }
}

/// What a pass over the texts uses.
#[derive(Clone, Copy)]
pub struct Pass<'a> {
    /// The parameters.
    pub parameters: &'a Parameters,
    /// The order and the groups of the documents.
    pub order: &'a Order,
    /// The threads.
    pub executor: &'a dyn Executor,
    /// The number of bytes to work with.
    pub budget: usize,
}

impl Pass<'_> {
    /// Lists the places of contents of a round. `repeated` has the repeated anchors by row, if
    /// windows are compared.
    pub fn list(
        &self,
        texts: &mut Texts,
        mut repeated: Option<&mut Sorted<RepeatedAnchor>>,
        round: Round,
        places: &mut Sorter<'_, ContentPlace>,
        progress: &mut dyn FnMut(f64),
    ) -> Result<()> {
        let Self { executor, budget, .. } = *self;
        let mut walk = Walk::default();
        let mut head = repeated.as_mut().map(|anchors| anchors.next(executor)).transpose()?.flatten();
        loop {
            let given = |row| {
                let mut places: Vec<u32> = Vec::new();
                let Some(anchors) = &mut repeated else { return Ok(Some(places)) };
                while let Some(anchor) = head.filter(|anchor| anchor.row <= row) {
                    if anchor.row == row {
                        memory::push(&mut places, anchor.place, DOING)?;
                    }
                    head = anchors.next(executor)?;
                }
                Ok(Some(places).filter(|places| !places.is_empty()))
            };
            let lister = Lister { parameters: self.parameters, order: self.order, round };
            let work = |task: &mut Listing, space: &mut Space, stop: &Stop| lister.list(task, space, stop);
            let Some(tasks) = walk.next(texts, executor, budget, given, work)? else { return Ok(()) };
            for place in tasks.iter().flat_map(|task| &task.made) {
                places.push(*place, executor)?;
            }
            progress(walk.progress(texts));
        }
    }
}

/// Lists the places of contents of a text.
#[derive(Clone, Copy)]
struct Lister<'a> {
    parameters: &'a Parameters,
    order: &'a Order,
    round: Round,
}

impl Lister<'_> {
    fn list(&self, task: &mut Listing, space: &mut Space, stop: &Stop) -> Result<()> {
        task.made.clear();
        match self.parameters.unit {
            Unit::Window(least) => self.windows(task, least, space, stop),
            unit => self.units(task, Cut::of(unit), space, stop),
        }
    }

    /// Lists the windows that chose one of the given anchors.
    fn windows(&self, task: &mut Listing, least: usize, space: &mut Space, stop: &Stop) -> Result<()> {
        let (rank, group) = (self.order.ranks[task.row as usize], self.order.group(task.row));
        let document = Document::Text(std::mem::take(&mut task.text));
        let tokenizer = of_texts(self.parameters.tokenizer);
        let read = read_tokens(&document, tokenizer, &mut space.scratch, &mut space.tokens, stop);
        if let Document::Text(text) = document {
            task.text = text;
        }
        read?;
        let anchors = space.anchors.get_or_insert_with(|| Anchors::new(least));
        anchors.select(&space.tokens, stop, &mut space.chosen)?;
        let contents = space.contents.get_or_insert_with(|| Contents::new(least));
        contents.set(&space.tokens, stop)?;
        let mut repeated = task.given.iter().copied().peekable();
        for anchor in &space.chosen {
            while repeated.next_if(|&place| place < anchor.place).is_some() {}
            let key = hash::mix(anchor.hash ^ hash::mix(group));
            if repeated.peek() != Some(&anchor.place) || key % self.round.of != self.round.number {
                continue;
            }
            memory::reserve(&mut task.made, anchor.windows as usize, DOING)?;
            task.made.extend((anchor.first..anchor.first + anchor.windows).map(|first| {
                let content = contents.of(first as usize);
                let content = (content >> 64) as u64 ^ hash::mix(content as u64);
                ContentPlace { content: [key, content], rank, first }
            }));
        }
        Ok(())
    }

    /// Lists all units that have enough tokens.
    fn units(&self, task: &mut Listing, cut: Cut, space: &mut Space, stop: &Stop) -> Result<()> {
        let (rank, group) = (self.order.ranks[task.row as usize], self.order.group(task.row));
        let Space { units, unit_tokens, .. } = space;
        read_units(&task.text, cut, stop, units)?;
        // Units are fewer than characters.
        for (first, unit) in (0..).zip(&*units) {
            let tokens = unit_tokens.read(unit.of(&task.text), self.parameters.tokenizer, stop)?;
            if tokens.len() < self.parameters.min_tokens {
                continue;
            }
            let content = content(tokens);
            let key = hash::mix((content >> 64) as u64 ^ hash::mix(group));
            let place = ContentPlace { content: [key, content as u64], rank, first };
            memory::push(&mut task.made, place, DOING)?;
        }
        Ok(())
    }
}

/// A text whose places of contents are listed, with its repeated anchors.
type Listing = Task<Vec<u32>, Vec<ContentPlace>>;

/// Reads the tokens of units.
#[derive(Debug, Default)]
pub struct UnitTokens {
    unit: Document,
    scratch: Scratch,
    tokens: Vec<u64>,
}

impl UnitTokens {
    /// Returns the tokens of a unit of a text that was made of a document.
    pub fn read(&mut self, unit: &str, tokenizer: Tokenizer, stop: &Stop) -> Result<&[u64]> {
        if let Document::Text(text) = &mut self.unit {
            text.clear();
            memory::reserve_text(text, unit.len(), DOING)?;
            text.push_str(unit);
        }
        read_tokens(&self.unit, of_texts(tokenizer), &mut self.scratch, &mut self.tokens, stop)?;
        Ok(&self.tokens)
    }
}
