//! Texts as sets of numbers.

use std::collections::HashMap;

use neardup_core::executor::Stop;
use neardup_core::features::FeatureSpec;
use neardup_core::features::tokens::{Document, Scratch, Token, for_each_token};
use neardup_core::hash::mix;

/// The sets of some texts.
pub struct Records {
    pub name: &'static str,
    /// Ascending numbers; the k-th occurrence of a token has one of its own.
    pub sets: Vec<Vec<i64>>,
}

impl Records {
    pub fn new(name: &'static str, texts: &[String], spec: &FeatureSpec) -> Self {
        let mut numbers: HashMap<(Vec<u8>, u32), i64> = HashMap::new();
        let mut scratch = Scratch::default();
        let sets = texts
            .iter()
            .map(|text| {
                let (mut seen, mut set) = (HashMap::<Vec<u8>, u32>::new(), Vec::new());
                let document = Document::Text(text.clone());
                for_each_token(&document, spec, &mut scratch, &Stop::default(), |token| {
                    let bytes = match token {
                        Token::Bytes(bytes) => bytes.to_vec(),
                        Token::Number(number) => number.to_le_bytes().to_vec(),
                    };
                    let occurrence = seen.entry(bytes.clone()).or_default();
                    *occurrence += 1;
                    if *occurrence == 1 || spec.multiset {
                        let next = numbers.len() as i64;
                        set.push(*numbers.entry((bytes, *occurrence)).or_insert(next));
                    }
                    Ok(())
                })
                .expect("nobody asked to stop");
                set.sort_unstable();
                set
            })
            .filter(|set: &Vec<i64>| !set.is_empty())
            .collect();
        Self { name, sets }
    }

    /// Tokens a record, on the average.
    pub fn tokens(&self) -> f64 {
        self.sets.iter().map(Vec::len).sum::<usize>() as f64 / self.sets.len() as f64
    }

    /// So many of a hundred records, chosen at random but the same each time.
    pub fn sample(&self, percent: usize) -> Vec<Vec<i64>> {
        let mut order: Vec<usize> = (0..self.sets.len()).collect();
        order.sort_by_key(|&n| mix(n as u64));
        order.truncate(self.sets.len() * percent / 100);
        order.sort_unstable();
        order.into_iter().map(|n| self.sets[n].clone()).collect()
    }
}
