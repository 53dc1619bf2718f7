//! Pairs to label: `suggest_pairs` (docs/reference/functions.md, *Pairs*).

use pgrx::pg_sys::{self, Datum};

use super::survey::{Survey, usual};
use crate::pg::query::Query;
use crate::pg::query::cursor::OpenCursor;
use crate::pg::query::ids::{OrderedIds, RowIds};
use crate::pg::query::names::equality;
use crate::pg::read::source::DocumentSource;
use crate::pg::request::form::{Argument, Named, SUGGEST_PAIRS};
use crate::pg::request::{Request, such_as};
use crate::pg::server::call::{sql_functions, varlena_bytes};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::set_returning::{self, RowSource, Rows, float};
use neardup_core::memory;
use neardup_core::suggest::proposals::{Proposal, Proposals};

sql_functions! {
    /// `suggest_pairs(docs, wanted, …)`
    neardup_suggest_pairs: |call| set_returning::answer(call, || chosen_pairs(SUGGEST_PAIRS.bind(call)));
}

const DOING: &str = "reading texts";

/// The texts of a pair, in the encoding of the server.
type PairTexts = [Option<Vec<u8>>; 2];

/// Returns the chosen pairs as rows.
fn chosen_pairs(given: Named<'_>) -> Result<impl RowSource<7> + use<>> {
    let request = Request::new(given)?;
    let wanted: i32 = given.get(Argument::Wanted).unwrap_or(100);
    let wanted = usize::try_from(wanted).ok().filter(|wanted| (1..=Proposals::MOST).contains(wanted));
    let Some(wanted) = wanted else {
        let message = format!(
            "wanted must be between 1 and {}, not {}",
            Proposals::MOST,
            given.get::<i32>(Argument::Wanted).unwrap_or(100)
        );
        return Err(SqlError::parameter(message).hint(such_as(&usual(&request))));
    };
    let mut proposals = Proposals::new(wanted);
    let survey = Survey::new(&request, given, Some(&mut proposals))?;
    let boundary = survey.curve.suggest().threshold;
    let chosen = proposals.choose(survey.curve.strata(), boundary)?;
    let rows = survey.rows(&chosen)?;
    let source = request.left;
    let ids = OrderedIds::new(survey.finished.left, &survey.finished.executor)?;
    let pairs = memory::collect(chosen.into_iter().zip(rows), DOING)?;
    let (mut at, mut texts) = (0, Vec::new().into_iter());
    let columns = ["left_id", "right_id", "similarity", "stratum", "weight", "text_a", "text_b"];
    Ok(Rows::made_by(columns, move || {
        let Some(&(proposal, rows)) = pairs.get(at) else { return Ok(None) };
        if texts.len() == 0 {
            texts = read_texts(&source, &ids, &pairs[at..])?.into_iter();
        }
        at += 1;
        // A row may have been deleted by the caller's own statement since it was read.
        let text = |text: Option<Vec<u8>>| {
            // SAFETY: the bytes are copied.
            text.map(|text| unsafe {
                Datum::from(pg_sys::cstring_to_text_with_len(text.as_ptr().cast(), text.len() as i32))
            })
        };
        let [text_a, text_b] = texts.next().unwrap_or_default().map(text);
        let [left, right] = rows.map(|row| Some(ids.ids.datum(row)));
        let [similarity, stratum, weight] =
            [proposal.of.similarity, proposal.stratum, proposal.weight].map(float);
        Ok(Some([left, right, similarity, stratum, weight, text_a, text_b]))
    }))
}

/// Reads the texts of the first ones of these pairs.
fn read_texts(
    source: &DocumentSource,
    documents: &OrderedIds,
    pairs: &[(Proposal, [u32; 2])],
) -> Result<Vec<PairTexts>> {
    const PAIRS_A_QUERY: usize = 16;
    const ROWS_A_FETCH: usize = 4;
    let next = &pairs[..pairs.len().min(PAIRS_A_QUERY)];
    let ids = &documents.ids;
    let mut wanted = RowIds::new(ids.type_oid());
    for row in next.iter().flat_map(|(_, rows)| rows) {
        // SAFETY: an id of these ids.
        unsafe { wanted.push(ids.datum(*row))? };
    }
    let DocumentSource { id, key, column, table, oid, .. } = source;
    let equals = equality(ids.type_oid())?;
    let sql =
        format!("SELECT {id}, {column}::pg_catalog.text FROM {table} AS d WHERE {key} {equals} ANY ($1)");
    let Some(array) = wanted.array()? else {
        let message = "the type of the ids has no array type, so texts are not found by them";
        return Err(SqlError::parameter(message).hint("A view can cast the ids to text."));
    };
    let mut texts: Vec<PairTexts> = next.iter().map(|_| [None, None]).collect();
    let query = Query { parameters: &[array], relations: &[*oid], ..Query::new(&sql) };
    let types = [ids.type_oid(), pg_sys::TEXTOID];
    OpenCursor::open(&query, types)?.for_each(ROWS_A_FETCH, |[id, text]| {
        let (Some(id), Some(text)) = (id, text) else { return Ok(()) };
        // SAFETY: the cursor checked the types of the id and of the text, which lives until the
        // next fetch.
        let (place, bytes) = unsafe { (documents.find(id), varlena_bytes(text)) };
        let Some(row) = place.map(|place| documents.row(place as u32)) else { return Ok(()) };
        for ((_, rows), texts) in next.iter().zip(&mut texts) {
            for (_, text) in rows.iter().zip(texts).filter(|(of, _)| **of == row) {
                let mut copy = Vec::new();
                memory::extend(&mut copy, bytes, DOING)?;
                *text = Some(copy);
            }
        }
        Ok(())
    })?;
    Ok(texts)
}
