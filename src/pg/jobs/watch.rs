//! Sets a job up: its tables beside the relation, and triggers where these see every change.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::pg_sys::{self, Oid};
use pgrx::{PgLogLevel, PgSqlErrorCode};

use super::books::Entry;
use super::settings::{Columns, Settings};
use super::statements::run;
use super::tables::{Opened, Table, relation_named};
use super::{EVENTS, Job, definition, dependency, method, not_now};
use crate::pg::query::as_user::as_user;
use crate::pg::query::relation::{qualified_type, quote_identifier};
use crate::pg::request::example::literal;
use crate::pg::server::encoding::{self, c_string};
use crate::pg::server::error::{Result, SqlError};

/// The tables of a job by what stands behind the name of the relation.
const SUFFIXES: [&str; 4] = ["pairs", "clusters", "neardup", "neardup_lists"];

impl Job {
    /// Sets a job up as these settings say.
    pub fn watch(&self, mut settings: Settings) -> Result<()> {
        let Self { relation, books, .. } = self;
        let shown = &relation.shown;
        if relation.is_temporary {
            let message = format!("{shown} is temporary, and a job outlives its session");
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message)
                .hint(format!("Without a job: SELECT * FROM near_duplicates({}, 0.8);", literal(shown))));
        }
        // One at a time, without waiting for writers.
        // SAFETY: a relation that is open; the lock stays until the transaction ends.
        unsafe { pg_sys::LockRelationOid(relation.oid, pg_sys::ShareUpdateExclusiveLock as i32) };
        books.clean()?;
        if books.look(relation.oid)?.is_some() {
            let message = format!("{shown} is watched already");
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_DUPLICATE_OBJECT, message)
                .hint(format!("SELECT neardup_unwatch({});", literal(shown))));
        }
        settings.find_columns(relation)?;
        let plain = definition::of(self)?.is_plain;
        match settings.detect.as_deref() {
            None => settings.detect = Some(if plain { "triggers" } else { "compare" }.to_owned()),
            Some("compare") => {}
            Some("triggers") if plain => {}
            Some("triggers") => {
                return Err(SqlError::parameter("triggers see every change of plain tables only")
                    .hint("Leave detect out, or say detect => 'compare'."));
            }
            Some(other) => {
                return Err(SqlError::parameter(format!("unknown way to detect changes \"{other}\""))
                    .hint("Ways: triggers, compare."));
            }
        }
        let names = self.names()?;
        let columns = settings.renew_columns(relation)?.0;
        let there = self.tables_named(&names)?;
        let in_use = there
            .iter()
            .flatten()
            .map(|&table| books.uses(table, relation.oid))
            .collect::<Result<Vec<bool>>>()?;
        let tables = as_user(relation.owner, || {
            let has_lists = method::of(self, &settings, &columns)? == method::Method::Sets;
            if there.iter().any(Option::is_some) {
                self.take_over(&names, &there, in_use.contains(&true))?;
            }
            self.make_tables(&names, &columns, has_lists)?;
            if settings.by_triggers() {
                self.make_triggers()?;
            }
            self.tables_named(&names)
        })?;
        let [Some(pairs), Some(clusters), Some(state), lists] = tables else {
            return Err(not_now(
                format!("the schema of {shown} was renamed meanwhile"),
                "Try again, in a schema whose owner you trust.".to_owned(),
            ));
        };
        for table in [pairs, clusters, state].into_iter().chain(lists) {
            dependency::depend(table, relation.oid);
        }
        let entry = Entry { settings: Some(settings), pairs, clusters, state, lists, seen: None };
        books.put(relation.oid, &entry)
    }

    /// The names of the job's tables, without their schema.
    fn names(&self) -> Result<[String; 4]> {
        /// What a name may have in bytes.
        const LONGEST: usize = pg_sys::NAMEDATALEN as usize - 1;
        // SAFETY: the relation is locked, so it has a name.
        let docs = unsafe { c_string(pg_sys::get_rel_name(self.relation.oid)) };
        let names = SUFFIXES.map(|suffix| format!("{docs}_{suffix}"));
        for name in &names {
            // In the server's encoding, which counts.
            if encoding::to_server(name)?.as_bytes().len() > LONGEST {
                let message = format!("the job needs a table \"{name}\", whose name is over {LONGEST} bytes");
                return Err(SqlError::new(PgSqlErrorCode::ERRCODE_NAME_TOO_LONG, message)
                    .hint("Watch a view of a shorter name: CREATE VIEW docs AS SELECT * FROM …"));
            }
        }
        Ok(names)
    }

    /// The relations that have these names beside the watched one.
    fn tables_named(&self, names: &[String; 4]) -> Result<[Option<Oid>; 4]> {
        // SAFETY: looks the relation up.
        let namespace = unsafe { pg_sys::get_rel_namespace(self.relation.oid) };
        let mut tables = [None; 4];
        for (table, name) in tables.iter_mut().zip(names) {
            *table = relation_named(name, namespace)?;
        }
        Ok(tables)
    }

    fn make_tables(&self, names: &[String; 4], columns: &Columns<'_>, has_lists: bool) -> Result<()> {
        // SAFETY: looks the relation up.
        let namespace = unsafe { pg_sys::get_rel_namespace(self.relation.oid) };
        // SAFETY: a schema of a relation has a name.
        let schema = quote_identifier(&unsafe { c_string(pg_sys::get_namespace_name(namespace)) })?;
        let id = qualified_type(columns.id.base_type);
        let shown = &self.relation.shown;
        let make = |n: usize, definition: String, further: &[&str], comment: &str| -> Result<()> {
            if n == 3 && !has_lists {
                return Ok(());
            }
            let table = format!("{schema}.{}", quote_identifier(&names[n])?);
            run(&format!("CREATE TABLE {table} ({definition})"), &[], &[])?;
            for statement in further {
                run(&statement.replace("{}", &table), &[], &[])?;
            }
            let comment = literal(&format!("{comment} {shown}"));
            run(&format!("COMMENT ON TABLE {table} IS {comment}"), &[], &[]).map(|_| ())
        };
        make(
            0,
            format!(
                "left_id {id} NOT NULL, right_id {id} NOT NULL, similarity float8 NOT NULL, PRIMARY KEY (left_id, right_id)"
            ),
            &["CREATE INDEX ON {} (right_id)"],
            "near duplicates, kept by neardup_refresh, of",
        )?;
        make(
            1,
            format!(
                "cluster_id {id} NOT NULL, id {id} NOT NULL, representative bool NOT NULL, PRIMARY KEY (id, cluster_id)"
            ),
            &["CREATE INDEX ON {} (cluster_id)"],
            "clusters of near duplicates, kept by neardup_refresh, of",
        )?;
        // A row of the relation as it was last seen (change is NULL), or a mark: 1 waits for a refresh; within one, 0 is
        // in its batch, and -1 and -2 are near such a row before and after.
        make(
            2,
            format!("id {id} NOT NULL, hash uuid, change int2"),
            &[
                "CREATE UNIQUE INDEX ON {} (id) WHERE change IS NULL",
                "CREATE INDEX ON {} (change, id) WHERE change IS NOT NULL",
            ],
            "what neardup_refresh knows of the rows of",
        )?;
        // Outlines of all rows, to find those that may be similar to a changed one without reading them: near.rs. A part
        // is read with its row.
        make(
            3,
            "kind \"char\" NOT NULL, segment int8 NOT NULL, part int4 NOT NULL, documents int4, data bytea, ids text[], \
             PRIMARY KEY (segment, kind, part)"
                .to_owned(),
            &[
                "ALTER TABLE {} ALTER data SET STORAGE external, ALTER ids SET STORAGE external",
                "ALTER TABLE {} SET (toast_tuple_target = 8160)",
            ],
            "what neardup_refresh looks changed rows up in, of",
        )
    }

    /// Drops the tables that a job of before left, of which a restore brought no more, or says that others are in the way.
    fn take_over(&self, names: &[String; 4], tables: &[Option<Oid>; 4], in_use: bool) -> Result<()> {
        let Self { relation, .. } = self;
        let mut ours = !in_use && tables[..3].iter().all(Option::is_some);
        let mut dropped = Vec::new();
        for &table in tables.iter().flatten() {
            match Table::open(table, pg_sys::AccessExclusiveLock, |owner| ours && owner == relation.owner)? {
                Opened::Table(table) if table.is_of_job() => dropped.push(table.name),
                _ => ours = false,
            }
        }
        if !ours {
            let name =
                tables.iter().zip(names).find(|(table, _)| table.is_some()).map_or("", |(_, name)| name);
            let message =
                format!("relation \"{name}\" already exists, and the job needs a table of this name");
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_DUPLICATE_TABLE, message)
                .hint("Rename or drop it, or watch a view of another name."));
        }
        run(&format!("DROP TABLE {}", dropped.join(", ")), &[], &[])?;
        let message = format!(
            "the tables of a job of {} that is not known here are made anew: the next refresh compares all rows",
            relation.shown
        );
        ErrorReport::new(PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION, message, "neardup")
            .report(PgLogLevel::NOTICE);
        Ok(())
    }

    fn make_triggers(&self) -> Result<()> {
        let (docs, schema) = (&self.relation.qualified, &self.extension.schema);
        let tables = [
            "REFERENCING NEW TABLE AS new_rows",
            "REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows",
            "REFERENCING OLD TABLE AS old_rows",
        ];
        for (event, tables) in EVENTS.into_iter().zip(tables) {
            // Left over from a job that the books no longer know.
            if self.has_trigger(event)? {
                run(&format!("DROP TRIGGER neardup_{event} ON {docs}"), &[], &[])?;
            }
            let trigger = format!(
                "CREATE TRIGGER neardup_{event} AFTER {event} ON {docs} {tables} \
                 FOR EACH STATEMENT EXECUTE FUNCTION {schema}.neardup_changed()"
            );
            run(&trigger, &[], &[])?;
            // Or rows are compared at each refresh.
            run(&format!("ALTER TABLE {docs} ENABLE ALWAYS TRIGGER neardup_{event}"), &[], &[])?;
        }
        Ok(())
    }
}
