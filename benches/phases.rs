//! From texts to the last pair, phase by phase: reading (cutting, numbering), ordering, joining, in seconds.
//!
//!     cargo bench -p neardup-benches --bench phases -- NAME.tsv [0.9 0.8 …] [threads=1,2,4] [shingle=1] [measure=jaccard] [runs=3] [rows=1000000] [method=tlcs]
//!
//! With `method=tlcs`, `lcs` or `partial_duplicates` by these as their defaults have them; a threshold is that of `tlcs` and
//! `lcs`, 0.28 if none is given, and passages need none. With `method=edited` it is the share of words that were edited in
//! passages of 30 words, or `length=15`; with `method=runs` the share of words in runs of `run=12`
//! that at most `most` documents have.
//! NAME.tsv has an id, a tab and a text in each line (see benches/README.md). Of several runs the least of each phase
//! counts. *floor*: the bytes of the texts by the speed of memory, read once. *CPU*: the processor time of the run that
//! took least of it, all threads together, to a hundredth. *Digest*: the same where the answer is, whatever its order.

#[path = "common/machine.rs"]
mod machine;
#[path = "common/processor.rs"]
mod processor;
#[path = "common/timed.rs"]
mod timed;

use std::io::{BufRead, BufReader};

use neardup_core::features::FeatureSpec;
use neardup_core::features::tokens::Tokenizer;
use neardup_core::joins::Algorithm;
use neardup_core::joins::sentences::lister::StopRules;
use neardup_core::methods::runs::Runs;
use neardup_core::methods::sets::Sets;
use neardup_core::methods::tlcs::Tlcs;
use neardup_core::passages::Parameters as PassageParameters;
use neardup_core::passages::edited::EditedWords;
use neardup_core::sketches::sentence;
use neardup_core::verify::measure::Measure;
use neardup_core::verify::predicate::Predicate;
use neardup_core::verify::shared_runs::RunShare;
use neardup_core::verify::tlcs::{Parameters, Thresholds};

use timed::{Task, once};

/// More than any run takes.
const MEMORY: usize = 4 << 30;

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let Some(path) = args.next() else {
        eprintln!(
            "usage: cargo bench -p neardup-benches --bench phases -- NAME.tsv [THRESHOLD …] [threads=1,2,4] [shingle=1]"
        );
        return;
    };
    let (mut thresholds, mut threads) = (Vec::new(), vec![1, 2, 4]);
    let (mut shingle, mut runs, mut rows, mut measure) = (1, 3, usize::MAX, Measure::Jaccard);
    let (mut method, mut min_run, mut min_length) = (String::new(), 12, EditedWords::LEAST);
    let mut max_documents = None;
    for arg in args {
        let number = |text: &str| text.parse().expect("a number");
        match arg.split_once('=') {
            Some(("threads", list)) => threads = list.split(',').map(number).collect(),
            Some(("shingle", text)) => shingle = number(text),
            Some(("runs", text)) => runs = number(text),
            Some(("rows", text)) => rows = number(text),
            Some(("measure", text)) => measure = measure_called(text),
            Some(("method", text)) => text.clone_into(&mut method),
            Some(("run", text)) => min_run = number(text),
            Some(("most", text)) => max_documents = Some(number(text) as u64),
            Some(("length", text)) => min_length = number(text) as u32,
            _ => thresholds.push(arg.parse::<f64>().expect("a threshold")),
        }
    }
    if thresholds.is_empty() {
        thresholds = if method.is_empty() { vec![0.9, 0.8, 0.6] } else { vec![0.28] };
    }
    let texts = read(&path, rows);
    let machine = machine::Machine::measure();
    machine.print();
    let bytes: usize = texts.iter().map(String::len).sum();
    let floor = bytes as f64 / machine.memcpy / 1e9;
    println!("\n{} texts, {:.1} MB, floor {floor:.3} s\n", texts.len(), bytes as f64 / 1e6);
    println!(
        "|    t | threads |     pairs |  read |  order |  join |   all |   CPU | peak, MB |           digest |"
    );
    println!(
        "|-----:|--------:|----------:|------:|-------:|------:|------:|------:|---------:|-----------------:|"
    );
    for t in thresholds {
        for &threads in &threads {
            let task = match &*method {
                "" => {
                    let spec = FeatureSpec { shingle, ..FeatureSpec::WORDS };
                    let predicate = Predicate::new(measure, t).expect("a threshold");
                    Task::Pairs(Box::new(Sets {
                        spec,
                        predicate,
                        algorithm: Algorithm::Auto,
                        weights: Default::default(),
                    }))
                }
                "partial_duplicates" => Task::Passages(PassageParameters::default()),
                "edited" => {
                    let edits = Some(EditedWords { share: t, min_length });
                    Task::Passages(PassageParameters { edits, ..PassageParameters::default() })
                }
                "runs" => {
                    let (of, tokenizer) = (RunShare::Smaller, Tokenizer::Words);
                    Task::Pairs(Box::new(Runs { min_run, of, threshold: t, max_documents, tokenizer }))
                }
                name => Task::Pairs(Box::new(subsequences(name, t))),
            };
            let run = || once(&texts, &task, threads, MEMORY);
            let least = (1..runs).fold(run(), |least, _| run().least(&least));
            let [read, order, join] = least.seconds;
            println!(
                "| {t:>4} | {threads:>7} | {:>9} | {read:>5.2} | {order:>6.2} | {join:>5.2} | {:>5.2} | {:>5.2} | {:>8} | {:016x} |",
                least.pairs,
                read + order + join,
                least.processor,
                least.peak / 1_000_000,
                least.digest
            );
        }
    }
}

fn subsequences(name: &str, resemblance: f64) -> Tlcs {
    let trustable = match name {
        "tlcs" => true,
        "lcs" => false,
        other => panic!("no such method here: {other}"),
    };
    Tlcs {
        signatures: sentence::SignatureParameters::default(),
        rules: StopRules::default(),
        parameters: Parameters { trustable, ..Parameters::default() },
        thresholds: Thresholds { resemblance, containment: Some(0.7) },
        weight: None,
        words: None,
        whole_sets: false,
    }
}

fn measure_called(name: &str) -> Measure {
    match name {
        "jaccard" => Measure::Jaccard,
        "cosine" => Measure::Cosine,
        "dice" => Measure::Dice,
        other => panic!("no such measure here: {other}"),
    }
}

/// The texts of a file of lines `id<TAB>text`.
fn read(path: &str, rows: usize) -> Vec<String> {
    let file = std::fs::File::open(path).expect("a file of texts");
    let lines = BufReader::new(file).lines().take(rows);
    lines.map(|line| line.expect("text").split_once('\t').expect("id, tab, text").1.to_owned()).collect()
}
