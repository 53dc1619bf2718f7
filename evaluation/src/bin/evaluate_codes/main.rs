//! The tables of Guo et al. (feature codes, section IV) on reprinted pages and on other corpora,
//! and the time of elimination: the tables and plots `codes` of evaluation/pages/codes.md, printed,
//! and written to FOLDER.
//!
//!     cargo run --release -p neardup-evaluation --bin evaluate_codes -- DATA FOLDER
//!
//! Reprinted pages are those pages of sites made of articles of DATA that are Chinese
//! (core/tests/common/sites).

use neardup_evaluation::bootstrap;
use neardup_evaluation::chart;
use neardup_evaluation::corpora;
mod elimination;
use neardup_evaluation::log_plot;
mod made;
mod noise;
mod other_texts;
mod paper;
mod periods;
use neardup_evaluation::plot;
use neardup_evaluation::processor;
mod reprints;
mod settings;
use neardup_evaluation::sites;
use neardup_evaluation::small;
mod times;

use std::path::PathBuf;

/// Of these about a third are Chinese: about as many as the paper has.
const PAGES: usize = 75_000;

/// The first three have labels or long texts; near duplicates of the last three were not sorted
/// out by anybody.
const CORPORA: [&str; 6] =
    ["zh_news_a", "zh_poetry_a", "zh_law_a", "zh_titles_a", "rec_zh_company_a", "zh_sts_a"];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let data = PathBuf::from(arguments.next().expect("the folder of the corpora"));
    let folder = PathBuf::from(arguments.next().expect("the folder for the plots"));
    let write =
        |name: &str, plot: String| std::fs::write(folder.join(name), plot).expect("a folder for plots");
    let small = small::small();
    noise::print(&data, if small { 300 } else { usize::MAX });
    let [precision, recall] = reprints::print(&data, if small { 3000 } else { PAGES });
    write("codes_thresholds.svg", precision);
    write("codes_thresholds_recall.svg", recall);
    for name in CORPORA {
        other_texts::compare(&data, name);
    }
    settings::table(&data, &CORPORA);
    write("codes_time.svg", times::measure(if small { 30_000 } else { u64::MAX }));
}
