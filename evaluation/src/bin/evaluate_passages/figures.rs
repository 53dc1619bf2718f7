//! Sentences by their signatures: figures 6 to 9 of Zhang et al. (SIGIR 2010).

use neardup_core::features::spotsigs::Antecedents;
use neardup_core::features::units::signatures::Features;
use neardup_core::passages::Parameters;

use crate::chart::{self, Chart, Curve, Point};
use crate::framed::Framed;
use crate::planted::Planted;
use crate::searching::{idf, imatch, shingles, spotsigs};
use crate::sentences::{ALIKE, Judged, Sentences};

/// Pages of sites whose sentences are judged, at most.
const PAGES: usize = 500;

/// All tables; the plots by their names.
pub fn figures(planted: &[Planted], framed: &Framed) -> Vec<(&'static str, String)> {
    let inputs = inputs(planted, framed, ALIKE);
    println!("### Sentences that are duplicates\n");
    println!(
        "| corpus | documents | sentences judged | pairs of duplicates | equal | planted sentences that are |"
    );
    println!("|---|---:|---:|---:|---:|---:|");
    for (n, input) in inputs.iter().enumerate() {
        let agree = planted
            .get(n)
            .map_or("-".to_owned(), |planted| format!("{:.3}", planted.read_as_duplicates(input)));
        println!(
            "| {} | {} | {} | {} | {:.3} | {agree} |",
            input.name,
            input.texts.len(),
            input.judged(),
            input.pairs,
            input.equal as f64 / input.pairs.max(1) as f64
        );
    }
    for (name, sentences, equal) in [("English", 57_135, 0.89), ("Chinese", 80_516, 0.91)] {
        println!("| the paper, {name} | 2000 | {sentences} | - | {equal} | - |");
    }
    println!();
    judges(planted, framed);
    let [english, chinese] = thresholds(&inputs);
    vec![
        ("passages_tau.svg", english),
        ("passages_tau_zh.svg", chinese),
        ("passages_idf.svg", idf_ranges(&inputs)),
        ("passages_antecedents.svg", antecedents(&inputs)),
    ]
}

/// The sentences of the planted corpora and of pages of sites; duplicates are as similar as `alike`.
fn inputs<'a>(planted: &'a [Planted], framed: &'a Framed, alike: f64) -> Vec<Sentences<'a>> {
    let whole = |text: &String| 0..text.len();
    let of = |planted: &'a Planted| {
        Sentences::new(planted.name, &planted.texts, alike, |row| whole(&planted.texts[row]))
    };
    let mut inputs: Vec<Sentences> = planted.iter().map(of).collect();
    let pages = &framed.texts[..framed.texts.len().min(PAGES)];
    inputs.push(Sentences::new("pages of sites", pages, alike, |row| framed.articles[row].clone()));
    inputs
}

/// What changes with the least similarity that the judge asks for.
fn judges(planted: &[Planted], framed: &Framed) {
    println!("### The judge: duplicates, and F1 of signatures, by the least edit similarity of duplicates\n");
    let settings = [
        ("2-shingles at 0.5", shingles(2), 0.5),
        ("2-shingles at 0.9", shingles(2), 0.9),
        ("4-shingles at 0.9", shingles(4), 0.9),
        ("I-Match", imatch(), 0.9),
        ("SpotSigs, 10,000 words, at 0.9", spotsigs(Antecedents::Counted(10_000)), 0.9),
    ];
    let names: Vec<&str> = settings.iter().map(|setting| setting.0).collect();
    println!("| corpus | judge | pairs of duplicates | equal | {} |", names.join(" | "));
    println!("|---|---:|---:|---:|{}", "---:|".repeat(names.len()));
    for alike in [0.6, 0.7, ALIKE, 0.9] {
        for input in inputs(planted, framed, alike) {
            let f1 = settings.iter().map(|(_, features, threshold)| {
                format!("{:.3}", input.judge(&parameters(features.clone(), *threshold)).score.f1())
            });
            println!(
                "| {} | {alike} | {} | {:.3} | {} |",
                input.name,
                input.pairs,
                input.equal as f64 / input.pairs.max(1) as f64,
                f1.collect::<Vec<_>>().join(" | ")
            );
        }
    }
    println!();
}

fn parameters(features: Features, threshold: f64) -> Parameters {
    Parameters { features, threshold, ..Parameters::default() }
}

