//! Sets up a job: its tables next to the relation, and triggers if these see every change.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum, Oid};

use super::hints::{in_the_way, renamed, works};
use super::job::{EVENTS, LockedRelation};
use super::settings::{Detect, Settings};
use super::statements::definitions;
use super::statements::registry::JobEntry;
use super::statements::{definition, dependency};
use super::tables::JobTable;
use super::unwatch::drop_alone;
use crate::jobs::state::Upkeep;
use crate::pg::procedure::definition::Types;
use crate::pg::procedure::table::{OpenedTable, Table, may_create_in};
use crate::pg::query::as_user::as_user;
use crate::pg::query::catalog::relation_named;
use crate::pg::query::column::UserColumn;
use crate::pg::query::names::{qualified_type, quote_identifier};
use crate::pg::query::relation::Relation;
use crate::pg::request::example::literal;
use crate::pg::server::call::sql_functions;
use crate::pg::server::encoding::{self, c_string};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::notices::notice;

sql_functions! {
    /// `neardup_watch(docs, threshold, options, …)`: sets up a job.
    neardup_watch, within ItsCalls: |call| {
        let job = LockedRelation::from_call(call, "neardup_watch")?;
        job.watch(Settings::of_arguments(call)?)?;
        Ok(Datum::from(0))
    };
}

