//! Pages whose articles stand in frames twice: as they are, and with their thirds in another order.

use std::collections::HashSet;
use std::path::Path;

use crate::candidates::Pair;
use crate::corpora::Corpus;
use crate::sites::articles::{self, Language};
use crate::small::small;

/// The frames, each of which all pages of a site have.
const SITES: usize = 10;
/// Characters of a frame above an article, and below it.
const HALF: usize = 250;
/// Characters of an article, so that a frame is about a third of a page.
const CHARACTERS: std::ops::Range<usize> = 800..1800;
const ORDERS: [[usize; 3]; 5] = [[1, 2, 0], [2, 0, 1], [2, 1, 0], [1, 0, 2], [0, 2, 1]];

/// The pages, two for each article, and the site of each.
pub fn thirds(data: &Path) -> (Corpus, Vec<u32>) {
    let mut articles: Vec<Vec<String>> = articles::read(data)
        .into_iter()
        .filter(|article| article.language == Language::English && CHARACTERS.contains(&article.letters()))
        .map(|article| article.paragraphs.concat())
        .filter(|sentences| sentences.len() >= 3)
        .take(SITES + if small() { 20 } else { 200 })
        .collect();
    let frames: Vec<String> = articles.drain(..SITES).map(|sentences| sentences.join(" ")).collect();
    let (mut texts, mut labelled, mut sites) = (Vec::new(), HashSet::<Pair>::new(), Vec::new());
    for (number, sentences) in articles.iter().enumerate() {
        let thirds: Vec<&[String]> = (0..3)
            .map(|third| &sentences[third * sentences.len() / 3..(third + 1) * sentences.len() / 3])
            .collect();
        labelled.insert((texts.len() as u32, texts.len() as u32 + 1));
        // One article in ten stands on one site in both orders.
        let pages = [(number % SITES, [0, 1, 2]), (number / SITES % SITES, ORDERS[number % ORDERS.len()])];
        for (site, order) in pages {
            let article = order.map(|third| thirds[third].join(" ")).join(" ");
            texts.push(framed(&frames[site], &article));
            sites.push(site as u32);
        }
    }
    (Corpus { name: "framed, thirds moved".to_owned(), texts, labelled }, sites)
}

fn framed(frame: &str, article: &str) -> String {
    let part = |from: usize| frame.chars().skip(from).take(HALF).collect::<String>();
    format!("{}\n{article}\n{}", part(0), part(HALF))
}
