//! Shows two texts on a terminal: the results of every method, and the words of both texts with the
//! differences marked as in wdiff: `[-only the first-]`, `{+only the second+}`.

pub mod lines;

use std::ops::Range;

use self::lines::{Lines, cut, plain};
use super::align::Alignment;
use super::diff::Compared;
use super::passages::WordRun;
use crate::error::Result;
use crate::executor::Stop;
use crate::memory;
use crate::suggest::labelled::count;

/// The result of a method.
#[derive(Debug)]
pub struct Figure<'a> {
    /// The name of the method.
    pub method: &'a str,
    /// The similarity, if it is known.
    pub similarity: Option<f64>,
    /// Whether the two texts are a pair, if that is known.
    pub pair: Option<bool>,
    /// The evidence for the result.
    pub evidence: String,
}

/// The allowed widths.
pub const WIDTHS: std::ops::RangeInclusive<i32> = 40..=1000;

/// The greatest number of punctuation characters shown on either side of a word.
const MOST_MARKS: usize = 8;

/// The greatest number of lines of words shown.
const MOST_LINES: usize = 400;

/// Returns the whole output: the sizes of the texts, the figures, and the words. No line is wider
/// than `width`, and all characters are harmless on a terminal.
pub fn show(figures: &[Figure<'_>], compared: &Compared<'_>, width: usize, stop: &Stop) -> Result<String> {
    let [left, right] = &compared.words;
    let alignment = Alignment::new([left, right], &compared.passages, stop)?;
    let stretches = alignment.stretches()?;
    let least = if alignment.passed_over { "at least " } else { "" };
    let common: usize =
        stretches.iter().filter(|stretch| stretch.is_common()).map(|stretch| stretch.left.len()).sum();
    let mut shown = Vec::new();
    for (name, text, words) in
        [("first text", compared.texts[0], left), ("second text", compared.texts[1], right)]
    {
        shown.push(format!(
            "{name:<13}{}, {}",
            count(words.len() as u64, "word"),
            count(text.chars().count() as u64, "character")
        ));
    }
    let passages = count(compared.passages.len() as u64, "passage");
    shown.push(cut(
        &format!("{:<13}{least}{} in order, {passages}", "in common", count(common as u64, "word")),
        width,
    ));
    shown.push(String::new());
    shown.push(cut("method         similarity  pair  evidence", width));
    for Figure { method, similarity, pair, evidence } in figures {
        let similarity = similarity.map_or_else(|| "-".to_owned(), |similarity| format!("{similarity:.3}"));
        let pair = pair.map_or("-", |pair| if pair { "yes" } else { "no" });
        let line = format!("{method:<15}{similarity:>10}  {pair:<6}{evidence}");
        shown.push(cut(line.trim_end(), width));
    }
    shown.push(String::new());
    if stretches.iter().all(WordRun::is_common) {
        shown.push("no word differs".to_owned());
    } else {
        shown.push("[-only the first-] {+only the second+}".to_owned());
    }
    shown.push(String::new());
    shown.extend(marked(compared, &stretches, width, stop)?);
    Ok(shown.join("\n"))
}

/// Returns lines with the words of both texts. Common words are shown once.
fn marked(compared: &Compared<'_>, stretches: &[WordRun], width: usize, stop: &Stop) -> Result<Vec<String>> {
    let mut lines = Lines::new(width, MOST_LINES);
    let mut shown = 0;
    // Whether the previous stretch is only in the first text. A stretch of the second text after it
    // replaces it, so there is no blank between the two.
    let mut differs = false;
    for stretch in stretches {
        stop.check()?;
        if lines.full() {
            break;
        }
        shown += 1;
        let (side, range, marks) = match (stretch.left.is_empty(), stretch.right.is_empty()) {
            (false, false) => (0, &stretch.left, ["", ""]),
            (false, true) => (0, &stretch.left, ["[-", "-]"]),
            (true, _) => (1, &stretch.right, ["{+", "+}"]),
        };
        let common = stretch.is_common();
        let spaced = if common {
            is_spaced(compared, 0, stretch.left.start) || is_spaced(compared, 1, stretch.right.start)
        } else {
            !differs && is_spaced(compared, side, range.start)
        };
        // If one text continues differently, the punctuation of the last common word may differ,
        // too.
        let bare = common && {
            let [a, b] = [(0, &stretch.left), (1, &stretch.right)]
                .map(|(side, range)| closing(compared, side, range.end - 1));
            a != b && shown < stretches.len()
        };
        let run = ShownWords {
            side,
            range: range.clone(),
            marks,
            spaced,
            bare,
            ends: if common { 20 } else { 40 },
        };
        run.put(&mut lines, compared)?;
        differs = !common && side == 0;
    }
    let full = lines.full();
    let mut lines = lines.finish();
    if full {
        let more = stretches[shown..].iter().filter(|stretch| !stretch.is_common()).count();
        lines.push(cut(&format!("... and {} more", count(more as u64, "difference")), width));
    }
    Ok(lines)
}

/// Words of one text that are to be shown.
struct ShownWords<'a> {
    side: usize,
    range: Range<usize>,
    marks: [&'a str; 2],
    /// Whether there is a blank before the first word.
    spaced: bool,
    /// Whether the last word is shown without the punctuation after it.
    bare: bool,
    /// The number of words shown at either end of a long run.
    ends: usize,
}

impl ShownWords<'_> {
    fn put(&self, lines: &mut Lines, compared: &Compared<'_>) -> Result<()> {
        let Self { side, range, ends, .. } = self;
        let left_out = range.len().saturating_sub(2 * ends);
        // A few words are no longer than the note that would replace them.
        let left_out = if left_out < 8 { 0..0 } else { range.start + ends..range.end - ends };
        for number in (range.start..range.end).filter(|number| !left_out.contains(number)) {
            let (first, last) = (number == range.start, number + 1 == range.end);
            let mut spaced = if first { self.spaced } else { is_spaced(compared, *side, number) };
            if number == left_out.end && !left_out.is_empty() {
                for word in ["...", &left_out.len().to_string(), "words", "..."] {
                    lines.word(word, true);
                }
                spaced = true;
            }
            let mut word = with_marks(compared, *side, number)?;
            if last && self.bare {
                let closing = closing(compared, *side, number).chars().take(MOST_MARKS);
                let closing: usize = closing.map(|c| plain(c).len_utf8()).sum();
                word.truncate(word.len() - closing);
            }
            if first {
                word.insert_str(0, self.marks[0]);
            }
            if last {
                word.push_str(self.marks[1]);
            }
            lines.word(&word, spaced);
        }
        Ok(())
    }
}

