//! How the method of a call is made in parts: what is carried of a document.

use super::statements::join;
use super::statements::join::{Carried, CountedTokens};
use crate::pg::query::as_user::{Extension, INTERNAL};
use crate::pg::query::decode::ColumnContent;
use crate::pg::read::source::DocumentSource;
use crate::pg::request::form::KeptArguments;
use crate::pg::request::in_parts::MethodCall;
use crate::pg::request::{PassageRequest, Request};
use crate::pg::server::error::{Result, SqlError};
use neardup_core::methods::carried::passages::SharedPassages;
use neardup_core::methods::carrier::{Carrier, Meeting};

/// A join that can be made in parts.
#[derive(Debug)]
pub(super) struct MethodInParts {
    /// The SQL expression for what is carried of a document.
    pub set: String,
    /// The method.
    pub carried: Carried,
    /// Set if documents are numbered in the order of their ids.
    pub are_ordered: bool,
    /// A sentence about pairs that may be found in parts only.
    pub differs: Option<&'static str>,
}

/// What a call asks for.
#[derive(Debug)]
pub(super) enum AskedMethod {
    /// Pairs.
    Pairs(Request),
    /// Passages.
    Passages(PassageRequest),
}

impl AskedMethod {
    /// Returns the documents.
    pub(super) fn source(&self) -> &DocumentSource {
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
pub(super) fn choose(
    asked: &AskedMethod,
    arguments: &KeptArguments,
    Extension { schema, internal, .. }: &Extension,
) -> Result<std::result::Result<MethodInParts, &'static str>> {
    let passages;
    let carrier = match asked {
        AskedMethod::Pairs(request) => request.method.carrier(),
        AskedMethod::Passages(request) => {
            passages = SharedPassages::new(request.parameters.clone());
            passages.as_ref().map(|passages| passages as &dyn Carrier)
        }
    };
    let Some(carrier) = carrier else {
        return Ok(Err(match asked {
            AskedMethod::Passages(request) if request.parameters.within_documents => {
                "a part compares two documents, and within_documents looks into one"
            }
            _ => "the method with these arguments depends on all documents together",
        }));
    };
    let source = asked.source();
    if source.group.is_some() && matches!(carrier.meeting(), Meeting::Terms { .. }) {
        return Ok(Err("the frequent words are those of a group"));
    }
    if source.has_sites() && !carrier.takes_sites() {
        return Ok(Err("the rules of sites depend on all documents together"));
    }
    if source.site_equality.is_some() {
        return Ok(Err("equal sites may be written in different ways"));
    }
    let Some(limits) = source.limits_as_texts() else {
        return Ok(Err("equal groups or sources may be written in different ways"));
    };
    let Some(document) = source.text_or_tokens(schema) else {
        return Ok(Err("sketches are not carried"));
    };
    let finds_passages = matches!(asked, AskedMethod::Passages(_));
    let call = if finds_passages {
        MethodCall::of_passages(arguments)
    } else {
        MethodCall::new(arguments, source.kind != ColumnContent::Text)
    };
    let method = serde_json::to_string(&call).map_err(|error| SqlError::parameter(error.to_string()))?;
    let counted = match carrier.meeting() {
        Meeting::Keys { .. } => CountedTokens::Nothing,
        Meeting::Sets(_) | Meeting::Rarest => CountedTokens::Sample,
        Meeting::Terms { .. } => CountedTokens::All,
    };
    let set = format!(
        "{INTERNAL}.neardup_part_document({document}, {}, {}, {}{internal})",
        source.site,
        limits.join(", "),
        join::method(&method)
    );
    Ok(Ok(MethodInParts {
        set,
        carried: Carried { method, counted, passages: finds_passages },
        are_ordered: carrier.is_ordered(),
        differs: carrier.differs(),
    }))
}

/// Returns the reason why the pairs of a method cannot be brought up to date.
pub(super) fn refused(join: &std::result::Result<MethodInParts, &'static str>) -> Option<&'static str> {
    match join {
        Err(why) => Some(why),
        Ok(join) if join.carried.counted == CountedTokens::All => {
            Some("the method depends on all documents together")
        }
        Ok(join) if join.are_ordered => Some("the method depends on the order of ids"),
        Ok(_) => None,
    }
}
