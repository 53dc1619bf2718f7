//! What a whole table says again, and what two texts share, word for word: `repeated_runs`,
//! `cut_repeats`, `shared_runs` (docs/reference/functions.md, *Repeated runs*).

use pgrx::pg_sys::Datum;

use crate::pg::functions::pairs::near_duplicates_stats::StoredAccount;
use crate::pg::functions::texts::spans::range;
use crate::pg::read::documents::{Finished, ServerReading};
use crate::pg::request::example::Example;
use crate::pg::request::form::{self, Argument, FunctionForm};
use crate::pg::request::{RunsRequest, plain_tokenizer, such_as};
use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::contexts::RowMemory;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::{BackendExecutor, compute};
use crate::pg::server::notices::notice;
use crate::pg::server::set_returning::{self, Rows};
use crate::pg::server::values;
use neardup_core::error::Result as CoreResult;
use neardup_core::executor::Stop;
use neardup_core::features::Tokenizer;
use neardup_core::features::runs::places::token_places;
use neardup_core::features::runs::tokens::read_tokens;
use neardup_core::features::tokens::Scratch;
use neardup_core::methods::account::Account;
use neardup_core::methods::reading::Reading;
use neardup_core::methods::repeats;
use neardup_core::repeats::cut::CutText;
use neardup_core::text::html;
use neardup_core::text::spans::Span;
use neardup_core::verify::shared_runs::SharedRuns;

sql_functions! {
    /// `repeated_runs(docs, min_length, …)`
    neardup_repeated_runs: |call| runs(call, form::REPEATED_RUNS);

    /// `cut_repeats(docs, min_length, …)`
    neardup_cut_repeats: |call| cut(call, form::CUT_REPEATS);
}

fn runs(call: FunctionCall, form: FunctionForm) -> Result<Datum> {
    set_returning::answer(call, || {
        let request = RunsRequest::new(form.bind(call))?;
        let (mut runs, finished, account) =
            read(&request, |reading| repeats::runs(&request.parameters, reading))?;
        let mut kept = StoredAccount::from_account(account);
        let mut memory = RowMemory::new("neardup: ranges");
        let columns = ["id", "span", "tokens", "of_id", "of_span", "documents"];
        Ok(Rows::made_by(columns, move || {
            let Some(run) = runs.next(&finished.executor)? else { return Ok(None) };
            let kept: &mut StoredAccount = &mut kept;
            kept.account.pairs += 1;
            let [id, of_id] = finished.ids(run.row, run.of_row);
            let [span, of_span] = memory.make(|| Ok([range(&run.span)?, range(&run.of_span)?]))?;
            let (tokens, documents) = (Datum::from(run.tokens as i32), Datum::from(i64::from(run.documents)));
            Ok(Some([id, span, tokens, of_id, of_span, documents].map(Some)))
        }))
    })
}

fn cut(call: FunctionCall, form: FunctionForm) -> Result<Datum> {
    set_returning::answer(call, || {
        let request = RunsRequest::new(form.bind(call))?;
        let work = |reading: &mut Reading<'_>| repeats::cut(&request.parameters, request.cutting, reading);
        let (mut texts, mut finished, account) = read(&request, work)?;
        let mut kept = StoredAccount::from_account(account);
        let mut memory = RowMemory::new("neardup: cut text");
        let mut batch = Vec::new().into_iter();
        Ok(Rows::made_by(["id", "body", "cut_characters", "cut_tokens"], move || {
            let kept: &mut StoredAccount = &mut kept;
            loop {
                if let Some(CutText { row, body, characters, tokens }) = batch.next() {
                    kept.account.pairs += 1;
                    let [id, _] = finished.ids(row, row);
                    let body = memory.make(|| body.as_deref().map(values::text).transpose())?;
                    // A text of the server has fewer than 2^31 characters.
                    let [characters, tokens] =
                        [characters, tokens].map(|count| Some(Datum::from(count as i32)));
                    return Ok(Some([Some(id), body, characters, tokens]));
                }
                let next = kept.timed(|| texts.next_batch(&finished.executor))?;
                let share = texts.progress();
                finished.progress.report(|| format!("cutting, {:.0} %", 100.0 * share));
                match next {
                    Some(next) => batch = next.into_iter(),
                    None => return Ok(None),
                }
            }
        }))
    })
}

