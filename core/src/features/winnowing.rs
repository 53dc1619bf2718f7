//! Winnowing (Schleimer, Wilkerson and Aiken, SIGMOD 2003): selects some grams of a text by the
//! hashes of these grams and of their neighbours, so that texts with a long enough run in common
//! have a selected gram in common.

use super::windows::RunHashes;
use crate::error::Result;
use crate::memory;

const DOING: &str = "selecting grams";

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
            memory::push(hashes, windows.hash(at as u32, self.gram), DOING)?;
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
