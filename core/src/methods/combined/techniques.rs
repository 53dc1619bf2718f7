//! The methods of a rule of techniques. Techniques that compare signatures, and exact measures with
//! them, are one method wherever the rule allows it.

use super::Combined;
use crate::error::Result;
use crate::features::dictionary::weights::Weights;
use crate::joins::Algorithm;
use crate::joins::sketches::buckets::MostNeighbours;
use crate::joins::sketches::combination::{Combination, Safeguards, TechniqueSpec};
use crate::joins::sketches::rule::Rule;
use crate::methods::method::Method;
use crate::methods::sets::Sets;
use crate::methods::sketches::Sketches;

/// A technique of a rule.
///
/// ```
/// use neardup_core::parameters::{CombinedTechnique, Rule, TechniqueSpec};
/// use neardup_core::{Combined, Corpus, Edit};
///
/// let equal = TechniqueSpec::ExactText { clean: true, html: false };
/// let techniques =
///     vec![CombinedTechnique::Spec(equal), CombinedTechnique::Method(Box::new(Edit::within(1)))];
/// let rule = Rule::Any(vec![Rule::Technique(0), Rule::Technique(1)]);
/// let method = Combined::of_techniques(techniques, rule, None, false)?;
/// let pairs = Corpus::of_texts(&["red crane", "re dcrane", "red cranes"]).pairs(&*method)?;
/// assert_eq!(pairs.iter().map(|pair| (pair.left, pair.right)).collect::<Vec<_>>(), [(0, 1), (0, 2)]);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug)]
pub enum CombinedTechnique {
    /// A technique that compares signatures, or an exact measure.
    Spec(TechniqueSpec),
    /// Another method.
    Method(Box<dyn Method>),
}

impl Combined {
    /// Creates the method for a rule of techniques. `most` limits the buckets of signatures, and
    /// `sites` is true if the rule uses sites.
    ///
    /// Fails if techniques that compare sets of one combination cut documents in different ways.
    pub fn of_techniques(
        techniques: Vec<CombinedTechnique>,
        rule: Rule,
        most: MostNeighbours,
        sites: bool,
    ) -> Result<Box<dyn Method>> {
        let specs = techniques.iter().map(|technique| match technique {
            CombinedTechnique::Spec(spec) => Some(*spec),
            CombinedTechnique::Method(_) => None,
        });
        let methods = Vec::new();
        let mut made = MadeMethods { specs: specs.collect(), techniques, most, methods };
        if let Some(sketches) = made.sketches(&rule, sites)? {
            return Ok(Box::new(sketches));
        }
        let rule = made.rule(&rule)?;
        let mut methods = made.methods;
        for (of, method) in &mut methods {
            // No other method takes the place of one that was given.
            if let (Rule::Technique(n), None) = (of, &method)
                && let CombinedTechnique::Method(given) =
                    std::mem::replace(&mut made.techniques[*n], NO_TECHNIQUE)
            {
                *method = Some(given);
            }
        }
        let methods = methods.into_iter().filter_map(|(_, method)| method).collect();
        Ok(Box::new(Self { methods, rule }))
    }
}

const NO_TECHNIQUE: CombinedTechnique =
    CombinedTechnique::Spec(TechniqueSpec::ExactText { clean: false, html: false });

/// The methods that are made for a rule.
struct MadeMethods {
    techniques: Vec<CombinedTechnique>,
    /// The techniques that are no methods.
    specs: Vec<Option<TechniqueSpec>>,
    most: MostNeighbours,
    /// The rule of each method, and the method, unless it is one of the techniques.
    methods: Vec<(Rule, Option<Box<dyn Method>>)>,
}

impl MadeMethods {
    /// Returns the techniques of a rule, if none of them is another method.
    fn specs(&self, rule: &Rule) -> Option<Vec<TechniqueSpec>> {
        let mut all = Vec::new();
        rule.techniques(&mut all);
        all.into_iter().map(|n| self.specs[n]).collect()
    }

    /// Returns a rule as one method that compares signatures, if it can find candidates.
    fn sketches(&self, rule: &Rule, sites: bool) -> Result<Option<Sketches>> {
        let Some(techniques) = self.specs(rule) else { return Ok(None) };
        let is_source = |n: usize| match self.specs[n]? {
            TechniqueSpec::Sets { .. } => None,
            _ => Some(()),
        };
        if rule.of_each(&is_source).is_none() {
            return Ok(None);
        }
        let mut all = Vec::new();
        rule.techniques(&mut all);
        let rule = rule.renumbered(&|n| all.iter().position(|&of| of == n).unwrap_or(n));
        let combination = Combination { techniques, rule, most: self.most };
        combination.compile(sites)?;
        Ok(Some(Sketches { combination, sites, safeguards: Safeguards::default() }))
    }

    /// Returns the rule of methods for a rule of techniques.
    fn rule(&mut self, rule: &Rule) -> Result<Rule> {
        if let Some(sketches) = self.sketches(rule, false)? {
            return Ok(self.method(rule, Some(Box::new(sketches))));
        }
        Ok(match rule {
            Rule::Technique(n) => {
                let exact = match self.specs[*n] {
                    Some(TechniqueSpec::Sets { feature, predicate }) => {
                        let exact = Sets {
                            spec: feature,
                            predicate,
                            algorithm: Algorithm::Auto,
                            weights: Weights::Equal,
                        };
                        Some(Box::new(exact) as Box<dyn Method>)
                    }
                    _ => None,
                };
                self.method(rule, exact)
            }
            Rule::All(rules) => Rule::All(self.chain(rules)?),
            Rule::Any(rules) => Rule::Any(self.each(rules)?),
            Rule::BySite { at, same, different } => {
                let mut of = |rule: &Option<Box<Rule>>| {
                    rule.as_ref().map(|rule| self.rule(rule).map(Box::new)).transpose()
                };
                Rule::BySite { at: *at, same: of(same)?, different: of(different)? }
            }
        })
    }

    fn each(&mut self, rules: &[Rule]) -> Result<Vec<Rule>> {
        rules.iter().map(|rule| self.rule(rule)).collect()
    }

    /// Returns the rules of a chain, of which those of signatures and exact measures are one. It
    /// stays last if it has the last one, whose similarity is that of the chain.
    fn chain(&mut self, rules: &[Rule]) -> Result<Vec<Rule>> {
        let (of_specs, mut others): (Vec<Rule>, Vec<Rule>) =
            rules.iter().cloned().partition(|rule| self.specs(rule).is_some());
        let ends = rules.last().is_some_and(|rule| self.specs(rule).is_some());
        let together = Rule::All(of_specs);
        if self.sketches(&together, false)?.is_none() {
            return self.each(rules);
        }
        others.insert(if ends { others.len() } else { 0 }, together);
        self.each(&others)
    }

    /// Returns the rule of a method, which is added unless there is one of the same rule.
    fn method(&mut self, rule: &Rule, method: Option<Box<dyn Method>>) -> Rule {
        let known = self.methods.iter().position(|(known, _)| known == rule);
        Rule::Technique(known.unwrap_or_else(|| {
            self.methods.push((rule.clone(), method));
            self.methods.len() - 1
        }))
    }
}
