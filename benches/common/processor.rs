//! The processor time that this process has taken: what other work on the machine changes least.
#![allow(dead_code, reason = "each benchmark uses some of it")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use neardup_core::error::{Error, Result};
use neardup_core::executor::{Executor, Stop, Task};

/// Seconds of the processor that the first thread has taken until now, as Linux tells them, to a
/// millionth; where it does not, those of all threads to a hundredth.
pub fn seconds() -> f64 {
    let told = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    if let Some(nanoseconds) = told.split_whitespace().next().and_then(|first| first.parse::<f64>().ok()) {
        return nanoseconds / 1e9;
    }
    of_all_threads()
}

/// Seconds of the processor that all threads have taken until now, those that have ended too, to a
/// hundredth.
pub fn of_all_threads() -> f64 {
    const TICKS: f64 = 100.0;
    let told = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in brackets, may hold spaces.
    let numbers = told.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = numbers.split_whitespace().skip(11).take(2).filter_map(|number| number.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS
}

/// One thread that is stopped when it has taken so many seconds of the processor.
pub struct Limited<'a> {
    stop: &'a Stop,
}

impl Executor for Limited<'_> {
    fn count(&self) -> usize {
        1
    }

    fn run(&self, _threads: usize, work: &Task<'_>) -> Result<()> {
        work(0, self.stop)
    }
}

/// Calls `work` with a thread, which is stopped after `most` seconds: then there is no answer.
/// Gives the seconds it took, too.
pub fn limited<T>(most: f64, work: impl FnOnce(&dyn Executor) -> Result<T>) -> (Option<T>, f64) {
    let (stop, ended) = (Stop::default(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let began = seconds();
        let (stop, ended) = (&stop, &ended);
        scope.spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                if seconds() - began > most {
                    stop.request();
                }
                std::thread::park_timeout(Duration::from_millis(50));
            }
        });
        let answer = work(&Limited { stop });
        let took = seconds() - began;
        ended.store(true, Ordering::Relaxed);
        match answer {
            Ok(answer) => (Some(answer), took),
            Err(Error::Stopped) => (None, took),
            Err(error) => panic!("{error}"),
        }
    })
}
