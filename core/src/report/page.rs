//! A page about the near duplicates of a table, for choosing a threshold and for inspecting its
//! result.
//!
//! It is one file that loads nothing and runs nothing, of at most [`MOST_BYTES`]. Content beyond
//! this limit is left out, and the page lists what is left out. Everything except the content of
//! documents is ASCII, so the page is a valid text in any server encoding.

use std::fmt::Write;

use super::cluster::{Line, Omitted, Shown};
use super::facts::{Facts, head, reading, similarity, thresholds};
use super::html::{Beginning, Escaped, STYLE};
use super::link::Link;
use super::numbers::{Count, Number, Ratio};
use super::pair::{Document, pair};
use super::runs::{self, Repeated};
use crate::error::Result;
use crate::executor::Stop;

/// The greatest number of bytes of a page.
pub const MOST_BYTES: usize = 2_000_000;

/// The kinds of pairs that a page shows.
///
/// Pairs of a kind are shown together.
///
/// ```
/// use neardup_core::html_report::ReportPairs;
///
/// assert_ne!(ReportPairs::Least, ReportPairs::Most);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The least similar pairs.
    Least,
    /// Some pairs between the least and the most similar ones.
    Between,
    /// The most similar pairs.
    Most,
}

/// A page that is being made.
///
/// The page is one file without scripts that loads nothing, of at most 2 MB; documents are escaped.
///
/// ```
/// use neardup_core::Stop;
/// use neardup_core::html_report::{ReportDocument, ReportFacts, ReportPage, ReportPairs};
///
/// let document = |id: &str, text: &str| ReportDocument {
///     id: id.into(), text: text.into(), ..Default::default()
/// };
/// let (a, b) = (document("1", "The red crane."), document("2", "The <b>blue</b> crane."));
/// let mut page = ReportPage::new(None);
/// page.add_pair(ReportPairs::Between, [&a, &b], 0.5, &Stop::default())?;
/// let html = page.finish(&ReportFacts { pairs: 1, ..Default::default() });
/// assert!(html.contains("&lt;") && !html.contains("<b>"));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Page {
    link: Option<Link>,
    /// The pairs of each kind.
    pairs: [String; 3],
    shown_pairs: usize,
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

