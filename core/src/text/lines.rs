//! The layout of a text in lines: where a line break ends a sentence, and where it only wraps a
//! sentence.
//!
//! A text is *hard-wrapped* if most of its lines are as long as they can be: the first word of the
//! next line would not have fitted on the line. A break inside such a text has no meaning, except
//! before an indented line or a list item.

use super::characters::width_of;
use super::characters::{is_lowercase, is_space, trim};
use super::list_markers::bullet;
use crate::error::Result;
use crate::executor::Stop;

/// Reports whether a character ends a line: `\n`, `\r\n`, `\r`, and Unicode's separators.
pub fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns the first character of a text that ends a line, and its place.
fn find_break(text: &str) -> Option<(usize, char)> {
    const BLOCK: usize = 64;
    let bytes = text.as_bytes();
    // Returns 1 if a byte can begin such a character in UTF-8, else 0. It returns a number instead
    // of a boolean so that compilers vectorise the code.
    let may_begin =
        |byte: u8| u8::from(byte.wrapping_sub(b'\n') < 4) | u8::from(byte == 0xc2) | u8::from(byte == 0xe2);
    let mut at = 0;
    while at < bytes.len() {
        if let Some(block) = bytes[at..].first_chunk::<BLOCK>()
            && block.iter().fold(0, |any, &byte| any | may_begin(byte)) == 0
        {
            at += BLOCK;
            continue;
        }
        let to = bytes.len().min(at + BLOCK);
        for place in (at..to).filter(|&place| may_begin(bytes[place]) != 0) {
            if let Some(c) = text[place..].chars().next().filter(|&c| is_break(c)) {
                return Some((place, c));
            }
        }
        at = to;
    }
    None
}

/// Returns the lines of a text without their line breaks; `\r\n` is one line break.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some((at, end)) = find_break(text) else {
            rest = None;
            return Some(text);
        };
        let behind = &text[at + end.len_utf8()..];
        rest = Some(if end == '\r' { behind.strip_prefix('\n').unwrap_or(behind) } else { behind });
        Some(&text[..at])
    })
}

/// The layout of the lines of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineLayout {
    /// Whether most lines are full, so the breaks between them only wrap sentences.
    pub hard_wrapped: bool,
    /// The number of columns by which most lines are indented.
    pub indent: usize,
}

/// The greatest line length of a hard-wrapped text.
const LONGEST: usize = 100;
/// The least line length of a hard-wrapped text; narrower text is a list or a verse.
const NARROWEST: usize = 30;

impl LineLayout {
    /// Measures all lines of a text, in two passes. O(bytes) time, and memory of a fixed size.
    pub fn read(text: &str, stop: &Stop) -> Result<Self> {
        const CHECK_EVERY: usize = 1 << 10;
        let mut widths = Lengths::default();
        let mut characters = Lengths::default();
        let mut indents = Lengths::default();
        for (n, line) in lines(text).enumerate() {
            stop.check_every(n, CHECK_EVERY)?;
            let Some(line) = Line::new(line) else { continue };
            widths.add(line.width);
            characters.add(line.characters);
            indents.add(line.indent);
        }
        let full = [characters.usual_longest(), widths.usual_longest()];
        let mut layout = Self { hard_wrapped: false, indent: indents.most_frequent() };
        // A single line does not show whether a text is wrapped.
        if widths.all > 1 && full[0] <= LONGEST && full[1] >= NARROWEST {
            layout.hard_wrapped = layout.are_filled(text, full, stop)?;
        }
        Ok(layout)
    }

    /// Reports whether most lines that another line continues are about as long as `full`, in
    /// characters or columns.
    fn are_filled(&self, text: &str, full: [usize; 2], stop: &Stop) -> Result<bool> {
        const CHECK_EVERY: usize = 1 << 10;
        let (mut inner, mut filled, mut goes_on) = (0usize, 0usize, false);
        let mut before: Option<Line<'_>> = None;
        for (n, text) in lines(text).enumerate() {
            stop.check_every(n, CHECK_EVERY)?;
            let line = Line::new(text);
            if let (Some(before), Some(line)) = (&before, &line)
                && line.indent <= self.indent.max(before.indent)
                && bullet(line.text) == 0
            {
                let [characters, width] = line.first_word();
                // Allows some slack, because the longest line of a short text may be much longer
                // than its other lines.
                let reaches = |length: usize, word: usize, full: usize| length + word + full / 8 > full;
                inner += 1;
                filled += usize::from(
                    reaches(before.characters, characters, full[0]) || reaches(before.width, width, full[1]),
                );
                goes_on = line.text.starts_with(is_lowercase);
            }
            before = line;
        }
        // A single pair of lines shows nothing, unless the second line plainly continues the first
        // line.
        Ok((inner > 1 || goes_on) && 5 * filled >= 3 * inner && inner > 0)
    }

    /// Reports whether a break before `line` ends a block. A break ends a block before a blank
    /// line, before a line that is indented further than most lines, before a list item, and before
    /// any line if the text is not hard-wrapped. `hanging` is the column in which the text of the
    /// current list item begins; a line that is indented to this column continues the item.
    pub fn begins_block(&self, line: &str, hanging: Option<usize>) -> bool {
        let Some(line) = Line::new(line) else { return true };
        !self.hard_wrapped
            || (line.indent > self.indent && hanging != Some(line.indent))
            || bullet(line.text) > 0
    }
}

