//! The sources of a rule's candidates. An alternative of a rule is the rule with each union, at any
//! depth, replaced by one of its members. A source is a technique of an alternative. The sources
//! run one after the other, and each treats the records as if the rule consisted only of the
//! source's alternative.
//!
//! If large buckets are cut, the compared pairs depend on which records there are and on their
//! order. A rule has to find every pair that one of its alternatives would find alone. So for each
//! alternative, the records that it cannot distinguish form one class, and the classes are in the
//! order that the records would have if the rule were this alternative.

use std::ops::Range;

use super::buckets::windows::Windows;
use super::rule::Rule;
use super::technique::{MinhashBands, Shingling, Technique, Verify};
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::signatures::Signatures;
use crate::memory;
use crate::sketches::sign::Recipe;

const DOING: &str = "telling signatures apart";
/// A rule with more alternatives than this is treated as a whole.
const MOST_ALTERNATIVES: usize = 64;

/// A technique that finds candidates.
#[derive(Debug)]
pub(super) struct TechniqueSource {
    /// The number of the technique.
    pub technique: usize,
    /// The words of a signature that the alternative compares, or `None` if each record is its own
    /// class.
    view: Option<Vec<Range<usize>>>,
    /// The windows of the pairs that the source compared, once it has finished.
    pub done: Windows,
}

impl TechniqueSource {
    /// Returns the sources of a rule, or `None` if an alternative has none. `sizes` is the position
    /// of the set's size in a signature of `width` words, if signatures have one. `cuts` is true if
    /// large buckets are cut.
    pub(super) fn all(
        rule: &Rule,
        techniques: &[Technique],
        sizes: Option<usize>,
        width: usize,
        cuts: bool,
    ) -> Option<Vec<Self>> {
        let source = |technique, view| Self { technique, view, done: Windows::default() };
        let alternatives = if cuts { alternatives(rule).filter(|all| all.len() > 1) } else { None };
        let Some(alternatives) = alternatives else {
            let all = rule.sources(techniques)?;
            return Some(all.into_iter().map(|technique| source(technique, None)).collect());
        };
        let mut all: Vec<Self> = Vec::new();
        for rule in alternatives {
            let view = Some(view(&rule, techniques, sizes, width));
            for technique in rule.sources(techniques)? {
                if !all.iter().any(|known| known.technique == technique && known.view == view) {
                    all.push(source(technique, view.clone()));
                }
            }
        }
        Some(all)
    }

    /// Returns the class of each record, or `None` if each record is its own class. Records that
    /// the alternative cannot distinguish have the same class. Classes are numbered in the
    /// alternative's order.
    pub(super) fn classes(
        &self,
        signatures: &Signatures,
        executor: &dyn Executor,
    ) -> Result<Option<Vec<u32>>> {
        let Some(view) = &self.view else { return Ok(None) };
        let records = signatures.len() as u32;
        let mut order = memory::collect(0..records, DOING)?;
        // The records of the right table stay after those of the left one.
        let side = |record: u32| record >= signatures.split;
        let seen = |record: u32| {
            let signature = signatures.get(record);
            view.iter().flat_map(move |range| &signature[range.clone()])
        };
        executor::sort(executor, &mut order, |&a, &b| {
            side(a).cmp(&side(b)).then_with(|| seen(a).cmp(seen(b))).then(a.cmp(&b))
        })?;
        let mut classes = memory::filled(0u32, records as usize, DOING)?;
        let mut class = 0;
        for (n, &record) in order.iter().enumerate() {
            if let Some(&before) = n.checked_sub(1).and_then(|before| order.get(before)) {
                class += u32::from(side(before) != side(record) || !seen(before).eq(seen(record)));
            }
            classes[record as usize] = class;
        }
        Ok(Some(classes))
    }
}

/// Expands a rule with unions into its alternatives, by replacing each union by each of its
/// members. A rule without unions is its only alternative. Returns `None` if there are more than
/// [`MOST_ALTERNATIVES`].
fn alternatives(rule: &Rule) -> Option<Vec<Rule>> {
    let all = match rule {
        Rule::Technique(_) => vec![rule.clone()],
        Rule::Any(rules) => rules.iter().map(alternatives).collect::<Option<Vec<_>>>()?.concat(),
        Rule::All(rules) => {
            let mut chains = vec![Vec::new()];
            for rule in rules {
                chains = with_each(&chains, &alternatives(rule)?, |chain: &Vec<Rule>, rule| {
                    let mut chain = chain.clone();
                    chain.push(rule.clone());
                    chain
                })?;
            }
            chains.into_iter().map(Rule::All).collect()
        }
        Rule::BySite { at, same, different } => {
            let of = |rule: &Option<Box<Rule>>| match rule {
                None => Some(vec![None]),
                Some(rule) => Some(alternatives(rule)?.into_iter().map(Box::new).map(Some).collect()),
            };
            with_each(&of(same)?, &of(different)?, |same, different| Rule::BySite {
                at: *at,
                same: same.clone(),
                different: different.clone(),
            })?
        }
    };
    Some(all).filter(|all| all.len() <= MOST_ALTERNATIVES)
}

/// Combines each element of `some` with each of `others`, unless there are too many combinations.
fn with_each<A, B, C>(some: &[A], others: &[B], both: impl Fn(&A, &B) -> C) -> Option<Vec<C>> {
    if some.len() * others.len() > MOST_ALTERNATIVES {
        return None;
    }
    Some(some.iter().flat_map(|a| others.iter().map(|b| both(a, b)).collect::<Vec<_>>()).collect())
}

/// Returns the words of a signature that a rule uses, in the order that they would have in a
/// signature for this rule alone.
fn view(rule: &Rule, techniques: &[Technique], sizes: Option<usize>, width: usize) -> Vec<Range<usize>> {
    let mut own = Vec::new();
    rule.techniques(&mut own);
    let mut view: Vec<Range<usize>> = Vec::new();
    if let (Some(at), true) = (sizes, own.iter().any(|&technique| techniques[technique].needs_sets())) {
        view.push(at..at + Recipe::OF_SET);
    }
    for technique in own {
        let range = techniques[technique].range();
        if !range.is_empty() && !view.contains(&range) {
            view.push(range);
        }
    }
    if let Some(at) = rule.site_at() {
        view.push(at..width);
    }
    view
}

impl Technique {
    /// Returns the words of a signature that belong to the technique.
    fn range(&self) -> Range<usize> {
        match *self {
            Self::Simhash(hamming) => hamming.at..hamming.at + hamming.bits.div_ceil(64) as usize,
            Self::Shingling(Shingling { at, groups, .. }) => at..at + groups as usize,
            Self::Minhash(MinhashBands { at, bands, verify: Verify::Sets(_) }) => at..at + bands,
            Self::Minhash(MinhashBands {
                at,
                verify: Verify::Values { at: values, values: count, .. },
                ..
            }) => at..values + count.div_ceil(2) as usize,
            Self::Equal { at, words } => at..at + words,
            Self::Sets(_) => 0..0,
        }
    }
}
