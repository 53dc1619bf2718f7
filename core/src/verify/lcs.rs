//! Computes the longest common subsequence of two texts exactly: its length, unless it is below an
//! optional limit, and the characters that it consists of (docs/design/algorithms.md section 5).
//!
//! Two texts differ by |SES| = |A| + |B| - 2·|LCS| insertions and deletions. Up to some tens of
//! these operations are followed greedily ([`super::lcs_greedy`]: O(N + D²)). If there are more, a
//! band of the table that is wide enough for the expected number of operations is filled 64 cells
//! at a time ([`super::lcs_band`]: O(N·D/64)), and then a wider band if even more are needed.
//! Neither algorithm tries more operations than the known common part allows ([`LcsBounds`]). If
//! the caller asks for an alignment, it is read from the columns of the band that gave the
//! distance, unless these are too many to be kept. Measured on 10 KB texts (benches/lcs.rs), the
//! band is faster from about a hundred operations on; after half that number, the greedy algorithm
//! shows whether so many are to be expected.
//!
//! This is our own code because we know no crate that can be stopped, gives an alignment by a
//! stated rule, and bounds its memory.
//!
//! Bounds that are known before limit the number of insertions and deletions between the texts.

use super::column::{DOING, WORD};
use super::lcs_band::Band;
use super::lcs_greedy::{Greedy, Reached, common_prefix, common_suffix};
use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::memory;

/// The greatest number of insertions and deletions that are followed one by one before the band is
/// filled. Fewer are followed if the whole table would be filled in the same time.
const FEW: usize = 48;
/// A table of at most this many words is filled as a whole. It would save nothing to try a narrower
/// band first.
const AT_ONCE: usize = 1 << 10;
/// If a caller allows no more operations than this, all of them are followed one by one: the band's
/// tables would take longer to build.
const FEW_IN_ALL: usize = 160;
/// The greatest number of words in all columns of a table that is filled. They take some minutes on
/// one processor. Two texts of 4 MB each that have nothing in common are just within this limit.
const MOST_STEPS: usize = 1 << 38;
/// The greatest number of words of columns that are kept to read an alignment from: 32 MB.
const KEPT_WORDS: usize = 1 << 22;

/// The way in which a distance was found.
#[derive(Debug, Clone, Copy)]
enum DistanceBy {
    /// By the greedy algorithm, or because one text is empty.
    Greedy,
    /// By a band whose columns are kept.
    Kept,
    /// By a band that must be filled again to read an alignment.
    Band,
}

/// Compares texts. It reuses its space.
///
/// ```
/// use neardup_core::Stop;
/// use neardup_core::compare::{Lcs, LcsBounds, lcs_symbols};
///
/// let (a, b) = (lcs_symbols("abcabba")?, lcs_symbols("cbabac")?);
/// let mut lcs = Lcs::default();
/// assert_eq!(lcs.length(&a, &b, LcsBounds::default(), &Stop::default())?, Some(4));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Lcs {
    greedy: Greedy,
    band: Band,
}

