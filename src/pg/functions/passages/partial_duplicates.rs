//! Passages that documents share: `partial_duplicates`, `partial_duplicates_between` and
//! `shared_passages` (docs/reference/functions.md, *Passages*).

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::Datum;

use crate::pg::functions::pairs::near_duplicates_stats::{StoredAccount, tell_weak};
use crate::pg::functions::texts::spans::range;
use crate::pg::read::documents::ServerReading;
use crate::pg::request::example::Example;
use crate::pg::request::form::{self, FunctionForm};
use crate::pg::request::{HtmlPages, PassageArguments, PassageRequest, such_as, wanted};
use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::compute;
use crate::pg::server::notices::notice;
use crate::pg::server::set_returning::{self, Row, RowSource, Rows, float};
use neardup_core::features::tokens::{Document, Page};
use neardup_core::memory;
use neardup_core::methods::passages;
use neardup_core::passages::{Capped, Passage, between_documents};

sql_functions! {
    /// `partial_duplicates(docs, threshold, …)`
    neardup_partial_duplicates: |call| answer(call, form::PARTIAL_DUPLICATES);

    /// `partial_duplicates_between(left, right, threshold, …)`
    neardup_partial_duplicates_between: |call| answer(call, form::PARTIAL_DUPLICATES_BETWEEN);
}

/// The default of `max_passages` for a call whose passages the server stores before it uses them.
const DEFAULT_MAX_PASSAGES: u64 = 100_000_000;

fn answer(call: FunctionCall, form: FunctionForm) -> Result<Datum> {
    set_returning::answer(call, || {
        let mut request = PassageRequest::new(form.bind(call))?;
        if set_returning::wants_all(call)? {
            request.max_passages.get_or_insert(DEFAULT_MAX_PASSAGES);
        }
        running_search(&request)
    })
}

/// Reads the documents and joins their sentences. Returns the passages as rows.
pub(crate) fn running_search(request: &PassageRequest) -> Result<impl RowSource<8> + use<>> {
    let &PassageRequest { name, ref left, ref right, id_type, ref parameters, max_passages, .. } = request;
    let reading = ServerReading::open(name, left, right.as_ref(), id_type);
    let (mut search, mut finished, account) = reading.prepare(|reading| {
        reading.most_pairs = max_passages;
        passages::search(parameters, reading)
    })?;
    tell_capped(request, search.capped());
    tell_weak(name, &account, &request.of_words);
    let (example, mut kept) = (request.example.clone(), StoredAccount::from_account(account));
    let is_edited = parameters.edits.is_some();
    let mut batch = Vec::new().into_iter();
    let [a, b, c, d, e, f] = COLUMNS;
    Ok(Rows::made_by(["left_id", "right_id", a, b, c, d, e, f], move || {
        let kept: &mut StoredAccount = &mut kept;
        let passage: Passage = loop {
            if let Some(passage) = batch.next() {
                break passage;
            }
            let next = kept.timed(|| search.next_batch(&finished.executor))?;
            kept.account.peak_memory = kept.account.peak_memory.max(search.bytes() as u64);
            let (share, given) = (search.progress(), kept.account.pairs);
            finished.progress.report(|| format!("matching, {:.0} %, {given} passages", 100.0 * share));
            match next {
                Some(next) => batch = next.into_iter(),
                None => return Ok(None),
            }
        };
        kept.account.pairs += 1;
        if let Some(most) = max_passages.filter(|&most| kept.account.pairs > most) {
            return Err(too_many(name, &example, most, is_edited));
        }
        let [left, right] = finished.ids(passage.left_row, passage.right_row).map(Some);
        let [a, b, c, d, e, f] = columns(&passage)?;
        Ok(Some([left, right, a, b, c, d, e, f]))
    }))
}

fn too_many(name: &str, example: &Example, most: u64, is_edited: bool) -> SqlError {
    let least = if is_edited { "min_length" } else { "min_sentences, the threshold" };
    SqlError::new(
        PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
        format!("{name} has more than max_passages = {most} passages to give"),
    )
    .hint(format!(
        "Raise {least} or max_passages, or take passages as they are found: SELECT {example} LIMIT 10;"
    ))
}

/// Tells the caller if some sentences have so many similar sentences that passages may be missing.
fn tell_capped(request: &PassageRequest, capped: Capped) {
    if capped.sentences == 0 {
        return;
    }
    let Capped { sentences, occurrences, equal_only } = capped;
    let most = request.parameters.most_similar;
    if let Some(edits) = request.parameters.edits {
        return notice(format!(
            "{}: runs of {} words that more than max_similar = {most} places have: {sentences}, {occurrences} times in \
             documents; they begin no passage; see near_duplicates_stats()",
            request.name,
            edits.run()
        ));
    }
    let only = if equal_only { ", and only over those that are equal" } else { "" };
    notice(format!(
        "{}: sentences that more than max_similar = {most} are similar to: {sentences}, {occurrences} times in \
         documents; they count only where a passage comes to them{only}; see near_duplicates_stats()",
        request.name
    ));
}

/// Returns passages of two texts as rows.
pub(in crate::pg::functions) fn passage_rows(passages: Vec<Passage>) -> impl RowSource<6> {
    Rows(COLUMNS, passages.into_iter().map(|passage| columns(&passage)))
}

/// The columns of a passage after the two ids.
const COLUMNS: [&str; 6] =
    ["left_sentence", "right_sentence", "sentences", "left_span", "right_span", "similarity"];

/// Returns the values of these columns.
fn columns(passage: &Passage) -> Result<Row<6>> {
    // Sentences are numbered from 1, like the rows of the SQL function `sentences`.
    // Edited passages have none.
    let numbers = [passage.left_sentence + 1, passage.right_sentence + 1, passage.sentences];
    let [left, right, sentences] = numbers.map(|n| (passage.sentences > 0).then(|| Datum::from(n as i32)));
    Ok([
        left,
        right,
        sentences,
        Some(range(&passage.left_span)?),
        Some(range(&passage.right_span)?),
        float(passage.similarity),
    ])
}

sql_functions! {
    /// `shared_passages(a, b, threshold, options, features, min_sentences, extend, shingle,
    /// tokenizer, edits, min_length)`: returns the passages that two texts share.
    neardup_shared_passages, within Arguments: |call| {
        set_returning::answer(call, || {
            let mut example = Example::new("shared_passages", ["…".to_owned(), "…".to_owned()]);
            let PassageArguments { parameters, pages } =
                wanted(form::SHARED_PASSAGES.bind(call), &mut example)?;
            if let Some(HtmlPages { url: Some(_) }) = pages {
                let message = "url names a column, and shared_passages reads no relation";
                let hint = "The text of a page that has a URL is html_text(page, url).";
                return Err(SqlError::parameter(message).hint(format!("{hint} {}", such_as(&example))));
            }
            let mut found = Vec::new();
            if let Some(texts) = call.two_texts()? {
                let bytes = texts.iter().map(|text| text.len()).sum();
                found = compute(bytes, |stop| {
                    let document = |text: &str| {
                        let text = memory::copied(text, "comparing two texts")?;
                        Ok(match pages {
                            Some(_) => Document::Page(Page { html: text, url: None }),
                            None => Document::Text(text),
                        })
                    };
                    between_documents([document(&texts[0])?, document(&texts[1])?], &parameters, stop)
                })?;
            }
            Ok(passage_rows(found))
        })
    };
}
