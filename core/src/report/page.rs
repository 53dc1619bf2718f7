//! A page about the near duplicates of a table, for choosing a threshold and for inspecting its
//! result.
//!
//! It is one file that loads nothing and runs nothing but its own script, of at most
//! [`MOST_BYTES`]. Content beyond this limit is left out, and the page lists what is left
//! out. Everything except the content of documents is ASCII, so the page is a valid text in any
//! server encoding.

use std::fmt::Write;

use super::answers::{self, HASH, SCRIPT};
use super::charts::written;
use super::cluster::{ClusterLine, Omitted, Shown};
use super::facts::{self, Facts, RepeatedTokens, head, reading, similarity, thresholds};
use super::html::{Beginning, Escaped, STYLE};
use super::link::LinkPattern;
use super::numbers::{CountOf, Number, Ratio};
use super::pair::{ShownDocument, pair};
use crate::clusters::samples::{STEPS, least_of, step_of};
use crate::error::Result;
use crate::executor::Stop;

/// The greatest number of bytes of a page.
pub const MOST_BYTES: usize = 2_000_000;

/// A page that is being made.
///
/// The page is one file that loads nothing, of at most 2 MB; documents are escaped. Its only script
/// collects the reader's answers to pairs.
///
/// ```
/// use neardup_core::Stop;
/// use neardup_core::html_report::{ReportDocument, ReportFacts, ReportPage};
///
/// let document = |id: &str, text: &str| ReportDocument {
///     id: id.into(), text: text.into(), ..Default::default()
/// };
/// let (a, b) = (document("1", "The red crane."), document("2", "The <b>blue</b> crane."));
/// let mut page = ReportPage::new(None);
/// page.add_pair([&a, &b], 0.5, &Stop::default())?;
/// let html = page.finish(&ReportFacts { pairs: 1, ..Default::default() });
/// assert!(html.contains("&lt;") && !html.contains("<b>"));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct ReportPage {
    link: Option<LinkPattern>,
    /// The pairs of each step of similarity, and how many these are.
    pairs: [String; STEPS + 1],
    shown_pairs: [usize; STEPS + 1],
    near: String,
    identical: String,
    lines: String,
    /// The rows of the table of runs.
    runs: String,
    /// The part of the table of contents that lists the clusters with a card.
    index: String,
    cards: usize,
    lined: usize,
    omitted: Omitted,
    /// The number of pairs that were chosen but did not fit.
    pairs_left: u64,
}

