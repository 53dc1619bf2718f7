//! How a text is laid out in lines: where a line break ends a sentence, and where it only wraps one.
//!
//! A text is *hard-wrapped* where most of its lines are as long as they can be: the first word of the next
//! line would not have fitted. A break inside such a text says nothing, but one before an indented line or
//! a list item does.

use super::width::width_of;
use crate::error::Result;
use crate::workers::Stop;

/// Ends a line: `\n`, `\r\n`, `\r`, and Unicode's separators.
pub fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The lines of a text without what ends them; `\r\n` ends one line.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some((at, end)) = text.char_indices().find(|&(_, c)| is_break(c)) else {
            rest = None;
            return Some(text);
        };
        let behind = &text[at + end.len_utf8()..];
        rest = Some(if end == '\r' { behind.strip_prefix('\n').unwrap_or(behind) } else { behind });
        Some(&text[..at])
    })
}

/// What is known of the lines of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Whether most lines are filled, so that breaks between them only wrap.
    pub hard_wrapped: bool,
    /// Whether there is a blank line between lines of text.
    pub blank_lines: bool,
    /// The columns that most lines are indented by.
    pub indent: usize,
}

/// The greatest length of lines in a hard-wrapped text.
const LONGEST: usize = 100;
/// The least width: what is narrower is a list or a verse.
const NARROWEST: usize = 30;

impl Layout {
    /// Looks at all lines of a text, twice. O(bytes), memory for a few lengths.
    pub fn of(text: &str, stop: &Stop) -> Result<Self> {
        const CHECK_EVERY: usize = 1 << 10;
        let mut widths = Lengths::default();
        let mut characters = Lengths::default();
        let mut indents = Lengths::default();
        let (mut blank, mut blank_lines) = (false, false);
        for (n, line) in lines(text).enumerate() {
            if n % CHECK_EVERY == 0 {
                stop.check()?;
            }
            let Some(line) = Line::new(line) else {
                blank = widths.all > 0;
                continue;
            };
            blank_lines |= blank;
            widths.add(line.width);
            characters.add(line.characters);
            indents.add(line.indent);
        }
        let full = [characters.usual_longest(), widths.usual_longest()];
        let mut layout = Self { hard_wrapped: false, blank_lines, indent: indents.most_frequent() };
        if full[0] <= LONGEST && full[1] >= NARROWEST {
            layout.hard_wrapped = layout.are_filled(text, full, stop)?;
        }
        Ok(layout)
    }

    /// Whether most of the lines that another line goes on from are about so long, in characters or columns.
    fn are_filled(&self, text: &str, full: [usize; 2], stop: &Stop) -> Result<bool> {
        const CHECK_EVERY: usize = 1 << 10;
        let (mut inner, mut filled, mut goes_on) = (0usize, 0usize, false);
        let mut before: Option<Line<'_>> = None;
        for (n, text) in lines(text).enumerate() {
            if n % CHECK_EVERY == 0 {
                stop.check()?;
            }
            let line = Line::new(text);
            if let (Some(before), Some(line)) = (&before, &line)
                && line.indent <= self.indent.max(before.indent)
                && bullet(line.text) == 0
            {
                let [characters, width] = line.first_word();
                // Some slack: the longest line of a short text may be much longer than the others.
                let reaches = |length: usize, word: usize, full: usize| length + word + full / 8 > full;
                inner += 1;
                filled += usize::from(
                    reaches(before.characters, characters, full[0]) || reaches(before.width, width, full[1]),
                );
                goes_on = line.text.starts_with(char::is_lowercase);
            }
            before = line;
        }
        // Of two lines nothing can be said unless the second plainly goes on.
        Ok((inner > 1 || goes_on) && 5 * filled >= 3 * inner && inner > 0)
    }

    /// Whether a break before `line` ends a block: a blank line, one that is indented further than most, a
    /// list item, or any line where lines are not wrapped. `hanging` is the column that the text of the
    /// present list item begins in.
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
    /// It, without white space around.
    pub text: &'a str,
    /// The columns before it.
    pub indent: usize,
    /// Its length from the left edge in columns.
    width: usize,
    /// And in characters.
    characters: usize,
}

impl<'a> Line<'a> {
    /// Measures a line; none if it is blank. Very long ones are measured in part only.
    pub fn new(line: &'a str) -> Option<Self> {
        const MEASURED: usize = 4 * LONGEST;
        let text = line.trim();
        if text.is_empty() {
            return None;
        }
        let blanks = line[..line.len() - line.trim_start().len()].chars().take(MEASURED);
        let (indent, indented) = blanks.fold((0, 0), |(columns, n), c| {
            (columns + if c == '\t' { 8 - columns % 8 } else { width_of(c) }, n + 1)
        });
        let (width, characters) =
            text.chars().take(MEASURED).fold((indent, indented), |(w, n), c| (w + width_of(c), n + 1));
        Some(Self { text, indent, width, characters })
    }

