//! Paragraphs and their places in the text (docs/design/algorithms.md section 1, *Paragraphs*).
//!
//! Paragraphs are separated by blank lines. If there is no blank line between lines of text, every
//! line is a paragraph. O(bytes).

use super::characters::{is_space, trim};
use super::lines::{is_break, lines};
use super::spans::{Position, Span};
use crate::error::Result;
use crate::executor::{Stop, unstopped};

/// Calls `each` with the place of every paragraph of `text`, in order. A place excludes the white
/// space at the ends of the paragraph.
///
/// Fails if `each` fails, or with [`crate::error::Error::Stopped`].
pub fn for_each_paragraph(text: &str, stop: &Stop, mut each: impl FnMut(Span) -> Result<()>) -> Result<()> {
    const CHECK_EVERY: usize = 1 << 14;
    let blank_lines = has_blank_lines(text, stop)?;
    let mut at = Position::default();
    // The start of the paragraph and the end of its last character.
    let mut open: Option<(Position, Position)> = None;
    let mut blank = true;
    for c in text.chars() {
        stop.check_every(at.char, CHECK_EVERY)?;
        let next = at.after(c);
        if is_break(c) {
            // `\r\n` is one line break, so there is no empty line between its two characters.
            let inside = c == '\r' && text[next.byte..].starts_with('\n');
            if ((blank && !inside) || !blank_lines || c == '\u{2029}' || c == '\u{c}')
                && open.is_some()
                && let Some((start, end)) = open.take()
            {
                each(start.to(end))?;
            }
            blank |= !inside;
        } else if !is_space(c) {
            open = Some((open.map_or(at, |(start, _)| start), next));
            blank = false;
        }
        at = next;
    }
    match open {
        Some((start, end)) => each(start.to(end)),
        None => Ok(()),
    }
}

/// Returns the places of the paragraphs of a text.
///
/// Paragraphs are separated by blank lines; if there is no blank line, every line is a paragraph.
/// O(bytes).
///
/// ```
/// let text = "One\ntwo\n\n三\n";
/// let all: Vec<&str> = neardup_core::paragraphs(text).iter().map(|span| span.slice(text)).collect();
/// assert_eq!(all, ["One\ntwo", "三"]);
/// ```
pub fn paragraphs(text: &str) -> Vec<Span> {
    unstopped(|stop, push| for_each_paragraph(text, stop, push))
}

/// Reports whether there is a blank line between lines of text.
fn has_blank_lines(text: &str, stop: &Stop) -> Result<bool> {
    const CHECK_EVERY: usize = 1 << 10;
    let (mut seen, mut blank) = (false, false);
    for (n, line) in lines(text).enumerate() {
        stop.check_every(n, CHECK_EVERY)?;
        if trim(line).is_empty() {
            blank = seen;
        } else if blank {
            return Ok(true);
        } else {
            seen = true;
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition: lines, joined if there is no blank line between them.
    fn by_definition(text: &str) -> Vec<String> {
        let lines: Vec<&str> = lines(text).collect();
        let blocks: Vec<Vec<&str>> = lines
            .split(|line| line.trim().is_empty())
            .filter(|block| !block.is_empty())
            .map(<[_]>::to_vec)
            .collect();
        let single = blocks.len() < 2;
        let blocks = blocks.into_iter().flat_map(|block| {
            if single { block.into_iter().map(|line| vec![line]).collect() } else { vec![block] }
        });
        blocks.map(|block| block.join("\n").trim().to_owned()).collect()
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(text in "[ab \\n\t\u{3000}好]{0,30}", crlf: bool) {
            let text = if crlf { text.replace('\n', "\r\n") } else { text };
            let chars: Vec<char> = text.chars().collect();
            let found: Vec<String> = paragraphs(&text)
                .into_iter()
                .map(|span| {
                    assert_eq!(span.slice(&text), chars[span.chars.clone()].iter().collect::<String>());
                    span.slice(&text).replace("\r\n", "\n")
                })
                .collect();
            prop_assert_eq!(found, by_definition(&text));
        }
    }
}
