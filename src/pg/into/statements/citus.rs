//! The distribution of the documents by Citus, and so of the working tables: all work runs on the
//! nodes that hold the documents.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};
use serde::{Deserialize, Serialize};

use crate::pg::into::place::TablePlace;
use crate::pg::procedure::citus as spreading;
use crate::pg::procedure::statement::{Statement, oid, text};
use crate::pg::procedure::table::Table;
use crate::pg::query::as_user::{Extension, set};
use crate::pg::query::names::name_of;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::settings;
use crate::pg::server::version;

/// How Citus distributes the rows of the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Sharding {
    /// By the hash of a column, or in shards in another way.
    Hash,
    /// Each node has all rows.
    Reference,
    /// One node has all rows.
    Single,
    /// One node has all rows of all tables of the schema. A function cannot make tables in such a
    /// schema, so the working tables are in shards.
    Schema,
}

/// Documents in Citus, and the place of working tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CitusLayout {
    /// The distribution of the documents.
    pub how: Sharding,
    /// The number of shards of working tables.
    pub shards: i64,
    /// The OID of the table of the documents.
    docs: u32,
    /// Set if the schema of the result is one whose tables are on one node.
    home_is_sharded: bool,
}

#[derive(Debug, Deserialize)]
struct CatalogRow {
    method: String,
    replication: String,
    colocation: i64,
    shards: i64,
    usual: i64,
    nodes: i64,
    schema_is_sharded: bool,
    home_is_sharded: bool,
}

