//! Edited passages by their definition, from whole tables of edit distances.

use std::collections::HashMap;
use std::ops::Range;

use proptest::prelude::*;

use super::EditedWords;
use crate::executor::Stop;
use crate::methods::corpus::Corpus;
use crate::passages::{Parameters, Passage, between};

type Words = Vec<u8>;
/// The words of both texts.
type Stretch = [Range<usize>; 2];

/// For all numbers of words of both texts, the edits between so many first words and whether these
/// end with two equal words.
fn distances(a: &[u8], b: &[u8]) -> Vec<([usize; 2], usize)> {
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    let mut ends = vec![([0, 0], 0)];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = match (i, j) {
                (0, edits) | (edits, 0) => edits,
                _ => (table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]))
                    .min(table[i - 1][j] + 1)
                    .min(table[i][j - 1] + 1),
            };
            if i > 1 && j > 1 && a[i - 2..i] == b[j - 2..j] {
                ends.push(([i, j], table[i][j]));
            }
        }
    }
    ends
}

/// Which words are in a window of too many places.
fn frequent(words: &[u8], edits: EditedWords, is_frequent: &dyn Fn(&[u8]) -> bool) -> Vec<bool> {
    let mut frequent = vec![false; words.len()];
    for (n, window) in words.windows(edits.run()).enumerate() {
        if is_frequent(window) {
            frequent[n..n + edits.run()].fill(true);
        }
    }
    frequent
}

/// The stretches of two texts, or of one with itself, joined until none overlap.
fn by_definition(
    a: &[u8],
    b: &[u8],
    edits: EditedWords,
    is_one: bool,
    is_frequent: &dyn Fn(&[u8]) -> bool,
) -> Vec<Stretch> {
    let [of_a, of_b] = [a, b].map(|words| frequent(words, edits, is_frequent));
    let reversed = |words: &[u8]| words.iter().rev().copied().collect::<Words>();
    let mut all: Vec<Stretch> = Vec::new();
    for i in 0..a.len() {
        for j in 0..b.len() {
            let run = a[i..].iter().zip(&b[j..]).take_while(|(x, y)| x == y).count();
            let is_first = i == 0 || j == 0 || a[i - 1] != b[j - 1];
            let counts: Vec<bool> = (0..run).map(|n| !of_a[i + n] && !of_b[j + n]).collect();
            if (is_one && j <= i + edits.most())
                || !is_first
                || !counts.windows(edits.run()).any(|window| window.iter().all(|&counts| counts))
            {
                continue;
            }
            let after = distances(&a[i + run..], &b[j + run..]);
            for (back, left) in distances(&reversed(&a[..i]), &reversed(&b[..j])) {
                for &(forth, right) in &after {
                    let words = 2 * run + back.iter().chain(&forth).sum::<usize>();
                    if left + right <= edits.most() && words >= 2 * edits.min_length as usize {
                        all.push([i - back[0]..i + run + forth[0], j - back[1]..j + run + forth[1]]);
                    }
                }
            }
        }
    }
    let overlap = |x: &Stretch, y: &Stretch| (0..2).all(|n| x[n].start < y[n].end && y[n].start < x[n].end);
    'again: loop {
        for m in 0..all.len() {
            for n in m + 1..all.len() {
                if overlap(&all[m], &all[n]) {
                    let other = all.swap_remove(n);
                    let joined =
                        |n: usize| all[m][n].start.min(other[n].start)..all[m][n].end.max(other[n].end);
                    all[m] = [joined(0), joined(1)];
                    continue 'again;
                }
            }
        }
        all.sort_by_key(|stretch| [stretch[0].start, stretch[1].start]);
        if is_one {
            for [left, right] in &mut all {
                let middle = (left.end + right.start) / 2;
                (left.end, right.start) = (left.end.min(middle), right.start.max(middle));
            }
            all.retain(|[left, right]| left.len() + right.len() >= 2 * edits.min_length as usize);
        }
        return all;
    }
}

/// A text of words of two characters with a space after each.
fn text(words: &[u8]) -> String {
    words.iter().map(|word| format!("{}x ", (b'a' + word) as char)).collect()
}

fn words_of(passage: &Passage) -> Stretch {
    [&passage.left_span, &passage.right_span].map(|span| span.start / 3..span.end.div_ceil(3))
}

fn similarity(a: &[u8], b: &[u8]) -> f64 {
    let mut left: HashMap<u8, usize> = HashMap::new();
    b.iter().for_each(|&word| *left.entry(word).or_default() += 1);
    let both = a
        .iter()
        .filter(|word| left.get_mut(word).is_some_and(|n| std::mem::replace(n, n.saturating_sub(1)) > 0));
    2.0 * both.count() as f64 / (a.len() + b.len()) as f64
}

