//! The relation of the documents, and the columns that hold the documents and their ids.

use pgrx::{PgList, PgSqlErrorCode, pg_sys};

use super::column::UserColumn;
use super::decode::ColumnContent;
use super::ids;
use super::names::{quote_identifier, value_as_text};
use crate::pg::compat;
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::{Result, SqlError, catch};

/// A relation with rows, and its columns.
#[derive(Debug)]
pub(crate) struct Relation {
    /// The OID.
    pub oid: pg_sys::Oid,
    /// The owner.
    pub owner: pg_sys::Oid,
    /// The schema.
    pub namespace: pg_sys::Oid,
    /// Set for a view that is not materialized.
    pub is_view: bool,
    /// Set for a temporary relation.
    pub is_temporary: bool,
    /// The name with its schema, quoted for SQL text.
    pub qualified: String,
    /// The name as messages and hints show it.
    pub shown: String,
    /// Set for a table or materialized view without policies and without child tables. Its rows are
    /// the same for all roles.
    pub is_plain: bool,
    columns: Vec<UserColumn>,
    primary_key: Vec<i16>,
    /// Set if the primary key is checked at the end of a statement or transaction, so that until
    /// then a value can repeat.
    is_deferrable: bool,
}

/// An open relation. When it is closed, the transaction keeps the lock, so the columns do not
/// change.
struct OpenRelation(pg_sys::Relation);

impl Drop for OpenRelation {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: opened by us, once.
            unsafe { pg_sys::relation_close(self.0, pg_sys::NoLock as i32) };
        }
    }
}

