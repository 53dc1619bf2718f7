//! Any methods, combined by a rule: the pairs that all of several methods find, or any of them, or
//! that one method finds on one site and another one between sites (Henzinger, US 8,015,162,
//! sections 4.2.1 and 4.2.3: the technique for pages of one site may be another, slower one).
//!
//! The pairs are those of the algebra of sets over what each method finds alone. Rows with equal
//! documents are one class, of which every method says the same. The methods that find candidates
//! read a copy of the documents, one after the other, and their pairs of classes are sorted
//! together on the external sort of [`crate::storage::sort`]. A method whose answer depends on the
//! two documents alone only looks at the pairs of the others, by what it carries of a document
//! ([`super::carrier`]), unless it is the one that finds candidates. All pairs are decided before
//! the first one is returned.

mod carried;
mod classes;
mod copy;
mod in_parts;
mod judge;
pub mod techniques;

use super::account::Account;
use super::carrier::{Carrier, Meeting};
use super::explain::Explanation;
use super::method::{Method, Update};
use super::overflow;
use super::pair::TwoTexts;
use super::reading::Reading;
use crate::error::Result;
use crate::executor::{self, Stop};
use crate::joins::Counts;
use crate::joins::pairs::{Pair, Pairs};
use crate::joins::sketches::rule::Rule;
use crate::memory;
use crate::storage::files::Resources;
use crate::storage::sort::Sorter;
use carried::CarriedDocuments;
use classes::DocumentClasses;
use copy::{CopiedDocuments, DocumentCopy};
use judge::{Judge, TechniquePair};

const DOING: &str = "combining the pairs of methods";

/// Combines what methods find.
///
/// A pair of [`Rule::All`] has the similarity of the last method, and a pair of [`Rule::Any`] that
/// of the first method that finds it. Methods are the techniques of the rule, by their places.
///
/// ```
/// use neardup_core::parameters::Rule;
/// use neardup_core::{Combined, Corpus, Edit, Measure, Sets};
///
/// let methods: Vec<Box<dyn neardup_core::Method>> =
///     vec![Box::new(Sets::of_words(Measure::Jaccard, 0.5)?), Box::new(Edit::within(2))];
/// let rule = Rule::All(vec![Rule::Technique(0), Rule::Technique(1)]);
/// let texts = ["the red crane", "the red cranes", "red crane the"];
/// let pairs = Corpus::of_texts(&texts).pairs(&Combined { methods, rule })?;
/// assert_eq!((pairs.len(), pairs[0].left, pairs[0].right), (1, 0, 1));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Combined {
    /// The methods.
    pub methods: Vec<Box<dyn Method>>,
    /// The rule that combines the methods. Positions of sites in it have no meaning.
    pub rule: Rule,
}

impl Combined {
    /// Returns the methods that find candidates: the first of each chain, if possible of those that
    /// cannot look at the pairs of others, or else of those that do not compare characters.
    fn finders(&self, carriers: &[Option<&dyn Carrier>]) -> Vec<usize> {
        let joined = self.rule.of_each(&|n| carriers[n].is_none().then_some(n));
        let quick = |n: usize| (!self.methods[n].compares_texts()).then_some(n);
        let finders = joined.or_else(|| self.rule.of_each(&quick)).or_else(|| self.rule.of_each(&Some));
        let mut finders = finders.unwrap_or_default();
        finders.sort_unstable();
        finders.dedup();
        finders
    }

    /// Returns the descriptions of the methods in parts, of which each has one if any of them is
    /// asked for.
    fn carriers(&self) -> impl Iterator<Item = &dyn Carrier> {
        self.methods.iter().filter_map(|method| method.carrier())
    }

    /// Returns the methods by which documents meet in parts: by keys, or as a single method says.
    /// Returns `None` if the combination is not made in parts.
    fn finders_in_parts(&self) -> Option<Vec<usize>> {
        let carriers: Vec<_> = self.carriers().collect();
        let is_counted = |carrier: &&dyn Carrier| matches!(carrier.meeting(), Meeting::Terms { .. });
        if carriers.len() < self.methods.len() || carriers.iter().any(is_counted) {
            return None;
        }
        // Methods that depend on the order of ids find no pair that does not meet as they say, so
        // that no other method may find it for them. They also depend on sites.
        let mut ordered = (0..carriers.len()).filter(|&n| carriers[n].is_ordered());
        let only = ordered.next();
        if ordered.next().is_some() || only.is_some() && self.rule.site_at().is_some() {
            return None;
        }
        let may_find = |n: usize| only.is_none_or(|only| only == n).then_some(n);
        let has_keys = |n: &usize| matches!(carriers[*n].meeting(), Meeting::Keys { .. });
        let by_keys = self.rule.of_each(&|n| may_find(n).filter(has_keys));
        let mut finders = by_keys.or_else(|| self.rule.of_each(&may_find))?;
        finders.sort_unstable();
        finders.dedup();
        (finders.len() == 1 || finders.iter().all(has_keys)).then_some(finders)
    }
}

