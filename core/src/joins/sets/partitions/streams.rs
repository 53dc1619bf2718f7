//! Many streams of words in one temporary file.

use crate::error::Result;
use crate::executor::Executor;
use crate::memory;
use crate::storage::files::{NoFiles, TempFiles};
use crate::storage::log::Log;

const DOING: &str = "writing partitions";

/// Some words of a stream that are next to each other in the file.
#[derive(Debug, Clone, Copy)]
struct StreamExtent {
    /// The place of the first word in the file.
    at: u64,
    /// The number of words of the stream up to the end of the extent.
    end: u64,
}

/// Streams of 64-bit words that are written in turns, each from its beginning to its end, and read
/// at any place. All are in one file, so that there can be many of them.
#[derive(Debug)]
pub(super) struct Streams {
    /// The words of all streams, in a file.
    words: Log<u64>,
    streams: Vec<Vec<StreamExtent>>,
    /// The stream that was written last.
    last: Option<usize>,
}

impl Streams {
    /// Makes a file, without streams.
    pub(super) fn new(files: &dyn TempFiles) -> Result<Self> {
        let mut words = Log::default();
        words.spill(files)?;
        Ok(Self { words, streams: Vec::new(), last: None })
    }

    /// Makes this many empty streams.
    pub(super) fn open(&mut self, count: usize) -> Result<()> {
        self.streams = memory::filled(Vec::new(), count, DOING)?;
        Ok(())
    }

    /// Appends words to a stream.
    pub(super) fn append(&mut self, stream: usize, words: &[u64]) -> Result<()> {
        if words.is_empty() {
            return Ok(());
        }
        let (at, more) = (self.words.len(), words.len() as u64);
        // There is a file.
        self.words.extend(words, &NoFiles)?;
        let extents = &mut self.streams[stream];
        let before = extents.last().map_or(0, |last| last.end);
        match extents.last_mut() {
            // The words follow those that were written last.
            Some(last) if self.last == Some(stream) => last.end += more,
            _ => memory::push(extents, StreamExtent { at, end: before + more }, DOING)?,
        }
        self.last = Some(stream);
        Ok(())
    }

    /// Returns the number of words of a stream.
    pub(super) fn length(&self, stream: usize) -> u64 {
        self.streams[stream].last().map_or(0, |last| last.end)
    }

    /// Returns `count` words of a stream from the word `from` on.
    pub(super) fn read(
        &mut self,
        stream: usize,
        from: u64,
        count: usize,
        executor: &dyn Executor,
    ) -> Result<Vec<u64>> {
        let mut words = memory::zeroed(count, DOING)?;
        let extents = &self.streams[stream];
        let mut number = extents.partition_point(|extent| extent.end <= from);
        let mut read = 0;
        while read < count {
            executor.check_interrupts()?;
            let start = number.checked_sub(1).map_or(0, |before| extents[before].end);
            let StreamExtent { at, end } = extents[number];
            let here = from + read as u64;
            // The words that are wanted fit in memory.
            let length = (end - here).min((count - read) as u64) as usize;
            self.words.read(at + (here - start), &mut words[read..read + length])?;
            read += length;
            number += 1;
        }
        Ok(words)
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        memory::bytes(&self.streams) + self.streams.iter().map(memory::bytes).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::PlainThreads;
    use crate::storage::files::MemoryFiles;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn streams_keep_their_words(
            writes in prop::collection::vec((0..3usize, prop::collection::vec(any::<u64>(), 0..5)), 0..30),
            (from, to) in (0..40usize, 0..40usize),
        ) {
            let mut streams = Streams::new(&MemoryFiles).unwrap();
            streams.open(3).unwrap();
            let mut expected = vec![Vec::new(); 3];
            for (stream, words) in writes {
                streams.append(stream, &words).unwrap();
                expected[stream].extend(words);
            }
            for (stream, expected) in expected.iter().enumerate() {
                prop_assert_eq!(streams.length(stream), expected.len() as u64);
                let (from, to) = (from.min(expected.len()), to.min(expected.len()));
                let range = from.min(to)..from.max(to);
                let read = streams.read(stream, range.start as u64, range.len(), &PlainThreads(1)).unwrap();
                prop_assert_eq!(&read, &expected[range]);
            }
        }
    }
}
