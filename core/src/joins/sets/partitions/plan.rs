//! Which entries are loaded together.

use std::ops::Range;

use super::compare::RecordSizes;
use super::cut::PartitionCut;
use super::entries::entry_words;
use super::scatter::streams_of;
use super::side::InputSide;
use super::streams::Streams;
use crate::error::Result;
use crate::executor::Executor;
use crate::memory;

const DOING: &str = "planning the join";

/// Entries of one partition that are compared with each other: a whole partition, or, if it is too
/// large, some of its indexed entries and some of its probes.
#[derive(Debug, Clone)]
pub(super) struct PartitionPart {
    pub(super) partition: usize,
    /// The streams of the indexed entries and of the probes, and the words of these streams.
    pub(super) streams: [(usize, Range<u64>); 2],
    /// Whether the indexed entries probe, too.
    pub(super) with_itself: bool,
}

impl PartitionPart {
    /// Returns the number of words of its entries.
    pub(super) fn words(&self) -> u64 {
        self.streams.iter().map(|(_, words)| words.end - words.start).sum()
    }
}

/// Lists the parts of all partitions, each of at most about `most` bytes.
pub(super) fn parts<const W: usize>(
    streams: &mut Streams,
    cut: &PartitionCut,
    sizes: &RecordSizes,
    sides: &[InputSide],
    most: usize,
    executor: &dyn Executor,
) -> Result<Vec<PartitionPart>> {
    let is_self_join = sides.len() == 1;
    let mut parts = Vec::new();
    for partition in 0..cut.tokens.len() {
        let [indexed, probing] = streams_of(partition);
        let lengths = [indexed, probing].map(|stream| streams.length(stream));
        let whole = lengths[0] + lengths[1] <= (most / size_of::<u64>()) as u64;
        if lengths[0] == 0 {
            continue;
        }
        if whole {
            let streams = [(indexed, 0..lengths[0]), (probing, 0..lengths[1])];
            memory::push(&mut parts, PartitionPart { partition, streams, with_itself: is_self_join }, DOING)?;
            continue;
        }
        let chunk = ((most / 2 / size_of::<u64>()) as u64).max(1).next_multiple_of(entry_words(W) as u64);
        let chunks =
            |length: u64| (0..length).step_by(chunk as usize).map(move |at| at..length.min(at + chunk));
        for own in chunks(lengths[0]) {
            let own_records = records_of::<W>(streams, indexed, &own, executor)?;
            let mut with_itself = is_self_join;
            for stream in [indexed, probing] {
                for others in chunks(streams.length(stream)) {
                    // The indexed entries of a self-join meet each other once, and those before
                    // them are records that are not larger.
                    if stream == indexed && (!is_self_join || others.start <= own.start) {
                        continue;
                    }
                    let probes = records_of::<W>(streams, stream, &others, executor)?;
                    if may_meet(&own_records, &probes, sizes, sides) {
                        let streams = [(indexed, own.clone()), (stream, others)];
                        memory::push(&mut parts, PartitionPart { partition, streams, with_itself }, DOING)?;
                        with_itself = false;
                    }
                }
            }
            if with_itself {
                let streams = [(indexed, own), (probing, 0..0)];
                memory::push(&mut parts, PartitionPart { partition, streams, with_itself }, DOING)?;
            }
        }
    }
    Ok(parts)
}

/// Returns the first and the last record of some entries.
fn records_of<const W: usize>(
    streams: &mut Streams,
    stream: usize,
    words: &Range<u64>,
    executor: &dyn Executor,
) -> Result<[u32; 2]> {
    let first = streams.read(stream, words.start, 1, executor)?[0];
    let last = streams.read(stream, words.end - entry_words(W) as u64, 1, executor)?[0];
    Ok([first as u32, last as u32])
}

/// Reports whether some of the indexed records from the first to the last one may be partners of
/// some of the records that probe, as far as their sizes decide.
fn may_meet(indexed: &[u32; 2], probes: &[u32; 2], sizes: &RecordSizes, sides: &[InputSide]) -> bool {
    let [first, last] = probes.map(|probe| sizes.reaches[sides[0].shape.runs.run_of(probe)]);
    // A record that has the wrong size for any partner has no reach, and does not exclude others.
    let begins_before = first.end == 0 || first.first <= indexed[1];
    let ends_after = match sides.len() {
        1 => indexed[0] < probes[1],
        _ => last.end == 0 || indexed[0] < last.end,
    };
    begins_before && ends_after
}
