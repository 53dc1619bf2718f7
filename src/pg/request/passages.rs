//! The arguments of `partial_duplicates`, `partial_duplicates_between` and `shared_passages`.

use std::borrow::Cow;

use pgrx::pg_sys;
use serde_json::Value;

use super::example::{Example, literal, such_as};
use super::features::{PassageOptions, known};
use super::form::{
    Argument, KeptArguments, NEAR_DUPLICATES, NEAR_DUPLICATES_BETWEEN, Named, PARTIAL_DUPLICATES,
};
use super::join::{of_words, refuse_made};
use super::limits::{RowLimits, alike_groups};
use super::options::{self, at_least_one, given_count};
use super::tables::{Tables, Treatment};
use super::tokenizer::{HTML, HtmlPages};
use crate::pg::read::source::DocumentSource;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::passages::Parameters;
use neardup_core::passages::edited::EditedWords;

/// A search for passages to run.
#[derive(Debug)]
pub(crate) struct PassageRequest {
    /// The name of the function, for messages.
    pub name: &'static str,
    /// The documents of the only table, or of the left table.
    pub left: DocumentSource,
    /// The documents of the right table.
    pub right: Option<DocumentSource>,
    /// The type of the ids.
    pub id_type: pg_sys::Oid,
    /// The parameters that define a passage.
    pub parameters: Parameters,
    /// The maximum number of passages to return, if the caller gave it.
    pub max_passages: Option<u64>,
    /// This call without `max_passages`, for hints.
    pub example: Example,
    /// A call that compares whole documents by words, for texts that are too short for passages.
    pub of_words: Example,
}

/// The default minimum similarity of similar sentences.
pub(super) const THRESHOLD: f64 = 0.9;

impl PassageRequest {
    /// Makes the request for arguments of `partial_duplicates` that do not come from a call. The
    /// ids have the type `id_type`.
    pub(crate) fn of_kept(arguments: &KeptArguments, id_type: pg_sys::Oid) -> Result<Self> {
        Self::new(PARTIAL_DUPLICATES.with(arguments, id_type))
    }

    /// Reads the arguments of a call.
    pub(crate) fn new(given: Named<'_>) -> Result<Self> {
        let tables = Tables::open(given)?;
        let (columns, mut example, form) = (tables.columns()?, tables.example(), given.form);
        let limits = RowLimits::new(given)?;
        example = limits.add_to(example);
        tables.tell_types(&columns);
        let whole = if form.relations().len() == 2 { NEAR_DUPLICATES_BETWEEN } else { NEAR_DUPLICATES };
        let tokenizer = given.text(Argument::Tokenizer)?;
        let of_words =
            of_words(&example, tokenizer.as_deref()).for_function(whole.name, example.id_type.clone());
        refuse_made(&columns, "sentences")?;
        let PassageArguments { parameters, pages } = wanted(given, &mut example)?;
        let max_passages = given_count(given, Argument::MaxPassages, 1000, &example)?;
        let reading = Treatment { pages: pages.as_ref(), ..Treatment::default() };
        let (left, right) = tables.sources(columns, reading, |table, n| limits.columns(table, n))?;
        alike_groups(&left, right.as_ref())?;
        let id_type = tables.id_type();
        Ok(Self { name: form.name, left, right, id_type, parameters, max_passages, example, of_words })
    }
}

/// Checked arguments.
pub(crate) struct PassageArguments {
    /// The parameters that define a passage.
    pub parameters: Parameters,
    /// Set if texts are HTML pages.
    pub pages: Option<HtmlPages>,
}

