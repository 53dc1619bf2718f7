//! Where the candidates of a rule come from: techniques in turn, each with the records as the alternative that it stands
//! for would see them alone.
//!
//! Where large buckets are cut, which pairs are compared depends on which records there are, and in what order. A union
//! is to find whatever any of its alternatives finds alone. So for each alternative records that it cannot tell apart are
//! one class, in the order in which they would be its records.

use std::ops::Range;

use super::buckets::windows::Windows;
use super::rule::Rule;
use super::technique::{MinhashBands, Shingling, Technique, Verify};
use crate::error::Result;
use crate::features::signatures::Signatures;
use crate::memory;
use crate::sketches::recipe::Recipe;
use crate::workers::{self, Workers};

const DOING: &str = "telling signatures apart";

/// A technique that finds candidates.
#[derive(Debug)]
pub(super) struct Source {
    /// Its number.
    pub technique: usize,
    /// The numbers of a signature that its alternative compares, where buckets are cut by these.
    view: Option<Vec<Range<usize>>>,
    /// Which pairs it compared, when it is done.
    pub done: Windows,
}

impl Source {
    /// The sources of a rule; none where an alternative has none. `sizes` is where in a signature of `width` numbers the
    /// size of its set stands, if it does, and `cuts` says whether large buckets are cut.
    pub(super) fn all(
        rule: &Rule,
        techniques: &[Technique],
        sizes: Option<usize>,
        width: usize,
        cuts: bool,
    ) -> Option<Vec<Self>> {
        let source = |technique, view| Self { technique, view, done: Windows::default() };
        let Some(alternatives) = alternatives(rule).filter(|_| cuts) else {
            let all = rule.sources(techniques)?;
            return Some(all.into_iter().map(|technique| source(technique, None)).collect());
        };
        let mut all = Vec::new();
        for rule in alternatives {
            let view = view(rule, techniques, sizes, width);
            let own = rule.sources(techniques)?.into_iter();
            all.extend(own.map(|technique| source(technique, Some(view.clone()))));
        }
        Some(all)
    }

    /// The classes of records that its alternative cannot tell apart, numbered in its order.
    pub(super) fn classes(&self, signatures: &Signatures, workers: &dyn Workers) -> Result<Option<Vec<u32>>> {
        let Some(view) = &self.view else { return Ok(None) };
        let records = signatures.len() as u32;
        let mut order = Vec::new();
        memory::reserve(&mut order, records as usize, DOING)?;
        order.extend(0..records);
        // Those of the right table stay behind.
        let side = |record: u32| record >= signatures.split;
        let seen = |record: u32| {
            let signature = signatures.get(record);
            view.iter().flat_map(move |range| &signature[range.clone()])
        };
        workers::one(workers, &mut order, |order, stop| {
            workers::sort_unstable_by(order, stop, &|&a, &b| {
                side(a).cmp(&side(b)).then_with(|| seen(a).cmp(seen(b))).then(a.cmp(&b))
            })
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

/// The alternatives of a union.
fn alternatives(rule: &Rule) -> Option<Vec<&Rule>> {
    let Rule::Any(rules) = rule else { return None };
    Some(rules.iter().flat_map(|rule| alternatives(rule).unwrap_or_else(|| vec![rule])).collect())
}

/// The numbers of a signature that a rule looks at, in the order in which they would stand in a signature of its own.
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
    /// The numbers of a signature that are its own.
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
