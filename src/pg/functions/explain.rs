//! What every method says of one pair: `explain_pair`; and the two texts side by side: `diff_html`.

use pgrx::pg_sys::{self, Datum};
use serde_json::{Value, json};

use super::building_blocks::workers_for;
use crate::error::Result as CoreResult;
use crate::pg::request::methods::{self, Explanation, Pair};
use crate::pg::server::call::{LARGEST, sql_function, too_large};
use crate::pg::server::encoding;
use crate::pg::server::error::Result;
use crate::pg::server::set_returning::{self, Rows};
use crate::report::diff::Compared;
use crate::report::dotplot::dotplot;
use crate::report::html::STYLE;
use crate::workers::{self, Stop};

/// What is for readers beside the methods: runs of words that both texts have, wherever they stand.
const PASSAGES: &str = "passages";

fn passages(pair: &Pair<'_>, stop: &Stop) -> CoreResult<(f64, Value)> {
    /// More are counted only.
    const MOST: usize = 100;
    let compared = Compared::new(pair.texts[0], pair.texts[1], stop)?;
    let [left, right] = compared.words();
    let passages = compared.passages.iter().take(MOST).map(|passage| {
        // Spans as SQL has them: half open, from 1.
        let (l, r) = (&left[passage.left.clone()], &right[passage.right.clone()]);
        let span = |words: &[crate::report::passages::Word]| {
            let (first, last) = (&words[0], &words[words.len() - 1]);
            json!([first.chars.start + 1, last.chars.end + 1])
        };
        let text = &pair.texts[0][l[0].bytes.start..l[l.len() - 1].bytes.end];
        json!({ "left_span": span(l), "right_span": span(r), "words": l.len(), "text": text })
    });
    let passages: Vec<Value> = passages.collect();
    Ok((compared.share(), json!({ "count": compared.passages.len(), "passages": passages })))
}

sql_function! {
    /// `explain_pair(a, b)`: what every method says of two texts.
    neardup_explain_pair, pg_finfo_neardup_explain_pair, |call| {
        set_returning::answer(call, || {
            let mut explained = Vec::new();
            if let Some([a, b]) = call.two_texts()? {
                let methods = methods::with_defaults()?;
                // What a comparison of characters costs goes with the product of the lengths.
                let effort = a.len() + b.len() + a.len().saturating_mul(b.len()) / 1024;
                workers::one(workers_for(effort), &mut explained, |explained, stop| {
                    explained.clear();
                    let pair = Pair::new([&a, &b])?;
                    for (name, method) in &methods {
                        let Explanation { similarity, evidence } = method.explain(&pair, stop)?;
                        explained.push((*name, similarity, Value::Object(evidence)));
                    }
                    let (share, evidence) = passages(&pair, stop)?;
                    explained.push((PASSAGES, Some(share), evidence));
                    Ok(())
                })?;
            }
            Ok(Explained { rows: explained.into_iter(), unknown: false })
        })
    }
}

/// Methods, similarities and evidence as rows.
struct Explained {
    rows: std::vec::IntoIter<(&'static str, Option<f64>, Value)>,
    unknown: bool,
}

impl Rows<3> for Explained {
    fn next(&mut self) -> Result<Option<[Datum; 3]>> {
        let Some((name, similarity, evidence)) = self.rows.next() else { return Ok(None) };
        self.unknown = similarity.is_none();
        // JSON in texts of the server has no character 0, and texts have none.
        let evidence = encoding::to_server(&evidence.to_string())?;
        // SAFETY: a C string in, a jsonb in the current memory context out.
        let evidence = unsafe {
            let input: pg_sys::Oid = pg_sys::F_JSONB_IN.into();
            pg_sys::OidInputFunctionCall(input, evidence.as_ptr().cast_mut(), pg_sys::InvalidOid, -1)
        };
        Ok(Some([text(name)?, Datum::from(similarity.unwrap_or_default().to_bits()), evidence]))
    }

    fn nulls(&self) -> [bool; 3] {
        [false, self.unknown, false]
    }
}

/// A text of the server.
pub fn text(text: &str) -> Result<Datum> {
    let text = encoding::to_server(text)?;
    if text.as_bytes().len() > LARGEST - size_of::<i32>() {
        return Err(too_large("the result"));
    }
    // SAFETY: a C string in, a text in the current memory context out.
    Ok(unsafe { pg_sys::cstring_to_text_with_len(text.as_ptr(), text.as_bytes().len() as i32) }.into())
}

sql_function! {
    /// `diff_html(a, b)`: two texts side by side, shared passages marked, with a dot plot of their sentences.
    neardup_diff_html, pg_finfo_neardup_diff_html, |call| {
        let Some([a, b]) = call.two_texts()? else { return Ok(call.give::<i32>(None)) };
        let mut html = String::new();
        workers::one(workers_for(a.len() + b.len()), &mut html, |html, stop| {
            let compared = Compared::new(&a, &b, stop)?;
            *html = format!(
                "<div class=\"nd\"><style>{STYLE}</style><div class=\"nd-pair\">{}{}</div></div>",
                compared.side_by_side(["a", "b"], "nd"),
                dotplot(&a, &b, stop)?
            );
            Ok(())
        })?;
        text(&html)
    }
}
