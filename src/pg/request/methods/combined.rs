//! Method `combined`: combinations, given as JSON, of techniques that compare signatures or sets,
//! and of all other methods.

use serde::Deserialize;
use serde_json::Value;

use super::alone::COMBINED;
use super::rules::{RuleGiven, RuleReader};
use crate::pg::request::arguments::Arguments;
use crate::pg::request::example::{literal, such_as};
use crate::pg::request::options::{Options, Share, WholeNumber, read_by};
use crate::pg::request::tokenizer::HtmlPages;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::features::{FeatureSpec, Tokenizer};
use neardup_core::joins::sketches::rule::Rule;
use neardup_core::methods::Method;
use neardup_core::methods::combined::Combined;
use neardup_core::sketches::stored::SketchKind;

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

/// The share of agreeing bits with which two documents form a pair in Henzinger's method (SIGIR
/// 2006) even if the chain does not find them.
const PAPER_SHARE: f64 = 0.97;

/// Reads the parameters of `combined`.
pub(crate) fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    parse_of(arguments, None)
}

/// Reads the parameters of `combined`, for texts or for a column of stored sketches of a kind.
pub(super) fn parse_of(
    arguments: &mut Arguments<'_>,
    sketches: Option<(SketchKind, &str)>,
) -> Result<Box<dyn Method>> {
    let options: CombinedOptions = arguments.options()?;
    let has_other_methods = options.has_other_methods();
    let CombinedOptions { techniques, high_recall, same_site, different_site, max_bucket } = options;
    let sites = arguments.has_sites();
    let mut feature = if sketches.is_some() { FeatureSpec::WORDS } else { arguments.feature_spec(1)? };
    if arguments.is_html() && has_other_methods {
        // All methods read the texts of the pages.
        arguments.pages.get_or_insert(HtmlPages { url: None });
        feature.tokenizer = Tokenizer::Words;
    }
    let mut reader = RuleReader::new(arguments, feature, sketches);
    let usual = || match sketches {
        Some((kind, _)) => RuleGiven::Name(kind.method().to_owned()),
        None => RuleGiven::Chain(["shingling", "simhash"].map(|name| RuleGiven::Name(name.into())).into()),
    };
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
            let example = such_as(&reader.arguments.without_method.with("method", literal(COMBINED)));
            return Err(SqlError::parameter(message).hint(example));
        }
    };
    let rule = match high_recall.and_then(|share| share.0) {
        None => rule,
        Some(share) => or(rule, &reader.simhash(share)?),
    };
    if max_bucket.is_some() && reader.specs().next().is_none() {
        let example = such_as(&reader.with_chain());
        return Err(SqlError::parameter("max_bucket limits signatures, of which no technique makes any")
            .hint(example));
    }
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

/// Returns a rule that also has the pairs of `more`. Sites whose pairs are left out stay out.
fn or(rule: Rule, more: &Rule) -> Rule {
    let with_more = |rule| Rule::Any(vec![rule, more.clone()]);
    match rule {
        Rule::BySite { at, same, different } => {
            let [same, different] = [same, different].map(|rule| rule.map(|rule| Box::new(with_more(*rule))));
            Rule::BySite { at, same, different }
        }
        rule => with_more(rule),
    }
}
