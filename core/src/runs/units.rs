//! Lines, sentences, paragraphs and words of a text, one after the other. What follows a unit up to
//! the next one (white space, a line break) belongs to it, so that a text without some of its units
//! has no holes.

use super::Unit;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::runs::places::token_places;
use crate::features::tokens::Tokenizer;
use crate::memory;
use crate::text::lines::lines;
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
    pub fn of(unit: Unit) -> Self {
        match unit {
            Unit::Window(_) => Self::Words,
            Unit::Line => Self::Lines,
            Unit::Sentence => Self::Sentences,
            Unit::Paragraph => Self::Paragraphs,
        }
    }
}

/// Replaces the content of `units` with the units of a text, each up to the next one, and the last
/// one up to the end of the text.
pub fn read_units(text: &str, cut: Cut, stop: &Stop, units: &mut Vec<Span>) -> Result<()> {
    units.clear();
    match cut {
        Cut::Words => token_places(text, Tokenizer::Words, stop, units)?,
        Cut::Sentences => for_each_sentence(text, stop, |span| memory::push(units, span, DOING))?,
        Cut::Paragraphs => for_each_paragraph(text, stop, |span| memory::push(units, span, DOING))?,
        Cut::Lines => {
            let mut at = Position::default();
            for (n, line) in lines(text).enumerate() {
                if n.is_multiple_of(1 << 10) {
                    stop.check()?;
                }
                // A line begins where it is in the text.
                let byte = line.as_ptr().addr() - text.as_ptr().addr();
                let from = Position { byte, char: at.char + text[at.byte..byte].chars().count() };
                memory::push(units, from.to(from), DOING)?;
                at = from;
            }
        }
    }
    let end = text.len();
    let mut following = match units.last() {
        Some(last) => {
            Position { byte: end, char: last.chars.start + text[last.bytes.start..].chars().count() }
        }
        None => return Ok(()),
    };
    for unit in units.iter_mut().rev() {
        (unit.bytes.end, unit.chars.end) = (following.byte, following.char);
        following = Position { byte: unit.bytes.start, char: unit.chars.start };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_follow_each_other() {
        let text = " One é. Two!\r\n\nThree\nfour. \n";
        let cut = |cut| {
            let mut units = Vec::new();
            read_units(text, cut, &Stop::default(), &mut units).unwrap();
            for unit in &units {
                let chars: String = text.chars().skip(unit.chars.start).take(unit.chars.len()).collect();
                assert_eq!(unit.of(text), chars);
            }
            units.iter().map(|unit| unit.of(text)).collect::<Vec<_>>()
        };
        assert_eq!(cut(Cut::Lines), [" One é. Two!\r\n", "\n", "Three\n", "four. \n", ""]);
        // Its lines are too few to be wrapped, so each line break ends a sentence.
        assert_eq!(cut(Cut::Sentences), ["One é. ", "Two!\r\n\n", "Three\n", "four. \n"]);
        assert_eq!(cut(Cut::Paragraphs), ["One é. Two!\r\n\n", "Three\nfour. \n"]);
        assert_eq!(cut(Cut::Words), ["One ", "é. ", "Two!\r\n\n", "Three\n", "four. \n"]);
    }
}
