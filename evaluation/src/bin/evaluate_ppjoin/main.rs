//! The experiments of section 7 of Xiao, Wang, Lin and Yu (WWW 2008) on other corpora: the tables
//! and plots `ppjoin` of evaluation/pages/ppjoin.md, printed, and written to FOLDER.
//!
//!     cargo run --release -p neardup-evaluation --bin evaluate_ppjoin -- DATA FOLDER
//!
//! Records are titles with authors (bib_dblp_acm_a), news (en_reuters_a) and pages of sites made of
//! articles of DATA, as words and as 3-grams of characters. Times are processor seconds of one
//! thread, from ordered records to the last pair.

use neardup_evaluation::bootstrap;
use neardup_evaluation::corpora;
use neardup_evaluation::processor;
use neardup_evaluation::sites;

mod joining;
use neardup_evaluation::plot;
mod quality;
mod records;
use neardup_evaluation::small;
mod without_lemma;

use std::path::{Path, PathBuf};

use joining::{ALGORITHMS, Joined};
use neardup_core::features::{FeatureSpec, Tokenizer};
use neardup_core::text::html::html_text;
use neardup_core::verify::measure::Measure;
use neardup_evaluation::chart::{self, Chart, Curve, Point};
use records::Records;

const THRESHOLDS: [f64; 4] = [0.95, 0.9, 0.85, 0.8];
const WORDS: FeatureSpec = FeatureSpec::WORDS;
const GRAMS: FeatureSpec = FeatureSpec { tokenizer: Tokenizer::Chars, shingle: 3, ..FeatureSpec::WORDS };
/// How many pages of sites are joined.
const PAGES: usize = 5000;
/// Candidates of All-Pairs, PPJoin and PPJoin+ in table 1 of the paper, by the threshold.
const OF_PAPER: [(f64, [u32; 3]); 3] = [
    (0.95, [199_268, 176_971, 32_397]),
    (0.9, [1_857_987, 657_200, 36_318]),
    (0.8, [16_983_319, 3_303_232, 63_265]),
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let data = PathBuf::from(arguments.next().expect("the folder of the corpora"));
    let folder = PathBuf::from(arguments.next().expect("the folder for the plots"));
    let share = if small::small() { 5 } else { 1 };
    let texts =
        |name: &str| -> Vec<String> { corpora::texts(&data, name).into_iter().step_by(share).collect() };
    let (titles, news) = (texts("bib_dblp_acm_a"), texts("en_reuters_a"));
    let pages: Vec<String> =
        sites::pages(&data, PAGES / share).iter().map(|page| html_text(&page.html, None)).collect();
    let inputs = [
        Records::new("titles, words", &titles, &WORDS),
        Records::new("titles, 3-grams", &titles, &GRAMS),
        Records::new("news, words", &news, &WORDS),
        Records::new("news, 3-grams", &news, &GRAMS),
        Records::new("pages of sites, words", &pages, &WORDS),
    ];
    println!("### Candidates and times (Table 1, Figure 3 a to f)\n");
    inputs.iter().for_each(|input| candidates(input, Measure::Jaccard, &folder));
    println!("the paper's 873,524 titles, words, Jaccard: \n| t | All-Pairs | PPJoin | PPJoin+ |");
    println!("|---|---:|---:|---:|");
    for (t, candidates) in OF_PAPER {
        println!("| {t} | {} |", candidates.map(|count| count.to_string()).join(" | "));
    }
    println!();
    println!("### Cosine (Figure 3 g to j)\n");
    [&inputs[0], &inputs[2]].into_iter().for_each(|input| candidates(input, Measure::Cosine, &folder));
    println!("### Growth (Figures 1 and 3 k, l)\n");
    growth(&inputs[4], &folder);
    println!("### q-grams and shingles (Table 2)\n");
    quality::table(&[("titles", &titles), ("news", &news), ("pages of sites", &pages)]);
}

/// What each algorithm looks at, and the time it takes.
fn join_all(sets: &[Vec<i64>], measure: Measure, t: f64) -> Vec<Joined> {
    let joined: Vec<Joined> =
        ALGORITHMS.iter().map(|(_, algorithm)| joining::join(sets, measure, t, *algorithm)).collect();
    assert!(joined.iter().all(|join| join.pairs == joined[0].pairs), "all find the same");
    joined
}

/// The head of the columns of all algorithms, and the cells of their joins.
fn heads() -> String {
    let heads: Vec<String> = ALGORITHMS.iter().map(|(name, _)| format!("{name} | ms")).collect();
    heads.join(" | ")
}

fn cells(joined: &[Joined]) -> String {
    let cells: Vec<String> =
        joined.iter().map(|join| format!("{} | {:.1}", join.candidates, 1000.0 * join.seconds)).collect();
    cells.join(" | ")
}

