//! The experiments of Zhang, Zhang, Yu and Huang (SIGIR 2010) on planted passages, news and pages
//! of sites: the tables and plots `passages` of evaluation/pages/passages.md, printed, and written
//! to FOLDER.
//!
//!     cargo run --release -p neardup-evaluation --bin evaluate_passages -- DATA FOLDER [PAGES]
//!
//! DATA holds planted_en_a and planted_zh_a, news into which sentences of others were copied at
//! known places, and en_reuters_a, html_kafka_a, html_zh_a and zh_news_a; pages of sites are made
//! of its articles.

mod beyond;
use neardup_evaluation::bootstrap;
use neardup_evaluation::chart;
mod characters;
mod content;
use neardup_evaluation::corpora;
mod figures;
mod framed;
mod growth;
use neardup_evaluation::log_plot;
mod planted;
use neardup_evaluation::plot;
use neardup_evaluation::processor;
mod score;
mod searching;
mod sentences;
use neardup_evaluation::sites;
use neardup_evaluation::small;
mod tables;
mod types;
mod wrap;

use std::path::PathBuf;
use std::time::Instant;

use framed::Framed;
use planted::Planted;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let data = PathBuf::from(arguments.next().expect("the folder of the corpora"));
    let folder = PathBuf::from(arguments.next().expect("the folder for the plots"));
    let pages = if small::small() { 80 } else { 1000 };
    let pages = arguments.next().map_or(pages, |count| count.parse().expect("how many pages"));
    let save = |name: &str, svg: String| std::fs::write(folder.join(name), svg).expect("a folder for plots");
    let began = Instant::now();
    let step = |name: &str| eprintln!("{name}: begins after {:.0} s", began.elapsed().as_secs_f64());

    step("reading");
    let planted: Vec<Planted> =
        ["planted_en_a", "planted_zh_a"].iter().map(|name| Planted::read(&data, name)).collect();
    let framed = Framed::made(&data, pages);
    step("sentences");
    for (name, svg) in figures::figures(&planted, &framed) {
        save(name, svg);
    }
    step("sequences");
    tables::signatures(&planted);
    tables::settings(&planted);
    tables::edited(&planted);
    tables::lengths(&planted);
    tables::edits(&planted);
    tables::wrapping(&planted);
    step("widths");
    tables::widths(&data, &planted);
    step("pages of sites");
    framed::table(&framed);
    step("types");
    types::table(&data, &framed);
    step("beyond");
    beyond::table(&data, &framed);
    step("growth");
    save("passages_growth.svg", growth::table(&data, pages));
}
