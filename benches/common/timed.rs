//! A run from texts to the last pair or passage, and what each phase of it took.

use std::time::Instant;

use neardup::error::Result;
use neardup::files::MemoryFiles;
use neardup::hash;
use neardup::methods::Method;
use neardup::methods::corpus::Corpus;
use neardup::methods::documents::Quiet;
use neardup::methods::passages;
use neardup::methods::reading::Reading;
use neardup::passages::Parameters as PassageParameters;
use neardup::resources::Resources;
use neardup::workers::{PlainThreads, Workers};

use crate::processor;

/// What is run.
#[allow(dead_code, reason = "each benchmark runs some of it")]
pub enum Task {
    Pairs(Box<dyn Method>),
    Passages(PassageParameters),
}

/// What one run took, and what it found.
pub struct Run {
    /// Of reading, ordering and joining.
    pub seconds: [f64; 3],
    /// All threads together.
    pub processor: f64,
    pub pairs: u64,
    /// The same where the answer is, whatever its order.
    pub digest: u64,
    /// In bytes, but for the texts.
    pub peak: u64,
}

impl Run {
    /// The least of each phase of two runs of the same.
    pub fn least(self, other: &Self) -> Self {
        assert_eq!((self.pairs, self.digest), (other.pairs, other.digest), "all runs find the same");
        let seconds = std::array::from_fn(|phase| self.seconds[phase].min(other.seconds[phase]));
        let processor = self.processor.min(other.processor);
        Self { seconds, processor, peak: self.peak.max(other.peak), ..self }
    }
}

/// Runs a task on `threads` threads, with so many bytes of memory.
pub fn once(texts: &[String], task: &Task, threads: usize, memory: usize) -> Run {
    let mut corpus = Corpus::of_texts(texts);
    let workers = PlainThreads(threads);
    let resources = Resources { files: &MemoryFiles, budget: memory, workers: &workers };
    let (began, processor) = (Instant::now(), processor::of_all_threads());
    let mut quiet = Quiet;
    let mut reading = Reading::new(&mut corpus, &mut quiet, resources);
    let (prepared, found, digest) = work(task, &mut reading, &workers, began).expect("memory");
    let all = began.elapsed().as_secs_f64();
    let account = reading.account;
    let read = account.phases[0] / 1e3;
    Run {
        seconds: [read, prepared - read, all - prepared],
        processor: processor::of_all_threads() - processor,
        pairs: found,
        digest,
        peak: account.peak_memory,
    }
}

/// When the first pair could be asked for, how many pairs or passages there are, and the digest of these.
fn work(
    task: &Task,
    reading: &mut Reading<'_>,
    workers: &dyn Workers,
    began: Instant,
) -> Result<(f64, u64, u64)> {
    let (mut found, mut digest) = (0, 0u64);
    let prepared = match task {
        Task::Pairs(method) => {
            let mut pairs = method.pairs(reading)?;
            let prepared = began.elapsed().as_secs_f64();
            while let Some(pair) = pairs.next(workers)? {
                found += 1;
                digest = digest.wrapping_add(digest_of([pair.left, pair.right], pair.similarity));
            }
            prepared
        }
        Task::Passages(parameters) => {
            let mut search = passages::search(parameters, reading)?;
            let prepared = began.elapsed().as_secs_f64();
            while let Some(batch) = search.next_batch(workers)? {
                found += batch.len() as u64;
                for passage in &batch {
                    let rows = digest_of([passage.left_row, passage.right_row], passage.similarity);
                    let [left, right] = [&passage.left_span, &passage.right_span]
                        .map(|span| hash::mix((span.start as u64) << 32 | span.end as u64));
                    digest = digest.wrapping_add(hash::mix(rows ^ hash::mix(left ^ hash::mix(right))));
                }
            }
            prepared
        }
    };
    Ok((prepared, found, digest))
}

/// What rows and their similarity add to the digest of an answer, in whatever order they come.
fn digest_of([left, right]: [u32; 2], similarity: f64) -> u64 {
    let rows = u64::from(left.min(right)) << 32 | u64::from(left.max(right));
    hash::mix(rows ^ hash::mix(similarity.to_bits()))
}
