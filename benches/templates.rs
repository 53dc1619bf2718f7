//! Pages of a site, whose frame is 10 to 90 % of them: processor seconds from texts to the last pair, by method, and how
//! these grow with the number of pages.
//!
//!     cargo bench -p neardup-benches --bench templates [-- [METHOD …] [frames=10,50] [pages=1000,10000] [limit=20]]
//!
//! All pages are made here, from fixed numbers (core/tests/common/pages.rs). A run is cut off after `limit` seconds of the
//! processor, and larger sites are left out then; of runs of less than 0.3 s the least of three counts. *growth*:
//! log(time / time before) / log(pages / pages before); n·log n is 1.1 here. Where pairs grow faster than that, so may the
//! time. A table of the growth from the least size to the greatest comes last. *× jaccard*: the time by that of the exact join of the
//! same pages, `jaccard` on shingles of 3 words at the same threshold.
//!
//! With `skew` instead, minhash beside the exact join on sets of which 36 of 40 tokens are a template, and on short
//! records, as names with addresses are: `skew [sets] [records] [addresses] [sets=20000] [records=2000000] [at=0.7,0.8]`. Where
//! inputs are named, these alone.

#[path = "common/machine.rs"]
mod machine;
#[path = "../core/tests/common/pages.rs"]
mod pages;
#[path = "common/processor.rs"]
mod processor;
#[path = "common/records.rs"]
mod records;

use neardup_core::error::Result;
use neardup_core::executor::Executor;
use neardup_core::features::FeatureSpec;
use neardup_core::features::codes::CodeSpec;
use neardup_core::features::imatch::IdfRange;
use neardup_core::features::spotsigs::SpotSpec;
use neardup_core::features::tokens::Document;
use neardup_core::hash::mix;
use neardup_core::joins::Counts;
use neardup_core::joins::sentences::lister::StopRules;
use neardup_core::joins::sketches::banding::Banding;
use neardup_core::joins::sketches::combination::{Combination, Safeguards, TechniqueSpec};
use neardup_core::joins::sketches::rule::Rule;
use neardup_core::methods::codes::ByCodes;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::Quiet;
use neardup_core::methods::edit::Edit;
use neardup_core::methods::imatch::Imatch;
use neardup_core::methods::reading::Reading;
use neardup_core::methods::sets::Sets;
use neardup_core::methods::sketches::Sketches;
use neardup_core::methods::spotsigs::SpotSigs;
use neardup_core::methods::tlcs::Tlcs;
use neardup_core::methods::{Method, passages};
use neardup_core::passages::Parameters as PassageParameters;
use neardup_core::sketches::sentence;
use neardup_core::storage::files::{MemoryFiles, Resources};
use neardup_core::verify::measure::Measure;
use neardup_core::verify::predicate::Predicate;
use neardup_core::verify::tlcs::{Parameters, Thresholds};

use records::{address, record};

const THRESHOLD: f64 = 0.9;
const RECALL: f64 = 0.95;
const WORDS_A_PAGE: u64 = 200;
/// More memory than any run needs.
const ENOUGH: usize = 8 << 30;

/// What is run: a method, or the search for passages.
enum Task {
    Pairs(Box<dyn Method>),
    Passages(PassageParameters),
}

