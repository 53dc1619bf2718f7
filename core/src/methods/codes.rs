//! Methods `repeatability` and `exact_code`, which compare documents by their feature codes.
//!
//! In parts, the code is carried. Documents meet by grams of their codes, and by whole codes.

use super::account::WeakCodes;
use super::carrier::{Carrier, LeftOut, Meeting, Places, to_text, to_texts};
use super::explain::{Details, Explanation, TwoCodes};
use super::method::{Method, Update};
use super::pair::TwoTexts;
use super::reading::{Reading, places};
use crate::clusters::elimination::Elimination;
use crate::clusters::elimination::rows::RowCodes;
use crate::clusters::leaders::Leaders;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::codes::{CodeSpec, feature_code};
use crate::features::texts::{Distinct, TextCollector, distinct};
use crate::features::tokens::Document;
use crate::hash::hash_bytes;
use crate::joins::Algorithm;
use crate::joins::codes::{code_pairs, each_gram};
use crate::joins::edit::edit_pairs;
use crate::joins::keys::Key;
use crate::joins::pairs::Pairs;
use crate::memory;
use crate::verify::edit::EditPredicate;
use crate::verify::repeatability::repeatability;

/// Compares documents by their feature codes ([`feature_code`]): by
/// repeatability, or for equality (Guo and others, section III).
///
/// All such pairs are found. The similarity of two codes is the greater of their two
/// repeatabilities.
///
/// ```
/// use neardup_core::parameters::CodeSpec;
/// use neardup_core::{ByCodes, Corpus};
///
/// let spec = CodeSpec { min_length: 1, ..CodeSpec::default() };
/// let method = ByCodes { spec, threshold: Some(0.7) };
/// let texts = ["甲乙，丙丁，戊己，庚辛。", "甲乙，丙丁，戊己。", "子丑，寅卯。"];
/// let pairs = Corpus::of_texts(&texts).pairs(&method)?;
/// assert_eq!((pairs.len(), pairs[0].left, pairs[0].right), (1, 0, 1));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ByCodes {
    /// The derivation of codes.
    pub spec: CodeSpec,
    /// The least repeatability, or `None` if only equal codes are similar.
    pub threshold: Option<f64>,
}

/// The codes of the documents that one worker read.
#[derive(Default)]
struct Coder {
    page: Document,
    codes: TextCollector,
    said: WeakCodes,
}

impl Coder {
    fn add(&mut self, row: u32, document: &Document, spec: &CodeSpec, stop: &Stop) -> Result<()> {
        // Columns of other types are refused.
        let Document::Text(text) = document.read(&mut self.page, stop)? else { return Ok(()) };
        let code = feature_code(text, spec, stop)?;
        self.codes.add(row, &code)?;
        self.said.add(&code);
        Ok(())
    }
}

impl ByCodes {
    /// Reads the codes of all documents.
    fn read(&self, reading: &mut Reading<'_>) -> Result<Distinct> {
        let mut coders: Vec<Coder> = Vec::new();
        coders.resize_with(reading.executor.count(), Coder::default);
        reading.read(|batch| {
            batch.share_out(&mut coders, |coder, row, document, stop| {
                coder.add(row, document, &self.spec, stop)
            })?;
            Ok(coders.iter().map(|coder| coder.codes.bytes()).sum())
        })?;
        reading.account.skipped_empty = coders.iter().map(|coder| coder.codes.empty).sum();
        if self.threshold.is_some() {
            let all = coders.iter().map(|coder| coder.said);
            reading.account.codes = all.fold(WeakCodes::default(), WeakCodes::and);
        }
        let codes = coders.into_iter().map(|coder| coder.codes).collect();
        let distinct = distinct(codes, reading.right_from(), reading.executor)?;
        reading.account.distinct_sets = distinct.texts.len() as u64;
        reading.held(distinct.texts.bytes());
        Ok(distinct)
    }
}

impl Method for ByCodes {
    fn compares_texts(&self) -> bool {
        true
    }

