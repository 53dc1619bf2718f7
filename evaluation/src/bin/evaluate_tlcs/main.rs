//! The experiments of Huang, Wang and Li (CIKM 2008) on corpora with labels and on pages of sites:
//! the tables and plots `tlcs` of evaluation/pages/tlcs.md, printed, and written to FOLDER.
//!
//!     cargo run --release -p neardup-evaluation --bin evaluate_tlcs -- DATA FOLDER [PAGES]

mod candidates;
use neardup_evaluation::chart;
mod contenders;
use neardup_evaluation::bootstrap;
use neardup_evaluation::corpora;
mod defaults;
mod inputs;
use neardup_evaluation::labels;
mod measure;
mod moved;
mod of_sets;
use neardup_evaluation::pages;
use neardup_evaluation::plot;
use neardup_evaluation::processor;
use neardup_evaluation::sites;
mod slopes;
use neardup_evaluation::small;
mod steps;
mod tables;
mod windows;

use std::path::PathBuf;
use std::time::Instant;

use inputs::Input;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let data = PathBuf::from(arguments.next().expect("the folder of the corpora"));
    let folder = PathBuf::from(arguments.next().expect("the folder for the plots"));
    let pages = if small::small() { 120 } else { 2000 };
    let pages = arguments.next().map_or(pages, |count| count.parse().expect("how many pages"));
    let save = |name: &str, svg: String| std::fs::write(folder.join(name), svg).expect("a folder for plots");
    let began = Instant::now();
    let step = |name: &str| eprintln!("{name}: begins after {:.0} s", began.elapsed().as_secs_f64());
    step("reading");
    let inputs = Input::all(&data, pages);
    inputs::table(&inputs);
    step("contenders");
    tables::tables(&inputs, &Input::of_pages(&data, pages / 2));
    step("steps");
    steps::table(&inputs);
    step("signatures");
    let [coverage, trustable] = of_sets::signatures(&inputs);
    save("tlcs_signatures.svg", coverage);
    save("tlcs_trustable.svg", trustable);
    step("windows");
    let [strained, reserved] = windows::rates(&inputs);
    save("tlcs_window.svg", strained);
    save("tlcs_reserve.svg", reserved);
    step("slopes");
    save("tlcs_slope.svg", slopes::precision(&inputs));
    step("regions");
    slopes::regions(inputs.iter().chain([&Input::of_moved(&data)]));
    step("defaults");
    defaults::fingerprints(&inputs);
    defaults::dispersed(&inputs);
}
