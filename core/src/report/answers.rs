//! Answers to pairs, given in the page: whether two documents are duplicates.
//!
//! The script of the page shows the buttons, which are hidden without it, and makes a file of the
//! answers: for each pair a line with the two ids and t or f, as COPY reads it (PostgreSQL's
//! documentation, COPY, *Text Format*). `suggest` reads the table into which it is copied. The page
//! allows this script by its hash and no other.

use super::html::Escaped;
use super::pair::ShownDocument;

/// The script.
pub(super) const SCRIPT: &str = include_str!("answers.js");

/// The SHA-256 hash of the script in base64, by which the policy of the page allows it.
/// `tests/pg_regress` compares the two.
pub(super) const HASH: &str = "448HO978FcrUjq3EfYe8oqyX5uOSpoO9FZC61ZTOLHQ=";

/// Returns the question about a pair. `name` distinguishes it from others on a page.
pub(super) fn question([a, b]: [&ShownDocument; 2], name: &str) -> String {
    let [a, b] = [a, b].map(|document| field(&document.id));
    let choice = |value: &str, word: &str| {
        format!("<label><input type=\"radio\" name=\"answer-{name}\" value=\"{value}\"> {word}</label>")
    };
    format!(
        "<fieldset class=\"nd-answer\" data-a=\"{}\" data-b=\"{}\" hidden><legend>Duplicates?</legend>{}{}</fieldset>",
        Escaped(&a),
        Escaped(&b),
        choice("t", "yes"),
        choice("f", "no")
    )
}

/// Returns the number of answers, the button that saves them, and the answers as text.
pub(super) fn bar() -> &'static str {
    "<div class=\"nd-answers\" hidden><output></output> <button type=\"button\">Save answers.tsv</button>\
     <details><summary>as text</summary><pre class=\"nd-call\"></pre></details></div>"
}

/// Writes an id as a field of COPY. In HTML a carriage return would become a line feed.
fn field(id: &str) -> String {
    let mut field = String::new();
    for c in id.chars() {
        match c {
            '\\' => field.push_str("\\\\"),
            '\t' => field.push_str("\\t"),
            '\n' => field.push_str("\\n"),
            '\r' => field.push_str("\\r"),
            c => field.push(c),
        }
    }
    field
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_as_copy_reads_them() {
        assert_eq!(field("a\\b\tc\nd\re"), "a\\\\b\\tc\\nd\\re");
        assert_eq!(["", "\\N", "\\."].map(field), ["", "\\\\N", "\\\\."]);
    }

    #[test]
    fn ids_are_no_markup() {
        let of = |id: &str| ShownDocument { id: id.to_owned(), ..ShownDocument::default() };
        let html = question([&of("\" onclick=\"x"), &of("<b>")], "p0");
        assert!(html.contains("data-a=\"&quot; onclick=&quot;x\" data-b=\"&lt;b&gt;\""), "{html}");
    }

    #[test]
    fn the_script_ends_where_its_element_ends() {
        assert!(!SCRIPT.contains("</") && !SCRIPT.contains("<!--") && SCRIPT.is_ascii());
    }
}
