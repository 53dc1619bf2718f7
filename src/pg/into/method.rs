//! How the method of a call is made in parts: the set of a document, or what is carried of it.

use super::documents::{Bands, Carried, Counted};
use super::statements::fill;
use crate::pg::functions::token_sets::measure;
use crate::pg::query::as_user::{Extension, INTERNAL};
use crate::pg::query::decode::Kind;
use crate::pg::read::source::Source;
use crate::pg::request::form::{Argument, KeptArguments};
use crate::pg::request::in_parts::MethodCall;
use crate::pg::request::{PassageRequest, Request};
use crate::pg::server::error::{Result, SqlError};
use neardup_core::features::{FeatureSpec, Tokenizer};
use neardup_core::methods::carried::passages::SharedPassages;
use neardup_core::methods::carrier::{Carrier, Meeting};
use neardup_core::methods::{Update, method};
use neardup_core::verify::predicate::Predicate;

/// A join that can be made in parts.
#[derive(Debug)]
pub(super) struct MethodInParts {
    /// The SQL expression for the set of a document, or for what is carried of it.
    pub set: String,
    /// The name of the measure, if documents are sets.
    pub measure: &'static str,
    /// The threshold, if documents are sets.
    pub threshold: f64,
    /// The bands of minhash, if the join uses them.
    pub bands: Option<Bands>,
    /// The method, if it defines what is carried of documents.
    pub carried: Option<Carried>,
    /// Set if documents are numbered in the order of their ids.
    pub are_ordered: bool,
    /// A sentence about pairs that may be found in parts only.
    pub differs: Option<&'static str>,
}

/// What a call asks for.
#[derive(Debug)]
pub(super) enum Asked {
    /// Pairs.
    Pairs(Request),
    /// Passages.
    Passages(PassageRequest),
}

impl Asked {
    /// Returns the documents.
    pub(super) fn source(&self) -> &Source {
        match self {
            Self::Pairs(request) => &request.left,
            Self::Passages(request) => &request.left,
        }
    }

    /// Returns the maximum number of pairs or passages.
    pub(super) fn most(&self) -> Option<u64> {
        match self {
            Self::Pairs(request) => request.max_pairs,
            Self::Passages(request) => request.max_passages,
        }
    }

    /// Reports whether documents are compared by minhash.
    pub(super) fn is_minhash(&self) -> bool {
        matches!(self, Self::Pairs(request) if request.method_name == "minhash")
    }
}

/// Returns how a join is made in parts, or the reason why it is not.
pub(super) fn of(
    asked: &Asked,
    arguments: &KeptArguments,
    Extension { schema, internal, .. }: &Extension,
) -> Result<std::result::Result<MethodInParts, &'static str>> {
    let passages;
    let carrier = match asked {
        Asked::Pairs(request) => {
            if let Some(of_sets) = of_sets(request, schema) {
                return Ok(Ok(of_sets));
            }
            request.method.carrier()
        }
        Asked::Passages(request) => {
            passages = SharedPassages::new(request.parameters.clone());
            passages.as_ref().map(|passages| passages as &dyn Carrier)
        }
    };
    let Some(carrier) = carrier else {
        return Ok(Err("the method with these arguments depends on all documents together"));
    };
    let source = asked.source();
    let tokenizer = arguments.text(Argument::Tokenizer);
    if tokenizer.is_some_and(|name| name.starts_with("tsearch:")) {
        return Ok(Err("servers may have other text-search configurations"));
    }
    if source.has_sites() && !carrier.takes_sites() {
        return Ok(Err("the rules of sites depend on all documents together"));
    }
    if source.site_equality.is_some() {
        return Ok(Err("equal sites may be written in different ways"));
    }
    let Some(document) = source.text_or_tokens(schema) else {
        return Ok(Err("sketches are not carried"));
    };
    let finds_passages = matches!(asked, Asked::Passages(_));
    let call = if finds_passages {
        MethodCall::of_passages(arguments)
    } else {
        MethodCall::of(arguments, source.kind != Kind::Text)
    };
    let method = serde_json::to_string(&call).map_err(|error| SqlError::parameter(error.to_string()))?;
    let counted = match carrier.meeting() {
        Meeting::Keys { .. } => Counted::Nothing,
        Meeting::Sets(_) => Counted::Sample,
        Meeting::Terms { .. } => Counted::All,
    };
    let set = format!(
        "{INTERNAL}.neardup_carried({document}, {}, {}{internal})",
        source.site,
        fill::method(&method)
    );
    Ok(Ok(MethodInParts {
        set,
        measure: "jaccard",
        threshold: 1.0,
        bands: None,
        carried: Some(Carried { method, counted, passages: finds_passages }),
        are_ordered: carrier.is_ordered(),
        differs: carrier.differs(),
    }))
}

