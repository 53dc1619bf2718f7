//! The marks that may end a sentence, and the decision whether they do.

use super::abbreviations::{Abbreviation, LONGEST, abbreviation, is_starter};
use super::characters::width_of;
use super::characters::{
    is_alphabetic, is_alphanumeric, is_lowercase, is_numeric, is_space, is_uppercase, lower,
};
use super::spans::{Position, Span};
use crate::error::Result;

/// The current sentence, which has begun and not ended.
#[derive(Debug, Default)]
pub struct OpenMarks {
    /// The start of the sentence; `None` before its first character.
    pub start: Option<Position>,
    /// The position after the last character of the sentence that is not white space.
    last: Position,
    /// Whether the sentence has a letter or a number.
    speaks: bool,
    /// Whether the number of straight quotation marks in the sentence is odd.
    quoted: bool,
    /// Whether the current word is a URL.
    pub in_url: bool,
}

impl OpenMarks {
    /// Takes the next character, which is not white space.
    pub fn take(&mut self, text: &str, at: Position, c: char) {
        if self.start.is_none() {
            *self = Self { start: Some(at), ..Self::default() };
        }
        self.speaks |= is_alphanumeric(c);
        self.quoted ^= c == '"';
        self.last = at.after(c);
        if !c.is_ascii() {
            self.in_url &= width_of(c) == 1;
        } else if c == ':' {
            self.in_url |= text[at.byte..].starts_with("://");
        } else if matches!(c, '<' | '>' | '"') {
            self.in_url = false;
        }
    }

    /// Takes ASCII characters that do not end a line or a sentence. None of them may be one of
    /// `":<>`.
    pub fn take_plain(&mut self, bytes: &[u8], at: Position) {
        if bytes.is_empty() {
            return;
        }
        let is_space = |byte: &u8| matches!(byte, b'\t' | b' ');
        let Some(last) = bytes.iter().rposition(|byte| !is_space(byte)) else {
            self.in_url = false;
            return;
        };
        if self.start.is_none() {
            let first = bytes.iter().position(|byte| !is_space(byte)).unwrap_or(last);
            let start = Position { byte: at.byte + first, char: at.char + first };
            *self = Self { start: Some(start), ..Self::default() };
        }
        self.speaks = self.speaks || bytes.iter().any(u8::is_ascii_alphanumeric);
        self.in_url = self.in_url && !bytes.iter().any(is_space);
        self.last = Position { byte: at.byte + last + 1, char: at.char + last + 1 };
    }

    /// Ends the sentence, and passes it to `each` if it has a letter or a number.
    pub fn end(&mut self, each: &mut impl FnMut(Span) -> Result<()>) -> Result<()> {
        let ended = std::mem::take(self);
        match ended.start {
            Some(start) if ended.speaks => each(start.to(ended.last)),
            _ => Ok(()),
        }
    }
}

/// Reports whether a character ends a sentence in any position, unless a comma or the like follows.
fn is_plain_terminator(c: char) -> bool {
    matches!(
        c,
        '。' | '！'
            | '？'
            | '；'
            | '｡'
            | '‼'
            | '⁇'
            | '⁈'
            | '⁉'
            | '؟'
            | '۔'
            | '।'
            | '॥'
            | '።'
            | '։'
    )
}

fn is_ellipsis(c: char) -> bool {
    matches!(c, '…' | '⋯')
}

/// Reports whether a sentence may end at a character.
pub fn is_terminator(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | ';' | '．') || is_ellipsis(c) || is_plain_terminator(c)
}

/// Reports whether a character closes a quotation or a bracket.
fn is_closer(c: char) -> bool {
    matches!(
        c,
        ')' | ']'
            | '}'
            | '\''
            | '”'
            | '’'
            | '»'
            | '›'
            | '」'
            | '』'
            | '）'
            | '】'
            | '〕'
            | '］'
            | '｝'
            | '〗'
    )
}

fn is_quotation_mark(c: char) -> bool {
    matches!(c, '"' | '\'' | '”' | '’' | '»' | '›' | '」' | '』')
}