impl Lcs {
    /// Returns the length of the longest common subsequence, if it is at least `bounds.least`.
    /// Reacts to `stop` within milliseconds. Fails for texts of many megabytes that have little in
    /// common ([`Error::TooDifferent`]), because they would take hours.
    ///
    /// O(N + D²) for D differences; many differences cost O(N·D / 64).
    ///
    /// ```
    /// use neardup_core::Stop;
    /// use neardup_core::compare::{Lcs, LcsBounds, lcs_symbols};
    ///
    /// let (a, b) = (lcs_symbols("harbour")?, lcs_symbols("arbor")?);
    /// let of = |bounds| Lcs::default().length(&a, &b, bounds, &Stop::default());
    /// assert_eq!((of(LcsBounds::default())?, of(LcsBounds::least(6))?), (Some(5), None));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn length(&mut self, a: &[u32], b: &[u32], bounds: LcsBounds, stop: &Stop) -> Result<Option<usize>> {
        let shorter = a.len().min(b.len());
        if bounds.least > shorter {
            return Ok(None);
        }
        let total = a.len() + b.len();
        let most = bounds.most(total);
        // Some longest subsequence contains the common prefix and suffix.
        let prefix = common_prefix(a, b);
        let (a, b) = (&a[prefix..], &b[prefix..]);
        let suffix = common_suffix(a, b);
        let (a, b) = (&a[..a.len() - suffix], &b[..b.len() - suffix]);
        let reached = self.distance(a, b, most, false, stop)?;
        Ok(reached.map(|(distance, _)| (total - distance) / 2))
    }

    /// Returns the number of insertions and deletions between two texts, if it is at most `most`,
    /// and the way in which it was found. If `keep` is set, it keeps the columns of the band unless
    /// they are too many.
    fn distance(
        &mut self,
        a: &[u32],
        b: &[u32],
        most: usize,
        keep: bool,
        stop: &Stop,
    ) -> Result<Option<(usize, DistanceBy)>> {
        let most = most.min(a.len() + b.len());
        let apart = a.len().abs_diff(b.len());
        if apart > most {
            return Ok(None);
        }
        if a.is_empty() || b.is_empty() {
            return Ok(Some((apart, DistanceBy::Greedy)));
        }
        let whole = Band::words(a, b, most);
        let few = if most <= FEW_IN_ALL { most } else { FEW };
        let few = few.min(whole.isqrt() / 3);
        let passed = match self.greedy.compare(a, b, few, stop)? {
            Reached::End(distance) => return Ok(Some((distance, DistanceBy::Greedy))),
            Reached::Far(_) if few == most => return Ok(None),
            Reached::Far(passed) => passed,
        };
        // Assumes that the remaining characters differ as much as those at the start, and adds a
        // margin.
        let expected = (few as f64 * (a.len() + b.len()) as f64 / passed.max(1) as f64 * 1.2) as usize;
        let mut limit = if whole <= AT_ONCE { most } else { expected.max(apart + WORD) };
        loop {
            // A pass with a limit close to the greatest one would save nothing.
            limit = if limit >= most - most / 3 { most } else { limit };
            check_steps(a, b, limit)?;
            let keeps = keep && Band::words(a, b, limit) <= KEPT_WORDS;
            let found = match keeps {
                true => self.band.distance::<true>(a, b, limit, stop)?,
                false => {
                    // The shorter text supplies the columns: then there are fewer columns, and the
                    // band is no wider.
                    let (rows, columns) = if a.len() >= b.len() { (a, b) } else { (b, a) };
                    self.band.distance::<false>(rows, columns, limit, stop)?
                }
            };
            if found.is_some() || limit == most {
                let way = if keeps { DistanceBy::Kept } else { DistanceBy::Band };
                return Ok(found.map(|distance| (distance, way)));
            }
            limit *= 2;
        }
    }

    /// If the longest common subsequence is long enough, passes the places of its characters in
    /// both texts to `each`, from the last character to the first. Reports whether it is long
    /// enough.
    ///
    /// If there are several longest subsequences, the choice depends only on the texts. The texts
    /// are read from their ends. If their last characters are equal, these are matched. Otherwise
    /// the last character of `a` is left out if this does not shorten the subsequence, or else the
    /// last character of `b`.
    ///
    /// ```
    /// use neardup_core::Stop;
    /// use neardup_core::compare::{Lcs, LcsBounds};
    ///
    /// let (mut places, any) = (Vec::new(), LcsBounds::default());
    /// let each = |a, b| places.push((a, b));
    /// Lcs::default().matches(&[7, 8, 9], &[8, 5, 9], any, &Stop::default(), each)?;
    /// assert_eq!(places, [(2, 2), (1, 0)]);
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn matches(
        &mut self,
        a: &[u32],
        b: &[u32],
        bounds: LcsBounds,
        stop: &Stop,
        mut each: impl FnMut(usize, usize),
    ) -> Result<bool> {
        if bounds.least > a.len().min(b.len()) {
            return Ok(false);
        }
        let most = bounds.most(a.len() + b.len());
        let suffix = common_suffix(a, b);
        let (x, y) = (&a[..a.len() - suffix], &b[..b.len() - suffix]);
        let Some((distance, way)) = self.distance(x, y, most, true, stop)? else { return Ok(false) };
        (1..=suffix).for_each(|n| each(a.len() - n, b.len() - n));
        if x.is_empty() || y.is_empty() {
            return Ok(true);
        }
        match way {
            DistanceBy::Greedy => self.greedy.trace(x, y, distance, each),
            DistanceBy::Kept => self.band.read(x, y, 0..y.len(), &mut x.len(), &mut each),
            DistanceBy::Band => self.band.trace(x, y, distance, KEPT_WORDS, stop, &mut each)?,
        }
        Ok(true)
    }
}

