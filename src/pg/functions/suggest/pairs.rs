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
use crate::pg::server::set_returning::{self, Row, RowSource, float};
use neardup_core::memory;
use neardup_core::suggest::proposals::{Proposal, Proposals};

sql_functions! {
    /// `suggest_pairs(docs, wanted, …)`
    neardup_suggest_pairs: |call| set_returning::answer(call, || ChosenPairs::new(SUGGEST_PAIRS.bind(call)));
}

const DOING: &str = "reading texts";
const COLUMNS: usize = 7;

/// The chosen pairs as rows.
struct ChosenPairs {
    source: DocumentSource,
    ids: OrderedIds,
    pairs: Vec<(Proposal, [u32; 2])>,
    /// The number of pairs that were returned.
    at: usize,
    /// The texts of the next pairs, in the encoding of the server, with the first of these pairs.
    texts: Vec<[Option<Vec<u8>>; 2]>,
    texts_from: usize,
}

impl ChosenPairs {
    fn new(given: Named<'_>) -> Result<Self> {
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
        Ok(Self {
            source: request.left,
            ids: OrderedIds::new(survey.finished.left, &survey.finished.executor)?,
            pairs: memory::collect(chosen.into_iter().zip(rows), DOING)?,
            at: 0,
            texts: Vec::new(),
            texts_from: 0,
        })
    }

    /// Reads the texts of the next pairs.
    fn read(&mut self) -> Result<()> {
        const PAIRS_A_QUERY: usize = 16;
        const ROWS_A_FETCH: usize = 4;
        let next = &self.pairs[self.at..self.pairs.len().min(self.at + PAIRS_A_QUERY)];
        let OrderedIds { ids, order } = &self.ids;
        let mut wanted = RowIds::new(ids.type_oid());
        for row in next.iter().flat_map(|(_, rows)| rows) {
            // SAFETY: an id of these ids.
            unsafe { wanted.push(ids.datum(*row))? };
        }
        let DocumentSource { id, key, column, table, oid, .. } = &self.source;
        let equals = equality(ids.type_oid())?;
        let sql =
            format!("SELECT {id}, {column}::pg_catalog.text FROM {table} AS d WHERE {key} {equals} ANY ($1)");
        let Some(array) = wanted.array()? else {
            let message = "the type of the ids has no array type, so texts are not found by them";
            return Err(SqlError::parameter(message).hint("A view can cast the ids to text."));
        };
        let mut texts: Vec<[Option<Vec<u8>>; 2]> = next.iter().map(|_| [None, None]).collect();
        let query = Query { parameters: &[array], relations: &[*oid], ..Query::new(&sql) };
        let types = [ids.type_oid(), pg_sys::TEXTOID];
        OpenCursor::open(&query, types)?.for_each(ROWS_A_FETCH, |[id, text]| {
            let (Some(id), Some(text)) = (id, text) else { return Ok(()) };
            // SAFETY: the cursor checked the types of the id and of the text, which lives until the
            // next fetch.
            let (place, bytes) = unsafe { (self.ids.find(id), varlena_bytes(text)) };
            let Some(row) = place.map(|place| order[place]) else { return Ok(()) };
            for ((_, rows), texts) in next.iter().zip(&mut texts) {
                for (_, text) in rows.iter().zip(texts).filter(|(of, _)| **of == row) {
                    let mut copy = Vec::new();
                    memory::extend(&mut copy, bytes, DOING)?;
                    *text = Some(copy);
                }
            }
            Ok(())
        })?;
        (self.texts, self.texts_from) = (texts, self.at);
        Ok(())
    }
}

impl RowSource<COLUMNS> for ChosenPairs {
    fn columns(&self) -> [&'static str; COLUMNS] {
        ["left_id", "right_id", "similarity", "stratum", "weight", "text_a", "text_b"]
    }

    fn next(&mut self) -> Result<Option<Row<COLUMNS>>> {
        if self.at == self.pairs.len() {
            return Ok(None);
        }
        if self.at - self.texts_from >= self.texts.len() {
            self.read()?;
        }
        let (proposal, rows) = self.pairs[self.at];
        let [a, b] = &self.texts[self.at - self.texts_from];
        // A row may have been deleted by the caller's own statement since it was read.
        let text = |text: &Option<Vec<u8>>| {
            // SAFETY: the bytes are copied.
            text.as_ref().map(|text| unsafe {
                Datum::from(pg_sys::cstring_to_text_with_len(text.as_ptr().cast(), text.len() as i32))
            })
        };
        let [left, right] = rows.map(|row| Some(self.ids.ids.datum(row)));
        let row = [
            left,
            right,
            float(proposal.of.similarity),
            float(proposal.stratum),
            float(proposal.weight),
            text(a),
            text(b),
        ];
        self.at += 1;
        Ok(Some(row))
    }
}
