//! Pages of sites: passages of articles, which are known, and of templates.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::path::Path;

use neardup_core::features::units::signatures::Features;
use neardup_core::passages::{Parameters, Passage};
use neardup_core::text::html::html_text;

use crate::searching::{imatch, passages, shingles};
use crate::sites::changes::Change;
use crate::sites::{self, Page};

/// The texts of pages, and where their articles are.
pub struct Framed {
    pub texts: Vec<String>,
    pub pages: Vec<Page>,
    /// The bytes of the article of each page, with its title.
    pub articles: Vec<Range<usize>>,
    /// Pages with the same article, the lesser number first.
    truth: Vec<(u32, u32)>,
}

impl Framed {
    pub fn made(data: &Path, count: usize) -> Self {
        let pages = sites::pages(data, count);
        let texts: Vec<String> = pages.iter().map(|page| html_text(&page.html, None)).collect();
        let article = |(page, text): (&Page, &String)| {
            let main = page.html.split_once("<main>").and_then(|(_, rest)| rest.split_once("</main>"));
            let own = html_text(main.expect("an article").0, None);
            let start = text.find(own.trim()).expect("the text of a page has its article's");
            start..start + own.trim().len()
        };
        let articles = pages.iter().zip(&texts).map(article).collect();
        let truth = sites::truth(&pages);
        Self { texts, pages, articles, truth }
    }

    /// Whether a passage is of the articles of both pages: half of it is in the article, or half of
    /// the article in it.
    pub fn is_of_articles(&self, passage: &Passage, starts: &Starts) -> bool {
        [(passage.left_row, &passage.left_span), (passage.right_row, &passage.right_span)].iter().all(
            |(row, span)| {
                let article = &starts.0[*row as usize];
                let inside = span.end.min(article.end).saturating_sub(span.start.max(article.start));
                2 * inside >= span.len().min(article.len())
            },
        )
    }

    /// Whether a passage is of the articles of two pages that have the same one.
    pub fn is_of_one_article(&self, passage: &Passage, starts: &Starts) -> bool {
        let [a, b] = [passage.left_row, passage.right_row].map(|row| self.pages[row as usize].article);
        a == b && self.is_of_articles(passage, starts)
    }

    /// The articles in characters, as passages have their spans.
    pub fn starts(&self) -> Starts {
        let of = |(text, bytes): (&String, &Range<usize>)| {
            let before = text[..bytes.start].chars().count();
            before..before + text[bytes.clone()].chars().count()
        };
        Starts(self.texts.iter().zip(&self.articles).map(of).collect())
    }
}

/// Where articles are, in characters.
pub struct Starts(Vec<Range<usize>>);

/// A share with three digits; none of nothing.
pub fn share(part: usize, of: usize) -> String {
    if of == 0 { "-".to_owned() } else { format!("{:.3}", part as f64 / of as f64) }
}

/// What passages say of pages: which of them have the same article.
pub fn table(framed: &Framed) {
    println!("### Pages of sites: passages of articles and of templates, and pages with the same article\n");
    let kinds = ["one site", "two sites"].map(str::to_owned).into_iter();
    let kinds: Vec<String> = kinds.chain(Change::ALL.map(|change| change.name().to_owned())).collect();
    println!(
        "| setting | passages | of articles | pairs of pages | same article | by articles alone: pairs | same article | recall | {} |",
        kinds.join(" | ")
    );
    println!("|---|{}", "---:|".repeat(7 + kinds.len()));
    let starts = framed.starts();
    for (name, features, threshold, min_sentences) in [
        ("I-Match, 1 sentence", imatch(), 0.9, 1),
        ("I-Match, 3 sentences", imatch(), 0.9, 3),
        ("I-Match, 6 sentences", imatch(), 0.9, 6),
        ("4-shingles at 0.9, 3 sentences", shingles(4), 0.9, 3),
        ("2-shingles at 0.5, 3 sentences", shingles(2), 0.5, 3),
    ] {
        let cells = row(framed, &starts, features, threshold, min_sentences);
        println!("| {name} | {} |", cells.join(" | "));
    }
    println!();
}

fn row(
    framed: &Framed,
    starts: &Starts,
    features: Features,
    threshold: f64,
    min_sentences: u32,
) -> Vec<String> {
    let parameters = Parameters { features, threshold, min_sentences, ..Parameters::default() };
    let found = passages(&framed.texts, &parameters);
    // Pairs of pages, and whether a passage of articles is among what they share.
    let mut pairs: BTreeMap<(u32, u32), bool> = BTreeMap::new();
    let mut of_articles = 0;
    for passage in &found {
        let pair = (passage.left_row.min(passage.right_row), passage.left_row.max(passage.right_row));
        let is_of_articles = framed.is_of_articles(passage, starts);
        of_articles += usize::from(is_of_articles);
        *pairs.entry(pair).or_default() |= is_of_articles;
    }
    let page = |n: u32| &framed.pages[n as usize];
    let is_same = |(a, b): (u32, u32)| page(a).article == page(b).article;
    let same = pairs.keys().filter(|&&pair| is_same(pair)).count();
    let by_articles: HashSet<(u32, u32)> =
        pairs.iter().filter(|(_, by_article)| **by_article).map(|(&pair, _)| pair).collect();
    let right = by_articles.iter().filter(|&&pair| is_same(pair)).count();
    let recall = |kind: &dyn Fn((u32, u32)) -> bool| {
        let all = framed.truth.iter().filter(|&&pair| kind(pair));
        let (found, all) =
            all.fold((0, 0), |(found, all), pair| (found + usize::from(by_articles.contains(pair)), all + 1));
        share(found, all)
    };
    let mut cells = vec![
        found.len().to_string(),
        share(of_articles, found.len()),
        pairs.len().to_string(),
        share(same, pairs.len()),
        by_articles.len().to_string(),
        share(right, by_articles.len()),
        recall(&|_| true),
        recall(&|(a, b)| page(a).site == page(b).site),
        recall(&|(a, b)| page(a).site != page(b).site),
    ];
    cells.extend(Change::ALL.map(|change| {
        recall(&|(a, b)| {
            let changes = [page(a).change, page(b).change];
            changes == [Change::None, change] || changes == [change, Change::None]
        })
    }));
    cells
}
