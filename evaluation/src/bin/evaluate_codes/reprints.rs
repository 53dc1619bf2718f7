//! Chinese articles on the pages of many sites: what the paper is about. Its tables II to IV.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use neardup_core::executor::Stop;
use neardup_core::features::FeatureSpec;
use neardup_core::features::codes::{CodeSpec, feature_code};
use neardup_core::joins::sketches::combination::TechniqueSpec;
use neardup_core::methods::Method;
use neardup_core::methods::sets::Sets;
use neardup_core::methods::sketches::Sketches;
use neardup_core::sketches::checksum::checksum;
use neardup_core::text::html::html_text;
use neardup_core::verify::measure::Measure;

use crate::bootstrap::{self, Part, numbered, parts};
use crate::chart::{self, Chart, Curve, Point};
use crate::elimination::{Eliminated, equal, of_pairs, repeated, share};
use crate::sites::articles::Language;
use crate::sites::changes::Change;
use crate::sites::{self, Page, SHARES};
use crate::{paper, periods, plot, processor};

/// A name, how many pages have a key, which go, and seconds.
type Experiment = (&'static str, usize, Vec<Eliminated>, f64);

/// The threshold of experiment V.
const THRESHOLD: f64 = 0.75;

/// Chinese pages, and what is read of them.
struct Reprints {
    pages: Vec<Page>,
    titles: Vec<String>,
    /// The article alone; with its title and date; all that the page shows.
    purified: Vec<String>,
    nearly: Vec<String>,
    whole: Vec<String>,
}

impl Reprints {
    fn new(data: &Path, count: usize) -> Self {
        let mut pages = sites::pages(data, count);
        pages.retain(|page| page.language == Language::Chinese);
        let between = |page: &Page, from: &str, to: &str| {
            let rest = page.html.split_once(from).expect("a part of the page").1;
            html_text(rest.split_once(to).expect("its end").0, None)
        };
        let each = |of: &dyn Fn(&Page) -> String| pages.iter().map(of).collect::<Vec<_>>();
        let titles = each(&|page| between(page, "<h1>", "</h1>"));
        let nearly = each(&|page| between(page, "<main>", "</main>"));
        let purified = each(&|page| {
            let (_, article) = page.html.split_once("class=\"date\">").expect("a date");
            let (_, article) = article.split_once("</p>").expect("its end");
            html_text(article.split_once("</main>").expect("the end of the article").0, None)
        });
        let whole = each(&|page| html_text(&page.html, None));
        Self { pages, titles, purified, nearly, whole }
    }

    /// How many of these go for a page with the same article.
    fn right(&self, gone: &[Eliminated]) -> usize {
        gone.iter().filter(|&&(a, b)| self.article(a) == self.article(b)).count()
    }

    fn article(&self, page: u32) -> u32 {
        self.pages[page as usize].article
    }

    /// How many pages are not the first with their article.
    fn redundant(&self) -> usize {
        equal(self.pages.iter().map(|page| Some(page.article))).1.len()
    }

    /// The number of each page's article, and how many there are: what is drawn for intervals.
    fn groups(&self) -> (Vec<u32>, usize) {
        numbered(&self.pages.iter().map(|page| page.article).collect::<Vec<_>>())
    }

    /// What each article adds to the precision of what goes.
    fn precision(&self, (of, groups): &(Vec<u32>, usize), gone: &[Eliminated]) -> Vec<Part> {
        let goes = |&(a, b): &Eliminated| (of[a as usize], self.article(a) == self.article(b));
        parts(*groups, gone.iter().map(goes))
    }

    /// Of some of these pages, the share that goes for a page with the same article.
    fn recall(&self, gone: &[Eliminated], is: impl Fn(&Page) -> bool) -> String {
        let stays: HashMap<u32, u32> = gone.iter().copied().collect();
        let (_, later) = equal(self.pages.iter().map(|page| Some(page.article)));
        let of: Vec<u32> =
            later.into_iter().map(|(page, _)| page).filter(|&page| is(&self.pages[page as usize])).collect();
        let goes =
            |page: &&u32| stays.get(page).is_some_and(|&other| self.article(**page) == self.article(other));
        share(of.iter().filter(goes).count(), of.len())
    }

    /// What goes by each of experiments I to V: how many have a key, which go, seconds.
    fn experiments(&self, texts: &[String]) -> Vec<Experiment> {
        let stop = Stop::default();
        let sum = |text: &String, clean| checksum(text, clean, &stop).expect("memory");
        let code = |text: &String| feature_code(text, &CodeSpec::default(), &stop).expect("memory");
        let timed = |name, work: &dyn Fn() -> (usize, Vec<Eliminated>)| {
            let began = processor::seconds();
            let (effective, gone) = work();
            (name, effective, gone, processor::seconds() - began)
        };
        let some = |key: String| Some(key).filter(|key| !key.is_empty());
        vec![
            timed("I: equal title", &|| equal(self.titles.iter().map(|title| some(title.clone())))),
            timed("II: equal MD5 of the page", &|| equal(self.whole.iter().map(|text| sum(text, false)))),
            timed("III: equal MD5 of the text", &|| equal(texts.iter().map(|text| sum(text, true)))),
            timed("IV: equal code", &|| equal(texts.iter().map(|text| some(code(text))))),
            timed("V: repeatability 0.75", &|| (texts.len(), repeated(texts, THRESHOLD))),
        ]
    }

    /// The cells of a row: how many go, of how many, rightly, and of those that should.
    fn row(&self, name: &str, effective: usize, gone: &[Eliminated], seconds: f64) -> Vec<String> {
        let right = self.right(gone);
        vec![
            name.to_owned(),
            effective.to_string(),
            gone.len().to_string(),
            format!("{:.2} %", 100.0 * gone.len() as f64 / self.pages.len() as f64),
            share(right, gone.len()),
            share(right, self.redundant()),
            format!("{seconds:.3}"),
        ]
    }
}

/// Prints the tables; the plots of precision and of recall by the threshold.
pub fn print(data: &Path, count: usize) -> [String; 2] {
    let reprints = Reprints::new(data, count);
    let pages = reprints.pages.len();
    println!("### Reprinted pages: titles, checksums, codes (Table II)\n");
    println!("{pages} pages, {} of them with an article that an earlier one has.\n", reprints.redundant());
    let head = ["method", "effective", "eliminated", "rate", "precision", "recall", "s"].map(str::to_owned);
    let inputs = [
        ("the article alone (purified)", &reprints.purified),
        ("with its title and date", &reprints.nearly),
        ("the whole page", &reprints.whole),
    ];
    let mut purified = Vec::new();
    for (name, texts) in inputs {
        println!("Texts: {name}: \n");
        let found = reprints.experiments(texts);
        let rows: Vec<_> =
            found.iter().map(|(name, effective, gone, s)| reprints.row(name, *effective, gone, *s)).collect();
        plot::table(&head, &rows);
        if purified.is_empty() {
            purified = found;
        }
    }
    println!("The paper: \n");
    plot::table(&head, &paper::rows(&paper::TABLE_II));
    let mut decided: Vec<(&str, Vec<Eliminated>)> = Vec::new();
    decided.extend(purified.iter().rev().map(|(name, _, gone, _)| (*name, gone.clone())));
    decided.extend(contenders(&reprints, &head));
    intervals(&reprints, &decided);
    by_change(&reprints, &purified);
    by_template(&reprints);
    thresholds(&reprints, &inputs.map(|(name, texts)| (name, texts.as_slice())))
}

/// Table III: codes of full stops, and methods of neardup that are not made for reprints.
fn contenders(reprints: &Reprints, head: &[String]) -> [(&'static str, Vec<Eliminated>); 4] {
    println!("### Contenders (Table III)\n");
    let texts = &reprints.purified;
    let mut rows = Vec::new();
    let mut timed = |name: &str, work: &dyn Fn() -> (usize, Vec<Eliminated>)| {
        let began = processor::seconds();
        let (effective, gone) = work();
        rows.push(reprints.row(name, effective, &gone, processor::seconds() - began));
    };
    timed("M1: repeatability 0.75", &|| (texts.len(), repeated(texts, THRESHOLD)));
    for half in [1, 2, 5] {
        let name = format!("M2: full stops, {half} on each side");
        let code = |text: &String| Some(periods::code(text, half)).filter(|code| !code.is_empty());
        timed(&name, &|| equal(texts.iter().map(code)));
    }
    let jaccard = |shingle, t| Sets {
        spec: FeatureSpec { shingle, ..FeatureSpec::WORDS },
        ..Sets::of_words(Measure::Jaccard, t).expect("a threshold")
    };
    let containment = Sets::of_words(Measure::Containment, 0.9).expect("a threshold");
    let simhash = Sketches::by_technique(TechniqueSpec::Simhash {
        feature: FeatureSpec { multiset: false, ..FeatureSpec::WORDS },
        bits: 64,
        frequency: true,
        threshold: 61.0 / 64.0,
    });
    let methods: [(&str, &dyn Method); 4] = [
        ("jaccard 0.75", &jaccard(1, THRESHOLD)),
        ("jaccard 0.75, 3-shingles", &jaccard(3, THRESHOLD)),
        ("containment 0.9", &containment),
        ("simhash, 61 of 64", &simhash),
    ];
    let found = methods.map(|(name, method)| {
        let began = processor::seconds();
        let gone = of_pairs(texts, method);
        rows.push(reprints.row(name, texts.len(), &gone, processor::seconds() - began));
        (name, gone)
    });
    rows.extend(paper::rows(&paper::TABLE_III));
    plot::table(head, &rows);
    found
}

/// Intervals of precision and recall of the purified texts; articles are drawn, with their pages.
fn intervals(reprints: &Reprints, decided: &[(&str, Vec<Eliminated>)]) {
    println!("### Intervals: the article alone\n");
    println!("Drawn: articles with their pages; the first is repeatability.\n");
    let groups = reprints.groups();
    let group = |page: u32| groups.0[page as usize];
    let (_, later) = equal(reprints.pages.iter().map(|page| Some(page.article)));
    let mut first: Option<[Vec<Part>; 2]> = None;
    let rows: Vec<Vec<String>> = decided
        .iter()
        .map(|(name, gone)| {
            let right = |&(a, b): &Eliminated| reprints.article(a) == reprints.article(b);
            let precision = reprints.precision(&groups, gone);
            let rightly: HashSet<u32> = gone.iter().filter(|pair| right(pair)).map(|pair| pair.0).collect();
            let recall =
                parts(groups.1, later.iter().map(|&(page, _)| (group(page), rightly.contains(&page))));
            let both = [precision, recall];
            let cells = |n: usize| bootstrap::cells(&both[n], first.as_ref().map(|first| &first[n][..]));
            let row = [vec![(*name).to_owned()], cells(0), cells(1)].concat();
            first.get_or_insert(both);
            row
        })
        .collect();
    let head =
        [vec!["method".to_owned()], bootstrap::heads("precision"), bootstrap::heads("recall")].concat();
    plot::table(&head, &rows);
}

/// What goes of the redundant pages, by what was done to their article.
fn by_change(reprints: &Reprints, experiments: &[Experiment]) {
    println!("### Recall, by what was done to the article\n");
    let rows: Vec<Vec<String>> = experiments
        .iter()
        .map(|(name, _, gone, _)| {
            let of = |change| reprints.recall(gone, |page| page.change == change);
            std::iter::once((*name).to_owned()).chain(Change::ALL.map(of)).collect()
        })
        .collect();
    let head: Vec<String> =
        std::iter::once("method").chain(Change::ALL.iter().map(|c| c.name())).map(str::to_owned).collect();
    plot::table(&head, &rows);
}

/// Repeatability on whole pages, by how much of them is template.
fn by_template(reprints: &Reprints) {
    println!("### Whole pages, by the share of the template: repeatability 0.75\n");
    let gone = repeated(&reprints.whole, THRESHOLD);
    let share_of = |page: u32| reprints.pages[page as usize].share;
    let row = |&template: &u32| {
        let of: Vec<Eliminated> = gone.iter().filter(|gone| share_of(gone.0) == template).copied().collect();
        let recall = reprints.recall(&gone, |page| page.share == template);
        vec![format!("{template} %"), of.len().to_string(), share(reprints.right(&of), of.len()), recall]
    };
    let rows: Vec<Vec<String>> = SHARES.iter().map(row).collect();
    plot::table(&["template", "eliminated", "precision", "recall"].map(str::to_owned), &rows);
}

/// Table IV, and its plots.
fn thresholds(reprints: &Reprints, inputs: &[(&str, &[String])]) -> [String; 2] {
    println!("### Thresholds of repeatability (Table IV)\n");
    let head: Vec<String> = std::iter::once("threshold".to_owned())
        .chain(inputs.iter().flat_map(|(name, _)| {
            [format!("{name}: eliminated"), "precision".to_owned(), "recall".to_owned()]
        }))
        .chain(["the paper: eliminated", "its precision"].map(str::to_owned))
        .collect();
    let groups = reprints.groups();
    let (_, later) = equal(reprints.pages.iter().map(|page| Some(page.article)));
    let redundant = parts(groups.1, later.iter().map(|&(page, _)| (groups.0[page as usize], true)));
    let curve = |&(name, _): &(&str, _)| Curve {
        name: name.split(" (").next().unwrap_or(name).to_owned(),
        points: Vec::new(),
    };
    let mut curves: [Vec<Curve>; 2] = [0, 1].map(|_| inputs.iter().map(curve).collect());
    let mut rows = Vec::new();
    let mut of_paper = paper::TABLE_IV.iter();
    for percent in (50..=100).rev().step_by(5) {
        let threshold = f64::from(percent) / 100.0;
        let mut row = vec![format!("{threshold:.2}")];
        for (n, (_, texts)) in inputs.iter().enumerate() {
            let gone = repeated(texts, threshold);
            let right = reprints.right(&gone);
            row.extend([
                gone.len().to_string(),
                share(right, gone.len()),
                share(right, reprints.redundant()),
            ]);
            let precision = reprints.precision(&groups, &gone);
            let recall: Vec<Part> = precision.iter().zip(&redundant).map(|(a, b)| [a[0], b[1]]).collect();
            for (curves, groups) in curves.iter_mut().zip([precision, recall]) {
                curves[n].points.extend(Point::of(threshold, &groups));
            }
        }
        row.extend(of_paper.next().unwrap_or(&["-", "-"]).map(str::to_owned));
        rows.push(row);
    }
    plot::table(&head, &rows);
    println!(
        "![Precision by threshold](codes_thresholds.svg)\n\n![Recall by threshold](codes_thresholds_recall.svg)\n"
    );
    let of_paper = (0..)
        .zip(paper::TABLE_IV)
        .filter_map(|(n, [_, precision])| Some((1.0 - f64::from(n) * 0.05, precision.parse().ok()?)));
    let of_paper: Vec<(f64, f64)> = of_paper.collect();
    let plot = |title, curves: &[Curve], paper: &[(f64, f64)]| {
        chart::svg(&Chart {
            title,
            x_title: "least repeatability",
            factors: false,
            x_ticks: &[0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
            curves,
            paper,
            paper_name: "the paper",
        })
    };
    [
        plot("Reprinted pages: precision", &curves[0], &of_paper),
        plot("Reprinted pages: recall", &curves[1], &[]),
    ]
}
