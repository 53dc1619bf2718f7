//! A page about the near duplicates of a table.

use std::fmt::Write;

use super::diff::Compared;
use super::dotplot::dotplot;
use super::html::{Escaped, STYLE};
use crate::clusters::summary::Summary;
use crate::error::Result;
use crate::workers::Stop;

/// How many pairs there are of each similarity: twenty bars from a least similarity to 1.
#[derive(Debug, Clone)]
pub struct Histogram {
    from: f64,
    counts: [u64; 20],
}

impl Histogram {
    /// No pairs yet; none is below `from`.
    pub fn new(from: f64) -> Self {
        Self { from: from.min(0.95), counts: [0; 20] }
    }

    /// Counts a pair.
    pub fn add(&mut self, similarity: f64) {
        let place = (similarity - self.from) / (1.0 - self.from) * self.counts.len() as f64;
        self.counts[(place.max(0.0) as usize).min(self.counts.len() - 1)] += 1;
    }

    /// The bars (SVG). Heights go with the root, so that few are seen beside many.
    fn svg(&self) -> String {
        const WIDTH: f64 = 640.0;
        const HEIGHT: f64 = 120.0;
        let most = self.counts.iter().copied().max().unwrap_or(0).max(1) as f64;
        let step = WIDTH / self.counts.len() as f64;
        let mut svg = format!(
            "<svg class=\"nd-plot\" viewBox=\"0 -14 {WIDTH} {}\" width=\"{WIDTH}\" role=\"img\" style=\"max-width:100%\"><title>pairs by similarity</title>",
            HEIGHT + 34.0
        );
        for (n, &count) in self.counts.iter().enumerate() {
            let height = if count == 0 { 0.0 } else { (HEIGHT * (count as f64 / most).sqrt()).max(2.0) };
            let low = self.from + (1.0 - self.from) * n as f64 / self.counts.len() as f64;
            let x = n as f64 * step;
            // Writing to a string never fails.
            let _ = write!(
                svg,
                "<rect class=\"nd-bar\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\"><title>{count} pairs from {low:.3}</title></rect>",
                x + 1.0,
                HEIGHT - height,
                step - 2.0
            );
            if count > 0 {
                let _ = write!(
                    svg,
                    "<text class=\"nd-axis\" text-anchor=\"middle\" x=\"{:.1}\" y=\"{:.1}\">{count}</text>",
                    x + step / 2.0,
                    HEIGHT - height - 3.0
                );
            }
            if n % 4 == 0 {
                let _ = write!(
                    svg,
                    "<text class=\"nd-axis\" x=\"{x:.1}\" y=\"{:.1}\">{low:.2}</text>",
                    HEIGHT + 15.0
                );
            }
        }
        let _ = write!(
            svg,
            "<text class=\"nd-axis\" text-anchor=\"end\" x=\"{WIDTH}\" y=\"{:.1}\">1</text></svg>",
            HEIGHT + 15.0
        );
        svg
    }
}

/// A member of a cluster that is compared with its representative.
#[derive(Debug)]
pub struct Member {
    /// Its id as it is written.
    pub id: String,
    /// Its text, or the beginning of it.
    pub text: String,
    /// Its similarity to the representative; none where the two are no pair.
    pub similarity: Option<f64>,
}

/// A cluster to show.
#[derive(Debug)]
pub struct Shown {
    /// What it is called.
    pub id: String,
    /// The representative.
    pub representative: Member,
    /// Some of the others.
    pub members: Vec<Member>,
    /// How many rows it has.
    pub size: usize,
    /// What its pairs are like.
    pub summary: Summary,
    /// Whether most of its rows are no pairs with the representative.
    pub is_chain: bool,
    /// Its weakest links, where it is large or a chain: ids, similarity, and the sizes of the parts.
    pub links: Vec<(String, String, f64, [u32; 2])>,
}

/// What a page tells.
#[derive(Debug)]
pub struct Report {
    /// The relation.
    pub relation: String,
    /// How it was asked, as SQL.
    pub call: String,
    /// Rows that were read.
    pub documents: u64,
    /// Pairs that were found.
    pub pairs: u64,
    /// Rows that are in a cluster.
    pub clustered: u64,
    /// How many clusters there are.
    pub clusters: u64,
    /// Rows beside the representatives.
    pub redundant: u64,
    /// Pairs by similarity.
    pub histogram: Histogram,
    /// The largest clusters.
    pub shown: Vec<Shown>,
    /// What to beware of.
    pub warnings: Vec<String>,
}

