//! Threads that work on shared data and can be stopped and started again.
//!
//! The core does not know what runs its work: the caller passes an [`Executor`]. In tests the
//! executor runs plain threads. Inside a server its threads have all signals blocked, and a leader
//! watches them and checks for cancel requests (src/pg/server/executor.rs). Work is written so that
//! it may return [`Error::Stopped`] at any check; when it is called again later, it goes on where
//! it stopped.

use std::ops::Rem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};
use crate::memory;

/// A flag that asks all workers to return soon.
///
/// Long functions check it often, so that they return within milliseconds.
///
/// ```
/// use neardup_core::compare::edit_distance;
/// use neardup_core::{Error, Stop};
///
/// let stop = Stop::default();
/// assert_eq!(edit_distance("quay", "quays", &stop), Ok((1, 5)));
/// stop.request();
/// assert_eq!(stop.check(), Err(Error::Stopped));
/// ```
#[derive(Debug, Default)]
pub struct Stop {
    requested: AtomicBool,
    #[cfg(test)]
    pub(crate) counted: crate::tests::stops::Counted,
}

impl Stop {
    /// Asks every worker that holds this flag to return.
    ///
    /// A request cannot be undone. O(1).
    ///
    /// ```
    /// use neardup_core::sketch::feature_code;
    /// use neardup_core::{Error, Stop};
    ///
    /// let stop = Stop::default();
    /// stop.request();
    /// assert_eq!(feature_code("A text.", &Default::default(), &stop), Err(Error::Stopped));
    /// ```
    pub fn request(&self) {
        self.requested.store(true, Ordering::Relaxed);
    }

    /// Returns [`Error::Stopped`] once a stop was requested, and an error while memory is short. It
    /// costs two relaxed loads, which is cheap enough for inner loops, but too much for each byte.
    ///
    /// ```
    /// let stop = neardup_core::Stop::default();
    /// assert_eq!(stop.check(), Ok(()));
    /// ```
    #[inline]
    pub fn check(&self) -> Result<()> {
        memory::suffices("working on a call")?;
        #[cfg(test)]
        if self.counted.check() {
            self.request();
        }
        if self.requested.load(Ordering::Relaxed) { Err(Error::Stopped) } else { Ok(()) }
    }

    /// Checks at every `every`th step.
    #[inline]
    pub(crate) fn check_every<N>(&self, step: N, every: N) -> Result<()>
    where
        N: Rem<Output = N> + PartialEq + Default,
    {
        if step % every == N::default() { self.check() } else { Ok(()) }
    }

    /// Tells tests of work that takes about a nanosecond for each unit, so that they see how much
    /// of it lies between two checks.
    #[inline]
    pub(crate) fn work(&self, _units: usize) {
        #[cfg(test)]
        self.counted.work(_units as u64);
    }
}

/// Collects what a function hands out that nobody asks to stop.
pub(crate) fn unstopped<T>(
    for_each: impl FnOnce(&Stop, &mut dyn FnMut(T) -> Result<()>) -> Result<()>,
) -> Vec<T> {
    let mut all = Vec::new();
    let done = for_each(&Stop::default(), &mut |item| {
        all.push(item);
        Ok(())
    });
    debug_assert_eq!(done, Ok(()), "nobody asked to stop");
    all
}

/// The work of one thread. It is called with the number of the worker, 0 to `count - 1`.
///
/// Calls on different threads run at the same time.
///
/// ```
/// use neardup_core::{Executor, PlainThreads, Stop, Task};
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// let sum = AtomicUsize::new(0);
/// let task: &Task = &|number, _: &Stop| Ok(drop(sum.fetch_add(number, Ordering::Relaxed)));
/// PlainThreads(4).run(4, task)?;
/// assert_eq!(sum.into_inner(), 0 + 1 + 2 + 3);
/// # Ok::<(), neardup_core::Error>(())
/// ```
pub type Task<'a> = dyn Fn(usize, &Stop) -> Result<()> + Sync + 'a;

/// Runs work on a number of threads.
///
/// A program that has its own pool of threads implements this trait. The results of a call do not
/// depend on the number of threads.
///
/// ```
/// use neardup_core::{Executor, Result, Stop, Task};
///
/// /// The calling thread alone.
/// struct Alone;
///
/// impl Executor for Alone {
///     fn count(&self) -> usize {
///         1
///     }
///
///     fn run(&self, _threads: usize, work: &Task<'_>) -> Result<()> {
///         work(0, &Stop::default())
///     }
/// }
/// assert_eq!(Alone.run(1, &|_, _| Ok(())), Ok(()));
/// ```
pub trait Executor {
    /// Returns the number of threads, at least 1.
    fn count(&self) -> usize;

