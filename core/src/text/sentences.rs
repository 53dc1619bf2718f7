//! Sentences and their places in the text (docs/design/algorithms.md section 1, *Sentences*), for
//! English and Chinese.
//!
//! A sentence ends at `. ! ? ; …` and the corresponding marks of other scripts. It includes the
//! closing quotation marks and brackets after the mark. A sentence also ends at the end of a block.
//! A full stop does not end a sentence inside a number or a URL, in an ellipsis after which the
//! sentence goes on, after an abbreviation or an initial, or before a lower-case letter. A line
//! break ends a sentence at a blank line, before an indented line or a list item, and everywhere in
//! a text that is not hard-wrapped ([`super::lines`]). Text without a letter or a number is not a
//! sentence. O(bytes): two passes over the lines, then one pass over the characters.
//!
//! We do not follow Unicode's own rules (UAX 29): they end a sentence at every line break and know
//! no abbreviations.

use super::characters::is_space;
use super::characters::width_of;
use super::lines::{Line, LineLayout, is_break, lines};
use super::list_markers::{bullet, symbol};
use super::sentence_marks::{OpenMarks, Terminators, is_terminator};
use super::spans::{Position, Span};
use crate::error::Result;
use crate::executor::{Stop, unstopped};

/// Calls `each` with the place of every sentence of `text`, in order. Sentences do not overlap and
/// have no white space at their ends. Every letter and number of the text is in one of the
/// sentences.
///
/// Fails if `each` fails, or with [`crate::error::Error::Stopped`].
pub fn for_each_sentence(text: &str, stop: &Stop, mut each: impl FnMut(Span) -> Result<()>) -> Result<()> {
    const CHECK_EVERY: usize = 1 << 12;
    let layout = LineLayout::read(text, stop)?;
    let mut at = Position::default();
    let mut open = OpenMarks::default();
    let mut hanging = None;
    let mut line_starts = true;
    let mut checked = 0;
    stop.check()?;
    while let Some(c) = text[at.byte..].chars().next() {
        if at.char - checked >= CHECK_EVERY {
            stop.check()?;
            checked = at.char;
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
                    // The sign of the list item is not part of the sentence.
                    let skipped = line.len() - line.trim_start_matches(is_space).len() + symbol(item.text);
                    for c in text[at.byte..at.byte + skipped].chars() {
                        at = at.after(c);
                    }
                    continue;
                }
            }
        }
        let plain = plain_run(&text.as_bytes()[at.byte..]);
        if plain > 0 {
            open.take_plain(&text.as_bytes()[at.byte..at.byte + plain], at);
            at = Position { byte: at.byte + plain, char: at.char + plain };
            continue;
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
        if is_space(c) {
            open.in_url = false;
            at = at.after(c);
            continue;
        }
        open.take(text, at, c);
        at = at.after(c);
        if is_terminator(c) {
            // Marks that directly follow each other are handled together.
            let marks = Terminators::new(text, &open, at, c);
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

/// Returns the number of plain characters at the start of `bytes`. A plain character is ASCII, does
/// not end a line or a sentence, and does not depend on its neighbours.
fn plain_run(bytes: &[u8]) -> usize {
    const BLOCK: usize = 32;
    const MOST: usize = 1 << 12;
    // Computes with numbers instead of booleans, and a block at a time, so that compilers vectorise
    // the code.
    let other = |byte: u8| {
        u8::from(byte >= 0x80)
            | u8::from(byte.wrapping_sub(b'\n') < 4)
            | u8::from(byte.wrapping_sub(b'!') < 2)
            | u8::from(byte == b'.')
            | u8::from(byte.wrapping_sub(b':') < 6)
    };
    let bytes = &bytes[..bytes.len().min(MOST)];
    let is_plain = |block: &&[u8; BLOCK]| block.iter().fold(0, |any, &byte| any | other(byte)) == 0;
    let whole = BLOCK * bytes.as_chunks().0.iter().take_while(is_plain).count();
    whole + bytes[whole..].iter().take_while(|&&byte| other(byte) == 0).count()
}

/// Returns the places of the sentences of a text.
///
/// The rules cover abbreviations, numbers, quotation marks and lists, in English and Chinese. A
/// line break ends a sentence only if the text is not hard-wrapped. O(bytes).
///
/// ```
/// let text = "Mr. Smith paid $3.50 at 5 p.m. for it. \"Too much!\" he said. 好吗？";
/// let all: Vec<&str> = neardup_core::sentences(text).iter().map(|span| span.slice(text)).collect();
/// assert_eq!(all, ["Mr. Smith paid $3.50 at 5 p.m. for it.", "\"Too much!\" he said.", "好吗？"]);
/// ```
pub fn sentences(text: &str) -> Vec<Span> {
    unstopped(|stop, push| for_each_sentence(text, stop, push))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(expected: &[&str], between: &str) {
        let text = expected.join(between);
        let found: Vec<&str> = sentences(&text).iter().map(|span| span.slice(&text)).collect();
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
            .map(|s| s.slice(wrapped).split_whitespace().collect::<Vec<_>>().join(" "))
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
        let found: Vec<&str> = sentences(text).iter().map(|span| span.slice(text)).collect();
        assert_eq!(found, ["First", "Head"]);
    }

    /// Compares with the definition, a character at a time.
    #[test]
    fn plain_runs_are_of_plain_characters() {
        for byte in 0..=255u8 {
            let c = char::from(byte);
            let is_plain = c.is_ascii() && !is_break(c) && !is_terminator(c) && !"\"!:<=>".contains(c);
            for place in [0, 1, 31, 32, 33, 70] {
                let bytes: Vec<u8> = (0..80).map(|n| if n == place { byte } else { b'a' }).collect();
                assert_eq!(plain_run(&bytes), if is_plain { 80 } else { place }, "{byte} {place}");
            }
        }
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
                prop_assert_eq!(span.slice(&text), &cut);
                prop_assert_eq!(cut.trim(), &cut);
                covered[span.chars].fill(true);
            }
            for (c, covered) in chars.iter().zip(covered) {
                prop_assert!(covered || !c.is_alphanumeric());
            }
        }
    }
}
