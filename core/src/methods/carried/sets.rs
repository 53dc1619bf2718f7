//! Sets of tokens: the set is carried as hashes, and documents meet by it.

use super::words::{of_words, similarity_of_sets, to_set};
use crate::error::Result;
use crate::executor::Stop;
use crate::features::hash_sets::make_set;
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

    fn similarity(&self, pair: [&[u8]; 2], _: LeftOut<'_>, _: &Stop) -> Result<Option<f64>> {
        similarity_of_sets(self.predicate, pair)
    }
}
