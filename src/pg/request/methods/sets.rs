//! The exact joins of token or shingle sets: `jaccard`, `cosine`, `dice`, `overlap`, `containment`,
//! `hamming`; and `edit`, which finds its candidates in the same ways.

use pgrx::PgSqlErrorCode;
use serde::Deserialize;

use crate::pg::request::arguments::Arguments;
use crate::pg::request::example::{literal, such_as};
use crate::pg::request::options::{Count, Flag, Number, OfAll, Options, Share, WholeNumber, read_by, with};
use crate::pg::request::weights::{self, GivenWeight};
use crate::pg::server::error::{Result, SqlError};
use neardup_core::features::{FeatureSpec, Tokenizer};
use neardup_core::joins::Algorithm;
use neardup_core::methods::Method;
use neardup_core::methods::edit::Edit;
use neardup_core::methods::near_words::NearWords;
use neardup_core::methods::sets::Sets;
use neardup_core::verify::edit::EditPredicate;
use neardup_core::verify::measure::Measure;
use neardup_core::verify::predicate::Predicate;

/// The default threshold of methods that measure how much two documents share.
pub(crate) const DEFAULT_THRESHOLD: f64 = 0.8;

/// Reads the parameters.
pub(crate) fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    let measure = measure(arguments.method, arguments.relations);
    let given = arguments.threshold;
    let threshold = arguments.threshold(DEFAULT_THRESHOLD)?;
    // A number of tokens is the limit of some measures.
    let limits: &[&str] = match arguments.method {
        "overlap" => &["min_overlap", "weight", "word_similarity"],
        "hamming" => &["distance"],
        _ => &["weight", "word_similarity"],
    };
    let options: CandidateOptions = arguments.options_of(&[CandidateOptions::OF_ALL, limits].concat())?;
    let (least, distance) = (options.min_overlap, options.distance);
    if least.is_some() || distance.is_some() {
        arguments.example.threshold = given;
    }
    let algorithm = options.algorithm();
    // It is not known yet whether there is such a table.
    arguments.accept_without(&["weight", "word_similarity"]);
    let spec = arguments.feature_spec(1)?;
    if options.word_similarity.is_some() {
        options.refuse_other_words(spec, arguments)?;
    }
    if let (Some(_), Some(_)) = (least, &options.weight) {
        let message = "min_overlap is a number of words, which do not count alike if they have weights";
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message)
            .hint(such_as(&arguments.example)));
    }
    let weights = weights::weights(options.weight, spec, arguments)?;
    let words = options.word_similarity.map(|least| EditPredicate::new(least.0)).transpose()?;
    // If only one of the two limits is given, only this limit applies.
    let mut predicate = match given {
        None if least.is_some() || distance.is_some() => Predicate::shared(measure, 1),
        _ => Predicate::new(measure, threshold)?,
    };
    if let Some(least) = least {
        predicate = predicate.and_shared(u32::try_from(least.0).unwrap_or(u32::MAX));
    }
    if let Some(distance) = distance {
        predicate = predicate.and_within(distance.0);
    }
    Ok(match words {
        Some(words) => Box::new(NearWords { spec, predicate, words: words.with_swaps(true) }),
        None => Box::new(Sets { spec, predicate, algorithm, weights }),
    })
}

/// The methods whose words may weigh: they measure how similar two sets are.
pub(crate) const WITH_WEIGHTS: [&str; 5] = ["jaccard", "cosine", "dice", "overlap", "containment"];

/// Returns the measure of the method with the name `method`. `relations` is the number of tables.
pub(crate) fn measure(method: &str, relations: usize) -> Measure {
    match method {
        "cosine" => Measure::Cosine,
        // The similarity of two sets is 1 - distance / tokens of both.
        "dice" | "hamming" => Measure::Dice,
        "overlap" => Measure::Overlap,
        // Within one table the documents of a pair have no order, so the greater containment of the
        // two directions counts.
        "containment" if relations == 1 => Measure::Overlap,
        "containment" => Measure::Containment,
        _ => Measure::Jaccard,
    }
}

/// The maximum number of splits of the suffix filter if none is given.
const DEFAULT_DEPTH: u32 = 2;

