//! Computes the longest common subsequence of two texts exactly: its length, unless it is below an
//! optional limit, and the characters that it consists of (docs/design/algorithms.md section 5).
//!
//! Two texts differ by |SES| = |A| + |B| - 2·|LCS| insertions and deletions. Up to some tens of
//! these operations are followed greedily ([`super::lcs_greedy`]: O(N + D²)). If there are more, a
//! band of the table that is wide enough for the expected number of operations is filled 64 cells
//! at a time ([`super::lcs_band`]: O(N·D/64)), and then a wider band if even more are needed.
//! Neither algorithm tries more operations than the known common part allows ([`LengthBounds`]). If the
//! caller asks for an alignment, it is read from the columns of the band that gave the distance,
//! unless these are too many to be kept. Measured on 10 KB texts (benches/lcs.rs), the band is
//! faster from about a hundred operations on; after half that number, the greedy algorithm shows
//! whether so many are to be expected.
//!
//! This is our own code because we know no crate that can be stopped, gives an alignment by a
//! stated rule, and bounds its memory.

use super::column::WORD;
use super::lcs_band::Band;
pub use super::lcs_bounds::LengthBounds;
use super::lcs_greedy::{Greedy, Reached, common_prefix, common_suffix};
pub use super::lcs_shares::{containment, resemblance};
pub use super::lcs_symbols::symbols;
use crate::error::{Error, Result};
use crate::executor::Stop;

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
    pub fn length(
        &mut self,
        a: &[u32],
        b: &[u32],
        bounds: LengthBounds,
        stop: &Stop,
    ) -> Result<Option<usize>> {
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
                true => self.band.distance_kept(a, b, limit, stop)?,
                false => {
                    // The shorter text supplies the columns: then there are fewer columns, and the
                    // band is no wider.
                    let (rows, columns) = if a.len() >= b.len() { (a, b) } else { (b, a) };
                    self.band.distance(rows, columns, limit, stop)?
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
        bounds: LengthBounds,
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
            DistanceBy::Kept => self.band.read_kept(x, y, &mut each),
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
mod tests {
    use super::*;
    use crate::verify::edited_texts::{edited, of_script};
    use proptest::prelude::*;

    /// Fills in the table cell by cell, as in the definition.
    fn table(a: &[u32], b: &[u32]) -> Vec<Vec<usize>> {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..a.len() {
            for j in 0..b.len() {
                table[i + 1][j + 1] =
                    if a[i] == b[j] { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
            }
        }
        table
    }

    /// Reads the alignment from the table by the rule.
    fn alignment(a: &[u32], b: &[u32], table: &[Vec<usize>]) -> Vec<(usize, usize)> {
        let (mut i, mut j) = (a.len(), b.len());
        let mut found = Vec::new();
        while i > 0 && j > 0 {
            if a[i - 1] == b[j - 1] {
                (i, j) = (i - 1, j - 1);
                found.push((i, j));
            } else if table[i - 1][j] == table[i][j] {
                i -= 1;
            } else {
                j -= 1;
            }
        }
        found
    }

    fn check(a: &[u32], b: &[u32]) {
        let stop = Stop::default();
        let mut lcs = Lcs::default();
        let table = table(a, b);
        let expected = table[a.len()][b.len()];
        let rule = alignment(a, b, &table);
        assert_eq!(rule.len(), expected);
        for least in [0, expected / 2, expected.saturating_sub(1), expected, expected + 1, usize::MAX] {
            let wanted = (expected >= least).then_some(expected);
            for known in [0, expected / 2, expected] {
                let bounds = LengthBounds { least, known };
                assert_eq!(lcs.length(a, b, bounds, &stop).unwrap(), wanted, "{bounds:?}");
                assert_eq!(lcs.length(b, a, bounds, &stop).unwrap(), wanted, "{bounds:?}");
            }
        }
        let mut found = Vec::new();
        for (least, known) in [(expected, 0), (0, expected / 2), (0, expected)] {
            found.clear();
            assert!(
                lcs.matches(a, b, LengthBounds { least, known }, &stop, |x, y| found.push((x, y))).unwrap()
            );
            assert_eq!(found, rule);
        }
        let more = LengthBounds::least(expected + 1);
        assert!(!lcs.matches(a, b, more, &stop, |_, _| panic!("too few")).unwrap());
        if a.is_empty() || b.is_empty() {
            return;
        }
        // Checks each algorithm separately.
        let distance = a.len() + b.len() - 2 * expected;
        let mut greedy = Greedy::default();
        assert_eq!(greedy.compare(a, b, distance, &stop).unwrap(), Reached::End(distance));
        found.clear();
        greedy.trace(a, b, distance, |x, y| found.push((x, y)));
        assert_eq!(found, rule);
        if distance > 0 {
            assert!(matches!(greedy.compare(a, b, distance - 1, &stop).unwrap(), Reached::Far(_)));
        }
        let mut band = Band::default();
        let apart = a.len().abs_diff(b.len());
        for limit in [distance, distance + 1, distance + 70, a.len() + b.len()] {
            assert_eq!(band.distance(a, b, limit, &stop).unwrap(), Some(distance));
            for budget in [1, 40, usize::MAX] {
                found.clear();
                band.trace(a, b, limit, budget, &stop, &mut |x, y| found.push((x, y))).unwrap();
                assert_eq!(found, rule, "limit {limit}, budget {budget}");
            }
        }
        if distance > apart {
            assert_eq!(band.distance(a, b, distance - 1, &stop).unwrap(), None);
            assert_eq!(band.distance(a, b, apart, &stop).unwrap(), None);
        }
    }

    fn numbers(text: &[char]) -> Vec<u32> {
        text.iter().map(|&c| c.into()).collect()
    }

    proptest! {
        #![proptest_config(crate::cases::cases(300))]

        #[test]
        fn equals_the_table((a, b) in edited(300, 60)) {
            check(&numbers(&a), &numbers(&b));
        }

        #[test]
        fn equals_the_table_in_every_script(
            script in 0..4u8,
            other in 0..4u8,
            a in prop::collection::vec(0..8u8, 0..200),
            b in prop::collection::vec(0..8u8, 0..200),
        ) {
            let in_script = |script, text: &[u8]| -> Vec<u32> {
                // The symbols are those that the functions read from a text.
                symbols(&text.iter().map(|&n| of_script(script, n)).collect::<String>()).unwrap()
            };
            let (a, b, apart) = (in_script(script, &a), in_script(script, &b), in_script(other, &b));
            let reversed: Vec<u32> = a.iter().rev().copied().collect();
            for other in [&b, &apart, &reversed, &a, &[a.clone(), b.clone()].concat(), &Vec::new()] {
                check(&a, other);
            }
        }

        #[test]
        fn equals_the_table_for_unrelated_texts(
            a in prop::collection::vec(0..3u32, 0..300),
            b in prop::collection::vec(0..3u32, 0..300),
        ) {
            check(&a, &b);
        }
    }

    #[test]
    fn known_texts() {
        let of = |a: &str, b: &str| check(&symbols(a).unwrap(), &symbols(b).unwrap());
        for (a, b) in [
            ("", ""),
            ("", "abc"),
            ("abcabba", "cbabac"),
            ("the same", "the same"),
            ("漢字かな交じり", "字かな"),
            ("😀😁😂", "😂😁😀"),
            ("abc", "xyz"),
        ] {
            of(a, b);
        }
        let text: Vec<u32> = (0..2500u32).map(|n| n * n % 61).collect();
        let reversed: Vec<u32> = text.iter().rev().copied().collect();
        check(&text, &reversed);
        check(&text[..700], &text[300..]);
        for n in [63, 64, 65, 128, 129, 1023, 1024, 1025] {
            check(&text[..n], &reversed[..n]);
            check(&text[..n], &text[..n - 1]);
        }
    }

    /// Compares a megabyte each of ASCII, Chinese and emoji: texts that differ little, are equal,
    /// contain one another, have nothing in common, or are each other's reverse.
    #[test]
    fn large_texts() {
        for script in 0..4u8 {
            let character = |n| of_script(script, (crate::hash::mix(n) % 8) as u8);
            let mut bytes = 0;
            let characters = (0..).map(character).take_while(|c| {
                bytes += c.len_utf8();
                bytes <= 1 << 20
            });
            let text = symbols(&characters.collect::<String>()).unwrap();
            let (stop, mut lcs) = (Stop::default(), Lcs::default());
            let mut edited = text.clone();
            (0..100).for_each(|n| edited[n * 2000] = u32::from('x'));
            let most = Some(text.len() - 100);
            assert_eq!(lcs.length(&text, &edited, LengthBounds::default(), &stop).unwrap(), most);
            let mut matched = 0;
            lcs.matches(&text, &edited, LengthBounds::default(), &stop, |_, _| matched += 1).unwrap();
            assert_eq!(Some(matched), most);
            assert_eq!(lcs.length(&text, &text, LengthBounds::default(), &stop).unwrap(), Some(text.len()));
            assert_eq!(
                lcs.length(&text, &text[1000..5000], LengthBounds::default(), &stop).unwrap(),
                Some(4000)
            );
            assert_eq!(
                lcs.length(&text, &[u32::from('x'); 900], LengthBounds::default(), &stop).unwrap(),
                Some(0)
            );
            let reversed: Vec<u32> = text.iter().rev().copied().collect();
            assert_eq!(
                lcs.length(&text, &reversed, LengthBounds::least(text.len() - 4000), &stop).unwrap(),
                None
            );
            stop.request();
            assert_eq!(lcs.length(&text, &reversed, LengthBounds::default(), &stop), Err(Error::Stopped));
        }
    }

    /// A comparison that would take hours is an error.
    #[test]
    fn texts_that_are_too_different() {
        assert!(check_steps(&[0; 1], &vec![1; 1 << 20], 1 << 21).is_ok());
        assert_eq!(
            check_steps(&vec![0; 1 << 23], &vec![1; 1 << 23], 1 << 24),
            Err(Error::TooDifferent { characters: 1 << 24 })
        );
    }
}
