//! The arguments of `near_duplicates` and its relatives, checked and completed with their defaults.

use pgrx::pg_sys;
use pgrx::{JsonB, PgSqlErrorCode};
use serde_json::Value;

use super::call::Call;
use super::columns::{Column, Relation};
use super::error::{Result, SqlError};
use super::source::{Source, wrong_id_type};
use crate::features::{FeatureSpec, Tokenizer};
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
    /// How documents become sets.
    pub spec: FeatureSpec,
    /// Which pairs are in.
    pub predicate: Predicate,
    /// The most pairs to give, where the caller said so.
    pub max_pairs: Option<u64>,
    /// A call of the function with these relations, for hints.
    pub example: String,
}

const METHODS: [&str; 5] = ["jaccard", "cosine", "dice", "overlap", "containment"];
const DEFAULT_THRESHOLD: f64 = 0.8;

impl Request {
    /// Reads the arguments of a call.
    pub fn new(call: Call, form: Form) -> Result<Self> {
        let relations = ["docs", "left", "right"];
        let names = if form.relations == 1 { &relations[..1] } else { &relations[1..] };
        let first = form.relations + 1 + usize::from(form.typed);
        let threshold = call.get::<f64>(form.relations);
        let options = Options::new(call.get::<JsonB>(first))?;
        let id_column = call.text(first + 1)?;
        let text_column = call.text(first + 2)?;
        let method = call.text(first + 3)?;
        let tokenizer = call.text(first + 4)?;
        let shingle = call.get::<i32>(first + 5);
        let multiset = call.get::<bool>(first + 6);
        let max_pairs = call.get::<i64>(first + 7);

        let method = method.as_deref().unwrap_or(METHODS[0]);
        let measure = measure(method, form.relations)?;
        let known: &[&str] = if method == "overlap" { &["max_pairs", "min_overlap"] } else { &["max_pairs"] };
        options.check(method, known)?;
        let predicate = match (options.count("min_overlap")?, threshold) {
            (Some(least), None) => Predicate::shared(measure, u32::try_from(least).unwrap_or(u32::MAX)),
            (least, threshold) => {
                let predicate = Predicate::new(measure, threshold.unwrap_or(DEFAULT_THRESHOLD))?;
                least
                    .map_or(predicate, |least| predicate.and_shared(u32::try_from(least).unwrap_or(u32::MAX)))
            }
        };
        let (units, tsearch) = parse_tokenizer(tokenizer.as_deref())?;
        let spec = spec(units, shingle, multiset)?;
        let max_pairs = match max_pairs {
            Some(most) => Some(at_least_one("max_pairs", most)?),
            None => options.count("max_pairs")?,
        };

        let mut tables = Vec::new();
        for (n, name) in names.iter().enumerate() {
            let relation = Relation::open(call.need::<pg_sys::Oid>(n, name)?)?;
            // The right table's columns have the left one's names unless said otherwise.
            let (mut id_name, mut text_name) = (id_column.clone(), text_column.clone());
            if n == 1 {
                id_name = call.text(first + 8)?.or(id_name);
                text_name = call.text(first + 9)?.or(text_name);
            }
            tables.push((relation, id_name, text_name));
        }
        let asked_type = form.typed.then(|| call.type_of(form.relations as i32 + 1));
        let example = match &tables[..] {
            [(left, ..), (right, ..)] => format!("{}('{}', '{}', 0.8)", form.name, left.shown, right.shown),
            _ => format!("{}('{}', 0.8)", form.name, tables[0].0.shown),
        };
        let id_type = asked_type.unwrap_or(pg_sys::INT8OID);
        let mut sources = Vec::new();
        for (relation, id_name, text_name) in &tables {
            let id = relation.id_column(id_name.as_deref())?;
            check_id_type(relation, id, asked_type, &example)?;
            let text = relation.text_column(text_name.as_deref(), id)?;
            sources.push(Source::new(relation, id, id_type, text, tsearch, tokenizer.is_some())?);
        }
        let right = (sources.len() == 2).then(|| sources.remove(1));
        let left = sources.remove(0);
        Ok(Self { name: form.name, left, right, id_type, spec, predicate, max_pairs, example })
    }
}

