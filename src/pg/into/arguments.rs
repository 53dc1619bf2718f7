//! The arguments of a call: a join, the tables to make, and whether the join can be made in parts.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};
use serde::Deserialize;

use super::method::{self, AskedMethod, MethodInParts};
use super::place::{TablePlace, such_as};
use super::session::CallLimits;
use super::statements::catalog;
use super::statements::citus::CitusLayout;
use super::statements::join::{self, DocumentColumns};
use super::statements::log::LoggedArguments;
use super::statements::servers::{KnownServer, Server};
use crate::pg::query::as_user::{Extension, as_user};
use crate::pg::query::names::qualified_type;
use crate::pg::query::relation::Relation;
use crate::pg::request::form::{Argument, KeptArguments, NEAR_DUPLICATES};
use crate::pg::request::tokenizer::with_schema;
use crate::pg::request::{PassageRequest, Request};
use crate::pg::server::call::FunctionCall;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::version;

/// The arguments of `near_duplicates_into` except the relation, the threshold and the options. The
/// procedure passes them on in one JSON object.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Others {
    id_column: Option<String>,
    text_column: Option<String>,
    method: Option<String>,
    tokenizer: Option<String>,
    shingle: Option<i32>,
    multiset: Option<bool>,
    max_pairs: Option<i64>,
    site_column: Option<String>,
    within: Option<String>,
    across: Option<String>,
    /// The name of the table of pairs.
    pub pairs: Option<String>,
    /// The number of parts.
    pub parts: Option<i32>,
    /// The name of the table of clusters.
    pub clusters: Option<String>,
    /// Whether to continue the work of an earlier call.
    pub resume: Option<bool>,
    /// Whether a result is brought up to date, and what this takes is kept.
    pub incremental: Option<bool>,
    pause: Option<f64>,
    at_once: Option<i32>,
    node_timeout: Option<f64>,
    retries: Option<i32>,
    /// Set if passages are to be found.
    pub passages: bool,
    features: Option<String>,
    min_sentences: Option<i32>,
    extend: Option<bool>,
    edits: Option<f64>,
    min_length: Option<i32>,
}

impl Others {
    /// Reads them from argument 3.
    pub(super) fn read(call: FunctionCall) -> Result<Self> {
        let Some(json) = call.json(3, "arguments")? else { return Ok(Self::default()) };
        serde_json::from_value(json)
            .map_err(|error| SqlError::parameter(format!("arguments cannot be read: {error}")))
    }

    /// Returns the name of the procedure.
    pub(super) fn procedure(&self) -> &'static str {
        if self.passages { "partial_duplicates_into" } else { "near_duplicates_into" }
    }

    /// Checks how the call is to go about its steps; times are in seconds.
    fn limits(&self) -> Result<CallLimits> {
        /// The greatest number of seconds.
        const LONGEST: f64 = i32::MAX as f64 / 1000.0;
        let such_as = |more: String| such_as(self.procedure(), "docs", &more);
        let seconds = |name: &str, given: Option<f64>| match given {
            None => Ok(0.0),
            Some(seconds) if (0.0..=LONGEST).contains(&seconds) => Ok(seconds),
            Some(seconds) => Err(SqlError::parameter(format!(
                "{name} must be between 0 and 24 days, not {seconds} seconds"
            ))
            .hint(such_as(format!(", {name} => '2s'")))),
        };
        let count = |name: &str, given: Option<i32>, least: i32, most: i32| match given {
            Some(count) if !(least..=most).contains(&count) => {
                Err(SqlError::parameter(format!("{name} must be between {least} and {most}, not {count}"))
                    .hint(such_as(format!(", {name} => {}", count.clamp(least, most)))))
            }
            given => Ok(given),
        };
        let at_once = count("at_once", self.at_once, 1, 65_536)?;
        Ok(CallLimits {
            pause: seconds("pause", self.pause)?,
            at_once: at_once.map(|count| count.unsigned_abs() as usize),
            // At most `i32::MAX`, and at least a millisecond unless it is 0.
            node_timeout: (seconds("node_timeout", self.node_timeout)? * 1000.0).ceil() as i32,
            retries: count("retries", self.retries, 0, 1000)?.unwrap_or(CallLimits::default().retries),
        })
    }
}

