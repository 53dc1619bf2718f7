//! Edit similarity: 1 - Levenshtein distance / characters of the longer text
//! (docs/design/algorithms.md section 8).
//!
//! Characters are the Unicode code points of the unchanged text: case, punctuation and white space
//! count. The similarity is one correctly rounded division, (longer - distance) / longer, and a
//! pair is similar exactly if that float8 is >= the float8 of the threshold. All bounds are found
//! by searching with this predicate. An empty text is similar to no text, not even to another empty
//! text.

use super::levenshtein::Pattern;
use super::measure;
use crate::error::Result;
use crate::executor::Stop;

/// Returns the similarity, 0 to 1, of two texts of which the longer one has `longer` characters.
///
/// `distance` must not exceed `longer`. O(1).
///
/// ```
/// assert_eq!(neardup_core::compare::edit_similarity(1, 5), 0.8);
/// ```
#[inline]
pub fn similarity(distance: u32, longer: u32) -> f64 {
    if longer == 0 { 0.0 } else { f64::from(longer - distance) / f64::from(longer) }
}

/// Returns the distance of two texts, and the number of characters of the longer one. The time is
/// proportional to the product of the lengths, 64 cells at a time, unless the texts are equal.
///
/// Distances are those of Levenshtein: insertions, deletions and replacements of characters. Fails
/// only if memory is short, and after a request to stop.
///
/// ```
/// use neardup_core::Stop;
/// use neardup_core::compare::{edit_distance, edit_similarity};
///
/// let (distance, longer) = edit_distance("harbour", "harbor", &Stop::default())?;
/// assert_eq!((distance, longer, edit_similarity(distance, longer)), (1, 7, 6.0 / 7.0));
/// # Ok::<(), neardup_core::Error>(())
/// ```
pub fn distance(a: &str, b: &str, stop: &Stop) -> Result<(u32, u32)> {
    let (a, b) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    // No text of the server has more characters than 32 bits can count.
    let [x, y] = [a, b].map(|text| text.chars().count() as u32);
    let longer = x.max(y);
    if a == b {
        return Ok((0, longer));
    }
    let mut pattern = Pattern::default();
    pattern.set(a)?;
    Ok((pattern.distance(b, y, longer, 0, stop)?.unwrap_or(longer), longer))
}

/// The condition that a pair of texts must meet.
///
/// ```
/// use neardup_core::parameters::EditPredicate;
///
/// let predicate = EditPredicate::new(0.8)?.and_within(3);
/// assert!(predicate.passes(2, 10) && !predicate.passes(3, 10) && !predicate.passes(4, 100));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EditPredicate {
    /// The threshold; 0 if the distance alone decides.
    threshold: f64,
    /// The greatest distance. It applies to pairs of any similarity.
    most: u32,
}

impl EditPredicate {
    /// Accepts pairs with a similarity `>= threshold`, which is in (0, 1].
    ///
    /// Fails for other thresholds.
    ///
    /// ```
    /// use neardup_core::parameters::EditPredicate;
    ///
    /// assert!(EditPredicate::new(0.8)?.passes(1, 5) && EditPredicate::new(1.1).is_err());
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn new(threshold: f64) -> Result<Self> {
        measure::check_threshold(threshold)?;
        Ok(Self { threshold, most: u32::MAX })
    }

    /// Accepts pairs that are at most `distance` edits apart. Their similarity does not matter.
    ///
    /// ```
    /// use neardup_core::parameters::EditPredicate;
    ///
    /// assert!(EditPredicate::within(2).passes(2, 2) && !EditPredicate::within(2).passes(3, 900));
    /// ```
    pub fn within(distance: u32) -> Self {
        Self { threshold: 0.0, most: distance }
    }

    /// Adds the condition that a pair is at most `distance` edits apart.
    #[must_use]
    pub fn and_within(self, distance: u32) -> Self {
        Self { most: self.most.min(distance), ..self }
    }

