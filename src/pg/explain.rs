//! What every method says of one pair: `explain_pair`; and the two texts side by side: `diff_html`.

use pgrx::pg_sys::{self, Datum};
use serde_json::{Value, json};

use super::call::sql_function;
use super::encoding;
use super::error::Result;
use super::functions::{set_of_row, workers_for};
use super::rows::{self, Rows};
use crate::error::Result as CoreResult;
use crate::features::collect::Collector;
use crate::features::dictionary::Dictionary;
use crate::features::tokens::Document;
use crate::features::{FeatureSpec, Tokenizer};
use crate::report::diff::Compared;
use crate::report::dotplot::dotplot;
use crate::report::html::STYLE;
use crate::verify::edit;
use crate::verify::levenshtein::Pattern;
use crate::verify::measure::Measure;
use crate::verify::overlap::shared_at_least;
use crate::workers::{self, Stop};

/// Two texts, and what several methods need of them.
struct Pair<'a> {
    texts: [&'a str; 2],
    /// Shared tokens and those of each text: words with their repeats, and sets of 5-word shingles.
    words: [u32; 3],
    shingles: [u32; 3],
}

/// Similarity, none where it was not computed, and what it is made of.
type Explanation = (Option<f64>, Value);
type Explain = fn(&Pair<'_>, &Stop) -> CoreResult<Explanation>;

/// Every method with what it says of a pair, by the name that `near_duplicates` knows it by. `passages` is
/// for readers: runs of words that both texts have, wherever they stand.
const METHODS: &[(&str, Explain)] = &[
    ("jaccard", |pair, _| pair.sets(Measure::Jaccard, pair.words)),
    ("cosine", |pair, _| pair.sets(Measure::Cosine, pair.words)),
    ("dice", |pair, _| pair.sets(Measure::Dice, pair.words)),
    ("overlap", |pair, _| pair.sets(Measure::Overlap, pair.words)),
    ("containment", |pair, _| pair.sets(Measure::Overlap, pair.words)),
    ("minhash", |pair, _| pair.sets(Measure::Jaccard, pair.shingles)),
    ("edit", edit),
    ("passages", passages),
];

impl<'a> Pair<'a> {
    fn new(texts: [&'a str; 2], stop: &Stop) -> CoreResult<Self> {
        let sets = |shingle, multiset| -> CoreResult<[u32; 3]> {
            let spec = FeatureSpec { tokenizer: Tokenizer::Words, shingle, multiset, wrap: false };
            let (mut collector, mut dictionary) = (Collector::new(spec), Dictionary::small());
            for (row, text) in (0..).zip(texts) {
                collector.add_at_once(row, &Document::Text(encoding::own(text)?), &mut dictionary, stop)?;
            }
            let (a, b) = (set_of_row(&collector, 0, stop)?, set_of_row(&collector, 1, stop)?);
            let shared = shared_at_least(&a, &b, 0).unwrap_or(0);
            // No document has more tokens than 32 bits count.
            Ok([shared, a.len(), b.len()].map(|count| count as u32))
        };
        Ok(Self { texts, words: sets(1, true)?, shingles: sets(5, false)? })
    }

    fn sets(&self, measure: Measure, [shared, left, right]: [u32; 3]) -> CoreResult<Explanation> {
        let similarity = measure.similarity(shared, left, right);
        Ok((Some(similarity), json!({ "shared": shared, "left": left, "right": right })))
    }
}

fn edit(pair: &Pair<'_>, stop: &Stop) -> CoreResult<Explanation> {
    /// Products of lengths that take longer than some seconds.
    const MOST: u64 = 1 << 36;
    let [a, b] = pair.texts;
    let (a, b) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    // No text of the server has more characters than 32 bits count.
    let [x, y] = [a, b].map(|text| text.chars().count() as u32);
    if u64::from(x) * u64::from(y) > MOST && a != b {
        return Ok((None, json!({ "not computed": "the texts are too long" })));
    }
    let longer = x.max(y);
    let mut distance = 0;
    if a != b {
        let mut pattern = Pattern::default();
        pattern.set(a)?;
        distance = pattern.distance(b, y, longer, 0, stop)?.unwrap_or(longer);
    }
    Ok((Some(edit::similarity(distance, longer)), json!({ "distance": distance, "longer": longer })))
}

fn passages(pair: &Pair<'_>, stop: &Stop) -> CoreResult<Explanation> {
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
    Ok((Some(compared.share()), json!({ "count": compared.passages.len(), "passages": passages })))
}

sql_function! {
    /// `explain_pair(a, b)`: what every method says of two texts.
    neardup_explain_pair, pg_finfo_neardup_explain_pair, |call| {
        rows::answer(call, || {
            let mut explained = Vec::new();
            if let Some([a, b]) = call.two_texts()? {
                // What a comparison of characters costs goes with the product of the lengths.
                let effort = a.len() + b.len() + a.len().saturating_mul(b.len()) / 1024;
                workers::one(workers_for(effort), &mut explained, |explained, stop| {
                    explained.clear();
                    let pair = Pair::new([&a, &b], stop)?;
                    for (name, explain) in METHODS {
                        let (similarity, evidence) = explain(&pair, stop)?;
                        explained.push((*name, similarity, evidence));
                    }
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
