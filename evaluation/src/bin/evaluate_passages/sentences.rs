//! Which sentences are duplicates, as a reader who looks at letters would say, and how well
//! signatures tell them.
//!
//! Two sentences are duplicates if the edit similarity of their letters and digits, in lower case,
//! is at least 0.8. That reader knows nothing of words, shingles or frequencies; and reads all
//! pairs, by an exact join. Sentences of fewer than 20 columns are formulas rather than sentences,
//! and not judged.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::edit::Edit;
use neardup_core::passages::{Parameters, Passage};
use neardup_core::text::characters::width_of;
use neardup_core::text::sentences::sentences;

use crate::score::Score;
use crate::searching::for_each_batch;

/// The least edit similarity of duplicates.
pub const ALIKE: f64 = 0.8;

/// The sentences of some documents, and which are duplicates.
pub struct Sentences<'a> {
    pub name: &'static str,
    pub texts: &'a [String],
    /// For each sentence of each document the number of its letters; none where it is not judged.
    of: Vec<Vec<Option<u32>>>,
    /// Numbers of letters that are similar, the lesser first, and not equal.
    similar: HashSet<(u32, u32)>,
    /// Pairs of duplicates in two documents, and those of them that are equal.
    pub pairs: usize,
    pub equal: usize,
}

/// The letters and digits of a text, in lower case.
pub fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

impl<'a> Sentences<'a> {
    /// Of these texts; duplicates have an edit similarity of `alike`, and `within` says where the sentences of a document are to be for being judged.
    pub fn new(
        name: &'static str,
        texts: &'a [String],
        alike: f64,
        within: impl Fn(usize) -> Range<usize>,
    ) -> Self {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut of = Vec::new();
        for (row, text) in texts.iter().enumerate() {
            let within = within(row);
            let number = |at: Range<usize>| {
                let sentence = &text[at.clone()];
                let columns: usize = sentence.chars().filter(|c| !c.is_whitespace()).map(width_of).sum();
                let judged = columns >= Parameters::MIN_WIDTH as usize
                    && within.start <= at.start
                    && at.end <= within.end;
                judged.then(|| {
                    let next = numbers.len() as u32;
                    *numbers.entry(letters(sentence)).or_insert(next)
                })
            };
            of.push(sentences(text).into_iter().map(|span| span.bytes).map(number).collect());
        }
        let mut distinct = vec![String::new(); numbers.len()];
        numbers.into_iter().for_each(|(letters, number)| distinct[number as usize] = letters);
        let pairs = Corpus::of_texts(&distinct).pairs(&Edit::new(alike).expect("a threshold"));
        let similar: HashSet<(u32, u32)> =
            pairs.expect("memory").into_iter().map(|pair| (pair.left, pair.right)).collect();
        let mut sentences = Self { name, texts, of, similar, pairs: 0, equal: 0 };
        sentences.count(distinct.len());
        sentences
    }

    /// Counts the duplicates.
    fn count(&mut self, distinct: usize) {
        let mut rows: Vec<HashMap<usize, usize>> = vec![HashMap::new(); distinct];
        for (row, numbers) in self.of.iter().enumerate() {
            for number in numbers.iter().flatten() {
                *rows[*number as usize].entry(row).or_default() += 1;
            }
        }
        let all = |of: &HashMap<usize, usize>| of.values().sum::<usize>();
        let of_two = |a: &HashMap<usize, usize>, b: &HashMap<usize, usize>| {
            let of_one = a.iter().filter_map(|(row, count)| Some(count * b.get(row)?)).sum::<usize>();
            all(a) * all(b) - of_one
        };
        self.equal = rows.iter().map(|rows| of_two(rows, rows) / 2).sum();
        let similar = self.similar.iter().map(|&(a, b)| of_two(&rows[a as usize], &rows[b as usize]));
        self.pairs = self.equal + similar.sum::<usize>();
    }

    /// How many sentences are judged.
    pub fn judged(&self) -> usize {
        self.of.iter().flatten().flatten().count()
    }

    /// The number of the sentence of a document that holds a byte, where it is judged.
    pub fn at(&self, row: u32, byte: usize) -> Option<u32> {
        let spans = sentences(&self.texts[row as usize]);
        let n = spans.iter().position(|span| span.bytes.contains(&byte))?;
        self.of[row as usize][n]
    }

    pub fn are_alike(&self, a: u32, b: u32) -> bool {
        a == b || self.similar.contains(&(a.min(b), a.max(b)))
    }

    /// How well signatures tell duplicates, and how many signatures a sentence has.
    pub fn judge(&self, parameters: &Parameters) -> (Score, f64) {
        let parameters = Parameters { min_sentences: 1, min_width: 0, extend: None, ..parameters.clone() };
        let mut score = Score { truth: self.pairs, ..Score::default() };
        let account = for_each_batch(self.texts, &parameters, 2, |batch| {
            for Passage { left_row, right_row, left_sentence, right_sentence, sentences, .. } in batch {
                for n in 0..sentences {
                    let [left, right] = [(left_row, left_sentence), (right_row, right_sentence)]
                        .map(|(row, first)| self.of[row as usize][(first + n) as usize]);
                    if let (Some(left), Some(right)) = (left, right) {
                        score.found += 1;
                        score.both += usize::from(self.are_alike(left, right));
                    }
                }
            }
        });
        (score, account.tokens as f64 / account.unsigned.of.max(1) as f64)
    }
}
