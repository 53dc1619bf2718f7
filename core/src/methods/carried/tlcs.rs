//! TLCS and LCS: the text is carried. Documents meet by sentence signatures, and by their words,
//! which are all that matters if they differ in white space alone.

use super::words::{of_text, to_text, to_texts};
use crate::error::Result;
use crate::executor::Stop;
use crate::features::tokens::Document;
use crate::hash::mix;
use crate::joins::keys::Key;
use crate::joins::sentences::signing::whole_text;
use crate::memory;
use crate::methods::carrier::{Carrier, LeftOut, Meeting};
use crate::methods::tlcs::Tlcs;
use crate::sketches::sentence::SentenceSigner;
use crate::text::characters::is_space;
use crate::verify::tlcs::Comparer;

const DOING: &str = "choosing signatures of a text";

impl Carrier for Tlcs {
    fn carry(&self, document: &Document, _: Option<&str>, _: &Stop) -> Result<Vec<u8>> {
        let bytes = of_text(document)?;
        // A text of white space alone is similar to nothing.
        let is_blank = to_text(&bytes)?.chars().all(is_space);
        Ok(if is_blank { Vec::new() } else { bytes })
    }

    fn meeting(&self) -> Meeting {
        Meeting::Keys { most: Some(self.rules.most_documents), filter: None }
    }

    fn keys(&self, carried: &[u8], _: LeftOut<'_>, keys: &mut Vec<Key>, stop: &Stop) -> Result<()> {
        const WHOLE: u64 = 0x5748_4f4c_4554_4558;
        let text = to_text(carried)?;
        let mut signer = SentenceSigner::new(self.signatures)?;
        let signatures = signer.signatures(text, stop)?;
        memory::reserve(keys, signatures.len() + 1, DOING)?;
        // Both halves of a signature count.
        let half = |signature: u128| mix(signature as u64) ^ (signature >> 64) as u64;
        keys.extend(signatures.iter().map(|&signature| Key::limited(mix(half(signature)))));
        let whole = whole_text(text, &mut String::new())?;
        keys.extend(whole.map(|hash| Key::from_hash(mix(hash ^ WHOLE))));
        Ok(())
    }

    fn similarity(&self, pair: [&[u8]; 2], _: LeftOut<'_>, stop: &Stop) -> Result<Option<f64>> {
        let [a, b] = to_texts(pair)?;
        if a == b {
            return Ok(Some(1.0));
        }
        let found = Comparer::new(self.parameters)?.compare(a, b, Some(&self.thresholds), stop)?;
        Ok(found.map(|found| found.resemblance()))
    }

    fn is_ordered(&self) -> bool {
        true
    }

    fn differs(&self) -> Option<&'static str> {
        self.rules.tried_beyond.map(|_| {
            "sentence signatures of many documents are not tried in parts, so that more pairs may be found than near_duplicates finds"
        })
    }
}