    /// Runs `work` once on each of `threads` threads (at least 1, at most [`Executor::count`]) and
    /// waits for all of them. After a stop it either runs the work again on all threads or does not
    /// return. It returns the first error that is not a stop.
    fn run(&self, threads: usize, work: &Task<'_>) -> Result<()>;

    /// Does the same as [`Executor::run`], and calls `beside` in the calling thread, before or
    /// during the work: at least once, and perhaps again and again.
    fn run_beside(&self, threads: usize, work: &Task<'_>, beside: &mut dyn FnMut()) -> Result<()> {
        beside();
        self.run(threads, work)
    }

    /// Returns how many records stand for each record of the work: 1, unless the work is on a
    /// sample whose counts are scaled to all records. Then choices that depend on the number of
    /// records are those for all records, so that the same filters count.
    fn scale(&self) -> f64 {
        1.0
    }

    /// Lets the leader, which also works, check for requests to stop. Inside a server the call does
    /// not return if there is such a request.
    fn check_interrupts(&self) -> Result<()> {
        Ok(())
    }
}

/// Plain threads that are never interrupted: for tests, benchmarks and programs.
///
/// The field is the number of threads; 0 means 1. Threads are started for each task and end with
/// it.
///
/// ```
/// use neardup_core::{Executor, PlainThreads};
///
/// assert_eq!((PlainThreads(8).count(), PlainThreads(0).count()), (8, 1));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PlainThreads(pub usize);

impl Executor for PlainThreads {
    fn count(&self) -> usize {
        self.0.max(1)
    }

