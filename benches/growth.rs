//! How the time of each phase grows with the number of documents, from texts to the last pair.
//!
//!     cargo bench -p neardup-benches --bench growth -- [NAME.tsv] [most=10000000] [at=0.8] [threads=2] [memory=2048] [plot=PATH]
//!
//! Of the texts of NAME.tsv (an id, a tab and a text a line) the first 25,000, 50,000 and so on to all; of made names with
//! addresses 25,000 to `most`. *growth*: the exponent of the time since the size before. `memory` is in megabytes; what
//! has no room there goes to files, which are in memory here, too, beside. Of less than a million documents the least of three
//! runs counts. The plot has the seconds of all phases together.

#[path = "../evaluation/src/log_plot.rs"]
mod log_plot;
#[path = "common/machine.rs"]
mod machine;
#[path = "../evaluation/src/plot.rs"]
mod plot;
#[path = "common/processor.rs"]
mod processor;
#[path = "common/records.rs"]
mod records;
#[path = "common/timed.rs"]
mod timed;

use std::io::{BufRead, BufReader};

use neardup_core::methods::sets::Sets;
use neardup_core::verify::measure::Measure;

use log_plot::{Line, Plot};
use timed::{Run, Task, once};

const SMALLEST: usize = 25_000;

fn main() {
    let (mut most, mut at, mut threads, mut memory) = (10_000_000, 0.8, 2, 2048usize);
    let (mut file, mut plot) = (None, None);
    for arg in std::env::args().skip(1).filter(|arg| arg != "--bench") {
        let number = |text: &str| text.parse().expect("a number");
        match arg.split_once('=') {
            Some(("most", text)) => most = number(text),
            Some(("at", text)) => at = text.parse().expect("a threshold"),
            Some(("threads", text)) => threads = number(text),
            Some(("memory", text)) => memory = number(text),
            Some(("plot", text)) => plot = Some(text.to_owned()),
            _ => file = Some(arg),
        }
    }
    machine::Machine::measure().print();
    println!("\nat {at} on {threads} threads, {memory} MB\n");
    println!(
        "| input | documents | pairs | read | order | join | all | growth of each | of all | CPU | peak, MB |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: |");
    let task = Task::Pairs(Box::new(Sets::of_words(Measure::Jaccard, at).expect("a good threshold")));
    let run = |texts: &[String]| once(texts, &task, threads, memory << 20);
    let mut lines: Vec<Line> = Vec::new();
    if let Some(path) = &file {
        let texts = read(path);
        let name = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".tsv").to_owned();
        lines.push((name.clone(), grow(&name, &texts, run)));
    }
    let texts: Vec<String> = (0..most as u64).map(records::address).collect();
    lines.push(("names with addresses".to_owned(), grow("addresses", &texts, run)));
    if let Some(path) = plot {
        let plot = Plot { title: "From texts to pairs", x_title: "documents", unit: "s", dots: false };
        std::fs::write(path, log_plot::svg(&plot, &lines)).expect("a file to write");
    }
}

/// Runs with more and more of the texts; gives how many these were and the seconds that they took.
fn grow(name: &str, texts: &[String], run: impl Fn(&[String]) -> Run) -> Vec<(f64, f64)> {
    const MANY: usize = 1_000_000;
    let mut points = Vec::new();
    let mut before: Option<(f64, [f64; 4])> = None;
    for count in sizes(texts.len()) {
        let texts = &texts[..count];
        let runs = if count < MANY { 3 } else { 1 };
        let least = (1..runs).fold(run(texts), |least, _| run(texts).least(&least));
        let [read, order, join] = least.seconds;
        let seconds = [read, order, join, read + order + join];
        let documents = count as f64;
        let growth: Vec<String> = (0..4)
            .map(|phase| match before {
                Some((fewer, took)) => {
                    format!("{:.2}", (seconds[phase] / took[phase]).ln() / (documents / fewer).ln())
                }
                None => "-".to_owned(),
            })
            .collect();
        println!(
            "| {name} | {count} | {} | {read:.3} | {order:.3} | {join:.3} | {:.3} | {} | {} | {:.2} | {} |",
            least.pairs,
            seconds[3],
            growth[..3].join(", "),
            growth[3],
            least.processor,
            least.peak / 1_000_000
        );
        points.push((documents, seconds[3]));
        before = Some((documents, seconds));
    }
    points
}

/// Twice as many each time to 200,000, then 1, 2, 5 and 10 million, but no more than there are.
fn sizes(most: usize) -> Vec<usize> {
    let sizes = (0..4).map(|n| SMALLEST << n).chain([1_000_000, 2_000_000, 5_000_000, 10_000_000]);
    sizes.filter(|&size| size <= most).collect()
}

/// The texts of a file of lines `id<TAB>text`.
fn read(path: &str) -> Vec<String> {
    let lines = BufReader::new(std::fs::File::open(path).expect("a file of texts")).lines();
    lines.map(|line| line.expect("text").split_once('\t').expect("id, tab, text").1.to_owned()).collect()
}
