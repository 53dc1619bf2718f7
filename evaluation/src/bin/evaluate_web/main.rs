//! How well shingling, simhash and their combination tell near duplicates among web pages: the
//! tables and plots `web` of evaluation/pages/web.md, printed, and written to FOLDER.
//!
//!     cargo run --release -p neardup-evaluation --bin evaluate_web -- DATA FOLDER [PAGES]
//!
//! Pages with labels: DATA holds html_kafka_a, whose labels say which pages are versions of one,
//! all of one site; and html_readability_a, whose labels pair a page with its readable part, as
//! another site would show it. Then PAGES pages of many sites, made of articles of DATA
//! (core/tests/common/sites).

use neardup_evaluation::bootstrap;
use neardup_evaluation::chart;
use neardup_evaluation::labels;
use neardup_evaluation::log_plot;
mod pages;
use neardup_evaluation::sites;
use neardup_evaluation::small;
mod techniques;
mod templates;

use std::path::PathBuf;

use pages::{Pages, Pair};
use techniques::Named;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let data = PathBuf::from(arguments.next().expect("the folder of the corpora"));
    let folder = PathBuf::from(arguments.next().expect("the folder for the plots"));
    let usual = if small::small() { 1500 } else { 10_000 };
    let count = arguments.next().map_or(usual, |count| count.parse().expect("how many pages"));
    let techniques = techniques::all();

    // In the second, the page as it is, and its readable part elsewhere: pairs of two sites.
    let readable = |id: &str| if id.starts_with('x') { "elsewhere" } else { "here" };
    for pages in [
        ("html_kafka_a", Pages::read(&data, "html_kafka_a", |_| "kafka")),
        ("html_readability_a", Pages::read(&data, "html_readability_a", readable)),
    ] {
        let (name, pages) = pages;
        println!("### {name}\n");
        let found = find(&pages, &techniques);
        pages.table(&found);
        pages.intervals(&found);
    }

    println!("### Articles in the templates of sites\n");
    for (name, plot) in templates::print(&data, count, &techniques) {
        std::fs::write(folder.join(name), plot).expect("a folder for plots");
    }
}

/// What each technique finds.
fn find(pages: &Pages, techniques: &[Named]) -> Vec<(&'static str, Vec<Pair>)> {
    techniques.iter().map(|(name, combination)| (*name, pages.find(combination))).collect()
}
