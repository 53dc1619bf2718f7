//! How many words of one text have a near word of another one, if no word stands for two: the
//! greatest number of disjoint pairs of near words (a maximum matching; Wang, Li, Feng:
//! *Fast-Join*, ICDE 2011, section 2). Words are near by an edit predicate.
//!
//! Paths that make room for one more pair are looked for breadth first (Kuhn 1955), from each word
//! of the left text in turn. Equal words of a text are one word with a number of occurrences.
//! O(w·v) distances and O(n·(n + e)) steps for texts of w and v distinct words, and n words of
//! which e distinct ones are near.

use std::cmp::Reverse;
use std::ops::Range;

use super::character_counts::CharacterCounts;
use super::edit::EditPredicate;
use super::levenshtein::Pattern;
use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::memory;

const DOING: &str = "pairing near words";
/// The number of a word that there is not.
const NONE: u32 = u32::MAX;
/// What separates the words of a text.
pub const SPACE: char = ' ';

/// A distinct word of a text.
#[derive(Debug, Clone)]
struct NearWord {
    /// The bytes of the word in the text.
    bytes: Range<usize>,
    characters: u32,
    counts: CharacterCounts,
    /// The numbers of its occurrences.
    occurrences: Range<u32>,
    /// How many of them are paired, of a right word.
    paired: u32,
}

/// A text that other texts are compared with, and scratch memory. The words of a text are separated
/// by spaces, and equal words are neighbours.
#[derive(Debug, Default)]
pub struct WordPairing {
    left: Vec<NearWord>,
    /// The words of the left text, ready to be compared.
    patterns: Vec<Pattern>,
    right: Vec<NearWord>,
    /// The right words that are near the left ones, and where those of each left word end.
    near: Vec<u32>,
    ends: Vec<usize>,
    /// The left word that each paired occurrence of a right word is paired with.
    partners: Vec<u32>,
    /// The left words on the paths from the first one, each with the occurrence by which it was
    /// reached; and for each right word the left word by which it was reached.
    reached: Vec<(u32, u32)>,
    reached_by: Vec<u32>,
}

/// Replaces the words by those of a text. Returns the number of all occurrences.
fn cut(text: &str, words: &mut Vec<NearWord>, stop: &Stop) -> Result<u32> {
    words.clear();
    let (mut from, mut count) = (0, 0u32);
    for word in text.split(SPACE).filter(|word| !word.is_empty()) {
        stop.check_every(count, 1 << 12)?;
        let bytes = from..from + word.len();
        from = bytes.end + SPACE.len_utf8();
        let next = count.checked_add(1).filter(|&next| next < NONE);
        let next = next.ok_or(Error::TooMany { what: "words in a text", limit: NONE.into() })?;
        match words.last_mut() {
            Some(last) if text[last.bytes.clone()] == *word => last.occurrences.end = next,
            _ => {
                // No text of the server has more characters than 32 bits can count.
                let (characters, counts) = (word.chars().count() as u32, CharacterCounts::new(word));
                memory::push(
                    words,
                    NearWord { bytes, characters, counts, occurrences: count..next, paired: 0 },
                    DOING,
                )?;
            }
        }
        count = next;
    }
    Ok(count)
}

impl WordPairing {
    /// Sets the left text. O(bytes + w · log w) for w words.
    pub fn set(&mut self, text: &str, edit: EditPredicate, stop: &Stop) -> Result<()> {
        cut(text, &mut self.left, stop)?;
        // Few texts have a word that is near a long one, so these rule out most texts.
        self.left.sort_unstable_by_key(|word| (Reverse(word.characters), word.bytes.start));
        let more = self.left.len().saturating_sub(self.patterns.len());
        memory::append(&mut self.patterns, (0..more).map(|_| Pattern::default()), DOING)?;
        for (word, pattern) in self.left.iter().zip(&mut self.patterns) {
            stop.check()?;
            pattern.set(&text[word.bytes.clone()], edit.swaps)?;
        }
        Ok(())
    }

    /// Returns the number of pairs of words, or `None` if more than `missing` words of the left
    /// text are in no pair. `edit` is the one that the left text was set with.
    pub fn pairs(
        &mut self,
        text: &str,
        edit: EditPredicate,
        missing: u32,
        stop: &Stop,
    ) -> Result<Option<u32>> {
        let words = cut(text, &mut self.right, stop)?;
        self.partners.clear();
        memory::fill(&mut self.partners, NONE, words as usize, DOING)?;
        self.near.clear();
        self.ends.clear();
        let (mut pairs, mut missing) = (0, missing);
        for word in 0..self.left.len() {
            self.compare(word, text, edit, stop)?;
            let mut occurrences = self.left[word].occurrences.clone();
            while occurrences.start < occurrences.end && self.pair(word as u32, stop)? {
                (pairs, occurrences.start) = (pairs + 1, occurrences.start + 1);
            }
            // If one occurrence finds no room, the others find none either, nor later.
            let Some(rest) = missing.checked_sub(occurrences.end - occurrences.start) else {
                return Ok(None);
            };
            missing = rest;
        }
        Ok(Some(pairs))
    }