/// The arguments of a call of the procedure.
#[derive(Debug)]
pub(super) struct CallArguments {
    /// The arguments of the join.
    pub join: KeptArguments,
    /// How the call goes about its steps.
    pub limits: CallLimits,
    /// The other arguments.
    pub others: Others,
}

impl CallArguments {
    /// Reads `docs`, `threshold`, `options` and `arguments` of `neardup_into_step`.
    pub(super) fn new(call: FunctionCall, docs: Oid, mut others: Others) -> Result<Self> {
        // SAFETY: any OID may be looked up.
        let schema = unsafe { pg_sys::get_rel_namespace(docs) };
        // The search path is still that of the caller.
        let tokenizer = others.tokenizer.take().map(|name| with_schema(name.into(), schema)).transpose()?;
        let texts = [
            (Argument::IdColumn, others.id_column.take()),
            (Argument::TextColumn, others.text_column.take()),
            (Argument::Method, others.method.take()),
            (Argument::Tokenizer, tokenizer.map(Into::into)),
            (Argument::SiteColumn, others.site_column.take()),
            (Argument::Within, others.within.take()),
            (Argument::Across, others.across.take()),
            (Argument::Features, others.features.take()),
        ];
        let join = KeptArguments {
            docs,
            threshold: call.get(1),
            options: call.json(2, Argument::Options.name())?,
            shingle: others.shingle,
            multiset: others.multiset,
            max_pairs: others.max_pairs,
            min_sentences: others.min_sentences,
            extend: others.extend,
            edits: others.edits,
            min_length: others.min_length,
            texts: texts.into_iter().filter_map(|(name, text)| Some((name, text?))).collect(),
        };
        Ok(Self { join, limits: others.limits()?, others })
    }

    /// Returns the arguments of a call that makes no tables, in this number of parts.
    pub(super) fn of_join(join: KeptArguments, parts: Option<i32>) -> Self {
        Self { join, limits: CallLimits::default(), others: Others { parts, ..Others::default() } }
    }

    /// Reports whether the caller wants a number of parts.
    pub(super) fn names_parts(&self) -> bool {
        self.others.parts.is_some()
    }

    /// Returns the name of the procedure, for messages.
    pub(super) fn name(&self) -> &'static str {
        self.others.procedure()
    }
}

/// The tables that a call makes. The caller names all of them except the log.
#[derive(Debug)]
pub(super) struct OutputTables {
    /// The table of pairs.
    pub pairs: TablePlace,
    /// The table of clusters, if one is wanted.
    pub clusters: Option<TablePlace>,
    /// The log.
    pub log: TablePlace,
}

impl OutputTables {
    /// Reads and checks the names, and checks that the role may create the tables. `shown` is the
    /// relation, for hints.
    pub(super) fn new(arguments: &CallArguments, role: Oid, shown: &str) -> Result<Self> {
        let found = if arguments.others.passages { "passages" } else { "pairs" };
        let pairs = arguments.others.pairs.as_ref().ok_or_else(|| {
            let message = format!("{found} must not be NULL");
            SqlError::new(PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED, message)
                .hint(format!("Name the table to be made: {}", such_as(arguments.name(), shown, "")))
        })?;
        let pairs = TablePlace::parse(pairs, found)?;
        let clusters = arguments.others.clusters.as_ref();
        let clusters = clusters.map(|clusters| TablePlace::parse(clusters, "clusters")).transpose()?;
        let log = pairs.log()?;
        for other in clusters.iter() {
            if [&pairs, &log].contains(&other) {
                let message = format!("{} cannot be the table of clusters, too", other.qualified()?);
                return Err(SqlError::new(PgSqlErrorCode::ERRCODE_DUPLICATE_TABLE, message).hint(
                    "The pairs, their log and the clusters are tables of their own: clusters => 'docs_clusters'",
                ));
            }
        }
        pairs.check_right(role)?;
        clusters.iter().try_for_each(|clusters| clusters.check_right(role))?;
        Ok(Self { pairs, clusters, log })
    }
}