/// Reads the documents, and searches for repeated runs.
fn read<T>(
    request: &RunsRequest,
    work: impl FnOnce(&mut Reading<'_>) -> CoreResult<T>,
) -> Result<(T, Finished, Account)> {
    let mut reading = ServerReading::open(request.name, &request.source, None, request.id_type);
    reading.weigh_by(request.weight.clone());
    let prepared = reading.prepare(work)?;
    let alone = prepared.2.unsigned;
    if alone.count > 0 {
        notice(format!(
            "{}: {} of {} documents are NULL in the column of within: each of them is compared with itself only; see \
             near_duplicates_stats()",
            request.name, alone.count, alone.of
        ));
    }
    Ok(prepared)
}

sql_functions! {
    /// `shared_runs(a, b, min_run, tokenizer)`: returns the runs that two texts share.
    neardup_shared_runs, within Arguments: |call| {
        set_returning::answer(call, || {
            let mut example = Example::new("shared_runs", ["…".to_owned(), "…".to_owned()]);
            example.threshold = Some(12.0);
            let given = form::SHARED_RUNS.bind(call);
            let least: i32 = given.get(Argument::MinRun).unwrap_or(12);
            let least = usize::try_from(least).ok().filter(|&least| least > 0).ok_or_else(|| {
                let message = format!("min_run must be a whole number of at least 1, not {least}");
                SqlError::parameter(message).hint(such_as(&example))
            })?;
            let tokenizer = given.text(Argument::Tokenizer)?;
            let (tokenizer, _) = plain_tokenizer(tokenizer.as_deref(), None, &example)?;
            let mut found = None;
            if let Some(texts) = call.two_texts()? {
                let bytes = texts.iter().map(|text| text.len()).sum();
                let locate = |stop: &Stop| located([&texts[0], &texts[1]], tokenizer, least, stop);
                found = Some(compute(bytes, locate)?);
            }
            let mut memory = RowMemory::new("neardup: ranges");
            Ok(Rows::made_by(["left_span", "right_span", "tokens"], move || {
                let Some((runs, places)) = &mut found else { return Ok(None) };
                let Some(run) = runs.next(&BackendExecutor::single())? else { return Ok(None) };
                let span = |n: usize, first: u32| {
                    let [first, last] = [first, first + run.tokens - 1].map(|at| &places[n][at as usize].chars);
                    range(&(first.start..last.end))
                };
                let [left, right] = memory.make(|| Ok([span(0, run.left)?, span(1, run.right)?]))?;
                Ok(Some([left, right, Datum::from(run.tokens as i32)].map(Some)))
            }))
        })
    };
}

/// Returns the shared runs of two texts, and the places of the tokens of both.
fn located(
    texts: [&str; 2],
    tokenizer: Tokenizer,
    least: usize,
    stop: &Stop,
) -> CoreResult<(SharedRuns, [Vec<Span>; 2])> {
    let (mut places, mut hashes) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    let mut scratch = Scratch::default();
    for (n, text) in texts.into_iter().enumerate() {
        let (mut page, mut text, mut of_texts) = (String::new(), text, tokenizer);
        if tokenizer == Tokenizer::Html {
            html::read_text(text, None, &mut page, stop)?;
            (text, of_texts) = (&page, Tokenizer::Words);
        }
        token_places(text, of_texts, stop, &mut places[n])?;
        read_tokens(text, of_texts, &mut scratch, &mut hashes[n], stop)?;
    }
    Ok((SharedRuns::new(hashes, least, stop)?, places))
}