/// Returns how a join of sets is made in parts, or None for any other join.
fn of_sets(request: &Request, schema: &str) -> Option<MethodInParts> {
    let method = request.method_name;
    let described = |spec: FeatureSpec, measure, threshold, bands| MethodInParts {
        set: tokens(schema, &request.left, &spec),
        measure,
        threshold,
        bands,
        carried: None,
        are_ordered: false,
        differs: None,
    };
    if method == "minhash" {
        let method::Bands { feature: spec, plan, seed, threshold } = request.method.bands()?;
        let bands = Bands { bands: plan.bands, rows: plan.rows, seed };
        // A repeated number, and so also a repeated shingle, has another hash in a set than in a
        // sketch.
        let are_numbers = matches!(request.left.kind, Kind::Numbers)
            || spec.shingle > 1 && (request.left.kind != Kind::Text || spec.tokenizer != Tokenizer::Chars);
        let is_known = !(spec.multiset && are_numbers);
        return is_known.then(|| described(spec, "jaccard", threshold, Some(bands)));
    }
    let name = match method {
        "jaccard" => "jaccard",
        "cosine" => "cosine",
        "dice" => "dice",
        // Within one table, the greater one of the two containments of a pair counts.
        "overlap" | "containment" => "overlap",
        _ => return None,
    };
    let Update::Sets(spec, predicate) = request.method.update() else { return None };
    let threshold = predicate.threshold();
    // A minimum number of shared tokens cannot be used in a join in parts.
    let plain = Predicate::new(measure(name).ok()?, threshold).ok()?;
    (predicate == plain).then(|| described(spec, name, threshold, None))
}

/// Returns the SQL expression for the set of a document, relative to the alias `d`.
fn tokens(schema: &str, source: &Source, spec: &FeatureSpec) -> String {
    let FeatureSpec { tokenizer, shingle, multiset, .. } = spec;
    let document = &source.document;
    let tokenizer = match (source.kind, tokenizer) {
        (Kind::Text, Tokenizer::Chars) => "'chars'::pg_catalog.text, ",
        (Kind::Text, Tokenizer::Whitespace) => "'whitespace'::pg_catalog.text, ",
        (Kind::Text, Tokenizer::Html) => "'html'::pg_catalog.text, ",
        (Kind::Text, _) => "'words'::pg_catalog.text, ",
        _ => "",
    };
    format!("{schema}.tokens({document}, {tokenizer}{shingle}::pg_catalog.int4, {multiset}::pg_catalog.bool)")
}

/// Returns the reason why the pairs of a method cannot be brought up to date.
pub(super) fn refused(join: &std::result::Result<MethodInParts, &'static str>) -> Option<&'static str> {
    match join {
        Err(why) => Some(why),
        Ok(join) if join.carried.as_ref().is_some_and(|carried| carried.counted == Counted::All) => {
            Some("the method depends on all documents together")
        }
        Ok(join) if join.are_ordered => Some("the method depends on the order of ids"),
        Ok(_) => None,
    }
}