    fn run(&self, threads: usize, work: &Task<'_>) -> Result<()> {
        let stop = &Stop::default();
        std::thread::scope(|scope| {
            let others: Vec<_> =
                (1..threads.min(self.count())).map(|n| scope.spawn(move || work(n, stop))).collect();
            let own = work(0, stop);
            let others =
                others.into_iter().map(|t| t.join().unwrap_or_else(|p| std::panic::resume_unwind(p)));
            others.fold(own, Result::and)
        })
    }
}

/// Completes every item of `items`: `work` is called for each item on one of the threads, and again
/// if it was stopped. Threads take the items in order. The results do not depend on the number of
/// threads.
pub fn each<T: Send>(
    executor: &dyn Executor,
    items: &mut [T],
    work: impl Fn(&mut T, &Stop) -> Result<()> + Sync,
) -> Result<()> {
    each_beside(executor, items, work, &mut || {})
}

/// Does the same as [`each`], and calls `beside` in the calling thread, unless there are no items.
pub fn each_beside<T: Send>(
    executor: &dyn Executor,
    items: &mut [T],
    work: impl Fn(&mut T, &Stop) -> Result<()> + Sync,
    beside: &mut dyn FnMut(),
) -> Result<()> {
    let slots: Vec<Mutex<Option<&mut T>>> = items.iter_mut().map(|item| Mutex::new(Some(item))).collect();
    let threads = executor.count().min(slots.len());
    if threads == 0 {
        return Ok(());
    }
    let work = |_, stop: &Stop| {
        for slot in &slots {
            // A locked slot belongs to another thread; an empty slot is done.
            let Ok(mut slot) = slot.try_lock() else {
                continue;
            };
            if let Some(item) = slot.as_mut() {
                work(item, stop)?;
                *slot = None;
            }
        }
        Ok(())
    };
    executor.run_beside(threads, &work, beside)
}

/// Completes one task on one thread, while the leader watches it.
pub fn one<T: Send>(
    executor: &dyn Executor,
    item: &mut T,
    work: impl Fn(&mut T, &Stop) -> Result<()> + Sync,
) -> Result<()> {
    each(executor, std::slice::from_mut(item), work)
}

/// Lets the leader check for requests to stop at every `every`th step.
#[inline]
pub fn breathe<N>(executor: &dyn Executor, step: N, every: N) -> Result<()>
where
    N: Rem<Output = N> + PartialEq + Default,
{
    if step % every == N::default() { executor.check_interrupts() } else { Ok(()) }
}

/// Sorts few items in the leader, others on a thread that the leader watches.
pub fn sort<T: Send>(
    executor: &dyn Executor,
    mut items: &mut [T],
    compare: impl Fn(&T, &T) -> std::cmp::Ordering + Sync,
) -> Result<()> {
    if items.len() <= 1 << 8 {
        items.sort_unstable_by(compare);
        return executor.check_interrupts();
    }
    one(executor, &mut items, |items, stop| sort_unstable_by(items, stop, &compare))
}

/// Scratch space that the threads of a task take in turn.
#[derive(Debug)]
pub struct Pool<T>(Mutex<Vec<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Pool<T> {
    /// Calls `work` with scratch space that is free, or else with what `new` makes.
    pub fn with<R>(
        &self,
        new: impl FnOnce() -> Result<T>,
        work: impl FnOnce(&mut T) -> Result<R>,
    ) -> Result<R> {
        let kept = self.free().pop();
        let mut own = kept.map_or_else(new, Ok)?;
        let done = work(&mut own);
        memory::push(&mut self.free(), own, "keeping scratch space")?;
        done
    }

    fn free(&self) -> MutexGuard<'_, Vec<T>> {
        // A panic leaves nothing half done in the pool, so a poisoned lock is harmless.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the sum of `bytes` over the scratch space that is free.
    pub fn bytes(&self, bytes: impl Fn(&T) -> usize) -> usize {
        self.free().iter().map(bytes).sum()
    }
}

/// Sorts in slices, and reacts to a stop request between two slices. The sort is in place, takes
/// O(n log n) and is not stable.
pub fn sort_unstable_by<T, F>(items: &mut [T], stop: &Stop, compare: &F) -> Result<()>
where
    F: Fn(&T, &T) -> std::cmp::Ordering,
{
    // Sorting this many items takes milliseconds.
    const SLICE: usize = 1 << 17;
    stop.check()?;
    if items.len() <= SLICE {
        stop.work(items.len());
        items.sort_unstable_by(compare);
        return Ok(());
    }
    let middle = items.len() / 2;
    items.select_nth_unstable_by(middle, compare);
    let (low, high) = items.split_at_mut(middle);
    sort_unstable_by(low, stop, compare)?;
    sort_unstable_by(high, stop, compare)
}

/// An executor that uses only the calling thread. If this thread is asked to stop, all work ends.
#[derive(Debug)]
pub struct CallingThread<'a> {
    /// Tells the thread to end its work.
    pub stop: &'a Stop,
}

impl Executor for CallingThread<'_> {
    fn count(&self) -> usize {
        1
    }

    fn run(&self, _threads: usize, work: &Task<'_>) -> Result<()> {
        work(0, self.stop)
    }

    fn check_interrupts(&self) -> Result<()> {
        self.stop.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    /// Stops the work every few checks, as a leader with pending interrupts does.
    struct Interrupted(AtomicUsize);

    impl Executor for Interrupted {
        fn count(&self) -> usize {
            1
        }

        fn run(&self, _threads: usize, work: &Task<'_>) -> Result<()> {
            loop {
                let stop = Stop::default();
                if self.0.fetch_add(1, Ordering::Relaxed) < 3 {
                    stop.request();
                }
                match work(0, &stop) {
                    Err(Error::Stopped) => {}
                    end => return end,
                }
            }
        }
    }

    #[test]
    fn stopped_work_goes_on_where_it_was() {
        let mut sums = vec![(0..100u64, 0u64); 20];
        let add = |(range, sum): &mut (std::ops::Range<u64>, u64), stop: &Stop| {
            for n in range.by_ref() {
                *sum += n;
                stop.check()?;
            }
            Ok(())
        };
        each(&Interrupted(AtomicUsize::new(0)), &mut sums, add).unwrap();
        each(&PlainThreads(4), &mut sums, add).unwrap();
        assert!(sums.iter().all(|(_, sum)| *sum == 4950));
    }

    #[test]
    fn sorts_in_slices() {
        let mut items: Vec<u64> = (0..500_000).map(crate::hash::mix).collect();
        let mut expected = items.clone();
        expected.sort_unstable();
        sort_unstable_by(&mut items, &Stop::default(), &u64::cmp).unwrap();
        assert_eq!(items, expected);
        let stop = Stop::default();
        stop.request();
        assert_eq!(sort_unstable_by(&mut items, &stop, &u64::cmp), Err(Error::Stopped));
    }
}
