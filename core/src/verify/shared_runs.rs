//! What two texts say word for word: the longest runs that both texts have.
//!
//! Windows of `least` tokens are compared by their contents ([`Contents`]). O(tokens · log tokens)
//! until the first run, and O(log tokens) for each run.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::executor::{self, Executor, Stop};
use crate::features::runs::contents::{Contents, Doublings};
use crate::memory;

const DOING: &str = "comparing runs of tokens";
const CHECK_EVERY: u32 = 1 << 12;

/// A run of tokens that two texts have, and that is longer in neither direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SharedRun {
    /// The number of the run's first token in the left text.
    pub left: u32,
    /// The number of the run's first token in the right text.
    pub right: u32,
    /// The number of tokens.
    pub tokens: u32,
}

/// The side of a pair whose tokens are counted.
///
/// ```
/// use neardup_core::parameters::RunShare;
///
/// // Six of eight tokens of the left text, and six of twenty of the right one.
/// let of = |share: RunShare| share.share([6, 6], [8, 20]);
/// assert_eq!((of(RunShare::Left), of(RunShare::Larger)), (0.75, 0.3));
/// assert_eq!((of(RunShare::Smaller), of(RunShare::Both)), (0.75, 12.0 / 28.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunShare {
    /// The text of the left table.
    Left,
    /// The text of the right table.
    Right,
    /// The text with fewer tokens; of two texts with as many, the one with the greater share.
    Smaller,
    /// The text with more tokens; of two texts with as many, the one with the lesser share.
    Larger,
    /// Both texts together.
    Both,
}

impl RunShare {
    /// Returns the share of tokens in common runs, for texts of these numbers of such tokens and of
    /// all tokens.
    ///
    /// ```
    /// use neardup_core::parameters::RunShare;
    ///
    /// assert_eq!(RunShare::Both.share([0, 0], [0, 0]), 0.0);
    /// ```
    pub fn share(self, shared: [u32; 2], tokens: [u32; 2]) -> f64 {
        let of = |n: usize| f64::from(shared[n]) / f64::from(tokens[n].max(1));
        let [a, b] = tokens;
        match self {
            Self::Left => of(0),
            Self::Right => of(1),
            Self::Smaller if a == b => of(0).max(of(1)),
            Self::Smaller => of(usize::from(b < a)),
            Self::Larger if a == b => of(0).min(of(1)),
            Self::Larger => of(usize::from(b > a)),
            Self::Both => {
                let [shared, all] = [shared, tokens].map(|[a, b]| f64::from(a) + f64::from(b));
                shared / all.max(1.0)
            }
        }
    }

    /// Reports whether the share of a pair may be that of its left or right text. If a pair passes,
    /// a text of one of these sides has the share that is asked for.
    pub(crate) fn counts(self, is_right: bool) -> bool {
        match self {
            Self::Left => !is_right,
            Self::Right => is_right,
            _ => true,
        }
    }
}

/// The maximal common runs of at least `least` tokens of two texts, in the order of their places in
/// the left text, then in the right one. There may be as many as pairs of tokens, so that they are
/// not collected: each is found when it is asked for.
///
/// A run begins at two equal windows before which the texts differ. Windows of the right text
/// before which there is the same token as before the left one are skipped together, so that the
/// search visits at most two windows for each run that it finds, in addition to the windows of the
/// left text.
#[derive(Debug)]
pub struct SharedRuns {
    tokens: [Vec<u64>; 2],
    contents: [Contents; 2],
    doublings: Doublings,
    /// The windows of the right text in the order of their contents, then of their places.
    windows: Vec<(u128, u32)>,
    /// For each of them the next one of the same content before which there is another token, or
    /// the next one of another content.
    after: Vec<u32>,
    /// The next window of the left text.
    next_left: usize,
    /// The windows of the right text that are equal to the last one of the left text, and are not
    /// visited.
    equal: Range<usize>,
    steps: u32,
}

impl SharedRuns {
    /// Prepares the texts. O(tokens · log tokens).
    pub fn new(tokens: [Vec<u64>; 2], least: usize, stop: &Stop) -> Result<Self> {
        let mut contents = [Contents::new(least), Contents::new(least)];
        for (contents, tokens) in contents.iter_mut().zip(&tokens) {
            // The places of a text are numbers of 32 bits.
            if u32::try_from(tokens.len()).is_err() {
                return Err(Error::TooMany { what: "tokens of a text", limit: u32::MAX.into() });
            }
            contents.set(tokens, stop)?;
        }
        let [_, right] = &contents;
        let mut windows =
            memory::collect((0..right.windows()).map(|first| (right.content(first), first as u32)), DOING)?;
        executor::sort_unstable_by(&mut windows, stop, &Ord::cmp)?;
        let mut after = memory::filled(windows.len() as u32, windows.len(), DOING)?;
        for at in (1..windows.len()).rev() {
            let [(content, first), (next_content, next)] = [windows[at - 1], windows[at]];
            let is_same = content == next_content && before(&tokens[1], first) == before(&tokens[1], next);
            after[at - 1] = if is_same { after[at] } else { at as u32 };
        }
        let doublings = Doublings::default();
        Ok(Self { tokens, contents, doublings, windows, after, next_left: 0, equal: 0..0, steps: 0 })
    }

