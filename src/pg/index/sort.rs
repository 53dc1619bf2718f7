//! Sorts pairs of signature and row within a budget of memory, in temporary files beyond it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::format::Pair;
use crate::error::Result;
use crate::features::store::{TempFile, TempFiles};
use crate::memory;
use crate::pg::temp_file::ServerFiles;

const DOING: &str = "sorting signatures";

/// Pairs that are sorted at once: a fraction of a second, so that the sort answers to interrupts.
const CHUNK: usize = 1 << 19;
/// Bytes of a chunk in memory.
const CHUNK_BYTES: usize = CHUNK * size_of::<(u64, u32)>();
/// Bytes read at a time from a run.
const READ: usize = Pair::SIZE << 12;

/// Takes pairs in any order.
pub struct Sorter {
    files: ServerFiles,
    chunks: Vec<Vec<(u64, u32)>>,
    most: usize,
    file: Option<Box<dyn TempFile>>,
    written: u64,
    runs: Vec<Range<u64>>,
}

impl Sorter {
    /// A sorter that uses so many bytes, or a little more than one chunk.
    pub fn new(budget: usize) -> Self {
        Self {
            files: ServerFiles::in_current_context(),
            chunks: Vec::new(),
            most: (budget / CHUNK_BYTES).max(1),
            file: None,
            written: 0,
            runs: Vec::new(),
        }
    }

    /// Adds a pair.
    pub fn push(&mut self, signature: u64, row: u32) -> Result<()> {
        if self.chunks.last().is_none_or(|chunk| chunk.len() == CHUNK) {
            self.close_chunk()?;
        }
        let chunk = self.chunks.last_mut().expect("there is one with room");
        memory::push(chunk, (signature, row), DOING)
    }

    /// How many pairs there are.
    pub fn len(&self) -> u64 {
        let in_memory: usize = self.chunks.iter().map(Vec::len).sum();
        self.written / Pair::SIZE as u64 + in_memory as u64
    }

    fn close_chunk(&mut self) -> Result<()> {
        pgrx::check_for_interrupts!();
        if let Some(full) = self.chunks.last_mut() {
            full.sort_unstable();
        }
        if self.chunks.len() >= self.most {
            self.spill()?;
        }
        memory::push(&mut self.chunks, Vec::new(), DOING)
    }

    fn spill(&mut self) -> Result<()> {
        let start = self.written;
        let mut merge = Merge::of(std::mem::take(&mut self.chunks), None, &[])?;
        let mut bytes = Vec::with_capacity(READ);
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(self.files.create()?),
        };
        loop {
            let pair = merge.next()?;
            if bytes.len() == READ || (pair.is_none() && !bytes.is_empty()) {
                pgrx::check_for_interrupts!();
                file.write(&bytes)?;
                self.written += bytes.len() as u64;
                bytes.clear();
            }
            let Some((signature, row)) = pair else { break };
            Pair { signature, row }.write(&mut bytes);
        }
        memory::push(&mut self.runs, start..self.written, DOING)
    }

    /// The pairs in order.
    pub fn finish(mut self) -> Result<Merge> {
        if let Some(last) = self.chunks.last_mut() {
            last.sort_unstable();
        }
        Merge::of(self.chunks, self.file, &self.runs)
    }
}

/// Sorted pairs from several sorted sources.
pub struct Merge {
    sources: Vec<Source>,
    heads: BinaryHeap<Reverse<((u64, u32), usize)>>,
    file: Option<Box<dyn TempFile>>,
}

enum Source {
    Chunk(std::vec::IntoIter<(u64, u32)>),
    Run { rest: Range<u64>, bytes: Vec<u8>, at: usize },
}

impl Merge {
    fn of(
        chunks: Vec<Vec<(u64, u32)>>,
        file: Option<Box<dyn TempFile>>,
        runs: &[Range<u64>],
    ) -> Result<Self> {
        let chunks = chunks.into_iter().map(|chunk| Source::Chunk(chunk.into_iter()));
        let runs = runs.iter().map(|run| Source::Run { rest: run.clone(), bytes: Vec::new(), at: 0 });
        let mut merge = Self { sources: chunks.chain(runs).collect(), heads: BinaryHeap::new(), file };
        for n in 0..merge.sources.len() {
            merge.pull(n)?;
        }
        Ok(merge)
    }

    fn pull(&mut self, n: usize) -> Result<()> {
        let pair = match &mut self.sources[n] {
            Source::Chunk(pairs) => pairs.next(),
            Source::Run { rest, bytes, at } => {
                if *at == bytes.len() && !rest.is_empty() {
                    pgrx::check_for_interrupts!();
                    let length = (rest.end - rest.start).min(READ as u64);
                    bytes.resize(length as usize, 0);
                    self.file.as_mut().expect("runs are in a file").read(rest.start, bytes)?;
                    rest.start += length;
                    *at = 0;
                }
                (*at < bytes.len()).then(|| {
                    let pair = Pair::read(bytes, *at / Pair::SIZE);
                    *at += Pair::SIZE;
                    (pair.signature, pair.row)
                })
            }
        };
        if let Some(pair) = pair {
            self.heads.push(Reverse((pair, n)));
        }
        Ok(())
    }

    /// The next pair.
    pub fn next(&mut self) -> Result<Option<(u64, u32)>> {
        let Some(Reverse((pair, n))) = self.heads.pop() else { return Ok(None) };
        self.pull(n)?;
        Ok(Some(pair))
    }
}

/// Bytes in order of arrival, those beyond a budget in a temporary file.
pub struct Spool {
    files: ServerFiles,
    budget: usize,
    memory: Vec<u8>,
    file: Option<Box<dyn TempFile>>,
    written: u64,
}

impl Spool {
    /// An empty one.
    pub fn new(budget: usize) -> Self {
        Self {
            files: ServerFiles::in_current_context(),
            budget: budget.max(READ),
            memory: Vec::new(),
            file: None,
            written: 0,
        }
    }

    /// How many bytes there are.
    pub fn len(&self) -> u64 {
        self.written + self.memory.len() as u64
    }

    /// Appends bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        memory::extend(&mut self.memory, bytes, "collecting lists of rows")?;
        if self.memory.len() > self.budget {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(self.files.create()?),
            };
            file.write(&self.memory)?;
            self.written += self.memory.len() as u64;
            self.memory.clear();
        }
        Ok(())
    }

    /// Calls `each` with so many bytes at a time, in order.
    pub fn for_each(&mut self, size: usize, mut each: impl FnMut(&[u8])) -> Result<()> {
        let mut bytes = Vec::with_capacity(size);
        let mut at = 0;
        while at < self.len() {
            pgrx::check_for_interrupts!();
            bytes.resize((self.len() - at).min(size as u64) as usize, 0);
            let in_file = self.written.saturating_sub(at).min(bytes.len() as u64) as usize;
            if let (Some(file), true) = (&mut self.file, in_file > 0) {
                file.read(at, &mut bytes[..in_file])?;
            }
            let from = (at + in_file as u64 - self.written) as usize;
            let rest = bytes.len() - in_file;
            if rest > 0 {
                bytes[in_file..].copy_from_slice(&self.memory[from..from + rest]);
            }
            each(&bytes);
            at += bytes.len() as u64;
        }
        Ok(())
    }
}
