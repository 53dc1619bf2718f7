//! Time against the number of documents, beside SpotSigs of whole documents: figure 11 of Zhang et
//! al. (SIGIR 2010).

use std::path::Path;

use neardup_core::executor::PlainThreads;
use neardup_core::methods::corpus::Corpus;
use neardup_core::passages::Parameters;
use neardup_core::storage::files::{MemoryFiles, Resources};
use neardup_core::text::html::html_text;

use crate::beyond::by_spotsigs;
use crate::log_plot::{self, Line, Plot};
use crate::searching::{few_texts, for_each_batch, imatch, shingles};
use crate::{processor, sites};

/// The greatest number of pages is so many times that of the other tables.
const TIMES: usize = 4;
/// Halves of it.
const SIZES: u32 = 5;

/// Pages of sites and news, doubled; the plot of the former.
pub fn table(data: &Path, pages: usize) -> String {
    println!("### Time (Figure 11)\n");
    println!(
        "| corpus | documents | I-Match: s | passages | 4-shingles: s | passages | SpotSigs 0.44: s | pairs | SpotSigs 0.8: s | pairs |"
    );
    println!("|---|{}", "---:|".repeat(9));
    let mut lines: Vec<Line> = ["passages by I-Match", "passages by 4-shingles", "SpotSigs 0.44"]
        .map(|name| (name.to_owned(), Vec::new()))
        .into();
    for halves in (0..SIZES).rev() {
        // As many pages a site in each size.
        let made = sites::pages(data, (TIMES * pages) >> halves);
        let texts: Vec<String> = made.iter().map(|page| html_text(&page.html, None)).collect();
        let seconds = row("pages of sites", &texts);
        for (line, seconds) in lines.iter_mut().zip(seconds) {
            line.1.push((texts.len() as f64, seconds.max(1e-3)));
        }
    }
    let news = few_texts(data, "en_reuters_a");
    for halves in (0..3).rev() {
        row("en_reuters_a", &news[..news.len() >> halves]);
    }
    println!("\n![Time](passages_growth.svg)\n");
    let plot = Plot { title: "Time, pages of sites", x_title: "pages", unit: "s", dots: false };
    log_plot::svg(&plot, &lines)
}

/// Processor seconds of one thread: of passages by both signatures, and of whole documents.
fn row(name: &str, texts: &[String]) -> [f64; 3] {
    let mut cells = vec![name.to_owned(), texts.len().to_string()];
    let mut times = Vec::new();
    for features in [imatch(), shingles(4)] {
        let parameters = Parameters { features, ..Parameters::default() };
        let (began, mut count) = (processor::seconds(), 0);
        for_each_batch(texts, &parameters, 1, |batch| count += batch.len());
        times.push(processor::seconds() - began);
        cells.extend([format!("{:.2}", times[times.len() - 1]), count.to_string()]);
    }
    for threshold in [0.44, 0.8] {
        let resources = Resources { files: &MemoryFiles, budget: 1 << 30, executor: &PlainThreads(1) };
        let began = processor::seconds();
        let (pairs, _) =
            Corpus::of_texts(texts).pairs_with(&by_spotsigs(threshold), resources).expect("memory");
        times.push(processor::seconds() - began);
        cells.extend([format!("{:.2}", times[times.len() - 1]), pairs.len().to_string()]);
    }
    println!("| {} |", cells.join(" | "));
    [times[0], times[1], times[2]]
}
