//! The trigger that notes the ids of changed rows.

use pgrx::pg_sys;
use pgrx::prelude::*;
use serde_json::json;

use crate::pg::as_owner::{Extension, as_user, spi};
use crate::pg::call::{Call, sql_function};
use crate::pg::error::{Result, SqlError};

sql_function! {
    /// `neardup_changed()`: notes the ids of changed rows, as the owner of the watched table.
    neardup_changed, pg_finfo_neardup_changed, |call| {
        note_changes(call)?;
        // A trigger's NULL is a pointer to nothing, not a NULL of SQL.
        Ok(pg_sys::Datum::null())
    }
}

fn note_changes(call: Call) -> Result<()> {
    // SAFETY: the context of a call is a node, of a trigger its data, which live as long as the call.
    let (trigger, docs, owner, event) = unsafe {
        let trigger: *mut pg_sys::TriggerData = (*call.info).context.cast();
        if trigger.is_null() || (*trigger).type_ != pg_sys::NodeTag::T_TriggerData {
            let message = "neardup_changed() is a trigger of neardup_watch";
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED, message));
        }
        let relation = (*trigger).tg_relation;
        (trigger, (*relation).rd_id, (*(*relation).rd_rel).relowner, (*trigger).tg_event)
    };
    let extension = Extension::of(call)?;
    let argument = json!({ "docs": docs.to_u32(), "schema": extension.schema, "lock": "" });
    let job = extension.call(extension.owner, "neardup_job_find", &argument)?;
    // A trigger that was left behind, or a job whose tables are gone: users' work goes on.
    if job.is_null() || job["missing"].is_string() {
        return Ok(());
    }
    let part = |name: &str| job[name].as_str().unwrap_or_default().to_owned();
    let (state, id, content) = (part("state"), part("id"), part("content"));
    let insert = format!("INSERT INTO {state}(id, change) SELECT");
    let sql = match event & pg_sys::TRIGGER_EVENT_OPMASK {
        pg_sys::TRIGGER_EVENT_INSERT => format!("{insert} {id}, 1 FROM new_rows d WHERE {id} IS NOT NULL"),
        pg_sys::TRIGGER_EVENT_DELETE => format!("{insert} {id}, 1 FROM old_rows d WHERE {id} IS NOT NULL"),
        pg_sys::TRIGGER_EVENT_UPDATE => {
            let side = |rows: &str| format!("SELECT {id}, {content} FROM {rows} d");
            let (old, new) = (side("old_rows"), side("new_rows"));
            format!(
                "{insert} DISTINCT x.id, 1 FROM (({old} EXCEPT {new}) UNION ALL ({new} EXCEPT {old})) \
                 AS x(id, content) WHERE x.id IS NOT NULL"
            )
        }
        _ => format!("{insert} s.id, 1 FROM {state} s WHERE s.change IS NULL"),
    };
    as_user(owner, || {
        Spi::connect_mut(|client| {
            // SAFETY: the data of this call's trigger; the tables it names are seen until the session of SPI ends.
            unsafe { pg_sys::SPI_register_trigger_data(trigger) };
            client.update(sql.as_str(), None, &[]).map(|_| ()).map_err(spi)
        })
    })
}
