//! The facts about the whole table, and the sections of a page that show them.

use std::fmt::Write;

use super::charts::{curve, histogram, written};
use super::dotplot;
use super::html::Escaped;
use super::link::{LinkPattern, linked};
use super::numbers::{Number, Time};
use crate::clusters::curve::Point;
use crate::clusters::samples::{STEPS, step_of};

/// Facts about the whole table.
///
/// The page only shows these facts. The texts among them may have any content.
///
/// ```
/// use neardup_core::html_report::{ReportFacts, ReportPage};
///
/// let facts = ReportFacts { relation: "a<b".into(), documents: 7, ..Default::default() };
/// let html = ReportPage::new(None).finish(&facts);
/// assert!(html.contains("Near duplicates in <bdi>a&lt;b</bdi>"));
/// ```
#[derive(Debug, Default)]
pub struct Facts {
    /// The name of the relation.
    pub relation: String,
    /// The call, with all arguments that differ from their default.
    pub call: String,
    /// The time when the page was made, as text.
    pub made: String,
    /// The version of neardup.
    pub version: &'static str,
    /// The duration in milliseconds.
    pub took: f64,
    /// The threshold, if the method has one.
    pub threshold: Option<f64>,
    /// The number of rows read.
    pub documents: u64,
    /// The number of pairs found.
    pub pairs: u64,
    /// The number of rows in a cluster.
    pub clustered: u64,
    /// The number of clusters.
    pub clusters: u64,
    /// The number of clusters in which all pairs have similarity 1.
    pub equal: u64,
    /// The number of rows in clusters, without one row of each cluster.
    pub redundant: u64,
    /// The result of each threshold of the charts, in ascending order of the thresholds.
    pub points: Vec<Point>,
    /// The same of the least threshold and of those that are multiples of 0.05.
    pub steps: Vec<Point>,
    /// Whether the clusters of the call are connected components of any size, as in the curve.
    pub is_connected: bool,
    /// The least number of tokens of a run, if the method compares texts by runs.
    pub least_run: Option<u64>,
    /// Warnings for the reader.
    pub warnings: Vec<String>,
}

impl Facts {
    /// Reports whether all pairs have similarity 1, so there is no threshold to choose.
    pub(super) fn all_are_equal(&self) -> bool {
        self.points.last().is_none_or(|point| point.pairs == self.pairs)
    }

    /// Returns the number of pairs in a step of similarity.
    pub(super) fn pairs_of(&self, step: usize) -> Option<u64> {
        let at = self.steps.iter().position(|point| step_of(point.threshold) == step)?;
        let above = self.steps.get(at + 1).map_or(0, |point| point.pairs);
        Some(self.steps[at].pairs.saturating_sub(above))
    }
}

/// Writes the head of the page: the call and the numbers.
pub(super) fn head(page: &mut String, facts: &Facts) {
    let _ = write!(
        page,
        "<h1>Near duplicates in <bdi>{}</bdi></h1><p class=\"nd-soft\">{} by neardup {}, in {}.</p><pre class=\"nd-call\"><code>{}</code></pre>",
        Escaped(&facts.relation),
        Escaped(&facts.made),
        facts.version,
        Time(facts.took),
        Escaped(&facts.call)
    );
    let percent = |part: u64| 100.0 * part as f64 / facts.documents.max(1) as f64;
    let threshold =
        facts.threshold.map_or(String::new(), |threshold| format!("of similarity {threshold} and more"));
    let list = [
        (["document", "documents"], facts.documents, String::new()),
        (["pair", "pairs"], facts.pairs, threshold),
        (
            ["cluster", "clusters"],
            facts.clusters,
            format!("{} of pairs of similarity 1 only", Number(facts.equal)),
        ),
        (
            ["document in clusters", "documents in clusters"],
            facts.clustered,
            format!("{:.1} % of all", percent(facts.clustered)),
        ),
        (
            ["redundant document", "redundant documents"],
            facts.redundant,
            format!("{:.1} % of all, beside one of each cluster", percent(facts.redundant)),
        ),
    ];
    page.push_str("<dl class=\"nd-facts\" id=\"summary\">");
    for ([one, many], number, more) in list {
        let name = if number == 1 { one } else { many };
        let _ = write!(
            page,
            "<div><dt>{name}</dt><dd>{}</dd><dd class=\"nd-soft\">{more}</dd></div>",
            Number(number)
        );
    }
    page.push_str("</dl>");
    for warning in &facts.warnings {
        let _ = write!(
            page,
            "<p class=\"nd-warn\" role=\"note\"><strong>Beware.</strong> {}</p>",
            Escaped(warning)
        );
    }
}

