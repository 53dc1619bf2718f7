//! The labels of a call of `suggest`: a relation with pairs of ids, and whether they are
//! duplicates. The labelled documents are read and joined in the same way as the sample.

use std::collections::HashMap;

use pgrx::{PgSqlErrorCode, check_for_interrupts, pg_sys};

use crate::pg::query::Query;
use crate::pg::query::column::UserColumn;
use crate::pg::query::cursor::OpenCursor;
use crate::pg::query::ids::{OrderedIds, becomes};
use crate::pg::query::names::{equality, qualified_type, type_name};
use crate::pg::query::relation::Relation;
use crate::pg::request::Request;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::notices::notice;
use crate::pg::server::values::value;
use neardup_core::clusters::samples::step_of as bin;
use neardup_core::features::dictionary::weights::Weights;
use neardup_core::joins::pairs::Pair;
use neardup_core::memory;
use neardup_core::methods::sets::Sets;
use neardup_core::methods::within;
use neardup_core::suggest::answers::{Answers, Strata};
use neardup_core::suggest::curve::PairCurve;
use neardup_core::suggest::profile::{ComparedBy, TextProfile};
use neardup_core::suggest::weighed::{self, JudgedPair, WeightGain};
use neardup_core::verify::measure::Measure;

use super::survey::{Survey, method};

const DOING: &str = "reading labels";

/// A relation with labels.
pub(super) struct Labels {
    relation: Relation,
    /// The two ids as SQL, relative to the alias `l`.
    ids: [String; 2],
    /// Whether a pair is a duplicate, in the same way.
    answer: String,
    /// The name of the relation of the documents.
    docs: String,
    hint: String,
}

impl Labels {
    /// Looks up the relation and its columns.
    pub(super) fn open(oid: pg_sys::Oid, request: &Request) -> Result<Self> {
        let example = request.example.for_function("suggest_pairs", id_type(request)).at(Some(100.0));
        let hint = format!(
            "Begin with pairs to answer: CREATE TABLE answers AS SELECT left_id, right_id, NULL::boolean AS duplicate FROM {example};"
        );
        let relation = Relation::open(oid).map_err(|error| error.hint(hint.clone()))?;
        let named = |name| relation.named(name, "labels").map_err(|error| error.hint(hint.clone()));
        let id = |name| -> Result<String> {
            let column = named(name)?;
            if !becomes(column.base_type, request.id_type) {
                return Err(of_type(&relation, column, &type_name(request.id_type), &hint));
            }
            Ok(format!("l.{}::{}{}", column.quoted()?, qualified_type(request.id_type), column.collated()))
        };
        let ids = [id("left_id")?, id("right_id")?];
        let column = named("duplicate")?;
        if column.base_type != pg_sys::BOOLOID {
            return Err(of_type(&relation, column, "boolean", &hint));
        }
        let answer = format!("l.{}::pg_catalog.bool", column.quoted()?);
        Ok(Self { ids, answer, docs: request.left.relation.clone(), hint, relation })
    }

    /// Returns the answers with the similarities of their pairs.
    pub(super) fn answers(&self, request: &Request, profile: &TextProfile) -> Result<Vec<Label>> {
        let Self { relation, ids: [a, b], .. } = self;
        let equals = equality(request.id_type)?;
        let condition = format!(
            "{} {equals} ANY (SELECT {a} FROM {table} AS l UNION ALL SELECT {b} FROM {table} AS l)",
            request.left.key,
            table = relation.qualified
        );
        let labelled = request.left.only(&condition, &[], &[relation.oid]);
        let (reading, method) = (request.reading_of(&labelled), method(profile)?);
        let (mut pairs, finished, _) = reading.prepare(|reading| within::pairs(&method, reading))?;
        let mut given = self.read(&OrderedIds::new(finished.left, &finished.executor)?, true)?;
        while let Some(pair) = pairs.next(&finished.executor)? {
            check_for_interrupts!();
            note(&mut given, &pair);
        }
        if !given.iter().any(|label| label.similarity.is_some()) {
            let message = format!(
                "{} has no answer to a pair of documents of {} with a similarity of {} or more",
                relation.shown,
                self.docs,
                PairCurve::FLOOR
            );
            return Err(SqlError::parameter(message).hint(self.hint.clone()));
        }
        Ok(given)
    }

    /// Returns what weights by frequency change, if they tell the answers of short texts in the
    /// sample better. `given` are the answers.
    pub(super) fn weighed(
        &self,
        request: &Request,
        survey: &Survey,
        given: &[Label],
    ) -> Result<Option<WeightGain>> {
        /// More pairs take too long.
        const MOST_PAIRS: u64 = 10_000_000;
        /// The least similarity with weights.
        const FLOOR: f64 = 0.2;
        if survey.profile.parts() == ComparedBy::Runs {
            return Ok(None);
        }
        let plain = method(&survey.profile)?;
        let method = Sets { weights: Weights::Idf, ..Sets::of_words(Measure::Jaccard, FLOOR)? };
        let method = Sets { spec: plain.spec, ..method };
        let reading = request.reading_of(&survey.sampled);
        let (mut pairs, finished, _) = reading.prepare(|reading| within::pairs(&method, reading))?;
        if pairs.certain() > MOST_PAIRS {
            return Ok(None);
        }
        let mut sampled = self.read(&OrderedIds::new(finished.left, &finished.executor)?, false)?;
        let mut strata = Strata::default();
        while let Some(pair) = pairs.next(&finished.executor)? {
            check_for_interrupts!();
            if pairs.given() > MOST_PAIRS {
                return Ok(None);
            }
            strata[bin(pair.similarity)] += 1;
            note(&mut sampled, &pair);
        }
        let mut by_ids = HashMap::new();
        memory::attempt(DOING, || by_ids.try_reserve(sampled.len()))?;
        by_ids.extend(sampled.iter().map(|label| (&label.ids, label.similarity.unwrap_or(0.0))));
        let judged = given.iter().filter_map(|label| {
            let (plain, &weighed) = label.similarity.zip(by_ids.get(&label.ids))?;
            Some(JudgedPair { plain, weighed, is_duplicate: label.is_duplicate })
        });
        let judged = memory::collect(judged, DOING)?;
        Ok(weighed::gain(judged, &counted(given), survey.curve.strata(), &strata)?)
    }