fn check_steps(rows: &[u32], columns: &[u32], limit: usize) -> Result<()> {
    match Band::words(rows, columns, limit) {
        0..=MOST_STEPS => Ok(()),
        _ => Err(Error::TooDifferent { characters: (rows.len() + columns.len()) as u64 }),
    }
}

#[cfg(test)]
pub(super) mod tests;

/// Returns the resemblance: 2·|LCS| / (|A| + |B|), 0 to 1; 0 if both texts are empty.
///
/// ```
/// assert_eq!(neardup_core::compare::lcs_resemblance(5, 7, 5), 10.0 / 12.0);
/// ```
pub fn resemblance(shared: usize, a: usize, b: usize) -> f64 {
    ratio(2 * shared, a + b)
}

/// Returns the share of a text of `contained` characters that is in the common subsequence, 0 to 1;
/// 0 if the text is empty.
///
/// ```
/// assert_eq!(neardup_core::compare::lcs_containment(3, 4), 0.75);
/// ```
pub fn containment(shared: usize, contained: usize) -> f64 {
    ratio(shared, contained)
}

/// Divides once, correctly rounded. No text has more characters than a float8 can represent
/// exactly.
fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Returns the characters of a text as numbers.
///
/// O(bytes).
///
/// ```
/// assert_eq!(neardup_core::compare::lcs_symbols("a漢")?, [97, 0x6f22]);
/// # Ok::<(), neardup_core::Error>(())
/// ```
pub fn symbols(text: &str) -> Result<Vec<u32>> {
    if text.is_ascii() {
        return memory::collect(text.bytes().map(u32::from), DOING);
    }
    let mut symbols = Vec::new();
    memory::reserve(&mut symbols, text.chars().count(), DOING)?;
    symbols.extend(text.chars().map(u32::from));
    Ok(symbols)
}

/// The required and the known length of a longest common subsequence.
///
/// The bounds save time and do not change any length that is returned.
///
/// ```
/// use neardup_core::Stop;
/// use neardup_core::compare::{Lcs, LcsBounds};
///
/// let bounds = LcsBounds { least: 2, known: 1 };
/// assert_eq!(Lcs::default().length(&[1, 2, 3], &[1, 3], bounds, &Stop::default())?, Some(2));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct LcsBounds {
    /// The least length that the caller wants.
    pub least: usize,
    /// A length that the subsequence certainly has at least; 0 if nothing is known.
    pub known: usize,
}

impl LcsBounds {
    /// Requires `least` characters; nothing is known.
    ///
    /// ```
    /// use neardup_core::compare::LcsBounds;
    ///
    /// let bounds = LcsBounds::least(9);
    /// assert_eq!((bounds.least, bounds.known), (9, 0));
    /// ```
    pub fn least(least: usize) -> Self {
        Self { least, known: 0 }
    }

    /// Returns the greatest number of insertions and deletions to look for between texts of `total`
    /// characters together.
    pub(super) fn most(self, total: usize) -> usize {
        total.saturating_sub(2 * self.least.max(self.known))
    }
}