pub(super) fn similarity(facts: &Facts) -> String {
    if facts.all_are_equal() {
        return "<p>All pairs have similarity 1.</p>".to_owned();
    }
    format!("<div class=\"nd-card\">{}</div>", histogram(&facts.points))
}

/// `shown` is how many pairs of each step of similarity the page shows.
pub(super) fn thresholds(facts: &Facts, shown: &[usize; STEPS + 1]) -> String {
    if facts.all_are_equal() {
        return String::new();
    }
    let mut html = format!(
        "<div class=\"nd-card\">{}<p class=\"nd-keys\"><span class=\"nd-k0\">redundant documents</span> <span class=\"nd-k1\">clusters</span></p>\
         <div class=\"nd-wide\"><table class=\"nd-numbers\"><tr><th>threshold</th><th>pairs</th><th>clusters</th><th>redundant documents</th><th>largest cluster</th></tr>",
        curve(&facts.points)
    );
    for point in &facts.steps {
        let (threshold, step) = (written(point.threshold), step_of(point.threshold));
        let threshold = match shown[step] {
            0 => threshold,
            _ => format!("<a href=\"#at-{}\">{threshold}</a>", 5 * step),
        };
        let _ = write!(
            html,
            "<tr><td>{threshold}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            Number(point.pairs),
            Number(point.clusters),
            Number(point.redundant),
            Number(u64::from(point.largest))
        );
    }
    html.push_str("</table></div><p class=\"nd-soft\">Of the pairs found here, those of at least the threshold, and what they connect");
    html.push_str(match facts.is_connected {
        true => ".",
        false => ": clusters here are connected ones of any size, which this call did not ask for.",
    });
    html.push_str(" A lower threshold takes another call. A threshold leads to some of the pairs from it to the next.</p></div>");
    html
}

pub(super) fn reading() -> String {
    format!(
        "<div class=\"nd-card\"><p class=\"nd-text\">Words <del>only on the left</del> and <ins>only on the right</ins> are marked; \
         a <i class=\"nd-v\"></i> is where the other text has more. <span class=\"nd-m\">Words that moved</span> stand elsewhere in the other \
         text, in a passage of four words at least. <span class=\"nd-e\">Case and punctuation</span> that differ are marked where the words \
         are the same; <span class=\"nd-cut\">words in common</span> far from a difference are left out. The rest is common.</p>\
         <p>Shading passages shows runs of at least four words that stand in both texts, each in the same colour on both sides.</p>\
         <p>{}</p></div>",
        dotplot::LEGEND
    )
}

/// A run of tokens that many documents have.
#[derive(Debug, Clone, Default)]
pub struct RepeatedTokens {
    /// The id of a document that has it.
    pub id: String,
    /// The run, or its beginning.
    pub text: String,
    /// Whether the run is longer than `text`.
    pub is_cut: bool,
    /// The number of tokens.
    pub tokens: u64,
    /// The number of documents that have it.
    pub documents: u64,
}

impl RepeatedTokens {
    /// Returns the run as a row of an HTML table.
    pub(super) fn html(&self, link: Option<&LinkPattern>) -> String {
        let words: Vec<&str> = self.text.split_whitespace().collect();
        format!(
            "<tr><td>{}</td><td>{}</td><td><bdi>{}{}</bdi></td><td>{}</td></tr>",
            Number(self.documents),
            Number(self.tokens),
            Escaped(&words.join(" ")),
            if self.is_cut { "&#8230;" } else { "" },
            linked(&self.id, link)
        )
    }
}

/// Returns the table of the rows of runs of at least `least` tokens.
pub(super) fn table(rows: &str, least: u64) -> String {
    format!(
        "<div class=\"nd-card\"><p class=\"nd-soft\">Runs of at least {} tokens, whatever their case and punctuation, \
         by the number of documents that have all of it. What very many documents have is often a menu, a notice or a licence: the \
         option max_documents leaves it out, and cut_repeats cuts it from the texts.</p><div class=\"nd-wide\"><table>\
         <tr><th>documents</th><th>tokens</th><th>text</th><th>for example in</th></tr>{rows}</table></div></div>",
        Number(least)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_ids_are_escaped() {
        let (id, text) = ("<7>".to_owned(), "a <b>\n &c".to_owned());
        let html = RepeatedTokens { id, text, is_cut: true, tokens: 1200, documents: 3 }.html(None);
        assert!(
            html.contains("<bdi>a &lt;b&gt; &amp;c&#8230;</bdi>") && html.contains("&lt;7&gt;"),
            "{html}"
        );
        assert!(table(&html, 12).contains("at least 12 tokens"));
    }
}
