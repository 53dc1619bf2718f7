//! Which relation and which of its columns hold the documents and their ids.

use pgrx::{PgSqlErrorCode, pg_sys};

use super::encoding::{self, c_string};
use super::error::{Result, SqlError};

/// A column that a user may name.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its name, not quoted.
    pub name: String,
    /// Its type; of a domain, the type under it.
    pub base_type: pg_sys::Oid,
    /// The category of that type: `S` for strings.
    category: u8,
    number: i16,
}

impl Column {
    fn is_text(&self) -> bool {
        self.category == pg_sys::TYPCATEGORY_STRING
    }

    /// Whether it holds whole numbers that fit into bigint.
    pub fn is_integer(&self) -> bool {
        [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID].contains(&self.base_type)
    }

    /// The name as SQL text needs it.
    pub fn quoted(&self) -> Result<String> {
        quote_identifier(&self.name)
    }

    /// The name of its type, as users write it.
    pub fn type_name(&self) -> String {
        type_name(self.base_type)
    }
}

/// A relation with rows, and its columns.
#[derive(Debug)]
pub struct Relation {
    /// Its name with its schema, as SQL text needs it.
    pub qualified: String,
    /// Its name as messages and hints show it.
    pub shown: String,
    columns: Vec<Column>,
    primary_key: Vec<i16>,
}

/// The name of a type, as users write it.
pub fn type_name(oid: pg_sys::Oid) -> String {
    // SAFETY: gives a C string for any number.
    unsafe { c_string(pg_sys::format_type_be(oid)) }
}

fn quote_identifier(name: &str) -> Result<String> {
    let name = encoding::to_server(name)?;
    // SAFETY: a C string in, a C string out.
    Ok(unsafe { c_string(pg_sys::quote_identifier(name.as_ptr())) })
}

/// An open relation; closing it leaves its lock to the transaction, so that the columns stay what they are.
struct Opened(pg_sys::Relation);

impl Drop for Opened {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: opened by us, once.
            unsafe { pg_sys::relation_close(self.0, pg_sys::NoLock as i32) };
        }
    }
}

