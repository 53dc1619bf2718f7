//! Which words of two texts stand for each other, so that what is left over is what differs.
//!
//! Passages of four and more equal words ([`super::passages`]) are anchors: the heaviest chain of them that goes forward in both
//! texts. Between two anchors a longest common subsequence of words is found, where it takes no more than a bounded table;
//! where it would, everything there differs, but for its two ends. O(words · log words + the tables).

use std::ops::Range;

use super::passages::{Word, WordRun};
use crate::error::Result;
use crate::memory;
use crate::workers::Stop;

const DOING: &str = "comparing words";

/// The runs of words that two texts have in common, ascending in both. A word by itself between long differences is none: that
/// two texts both have an "of" there tells nothing.
pub fn align(left: &[Word], right: &[Word], passages: &[WordRun], stop: &Stop) -> Result<Vec<WordRun>> {
    let mut runs: Vec<WordRun> = Vec::new();
    let mut at = (0, 0);
    let end = WordRun { left: left.len()..left.len(), right: right.len()..right.len() };
    for anchor in chain(passages, stop)?.into_iter().chain([end]) {
        between(left, right, [at.0..anchor.left.start, at.1..anchor.right.start], &mut runs, stop)?;
        at = (anchor.left.end, anchor.right.end);
        add(&mut runs, anchor)?;
    }
    Ok(without_lone_words(runs, [left.len(), right.len()]))
}

/// Adds a run, to the last one where the two touch.
fn add(runs: &mut Vec<WordRun>, run: WordRun) -> Result<()> {
    if run.left.is_empty() {
        return Ok(());
    }
    match runs.last_mut() {
        Some(last) if last.left.end == run.left.start && last.right.end == run.right.start => {
            (last.left.end, last.right.end) = (run.left.end, run.right.end);
            Ok(())
        }
        _ => memory::push(runs, run, DOING),
    }
}

/// The passages, which ascend in the right text, of the heaviest chain that ascends in the left one too. O(n · log n).
fn chain(passages: &[WordRun], stop: &Stop) -> Result<Vec<WordRun>> {
    let mut starts = Vec::new();
    memory::reserve(&mut starts, passages.len(), DOING)?;
    starts.extend(passages.iter().map(|passage| passage.left.start));
    starts.sort_unstable();
    // The heaviest chain that ends at one of the first so many places of the left text (Fenwick), and its last passage.
    let mut best: Vec<(usize, usize)> = memory::filled((0, usize::MAX), passages.len() + 1, DOING)?;
    let mut before = memory::filled(usize::MAX, passages.len(), DOING)?;
    for (number, passage) in passages.iter().enumerate() {
        stop.check()?;
        let place = starts.partition_point(|&start| start < passage.left.start);
        let mut heaviest = (0, usize::MAX);
        let mut at = place;
        while at > 0 {
            heaviest = if best[at].0 > heaviest.0 { best[at] } else { heaviest };
            at &= at - 1;
        }
        before[number] = heaviest.1;
        let weight = heaviest.0 + passage.left.len();
        at = place + 1;
        while at < best.len() {
            if weight > best[at].0 {
                best[at] = (weight, number);
            }
            at += at & at.wrapping_neg();
        }
    }
    let mut chain = Vec::new();
    let mut last =
        best.iter().copied().max_by_key(|(weight, _)| *weight).map_or(usize::MAX, |(_, last)| last);
    while let Some(passage) = passages.get(last) {
        memory::push(&mut chain, passage.clone(), DOING)?;
        last = before[last];
    }
    chain.reverse();
    Ok(chain)
}

/// Adds the runs of words in common between two anchors.
fn between(
    left: &[Word],
    right: &[Word],
    [mut a, mut b]: [Range<usize>; 2],
    runs: &mut Vec<WordRun>,
    stop: &Stop,
) -> Result<()> {
    const MOST_CELLS: usize = 1 << 20;
    let same = |i: usize, j: usize| left[i].hash == right[j].hash;
    let ahead = a.clone().zip(b.clone()).take_while(|&(i, j)| same(i, j)).count();
    add(runs, WordRun { left: a.start..a.start + ahead, right: b.start..b.start + ahead })?;
    (a.start, b.start) = (a.start + ahead, b.start + ahead);
    let behind = a.clone().rev().zip(b.clone().rev()).take_while(|&(i, j)| same(i, j)).count();
    (a.end, b.end) = (a.end - behind, b.end - behind);
    let (rows, columns) = (a.len() + 1, b.len() + 1);
    if rows > 1 && columns > 1 && rows.saturating_mul(columns) <= MOST_CELLS {
        // The longest common subsequence of what begins at each place.
        let mut longest: Vec<u32> = memory::filled(0, rows * columns, DOING)?;
        for i in (0..a.len()).rev() {
            stop.check()?;
            for j in (0..b.len()).rev() {
                let at = i * columns + j;
                longest[at] = match same(a.start + i, b.start + j) {
                    true => longest[at + columns + 1] + 1,
                    false => longest[at + columns].max(longest[at + 1]),
                };
            }
        }
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            let (x, y) = (a.start + i, b.start + j);
            if same(x, y) {
                add(runs, WordRun { left: x..x + 1, right: y..y + 1 })?;
                (i, j) = (i + 1, j + 1);
            } else if longest[(i + 1) * columns + j] >= longest[i * columns + j + 1] {
                i += 1;
            } else {
                j += 1;
            }
        }
    }
    add(runs, WordRun { left: a.end..a.end + behind, right: b.end..b.end + behind })
}

