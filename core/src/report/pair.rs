//! Two documents side by side: their differences and a dot plot of their sentences.

use super::diff::{Compared, Diff};
use super::dotplot::DotPlot;
use super::html::Beginning;
use super::link::{LinkPattern, linked};
use super::numbers::Number;
use super::side_by_side::{Extent, side_by_side};
use crate::error::Result;
use crate::executor::Stop;

/// The greatest number of characters of a text that are compared.
pub const MOST_CHARACTERS: usize = 20_000;

/// A document to show.
///
/// ```
/// use neardup_core::html_report::ReportDocument;
///
/// let title = Some("Of cranes & quays".to_owned());
/// let document = ReportDocument { id: "7".into(), title, ..Default::default() };
/// assert!(document.name(None).contains("Of cranes &amp; quays"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct ShownDocument {
    /// The id as text.
    pub id: String,
    /// The title, if it has one.
    pub title: Option<String>,
    /// The text or its beginning.
    pub text: String,
    /// Whether the document is longer than `text`.
    pub is_cut: bool,
}

impl ShownDocument {
    /// Returns the id and the title as HTML.
    ///
    /// If there is a pattern for links, the id becomes a link.
    ///
    /// ```
    /// use neardup_core::html_report::{ReportDocument, ReportLink};
    ///
    /// let document = ReportDocument { id: "7".into(), ..Default::default() };
    /// assert!(document.name(Some(&ReportLink::new("/{id}")?)).contains("href=\"/7\""));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn name(&self, link: Option<&LinkPattern>) -> String {
        let id = linked(&self.id, link);
        match &self.title {
            None => id,
            Some(title) => format!("{id} {}", titled(title)),
        }
    }

    /// Returns the beginnings of the id and of the title as HTML without a link.
    pub(super) fn beginning(&self) -> String {
        Self { id: self.id.clone(), title: self.title.clone(), ..Self::default() }.name(None)
    }
}

/// Returns a title, or its beginning, as HTML.
pub fn titled(title: &str) -> String {
    const SHOWN: usize = 120;
    format!("<bdi class=\"nd-title\">{}</bdi>", Beginning(title.trim(), SHOWN))
}

/// Returns a summary of the differences of two documents in one line, and HTML with their texts
/// side by side. `name` distinguishes the pair from other pairs on a page.
///
/// Both are parts of a page that has the style [`HTML_STYLE`](crate::html_report::HTML_STYLE).
/// Fails only if memory is short, or after a request to stop. O(words · log words), and
/// O(sentences²) for a plot of long texts.
///
/// ```
/// use neardup_core::Stop;
/// use neardup_core::html_report::{ReportDocument, html_of_pair};
///
/// let of = |id: &str, text: &str| ReportDocument {
///     id: id.into(), text: text.into(), ..Default::default()
/// };
/// let (a, b) = (of("1", "The red crane left the quay."), of("2", "The crane left the quay."));
/// let (line, html) = html_of_pair([&a, &b], "p0", None, &Stop::default())?;
/// assert_eq!(line, "1 word only on the left, 0 only on the right");
/// assert!(html.starts_with("<div class=\"nd-pair"));
/// # Ok::<(), neardup_core::Error>(())
/// ```
pub fn pair(
    documents: [&ShownDocument; 2],
    name: &str,
    link: Option<&LinkPattern>,
    stop: &Stop,
) -> Result<(String, String)> {
    let [left, right] = documents;
    let compared = Compared::new(&left.text, &right.text, stop)?;
    let diff = Diff::new(&compared, stop)?;
    let plot = DotPlot::new(&left.text, &right.text, stop)?;
    let headings = documents.map(|document| {
        let cut = match document.is_cut {
            true => format!(", its first {} characters", Number(document.text.chars().count() as u64)),
            false => String::new(),
        };
        format!("{}{cut}", document.name(link))
    });
    let texts = side_by_side(&diff, [&headings[0], &headings[1]], name, Extent::Excerpt, stop)?;
    let dots = if plot.tells() { plot.figure() } else { String::new() };
    let class = if dots.is_empty() { "nd-pair" } else { "nd-pair nd-with-dots" };
    Ok((diff.summary(), format!("<div class=\"{class}\"><div>{texts}</div>{dots}</div>")))
}
