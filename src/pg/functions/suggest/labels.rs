//! The labels of a call of `suggest`: a relation with pairs of ids, and whether they are
//! duplicates. The labelled documents are read and joined in the same way as the sample.

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
use neardup_core::memory;
use neardup_core::methods::within;
use neardup_core::suggest::answers::Answers;
use neardup_core::suggest::curve::PairCurve;
use neardup_core::suggest::profile::TextProfile;

use super::survey::method;

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
    pub(super) fn answers(&self, request: &Request, profile: &TextProfile) -> Result<Answers> {
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
        let mut given = self.read(&OrderedIds::new(finished.left, &finished.executor)?)?;
        let mut answers = Answers::default();
        while let Some(pair) = pairs.next(&finished.executor)? {
            check_for_interrupts!();
            let key = [pair.left.min(pair.right), pair.left.max(pair.right)];
            if let Ok(place) = given.binary_search_by_key(&key, |given| given.rows) {
                let given = &mut given[place];
                given.is_found = true;
                answers.add(Some(pair.similarity), given.is_duplicate);
            }
        }
        for below in given.iter().filter(|given| !given.is_found) {
            answers.add(None, below.is_duplicate);
        }
        if answers.counted()[0] == 0 {
            let message = format!(
                "{} has no answer to a pair of documents of {} with a similarity of {} or more",
                relation.shown,
                self.docs,
                PairCurve::FLOOR
            );
            return Err(SqlError::parameter(message).hint(self.hint.clone()));
        }
        Ok(answers)
    }

    /// Reads the answers, in the order of their rows, about the labelled documents.
    fn read(&self, documents: &OrderedIds) -> Result<Vec<Label>> {
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
            if a == b {
                let message = format!("{} pairs the document {} with itself", relation.shown, ids.show(a));
                return Err(SqlError::parameter(message).hint("Delete the row."));
            }
            Ok(memory::push(&mut answers, Label { rows, is_duplicate, is_found: false }, DOING)?)
        })?;
        if open > 0 {
            notice(format!("suggest: {open} pairs of {} have no answer yet", relation.shown));
        }
        if missing > 0 {
            notice(format!(
                "suggest: {missing} pairs of {} name a document that is not in {}",
                relation.shown, self.docs
            ));
        }
        answers.sort_unstable();
        answers.dedup();
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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Label {
    /// The lesser row first.
    rows: [u32; 2],
    is_duplicate: bool,
    /// Set once the join has found the pair.
    is_found: bool,
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