impl Relation {
    /// Looks up a relation. It must be one with rows: a table, a view, or another relation that can
    /// be read like a table.
    pub(crate) fn open(oid: pg_sys::Oid) -> Result<Self> {
        // SAFETY: any OID may be looked up; the result is null if it is no relation.
        let relation = unsafe { pg_sys::try_relation_open(oid, pg_sys::AccessShareLock as i32) };
        if relation.is_null() {
            let message = format!("relation with OID {} does not exist", oid.to_u32());
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE, message));
        }
        let relation = OpenRelation(relation);
        // SAFETY: an open relation has its catalog row and its tuple descriptor, which has `natts`
        // attributes; everything that is read is copied before the relation is closed.
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
            let (primary_key, is_deferrable) = primary_key(relation.0);
            let (quoted, quoted_schema) = (quote_identifier(&name)?, quote_identifier(&schema)?);
            let visible = pg_sys::RelationIsVisible(oid);
            let qualified = format!("{quoted_schema}.{quoted}");
            let attributes = compat::attributes((*relation.0).rd_att).iter();
            let columns = attributes
                .filter(|attribute| !attribute.attisdropped)
                .map(UserColumn::from_attribute)
                .collect();
            Ok(Self {
                oid,
                owner: class.relowner,
                namespace: class.relnamespace,
                is_view: class.relkind.cast_unsigned() == pg_sys::RELKIND_VIEW,
                is_temporary: class.relpersistence.cast_unsigned() == pg_sys::RELPERSISTENCE_TEMP,
                shown: if visible { quoted } else { qualified.clone() },
                is_plain: b"rm".contains(&class.relkind.cast_unsigned())
                    && !class.relrowsecurity
                    && !class.relhassubclass,
                qualified,
                columns,
                primary_key,
                is_deferrable,
            })
        }
    }

    /// Returns the column of the ids: the column with the name `named`, or the only column of the
    /// primary key. `argument` is the SQL argument that names the column, for the error.
    pub(crate) fn id_column(&self, named: Option<&str>, argument: &str) -> Result<&UserColumn> {
        if let Some(name) = named {
            return self.named(name, argument);
        }
        self.key().ok_or_else(|| {
            let why = match self.primary_key[..] {
                [] => "no primary key",
                [_] => "a primary key that is DEFERRABLE",
                _ => "a primary key of several columns",
            };
            SqlError::new(
                PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
                format!("relation {} has {why}, so the column of the ids must be named", self.shown),
            )
        })
    }

    /// Returns the column of the documents: the column with the name `named`, or else the only text
    /// column that is not the id, or else the only such column with a usual name. `argument` is the
    /// SQL argument that names the column, for the error.
    pub(crate) fn text_column(
        &self,
        named: Option<&str>,
        argument: &str,
        id: &UserColumn,
    ) -> Result<&UserColumn> {
        if let Some(name) = named {
            return self.named(name, argument);
        }
        self.only_text(id).ok_or_else(|| match self.texts(id).next() {
            None => SqlError::new(
                PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
                format!("relation {} has no text column beside its id", self.shown),
            ),
            Some(_) => SqlError::new(
                PgSqlErrorCode::ERRCODE_AMBIGUOUS_COLUMN,
                format!("relation {} has several text columns: {}", self.shown, names(self.texts(id))),
            ),
        })
    }

    /// Returns columns that could hold the ids and the documents, for hints: the named columns if
    /// they exist, otherwise the columns that are used without a name, otherwise likely columns.
    pub(crate) fn likely_columns(
        &self,
        id: Option<&str>,
        text: Option<&str>,
    ) -> Option<(&UserColumn, &UserColumn)> {
        let named = |name: Option<&str>| self.columns.iter().find(|column| Some(&*column.name) == name);
        let likely_text = |id: &UserColumn| {
            (named(text).or_else(|| self.only_text(id)))
                .or_else(|| self.texts(id).next())
                .or_else(|| self.documents().find(|column| column.number != id.number))
                .filter(|column| column.number != id.number)
        };
        let columns = self.columns.iter();
        (named(id).into_iter().chain(self.only_key()).chain(named(Some("id"))))
            .chain(columns.clone().filter(|column| column.is_integer()))
            .chain(columns.clone().filter(|column| !column.is_usual()))
            .chain(columns)
            .filter(|column| ids::has_order(column.base_type))
            .find_map(|id| Some((id, likely_text(id)?)))
    }

    /// Lists the columns that may hold documents, for hints.
    pub(crate) fn documents(&self) -> impl Iterator<Item = &UserColumn> {
        let holds_tokens = |column: &UserColumn| {
            let kind = ColumnContent::for_type(column.base_type);
            kind != ColumnContent::Text && kind.sketches().is_none()
        };
        self.columns.iter().filter(move |column| column.is_text() || holds_tokens(column))
    }

    /// Reports whether the primary key has several columns.
    pub(crate) fn has_key_of_several(&self) -> bool {
        self.primary_key.len() > 1
    }

    /// Returns the statement that makes a view with one id of a key of several columns, or `None`
    /// if there is no document beside the key.
    pub(crate) fn one_key_view(&self, is_temporary: bool) -> Option<String> {
        let keys: Option<Vec<String>> = self.keys().map(|key| key.quoted().ok()).collect();
        let (keys, document) = (keys?.join(", "), self.document_beside_key()?.quoted().ok()?);
        let temporary = if is_temporary { "TEMP " } else { "" };
        Some(format!(
            "CREATE {temporary}VIEW one_key AS SELECT ({keys})::text AS id, {document} AS body FROM {};",
            self.shown
        ))
    }

    /// Lists the columns of the primary key.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &UserColumn> {
        self.primary_key.iter().filter_map(|&number| self.numbered(number))
    }

    /// Returns a text column that is not in the primary key, for hints.
    fn document_beside_key(&self) -> Option<&UserColumn> {
        let texts = || {
            let columns = self.columns.iter();
            columns.filter(|column| column.is_text() && !self.primary_key.contains(&column.number))
        };
        texts().find(|column| column.is_usual()).or_else(|| texts().next())
    }

    /// Returns the hint for a relation whose documents are in a column of JSON or of bytes, with no
    /// column of texts or tokens: a view with the text of one key, or of the bytes.
    pub(crate) fn view_of_texts(&self) -> Option<String> {
        let key = self.only_key().map(|key| key.number);
        if self.documents().any(|column| Some(column.number) != key) {
            return None;
        }
        let id = self.only_key().or_else(|| self.columns.iter().find(|column| column.is_integer()))?;
        let id = id.quoted().ok()?;
        let Some(json) = self.columns.iter().find(|column| column.is_json()) else {
            let bytes = self.columns.iter().find(|column| column.is_bytes())?;
            return Some(format!(
                "A view can read bytes as text: CREATE TEMP VIEW texts AS SELECT {id} AS id, {} AS body FROM {}; \
                 then name texts and id_column => 'id'.",
                bytes.text_of_bytes().ok()?,
                self.shown
            ));
        };
        let json = json.quoted().ok()?;
        Some(format!(
            "A view can take the text out of {json}: CREATE TEMP VIEW texts AS SELECT {id} AS id, {json} ->> 'body' AS body FROM {}; \
             then name texts and id_column => 'id', with the key of your texts instead of 'body'.",
            self.shown
        ))
    }

    /// Lists the names of the columns, for hints.
    pub(crate) fn column_names(&self) -> String {
        names(self.columns.iter())
    }

    /// Reports whether a column alone is the primary key.
    pub(crate) fn is_key(&self, column: &UserColumn) -> bool {
        self.key().is_some_and(|key| key.number == column.number)
    }

    /// Returns the values of columns of a row of the table, as texts. They are none if there is no
    /// such row.
    pub(crate) fn values_of_row(
        &self,
        mut row: pg_sys::ItemPointerData,
        columns: &[&UserColumn],
    ) -> Result<Vec<String>> {
        let mut values = Vec::new();
        // SAFETY: the table is locked, so it exists; all that is opened here is closed. A column
        // that is not dropped has a type with an output function.
        unsafe {
            let relation = OpenRelation(pg_sys::relation_open(self.oid, pg_sys::NoLock as i32));
            let Some(fetch) = (*(*relation.0).rd_tableam).tuple_fetch_row_version else {
                return Ok(values);
            };
            let slot = pg_sys::table_slot_create(relation.0, std::ptr::null_mut());
            let (table, address, any) = (relation.0, &raw mut row, &raw mut pg_sys::SnapshotAnyData);
            let is_there = catch(|| fetch(table, address, any, slot))?;
            for column in columns.iter().filter(|_| is_there) {
                let mut null = false;
                let value = pg_sys::slot_getattr(slot, column.number.into(), &raw mut null);
                values.push(value_as_text(column.base_type, value)?);
            }
            pg_sys::ExecDropSingleTupleTableSlot(slot);
        }
        Ok(values)
    }

    /// Returns the column of the primary key, if the key has only one. A key that is checked later
    /// is none, as its values can repeat while a transaction goes on.
    fn key(&self) -> Option<&UserColumn> {
        self.only_key().filter(|_| !self.is_deferrable)
    }

    /// Returns the column of the primary key, if the key has only one, whenever it is checked.
    fn only_key(&self) -> Option<&UserColumn> {
        let [number] = self.primary_key[..] else { return None };
        self.numbered(number)
    }

    /// Lists the text columns other than the id.
    fn texts(&self, id: &UserColumn) -> impl Iterator<Item = &UserColumn> {
        let id = id.number;
        self.columns.iter().filter(move |column| column.is_text() && column.number != id)
    }

    /// Returns the text column, other than the id, that is used if the caller names none.
    fn only_text(&self, id: &UserColumn) -> Option<&UserColumn> {
        only(self.texts(id)).or_else(|| only(self.texts(id).filter(|column| column.is_usual())))
    }

    /// Returns the column with the number `number`, unless it was dropped.
    pub(crate) fn numbered(&self, number: i16) -> Option<&UserColumn> {
        self.columns.iter().find(|column| column.number == number)
    }

    /// Returns the column with the name `name`. `argument` is the SQL argument that names the
    /// column, for the error.
    pub(crate) fn named(&self, name: &str, argument: &str) -> Result<&UserColumn> {
        self.columns.iter().find(|column| column.name == name).ok_or_else(|| {
            SqlError::new(
                PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
                format!("{argument}: relation {} has no column \"{name}\"", self.shown),
            )
        })
    }
}

