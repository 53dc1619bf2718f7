//! Edit similarity: 1 - Levenshtein distance / characters of the longer text
//! (docs/design/algorithms.md section 8). If swaps count, two neighbouring characters that change
//! places are one edit, of which neither is edited again (restricted Damerau distance).
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
    distance_by(a, b, false, stop)
}

/// Returns the same as [`distance`], or if `swaps` is set, the restricted Damerau distance, by
/// which two neighbouring characters that change places are one edit.
pub fn distance_by(a: &str, b: &str, swaps: bool, stop: &Stop) -> Result<(u32, u32)> {
    let (a, b) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    // No text of the server has more characters than 32 bits can count.
    let [x, y] = [a, b].map(|text| text.chars().count() as u32);
    let longer = x.max(y);
    if a == b {
        return Ok((0, longer));
    }
    let mut pattern = Pattern::default();
    pattern.set(a, swaps)?;
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
    /// Whether two neighbouring characters that change places are one edit.
    pub(crate) swaps: bool,
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
        Ok(Self { threshold, most: u32::MAX, swaps: false })
    }

    /// Accepts pairs that are at most `distance` edits apart. Their similarity does not matter.
    ///
    /// ```
    /// use neardup_core::parameters::EditPredicate;
    ///
    /// assert!(EditPredicate::within(2).passes(2, 2) && !EditPredicate::within(2).passes(3, 900));
    /// ```
    pub fn within(distance: u32) -> Self {
        Self { threshold: 0.0, most: distance, swaps: false }
    }

    /// Counts two neighbouring characters that change places as one edit if `swaps` is set, and as
    /// two edits otherwise. No character is edited twice (restricted Damerau distance).
    ///
    /// ```
    /// use neardup_core::{Corpus, Edit, parameters::{Algorithm, EditPredicate}};
    ///
    /// let predicate = EditPredicate::new(0.8)?.with_swaps(true);
    /// let method = Edit { predicate, algorithm: Algorithm::Auto, word_order: true };
    /// assert_eq!(Corpus::of_texts(&["Brain", "Brian"]).pairs(&method)?.len(), 1);
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    #[must_use]
    pub fn with_swaps(self, swaps: bool) -> Self {
        Self { swaps, ..self }
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

    /// Returns how many insertions, deletions and replacements as many edits are at most.
    #[inline]
    pub(crate) fn without_swaps(&self, distance: u32) -> u32 {
        if self.swaps { distance.saturating_mul(2) } else { distance }
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
    /// the distance can grow by one, so the bound never falls below 1. A swap changes q + 1 grams,
    /// so with swaps the shortest text has one character more.
    pub fn new(edit: EditPredicate) -> Self {
        let least = 4 + u32::from(edit.swaps);
        let q = if edit.first_length(1).is_none_or(|first| first >= least) { 2 } else { 1 };
        Self { edit, q }
    }

    /// Returns the bound for grams of `q` characters. It finds the pairs whose longer text has
    /// [`least_length`](Self::least_length) characters or more for the greatest distance that such
    /// a pair may have.
    pub fn with_grams_of(edit: EditPredicate, q: u32) -> Self {
        Self { edit, q }
    }

    /// Returns the length of a gram.
    pub fn q(&self) -> u32 {
        self.q
    }

    /// Returns the greatest number of grams that an edit changes. Swaps change no character.
    fn changed(&self) -> u32 {
        self.q + u32::from(self.edit.swaps && self.q > 1)
    }

    /// Returns the least number of characters of the longer of two texts at this distance that
    /// surely share a gram.
    pub fn least_length(&self, distance: u32) -> u32 {
        distance.saturating_mul(self.changed()).saturating_add(self.q)
    }

    /// Returns the least number of grams that two texts at this distance share if the longer text
    /// has `longer` characters.
    fn least(&self, longer: u32, distance: u32) -> i64 {
        i64::from(longer) - i64::from(self.q) + 1 - i64::from(self.changed()) * i64::from(distance)
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
    /// the distance goes up by one, the overlap falls by less than an edit changes grams. After
    /// each such step, the overlap is no lower than after the previous step. So the overlap after
    /// the next step is the lowest one to come.
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
    /// line by less than the grams that an edit changes. If a greatest distance bends that line,
    /// the range has at most that many further lengths, and each of them changes the sum by one.
    pub fn ripple(&self) -> u32 {
        let bent = if self.edit.most == u32::MAX { 0 } else { self.edit.most.saturating_add(1) };
        (2 * self.changed()).saturating_add(bent)
    }
}

#[cfg(test)]
mod tests;
