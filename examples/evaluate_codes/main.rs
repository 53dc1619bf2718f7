//! The tables of Guo et al. (feature codes, section IV) on other corpora, and the time of elimination: their section of
//! docs/evaluation.md.
//!
//!     cargo run --release --no-default-features --example evaluate_codes -- FOLDER_OF_CORPORA FOLDER_FOR_PLOTS

#[path = "../../tests/common/corpora.rs"]
mod corpus;
#[path = "../common/log_plot.rs"]
mod log_plot;
mod made;
mod methods;
#[allow(dead_code, reason = "only its tables are printed here")]
#[path = "../common/plot.rs"]
mod plot;
mod times;

use std::path::PathBuf;

fn main() {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let (Some(data), Some(plots)) = (arguments.next(), arguments.next()) else {
        eprintln!("evaluate_codes FOLDER_OF_CORPORA FOLDER_FOR_PLOTS");
        std::process::exit(2);
    };
    for name in ["zh_news_a", "zh_poetry_a", "zh_law_a"] {
        methods::compare(&data, name);
    }
    std::fs::write(plots.join("codes_time.svg"), times::measure()).expect("a plot");
}
