//! A dot plot of the sentences of two texts: a dot marks two similar sentences.

use std::collections::HashMap;
use std::fmt::Write;

use super::numbers::CountOf;
use crate::error::Result;
use crate::executor::Stop;
use crate::hash;
use crate::memory;
use crate::text::sentences::for_each_sentence;
use crate::text::words::{WordScratch, for_each_word};

/// The greatest number of sentences of a text that are compared.
const MOST: usize = 400;
/// The greatest number of squares on a side of a picture; if there are more sentences, several of
/// them share a square.
const SQUARES: usize = 60;
const DOING: &str = "comparing sentences";

/// The explanation of the picture for readers.
pub const LEGEND: &str = "Dot plot: the sentences of the left text go to the right, those of the right text down; a square is the \
    darker the more words two sentences share. One diagonal from corner to corner is the same text throughout, a gap in it is \
    what one of them has alone, and a line beside it is text that moved or is repeated.";

/// Returns the distinct words of each sentence of a text, sorted.
fn sentences(text: &str, stop: &Stop) -> Result<Vec<Vec<u64>>> {
    let mut all = Vec::new();
    for_each_sentence(text, stop, |span| {
        if all.len() < MOST {
            let mut words = Vec::new();
            for_each_word(&text[span.bytes], &mut WordScratch::default(), stop, |word| {
                memory::push(&mut words, hash::hash_bytes(word), DOING)
            })?;
            words.sort_unstable();
            words.dedup();
            memory::push(&mut all, words, DOING)?;
        }
        Ok(())
    })?;
    Ok(all)
}

/// The similarity of sentences, as a grid of squares.
#[derive(Debug)]
pub struct DotPlot {
    sentences: [usize; 2],
    columns: usize,
    rows: usize,
    /// The greatest Jaccard similarity in each square, row by row; 0 if it is below the least
    /// similarity that is shown.
    alike: Vec<f32>,
}

impl DotPlot {
    /// Compares the sentences of two texts, or the first 400 sentences of each long text. A square
    /// is dark if two of its sentences share words (Jaccard of at least 0.3). O(sentences² in the
    /// worst case).
    pub fn new(left: &str, right: &str, stop: &Stop) -> Result<Self> {
        const LEAST: f32 = 0.3;
        let (a, b) = (sentences(left, stop)?, sentences(right, stop)?);
        // A square has the same number of sentences in both directions.
        let each = a.len().max(b.len()).div_ceil(SQUARES).max(1);
        let (columns, rows) = (a.len().div_ceil(each).max(1), b.len().div_ceil(each).max(1));
        let mut alike = memory::filled(0.0, columns * rows, DOING)?;
        let mut with_word: HashMap<u64, Vec<u32>> = HashMap::new();
        for (n, words) in a.iter().enumerate() {
            memory::attempt(DOING, || with_word.try_reserve(words.len()))?;
            for &word in words {
                memory::push(with_word.entry(word).or_default(), n as u32, DOING)?;
            }
        }
        let mut shared = memory::filled(0u32, a.len(), DOING)?;
        for (row, words) in b.iter().enumerate() {
            stop.check()?;
            shared.fill(0);
            for column in words.iter().filter_map(|word| with_word.get(word)).flatten() {
                shared[*column as usize] += 1;
            }
            for (column, &shared) in shared.iter().enumerate() {
                let all = a[column].len() + words.len() - shared as usize;
                let jaccard = shared as f32 / all.max(1) as f32;
                let square: &mut f32 = &mut alike[row / each * columns + column / each];
                if shared > 0 && jaccard >= LEAST {
                    *square = square.max(jaccard);
                }
            }
        }
        Ok(Self { sentences: [a.len(), b.len()], columns, rows, alike })
    }

    /// Reports whether there are enough sentences for a meaningful picture.
    pub fn tells(&self) -> bool {
        const FEW: usize = 4;
        self.sentences.iter().all(|&sentences| sentences >= FEW)
    }

    /// Returns the picture (SVG) with its axes: a path for each of four shades.
    pub fn svg(&self) -> String {
        const SHADES: usize = 4;
        const SIZE: usize = 180;
        let (columns, rows) = (self.columns, self.rows);
        // Few sentences give a small picture.
        let side = (SIZE / columns.max(rows)).clamp(3, 18);
        let [a, b] = self.sentences.map(|sentences| CountOf(sentences as u64, "sentence"));
        let mut svg = format!(
            "<svg class=\"nd-plot\" viewBox=\"-1 -1 {} {}\" width=\"{}\" height=\"{}\" role=\"img\">\
             <title>{a} of the left text to the right, {b} of the right text down</title>\
             <rect class=\"nd-frame\" width=\"{columns}\" height=\"{rows}\"/>",
            columns + 2,
            rows + 2,
            (columns + 2) * side,
            (rows + 2) * side,
        );
        for shade in 0..SHADES {
            let mut path = String::new();
            for row in 0..rows {
                let line = &self.alike[row * columns..(row + 1) * columns];
                let mut column = 0;
                while column < columns {
                    let is_shade = |alike: f32| {
                        alike > 0.0
                            && (((alike - 0.3) / 0.7 * SHADES as f32) as usize).min(SHADES - 1) == shade
                    };
                    let run = line[column..].iter().take_while(|&&alike| is_shade(alike)).count();
                    if run > 0 {
                        // Writing to a string never fails.
                        let _ = write!(path, "M{column} {row}h{run}v1h-{run}z");
                    }
                    column += run.max(1);
                }
            }
            if !path.is_empty() {
                let _ = write!(svg, "<path class=\"nd-dot nd-d{shade}\" d=\"{path}\"/>");
            }
        }
        svg.push_str("</svg>");
        svg
    }

    /// Returns the picture with its captions.
    pub fn figure(&self) -> String {
        let [a, b] = self.sentences;
        format!(
            "<figure class=\"nd-dots\"><figcaption>left text, {} &#8594;</figcaption>{}<figcaption>&#8595; right text, {}</figcaption></figure>",
            CountOf(a as u64, "sentence"),
            self.svg(),
            CountOf(b as u64, "sentence")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(a: &str, b: &str) -> DotPlot {
        DotPlot::new(a, b, &Stop::default()).unwrap()
    }

    #[test]
    fn copies_are_diagonals_and_pictures_are_small() {
        let text = |n: usize| format!("The {n}th line has words of {n} and {} alone. ", n * 7);
        let all: String = (0..4).map(text).collect();
        let of = plot(&all, &all);
        let diagonal: Vec<bool> = (0..4).map(|n| of.alike[n * 5] == 1.0).collect();
        assert_eq!((of.columns, of.rows, diagonal, of.tells()), (4, 4, vec![true; 4], true));
        assert!(!plot("One. Two.", &all).tells());
        // Texts that are alike throughout give a square of any size, and few bytes.
        let same = "The same words again. ".repeat(5000);
        let of = plot(&same, &same);
        assert_eq!((of.sentences, of.columns, of.rows), ([400, 400], 58, 58));
        assert!(of.alike.iter().all(|&alike| alike == 1.0) && of.figure().len() < 3000, "{}", of.figure());
        let most: String =
            (0..400).map(|n| if n % 14 < 7 { "Odd words here. " } else { "Else other things. " }).collect();
        assert!(plot(&most, &most).svg().len() < 60_000);
        assert_eq!(plot("", "").columns, 1);
    }
}
