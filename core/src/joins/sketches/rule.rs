//! Combinations of techniques (Henzinger; docs/design/algorithms.md section 4).
//!
//! A [`Rule`] decides which pairs are similar: by one technique, by all of several rules, by any of
//! several rules, or by one rule for pairs of one site and by another for pairs of two sites. Rules
//! nest. Whether a pair is similar depends on its two documents alone. So the order of a chain
//! decides where candidates come from and which similarity is reported, but never which pairs are
//! similar.

use std::cell::Cell;

use super::technique::{Compare, Technique};
use crate::error::Result;

/// A definition of similar pairs. A technique is given by its index among the techniques of the
/// combination.
///
/// ```
/// use neardup_core::parameters::{Combination, Rule, TechniqueSpec};
/// use neardup_core::{Corpus, FeatureSpec, Sketches};
///
/// // Equal texts, or similar ones.
/// let techniques = vec![
///     TechniqueSpec::ExactText { clean: false, html: false },
///     TechniqueSpec::Simhash {
///         feature: FeatureSpec::WORDS, bits: 64, frequency: true, threshold: 0.95,
///     },
/// ];
/// let rule = Rule::Any(vec![Rule::Technique(0), Rule::Technique(1)]);
/// let combination = Combination { techniques, rule, most: None };
/// let method = Sketches { combination, sites: false, safeguards: Default::default() };
/// let pairs = Corpus::of_texts(&["", "", "red crane", "crane red"]).pairs(&method)?;
/// assert_eq!(pairs.iter().map(|pair| (pair.left, pair.right)).collect::<Vec<_>>(), [(2, 3)]);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// The pairs that one technique accepts.
    Technique(usize),
    /// The pairs that all rules of a chain accept. The similarity is that of the last rule.
    All(Vec<Rule>),
    /// The pairs that any rule accepts. The similarity is that of the first rule that accepts the
    /// pair.
    Any(Vec<Rule>),
    /// One rule for pairs of documents of the same site, and one rule for pairs of documents of
    /// different sites. Where the rule is `None`, no pair is similar.
    BySite {
        /// The position of the site in a signature.
        at: usize,
        /// The rule for pairs of documents of the same site.
        same: Option<Box<Rule>>,
        /// The rule for pairs of documents of different sites.
        different: Option<Box<Rule>>,
    },
}

#[cfg_attr(not(feature = "internals"), doc(hidden))]
impl Rule {
    /// Returns the similarity of two documents if they are similar; see [`Technique::similarity`].
    pub fn similarity(
        &self,
        techniques: &[Technique],
        a: &[u64],
        b: &[u64],
        sets: Option<Compare<'_>>,
    ) -> Option<f64> {
        self.decide(&|n| techniques[n].similarity(a, b, sets), &|at| a[at] == b[at])
    }

    /// Returns the similarity of two documents if they are similar. `says` is what a technique says
    /// of them, and `is_same` whether they are of the same site, given its position.
    fn decide(&self, says: &impl Fn(usize) -> Option<f64>, is_same: &impl Fn(usize) -> bool) -> Option<f64> {
        match self {
            Self::Technique(n) => says(*n),
            Self::All(rules) => {
                let mut last = None;
                for rule in rules {
                    last = Some(rule.decide(says, is_same)?);
                }
                last
            }
            Self::Any(rules) => rules.iter().find_map(|rule| rule.decide(says, is_same)),
            Self::BySite { at, same, different } => {
                let rule = if is_same(*at) { same } else { different };
                rule.as_ref()?.decide(says, is_same)
            }
        }
    }

    /// Does the same as [`Rule::similarity`] for techniques that may fail, and that `says` asks.
    pub fn try_decide(
        &self,
        says: &impl Fn(usize) -> Result<Option<f64>>,
        is_same: &impl Fn(usize) -> bool,
    ) -> Result<Option<f64>> {
        let failed = Cell::new(None);
        let says = |n: usize| {
            says(n).unwrap_or_else(|error| {
                failed.set(Some(error));
                None
            })
        };
        let similarity = self.decide(&says, is_same);
        failed.into_inner().map_or(Ok(similarity), Err)
    }

