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

use crate::bootstrap::Part;
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
    /// Half of the duplicates that each document has a sentence of.
    halves: Vec<f64>,
}

/// How well signatures tell duplicates.
pub struct Judged {
    pub score: Score,
    /// What each document adds to F1: half of each pair that it has a sentence of.
    pub parts: Vec<Part>,
    /// Signatures of a sentence.
    pub signatures: f64,
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
        let mut sentences =
            Self { name, texts, of, similar, pairs: 0, equal: 0, halves: vec![0.0; texts.len()] };
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
        let equal = (0..distinct as u32).map(|number| (number, number));
        let both = self.similar.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
        for (a, b) in equal.chain(both) {
            let (a, b) = (&rows[a as usize], &rows[b as usize]);
            for (&row, count) in a {
                let others = all(b) - b.get(&row).copied().unwrap_or_default();
                self.halves[row] += (count * others) as f64 / 2.0;
            }
        }
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

    /// How well signatures tell duplicates.
    pub fn judge(&self, parameters: &Parameters) -> Judged {
        let parameters = Parameters { min_sentences: 1, min_width: 0, extend: None, ..parameters.clone() };
        let mut score = Score { truth: self.pairs, ..Score::default() };
        let mut parts: Vec<Part> = self.halves.iter().map(|&half| [0.0, half]).collect();
        let account = for_each_batch(self.texts, &parameters, 2, |batch| {
            for Passage { left_row, right_row, left_sentence, right_sentence, sentences, .. } in batch {
                for n in 0..sentences {
                    let [left, right] = [(left_row, left_sentence), (right_row, right_sentence)]
                        .map(|(row, first)| self.of[row as usize][(first + n) as usize]);
                    if let (Some(left), Some(right)) = (left, right) {
                        let is_right = self.are_alike(left, right);
                        score.found += 1;
                        score.both += usize::from(is_right);
                        for row in [left_row, right_row] {
                            // F1 is twice what is found and right, of both.
                            parts[row as usize][0] += f64::from(u8::from(is_right));
                            parts[row as usize][1] += 0.5;
                        }
                    }
                }
            }
        });
        Judged { score, parts, signatures: account.tokens as f64 / account.unsigned.of.max(1) as f64 }
    }
}
