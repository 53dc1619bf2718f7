//! Jobs that keep pairs and clusters up to date: `neardup_watch`, `neardup_refresh`, `neardup_unwatch`.
//!
//! What a step does to the tables is SQL in `sql/jobs.sql`; here is who may do it, as whom it runs, and
//! that only one session does it at a time ([`lock`]). The trigger that notes changes is in [`changes`]; what SQL
//! cannot do in [`checks`], [`pairs`] and [`lists`].

mod arguments;
mod changes;
mod checks;
mod clusters;
mod lists;
mod lock;
mod look;
mod near;
mod others;
mod pairs;
mod stored;
mod writer;

use pgrx::pg_sys;
use pgrx::prelude::*;
use serde_json::{Value, json};

use super::as_owner::{Extension, spi};
use super::call::sql_function;
use super::clusters::ARGUMENTS_OF_JOIN;
use super::columns::{Relation, qualified_type, quote_identifier, type_name};
use super::encoding;
use super::error::{Result, SqlError};
use super::example::literal;
use super::ids;
use super::request::Form;
use crate::candidates::delta::order::VERSION;
use lock::SessionLock;

sql_function! {
    /// `neardup_job(action, docs, arguments)`: the work of `neardup_watch` and its relatives.
    neardup_job, pg_finfo_neardup_job, |call| {
        let action = call.text(0)?.unwrap_or_default();
        let docs: pg_sys::Oid = call.need(1, "docs").map_err(|error| error.hint("SELECT neardup_watch('docs', 0.8);"))?;
        let arguments = call.json(2, "arguments")?.unwrap_or(Value::Null);
        let extension = Extension::of(call)?;
        let relation = Relation::open(docs).map_err(|error| error.hint("SELECT neardup_watch('docs', 0.8);"))?;
        let job = Job { owner: owner_of(docs, &relation)?, docs, relation, extension };
        let answer = match &*action {
            "watch" => job.watch(&arguments)?,
            "step" => job.step(&arguments)?,
            "unwatch" => job.unwatch(&arguments)?,
            other => return Err(SqlError::parameter(format!("unknown action \"{other}\""))),
        };
        Ok(call.give(Some(answer)))
    }
}

/// The first argument behind those of a join.
const NEXT: usize = ARGUMENTS_OF_JOIN + 1;
/// Hints show a call that users know.
const FORM: Form = Form { name: "near_duplicates", relations: 1, typed: true };
/// About how many bytes of documents a step hands over at one time: most have few, and some are to be compared
/// while others are read.
const BATCH: usize = 1 << 18;

/// The owner of a relation, whom the caller must be, or act for.
fn owner_of(docs: pg_sys::Oid, relation: &Relation) -> Result<pg_sys::Oid> {
    let sql = "SELECT relowner FROM pg_catalog.pg_class WHERE oid OPERATOR(pg_catalog.=) $1";
    let owner = Spi::get_one_with_args::<pg_sys::Oid>(sql, &[docs.into()]).map_err(spi)?;
    let owner = owner.unwrap_or(pg_sys::InvalidOid);
    // SAFETY: a look at the roles.
    if !unsafe { pg_sys::has_privs_of_role(pg_sys::GetUserId(), owner) } {
        let message = format!("must be owner of {}", relation.shown);
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE, message)
            .hint("Jobs run as the owner of the relation; watch a view of your own on it."));
    }
    Ok(owner)
}

/// A relation and its job, if it has one.
struct Job {
    docs: pg_sys::Oid,
    owner: pg_sys::Oid,
    relation: Relation,
    extension: Extension,
}

/// An equality operator as SQL text needs it: that of the default ordering of a type.
pub fn equality(id_type: pg_sys::Oid) -> Result<String> {
    // SAFETY: the entry lives as long as the session; an operator has a name and a schema.
    unsafe {
        let cache = pg_sys::lookup_type_cache(id_type, pg_sys::TYPECACHE_EQ_OPR as i32);
        let operator = (*cache).eq_opr;
        let name = pg_sys::get_opname(operator);
        if name.is_null() {
            let message = format!("type {} has no equality, so it cannot be an id", type_name(id_type));
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_FUNCTION, message));
        }
        let name = encoding::c_string(name);
        let sql = "SELECT n.nspname::text FROM pg_catalog.pg_operator o JOIN pg_catalog.pg_namespace n \
                   ON n.oid OPERATOR(pg_catalog.=) o.oprnamespace WHERE o.oid OPERATOR(pg_catalog.=) $1";
        let schema = Spi::get_one_with_args::<String>(sql, &[operator.into()]).map_err(spi)?;
        Ok(format!("OPERATOR({}.{name})", quote_identifier(&schema.unwrap_or_default())?))
    }
}

