//! The search for what a corpus says again: `repeated_runs` and `cut_repeats`.

use super::account::Unsigned;
use super::reading::{Reading, places};
use crate::error::Result;
use crate::memory;
use crate::repeats::anchored::{AnchorPlace, AnchoredReader};
use crate::repeats::classes::AnchorClasses;
use crate::repeats::contents::{ContentPlace, Pass};
use crate::repeats::cut::{CutTexts, Cutting};
use crate::repeats::frequent::{self, FrequentRun};
use crate::repeats::groups::AnchorGrouping;
use crate::repeats::located::LocatedRuns;
use crate::repeats::marks::{Mark, Marking};
use crate::repeats::rows::RunRows;
use crate::repeats::texts::OrderedTexts;
use crate::repeats::{Order, RunParameters, Unit};
use crate::storage::files::TempFiles;
use crate::storage::sort::{Groups, Sorter};

const DOING: &str = "ordering documents";

/// Finds the repeated runs and their places in the texts.
pub fn runs(parameters: &RunParameters, reading: &mut Reading<'_>) -> Result<LocatedRuns> {
    let mut found = FoundRuns::new(parameters, reading)?;
    let executor = reading.executor;
    let budget = reading.left_after(found.order.bytes() + found.texts.bytes());
    let pass = Pass { parameters, order: &found.order, executor, budget };
    let files = reading.files;
    LocatedRuns::new(found.rows, &mut found.texts, pass, files, &mut |share| {
        reading.report(|| format!("locating runs, {:.0} %", 100.0 * share));
    })
}

/// Finds the `most` repeated runs that most documents have, with up to `characters` characters.
pub fn most_repeated(
    parameters: &RunParameters,
    most: usize,
    characters: usize,
    reading: &mut Reading<'_>,
) -> Result<Vec<FrequentRun>> {
    /// The number of runs that are held at a time, of 40 bytes each.
    const HELD: usize = 1 << 15;
    let mut found = FoundRuns::new(parameters, reading)?;
    let executor = reading.executor;
    let budget = reading.left_after(found.order.bytes() + found.texts.bytes());
    let pass = Pass { parameters, order: &found.order, executor, budget };
    let mut runs = LocatedRuns::new(found.rows, &mut found.texts, pass, reading.files, &mut |share| {
        reading.report(|| format!("locating runs, {:.0} %", 100.0 * share));
    })?;
    frequent::most_repeated(&mut runs, [most, HELD], characters, &mut found.texts, pass)
}

/// Finds the repeated runs, and prepares to cut them out.
pub fn cut(parameters: &RunParameters, cutting: Cutting, reading: &mut Reading<'_>) -> Result<CutTexts> {
    let found = FoundRuns::new(parameters, reading)?;
    let executor = reading.executor;
    let budget = reading.left_after(found.texts.bytes());
    let pass = Pass { parameters, order: &found.order, executor, budget };
    CutTexts::new(found.rows, found.texts, pass, cutting)
}

/// The texts, and their repeated runs.
struct FoundRuns {
    texts: OrderedTexts,
    order: Order,
    rows: RunRows,
}

impl FoundRuns {
    fn new(parameters: &RunParameters, reading: &mut Reading<'_>) -> Result<Self> {
        let (files, executor, memory) = (reading.files, reading.executor, reading.memory);
        let mut readers: Vec<AnchoredReader> =
            (0..executor.count()).map(|_| AnchoredReader::new(parameters)).collect();
        let mut texts = OrderedTexts::new(memory / 8);
        let mut anchors = Sorter::new(files, memory / 4);
        // The rows that have a text, if they have to be counted by group.
        let mut present: Vec<u32> = Vec::new();
        reading.read(|batch| {
            let tokenizer = parameters.tokenizer;
            batch.share_out(&mut readers, |reader, row, document, stop| {
                reader.add(tokenizer, row, document, stop)
            })?;
            for reader in &mut readers {
                for place in reader.places.drain(..) {
                    anchors.push(place, batch.executor)?;
                }
                if parameters.min_share.is_some() {
                    let rows = reader.texts.rows();
                    memory::append(&mut present, rows, DOING)?;
                }
            }
            texts.store(readers.iter_mut().map(|reader| &mut reader.texts), files)?;
            Ok(readers.iter().map(AnchoredReader::bytes).sum::<usize>() + texts.bytes() + anchors.bytes())
        })?;
        reading.account.skipped_empty = readers.iter().map(|reader| reader.empty).sum();
        reading.account.tokens = readers.iter().map(|reader| reader.count).sum();
        drop(readers);
        let order = order(reading, &present, texts.count)?;
        drop(present);
        if let Some(groups) = &order.groups {
            let alone = groups.iter().filter(|&&group| group == u32::MAX).count() as u64;
            let of = reading.texts();
            reading.account.unsigned =
                Unsigned { count: alone, of, units: "documents", without: "site", found: "" };
        }
        let held = order.bytes() + texts.bytes() + anchors.bytes();
        let budget = reading.left_after(held);
        let pass = Pass { parameters, order: &order, executor, budget };
        reading.held(held + budget / 4);
        let mut marks = Sorter::new(files, budget / 8);
        let mut search = RepeatSearch { pass, files, texts: &mut texts, marks: &mut marks, reading };
        match parameters.unit {
            Unit::Window(_) => search.windows(anchors)?,
            _ => search.units()?,
        }
        Ok(Self { rows: RunRows::new(marks.sorted(executor)?), texts, order })
    }
}

