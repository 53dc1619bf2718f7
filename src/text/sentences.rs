//! Sentences with their places in the text (algorithms.md section 1, *Sentences*), English and Chinese.
//!
//! A sentence ends at `. ! ? ; …` and their relatives in other scripts, with the quotation marks and
//! brackets that close behind them, and at the end of a block. A full stop does not end it inside a number, a
//! URL or an ellipsis that goes on, behind an abbreviation or an initial, or before a small letter. A line break
//! ends a sentence at a blank line, before an indented line or a list item, and everywhere in a text that
//! is not hard-wrapped ([`super::lines`]). What has no letter and no number is no sentence. One pass after
//! two that look at the lines, O(bytes).
//!
//! Unicode's own rules (UAX 29) were not taken as a base: they end a sentence at every line break, and know no
//! abbreviations.
//!
//! ```
//! use neardup::text::sentences::sentences;
//!
//! let text = "Mr. Smith paid $3.50 at 5 p.m. for it. \"Too much!\" he said. 好吗？“很好。”";
//! let all: Vec<&str> = sentences(text).iter().map(|span| span.of(text)).collect();
//! assert_eq!(
//!     all,
//!     ["Mr. Smith paid $3.50 at 5 p.m. for it.", "\"Too much!\" he said.", "好吗？", "“很好。”"]
//! );
//! ```

use super::abbreviations::{Abbreviation, LONGEST, abbreviation, is_starter};
use super::lines::{Layout, Line, bullet, is_break, lines, symbol};
use super::spans::{Position, Span};
use super::width::width_of;
use crate::error::Result;
use crate::workers::Stop;

/// Calls `each` with the place of every sentence of `text`, in order. Sentences do not overlap, have no
/// white space at their ends, and every letter and number of the text is in one of them.
///
/// Errors are those of `each` and [`crate::error::Error::Stopped`].
pub fn for_each_sentence(text: &str, stop: &Stop, mut each: impl FnMut(Span) -> Result<()>) -> Result<()> {
    const CHECK_EVERY: usize = 1 << 12;
    let layout = Layout::of(text, stop)?;
    let mut at = Position::default();
    let mut open = Open::default();
    let mut hanging = None;
    let mut line_starts = true;
    while let Some(c) = text[at.byte..].chars().next() {
        if at.char.is_multiple_of(CHECK_EVERY) {
            stop.check()?;
        }
        if line_starts {
            line_starts = false;
            let line = lines(&text[at.byte..]).next().unwrap_or("");
            if let Some(item) = Line::new(line) {
                let marker = bullet(item.text);
                if marker > 0 {
                    hanging = Some(item.indent + item.text[..marker].chars().map(width_of).sum::<usize>());
                } else if item.indent <= layout.indent {
                    hanging = None;
                }
                if open.start.is_none() && symbol(item.text) > 0 {
                    // The sign is no part of the sentence.
                    let skipped = line.len() - line.trim_start().len() + symbol(item.text);
                    for c in text[at.byte..at.byte + skipped].chars() {
                        at = at.after(c);
                    }
                    continue;
                }
            }
        }
        if is_break(c) {
            let next = at.after(c);
            let next = match text[next.byte..].chars().next() {
                Some('\n') if c == '\r' => next.after('\n'),
                _ => next,
            };
            let following = lines(&text[next.byte..]).next().unwrap_or("");
            if matches!(c, '\u{c}' | '\u{2029}') || layout.begins_block(following, hanging) {
                open.end(&mut each)?;
            }
            (at, line_starts) = (next, true);
            continue;
        }
        if c.is_whitespace() {
            open.in_url = false;
            at = at.after(c);
            continue;
        }
        open.take(text, at, c);
        at = at.after(c);
        if is_terminator(c) {
            // Marks that follow at once are looked at once.
            let marks = Marks::new(text, &open, at, c);
            for c in text[at.byte..marks.end].chars() {
                open.take(text, at, c);
                at = at.after(c);
            }
            if marks.end_sentence(text, &open) {
                open.end(&mut each)?;
            }
        }
    }
    open.end(&mut each)
}