    /// What the first word would have needed on the line before: characters and columns.
    fn first_word(&self) -> [usize; 2] {
        let [mut characters, mut width] = [0; 2];
        for c in self.text.chars().take_while(|c| !c.is_whitespace()).take(LONGEST) {
            if width_of(c) > 1 {
                if characters == 0 {
                    return [1, 2];
                }
                break;
            }
            characters += 1;
            width += 1;
        }
        // With the space between.
        [characters + 1, width + 1]
    }
}

/// The bytes of the list marker that a line (without indent) begins with, and of the space after it; 0 if
/// it begins with none. Markers are dashes, dots and other signs, numbers and letters in the usual forms.
pub fn bullet(line: &str) -> usize {
    let sign = symbol(line);
    if sign > 0 {
        return sign;
    }
    let spaced = |at: usize| {
        let rest = &line[at..];
        let blanks = rest.len() - rest.trim_start().len();
        if blanks > 0 { at + blanks } else { 0 }
    };
    let open = line.chars().next().filter(|c| matches!(c, '(' | '（'));
    let start = open.map_or(0, char::len_utf8);
    let body = &line[start..];
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let han = body
        .chars()
        .take_while(|c| "〇零一二三四五六七八九十百".contains(*c))
        .map(char::len_utf8)
        .sum::<usize>();
    let letter = usize::from(body.starts_with(|c: char| c.is_ascii_alphabetic()));
    let (number, length) = match (digits, han) {
        (1..=3, _) => (true, digits),
        (0, 1..=12) => (true, han),
        (0, 0) if letter == 1 => (false, 1),
        _ => return 0,
    };
    let Some(close) = body[length..].chars().next() else { return 0 };
    let end = start + length + close.len_utf8();
    match close {
        // In Chinese no space follows.
        '、' if number && open.is_none() => end + spaced(end).saturating_sub(end),
        '）' if open.is_some() || number => end + spaced(end).saturating_sub(end),
        ')' => spaced(end),
        '.' | '．' if number && han == 0 && open.is_none() => spaced(end),
        _ => 0,
    }
}

/// The bytes of a sign that marks a list item or a heading, and of the space after it; 0 if the line
/// begins with none.
pub fn symbol(line: &str) -> usize {
    let Some(c) = line.chars().next() else { return 0 };
    let length = match c {
        '#' => line.bytes().take_while(|&b| b == b'#').count(),
        _ => c.len_utf8(),
    };
    let rest = &line[length..];
    let blanks = rest.len() - rest.trim_start().len();
    match c {
        '•' | '‣' | '▪' | '■' | '□' | '●' | '○' | '◆' | '◇' | '►' | '▶' | '★' | '☆' | '※' => {
            length + blanks
        }
        '-' | '*' | '+' | '·' | '–' | '—' | '◦' | '>' | '#' if blanks > 0 => length + blanks,
        _ => 0,
    }
}

/// How often lengths occur; those over a limit are one.
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

    /// The greatest length when the longest twentieth is left out.
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

    /// The most frequent length, the least of equally frequent ones.
    fn most_frequent(&self) -> usize {
        let most = self.counts.iter().max().copied().unwrap_or(0);
        self.counts.iter().position(|&count| count == most).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(text: &str) -> Layout {
        Layout::of(text, &Stop::default()).expect("not stopped")
    }

    #[test]
    fn lines_of_all_ends() {
        let all: Vec<&str> = lines("a\nb\r\nc\rd\n\n\u{2029}e").collect();
        assert_eq!(all, ["a", "b", "c", "d", "", "", "e"]);
        assert_eq!(lines("").collect::<Vec<_>>(), [""]);
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

    #[test]
    fn markers_of_lists() {
        for (line, length) in [
            ("- a", 2),
            ("-a", 0),
            ("•a", 3),
            ("* a", 2),
            ("## a", 3),
            ("#a", 0),
            ("1. a", 3),
            ("1.5 a", 0),
            ("12) a", 4),
            ("(3) a", 4),
            ("a) b", 3),
            ("a. b", 0),
            ("1987. The", 0),
            ("一、总则", 6),
            ("（二）总则", 9),
            ("", 0),
            ("-", 0),
            ("3", 0),
            ("一天", 0),
            ("1、总", 4),
        ] {
            assert_eq!(bullet(line), length, "{line:?}");
        }
    }
}
