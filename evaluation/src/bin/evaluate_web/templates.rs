//! Techniques on pages of many sites whose truth is known: by site, by the share of the template, by
//! what was done to the article; how many words the pairs differ in, and how many near duplicates a
//! page has.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use neardup_core::text::html::html_text;
use neardup_core::text::words::words;

use crate::bootstrap::numbered;
use crate::chart::{self, Chart, Curve, Point};
use crate::labels::Labels;
use crate::log_plot;
use crate::pages::{Pages, Pair, share};
use crate::sites::changes::Change;
use crate::sites::{self, Page, SHARES};
use crate::techniques::{MAIN, Named};

/// Pairs that are read for the words that they differ in.
const READ: usize = 2000;

/// Prints the tables; the plots, with the names of their files.
pub fn print(data: &Path, count: usize, techniques: &[Named]) -> [(&'static str, String); 4] {
    let made = sites::pages(data, count);
    let pages = Pages {
        html: made.iter().map(|page| page.html.clone()).collect(),
        sites: made.iter().map(|page| Some(format!("site{}", page.site))).collect(),
        labels: Labels::complete(sites::truth(&made).into_iter().collect()),
        groups: numbered(&made.iter().map(|page| page.site).collect::<Vec<_>>()),
    };
    let found = crate::find(&pages, techniques);
    pages.table(&found);
    println!("The paper, 1.6 billion pages: ");
    println!("| technique | precision | pairs of one site |\n|---|---:|---:|");
    println!("| shingling | 0.38 | over 0.9 |\n| simhash | 0.50 | 0.74 |\n| combined | 0.79 | - |\n");
    pages.intervals(&found);
    let main = &found[..MAIN];
    let [precision, recall] = by_template(&pages, &made, main);
    by_change(&pages, &made, main);
    let read: Vec<Vec<String>> = made.iter().map(|page| sorted_words(&page.html)).collect();
    let differences = differences(&pages, &read, main);
    println!("Near duplicates of a page: \n\n![How many near duplicates pages have](web_degrees.svg)\n");
    let plot = log_plot::Plot {
        title: "How many near duplicates pages have",
        x_title: "near duplicates of a page",
        unit: "pages",
        dots: true,
    };
    [
        ("web_templates.svg", precision),
        ("web_templates_recall.svg", recall),
        ("web_differences.svg", differences),
        ("web_degrees.svg", log_plot::svg(&plot, &degrees(main))),
    ]
}

/// The name of a technique, without what it is made of.
fn short(name: &str) -> String {
    name.split(':').next().unwrap_or(name).to_owned()
}

/// A row of a table for each technique, with its name.
fn rows(head: &[String], found: &[(&'static str, Vec<Pair>)], cells: impl Fn(&[Pair]) -> Vec<String>) {
    println!("| technique | {} |\n|---|{}", head.join(" | "), "---:|".repeat(head.len()));
    for (name, pairs) in found {
        println!("| {name} | {} |", cells(pairs).join(" | "));
    }
    println!();
}

/// Precision and recall of pairs of one site, by how much of its pages is template; their plots.
fn by_template(pages: &Pages, made: &[Page], found: &[(&'static str, Vec<Pair>)]) -> [String; 2] {
    println!("Pairs of one site, by the share of its template: ");
    let head: Vec<String> =
        SHARES.iter().flat_map(|share| [format!("{share} %: precision"), "recall".to_owned()]).collect();
    let is_of = |pair: Pair, share: u32| pages.same_site(pair) && made[pair.0 as usize].share == share;
    rows(&head, found, |pairs| {
        let cells = |&share: &u32| {
            let [_, precision, recall] = pages.figures(pairs, |pair| is_of(pair, share));
            [precision, recall]
        };
        SHARES.iter().flat_map(cells).collect()
    });
    println!(
        "![Precision by template](web_templates.svg)\n\n![Recall by template](web_templates_recall.svg)\n"
    );
    [(0, "Pairs of one site: precision"), (1, "Pairs of one site: recall")].map(|(figure, title)| {
        let curve = |(name, pairs): &(&str, Vec<Pair>)| {
            let groups = |share: u32| pages.parts(pairs, |pair| is_of(pair, share));
            let point = |&share: &u32| Point::of(f64::from(share), &groups(share)[figure]);
            Curve { name: short(name), points: SHARES.iter().filter_map(point).collect() }
        };
        let curves: Vec<Curve> = found.iter().map(curve).collect();
        plot(title, "template, % of a page", &SHARES.map(f64::from), &curves)
    })
}

/// A chart of our figures; what the paper has of them it does not give in numbers.
fn plot(title: &str, x_title: &str, x_ticks: &[f64], curves: &[Curve]) -> String {
    chart::svg(&Chart { title, x_title, factors: false, x_ticks, curves, paper: &[], paper_name: "" })
}

/// Recall by what was done to one of the two, the other being as it is.
fn by_change(pages: &Pages, made: &[Page], found: &[(&'static str, Vec<Pair>)]) {
    println!("Recall by what was done to one of the two articles, on one site and on two: ");
    let head: Vec<String> =
        Change::ALL.iter().flat_map(|change| [format!("{}: one", change.name()), "two".to_owned()]).collect();
    rows(&head, found, |pairs| {
        Change::ALL
            .iter()
            .flat_map(|&change| {
                [true, false].map(|same| {
                    let kind = |(a, b): Pair| {
                        let changes = [a, b].map(|page| made[page as usize].change);
                        let one = changes == [Change::None, change] || changes == [change, Change::None];
                        one && pages.same_site((a, b)) == same
                    };
                    let [_, _, recall] = pages.figures(pairs, kind);
                    recall
                })
            })
            .collect()
    });
}

fn sorted_words(html: &str) -> Vec<String> {
    let mut words = words(&html_text(html, None));
    words.sort_unstable();
    words
}

/// In how many words the pairs of a technique differ, those found rightly and those wrongly; the
/// plot of their distribution.
fn differences(pages: &Pages, read: &[Vec<String>], found: &[(&'static str, Vec<Pair>)]) -> String {
    println!("Words that are in one page of a pair and not in the other: ");
    let of_all: Vec<[Vec<usize>; 2]> = found
        .iter()
        .map(|(_, pairs)| {
            let mut of = [Vec::new(), Vec::new()];
            for pair in pairs.iter().step_by(pairs.len().div_ceil(READ).max(1)) {
                let differing = differing(&read[pair.0 as usize], &read[pair.1 as usize]);
                of[usize::from(!pages.labels.right.contains(pair))].push(differing);
            }
            of.map(|mut of| {
                of.sort_unstable();
                of
            })
        })
        .collect();
    println!(
        "| technique | right pairs: median | 90 % below | wrong pairs: median | 90 % below | more than 200 |"
    );
    println!("|---|---:|---:|---:|---:|---:|");
    let mut curves = Vec::new();
    for ((name, _), [right, wrong]) in found.iter().zip(&of_all) {
        let at = |of: &[usize], percent: usize| {
            of.get(of.len() * percent / 100).map_or("-".to_owned(), usize::to_string)
        };
        let all = right.len() + wrong.len();
        let many = right.iter().chain(wrong).filter(|&&n| n > 200).count();
        let cells = [at(right, 50), at(right, 90), at(wrong, 50), at(wrong, 90), share(many, all)];
        println!("| {name} | {} |", cells.join(" | "));
        let below = |words: u32| right.iter().chain(wrong).filter(|&&n| n <= words as usize).count();
        let point = |power: u32| {
            let y = below((1 << power) - 1) as f64 / all.max(1) as f64;
            Point { x: f64::from(power), y, interval: None }
        };
        curves.push(Curve { name: short(name), points: (0..=10).map(point).collect() });
    }
    println!("\n![Words that pairs differ in](web_differences.svg)\n");
    let ticks: Vec<f64> = (0..=10).map(f64::from).collect();
    plot("Share of the pairs that differ in fewer than 2ⁿ words", "n", &ticks, &curves)
}

/// How many words of two sorted lists are in only one of them.
fn differing(a: &[String], b: &[String]) -> usize {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, common) = (i + 1, j + 1, common + 1),
        }
    }
    a.len() + b.len() - 2 * common
}

/// For each technique, how many pages have how many near duplicates.
fn degrees(found: &[(&'static str, Vec<Pair>)]) -> Vec<log_plot::Line> {
    found
        .iter()
        .map(|(name, pairs)| {
            let mut of: HashMap<u32, usize> = HashMap::new();
            for &(a, b) in pairs {
                *of.entry(a).or_default() += 1;
                *of.entry(b).or_default() += 1;
            }
            let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
            of.values().for_each(|&degree| *counts.entry(degree).or_default() += 1);
            let points = counts.into_iter().map(|(degree, pages)| (degree as f64, pages as f64)).collect();
            (short(name), points)
        })
        .collect()
}
