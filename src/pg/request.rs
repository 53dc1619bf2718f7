//! The arguments of `near_duplicates` and its relatives, checked and completed with their defaults.

use std::borrow::Cow;

use pgrx::{PgSqlErrorCode, pg_sys};
use serde_json::Value;

use super::call::Call;
use super::columns::{Column, Relation, type_name};
use super::decode::Kind;
use super::encoding;
use super::error::{Result, SqlError};
use super::example::{Example, literal};
use super::ids;
use super::source::Source;
use crate::candidates::prefix_join::Algorithm;
use crate::features::{FeatureSpec, Tokenizer};
use crate::verify::edit::EditPredicate;
use crate::verify::measure::{Measure, Predicate};

/// Where the arguments of one SQL function stand.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// The function, for messages.
    pub name: &'static str,
    /// One relation or two.
    pub relations: usize,
    /// Whether an `id_type` stands behind the threshold.
    pub typed: bool,
}

/// What is compared of documents, and which pairs are in.
#[derive(Debug, Clone, Copy)]
pub enum Similarity {
    /// Their token sets.
    Sets(Predicate),
    /// Their texts, character by character.
    Edit(EditPredicate),
}

/// What is to be done.
#[derive(Debug)]
pub struct Request {
    /// The function, for messages.
    pub name: &'static str,
    /// The documents of the only table, or of the left one.
    pub left: Source,
    /// Those of the right one.
    pub right: Option<Source>,
    /// The type of the ids.
    pub id_type: pg_sys::Oid,
    /// How documents become sets, or that they do not.
    pub spec: FeatureSpec,
    /// Which pairs are in.
    pub similarity: Similarity,
    /// How candidates are found; the pairs are the same.
    pub algorithm: Algorithm,
    /// The most pairs to give, where the caller said so.
    pub max_pairs: Option<u64>,
    /// This call without its limit, for hints.
    pub example: Example,
}

const METHODS: [&str; 6] = ["jaccard", "cosine", "dice", "overlap", "containment", EDIT];
/// The method that compares characters.
const EDIT: &str = "edit";
const DEFAULT_THRESHOLD: f64 = 0.8;
/// The arguments that name columns: of the only or left table, and of the right one.
const ARGUMENTS: [[&str; 2]; 2] = [["id_column", "text_column"], ["right_id_column", "right_text_column"]];

