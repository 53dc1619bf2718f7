//! Feature codes: the code is carried. Documents meet by grams of their codes, and equal codes need
//! no meeting.

use super::words::to_texts;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::codes::feature_code;
use crate::features::tokens::Document;
use crate::joins::codes::each_gram;
use crate::joins::keys::Key;
use crate::memory;
use crate::methods::carried::words::to_text;
use crate::methods::carrier::{Carrier, LeftOut, Meeting};
use crate::methods::codes::ByCodes;
use crate::verify::repeatability::repeatability;

const DOING: &str = "choosing grams of a code";

impl Carrier for ByCodes {
    fn carry(&self, document: &Document, _: Option<&str>, stop: &Stop) -> Result<Vec<u8>> {
        // Columns of other types are refused.
        let Document::Text(text) = document else { return Ok(Vec::new()) };
        Ok(feature_code(text, &self.spec, stop)?.into_bytes())
    }

    fn meeting(&self) -> Meeting {
        Meeting::Keys { most: None, filter: None }
    }

    fn keys(&self, carried: &[u8], _: LeftOut<'_>, keys: &mut Vec<Key>, _: &Stop) -> Result<()> {
        let Some(threshold) = self.threshold else { return Ok(()) };
        let mut offered = Vec::new();
        let add = |hash| memory::push(&mut offered, Key::offered(hash), DOING);
        each_gram(to_text(carried)?, threshold, add, |hash| memory::push(keys, Key::looked_up(hash), DOING))?;
        memory::extend(keys, &offered, DOING)
    }

    fn similarity(&self, pair: [&[u8]; 2], _: LeftOut<'_>, stop: &Stop) -> Result<Option<f64>> {
        let [a, b] = to_texts(pair)?;
        if a == b {
            return Ok(Some(1.0));
        }
        let Some(threshold) = self.threshold else { return Ok(None) };
        // The share of the shorter code is the greater one.
        let (longer, shorter) = if a.chars().count() < b.chars().count() { (b, a) } else { (a, b) };
        Ok(Some(repeatability(longer, shorter, stop)?).filter(|&share| share >= threshold))
    }
}
