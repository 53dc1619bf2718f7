//! Which passages are content: what the rule of the types of passages says, of all passages.

use std::collections::{HashMap, HashSet};

use neardup_core::passages::Passage;
use neardup_core::text::sentences::sentences;

use crate::sentences::letters;
use crate::types::MOST_DOCUMENTS;

/// Of each sentence of each document, how many letters it has, and in how many documents it stands.
pub struct Spread(Vec<Vec<[usize; 2]>>);

impl Spread {
    pub fn of(texts: &[String]) -> Self {
        let mut documents: HashMap<String, HashSet<usize>> = HashMap::new();
        let mut cut: Vec<Vec<String>> = Vec::new();
        for (row, text) in texts.iter().enumerate() {
            let own: Vec<String> = sentences(text).iter().map(|span| letters(span.slice(text))).collect();
            for letters in &own {
                documents.entry(letters.clone()).or_default().insert(row);
            }
            cut.push(own);
        }
        let of = |letters: &String| [letters.len(), documents[letters].len()];
        Self(cut.iter().map(|own| own.iter().map(of).collect()).collect())
    }

    /// Whether the longest sentence of a passage stands in few documents.
    pub fn is_content(&self, passage: &Passage) -> bool {
        let first = passage.left_sentence as usize;
        let own = self.0[passage.left_row as usize].iter().skip(first).take(passage.sentences as usize);
        own.max_by_key(|sentence| sentence[0]).is_none_or(|sentence| sentence[1] <= MOST_DOCUMENTS)
    }
}
