//! A step of a refresh: takes rows that are new, changed or gone, and brings their pairs and clusters up to date, in one
//! transaction.

mod batch;
mod clusters;
mod pairs;

use pgrx::PgLogLevel;
use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::pg_sys::{self, Datum, Oid};

use super::books::{Done, Entry, Found, Wait};
use super::lock::SessionLock;
use super::method::Method;
use super::settings::{Columns, Settings};
use super::tables::{Table, Tables, anew};
use super::{Job, definition, dependency, method, not_now, statements, strangers};
use crate::pg::query::Parameter;
use crate::pg::query::as_user::as_user;
use crate::pg::query::operators::equality;
use crate::pg::query::relation::{qualified_type, type_name};
use crate::pg::request::example::literal;
use crate::pg::server::error::{Result, SqlError};
use batch::Batch;

/// What a step works with. All of it runs as the owner of the relation.
struct Step<'a> {
    job: &'a Job,
    settings: &'a Settings,
    columns: &'a Columns<'a>,
    tables: &'a Tables,
    method: Method,
    /// The most rows that it takes.
    most_rows: i64,
    /// The id of a row of the relation, in terms of the alias `d`.
    id: String,
    /// The operator that compares ids.
    equals: String,
    /// The arguments of the internal functions.
    arguments: String,
}

impl Job {
    /// Does one step of a refresh that began at `started`: whether there is more to do, or another session is at it.
    pub fn step(&self, started: Datum, most_rows: i32) -> Result<&'static str> {
        let Self { relation, books, .. } = self;
        let shown = &relation.shown;
        if most_rows < 1 {
            return Err(SqlError::parameter(format!("batch_rows must be at least 1, not {most_rows}"))
                .hint(format!("CALL neardup_refresh({}, batch_rows => 100000);", literal(shown))));
        }
        // SAFETY: looks at the state of the transaction, and at whether the caller can commit it.
        if unsafe { pg_sys::IsSubTransaction() || !pg_sys::SPI_inside_nonatomic_context() } {
            let message = "invalid transaction termination: neardup_refresh commits its batches, so it cannot run inside a transaction";
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_INVALID_TRANSACTION_TERMINATION, message).hint(
                format!(
                    "Call it by itself, with autocommit on (psycopg: connection.autocommit = True; JDBC: setAutoCommit(true)): CALL neardup_refresh({});",
                    literal(shown)
                ),
            ));
        }
        books.clean()?;
        let lock = SessionLock { books: books.jobs, docs: relation.oid };
        let began = started.value() as i64;
        let first = !lock.is_held_since(began);
        let mut entry = match books.find(relation.oid, Wait::Skip)? {
            Found::None => return Err(self.not_watched()),
            Found::Job(entry) if lock.take(began) => entry,
            Found::Job(_) | Found::Busy => {
                lock.release();
                return Ok("skipped");
            }
        };
        let done = self.go_on(&mut entry, first, most_rows.into())?;
        books.log(relation.oid, started, &done)?;
        if done.more {
            return Ok("more");
        }
        // Until this transaction ends its lock of the job's row keeps others out.
        lock.release();
        Ok("done")
    }

    fn go_on(&self, entry: &mut Entry, first: bool, most_rows: i64) -> Result<Done> {
        let Self { relation, books, .. } = self;
        let shown = &relation.shown;
        let Some(mut settings) = entry.settings.take() else {
            return Err(not_now(format!("the settings of the job of {shown} cannot be read"), anew(shown)));
        };
        let (columns, renewed) = settings.renew_columns(relation)?;
        let definition = definition::of(self)?;
        let tables = Tables::open(entry, shown, relation.owner)?;
        strangers::check(self, &tables)?;
        let (tables, emptied) = self.fit(entry, tables, &columns)?;
        let first = first || emptied;
        let told = settings.by_triggers() && definition.is_plain && definition.has_triggers;
        let seen = told.then_some(definition.version);
        // What triggers could not note is forgotten before rows are read.
        let compare = first && (books.take_unnoted(relation.oid)? || seen.is_none() || seen != entry.seen);
        let done = as_user(relation.owner, || {
            let method = method::of(self, &settings, &columns)?;
            if method == Method::Sets && tables.lists.is_none() {
                let message = format!("the job of {shown} has no table of lists");
                return Err(not_now(message, anew(shown)));
            }
            let step = Step {
                job: self,
                settings: &settings,
                columns: &columns,
                tables: &tables,
                method,
                most_rows,
                id: columns.id_expression()?,
                equals: equality(columns.id.base_type)?,
                arguments: settings.arguments(relation, columns.id_type()),
            };
            step.run(first, compare)
        })?;
        if renewed || (first && seen != entry.seen) {
            // A restored dump has no dependencies.
            tables.all().for_each(|table| dependency::depend(table.oid, relation.oid));
            entry.settings = Some(settings);
            entry.seen = if first { seen } else { entry.seen.take() };
            books.put(relation.oid, entry)?;
        }
        Ok(done)
    }

    /// Gives the tables the type that ids have now. Where it was another one they are emptied: all is made anew, which is
    /// the second answer.
    fn fit(&self, entry: &Entry, tables: Tables, columns: &Columns<'_>) -> Result<(Tables, bool)> {
        let Self { relation, .. } = self;
        let id_type = columns.id.base_type;
        if tables.check(&relation.shown, id_type)? == id_type {
            return Ok((tables, false));
        }
        let name = qualified_type(id_type);
        as_user(relation.owner, || {
            for (table, columns) in [
                (&tables.pairs, &["left_id", "right_id"][..]),
                (&tables.clusters, &["cluster_id", "id"]),
                (&tables.state, &["id"]),
            ] {
                run(&format!("DELETE FROM {}", table.name), &[], &[table])?;
                let alter = |column: &&str| format!("ALTER {column} TYPE {name} USING NULL::{name}");
                let alter: Vec<String> = columns.iter().map(alter).collect();
                run(&format!("ALTER TABLE {} {}", table.name, alter.join(", ")), &[], &[])?;
            }
            match &tables.lists {
                Some(lists) => run(&format!("DELETE FROM {}", lists.name), &[], &[lists]).map(|_| ()),
                None => Ok(()),
            }
        })?;
        let message = format!(
            "ids of {} are of type {} now: all of its pairs are made anew",
            relation.shown,
            type_name(id_type)
        );
        ErrorReport::new(PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION, message, "neardup")
            .report(PgLogLevel::NOTICE);
        let tables = Tables::open(entry, &relation.shown, relation.owner)?;
        tables.check(&relation.shown, id_type)?;
        Ok((tables, true))
    }
}