impl Request {
    /// Reads the arguments of a call. Each that is found good becomes part of the example which the
    /// hint for the next bad one shows.
    pub fn new(call: Call, form: Form) -> Result<Self> {
        let first = form.relations + 1 + usize::from(form.typed);
        let tables = Tables::open(call, form, first)?;
        let columns = tables.columns()?;
        let id_type = tables.id_type.unwrap_or(pg_sys::INT8OID);
        let mut example = tables.example().unwrap_or_else(|| tables.bare_example());

        let method = call.text(first + 3)?.unwrap_or(Cow::Borrowed(METHODS[0]));
        let measure = match &*method {
            EDIT => None,
            _ => Some(measure(&method, form.relations).ok_or_else(|| {
                SqlError::parameter(format!("unknown method \"{method}\"")).hint(format!(
                    "Methods: {}. {}",
                    METHODS.join(", "),
                    such_as(&example.with("method", literal("cosine")))
                ))
            })?),
        };
        let mut plain = example.clone();
        if method != METHODS[0] {
            example = example.with("method", literal(&method));
        }

        // All methods take the same thresholds.
        let threshold = call.get::<f64>(form.relations);
        let edit = EditPredicate::new(threshold.unwrap_or(DEFAULT_THRESHOLD))
            .map_err(|error| SqlError::from(error).hint(such_as(&example)))?;
        example.threshold = Some(threshold.unwrap_or(DEFAULT_THRESHOLD));

        const KNOWN: [&str; 4] = ["max_pairs", "algorithm", "max_depth", "min_overlap"];
        // An absolute number of shared tokens is a measure of its own only for overlap.
        let known = if method == "overlap" { &KNOWN[..] } else { &KNOWN[..3] };
        let mut options = Options::new(call.json(first, "options"), known, &example)?;
        let most_pairs = options.count("max_pairs", &example)?;
        let least = options.count("min_overlap", &example)?;
        if least.is_some() {
            example.threshold = threshold;
        }
        let algorithm = options.algorithm(&example)?;
        options.0.remove("max_pairs");
        if !options.0.is_empty() {
            example = example.with("options", literal(&Value::Object(options.0).to_string()));
        }

        if measure.is_none() {
            plain.threshold = example.threshold;
            check_edit(call, first, &columns, &plain)?;
        }
        let tokenizer = call.text(first + 4)?;
        let (units, tsearch) = parse_tokenizer(tokenizer.as_deref(), &example)?;
        if let Some(tokenizer) = tokenizer {
            if let Some((_, made)) = columns.iter().find(|(_, text)| Kind::of(text.base_type) != Kind::Text) {
                let name = &made.name;
                let message = format!("column \"{name}\" holds tokens already made, so no tokenizer is used");
                return Err(SqlError::parameter(message).hint(such_as(&example)));
            }
            example = example.with("tokenizer", literal(&tokenizer));
        }

        let shingle = call.get::<i32>(first + 5);
        let multiset = call.get::<bool>(first + 6);
        let spec = spec(units, shingle, multiset)
            .map_err(|error| error.hint(such_as(&example.with("shingle", 5))))?;
        if let Some(shingle) = shingle {
            example = example.with("shingle", shingle);
        }
        if let Some(multiset) = multiset {
            example = example.with("multiset", multiset);
        }

        let max_pairs = match call.get::<i64>(first + 7) {
            None => most_pairs,
            Some(most) => Some(
                at_least_one("max_pairs", most)
                    .map_err(|error| error.hint(such_as(&example.with("max_pairs", 1000))))?,
            ),
        };

        let mut sources = Vec::new();
        for ((table, (id, text)), [argument, _]) in tables.tables.iter().zip(columns).zip(ARGUMENTS) {
            sources.push(Source::new(&table.relation, (id, argument), id_type, text, tsearch)?);
        }
        let right = (sources.len() == 2).then(|| sources.remove(1));
        let left = sources.remove(0);
        let (spec, similarity) = match measure {
            Some(measure) => (spec, Similarity::Sets(predicate(measure, threshold, least)?)),
            None => (FeatureSpec::WHOLE, Similarity::Edit(edit)),
        };
        Ok(Self { name: form.name, left, right, id_type, spec, similarity, algorithm, max_pairs, example })
    }
}

/// The pairs that reach a threshold and have so many tokens in common: one of these alone where the other
/// is not given, the default threshold where neither is.
fn predicate(measure: Measure, threshold: Option<f64>, shared: Option<u64>) -> Result<Predicate> {
    let shared = shared.map(|shared| u32::try_from(shared).unwrap_or(u32::MAX));
    Ok(match (threshold, shared) {
        (None, Some(shared)) => Predicate::shared(measure, shared),
        (threshold, shared) => {
            let given = Predicate::new(measure, threshold.unwrap_or(DEFAULT_THRESHOLD))?;
            shared.map_or(given, |shared| given.and_shared(shared))
        }
    })
}

/// Refuses what has no meaning where characters are compared: arguments that say how texts are cut, and
/// columns that hold no texts. `first` is the number of the first argument behind the id type.
fn check_edit(call: Call, first: usize, columns: &[(&Column, &Column)], example: &Example) -> Result<()> {
    let given = [
        ("tokenizer", call.text(first + 4)?.is_some()),
        ("shingle", call.get::<i32>(first + 5).is_some()),
        ("multiset", call.get::<bool>(first + 6).is_some()),
    ];
    if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
        let message = format!("method \"{EDIT}\" compares texts character by character: {name} is not used");
        return Err(SqlError::parameter(message).hint(such_as(&example.with("method", literal(EDIT)))));
    }
    if let Some((_, made)) = columns.iter().find(|(_, text)| Kind::of(text.base_type) != Kind::Text) {
        let name = &made.name;
        let message = format!("column \"{name}\" holds tokens already made, not texts to be compared");
        return Err(SqlError::parameter(message)
            .hint(format!("Name a column of texts, or leave the method out. {}", such_as(example))));
    }
    Ok(())
}

