//! The runs of tokens that most documents have, as a table.

use super::html::Escaped;
use super::link::{LinkPattern, linked};
use super::numbers::Number;

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
