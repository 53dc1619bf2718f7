//! The signatures of sentences or documents, and their options.

use serde::Deserialize;
use serde_json::Value;

use super::example::{Example, literal, such_as};
use super::options::{self, Bound, ColumnName, LISTED, Options, WholeNumber, read_by, whole};
use crate::pg::server::error::{Result, SqlError};
use neardup_core::error::Result as CoreResult;
use neardup_core::features::imatch::IdfRange;
use neardup_core::features::spotsigs::{Antecedents, SpotSpec};
use neardup_core::features::units::signatures::Features;
use neardup_core::features::{FeatureSpec, Tokenizer};
use neardup_core::passages::Parameters;

/// Returns the rules that turn documents into sets of tokens. The default number of words in a
/// shingle is `words`. Repeated tokens count by default if a shingle is a single word or consists
/// of characters.
pub(crate) fn spec_of(
    tokenizer: Tokenizer,
    shingle: Option<i32>,
    multiset: Option<bool>,
    words: usize,
) -> CoreResult<FeatureSpec> {
    let chars = tokenizer == Tokenizer::Chars;
    // Single characters hardly distinguish texts; trigram searches use three.
    let default = if chars { 3 } else { words as i64 };
    let shingle = FeatureSpec::check_shingle("shingle", shingle.map_or(default, i64::from))?;
    let multiset = multiset.unwrap_or(chars || shingle == 1);
    Ok(FeatureSpec { tokenizer, shingle, multiset, wrap: false })
}

/// Options of SpotSigs.
#[derive(Debug, Default, Deserialize)]
pub(super) struct SpotOptions {
    antecedents: Option<AntecedentWords>,
    chain: Option<WholeNumber<1, 100>>,
    distance: Option<WholeNumber<1, 100>>,
}

impl Options for SpotOptions {}

read_by! {
    /// Antecedents: a number of frequent words, or a list.
    AntecedentWords(Antecedents): |value| match value {
        Value::Array(words) => {
            let words: Option<Vec<String>> =
                words.iter().map(|word| word.as_str().map(str::to_owned)).collect();
            words
                .map(Antecedents::Listed)
                .ok_or("a number of words of at least 1, or a list of single words")
        }
        number => {
            let count = whole(number).and_then(|count| u32::try_from(count).ok()).filter(|&n| n > 0);
            count.map(Antecedents::Counted).ok_or("a whole number from 1 to 4294967295")
        }
    };
}

impl SpotOptions {
    /// Returns the rules for making SpotSigs.
    pub(super) fn spec(self, example: &Example) -> Result<SpotSpec> {
        let default = SpotSpec::default();
        // The value is at most 100.
        let length =
            |given: Option<WholeNumber<1, 100>>, default| given.map_or(default, |length| length.0 as u32);
        let spec = SpotSpec {
            antecedents: self.antecedents.map_or(Antecedents::Common, |words| words.0),
            chain: length(self.chain, default.chain),
            distance: length(self.distance, default.distance),
        };
        let hint = || such_as(&options::with(example, LISTED));
        spec.check().map_err(|error| SqlError::from(error).hint(hint()))?;
        Ok(spec)
    }
}

/// Returns the range of IDF values within which terms count for I-Match.
pub(super) fn idf_range(lo: Option<Bound>, hi: Option<Bound>) -> Result<IdfRange> {
    Ok(IdfRange::new(lo.map_or(0.1, |lo| lo.0), hi.map_or(1.0, |hi| hi.0))?)
}

/// Options of the signatures of sentences, and of passages.
#[derive(Debug, Default, Deserialize)]
pub(super) struct PassageOptions {
    /// The maximum number of sentences that may be similar to one sentence.
    pub max_similar: Option<options::Count>,
    /// The maximum number of differing characters across which a passage can grow at one place.
    pub max_gap: Option<WholeNumber<0, 100>>,
    /// The minimum width of a passage.
    pub min_width: Option<options::Number>,
    /// Whether passages within one document are found.
    pub within_documents: Option<options::Flag>,
    /// The column with the URLs of the pages.
    pub url: Option<ColumnName>,
    lo: Option<Bound>,
    hi: Option<Bound>,
    antecedents: Option<AntecedentWords>,
    chain: Option<WholeNumber<1, 100>>,
    distance: Option<WholeNumber<1, 100>>,
}

impl Options for PassageOptions {
    fn good(key: &str) -> Option<String> {
        Some(match key {
            "max_similar" => "{\"max_similar\": 1000}".to_owned(),
            // It is not known here whether the relation has such a column.
            "url" => return None,
            "min_width" => format!("{{\"min_width\": {}}}", Parameters::MIN_WIDTH),
            "lo" => "{\"lo\":0.1}".to_owned(),
            "hi" => "{\"hi\":1.0}".to_owned(),
            "within_documents" => "{\"within_documents\": true}".to_owned(),
            _ => format!("{{\"{key}\": 1}}"),
        })
    }
}

/// Returns the names of the options for the signatures with the name `name`.
pub(super) fn known(name: &str, example: &Example) -> Result<&'static [&'static str]> {
    match name {
        "shingles" => Ok(&["max_similar", "max_gap", "min_width", "within_documents", "url"]),
        "imatch" => Ok(&["max_similar", "max_gap", "min_width", "within_documents", "url", "lo", "hi"]),
        "spotsigs" => Ok(&[
            "max_similar",
            "max_gap",
            "min_width",
            "within_documents",
            "url",
            "antecedents",
            "chain",
            "distance",
        ]),
        _ => Err(SqlError::parameter(format!("unknown features \"{name}\"")).hint(format!(
            "Features: shingles, imatch, spotsigs. {}",
            such_as(&example.with("features", literal("shingles")))
        ))),
    }
}

impl PassageOptions {
    /// Returns the signatures with the name `name`, made with these options.
    pub(super) fn features(self, name: &str, shingle: Option<i32>, example: &Example) -> Result<Features> {
        const SHINGLE: i64 = 4;
        if name != "shingles" && shingle.is_some() {
            return Err(SqlError::parameter(format!("features \"{name}\" makes no use of shingle"))
                .hint(such_as(&example.with("features", literal("shingles")).with("shingle", SHINGLE))));
        }
        let Self { lo, hi, antecedents, chain, distance, .. } = self;
        Ok(match name {
            "shingles" => Features::Shingles(
                FeatureSpec::check_shingle("shingle", shingle.map_or(SHINGLE, i64::from)).map_err(
                    |error| SqlError::from(error).hint(such_as(&example.with("shingle", SHINGLE))),
                )?,
            ),
            "spotsigs" => Features::Spotsigs(SpotOptions { antecedents, chain, distance }.spec(example)?),
            _ => {
                Features::Imatch(idf_range(lo, hi).map_err(|error| {
                    error.hint(such_as(&options::with(example, "{\"hi\":1.0,\"lo\":0.1}")))
                })?)
            }
        })
    }
}
