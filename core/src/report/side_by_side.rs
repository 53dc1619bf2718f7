//! Two texts side by side: differences are marked, common text is plain. A switch shades the common
//! passages.
//!
//! The switch is a checkbox that a style rule reads; no script is needed.

use std::fmt::Write;
use std::ops::Range;

use super::diff::{Diff, NONE, WordState, side_range};
use super::html::Escaped;
use super::numbers::CountOf;
use crate::error::Result;
use crate::executor::Stop;
use crate::memory::{self, Written};

const DOING: &str = "showing two texts";

/// The part of the texts that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The whole texts.
    Whole,
    /// The differences with some words around them, up to a number of words.
    Excerpt,
}

/// Returns HTML with both texts side by side, below `headings`, which are HTML, too. `name` is the
/// name of the switch, which must be different for each pair on a page.
pub fn side_by_side(
    diff: &Diff<'_>,
    headings: [&str; 2],
    name: &str,
    extent: Extent,
    stop: &Stop,
) -> Result<String> {
    let mut html = Written::new(DOING);
    if !diff.compared.passages.is_empty() {
        html.push(format_args!(
            "<input type=\"checkbox\" class=\"nd-switch\" id=\"{name}-s\"><label for=\"{name}-s\">Shade passages in common</label>"
        ));
    }
    html.push_str("<div class=\"nd-diff\">");
    for side in [0, 1] {
        html.push(format_args!(
            "<div><h4>{}</h4><div class=\"nd-text\" dir=\"auto\">{}</div></div>",
            headings[side],
            TextWriter::new(diff, side).write(extent, stop)?
        ));
    }
    html.push_str("</div>");
    html.finish()
}

/// Writes a text; adjacent pieces that look the same become one element.
struct TextWriter<'a> {
    diff: &'a Diff<'a>,
    side: usize,
    html: Written,
    /// The state and the passage of the last piece, which decide its look, and its place in the
    /// text.
    piece: (WordState, u32, Range<usize>),
}

impl<'a> TextWriter<'a> {
    fn new(diff: &'a Diff<'a>, side: usize) -> Self {
        Self { diff, side, html: Written::new(DOING), piece: (WordState::Common, NONE, 0..0) }
    }

    fn write(mut self, extent: Extent, stop: &Stop) -> Result<String> {
        const MOST_WORDS: usize = 1_200;
        const CHECK_EVERY: usize = 1 << 12;
        let Self { diff, side, .. } = self;
        let (words, own) = (&diff.compared.words[side], &diff.sides[side]);
        let text = diff.compared.texts[side];
        if words.is_empty() {
            let other = diff.compared.texts[1 - side];
            let state = if text == other { WordState::Common } else { WordState::Alone };
            self.add(state, NONE, 0..text.len());
            return self.finish();
        }
        let mut cuts = self.cuts(extent)?.into_iter().peekable();
        // `resumes` is true if the previous words were left out. Then the text between them and the
        // next word is left out, too.
        let (mut at, mut shown, mut resumes) = (0, 0, false);
        while at < words.len() {
            stop.check_every(at, CHECK_EVERY)?;
            if let Some(cut) = cuts.next_if(|cut| cut.start == at) {
                self.omit(format_args!("{} in common", CountOf(cut.len() as u64, "word")));
                (at, resumes) = (cut.end, true);
                continue;
            }
            if extent == Extent::Excerpt && shown == MOST_WORDS {
                self.omit(format_args!("{} more", CountOf((words.len() - at) as u64, "word")));
                return self.finish();
            }
            let look = (own.states[at], own.passages[at]);
            let before = at.checked_sub(1).map(|before| (own.states[before], own.passages[before]));
            let gap = at.checked_sub(1).map_or(0, |before| words[before].bytes.end)..words[at].bytes.start;
            if !resumes {
                let joins = before == Some(look) && look.0 != WordState::Edited && !own.lacks[at];
                match (own.gaps[at], joins) {
                    (true, _) => self.add(WordState::Edited, NONE, gap),
                    (false, true) => self.add(look.0, look.1, gap),
                    (false, false) => self.add(WordState::Common, NONE, gap),
                }
            }
            if own.lacks[at] {
                self.lack();
            }
            self.add(look.0, look.1, words[at].bytes.clone());
            (at, shown, resumes) = (at + 1, shown + 1, false);
        }
        if own.lacks[words.len()] {
            self.lack();
        }
        if !resumes {
            let state = if own.gaps[words.len()] { WordState::Edited } else { WordState::Common };
            self.add(state, NONE, words[words.len() - 1].bytes.end..text.len());
        }
        self.finish()
    }

