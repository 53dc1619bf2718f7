//! From texts to the last pair, phase by phase: reading (cutting, numbering), ordering, joining, in seconds.
//!
//!     cargo bench --no-default-features --bench phases -- NAME.tsv [0.9 0.8 …] [threads=1,2,4] [shingle=1] [measure=jaccard] [runs=3] [rows=1000000]
//!
//! NAME.tsv has an id, a tab and a text in each line (see benches/README.md). Of several runs the least of each phase
//! counts. *floor*: the bytes of the texts by the speed of memory, read once. *CPU*: the processor time of the run that
//! took least of it, all threads together, to a hundredth.

#[path = "common/machine.rs"]
mod machine;
#[path = "common/processor.rs"]
mod processor;

use std::io::{BufRead, BufReader};
use std::time::Instant;

use neardup::features::FeatureSpec;
use neardup::files::MemoryFiles;
use neardup::joins::sets::Algorithm;
use neardup::methods::Method;
use neardup::methods::corpus::Corpus;
use neardup::methods::documents::Quiet;
use neardup::methods::reading::Reading;
use neardup::methods::sets::Sets;
use neardup::resources::Resources;
use neardup::verify::measure::Measure;
use neardup::verify::predicate::Predicate;
use neardup::workers::PlainThreads;

/// What one run took, and what it found.
struct Run {
    seconds: [f64; 3],
    processor: f64,
    pairs: u64,
    peak: u64,
}

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let Some(path) = args.next() else {
        eprintln!("usage: cargo bench --bench phases -- NAME.tsv [THRESHOLD …] [threads=1,2,4] [shingle=1]");
        return;
    };
    let (mut thresholds, mut threads) = (Vec::new(), vec![1, 2, 4]);
    let (mut shingle, mut runs, mut rows, mut measure) = (1, 3, usize::MAX, Measure::Jaccard);
    for arg in args {
        let number = |text: &str| text.parse().expect("a number");
        match arg.split_once('=') {
            Some(("threads", list)) => threads = list.split(',').map(number).collect(),
            Some(("shingle", text)) => shingle = number(text),
            Some(("runs", text)) => runs = number(text),
            Some(("rows", text)) => rows = number(text),
            Some(("measure", text)) => measure = measure_called(text),
            _ => thresholds.push(arg.parse::<f64>().expect("a threshold")),
        }
    }
    if thresholds.is_empty() {
        thresholds = vec![0.9, 0.8, 0.6];
    }
    let texts = read(&path, rows);
    let machine = machine::Machine::measure();
    machine.print();
    let bytes: usize = texts.iter().map(String::len).sum();
    let floor = bytes as f64 / machine.memcpy / 1e9;
    println!("\n{} texts, {:.1} MB, floor {floor:.3} s\n", texts.len(), bytes as f64 / 1e6);
    println!("|    t | threads |     pairs |  read |  order |  join |   all |   CPU | peak, MB |");
    println!("|-----:|--------:|----------:|------:|-------:|------:|------:|------:|---------:|");
    for t in thresholds {
        for &threads in &threads {
            let spec = FeatureSpec { shingle, ..FeatureSpec::WORDS };
            let predicate = Predicate::new(measure, t).expect("a threshold");
            let method = Sets { spec, predicate, algorithm: Algorithm::Auto };
            let mut least = once(&texts, &method, threads);
            for _ in 1..runs {
                let run = once(&texts, &method, threads);
                assert_eq!(run.pairs, least.pairs, "all runs find the same");
                for (least, seconds) in least.seconds.iter_mut().zip(run.seconds) {
                    *least = least.min(seconds);
                }
                least.processor = least.processor.min(run.processor);
            }
            let [read, order, join] = least.seconds;
            println!(
                "| {t:>4} | {threads:>7} | {:>9} | {read:>5.2} | {order:>6.2} | {join:>5.2} | {:>5.2} | {:>5.2} | {:>8} |",
                least.pairs,
                read + order + join,
                least.processor,
                least.peak / 1_000_000
            );
        }
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

fn once(texts: &[String], method: &Sets, threads: usize) -> Run {
    let mut corpus = Corpus::of_texts(texts);
    let workers = PlainThreads(threads);
    let resources = Resources { files: &MemoryFiles, budget: 4 << 30, workers: &workers };
    let (began, processor) = (Instant::now(), processor::of_all_threads());
    let mut quiet = Quiet;
    let mut reading = Reading::new(&mut corpus, &mut quiet, resources);
    let mut pairs = method.pairs(&mut reading).expect("memory");
    let account = reading.account;
    let prepared = began.elapsed().as_secs_f64();
    let mut found = 0;
    while pairs.next(&workers).expect("memory").is_some() {
        found += 1;
    }
    let all = began.elapsed().as_secs_f64();
    let read = account.phases[0] / 1e3;
    Run {
        seconds: [read, prepared - read, all - prepared],
        processor: processor::of_all_threads() - processor,
        pairs: found,
        peak: account.peak_memory,
    }
}
