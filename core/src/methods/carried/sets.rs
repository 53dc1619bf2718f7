//! Sets of tokens: the set is carried as hashes, and documents meet by it.

use super::words::{of_words, to_set};
use crate::error::Result;
use crate::executor::Stop;
use crate::features::hash_sets::{make_set, shared};
use crate::features::tokens::{Document, Scratch, for_each_token};
use crate::memory;
use crate::methods::carrier::{Carrier, LeftOut, Meeting};
use crate::methods::sets::Sets;

const DOING: &str = "carrying a set";

impl Carrier for Sets {
    fn carry(&self, document: &Document, _: Option<&str>, stop: &Stop) -> Result<Vec<u8>> {
        let mut hashes = Vec::new();
        for_each_token(document, &self.spec, &mut Scratch::default(), stop, |token| {
            memory::push(&mut hashes, token.hash(), DOING)
        })?;
        make_set(&mut hashes, self.spec.multiset, stop)?;
        of_words(&hashes)
    }

    fn meeting(&self) -> Meeting {
        Meeting::Sets(self.predicate)
    }

    fn set(&self, carried: &[u8], _: &Stop) -> Result<Vec<u64>> {
        to_set(carried)
    }

    fn similarity(&self, [a, b]: [&[u8]; 2], _: LeftOut<'_>, _: &Stop) -> Result<Option<f64>> {
        let [a, b] = [to_set(a)?, to_set(b)?];
        // A document has at most `u32::MAX` tokens.
        let [shared, left, right] = [shared(&a, &b), a.len(), b.len()].map(|count| count as u32);
        let passes = self.predicate.passes(shared, left, right);
        Ok(passes.then(|| self.predicate.similarity(shared, left, right)))
    }
}
