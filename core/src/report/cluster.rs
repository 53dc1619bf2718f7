//! A cluster on a page: its links, its versions next to the text of the representative, and its
//! documents.

use std::fmt::Write;

use super::html::{Beginning, Escaped};
use super::link::{LinkPattern, linked};
use super::numbers::{CountOf, Number, Ratio};
use super::pair::{ShownDocument, pair, titled};
use crate::clusters::summary::Summary;
use crate::error::Result;
use crate::executor::Stop;

/// A link of a cluster: the ids of a pair, its similarity, and the sizes of the two parts of the
/// cluster that the pair connects.
pub type WeakLink = (String, String, f64, [u32; 2]);

/// A document in a list.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The id as text.
    pub id: String,
    /// The title, if it has one.
    pub title: Option<String>,
}

/// Documents of a cluster that have the same text.
#[derive(Debug, Clone)]
pub struct Version {
    /// The documents.
    pub documents: Vec<Entry>,
    /// The similarity of the documents to the representative; `None` if they form no pairs with it.
    pub similarity: Option<f64>,
    /// The first of the documents, if it is to be compared with the representative.
    pub text: Option<ShownDocument>,
}

/// A cluster that is shown with its texts.
#[derive(Debug)]
pub struct Shown {
    /// The id of the cluster.
    pub id: String,
    /// The representative.
    pub representative: ShownDocument,
    /// The listed documents, grouped by text; the representative's text is first.
    pub versions: Vec<Version>,
    /// The number of rows.
    pub size: usize,
    /// The summary of its pairs.
    pub summary: Summary,
    /// Whether most rows of the cluster form no pair with the representative.
    pub is_chain: bool,
    /// Its weakest links, if it is large or a chain.
    pub links: Vec<WeakLink>,
}

/// The parts of a cluster that are not shown.
#[derive(Debug, Clone, Copy, Default)]
pub struct Omitted {
    /// The number of documents that are not listed.
    pub documents: u64,
    /// The number of versions that were chosen but not compared with the text of the
    /// representative.
    pub versions: u64,
}

impl Shown {
    /// Returns the number of listed documents.
    fn listed(&self) -> usize {
        self.versions.iter().map(|version| version.documents.len()).sum()
    }

    /// Reports whether all listed documents have the same text.
    pub fn is_identical(&self) -> bool {
        self.versions.len() == 1 && self.summary.least >= 1.0
    }

    /// Returns the cluster as HTML (a card), and the counts of omitted content. `number`
    /// distinguishes the cluster from others on the page. `room` is an approximate limit for the
    /// bytes of the card; content beyond it is left out.
    pub fn html(
        &self,
        number: usize,
        room: usize,
        link: Option<&LinkPattern>,
        stop: &Stop,
    ) -> Result<(String, Omitted)> {
        let mut omitted = Omitted::default();
        let mut card = format!(
            "<section class=\"nd-card\" id=\"cluster-{number}\"><header><h3>Cluster {}{}</h3>{}</header>",
            linked(&self.id, None),
            self.representative.title.as_ref().map_or(String::new(), |title| format!(" {}", titled(title))),
            self.facts()
        );
        if self.is_chain {
            card.push_str(
                "<p class=\"nd-warn\">A chain: most of these documents are no near duplicates of the representative.</p>",
            );
        }
        self.links_html(&mut card, link);
        if self.is_identical() {
            let words: Vec<&str> = self.representative.text.split_whitespace().take(100).collect();
            // Writing to a string never fails.
            let _ =
                write!(card, "<p class=\"nd-text\" dir=\"auto\">{}</p>", Beginning(&words.join(" "), 400));
        }
        for (n, version) in self.versions.iter().enumerate() {
            let Some(other) = &version.text else { continue };
            if card.len() > room {
                omitted.versions += 1;
                continue;
            }
            let name = format!("c{number}-{n}");
            let (differs, texts) = pair([&self.representative, other], &name, link, stop)?;
            let similarity = version.similarity.map_or("no pair with it".to_owned(), |similarity| {
                format!("similarity {}", Ratio(similarity))
            });
            let same = match version.documents.len() {
                1 => String::new(),
                documents => format!(" and {} with the same text", Number(documents as u64 - 1)),
            };
            let open =
                if number <= 3 && omitted.versions == 0 && !card.contains("<details class=\"nd-compare\"") {
                    " open"
                } else {
                    ""
                };
            let _ = write!(
                card,
                "<details class=\"nd-compare\"{open}><summary><bdi>{}</bdi>{same} beside the representative <bdi>{}</bdi>: {similarity}; {differs}</summary>{texts}</details>",
                Beginning(&other.id, 100),
                Beginning(&self.representative.id, 100),
            );
        }
        omitted.documents = self.list(&mut card, room, link);
        card.push_str("</section>");
        Ok((card, omitted))
    }