impl Step<'_> {
    fn run(&self, first: bool, compare: bool) -> Result<Done> {
        let Some(batch) = Batch::take(self, first, compare)? else { return Ok(Done::default()) };
        batch.plan(self)?;
        let (removed, had_pairs) = pairs::remove(self, &batch)?;
        let (alone, taken) = batch.look_again(self)?;
        let found = pairs::find(self, &batch, alone, taken)?;
        let added = found.added;
        clusters::renew(self, &batch, had_pairs, found)?;
        let state = &self.tables.state;
        run(&format!("DELETE FROM {} WHERE change <= 0", state.name), &[], &[state])?;
        let more =
            holds(&format!("SELECT EXISTS (SELECT FROM {} WHERE change = 1)", state.name), &[], &[state])?;
        if batch.most {
            // Or the next step would be planned as if the tables were empty.
            let Tables { pairs, clusters, .. } = self.tables;
            run(&format!("ANALYZE {}, {}, {}", state.name, pairs.name, clusters.name), &[], &[])?;
        }
        Ok(Done { more, rows: batch.rows, removed, added })
    }

    /// Rows of the relation, with a hash of what is compared.
    fn source(&self) -> Result<String> {
        let (id, schema, docs) = (&self.id, &self.job.extension.schema, &self.job.relation.qualified);
        let content = self.columns.content()?;
        Ok(format!(
            "(SELECT {id} AS id, {schema}.neardup_job_hash({content}) AS hash FROM {docs} d WHERE {id} IS NOT NULL)"
        ))
    }

    /// The type that functions give ids as, as SQL text needs it.
    fn id_type(&self) -> String {
        qualified_type(self.columns.id_type())
    }

    /// The type of ids in the job's tables, as SQL text needs it.
    fn column_type(&self) -> String {
        qualified_type(self.columns.id.base_type)
    }
}

fn oids(tables: &[&Table]) -> Vec<Oid> {
    tables.iter().map(|table| table.oid).collect()
}

/// Runs a statement on tables of a job; how many rows it was about.
fn run(sql: &str, parameters: &[Parameter], tables: &[&Table]) -> Result<i64> {
    Ok(statements::run(sql, parameters, &oids(tables))? as i64)
}

/// Whether something is so of tables of a job.
fn holds(sql: &str, parameters: &[Parameter], tables: &[&Table]) -> Result<bool> {
    statements::holds(sql, parameters, &oids(tables))
}

/// A number that tables of a job give.
fn number(sql: &str, parameters: &[Parameter], tables: &[&Table]) -> Result<Option<i64>> {
    statements::number(sql, parameters, &oids(tables))
}
