//! Sentences of one text against those of another: a dot where two are alike.

use std::collections::HashMap;
use std::fmt::Write;

use crate::error::Result;
use crate::hash;
use crate::memory;
use crate::text::sentences::for_each_sentence;
use crate::text::words::for_each_word;
use crate::workers::Stop;

/// The most sentences of a text that are looked at.
const MOST: usize = 400;
const DOING: &str = "comparing sentences";

/// The distinct words of each sentence of a text, sorted.
fn sentences(text: &str, stop: &Stop) -> Result<Vec<Vec<u64>>> {
    let mut all = Vec::new();
    for_each_sentence(text, stop, |span| {
        if all.len() < MOST {
            let mut words = Vec::new();
            for_each_word(&text[span.bytes], &mut String::new(), stop, |word| {
                memory::push(&mut words, hash::hash_bytes(word.as_bytes()), DOING)
            })?;
            words.sort_unstable();
            words.dedup();
            memory::push(&mut all, words, DOING)?;
        }
        Ok(())
    })?;
    Ok(all)
}

/// A picture (SVG) of two texts: the sentences of the left one go right, those of the right one down; a dot
/// is the darker the more words two sentences share (Jaccard of at least 0.3). Copies are diagonals. Of long
/// texts the first 400 sentences are shown. O(sentences² in the worst case).
pub fn dotplot(left: &str, right: &str, stop: &Stop) -> Result<String> {
    const LEAST: f64 = 0.3;
    const SIZE: usize = 180;
    let (a, b) = (sentences(left, stop)?, sentences(right, stop)?);
    let longest = a.len().max(b.len()).max(1);
    // A sentence is a square; of few sentences a small one.
    let cell = (SIZE as f64 / longest as f64).min(18.0);
    let (width, height) = (cell * a.len().max(1) as f64, cell * b.len().max(1) as f64);
    let mut svg = format!(
        "<svg class=\"nd-plot\" viewBox=\"-1 -1 {0:.1} {1:.1}\" width=\"{0:.0}\" height=\"{1:.0}\" role=\"img\">\
         <title>{2} sentences to the right, {3} down</title>\
         <rect class=\"nd-frame\" width=\"{4:.1}\" height=\"{5:.1}\"/>",
        width + 2.0,
        height + 2.0,
        a.len(),
        b.len(),
        width,
        height
    );
    let mut with_word: HashMap<u64, Vec<u32>> = HashMap::new();
    for (n, words) in a.iter().enumerate() {
        words.iter().for_each(|&word| with_word.entry(word).or_default().push(n as u32));
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
            let jaccard = f64::from(shared) / all.max(1) as f64;
            if shared > 0 && jaccard >= LEAST {
                // Writing to a string never fails.
                let _ = write!(
                    svg,
                    "<rect class=\"nd-dot\" x=\"{:.1}\" y=\"{:.1}\" width=\"{cell:.1}\" height=\"{cell:.1}\" opacity=\"{jaccard:.2}\"/>",
                    column as f64 * cell,
                    row as f64 * cell
                );
            }
        }
    }
    svg.push_str("</svg>");
    Ok(svg)
}