/// Reports whether a character continues the sentence after a terminator.
fn is_continuation(c: char) -> bool {
    matches!(c, ',' | ':' | '，' | '、' | '：' | '》' | '〉')
}

/// A terminator with all terminators and closing marks that follow it directly.
#[derive(Debug)]
pub struct Terminators {
    /// The first terminator. `at` is its place in bytes.
    first: char,
    at: usize,
    /// The position after the last mark, in bytes.
    pub end: usize,
    /// The number of full stops; an ellipsis counts as three.
    dots: usize,
    /// Whether one of the marks ends a sentence in any position.
    plain: bool,
    /// Whether one of the marks is `?` or `!`.
    asks: bool,
    /// Whether one of the marks closes a quotation or a bracket.
    closes: bool,
}

impl Terminators {
    /// Reads the marks from the terminator `first` on. `behind` is the position after `first`.
    pub fn new(text: &str, open: &OpenMarks, behind: Position, first: char) -> Self {
        let at = behind.byte - first.len_utf8();
        let mut marks =
            Self { first, at, end: behind.byte, dots: 0, plain: false, asks: false, closes: false };
        marks.note(first);
        let mut quoted = open.quoted;
        while let Some(next) = text[marks.end..].chars().next() {
            let behind = marks.end + next.len_utf8();
            if is_terminator(next) && next != ';' && next != '；' {
                marks.note(next);
            } else if is_closer(next) || (next == '"' && (quoted || ends_word(&text[behind..]))) {
                // An apostrophe before a letter opens a quotation or replaces omitted letters.
                if matches!(next, '\'' | '’') && text[behind..].starts_with(is_alphanumeric) {
                    break;
                }
                quoted &= next != '"';
                marks.closes |= is_quotation_mark(next) || matches!(next, ')' | '）');
            } else if let Some(footnote) = footnote(&text[marks.end..]) {
                marks.end += footnote;
                continue;
            } else {
                break;
            }
            marks.end = behind;
        }
        marks
    }

    fn note(&mut self, c: char) {
        self.dots += if c == '.' { 1 } else { 3 * usize::from(is_ellipsis(c)) };
        self.plain |= is_plain_terminator(c);
        self.asks |= matches!(c, '!' | '?');
    }

    /// Reports whether the marks end the open sentence.
    pub fn end_sentence(&self, text: &str, open: &OpenMarks) -> bool {
        let (Some(start), Some(next)) = (open.start, text[self.end..].chars().next()) else { return true };
        if is_continuation(next) {
            return false;
        }
        if self.plain {
            return true;
        }
        let sentence = &text[start.byte..self.at];
        if self.first == ';' && is_entity(sentence) {
            return false;
        }
        if !is_space(next) {
            return self.end_before(next, sentence, open);
        }
        let rest = text[self.end..].trim_start_matches(is_space);
        // The next word, without the quotation marks and brackets that open before it.
        let word = rest.trim_start_matches(|c: char| !is_alphanumeric(c) && !is_space(c));
        let goes_on = word.starts_with(is_lowercase);
        if self.first == ';' {
            return true;
        }
        if self.asks {
            return !(goes_on && self.closes);
        }
        if sentence.ends_with(is_space) && self.dots < 2 {
            // White space before the mark: a program separated words and marks by spaces.
            return true;
        }
        if goes_on || rest.starts_with(is_continuation) {
            return false;
        }
        self.dots > 1 || full_stop_ends(sentence, word)
    }

    /// Reports whether the marks end the sentence although the next character is not white space.
    fn end_before(&self, next: char, sentence: &str, open: &OpenMarks) -> bool {
        let before = sentence.chars().next_back();
        let wide = width_of(next) > 1 || matches!(next, '“' | '‘');
        let wide_before = before.is_some_and(|c| width_of(c) > 1 || matches!(c, '”' | '’'));
        match self.first {
            '.' | '．' if self.dots < 3 && !self.asks => wide && wide_before,
            '.' | '…' | '⋯' => wide || is_uppercase(next),
            ';' => wide || wide_before,
            // A mark ends a sentence in `end!Next`, which lacks a space, but not in `a?b=C`.
            _ if wide || wide_before => true,
            _ => !open.in_url && is_uppercase(next) && before.is_some_and(is_lowercase),
        }
    }
}