/// Returns the only item, or `None` if there are more items or none.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let item = items.next()?;
    items.next().is_none().then_some(item)
}

/// Lists the names of columns. If there are very many columns, lists only the first ones.
fn names<'a>(columns: impl Iterator<Item = &'a UserColumn>) -> String {
    const MOST: usize = 30;
    let mut names: Vec<&str> = columns.take(MOST + 1).map(|column| column.name.as_str()).collect();
    if names.len() > MOST {
        names[MOST] = "…";
    }
    names.join(", ")
}

/// Returns the numbers of the columns of the primary key, and whether it is checked later than at
/// each change of a row.
///
/// # Safety
/// The relation is open.
unsafe fn primary_key(relation: pg_sys::Relation) -> (Vec<i16>, bool) {
    // SAFETY: the caller's promise; an index has a row in pg_index with `indnkeyatts` keys.
    unsafe {
        let indexes = PgList::<pg_sys::Oid>::from_pg(pg_sys::RelationGetIndexList(relation));
        for index in indexes.iter_oid() {
            let index = pg_sys::index_open(index, pg_sys::AccessShareLock as i32);
            let form = (*index).rd_index;
            let key = ((*form).indisprimary && (*form).indisvalid).then(|| {
                let columns = (*form).indkey.values.as_slice((*form).indnkeyatts as usize).to_vec();
                (columns, !(*form).indimmediate)
            });
            pg_sys::relation_close(index, pg_sys::NoLock as i32);
            if let Some(key) = key {
                return key;
            }
        }
        (Vec::new(), false)
    }
}
