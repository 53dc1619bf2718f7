//! Lines, sentences, paragraphs and words of a text, one after the other. The white space after a
//! unit belongs to it, and the indent and the marker of a list item to the item, so that a text
//! without some of its units has no holes.

use std::ops::Range;

use super::Unit;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::runs::places::token_places;
use crate::features::tokens::Tokenizer;
use crate::memory;
use crate::text::characters::is_space;
use crate::text::lines::{is_break, lines};
use crate::text::paragraphs::for_each_paragraph;
use crate::text::sentences::for_each_sentence;
use crate::text::spans::{Position, Span};

const DOING: &str = "cutting a text into units";

/// A way to cut a text into units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Words.
    Words,
    /// Lines.
    Lines,
    /// Sentences.
    Sentences,
    /// Paragraphs.
    Paragraphs,
}

impl Cut {
    /// Returns the way to cut a text into the units that are compared, which are no windows.
    pub fn for_unit(unit: Unit) -> Self {
        match unit {
            Unit::Window(_) => Self::Words,
            Unit::Line => Self::Lines,
            Unit::Sentence => Self::Sentences,
            Unit::Paragraph => Self::Paragraphs,
        }
    }
}

/// A unit of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedUnit {
    /// The unit itself, which is compared.
    own: Range<usize>,
    /// The unit with what belongs to it, which is cut.
    pub span: Span,
}

impl PlacedUnit {
    /// Returns the text of the unit itself.
    pub fn slice<'a>(&self, text: &'a str) -> &'a str {
        &text[self.own.clone()]
    }
}