    fn explain(&self, pair: &TwoTexts<'_>, stop: &Stop) -> Result<Explanation> {
        let [left, right] = pair.texts.map(|text| feature_code(text, &self.spec, stop));
        let (left_code, right_code) = (left?, right?);
        let left_in_right = repeatability(&right_code, &left_code, stop)?;
        let right_in_left = repeatability(&left_code, &right_code, stop)?;
        let (explained, shares) = match self.threshold {
            Some(threshold) => {
                let greater = left_in_right.max(right_in_left);
                let shares = [Some(left_in_right), Some(right_in_left)];
                (Explanation::new(greater, greater >= threshold), shares)
            }
            None => {
                let equal = left_code == right_code && !left_code.is_empty();
                (Explanation::new(f64::from(u8::from(equal)), equal), [None, None])
            }
        };
        let [left_in_right, right_in_left] = shares;
        Ok(explained.with(Details::Codes(TwoCodes { left_in_right, right_in_left, left_code, right_code })))
    }

    fn update(&self) -> Update {
        Update::Pairs
    }

    fn carrier(&self) -> Option<&dyn Carrier> {
        Some(self)
    }

    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs> {
        let distinct = self.read(reading)?;
        let resources = reading.resources_after(distinct.texts.bytes());
        match self.threshold {
            Some(threshold) => {
                reading.report(|| "looking for shared grams".to_owned());
                let codes = distinct.texts.bytes();
                let (pairs, held) = code_pairs(distinct, threshold, resources)?;
                reading.held(codes + held);
                Ok(pairs)
            }
            // Equal codes have edit similarity 1.
            None => {
                let equal = EditPredicate::new(1.0)?;
                let (pairs, prepared) = edit_pairs(
                    distinct,
                    equal,
                    Algorithm::Auto,
                    reading.files,
                    resources.budget,
                    reading.executor,
                )?;
                reading.held(prepared.peak_bytes);
                Ok(pairs)
            }
        }
    }

    fn eliminate(&self, reading: &mut Reading<'_>) -> Result<Option<(Vec<u32>, Leaders)>> {
        let Some(threshold) = self.threshold else { return Ok(None) };
        let distinct = self.read(reading)?;
        let executor = reading.executor;
        let order = reading.order()?;
        let codes = RowCodes::new(&distinct, &places(&order)?, executor)?;
        let held = distinct.texts.bytes() + memory::bytes(&order) + codes.bytes();
        let mut elimination = Elimination::new(&codes, threshold, reading.left_after(held))?;
        while elimination.advance(executor)? {
            reading.report(|| format!("eliminating, {:.0} %", 100.0 * elimination.progress()));
            reading.held(held + elimination.bytes());
        }
        let kept = elimination.kept()?;
        Ok(Some((order, codes.leaders(&kept)?)))
    }
}

const DOING: &str = "choosing grams of a code";

impl Carrier for ByCodes {
    fn carry(&self, document: &Document, _: Places<'_>, stop: &Stop) -> Result<Vec<u8>> {
        // Columns of other types are refused.
        let Document::Text(text) = document else { return Ok(Vec::new()) };
        Ok(feature_code(text, &self.spec, stop)?.into_bytes())
    }

    fn meeting(&self) -> Meeting {
        Meeting::Keys { most: None, filter: None }
    }

    fn keys(&self, carried: &[u8], _: LeftOut<'_>, keys: &mut Vec<Key>, _: &Stop) -> Result<()> {
        // The codes of documents that are not equal may be.
        memory::push(keys, Key::from_hash(hash_bytes(carried)), DOING)?;
        let Some(threshold) = self.threshold else { return Ok(()) };
        let mut offered = Vec::new();
        let add = |hash| memory::push(&mut offered, Key::offered(hash), DOING);
        each_gram(to_text(carried)?, threshold, add, |hash| memory::push(keys, Key::looked_up(hash), DOING))?;
        memory::extend(keys, &offered, DOING)
    }

    fn similarity(&self, pair: [&[u8]; 2], _: LeftOut<'_>, stop: &Stop) -> Result<Option<f64>> {
        let [a, b] = to_texts(pair)?;
        if a == b {
            return Ok(Some(1.0));
        }
        let Some(threshold) = self.threshold else { return Ok(None) };
        // The share of the shorter code is the greater one.
        let (longer, shorter) = if a.chars().count() < b.chars().count() { (b, a) } else { (a, b) };
        Ok(Some(repeatability(longer, shorter, stop)?).filter(|&share| share >= threshold))
    }
}