/// Checks the arguments, and adds the valid ones to the example.
pub(crate) fn wanted(given: Named<'_>, example: &mut Example) -> Result<PassageArguments> {
    let default = Parameters::default();
    let threshold = given.get(Argument::Threshold).unwrap_or(THRESHOLD);
    example.threshold = Some(THRESHOLD);
    neardup_core::verify::measure::check_threshold(threshold)
        .map_err(|error| SqlError::from(error).hint(such_as(example)))?;
    example.threshold = Some(threshold);
    let name = given.text(Argument::Features)?.unwrap_or(Cow::Borrowed("imatch"));
    let edits = edits(given, &name, example)?;
    let known =
        if edits.is_some() { &["max_similar", "within_documents", "url"] } else { known(&name, example)? };
    if name != "imatch" {
        *example = example.with("features", literal(&name));
    }
    let min_sentences = given.get::<i32>(Argument::MinSentences);
    let min_sentences = min_sentences.map_or(i64::from(default.min_sentences), i64::from);
    let min_sentences = at_least_one("min_sentences", min_sentences, default.min_sentences, example)?;
    if min_sentences != u64::from(default.min_sentences) {
        *example = example.with("min_sentences", min_sentences);
    }
    let tokenizer = given.text(Argument::Tokenizer)?;
    let tokenizer = tokenizer.as_deref().filter(|&name| name != "words");
    if let Some(name) = tokenizer.filter(|&name| name != HTML) {
        let message = format!("sentences are made of words: tokenizer must be words or html, not {name}");
        return Err(SqlError::parameter(message).hint(such_as(&example.with("tokenizer", literal(HTML)))));
    }
    if tokenizer.is_some() {
        *example = example.with("tokenizer", literal(HTML));
    }
    let hint = || such_as(&options::with(example, "{\"max_similar\": 1000}"));
    let mut by_name = options::given(given.json(Argument::Options), hint)?;
    options::only_known(&by_name, known, example)?;
    let read: PassageOptions = options::read(&by_name, example)?;
    let most_similar = read.max_similar.map_or(default.most_similar.into(), |most| most.0);
    // The value is at most 100.
    let gap = read.max_gap.map_or(Parameters::GAP, |gap| gap.0 as u32);
    let min_width = read.min_width.map_or(default.min_width, |width| width.0);
    let within_documents = read.within_documents.is_some_and(|flag| flag.0);
    if within_documents {
        allow_one_document(given, example)?;
    }
    let with_html =
        if tokenizer.is_some() { example.clone() } else { example.with("tokenizer", literal(HTML)) };
    let pages = HtmlPages::read(tokenizer, read.url.clone(), &with_html)?;
    let features = read.features(&name, given.get(Argument::Shingle), example)?;
    // It is not known yet whether the relation has such a column.
    by_name.remove("url");
    if !by_name.is_empty() {
        *example = example.with("options", literal(&Value::Object(by_name).to_string()));
    }
    let parameters = Parameters {
        features,
        threshold,
        min_sentences: u32::try_from(min_sentences).unwrap_or(u32::MAX),
        extend: given.get(Argument::Extend).unwrap_or(true).then_some(gap),
        most_similar: u32::try_from(most_similar).unwrap_or(u32::MAX),
        min_width,
        within_documents,
        edits,
    };
    Ok(PassageArguments { parameters, pages })
}

/// Reads how much of a passage may be edited, if passages are not made of sentences.
fn edits(given: Named<'_>, features: &str, example: &mut Example) -> Result<Option<EditedWords>> {
    let default = Parameters::default();
    let length: Option<i32> = given.get(Argument::MinLength);
    let Some(share) = given.get(Argument::Edits) else {
        let hint = || such_as(&example.with("edits", 0.1).with("min_length", EditedWords::LEAST));
        return length.map_or(Ok(None), |_| {
            let message = "min_length counts the words of edited passages, and edits is not given";
            Err(SqlError::parameter(message).hint(hint()))
        });
    };
    let of_sentences = [
        (Argument::Features, features != "imatch"),
        (
            Argument::MinSentences,
            given.get(Argument::MinSentences).is_some_and(|least: i32| least as u32 != default.min_sentences),
        ),
        (Argument::Extend, given.get(Argument::Extend) == Some(false)),
        (Argument::Shingle, given.get::<i32>(Argument::Shingle).is_some()),
    ];
    let good = example.for_function(given.form.name, example.id_type.clone());
    let good = good.with("edits", 0.1).with("min_length", EditedWords::LEAST);
    if let Some((argument, _)) = of_sentences.iter().find(|(_, is_given)| *is_given) {
        let message = format!("edits compares words, and {} is for sentences", argument.name());
        return Err(SqlError::parameter(message).hint(such_as(&good)));
    }
    // A length below 0 is refused with the other values.
    let min_length = length.map_or(EditedWords::LEAST, |length| u32::try_from(length).unwrap_or(0));
    let edits = EditedWords { share, min_length };
    edits.check().map_err(|error| SqlError::from(error).hint(such_as(&good)))?;
    *example = example.with("edits", share).with("min_length", min_length);
    Ok(Some(edits))
}

/// Refuses passages within one document where a call compares two documents, or two sources.
fn allow_one_document(given: Named<'_>, example: &Example) -> Result<()> {
    let why = match (given.form.name, given.text(Argument::Across)?) {
        (name, None) if name == PARTIAL_DUPLICATES.name => return Ok(()),
        (name, None) => format!("{name} compares two of them"),
        (_, Some(_)) => "across compares documents of different sources".to_owned(),
    };
    let hint = format!("partial_duplicates takes it, without across. {}", such_as(example));
    Err(SqlError::parameter(format!("within_documents looks into one document, and {why}")).hint(hint))
}
