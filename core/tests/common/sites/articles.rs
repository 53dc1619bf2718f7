//! Articles: news, abstracts, laws and poems of the corpora, each unlike all others.

use std::collections::HashSet;
use std::fs::{File, read_to_string};
use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use neardup_core::text::sentences::sentences;

use super::super::corpora;

/// What an article is written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    English,
    Chinese,
}

/// A title, and paragraphs of some sentences.
pub struct Article {
    pub language: Language,
    pub title: String,
    pub paragraphs: Vec<Vec<String>>,
}

/// Shorter texts are notes without a content; longer ones are cut into articles of this length.
const CHARACTERS: std::ops::Range<usize> = 150..4000;

impl Article {
    /// Characters of its paragraphs.
    pub fn letters(&self) -> usize {
        self.paragraphs.iter().flatten().map(|sentence| sentence.chars().count()).sum()
    }

    fn new(language: Language, sentences: Vec<String>) -> Self {
        let title = match language {
            Language::English => sentences[0].split_whitespace().take(9).collect::<Vec<_>>().join(" "),
            Language::Chinese => sentences[0].chars().take(18).collect(),
        };
        let paragraphs = sentences.chunks(3).map(<[String]>::to_vec).collect();
        Self { language, title, paragraphs }
    }
}

/// All articles. Of texts of which half of the words are the same, or which are labelled as the
/// same, only one.
pub fn read(data: &Path) -> Vec<Article> {
    let corpora = [
        ("en_reuters_a", Language::English),
        ("en_ohsumed_a", Language::English),
        ("zh_news_a", Language::Chinese),
        ("zh_law_a", Language::Chinese),
        ("zh_poetry_a", Language::Chinese),
    ];
    let mut articles = Vec::new();
    for (name, language) in corpora {
        let left_out = near_duplicates(&data.join(name));
        for document in corpora::documents(data, name) {
            if left_out.contains(&corpora::id(&document)) {
                continue;
            }
            let text = corpora::text(&document).replace("<!-- INFO END -->", "");
            let (mut open, mut length) = (Vec::new(), 0);
            for span in sentences(&text) {
                let sentence = span.slice(&text).split_whitespace().collect::<Vec<_>>().join(" ");
                length += sentence.chars().count();
                open.push(sentence);
                if length >= CHARACTERS.end {
                    articles.push(Article::new(language, std::mem::take(&mut open)));
                    length = 0;
                }
            }
            if length >= CHARACTERS.start {
                articles.push(Article::new(language, open));
            }
        }
    }
    articles
}

/// The documents of a corpus that are near duplicates of one before them, as its labels or its
/// computed pairs say.
fn near_duplicates(corpus: &Path) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut pair = |line: &str| {
        found.extend(line.split('\t').nth(1).map(str::to_owned));
    };
    for file in ["cjk1_mul_j50", "word_mul_j50", "word_sh5_j50"] {
        if let Ok(file) = File::open(corpus.join(format!("gt/{file}.tsv.gz"))) {
            let lines = BufReader::new(GzDecoder::new(file)).lines().skip(1);
            lines.for_each(|line| pair(&line.expect("a line")));
        }
    }
    read_to_string(corpus.join("label_pairs.tsv")).unwrap_or_default().lines().skip(1).for_each(pair);
    let clusters = read_to_string(corpus.join("label_clusters.tsv")).unwrap_or_default();
    let mut seen = HashSet::new();
    for (id, cluster) in clusters.lines().skip(1).filter_map(|line| line.split_once('\t')) {
        if !seen.insert(cluster) {
            found.insert(id.to_owned());
        }
    }
    found
}