impl LockedRelation {
    /// Sets up a job with these settings.
    pub(super) fn watch(&self, mut settings: Settings) -> Result<()> {
        let Self { relation, registry, .. } = self;
        let shown = &relation.shown;
        if relation.is_temporary {
            let message = format!("{shown} is temporary, and a job outlives its session");
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message)
                .hint(format!("Without a job: {}", works(relation, "near_duplicates"))));
        }
        // The lock lets only one session at a time set up a job, and does not wait for writers.
        // SAFETY: a relation that is open; the lock stays until the transaction ends.
        unsafe { pg_sys::LockRelationOid(relation.oid, pg_sys::ShareUpdateExclusiveLock as i32) };
        registry.clean()?;
        if registry.entry(relation.oid)?.is_some() {
            let message = format!("{shown} is watched already");
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_DUPLICATE_OBJECT, message)
                .hint(format!("SELECT neardup_unwatch({});", literal(shown))));
        }
        settings.find_columns(relation)?;
        let plain = definition::read(self)?.is_plain;
        match settings.detect {
            None => settings.detect = Some(if plain { Detect::Triggers } else { Detect::Compare }),
            Some(Detect::Triggers) if !plain => {
                return Err(SqlError::parameter("triggers see every change of plain tables only")
                    .hint("Leave detect out, or say detect => 'compare'."));
            }
            Some(_) => {}
        }
        let columns = settings.renew_columns(relation)?.0;
        let there = self.tables_named()?;
        let in_use = there
            .iter()
            .flatten()
            .map(|&table| registry.uses(table, relation.oid))
            .collect::<Result<Vec<bool>>>()?;
        self.check_rights()?;
        let tables = as_user(relation.owner, || {
            if plain {
                self.refuse_repeated_ids(columns.id)?;
            }
            if relation.is_view {
                definitions::read_a_row(relation.oid, &relation.qualified, &columns)?
                    .row([pg_sys::INT4OID])?;
            }
            let has_lists = self.upkeep(&settings, &columns)?.0 == Upkeep::Sets;
            if there.iter().any(Option::is_some) {
                self.take_over(&there, in_use.contains(&true))?;
            }
            for kind in JobTable::ALL.into_iter().filter(|&kind| has_lists || kind != JobTable::Lists) {
                self.create(kind, columns.id.base_type)?;
            }
            if settings.by_triggers() {
                self.make_triggers()?;
            }
            self.tables_named()
        })?;
        let [Some(pairs), Some(clusters), Some(state), lists] = tables else {
            return Err(renamed(shown));
        };
        for table in [pairs, clusters, state].into_iter().chain(lists) {
            dependency::depend(table, relation.oid);
        }
        let entry =
            JobEntry { settings: Ok(settings), pairs, clusters, state, lists, hashes: None, seen: None };
        registry.put(relation.oid, &entry)
    }

    /// Fails if the owner of the relation may not create the job's tables beside it.
    fn check_rights(&self) -> Result<()> {
        let Relation { owner, namespace, shown, .. } = &self.relation;
        if may_create_in(*namespace, *owner) {
            return Ok(());
        }
        // SAFETY: the relation is locked, so its schema and its owner have names.
        let [schema, role] = unsafe {
            [pg_sys::get_namespace_name(*namespace), pg_sys::GetUserNameFromId(*owner, true)]
                .map(|name| if name.is_null() { "???".to_owned() } else { c_string(name) })
        };
        let [schema, role] = [quote_identifier(&schema)?, quote_identifier(&role)?];
        let message = format!(
            "{role}, the owner of {shown}, may not create tables in schema {schema}, where the job keeps its tables"
        );
        Err(SqlError::new(PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE, message)
            .hint(format!("GRANT CREATE ON SCHEMA {schema} TO {role};")))
    }

    /// Fails if several rows of a table have the same id, which a refresh could not store. A table
    /// without an index that prevents this is read once.
    fn refuse_repeated_ids(&self, id: &UserColumn) -> Result<()> {
        let Relation { oid, shown, qualified, .. } = &self.relation;
        if definitions::is_unique(*oid, id.number).holds()? {
            return Ok(());
        }
        let Some(repeated) = definitions::repeated_id(*oid, qualified, &id.quoted()?).text()? else {
            return Ok(());
        };
        let message = format!("id {repeated} stands in more than one row of {shown}");
        Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION, message).hint(format!(
            "Every document needs an id of its own: name a column without repeated values with id_column => '…', or add one: \
             ALTER TABLE {shown} ADD COLUMN neardup_id bigint GENERATED ALWAYS AS IDENTITY UNIQUE;"
        )))
    }

    /// Returns the name of a table of the job, without its schema.
    pub(super) fn name_of(&self, kind: JobTable) -> Result<String> {
        /// The maximum length of a name in bytes.
        const LONGEST: usize = pg_sys::NAMEDATALEN as usize - 1;
        // SAFETY: the relation is locked, so it has a name.
        let docs = unsafe { c_string(pg_sys::get_rel_name(self.relation.oid)) };
        let name = format!("{docs}_{}", kind.suffix());
        // The length counts in the server's encoding.
        if encoding::to_server(&name)?.to_bytes().len() > LONGEST {
            let message = format!("the job needs a table \"{name}\", whose name is over {LONGEST} bytes");
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_NAME_TOO_LONG, message)
                .hint("Watch a view of a shorter name: CREATE VIEW docs AS SELECT * FROM …"));
        }
        Ok(name)
    }

    fn tables_named(&self) -> Result<[Option<Oid>; 4]> {
        let [pairs, clusters, state, lists] = JobTable::ALL.map(|kind| self.table_named(kind));
        Ok([pairs?, clusters?, state?, lists?])
    }

    /// Returns the relation that has the name of a table of the job, in the schema in which the
    /// watched relation is now.
    pub(super) fn table_named(&self, kind: JobTable) -> Result<Option<Oid>> {
        // SAFETY: looks up the relation.
        relation_named(&self.name_of(kind)?, unsafe { pg_sys::get_rel_namespace(self.relation.oid) })
    }

    /// Makes a table of the job, for ids of this type.
    pub(super) fn create(&self, kind: JobTable, of_ids: Oid) -> Result<()> {
        // SAFETY: looks up the relation, whose schema has a name.
        let schema =
            unsafe { c_string(pg_sys::get_namespace_name(pg_sys::get_rel_namespace(self.relation.oid))) };
        let table = format!("{}.{}", quote_identifier(&schema)?, quote_identifier(&self.name_of(kind)?)?);
        let types = Types { id: (&qualified_type(of_ids), of_ids), passages: false };
        definitions::create(kind, &table, &types, &self.relation.shown)
    }

    /// Drops the tables that an earlier job left behind, of which a restore brought nothing but the
    /// tables. Fails if other relations have the names of the tables.
    fn take_over(&self, tables: &[Option<Oid>; 4], in_use: bool) -> Result<()> {
        let Self { relation, .. } = self;
        let mut ours = !in_use && tables[..3].iter().all(Option::is_some);
        let mut dropped = Vec::new();
        for &table in tables.iter().flatten() {
            match Table::open(table, pg_sys::AccessExclusiveLock, |owner| ours && owner == relation.owner)? {
                OpenedTable::Table(table) if table.is_of_job() => dropped.push(table.name),
                _ => ours = false,
            }
        }
        if !ours {
            let first = tables.iter().position(Option::is_some).unwrap_or_default();
            return Err(in_the_way(&self.name_of(JobTable::ALL[first])?));
        }
        dropped.extend(self.left_hashes()?);
        for table in &dropped {
            if !drop_alone(table)? {
                let message =
                    format!("{table} of an earlier job is used by a view, a foreign key or another object");
                return Err(SqlError::new(PgSqlErrorCode::ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST, message)
                    .hint("Rename the table, or drop what uses it: the job makes the table anew."));
            }
        }
        let message = format!(
            "the tables of a job of {} that is not known here are made anew: the next refresh compares all rows",
            relation.shown
        );
        notice(message);
        Ok(())
    }

    /// Returns the name of the table of hashes that an earlier job left behind, or None if there is
    /// no such table or it belongs to the job of another relation.
    fn left_hashes(&self) -> Result<Option<String>> {
        let Self { relation, registry, .. } = self;
        let Some(oid) = self.table_named(JobTable::Hashes)? else { return Ok(None) };
        let opened = Table::open(oid, pg_sys::AccessExclusiveLock, |owner| owner == relation.owner)?;
        Ok(match opened {
            OpenedTable::Table(table) if table.is_of_job() && !registry.uses(oid, relation.oid)? => {
                Some(table.name)
            }
            _ => None,
        })
    }

    fn make_triggers(&self) -> Result<()> {
        let docs = &self.relation.qualified;
        for event in EVENTS {
            // Such a trigger was left behind by a job that the registry no longer knows.
            if self.has_trigger(event)? {
                definitions::drop_trigger(docs, event)?;
            }
            definitions::create_trigger(docs, event)?;
        }
        Ok(())
    }
}