    /// Returns the next run, or `None` after the last one.
    pub fn next(&mut self, executor: &dyn Executor) -> Result<Option<SharedRun>> {
        loop {
            self.steps = self.steps.wrapping_add(1);
            if self.steps.is_multiple_of(CHECK_EVERY) {
                memory::suffices(DOING)?;
                executor.check_interrupts()?;
            }
            if self.equal.is_empty() {
                let of_left = &self.contents[0];
                if self.next_left >= of_left.windows() {
                    return Ok(None);
                }
                let content = of_left.content(self.next_left);
                self.next_left += 1;
                let start = self.windows.partition_point(|(other, _)| *other < content);
                let equal = self.windows[start..].partition_point(|(other, _)| *other == content);
                self.equal = start..start + equal;
                continue;
            }
            let (left, right) = (self.next_left as u32 - 1, self.windows[self.equal.start].1);
            // At the beginning of a text, nothing is the same.
            let own = before(&self.tokens[0], left);
            if own.is_some() && own == before(&self.tokens[1], right) {
                self.equal.start = self.after[self.equal.start] as usize;
                continue;
            }
            self.equal.start += 1;
            let common = self.doublings.common(self.contents.each_ref(), [left as usize, right as usize]);
            return Ok(Some(SharedRun { left, right, tokens: common as u32 }));
        }
    }
}

/// Returns the token before token number `first`, if there is one.
fn before(tokens: &[u64], first: u32) -> Option<u64> {
    (first as usize).checked_sub(1).map(|at| tokens[at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::PlainThreads;
    use crate::verify::shared_windows::SharedWindows;
    use proptest::prelude::*;

    fn shared_runs(a: &[u64], b: &[u64], least: usize) -> Vec<SharedRun> {
        let mut runs = SharedRuns::new([a.to_vec(), b.to_vec()], least, &Stop::default()).unwrap();
        std::iter::from_fn(|| runs.next(&PlainThreads(1)).unwrap()).collect()
    }

    /// The definition: all pairs of places, extended token by token.
    fn by_definition(a: &[u64], b: &[u64], least: usize) -> Vec<SharedRun> {
        let mut runs = Vec::new();
        for i in 0..a.len() {
            for j in 0..b.len() {
                if i > 0 && j > 0 && a[i - 1] == b[j - 1] {
                    continue;
                }
                let tokens = a[i..].iter().zip(&b[j..]).take_while(|(x, y)| x == y).count();
                if tokens >= least {
                    runs.push(SharedRun { left: i as u32, right: j as u32, tokens: tokens as u32 });
                }
            }
        }
        runs
    }

    proptest! {
        #[test]
        fn runs_are_those_of_the_definition(
            a in prop::collection::vec(0..3u64, 0..40),
            b in prop::collection::vec(0..3u64, 0..40),
            least in 1..6usize,
        ) {
            let stop = Stop::default();
            let expected = by_definition(&a, &b, least);
            prop_assert_eq!(&shared_runs(&a, &b, least), &expected);
            let covered = |of: fn(&SharedRun) -> u32| {
                let all: std::collections::HashSet<u32> =
                    expected.iter().flat_map(|run| of(run)..of(run) + run.tokens).collect();
                all.len() as u32
            };
            let covered = [covered(|run| run.left), covered(|run| run.right)];
            let mut windows = SharedWindows::new(&a, least, &[], &stop).unwrap();
            prop_assert_eq!(windows.shared_tokens(&b, &stop).unwrap(), covered);
        }
    }

    #[test]
    fn one_token_many_times() {
        let (a, b) = (vec![5; 30_000], vec![5; 20_000]);
        let runs = shared_runs(&a, &b, 12);
        // One run for each diagonal that is long enough.
        assert_eq!(runs.len(), 30_000 + 20_000 - 1 - 2 * 11);
        assert_eq!(runs.iter().map(|run| run.tokens).max(), Some(20_000));
        assert_eq!(shared_runs(&a, &[], 1), []);
    }

    #[test]
    fn the_first_of_very_many_runs_takes_little_memory() {
        let [a, b] = [3, 5].map(|period| (0..25_000).map(|n| n % period).collect::<Vec<u64>>());
        let stop = Stop::default();
        let mut runs = SharedRuns::new([a, b], 1, &stop).unwrap();
        for right in 0..5 {
            let expected = SharedRun { left: 0, right: 5 * right, tokens: 3 };
            assert_eq!(runs.next(&PlainThreads(1)), Ok(Some(expected)));
        }
        stop.request();
        let executor = executor::CallingThread { stop: &stop };
        let stopped = (0..=CHECK_EVERY).find_map(|_| runs.next(&executor).err());
        assert_eq!(stopped, Some(Error::Stopped));
    }
}
