//! The places of repeated runs in the characters of both texts.
//!
//! The source of a run is in another text. So both places are asked for by row, answered while the
//! texts are read in the order of their rows, and brought together by the number of the run.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::contents::{Pass, TextListing, TextScratch, asked_of, of_texts};
use super::rows::RunRows;
use super::texts::OrderedTexts;
use super::units::{Cut, read_units};
use super::{RunParameters, Unit};
use crate::error::Result;
use crate::executor::{Executor, Stop};
use crate::features::runs::places::token_places;
use crate::memory;
use crate::storage::files::TempFiles;
use crate::storage::sort::{Groups, Sorted, Sorter, both, both_long, order_by_key};

const DOING: &str = "locating repeated runs";

/// A repeated run of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepeatedRun {
    /// The row of the document.
    pub row: u32,
    /// The run's characters.
    pub span: Range<usize>,
    /// The number of tokens.
    pub tokens: u32,
    /// The row of the source.
    pub of_row: u32,
    /// The characters of the source.
    pub of_span: Range<usize>,
    /// The number of documents that have every window (or unit) of the run.
    pub documents: u32,
}

/// A place that is asked for: some windows or units of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C)]
struct AskedPlace {
    row: u32,
    /// 0 for the run, 1 for its source.
    side: u32,
    /// The number of the run.
    number: u64,
    first: u32,
    windows: u32,
    documents: u32,
    unused: u32,
}

order_by_key!(AskedPlace, |asked| both_long(both(asked.row, asked.side), asked.number));

/// A place in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C)]
struct LocatedPlace {
    number: u64,
    side: u32,
    row: u32,
    from: u32,
    to: u32,
    tokens: u32,
    documents: u32,
}

order_by_key!(LocatedPlace, |answer| both_long(answer.number, answer.side.into()));

/// Repeated runs in the order of their rows and places.
pub struct LocatedRuns {
    answers: Sorted<LocatedPlace>,
}

impl LocatedRuns {
    /// Locates all runs. O(runs · log runs), in addition to the texts that have one.
    pub fn new(
        mut rows: RunRows,
        texts: &mut OrderedTexts,
        pass: Pass<'_>,
        files: &dyn TempFiles,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Self> {
        let Pass { parameters, executor, budget, .. } = pass;
        let mut asked = Sorter::new(files, budget / 4);
        let mut count = 0;
        while let Some(run) = rows.next(executor)? {
            for (side, row, first) in [(0, run.row, run.first), (1, run.of_row, run.of_first)] {
                let (windows, documents) = (run.windows, run.documents);
                let place = AskedPlace { row, side, number: count, first, windows, documents, unused: 0 };
                asked.push(place, executor)?;
            }
            count += 1;
        }
        drop(rows);
        let mut asked = Groups::new(asked.sorted(executor)?, executor)?;
        let mut answers = Sorter::new(files, budget / 4);
        let given = |row| asked_of(&mut asked, row, |place| place.row, |_| true, executor);
        let work = |task: &mut TextListing<Vec<AskedPlace>, LocatedPlace>,
                    space: &mut TextScratch,
                    stop: &Stop| { locate(task, parameters, space, stop) };
        pass.list(texts, given, work, &mut answers, progress)?;
        Ok(Self { answers: answers.sorted(executor)? })
    }

    /// Returns the next run, or `None` after the last.
    pub fn next(&mut self, executor: &dyn Executor) -> Result<Option<RepeatedRun>> {
        let Some(run) = self.answers.next(executor)? else { return Ok(None) };
        let Some(source) = self.answers.next(executor)? else { return Ok(None) };
        let span = |answer: &LocatedPlace| answer.from as usize..answer.to as usize;
        Ok(Some(RepeatedRun {
            row: run.row,
            span: span(&run),
            tokens: run.tokens,
            of_row: source.row,
            of_span: span(&source),
            documents: run.documents,
        }))
    }
}

/// Answers what is asked about one text.
fn locate(
    task: &mut TextListing<Vec<AskedPlace>, LocatedPlace>,
    parameters: &RunParameters,
    space: &mut TextScratch,
    stop: &Stop,
) -> Result<()> {
    let TextScratch { places, units, unit_tokens, .. } = space;
    let tokenizer = of_texts(parameters.tokenizer);
    task.made.clear();
    memory::reserve(&mut task.made, task.given.len(), DOING)?;
    // The number of tokens of a window beyond its first one.
    let mut more = 0;
    if let Unit::Window(least) = parameters.unit {
        token_places(&task.text, tokenizer, stop, places)?;
        more = least - 1;
    } else {
        read_units(&task.text, Cut::for_unit(parameters.unit), stop, units)?;
        memory::refill(places, units.iter().map(|unit| unit.span.clone()), DOING)?;
    }
    for asked in &task.given {
        let (first, end) = (asked.first as usize, asked.first as usize + asked.windows as usize + more);
        let mut tokens = (end - first) as u32;
        if !matches!(parameters.unit, Unit::Window(_)) {
            tokens = 0;
            for unit in &units[first..end] {
                tokens += unit_tokens.read(unit.slice(&task.text), tokenizer, stop)?.len() as u32;
            }
        }
        // A text of the server has fewer than 2^31 characters.
        let [from, to] = [places[first].chars.start, places[end - 1].chars.end].map(|at| at as u32);
        let AskedPlace { row, side, number, documents, .. } = *asked;
        task.made.push(LocatedPlace { number, side, row, from, to, tokens, documents });
    }
    Ok(())
}