/// A join that is made in parts.
#[derive(Debug)]
pub(super) struct InParts {
    /// What the log says of the call, by which a later one continues it.
    pub logged: LoggedArguments,
    /// The ids of all documents, and what is carried of these.
    pub documents: DocumentColumns,
    /// The SQL expression for the id in a form that indexes can use, if the ids are integers and
    /// the primary key, so that documents can be read in ranges of ids.
    pub key: Option<String>,
    /// Set if no two rows have the same id.
    pub has_key: bool,
    /// The number of the column of ids.
    pub id_number: Option<i16>,
}

/// The join of a call.
#[derive(Debug)]
pub(super) struct JoinArguments {
    /// The relation, as messages show it.
    pub shown: String,
    /// The OID of the relation.
    pub docs: Oid,
    /// The type of the ids.
    pub id_oid: Oid,
    /// The name of this type.
    pub id: String,
    /// The maximum number of pairs that the caller wants.
    pub max_pairs: Option<i64>,
    /// The parameters of the join in parts, if it is made in parts.
    pub in_parts: Option<InParts>,
    /// What the caller is told first: why the join is not made in parts, although documents are
    /// elsewhere or parts are wanted, or how pairs may differ that are found in parts.
    pub notice: Option<String>,
}

impl JoinArguments {
    /// Returns the parameters of the join in parts, as the log has them.
    pub(super) fn logged(&self) -> Option<&LoggedArguments> {
        self.in_parts.as_ref().map(|in_parts| &in_parts.logged)
    }

    /// Reports whether a result is brought up to date.
    pub(super) fn is_update(&self) -> bool {
        self.logged().is_some_and(|logged| logged.update.is_some())
    }

    /// Reads and checks the arguments of a call, for its role.
    pub(super) fn new(
        arguments: &CallArguments,
        extension: &Extension,
        role: Oid,
        result: &TablePlace,
    ) -> Result<Self> {
        let given = NEAR_DUPLICATES.with(&arguments.join, pg_sys::INT8OID);
        let docs = given.need(Argument::Docs)?;
        let relation = Relation::open(docs)?;
        let id = relation.id_column(given.text(Argument::IdColumn)?.as_deref(), Argument::IdColumn.name());
        // The type is the one that near_duplicates uses if no type is given; near_duplicates
        // reports the error if there is no id column.
        let id_column = id.as_ref().ok().copied();
        let id_oid =
            id.map_or(pg_sys::INT8OID, |id| if id.is_integer() { pg_sys::INT8OID } else { id.base_type });
        let request = if arguments.others.passages {
            AskedMethod::Passages(PassageRequest::of_kept(&arguments.join, id_oid)?)
        } else {
            AskedMethod::Pairs(Request::of_kept(&arguments.join, id_oid)?)
        };
        let found = as_user(role, || catalog::servers(docs).json::<Vec<KnownServer>>())?;
        let citus = as_user(role, || CitusLayout::find(docs, result, arguments.others.parts))?
            .filter(|_| found.is_empty());
        let elsewhere = citus.is_some() || !found.is_empty();
        // Parts of documents that are on this server cost more, so they are made only if wanted.
        let incremental = arguments.others.incremental.unwrap_or_default();
        let is_wanted = elsewhere || arguments.others.parts.is_some() || incremental;
        let join = method::choose(&request, &arguments.join, extension)?;
        // The order of ids is known only if documents are read in one part, or in ranges of ids.
        let of_integers = id_column.is_some_and(|id| id.is_integer() && relation.is_key(id));
        let join = match join {
            Ok(MethodInParts { are_ordered: true, .. }) if !elsewhere && !of_integers => {
                Err("the ids are not the integers of a primary key, whose order matters here")
            }
            join => join,
        };
        check(&join, incremental, elsewhere && request.is_minhash(), &relation.shown)?;
        let notice = if is_wanted { notice(&join, elsewhere) } else { None };
        let in_parts = match join {
            Ok(MethodInParts { set, carried, are_ordered, .. }) if is_wanted => {
                let servers = Server::listed(found)?;
                let parts = count_parts(arguments.others.parts, &servers, citus.as_ref())?;
                let source = request.source();
                let (table, id) = (source.table.clone(), source.id.clone());
                let hash = join::hash(source, &extension.internal);
                let documents = DocumentColumns { table, id, set, hash, are_ordered };
                let logged = LoggedArguments {
                    docs: docs.to_u32(),
                    documents: documents.query(),
                    carried,
                    parts,
                    ids: qualified_type(id_oid),
                    pairs: result.qualified()?,
                    servers,
                    citus,
                    update: incremental.then(|| version::LIBRARY.to_owned()),
                };
                Some(InParts {
                    logged,
                    documents,
                    key: of_integers.then(|| source.key.clone()),
                    has_key: of_integers && relation.is_plain,
                    id_number: id_column.map(|id| id.number),
                })
            }
            _ => None,
        };
        Ok(Self {
            shown: relation.shown.clone(),
            docs,
            id_oid,
            id: qualified_type(id_oid),
            max_pairs: request.most().map(|most| i64::try_from(most).unwrap_or(i64::MAX)),
            in_parts,
            notice,
        })
    }
}

