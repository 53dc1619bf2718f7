//! The trustable longest common subsequence of two texts (Huang, Wang, Li, CIKM 2008;
//! docs/design/algorithms.md section 5): the filtered sketches of the texts, bounds that rule out
//! pairs early, the LCS of the sketches, and its part in the trustable region.

#[cfg(test)]
mod oracle;
mod parameters;
mod work;

use super::windows::WindowedText;
use crate::error::Result;
use crate::executor::Stop;
pub use parameters::{Parameters, Thresholds};
pub use work::{Found, SharedPart, Steps};
use work::{Workspace, search_again};

/// Compares texts. A left text is prepared once and can be compared with many right texts.
///
/// ```
/// use neardup_core::Stop;
/// use neardup_core::compare::TlcsComparer;
/// use neardup_core::parameters::TlcsParameters;
///
/// let story = "The bridge over the Ill was closed on Monday after the flood. ".repeat(9);
/// let (a, b) = (format!("Home | News {story}"), format!("{story} Imprint, contact, search"));
/// let mut comparer = TlcsComparer::new(TlcsParameters::default())?;
/// let found = comparer.compare(&a, &b, None, &Stop::default())?.expect("no threshold");
/// assert!(found.resemblance() > 0.9 && found.parts.len() == 1);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Comparer {
    parameters: Parameters,
    left: WindowedText,
    right: WindowedText,
    work: Workspace,
    /// True if the filter is set to the left text.
    is_set: bool,
}

impl Comparer {
    /// Creates a comparer with these parameters.
    ///
    /// Fails if the parameters are out of their ranges.
    ///
    /// ```
    /// use neardup_core::compare::TlcsComparer;
    /// use neardup_core::parameters::TlcsParameters;
    ///
    /// assert!(TlcsComparer::new(TlcsParameters { slope: 1.0, ..Default::default() }).is_err());
    /// ```
    pub fn new(parameters: Parameters) -> Result<Self> {
        parameters.check()?;
        Ok(Self { parameters, ..Self::default() })
    }

