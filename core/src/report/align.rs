//! Aligns the words of two texts. The words without a counterpart are the difference.
//!
//! An alignment starts from the passages that both texts share ([`super::passages`]). It takes the
//! heaviest chain of passages that are in the same order in both texts, so a moved passage is a
//! difference. The words between two passages of the chain are compared word by word.

use std::ops::Range;

use super::passages::{PassageWord, WordRun};
use crate::error::Result;
use crate::executor::{self, Stop};
use crate::memory;

const DOING: &str = "comparing words";

/// The alignment of two texts.
#[derive(Debug)]
pub struct Alignment {
    /// The common runs of words, ascending in both texts. No run directly follows another one in
    /// both texts.
    pub runs: Vec<WordRun>,
    /// Whether some words were not compared, because there are too many between two common words.
    /// Words that were not compared count as differences.
    pub passed_over: bool,
    /// The number of words of each text.
    ends: [usize; 2],
}

impl Alignment {
    /// Aligns two texts. `passages` are the passages that they share, in the order of the right
    /// text. O(words · log words), plus the product of the two numbers of words between two
    /// passages if this product is small.
    pub fn new(words: [&[PassageWord]; 2], passages: &[WordRun], stop: &Stop) -> Result<Self> {
        let mut aligner = Aligner { words, runs: Vec::new(), passed_over: false, stop };
        let ends = words.map(<[PassageWord]>::len);
        aligner.along(passages, [0..ends[0], 0..ends[1]], 0)?;
        Ok(Self { runs: aligner.runs, passed_over: aligner.passed_over, ends })
    }

    /// Returns both texts as non-empty stretches, in order. Where the texts differ, the stretch of
    /// the left text comes before the stretch of the right text.
    pub fn stretches(&self) -> Result<Vec<WordRun>> {
        let mut stretches = Vec::new();
        let (mut left, mut right) = (0, 0);
        let [l, r] = self.ends;
        for run in self.runs.iter().chain([&WordRun { left: l..l, right: r..r }]) {
            let only_left = WordRun { left: left..run.left.start, right: right..right };
            let only_right = WordRun { left: run.left.start..run.left.start, right: right..run.right.start };
            let common = WordRun { left: run.left.clone(), right: run.right.clone() };
            (left, right) = (run.left.end, run.right.end);
            for stretch in [only_left, only_right, common] {
                if !stretch.left.is_empty() || !stretch.right.is_empty() {
                    memory::push(&mut stretches, stretch, DOING)?;
                }
            }
        }
        Ok(stretches)
    }

    /// Removes the runs of one word between differences of at least four words on each side: a
    /// common "of" at such a place is no information.
    pub fn without_lone_words(mut self) -> Self {
        const LONG: usize = 4;
        let (mut before, mut kept) = ((0, 0), 0);
        for number in 0..self.runs.len() {
            let after = self
                .runs
                .get(number + 1)
                .map_or(self.ends.into(), |next| (next.left.start, next.right.start));
            let run = &self.runs[number];
            let ahead = (run.left.start - before.0).max(run.right.start - before.1);
            let behind = (after.0 - run.left.end).max(after.1 - run.right.end);
            if run.left.len() > 1 || ahead < LONG || behind < LONG {
                before = (run.left.end, run.right.end);
                self.runs.swap(kept, number);
                kept += 1;
            }
        }
        self.runs.truncate(kept);
        self
    }
}

/// Finds the common runs of words, in order.
struct Aligner<'a> {
    words: [&'a [PassageWord]; 2],
    runs: Vec<WordRun>,
    passed_over: bool,
    stop: &'a Stop,
}