    /// Returns the greatest distance, if the distance alone decides.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn distance_alone(&self) -> Option<u32> {
        (self.threshold == 0.0).then_some(self.most)
    }

    /// Reports whether a pair with this distance passes if its longer text has `longer` characters.
    #[inline]
    pub fn passes(&self, distance: u32, longer: u32) -> bool {
        distance <= self.most && similarity(distance, longer) >= self.threshold
    }

    /// Returns the greatest distance of a pair whose longer text has `longer` characters; 0 if only
    /// equal texts are pairs. Neither this distance nor `longer - most_distance(longer)` ever falls
    /// when `longer` grows. O(1).
    ///
    /// ```
    /// assert_eq!(neardup_core::parameters::EditPredicate::new(0.8)?.most_distance(11), 2);
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    #[inline]
    pub fn most_distance(&self, longer: u32) -> u32 {
        // The search starts at this value, which is exact except for rounding.
        let start = (1.0 - self.threshold) * f64::from(longer);
        let guess = (start as u32).min(self.most) as usize + 1;
        let passes_not = |distance: usize| !self.passes(distance as u32, longer);
        measure::least_near(guess, 1..=longer as usize + 1, passes_not) as u32 - 1
    }

    /// Returns the least length that the longer text of a pair with this distance may have, or
    /// `None` if there is no such length. O(1).
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn first_length(&self, distance: u32) -> Option<u32> {
        if distance > self.most {
            return None;
        }
        let start = f64::from(distance) / (1.0 - self.threshold);
        let range = distance.max(1) as usize..=u32::MAX as usize + 1;
        let first = measure::least_near(start as usize, range, |first| self.passes(distance, first as u32));
        u32::try_from(first).ok()
    }

    /// Returns the least number of characters that a partner of a text of `length` characters may
    /// have.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn least_partner(&self, length: u32) -> u32 {
        length - self.most_distance(length)
    }
}

/// The least number of q-grams of characters that similar texts share, counting repeats.
///
/// An edit changes at most q grams of a text: two texts that have |x| and |y| grams and are at
/// distance d share at least max(|x|, |y|) - q·d grams (Jokinen, Ukkonen, MFCS 1991; Gravano and
/// others, VLDB 2001). A text of n characters has n - q + 1 grams. A text of fewer than q
/// characters has a single gram, which only equal texts share. No pair is lost, because so short a
/// text is similar to no other text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GramBound {
    edit: EditPredicate,
    q: u32,
}

impl GramBound {
    /// Returns the bound for grams of two characters or, if these would miss a pair, of one
    /// character.
    ///
    /// Longer grams are hardly better for long texts (tried: 1 to 6), and with them short texts may
    /// be similar without a common gram: aaac and aabc at q = 3. If the shortest text that may have
    /// distance 1 has 2q characters or more, two similar texts that differ always share a gram: at
    /// this length the bound is 1 or more, and the text must grow by at least q characters before
    /// the distance can grow by one, so the bound never falls below 1.
    pub fn new(edit: EditPredicate) -> Self {
        let q = if edit.first_length(1).is_none_or(|first| first >= 4) { 2 } else { 1 };
        Self { edit, q }
    }

    /// Returns the bound for grams of `q` characters. It finds the pairs whose longer text has more
    /// than q - 1 + q·d characters, where d is the greatest distance that such a pair may have.
    pub fn with_grams_of(edit: EditPredicate, q: u32) -> Self {
        Self { edit, q }
    }

    /// Returns the length of a gram.
    pub fn q(&self) -> u32 {
        self.q
    }

    /// Returns the least number of grams that two texts at this distance share if the longer text
    /// has `longer` characters.
    fn least(&self, longer: u32, distance: u32) -> i64 {
        let (longer, distance, q) = (i64::from(longer), i64::from(distance), i64::from(self.q));
        longer - q + 1 - q * distance
    }

    /// Returns the least overlap of two texts with `left` and `right` grams, at least 1, or `None`
    /// if their lengths are too far apart.
    #[inline]
    pub fn least_overlap(&self, left: u32, right: u32) -> Option<u32> {
        let longer = left.max(right).saturating_add(self.q - 1);
        let distance = self.edit.most_distance(longer);
        // No text has more grams than 32 bits can count.
        (left.abs_diff(right) <= distance).then(|| self.least(longer, distance).max(1) as u32)
    }

