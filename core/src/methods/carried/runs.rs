//! Runs: the text is carried. Documents meet by their anchors, of which texts with a common run
//! have one in common.

use super::words::{document_of, of_text, to_text, to_texts};
use crate::error::Result;
use crate::executor::Stop;
use crate::features::runs::anchors::Anchors;
use crate::features::runs::tokens::read_tokens;
use crate::features::tokens::{Document, Scratch, Tokenizer};
use crate::joins::parts::keys::Key;
use crate::memory;
use crate::methods::carrier::{Carrier, LeftOut, Meeting};
use crate::methods::runs::Runs;
use crate::verify::shared_windows::SharedWindows;

const DOING: &str = "carrying a text of runs";

impl Runs {
    fn tokens(&self, text: &str, stop: &Stop) -> Result<Vec<u64>> {
        // The text of a page was read before.
        let tokenizer = if self.tokenizer == Tokenizer::Html { Tokenizer::Words } else { self.tokenizer };
        let mut tokens = Vec::new();
        read_tokens(&document_of(text)?, tokenizer, &mut Scratch::default(), &mut tokens, stop)?;
        Ok(tokens)
    }
}

impl Carrier for Runs {
    fn carry(&self, document: &Document, _: Option<&str>, stop: &Stop) -> Result<Vec<u8>> {
        let bytes = of_text(document)?;
        // A text without a run is similar to nothing.
        let has_run = self.tokens(to_text(&bytes)?, stop)?.len() >= self.min_run;
        Ok(if has_run { bytes } else { Vec::new() })
    }

    fn meeting(&self) -> Meeting {
        Meeting::Keys { most: None, filter: None }
    }

    fn keys(&self, carried: &[u8], _: LeftOut<'_>, keys: &mut Vec<Key>, stop: &Stop) -> Result<()> {
        let mut anchors = Vec::new();
        Anchors::new(self.min_run).select(&self.tokens(to_text(carried)?, stop)?, stop, &mut anchors)?;
        memory::reserve(keys, anchors.len(), DOING)?;
        keys.extend(anchors.iter().map(|anchor| Key::of(anchor.hash)));
        Ok(())
    }

    fn similarity(&self, pair: [&[u8]; 2], _: LeftOut<'_>, stop: &Stop) -> Result<Option<f64>> {
        let [a, b] = to_texts(pair)?;
        let [a, b] = [self.tokens(a, stop)?, self.tokens(b, stop)?];
        let shared = SharedWindows::new(&a, self.min_run, &[], stop)?.shared_tokens(&b, stop)?;
        // A text has fewer tokens than 32 bits can count.
        let share = self.of.share(shared, [a.len() as u32, b.len() as u32]);
        Ok((shared[0] > 0 && share >= self.threshold).then_some(share))
    }
}
