//! Two documents side by side: their differences and a dot plot of their sentences.

use super::diff::{Compared, Diff};
use super::dotplot::DotPlot;
use super::html::Beginning;
use super::link::{Link, linked};
use super::side_by_side::{Extent, side_by_side};
use crate::error::Result;
use crate::executor::Stop;

/// The greatest number of characters of a text that are compared.
pub const MOST_CHARACTERS: usize = 20_000;

/// A document to show.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// The id as text.
    pub id: String,
    /// The title, if it has one.
    pub title: Option<String>,
    /// The text or its beginning.
    pub text: String,
    /// Whether the document is longer than `text`.
    pub is_cut: bool,
}

impl Document {
    /// Returns the id and the title as HTML.
    pub fn name(&self, link: Option<&Link>) -> String {
        let id = linked(&self.id, link);
        match &self.title {
            None => id,
            Some(title) => format!("{id} {}", titled(title)),
        }
    }
}

/// Returns a title, or its beginning, as HTML.
pub fn titled(title: &str) -> String {
    const SHOWN: usize = 120;
    format!("<bdi class=\"nd-title\">{}</bdi>", Beginning(title.trim(), SHOWN))
}

/// Returns a summary of the differences of two documents in one line, and HTML with their texts
/// side by side. `name` distinguishes the pair from other pairs on a page.
pub fn pair(
    documents: [&Document; 2],
    name: &str,
    link: Option<&Link>,
    stop: &Stop,
) -> Result<(String, String)> {
    let [left, right] = documents;
    let compared = Compared::new(&left.text, &right.text, stop)?;
    let diff = Diff::new(&compared, stop)?;
    let plot = DotPlot::new(&left.text, &right.text, stop)?;
    let headings = documents.map(|document| {
        let cut = if document.is_cut { ", its first 20,000 characters" } else { "" };
        format!("{}{cut}", document.name(link))
    });
    let texts = side_by_side(&diff, [&headings[0], &headings[1]], name, Extent::Excerpt);
    let dots = if plot.tells() { plot.figure() } else { String::new() };
    let class = if dots.is_empty() { "nd-pair" } else { "nd-pair nd-with-dots" };
    Ok((diff.summary(), format!("<div class=\"{class}\"><div>{texts}</div>{dots}</div>")))
}