/// Shingles and SpotSigs by the threshold; the plots of the two planted corpora.
fn thresholds(inputs: &[Sentences]) -> [String; 2] {
    const TAUS: [f64; 8] = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
    println!("### Sentences: F1 by the threshold of similarity (Figures 6 and 9)\n");
    println!("| corpus | signatures | {} |", TAUS.map(|tau| tau.to_string()).join(" | "));
    println!("|---|---|{}", "---:|".repeat(TAUS.len()));
    let mut curves: Vec<Vec<Curve>> = Vec::new();
    for input in inputs {
        let mut of_input = Vec::new();
        for (name, features) in [
            ("2-shingles", shingles(2)),
            ("3-shingles", shingles(3)),
            ("4-shingles", shingles(4)),
            ("SpotSigs, stop words", spotsigs(Antecedents::Common)),
            ("SpotSigs, 10,000 words", spotsigs(Antecedents::Counted(10_000))),
        ] {
            let all = TAUS.map(|tau| input.judge(&parameters(features.clone(), tau)));
            let f1 = all.each_ref().map(|judged| format!("{:.3}", judged.score.f1()));
            println!("| {} | {name} | {} |", input.name, f1.join(" | "));
            let points = TAUS.iter().zip(&all).filter_map(|(&tau, judged)| Point::of(tau, &judged.parts));
            of_input.push(Curve { name: name.to_owned(), points: points.collect() });
        }
        curves.push(of_input);
    }
    println!("\n![F1 of sentences by the threshold, English](passages_tau.svg)\n");
    println!("![F1 of sentences by the threshold, Chinese](passages_tau_zh.svg)\n");
    let plot = |n: usize, title: &str| {
        chart::svg(&Chart {
            title,
            x_title: "threshold of similarity (the paper: 0.9 is the best)",
            factors: false,
            x_ticks: &TAUS,
            curves: &curves[n],
            paper: &[],
            paper_name: "",
        })
    };
    [plot(0, "F1 of sentences: planted_en_a"), plot(1, "F1 of sentences: planted_zh_a")]
}

/// I-Match by the range of the idf.
fn idf_ranges(inputs: &[Sentences]) -> String {
    const RANGES: [(f64, f64); 9] = [
        (0.0, 1.0),
        (0.1, 1.0),
        (0.2, 1.0),
        (0.3, 1.0),
        (0.4, 1.0),
        (0.5, 1.0),
        (0.0, 0.9),
        (0.1, 0.9),
        (0.1, 0.7),
    ];
    println!("### Sentences by I-Match, by the range of the idf: precision / recall / F1 (Figure 7)\n");
    println!("| corpus | {} |", RANGES.map(|(lo, hi)| format!("[{lo}, {hi}]")).join(" | "));
    println!("|---|{}", "---:|".repeat(RANGES.len()));
    let mut curves = Vec::new();
    for input in inputs {
        let all = RANGES.map(|(lo, hi)| input.judge(&parameters(idf(lo, hi), 0.9)));
        let cells = all.each_ref().map(|judged| judged.score.cells().replace(" |", " /"));
        println!("| {} | {} |", input.name, cells.join(" | "));
        let of_one = RANGES.iter().zip(&all).filter(|(range, _)| range.1 == 1.0);
        let points = of_one.filter_map(|(range, judged)| Point::of(range.0, &judged.parts)).collect();
        curves.push(Curve { name: input.name.to_owned(), points });
    }
    println!("\n![F1 of sentences by the least idf](passages_idf.svg)\n");
    chart::svg(&Chart {
        title: "F1 of sentences by I-Match, idf up to 1",
        x_title: "least idf (the paper: 0.1 is the best)",
        factors: false,
        x_ticks: &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5],
        curves: &curves,
        // A precision of 1.4 % at a recall of nearly all.
        paper: &[(0.4, 2.0 * 0.014 / 1.014)],
        paper_name: "the paper, Chinese",
    })
}

/// SpotSigs by the number of antecedents.
fn antecedents(inputs: &[Sentences]) -> String {
    const COUNTS: [u32; 9] = [5, 10, 20, 60, 100, 500, 1000, 10_000, 20_000];
    println!(
        "### Sentences by SpotSigs, by the number of antecedents: F1, and signatures a sentence (Figure 8)\n"
    );
    println!("| corpus | {} | I-Match |", COUNTS.map(|count| count.to_string()).join(" | "));
    println!("|---|{}", "---:|".repeat(COUNTS.len() + 1));
    let mut curves = Vec::new();
    for input in inputs {
        let cell = |judged: &Judged| format!("{:.3}, {:.1}", judged.score.f1(), judged.signatures);
        let all =
            COUNTS.map(|count| input.judge(&parameters(spotsigs(Antecedents::Counted(count as _)), 0.9)));
        let cells: Vec<String> = all.iter().map(cell).collect();
        let equal = cell(&input.judge(&parameters(imatch(), 0.9)));
        println!("| {} | {} | {equal} |", input.name, cells.join(" | "));
        let points =
            COUNTS.iter().zip(&all).filter_map(|(&count, of)| Point::of(f64::from(count), &of.parts));
        curves.push(Curve { name: input.name.to_owned(), points: points.collect() });
    }
    println!("\n![F1 of sentences by the number of antecedents](passages_antecedents.svg)\n");
    chart::svg(&Chart {
        title: "F1 of sentences by SpotSigs",
        x_title: "antecedents",
        factors: true,
        x_ticks: &[5.0, 20.0, 100.0, 500.0, 2000.0, 10_000.0],
        curves: &curves,
        paper: &[(60.0, 0.952)],
        paper_name: "the paper, Chinese",
    })
}