/// The places of the sentences of a text.
pub fn sentences(text: &str) -> Vec<Span> {
    let mut all = Vec::new();
    let done = for_each_sentence(text, &Stop::default(), |span| {
        all.push(span);
        Ok(())
    });
    debug_assert_eq!(done, Ok(()), "nobody asked to stop");
    all
}

/// The sentence that has begun and not ended.
#[derive(Debug, Default)]
struct Open {
    /// Where it begins; none before its first character.
    start: Option<Position>,
    /// Behind its last character that is no white space.
    last: Position,
    /// Whether it has a letter or a number.
    speaks: bool,
    /// Whether the number of its straight quotation marks is odd.
    quoted: bool,
    /// Whether the present word is a URL.
    in_url: bool,
}

impl Open {
    fn take(&mut self, text: &str, at: Position, c: char) {
        if self.start.is_none() {
            *self = Self { start: Some(at), ..Self::default() };
        }
        self.speaks |= c.is_alphanumeric();
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

    /// Gives the sentence, if it is one.
    fn end(&mut self, each: &mut impl FnMut(Span) -> Result<()>) -> Result<()> {
        let ended = std::mem::take(self);
        match ended.start {
            Some(start) if ended.speaks => each(start.to(ended.last)),
            _ => Ok(()),
        }
    }
}

/// Ends a sentence wherever it stands, unless a comma or the like follows.
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

fn is_terminator(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | ';' | '．') || is_ellipsis(c) || is_plain_terminator(c)
}

/// Closes a quotation or a bracket.
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

/// Goes on with the sentence behind a terminator.
fn is_continuation(c: char) -> bool {
    matches!(c, ',' | ':' | '，' | '、' | '：' | '》' | '〉')
}

/// A terminator with all terminators and closing marks that follow at once.
#[derive(Debug)]
struct Marks {
    /// The first terminator and where it stands.
    first: char,
    at: usize,
    /// Behind the last mark, in bytes.
    end: usize,
    /// How many full stops; an ellipsis counts as three.
    dots: usize,
    /// Whether one ends a sentence wherever it stands.
    plain: bool,
    /// Whether one asks or exclaims.
    asks: bool,
    /// Whether a quotation or a bracket is closed.
    closes: bool,
}

