//! Texts without their repeated runs.

use std::ops::Range;

use super::contents::{Pass, TextScratch, of_texts};
use super::marks::Mark;
use super::rows::RunRows;
use super::texts::{OrderedTexts, TextTask, Walk};
use super::units::{Cut, PlacedUnit, read_units};
use super::{RunParameters, Unit};
use crate::error::Result;
use crate::executor::{Executor, Stop};
use crate::features::runs::places::token_places;
use crate::memory;
use crate::storage::sort::Groups;
use crate::text::spans::Span;

const DOING: &str = "cutting texts";

/// What is cut out of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cutting {
    /// If given, only units of this kind are cut, and only those all of whose tokens are in a run.
    pub snap: Option<Cut>,
    /// A text that has fewer tokens left is dropped.
    pub min_left: u32,
}

/// A text that loses something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutText {
    /// The row of the document.
    pub row: u32,
    /// What is left, or `None` if too little is left.
    pub body: Option<String>,
    /// The number of characters that were cut.
    pub characters: u32,
    /// The number of tokens that were cut.
    pub tokens: u32,
}

/// The texts that lose something, in the order of their rows.
pub struct CutTexts {
    runs: Groups<Mark>,
    texts: OrderedTexts,
    walk: Walk,
    parameters: RunParameters,
    cutting: Cutting,
    budget: usize,
}

impl CutTexts {
    /// Prepares to cut the runs out of the texts.
    pub fn new(rows: RunRows, texts: OrderedTexts, pass: Pass<'_>, cutting: Cutting) -> Result<Self> {
        let (parameters, budget) = (*pass.parameters, pass.budget);
        let runs = rows.by_row(pass.executor)?;
        Ok(Self { runs, texts, walk: Walk::default(), parameters, cutting, budget })
    }

    /// Cuts some more texts. Returns `None` after the last.
    pub fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<CutText>>> {
        let Self { runs, texts, walk, parameters, cutting, budget } = self;
        let given = |row| {
            let mut of_row: Vec<Mark> = Vec::new();
            let join = |mark: Mark| match of_row.last_mut().is_some_and(|last| last.join(&mark)) {
                true => Ok(()),
                false => memory::push(&mut of_row, mark, DOING),
            };
            runs.for_key(row, |mark| mark.row, join, executor)?;
            Ok(Some(of_row).filter(|runs| !runs.is_empty() || cutting.min_left > 0))
        };
        let work = |task: &mut TextTask<Vec<Mark>, Option<CutText>>, space: &mut TextScratch, stop: &Stop| {
            task.made = cut(task.row, &task.text, &task.given, parameters, *cutting, space, stop)?;
            Ok(())
        };
        let tasks = walk.next(texts, executor, *budget, given, work)?;
        let made = |tasks: Vec<TextTask<_, _>>| tasks.into_iter().filter_map(|task| task.made);
        tasks.map(|tasks| memory::collect(made(tasks), DOING)).transpose()
    }

    /// Returns the share of the texts that were read.
    pub fn progress(&self) -> f64 {
        self.walk.progress(&self.texts)
    }
}