/// A line that is not blank.
#[derive(Debug)]
pub struct Line<'a> {
    /// The line without the white space around it.
    pub text: &'a str,
    /// The number of columns before the text.
    pub indent: usize,
    /// The length of the line including its indent, in columns.
    width: usize,
    /// The length of the line including its indent, in characters.
    characters: usize,
}

impl<'a> Line<'a> {
    /// Measures a line. Returns `None` if it is blank. Very long lines are measured only in part.
    pub fn new(line: &'a str) -> Option<Self> {
        const MEASURED: usize = 4 * LONGEST;
        let text = trim(line);
        if text.is_empty() {
            return None;
        }
        let blanks = line[..line.len() - line.trim_start_matches(is_space).len()].chars().take(MEASURED);
        let (indent, indented) = blanks.fold((0, 0), |(columns, n), c| {
            (columns + if c == '\t' { 8 - columns % 8 } else { width_of(c) }, n + 1)
        });
        let measured = &text.as_bytes()[..text.len().min(MEASURED)];
        let (width, characters) = match measured.is_ascii() {
            true => (indent + measured.len(), indented + measured.len()),
            false => {
                text.chars().take(MEASURED).fold((indent, indented), |(w, n), c| (w + width_of(c), n + 1))
            }
        };
        Some(Self { text, indent, width, characters })
    }

    /// Returns the number of characters and the number of columns that the first word would have
    /// needed on the previous line.
    fn first_word(&self) -> [usize; 2] {
        let [mut characters, mut width] = [0; 2];
        for c in self.text.chars().take_while(|&c| !is_space(c)).take(LONGEST) {
            if width_of(c) > 1 {
                if characters == 0 {
                    return [1, 2];
                }
                break;
            }
            characters += 1;
            width += 1;
        }
        // One more for the space before the word.
        [characters + 1, width + 1]
    }
}

/// The frequencies of lengths; all lengths over a limit are counted together.
#[derive(Debug)]
struct Lengths {
    counts: [usize; 4 * LONGEST + 2],
    all: usize,
}

impl Default for Lengths {
    fn default() -> Self {
        Self { counts: [0; 4 * LONGEST + 2], all: 0 }
    }
}

impl Lengths {
    fn add(&mut self, length: usize) {
        self.counts[length.min(self.counts.len() - 1)] += 1;
        self.all += 1;
    }

    /// Returns the greatest length when the longest twentieth of all lengths is left out.
    fn usual_longest(&self) -> usize {
        let mut left_out = self.all / 20;
        for (length, &count) in self.counts.iter().enumerate().rev() {
            if count > left_out {
                return length;
            }
            left_out -= count;
        }
        0
    }

    /// Returns the most frequent length, the least one if several are equally frequent.
    fn most_frequent(&self) -> usize {
        let most = self.counts.iter().max().copied().unwrap_or(0);
        self.counts.iter().position(|&count| count == most).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(text: &str) -> LineLayout {
        LineLayout::read(text, &Stop::default()).expect("not stopped")
    }

    #[test]
    fn lines_of_all_ends() {
        let all: Vec<&str> = lines("a\nb\r\nc\rd\n\n\u{2029}e").collect();
        assert_eq!(all, ["a", "b", "c", "d", "", "", "e"]);
        assert_eq!(lines("").collect::<Vec<_>>(), [""]);
    }

    #[test]
    fn ends_of_lines_at_every_place() {
        for length in [1, 31, 32, 33, 64, 70] {
            for place in 0..length {
                for end in
                    ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}', '\u{86}', '…', '\t']
                {
                    for other in ["a", "é", "’"] {
                        let text = format!("{}{end}{}", other.repeat(place), other.repeat(length - place));
                        let expected = text.char_indices().find(|&(_, c)| is_break(c));
                        assert_eq!(find_break(&text), expected, "{text:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn wrapped_prose_is_told_from_lists() {
        let words = "the quick brown fox jumps over an extraordinarily lazy dog and on it goes until night ";
        let prose = words.repeat(6);
        for width in [30, 40, 60, 72, 79, 100] {
            let mut wrapped = String::new();
            let mut column = 0;
            for word in prose.split_whitespace() {
                if column + 1 + word.len() > width {
                    wrapped.push('\n');
                    column = 0;
                } else if column > 0 {
                    wrapped.push(' ');
                    column += 1;
                }
                wrapped.push_str(word);
                column += word.len();
            }
            assert!(layout(&wrapped).hard_wrapped, "{width}\n{wrapped}");
        }
        let han: Vec<char> = "天地玄黄宇宙洪荒日月盈昃辰宿列张".chars().cycle().take(200).collect();
        for width in [15, 30, 50] {
            let wrapped: Vec<String> = han.chunks(width).map(|line| line.iter().collect()).collect();
            assert!(layout(&wrapped.join("\n")).hard_wrapped, "{width}");
        }
        assert!(!layout(&prose).hard_wrapped);
        assert!(!layout("Title\nBody of it").hard_wrapped);
        let list = "Report on the harvest of the year\nAgenda of the meeting in the town hall on Monday\n\
                    Minutes\nList of members and of guests\nHow to get there\n";
        assert!(!layout(list).hard_wrapped);
        assert!(layout("It was in the spring of that year that\nhe left.").hard_wrapped);
    }
}