impl CitusLayout {
    /// Reads the layout of a table whose pairs go to `result`, with `parts` parts if the caller
    /// wants so many. Returns None if Citus does not know the table, or has it only on the
    /// coordinator.
    ///
    /// Each statement makes a task for each shard, and rows that move make a file for each pair of
    /// shards, so working tables have no more shards than are of use.
    pub(crate) fn find(docs: Oid, result: &TablePlace, parts: Option<i32>) -> Result<Option<Self>> {
        /// The greatest number of shards of working tables on a node, unless more parts are wanted.
        const MOST_OF_NODE: i64 = 4;
        if !spreading::is_there().holds()? {
            return Ok(None);
        }
        let json = layout(docs, result.namespace)?;
        let Some(json) = json else { return Ok(None) };
        let found: CatalogRow = serde_json::from_str(&json)
            .map_err(|error| SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, error.to_string()))?;
        let how = match (found.method.as_str(), found.replication.as_str()) {
            ("n", "t") => Sharding::Reference,
            ("n", _) if found.schema_is_sharded => Sharding::Schema,
            ("n", _) if found.colocation > 0 => Sharding::Single,
            ("n", _) => return Ok(None),
            _ => Sharding::Hash,
        };
        // Citus sends a query on a table of one shard to the node of that shard, with all its
        // functions.
        let most = parts.map_or(MOST_OF_NODE * found.nodes, i64::from).max(2);
        let shards = match how {
            Sharding::Hash => found.shards.min(most),
            Sharding::Reference | Sharding::Schema => found.usual.min(MOST_OF_NODE * found.nodes).min(most),
            Sharding::Single => 1,
        };
        let home_is_sharded = found.home_is_sharded;
        Ok(Some(Self { how, shards: shards.max(1), docs: docs.to_u32(), home_is_sharded }))
    }

    /// Distributes a table by the column `by` or, without a column, to all nodes. The table is
    /// colocated with the table `like` or, without such a table, is distributed independently. If
    /// one node has all documents, the table is put on the same node instead.
    pub(crate) fn spread(&self, place: &TablePlace, by: Option<&str>, like: Option<&str>) -> Result<()> {
        let Some(table) = place.relation()? else { return Ok(()) };
        match (self.how, by) {
            (Sharding::Single, _) => {
                let docs = name_of(Oid::from(self.docs))?;
                spreading::distribute(table, None, Some(&docs), self.shards)?.run().map(|_| ())
            }
            (_, Some(by)) => spreading::distribute(table, Some(by), like, self.shards)?.run().map(|_| ()),
            (_, None) => {
                let sql = format!("SELECT FROM create_reference_table('{}'::regclass)", table.to_u32());
                Statement::new(sql).run().map(|_| ())
            }
        }
    }

    /// Reports whether the tables of a result are distributed by their ids, where `id` is the type
    /// of ids.
    pub(crate) fn spreads_results(&self, id: Oid) -> Result<bool> {
        let is_on_one_node = self.how == Sharding::Single || self.home_is_sharded;
        Ok(!is_on_one_node && is_hashable(id)?)
    }

    /// Distributes the table of a result by its column of ids, if the type of the ids allows this.
    /// Colocates the table with the documents if these are distributed by a column of the same
    /// type.
    pub(crate) fn spread_result(&self, place: &TablePlace, by: &str, id: Oid) -> Result<()> {
        let Some(table) = place.relation()? else { return Ok(()) };
        if is_known(table)? || !self.spreads_results(id)? {
            return Ok(());
        }
        let docs = name_of(Oid::from(self.docs))?;
        let is_like = self.how == Sharding::Hash && is_spread_alike(Oid::from(self.docs), table, by)?;
        spreading::distribute(table, Some(by), is_like.then_some(&*docs), self.shards)?.run().map(|_| ())
    }

    /// Distributes a table by its column of ids, colocated with the documents if these are
    /// distributed by a column of the same type.
    pub(crate) fn spread_by_ids(&self, place: &TablePlace, by: &str, id: Oid) -> Result<()> {
        if self.spreads_results(id)? {
            return self.spread_result(place, by, id);
        }
        self.spread(place, Some(by), None)
    }

    /// Distributes a table like a table of the same columns, if Citus knows that table.
    pub(crate) fn spread_like(&self, place: &TablePlace, by: &str, like: &Table) -> Result<()> {
        let Some(table) = place.relation()? else { return Ok(()) };
        if !is_known(like.oid)? {
            return Ok(());
        }
        let by = (self.how != Sharding::Single).then_some(by);
        spreading::distribute(table, by, Some(&like.name), self.shards)?.run().map(|_| ())
    }

    /// Returns keys of a table as an array, one key for each part. Successive keys belong to the
    /// shards in turn. Returns None if all rows are on one node.
    pub(crate) fn keys(&self, table: Oid, parts: i64) -> Result<Option<String>> {
        if self.how == Sharding::Single {
            return Ok(None);
        }
        let tried = 16 * parts + 32 * self.shards;
        Statement::new(format!(
            "SELECT array_agg(k.k ORDER BY k.nth, k.shard)::text FROM ( \
                 SELECT k.k, k.shard, k.nth FROM (SELECT k.k, k.shard, row_number() OVER (PARTITION BY k.shard ORDER BY k.k) AS nth FROM ( \
                     SELECT k, get_shard_id_for_distribution_column('{}'::regclass, k::text) AS shard FROM generate_series(0, {tried}) k OFFSET 0) k) k \
                 ORDER BY k.nth, k.shard LIMIT {parts}) k",
            table.to_u32()
        ))
        .text()
    }

    /// Applies the settings for the statements of this transaction on the nodes.
    pub(crate) fn set_up_nodes() -> Result<()> {
        // The value is half of the memory in which a part is joined, because rows of both may be
        // there at a time. SAFETY: an int that only this thread writes.
        let own = usize::try_from(unsafe { pg_sys::work_mem }).unwrap_or_default();
        let kilobytes = own.max(settings::memory() / 2048);
        // With this setting, Citus sends settings that are local to the transaction to the nodes.
        // Nothing but the settings for the nodes is set while it is on.
        set(c"citus.propagate_set_commands", c"local");
        // JIT compilation is off: nearly all time is spent in functions, and compiling the code
        // that calls them takes longer than it saves, again on each connection. The memory is for a
        // sort, or for rows that come from other nodes.
        let suited = ["SET LOCAL jit = off", &format!("SET LOCAL work_mem = {kilobytes}")];
        let done = suited.into_iter().try_for_each(|sql| Statement::new(sql).run().map(|_| ()));
        set(c"citus.propagate_set_commands", c"none");
        done
    }

    /// Checks that all nodes have the same extension; otherwise sets from different nodes could not
    /// be compared.
    pub(crate) fn check_versions(&self, extension: &Extension) -> Result<()> {
        let expected = format!("{} {}", version::LIBRARY, extension.schema);
        let Some(found) = other_version(&extension.schema, &expected)? else { return Ok(()) };
        let message = format!("nodes need neardup {expected}, as there is here; {found}");
        Err(SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
            .hint("Sets of tokens are compared with each other: all nodes need the same version in a schema of the same name."))
    }
}

/// Reports whether a table can be distributed by a column of this type.
pub(crate) fn is_hashable(by: Oid) -> Result<bool> {
    Statement::new(
        "SELECT EXISTS (SELECT FROM pg_type t \
             JOIN pg_opclass o ON o.opcdefault AND (o.opcintype = t.oid OR o.opcintype = 'anyenum'::regtype AND t.typtype = 'e' \
                 OR o.opcintype = ANY ('{text,bpchar}'::regtype[]) AND t.typcategory = 'S') \
             JOIN pg_am m ON m.oid = o.opcmethod WHERE m.amname = 'hash' AND t.oid = $1)",
    )
    .with([oid(by)])
    .holds()
}