impl Page {
    /// Creates an empty page. Ids become links by the pattern `link`, if there is one.
    ///
    /// ```
    /// use neardup_core::html_report::{ReportFacts, ReportLink, ReportPage};
    ///
    /// let page = ReportPage::new(Some(ReportLink::new("/notes/{id}")?));
    /// assert!(page.finish(&ReportFacts::default()).starts_with("<!DOCTYPE html>"));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn new(link: Option<Link>) -> Self {
        Self {
            link,
            pairs: Default::default(),
            shown_pairs: 0,
            near: String::new(),
            identical: String::new(),
            lines: String::new(),
            runs: String::new(),
            index: String::new(),
            cards: 0,
            lined: 0,
            omitted: Omitted::default(),
            pairs_left: 0,
        }
    }

    fn bytes(&self) -> usize {
        let parts = [&self.near, &self.identical, &self.lines, &self.runs, &self.index];
        self.pairs.iter().chain(parts).map(String::len).sum()
    }

    /// Reports whether there is room for more pairs side by side. Pairs may take a quarter of the
    /// page.
    ///
    /// ```
    /// assert!(neardup_core::html_report::ReportPage::new(None).has_room_for_pairs());
    /// ```
    pub fn has_room_for_pairs(&self) -> bool {
        self.bytes() < MOST_BYTES / 4
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
    /// use neardup_core::html_report::{ReportDocument, ReportFacts, ReportPage, ReportPairs};
    ///
    /// let note = ReportDocument { id: "7".into(), text: "A note.".into(), ..Default::default() };
    /// let mut page = ReportPage::new(None);
    /// page.add_pair(ReportPairs::Most, [&note, &note], 1.0, &Stop::default())?;
    /// let html = page.finish(&ReportFacts { pairs: 1, ..Default::default() });
    /// assert!(html.contains("the texts are the same"));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn add_pair(&mut self, kind: Kind, of: [&Document; 2], similarity: f64, stop: &Stop) -> Result<()> {
        if !self.has_room_for_pairs() {
            self.pairs_left += 1;
            return Ok(());
        }
        let name = format!("p{}", self.shown_pairs);
        let (differs, texts) = pair(of, &name, self.link.as_ref(), stop)?;
        let place = &mut self.pairs[kind as usize];
        let open = if kind != Kind::Most && place.is_empty() { " open" } else { "" };
        let [left, right] = of.map(|document| Beginning(&document.id, 100));
        // Writing to a string never fails.
        let _ = write!(
            place,
            "<details class=\"nd-compare\"{open}><summary>{}: <bdi>{left}</bdi> and <bdi>{right}</bdi>; {differs}</summary>{texts}</details>",
            Ratio(similarity),
        );
        self.shown_pairs += 1;
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
            Count(cluster.size as u64, "document")
        );
        Ok(())
    }

    /// Adds the line of a cluster.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn add_line(&mut self, line: &Line) {
        self.lines.push_str(&line.html(self.link.as_ref()));
        self.lined += 1;
    }

    /// Adds a run that many documents have, after those that were added before.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn add_run(&mut self, run: &Repeated) {
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
            add("thresholds", "What other thresholds would give".to_owned(), thresholds(facts));
            add("pairs", "Pairs to choose a threshold by".to_owned(), self.pairs_html());
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
            add("runs", "What most documents have word for word".to_owned(), runs::table(&self.runs, least));
        }
        add("reading", "How to read this page".to_owned(), reading());
        add("omitted", "What is not on this page".to_owned(), self.omitted_html(facts));
        let mut page = format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
             <meta name=\"color-scheme\" content=\"light dark\"><meta name=\"referrer\" content=\"no-referrer\">\
             <meta name=\"generator\" content=\"neardup {}\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\
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
                Count(self.cards as u64, "cluster"),
                self.index
            );
        }
        page.push_str("</nav>");
        for (id, title, content) in sections {
            let _ = writeln!(page, "<section id=\"{id}\"><h2>{title}</h2>{content}</section>");
        }
        page.push_str("</main></body></html>\n");
        page
    }

    fn pairs_html(&self) -> String {
        const KINDS: [(&str, &str); 3] = [
            ("The least similar", "Are these duplicates to you? Where they are not, raise the threshold."),
            (
                "From the least to the most similar",
                "One from each step of similarity: the threshold is best where they become what you want.",
            ),
            ("The most similar", ""),
        ];
        let mut html = String::new();
        for ((title, what), pairs) in
            KINDS.into_iter().zip(&self.pairs).filter(|(_, pairs)| !pairs.is_empty())
        {
            let _ = write!(html, "<div class=\"nd-card\"><h3>{title}</h3>");
            if !what.is_empty() {
                let _ = write!(html, "<p class=\"nd-soft\">{what}</p>");
            }
            let _ = write!(html, "{pairs}</div>");
        }
        html
    }

    fn lines_html(&self) -> String {
        if self.lines.is_empty() {
            return String::new();
        }
        format!(
            "<div class=\"nd-card\"><p class=\"nd-soft\">{} in a line each, as a page has at most 2 MB.</p><div class=\"nd-wide\"><table>\
             <tr><th>cluster</th><th>representative</th><th>text</th><th>documents</th><th>pairs</th><th>least similarity</th></tr>{}</table></div></div>",
            Count(self.lined as u64, "cluster"),
            self.lines
        )
    }

    fn omitted_html(&self, facts: &Facts) -> String {
        let mut omitted = vec![
            "Of a text its first 20,000 characters are compared, and words in common that are far from a difference are left out; \
             diff_html(a, b) shows two texts whole."
                .to_owned(),
        ];
        let shown = (self.cards + self.lined) as u64;
        if facts.clusters > shown {
            omitted.push(format!(
                "{} of {} are not shown, the smallest ones; max_clusters says how many are, as far as there is room.",
                Number(facts.clusters - shown),
                Count(facts.clusters, "cluster")
            ));
        }
        if self.lined > 0 {
            omitted.push(format!(
                "{} have a line without their texts, as there is no room for more.",
                Count(self.lined as u64, "cluster")
            ));
        }
        if self.omitted.documents > 0 {
            omitted.push(format!(
                "{} of the clusters above are not listed there; near_duplicate_clusters gives all.",
                Count(self.omitted.documents, "document")
            ));
        }
        if self.omitted.versions + self.pairs_left > 0 {
            omitted.push(format!(
                "{} that were chosen are not compared, as there is no room for more.",
                Count(self.omitted.versions + self.pairs_left, "pair")
            ));
        }
        let items: Vec<String> = omitted.iter().map(|item| format!("<li>{item}</li>")).collect();
        format!("<ul>{}</ul>", items.concat())
    }
}