    /// Adds the words of the right text that are near the next word of the left one.
    fn compare(&mut self, word: usize, text: &str, edit: EditPredicate, stop: &Stop) -> Result<()> {
        let (NearWord { characters, counts, .. }, pattern) = (&self.left[word], &mut self.patterns[word]);
        for (n, other) in (0..).zip(&self.right) {
            stop.check_every(n, 1 << 10)?;
            let most = edit.most_distance(other.characters.max(*characters));
            let longer = i64::from(*characters) - i64::from(other.characters);
            // Most words are told apart by their letters alone.
            if counts.least_distance(&other.counts, longer) <= most
                && pattern.distance(&text[other.bytes.clone()], other.characters, most, most, stop)?.is_some()
            {
                memory::push(&mut self.near, n, DOING)?;
            }
        }
        memory::push(&mut self.ends, self.near.len(), DOING)
    }

    /// Pairs one more occurrence of a left word. Others may change their partners, but they keep
    /// one. Returns false if there is no room for it.
    fn pair(&mut self, word: u32, stop: &Stop) -> Result<bool> {
        let Self { right, near, ends, partners, reached, reached_by, .. } = self;
        reached.clear();
        memory::push(reached, (word, NONE), DOING)?;
        reached_by.clear();
        memory::fill(reached_by, NONE, right.len(), DOING)?;
        let mut at = 0;
        while let Some(&(left, _)) = reached.get(at) {
            stop.check()?;
            let from = (left as usize).checked_sub(1).map_or(0, |before| ends[before]);
            for &other in &near[from..ends[left as usize]] {
                if reached_by[other as usize] != NONE {
                    continue;
                }
                // The number of the step by which the word was reached.
                reached_by[other as usize] = at as u32;
                let NearWord { occurrences, paired, .. } = &mut right[other as usize];
                let (mut free, mut step) = (occurrences.start + *paired, at);
                if free == occurrences.end {
                    let partners =
                        occurrences.clone().map(|occurrence| (partners[occurrence as usize], occurrence));
                    memory::append(reached, partners, DOING)?;
                    continue;
                }
                *paired += 1;
                loop {
                    let (left, by) = reached[step];
                    partners[free as usize] = left;
                    if by == NONE {
                        return Ok(true);
                    }
                    // The step before is that by which the word of this occurrence was reached.
                    let of = right.partition_point(|word| word.occurrences.end <= by);
                    (free, step) = (by, reached_by[of] as usize);
                }
            }
            at += 1;
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::edit::{distance_by, similarity};
    use super::*;

    /// Tries all ways to pair the words.
    fn most(left: &[&str], right: &[&str], near: &dyn Fn(&str, &str) -> bool) -> u32 {
        let Some((first, rest)) = left.split_first() else { return 0 };
        let mut best = most(rest, right, near);
        for n in (0..right.len()).filter(|&n| near(first, right[n])) {
            let others = [&right[..n], &right[n + 1..]].concat();
            best = best.max(1 + most(rest, &others, near));
        }
        best
    }

    fn pairs(left: &str, right: &str, least: f64, missing: u32) -> Option<u32> {
        let (mut words, stop) = (WordPairing::default(), Stop::default());
        let edit = EditPredicate::new(least).unwrap().with_swaps(true);
        words.set(left, edit, &stop).unwrap();
        // What was left by another text does not matter.
        words.pairs("a b c", edit, u32::MAX, &stop).unwrap();
        words.pairs(right, edit, missing, &stop).unwrap()
    }

    /// The test vector of docs/design/algorithms.md.
    #[test]
    fn words_that_change_their_partners() {
        // "ab" is near "ab" and "abc"; "bb" is near "ab" alone.
        assert_eq!(pairs("ab bb", "ab abc", 0.5, 9), Some(2));
        assert_eq!(pairs("ab ab ab", "ab abc", 0.5, 9), Some(2));
        assert_eq!(
            (pairs("ab ab ab", "ab abc", 0.5, 1), pairs("ab ab ab", "ab abc", 0.5, 0)),
            (Some(2), None)
        );
        assert_eq!(pairs("brain", "brian", 0.8, 0), Some(1));
        assert_eq!(pairs("brain", "brian", 0.8f64.next_up(), 0), None);
        assert_eq!(
            (pairs("", "a", 0.5, 0), pairs("a", "", 0.5, 1), pairs("", "", 0.5, 0)),
            (Some(0), Some(0), Some(0))
        );
        let many = vec!["a"; 5000].join(" ");
        assert_eq!(pairs(&many, &many, 1.0, 0), Some(5000));
    }

    proptest! {
        #[test]
        fn pairs_are_the_most_there_are(
            left in prop::collection::vec("[ab]{1,3}|é", 0..6),
            right in prop::collection::vec("[ab]{1,3}|é", 0..6),
            least in prop::sample::select(vec![0.3, 1.0 / 3.0, 0.5, 2.0 / 3.0, 0.7, 1.0]),
            missing in 0..6u32,
        ) {
            let [mut left, mut right] = [left, right];
            left.sort();
            right.sort();
            let near = |a: &str, b: &str| {
                let (distance, longer) = distance_by(a, b, true, &Stop::default()).unwrap();
                similarity(distance, longer) >= least
            };
            let [lefts, rights] = [&left, &right].map(|words| words.iter().map(String::as_str).collect::<Vec<_>>());
            let expected = most(&lefts, &rights, &near);
            let within = lefts.len() as u32 - expected <= missing;
            prop_assert_eq!(pairs(&left.join(" "), &right.join(" "), least, missing), within.then_some(expected));
        }
    }
}