/// The hint that shows a call which works.
fn such_as(example: &Example) -> String {
    format!("For example: SELECT * FROM {example};")
}

/// The relations of a call.
struct Tables {
    function: &'static str,
    tables: Vec<Table>,
    /// The type of the ids, where the caller gave one.
    id_type: Option<pg_sys::Oid>,
}

/// A relation, and the names that the caller gave for its columns, with the arguments they came by.
struct Table {
    relation: Relation,
    id: (&'static str, Option<Cow<'static, str>>),
    text: (&'static str, Option<Cow<'static, str>>),
}

impl Tables {
    /// Looks the relations up. `first` is the number of the first argument behind the id type.
    fn open(call: Call, form: Form, first: usize) -> Result<Self> {
        let names: &[_] = if form.relations == 1 { &["docs"] } else { &["left", "right"] };
        let mut tables = Vec::new();
        for (n, name) in names.iter().enumerate() {
            let relation = call.need::<pg_sys::Oid>(n, name).and_then(Relation::open).map_err(|error| {
                error.hint(such_as(&Example::new(form.name, names.iter().map(|&name| name.to_owned()))))
            })?;
            let (mut id, mut text) =
                (("id_column", call.text(first + 1)?), ("text_column", call.text(first + 2)?));
            // The right table's columns have the left one's names unless said otherwise.
            if n == 1 {
                if let Some(name) = call.text(first + 8)? {
                    id = ("right_id_column", Some(name));
                }
                if let Some(name) = call.text(first + 9)? {
                    text = ("right_text_column", Some(name));
                }
            }
            tables.push(Table { relation, id, text });
        }
        let id_type = form.typed.then(|| call.type_of(form.relations as i32 + 1));
        Ok(Self { function: form.name, tables, id_type })
    }

    /// The columns of ids and documents of each relation.
    fn columns(&self) -> Result<Vec<(&Column, &Column)>> {
        self.tables.iter().map(|table| self.columns_of(table)).collect()
    }

    fn columns_of<'a>(&self, table: &'a Table) -> Result<(&'a Column, &'a Column)> {
        let Table { relation, id, text } = table;
        let with_hint = |error: SqlError| {
            error.hint(match self.example() {
                Some(example) => {
                    let names = relation.column_names();
                    format!("For example: SELECT * FROM {example}; columns: {names}.")
                }
                None => match relation.any_document().and_then(|document| document.quoted().ok()) {
                    Some(document) => format!(
                        "A view can number the rows: SELECT row_number() OVER () AS id, {document} FROM {};",
                        relation.shown
                    ),
                    None => "A view can make a text of other columns.".to_owned(),
                },
            })
        };
        let id = relation.id_column(id.1.as_deref(), id.0).map_err(with_hint)?;
        let wanted = self.id_type.unwrap_or(pg_sys::INT8OID);
        if !self.id_type.map_or(id.is_integer(), |wanted| becomes(id.base_type, wanted)) {
            let message = format!(
                "id column \"{}\" of {} is of type {}, not {}",
                id.name,
                relation.shown,
                id.type_name(),
                type_name(wanted)
            );
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH, message).hint(
                match self.example() {
                    Some(example) if example.id_type.is_some() => {
                        format!("Say which type the ids have: SELECT * FROM {example};")
                    }
                    Some(example) => format!("Integers need no type: SELECT * FROM {example};"),
                    None => "A view can cast the ids to one type, for example to text.".to_owned(),
                },
            ));
        }
        if !ids::has_order(wanted) {
            let message =
                format!("type {} has no default ordering, so it cannot be an id", type_name(wanted));
            return Err(with_hint(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_FUNCTION, message)));
        }
        let text = relation.text_column(text.1.as_deref(), text.0, id).map_err(with_hint)?;
        Ok((id, text))
    }

    /// The call with the columns that the caller named or, where there are none such, with likely
    /// ones; none where there are none.
    fn example(&self) -> Option<Example> {
        let mut example = self.bare_example();
        let mut types = Vec::new();
        let mut named = (None, None);
        for (table, [id_argument, text_argument]) in self.tables.iter().zip(ARGUMENTS) {
            let relation = &table.relation;
            let (id, text) = relation.likely_columns(table.id.1.as_deref(), table.text.1.as_deref())?;
            // Only what would not be found without a name, or by that of the left table.
            if !relation.id_column(named.0, "").is_ok_and(|found| found.name == id.name) {
                example = example.with(id_argument, literal(&id.name));
                named.0 = named.0.or(Some(&*id.name));
            }
            if !relation.text_column(named.1, "", id).is_ok_and(|found| found.name == text.name) {
                example = example.with(text_argument, literal(&text.name));
                named.1 = named.1.or(Some(&*text.name));
            }
            types.push(id);
        }
        if !types.iter().all(|id| id.is_integer()) {
            let all_become = |&wanted: &pg_sys::Oid| types.iter().all(|id| becomes(id.base_type, wanted));
            let candidates = self.id_type.into_iter().chain(types.iter().map(|id| id.base_type));
            example.id_type = Some(type_name(candidates.filter(|&t| ids::has_order(t)).find(all_become)?));
        }
        Some(example)
    }

    /// The call with the relations alone.
    fn bare_example(&self) -> Example {
        Example::new(self.function, self.tables.iter().map(|table| table.relation.shown.clone()))
    }
}

