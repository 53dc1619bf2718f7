//! Method `combined`: combinations, given as JSON, of techniques that compare signatures or sets,
//! and of all other methods.

use serde::Deserialize;
use serde_json::Value;

use super::alone::{COMBINED, METHODS, Parse};
use super::techniques::{self, TechniqueArguments, TechniqueOptions};
use crate::pg::request::arguments::Arguments;
use crate::pg::request::example::{Example, literal, such_as};
use crate::pg::request::options::{self, ByName, OfAll, Options, Share, WholeNumber, read_by};
use crate::pg::request::tokenizer::HtmlPages;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::features::{FeatureSpec, Tokenizer};
use neardup_core::joins::sketches::combination::TechniqueSpec;
use neardup_core::joins::sketches::rule::Rule;
use neardup_core::methods::Method;
use neardup_core::methods::combined::Combined;
use neardup_core::methods::combined::techniques::CombinedTechnique;

/// Options of `combined`.
#[derive(Debug, Default, Deserialize)]
struct CombinedOptions {
    techniques: Option<RuleGiven>,
    high_recall: Option<HighRecall>,
    same_site: Option<SiteRule>,
    different_site: Option<SiteRule>,
    max_bucket: Option<WholeNumber<1, 4_294_967_295>>,
}

impl Options for CombinedOptions {}

impl CombinedOptions {
    /// Reports whether a rule names a method that does not compare signatures or sets.
    fn has_other_methods(&self) -> bool {
        let of_sites = [&self.same_site, &self.different_site].into_iter().flatten();
        let of_sites = of_sites.filter_map(|rule| match rule {
            SiteRule::Rule(rule) => Some(rule),
            SiteRule::Share(_) => None,
        });
        self.techniques.iter().chain(of_sites).any(RuleGiven::has_other_methods)
    }
}

/// A rule as given: the name of a technique; an object with the name and the options of a
/// technique; an array of rules, which is a chain; or an object with the key `all` or `any` and an
/// array of rules.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum RuleGiven {
    Name(String),
    Chain(Vec<RuleGiven>),
    All {
        all: Vec<RuleGiven>,
    },
    Any {
        any: Vec<RuleGiven>,
    },
    Technique(CombinedStage),
    /// Anything else, which is invalid.
    Other(Value),
}

impl RuleGiven {
    /// Reports whether the rule names a method that does not compare signatures or sets.
    fn has_other_methods(&self) -> bool {
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
struct CombinedStage {
    method: String,
    #[serde(flatten)]
    options: ByName,
}

/// The rule for pairs on the same site or on different sites: `none`, another threshold for the
/// last technique of the chain, or another rule.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum SiteRule {
    Share(f64),
    Rule(RuleGiven),
}

read_by! {
    /// The setting for pairs that only simhash finds: they are excluded, or they are included if at
    /// least this share of their bits agrees.
    HighRecall(Option<f64>): |value| match value {
        Value::Bool(false) => Ok(None),
        Value::Bool(true) => Ok(Some(PAPER_SHARE)),
        share => Share::try_from(share.clone()).map(|share| Some(share.0)),
    };
}

/// The parameters of Henzinger's method (SIGIR 2006): the number of simhash bits, and the share of
/// agreeing bits with which two documents form a pair even if the chain does not find them.
const PAPER_BITS: u16 = 384;
const PAPER_SHARE: f64 = 0.97;

/// Reads the parameters of `combined`.
pub(crate) fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    let options: CombinedOptions = arguments.options()?;
    let has_other_methods = options.has_other_methods();
    let CombinedOptions { techniques, high_recall, same_site, different_site, max_bucket } = options;
    let sites = arguments.has_sites();
    let mut feature = arguments.feature_spec(1)?;
    if arguments.is_html() && has_other_methods {
        // All methods read the texts of the pages.
        arguments.pages.get_or_insert(HtmlPages { url: None });
        feature.tokenizer = Tokenizer::Words;
    }
    let mut reader =
        RuleReader { arguments, feature, techniques: Vec::new(), others: Vec::new(), uses_sites: false };
    let usual = || RuleGiven::Chain(["shingling", "simhash"].map(|name| RuleGiven::Name(name.into())).into());
    let chain = techniques.unwrap_or_else(usual);
    let threshold = reader.arguments.threshold;
    let rule = reader.rule(&chain, threshold, false)?;
    let rule = match (same_site, different_site) {
        (None, None) if sites && !reader.uses_sites => {
            let example =
                reader.arguments.example.with("options", literal("{\"different_site\": \"shingling\"}"));
            let message =
                "site_column needs the option same_site or different_site, or it makes no difference";
            return Err(SqlError::parameter(message).hint(such_as(&example)));
        }
        (None, None) => rule,
        (same, different) if sites => {
            let mut other = |given: Option<SiteRule>| match given {
                None => Ok(Some(Box::new(rule.clone()))),
                Some(SiteRule::Rule(RuleGiven::Name(none))) if none == "none" => Ok(None),
                // The chain with another threshold for its last technique.
                Some(SiteRule::Share(share)) => {
                    reader.rule(&chain, Some(share), true).map(|rule| Some(Box::new(rule)))
                }
                Some(SiteRule::Rule(given)) => {
                    reader.rule(&given, None, false).map(|rule| Some(Box::new(rule)))
                }
            };
            let (same, different) = (other(same)?, other(different)?);
            Rule::BySite { at: 0, same, different }
        }
        _ => {
            let message =
                "same_site and different_site need site_column, which says what a document's site is";
            let example = such_as(&reader.arguments.without_method.with("method", literal("combined")));
            return Err(SqlError::parameter(message).hint(example));
        }
    };
    let rule = match high_recall.and_then(|share| share.0) {
        None => rule,
        Some(share) => {
            let more = reader.simhash(share)?;
            let with_more = |rule| Rule::Any(vec![rule, more.clone()]);
            match rule {
                // No pair stays no pair.
                Rule::BySite { at, same, different } => {
                    let [same, different] =
                        [same, different].map(|rule| rule.map(|rule| Box::new(with_more(*rule))));
                    Rule::BySite { at, same, different }
                }
                rule => with_more(rule),
            }
        }
    };
    let techniques = reader.techniques;
    // The value fits in 32 bits.
    let most = max_bucket.map(|most| most.0 as u32);
    let by_site = rule.site_at().is_some();
    // Fails if the techniques cannot be combined.
    let method = Combined::of_techniques(techniques, rule, most, by_site)
        .map_err(|error| SqlError::from(error).hint(such_as(&arguments.example)))?;
    arguments.example.threshold = arguments.threshold;
    arguments.accept();
    Ok(method)
}