/// No line yet for each algorithm.
fn lines() -> Vec<plot::Line> {
    let line = |(name, _): &(&str, _)| plot::Line { name: (*name).to_owned(), points: Vec::new() };
    ALGORITHMS.iter().map(line).collect()
}

/// A table of one input, for each threshold a row, and the plot of its times.
fn candidates(input: &Records, measure: Measure, folder: &Path) {
    println!(
        "{} ({} records, {:.0} tokens each), {measure:?}: ",
        input.name,
        input.sets.len(),
        input.tokens()
    );
    println!("| t | pairs | All-Pairs, whole prefix indexed | {} |", heads());
    println!("|---|---:|---:|{}", "---:|".repeat(2 * ALGORITHMS.len()));
    let mut times = lines();
    for t in THRESHOLDS {
        let joined = join_all(&input.sets, measure, t);
        let whole = match measure {
            Measure::Jaccard => without_lemma::candidates(&input.sets, t).to_string(),
            _ => "-".to_owned(),
        };
        println!("| {t} | {} | {whole} | {} |", joined[0].pairs, cells(&joined));
        for (line, join) in times.iter_mut().zip(&joined) {
            line.points.push((t, 1000.0 * join.seconds));
        }
    }
    let name = format!("{} {measure:?}", input.name).replace([',', ' ', '-'], "_").to_lowercase();
    let title = format!("{}, {measure:?}: time of the processor", input.name);
    let plot = plot::amounts(&title, "least similarity", "ms", &times);
    let file = format!("ppjoin_time_{}.svg", name.replace("__", "_"));
    std::fs::write(folder.join(&file), plot).expect("a folder for plots");
    println!("\n![Times]({file})\n");
}

/// How candidates and time grow with the number of records, at 0.9.
fn growth(input: &Records, folder: &Path) {
    const SHARES: [usize; 5] = [20, 40, 60, 80, 100];
    const T: f64 = 0.9;
    println!("{}, Jaccard at {T}: ", input.name);
    println!("| records | pairs | {} |", heads());
    println!("|---:|---:|{}", "---:|".repeat(2 * ALGORITHMS.len()));
    // What neardup takes compares as many as PPJoin here, and would hide its curve.
    let drawn = ALGORITHMS.len() - 1;
    let mut counts: Vec<Vec<(f64, u64)>> = vec![Vec::new(); 1 + drawn];
    let mut times = lines();
    for share in SHARES {
        let sets = input.sample(share);
        let joined = join_all(&sets, Measure::Jaccard, T);
        let records = sets.len() as f64;
        let of_share = share as f64 / 100.0;
        counts[0].push((of_share, joined[0].pairs));
        for (count, join) in counts[1..].iter_mut().zip(&joined) {
            count.push((of_share, join.candidates));
        }
        for (time, join) in times.iter_mut().zip(&joined) {
            // As in the paper: what grows as the square is a straight line.
            time.points.push((records, (1000.0 * join.seconds).sqrt()));
        }
        println!("| {} | {} | {} |", sets.len(), joined[0].pairs, cells(&joined));
    }
    println!("\n![Candidates](ppjoin_growth.svg)\n\n![Times](ppjoin_growth_time.svg)\n");
    let write = |name: &str, plot: String| {
        std::fs::write(folder.join(name), plot).expect("a folder for plots");
    };
    write("ppjoin_growth.svg", growth_of_candidates(&counts));
    write("ppjoin_growth_time.svg", plot::amounts("Time at 0.9, pages of sites", "records", "√ms", &times));
}

/// The square roots of counts, as parts of that of the candidates of All-Pairs of all records: what
/// grows as the square is straight, and the paper's records are beside ours.
fn growth_of_candidates(counts: &[Vec<(f64, u64)>]) -> String {
    let all = counts[1].last().map_or(1, |count| count.1).max(1) as f64;
    let names = ["pairs"].into_iter().chain(ALGORITHMS.iter().map(|(name, _)| *name));
    let curve = |(name, counts): (&str, &Vec<(f64, u64)>)| {
        let point = |&(x, count): &(f64, u64)| Point { x, y: (count as f64 / all).sqrt(), interval: None };
        Curve { name: name.to_owned(), points: counts.iter().map(point).collect() }
    };
    let curves: Vec<Curve> = names.zip(counts).map(curve).collect();
    chart::svg(&Chart {
        title: "√(candidates / those of All-Pairs of all records), at 0.9",
        x_title: "share of the 5,000 pages; the paper: of 873,524 titles",
        factors: false,
        x_ticks: &[0.2, 0.4, 0.6, 0.8, 1.0],
        curves: &curves,
        paper: &OF_PAPER[1].1.map(|count| (1.0, (f64::from(count) / f64::from(OF_PAPER[1].1[0])).sqrt())),
        paper_name: "the three of the paper",
    })
}
