//! Pairs from any query.

use std::borrow::Cow;
use std::ffi::CStr;

use pgrx::{PgSqlErrorCode, pg_sys};

use crate::pg::query::Query;
use crate::pg::query::cursor::OpenCursor;
use crate::pg::query::ids::{self, OrderedIds, RowIds, becomes, is_cast_implicitly};
use crate::pg::query::names::{is_path_bare, literal, qualified_type, type_name};
use crate::pg::query::relation::Relation;
use crate::pg::server::call::{FunctionCall, is_null};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::BackendExecutor;
use crate::pg::server::settings;
use crate::pg::server::temp_file::ServerFiles;
use crate::pg::server::values::value;
use neardup_core::clusters::Clustering;
use neardup_core::clusters::edges::{Edge, Edges};
use neardup_core::clusters::graph::Graph;
use neardup_core::clusters::grouping::Clusters;
use neardup_core::error::Error;
use neardup_core::memory::{self, Written};

const DOING: &str = "reading pairs";
/// Each pair has two ids, which are numbered with 32 bits.
const MOST_PAIRS: usize = (u32::MAX / 2) as usize;
const ROWS_A_FETCH: usize = 1 << 10;
/// The hint for a query whose names are not found because the search path has no schema of a user.
const BARE: &CStr = c"The search path has no schema here, as in a restore or, from PostgreSQL 17 on, where a materialized view is filled: name tables and functions with their schemas in the query, or give a relation of pairs, as in 'docs_pairs'::regclass.";

/// Pairs as a graph.
pub(crate) struct PairGraph<'f> {
    /// The vertices: distinct ids, in their order.
    pub vertices: OrderedIds,
    /// The pairs.
    pub graph: Graph<'f>,
    /// The executor that provides the threads.
    pub executor: BackendExecutor,
}

/// What a call asks of a query of pairs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AskedPairs<'a> {
    /// The name of the called function, for hints.
    pub name: &'static str,
    /// The type of the ids; without one, they are integers.
    pub id_type: Option<pg_sys::Oid>,
    /// Relations to which the query must refer, and which are already locked. It may refer to other
    /// relations.
    pub relations: &'a [pg_sys::Oid],
    /// The hint of errors in the caller's arguments.
    pub hint: &'a str,
}

impl<'f> PairGraph<'f> {
    /// Reads the pairs from the query, or from the relation, in argument 0.
    pub(crate) fn read(call: FunctionCall, asked: AskedPairs<'_>, files: &'f ServerFiles) -> Result<Self> {
        let AskedPairs { relations, hint, .. } = asked;
        let (given, shown) = match call.type_of(0) {
            pg_sys::REGCLASSOID => call.get(0).map(Relation::open).transpose()?.map(|relation| {
                let query = Cow::Owned(format!("SELECT * FROM {}", relation.qualified));
                (query, format!("{}::regclass", literal(&relation.shown)))
            }),
            _ => call.text(0)?.map(|query| {
                let shown = shown(&query);
                (query, shown)
            }),
        }
        .ok_or_else(|| is_null("pairs").hint(hint.to_owned()))?;
        let id_type = asked.id_type.unwrap_or(pg_sys::INT8OID);
        if !ids::has_order(id_type) {
            return Err(no_order(id_type));
        }
        let id_name = qualified_type(id_type);
        // The query is checked on its own, so it is also a complete query inside another query. The
        // line break after it ends a comment at its end.
        let (query, types) = Query::new(&given)
            .only_select()
            .map_err(|error| if is_path_bare() { error.hint_for_names(BARE) } else { error })
            .map_err(|error| error.hint(hint.to_owned()))?;
        check_types(&types, id_type, &shown, asked)?;
        let mut sql = Written::new("reading pairs");
        sql.push(format_args!(
            "SELECT p.left_id::{id_name}, p.right_id::{id_name}, p.similarity::pg_catalog.float8 \
             FROM ({query}\n) AS p(left_id, right_id, similarity)"
        ));
        let sql = sql.finish()?;
        let executor = BackendExecutor::new();
        let mut ids = RowIds::new(id_type);
        let mut similarities = Vec::new();
        let query = Query { relations, ..Query::new(&sql) };
        let cursor = OpenCursor::open(&query, [id_type, id_type, pg_sys::FLOAT8OID])?;
        cursor.for_each(ROWS_A_FETCH, |[left, right, similarity]| {
            let (Some(left), Some(right)) = (left, right) else {
                let message = "an id of a pair is NULL";
                let code = PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED;
                return Err(SqlError::new(code, message).hint(hint.to_owned()));
            };
            // SAFETY: the cursor checked that its columns are of these types.
            let similarity = similarity.and_then(|datum| unsafe { value::<f64>(datum) });
            let similarity = similarity.filter(|s| (0.0..=1.0).contains(s)).ok_or_else(|| {
                let value = similarity.map_or("NULL".to_owned(), |s| s.to_string());
                SqlError::parameter(format!("similarity must be between 0 and 1, not {value}"))
                    .hint(hint.to_owned())
            })?;
            if similarities.len() >= MOST_PAIRS {
                return Err(Error::TooMany { what: "pairs", limit: MOST_PAIRS as u64 }.into());
            }
            memory::push(&mut similarities, similarity, DOING)?;
            // SAFETY: as above.
            unsafe { ids.push(left).and_then(|()| ids.push(right)) }
        })?;
        let (vertices, numbers) = ids.numbered(&executor)?;
        let mut edges = Edges::new(files, settings::memory() / 4);
        for (pair, &similarity) in numbers.chunks_exact(2).zip(&similarities) {
            edges.push(Edge::new(pair[0], pair[1], similarity))?;
        }
        let graph = Graph::new(edges.distinct(&executor)?, vertices.len());
        Ok(Self { vertices, graph, executor })
    }

