//! The repeated runs that most documents have, for people to look at.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::contents::Pass;
use super::located::{LocatedRuns, RepeatedRun};
use super::texts::{OrderedTexts, TextTask, Walk};
use crate::error::Result;
use crate::executor::{self, Stop};
use crate::memory;

const DOING: &str = "choosing the most repeated runs";

/// A run that many documents have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrequentRun {
    /// The row of a document that has it.
    pub row: u32,
    /// The beginning of the run, as it is in this document.
    pub beginning: String,
    /// Whether the run is longer.
    pub is_cut: bool,
    /// The number of tokens.
    pub tokens: u32,
    /// The number of documents that have it.
    pub documents: u32,
}

/// The place of a run in its source. The run that most documents have is the first one, then the
/// longest one.
type Ranked = (Reverse<u32>, Reverse<u32>, u32, [usize; 2]);

fn ranked(run: &RepeatedRun) -> Ranked {
    let span = [run.of_span.start, run.of_span.end];
    (Reverse(run.documents), Reverse(run.tokens), run.of_row, span)
}

/// Returns the `most` runs that most documents have. Of runs of one source that overlap, only the
/// first one counts. Only `held` runs of different places are held at a time, so where very many
/// runs overlap, there may be fewer. `characters` of each run are read.
pub fn most_repeated(
    runs: &mut LocatedRuns,
    [most, held]: [usize; 2],
    characters: usize,
    texts: &mut OrderedTexts,
    pass: Pass<'_>,
) -> Result<Vec<FrequentRun>> {
    let Pass { executor, budget, .. } = pass;
    let mut all: Vec<Ranked> = Vec::new();
    while let Some(run) = runs.next(executor)? {
        memory::push(&mut all, ranked(&run), DOING)?;
        if all.len() >= 2 * held {
            all.sort_unstable();
            all.dedup();
            all.truncate(held);
        }
    }
    all.sort_unstable();
    all.dedup();
    let mut chosen: Vec<Ranked> = Vec::new();
    for (n, run) in all.into_iter().enumerate() {
        executor::breathe(executor, n, 1 << 10)?;
        let overlaps = |other: &Ranked| other.2 == run.2 && other.3[0] < run.3[1] && run.3[0] < other.3[1];
        if chosen.len() < most && !chosen.iter().any(overlaps) {
            memory::push(&mut chosen, run, DOING)?;
        }
    }
    let mut asked: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (n, run) in chosen.iter().enumerate() {
        asked.entry(run.2).or_default().push(n);
    }
    let mut found: Vec<Option<FrequentRun>> = vec![None; chosen.len()];
    let mut walk = Walk::default();
    let work = |task: &mut TextTask<Vec<usize>, Vec<(usize, FrequentRun)>>, _: &mut (), stop: &Stop| {
        stop.check()?;
        let of = |&n: &usize| (n, read(&task.text, &chosen[n], characters));
        task.made = task.given.iter().map(of).collect();
        Ok(())
    };
    while let Some(tasks) = walk.next(texts, executor, budget, |row| Ok(asked.remove(&row)), work)? {
        for (n, run) in tasks.into_iter().flat_map(|task| task.made) {
            found[n] = Some(run);
        }
    }
    Ok(found.into_iter().flatten().collect())
}

/// Reads the beginning of a run.
fn read(
    text: &str,
    &(Reverse(documents), Reverse(tokens), row, [from, to]): &Ranked,
    most: usize,
) -> FrequentRun {
    let beginning = text.chars().skip(from).take((to - from).min(most)).collect();
    FrequentRun { row, beginning, is_cut: to - from > most, tokens, documents }
}