    /// Returns the rule with other numbers of techniques.
    pub fn renumbered(&self, number: &impl Fn(usize) -> usize) -> Self {
        let each = |rules: &[Self]| rules.iter().map(|rule| rule.renumbered(number)).collect();
        let of = |rule: &Option<Box<Self>>| rule.as_ref().map(|rule| Box::new(rule.renumbered(number)));
        match self {
            Self::Technique(n) => Self::Technique(number(*n)),
            Self::All(rules) => Self::All(each(rules)),
            Self::Any(rules) => Self::Any(each(rules)),
            Self::BySite { at, same, different } => {
                Self::BySite { at: *at, same: of(same), different: of(different) }
            }
        }
    }

    /// Returns the rules that this rule is made of.
    fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Technique(_) => Vec::new(),
            Self::All(rules) | Self::Any(rules) => rules.iter().collect(),
            Self::BySite { same, different, .. } => {
                [same, different].into_iter().flatten().map(Box::as_ref).collect()
            }
        }
    }

    /// Returns what `of` says of the first technique of each chain of which it says something, for
    /// all alternatives. Returns `None` if it says nothing of an alternative.
    pub fn of_each<T: Clone>(&self, of: &dyn Fn(usize) -> Option<T>) -> Option<Vec<T>> {
        let of_parts = match self {
            Self::Technique(n) => return of(*n).map(|own| vec![own]),
            Self::All(rules) => return rules.iter().find_map(|rule| rule.of_each(of)),
            others => others.parts().into_iter().map(|rule| rule.of_each(of)),
        };
        Some(of_parts.collect::<Option<Vec<_>>>()?.concat())
    }

    /// Adds the techniques of the rule, each once, in order of appearance.
    pub fn techniques(&self, all: &mut Vec<usize>) {
        match self {
            Self::Technique(n) if all.contains(n) => {}
            Self::Technique(n) => all.push(*n),
            others => others.parts().into_iter().for_each(|rule| rule.techniques(all)),
        }
    }

    /// Returns the position of the site in a signature if the rule uses it.
    pub fn site_at(&self) -> Option<usize> {
        match self {
            Self::BySite { at, .. } => Some(*at),
            others => others.parts().into_iter().find_map(Self::site_at),
        }
    }

    /// Sets the position of the site in a signature.
    pub fn set_site_at(&mut self, place: usize) {
        match self {
            Self::Technique(_) => {}
            Self::All(rules) | Self::Any(rules) => rules.iter_mut().for_each(|rule| rule.set_site_at(place)),
            Self::BySite { at, same, different } => {
                *at = place;
                [same, different].into_iter().flatten().for_each(|rule| rule.set_site_at(place));
            }
        }
    }

    /// Returns the sources: the techniques that find the candidates, each of them once. The sources
    /// of a chain are those of its first rule that has any. The sources of other rules are those of
    /// all their members. Returns `None` if an alternative has no source.
    pub fn sources(&self, techniques: &[Technique]) -> Option<Vec<usize>> {
        let of = |n: usize| (!matches!(techniques[n], Technique::Sets(_))).then_some(n);
        let mut all = self.of_each(&of)?;
        all.sort_unstable();
        all.dedup();
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::joins::sketches::hamming::Hamming;
    use crate::verify::measure::Measure;
    use crate::verify::predicate::Predicate;

    #[test]
    fn chains_are_found_by_their_first_source() {
        let hamming = Technique::Simhash(Hamming { at: 0, bits: 64, most: 3 });
        let equal = Technique::Equal { at: 0, words: 1 };
        let sets = Technique::Sets(Predicate::new(Measure::Jaccard, 0.8).unwrap());
        let techniques = [sets, hamming, equal];
        let t = Rule::Technique;
        let all = Rule::All(vec![t(0), t(1), t(2)]);
        assert_eq!(all.sources(&techniques), Some(vec![1]));
        let any = Rule::Any(vec![t(2), all, t(1)]);
        assert_eq!(any.sources(&techniques), Some(vec![1, 2]));
        assert_eq!(t(0).sources(&techniques), None);
        let by_site = Rule::BySite { at: 1, same: None, different: Some(Box::new(t(2))) };
        assert_eq!(by_site.sources(&techniques), Some(vec![2]));
        assert_eq!(by_site.similarity(&techniques, &[7, 1], &[7, 1], None), None);
        assert_eq!(by_site.similarity(&techniques, &[7, 1], &[7, 2], None), Some(1.0));
        assert_eq!(any.similarity(&techniques, &[7, 1], &[6, 1], None), Some(63.0 / 64.0));
    }
}
