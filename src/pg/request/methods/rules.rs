//! The rules of `combined`, given as JSON: their techniques with the parameters of each.

use serde::Deserialize;
use serde_json::Value;

use super::alone::{COMBINED, METHODS, Parse};
use super::stored;
use super::techniques::{self, TechniqueArguments, TechniqueOptions};
use crate::pg::request::arguments::Arguments;
use crate::pg::request::example::{Example, literal, such_as};
use crate::pg::request::options::{self, ByName, OfAll};
use crate::pg::server::error::{Result, SqlError};
use neardup_core::features::FeatureSpec;
use neardup_core::joins::sketches::combination::TechniqueSpec;
use neardup_core::joins::sketches::rule::Rule;
use neardup_core::methods::Method;
use neardup_core::methods::combined::techniques::CombinedTechnique;
use neardup_core::sketches::stored::SketchKind;

/// The number of simhash bits of Henzinger's method (SIGIR 2006).
const PAPER_BITS: u16 = 384;

/// A rule as given: the name of a technique; an object with the name and the options of a
/// technique; an array of rules, which is a chain; or an object with the key `all` or `any` and an
/// array of rules.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(super) enum RuleGiven {
    Name(String),
    Chain(Vec<RuleGiven>),
    All {
        all: Vec<RuleGiven>,
    },
    Any {
        any: Vec<RuleGiven>,
    },
    Technique(Stage),
    /// Anything else, which is invalid.
    Other(Value),
}

impl RuleGiven {
    /// Reports whether the rule names a method that does not compare signatures or sets.
    pub(super) fn has_other_methods(&self) -> bool {
        let is_other = |name: &str| other_method(name).is_some();
        match self {
            Self::Name(name) => is_other(name),
            Self::Technique(stage) => is_other(&stage.method),
            Self::Chain(rules) | Self::All { all: rules } | Self::Any { any: rules } => {
                rules.iter().any(Self::has_other_methods)
            }
            Self::Other(_) => false,
        }
    }
}

/// Returns the method of a name that is no technique of signatures or sets.
fn other_method(name: &str) -> Option<(&'static str, Parse)> {
    let found = METHODS.iter().find(|(known, _)| *known == name && !techniques::NAMES.contains(&name));
    found.and_then(|&(known, parse)| Some((known, parse?)))
}

/// A technique with its own options.
#[derive(Debug, Deserialize)]
pub(super) struct Stage {
    method: String,
    #[serde(flatten)]
    options: ByName,
}