    /// Returns the least overlap of a text of `size` grams with any partner that has `partner` or
    /// more grams. O(1).
    ///
    /// While the greatest distance stays the same, the least overlap grows with the length. When
    /// the distance goes up by one, the overlap falls by less than q. After each such step, the
    /// overlap is no lower than after the previous step. So the overlap after the next step is the
    /// lowest one to come.
    pub fn least_overlap_from(&self, size: u32, partner: u32) -> u32 {
        let longer = size.max(partner).saturating_add(self.q - 1);
        let distance = self.edit.most_distance(longer);
        let here = self.least(longer, distance);
        let next = self.edit.first_length(distance + 1).map(|next| self.least(next, distance + 1));
        next.map_or(here, |next| next.min(here)).max(1) as u32
    }

    /// Estimates the number of edits between two texts with `left` and `right` grams from the
    /// Jaccard similarity of their grams: a quarter more than the least possible number.
    pub fn guess(&self, left: u32, right: u32, jaccard: f64) -> u32 {
        let shared = jaccard / (1.0 + jaccard) * (f64::from(left) + f64::from(right));
        let least = (f64::from(left.max(right)) - shared).max(0.0) / f64::from(self.q);
        (least * 1.25) as u32
    }

    /// Returns the number by which |x| + |y| - 2·overlap, in a range of |y| that begins or ends at
    /// |x|, may exceed its values at both ends of the range. The overlap differs from a straight
    /// line by less than q. If a greatest distance bends that line, the range has at most that many
    /// further lengths, and each of them changes the sum by one.
    pub fn ripple(&self) -> u32 {
        let bent = if self.edit.most == u32::MAX { 0 } else { self.edit.most.saturating_add(1) };
        (2 * self.q).saturating_add(bent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thresholds() -> Vec<f64> {
        let mut all: Vec<f64> = (1..=100).map(|n| f64::from(n) / 100.0).collect();
        for b in 1..=12 {
            all.extend((1..=b).map(|a| f64::from(a) / f64::from(b)));
        }
        let near = [0.8f64, 0.5, 0.75, 2.0 / 3.0, 1.0];
        all.extend(near.iter().map(|t| t.next_down()));
        all.extend(near[..4].iter().map(|t| t.next_up()));
        all.extend([1e-12, 0.55, 0.999_999]);
        all
    }

    #[test]
    fn ties_at_the_threshold_are_in() {
        assert_eq!(similarity(1, 5), 0.8);
        assert_eq!(EditPredicate::new(0.8).unwrap().most_distance(5), 1);
        assert_eq!(EditPredicate::new(0.8f64.next_up()).unwrap().most_distance(5), 0);
        assert_eq!(EditPredicate::new(0.833_333_333_333_333_4).unwrap().most_distance(6), 1);
        assert_eq!(EditPredicate::new(0.833_333_333_333_333_5).unwrap().most_distance(6), 0);
        assert_eq!(similarity(0, 0), 0.0);
        for t in [0.0, -1.0, 1.5, f64::NAN] {
            assert!(EditPredicate::new(t).is_err());
        }
    }

    #[test]
    fn bounds_equal_brute_force() {
        for t in thresholds() {
            let edit = EditPredicate::new(t).unwrap();
            let most: Vec<u32> = (1..=150)
                .map(|longer| (0..=longer).rfind(|&d| similarity(d, longer) >= t).unwrap())
                .collect();
            for (longer, &most) in (1..=150).zip(&most) {
                assert_eq!(edit.most_distance(longer), most, "{t} {longer}");
            }
            for distance in 0..=most[149] {
                let first = (1..=150).find(|&n| most[n as usize - 1] >= distance);
                assert_eq!(edit.first_length(distance), first, "{t} {distance}");
            }
        }
        assert_eq!(EditPredicate::new(1.0).unwrap().first_length(1), None);
        assert_eq!(EditPredicate::new(1.0).unwrap().most_distance(u32::MAX), 0);
    }

    #[test]
    fn distances_bound_what_thresholds_let_pass() {
        for t in [0.0, 0.3, 0.5, 0.8, 1.0] {
            for distance in [0, 1, 2, 5, 70, u32::MAX] {
                let edit = match t {
                    0.0 => EditPredicate::within(distance),
                    t => EditPredicate::new(t).unwrap().and_within(distance),
                };
                let most: Vec<u32> = (1..=150)
                    .map(|longer| (0..=longer.min(distance)).rfind(|&d| similarity(d, longer) >= t).unwrap())
                    .collect();
                for (longer, &most) in (1..=150).zip(&most) {
                    assert_eq!(edit.most_distance(longer), most, "{t} {distance} {longer}");
                }
                for d in 0..=most[149] {
                    let first = (1..=150).find(|&n| most[n as usize - 1] >= d);
                    assert_eq!(edit.first_length(d), first, "{t} {distance} {d}");
                }
                for q in [1, 2] {
                    check_bound(GramBound::with_grams_of(edit, q));
                }
            }
        }
    }

    /// Checks that the bound for ranges of lengths agrees with the bound for each length.
    fn check_bound(bound: GramBound) {
        const LONGEST: u32 = 320;
        let q = bound.q();
        let least = |size: u32| {
            let longer = size + q - 1;
            bound.least(longer, bound.edit.most_distance(longer)).max(1)
        };
        for size in 1..=LONGEST / 2 {
            let lowest = (size..=LONGEST).map(least).min().unwrap() as u32;
            // The bound may be lower if single steps are less than q lengths long.
            assert!(bound.least_overlap_from(size, size / 2 + 1) <= lowest, "{bound:?} {size}");
            let differ = |other: u32| {
                bound.least_overlap(size, other).map(|o| i64::from(size + other) - 2 * i64::from(o))
            };
            let first = (1..=size).find(|&other| differ(other).is_some()).unwrap();
            let last = (size..=LONGEST).take_while(|&other| differ(other).is_some()).last().unwrap();
            let last = [size, (size + last) / 2, last];
            for (first, last) in [first, (first + size) / 2].into_iter().flat_map(|f| last.map(|l| (f, l))) {
                let ends = [differ(first), differ(size), differ(last)].into_iter().flatten().max().unwrap();
                for other in first..=last {
                    let over = differ(other).unwrap() - ends;
                    // A filter of sets allows 4 in addition.
                    assert!(over <= i64::from(bound.ripple()) + 4, "{bound:?} {size} {other}: {over}");
                }
            }
        }
    }

    /// Checks the traps of docs/design/algorithms.md section 8 against integers, for lengths up to
    /// some thousands.
    #[test]
    fn most_distance_agrees_with_integers() {
        for percent in [1u32, 50, 55, 64, 70, 80, 90, 95, 99, 100] {
            let edit = EditPredicate::new(f64::from(percent) / 100.0).unwrap();
            for longer in 1..5000 {
                assert_eq!(edit.most_distance(longer), (100 - percent) * longer / 100, "{percent} {longer}");
            }
        }
    }

    #[test]
    fn gram_bounds_equal_brute_force() {
        const LONGEST: u32 = 400;
        for t in thresholds() {
            let edit = EditPredicate::new(t).unwrap();
            let bound = GramBound::new(edit);
            let q = bound.q();
            for longer in (1..=LONGEST).filter(|&longer| edit.most_distance(longer) > 0) {
                assert!(bound.least(longer, edit.most_distance(longer)) > 0, "{t} {longer}");
            }
            let least = |size: u32| bound.least(size + q - 1, edit.most_distance(size + q - 1));
            for size in 1..=LONGEST / 2 {
                let lowest = (size..=LONGEST).map(least).min().unwrap().max(1) as u32;
                assert_eq!(bound.least_overlap_from(size, size / 2 + 1), lowest, "{t} {size}");
                assert_eq!(bound.least_overlap_from(size / 2 + 1, size), lowest);
            }
            for size in [1, 7, 20, 50] {
                let differ = |other: u32| {
                    bound.least_overlap(size, other).map(|o| i64::from(size + other) - 2 * i64::from(o))
                };
                let last = (size..=LONGEST).take_while(|&other| differ(other).is_some()).last().unwrap();
                let ends = [differ(size), differ(last)].into_iter().flatten().max().unwrap();
                for other in size..=last {
                    assert!(differ(other).unwrap() <= ends + i64::from(bound.ripple()), "{t} {size} {other}");
                }
            }
        }
        let q = |t| GramBound::new(EditPredicate::new(t).unwrap()).q();
        assert_eq!([0.01, 0.5, 2.0 / 3.0, 0.67, 0.8, 1.0].map(q), [1, 1, 1, 2, 2, 2]);
    }
}