    /// Returns the counters so far.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn steps(&self) -> Steps {
        self.work.steps
    }

    /// Compares two texts. If `thresholds` are given and the texts are not near duplicates, returns
    /// `None` with as little work as possible. Takes O(|A| + |B|), plus the time of
    /// [`Lcs`](crate::compare::Lcs) for the sketches. Reacts to `stop` within milliseconds.
    ///
    /// ```
    /// use neardup_core::Stop;
    /// use neardup_core::compare::TlcsComparer;
    /// use neardup_core::parameters::{TlcsParameters, TlcsThresholds};
    ///
    /// let mut comparer = TlcsComparer::new(TlcsParameters::default())?;
    /// let thresholds = Some(&TlcsThresholds { resemblance: 0.5, containment: None });
    /// let found = comparer.compare("red crane", "blue whale", thresholds, &Stop::default())?;
    /// assert!(found.is_none());
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn compare(
        &mut self,
        left: &str,
        right: &str,
        thresholds: Option<&Thresholds>,
        stop: &Stop,
    ) -> Result<Option<Found>> {
        self.set_left(left, stop)?;
        self.compare_right(right, false, thresholds, stop)
    }

    /// Prepares to compare a text with other texts.
    ///
    /// ```
    /// use neardup_core::Stop;
    /// use neardup_core::compare::TlcsComparer;
    /// use neardup_core::parameters::TlcsParameters;
    ///
    /// let (mut comparer, stop) = (TlcsComparer::new(TlcsParameters::default())?, Stop::default());
    /// comparer.set_left("the red crane", &stop)?;
    /// for (right, shared) in [("the red crane", 13), ("12345", 0)] {
    ///     let found = comparer.compare_right(right, false, None, &stop)?;
    ///     assert_eq!(found.map(|found| found.shared), Some(shared));
    /// }
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn set_left(&mut self, left: &str, stop: &Stop) -> Result<()> {
        self.is_set = false;
        self.left.read(left, self.parameters.first, self.parameters.window.max(1), stop)
    }

    /// Compares the text of the last [`Comparer::set_left`] with another one, as
    /// [`Comparer::compare`] does. If both texts have the same length, the left one is A, unless
    /// `right_first` is set.
    ///
    /// ```
    /// use neardup_core::Stop;
    /// use neardup_core::compare::TlcsComparer;
    /// use neardup_core::parameters::TlcsParameters;
    ///
    /// let (mut comparer, stop) = (TlcsComparer::new(TlcsParameters::default())?, Stop::default());
    /// comparer.set_left("a  b", &stop)?;
    /// // A run of white space counts as one space.
    /// let found = comparer.compare_right("a b", false, None, &stop)?.expect("no threshold");
    /// assert_eq!((found.shared, found.left, found.right), (3, 3, 3));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn compare_right(
        &mut self,
        right: &str,
        right_first: bool,
        thresholds: Option<&Thresholds>,
        stop: &Stop,
    ) -> Result<Option<Found>> {
        let Self { parameters, left, right: windows, work, is_set } = self;
        work.right_first = right_first;
        let width = parameters.window.max(1);
        windows.read(right, parameters.first, width, stop)?;
        let right = windows;
        let (x, y) = (left.symbols.len(), right.symbols.len());
        let mut found = Found { shared: 0, left: x, right: y, parts: Vec::new() };
        let least = thresholds.map_or(0, |thresholds| thresholds.least(x, y));
        if least > x.min(y) {
            return Ok(None);
        }
        if left.symbols == right.symbols {
            // A text that is empty or has only white space is not similar to any text.
            if left.symbols.iter().any(|&symbol| symbol != u32::from(b' ')) {
                found.take(x, left.span(0..x), right.span(0..y));
            } else if thresholds.is_some() {
                return Ok(None);
            }
            return Ok(Some(found));
        }
        let filters = parameters.window > 0 && !left.is_empty() && !right.is_empty();
        if filters && !*is_set {
            work.filter.set(left, stop)?;
            *is_set = true;
        }
        let iterated = parameters.trustable && parameters.least_part > 0;
        let part = work.part(parameters, left, right, if iterated { 0 } else { least }, stop)?;
        match part {
            None => {}
            Some(part) if !iterated => found.take(part.length, left.span(part.left), right.span(part.right)),
            Some(part) => {
                *is_set = false;
                search_again(work, parameters, [left, right], part, &mut found, stop)?;
            }
        }
        let passes = thresholds.is_none_or(|thresholds| thresholds.pass(found.shared, x, y));
        Ok(passes.then_some(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `length` characters of prose of made-up words, which differ for each seed.
    fn prose(seed: u64, length: usize) -> String {
        let mut text = String::new();
        for n in 0.. {
            let word = crate::hash::mix(seed << 32 | n);
            (0..3 + word % 6).for_each(|k| {
                let letter = crate::hash::mix(word ^ k) % 26;
                text.push(char::from(b'a' + letter as u8));
            });
            text.push(' ');
            if text.len() >= length {
                break;
            }
        }
        text.truncate(length);
        text
    }

    fn compare(left: &str, right: &str, parameters: Parameters) -> Found {
        Comparer::new(parameters).unwrap().compare(left, right, None, &Stop::default()).unwrap().unwrap()
    }

    /// Returns a body with a template around it: 15 % of the page above it and 15 % below.
    fn page(template: u64, body: u64) -> String {
        format!("{}{}{}", prose(template, 300), prose(body, 1400), prose(template + 50, 300))
    }

    #[test]
    fn the_same_template_around_different_bodies_is_nothing() {
        // 600 of 2000 characters are in common: 0.3 as LCS. The template is at both ends. The
        // region is at the start or at the end, and neither touches 40 to 60 % of the page.
        let (a, b) = (page(1, 10), page(1, 11));
        let lcs = compare(&a, &b, Parameters { trustable: false, ..Parameters::default() });
        assert!(lcs.resemblance() >= 0.28, "{}", lcs.resemblance());
        assert_eq!(compare(&a, &b, Parameters::default()).shared, 0);
        assert_eq!(compare(&a, &b, Parameters { least_part: 1, ..Parameters::default() }).shared, 0);
    }

    #[test]
    fn the_same_body_under_different_templates_is_found() {
        // The body is 300..1700 of both. The region cannot grow to the left beyond it: the other
        // page's template would be inserted in the gap before the body. It can grow to the right,
        // over deletions, as long as they are a tenth of it: 1400 / 0.9 = 1555 characters.
        let (a, b) = (page(1, 10), page(2, 10));
        let found = compare(&a, &b, Parameters::default());
        let [part] = &found.parts[..] else { panic!("one part") };
        assert!((1400..1410).contains(&part.length), "{}", part.length);
        assert!((299..=300).contains(&part.left.start) && (1700..=1856).contains(&part.left.end), "{part:?}");
        assert!(
            (299..=300).contains(&part.right.start) && (1699..=1701).contains(&part.right.end),
            "{part:?}"
        );
        assert!((0.7..0.71).contains(&found.resemblance()));
    }

    #[test]
    fn moved_passages_are_found_by_searching_again() {
        let parts: Vec<String> = (0..4).map(|n| prose(20 + n, 500)).collect();
        let moved: Vec<String> = parts.iter().rev().cloned().collect();
        let (a, b) = (parts.concat(), moved.concat());
        // An alignment has one of the four passages, not necessarily one in the middle.
        let anywhere = Parameters { centre: [0.0, 1.0], ..Parameters::default() };
        let once = compare(&a, &b, anywhere);
        assert!((490..=520).contains(&once.shared), "{}", once.shared);
        let again = compare(&a, &b, Parameters { least_part: 100, ..anywhere });
        assert_eq!(again.parts.len(), 4);
        // Each region includes some characters of its neighbours, as many as the slope allows.
        assert!(again.resemblance() > 0.9, "{}", again.resemblance());
    }

    #[test]
    fn small_and_equal_texts() {
        for (a, b, shared) in [
            ("", "", 0),
            ("a", "", 0),
            ("short", "short", 5),
            (
                "a  b", "a
b", 3,
            ),
            ("x", "y", 0),
            (" ", "\t ", 0),
            ("漢字", "漢字", 2),
        ] {
            assert_eq!(compare(a, b, Parameters::default()).shared, shared, "{a} {b}");
        }
        // These texts are too narrow for a window, and are compared as they are.
        let found =
            compare("three words", "three swords", Parameters { slope: 0.3, ..Parameters::default() });
        assert_eq!(found.shared, 11);
        let cut = Parameters { first: 100, ..Parameters::default() };
        let text = prose(1, 300);
        assert_eq!(compare(&text, &text[..100], cut).shared, 100);
    }

    #[test]
    fn thresholds_lose_no_pair_and_do_not_depend_on_the_order() {
        let stop = Stop::default();
        let mut texts: Vec<String> = (0..4).map(|n| page(n % 2, 10 + n / 2)).collect();
        texts.push(prose(10, 1400));
        texts.push(prose(10, 1400)[200..500].to_owned());
        texts.extend([String::new(), " ".to_owned()]);
        for parameters in [Parameters::default(), Parameters { trustable: false, ..Parameters::default() }] {
            let mut comparer = Comparer::new(parameters).unwrap();
            for a in &texts {
                for b in &texts {
                    let whole = compare(a, b, parameters);
                    for (resemblance, containment) in
                        [(0.28, Some(0.7)), (0.5, None), (1.0, Some(0.1)), (0.9, Some(1.0))]
                    {
                        let thresholds = Thresholds { resemblance, containment };
                        let passes = thresholds.pass(whole.shared, whole.left, whole.right);
                        let found = comparer.compare(a, b, Some(&thresholds), &stop).unwrap();
                        // Two texts without a character pass no threshold.
                        assert_eq!(found, passes.then(|| whole.clone()), "{resemblance} {containment:?}");
                    }
                    if a.len() != b.len() {
                        assert_eq!(compare(b, a, parameters).shared, whole.shared);
                    }
                }
            }
        }
    }
}
