//! Writes the entries of records to the partitions of their tokens.

use std::ops::Range;

use super::super::bitmap::{TokenFlips, of_record};
use super::super::posting::Posting;
use super::cut::{Histogram, PartitionCut};
use super::entries::push;
use super::side::{InputSide, Shape};
use super::streams::Streams;
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::dictionary::weights::TokenWeights;
use crate::features::sets::records::Records;
use crate::memory;

/// Counts the entries of a sample of the records, by token. Returns how many times more records
/// there are than were looked at.
pub(super) fn sample(
    sides: &mut [InputSide],
    histogram: &mut Histogram,
    budget: usize,
    executor: &dyn Executor,
) -> Result<f64> {
    /// Of more tokens than this, only some are looked at, in a number of stretches of records.
    const ALL: u64 = 1 << 20;
    const STRETCHES: usize = 64;
    let tokens: u64 = sides.iter().map(|side| side.shape.tokens()).sum();
    let (mut records, mut seen) = (0, 0);
    for side in sides {
        let all = side.shape.runs.records();
        records += all;
        let share = (ALL as f64 / tokens.max(1) as f64).min(1.0);
        let stretches = if share < 1.0 { STRETCHES.min(all) } else { 1 };
        // A stretch has at least one record.
        let length = ((all as f64 * share) as usize / stretches.max(1)).max(1);
        for stretch in 0..stretches {
            executor.check_interrupts()?;
            let from = all * stretch / stretches;
            let to = if share < 1.0 { (from + length).min(all) } else { all };
            let to = side.store.fitting(from..to, budget / 8);
            let loaded = side.store.load(from..to, Vec::new())?;
            for n in 0..loaded.len() {
                let prefixes = side.shape.prefixes((from + n) as u32, &loaded, n);
                histogram.add(loaded.tokens(n).len(), prefixes.tokens);
            }
            seen += loaded.len();
        }
    }
    Ok(records as f64 / seen.max(1) as f64)
}

/// The streams of a partition: the entries that are indexed, and those that only probe.
pub(super) fn streams_of(partition: usize) -> [usize; 2] {
    [2 * partition, 2 * partition + 1]
}

/// Some records whose entries are being made.
struct ScatterTask<'a> {
    records: &'a Records,
    /// The records that are still to be done, as numbers within `records`.
    todo: Range<usize>,
    /// The number of the first of `records`.
    first: usize,
    /// The entries by stream.
    out: Vec<Vec<u64>>,
}

/// Writes the entries of some records of a side, which take about `share` bytes, from the record
/// `from` on. Returns the record after the last one. `space` is memory that is used again.
pub(super) fn scatter<const W: usize>(
    side: &mut InputSide,
    from: usize,
    share: usize,
    cut: &PartitionCut,
    streams: &mut Streams,
    space: &mut ScatterScratch,
    executor: &dyn Executor,
) -> Result<usize> {
    let to = side.store.fitting(from..side.shape.runs.records(), share);
    let records = side.store.load(from..to, std::mem::take(&mut space.tokens))?;
    let (count, shape) = (records.len(), &side.shape);
    // More tasks than threads, because other work takes some of the threads' time.
    let tasks = (2 * executor.count()).min(count);
    let mut tasks: Vec<ScatterTask<'_>> = (0..tasks)
        .map(|n| {
            let out = space.out.pop().unwrap_or_else(|| vec![Vec::new(); 2 * cut.tokens.len()]);
            let todo = count * n / tasks..count * (n + 1) / tasks;
            ScatterTask { records: &records, todo, first: from, out }
        })
        .collect();
    executor::each(executor, &mut tasks, |task, stop| task.work::<W>(shape, cut, stop))?;
    for stream in 0..2 * cut.tokens.len() {
        for task in &mut tasks {
            streams.append(stream, &task.out[stream])?;
            memory::clear(&mut task.out[stream]);
        }
    }
    space.out.extend(tasks.into_iter().map(|task| task.out));
    space.tokens = records.into_tokens().unwrap_or_default();
    executor.check_interrupts()?;
    Ok(to)
}

/// Memory that is used again for each piece of the records.
#[derive(Debug, Default)]
pub(super) struct ScatterScratch {
    tokens: Vec<u32>,
    out: Vec<Vec<Vec<u64>>>,
}

impl ScatterScratch {
    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        memory::bytes(&self.tokens) + self.out.iter().flatten().map(memory::bytes).sum::<usize>()
    }
}

impl ScatterTask<'_> {
    fn work<const W: usize>(&mut self, shape: &Shape, cut: &PartitionCut, stop: &Stop) -> Result<()> {
        let flips = TokenFlips { weights: &TokenWeights::default(), unit: 1 };
        while self.todo.start < self.todo.end {
            stop.check()?;
            let n = self.todo.start;
            // Records are numbered with 32 bits.
            let record = (self.first + n) as u32;
            let prefixes = shape.prefixes(record, self.records, n);
            let bitmap = of_record::<W>(self.records, n, flips);
            for (place, &token) in prefixes.tokens.iter().enumerate() {
                let posting = Posting::new(record, prefixes.tokens, place, prefixes.lone + place as u32);
                let stream = streams_of(cut.partition(token))[usize::from(place >= prefixes.indexed)];
                push(&mut self.out[stream], token, posting, &bitmap)?;
            }
            self.todo.start += 1;
        }
        Ok(())
    }
}
