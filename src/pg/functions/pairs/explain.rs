//! The verdict of every method on one pair: `explain_pair`, and `explain_pair_text` for a terminal;
//! and the two texts side by side: `diff_html`.
//!
//! Calls of them with a table and two ids are errors, whose hint is the call with the texts of
//! these rows.

use std::io;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};
use serde::Serialize;

use crate::pg::query::names::value_as_text;
use crate::pg::query::relation::Relation;
use crate::pg::request::example::literal;
use crate::pg::request::methods;
use crate::pg::request::methods::sets::{self, DEFAULT_THRESHOLD};
use crate::pg::request::weights;
use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::encoding;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::compute;
use crate::pg::server::set_returning::{self, RowSource, Rows, float};
use crate::pg::server::values::text;
use neardup_core::error::Result as CoreResult;
use neardup_core::executor::Stop;
use neardup_core::hash;
use neardup_core::memory::{self, Written};
use neardup_core::methods::Method;
use neardup_core::methods::explain::{Evidence, Explanation};
use neardup_core::methods::pair::TwoTexts;
use neardup_core::methods::sets::Sets;
use neardup_core::methods::stored::{NearBits, StoredMinhash, StoredSimhash};
use neardup_core::report::diff::{Compared, Diff};
use neardup_core::report::dotplot::DotPlot;
use neardup_core::report::html::STYLE;
use neardup_core::report::passages::PassageWord;
use neardup_core::report::side_by_side::{Extent, side_by_side};
use neardup_core::report::terminal::{self, Figure};
use neardup_core::sketches::stored::SketchKind;
use neardup_core::sketches::wire::{Minhash, Simhash};

/// The name of the last row, which is meant for human readers and is no method: it shows runs of
/// words that occur anywhere in both texts.
const PASSAGES: &str = "passages";

const DOING: &str = "explaining a pair";

/// A longer text is not the name of a relation, and its schema.
const LONGEST_NAME: usize = 256;

/// The evidence in one row of the result.
#[derive(Serialize)]
#[serde(untagged)]
enum SaidEvidence {
    Method(Evidence),
    Passages(Passages),
}

/// The number of passages that both texts share, and the first passages.
#[derive(Serialize)]
struct Passages {
    count: usize,
    passages: Vec<Passage>,
}

/// A passage that occurs in both texts. The characters in spans are counted from 1, as in SQL, and
/// spans are half open.
#[derive(Serialize)]
struct Passage {
    left_span: [usize; 2],
    right_span: [usize; 2],
    words: usize,
    text: String,
}

fn passages(pair: &TwoTexts<'_>, stop: &Stop) -> CoreResult<(f64, Passages)> {
    /// Passages beyond this number are only counted.
    const MOST: usize = 100;
    let compared = Compared::new(pair.texts[0], pair.texts[1], stop)?;
    let [left, right] = &compared.words;
    let passages = compared.passages.iter().take(MOST).map(|passage| {
        let (l, r) = (&left[passage.left.clone()], &right[passage.right.clone()]);
        let span = |words: &[PassageWord]| [words[0].chars.start + 1, words[words.len() - 1].chars.end + 1];
        let text = &pair.texts[0][l[0].bytes.start..l[l.len() - 1].bytes.end];
        let text = memory::copied(text, DOING)?;
        Ok(Passage { left_span: span(l), right_span: span(r), words: l.len(), text })
    });
    let passages = passages.collect::<CoreResult<Vec<Passage>>>()?;
    Ok((compared.share(), Passages { count: compared.passages.len(), passages }))
}

/// Estimates the cost of comparing characters, which is proportional to the product of the lengths.
fn effort(a: &str, b: &str) -> usize {
    a.len() + b.len() + a.len().saturating_mul(b.len()) / 1024
}

