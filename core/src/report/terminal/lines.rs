//! Text for a terminal: broken into lines of a given width, and without anything that a terminal
//! would take for a command.

use crate::text::characters::width_of;

/// Lines of a given width, up to a given number of lines.
#[derive(Debug)]
pub struct Lines {
    width: usize,
    most: usize,
    done: Vec<String>,
    line: String,
    columns: usize,
}

impl Lines {
    /// Creates an empty list of at most `most` lines of `width` columns.
    pub fn new(width: usize, most: usize) -> Self {
        Self { width, most, done: Vec::new(), line: String::new(), columns: 0 }
    }

    /// Reports whether there is no room for another line.
    pub fn full(&self) -> bool {
        self.done.len() >= self.most
    }

    /// Adds a word, with a blank between it and the previous word of the line if `spaced`. Only
    /// words wider than a line are split.
    pub fn word(&mut self, word: &str, spaced: bool) {
        let columns: usize = word.chars().map(width_of).sum();
        let blank = usize::from(spaced && self.columns > 0);
        if self.columns > 0 && self.columns + blank + columns > self.width {
            self.end();
        } else if blank > 0 {
            self.line.push(' ');
            self.columns += 1;
        }
        for c in word.chars() {
            if self.full() {
                return;
            }
            if self.columns + width_of(c) > self.width {
                self.end();
            }
            self.line.push(c);
            self.columns += width_of(c);
        }
    }

    /// Ends the line.
    pub fn end(&mut self) {
        if !self.full() {
            self.done.push(std::mem::take(&mut self.line));
        }
        self.columns = 0;
    }

    /// Returns the lines.
    pub fn finish(mut self) -> Vec<String> {
        if self.columns > 0 {
            self.end();
        }
        self.done
    }
}

/// Returns a character that has no effect on a terminal: control characters, and characters that
/// change the text direction, become `?`.
pub fn plain(c: char) -> char {
    let turns =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if c.is_control() || turns { '?' } else { c }
}

/// Returns as much of a text as `width` columns hold, on one line, with `...` at its end if it is
/// cut.
pub fn cut(text: &str, width: usize) -> String {
    const MORE: &str = "...";
    let (mut shown, mut columns, mut fits) = (String::new(), 0, 0);
    for c in text.chars().map(plain) {
        columns += width_of(c);
        if columns > width {
            shown.truncate(fits);
            shown.push_str(&MORE[..MORE.len().min(width)]);
            return shown;
        }
        shown.push(c);
        if columns + MORE.len() <= width {
            fits = shown.len();
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::characters::width;
    use proptest::prelude::*;

    #[test]
    fn cut_texts_end_with_dots() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abc...");
        assert_eq!(cut("漢字漢字", 7), "漢字...");
        assert_eq!(cut("a\u{1b}[2Jb\u{202e}", 20), "a?[2Jb?");
        assert_eq!(cut("ab", 1), ".");
    }

    proptest! {
        #[test]
        fn lines_have_their_width(words in prop::collection::vec(("[a漢]{1,12}", any::<bool>()), 0..20), most in 0usize..9) {
            let mut lines = Lines::new(10, most);
            for (word, spaced) in &words {
                lines.word(word, *spaced);
            }
            let shown = lines.finish();
            prop_assert!(shown.len() <= most);
            prop_assert!(shown.iter().all(|line| width(line) <= 10 && !line.is_empty()));
            if shown.len() < most {
                let all: String = words.iter().map(|(word, _)| word.as_str()).collect();
                prop_assert_eq!(shown.concat().replace(' ', ""), all);
            }
        }
    }
}