/// A reader for rules of techniques.
struct RuleReader<'a, 'b> {
    arguments: &'a Arguments<'b>,
    feature: FeatureSpec,
    techniques: Vec<CombinedTechnique>,
    /// The methods among them, as they are given, and their numbers.
    others: Vec<(String, usize)>,
    /// Set if a method makes use of sites by itself.
    uses_sites: bool,
}

impl RuleReader<'_, '_> {
    /// Reads a rule. `threshold` applies to the last technique, unless that technique has its own
    /// threshold. If `firm` is set, `threshold` applies even then.
    fn rule(&mut self, given: &RuleGiven, threshold: Option<f64>, firm: bool) -> Result<Rule> {
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
        if let Some((name, parse)) = other_method(name) {
            return self.other(name, parse, own, threshold, firm);
        }
        let example = &self.arguments.example;
        if !techniques::NAMES.contains(&name) {
            let all: Vec<&str> =
                METHODS.iter().map(|(name, _)| *name).filter(|name| *name != COMBINED).collect();
            return Err(SqlError::parameter(format!("unknown technique \"{name}\"")).hint(format!(
                "Techniques: {}. {}",
                all.join(", "),
                such_as(&with_chain(self.arguments))
            )));
        }
        let known = [techniques::known(name), &["threshold", "shingle", "multiset"]].concat();
        if let Some(key) = own.keys().find(|key| !known.contains(&&***key)) {
            return Err(SqlError::parameter(format!("technique \"{name}\" has no option \"{key}\"")).hint(
                format!("Its options: {}. {}", known.join(", "), such_as(&with_chain(self.arguments))),
            ));
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
        parse: Parse,
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
                .hint(such_as(&with_chain(self.arguments))));
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
        options::read(own, &self.arguments.example)
            .map_err(|error| error.hint(such_as(&with_chain(self.arguments))))
    }

    /// Returns the techniques that compare signatures or sets.
    fn specs(&self) -> impl Iterator<Item = &TechniqueSpec> {
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
    fn simhash(&mut self, share: f64) -> Result<Rule> {
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
            such_as(&with_chain(self.arguments))
        ))
    }
}

fn with_chain(arguments: &Arguments<'_>) -> Example {
    let chain = "{\"techniques\": [\"shingling\", {\"method\": \"simhash\", \"bits\": 384}]}";
    arguments.without_method.with("method", literal("combined")).with("options", literal(chain))
}
