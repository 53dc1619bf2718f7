//! The distribution of the documents by Citus, and so of the working tables: all work runs on the
//! nodes that hold the documents.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};
use serde::{Deserialize, Serialize};

use crate::pg::into::place::TablePlace;
use crate::pg::into::statements::citus_catalog;
use crate::pg::procedure::citus as spreading;
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
        let json = citus_catalog::layout(docs, result.namespace).text()?;
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
            (_, None) => citus_catalog::to_all_nodes(table).run().map(|_| ()),
        }
    }

    /// Reports whether the tables of a result are distributed by their ids, where `id` is the type
    /// of ids.
    pub(crate) fn spreads_results(&self, id: Oid) -> Result<bool> {
        let is_on_one_node = self.how == Sharding::Single || self.home_is_sharded;
        Ok(!is_on_one_node && citus_catalog::is_hashable(id).holds()?)
    }

    /// Distributes the table of a result by its column of ids, if the type of the ids allows this.
    /// Colocates the table with the documents if these are distributed by a column of the same
    /// type.
    pub(crate) fn spread_result(&self, place: &TablePlace, by: &str, id: Oid) -> Result<()> {
        let Some(table) = place.relation()? else { return Ok(()) };
        if citus_catalog::is_known(table).holds()? || !self.spreads_results(id)? {
            return Ok(());
        }
        let docs = name_of(Oid::from(self.docs))?;
        let is_like = self.how == Sharding::Hash
            && citus_catalog::is_spread_alike(Oid::from(self.docs), table, by)?.holds()?;
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
        if !citus_catalog::is_known(like.oid).holds()? {
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
        citus_catalog::keys(table, parts, self.shards).text()
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
        let done =
            citus_catalog::suited(kilobytes).iter().try_for_each(|statement| statement.run().map(|_| ()));
        set(c"citus.propagate_set_commands", c"none");
        done
    }

    /// Checks that all nodes have the same extension; otherwise sets from different nodes could not
    /// be compared.
    pub(crate) fn check_versions(&self, extension: &Extension) -> Result<()> {
        let expected = format!("{} {}", version::LIBRARY, extension.schema);
        let statement = citus_catalog::other_version(&extension.schema, &expected)?;
        let Some(found) = statement.text()? else { return Ok(()) };
        let message = format!("nodes need neardup {expected}, as there is here; {found}");
        Err(SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
            .hint("Sets of tokens are compared with each other: all nodes need the same version in a schema of the same name."))
    }
}
