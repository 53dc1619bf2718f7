//! How good suggestions of a method and a threshold are: without labels by the F1 of what they
//! find, with labels by whether the true precision lies inside the interval. The tables of
//! evaluation/pages/suggest.md, printed.
//!
//!     cargo run --release -p neardup-evaluation --bin evaluate_suggest -- DATA FOLDER

mod inputs;
mod intervals;
mod without_labels;
use neardup_evaluation::corpora;
use neardup_evaluation::labels;
use neardup_evaluation::sites;
use neardup_evaluation::small;

use std::path::PathBuf;
use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let data = PathBuf::from(arguments.next().expect("the folder of the corpora"));
    let began = Instant::now();
    let step = |name: &str| eprintln!("{name}: begins after {:.0} s", began.elapsed().as_secs_f64());
    step("reading");
    let inputs = inputs::all(&data);
    step("without labels");
    without_labels::table(&inputs);
    step("intervals");
    intervals::table(&inputs);
}
