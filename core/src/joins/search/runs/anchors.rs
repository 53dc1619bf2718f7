//! Anchors: of every window of `least` tokens one gram, namely that with the least hash, and of
//! several grams with the least hash the last one. Which texts share an anchor is part of what an
//! index stores, so this choice never changes.

use std::collections::VecDeque;

use crate::error::Result;
use crate::executor::Stop;
use crate::features::FeatureSpec;
use crate::features::shingles::for_each_shingle;
use crate::features::tokens::{Document, Scratch, for_each_token};
use crate::memory;

const DOING: &str = "choosing the anchors of a text";

/// The greatest length of the windows, so that the grams are not longer than other shingles.
pub const LONGEST: u32 = 1000;

/// The parameters of the choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnchorSpec {
    /// The way in which texts are cut into tokens.
    pub features: FeatureSpec,
    /// The number of tokens of a window, from 1 to [`LONGEST`].
    pub least: u32,
}

/// An anchor of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// The hash of the gram.
    pub hash: u64,
    /// The first window that has this anchor. The windows from there to the first window of the
    /// next anchor have it as well.
    pub window: u32,
}

/// Memory that is reused from text to text.
#[derive(Debug, Default)]
pub struct AnchorScratch {
    tokens: Scratch,
    hashes: Vec<u64>,
    grams: Vec<u64>,
    bytes: Vec<u8>,
    /// The places of the grams that may still be the least of a window, in ascending order; their
    /// hashes are ascending, too.
    least: VecDeque<usize>,
}

impl AnchorSpec {
    /// Returns the number of tokens of a gram: half a window, so that grams are rare and a window
    /// has enough of them to choose from.
    pub fn gram(&self) -> usize {
        (self.least as usize / 2).max(1)
    }

    /// Calls `each` with the anchors of a document, in order, and returns the number of windows. A
    /// document of fewer tokens than a window has none. O(bytes + tokens · gram).
    pub fn for_each_anchor(
        &self,
        document: &Document,
        scratch: &mut AnchorScratch,
        stop: &Stop,
        mut each: impl FnMut(Anchor) -> Result<()>,
    ) -> Result<u32> {
        let AnchorScratch { tokens, hashes, grams, bytes, least } = scratch;
        hashes.clear();
        for_each_token(document, &self.features, tokens, stop, |token| {
            memory::push(hashes, token.hash(), DOING)
        })?;
        if hashes.len() < self.least as usize {
            return Ok(0);
        }
        grams.clear();
        memory::reserve(grams, hashes.len() + 1 - self.gram(), DOING)?;
        for_each_shingle(hashes, self.gram(), false, bytes, stop, |gram| {
            grams.push(gram);
            Ok(())
        })?;
        // The number of grams of a window.
        let width = self.least as usize + 1 - self.gram();
        least.clear();
        let mut before = None;
        for (place, &gram) in grams.iter().enumerate() {
            while least.back().is_some_and(|&other| grams[other] >= gram) {
                least.pop_back();
            }
            // At most as many places as a window has grams.
            least.push_back(place);
            let Some(window) = (place + 1).checked_sub(width) else { continue };
            while least.front().is_some_and(|&first| first < window) {
                least.pop_front();
            }
            let anchor = least.front().copied();
            if anchor != before {
                before = anchor;
                // A document has fewer than 2^32 tokens.
                each(Anchor { hash: grams[anchor.unwrap_or(place)], window: window as u32 })?;
            }
        }
        Ok((grams.len() + 1 - width) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Tokenizer;
    use proptest::prelude::*;

    fn anchors(least: u32, text: &str) -> (Vec<Anchor>, u32) {
        let features = FeatureSpec { tokenizer: Tokenizer::Words, ..FeatureSpec::WORDS };
        let (mut all, mut scratch) = (Vec::new(), AnchorScratch::default());
        // What is left in the scratch memory by another text does no harm.
        let spec = AnchorSpec { features, least };
        spec.for_each_anchor(&Document::from("w x y z"), &mut scratch, &Stop::default(), |_| Ok(())).unwrap();
        let windows = spec
            .for_each_anchor(&Document::from(text), &mut scratch, &Stop::default(), |anchor| {
                all.push(anchor);
                Ok(())
            })
            .unwrap();
        (all, windows)
    }

    fn words() -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec("[ab]|[a-z]{1,2}", 0..60)
    }

    proptest! {
        /// The anchor of each window of a text is that of a text with the tokens of the window only.
        #[test]
        fn the_tokens_of_a_window_decide(words in words(), least in 1..14_u32) {
            let (found, count) = anchors(least, &words.join(" "));
            let windows: Vec<String> = words.windows(least as usize).map(|words| words.join(" ")).collect();
            prop_assert_eq!(count as usize, windows.len());
            prop_assert!(found.is_sorted_by(|a, b| a.window < b.window));
            for (n, window) in (0..).zip(&windows) {
                let alone = anchors(least, window).0;
                prop_assert_eq!(alone.len(), 1);
                let here = found.partition_point(|anchor| anchor.window <= n);
                prop_assert_eq!(found[here - 1].hash, alone[0].hash);
            }
        }
    }

    #[test]
    fn anchors_stay_as_they_are() {
        let (found, windows) = anchors(4, "To be, or not to be, that is the question");
        let golden: Vec<(u32, u64)> = found.iter().map(|anchor| (anchor.window, anchor.hash)).collect();
        assert_eq!(windows, 7);
        let expected = [
            (0, 1_028_373_449_158_927_865),
            (1, 2_031_618_357_337_414_319),
            (2, 1_028_373_449_158_927_865),
            (5, 4_294_257_666_691_121_329),
            (6, 8_567_390_771_344_183_802),
        ];
        assert_eq!(golden, expected);
        // Of equal grams the last one is chosen, so that every window of a long row of equal tokens
        // has an anchor of its own.
        assert_eq!(anchors(4, "a a a a a a").0.len(), 3);
        assert_eq!((anchors(4, "a a a"), anchors(1, "").0.len()), ((Vec::new(), 0), 0));
    }
}
