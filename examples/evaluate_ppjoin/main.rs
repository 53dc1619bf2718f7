//! The experiments of section 7 of Xiao, Wang, Lin and Yu (WWW 2008) on other corpora: the tables and plots `ppjoin` of
//! docs/evaluation/ppjoin.md, printed, and written to FOLDER.
//!
//!     cargo run --release --no-default-features --example evaluate_ppjoin -- DATA FOLDER
//!
//! Records are titles with authors (bib_dblp_acm_a), news (en_reuters_a) and pages of sites made of articles of DATA, as words
//! and as 3-grams of characters. Times are processor seconds of one thread, from ordered records to the last pair.

#[path = "../../tests/common/corpora.rs"]
mod corpora;
#[path = "../../benches/common/processor.rs"]
mod processor;
#[path = "../../tests/common/sites/mod.rs"]
mod sites;

mod joining;
#[path = "../common/log_plot.rs"]
mod log_plot;
mod quality;
mod records;
mod without_lemma;

use std::path::{Path, PathBuf};

use joining::{ALGORITHMS, Joined};
use neardup::features::{FeatureSpec, Tokenizer};
use neardup::text::html::html_text;
use neardup::verify::measure::Measure;
use records::Records;

const THRESHOLDS: [f64; 4] = [0.95, 0.9, 0.85, 0.8];
const WORDS: FeatureSpec = FeatureSpec::WORDS;
const GRAMS: FeatureSpec = FeatureSpec { tokenizer: Tokenizer::Chars, shingle: 3, ..FeatureSpec::WORDS };
/// How many pages of sites are joined.
const PAGES: usize = 5000;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let data = PathBuf::from(arguments.next().expect("the folder of the corpora"));
    let folder = PathBuf::from(arguments.next().expect("the folder for the plots"));
    let titles = corpora::texts(&data, "bib_dblp_acm_a");
    let news = corpora::texts(&data, "en_reuters_a");
    let pages: Vec<String> =
        sites::pages(&data, PAGES).iter().map(|page| html_text(&page.html, None)).collect();
    let inputs = [
        Records::new("titles, words", &titles, &WORDS),
        Records::new("titles, 3-grams", &titles, &GRAMS),
        Records::new("news, words", &news, &WORDS),
        Records::new("news, 3-grams", &news, &GRAMS),
        Records::new("pages of sites, words", &pages, &WORDS),
    ];
    println!("### Candidates and times (Table 1, Figure 3)\n");
    inputs.iter().for_each(|input| candidates(input, Measure::Jaccard));
    println!("### Cosine (Figure 3 g to j)\n");
    [&inputs[0], &inputs[2]].into_iter().for_each(|input| candidates(input, Measure::Cosine));
    println!("### Growth (Figures 1 and 3 k, l)\n");
    growth(&inputs[4], &folder);
    println!("### q-grams and shingles (Table 2)\n");
    quality::table(&[("news", &news), ("pages of sites", &pages)]);
}

/// A table of one input: for each threshold what each algorithm looks at, and the time it takes.
fn candidates(input: &Records, measure: Measure) {
    println!(
        "{} ({} records, {:.0} tokens each), {measure:?}: ",
        input.name,
        input.sets.len(),
        input.tokens()
    );
    let heads: Vec<String> =
        ALGORITHMS.iter().flat_map(|(name, _)| [(*name).to_owned(), "s".to_owned()]).collect();
    println!("| t | pairs | All-Pairs, whole prefix indexed | {} |", heads.join(" | "));
    println!("|---|---:|---:|{}", "---:|".repeat(heads.len()));
    for t in THRESHOLDS {
        let joined: Vec<Joined> = ALGORITHMS
            .iter()
            .map(|(_, algorithm)| joining::join(&input.sets, measure, t, *algorithm))
            .collect();
        assert!(joined.iter().all(|join| join.pairs == joined[0].pairs), "all find the same");
        let whole = match measure {
            Measure::Jaccard => without_lemma::candidates(&input.sets, t).to_string(),
            _ => "-".to_owned(),
        };
        let cells: Vec<String> = joined
            .iter()
            .flat_map(|join| [join.candidates.to_string(), format!("{:.2}", join.seconds)])
            .collect();
        println!("| {t} | {} | {whole} | {} |", joined[0].pairs, cells.join(" | "));
    }
    println!();
}

/// How candidates and time grow with the number of records, at 0.9.
fn growth(input: &Records, folder: &Path) {
    const SHARES: [usize; 5] = [20, 40, 60, 80, 100];
    const T: f64 = 0.9;
    let heads: Vec<&str> = ALGORITHMS.iter().flat_map(|(name, _)| [*name, "s"]).collect();
    println!("{}, Jaccard at {T}: ", input.name);
    println!("| records | pairs | {} |\n|---:|---:|{}", heads.join(" | "), "---:|".repeat(heads.len()));
    let mut lines: Vec<log_plot::Line> = vec![("pairs".to_owned(), Vec::new())];
    lines.extend(ALGORITHMS.iter().map(|(name, _)| ((*name).to_owned(), Vec::new())));
    for share in SHARES {
        let sets = input.sample(share);
        let joined: Vec<Joined> = ALGORITHMS
            .iter()
            .map(|(_, algorithm)| joining::join(&sets, Measure::Jaccard, T, *algorithm))
            .collect();
        let records = sets.len() as f64;
        lines[0].1.push((records, joined[0].pairs as f64));
        for (line, join) in lines[1..].iter_mut().zip(&joined) {
            line.1.push((records, join.candidates as f64));
        }
        let cells: Vec<String> = joined
            .iter()
            .flat_map(|join| [join.candidates.to_string(), format!("{:.2}", join.seconds)])
            .collect();
        println!("| {} | {} | {} |", sets.len(), joined[0].pairs, cells.join(" | "));
    }
    println!();
    let plot = log_plot::Plot {
        title: "Candidates at 0.9, pages of sites",
        x_title: "records",
        unit: "pairs",
        dots: false,
    };
    std::fs::write(folder.join("ppjoin_growth.svg"), log_plot::svg(&plot, &lines))
        .expect("a folder for plots");
}