/// Leaves out runs of one word that stand between differences of at least four words on each side.
fn without_lone_words(runs: Vec<WordRun>, words: [usize; 2]) -> Vec<WordRun> {
    const LONG: usize = 4;
    let mut kept: Vec<WordRun> = Vec::new();
    let mut all = runs.into_iter().peekable();
    while let Some(run) = all.next() {
        let (left, right) = kept.last().map_or((0, 0), |last| (last.left.end, last.right.end));
        let ahead = (run.left.start - left).max(run.right.start - right);
        let (left, right) =
            all.peek().map_or((words[0], words[1]), |next| (next.left.start, next.right.start));
        let behind = (left - run.left.end).max(right - run.right.end);
        if run.left.len() > 1 || ahead < LONG || behind < LONG {
            kept.push(run);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::passages::{SHORTEST, passages, words};
    use proptest::prelude::*;

    fn of(a: &str, b: &str) -> (Vec<Word>, Vec<Word>, Vec<WordRun>) {
        let stop = &Stop::default();
        let (a, b) = (words(a, stop).unwrap(), words(b, stop).unwrap());
        let shared = passages(&a, &b, SHORTEST, stop).unwrap();
        let runs = align(&a, &b, &shared, stop).unwrap();
        (a, b, runs)
    }

    fn shown(a: &str, b: &str) -> Vec<(Range<usize>, Range<usize>)> {
        of(a, b).2.into_iter().map(|run| (run.left, run.right)).collect()
    }

    #[test]
    fn what_differs_is_left_over() {
        let (a, b) = ("Pay 6.1 cents on March 31 to all", "Pay 7.1 cents on March 31 to most");
        assert_eq!(shown(a, b), [(0..1, 0..1), (2..8, 2..8)]);
        // Of two passages that changed places the longer one stays.
        let (a, b) = ("a b c d e 1 2 3 4 5 6", "1 2 3 4 5 6 a b c d e");
        assert_eq!(shown(a, b), [(5..11, 0..6)]);
        // One word in common between long differences is none.
        let (a, b) = ("q w e r of t y u i", "h j k l of b n m v");
        assert_eq!(shown(a, b), []);
        assert_eq!(shown("q of t", "h of b"), [(1..2, 1..2)]);
    }

    #[test]
    fn what_is_too_large_to_compare_differs_but_for_its_ends() {
        let text = |from: usize| {
            (0..1500).map(|n| format!("{}{n} same", ["x", "y"][from])).collect::<Vec<_>>().join(" ")
        };
        let (a, b) = (format!("begin {} end", text(0)), format!("begin {} end", text(1)));
        assert_eq!(shown(&a, &b), [(0..1, 0..1), (3000..3002, 3000..3002)]);
    }

    fn longest(a: &[Word], b: &[Word]) -> usize {
        match (a, b) {
            ([x, a @ ..], [y, b @ ..]) if x.hash == y.hash => 1 + longest(a, b),
            ([_, rest_a @ ..], [_, rest_b @ ..]) => longest(rest_a, b).max(longest(a, rest_b)),
            _ => 0,
        }
    }

    proptest! {
        #[test]
        fn runs_ascend_and_are_equal(a in "([a-f] ){0,40}", b in "([a-f] ){0,40}") {
            let (a, b, runs) = of(&a, &b);
            prop_assert!(runs.is_sorted_by(|p, q| p.left.end <= q.left.start && p.right.end <= q.right.start
                && (p.left.end < q.left.start || p.right.end < q.right.start)));
            for run in &runs {
                prop_assert!(!run.left.is_empty() && run.left.len() == run.right.len());
                prop_assert!(a[run.left.clone()].iter().zip(&b[run.right.clone()]).all(|(x, y)| x.hash == y.hash));
            }
            if a.len() == b.len() && a.iter().zip(&b).all(|(x, y)| x.hash == y.hash) {
                prop_assert_eq!(runs.iter().map(|run| run.left.len()).sum::<usize>(), a.len());
            }
        }

        #[test]
        fn short_texts_have_a_longest_common_subsequence(a in "([a-f] ){0,3}", b in "([a-f] ){0,8}") {
            let (a, b, runs) = of(&a, &b);
            prop_assert_eq!(runs.iter().map(|run| run.left.len()).sum::<usize>() , longest(&a, &b));
        }
    }
}
