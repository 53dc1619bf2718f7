//! The places of arguments in Rust are those that SQL declares.

use pgrx::prelude::*;

#[pg_schema]
mod tests {
    use super::*;
    use crate::pg::request::form;

    #[pg_test]
    fn arguments_stand_where_sql_has_them() {
        for (form, is_typed) in form::ALL.iter().flat_map(|&form| [(form, false), (form, true)]) {
            let names: Vec<&str> = form.arguments(is_typed).map(form::Argument::name).collect();
            let found = Spi::get_one_with_args::<bool>(
                "SELECT bool_or(proargnames[1:pronargs] = $2) FROM pg_proc WHERE proname = $1",
                &[form.name.into(), names.clone().into()],
            );
            assert_eq!(found, Ok(Some(true)), "{}({})", form.name, names.join(", "));
        }
    }
}
