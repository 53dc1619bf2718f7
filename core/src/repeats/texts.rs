//! Texts that are written once and read again in the order of their rows: in memory as long as they
//! fit, and then in a temporary file.

use crate::error::{Error, Result};
use crate::executor::{self, Executor, Stop};
use crate::memory;
use crate::storage::files::TempFiles;
use crate::storage::log::Log;

const DOING: &str = "keeping texts";
/// The number of bytes before each text: its row and its length.
const HEAD: usize = 8;

/// The texts of one worker, until they are stored.
#[derive(Debug, Default)]
pub struct NewTexts {
    bytes: Vec<u8>,
    /// The row of each text, and where the text ends.
    rows: Vec<(u32, usize)>,
}

impl NewTexts {
    /// Adds a text. If this fails, nothing is added.
    pub fn add(&mut self, row: u32, text: &str) -> Result<()> {
        memory::reserve(&mut self.rows, 1, DOING)?;
        memory::extend(&mut self.bytes, text.as_bytes(), DOING)?;
        self.rows.push((row, self.bytes.len()));
        Ok(())
    }

    /// Returns the rows of the texts.
    pub fn rows(&self) -> impl Iterator<Item = u32> {
        self.rows.iter().map(|&(row, _)| row)
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.bytes) + memory::bytes(&self.rows)
    }
}

/// Texts in the order of their rows.
pub struct OrderedTexts {
    /// Each text, after its row and its length.
    log: Log<u8>,
    /// The bytes of the log that were read last, and where they begin.
    ahead: Vec<u8>,
    ahead_from: u64,
    /// The number of texts.
    pub count: u64,
}

impl OrderedTexts {
    /// Starts without texts, with about `room` bytes for them in memory.
    pub fn new(room: usize) -> Self {
        Self { log: Log::new(room), ahead: Vec::new(), ahead_from: 0, count: 0 }
    }

    /// Stores the texts of all workers, whose rows come after all rows that are stored.
    pub fn store<'n>(
        &mut self,
        new: impl Iterator<Item = &'n mut NewTexts>,
        files: &dyn TempFiles,
    ) -> Result<()> {
        let new: Vec<&mut NewTexts> = new.collect();
        let mut order = Vec::new();
        for (worker, new) in new.iter().enumerate() {
            let mut from = 0;
            for &(row, to) in &new.rows {
                memory::push(&mut order, (row, worker, from..to), DOING)?;
                from = to;
            }
        }
        order.sort_unstable_by_key(|&(row, ..)| row);
        for (row, worker, range) in order {
            let text = &new[worker].bytes[range];
            let too_long = |_| Error::TooMany { what: "bytes in a text", limit: u32::MAX.into() };
            let length = u32::try_from(text.len()).map_err(too_long)?;
            let head = u64::from(row) << 32 | u64::from(length);
            for bytes in [&head.to_le_bytes(), text] {
                self.log.extend(bytes, files)?;
            }
            self.count += 1;
        }
        new.into_iter().for_each(|new| {
            new.bytes.clear();
            new.rows.clear();
        });
        Ok(())
    }

    /// Returns the number of bytes of all texts.
    pub fn size(&self) -> u64 {
        self.log.len() - self.count * HEAD as u64
    }

    fn read(&mut self, at: u64, bytes: &mut [u8]) -> Result<()> {
        /// The number of bytes that are read at one time, so that short texts take few calls.
        const AHEAD: u64 = 1 << 16;
        let Self { log, ahead, ahead_from, .. } = self;
        if !log.is_in_file() {
            return log.read(at, bytes);
        }
        let of = |ahead: &[u8], from: u64| {
            let skipped = usize::try_from(at.checked_sub(from)?).ok()?;
            ahead.get(skipped..)?.get(..bytes.len()).map(|_| skipped)
        };
        if of(ahead, *ahead_from).is_none() {
            if bytes.len() as u64 > AHEAD / 4 {
                return log.read(at, bytes);
            }
            ahead.clear();
            log.append(at, AHEAD.min(log.len() - at) as usize, ahead)?;
            *ahead_from = at;
        }
        let skipped = (at - *ahead_from) as usize;
        bytes.copy_from_slice(&ahead[skipped..][..bytes.len()]);
        Ok(())
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.log.bytes() + memory::bytes(&self.ahead)
    }
}

/// A text that was read again, what is given for it, and what is made of it.
#[derive(Debug)]
pub struct TextTask<G, M> {
    /// The row of the text.
    pub row: u32,
    /// The text.
    pub text: String,
    /// What is given for the text.
    pub given: G,
    /// What is made of the text.
    pub made: M,
}

/// A walk over texts, in the order of their rows.
#[derive(Debug, Default)]
pub struct Walk {
    at: u64,
    texts: u64,
}

impl Walk {
    /// The number of bytes of texts that are worked on at one time.
    const BLOCK: usize = 4 << 20;

    /// Reads some of the texts for which `given` returns a value, and lets `work` work on them, on
    /// all threads. `work` is called again for a task at which it was stopped. It gets the scratch
    /// memory of its thread. Returns the tasks in the order of their rows, or `None` after the last
    /// text.
    pub fn next<G: Send, M: Send + Default, S: Default>(
        &mut self,
        texts: &mut OrderedTexts,
        executor: &dyn Executor,
        budget: usize,
        mut given: impl FnMut(u32) -> Result<Option<G>>,
        work: impl Fn(&mut TextTask<G, M>, &mut S, &Stop) -> Result<()> + Sync,
    ) -> Result<Option<Vec<TextTask<G, M>>>> {
        let block = Self::BLOCK.min(budget / 16).max(1);
        let chunk = block.div_ceil(4 * executor.count());
        if self.texts == texts.count {
            return Ok(None);
        }
        let mut chunks: Vec<Vec<TextTask<G, M>>> = vec![Vec::new()];
        let (mut bytes, mut of_chunk) = (0, 0);
        while self.texts < texts.count && bytes < block {
            executor::breathe(executor, self.texts, 1 << 10)?;
            let mut head = [0; HEAD];
            texts.read(self.at, &mut head)?;
            let head = u64::from_le_bytes(head);
            let (row, length) = ((head >> 32) as u32, head as u32 as usize);
            if let Some(given) = given(row)? {
                let mut text = memory::zeroed(length, DOING)?;
                texts.read(self.at + HEAD as u64, &mut text)?;
                let text = String::from_utf8(text).map_err(|_| Error::NotText)?;
                bytes += length + size_of::<TextTask<G, M>>();
                of_chunk += length;
                let task = TextTask { row, text, given, made: M::default() };
                if let Some(chunk) = chunks.last_mut() {
                    memory::push(chunk, task, DOING)?;
                }
                if of_chunk >= chunk {
                    chunks.push(Vec::new());
                    of_chunk = 0;
                }
            }
            self.at += (HEAD + length) as u64;
            self.texts += 1;
        }
        executor::each(executor, &mut chunks, |tasks, stop| {
            let mut scratch = S::default();
            tasks.iter_mut().try_for_each(|task| work(task, &mut scratch, stop))
        })?;
        memory::collect(chunks.into_iter().flatten(), DOING).map(Some)
    }

    /// Returns the share of the texts that were read.
    pub fn progress(&self, texts: &OrderedTexts) -> f64 {
        self.texts as f64 / texts.count.max(1) as f64
    }
}
