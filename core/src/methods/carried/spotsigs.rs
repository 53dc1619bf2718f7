//! SpotSigs: the set of the spot signatures is carried, and documents meet by it.

use super::words::{of_words, similarity_of_sets, to_set};
use crate::error::Result;
use crate::executor::Stop;
use crate::features::spotsigs::Spots;
use crate::features::tokens::Document;
use crate::methods::carrier::{Carrier, LeftOut, Meeting};
use crate::methods::spotsigs::SpotSigs;

impl Carrier for SpotSigs {
    fn carry(&self, document: &Document, _: Option<&str>, stop: &Stop) -> Result<Vec<u8>> {
        // Columns of other types are refused.
        let Document::Text(text) = document else { return Ok(Vec::new()) };
        let mut signatures = Vec::new();
        Spots::new(&self.spec, None)?.of_text(text, &mut signatures, stop)?;
        let mut set: Vec<u64> = signatures.into_iter().map(i64::cast_unsigned).collect();
        crate::executor::sort_unstable_by(&mut set, stop, &Ord::cmp)?;
        of_words(&set)
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
