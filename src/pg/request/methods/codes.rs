//! Methods `repeatability` and `exact_code`: documents by their feature codes.

use serde_json::Value;

use super::options::Read;
use super::{Explanation, Method, Pair, Update};
use crate::clusters::elimination::Elimination;
use crate::clusters::elimination::rows::RowCodes;
use crate::clusters::leaders::Leaders;
use crate::error::{Error, Result as CoreResult};
use crate::features::codes::{CodeSpec, feature_code};
use crate::features::texts::{Distinct, TextCollector, distinct};
use crate::features::tokens::Document;
use crate::joins::codes::code_pairs;
use crate::joins::edit::edit_pairs;
use crate::joins::pairs::Pairs;
use crate::joins::sets::Algorithm;
use crate::memory;
use crate::pg::read::documents::Reading;
use crate::pg::request::{Arguments, such_as};
use crate::pg::server::error::{Result, SqlError};
use crate::verify::edit::EditPredicate;
use crate::verify::repeatability::repeatability;
use crate::workers::{Stop, Workers};

/// The repeatability of near duplicates, by default.
const REPEATABILITY: f64 = 0.75;

/// How codes are made, and which pairs are in.
#[derive(Debug)]
struct ByCodes {
    spec: CodeSpec,
    /// The least repeatability; none for equal codes only.
    threshold: Option<f64>,
}

const OPTIONS: &[&str] =
    &["anchors", "cut", "unit_length", "unit_share", "paragraphs", "ends", "min_length", "fallback"];

/// Reads the parameters.
pub fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    let exact = arguments.method == "exact_code";
    let threshold = arguments.threshold(if exact { 1.0 } else { REPEATABILITY })?;
    let options = arguments.options(OPTIONS)?;
    let read = Read { options: &options, example: &arguments.example, good };
    let anchors = match options.0.get("anchors") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(anchors)) => anchors.chars().collect(),
        Some(value) => return Err(read.wrong("anchors", value.to_string(), "a string of characters")),
    };
    let spec = CodeSpec::default();
    let whole = |name, default| read.whole(name, default as u32).map(|number| number as usize);
    let spec = CodeSpec {
        anchors,
        cut: whole("cut", spec.cut)?,
        unit_length: whole("unit_length", spec.unit_length)?,
        unit_share: read.number("unit_share")?.unwrap_or(spec.unit_share),
        paragraphs: whole("paragraphs", spec.paragraphs)?,
        ends: whole("ends", spec.ends)?,
        min_length: whole("min_length", spec.min_length)?,
        fallback: whole("fallback", spec.fallback)?,
    };
    spec.check().map_err(|error| match error {
        Error::Parameter { name, value, allowed } => read.wrong(name, value, allowed),
        other => SqlError::from(other).hint(such_as(&arguments.example)),
    })?;
    arguments.accept(options);
    arguments.whole_texts("compares feature codes")?;
    Ok(Box::new(ByCodes { spec, threshold: (!exact).then_some(threshold) }))
}

/// A value of an option that is good.
fn good(name: &str) -> Value {
    let spec = CodeSpec::default();
    match name {
        "anchors" => Value::from("\u{7684}"),
        "unit_share" => Value::from(spec.unit_share),
        "cut" => Value::from(spec.cut),
        "unit_length" => Value::from(spec.unit_length),
        "min_length" => Value::from(spec.min_length),
        "fallback" => Value::from(spec.fallback),
        _ => Value::from(spec.ends),
    }
}

/// The codes of the documents that one worker saw.
#[derive(Default)]
struct Coder {
    codes: TextCollector,
    empty: u64,
}

impl Coder {
    fn add(
        &mut self,
        row: u32,
        document: &Document,
        spec: &CodeSpec,
        stop: &Stop,
    ) -> crate::error::Result<()> {
        // Columns of other things are refused.
        let Document::Text(text) = document else { return Ok(()) };
        let code = feature_code(text, spec, stop)?;
        self.codes.add(row, &code)?;
        self.empty += u64::from(code.is_empty());
        Ok(())
    }
}

impl ByCodes {
    /// The codes of all documents.
    fn read(&self, reading: &mut Reading<'_>) -> Result<Distinct> {
        let mut coders: Vec<Coder> = Vec::new();
        coders.resize_with(reading.workers.count(), Coder::default);
        reading.read(|batch| {
            batch.share_out(&mut coders, |coder, row, document, stop| {
                coder.add(row, document, &self.spec, stop)
            })?;
            Ok(coders.iter().map(|coder| coder.codes.bytes()).sum())
        })?;
        reading.stats.skipped_empty = coders.iter().map(|coder| coder.empty).sum();
        let codes = coders.into_iter().map(|coder| coder.codes).collect();
        let distinct = distinct(codes, reading.right_from(), &reading.workers)?;
        reading.stats.distinct_sets = distinct.texts.len() as u64;
        reading.held(distinct.texts.bytes());
        Ok(distinct)
    }
}

impl Method for ByCodes {
    fn explain(&self, pair: &Pair<'_>, stop: &Stop) -> CoreResult<Explanation> {
        let [left, right] = pair.texts.map(|text| feature_code(text, &self.spec, stop));
        let (left, right) = (left?, right?);
        let (in_right, in_left) = (repeatability(&right, &left, stop)?, repeatability(&left, &right, stop)?);
        let explained = match self.threshold {
            Some(threshold) => {
                let greater = in_right.max(in_left);
                let explained = Explanation::new(greater, greater >= threshold);
                explained.with("left_in_right", in_right.into()).with("right_in_left", in_left.into())
            }
            None => {
                let equal = left == right && !left.is_empty();
                Explanation::new(f64::from(u8::from(equal)), equal)
            }
        };
        Ok(explained.with("left_code", left.into()).with("right_code", right.into()))
    }

    fn update(&self) -> Update {
        Update::Pairs
    }

    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs> {
        let distinct = self.read(reading)?;
        let budget = reading.left_after(distinct.texts.bytes());
        match self.threshold {
            // The index is sorted beside.
            Some(threshold) => Ok(code_pairs(distinct, threshold, budget / 2)?),
            // Equal are those without any difference.
            None => {
                let equal = EditPredicate::new(1.0)?;
                let (pairs, prepared) =
                    edit_pairs(distinct, equal, Algorithm::Auto, &reading.files, budget, &reading.workers)?;
                reading.held(prepared.peak_bytes);
                Ok(pairs)
            }
        }
    }

    fn eliminate(&self, reading: &mut Reading<'_>) -> Result<Option<(Vec<u32>, Leaders)>> {
        let Some(threshold) = self.threshold else { return Ok(None) };
        let distinct = self.read(reading)?;
        let workers = reading.workers;
        let order = reading.left.in_order(&workers)?;
        let mut vertex = memory::filled(0u32, order.len(), "numbering documents")?;
        order.iter().zip(0..).for_each(|(&row, number)| vertex[row as usize] = number);
        let codes = RowCodes::new(&distinct, &vertex, &workers)?;
        drop(vertex);
        let held = distinct.texts.bytes() + memory::bytes(&order) + codes.bytes();
        let mut elimination = Elimination::new(&codes, threshold, reading.left_after(held))?;
        while elimination.advance(&workers)? {
            reading.progress.report(|| format!("eliminating, {:.0} %", 100.0 * elimination.progress()));
            reading.held(held + elimination.bytes());
        }
        let kept = elimination.kept()?;
        Ok(Some((order, codes.leaders(&kept)?)))
    }
}