/// Reports whether Citus knows a table.
pub(crate) fn is_known(table: Oid) -> Result<bool> {
    Statement::new("SELECT EXISTS (SELECT FROM pg_dist_partition p WHERE p.logicalrelid = $1::regclass)")
        .with([oid(table)])
        .holds()
}

/// Reports whether no two rows of a table in shards can have the same value in a column, because an
/// index forbids it. A row is in the shard of its value, and of each shard one snapshot is read.
pub(crate) fn is_unique(docs: Oid, column: i16) -> Result<bool> {
    Statement::new(format!(
        "SELECT EXISTS (SELECT FROM pg_dist_partition p JOIN pg_index i ON i.indrelid = p.logicalrelid \
             WHERE p.logicalrelid = $1::regclass AND p.partmethod IN ('h', 'n') AND i.indisunique AND i.indisvalid AND i.indimmediate \
                 AND i.indpred IS NULL AND i.indexprs IS NULL AND i.indnkeyatts = 1 AND i.indkey[0] = {column}::int2)"
    ))
    .with([oid(docs)])
    .holds()
}

/// Returns the number of nodes that have shards.
pub(crate) fn count_nodes() -> Result<i64> {
    let count =
        Statement::new("SELECT count(DISTINCT n.groupid) FROM pg_dist_node n WHERE n.shouldhaveshards");
    Ok(count.number()?.unwrap_or(1))
}

/// Returns the names of the nodes that do not answer, or no row.
pub(crate) fn silent_nodes() -> Result<Option<String>> {
    Statement::new(
        "SELECT n.names FROM (SELECT string_agg(concat(n.nodename, ':', n.nodeport), ', ' ORDER BY n.nodename, n.nodeport) AS names FROM pg_dist_node n \
             WHERE n.noderole = 'primary' AND n.isactive AND NOT COALESCE(citus_check_connection_to_node(n.nodename, n.nodeport), false)) n \
         WHERE n.names IS NOT NULL",
    )
    .text()
}

/// Reports whether a table is distributed by a column of the same type as a column of another
/// table.
fn is_spread_alike(docs: Oid, table: Oid, by: &str) -> Result<bool> {
    Statement::new(
        "SELECT EXISTS (SELECT FROM pg_dist_partition p \
             JOIN pg_attribute d ON d.attrelid = p.logicalrelid AND d.attname = column_to_column_name(p.logicalrelid, p.partkey)::name \
             JOIN pg_attribute a ON a.attrelid = $2 AND a.attname = $3::name AND a.atttypid = d.atttypid AND a.attcollation = d.attcollation \
             WHERE p.logicalrelid = $1::regclass AND p.partmethod = 'h')",
    )
    .with([oid(docs), oid(table), text(by)?])
    .holds()
}

/// Returns the version of the extension on a node that has another version than the expected one.
fn other_version(schema: &str, expected: &str) -> Result<Option<String>> {
    let ask = format!(
        "SELECT pg_catalog.concat(v.library, ' ', pg_catalog.quote_ident(n.nspname::pg_catalog.text)) FROM {schema}.neardup_version() v, \
         pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace \
         WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name"
    );
    Statement::new(
        "SELECT concat(w.nodename, ':', w.nodeport, ': ', w.result) FROM run_command_on_workers($1) w \
         WHERE w.result IS DISTINCT FROM $2 LIMIT 1",
    )
    .with([text(&ask)?, text(expected)?])
    .text()
}

/// Reads the data that Citus has about a table, and about the schema of the result, as JSON; no row
/// for a table that Citus does not know.
fn layout(docs: Oid, home: Oid) -> Result<Option<String>> {
    Statement::new(
        "SELECT jsonb_build_object('method', p.partmethod, 'replication', p.repmodel, 'colocation', p.colocationid::int8, \
             'shards', (SELECT count(*) FROM pg_dist_shard s WHERE s.logicalrelid = p.logicalrelid), \
             'usual', current_setting('citus.shard_count')::int8, 'nodes', (SELECT count(DISTINCT n.groupid) FROM pg_dist_node n WHERE n.shouldhaveshards), \
             'schema_is_sharded', EXISTS (SELECT FROM pg_dist_schema s WHERE s.schemaid = c.relnamespace), \
             'home_is_sharded', EXISTS (SELECT FROM pg_dist_schema s WHERE s.schemaid = $2))::text \
         FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid WHERE p.logicalrelid = $1::regclass",
    )
    .with([oid(docs), oid(home)])
    .text()
}
