//! Keeps the internal functions in a schema of their own, and the extension movable all the same.
//!
//! `ALTER EXTENSION … SET SCHEMA` refuses an extension with objects in two schemas. So an event
//! trigger moves the internal functions to the others before this command, and back afterwards.
//! All of it happens in the command's transaction.

use std::cell::RefCell;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use crate::pg::procedure::statement::Statement;
use crate::pg::query::as_user::{Extension, INTERNAL, acts_for, as_user};
use crate::pg::query::names::quote_identifier;
use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::{Result, SqlError};

thread_local! {
    /// The OIDs of the functions that were moved before the command, as an array in SQL text.
    static MOVED: RefCell<Option<String>> = const { RefCell::new(None) };
}

sql_functions! {
    /// `neardup_moves()`: the event trigger of `ALTER EXTENSION`.
    neardup_moves: |call| {
        // SAFETY: the context of a call is a node; in an event trigger it is the trigger's data,
        // which live as long as the call.
        let (is_before, moves) = unsafe {
            let data: *const pg_sys::EventTriggerData = (*call.info).context.cast();
            if data.is_null() || (*data).type_ != pg_sys::NodeTag::T_EventTriggerData {
                let message = "neardup_moves() is an event trigger of neardup";
                return Err(SqlError::new(PgSqlErrorCode::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED, message));
            }
            (c_string((*data).event) == "ddl_command_start", moves_neardup((*data).parsetree))
        };
        if moves {
            if is_before { gather(call)? } else { part()? }
        }
        Ok(Datum::null())
    };
}

/// Reports whether a command is `ALTER EXTENSION neardup SET SCHEMA`.
///
/// # Safety
/// A node of the server.
unsafe fn moves_neardup(command: *const pg_sys::Node) -> bool {
    // SAFETY: the type of the node says which structure it is; the name of an extension is a string
    // node.
    unsafe {
        if command.is_null() || (*command).type_ != pg_sys::NodeTag::T_AlterObjectSchemaStmt {
            return false;
        }
        let command: *const pg_sys::AlterObjectSchemaStmt = command.cast();
        if (*command).objectType != pg_sys::ObjectType::OBJECT_EXTENSION {
            return false;
        }
        let name: *const pg_sys::String = (*command).object.cast();
        c_string((*name).sval) == "neardup"
    }
}

/// Moves the internal functions to the schema of the extension.
fn gather(call: FunctionCall) -> Result<()> {
    let extension = Extension::from_call(call)?;
    // The command itself refuses other roles, and says why.
    if !acts_for(extension.owner) {
        return Ok(());
    }
    as_owner(|| {
        let all = format!(
            "SELECT pg_catalog.array_agg(p.oid)::pg_catalog.text FROM pg_catalog.pg_depend d \
                 JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) d.objid \
                 JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace \
                 JOIN pg_catalog.pg_extension e ON e.oid OPERATOR(pg_catalog.=) d.refobjid \
             WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid \
                 AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid \
                 AND e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name \
                 AND n.nspname OPERATOR(pg_catalog.=) '{INTERNAL}'::pg_catalog.name"
        );
        let moved = Statement::new(all).text()?;
        if let Some(moved) = &moved {
            move_all(moved, &extension.schema)?;
        }
        MOVED.set(moved);
        Ok(())
    })
}

/// Moves these functions back, when the extension is in its new schema.
fn part() -> Result<()> {
    match MOVED.take() {
        Some(moved) => as_owner(|| move_all(&moved, &quote_identifier(INTERNAL)?)),
        None => Ok(()),
    }
}

/// Moves functions, whose OIDs are an array in SQL text, to a schema.
fn move_all(functions: &str, schema: &str) -> Result<()> {
    for function in functions.trim_matches(['{', '}']).split(',') {
        let name =
            Statement::new(format!("SELECT {function}::pg_catalog.regprocedure::pg_catalog.text")).text()?;
        let name = name.unwrap_or_default();
        Statement::new(format!("ALTER ROUTINE {name} SET SCHEMA {schema}")).run()?;
    }
    Ok(())
}

/// Runs work as the role that scripts of a trusted extension run as, which owns their objects.
fn as_owner(work: impl FnOnce() -> Result<()>) -> Result<()> {
    as_user(pg_sys::Oid::from(pg_sys::BOOTSTRAP_SUPERUSERID), work)
}
