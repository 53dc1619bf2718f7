//! Two documents beside each other: what differs, and a dot plot of their sentences.

use super::diff::{Compared, Diff};
use super::dotplot::DotPlot;
use super::html::Beginning;
use super::link::{Link, linked};
use super::side_by_side::{Extent, side_by_side};
use crate::error::Result;
use crate::executor::Stop;

/// The most characters of a text that are compared.
pub const MOST_CHARACTERS: usize = 20_000;

/// A document to show.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// Its id as it is written.
    pub id: String,
    /// Its title, where it has one.
    pub title: Option<String>,
    /// Its text, or the beginning of it.
    pub text: String,
    /// Whether the text is longer.
    pub is_cut: bool,
}

impl Document {
    /// Its id and its title as HTML.
    pub fn name(&self, link: Option<&Link>) -> String {
        let id = linked(&self.id, link);
        match &self.title {
            None => id,
            Some(title) => format!("{id} {}", titled(title)),
        }
    }
}

/// A title as HTML, or its beginning.
pub fn titled(title: &str) -> String {
    const SHOWN: usize = 120;
    format!("<bdi class=\"nd-title\">{}</bdi>", Beginning(title.trim(), SHOWN))
}

/// Two documents side by side: what differs in a line, and the texts. `name` tells their places on a page from those of others.
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