/// Replaces the content of `units` with the units of a text. Each begins where the one before it
/// ends, and the last one ends at the end of the text.
pub fn read_units(text: &str, cut: Cut, stop: &Stop, units: &mut Vec<PlacedUnit>) -> Result<()> {
    units.clear();
    let mut push = |span: Span| memory::push(units, PlacedUnit { own: span.bytes.clone(), span }, DOING);
    match cut {
        Cut::Words => {
            let mut words = Vec::new();
            token_places(text, Tokenizer::Words, stop, &mut words)?;
            words.into_iter().try_for_each(push)?;
        }
        Cut::Sentences => for_each_sentence(text, stop, push)?,
        Cut::Paragraphs => for_each_paragraph(text, stop, push)?,
        Cut::Lines => {
            let mut last: Option<Position> = None;
            for (n, line) in lines(text).enumerate() {
                stop.check_every(n, 1 << 10)?;
                // A line begins where it is in the text.
                let byte = line.as_ptr().addr() - text.as_ptr().addr();
                let from = last.unwrap_or_default();
                let to = from.behind(&text[from.byte..byte]);
                if last.replace(to).is_some() {
                    push(from.to(to))?;
                }
            }
            if let Some(from) = last {
                push(from.to(from.behind(&text[from.byte..])))?;
            }
        }
    }
    let mut end = Position::default();
    for n in 0..units.len() {
        // What stands directly at a unit belongs to it, and the white space after that up to the
        // beginning of a line. The rest belongs to the next unit: an indent, the marker of a list
        // item, an opening bracket.
        let next = units[n].span.clone();
        let gap = &text[end.byte..next.bytes.start];
        let directly = if n == 0 { 0 } else { gap.find(is_space).unwrap_or(gap.len()) };
        let rest = gap[directly..].trim_start_matches(is_space);
        let white = &gap[directly..gap.len() - rest.len()];
        let white = match white.char_indices().rfind(|(_, c)| is_break(*c)) {
            Some((at, c)) => at + c.len_utf8(),
            // The text begins with the indent of its first line.
            None if n == 0 => 0,
            None => white.len(),
        };
        let from = end.behind(&gap[..directly + white]);
        (units[n].span.bytes.start, units[n].span.chars.start) = (from.byte, from.char);
        if let Some(before) = n.checked_sub(1) {
            (units[before].span.bytes.end, units[before].span.chars.end) = (from.byte, from.char);
        }
        end = Position { byte: next.bytes.end, char: next.chars.end };
    }
    if let Some(last) = units.last_mut() {
        let end = end.behind(&text[end.byte..]);
        (last.span.bytes.end, last.span.chars.end) = (end.byte, end.char);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Cut; 4] = [Cut::Words, Cut::Lines, Cut::Sentences, Cut::Paragraphs];

    fn units(text: &str, cut: Cut) -> Vec<PlacedUnit> {
        let mut units = Vec::new();
        read_units(text, cut, &Stop::default(), &mut units).unwrap();
        units
    }

    fn cut(text: &str, cut: Cut) -> Vec<&str> {
        units(text, cut).iter().map(|unit| unit.span.slice(text)).collect()
    }

    #[test]
    fn units_follow_each_other() {
        let text = " One é. Two!\r\n\nThree\nfour. \n";
        assert_eq!(cut(text, Cut::Lines), [" One é. Two!\r\n", "\n", "Three\n", "four. \n", ""]);
        // Its lines are too few to be wrapped, so each line break ends a sentence.
        assert_eq!(cut(text, Cut::Sentences), [" One é. ", "Two!\r\n\n", "Three\n", "four. \n"]);
        assert_eq!(cut(text, Cut::Paragraphs), [" One é. Two!\r\n\n", "Three\nfour. \n"]);
        assert_eq!(cut(text, Cut::Words), [" One ", "é. ", "Two!\r\n\n", "Three\n", "four. \n"]);
    }

    #[test]
    fn markers_belong_to_their_items() {
        let text = "- One two.\n  - Three (four).\n\n• Five, \"six\"?";
        assert_eq!(cut(text, Cut::Sentences), ["- One two.\n", "  - Three (four).\n\n", "• Five, \"six\"?"]);
        assert_eq!(cut(text, Cut::Paragraphs), ["- One two.\n  - Three (four).\n\n", "• Five, \"six\"?"]);
        let words = ["- One ", "two.\n", "  - Three ", "(four).\n\n", "• Five, ", "\"six\"?"];
        assert_eq!(cut(text, Cut::Words), words);
        let own: Vec<&str> = units(text, Cut::Sentences).iter().map(|unit| unit.slice(text)).collect();
        assert_eq!(own, ["One two.", "Three (four).", "Five, \"six\"?"]);
    }

    proptest! {
        /// Nothing but white space at the beginning is in no unit, and characters are counted.
        #[test]
        fn every_character_is_in_one_unit(text in "([-*•#(\"] ?|[a-c]{1,3}|[ \n\u{3000}]|é|字|[.!,)]){0,40}") {
            for by in ALL {
                let units = units(&text, by);
                let Some(first) = units.first() else { continue };
                let head = &text[..first.span.bytes.start];
                prop_assert!(head.chars().all(is_space));
                prop_assert_eq!(first.span.chars.start, head.chars().count());
                prop_assert_eq!(units.last().unwrap().span.bytes.end, text.len());
                prop_assert!(units.windows(2).all(|two| two[0].span.bytes.end == two[1].span.bytes.start));
                for PlacedUnit { own, span } in units {
                    prop_assert!(span.bytes.start <= own.start && own.end <= span.bytes.end);
                    prop_assert_eq!(span.chars.len(), span.slice(&text).chars().count());
                    // White space before it is an indent, and after it no more comes than stands
                    // directly at it.
                    let (before, after) = (&text[span.bytes.start..own.start], &text[own.end..span.bytes.end]);
                    let is_indent = text[..span.bytes.start].chars().next_back().is_none_or(is_break);
                    prop_assert!(!before.starts_with(is_space) || is_indent);
                    prop_assert!(!after.trim_end_matches(is_space).contains(is_space) || span.bytes.end == text.len());
                }
            }
        }
    }
}