fn edits() -> impl Strategy<Value = EditedWords> {
    (0..=30u32, 4..14u32)
        .prop_map(|(share, min_length)| EditedWords { share: f64::from(share) / 100.0, min_length })
}

/// Texts of few words, some of which have parts of others.
fn texts() -> impl Strategy<Value = Vec<Words>> {
    let part = prop_oneof![prop::collection::vec(0..3u8, 0..12), prop::collection::vec(0..9u8, 0..12)];
    let parts = prop::collection::vec(part, 1..4);
    (parts, prop::collection::vec(prop::collection::vec((0..4usize, 0..14usize, 0..9u8), 1..4), 1..5))
        .prop_map(|(parts, texts)| {
            let make = |own: Vec<(usize, usize, u8)>| {
                let edited = own.into_iter().flat_map(|(part, place, word)| {
                    let mut words = parts[part % parts.len()].clone();
                    if let Some(old) = words.get_mut(place) {
                        *old = word;
                    } else if place == 13 {
                        words.insert(words.len() / 2, word);
                    }
                    words
                });
                edited.collect()
            };
            texts.into_iter().map(make).collect()
        })
}

proptest! {
    #[test]
    fn passages_are_those_of_the_definition(
        texts in texts(),
        edits in edits(),
        most in prop_oneof![1..6u32, Just(1000)],
        right in prop::option::of(0..5usize),
        within_documents: bool,
    ) {
        let parameters = Parameters { edits: Some(edits), most_similar: most, within_documents, ..Parameters::default() };
        let mut places: HashMap<&[u8], u32> = HashMap::new();
        texts.iter().flat_map(|words| words.windows(edits.run())).for_each(|window| *places.entry(window).or_default() += 1);
        let right = right.filter(|&right| right <= texts.len());
        let written: Vec<String> = texts.iter().map(|words| text(words)).collect();
        let mut expected = Vec::new();
        for i in 0..right.unwrap_or(texts.len()) {
            for j in right.unwrap_or(i + usize::from(!within_documents))..texts.len() {
                let (a, b) = (&texts[i], &texts[j]);
                for stretch in by_definition(a, b, edits, i == j, &|window| places[window] > most) {
                    let similarity = similarity(&a[stretch[0].clone()], &b[stretch[1].clone()]);
                    expected.push(([i, j], stretch, similarity));
                }
            }
        }
        let found = Corpus::of_texts(&written).split(right).passages(&parameters).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|passage| {
                let rows = [passage.left_row, passage.right_row].map(|row| row as usize);
                (rows, words_of(passage), passage.similarity)
            })
            .collect();
        prop_assert_eq!(found, expected);
    }

    /// A passage whose first and last two words are not edited is found whole.
    #[test]
    fn an_edited_passage_is_found_whole(
        share in 5..=30u32,
        min_length in 10..40usize,
        more in 0..40usize,
        places in prop::collection::vec((0..1000usize, 0..3usize), 0..12),
        around in prop::collection::vec(0..9usize, 4),
    ) {
        let edits = EditedWords { share: f64::from(share) / 100.0, min_length: min_length as u32 };
        let own: Vec<String> = (0..min_length + more).map(|n| format!("w{n}")).collect();
        let mut copy = own.clone();
        // So many edits as every `min_length` words may have, and none of them near another one.
        for &(place, how) in places.iter().take(edits.most()) {
            let at = 2 + place % (copy.len() - 4);
            match how {
                0 => copy[at] = format!("r{place}"),
                1 => copy.insert(at, format!("i{place}")),
                _ if copy.len() > own.len() => drop(copy.remove(at)),
                _ => {}
            }
        }
        let foreign = |n: usize| (0..around[n]).map(move |m| format!("f{n}x{m}"));
        let joined = |words: Vec<String>| words.join(" ");
        let [a, b] = [(0, &own), (2, &copy)]
            .map(|(n, words)| joined(foreign(n).chain(words.iter().cloned()).chain(foreign(n + 1)).collect()));
        let parameters = Parameters { edits: Some(edits), ..Parameters::default() };
        let found = between(&a, &b, &parameters, &Stop::default()).unwrap();
        let [a, b] = [a, b].map(|text| text.chars().collect::<Vec<char>>());
        let of = |text: &[char], span: &Range<usize>| text[span.clone()].iter().collect::<String>();
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(of(&a, &found[0].left_span), joined(own));
        prop_assert_eq!(of(&b, &found[0].right_span), joined(copy));
    }
}