impl Aligner<'_> {
    /// Adds the heaviest chain of runs within two ranges, and the common words between these runs.
    fn along(&mut self, runs: &[WordRun], [left, right]: [Range<usize>; 2], depth: u32) -> Result<()> {
        let (mut l, mut r) = (left.start, right.start);
        for run in chain(runs, self.stop)?.into_iter().map(|number| &runs[number]) {
            self.between([l..run.left.start, r..run.right.start], depth)?;
            self.common(run.left.start, run.right.start, run.left.len())?;
            (l, r) = (run.left.end, run.right.end);
        }
        self.between([l..left.end, r..right.end], depth)
    }

    fn equal(&self, left: usize, right: usize) -> bool {
        self.words[0][left].hash == self.words[1][right].hash
    }

    /// Adds equal words, appending them to the last run if they follow it directly.
    fn common(&mut self, left: usize, right: usize, length: usize) -> Result<()> {
        if let Some(last) = self.runs.last_mut()
            && last.left.end == left
            && last.right.end == right
        {
            (last.left.end, last.right.end) = (left + length, right + length);
            return Ok(());
        }
        let run = WordRun { left: left..left + length, right: right..right + length };
        memory::push(&mut self.runs, run, DOING)
    }

    /// Adds the common words between two runs: their common beginning and end, and a longest common
    /// subsequence of the rest. If the rest is long, it is aligned along the words that occur once
    /// in each of the two ranges.
    fn between(&mut self, [mut left, mut right]: [Range<usize>; 2], depth: u32) -> Result<()> {
        const MOST: usize = 1 << 18;
        const DEEPEST: u32 = 8;
        while !left.is_empty() && !right.is_empty() && self.equal(left.start, right.start) {
            self.common(left.start, right.start, 1)?;
            (left.start, right.start) = (left.start + 1, right.start + 1);
        }
        let mut tail = 0;
        while left.len() > tail && right.len() > tail && self.equal(left.end - tail - 1, right.end - tail - 1)
        {
            tail += 1;
        }
        (left.end, right.end) = (left.end - tail, right.end - tail);
        let ends = (left.end, right.end);
        if left.len().saturating_mul(right.len()) <= MOST {
            self.subsequence([left, right])?;
        } else {
            let anchors = if depth < DEEPEST { self.anchors([&left, &right])? } else { Vec::new() };
            if anchors.is_empty() {
                self.passed_over = true;
            } else {
                self.along(&anchors, [left, right], depth + 1)?;
            }
        }
        if tail > 0 { self.common(ends.0, ends.1, tail) } else { Ok(()) }
    }

    /// Adds a longest common subsequence of two ranges, which is found with a table of lengths.
    fn subsequence(&mut self, [left, right]: [Range<usize>; 2]) -> Result<()> {
        // Entry (l, r) is the length of a longest common subsequence of the words from l on and the
        // words from r on.
        let columns = right.len() + 1;
        let mut lengths = memory::filled(0u32, (left.len() + 1) * columns, DOING)?;
        for l in (0..left.len()).rev() {
            self.stop.check()?;
            for r in (0..right.len()).rev() {
                let at = l * columns + r;
                lengths[at] = if self.equal(left.start + l, right.start + r) {
                    lengths[at + columns + 1] + 1
                } else {
                    lengths[at + columns].max(lengths[at + 1])
                };
            }
        }
        let (mut l, mut r) = (0, 0);
        while l < left.len() && r < right.len() {
            let at = l * columns + r;
            if self.equal(left.start + l, right.start + r) {
                self.common(left.start + l, right.start + r, 1)?;
                (l, r) = (l + 1, r + 1);
            } else if lengths[at + columns] >= lengths[at + 1] {
                l += 1;
            } else {
                r += 1;
            }
        }
        Ok(())
    }

    /// Returns the words that occur once in each of two ranges, in the order of the right range.
    fn anchors(&self, ranges: [&Range<usize>; 2]) -> Result<Vec<WordRun>> {
        let mut once = [Vec::new(), Vec::new()];
        for side in [0, 1] {
            let mut places =
                memory::collect(ranges[side].clone().map(|at| (self.words[side][at].hash, at)), DOING)?;
            executor::sort_unstable_by(&mut places, self.stop, &Ord::cmp)?;
            let alone = places.chunk_by(|a, b| a.0 == b.0).filter(|equal| equal.len() == 1);
            memory::append(&mut once[side], alone.map(|equal| equal[0]), DOING)?;
        }
        let mut anchors = Vec::new();
        let mut right = once[1].iter().peekable();
        for &(hash, left) in &once[0] {
            while right.next_if(|place| place.0 < hash).is_some() {}
            if let Some(&(_, right)) = right.next_if(|place| place.0 == hash) {
                memory::push(&mut anchors, WordRun { left: left..left + 1, right: right..right + 1 }, DOING)?;
            }
        }
        let by_right = |a: &WordRun, b: &WordRun| a.right.start.cmp(&b.right.start);
        executor::sort_unstable_by(&mut anchors, self.stop, &by_right)?;
        Ok(anchors)
    }
}