fn main() {
    let (mut names, mut frames, mut sizes) =
        (Vec::new(), vec![10, 30, 50, 70, 90], vec![1000, 10_000, 100_000]);
    let (mut limit, mut skewed) = (20.0, (20_000, 2_000_000));
    let mut thresholds = vec![0.7, 0.8];
    for argument in std::env::args().skip(1).filter(|argument| !argument.starts_with('-')) {
        let numbers = |list: &str| list.split(',').filter_map(|number| number.parse().ok()).collect();
        match argument.split_once('=') {
            Some(("frames", list)) => frames = numbers(list),
            Some(("pages", list)) => sizes = numbers(list),
            Some(("sets", count)) => skewed.0 = count.parse().expect("a number of sets"),
            Some(("at", list)) => {
                thresholds = list.split(',').filter_map(|number| number.parse().ok()).collect();
            }
            Some(("records", count)) => skewed.1 = count.parse().expect("a number of records"),
            Some(("limit", seconds)) => limit = seconds.parse().expect("a number of seconds"),
            _ => names.push(argument),
        }
    }
    machine::Machine::measure().print();
    if names.iter().any(|name| name == "skew") {
        return skew(&names, skewed, &thresholds);
    }
    println!(
        "\nOne thread, texts of {WORDS_A_PAGE} words, threshold {THRESHOLD} where a method has none of its own:\n"
    );
    println!("| method | frame | pages | pairs | looked at | s | growth | × jaccard |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    let mut all: Vec<Curve> = Vec::new();
    for &frame in &frames {
        let pages = pages::pages(sizes.iter().copied().max().unwrap_or(0), WORDS_A_PAGE, frame);
        // Some words are antecedents of spot signatures.
        let texts: Vec<String> = pages.iter().map(|page| page.replace("0 ", "0 the ")).collect();
        let first = all.len();
        for (name, task) in tasks() {
            // Ratios need the exact join.
            if name != "jaccard" && !names.is_empty() && !names.iter().any(|wanted| wanted == name) {
                continue;
            }
            let mut curve = Curve { name, frame, runs: Vec::new(), is_cut_off: false };
            for (n, &count) in sizes.iter().enumerate() {
                let texts = &texts[..count as usize];
                let (answer, seconds) = least(limit, |executor| run(&task, texts, executor));
                let Some((pairs, looked)) = answer else {
                    println!("| {name} | {frame} % | {count} | - | - | over {limit} | - | - |");
                    curve.is_cut_off = true;
                    break;
                };
                curve.runs.push(Run { pages: count, pairs, seconds });
                let growth = shown(curve.runs.windows(2).last().map(|two| two[1].growth_from(&two[0])));
                let exact = all.get(first).unwrap_or(&curve).runs.get(n);
                let ratio = shown(exact.map(|exact| seconds / exact.seconds));
                println!(
                    "| {name} | {frame} % | {count} | {pairs} | {looked} | {seconds:.3} | {growth} | {ratio} |"
                );
            }
            all.push(curve);
        }
    }
    summary(&frames, &all);
}

/// What a run took.
struct Run {
    pages: u64,
    pairs: u64,
    seconds: f64,
}

impl Run {
    /// The exponent of the pages by which the time grew.
    fn growth_from(&self, before: &Self) -> f64 {
        (self.seconds / before.seconds).ln() / (self.pages as f64 / before.pages as f64).ln()
    }
}

/// A method on more and more pages of one frame.
struct Curve {
    name: &'static str,
    frame: u64,
    runs: Vec<Run>,
    is_cut_off: bool,
}

/// The growth of each method from the fewest pages to the most that were run, by frame, and that of the pairs where it is
/// more than *n*·log *n*.
fn summary(frames: &[u64], all: &[Curve]) {
    const LINEARITHMIC: f64 = 1.15;
    println!("\nGrowth from the fewest pages to the most:\n");
    println!(
        "| method |{} seconds on the most pages |",
        frames.iter().map(|f| format!(" {f} % |")).collect::<String>()
    );
    println!("| --- |{} ---: |", " ---: |".repeat(frames.len()));
    let of_frame = |frame| all.iter().filter(move |curve| curve.frame == frame);
    for curve in frames.first().into_iter().flat_map(|&first| of_frame(first)) {
        let (mut cells, mut seconds) = (String::new(), Vec::new());
        for &frame in frames {
            let Some(curve) = of_frame(frame).find(|other| other.name == curve.name) else { continue };
            let mut cell = match &curve.runs[..] {
                [first, .., last] => {
                    let of_pairs = (last.pairs as f64 / first.pairs.max(1) as f64).ln()
                        / (last.pages as f64 / first.pages as f64).ln();
                    let time = format!("{:.2}", last.growth_from(first));
                    if of_pairs > LINEARITHMIC { format!("{time}, pairs {of_pairs:.2}") } else { time }
                }
                _ => "-".to_owned(),
            };
            if curve.is_cut_off {
                let most = curve.runs.last().map_or(0, |run| run.pages);
                cell += &format!(", to {most}");
            }
            cells += &format!(" {cell} |");
            seconds.extend(curve.runs.last().map(|run| run.seconds));
        }
        let least = seconds.iter().copied().reduce(f64::min).unwrap_or_default();
        let most = seconds.iter().copied().fold(0.0, f64::max);
        println!("| {} |{cells} {least:.2} to {most:.2} |", curve.name);
    }
}

fn shown(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.1}"))
}