fn measure(method: &str, relations: usize) -> Result<Measure> {
    Ok(match method {
        "jaccard" => Measure::Jaccard,
        "cosine" => Measure::Cosine,
        "dice" => Measure::Dice,
        "overlap" => Measure::Overlap,
        // Within one table neither document comes first: the greater direction counts.
        "containment" if relations == 1 => Measure::Overlap,
        "containment" => Measure::Containment,
        _ => {
            return Err(SqlError::parameter(format!("unknown method \"{method}\""))
                .hint(format!("Methods: {}.", METHODS.join(", "))));
        }
    })
}

/// The units that a tokeniser makes, and the text-search configuration if it is one.
fn parse_tokenizer(name: Option<&str>) -> Result<(Tokenizer, Option<&str>)> {
    Ok(match name {
        None | Some("words") => (Tokenizer::Words, None),
        Some("chars") => (Tokenizer::Chars, None),
        Some("whitespace") => (Tokenizer::Whitespace, None),
        Some(name) => match name.strip_prefix("tsearch:") {
            Some(configuration) => (Tokenizer::Words, Some(configuration)),
            None => {
                return Err(SqlError::parameter(format!("unknown tokenizer \"{name}\"")).hint(
                    "Tokenizers: words, chars, whitespace, or a text-search configuration such as tsearch:english.",
                ));
            }
        },
    })
}

fn spec(tokenizer: Tokenizer, shingle: Option<i32>, multiset: Option<bool>) -> Result<FeatureSpec> {
    let chars = tokenizer == Tokenizer::Chars;
    // Single characters hardly tell texts apart; three are what trigram searches use.
    let default = if chars { 3 } else { 1 };
    let shingle = FeatureSpec::check_shingle("shingle", i64::from(shingle.unwrap_or(default)))?;
    Ok(FeatureSpec { tokenizer, shingle, multiset: multiset.unwrap_or(chars || shingle == 1), wrap: false })
}

/// Without `id_type` ids are bigint, which smaller integers become; with it a key of that type, or
/// one that becomes it implicitly.
fn check_id_type(relation: &Relation, id: &Column, asked: Option<pg_sys::Oid>, call: &str) -> Result<()> {
    let fits = match asked {
        None => id.is_integer(),
        Some(wanted) => {
            let (from, to) = ([id.base_type], [wanted]);
            let implicit = pg_sys::CoercionContext::COERCION_IMPLICIT;
            // SAFETY: one type in each array.
            unsafe { pg_sys::can_coerce_type(1, from.as_ptr(), to.as_ptr(), implicit) }
        }
    };
    if fits { Ok(()) } else { Err(wrong_id_type(relation, id, asked.unwrap_or(pg_sys::INT8OID), call)) }
}

/// The `options` argument.
struct Options(serde_json::Map<String, Value>);

impl Options {
    fn new(options: Option<JsonB>) -> Result<Self> {
        match options.map(|options| options.0) {
            None | Some(Value::Null) => Ok(Self(serde_json::Map::new())),
            Some(Value::Object(options)) => Ok(Self(options)),
            Some(other) => Err(SqlError::parameter(format!("options must be a JSON object, not {other}"))
                .hint("For example: options => '{\"max_pairs\": 1000}'")),
        }
    }

    /// Every option must be known to the method.
    fn check(&self, method: &str, known: &[&str]) -> Result<()> {
        match self.0.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => Err(SqlError::parameter(format!("method {method} has no option \"{key}\""))
                .hint(format!("Options: {}.", known.join(", ")))),
        }
    }

    /// A whole number from 1 on.
    fn count(&self, key: &'static str) -> Result<Option<u64>> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_i64() {
                Some(number) => at_least_one(key, number).map(Some),
                None => Err(not_a_count(key, &value.to_string())),
            },
        }
    }
}

fn at_least_one(name: &str, number: i64) -> Result<u64> {
    u64::try_from(number).ok().filter(|&n| n > 0).ok_or_else(|| not_a_count(name, &number.to_string()))
}

fn not_a_count(name: &str, value: &str) -> SqlError {
    SqlError::new(
        PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE,
        format!("{name} must be a whole number of at least 1, not {value}"),
    )
    .hint(format!("For example: {name} => 1000"))
}