/// Whether values of a type become such of another one without being asked to.
fn becomes(from: pg_sys::Oid, to: pg_sys::Oid) -> bool {
    // SAFETY: one type in each array.
    unsafe {
        pg_sys::can_coerce_type(1, &raw const from, &raw const to, pg_sys::CoercionContext::COERCION_IMPLICIT)
    }
}

fn measure(method: &str, relations: usize) -> Option<Measure> {
    Some(match method {
        "jaccard" => Measure::Jaccard,
        "cosine" => Measure::Cosine,
        "dice" => Measure::Dice,
        "overlap" => Measure::Overlap,
        // Within one table neither document comes first: the greater direction counts.
        "containment" if relations == 1 => Measure::Overlap,
        "containment" => Measure::Containment,
        _ => return None,
    })
}

/// The units that a tokeniser makes, and the text-search configuration if it is one.
fn parse_tokenizer(name: Option<&str>, example: &Example) -> Result<(Tokenizer, Option<pg_sys::Oid>)> {
    Ok(match name {
        None | Some("words") => (Tokenizer::Words, None),
        Some("chars") => (Tokenizer::Chars, None),
        Some("whitespace") => (Tokenizer::Whitespace, None),
        Some("html") => (Tokenizer::Html, None),
        Some(name) => match name.strip_prefix("tsearch:") {
            Some(configuration) => {
                (Tokenizer::Words, Some(text_search_configuration(configuration, example)?))
            }
            None => {
                return Err(SqlError::parameter(format!("unknown tokenizer \"{name}\"")).hint(format!(
                    "Tokenizers: words, chars, whitespace, html, or a text-search configuration such as tsearch:english. {}",
                    such_as(&example.with("tokenizer", literal("words")))
                )));
            }
        },
    })
}

fn text_search_configuration(name: &str, example: &Example) -> Result<pg_sys::Oid> {
    let found = if name.is_empty() {
        pg_sys::InvalidOid
    } else {
        let name = encoding::to_server(name)?;
        // SAFETY: a C string in; the list and the text live in the memory context of the call.
        unsafe {
            let names = pg_sys::textToQualifiedNameList(pg_sys::cstring_to_text(name.as_ptr()));
            pg_sys::get_ts_config_oid(names, true)
        }
    };
    if found == pg_sys::InvalidOid {
        let message = format!("text-search configuration \"{name}\" does not exist");
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT, message).hint(format!(
            "SELECT cfgname FROM pg_ts_config; lists them. {}",
            such_as(&example.with("tokenizer", literal("tsearch:simple")))
        )));
    }
    Ok(found)
}

