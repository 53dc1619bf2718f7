//! Two texts side by side, with the passages they share marked.

use std::fmt::Write;

use super::html::Escaped;
use super::passages::{SHORTEST, Word, WordRun, passages, words};
use crate::error::Result;
use crate::workers::Stop;

/// Shades that tell one passage from the next.
const SHADES: usize = 6;

/// Two texts, cut into words, and the passages they share.
#[derive(Debug)]
pub struct Compared<'a> {
    texts: [&'a str; 2],
    words: [Vec<Word>; 2],
    /// The passages in the order of the right text.
    pub passages: Vec<WordRun>,
}

impl<'a> Compared<'a> {
    /// Compares two texts. Of texts shorter than a passage, equal words count.
    pub fn new(left: &'a str, right: &'a str, stop: &Stop) -> Result<Self> {
        let words = [words(left, stop)?, words(right, stop)?];
        let least = SHORTEST.min(words[0].len()).min(words[1].len());
        let passages = passages(&words[0], &words[1], least, stop)?;
        Ok(Self { texts: [left, right], words, passages })
    }

    /// The texts.
    pub fn texts(&self) -> [&'a str; 2] {
        self.texts
    }

    /// The words of each text.
    pub fn words(&self) -> &[Vec<Word>; 2] {
        &self.words
    }

    /// Words in passages, as a share of the shorter text's; 0 where one has none.
    pub fn share(&self) -> f64 {
        let shared: usize = self.passages.iter().map(|passage| passage.left.len()).sum();
        let shorter = self.words[0].len().min(self.words[1].len());
        shared as f64 / shorter.max(1) as f64
    }

    /// One of the texts (0 or 1) as HTML, with passages marked; each links to its other place. `name` makes
    /// the names of places different from those of other pairs on a page.
    pub fn html(&self, side: usize, name: &str) -> String {
        let text = self.texts[side];
        let words = &self.words[side];
        let mut places: Vec<_> = self.passages.iter().enumerate().collect();
        if side == 0 {
            places.sort_by_key(|(_, passage)| passage.left.start);
        }
        let mut html = String::new();
        let mut at = 0;
        for (number, passage) in places {
            let range = if side == 0 { &passage.left } else { &passage.right };
            let bytes = words[range.start].bytes.start..words[range.end - 1].bytes.end;
            let (own, other) = if side == 0 { ("l", "r") } else { ("r", "l") };
            // Writing to a string never fails.
            let _ = write!(
                html,
                "{}<a class=\"nd-p nd-p{}\" id=\"{name}{own}{number}\" href=\"#{name}{other}{number}\">{}</a>",
                Escaped(&text[at..bytes.start]),
                number % SHADES,
                Escaped(&text[bytes.clone()])
            );
            at = bytes.end;
        }
        let _ = write!(html, "{}", Escaped(&text[at..]));
        html
    }

    /// Both texts side by side.
    pub fn side_by_side(&self, titles: [&str; 2], name: &str) -> String {
        let column = |side: usize| {
            format!(
                "<div><h4>{}</h4><div class=\"nd-text\">{}</div></div>",
                Escaped(titles[side]),
                self.html(side, name)
            )
        };
        format!("<div class=\"nd-diff\">{}{}</div>", column(0), column(1))
    }
}
