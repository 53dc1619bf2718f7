//! The parameters of techniques that compare signatures, used as methods and as stages of
//! `combined`.

use serde::Deserialize;
use serde_json::Value;

use super::sets::DEFAULT_THRESHOLD;
use crate::pg::request::example::such_as;
use crate::pg::request::example::{Example, literal};
use crate::pg::request::features::spec_of;
use crate::pg::request::options::{self, Flag, OpenShare, Options, Share, WholeNumber, refused, whole};
use crate::pg::server::error::{Result, SqlError};
use neardup_core::features::{FeatureSpec, Tokenizer};
use neardup_core::joins::sketches::banding::Banding;
use neardup_core::joins::sketches::combination::TechniqueSpec;
use neardup_core::joins::sketches::presets::{self, Preset};
use neardup_core::sketches::simhash::{self, check_bits, usual_share};
use neardup_core::verify::measure::check_threshold;
use neardup_core::verify::predicate::Predicate;

/// The names of the techniques.
pub(crate) const NAMES: [&str; 9] =
    ["shingling", "simhash", "minhash", "exact_text", "jaccard", "cosine", "dice", "overlap", "containment"];

/// The default recall of minhash.
const DEFAULT_RECALL: f64 = 0.95;

/// The input for making a technique: the arguments of the call and the technique's options.
#[derive(Debug)]
pub(crate) struct TechniqueArguments<'a> {
    /// The options of the technique.
    pub options: &'a TechniqueOptions,
    /// The threshold, if it was given.
    pub threshold: Option<f64>,
    /// The rules for cutting documents. Each technique replaces the shingle length and the setting
    /// for repeated tokens.
    pub feature: FeatureSpec,
    /// The requested number of tokens in a shingle.
    pub shingle: Option<i32>,
    /// The requested setting for repeated tokens.
    pub multiset: Option<bool>,
    /// The number of tables, one or two.
    pub relations: usize,
    /// The default number of simhash bits.
    pub bits: u16,
    /// A call that works.
    pub example: &'a Example,
}

/// The options of all techniques. Each technique knows some of them ([`known`]).
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct TechniqueOptions {
    bits: Option<WholeNumber<1, 1024>>,
    /// The maximum distance, which must be less than the number of bits.
    pub distance: Option<Value>,
    values: Option<WholeNumber<1, 2048>>,
    groups: Option<WholeNumber<1, 2048>>,
    seed: Option<WholeNumber<{ i64::MIN }, { i64::MAX }>>,
    wrap: Option<Flag>,
    megashingles: Option<Flag>,
    recall: Option<OpenShare>,
    verify: Option<Flag>,
    bands: Option<WholeNumber<1, MOST_VALUES>>,
    rows: Option<WholeNumber<1, MOST_VALUES>>,
    clean: Option<Flag>,
    preset: Option<Value>,
    /// A bucket with more documents than this is expanded only in part.
    pub max_bucket: Option<WholeNumber<1, 4_294_967_295>>,
    /// The number of sampled documents whose pairs are found exactly.
    pub sample: Option<WholeNumber<0, 1_000_000>>,
    /// Set if the exact join may take over when it is less work.
    pub hand_over: Option<Flag>,
    /// The threshold of a stage of `combined`.
    pub threshold: Option<Share>,
    /// The number of tokens in a shingle of a stage of `combined`.
    pub shingle: Option<WholeNumber<1, 1000>>,
    /// The setting for repeated tokens in a stage of `combined`.
    pub multiset: Option<Flag>,
}

impl Options for TechniqueOptions {}

const MOST_VALUES: i64 = Banding::MOST_VALUES as i64;

/// Lists the options that a technique knows.
pub(crate) fn known(name: &str) -> &'static [&'static str] {
    match name {
        "simhash" => &["bits", "distance"],
        "shingling" => &["values", "groups", "seed", "wrap", "megashingles"],
        "minhash" => &["recall", "verify", "bands", "rows", "seed"],
        "exact_text" => &["clean"],
        _ => &[],
    }
}

