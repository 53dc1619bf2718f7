//! Cancel by count: each engine stops at any check, goes on afterwards, and finds the same; between
//! two checks there is little work. That holds on any machine and under any load, which a test that
//! waits and looks at the clock cannot show.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Corpus;
use crate::cases::cases;
use crate::clusters::elimination::eliminate_repeated;
use crate::error::{Error, Result};
use crate::executor::{Executor, PlainThreads, Stop, Task};
use crate::features::FeatureSpec;
use crate::features::dictionary::weights::Weights;
use crate::hash::mix;
use crate::methods::Method;
use crate::methods::documents::Quiet;
use crate::methods::reading::Reading;
use crate::methods::{passages, repeats};
use crate::passages::Parameters as PassageParameters;
use crate::passages::edited::EditedWords;
use crate::repeats::cut::Cutting;
use crate::repeats::{RunParameters, Unit};
use crate::storage::files::{MemoryFiles, Resources};
use crate::verify::measure::Measure;

#[allow(unreachable_pub, reason = "tests of their own share it")]
#[path = "../../../tests/common/methods.rs"]
mod list;
mod of_leader;

/// The checks of a [`Stop`], and the work between them.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// The check that requests the stop; 0 for none.
    at: u64,
    checks: AtomicU64,
    since: AtomicU64,
    most: AtomicU64,
}

impl Counted {
    /// Counts a check. Reports whether it is the one that requests the stop.
    pub(crate) fn check(&self) -> bool {
        self.since.store(0, Ordering::Relaxed);
        self.checks.fetch_add(1, Ordering::Relaxed) + 1 == self.at
    }

    pub(crate) fn work(&self, units: u64) {
        let since = self.since.fetch_add(units, Ordering::Relaxed) + units;
        self.most.fetch_max(since, Ordering::Relaxed);
    }
}

/// Stops each task at a check, and then at one twice as late, until the task has ended.
struct StopsAt {
    first: u64,
    stops: Cell<u64>,
    checks: Cell<u64>,
    most: Cell<u64>,
}

impl StopsAt {
    fn check(first: u64) -> Self {
        Self { first, stops: Cell::new(0), checks: Cell::new(0), most: Cell::new(0) }
    }
}

impl Executor for StopsAt {
    fn count(&self) -> usize {
        // Two tasks, one after the other, so that each count has one meaning.
        2
    }

    fn run(&self, threads: usize, work: &Task<'_>) -> Result<()> {
        let mut at = self.first;
        loop {
            let mut stop = Stop::default();
            stop.counted.at = at;
            let ends: Vec<_> = (0..threads).map(|n| work(n, &stop)).collect();
            self.checks.set(self.checks.get() + stop.counted.checks.into_inner());
            self.most.set(self.most.get().max(stop.counted.most.into_inner()));
            if !ends.contains(&Err(Error::Stopped)) {
                return ends.into_iter().collect();
            }
            self.stops.set(self.stops.get() + 1);
            at *= 2;
        }
    }
}

/// Pages of a few templates with words of their own, long pages among them, equal ones and empty
/// ones.
fn texts() -> Vec<String> {
    let page = |n: u64| -> String {
        if n.is_multiple_of(10) {
            return String::new();
        }
        let (words, template) = (if n.is_multiple_of(7) { 3000 } else { 40 + n % 20 }, n % 5);
        let word = |at: u64| {
            let seed = if at % 9 == n % 9 { (n / 2) << 32 } else { template << 48 } | at;
            format!("{}{}", ["w", "the ", "v"][mix(seed) as usize % 3], mix(seed) % 900)
        };
        let sentences: Vec<String> = (0..words).map(word).collect();
        sentences.chunks(9).map(|nine| format!("The {}. ", nine.join(" "))).collect()
    };
    (0..150).map(page).collect()
}

/// Rows of one template, and long texts: what makes the work between two checks as long as it can
/// be.
fn large() -> Vec<String> {
    let long =
        |seed: u64| -> String { (0..100_000).map(|n| format!("w{} ", mix(seed + n / 7) % 5000)).collect() };
    let of_template = |n: u64| format!("the price of lot {} in the sale of {} was paid in full", n, n % 90);
    (0..600).map(of_template).chain([long(1), long(5000)]).collect()
}

/// Work between two checks that takes five milliseconds or so.
const MOST: u64 = 1_000_000;

/// An answer with so many bytes of memory and these threads, as text.
type Answer<'a> = dyn Fn(&[String], usize, &dyn Executor) -> String + 'a;

