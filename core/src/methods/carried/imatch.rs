//! I-Match: the terms of a document are carried as hashes. Which terms count is known once all
//! documents are there; the terms that are left are the key of a document.

use super::words::{of_words, to_set};
use crate::error::Result;
use crate::executor::Stop;
use crate::features::hash_sets::make_set;
use crate::features::tokens::{Document, Scratch, for_each_token};
use crate::hash::mix;
use crate::joins::keys::Key;
use crate::memory;
use crate::methods::carrier::{Carrier, LeftOut, Meeting};
use crate::methods::imatch::Imatch;

const DOING: &str = "reading terms";

/// Returns the terms that count. If none does, all terms count.
fn kept(carried: &[u8], left_out: LeftOut<'_>) -> Result<Vec<u64>> {
    let all = to_set(carried)?;
    let counts = |term: &u64| !left_out.has(*term);
    if !all.iter().any(counts) {
        return Ok(all);
    }
    Ok(all.into_iter().filter(counts).collect())
}

impl Carrier for Imatch {
    fn carry(&self, document: &Document, _: Option<&str>, stop: &Stop) -> Result<Vec<u8>> {
        let mut terms = Vec::new();
        for_each_token(document, &self.spec, &mut Scratch::default(), stop, |token| {
            memory::push(&mut terms, token.hash(), DOING)
        })?;
        make_set(&mut terms, false, stop)?;
        of_words(&terms)
    }

    fn meeting(&self) -> Meeting {
        Meeting::Terms { most: None }
    }

    fn keys(&self, carried: &[u8], left_out: LeftOut<'_>, keys: &mut Vec<Key>, _: &Stop) -> Result<()> {
        let key = kept(carried, left_out)?.into_iter().fold(0, |key, term| mix(key ^ term));
        memory::push(keys, Key::from_hash(key), DOING)
    }

    fn set(&self, carried: &[u8], _: &Stop) -> Result<Vec<u64>> {
        to_set(carried)
    }

    fn counts(&self, having: u64, all: u64) -> bool {
        self.range.keeps(having, all)
    }

    fn similarity(&self, [a, b]: [&[u8]; 2], left_out: LeftOut<'_>, _: &Stop) -> Result<Option<f64>> {
        Ok((kept(a, left_out)? == kept(b, left_out)?).then_some(1.0))
    }
}
