//! A run from texts to the last pair or passage, and what each phase of it took.

use std::time::Instant;

use neardup_core::error::Result;
use neardup_core::executor::{Executor, PlainThreads};
use neardup_core::hash;
use neardup_core::methods::Method;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::Quiet;
use neardup_core::methods::passages;
use neardup_core::methods::reading::Reading;
use neardup_core::passages::Parameters as PassageParameters;
use neardup_core::storage::files::{MemoryFiles, Resources};

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
    let executor = PlainThreads(threads);
    let resources = Resources { files: &MemoryFiles, budget: memory, executor: &executor };
    let (began, processor) = (Instant::now(), processor::of_all_threads());
    let mut quiet = Quiet;
    let mut reading = Reading::new(&mut corpus, &mut quiet, resources);
    let done = work(task, &mut reading, &executor, began).expect("memory");
    let all = began.elapsed().as_secs_f64();
    let account = reading.account;
    let read = account.phases[0] / 1e3;
    Run {
        seconds: [read, done.prepared - read, all - done.prepared],
        processor: processor::of_all_threads() - processor,
        pairs: done.found,
        digest: done.digest,
        peak: account.peak_memory.max(done.peak as u64),
    }
}

/// What was found, and what that took.
#[derive(Default)]
struct Done {
    /// When the first pair could be asked for, in seconds.
    prepared: f64,
    found: u64,
    digest: u64,
    /// The most bytes that the join held.
    peak: usize,
}

fn work(task: &Task, reading: &mut Reading<'_>, executor: &dyn Executor, began: Instant) -> Result<Done> {
    let mut done = Done::default();
    match task {
        Task::Pairs(method) => {
            let mut pairs = method.pairs(reading)?;
            done.prepared = began.elapsed().as_secs_f64();
            while let Some(pair) = pairs.next(executor)? {
                // Asked as seldom as the server is: with each batch of some thousands.
                if done.found.is_multiple_of(1 << 12) {
                    done.peak = done.peak.max(pairs.bytes());
                }
                done.found += 1;
                done.digest = done.digest.wrapping_add(digest_of([pair.left, pair.right], pair.similarity));
            }
            done.peak = done.peak.max(pairs.bytes());
        }
        Task::Passages(parameters) => {
            let mut search = passages::search(parameters, reading)?;
            done.prepared = began.elapsed().as_secs_f64();
            while let Some(batch) = search.next_batch(executor)? {
                done.found += batch.len() as u64;
                done.peak = done.peak.max(search.bytes());
                for passage in &batch {
                    let rows = digest_of([passage.left_row, passage.right_row], passage.similarity);
                    let [left, right] = [&passage.left_span, &passage.right_span]
                        .map(|span| hash::mix((span.start as u64) << 32 | span.end as u64));
                    done.digest =
                        done.digest.wrapping_add(hash::mix(rows ^ hash::mix(left ^ hash::mix(right))));
                }
            }
        }
    }
    Ok(done)
}

/// What rows and their similarity add to the digest of an answer, in whatever order they come.
fn digest_of([left, right]: [u32; 2], similarity: f64) -> u64 {
    let rows = u64::from(left.min(right)) << 32 | u64::from(left.max(right));
    hash::mix(rows ^ hash::mix(similarity.to_bits()))
}