/// Reports whether there is white space before a word.
fn is_spaced(compared: &Compared<'_>, side: usize, number: usize) -> bool {
    number < compared.words[side].len() && compared.gap(side, number).contains(char::is_whitespace)
}

/// Returns a word with the punctuation that touches it, and room for the marks of a difference.
fn with_marks(compared: &Compared<'_>, side: usize, number: usize) -> Result<String> {
    const AROUND: usize = 16 * MOST_MARKS;
    let (before, own) = (compared.gap(side, number), compared.word(side, number));
    // Text between two words without a space belongs to the first of them.
    let touches = number == 0 || before.contains(char::is_whitespace);
    let opening: Vec<char> =
        before.chars().rev().take(MOST_MARKS).take_while(|c| touches && !c.is_whitespace()).collect();
    let closing = closing(compared, side, number).chars().take(MOST_MARKS);
    let mut word = String::new();
    // What stands for a character has no more bytes.
    memory::reserve_text(&mut word, own.len() + AROUND, "showing words")?;
    word.extend(opening.into_iter().rev().chain(own.chars()).chain(closing).map(plain));
    Ok(word)
}

/// Returns the punctuation that touches the end of a word.
fn closing<'a>(compared: &Compared<'a>, side: usize, number: usize) -> &'a str {
    compared.gap(side, number + 1).split(char::is_whitespace).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::characters::width;
    use proptest::prelude::*;

    fn words(a: &str, b: &str, width: usize) -> String {
        let stop = Stop::default();
        let compared = Compared::new(a, b, &stop).unwrap();
        let [left, right] = &compared.words;
        let alignment = Alignment::new([left, right], &compared.passages, &stop).unwrap();
        marked(&compared, &alignment.stretches().unwrap(), width, &stop).unwrap().join("\n")
    }

    #[test]
    fn differences_are_marked() {
        let cases = [
            (
                "It is closed until Thursday.",
                "It is closed until Friday.",
                "It is closed until [-Thursday.-]{+Friday.+}",
            ),
            ("a (new) start", "a start", "a [-(new)-] start"),
            ("b c", "a - b c", "{+a+} b c"),
            ("In a storm. Or", "In a storm and fog. Or", "In a storm {+and fog.+} Or"),
            ("Ended!", "Ended.", "Ended!"),
            (
                "图书馆将于下周一重新开放，",
                "图书馆将于下周二重新开放，",
                "图书馆将于下周[-一-]{+二+}重新开放，",
            ),
            ("Same, but for case", "SAME but for case", "Same, but for case"),
            ("x\u{1b}[31m y", "x y", "x[-31m-] y"),
            ("x \u{1b}[31m y", "x \u{1b}[31m y", "x ?[31m y"),
            ("", "a b", "{+a b+}"),
            ("", "", ""),
        ];
        for (a, b, expected) in cases {
            assert_eq!(words(a, b, 80), expected);
        }
    }

    #[test]
    fn long_stretches_are_cut() {
        let long: Vec<String> = (0..1000).map(|n| format!("w{n}")).collect();
        let text = long.join(" ");
        let shown = words(&text, &format!("{text} more"), 60);
        assert!(shown.contains("w19 ... 960 words ... w980") && shown.ends_with("w999 {+more+}"), "{shown}");
        let other: Vec<String> =
            (0..40_000).map(|n| format!("{}{}", if n % 2 == 0 { "w" } else { "v" }, n)).collect();
        let shown = words(&other.join(" "), &other.join(" ").replace('v', "u"), 60);
        assert!(shown.lines().count() == MOST_LINES + 1 && shown.ends_with("differences more"), "{shown}");
    }

    proptest! {
        #[test]
        fn no_line_is_too_wide(a in "\\PC{0,200}|([a-c]{1,60} ){0,30}", b in "\\PC{0,200}|([a-c]{1,60} ){0,30}", columns in 40usize..60) {
            let stop = Stop::default();
            let compared = Compared::new(&a, &b, &stop).unwrap();
            let figure = Figure { method: "jaccard", similarity: Some(0.5), pair: None, evidence: b.clone() };
            let shown = show(&[figure], &compared, columns, &stop).unwrap();
            for line in shown.split('\n') {
                prop_assert!(width(line) <= columns && line.chars().all(|c| plain(c) == c), "{line:?}");
            }
        }
    }
}