    /// Reads the answers, in the order of their rows, about these documents. Of those about others
    /// is told if `tells` is true.
    fn read(&self, documents: &OrderedIds, tells: bool) -> Result<Vec<Label>> {
        let ids = &documents.ids;
        const ROWS_A_FETCH: usize = 1 << 10;
        let Self { relation, ids: [a, b], answer, .. } = self;
        let sql = format!("SELECT {a}, {b}, {answer} FROM {} AS l", relation.qualified);
        let query = Query { relations: &[relation.oid], ..Query::new(&sql) };
        let types = [ids.type_oid(), ids.type_oid(), pg_sys::BOOLOID];
        let (mut answers, mut open, mut missing) = (Vec::new(), 0u64, 0u64);
        OpenCursor::open(&query, types)?.for_each(ROWS_A_FETCH, |[a, b, answer]| {
            let (Some(a), Some(b)) = (a, b) else {
                let message = format!("an id in {} is NULL", relation.shown);
                let code = PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED;
                return Err(SqlError::new(code, message).hint("Delete the row."));
            };
            // SAFETY: the cursor checked that the column is boolean.
            let Some(is_duplicate) = answer.and_then(|answer| unsafe { value::<bool>(answer) }) else {
                open += 1;
                return Ok(());
            };
            // SAFETY: the cursor checked that the ids have their type.
            let (Some(a), Some(b)) = (unsafe { (documents.find(a), documents.find(b)) }) else {
                missing += 1;
                return Ok(());
            };
            let [a, b] = [a, b].map(|place| documents.row(place as u32));
            let rows = [a.min(b), a.max(b)];
            let mut shown = [a, b].map(|row| ids.show(row));
            shown.sort_unstable();
            if a == b {
                let message = format!("{} pairs the document {} with itself", relation.shown, ids.show(a));
                return Err(SqlError::parameter(message).hint("Delete the row."));
            }
            Ok(memory::push(&mut answers, Label { rows, is_duplicate, ids: shown, similarity: None }, DOING)?)
        })?;
        if tells && open > 0 {
            notice(format!("suggest: {open} pairs of {} have no answer yet", relation.shown));
        }
        if tells && missing > 0 {
            notice(format!(
                "suggest: {missing} pairs of {} name a document that is not in {}",
                relation.shown, self.docs
            ));
        }
        answers.sort_unstable_by_key(|label| (label.rows, label.is_duplicate));
        answers.dedup_by_key(|label| (label.rows, label.is_duplicate));
        if let Some(twice) = answers.windows(2).find(|two| two[0].rows == two[1].rows) {
            let [a, b] = twice[0].rows;
            let (a, b) = if ids.before(a, b) { (a, b) } else { (b, a) };
            let message = format!(
                "{} says of the pair {}, {} both that it is a duplicate and that it is not",
                relation.shown,
                ids.show(a),
                ids.show(b)
            );
            return Err(SqlError::parameter(message)
                .hint("Give one answer for each pair, for example by bool_and(duplicate) in a view."));
        }
        Ok(answers)
    }
}

/// An answer to a pair of rows.
#[derive(Debug)]
pub(super) struct Label {
    /// The lesser row first.
    rows: [u32; 2],
    is_duplicate: bool,
    /// The ids as they are shown, which tell the pair in whatever order rows were read.
    ids: [String; 2],
    /// The similarity, once the join has found the pair.
    similarity: Option<f64>,
}

/// Notes the similarity of a pair, if there is an answer to it.
fn note(given: &mut [Label], pair: &Pair) {
    let key = [pair.left.min(pair.right), pair.left.max(pair.right)];
    if let Ok(place) = given.binary_search_by_key(&key, |given| given.rows) {
        given[place].similarity = Some(pair.similarity);
    }
}

/// Counts the answers by the similarities of their pairs.
pub(super) fn counted(given: &[Label]) -> Answers {
    let mut answers = Answers::default();
    given.iter().for_each(|label| answers.add(label.similarity, label.is_duplicate));
    answers
}

/// Returns the type of the ids for an example, if they need one.
pub(super) fn id_type(request: &Request) -> Option<String> {
    (request.id_type != pg_sys::INT8OID).then(|| type_name(request.id_type))
}

fn of_type(relation: &Relation, column: &UserColumn, wanted: &str, hint: &str) -> SqlError {
    let message = format!(
        "labels: column \"{}\" of {} is of type {}, not {wanted}",
        column.name,
        relation.shown,
        column.type_name()
    );
    SqlError::new(PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH, message).hint(hint.to_owned())
}