    /// Returns the common words that an excerpt leaves out.
    fn cuts(&self, extent: Extent) -> Result<Vec<Range<usize>>> {
        const AROUND: usize = 24;
        const WORTH: usize = 16;
        let own = &self.diff.sides[self.side];
        let mut cuts = Vec::new();
        if extent == Extent::Whole {
            return Ok(cuts);
        }
        for run in &self.diff.runs {
            let range = side_range(run, self.side).clone();
            let lengths = [0, 1].map(|side| self.diff.sides[side].states.len());
            let last = [run.left.end, run.right.end] == lengths;
            let mut from = range.start;
            for at in range.start..=range.end {
                let differs = at == range.end || own.states[at] != WordState::Common || own.gaps[at];
                if !differs {
                    continue;
                }
                let behind = if at == range.end && last { 0 } else { AROUND };
                let cut = from + AROUND..at.saturating_sub(behind);
                if cut.end >= cut.start + WORTH {
                    memory::push(&mut cuts, cut, DOING)?;
                }
                from = at;
            }
        }
        Ok(cuts)
    }

    fn add(&mut self, state: WordState, passage: u32, bytes: Range<usize>) {
        let (last, of, place) = &mut self.piece;
        if (*last, *of) == (state, passage) && place.end == bytes.start {
            place.end = bytes.end;
            return;
        }
        self.flush();
        self.piece = (state, passage, bytes);
    }

    fn flush(&mut self) {
        /// The number of shades that distinguish one passage from the next.
        const SHADES: u32 = 6;
        let (state, passage, bytes) = std::mem::replace(&mut self.piece, (WordState::Common, NONE, 0..0));
        if bytes.is_empty() {
            return;
        }
        let element = match state {
            WordState::Alone if self.side == 0 => "del",
            WordState::Alone => "ins",
            _ => "span",
        };
        let mut class = match state {
            WordState::Edited => "nd-e ".to_owned(),
            WordState::Moved => "nd-m ".to_owned(),
            WordState::Common | WordState::Alone => String::new(),
        };
        if passage != NONE {
            // Writing to a string never fails.
            let _ = write!(class, "nd-p{}", passage % SHADES);
        }
        let text = Escaped(&self.diff.compared.texts[self.side][bytes]);
        match class.trim_end() {
            "" if element == "span" => self.html.push(format_args!("{text}")),
            "" => self.html.push(format_args!("<{element}>{text}</{element}>")),
            class => self.html.push(format_args!("<{element} class=\"{class}\">{text}</{element}>")),
        }
    }

    /// Marks a place where the other text has words that this text lacks.
    fn lack(&mut self) {
        self.flush();
        self.html.push_str("<i class=\"nd-v\"></i>");
    }

    fn omit(&mut self, what: std::fmt::Arguments<'_>) {
        self.flush();
        self.html.push(format_args!("<span class=\"nd-cut\">{what}</span>"));
    }

