//! What two texts say word for word: the longest runs that both texts have.
//!
//! Windows of `least` tokens are compared by their contents ([`Contents`]). O(tokens · log tokens),
//! in addition to the number of runs.

use std::cmp::Ordering;

use crate::error::{Error, Result};
use crate::executor::{self, Stop};
use crate::features::runs::contents::Contents;
use crate::memory;

const DOING: &str = "comparing runs of tokens";
const CHECK_EVERY: usize = 1 << 12;

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

/// The windows of a text in the order of their contents.
#[derive(Debug, Default)]
struct SortedWindows(Vec<(u128, u32)>);

impl SortedWindows {
    /// Reads the windows of `least` tokens.
    fn new(tokens: &[u64], least: usize, stop: &Stop) -> Result<Self> {
        let mut contents = Contents::new(least);
        contents.set(tokens, stop)?;
        let mut windows = Vec::new();
        memory::reserve(&mut windows, contents.windows(), DOING)?;
        // A text has fewer tokens than 32 bits can count.
        windows.extend((0..contents.windows()).map(|first| (contents.of(first), first as u32)));
        executor::sort_unstable_by(&mut windows, stop, &Ord::cmp)?;
        Ok(Self(windows))
    }
}

/// The windows of two texts that have one content.
struct Equal<'a> {
    left: &'a [(u128, u32)],
    right: &'a [(u128, u32)],
}

/// Calls `each` with the windows of each content that both texts have.
fn for_each_equal(
    left: &SortedWindows,
    right: &SortedWindows,
    stop: &Stop,
    mut each: impl FnMut(Equal<'_>) -> Result<()>,
) -> Result<()> {
    let (mut left, mut right) = (&*left.0, &*right.0);
    let mut steps = 0usize;
    while let (Some((a, _)), Some((b, _))) = (left.first(), right.first()) {
        steps += 1;
        if steps.is_multiple_of(CHECK_EVERY) {
            stop.check()?;
        }
        let of = |windows: &[(u128, u32)], content: &u128| {
            windows.iter().take_while(|(other, _)| other == content).count()
        };
        match a.cmp(b) {
            Ordering::Less => left = &left[of(left, a)..],
            Ordering::Greater => right = &right[of(right, b)..],
            Ordering::Equal => {
                let (of_left, after_left) = left.split_at(of(left, a));
                let (of_right, after_right) = right.split_at(of(right, b));
                each(Equal { left: of_left, right: of_right })?;
                (left, right) = (after_left, after_right);
            }
        }
    }
    Ok(())
}

/// Returns the maximal common runs of at least `least` tokens of two texts, in the order of their
/// places in the left text, then in the right one.
///
/// A run begins at two equal windows before which the texts differ, and ends with two after which
/// they differ; on the diagonal of a beginning, the next end is its own. So no run is followed
/// token by token. Fails if there are more runs than 32 bits can count, as two texts of very many
/// equal tokens may have.
pub fn shared_runs(left: &[u64], right: &[u64], least: usize, stop: &Stop) -> Result<Vec<SharedRun>> {
    let windows = [left, right].map(|tokens| SortedWindows::new(tokens, least, stop));
    let [of_left, of_right] = windows;
    let (of_left, of_right) = (of_left?, of_right?);
    let before = |tokens: &[u64], first: u32| (first as usize).checked_sub(1).map(|at| tokens[at]);
    let after = |tokens: &[u64], first: u32| tokens.get(first as usize + least).copied();
    let (mut begins, mut ends) = (Vec::new(), Vec::new());
    let mut sorted = Vec::new();
    for_each_equal(&of_left, &of_right, stop, |equal| {
        let mut bounds = |found: &mut Vec<_>, beside: &dyn Fn(&[u64], u32) -> Option<u64>| {
            sorted.clear();
            memory::reserve(&mut sorted, equal.right.len(), DOING)?;
            sorted.extend(equal.right.iter().map(|&(_, first)| (beside(right, first), first)));
            executor::sort_unstable_by(&mut sorted, stop, &Ord::cmp)?;
            for &(_, at) in equal.left {
                // The places of the right text beside which there is the same token as here; at the
                // edge of a text, nothing is the same.
                let own = beside(left, at);
                let same = match own {
                    None => 0..0,
                    Some(_) => {
                        sorted.partition_point(|(token, _)| *token < own)
                            ..sorted.partition_point(|(token, _)| *token <= own)
                    }
                };
                for part in [&sorted[..same.start], &sorted[same.end..]] {
                    for part in part.chunks(CHECK_EVERY) {
                        stop.check()?;
                        memory::reserve(found, part.len(), DOING)?;
                        found.extend(part.iter().map(|&(_, other)| (i64::from(other) - i64::from(at), at)));
                    }
                }
            }
            if found.len() > u32::MAX as usize {
                return Err(Error::TooMany { what: "runs that two texts share", limit: u32::MAX.into() });
            }
            Ok(())
        };
        bounds(&mut begins, &before)?;
        bounds(&mut ends, &after)
    })?;
    executor::sort_unstable_by(&mut begins, stop, &Ord::cmp)?;
    executor::sort_unstable_by(&mut ends, stop, &Ord::cmp)?;
    let mut runs = Vec::new();
    memory::reserve(&mut runs, begins.len(), DOING)?;
    runs.extend(begins.iter().zip(&ends).map(|(&(diagonal, first), &(_, last))| SharedRun {
        left: first,
        right: (i64::from(first) + diagonal) as u32,
        tokens: last - first + least as u32,
    }));
    executor::sort_unstable_by(&mut runs, stop, &Ord::cmp)?;
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::shared_windows::SharedWindows;
    use proptest::prelude::*;

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
            prop_assert_eq!(&shared_runs(&a, &b, least, &stop).unwrap(), &expected);
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
        let runs = shared_runs(&a, &b, 12, &Stop::default()).unwrap();
        // One run for each diagonal that is long enough.
        assert_eq!(runs.len(), 30_000 + 20_000 - 1 - 2 * 11);
        assert_eq!(runs.iter().map(|run| run.tokens).max(), Some(20_000));
        assert_eq!(shared_runs(&a, &[], 1, &Stop::default()).unwrap(), []);
    }
}