impl Marks {
    /// The marks from `first`, which `behind` is behind.
    fn new(text: &str, open: &Open, behind: Position, first: char) -> Self {
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
                // An apostrophe before a letter opens a quotation or leaves something out.
                if matches!(next, '\'' | '’') && text[behind..].starts_with(char::is_alphanumeric) {
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

    /// Whether they end the sentence that is open.
    fn end_sentence(&self, text: &str, open: &Open) -> bool {
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
        if !next.is_whitespace() {
            return self.end_before(next, sentence, open);
        }
        let rest = text[self.end..].trim_start();
        // The next word, behind quotation marks and brackets that open it.
        let word = rest.trim_start_matches(|c: char| !c.is_alphanumeric() && !c.is_whitespace());
        let goes_on = word.starts_with(char::is_lowercase);
        if self.first == ';' {
            return true;
        }
        if self.asks {
            return !(goes_on && self.closes);
        }
        if sentence.ends_with(char::is_whitespace) && self.dots < 2 {
            // Words and marks were set apart by a program.
            return true;
        }
        if goes_on || rest.starts_with(is_continuation) {
            return false;
        }
        self.dots > 1 || full_stop_ends(sentence, word)
    }

    /// Whether they end it before a character that is no white space.
    fn end_before(&self, next: char, sentence: &str, open: &Open) -> bool {
        let before = sentence.chars().next_back();
        let wide = width_of(next) > 1 || matches!(next, '“' | '‘');
        let wide_before = before.is_some_and(|c| width_of(c) > 1 || matches!(c, '”' | '’'));
        match self.first {
            '.' | '．' if self.dots < 3 && !self.asks => wide && wide_before,
            '.' | '…' | '⋯' => wide || next.is_uppercase(),
            ';' => wide || wide_before,
            // `end!Next` without a space, but not `a?b=C`.
            _ if wide || wide_before => true,
            _ => !open.in_url && next.is_uppercase() && before.is_some_and(char::is_lowercase),
        }
    }
}

/// Whether a full stop ends a sentence, by what of it stands before, and by what follows behind white space.
fn full_stop_ends(sentence: &str, following: &str) -> bool {
    const SEEN: usize = 24;
    let length: usize = sentence
        .chars()
        .rev()
        .take_while(|&c| c.is_alphanumeric() || c == '.')
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
    let number_follows = first.is_some_and(char::is_numeric);
    let starter_follows = || {
        let next: String = following.chars().take_while(|c| c.is_alphabetic()).take(SEEN).collect();
        is_starter(&next.to_lowercase())
    };
    let capital = word.starts_with(char::is_uppercase);
    let mut letters = word.chars();
    if let (Some(only), None) = (letters.next(), letters.next()) {
        // Initials; a pronoun is none.
        return match only {
            'I' => starter_follows() || !sentence[..sentence.len() - 1].trim_end().ends_with('.'),
            _ if only.is_uppercase() => starter_follows(),
            'v' => false,
            _ if only.is_lowercase() => !number_follows,
            _ => true,
        };
    }
    let small: String = if length <= LONGEST { word.to_lowercase() } else { String::new() };
    match abbreviation(&small, capital) {
        Abbreviation::Title => return false,
        Abbreviation::BeforeNumber => return !number_follows,
        Abbreviation::Anywhere => return starter_follows(),
        Abbreviation::None => {}
    }
    let spelled = word.contains('.')
        && word.split('.').all(|part| part.chars().count() <= 2 && part.chars().all(char::is_alphabetic));
    !spelled || starter_follows()
}

/// Whether nothing of a word follows.
fn ends_word(text: &str) -> bool {
    text.chars().next().is_none_or(|c| c.is_whitespace() || (!c.is_alphanumeric() && width_of(c) == 1))
}

/// The bytes of the mark of a footnote that a text begins with: a number in square brackets.
fn footnote(text: &str) -> Option<usize> {
    let digits = text.strip_prefix('[')?.bytes().take(4).take_while(u8::is_ascii_digit).count();
    (digits > 0 && text[1 + digits..].starts_with(']')).then_some(digits + 2)
}

/// Whether a text ends with what a semicolon makes a character of HTML: `&amp`.
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

    #[track_caller]
    fn check(expected: &[&str], between: &str) {
        let text = expected.join(between);
        let found: Vec<&str> = sentences(&text).iter().map(|span| span.of(&text)).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn english() {
        check(&["One.", "Two!", "Three?", "Four; ", "five…", "Six."].map(str::trim), " ");
        check(&["Dr. J. R. Smith of the U.S. Army met Mrs. Jones at No. 10.", "They talked."], " ");
        check(&["It rose 3.5 pct to 1,024.75 dlrs.", "In 1999. 5 pct were lost."][..1], " ");
        check(&["See http://www.example.com/a.b?c=D;e!F and mail a.b@example.org.", "Then go."], " ");
        check(&["He said \"Stop.\"", "Then he left."], " ");
        check(&["\"Stop!\" he said.", "“Why?” she asked.", "(He did not know.)", "So what?!"], " ");
        check(&["Wait ... there is more...", "And more.", "Well… yes."], " ");
        check(&["Apples, pears, etc. are fruit.", "We like them, etc.", "The end."], " ");
        check(
            &[
                "Apple Inc. said so.",
                "Apple Inc. Chairman Cook said no.",
                "It is by Apple Inc.",
                "They know.",
            ],
            " ",
        );
        check(&["At 5 p.m. Eastern time.", "It was 5 p.m.", "The bell rang."], " ");
        check(&["Smith et al. (2003) showed it, cf. Fig. 3 and p. 7 of vol. 2.", "Yes, e.g. this."], " ");
        check(&["It ended.[12]", "Another began."], " ");
        check(&["Tom &amp; Jerry ran.", "Node.js 2.0.1 is out."], " ");
        check(&["So do I.", "Plan B.", "The last one."], " ");
        check(&["how are you ?", "i am fine .", "good"], " ");
        check(&["1. Introduction", "2.1 The method."], "\n\n");
        check(&["He said no.", "John left."], " ");
    }

    #[test]
    fn chinese() {
        check(&["今天天气很好。", "我们去公园吧！", "好吗？", "好；", "走……", "到了"], "");
        check(&["他说：“我来了。”", "她没有说话。", "“真的？！”", "他问。"], "");
        check(&["增长3.5%，达1.2亿元。", "他读了《你是谁？》一书，很喜欢。", "（完。）"], "");
        check(&["“可怕，但是……”，张文宏说。", "何为“无症状”？"], "");
        check(&["他来了.", "她走了!", "为什么?", "不知道;", "OK.js很好。"], "");
        check(&["他说：\"走。\"", "\"好。\"", "她说。"], "");
        check(&["一、总则", "第一条　为了保护民事主体的合法权益，制定本法。"], "\n");
    }

    #[test]
    fn lines_and_blocks() {
        let wrapped = "EURATOM ISSUES BOND\n\nEuratom is issuing a 50 mln Ecu, six-year bond with a coupon\n\
                       of 7-1/2 pct and priced at 101-1/2, lead manager Banque\nGenerale du Luxembourg SA said.\n    \
                       The bond features a sinking fund from 1989 which\nwill retire 10 mln Ecus each year\n\
                       - to be paid in April\n- to be denominated in lots of 1,000 and listed\n  in Luxembourg\nFees";
        let found: Vec<String> = sentences(wrapped)
            .iter()
            .map(|s| s.of(wrapped).split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(
            found,
            [
                "EURATOM ISSUES BOND",
                "Euratom is issuing a 50 mln Ecu, six-year bond with a coupon of 7-1/2 pct and priced at \
                 101-1/2, lead manager Banque Generale du Luxembourg SA said.",
                "The bond features a sinking fund from 1989 which will retire 10 mln Ecus each year",
                "to be paid in April",
                "to be denominated in lots of 1,000 and listed in Luxembourg Fees",
            ]
        );
        check(&["Title", "First line", "second line"], "\n");
        check(&["Title", "First line", "second line"], "\r\n");
        let text = "* * *\n•First\n -- \n# Head\n?!";
        let found: Vec<&str> = sentences(text).iter().map(|span| span.of(text)).collect();
        assert_eq!(found, ["First", "Head"]);
    }

    proptest! {
        #[test]
        fn spans_are_exact(text in "\\PC*|[aA1 .!?;…。\"”(\\n\\r\t\u{3000}好《》,\\[\\]é\u{301}-]{0,60}") {
            let chars: Vec<char> = text.chars().collect();
            let mut covered = vec![false; chars.len()];
            let mut last = 0;
            for span in sentences(&text) {
                prop_assert!(span.chars.start >= last && !span.chars.is_empty());
                last = span.chars.end;
                let cut: String = chars[span.chars.clone()].iter().collect();
                prop_assert_eq!(span.of(&text), &cut);
                prop_assert_eq!(cut.trim(), &cut);
                covered[span.chars].fill(true);
            }
            for (c, covered) in chars.iter().zip(covered) {
                prop_assert!(covered || !c.is_alphanumeric());
            }
        }
    }
}