/// Reports whether a full stop ends a sentence, given the part of the sentence before it and the
/// text that follows after white space.
fn full_stop_ends(sentence: &str, following: &str) -> bool {
    const SEEN: usize = 24;
    let length: usize = sentence
        .chars()
        .rev()
        .take_while(|&c| is_alphanumeric(c) || c == '.')
        .take(SEEN)
        .map(char::len_utf8)
        .sum();
    let word = &sentence[sentence.len() - length..];
    let numbers = |c: char| c.is_ascii_digit() || c == '.' || "IVX".contains(c);
    if length == sentence.len() && !word.is_empty() && word.chars().all(numbers) {
        // The number of a list item or a heading.
        return false;
    }
    let first = following.chars().next();
    let number_follows = first.is_some_and(is_numeric);
    let starter_follows = || {
        let next: String = following.chars().take_while(|&c| is_alphabetic(c)).take(SEEN).collect();
        is_starter(&small(&next))
    };
    let capital = word.starts_with(is_uppercase);
    let mut letters = word.chars();
    if let (Some(only), None) = (letters.next(), letters.next()) {
        // A single letter is usually an initial, but the pronoun `I` is not.
        return match only {
            'I' => {
                starter_follows() || !sentence[..sentence.len() - 1].trim_end_matches(is_space).ends_with('.')
            }
            _ if is_uppercase(only) => starter_follows(),
            'v' => false,
            _ if is_lowercase(only) => !number_follows,
            _ => true,
        };
    }
    let small: String = if length <= LONGEST { small(word) } else { String::new() };
    match abbreviation(&small, capital) {
        Abbreviation::Title => return false,
        Abbreviation::BeforeNumber => return !number_follows,
        Abbreviation::Anywhere => return starter_follows(),
        Abbreviation::None => {}
    }
    let spelled = word.contains('.')
        && word.split('.').all(|part| part.chars().count() <= 2 && part.chars().all(is_alphabetic));
    !spelled || starter_follows()
}

/// Returns a word in lower case, as in the lists. `İ` is not changed, because its full lower case
/// has two characters, which no list contains.
fn small(word: &str) -> String {
    word.chars().map(|c| if c == 'İ' { c } else { lower(c) }).collect()
}

/// Reports whether the text that follows a word does not continue this word.
fn ends_word(text: &str) -> bool {
    text.chars().next().is_none_or(|c| is_space(c) || (!is_alphanumeric(c) && width_of(c) == 1))
}

/// Returns the number of bytes of the footnote mark (a number in square brackets) at the start of a
/// text.
fn footnote(text: &str) -> Option<usize> {
    let digits = text.strip_prefix('[')?.bytes().take(4).take_while(u8::is_ascii_digit).count();
    (digits > 0 && text[1 + digits..].starts_with(']')).then_some(digits + 2)
}

/// Reports whether a text ends with an HTML entity without its semicolon: `&amp`.
fn is_entity(text: &str) -> bool {
    const LONGEST: usize = 10;
    let tail =
        text.bytes().rev().take(LONGEST).take_while(|b| b.is_ascii_alphanumeric() || *b == b'#').count();
    tail > 0 && text[..text.len() - tail].ends_with('&')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn plain_characters_together_are_as_one_by_one(
            before in "[a:/\"]{0,5}",
            plain in "[a-c0 \t,()'-]{0,40}",
        ) {
            let text = format!("{before}{plain}");
            let mut one_by_one = OpenMarks::default();
            let mut at = Position::default();
            for c in before.chars() {
                one_by_one.take(&text, at, c);
                at = at.after(c);
            }
            let mut together = OpenMarks { ..one_by_one };
            together.take_plain(plain.as_bytes(), at);
            for c in plain.chars() {
                match c.is_whitespace() {
                    true => one_by_one.in_url = false,
                    false => one_by_one.take(&text, at, c),
                }
                at = at.after(c);
            }
            prop_assert_eq!(format!("{together:?}"), format!("{one_by_one:?}"));
        }
    }
}