    fn facts(&self) -> String {
        let Summary { pairs, least, mean, diameter } = self.summary;
        let mut facts = format!("{}, {}", CountOf(self.size as u64, "document"), CountOf(pairs, "pair"));
        // Writing to a string never fails.
        let _ = match (pairs, least >= 1.0) {
            (0, _) => Ok(()),
            (_, true) => write!(facts, " of similarity 1"),
            (1, false) => write!(facts, " of similarity {}", Ratio(least)),
            (_, false) => {
                write!(facts, " of similarity {} at least, {} on average", Ratio(least), Ratio(mean))
            }
        };
        if let Some(steps) = diameter.filter(|&steps| steps > 1) {
            let _ = write!(facts, ", {} across", CountOf(u64::from(steps), "step"));
        }
        let versions = CountOf(self.versions.len() as u64, "version");
        let _ = match (self.listed() < self.size, self.versions.len()) {
            (true, _) => {
                write!(facts, "; {versions} of the text among the {} listed", Number(self.listed() as u64))
            }
            (false, 1) => write!(facts, "; all have the same text"),
            (false, _) => write!(facts, "; {versions} of the text"),
        };
        format!("<span class=\"nd-soft\">{facts}</span>")
    }

    fn links_html(&self, card: &mut String, link: Option<&LinkPattern>) {
        if self.links.is_empty() {
            return;
        }
        card.push_str(
            "<details><summary>The weakest links that hold it together</summary><div class=\"nd-wide\"><table>\
             <tr><th>pair</th><th>similarity</th><th>parts it connects</th></tr>",
        );
        for (left, right, similarity, [a, b]) in &self.links {
            let _ = write!(
                card,
                "<tr><td>{} &#8211; {}</td><td>{}</td><td>{} + {} documents</td></tr>",
                linked(left, link),
                linked(right, link),
                Ratio(*similarity),
                Number(u64::from(*a)),
                Number(u64::from(*b))
            );
        }
        card.push_str("</table></div></details>");
    }

    /// Lists the documents, grouped by text. A long list is divided into parts of some versions
    /// each. Returns the number of documents that are not in the list.
    fn list(&self, card: &mut String, room: usize, link: Option<&LinkPattern>) -> u64 {
        const A_PAGE: usize = 50;
        const OF_ONE_TEXT: usize = 50;
        let mut left_out = (self.size - self.listed()) as u64;
        let _ = write!(
            card,
            "<details class=\"nd-list\"><summary>{}, by their texts</summary>",
            CountOf(self.size as u64, "document")
        );
        for (page, versions) in self.versions.chunks(A_PAGE).enumerate() {
            let pages = self.versions.len().div_ceil(A_PAGE);
            let first = page * A_PAGE + 1;
            if pages > 1 {
                let open = if page == 0 { " open" } else { "" };
                let _ = write!(
                    card,
                    "<details{open}><summary>Versions {} to {} of {}</summary>",
                    Number(first as u64),
                    Number((first + versions.len() - 1) as u64),
                    Number(self.versions.len() as u64)
                );
            }
            card.push_str("<div class=\"nd-wide\"><table><tr><th>similarity to the representative</th><th>documents with this text</th></tr>");
            for (n, version) in versions.iter().enumerate() {
                if card.len() > room {
                    left_out += version.documents.len() as u64;
                    continue;
                }
                let similarity = match version.similarity {
                    _ if page == 0 && n == 0 => "its own text".to_owned(),
                    Some(similarity) => Ratio(similarity).to_string(),
                    None => "no pair with it".to_owned(),
                };
                let _ = write!(card, "<tr><td>{similarity}</td><td>");
                for (n, entry) in version.documents.iter().take(OF_ONE_TEXT).enumerate() {
                    card.push_str(if n == 0 { "" } else { "<br>" });
                    card.push_str(&linked(&entry.id, link));
                    if let Some(title) = &entry.title {
                        card.push(' ');
                        card.push_str(&titled(title));
                    }
                }
                if let Some(more) = version.documents.len().checked_sub(OF_ONE_TEXT).filter(|&more| more > 0)
                {
                    let _ = write!(card, "<br>and {} more", Number(more as u64));
                    left_out += more as u64;
                }
                card.push_str("</td></tr>");
            }
            card.push_str("</table></div>");
            card.push_str(if pages > 1 { "</details>" } else { "" });
        }
        if left_out > 0 {
            let _ = write!(
                card,
                "<p class=\"nd-soft\">{} more not listed; near_duplicate_clusters gives all.</p>",
                CountOf(left_out, "document")
            );
        }
        card.push_str("</details>");
        left_out
    }
}

/// A cluster that is shown only as a line.
#[derive(Debug)]
pub struct ClusterLine {
    /// The id of the cluster.
    pub id: String,
    /// Its representative; a few characters of the text are enough.
    pub representative: ShownDocument,
    /// The number of rows.
    pub size: usize,
    /// The summary of its pairs.
    pub summary: Summary,
}

impl ClusterLine {
    /// Returns the line as a row of an HTML table.
    pub fn html(&self, link: Option<&LinkPattern>) -> String {
        let text = match &self.representative.title {
            Some(title) => titled(title),
            None => {
                let words: Vec<&str> = self.representative.text.split_whitespace().take(40).collect();
                format!("<bdi>{}</bdi>", Beginning(&words.join(" "), 80))
            }
        };
        format!(
            "<tr><td>{}</td><td>{}</td><td>{text}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            Escaped(&self.id.chars().take(100).collect::<String>()),
            linked(&self.representative.id, link),
            Number(self.size as u64),
            Number(self.summary.pairs),
            Ratio(self.summary.least)
        )
    }
}
