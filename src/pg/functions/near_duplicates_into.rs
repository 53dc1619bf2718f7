//! What `near_duplicates_into` makes its statements of (docs/reference/functions.md).

use pgrx::IntoDatum;
use pgrx::pg_sys::{self, Datum};

use super::token_sets::measure;
use crate::features::{FeatureSpec, Tokenizer};
use crate::methods::Update;
use crate::pg::query::as_user::Extension;
use crate::pg::query::decode::Kind;
use crate::pg::query::names::qualified_type;
use crate::pg::query::relation::Relation;
use crate::pg::read::source::Source;
use crate::pg::request::form::{self, Argument, Form};
use crate::pg::request::{Request, such_as};
use crate::pg::server::call::sql_function;
use crate::pg::server::error::Result;
use crate::pg::server::set_returning::{self, Rows};
use crate::pg::server::values;
use crate::verify::predicate::Predicate;

/// Hints show a call that users know.
const FORM: Form = form::NEAR_DUPLICATES.typed();

sql_function! {
    /// `neardup_into_plan(docs, threshold, id_type, …)`: the arguments are checked like those of near_duplicates.
    neardup_into_plan, pg_finfo_neardup_into_plan, |call| {
        let given = FORM.of(call);
        let relation = Relation::open(given.need(Argument::Docs)?)?;
        let id = relation.id_column(given.text(Argument::IdColumn)?.as_deref(), Argument::IdColumn.name());
        // As near_duplicates has them where no type is given; it says what is wrong where there is no such column.
        let own = id.map_or(pg_sys::INT8OID, |id| if id.is_integer() { pg_sys::INT8OID } else { id.base_type });
        let id_type = given.get(Argument::IdType).unwrap_or(own);
        let request = Request::of_ids(call, FORM, Some(id_type))?;
        let schema = Extension::of(call)?.schema;
        let source = &request.left;
        let method = given.text(Argument::Method)?.unwrap_or("jaccard".into());
        let in_parts = in_parts(&request, &method);
        let sets = in_parts.map(|(spec, ..)| {
            let tokens = tokens(&schema, source, &spec);
            format!("SELECT {} AS id, {tokens} AS set FROM {} AS d", source.id, source.table)
        });
        let plan = Plan {
            id_type: values::text(&qualified_type(id_type))?,
            sets: sets.as_deref().map(values::text).transpose()?,
            measure: in_parts.map(|(_, measure, _)| values::text(measure)).transpose()?,
            threshold: in_parts.and_then(|(_, _, threshold)| threshold.into_datum()),
            example: values::text(&such_as(&request.example))?,
            given: false,
        };
        set_returning::all(call, plan)
    }
}

/// The statements' parts, as a row.
struct Plan {
    id_type: Datum,
    sets: Option<Datum>,
    measure: Option<Datum>,
    threshold: Option<Datum>,
    example: Datum,
    given: bool,
}

impl Rows<5> for Plan {
    fn columns(&self) -> [&'static str; 5] {
        ["ids", "sets", "measure", "at_least", "example"]
    }

    fn next(&mut self) -> Result<Option<[Datum; 5]>> {
        let Self { id_type, sets, measure, threshold, example, given } = self;
        let null = Datum::null();
        let row =
            [*id_type, sets.unwrap_or(null), measure.unwrap_or(null), threshold.unwrap_or(null), *example];
        Ok((!std::mem::replace(given, true)).then_some(row))
    }

    fn nulls(&self) -> [bool; 5] {
        [false, self.sets.is_none(), self.measure.is_none(), self.threshold.is_none(), false]
    }
}

/// How documents are cut, the measure and the threshold of a join that can be made in parts; none of any other.
fn in_parts(request: &Request, method: &str) -> Option<(FeatureSpec, &'static str, f64)> {
    let name = match method {
        "jaccard" => "jaccard",
        "cosine" => "cosine",
        "dice" => "dice",
        // Within one table the greater containment counts.
        "overlap" | "containment" => "overlap",
        _ => return None,
    };
    let Update::Sets(spec, predicate) = request.method.update() else { return None };
    let threshold = predicate.threshold();
    // A number of shared tokens is no matter of parts.
    let plain = Predicate::new(measure(name).ok()?, threshold).ok()?;
    (predicate == plain).then_some((spec, name, threshold))
}

/// The set of a document, in terms of the alias `d`.
fn tokens(schema: &str, source: &Source, spec: &FeatureSpec) -> String {
    let FeatureSpec { tokenizer, shingle, multiset, .. } = spec;
    let document = &source.document;
    let tokenizer = match (source.kind, tokenizer) {
        (Kind::Text, Tokenizer::Chars) => "'chars'::pg_catalog.text, ",
        (Kind::Text, Tokenizer::Whitespace) => "'whitespace'::pg_catalog.text, ",
        (Kind::Text, Tokenizer::Html) => "'html'::pg_catalog.text, ",
        (Kind::Text, _) => "'words'::pg_catalog.text, ",
        _ => "",
    };
    format!("{schema}.tokens({document}, {tokenizer}{shingle}::pg_catalog.int4, {multiset}::pg_catalog.bool)")
}
