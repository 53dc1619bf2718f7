//! Runs: the text is carried. Documents meet by their anchors, of which texts with a common run
//! have one in common. Each looks up only its rarest ones, as on one machine.

use super::words::{document_of, of_text, to_text, to_texts};
use crate::error::Result;
use crate::executor::{self, Stop};
use crate::features::runs::anchors::Anchors;
use crate::features::runs::tokens::read_tokens;
use crate::features::tokens::{Document, Scratch, Tokenizer};
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
        Meeting::Rarest
    }

    fn weights(&self, carried: &[u8], weighted: &mut Vec<(u64, u32)>, stop: &Stop) -> Result<f64> {
        let (tokens, mut anchors) = (self.tokens(to_text(carried)?, stop)?, Vec::new());
        Anchors::new(self.min_run).select(&tokens, stop, &mut anchors)?;
        weighted.clear();
        memory::reserve(weighted, anchors.len(), DOING)?;
        weighted.extend(anchors.iter().map(|anchor| (anchor.hash, anchor.covers(self.min_run))));
        executor::sort_unstable_by(weighted, stop, &Ord::cmp)?;
        weighted.dedup_by(|next, kept| {
            let is_again = next.0 == kept.0;
            if is_again {
                kept.1 = kept.1.saturating_add(next.1);
            }
            is_again
        });
        // A text has fewer tokens than 32 bits can count.
        Ok(self.threshold * tokens.len() as f64)
    }

    fn set(&self, carried: &[u8], stop: &Stop) -> Result<Vec<u64>> {
        let mut weighted = Vec::new();
        self.weights(carried, &mut weighted, stop)?;
        let mut hashes = Vec::new();
        memory::reserve(&mut hashes, weighted.len(), DOING)?;
        hashes.extend(weighted.iter().map(|&(hash, _)| hash));
        Ok(hashes)
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
