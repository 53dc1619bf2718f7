//! `signature_index_fits`: returns the reason why an index of sets does not serve a ball, or NULL
//! if the index serves it.

use pgrx::{PgSqlErrorCode, pg_sys};

use crate::pg::index::am::user_index::{UserIndex, on_index};
use crate::pg::index::layout::meta::Directory;
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::sets::probe::Unfit;
use crate::pg::server::call::sql_function;
use crate::pg::server::error::SqlError;

sql_function! {
    /// `signature_index_fits(regclass, text_ball) → text`
    neardup_signature_index_fits, pg_finfo_neardup_signature_index_fits, |call| {
        let ball = call.bytes(1).unwrap_or_default();
        let why = on_index(call, pg_sys::AccessShareLock, |UserIndex { index, .. }| {
            let keys = ClassKeys::open(index, &Directory::read(index).meta);
            let why = match (&keys.sets, &keys.grams) {
                (Some(sets), _) => sets.unfit(ball),
                (None, Some(grams)) => grams.unfit(ball),
                (None, None) => {
                    let message = format!("index \"{}\" is of class {}, which has no sets", index.name(), keys.class.name());
                    return Err(SqlError::new(PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE, message)
                        .hint("Balls are served by text_set_ops, text_gram_ops, array_set_ops, tsvector_set_ops, text_ball_set_ops and text_ball_gram_ops."));
                }
            };
            Ok(why.map(|why| match why {
                Unfit::Unlike(ball, index) => format!("the index is for {index}, the ball for {ball}"),
                Unfit::Below(why) => why,
            }))
        })?;
        Ok(call.give(why))
    }
}