impl Report {
    /// The page. O(texts shown, and their sentences squared in the worst case).
    pub fn html(&self, stop: &Stop) -> Result<String> {
        let mut page = format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
             <title>Near duplicates in {0}</title><style>{STYLE}</style></head>\n<body class=\"nd\"><main>\
             <h1>Near duplicates in {0}</h1><p class=\"nd-soft\"><code>{1}</code></p>",
            Escaped(&self.relation),
            Escaped(&self.call)
        );
        let facts = [
            ("documents", self.documents),
            ("pairs", self.pairs),
            ("clusters", self.clusters),
            ("documents in clusters", self.clustered),
            ("of these redundant", self.redundant),
        ];
        page.push_str("<dl class=\"nd-facts\">");
        for (name, number) in facts {
            // Writing to a string never fails.
            let _ = write!(page, "<div><dt>{name}</dt><dd>{number}</dd></div>");
        }
        page.push_str("</dl>");
        for warning in &self.warnings {
            let _ = write!(
                page,
                "<p class=\"nd-warn\" role=\"note\"><strong>Beware.</strong> {}</p>",
                Escaped(warning)
            );
        }
        if self.pairs > 0 {
            let _ = write!(
                page,
                "<h2>Similarity of the pairs</h2><div class=\"nd-card\">{}</div>",
                self.histogram.svg()
            );
        }
        match self.shown.len() as u64 {
            0 => page.push_str("<h2>Clusters</h2><p>There are none.</p>"),
            shown if shown < self.clusters => {
                let _ = write!(page, "<h2>The {shown} largest of {} clusters</h2>", self.clusters);
            }
            _ => page.push_str("<h2>Clusters</h2>"),
        }
        for (number, cluster) in self.shown.iter().enumerate() {
            cluster.html(number, &mut page, stop)?;
        }
        page.push_str("</main></body></html>\n");
        Ok(page)
    }
}

impl Shown {
    fn html(&self, number: usize, page: &mut String, stop: &Stop) -> Result<()> {
        let Summary { pairs, least, mean, diameter } = self.summary;
        let diameter = diameter.map_or(String::new(), |d| format!(", {d} steps across"));
        let _ = write!(
            page,
            "<section class=\"nd-card\"><header><h3>Cluster {}</h3><span class=\"nd-soft\">{} documents, {pairs} pairs, \
             similarity {least:.3} to mean {mean:.3}{diameter}</span></header>",
            Escaped(&self.id),
            self.size
        );
        if self.is_chain {
            page.push_str("<p class=\"nd-warn\">A chain: most of these documents are no near duplicates of the representative.</p>");
        }
        if !self.links.is_empty() {
            page.push_str("<details><summary>The weakest links that hold it together</summary><table><tr><th>pair</th><th>similarity</th><th>parts it connects</th></tr>");
            for (left, right, similarity, [a, b]) in &self.links {
                let _ = write!(
                    page,
                    "<tr><td>{} – {}</td><td>{similarity:.3}</td><td>{a} + {b} documents</td></tr>",
                    Escaped(left),
                    Escaped(right)
                );
            }
            page.push_str("</table></details>");
        }
        for (n, member) in self.members.iter().enumerate() {
            let compared = Compared::new(&self.representative.text, &member.text, stop)?;
            let similarity =
                member.similarity.map_or("no pair with it".to_owned(), |s| format!("similarity {s:.3}"));
            let open = if n == 0 && number < 3 { " open" } else { "" };
            let name = format!("c{number}m{n}");
            let _ = write!(
                page,
                "<details{open}><summary>{} beside the representative {}: {similarity}, {:.0} % of the shorter text in shared passages</summary>\
                 <div class=\"nd-pair\">{}{}</div></details>",
                Escaped(&member.id),
                Escaped(&self.representative.id),
                100.0 * compared.share(),
                compared.side_by_side([&self.representative.id, &member.id], &name),
                dotplot(&self.representative.text, &member.text, stop)?
            );
        }
        let more = self.size - 1 - self.members.len();
        if more > 0 {
            let _ = write!(page, "<p class=\"nd-soft\">{more} more documents.</p>");
        }
        page.push_str("</section>");
        Ok(())
    }
}
