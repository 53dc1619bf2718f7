//! Anchors: a few grams of tokens, chosen so that equal windows of tokens choose the same gram at
//! the same offset (robust winnowing: Schleimer, Wilkerson, Aiken, SIGMOD 2003, section 3.2).
//!
//! A window of `least` tokens contains `least - gram + 1` grams. It chooses the gram with the least
//! hash, and the last of these if several have it. The choice depends on the tokens of the window
//! alone. Windows beside each other mostly choose the same gram, so that about two in
//! `least - gram + 2` places are anchors. O(tokens).
//!
//! Winnowing (Schleimer, Wilkerson and Aiken, SIGMOD 2003): selects some grams of a text by the
//! hashes of these grams and of their neighbours, so that texts with a long enough run in common
//! have a selected gram in common.

use super::tokens::Rolling;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::windows::RunHashes;
use crate::memory;

const DOING: &str = "choosing the anchors of a text";
const DOING_WINNOWING: &str = "selecting grams";

/// An anchor of a text, and the windows that chose it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// The hash of the gram. Equal grams have equal hashes. Distinct grams hardly ever do, but
    /// whether windows are equal has to be decided by more than this hash.
    pub hash: u64,
    /// The number of the gram's first token.
    pub place: u32,
    /// The number of the first token of the first window that chose the gram.
    pub first: u32,
    /// The number of windows, one after the other, that chose the gram; at least 1.
    pub windows: u32,
}

impl Anchor {
    /// Returns the number of tokens from the first to the last of its windows of `least` tokens.
    pub fn covers(&self, least: usize) -> u32 {
        self.windows + (least as u32 - 1)
    }
}

/// The rule by which windows of a given length choose their anchors.
///
/// ```
/// use neardup_core::Stop;
/// use neardup_core::features::runs::anchors::Anchors;
///
/// let (mut left, mut right) = (Vec::new(), Vec::new());
/// let mut anchors = Anchors::new(4);
/// anchors.select(&[1, 2, 3, 4, 9], &Stop::default(), &mut left)?;
/// anchors.select(&[8, 8, 1, 2, 3, 4], &Stop::default(), &mut right)?;
/// // Both have the window 1, 2, 3, 4, and so they have an anchor in common.
/// assert!(left.iter().any(|a| right.iter().any(|b| a.hash == b.hash)));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Anchors {
    least: usize,
    gram: usize,
    /// The hash of the current gram.
    rolling: Rolling,
    /// The hashes of the grams of the current block. A block has as many grams as a window.
    block: Vec<u64>,
    /// For each gram of the block before, the least hash from there to the end of the block and
    /// its place, and at the end one that is never chosen.
    before: Vec<(u64, u32)>,
}

impl Anchors {
    /// Makes the rule for windows of `least` tokens, which is at least 1.
    pub fn new(least: usize) -> Self {
        let gram = Self::gram(least);
        Self { least: least.max(1), gram, rolling: Rolling::new(gram), block: Vec::new(), before: Vec::new() }
    }

    /// Returns the number of tokens of an anchor of windows of `least` tokens.
    pub fn gram(least: usize) -> usize {
        least.div_ceil(2).max(1)
    }

    /// Replaces the content of `anchors` with the anchors of a text, in the order of their places.
    /// Their windows are all windows of the text, each once. A text has at most `u32::MAX` tokens.
    pub fn select(&mut self, tokens: &[u64], stop: &Stop, anchors: &mut Vec<Anchor>) -> Result<()> {
        const CHECK_EVERY: usize = 1 << 14;
        anchors.clear();
        self.rolling.restart();
        self.block.clear();
        self.before.clear();
        let grams = self.least + 1 - self.gram;
        // The least hash of the current block so far.
        let mut here = (u64::MAX, 0);
        for n in 0..tokens.len() {
            stop.check_every(n, CHECK_EVERY)?;
            let hash = self.rolling.roll(&tokens[..=n]);
            if n + 1 < self.gram {
                continue;
            }
            let place = (n + 1 - self.gram) as u32;
            if hash <= here.0 {
                here = (hash, place);
            }
            memory::push(&mut self.block, hash, DOING)?;
            // A window consists of the end of the block before and of the current block.
            let before = self.before.get(self.block.len()).filter(|before| before.0 < here.0);
            let (hash, chosen) = *before.unwrap_or(&here);
            if self.block.len() == grams {
                self.end_block(place)?;
                here = (u64::MAX, 0);
            }
            if n + 1 < self.least {
                continue;
            }
            match anchors.last_mut().filter(|last| last.place == chosen) {
                Some(last) => last.windows += 1,
                None => {
                    let first = (n + 1 - self.least) as u32;
                    memory::push(anchors, Anchor { hash, place: chosen, first, windows: 1 }, DOING)?;
                }
            }
        }
        Ok(())
    }