/// The least time of up to three runs, of which the later ones are left out where one takes long.
fn least<T>(limit: f64, work: impl Fn(&dyn Executor) -> Result<T>) -> (Option<T>, f64) {
    const SHORT: f64 = 0.3;
    let (mut answer, mut seconds) = processor::limited(limit, &work);
    for _ in 1..3 {
        if answer.is_none() || seconds > SHORT {
            break;
        }
        let (again, took) = processor::limited(limit, &work);
        (answer, seconds) = (again, seconds.min(took));
    }
    (answer, seconds)
}

/// Minhash beside the exact join where documents have most of their tokens, or some of few tokens, in common.
fn skew(names: &[String], (sets, records): (u64, u64), thresholds: &[f64]) {
    /// More than any of these runs takes.
    const LIMIT: f64 = 600.0;
    println!(
        "\n| input | t | pairs | exact, s | minhash, s | ratio | found |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    );
    let words = FeatureSpec { multiset: false, ..FeatureSpec::WORDS };
    let compare = |count: u64, input: &str, threshold: f64, corpus: &dyn Fn() -> Corpus<'static>| {
        // The first name is that of this task.
        if names.len() > 1 && !names.iter().any(|name| name == input) {
            return;
        }
        let exact =
            Sets { spec: words, ..Sets::of_words(Measure::Jaccard, threshold).expect("a good threshold") };
        let measured = [&exact as &dyn Method, &minhash(words, threshold)].map(|method| {
            let (answer, seconds) = processor::limited(LIMIT, |executor| pairs(method, corpus(), executor));
            (answer.map_or(0, |(pairs, _)| pairs), seconds)
        });
        let [(all, exact), (found, minhash)] = measured;
        let (ratio, share) = (minhash / exact.max(0.01), found as f64 / all as f64);
        println!(
            "| {count} {input} | {threshold} | {all} | {exact:.2} | {minhash:.2} | {ratio:.1} | {share:.3} |"
        );
    };
    let of_template = move |row: usize| {
        let row = row as u64;
        // Every tenth has 39 in common with the one before.
        let of = |n: u64| if row % 10 == 9 && n < 39 { row - 1 } else { row };
        let token = |n: u64| (mix(if n < 36 { n } else { (of(n) + 1) << 8 | n }) >> 2).cast_signed();
        Some(Document::Numbers((0..40).map(token).collect()))
    };
    compare(sets, "sets", 0.9, &|| Corpus::new(sets as usize, of_template));
    for &threshold in thresholds {
        let short = |row: usize| Some(Document::Text(record(row as u64)));
        compare(records, "records", threshold, &|| Corpus::new(records as usize, short));
        let long = |row: usize| Some(Document::Text(address(row as u64)));
        compare(records, "addresses", threshold, &|| Corpus::new(records as usize, long));
    }
}

/// How many pairs, or passages, a task gives, and how many others it looked at.
fn run(task: &Task, texts: &[String], executor: &dyn Executor) -> Result<(u64, u64)> {
    match task {
        Task::Pairs(method) => pairs(&**method, Corpus::of_texts(texts), executor),
        Task::Passages(parameters) => {
            let (mut corpus, mut quiet) = (Corpus::of_texts(texts), Quiet);
            let mut reading = Reading::new(&mut corpus, &mut quiet, resources(executor));
            let mut search = passages::search(parameters, &mut reading)?;
            let mut count = 0;
            while let Some(batch) = search.next_batch(executor)? {
                count += batch.len() as u64;
            }
            Ok((count, looked(reading.account.counts)))
        }
    }
}

fn pairs(method: &dyn Method, mut corpus: Corpus<'_>, executor: &dyn Executor) -> Result<(u64, u64)> {
    let mut quiet = Quiet;
    let mut pairs = method.pairs(&mut Reading::new(&mut corpus, &mut quiet, resources(executor)))?;
    while pairs.next(executor)?.is_some() {}
    Ok((pairs.given(), looked(pairs.counts())))
}

