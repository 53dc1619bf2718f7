//! Runs production methods on documents in memory.
#![allow(dead_code, reason = "each test uses some of it")]

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use neardup_core::error::{Error, Result};
use neardup_core::executor::{Executor, Stop, Task};
use neardup_core::methods::Method;
use neardup_core::methods::account::Account;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::Quiet;
use neardup_core::methods::reading::Reading;
use neardup_core::storage::files::{MemoryFiles, NoFiles, Resources, TempFile, TempFiles};

/// More memory than any test needs.
pub const ENOUGH: usize = 1 << 40;

/// Pairs as (left row, right row, bits of the similarity), sorted; of one table the smaller row
/// first.
pub type Found = Vec<(u32, u32, u64)>;

/// The pairs of a method with so many bytes; there are temporary files where these are not enough
/// for all.
pub fn find(
    method: &dyn Method,
    corpus: Corpus<'_>,
    executor: &dyn Executor,
    budget: usize,
) -> (Found, Account) {
    let files: &dyn TempFiles = if budget < ENOUGH { &MemoryFiles } else { &NoFiles };
    find_with(method, corpus, Resources { files, budget, executor })
}

/// The same with other temporary files.
pub fn find_with(method: &dyn Method, mut corpus: Corpus<'_>, resources: Resources<'_>) -> (Found, Account) {
    let mut quiet = Quiet;
    let mut reading = Reading::new(&mut corpus, &mut quiet, resources);
    let mut pairs = method.pairs(&mut reading).expect("memory");
    let two_tables = reading.right_from().is_some();
    let mut account = reading.account;
    let certain = pairs.certain();
    let mut found = Vec::new();
    while let Some(pair) = pairs.next(resources.executor).expect("memory") {
        let (left, right) = match two_tables {
            true => (pair.left, pair.right),
            false => (pair.left.min(pair.right), pair.left.max(pair.right)),
        };
        found.push((left, right, pair.similarity.to_bits()));
    }
    assert_eq!(found.len() as u64, pairs.given());
    assert!(certain <= pairs.given());
    found.sort_unstable();
    assert!(found.windows(2).all(|two| (two[0].0, two[0].1) != (two[1].0, two[1].1)), "each pair comes once");
    account.counts = pairs.counts();
    (found, account)
}

/// Temporary files that are counted.
#[derive(Default)]
pub struct Counted(pub Cell<usize>);

impl TempFiles for Counted {
    fn create(&self) -> Result<Box<dyn TempFile>> {
        self.0.set(self.0.get() + 1);
        MemoryFiles.create()
    }
}

/// Stops the work every few calls, as a leader with pending interrupts does.
#[derive(Default)]
pub struct Interrupted(AtomicUsize);

impl Executor for Interrupted {
    fn count(&self) -> usize {
        2
    }

    fn run(&self, threads: usize, work: &Task<'_>) -> Result<()> {
        let stopped = |n: usize, stop: &Stop| {
            if self.0.fetch_add(1, Ordering::Relaxed) % 3 < 2 {
                stop.request();
            }
            work(n, stop)
        };
        loop {
            let stop = Stop::default();
            let ends: Vec<_> = (0..threads).map(|n| stopped(n, &stop)).collect();
            if !ends.contains(&Err(Error::Stopped)) {
                return ends.into_iter().collect();
            }
        }
    }
}