/// A search for the places that are repeated.
struct RepeatSearch<'s, 'f, 'r> {
    pass: Pass<'s>,
    files: &'f dyn TempFiles,
    texts: &'s mut OrderedTexts,
    marks: &'s mut Sorter<'f, Mark>,
    reading: &'s mut Reading<'r>,
}

impl RepeatSearch<'_, '_, '_> {
    /// Marks the windows that are repeated.
    fn windows(&mut self, anchors: Sorter<'_, AnchorPlace>) -> Result<()> {
        let Self { pass, files, texts, marks, reading } = self;
        let Pass { executor, budget, .. } = *pass;
        // As much space as the texts take, or as little as would not be worth a round.
        let most = texts.size().max(reading.memory as u64 / 4) / size_of::<ContentPlace>() as u64;
        let most = most.max(1);
        let open = AnchorGrouping::new(*pass, most, marks, *files).group(anchors.sorted(executor)?)?;
        reading.account.counts.candidates += open.windows;
        reading.account.counts.verified += open.marked;
        let (few, many) = (u64::from(open.rounds), open.many_windows.div_ceil(most));
        let mut asked = Groups::new(open.classes.sorted(executor)?, executor)?;
        let mut classes = AnchorClasses::new(open.members.sorted(executor)?, *pass)?;
        for round in 0..open.rounds {
            let mut windows = Sorter::new(*files, budget / 3);
            pass.list_classes(texts, &mut asked, round, &mut windows, &mut |share| {
                report(reading, u64::from(round), few + many, share);
            })?;
            reading.held(held(*pass, texts, windows.bytes(), marks));
            classes.mark(windows.sorted(executor)?, *pass, marks)?;
        }
        reading.account.counts.verified += classes.marked;
        drop((asked, classes));
        let mut asked = Groups::new(open.many.sorted(executor)?, executor)?;
        for round in 0..many {
            let mut places = Sorter::new(*files, budget / 3);
            if round > 0 {
                asked.rewind(executor)?;
            }
            pass.list_windows(texts, &mut asked, [round, many], &mut places, &mut |share| {
                report(reading, few + round, few + many, share);
            })?;
            reading.held(held(*pass, texts, places.bytes(), marks));
            let mut marking = Marking::new(*pass, marks, *files);
            marking.mark(places.sorted(executor)?)?;
            reading.account.counts.verified += marking.marked;
        }
        Ok(())
    }

    /// Marks the units that are repeated.
    fn units(&mut self) -> Result<()> {
        let Self { pass, files, texts, marks, reading } = self;
        let mut places = Sorter::new(*files, pass.budget / 3);
        pass.list_units(texts, &mut places, &mut |share| report(reading, 0, 1, share))?;
        reading.account.counts.candidates += places.len();
        reading.held(held(*pass, texts, places.bytes(), marks));
        let mut marking = Marking::new(*pass, marks, *files);
        marking.mark(places.sorted(pass.executor)?)?;
        reading.account.counts.verified += marking.marked;
        Ok(())
    }
}

/// Tells how far the comparison of windows is.
fn report(reading: &mut Reading<'_>, round: u64, rounds: u64, share: f64) {
    let share = (round as f64 + share) / rounds as f64;
    reading.report(|| format!("comparing windows, {:.0} %", 100.0 * share));
}

/// Returns the number of bytes that are held at one time.
fn held(pass: Pass<'_>, texts: &OrderedTexts, places: usize, marks: &Sorter<'_, Mark>) -> usize {
    pass.order.bytes() + texts.bytes() + places + marks.bytes() + pass.budget / 4
}

/// Returns the order of the documents: by their weights, the greatest first, then by their ids.
fn order(reading: &mut Reading<'_>, present: &[u32], texts: u64) -> Result<Order> {
    let mut rows = reading.order()?;
    if let Some(weights) = reading.weights(&rows)? {
        let mut by_weight = memory::collect(
            (0u32..).zip(weights).map(|(place, weight)| (std::cmp::Reverse(weight), place)),
            DOING,
        )?;
        by_weight.sort_unstable();
        let weighed = memory::collect(by_weight.iter().map(|&(_, place)| rows[place as usize]), DOING)?;
        rows = weighed;
    }
    let ranks = places(&rows)?;
    let mut groups = None;
    let mut sizes = vec![u32::try_from(texts).unwrap_or(u32::MAX)];
    if let Some(sites) = reading.sites() {
        let own = memory::collect(sites.iter().copied(), DOING)?;
        let most = own.iter().filter(|&&site| site != u32::MAX).max().map_or(0, |&most| most as usize + 1);
        sizes = memory::filled(0, most, DOING)?;
        for &row in present {
            if let Some(size) = sizes.get_mut(own[row as usize] as usize) {
                *size += 1;
            }
        }
        groups = Some(own);
    }
    Ok(Order { rows, ranks, groups, sizes })
}
