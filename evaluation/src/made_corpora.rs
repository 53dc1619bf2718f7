//! Corpora of made texts, in the form of the real ones: so that every evaluation runs where there
//! are none. Their words have the frequencies of a language and no meaning; what is a near
//! duplicate of what is known. Figures of such texts say that a program works, and nothing of
//! texts that people wrote.

use std::fs::{File, create_dir_all};
use std::io::{Result, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use neardup_core::hash::mix;
use serde_json::{Value, json};

/// Numbers that are the same on every machine, and texts made of them.
struct Writer(u64);

impl Writer {
    fn next(&mut self) -> u64 {
        self.0 += 1;
        mix(mix(self.0))
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// A rank of a vocabulary: the first one as often as all from the tenth part of it on.
    fn rank(&mut self, vocabulary: f64) -> u64 {
        let share = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        vocabulary.powf(share) as u64
    }

    fn word(&mut self) -> String {
        const SYLLABLES: [&str; 16] = [
            "ba", "de", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va", "we", "zi", "gro", "sta", "len",
        ];
        let mut rank = self.rank(20_000.0);
        let mut word = String::new();
        while rank > 0 || word.is_empty() {
            word.push_str(SYLLABLES[(rank % 16) as usize]);
            rank /= 16;
        }
        word
    }

    fn character(&mut self) -> char {
        char::from_u32(0x4E00 + self.rank(3000.0) as u32).expect("a Han character")
    }

    fn sentence(&mut self, chinese: bool) -> String {
        let length = 9 + self.below(10);
        if chinese {
            let half = |writer: &mut Self| -> String { (0..length).map(|_| writer.character()).collect() };
            return format!("{}，{}。", half(self), half(self));
        }
        let words: Vec<String> = (0..length).map(|_| self.word()).collect();
        let text = words.join(" ");
        format!("{}{}.", text[..1].to_uppercase(), &text[1..])
    }

    fn sentences(&mut self, chinese: bool, count: u64) -> Vec<String> {
        (0..count).map(|_| self.sentence(chinese)).collect()
    }

    /// Paragraphs of three sentences.
    fn text(&mut self, chinese: bool, sentences: u64) -> String {
        joined(&self.sentences(chinese, sentences), chinese)
    }

    /// A text in which some words, or characters, of a hundred are others.
    fn edited(&mut self, text: &str, chinese: bool, percent: u64) -> String {
        if chinese {
            let other = |c: char| {
                if !"，。\n".contains(c) && self.below(100) < percent { self.character() } else { c }
            };
            return text.chars().map(other).collect();
        }
        let lines = text.split('\n').map(|line| {
            let words = line.split(' ').map(|word| match self.below(100) < percent {
                true => self.word(),
                false => word.to_owned(),
            });
            words.collect::<Vec<_>>().join(" ")
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn joined(sentences: &[String], chinese: bool) -> String {
    let paragraphs = sentences.chunks(3).map(|own| own.join(if chinese { "" } else { " " }));
    paragraphs.collect::<Vec<_>>().join("\n")
}

/// The documents of a corpus, and files of labels: their names, heads and lines.
struct Made {
    name: &'static str,
    documents: Vec<Value>,
    labels: Vec<(&'static str, &'static str, Vec<String>)>,
}

impl Made {
    fn new(name: &'static str, texts: Vec<String>) -> Self {
        let document = |(n, text): (usize, String)| json!({ "id": format!("d{n}"), "text": text });
        Self { name, documents: texts.into_iter().enumerate().map(document).collect(), labels: Vec::new() }
    }

    /// With a cluster of each `size` documents that follow one another.
    fn clustered(mut self, size: usize) -> Self {
        let line = |n: usize| format!("d{n}\tc{}", n / size);
        let lines = (0..self.documents.len()).map(line).collect();
        self.labels.push(("label_clusters.tsv", "id\tcluster", lines));
        self
    }

    /// With a label for every two documents that follow one another.
    fn paired(mut self) -> Self {
        let lines = (0..self.documents.len() / 2).map(|n| format!("d{}\td{}\t1", 2 * n, 2 * n + 1));
        self.labels.push(("label_pairs.tsv", "id1\tid2\tlabel", lines.collect()));
        self
    }

    fn write(&self, folder: &Path) -> Result<()> {
        let folder = folder.join(self.name);
        create_dir_all(&folder)?;
        let mut file = GzEncoder::new(File::create(folder.join("docs.jsonl.gz"))?, Compression::fast());
        for document in &self.documents {
            writeln!(file, "{document}")?;
        }
        file.finish()?;
        for (name, head, lines) in &self.labels {
            std::fs::write(folder.join(name), format!("{head}\n{}\n", lines.join("\n")))?;
        }
        Ok(())
    }
}

/// Texts in groups of `versions`: the first, and edits of it.
fn versions(writer: &mut Writer, chinese: bool, groups: u64, versions: u64, sentences: u64) -> Vec<String> {
    let mut texts = Vec::new();
    for _ in 0..groups {
        let first = writer.text(chinese, sentences);
        for version in 0..versions {
            texts.push(writer.edited(&first, chinese, 2 * version));
        }
    }
    texts
}

/// Texts of which every fifth is an edit of the one before it.
fn news(writer: &mut Writer, chinese: bool, count: u64, sentences: u64) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for n in 0..count {
        let length = sentences / 2 + writer.below(sentences);
        texts.push(match texts.last() {
            Some(last) if n % 5 == 4 => writer.edited(last, chinese, 1 + n % 7),
            _ => writer.text(chinese, length),
        });
    }
    texts
}

/// Pages of one site: a menu, and a text.
fn pages(made: &mut Made, menu: &str) {
    for document in &mut made.documents {
        let text = document["text"].as_str().unwrap_or_default().to_owned();
        let paragraphs: String = text.lines().map(|line| format!("<p>{line}</p>\n")).collect();
        document["html"] = json!(format!("<html><body><nav>{menu}</nav>\n{paragraphs}</body></html>"));
        document["text"] = json!(format!("{menu}\n{text}"));
    }
}

/// News into which three sentences of other news are copied, with their places in characters.
fn planted(writer: &mut Writer, name: &'static str, chinese: bool) -> Made {
    const PAIRS: u64 = 40;
    const KINDS: [&str; 2] = ["verbatim", "edit5"];
    let (mut texts, mut lines) = (Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        let kind = KINDS[(pair % 2) as usize];
        let (mut host, donor) = (writer.sentences(chinese, 9), writer.sentences(chinese, 9));
        for n in 3..6 {
            host[n] = match kind {
                "verbatim" => donor[n].clone(),
                _ => writer.edited(&donor[n], chinese, 5),
            };
        }
        let texts_of_pair = [joined(&host, chinese), joined(&donor, chinese)];
        let place = |text: &str, sentence: &str| {
            let begins = text[..text.find(sentence).expect("a sentence of the text")].chars().count();
            [begins, begins + sentence.chars().count()]
        };
        for n in 3..6 {
            let ([a, b], [c, d]) = (place(&texts_of_pair[0], &host[n]), place(&texts_of_pair[1], &donor[n]));
            lines.push(format!("d{}\td{}\t{kind}\t{a}\t{b}\t{c}\t{d}", 2 * pair, 2 * pair + 1));
        }
        texts.extend(texts_of_pair);
    }
    let mut made = Made::new(name, texts);
    made.labels.push(("spans.tsv", "id1\tid2\tkind\tstart1\tend1\tstart2\tend2", lines));
    made
}

/// A page, and its readable part: the ids begin with `s` and with `x`.
fn readable(writer: &mut Writer) -> Made {
    let menu = writer.text(false, 4);
    let texts: Vec<String> = (0..40).flat_map(|_| vec![writer.text(false, 15); 2]).collect();
    let mut made = Made::new("html_readability_a", texts).paired();
    pages(&mut made, &menu);
    for (n, document) in made.documents.iter_mut().enumerate() {
        let side = if n % 2 == 0 { 's' } else { 'x' };
        document["id"] = json!(format!("{side}_{}", n / 2));
        if side == 'x' {
            let strip = |value: &Value, part: &str| value.as_str().unwrap_or_default().replace(part, "");
            document["html"] = json!(strip(&document["html"], &format!("<nav>{menu}</nav>")));
            document["text"] = json!(strip(&document["text"], &format!("{menu}\n")));
        }
    }
    made.labels[0].2 = (0..40).map(|n| format!("s_{n}\tx_{n}\t1")).collect();
    made
}

/// Writes all corpora that evaluations read into a folder.
pub fn write(folder: &Path) -> Result<()> {
    let mut writer = Writer(1);
    let writer = &mut writer;
    let menus = [writer.text(false, 6), writer.text(true, 6)];
    let mut documentation = Made::new("html_kafka_a", versions(writer, false, 20, 3, 30)).clustered(3);
    pages(&mut documentation, &menus[0]);
    let mut chinese_pages = Made::new("html_zh_a", news(writer, true, 20, 15));
    pages(&mut chinese_pages, &menus[1]);
    let all = [
        Made::new("en_reuters_a", news(writer, false, 300, 12)),
        Made::new("en_ohsumed_a", news(writer, false, 150, 12)),
        Made::new("zh_news_a", news(writer, true, 200, 12)),
        Made::new("zh_law_a", versions(writer, true, 40, 2, 40)).clustered(2),
        Made::new("zh_poetry_a", versions(writer, true, 150, 2, 6)).paired(),
        Made::new("bib_dblp_acm_a", versions(writer, false, 300, 2, 2)).paired(),
        Made::new("en_bible_a", versions(writer, false, 60, 6, 2)).clustered(6),
        Made::new("zh_titles_a", news(writer, true, 300, 2)),
        Made::new("rec_zh_company_a", news(writer, true, 100, 3)),
        Made::new("zh_sts_a", news(writer, true, 200, 2)),
        planted(writer, "planted_en_a", false),
        planted(writer, "planted_zh_a", true),
        readable(writer),
        documentation,
        chinese_pages,
    ];
    all.iter().try_for_each(|made| made.write(folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpora;

    #[test]
    fn corpora_can_be_read_and_places_are_right() {
        let folder = std::env::temp_dir().join(format!("neardup_made_{}", std::process::id()));
        write(&folder).expect("a folder");
        let names = corpora::names(&folder);
        assert_eq!(names.len(), 15);
        for name in &names {
            let corpus = corpora::Corpus::read(&folder, name);
            let has_labels = !["en_reuters_a", "en_ohsumed_a", "zh_news_a", "zh_titles_a", "zh_sts_a"]
                .contains(&name.as_str())
                && !["rec_zh_company_a", "html_zh_a"].contains(&name.as_str());
            assert_eq!(!corpus.labelled.is_empty(), has_labels, "{name}");
            assert!(corpus.texts.iter().all(|text| !text.is_empty()), "{name}");
        }
        for name in ["planted_en_a", "planted_zh_a"] {
            let texts = corpora::texts(&folder, name);
            let spans = std::fs::read_to_string(folder.join(name).join("spans.tsv")).expect("spans");
            for line in spans.lines().skip(1).filter(|line| line.contains("verbatim")) {
                let fields: Vec<&str> = line.split('\t').collect();
                let of = |id: usize, at: usize| -> String {
                    let number: usize = fields[id][1..].parse().expect("a number");
                    let [from, to] = [at, at + 1].map(|n| fields[n].parse::<usize>().expect("a place"));
                    texts[number].chars().skip(from).take(to - from).collect()
                };
                assert_eq!(of(0, 3), of(1, 5), "{name}: {line}");
            }
        }
        std::fs::remove_dir_all(folder).expect("the folder");
    }
}