impl Method for Combined {
    fn explain(&self, pair: &TwoTexts<'_>, stop: &Stop) -> Result<Explanation> {
        if self.rule.site_at().is_some() {
            return Ok(Explanation::unknown("depends on the sites of the documents"));
        }
        let (mut says, mut last) = (Vec::new(), 0.0);
        for method in &self.methods {
            let Explanation { similarity, evidence } = method.explain(pair, stop)?;
            let Some(is_pair) = evidence.pair else {
                return Ok(Explanation::unknown("depends on other documents of the table"));
            };
            last = similarity.unwrap_or(0.0);
            says.push(is_pair.then_some(last));
        }
        let similarity = self.rule.try_decide(&|n| Ok(says[n]), &|_| false)?;
        Ok(Explanation::new(similarity.unwrap_or(last), similarity.is_some()))
    }

    fn compares_texts(&self) -> bool {
        self.methods.iter().any(|method| method.compares_texts())
    }

    fn update(&self) -> Update {
        let is_whole = self.methods.iter().any(|method| matches!(method.update(), Update::Whole));
        if is_whole { Update::Whole } else { Update::Pairs }
    }

    fn carrier(&self) -> Option<&dyn Carrier> {
        self.finders_in_parts().map(|_| self as &dyn Carrier)
    }

    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs> {
        let mut carriers: Vec<_> = self.methods.iter().map(|method| method.of_two()).collect();
        let finders = self.finders(&carriers);
        finders.iter().for_each(|&n| carriers[n] = None);

        let mut copy = DocumentCopy::read(reading)?;
        let Reading { files, executor, memory, is_small, .. } = *reading;
        let classes = {
            let hashes = std::mem::take(&mut copy.hashes);
            DocumentClasses::new(hashes, reading.rows(), reading.sites(), reading.right_from(), executor)?
        };
        let mut found = Sorter::new(files, memory / 8);
        let mut is_found = memory::filled(false, classes.len(), DOING)?;
        let mut counts = Counts::default();
        let Reading { documents, progress, account, most_pairs, .. } = reading;
        let mut documents = CopiedDocuments::new(&mut **documents, copy);
        let budget = memory - memory / 4;
        let resources = Resources { files, budget, executor };
        for (n, method) in self.methods.iter().enumerate().filter(|&(n, _)| carriers[n].is_none()) {
            let mut own = Reading::new(&mut documents, &mut **progress, resources);
            own.is_small = is_small;
            let alone = |search: &overflow::FindPairs<'_>, own: &mut Reading<'_>| search(own);
            let mut pairs = overflow::in_any_memory(&**method, &mut own, &alone)?;
            classes.represent(&mut pairs)?;
            loop {
                while let Some(Pair { left, right, similarity }) = pairs.take() {
                    executor::breathe(executor, pairs.given(), 1 << 14)?;
                    if let Some(pair) = classes.pair(left, right) {
                        pair.iter().for_each(|&class| is_found[class as usize] = true);
                        found.push(TechniquePair::new(pair, n, similarity), executor)?;
                    }
                }
                own.report(|| format!("joining by method {}, {:.0} %", n + 1, 100.0 * pairs.progress()));
                if !pairs.advance(executor)? {
                    break;
                }
            }
            counts.add(&pairs.counts());
            add(account, own.account);
        }
        let mut own = Reading::new(&mut documents, &mut **progress, resources);
        let carried = CarriedDocuments::read(&mut own, &carriers, &classes, &is_found)?;
        let held = own.account.peak_memory + (found.bytes() + classes.bytes()) as u64;
        account.peak_memory = account.peak_memory.max(held);
        let judge = Judge { rule: &self.rule, finders, carriers: &carriers, classes: &classes };
        let mut report =
            |share: f64| progress.report(&|| format!("comparing what was found, {:.0} %", 100.0 * share));
        judge.pairs(found, carried, *most_pairs, resources, &mut report)?.pairs(classes, counts)
    }
}

/// Adds the account of a method that reads the same documents.
fn add(all: &mut Account, own: Account) {
    all.skipped_empty = all.skipped_empty.max(own.skipped_empty);
    all.tokens += own.tokens;
    all.distinct_tokens += own.distinct_tokens;
    all.distinct_sets = all.distinct_sets.max(own.distinct_sets);
    all.peak_memory = all.peak_memory.max(own.peak_memory);
    if own.unsigned.count > all.unsigned.count {
        all.unsigned = own.unsigned;
    }
    if own.short_texts.parts.is_some() {
        all.short_texts = own.short_texts;
    }
    if own.codes.codes > 0 {
        all.codes = own.codes;
    }
    if own.compared.texts > 0 {
        all.compared = own.compared;
    }
    if own.all_with_all.sketches > 0 {
        all.all_with_all = own.all_with_all;
    }
}