/// Returns the indexes of the runs of the heaviest chain whose order is the same in both texts.
/// `runs` are in the order of the right text, and no word is in two of them. O(n log n), with a
/// Fenwick tree of the heaviest chains up to each end of a run in the left text.
fn chain(runs: &[WordRun], stop: &Stop) -> Result<Vec<usize>> {
    const NONE: usize = usize::MAX;
    let mut ends = memory::collect(runs.iter().map(|run| run.left.end), DOING)?;
    executor::sort_unstable_by(&mut ends, stop, &usize::cmp)?;
    let mut tree = memory::filled((0, NONE), runs.len() + 1, DOING)?;
    let mut before = memory::filled(NONE, runs.len(), DOING)?;
    let mut heaviest = (0, NONE);
    for (number, run) in runs.iter().enumerate() {
        stop.check()?;
        let mut best = (0, NONE);
        let mut at = ends.partition_point(|&end| end <= run.left.start);
        while at > 0 {
            if tree[at].0 > best.0 {
                best = tree[at];
            }
            at &= at - 1;
        }
        before[number] = best.1;
        let own = (best.0 + run.left.len(), number);
        if own.0 > heaviest.0 {
            heaviest = own;
        }
        at = ends.partition_point(|&end| end < run.left.end) + 1;
        while at < tree.len() {
            if own.0 > tree[at].0 {
                tree[at] = own;
            }
            at += at & at.wrapping_neg();
        }
    }
    let mut chain = Vec::new();
    let mut at = heaviest.1;
    while at != NONE {
        memory::push(&mut chain, at, DOING)?;
        at = before[at];
    }
    chain.reverse();
    Ok(chain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::diff::Compared;
    use proptest::prelude::*;

    fn of(a: &str, b: &str) -> (Vec<WordRun>, [Vec<u64>; 2]) {
        let stop = Stop::default();
        let compared = Compared::new(a, b, &stop).unwrap();
        let hashes = compared.words.each_ref().map(|words| words.iter().map(|word| word.hash).collect());
        (align(&compared, &compared.passages), hashes)
    }

    fn align(compared: &Compared<'_>, passages: &[WordRun]) -> Vec<WordRun> {
        let [left, right] = &compared.words;
        let alignment = Alignment::new([left, right], passages, &Stop::default()).unwrap();
        assert!(!alignment.passed_over);
        alignment.stretches().unwrap()
    }

    /// Returns the length of a longest common subsequence by its recurrence.
    fn longest(a: &[u64], b: &[u64]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut diagonal = 0;
            for (at, y) in b.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if x == y { diagonal + 1 } else { above.max(row[at]) };
                diagonal = above;
            }
        }
        row[b.len()]
    }

    #[test]
    fn the_heavier_of_two_passages_that_changed_places_stays() {
        let (a, b) = ("x1 x2 x3 x4 y1 y2 y3 y4 y5 z", "y1 y2 y3 y4 y5 x1 x2 x3 x4 z");
        let expected = [(0..4, 0..0), (4..9, 0..5), (9..9, 5..9), (9..10, 9..10)];
        assert_eq!(of(a, b).0, expected.map(|(left, right)| WordRun { left, right }));
    }

    #[test]
    fn long_differences_are_compared_along_words_that_come_once() {
        let text = |other: &str| -> String {
            (0..4000).map(|n| if n % 3 == 1 { format!("{other}{n} ") } else { format!("w{n} ") }).collect()
        };
        let common = of(&text("u"), &text("v")).0.into_iter().filter(WordRun::is_common);
        assert_eq!(common.map(|stretch| stretch.left.len()).sum::<usize>(), 4000 - 1333);
        // No word occurs only once, so words are passed over, and the summary says so.
        let [a, b] = ["a b ", "b c "].map(|text| text.repeat(1000));
        let compared = Compared::new(&a, &b, &Stop::default()).unwrap();
        let alignment = Alignment::new(
            compared.words.each_ref().map(Vec::as_slice),
            &compared.passages,
            &Stop::default(),
        );
        assert!(alignment.unwrap().passed_over);
    }

    #[test]
    fn lone_words_are_left_out() {
        let shown = |a: &str, b: &str| {
            let stop = Stop::default();
            let compared = Compared::new(a, b, &stop).unwrap();
            let words = compared.words.each_ref().map(Vec::as_slice);
            let alignment = Alignment::new(words, &compared.passages, &stop).unwrap().without_lone_words();
            alignment.runs.into_iter().map(|run| (run.left, run.right)).collect::<Vec<_>>()
        };
        assert_eq!(shown("q w e r of t y u i", "h j k l of b n m v"), []);
        assert_eq!(shown("q of t", "h of b"), [(1..2, 1..2)]);
        assert_eq!(
            shown("Pay 6.1 cents on March 31 to all", "Pay 7.1 cents on March 31 to most"),
            [(0..1, 0..1), (2..8, 2..8)]
        );
    }

    proptest! {
        #[test]
        fn stretches_are_the_two_texts(a in "([a-e] ){0,30}", b in "([a-e] ){0,30}") {
            let (stretches, hashes) = of(&a, &b);
            let (mut left, mut right) = (0, 0);
            let mut shared = 0;
            for stretch in &stretches {
                prop_assert_eq!((stretch.left.start, stretch.right.start), (left, right));
                prop_assert!(stretch.left.len() + stretch.right.len() > 0);
                (left, right) = (stretch.left.end, stretch.right.end);
                if stretch.is_common() {
                    prop_assert_eq!(&hashes[0][stretch.left.clone()], &hashes[1][stretch.right.clone()]);
                    shared += stretch.left.len();
                }
            }
            prop_assert_eq!((left, right), (hashes[0].len(), hashes[1].len()));
            prop_assert!(stretches.windows(2).all(|two| two[0].is_common() != two[1].is_common() || !two[0].is_common()));
            prop_assert!(shared <= longest(&hashes[0], &hashes[1]));
        }

        #[test]
        fn without_passages_as_many_words_as_can_be_are_common(a in "([a-c] ){0,20}", b in "([a-c] ){0,20}") {
            let stop = Stop::default();
            let compared = Compared::new(&a, &b, &stop).unwrap();
            let hashes: [Vec<u64>; 2] = compared.words.each_ref().map(|words| words.iter().map(|word| word.hash).collect());
            let found = align(&compared, &[]);
            let shared: usize = found.iter().filter(|stretch| stretch.is_common()).map(|stretch| stretch.left.len()).sum();
            prop_assert_eq!(shared, longest(&hashes[0], &hashes[1]));
        }
    }
}