impl TechniqueArguments<'_> {
    /// Makes the technique with the name `name`, which is one of [`NAMES`].
    pub(crate) fn technique(&self, name: &str) -> Result<TechniqueSpec> {
        match name {
            "simhash" => self.simhash(),
            "shingling" => self.shingling(),
            "minhash" => self.minhash(),
            "exact_text" => Ok(TechniqueSpec::ExactText {
                clean: flag(self.options.clean, true),
                html: self.feature.tokenizer == Tokenizer::Html,
            }),
            measure => {
                let measure = super::sets::measure(measure, self.relations);
                let feature = self.feature(1, None)?;
                let predicate = Predicate::new(measure, self.threshold(DEFAULT_THRESHOLD)?)?;
                Ok(TechniqueSpec::Sets { feature, predicate })
            }
        }
    }

    fn threshold(&self, default: f64) -> Result<f64> {
        let threshold = self.threshold.unwrap_or(default);
        check_threshold(threshold).map_err(|error| SqlError::from(error).hint(such_as(self.example)))?;
        Ok(threshold)
    }

    /// Returns the rules for cutting documents. `shingle` is the default number of tokens in a
    /// shingle. `multiset`, if given, replaces the requested setting for repeated tokens.
    fn feature(&self, shingle: usize, multiset: Option<bool>) -> Result<FeatureSpec> {
        spec_of(self.feature.tokenizer, self.shingle, multiset.or(self.multiset), shingle)
            .map_err(|error| SqlError::from(error).hint(such_as(&self.example.with("shingle", 5))))
    }

    fn simhash(&self) -> Result<TechniqueSpec> {
        let bits = match self.options.bits {
            None => self.bits,
            Some(bits) => check_bits(bits.0).map_err(|error| {
                SqlError::from(error).hint(such_as(&options::with(self.example, "{\"bits\": 384}")))
            })?,
        };
        let threshold = match distance_of(self.options, bits, self.threshold, self.example)? {
            Some(distance) => simhash::similarity(distance, bits),
            None => self.threshold(usual_share(bits))?,
        };
        // Every occurrence of a token adds its vector, unless the caller sets `multiset` to false.
        let frequency = self.multiset.unwrap_or(true);
        Ok(TechniqueSpec::Simhash { feature: self.feature(1, Some(false))?, bits, frequency, threshold })
    }

    fn shingling(&self) -> Result<TechniqueSpec> {
        let values = self.options.values.map_or(84, |values| values.0);
        let groups = self.options.groups.map_or(6, |groups| groups.0);
        if values % groups != 0 {
            let message = format!("values must be a multiple of groups, {groups}, not {values}");
            let example = self.example.with("options", literal("{\"values\": 84, \"groups\": 6}"));
            return Err(SqlError::parameter(message).hint(such_as(&example)));
        }
        let wrap = flag(self.options.wrap, false);
        let feature = FeatureSpec { wrap, ..self.feature(8, Some(self.multiset.unwrap_or(false)))? };
        Ok(TechniqueSpec::Shingling {
            feature,
            values: values as u16,
            groups: groups as u16,
            seed: self.seed(),
            threshold: self.threshold(2.0 / 6.0)?,
            megashingles: flag(self.options.megashingles, false),
        })
    }

    fn seed(&self) -> i64 {
        self.options.seed.map_or(1, |seed| seed.0)
    }

    fn minhash(&self) -> Result<TechniqueSpec> {
        let threshold = self.threshold(DEFAULT_THRESHOLD)?;
        let TechniqueOptions { recall, bands, rows, .. } = self.options;
        let (recall, bands, rows) =
            (recall.map(|recall| recall.0), bands.map(|bands| bands.0), rows.map(|rows| rows.0));
        let plan = match (bands, rows, recall) {
            (None, None, recall) => Banding::for_recall(threshold, recall.unwrap_or(DEFAULT_RECALL)),
            (Some(bands), Some(rows), None) => Banding::new(bands as u64, rows as u64),
            _ => {
                let message = "bands and rows go together, and without recall, which they decide";
                let example = self.example.with("options", literal("{\"bands\": 14, \"rows\": 8}"));
                return Err(SqlError::parameter(message).hint(such_as(&example)));
            }
        };
        let plan = plan.map_err(|error| SqlError::from(error).hint(such_as(self.example)))?;
        let verify = flag(self.options.verify, true);
        Ok(TechniqueSpec::Minhash {
            feature: self.feature(5, None)?,
            plan,
            seed: self.seed(),
            threshold,
            verify,
        })
    }
}

/// Returns the maximum distance of simhashes with `bits` bits, if the options give one instead of a
/// threshold.
pub(crate) fn distance_of(
    options: &TechniqueOptions,
    bits: u16,
    threshold: Option<f64>,
    example: &Example,
) -> Result<Option<u32>> {
    let Some(value) = &options.distance else { return Ok(None) };
    let mut without_threshold = example.clone();
    without_threshold.threshold = None;
    let most = u32::from(bits) - 1;
    let distance = whole(value).and_then(|distance| u32::try_from(distance).ok()).filter(|&d| d <= most);
    let distance = distance.ok_or_else(|| {
        let allowed = format!("a whole number from 0 to {most}");
        refused::<TechniqueOptions>("distance", value, &allowed, &without_threshold)
    })?;
    if threshold.is_some() {
        let message = "distance and threshold say the same: only one of them can be given";
        return Err(SqlError::parameter(message).hint(such_as(example)));
    }
    Ok(Some(distance))
}

/// Returns the preset of the method `method` that the options name, if they name one.
pub(crate) fn preset(
    options: &TechniqueOptions,
    method: &str,
    example: &Example,
) -> Result<Option<&'static Preset>> {
    let Some(value) = &options.preset else { return Ok(None) };
    let found = value.as_str().and_then(presets::find).filter(|preset| preset.method == method);
    found.map(Some).ok_or_else(|| {
        let names = presets::names(Some(method));
        let first = names.split(',').next().unwrap_or_default();
        let example = example.with("options", literal(&format!("{{\"preset\": \"{first}\"}}")));
        SqlError::parameter(format!("method \"{method}\" has no preset {value}"))
            .hint(format!("Presets of this method: {names}. {}", such_as(&example)))
    })
}

/// Fills in the values of a preset for options that were not given.
pub(crate) fn complete(options: &mut TechniqueOptions, preset: &Preset) {
    // The values of presets are within the ranges of the options.
    fn put<const LEAST: i64, const MOST: i64>(option: &mut Option<WholeNumber<LEAST, MOST>>, value: usize) {
        option.get_or_insert(WholeNumber(value as i64));
    }
    match (preset.bands, preset.simhash) {
        (Some(bands), _) if preset.method == "shingling" => {
            put(&mut options.groups, bands.bands);
            put(&mut options.values, bands.values());
        }
        (Some(bands), _) => {
            put(&mut options.bands, bands.bands);
            put(&mut options.rows, bands.rows);
        }
        (None, Some((bits, _))) => put(&mut options.bits, bits.into()),
        (None, None) => {}
    }
}

pub(crate) fn flag(given: Option<Flag>, default: bool) -> bool {
    given.map_or(default, |flag| flag.0)
}
