//! The choice of a method and a threshold: `suggest` (docs/reference/functions.md, *Pairs*).
//!
//! A sample of the documents is read twice: to see what kind of texts they are, and to join them
//! exactly at a low similarity. The sample is that of `near_duplicates_plan`.

use std::num::NonZeroU64;

use pgrx::check_for_interrupts;
use pgrx::pg_sys::{self, Datum};

use super::near_duplicates_plan::{Sample, count};
use crate::pg::query::names::type_name;
use crate::pg::request::example::{Example, literal};
use crate::pg::request::form::{Argument, SUGGEST};
use crate::pg::request::{Request, at_least_one, such_as};
use crate::pg::server::call::{Call, sql_function};
use crate::pg::server::error::Result;
use crate::pg::server::set_returning::{self, Rows};
use crate::pg::server::values::text;
use neardup_core::methods::Method;
use neardup_core::methods::sets::Sets;
use neardup_core::suggest::advice::{Advice, advice};
use neardup_core::suggest::curve::Curve;
use neardup_core::suggest::profile::TextProfile;
use neardup_core::verify::measure::Measure;

sql_function! {
    /// `suggest(docs, id_column, text_column, sample)`
    neardup_suggest, pg_finfo_neardup_suggest, |call| {
        set_returning::answer_within_memory(call, || Suggestions::new(call))
    }
}

/// The advice as rows.
struct Suggestions {
    advice: std::vec::IntoIter<Advice>,
    example: Example,
    nulls: [bool; COLUMNS],
}

const COLUMNS: usize = 6;

impl Suggestions {
    fn new(call: Call) -> Result<Self> {
        let given = SUGGEST.of(call);
        let request = Request::of_any_id(given, SUGGEST)?;
        let asked = given.get(Argument::Sample).map(|asked| at_least_one(Argument::Sample.name(), asked));
        let asked = asked.transpose().map_err(|error| {
            error.hint(such_as(&request.example.at(None).with(Argument::Sample.name(), 25_000)))
        })?;
        let sample = Sample::new(count(&request.left)?, asked.and_then(NonZeroU64::new));
        let sampled = sample.of(&request.left);
        let (profile, _) = request.reading_of(&sampled).run(TextProfile::of)?;
        let method = Sets { spec: profile.parts().spec(), ..Sets::of_words(Measure::Jaccard, Curve::FLOOR)? };
        let mut reading = request.reading_of(&sampled);
        let (mut pairs, account) = reading.run(|reading| method.pairs(reading))?;
        let mut finished = reading.finish();
        let mut curve = Curve::new(finished.left.len())?;
        curve.add_equal(&pairs);
        loop {
            loop {
                check_for_interrupts!();
                if !curve.add_next(&mut pairs) {
                    break;
                }
            }
            if curve.is_full() || !pairs.advance(&finished.executor)? {
                break;
            }
            let share = 100.0 * pairs.progress();
            finished.progress.report(|| format!("joining a sample, {share:.0} %"));
        }
        let rows = advice(&profile, &curve, [account.documents, sample.documents]);
        let id_type = (request.id_type != pg_sys::INT8OID).then(|| type_name(request.id_type));
        let example = request.example.of("near_duplicates", id_type);
        Ok(Self { advice: rows.into_iter(), example, nulls: [false; COLUMNS] })
    }

    /// Returns the call that a piece of advice is about.
    fn call(&self, advice: &Advice) -> String {
        let mut example = self.example.at(advice.threshold);
        if advice.method == "partial_duplicates" {
            example = example.of("partial_duplicates", example.id_type.clone());
        } else if advice.method != "jaccard" {
            example = example.with("method", literal(advice.method));
        }
        if let Some(tokenizer) = advice.tokenizer {
            example = example.with("tokenizer", literal(tokenizer));
        }
        if let Some(shingle) = advice.shingle {
            example = example.with("shingle", shingle);
        }
        format!("SELECT * FROM {example};")
    }
}

impl Rows<COLUMNS> for Suggestions {
    fn columns(&self) -> [&'static str; COLUMNS] {
        ["using_method", "fits", "threshold", "pairs", "reason", "call"]
    }

    fn next(&mut self) -> Result<Option<[Datum; COLUMNS]>> {
        let Some(advice) = self.advice.next() else { return Ok(None) };
        let call = self.call(&advice);
        self.nulls = [false, false, advice.threshold.is_none(), advice.pairs.is_none(), false, false];
        Ok(Some([
            text(advice.method)?,
            Datum::from(advice.fits),
            Datum::from(advice.threshold.unwrap_or(0.0).to_bits()),
            Datum::from(advice.pairs.unwrap_or(0)),
            text(&advice.reason)?,
            text(&call)?,
        ]))
    }

    fn nulls(&self) -> [bool; COLUMNS] {
        self.nulls
    }
}