sql_functions! {
    /// `explain_pair(a, b)`: returns the verdict of every method on two texts.
    neardup_explain_pair, within Arguments: |call| {
        set_returning::answer(call, || {
            let mut explained = Vec::new();
            if let Some([a, b]) = call.two_texts()? {
                let methods = methods::with_defaults()?;
                explained = compute(effort(&a, &b), |stop| {
                    let pair = TwoTexts::new([&a, &b])?;
                    let mut explained = Vec::new();
                    for (name, method) in &methods {
                        let Explanation { similarity, evidence } = method.explain(&pair, stop)?;
                        explained.push((*name, similarity, SaidEvidence::Method(evidence)));
                    }
                    let (share, evidence) = passages(&pair, stop)?;
                    explained.push((PASSAGES, Some(share), SaidEvidence::Passages(evidence)));
                    Ok(explained)
                })?;
            }
            Ok(explanations(explained))
        })
    };

    /// `explain_pair(a, b, weight)`: returns the verdict of the methods that compare sets, by the
    /// weights of a table.
    neardup_explain_pair_weighed: |call| {
        set_returning::answer(call, || {
            let mut explained = Vec::new();
            if let Some(([a, b], weight)) = call.two_texts()?.zip(call.text(2)?) {
                const HINT: &str = "For example: SELECT * FROM explain_pair('one text', 'another text', weight => 'words');";
                let Some(weights) = weights::of_words(&weight, HINT)? else {
                    // These may be a table and the ids of two rows.
                    let docs = if a.len() < LONGEST_NAME { weights::find(&a).unwrap_or(None) } else { None };
                    return Err(match docs {
                        Some(docs) => of_rows(docs, [literal(&b), literal(&weight)], "explain_pair", "* FROM ")?,
                        None => {
                            let message = format!("weight: relation \"{weight}\" does not exist");
                            SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE, message).hint(HINT)
                        }
                    });
                };
                explained = compute(effort(&a, &b), |stop| {
                    let pair = TwoTexts::new([&a, &b])?;
                    let explain = |name: &'static str| {
                        let method = Sets::of_words(sets::measure(name, 1), DEFAULT_THRESHOLD)?;
                        let method = Sets { weights: weights.clone(), ..method };
                        let Explanation { similarity, evidence } = method.explain(&pair, stop)?;
                        Ok((name, similarity, SaidEvidence::Method(evidence)))
                    };
                    sets::WITH_WEIGHTS.into_iter().map(explain).collect::<CoreResult<Vec<_>>>()
                })?;
            }
            Ok(explanations(explained))
        })
    };

    /// `explain_pair(minhash_sketch, minhash_sketch)`: returns the verdict of the method `minhash`
    /// on two stored sketches.
    neardup_explain_pair_minhash, within Arguments: |call| {
        of_sketches(call, SketchKind::Minhash, |a, b| {
            StoredMinhash { threshold: DEFAULT_THRESHOLD }.of_sketches(&Minhash::parse(a)?, &Minhash::parse(b)?)
        })
    };

    /// `explain_pair(simhash_sketch, simhash_sketch)`: returns the verdict of the method `simhash`
    /// on two stored sketches.
    neardup_explain_pair_simhash, within Arguments: |call| {
        of_sketches(call, SketchKind::Simhash, |a, b| {
            StoredSimhash { near: NearBits::Usual }.of_sketches(&Simhash::parse(a)?, &Simhash::parse(b)?)
        })
    };
}

/// Returns a single row: the verdict of the method that compares sketches of the kind `kind`.
fn of_sketches(
    call: FunctionCall,
    kind: SketchKind,
    explain: fn(&[u8], &[u8]) -> CoreResult<Explanation>,
) -> Result<Datum> {
    set_returning::answer(call, || {
        let mut explained = Vec::new();
        if let Some((a, b)) = call.bytes(0).zip(call.bytes(1)) {
            let Explanation { similarity, evidence } = explain(a, b)?;
            explained.push((kind.method(), similarity, SaidEvidence::Method(evidence)));
        }
        Ok(explanations(explained))
    })
}