    /// Ends the current block, of which `last` is the place of the last gram.
    fn end_block(&mut self, last: u32) -> Result<()> {
        self.before.clear();
        memory::reserve(&mut self.before, self.block.len(), DOING)?;
        let mut least = (u64::MAX, last);
        for (place, hash) in (0..=last).rev().zip(self.block.drain(..).rev()) {
            if hash < least.0 {
                least = (hash, place);
            }
            self.before.push(least);
        }
        self.before.reverse();
        Ok(())
    }
}

/// The parameters of the selection.
#[derive(Debug, Clone, Copy)]
pub struct Winnowing {
    /// The length of the grams in characters, at least 1.
    pub gram: u32,
    /// The number of consecutive grams among which one is selected. It is at least 1. So at least
    /// one gram is selected in every run of `gram + window - 1` characters.
    pub window: usize,
}

impl Winnowing {
    /// Calls `each` with the hashes of the selected grams of a text of `length` characters. In each
    /// run of `window` grams, the gram with the least hash is selected; if several grams have it,
    /// the last of them.
    pub fn for_each_selected(
        &self,
        windows: &RunHashes,
        length: u32,
        hashes: &mut Vec<u64>,
        mut each: impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        hashes.clear();
        let mut least = 0;
        for at in 0..(length + 1).saturating_sub(self.gram) as usize {
            memory::push(hashes, windows.hash(at as u32, self.gram), DOING_WINNOWING)?;
            let first = (at + 1).saturating_sub(self.window);
            let before = least;
            if hashes[at] <= hashes[least] {
                least = at;
            } else if least < first {
                least = (first..=at).rev().min_by_key(|&at| hashes[at]).unwrap_or(at);
            }
            if at + 1 == self.window || (at >= self.window && least != before) {
                each(hashes[least])?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;
    use proptest::prelude::*;

    fn anchors(tokens: &[u64], least: usize) -> Vec<Anchor> {
        let mut all = Vec::new();
        Anchors::new(least).select(tokens, &Stop::default(), &mut all).unwrap();
        all
    }

    proptest! {
        /// The choice of a window does not depend on the text around it.
        #[test]
        fn each_window_chooses_by_its_own_tokens(
            tokens in prop::collection::vec(0..3u64, 0..60),
            least in 1..12usize,
        ) {
            let found = anchors(&tokens, least);
            let mut windows = 0;
            for anchor in &found {
                prop_assert_eq!(anchor.first, windows);
                for first in anchor.first..anchor.first + anchor.windows {
                    let alone = anchors(&tokens[first as usize..][..least], least);
                    let expected = Anchor { place: anchor.place - first, first: 0, windows: 1, ..*anchor };
                    prop_assert_eq!(&alone, &[expected]);
                }
                windows += anchor.windows;
            }
            prop_assert_eq!(windows as usize, (tokens.len() + 1).saturating_sub(least));
        }
    }

    #[test]
    fn few_places_are_anchors() {
        let tokens: Vec<u64> = (0..100_000).map(hash::mix).collect();
        let share = anchors(&tokens, 50).len() as f64 / tokens.len() as f64;
        assert!((0.07..0.08).contains(&share), "{share}");
        assert_eq!(anchors(&tokens, 1).len(), tokens.len());
        assert_eq!(anchors(&tokens[..5], 6), []);
        // In a row of one token, each window chooses its own last gram.
        assert_eq!(anchors(&[7; 100], 10).len(), 91);
    }
}

#[cfg(test)]
mod winnowing_tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn selected_are_the_last_least_of_all_windows(
            text in "[ab]{0,30}|[a-z]{0,30}",
            gram in 1..6u32,
            window in 1..6usize,
        ) {
            let mut windows = RunHashes::default();
            windows.set(&text).expect("memory");
            let length = text.len() as u32;
            let hashes: Vec<u64> =
                (0..(length + 1).saturating_sub(gram)).map(|at| windows.hash(at, gram)).collect();
            let last_least = |from: usize| (from..from + window).rev().min_by_key(|&at| hashes[at]);
            let mut places: Vec<Option<usize>> = (0..(hashes.len() + 1).saturating_sub(window)).map(last_least).collect();
            places.dedup();
            let expected: Vec<u64> = places.into_iter().flatten().map(|at| hashes[at]).collect();
            let mut selected = Vec::new();
            Winnowing { gram, window }
                .for_each_selected(&windows, length, &mut Vec::new(), |hash| {
                    selected.push(hash);
                    Ok(())
                })
                .expect("memory");
            prop_assert_eq!(selected, expected);
        }
    }
}