impl ReportPage {
    /// Creates an empty page. Ids become links by the pattern `link`, if there is one.
    ///
    /// ```
    /// use neardup_core::html_report::{ReportFacts, ReportLink, ReportPage};
    ///
    /// let page = ReportPage::new(Some(ReportLink::new("/notes/{id}")?));
    /// assert!(page.finish(&ReportFacts::default()).starts_with("<!DOCTYPE html>"));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn new(link: Option<LinkPattern>) -> Self {
        Self { link, ..Self::default() }
    }

    fn bytes(&self) -> usize {
        let parts = [&self.near, &self.identical, &self.lines, &self.runs, &self.index];
        self.pairs.iter().chain(parts).map(String::len).sum()
    }

    /// Reports whether there is room for more pairs side by side. Pairs may take two fifths of the
    /// page.
    ///
    /// ```
    /// assert!(neardup_core::html_report::ReportPage::new(None).has_room_for_pairs());
    /// ```
    pub fn has_room_for_pairs(&self) -> bool {
        self.bytes() < MOST_BYTES / 5 * 2
    }

    /// Reports whether there is room for another cluster with its texts.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn has_room_for_clusters(&self) -> bool {
        self.room() > 0
    }

    /// Reports whether there is room for the line of another cluster.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn has_room_for_lines(&self) -> bool {
        self.bytes() < MOST_BYTES / 100 * 94
    }

    /// Returns the number of bytes left for clusters with their texts.
    fn room(&self) -> usize {
        (MOST_BYTES / 100 * 65).saturating_sub(self.bytes())
    }

    /// Adds a pair of the table, or counts it if there is no room.
    ///
    /// The page compares the two texts as [`html_of_pair`](crate::html_report::html_of_pair)
    /// does. Fails only if memory is short, or after a request to stop.
    ///
    /// ```
    /// use neardup_core::Stop;
    /// use neardup_core::html_report::{ReportDocument, ReportFacts, ReportPage};
    ///
    /// let note = ReportDocument { id: "7".into(), text: "A note.".into(), ..Default::default() };
    /// let mut page = ReportPage::new(None);
    /// page.add_pair([&note, &note], 1.0, &Stop::default())?;
    /// let html = page.finish(&ReportFacts { pairs: 1, ..Default::default() });
    /// assert!(html.contains("the texts are the same"));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn add_pair(&mut self, of: [&ShownDocument; 2], similarity: f64, stop: &Stop) -> Result<()> {
        if !self.has_room_for_pairs() {
            self.pairs_left += 1;
            return Ok(());
        }
        let name = format!("p{}", self.shown_pairs.iter().sum::<usize>());
        let (differs, texts) = pair(of, &name, self.link.as_ref(), stop)?;
        let [left, right] = of.map(ShownDocument::beginning);
        let step = step_of(similarity);
        // Writing to a string never fails.
        let _ = write!(
            self.pairs[step],
            "<details class=\"nd-compare\" open><summary>{}: {left} and {right}; {differs}</summary>{}{texts}</details>",
            Ratio(similarity),
            answers::question(of, &name),
        );
        self.shown_pairs[step] += 1;
        Ok(())
    }

    /// Counts pairs that were chosen but are not shown.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn leave_pairs(&mut self, pairs: usize) {
        self.pairs_left += pairs as u64;
    }

    /// Adds a cluster with its texts.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn add_cluster(&mut self, cluster: &Shown, stop: &Stop) -> Result<()> {
        self.cards += 1;
        let (card, omitted) = cluster.html(self.cards, self.room(), self.link.as_ref(), stop)?;
        self.omitted.documents += omitted.documents;
        self.omitted.versions += omitted.versions;
        let place = if cluster.is_identical() { &mut self.identical } else { &mut self.near };
        place.push_str(&card);
        let _ = write!(
            self.index,
            "<li><a href=\"#cluster-{}\"><bdi>{}</bdi></a> {}</li>",
            self.cards,
            Beginning(&cluster.id, 40),
            CountOf(cluster.size as u64, "document")
        );
        Ok(())
    }

    /// Adds the line of a cluster.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn add_line(&mut self, line: &ClusterLine) {
        self.lines.push_str(&line.html(self.link.as_ref()));
        self.lined += 1;
    }

    /// Adds a run that many documents have, after those that were added before.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn add_run(&mut self, run: &RepeatedTokens) {
        self.runs.push_str(&run.html(self.link.as_ref()));
    }

    /// Returns the whole page.
    ///
    /// ```
    /// use neardup_core::html_report::{ReportFacts, ReportPage};
    ///
    /// let facts = ReportFacts { call: "near_duplicates(&notes)".into(), ..Default::default() };
    /// assert!(ReportPage::new(None).finish(&facts).contains("near_duplicates(&amp;notes)"));
    /// ```
    pub fn finish(self, facts: &Facts) -> String {
        let mut sections: Vec<(&str, String, String)> = Vec::new();
        let mut add = |id: &'static str, title: String, content: String| {
            if !content.is_empty() {
                sections.push((id, title, content));
            }
        };
        if facts.pairs > 0 {
            add("similarity", "Similarity of the pairs".to_owned(), similarity(facts));
            let title = "What other thresholds would give".to_owned();
            add("thresholds", title, thresholds(facts, &self.shown_pairs));
            add("pairs", "Pairs to choose a threshold by".to_owned(), self.pairs_html(facts));
        }
        let cards = (self.near.len() + self.identical.len() > 0).then_some(self.cards as u64);
        match cards {
            None if facts.clusters == 0 => {
                add("clusters", "Clusters".to_owned(), "<p>There are none.</p>".to_owned())
            }
            _ => {
                let title = match facts.clusters > self.cards as u64 {
                    true => {
                        format!("Clusters of near duplicates, of the {} largest", Number(self.cards as u64))
                    }
                    false => "Clusters of near duplicates".to_owned(),
                };
                add("clusters", title, self.near.clone());
                add("identical", "Groups of identical documents".to_owned(), self.identical.clone());
                add("further", "Further clusters".to_owned(), self.lines_html());
            }
        }
        if let Some(least) = facts.least_run.filter(|_| !self.runs.is_empty()) {
            add("runs", "What most documents have word for word".to_owned(), facts::table(&self.runs, least));
        }
        add("reading", "How to read this page".to_owned(), reading());
        add("omitted", "What is not on this page".to_owned(), self.omitted_html(facts));
        let mut page = format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
             <meta name=\"color-scheme\" content=\"light dark\"><meta name=\"referrer\" content=\"no-referrer\">\
             <meta name=\"generator\" content=\"neardup {}\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{HASH}'; base-uri 'none'; form-action 'none'\">\
             <title>Near duplicates in {}</title><style>{STYLE}</style></head>\n<body class=\"nd\"><main>",
            facts.version,
            Escaped(&facts.relation)
        );
        head(&mut page, facts);
        page.push_str("<nav class=\"nd-contents\" aria-label=\"Contents\"><ul>");
        for (id, title, _) in &sections {
            let _ = write!(page, "<li><a href=\"#{id}\">{title}</a></li>");
        }
        page.push_str("</ul>");
        if self.cards > 1 {
            let _ = write!(
                page,
                "<details><summary>{} one by one</summary><ol>{}</ol></details>",
                CountOf(self.cards as u64, "cluster"),
                self.index
            );
        }
        page.push_str("</nav>");
        for (id, title, content) in sections {
            let _ = writeln!(page, "<section id=\"{id}\"><h2>{title}</h2>{content}</section>");
        }
        let _ = writeln!(page, "</main><script>{SCRIPT}</script></body></html>");
        page
    }

    fn pairs_html(&self, facts: &Facts) -> String {
        let steps = (0..=STEPS).filter(|&step| self.shown_pairs[step] > 0);
        let cards: String = steps.map(|step| self.pairs_of(step, facts)).collect();
        if cards.is_empty() {
            return cards;
        }
        format!(
            "<p>Some of each 0.05 of similarity. The threshold is best where they become what you want. Answer some, most \
             near this boundary: <code>suggest</code> finds the threshold by the answers.</p>{cards}{}",
            answers::bar()
        )
    }

    /// Returns the pairs of a step of similarity.
    fn pairs_of(&self, step: usize, facts: &Facts) -> String {
        let name = match step {
            STEPS => "Similarity 1".to_owned(),
            _ => format!("Similarity {} to {}", written(least_of(step)), written(least_of(step + 1))),
        };
        let shown = self.shown_pairs[step] as u64;
        let all = facts.pairs_of(step).unwrap_or(shown);
        format!(
            "<div class=\"nd-card\" id=\"at-{}\"><h3>{name}</h3><p class=\"nd-soft\">{} of {}</p>{}</div>",
            5 * step,
            Number(shown),
            CountOf(all.max(shown), "pair"),
            self.pairs[step]
        )
    }

    fn lines_html(&self) -> String {
        if self.lines.is_empty() {
            return String::new();
        }
        format!(
            "<div class=\"nd-card\"><p class=\"nd-soft\">{} in one line each, as a page has at most 2 MB.</p><div class=\"nd-wide\"><table>\
             <tr><th>cluster</th><th>representative</th><th>text</th><th>documents</th><th>pairs</th><th>least similarity</th></tr>{}</table></div></div>",
            CountOf(self.lined as u64, "cluster"),
            self.lines
        )
    }

    fn omitted_html(&self, facts: &Facts) -> String {
        let mut omitted = vec![
            "Of a text its first 20,000 characters are compared, or its first 8,000 to choose a threshold by, and words in common that are far from a difference are left out; \
             diff_html(a, b) shows two texts whole."
                .to_owned(),
        ];
        let shown = (self.cards + self.lined) as u64;
        if facts.clusters > shown {
            omitted.push(format!(
                "{} of {}, the smallest, {} not shown; max_clusters says how many are, as far as there is room.",
                Number(facts.clusters - shown),
                CountOf(facts.clusters, "cluster"),
                are(facts.clusters - shown)
            ));
        }
        if self.lined > 0 {
            omitted.push(format!(
                "{} {} a line without texts, as there is no room for more.",
                CountOf(self.lined as u64, "cluster"),
                if self.lined == 1 { "has" } else { "have" }
            ));
        }
        if self.omitted.documents > 0 {
            omitted.push(format!(
                "{} of the clusters above {} not listed there; near_duplicate_clusters gives all.",
                CountOf(self.omitted.documents, "document"),
                are(self.omitted.documents)
            ));
        }
        let pairs = self.omitted.versions + self.pairs_left;
        if pairs > 0 {
            omitted.push(format!(
                "{} of those chosen {} not compared, as there is no room for more.",
                CountOf(pairs, "pair"),
                are(pairs)
            ));
        }
        let items: Vec<String> = omitted.iter().map(|item| format!("<li>{item}</li>")).collect();
        format!("<ul>{}</ul>", items.concat())
    }
}

fn are(number: u64) -> &'static str {
    if number == 1 { "is" } else { "are" }
}