/// An engine finds the same when it is stopped at any of its checks.
fn stops_anywhere(name: &str, answer: &Answer<'_>) {
    let texts = texts();
    for budget in [64 << 10, 1 << 30] {
        let whole = answer(&texts, budget, &PlainThreads(2));
        assert!(whole.len() > 2, "{name} finds something");
        let mut stops = 0;
        let firsts = [1, 9, 129, 2, 3, 5, 17, 33, 65, 1025];
        for &first in &firsts[..cases(10).cases.clamp(3, 10) as usize] {
            let executor = StopsAt::check(first);
            let found = answer(&texts, budget, &executor);
            if found != whole {
                let same = found.bytes().zip(whole.bytes()).take_while(|(a, b)| a == b).count();
                let shown = |text: &str| -> String {
                    text.chars().skip(same.saturating_sub(200)).take(400).collect()
                };
                panic!(
                    "{name} with {budget} bytes, stopped at {first}: {} and not {}",
                    shown(&found),
                    shown(&whole)
                );
            }
            stops += executor.stops.get();
        }
        assert!(stops > 0, "{name} was stopped");
    }
    let executor = StopsAt::check(0);
    answer(&large(), 1 << 30, &executor);
    let (checks, most) = (executor.checks.get(), executor.most.get());
    println!("{name}: {checks} checks, at most {most} units of work between two");
    assert!(checks > 0 && most <= MOST, "{name}: {most} units of work between two checks");
}

fn resources(budget: usize, executor: &dyn Executor) -> Resources<'_> {
    Resources { files: &MemoryFiles, budget, executor }
}

#[test]
fn joins_stop_anywhere() {
    let methods = list::all_methods();
    let join = |(name, method): &(&str, Box<dyn Method>)| {
        for right_from in [None, Some(70)] {
            stops_anywhere(name, &|texts, budget, executor| {
                let mut corpus = Corpus::of_texts(texts).split(right_from);
                let (pairs, account) = corpus.pairs_with(&**method, resources(budget, executor)).unwrap();
                format!("{pairs:?} {:?}", account.skipped_empty)
            });
        }
    };
    // Each stops in turn on one thread, so two methods at a time.
    std::thread::scope(|scope| {
        for half in 0..2 {
            let own = methods.iter().skip(half).step_by(2);
            scope.spawn(move || own.for_each(join));
        }
    });
}

#[test]
fn the_nearest_stop_anywhere() {
    for (measure, weights) in [(Measure::Jaccard, Weights::Equal), (Measure::Containment, Weights::Idf)] {
        stops_anywhere("nearest", &|texts, budget, executor| {
            let mut corpus = Corpus::of_texts(texts);
            let resources = resources(budget.max(1 << 20), executor);
            let near = corpus.nearest_with(FeatureSpec::WORDS, measure, &weights, 3, resources);
            format!("{:?}", near.unwrap())
        });
    }
}

#[test]
fn passages_stop_anywhere() {
    let of_sentences = PassageParameters { min_sentences: 1, ..PassageParameters::default() };
    let edits = Some(EditedWords { share: 0.2, min_length: 8 });
    let edited = PassageParameters { edits, ..PassageParameters::default() };
    for (name, parameters) in [("passages", of_sentences), ("edited passages", edited)] {
        stops_anywhere(name, &|texts, budget, executor| {
            let (mut corpus, mut quiet) = (Corpus::of_texts(texts), Quiet);
            let mut reading = Reading::new(&mut corpus, &mut quiet, resources(budget, executor));
            let mut search = passages::search(&parameters, &mut reading).unwrap();
            let mut all = String::new();
            while let Some(batch) = search.next_batch(executor).unwrap() {
                all.push_str(&format!("{batch:?}"));
            }
            all
        });
    }
}

#[test]
fn repeats_stop_anywhere() {
    let parameters = RunParameters { unit: Unit::Window(8), ..RunParameters::default() };
    stops_anywhere("runs", &|texts, budget, executor| {
        let (mut corpus, mut quiet) = (Corpus::of_texts(texts), Quiet);
        let mut reading = Reading::new(&mut corpus, &mut quiet, resources(budget, executor));
        let mut runs = repeats::runs(&parameters, &mut reading).unwrap();
        format!("{:?}", std::iter::from_fn(|| runs.next(executor).unwrap()).collect::<Vec<_>>())
    });
    stops_anywhere("cut", &|texts, budget, executor| {
        let (mut corpus, mut quiet) = (Corpus::of_texts(texts), Quiet);
        let mut reading = Reading::new(&mut corpus, &mut quiet, resources(budget, executor));
        let mut cut = repeats::cut(&parameters, Cutting::default(), &mut reading).unwrap();
        format!("{:?}", std::iter::from_fn(|| cut.next_batch(executor).unwrap()).collect::<Vec<_>>())
    });
}

#[test]
fn eliminations_stop_anywhere() {
    for threshold in [0.8, 0.3] {
        stops_anywhere("repeated codes", &|texts, budget, executor| {
            let mut codes: Vec<String> = texts.iter().map(|text| text.chars().take(300).collect()).collect();
            codes.sort_by_key(|code| std::cmp::Reverse(code.chars().count()));
            format!("{:?}", eliminate_repeated(&codes[..], threshold, budget, executor).unwrap())
        });
    }
}
