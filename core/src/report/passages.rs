//! Passages that two texts share: runs of equal words, which may be at different places in the
//! texts.

use std::collections::HashMap;
use std::ops::Range;

use crate::error::Result;
use crate::executor::Stop;
use crate::features::runs::places::token_places;
use crate::features::tokens::Tokenizer;
use crate::hash;
use crate::memory;
use crate::text::spans::Span;
use crate::text::words::{WordScratch, for_each_word};

const DOING: &str = "comparing passages";

/// A word: its place in bytes and in characters, and its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassageWord {
    /// The place in bytes.
    pub bytes: Range<usize>,
    /// The place in characters, counted from 0.
    pub chars: Range<usize>,
    /// The hash of the word in lower case.
    pub hash: u64,
}

/// Returns the words of a text with their places. O(bytes).
pub fn words(text: &str, stop: &Stop) -> Result<Vec<PassageWord>> {
    let (mut words, mut places) = (Vec::new(), Vec::new());
    token_places(text, Tokenizer::Words, stop, &mut places)?;
    // A text without words has a place, of its signs.
    let mut places = places.into_iter();
    for_each_word(text, &mut WordScratch::default(), stop, |word| {
        let Some(Span { bytes, chars }) = places.next() else { return Ok(()) };
        memory::push(&mut words, PassageWord { bytes, chars, hash: hash::hash_bytes(word) }, DOING)
    })?;
    Ok(words)
}

/// A run of words: the numbers of its words in each text. If it is in only one text, the range of
/// the other text is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordRun {
    /// The words in the left text.
    pub left: Range<usize>,
    /// The words in the right text.
    pub right: Range<usize>,
}

impl WordRun {
    /// Reports whether both texts have the run.
    pub fn is_common(&self) -> bool {
        !self.left.is_empty() && !self.right.is_empty()
    }
}

/// The least number of words of a passage.
pub const SHORTEST: usize = 4;

/// Returns the passages of at least `least` words, in the order of the right text. No word is in
/// two of them. Each passage is the longest one that begins at its place in the right text. O(words
/// · places), where `places` is the number of places in the left text with the same first `least`
/// words, at most 64.
pub fn passages(
    left: &[PassageWord],
    right: &[PassageWord],
    least: usize,
    stop: &Stop,
) -> Result<Vec<WordRun>> {
    const MOST_PLACES: usize = 64;
    let least = least.max(1);
    let key = |words: &[PassageWord]| {
        words.iter().fold(0u64, |key, word| hash::mix(key.rotate_left(7) ^ word.hash))
    };
    let mut places: HashMap<u64, Vec<u32>> = HashMap::new();
    for (at, words) in left.windows(least).enumerate() {
        stop.check()?;
        memory::attempt(DOING, || places.try_reserve(1))?;
        let list = places.entry(key(words)).or_default();
        if list.len() < MOST_PLACES {
            memory::push(list, at as u32, DOING)?;
        }
    }
    let mut used = memory::filled(false, left.len(), DOING)?;
    let mut passages = Vec::new();
    let mut at = 0;
    while at + least <= right.len() {
        stop.check()?;
        let mut best: Option<WordRun> = None;
        for &place in places.get(&key(&right[at..at + least])).into_iter().flatten() {
            let place = place as usize;
            let pairs = left[place..].iter().zip(&right[at..]).zip(&used[place..]);
            let length = pairs.take_while(|((a, b), used)| a.hash == b.hash && !**used).count();
            if length >= least && best.as_ref().is_none_or(|best| length > best.right.len()) {
                best = Some(WordRun { left: place..place + length, right: at..at + length });
            }
        }
        match best {
            Some(passage) => {
                used[passage.left.clone()].fill(true);
                at = passage.right.end;
                memory::push(&mut passages, passage, DOING)?;
            }
            None => at += 1,
        }
    }
    Ok(passages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::characters::{WordClass, class, lower};
    use proptest::prelude::*;

    fn of(text: &str) -> Vec<PassageWord> {
        words(text, &Stop::default()).unwrap()
    }

    #[test]
    fn moved_passages_are_found() {
        let a =
            "First a beginning. The quick brown fox jumps over the dog. And then the end of it all comes.";
        let b = "And then THE END of it all comes! Something else. The quick, brown fox jumps over the cat";
        let found = passages(&of(a), &of(b), 4, &Stop::default()).unwrap();
        let text = |words: &[PassageWord], range: Range<usize>, text: &str| {
            text[words[range.start].bytes.start..words[range.end - 1].bytes.end].to_owned()
        };
        let seen: Vec<_> =
            found.into_iter().map(|p| (text(&of(a), p.left, a), text(&of(b), p.right, b))).collect();
        let expected = [
            ("And then the end of it all comes", "And then THE END of it all comes"),
            ("The quick brown fox jumps over the", "The quick, brown fox jumps over the"),
        ];
        assert_eq!(seen, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }

    proptest! {
        #[test]
        fn words_are_where_they_say(text in "[a-cA-Cé\u{301}\u{ad}\u{200b}漢ßİς .,-]{0,60}") {
            let found = of(&text);
            let lowered: Vec<String> = found.iter().map(|w| text[w.bytes.clone()].chars().filter(|&c| class(c) != WordClass::Unseen).map(lower).collect()).collect();
            prop_assert_eq!(&lowered, &crate::text::words::words(&text));
            for word in &found {
                let chars: String = text.chars().skip(word.chars.start).take(word.chars.len()).collect();
                prop_assert_eq!(&chars, &text[word.bytes.clone()]);
            }
        }

        #[test]
        fn passages_are_equal_runs(a in "([a-d] ){0,40}", b in "([a-d] ){0,40}", least in 1usize..5) {
            let (a, b) = (of(&a), of(&b));
            let found = passages(&a, &b, least, &Stop::default()).unwrap();
            let mut used = vec![false; a.len()];
            prop_assert!(found.is_sorted_by(|p, q| p.right.end <= q.right.start));
            for p in &found {
                prop_assert!(p.left.len() >= least && p.left.len() == p.right.len());
                prop_assert!(a[p.left.clone()].iter().zip(&b[p.right.clone()]).all(|(x, y)| x.hash == y.hash));
                prop_assert!(!used[p.left.clone()].contains(&true));
                used[p.left.clone()].fill(true);
            }
            if a == b {
                prop_assert_eq!(found.iter().map(|p| p.left.len()).sum::<usize>(), if a.len() >= least { a.len() } else { 0 });
            }
        }
    }
}