impl Relation {
    /// Looks a relation up. It must be one that has rows: a table, a view, or what is read like these.
    pub fn open(oid: pg_sys::Oid) -> Result<Self> {
        // SAFETY: any number is looked up; null if it is no relation.
        let relation = unsafe { pg_sys::try_relation_open(oid, pg_sys::AccessShareLock as i32) };
        if relation.is_null() {
            let message = format!("relation with OID {} does not exist", oid.to_u32());
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE, message));
        }
        let relation = Opened(relation);
        // SAFETY: an open relation has its catalogue row and its tuple descriptor, with as many
        // attributes as it says; what is read is copied before the relation is closed.
        unsafe {
            let class = &*(*relation.0).rd_rel;
            let name = c_string(class.relname.data.as_ptr());
            let schema = c_string(pg_sys::get_namespace_name(class.relnamespace));
            if !b"rpvmf".contains(&class.relkind.cast_unsigned()) {
                return Err(SqlError::new(
                    PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
                    format!("\"{name}\" is not a table, view, materialized view or foreign table"),
                ));
            }
            let (quoted, quoted_schema) = (quote_identifier(&name)?, quote_identifier(&schema)?);
            let visible = pg_sys::RelationIsVisible(oid);
            let qualified = format!("{quoted_schema}.{quoted}");
            let descriptor = (*relation.0).rd_att;
            let attributes = (*descriptor).attrs.as_slice((*descriptor).natts as usize);
            let columns = attributes.iter().filter(|attribute| !attribute.attisdropped).map(column).collect();
            Ok(Self {
                shown: if visible { quoted } else { qualified.clone() },
                qualified,
                columns,
                primary_key: primary_key(relation.0),
            })
        }
    }

    /// The column of the ids: the named one, or the only one of the primary key.
    pub fn id_column(&self, named: Option<&str>) -> Result<&Column> {
        if let Some(name) = named {
            return self.named(name, "id_column");
        }
        if let [number] = self.primary_key[..]
            && let Some(column) = self.columns.iter().find(|column| column.number == number)
        {
            return Ok(column);
        }
        let why =
            if self.primary_key.is_empty() { "no primary key" } else { "a primary key of several columns" };
        let message = format!("relation {} has {why}, so the column of the ids must be named", self.shown);
        let example = self.columns.iter().find(|column| column.name == "id").or(self.columns.first());
        Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN, message).hint(format!(
            "For example: SELECT * FROM near_duplicates('{}', 0.8, id_column => '{}'); columns: {}.",
            self.shown,
            example.map_or("id", |column| &column.name),
            names(self.columns.iter()),
        )))
    }

    /// The column of the documents: the named one, the only text column that is not the id, or the
    /// only one of these that has a usual name.
    pub fn text_column(&self, named: Option<&str>, id: &Column) -> Result<&Column> {
        const USUAL: [&str; 4] = ["body", "content", "text", "document"];
        if let Some(name) = named {
            return self.named(name, "text_column");
        }
        let texts: Vec<&Column> =
            self.columns.iter().filter(|column| column.is_text() && column.number != id.number).collect();
        let usual: Vec<&&Column> = texts.iter().filter(|column| USUAL.contains(&&*column.name)).collect();
        match (&texts[..], &usual[..]) {
            ([only], _) => Ok(only),
            (_, [only]) => Ok(only),
            ([], _) => Err(SqlError::new(
                PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
                format!("relation {} has no text column beside its id", self.shown),
            )
            .hint(format!(
                "Name a column with text_column => '…'; columns: {}.",
                names(self.columns.iter())
            ))),
            _ => Err(SqlError::new(
                PgSqlErrorCode::ERRCODE_AMBIGUOUS_COLUMN,
                format!("relation {} has several text columns: {}", self.shown, names(texts.iter().copied())),
            )
            .hint(format!(
                "Name one: SELECT * FROM near_duplicates('{}', 0.8, text_column => '{}');",
                self.shown, texts[0].name
            ))),
        }
    }

    fn named(&self, name: &str, argument: &str) -> Result<&Column> {
        self.columns.iter().find(|column| column.name == name).ok_or_else(|| {
            SqlError::new(
                PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
                format!("{argument}: relation {} has no column \"{name}\"", self.shown),
            )
            .hint(format!("Columns: {}.", names(self.columns.iter())))
        })
    }
}

fn names<'a>(columns: impl Iterator<Item = &'a Column>) -> String {
    columns.map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn column(attribute: &pg_sys::FormData_pg_attribute) -> Column {
    let mut category: std::ffi::c_char = 0;
    let mut preferred = false;
    // SAFETY: the name is a C string in the row; the type exists as long as the relation does.
    unsafe {
        let base_type = pg_sys::getBaseType(attribute.atttypid);
        pg_sys::get_type_category_preferred(base_type, &raw mut category, &raw mut preferred);
        Column {
            name: c_string(attribute.attname.data.as_ptr()),
            base_type,
            category: category.cast_unsigned(),
            number: attribute.attnum,
        }
    }
}

/// The columns of the primary key.
///
/// # Safety
/// The relation is open.
unsafe fn primary_key(relation: pg_sys::Relation) -> Vec<i16> {
    // SAFETY: the caller's promise; an index has a row in pg_index with as many keys as it says.
    unsafe {
        let index = pg_sys::RelationGetPrimaryKeyIndex(relation);
        if index == pg_sys::InvalidOid {
            return Vec::new();
        }
        let index = pg_sys::index_open(index, pg_sys::AccessShareLock as i32);
        let form = (*index).rd_index;
        let keys = (*form).indkey.values.as_slice((*form).indnkeyatts as usize).to_vec();
        pg_sys::relation_close(index, pg_sys::NoLock as i32);
        keys
    }
}