/// Returns the text without its runs, if it loses something or has too few tokens.
fn cut(
    row: u32,
    text: &str,
    runs: &[Mark],
    parameters: &RunParameters,
    cutting: Cutting,
    space: &mut TextScratch,
    stop: &Stop,
) -> Result<Option<CutText>> {
    let tokenizer = of_texts(parameters.tokenizer);
    let TextScratch { places, units, unit_tokens, .. } = space;
    let lost: Vec<Span>;
    let (mut all, mut tokens) = (0, 0);
    if let Unit::Window(least) = parameters.unit {
        token_places(text, tokenizer, stop, places)?;
        all = places.len() as u32;
        let mut cut: Vec<Range<usize>> = union(runs, least - 1, cutting.snap.is_some())?;
        if let Some(snap) = cutting.snap {
            read_units(text, snap, stop, units)?;
            (lost, cut) = whole_units(places, units, &cut)?;
        } else {
            let spans = cut.iter().map(|tokens| places[tokens.start].to(&places[tokens.end - 1]));
            lost = memory::collect(spans, DOING)?;
        }
        tokens = cut.iter().map(|tokens| tokens.len() as u32).sum();
    } else {
        read_units(text, Cut::for_unit(parameters.unit), stop, units)?;
        let cut = union(runs, 0, true)?;
        let mut cut_after = cut.iter().peekable();
        for (n, unit) in units.iter().enumerate() {
            while cut_after.next_if(|cut| cut.end <= n).is_some() {}
            let count = unit_tokens.read(unit.slice(text), tokenizer, stop)?.len() as u32;
            all += count;
            tokens += if cut_after.peek().is_some_and(|cut| cut.start <= n) { count } else { 0 };
        }
        let spans = cut.iter().map(|cut| units[cut.start].span.to(&units[cut.end - 1].span));
        lost = memory::collect(spans, DOING)?;
    }
    let is_short = all - tokens < cutting.min_left;
    if lost.is_empty() && !is_short {
        return Ok(None);
    }
    let characters = lost.iter().map(|span| span.chars.len() as u32).sum();
    let body = if is_short { None } else { Some(without(text, &lost)?) };
    Ok(Some(CutText { row, body, characters, tokens }))
}

/// Returns the tokens (or units) of all runs as ranges that do not overlap. Ranges that touch are
/// joined if `touching`; what stands between their tokens is in neither run. A run of windows has
/// `more` tokens than windows.
fn union(runs: &[Mark], more: usize, touching: bool) -> Result<Vec<Range<usize>>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    for run in runs {
        let (from, to) = (run.first as usize, run.first as usize + run.windows as usize + more);
        match all.last_mut().filter(|last| last.end > from || touching && last.end == from) {
            Some(last) => last.end = last.end.max(to),
            None => memory::push(&mut all, from..to, DOING)?,
        }
    }
    Ok(all)
}

/// Returns the units all of whose tokens are in `cut`, one after the other as one span, and the
/// ranges of the tokens that are in such units alone.
fn whole_units(
    places: &[Span],
    units: &[PlacedUnit],
    cut: &[Range<usize>],
) -> Result<(Vec<Span>, Vec<Range<usize>>)> {
    let (mut lost, mut tokens): (Vec<Span>, Vec<Range<usize>>) = (Vec::new(), Vec::new());
    let (mut first, mut n) = (0, 0);
    for unit in units.iter().map(|unit| &unit.span) {
        while places.get(first).is_some_and(|place| place.bytes.end <= unit.bytes.start) {
            first += 1;
        }
        let more = places[first..].iter().take_while(|place| place.bytes.start < unit.bytes.end);
        let own = first..first + more.count();
        while cut.get(n).is_some_and(|cut| cut.end <= own.start) {
            n += 1;
        }
        let is_cut = cut.get(n).is_some_and(|cut| cut.start <= own.start && own.end <= cut.end);
        if own.is_empty() || !is_cut {
            continue;
        }
        match lost.last_mut().filter(|last| last.bytes.end == unit.bytes.start) {
            Some(last) => *last = last.to(unit),
            None => memory::push(&mut lost, unit.clone(), DOING)?,
        }
    }
    let mut at = 0;
    for span in &lost {
        at += places[at..].partition_point(|place| place.bytes.start < span.bytes.start);
        let end = places.partition_point(|place| place.bytes.end <= span.bytes.end);
        if at < end {
            memory::push(&mut tokens, at..end, DOING)?;
        }
    }
    Ok((lost, tokens))
}

fn without(text: &str, lost: &[Span]) -> Result<String> {
    let mut body = String::new();
    memory::reserve_text(&mut body, text.len(), DOING)?;
    let mut at = 0;
    for span in lost {
        body.push_str(&text[at..span.bytes.start]);
        at = span.bytes.end;
    }
    body.push_str(&text[at..]);
    Ok(body)
}
