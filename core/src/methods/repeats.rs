//! The search for what a corpus says again: `repeated_runs` and `cut_repeats`.

use super::account::Unsigned;
use super::reading::{Reading, places};
use crate::error::Result;
use crate::external_sort::Sorter;
use crate::files::TempFiles;
use crate::memory;
use crate::resources::Resources;
use crate::runs::anchored::{Reader, repeated};
use crate::runs::contents::{Pass, Round};
use crate::runs::cut::{CutTexts, Cutting};
use crate::runs::frequent::{self, FrequentRun};
use crate::runs::located::LocatedRuns;
use crate::runs::marks::Marking;
use crate::runs::rows::Rows;
use crate::runs::texts::Texts;
use crate::runs::{Order, Parameters, Unit};

const DOING: &str = "ordering documents";

/// Finds the repeated runs and their places in the texts.
pub fn runs(parameters: &Parameters, reading: &mut Reading<'_>) -> Result<LocatedRuns> {
    let mut found = Found::new(parameters, reading)?;
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
    parameters: &Parameters,
    most: usize,
    characters: usize,
    reading: &mut Reading<'_>,
) -> Result<Vec<FrequentRun>> {
    /// The number of runs that are held at a time, of 40 bytes each.
    const HELD: usize = 1 << 15;
    let mut found = Found::new(parameters, reading)?;
    let executor = reading.executor;
    let budget = reading.left_after(found.order.bytes() + found.texts.bytes());
    let pass = Pass { parameters, order: &found.order, executor, budget };
    let mut runs = LocatedRuns::new(found.rows, &mut found.texts, pass, reading.files, &mut |share| {
        reading.report(|| format!("locating runs, {:.0} %", 100.0 * share));
    })?;
    frequent::most_repeated(&mut runs, [most, HELD], characters, &mut found.texts, pass)
}

/// Finds the repeated runs, and prepares to cut them out.
pub fn cut(parameters: &Parameters, cutting: Cutting, reading: &mut Reading<'_>) -> Result<CutTexts> {
    let found = Found::new(parameters, reading)?;
    let executor = reading.executor;
    let budget = reading.left_after(found.texts.bytes());
    let pass = Pass { parameters, order: &found.order, executor, budget };
    CutTexts::new(found.rows, found.texts, pass, cutting)
}

/// The texts, and their repeated runs.
struct Found {
    texts: Texts,
    order: Order,
    rows: Rows,
}

impl Found {
    fn new(parameters: &Parameters, reading: &mut Reading<'_>) -> Result<Self> {
        let (files, executor, memory) = (reading.files, reading.executor, reading.memory);
        let mut readers: Vec<Reader> = (0..executor.count()).map(|_| Reader::new(parameters)).collect();
        let mut texts = Texts::new(memory / 8);
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
                    anchors.push(place, batch.executor())?;
                }
                if parameters.min_share.is_some() {
                    let rows = reader.texts.rows();
                    memory::reserve(&mut present, rows.size_hint().0, DOING)?;
                    present.extend(rows);
                }
            }
            texts.store(readers.iter_mut().map(|reader| &mut reader.texts), files)?;
            Ok(readers.iter().map(Reader::bytes).sum::<usize>() + texts.bytes() + anchors.bytes())
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
        let repeated = match parameters.unit {
            Unit::Window(_) => {
                Some(repeated(anchors.sorted(executor)?, parameters, files, budget / 4, executor)?)
            }
            _ => None,
        };
        reading.held(held + budget / 4);
        let resources = Resources { files, budget, executor };
        let rows = marked(pass, repeated, &mut texts, resources.files, reading)?;
        Ok(Self { texts, order, rows })
    }
}

/// Lists the places of contents round by round, and marks those that are repeated.
fn marked(
    pass: Pass<'_>,
    repeated: Option<Sorter<'_, crate::runs::anchored::RepeatedAnchor>>,
    texts: &mut Texts,
    files: &dyn TempFiles,
    reading: &mut Reading<'_>,
) -> Result<Rows> {
    let Pass { parameters, executor, budget, .. } = pass;
    let rounds = repeated.as_ref().map_or(1, |all| Round::count(all.len(), texts.size(), parameters));
    let mut repeated = repeated.map(|all| all.sorted(executor)).transpose()?;
    let mut marks = Sorter::new(files, budget / 8);
    for number in 0..rounds {
        let mut places = Sorter::new(files, budget / 3);
        if let Some(repeated) = &mut repeated {
            repeated.rewind(executor)?;
        }
        let round = Round { number, of: rounds };
        pass.list(texts, repeated.as_mut(), round, &mut places, &mut |share| {
            let share = (number as f64 + share) / rounds as f64;
            reading.report(|| format!("comparing windows, {:.0} %", 100.0 * share));
        })?;
        reading.account.counts.candidates += places.len();
        reading.held(pass.order.bytes() + texts.bytes() + places.bytes() + marks.bytes() + budget / 4);
        let mut marking = Marking::new(pass, &mut marks, files);
        marking.mark(places.sorted(executor)?)?;
        reading.account.counts.verified += marking.marked;
    }
    Ok(Rows::new(marks.sorted(executor)?))
}

/// Returns the order of the documents: by their weights, the greatest first, then by their ids.
fn order(reading: &mut Reading<'_>, present: &[u32], texts: u64) -> Result<Order> {
    let mut rows = reading.order()?;
    if let Some(weights) = reading.weights(&rows)? {
        let mut by_weight = Vec::new();
        memory::reserve(&mut by_weight, rows.len(), DOING)?;
        by_weight.extend((0u32..).zip(weights).map(|(place, weight)| (std::cmp::Reverse(weight), place)));
        by_weight.sort_unstable();
        let mut weighed = Vec::new();
        memory::reserve(&mut weighed, rows.len(), DOING)?;
        weighed.extend(by_weight.iter().map(|&(_, place)| rows[place as usize]));
        rows = weighed;
    }
    let ranks = places(&rows)?;
    let mut groups = None;
    let mut sizes = vec![u32::try_from(texts).unwrap_or(u32::MAX)];
    if let Some(sites) = reading.sites() {
        let mut own = Vec::new();
        memory::extend(&mut own, sites, DOING)?;
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