    fn finish(mut self) -> Result<String> {
        self.flush();
        self.html.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::diff::Compared;
    use proptest::prelude::*;

    fn html(a: &str, b: &str, extent: Extent) -> [String; 2] {
        let stop = &Stop::default();
        let compared = Compared::new(a, b, stop).unwrap();
        let diff = Diff::new(&compared, stop).unwrap();
        [0, 1].map(|side| TextWriter::new(&diff, side).write(extent, stop).unwrap())
    }

    fn summary(a: &str, b: &str) -> String {
        let stop = &Stop::default();
        Diff::new(&Compared::new(a, b, stop).unwrap(), stop).unwrap().summary()
    }

    #[test]
    fn what_differs_is_marked_and_the_rest_is_plain() {
        let (a, b) = ("Pay 6.1 cts on March 31 to all.", "Pay 7.1 cts on March 31 to all.");
        let [left, right] = html(a, b, Extent::Whole);
        assert_eq!(left, "Pay <del>6</del>.<span class=\"nd-p0\">1 cts on March 31 to all</span>.");
        assert_eq!(right, "Pay <ins>7</ins>.<span class=\"nd-p0\">1 cts on March 31 to all</span>.");
        assert_eq!(summary(a, b), "1 word only on the left, 1 only on the right");
    }

    #[test]
    fn case_punctuation_places_and_moves_are_told_apart() {
        let [left, right] = html("one, TWO three", "one two four three", Extent::Whole);
        assert_eq!(left, "one<span class=\"nd-e\">, TWO</span> <i class=\"nd-v\"></i>three");
        assert_eq!(right, "one<span class=\"nd-e\"> two</span> <ins>four</ins> three");
        let [left, right] = html("a b c d e 1 2 3 4 5 6", "1 2 3 4 5 6 a b c d e", Extent::Whole);
        assert_eq!(
            left,
            "<span class=\"nd-m nd-p1\">a b c d e</span> <span class=\"nd-p0\">1 2 3 4 5 6</span><i class=\"nd-v\"></i>"
        );
        assert!(right.ends_with("<span class=\"nd-m nd-p1\">a b c d e</span>"), "{right}");
        assert_eq!(summary("a b c d e 1 2 3 4 5 6", "1 2 3 4 5 6 a b c d e"), "5 words moved");
        assert_eq!(summary("a, b", "a  B"), "case or punctuation differs at 2 places");
        assert_eq!(
            (summary("a b", "a  b"), summary("a", "a")),
            ("only white space differs".to_owned(), "the texts are the same".to_owned())
        );
        assert_eq!(html("!", "?", Extent::Whole), ["<del>!</del>", "<ins>?</ins>"]);
        assert_eq!(html("", "a", Extent::Whole), ["", "<ins>a</ins>"]);
    }

    #[test]
    fn an_excerpt_leaves_out_what_is_far_from_differences() {
        let long: String = (0..500).map(|n| format!("w{n} ")).collect();
        let [left, right] =
            html(&format!("{long}here {long}"), &format!("{long}there {long}"), Extent::Excerpt);
        for (side, word) in [(left, "<del>here</del>"), (right, "<ins>there</ins>")] {
            assert!(side.contains(word) && side.len() < 1500, "{side}");
            assert_eq!(side.matches("nd-cut").count(), 2, "{side}");
            assert!(side.contains("<span class=\"nd-cut\">452 words in common</span>"), "{side}");
            assert!(side.ends_with("<span class=\"nd-cut\">476 words in common</span>"), "{side}");
        }
        let other: String = (0..5000).map(|n| format!("v{n} ")).collect();
        let [left, _] = html(&long.repeat(6), &other, Extent::Excerpt);
        assert!(left.ends_with("<span class=\"nd-cut\">1,800 words more</span>"), "{left}");
    }

    /// Returns the text that HTML shows.
    fn plain(html: &str) -> String {
        let mut text = String::new();
        let mut rest = html;
        while let Some(at) = rest.find('<') {
            text.push_str(&rest[..at]);
            rest = &rest[at + rest[at..].find('>').unwrap() + 1..];
        }
        text.push_str(rest);
        text.replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&#39;", "'")
            .replace("&amp;", "&")
    }

    proptest! {
        #[test]
        fn every_character_is_shown_once_and_what_is_unmarked_is_common(a in "[a-dA-D<&\"' ,.\u{5929}\u{301}]{0,60}", b in "[a-dA-D<&\"' ,.\u{5929}]{0,60}") {
            let [left, right] = html(&a, &b, Extent::Whole);
            prop_assert_eq!(plain(&left), a);
            prop_assert_eq!(plain(&right), b);
            // Without the words marked as being on one side only, or as moved, the same words are
            // left.
            let common = |html: &str| {
                let mut left = String::new();
                let mut rest = html;
                while let Some(at) = ["<del", "<ins", "<span class=\"nd-m"].iter().filter_map(|tag| rest.find(tag)).min() {
                    left.push_str(&rest[..at]);
                    left.push(' ');
                    let close = format!("</{}>", if rest[at..].starts_with("<span") { "span" } else { &rest[at + 1..at + 4] });
                    rest = &rest[at + rest[at..].find(&close).unwrap() + close.len()..];
                }
                left.push_str(rest);
                crate::text::words::words(&plain(&left))
            };
            prop_assert_eq!(common(&left), common(&right));
        }

        #[test]
        fn excerpts_of_short_texts_are_whole(a in "([a-d] ){0,30}", b in "([a-d] ){0,30}") {
            prop_assert_eq!(html(&a, &b, Extent::Excerpt), html(&a, &b, Extent::Whole));
        }
    }
}