fn spec(tokenizer: Tokenizer, shingle: Option<i32>, multiset: Option<bool>) -> Result<FeatureSpec> {
    let chars = tokenizer == Tokenizer::Chars;
    // Single characters hardly tell texts apart; three are what trigram searches use.
    let default = if chars { 3 } else { 1 };
    let shingle = FeatureSpec::check_shingle("shingle", i64::from(shingle.unwrap_or(default)))?;
    Ok(FeatureSpec { tokenizer, shingle, multiset: multiset.unwrap_or(chars || shingle == 1), wrap: false })
}

/// The `options` argument.
struct Options(serde_json::Map<String, Value>);

impl Options {
    /// The options, all of which must be known.
    fn new(options: Result<Option<Value>>, known: &[&str], example: &Example) -> Result<Self> {
        let example = || such_as(&with_option(example, "max_pairs"));
        match options.map_err(|error| error.hint(example()))? {
            None | Some(Value::Null) => Ok(Self(serde_json::Map::new())),
            Some(Value::Object(options)) => match options.keys().find(|key| !known.contains(&&***key)) {
                None => Ok(Self(options)),
                Some(key) => Err(SqlError::parameter(format!("unknown option \"{key}\"")).hint(format!(
                    "Options of this method: {}. {}",
                    known.join(", "),
                    example()
                ))),
            },
            Some(other) => {
                Err(SqlError::parameter(format!("options must be a JSON object, not {other}"))
                    .hint(example()))
            }
        }
    }

    /// How candidates are found, and how often the suffix filter splits.
    fn algorithm(&self, example: &Example) -> Result<Algorithm> {
        const DEFAULT_DEPTH: u64 = 2;
        const DEEPEST: u64 = 16;
        let depth = self.count("max_depth", example)?.unwrap_or(DEFAULT_DEPTH).min(DEEPEST) as u32;
        match self.0.get("algorithm").unwrap_or(&Value::Null) {
            Value::Null => Ok(Algorithm::Auto),
            value => match value.as_str() {
                Some("auto") => Ok(Algorithm::Auto),
                Some("allpairs") => Ok(Algorithm::AllPairs),
                Some("ppjoin") => Ok(Algorithm::PpJoin),
                Some("ppjoin+") => Ok(Algorithm::PpJoinPlus(depth)),
                _ => Err(SqlError::parameter(format!("unknown algorithm {value}")).hint(format!(
                    "Algorithms: auto, allpairs, ppjoin, ppjoin+. {}",
                    such_as(&example.with("options", literal("{\"algorithm\": \"ppjoin+\"}")))
                ))),
            },
        }
    }

    /// A whole number from 1 on.
    fn count(&self, key: &'static str, example: &Example) -> Result<Option<u64>> {
        let Some(value) = self.0.get(key).filter(|value| !value.is_null()) else { return Ok(None) };
        // 1000.0 is a whole number too; greater ones than fit mean no limit.
        let whole = value.as_i64().or_else(|| value.as_f64().filter(|n| n.fract() == 0.0).map(|n| n as i64));
        match whole {
            Some(number) => at_least_one(key, number),
            None => Err(not_a_count(key, value)),
        }
        .map(Some)
        .map_err(|error| error.hint(such_as(&with_option(example, key))))
    }
}

fn with_option(example: &Example, key: &str) -> Example {
    example.with("options", literal(&format!("{{\"{key}\": 1000}}")))
}

fn at_least_one(name: &str, number: i64) -> Result<u64> {
    u64::try_from(number).ok().filter(|&n| n > 0).ok_or_else(|| not_a_count(name, number))
}

fn not_a_count(name: &str, value: impl std::fmt::Display) -> SqlError {
    SqlError::parameter(format!("{name} must be a whole number of at least 1, not {value}"))
}