    /// Returns the clusters of the pairs.
    pub(crate) fn clusters(&mut self, clustering: Clustering, largest: Option<u32>) -> Result<Clusters> {
        Ok(Clusters::new(&mut self.graph, clustering, largest, &self.executor)?)
    }

    /// Returns the pairs that reach a threshold.
    pub(crate) fn at(&mut self, threshold: f64, files: &'f ServerFiles) -> Result<Graph<'f>> {
        let mut edges = Edges::new(files, settings::memory() / 4);
        let copy = |edge: Edge| if edge.similarity >= threshold { edges.push(edge) } else { Ok(()) };
        self.graph.edges.for_each(&self.executor, copy)?;
        Ok(Graph::new(edges, self.vertices.len()))
    }
}

/// Returns the error for ids of a type whose values have no order.
pub(crate) fn no_order(id_type: pg_sys::Oid) -> SqlError {
    let message = format!("type {} has no default ordering, so it cannot be an id", type_name(id_type));
    SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_FUNCTION, message)
        .hint("A cast to text gives every id an order: id::text, and NULL::text for the type.")
}

/// Checks the types of the columns of a query of pairs; `pairs` is the argument of the call. A cast
/// that may make distinct ids equal, such as that of '007' or of 1.4 to an integer, would merge
/// clusters without a word.
fn check_types(
    types: &[pg_sys::Oid],
    id_type: pg_sys::Oid,
    pairs: &str,
    asked: AskedPairs<'_>,
) -> Result<()> {
    let mismatch = |message| SqlError::new(PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH, message);
    let &[left, right, similarity, ..] = types else {
        let message =
            format!("the query of pairs gives {} columns, not two ids and a similarity", types.len());
        return Err(mismatch(message).hint(asked.hint.to_owned()));
    };
    let is_integer = |of| [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID].contains(&of);
    let is_id = |of| if asked.id_type.is_none() { is_integer(of) } else { becomes(of, id_type) };
    if let Some((column, of)) = [("left", left), ("right", right)].into_iter().find(|&(_, of)| !is_id(of)) {
        let message =
            format!("{column} ids of the pairs are of type {}, not {}", type_name(of), type_name(id_type));
        let both = [left, right].into_iter().find(|&to| [left, right].into_iter().all(|of| becomes(of, to)));
        return Err(mismatch(message).hint(match both {
            Some(both) if !ids::has_order(both) => return Err(no_order(both)),
            Some(both) if is_integer(both) => {
                format!("Integers need no type: SELECT * FROM {}({});", asked.name, pairs)
            }
            Some(both) => format!(
                "Say which type the ids have: SELECT * FROM {}({}, id_type => NULL::{});",
                asked.name,
                pairs,
                type_name(both)
            ),
            None => "Casts give both ids one type: left_id::text, right_id::text, and id_type => NULL::text."
                .to_owned(),
        }));
    }
    if !is_cast_implicitly(similarity, pg_sys::FLOAT8OID) {
        let message =
            format!("similarities of the pairs are of type {}, not double precision", type_name(similarity));
        return Err(mismatch(message).hint(asked.hint.to_owned()));
    }
    Ok(())
}

/// Returns a query for hints as an SQL literal.
fn shown(query: &str) -> String {
    const LONGEST: usize = 200;
    if query.len() <= LONGEST { literal(query) } else { "'SELECT …'".to_owned() }
}