read_by! {
    /// The algorithm that finds candidates.
    NamedAlgorithm(Algorithm): |value| match value.as_str() {
        Some("auto") => Ok(Algorithm::Auto),
        Some("allpairs") => Ok(Algorithm::AllPairs),
        Some("ppjoin") => Ok(Algorithm::PpJoin),
        Some("ppjoin+") => Ok(Algorithm::PpJoinPlus(DEFAULT_DEPTH)),
        _ => Err("auto, allpairs, ppjoin or ppjoin+"),
    };
}

/// Options of methods that find candidates by shared tokens.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct CandidateOptions {
    /// The name of the algorithm.
    algorithm: Option<NamedAlgorithm>,
    /// The maximum number of splits of the suffix filter.
    max_depth: Option<WholeNumber<1, 16>>,
    /// The minimum number of shared tokens, for `overlap`.
    min_overlap: Option<Count>,
    /// The maximum number of edits, for `edit`, or of tokens that only one of two sets has, for
    /// `hamming`.
    pub distance: Option<Number>,
    /// What words weigh.
    weight: Option<GivenWeight>,
    /// The least edit similarity of two words that count as one.
    word_similarity: Option<Share>,
    /// Whether two neighbouring characters that change places are one edit, for `edit`.
    damerau: Option<Flag>,
    /// Whether the order of words counts, for `edit`.
    word_order: Option<Flag>,
}

impl Options for CandidateOptions {
    fn good(key: &str) -> Option<String> {
        match key {
            "weight" => Some("{\"weight\": \"idf\"}".to_owned()),
            "word_similarity" => Some(WORD_SIMILARITY.to_owned()),
            _ => OfAll::good(key),
        }
    }
}

/// An option that works.
const WORD_SIMILARITY: &str = "{\"word_similarity\": 0.8}";

impl CandidateOptions {
    /// Refuses what does not go with words that are compared letter by letter.
    fn refuse_other_words(&self, spec: FeatureSpec, arguments: &Arguments<'_>) -> Result<()> {
        let Arguments { without_method, method, .. } = arguments;
        let (what, example) = if let Some(column) = &arguments.made {
            (format!("the tokens of column \"{column}\""), arguments.example.clone())
        } else {
            let refused = [
                ("weight", self.weight.is_some()),
                ("algorithm", self.algorithm.is_some()),
                ("max_depth", self.max_depth.is_some()),
                ("shingles", spec.shingle > 1 && spec.tokenizer != Tokenizer::Chars),
                ("characters", spec.tokenizer == Tokenizer::Chars),
                ("a text-search configuration", arguments.tsearch.is_some()),
            ];
            let Some((what, _)) = refused.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
            (what.to_owned(), with(&without_method.with("method", literal(method)), WORD_SIMILARITY))
        };
        let message = format!("word_similarity compares single words of texts, and does not go with {what}");
        Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message).hint(such_as(&example)))
    }

    /// The options that all of these methods have.
    pub(crate) const OF_ALL: &[&str] = &["algorithm", "max_depth"];

    /// Returns the algorithm with the depth of its suffix filter.
    pub(crate) fn algorithm(&self) -> Algorithm {
        match (self.algorithm.as_ref().map_or(Algorithm::Auto, |named| named.0), self.max_depth) {
            // The value is at most 16.
            (Algorithm::PpJoinPlus(_), Some(depth)) => Algorithm::PpJoinPlus(depth.0 as u32),
            (algorithm, _) => algorithm,
        }
    }
}

/// Reads the parameters of `edit`, which compares texts by their Levenshtein distance, or by the
/// restricted Damerau distance.
pub(crate) fn parse_edit(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    let given = arguments.threshold;
    let threshold = arguments.threshold(DEFAULT_THRESHOLD)?;
    let options: CandidateOptions =
        arguments.options_of(&[CandidateOptions::OF_ALL, &["distance", "damerau", "word_order"]].concat())?;
    let distance = options.distance;
    if distance.is_some() {
        arguments.example.threshold = given;
    }
    // If only one of the two limits is given, only this limit applies.
    let predicate = match (given, distance) {
        (None, Some(distance)) => EditPredicate::within(distance.0),
        (_, Some(distance)) => EditPredicate::new(threshold)?.and_within(distance.0),
        (_, None) => EditPredicate::new(threshold)?,
    };
    let predicate = predicate.with_swaps(options.damerau.is_some_and(|damerau| damerau.0));
    let algorithm = options.algorithm();
    arguments.accept();
    arguments.whole_texts("compares texts character by character")?;
    let word_order = options.word_order.is_none_or(|order| order.0);
    Ok(Box::new(Edit { predicate, algorithm, word_order }))
}