/// Methods, similarities and evidence as rows.
fn explanations(explained: Vec<(&'static str, Option<f64>, SaidEvidence)>) -> impl RowSource<3> {
    let row = |(name, similarity, evidence): (&str, Option<f64>, SaidEvidence)| {
        // Strings from the server contain no NUL character, so the JSON contains none.
        let evidence = encoding::to_server(&json(&evidence)?)?;
        // SAFETY: the function reads a C string and returns a jsonb in the current memory context.
        let evidence = unsafe {
            let input: pg_sys::Oid = pg_sys::F_JSONB_IN.into();
            pg_sys::OidInputFunctionCall(input, evidence.as_ptr().cast_mut(), pg_sys::InvalidOid, -1)
        };
        Ok([Some(text(name)?), similarity.and_then(float), Some(evidence)])
    };
    Rows(["method", "similarity", "evidence"], explained.into_iter().map(row))
}

sql_functions! {
    /// `diff_html(a, b)`: shows two texts side by side, with the differences marked and a dot plot
    /// of their sentences.
    neardup_diff_html, within Arguments: |call| {
        let Some([a, b]) = call.two_texts()? else { return Ok(call.give::<i32>(None)) };
        let html = compute(a.len() + b.len(), |stop| {
            let compared = Compared::new(&a, &b, stop)?;
            let diff = Diff::new(&compared, stop)?;
            // A page may contain several such fragments; the switch of each needs its own name.
            let name = format!("nd{:x}", hash::mix(hash::hash_bytes(a.as_bytes())) ^ hash::hash_bytes(b.as_bytes()));
            let mut written = Written::new("showing two texts");
            written.push(format_args!(
                "<div class=\"nd\"><style>{STYLE}</style><p class=\"nd-soft\">{}</p><div class=\"nd-pair nd-with-dots\"><div>{}</div>{}</div></div>",
                diff.summary(),
                side_by_side(&diff, ["a", "b"], &name, Extent::Whole, stop)?,
                DotPlot::new(&a, &b, stop)?.figure()
            ));
            written.finish()
        })?;
        text(&html)
    };

    /// `explain_pair_text(a, b, width)`: formats the verdict of every method on two texts, and the
    /// words of the texts, as lines for a terminal.
    neardup_explain_pair_text, within Arguments: |call| {
        let Some(([a, b], width)) = call.two_texts()?.zip(call.get::<i32>(2)) else {
            return Ok(call.give::<i32>(None));
        };
        if !terminal::WIDTHS.contains(&width) {
            let message = format!("width = {width}: not a whole number from 40 to 1000");
            return Err(SqlError::parameter(message).hint("For example: SELECT explain_pair_text('one text', 'another text', width => 80);"));
        }
        let methods = methods::with_defaults()?;
        let shown = compute(effort(&a, &b), |stop| {
            let pair = TwoTexts::new([&a, &b])?;
            let mut figures = Vec::new();
            for (method, asked) in &methods {
                let Explanation { similarity, evidence } = asked.explain(&pair, stop)?;
                figures.push(Figure { method, similarity, pair: evidence.pair, evidence: in_words(&evidence)? });
            }
            let compared = Compared::new(&a, &b, stop)?;
            let evidence = format!("count {}", compared.passages.len());
            figures.push(Figure { method: PASSAGES, similarity: Some(compared.share()), pair: None, evidence });
            terminal::show(&figures, &compared, width as usize, stop)
        })?;
        text(&shown)
    };
}

/// Formats evidence as JSON, of which codes may have as many characters as the texts.
fn json(evidence: &impl Serialize) -> CoreResult<String> {
    struct Text(Written);
    impl io::Write for Text {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // A serializer writes whole characters.
            self.0.push_str(str::from_utf8(bytes).unwrap_or_default());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut text = Text(Written::new(DOING));
    // What is written does not fail, and evidence has no keys but strings.
    let _ = serde_json::to_writer(&mut text, evidence);
    text.0.finish()
}

/// Formats evidence on one line, with each value after its name. Lists of anything but numbers are
/// left out.
fn in_words(evidence: &Evidence) -> CoreResult<String> {
    /// The values of a list take at most this many times the bytes of the JSON.
    const TIMES: usize = 32;
    let room = TIMES * json(evidence)?.len();
    memory::with_room(room, DOING, || of_values(evidence))
}

fn of_values(evidence: &Evidence) -> String {
    /// No line is longer.
    const SHOWN: usize = 1000;
    let Ok(serde_json::Value::Object(all)) = serde_json::to_value(evidence) else { return String::new() };
    let said = all.into_iter().filter(|(name, _)| name != "pair").filter_map(|(name, value)| match value {
        serde_json::Value::String(value) => Some(format!("{name} {value}")),
        serde_json::Value::Array(values) if !values.iter().all(serde_json::Value::is_number) => None,
        serde_json::Value::Number(value) if value.is_f64() => {
            value.as_f64().map(|value| format!("{name} {value:.3}"))
        }
        value => Some(format!("{name} {value}")),
    });
    said.collect::<Vec<_>>().join(", ").chars().take(SHOWN).collect()
}

sql_functions! {
    /// `explain_pair(regclass, "any", "any")`
    neardup_explain_pair_of_rows: |call| {
        let docs = call.need(0, "docs")?;
        Err(of_rows(docs, [shown(call, 1)?, shown(call, 2)?], "explain_pair", "* FROM ")?)
    };

    /// `diff_html(regclass, "any", "any")`
    neardup_diff_html_of_rows: |call| {
        let docs = call.need(0, "docs")?;
        Err(of_rows(docs, [shown(call, 1)?, shown(call, 2)?], "diff_html", "")?)
    };
}

/// Returns the error for a call of `name` with a relation and the ids of rows in place of texts.
/// `before` is what stands between SELECT and the call.
fn of_rows(docs: pg_sys::Oid, ids: [String; 2], name: &str, before: &str) -> Result<SqlError> {
    let relation = Relation::open(docs)?;
    let texts = relation.likely_columns(None, None).and_then(|(id, text)| {
        let (id, text) = (id.quoted().ok()?, text.quoted().ok()?);
        Some(ids.map(|value| format!("(SELECT {text} FROM {} WHERE {id} = {value})", relation.shown)))
    });
    let texts = texts.unwrap_or_else(|| ["'one text'", "'another text'"].map(str::to_owned));
    let message = format!("{name} takes two texts, not the ids of rows");
    Ok(SqlError::new(PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH, message)
        .hint(format!("For example: SELECT {before}{name}({}, {});", texts[0], texts[1])))
}

/// Returns an argument of any type as SQL text.
fn shown(call: FunctionCall, n: usize) -> Result<String> {
    let of = call.type_of(n as i32);
    let Some(value) = call.datum(n).filter(|_| of != pg_sys::InvalidOid) else {
        return Ok("NULL".to_owned());
    };
    // SAFETY: the type of the argument.
    let text = unsafe { value_as_text(of, value)? };
    let is_integer = [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID].contains(&of);
    Ok(if is_integer { text } else { literal(&text) })
}