impl Job {
    fn find(&self, lock: &str) -> Result<Value> {
        let argument = json!({ "docs": self.docs.to_u32(), "schema": self.extension.schema, "lock": lock });
        self.extension.call(self.extension.owner, "neardup_job_find", &argument)
    }

    fn watch(&self, arguments: &Value) -> Result<String> {
        let shown = &self.relation.shown;
        if !self.find("")?.is_null() {
            let message = format!("{shown} is watched already");
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_DUPLICATE_OBJECT, message)
                .hint(format!("SELECT neardup_unwatch({});", literal(shown))));
        }
        let given = |name: &str| arguments.get(name).and_then(Value::as_str);
        let relation = &self.relation;
        let names = || format!("Columns: {}.", relation.column_names());
        let id = relation.id_column(given("id_column"), "id_column").map_err(|e| e.hint(names()))?;
        let text =
            relation.text_column(given("text_column"), "text_column", id).map_err(|e| e.hint(names()))?;
        let site = given("site_column").map(|name| relation.named(name, "site_column")).transpose()?;
        if !ids::has_order(id.base_type) {
            let message = format!("type {} has no default ordering, so it cannot be an id", id.type_name());
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_FUNCTION, message)
                .hint("Watch a view that casts the ids to text."));
        }
        // Integers are joined as bigint and stored as what they are, so that indexes on them are of use.
        let id_type = if id.is_integer() { pg_sys::INT8OID } else { id.base_type };
        let column = format!("d.{}", id.quoted()?);
        let expression =
            if id.is_integer() { column } else { format!("{column}::{}", qualified_type(id_type)) };
        let body = format!("d.{}::text", text.quoted()?);
        let content = match site {
            Some(site) => {
                format!("coalesce({body}, '') || E'\\x01' || coalesce(d.{}::text, '')", site.quoted()?)
            }
            None => body,
        };
        let mut settings = arguments.clone();
        if let Value::Object(settings) = &mut settings {
            let further = [
                ("id_column", json!(id.name)),
                ("text_column", json!(text.name)),
                ("id", json!(expression)),
                ("id_type", json!(qualified_type(id_type))),
                ("column_type", json!(qualified_type(id.base_type))),
                ("equals", json!(equality(id.base_type)?)),
                ("content", json!(content)),
            ];
            settings.extend(further.map(|(name, value)| (name.to_owned(), value)));
        }
        let call = self.call_of(&settings, &relation.qualified)?;
        let mut set_up = json!({
            "docs": self.docs.to_u32(),
            "schema": self.extension.schema,
            "qualified": relation.qualified,
            "shown": shown,
            "column_type": settings["column_type"],
            "call": call,
            "settings": settings,
        });
        for (table, suffix) in
            [("pairs", "pairs"), ("clusters", "clusters"), ("state", "neardup"), ("lists", "neardup_lists")]
        {
            set_up[table] = json!(self.beside(suffix)?);
        }
        let settings = self.extension.call(self.owner, "neardup_job_set_up", &set_up)?;
        set_up["settings"] = settings;
        self.extension.call(self.extension.owner, "neardup_job_add", &set_up)?;
        Ok("watched".to_owned())
    }

    /// The name of a job table, with its schema.
    fn beside(&self, suffix: &str) -> Result<String> {
        /// What a name may have in bytes.
        const LONGEST: usize = pg_sys::NAMEDATALEN as usize - 1;
        let sql = "SELECT c.relname::text || '_' || $2, n.nspname::text FROM pg_catalog.pg_class c \
                   JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace \
                   WHERE c.oid OPERATOR(pg_catalog.=) $1";
        let (name, schema) =
            Spi::get_two_with_args::<String, String>(sql, &[self.docs.into(), suffix.into()]).map_err(spi)?;
        let (name, schema) = (name.unwrap_or_default(), schema.unwrap_or_default());
        if name.len() > LONGEST {
            let message = format!("the job needs a table \"{name}\", whose name is over {LONGEST} bytes");
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_NAME_TOO_LONG, message)
                .hint("Watch a view of a shorter name: CREATE VIEW docs AS SELECT * FROM …"));
        }
        Ok(format!("{}.{}", quote_identifier(&schema)?, quote_identifier(&name)?))
    }

    /// The arguments of a join as SQL text; `docs` is the relation with its schema.
    fn call_of(&self, settings: &Value, docs: &str) -> Result<String> {
        let value = |name: &str, cast: &str| match settings.get(name) {
            None | Some(Value::Null) => format!("NULL::{cast}"),
            Some(Value::String(text)) => format!("{}::{cast}", literal(text)),
            Some(other) => format!("{}::{cast}", literal(&other.to_string())),
        };
        let id_type = settings["id_type"].as_str().unwrap_or("bigint");
        Ok([
            format!("{}::regclass", literal(docs)),
            value("threshold", "float8"),
            format!("NULL::{id_type}"),
            value("options", "jsonb"),
            value("id_column", "text"),
            value("text_column", "text"),
            value("method", "text"),
            value("tokenizer", "text"),
            value("shingle", "int"),
            value("multiset", "bool"),
            "NULL::bigint".to_owned(),
            value("site_column", "text"),
        ]
        .join(", "))
    }

    fn not_watched(&self) -> SqlError {
        let shown = &self.relation.shown;
        SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT, format!("{shown} is not watched"))
            .hint(format!("SELECT neardup_watch({}, 0.8);", literal(shown)))
    }

    fn unwatch(&self, arguments: &Value) -> Result<String> {
        let mut job = self.find("FOR UPDATE")?;
        if job.is_null() {
            return Err(self.not_watched());
        }
        job["keep_results"] = json!(arguments["keep_results"].as_bool().unwrap_or(false));
        self.extension.call(self.owner, "neardup_job_take_down", &job)?;
        let argument = json!({ "docs": self.docs.to_u32(), "schema": self.extension.schema });
        self.extension.call(self.extension.owner, "neardup_job_remove", &argument)?;
        Ok("unwatched".to_owned())
    }

    /// One step of a refresh, in a transaction of its own: what is left to do afterwards.
    fn step(&self, arguments: &Value) -> Result<String> {
        let rows = arguments["batch_rows"].as_i64().unwrap_or(0);
        let shown = &self.relation.shown;
        if rows < 1 {
            let rows = arguments["batch_rows"].to_string();
            return Err(SqlError::parameter(format!("batch_rows must be at least 1, not {rows}"))
                .hint(format!("CALL neardup_refresh({}, batch_rows => 100000);", literal(shown))));
        }
        let mut job = self.find("FOR UPDATE SKIP LOCKED")?;
        if job.is_null() {
            return Err(self.not_watched());
        }
        let lock = SessionLock(self.docs);
        let first = !lock.is_held();
        if job["skipped"] == json!(true) || !lock.take() {
            lock.release();
            return Ok("skipped".to_owned());
        }
        if let Some(missing) = job["missing"].as_str() {
            let message = format!("tables of the job of {shown} are gone: {missing}");
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE, message).hint(format!(
                "Begin anew: SELECT neardup_unwatch({0}); SELECT neardup_watch({0}, 0.8);",
                literal(shown)
            )));
        }
        let call = self.call_of(&job, &self.relation.qualified)?;
        job["schema"] = json!(self.extension.schema);
        job["call"] = json!(call);
        job["first"] = json!(first);
        job["batch_rows"] = json!(rows);
        job["lists_version"] = json!(VERSION);
        let mut done = self.extension.call(self.owner, "neardup_job_step", &job)?;
        done["docs"] = json!(self.docs.to_u32());
        done["schema"] = job["schema"].clone();
        done["started"] = arguments["started"].clone();
        self.extension.call(self.extension.owner, "neardup_job_log", &done)?;
        if done["more"] == json!(true) {
            return Ok("more".to_owned());
        }
        // Until this transaction ends its lock of the job's row keeps others out.
        lock.release();
        Ok("done".to_owned())
    }
}