fn resources(executor: &dyn Executor) -> Resources<'_> {
    Resources { files: &MemoryFiles, budget: ENOUGH, executor }
}

/// Pairs that were looked at.
fn looked(counts: Counts) -> u64 {
    counts.candidates + counts.pruned_by_size + counts.pruned_by_bitmap
}

/// The method minhash with its defaults: bands that find the promised recall, and the exact join where that is less work.
fn minhash(feature: FeatureSpec, threshold: f64) -> Sketches {
    let plan = Banding::for_recall(threshold, RECALL).expect("a good recall");
    let mut minhash =
        Sketches::by_technique(TechniqueSpec::Minhash { feature, plan, seed: 1, threshold, verify: true });
    minhash.combination.most = Some(10_000);
    minhash.safeguards = Safeguards { sample: 1000, hand_over: true };
    minhash
}

/// Every method as its defaults have it, with the threshold of this page where it has none of its own.
fn tasks() -> Vec<(&'static str, Task)> {
    let words = FeatureSpec { multiset: false, ..FeatureSpec::WORDS };
    let shingles = FeatureSpec { shingle: 3, ..words };
    let sets =
        |measure| Sets { spec: shingles, ..Sets::of_words(measure, THRESHOLD).expect("a good threshold") };
    let simhash = |bits: u16, most: u16| TechniqueSpec::Simhash {
        feature: words,
        bits,
        frequency: true,
        threshold: f64::from(bits - most) / f64::from(bits),
    };
    let shingling = TechniqueSpec::Shingling {
        feature: FeatureSpec { shingle: 8, ..words },
        values: 84,
        groups: 6,
        seed: 1,
        threshold: 2.0 / 6.0,
        megashingles: false,
    };
    // As Henzinger has it: B-similar, then C-similar.
    let combined = Sketches {
        combination: Combination {
            techniques: vec![shingling, simhash(384, 30)],
            rule: Rule::All(vec![Rule::Technique(0), Rule::Technique(1)]),
            most: None,
        },
        sites: false,
        safeguards: Safeguards::default(),
    };
    let tlcs = |trustable| Tlcs {
        signatures: sentence::SignatureParameters::default(),
        rules: StopRules::default(),
        parameters: Parameters { trustable, ..Parameters::default() },
        thresholds: Thresholds { resemblance: 0.28, containment: Some(0.7) },
        weight: None,
        words: None,
        whole_sets: false,
    };
    let codes = |threshold| ByCodes { spec: CodeSpec::default(), threshold };
    let predicate = Predicate::new(Measure::Jaccard, THRESHOLD).expect("a good threshold");
    let methods: Vec<(&'static str, Box<dyn Method>)> = vec![
        ("jaccard", Box::new(sets(Measure::Jaccard))),
        ("cosine", Box::new(sets(Measure::Cosine))),
        ("minhash", Box::new(minhash(shingles, THRESHOLD))),
        ("simhash", Box::new(Sketches::by_technique(simhash(64, 3)))),
        ("shingling", Box::new(Sketches::by_technique(shingling))),
        ("combined", Box::new(combined)),
        ("imatch", Box::new(Imatch { spec: words, range: IdfRange::default() })),
        ("spotsigs", Box::new(SpotSigs { spec: SpotSpec::default(), predicate })),
        ("tlcs", Box::new(tlcs(true))),
        ("lcs", Box::new(tlcs(false))),
        ("edit", Box::new(Edit::new(THRESHOLD).expect("a good threshold"))),
        ("repeatability", Box::new(codes(Some(THRESHOLD)))),
        ("exact_code", Box::new(codes(None))),
        (
            "exact_text",
            Box::new(Sketches::by_technique(TechniqueSpec::ExactText { clean: true, html: false })),
        ),
        ("title", Box::new(Sketches::by_technique(TechniqueSpec::ExactText { clean: false, html: false }))),
    ];
    let mut tasks: Vec<_> = methods.into_iter().map(|(name, method)| (name, Task::Pairs(method))).collect();
    tasks.push(("partial_duplicates", Task::Passages(PassageParameters::default())));
    tasks
}