/// Returns the number of parts of a join of documents on servers, in Citus, or on this server. Each
/// server has a part.
fn count_parts(asked: Option<i32>, servers: &[Server], citus: Option<&CitusLayout>) -> Result<i64> {
    /// The number of parts for each server, if the caller does not name one.
    const OF_SERVER: i64 = 16;
    const MOST: i64 = 65_536;
    /// The largest number of parts that sessions share. Each part of each table is a table that is
    /// locked when all of them are dropped.
    const MOST_SHARED: i64 = 256;
    let (least, usual, most) = match (citus, servers.len() as i64) {
        (Some(layout), _) => (1, layout.shards, MOST),
        (None, 0) => (1, 1, MOST_SHARED),
        (None, servers) => (servers, OF_SERVER * servers, MOST.max(servers)),
    };
    let parts = asked.map_or(usual.min(most), i64::from);
    if (least..=most).contains(&parts) {
        return Ok(parts);
    }
    let of = if least > 1 { ", the number of servers," } else { "" };
    let (place, hint) = match most {
        MOST_SHARED => (" on one server", "One for each 100000 documents: parts => 16"),
        _ => ("", "Some for each processor of all servers: parts => 64"),
    };
    let message = format!("parts must be between {least}{of} and {most}{place}, not {parts}");
    Err(SqlError::parameter(message).hint(hint))
}

/// Returns what the caller is told about the join, if anything.
fn notice(join: &std::result::Result<MethodInParts, &'static str>, elsewhere: bool) -> Option<String> {
    match join {
        Err(why) => {
            let how = if elsewhere { "all documents are read here" } else { "it is made in one" };
            Some(format!("what is asked for is not made in parts, so {how}: {why}"))
        }
        Ok(join) => join.differs.map(str::to_owned),
    }
}

/// Refuses a join that is not made in parts if it must be.
fn check(
    join: &std::result::Result<MethodInParts, &'static str>,
    update: bool,
    is_far_minhash: bool,
    shown: &str,
) -> Result<()> {
    let (message, hint) = match method::refused(join).filter(|_| update) {
        Some(why) => (
            format!("the pairs of {shown} cannot be brought up to date: {why}"),
            "Make them anew, without incremental => true, or by another method: method => 'jaccard'.",
        ),
        // All documents would be read to this server.
        None if join.is_err() && is_far_minhash => (
            format!(
                "method minhash is not made in parts with these arguments, and the documents of {shown} are on servers"
            ),
            "The exact join is made in parts: method => 'jaccard'. near_duplicates finds the pairs by minhash, of documents that it reads to here.",
        ),
        None => return Ok(()),
    };
    Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message).hint(hint))
}