/// A reader for rules of techniques.
pub(super) struct RuleReader<'a, 'b> {
    pub(super) arguments: &'a Arguments<'b>,
    feature: FeatureSpec,
    /// The kind of the sketches that are read in place of documents, and their column.
    sketches: Option<(SketchKind, &'a str)>,
    pub(super) techniques: Vec<CombinedTechnique>,
    /// The methods among them, as they are given, and their numbers.
    others: Vec<(String, usize)>,
    /// Set if a method makes use of sites by itself.
    pub(super) uses_sites: bool,
}

impl<'a, 'b> RuleReader<'a, 'b> {
    /// Reads rules whose techniques cut documents as `feature` says, or read stored sketches.
    pub(super) fn new(
        arguments: &'a Arguments<'b>,
        feature: FeatureSpec,
        sketches: Option<(SketchKind, &'a str)>,
    ) -> Self {
        let (techniques, others) = (Vec::new(), Vec::new());
        Self { arguments, feature, sketches, techniques, others, uses_sites: false }
    }

    /// Reads a rule. `threshold` applies to the last technique, unless that technique has its own
    /// threshold. If `firm` is set, `threshold` applies even then.
    pub(super) fn rule(&mut self, given: &RuleGiven, threshold: Option<f64>, firm: bool) -> Result<Rule> {
        match given {
            RuleGiven::Name(name) => self.technique(name, &ByName::new(), threshold, firm),
            RuleGiven::Technique(stage) => self.technique(&stage.method, &stage.options, threshold, firm),
            RuleGiven::Chain(rules) | RuleGiven::All { all: rules } => {
                self.rules(rules, threshold, firm).map(Rule::All)
            }
            RuleGiven::Any { any: rules } => self.rules(rules, threshold, firm).map(Rule::Any),
            RuleGiven::Other(value) => Err(self.not_a_rule(value)),
        }
    }

    fn rules(&mut self, rules: &[RuleGiven], threshold: Option<f64>, firm: bool) -> Result<Vec<Rule>> {
        if rules.is_empty() {
            return Err(self.not_a_rule(&Value::Array(Vec::new())));
        }
        let last = rules.len() - 1;
        let of = |(n, rule)| self.rule(rule, threshold.filter(|_| n == last), firm);
        rules.iter().enumerate().map(of).collect()
    }

    fn technique(&mut self, name: &str, own: &ByName, threshold: Option<f64>, firm: bool) -> Result<Rule> {
        let known = METHODS.iter().find(|(known, _)| *known == name && name != COMBINED);
        if let (Some((kind, column)), Some(&(name, _))) = (self.sketches, known) {
            let parse = |arguments: &mut Arguments<'_>| stored::parse(arguments, kind, column);
            let rule = self.other(name, &parse, own, threshold, firm);
            return rule.map_err(|error| error.hint(such_as(&self.with_chain())));
        }
        if let Some((name, parse)) = other_method(name) {
            return self.other(name, &parse, own, threshold, firm);
        }
        let example = &self.arguments.example;
        if !techniques::NAMES.contains(&name) {
            let all: Vec<&str> =
                METHODS.iter().map(|(name, _)| *name).filter(|name| *name != COMBINED).collect();
            return Err(SqlError::parameter(format!("unknown technique \"{name}\"")).hint(format!(
                "Techniques: {}. {}",
                all.join(", "),
                such_as(&self.with_chain())
            )));
        }
        let known = [techniques::known(name), &["threshold", "shingle", "multiset"]].concat();
        if let Some(key) = own.keys().find(|key| !known.contains(&&***key)) {
            return Err(SqlError::parameter(format!("technique \"{name}\" has no option \"{key}\""))
                .hint(format!("Its options: {}. {}", known.join(", "), such_as(&self.with_chain()))));
        }
        let own: TechniqueOptions = self.of_stage(own)?;
        let own_threshold = own.threshold.map(|threshold| threshold.0);
        let threshold = if firm { threshold.or(own_threshold) } else { own_threshold.or(threshold) };
        // The shingle length of the call applies only to the techniques that make shingles by
        // default.
        let of_call = self.arguments.shingle.filter(|_| matches!(name, "shingling" | "minhash"));
        // All techniques that compare sets cut documents in the same way as the first of them.
        let of_sets = match name {
            "simhash" | "shingling" | "exact_text" => None,
            _ => self.specs().find_map(|technique| match technique {
                TechniqueSpec::Minhash { feature, verify: true, .. }
                | TechniqueSpec::Sets { feature, .. } => Some(*feature),
                _ => None,
            }),
        };
        let given = TechniqueArguments {
            options: &own,
            threshold,
            feature: self.feature,
            shingle: (own.shingle.map(|shingle| shingle.0 as i32).or(of_call))
                .or(of_sets.map(|feature| feature.shingle as i32)),
            multiset: (own.multiset.map(|flag| flag.0).or(self.arguments.multiset))
                .or(of_sets.map(|feature| feature.multiset)),
            relations: self.arguments.relations,
            bits: PAPER_BITS,
            example,
        };
        let spec = given.technique(name)?;
        Ok(self.add(spec))
    }

    /// Reads the parameters of a method that does not compare signatures or sets.
    fn other(
        &mut self,
        name: &'static str,
        parse: &dyn Fn(&mut Arguments<'_>) -> Result<Box<dyn Method>>,
        own: &ByName,
        threshold: Option<f64>,
        firm: bool,
    ) -> Result<Rule> {
        let key = format!("{name} {threshold:?} {firm} {}", Value::Object(own.clone()));
        if let Some((_, known)) = self.others.iter().find(|(known, _)| *known == key) {
            return Ok(Rule::Technique(*known));
        }
        let of_all = options::names::<OfAll>();
        // Sets of perhaps similar documents have weights, and combinations none of these sets.
        if let Some(key) = own.keys().find(|key| **key == "weight" || of_all.contains(&&***key)) {
            return Err(SqlError::parameter(format!("technique \"{name}\" has no option \"{key}\""))
                .hint(such_as(&self.with_chain())));
        }
        let (mut given, mut of_stage) = (own.clone(), ByName::new());
        for key in ["threshold", "shingle", "multiset"] {
            of_stage.extend(given.remove_entry(key));
        }
        let Arguments { without_method, pages, .. } = self.arguments;
        let TechniqueOptions { threshold: own, shingle, multiset, .. } = self.of_stage(&of_stage)?;
        let own = own.map(|threshold| threshold.0);
        if let Some(url) = pages.as_ref().and_then(|pages| pages.url.clone()) {
            given.insert("url".to_owned(), Value::String(url));
        }
        // Methods that compare whole texts make no use of how others cut them into tokens.
        let cuts = matches!(name, "hamming" | "imatch" | "runs");
        let is_used = cuts || self.arguments.is_html() || self.arguments.tsearch.is_some();
        let mut arguments = Arguments {
            relations: self.arguments.relations,
            made: self.arguments.made.clone(),
            has_sites: self.arguments.has_sites,
            without_method: without_method.clone(),
            example: without_method.with("method", literal(name)),
            threshold: if firm { threshold.or(own) } else { own.or(threshold) },
            options: Ok(Some(Value::Object(given))),
            tokenizer: self.arguments.tokenizer.clone().filter(|_| is_used),
            shingle: shingle.map(|shingle| shingle.0 as i32),
            multiset: multiset.map(|flag| flag.0).or(self.arguments.multiset.filter(|_| name == "hamming")),
            pages: pages.clone(),
            ..Arguments::of_defaults(name)
        };
        let method = parse(&mut arguments)?;
        self.uses_sites |= arguments.sites_are_used;
        let number = self.techniques.len();
        self.techniques.push(CombinedTechnique::Method(method));
        self.others.push((key, number));
        Ok(Rule::Technique(number))
    }

    /// Reads the options of a technique.
    fn of_stage(&self, own: &ByName) -> Result<TechniqueOptions> {
        options::read(own, &self.arguments.example).map_err(|error| error.hint(such_as(&self.with_chain())))
    }

    /// Returns the techniques that compare signatures or sets.
    pub(super) fn specs(&self) -> impl Iterator<Item = &TechniqueSpec> {
        self.techniques.iter().filter_map(|technique| match technique {
            CombinedTechnique::Spec(spec) => Some(spec),
            CombinedTechnique::Method(_) => None,
        })
    }

    fn add(&mut self, spec: TechniqueSpec) -> Rule {
        let is_known =
            |known: &CombinedTechnique| matches!(known, CombinedTechnique::Spec(known) if *known == spec);
        let known = self.techniques.iter().position(is_known);
        Rule::Technique(known.unwrap_or_else(|| {
            self.techniques.push(CombinedTechnique::Spec(spec));
            self.techniques.len() - 1
        }))
    }

    /// Returns the simhash rule of the chain with another threshold. If the chain has none, returns
    /// the rule with the number of bits of Henzinger's method.
    pub(super) fn simhash(&mut self, share: f64) -> Result<Rule> {
        let known = self.specs().find_map(|technique| match *technique {
            TechniqueSpec::Simhash { feature, bits, frequency, .. } => {
                Some(TechniqueSpec::Simhash { feature, bits, frequency, threshold: share })
            }
            _ => None,
        });
        match known {
            Some(spec) => Ok(self.add(spec)),
            None => self.technique("simhash", &ByName::new(), Some(share), false),
        }
    }

    fn not_a_rule(&self, value: &Value) -> SqlError {
        SqlError::parameter(format!("{value} is no combination of techniques")).hint(format!(
            "A combination is the name of a technique, an object with method and options, an array of these (all \
             must agree), or {{\"any\": […]}}. {}",
            such_as(&self.with_chain())
        ))
    }

    /// Returns a call with a combination that works.
    pub(super) fn with_chain(&self) -> Example {
        let techniques = match self.sketches {
            Some((kind, _)) => format!("\"{}\"", kind.method()),
            None => "[\"shingling\", {\"method\": \"simhash\", \"bits\": 384}]".to_owned(),
        };
        let example = self.arguments.without_method.with("method", literal(COMBINED));
        example.with("options", literal(&format!("{{\"techniques\": {techniques}}}")))
    }
}
