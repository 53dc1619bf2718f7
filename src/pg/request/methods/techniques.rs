//! The parameters of techniques that compare signatures, as methods of their own and as stages of `combined`.

use super::sets::DEFAULT_THRESHOLD;
use crate::features::{FeatureSpec, Tokenizer};
use crate::joins::sketches::banding::Banding;
use crate::joins::sketches::combination::TechniqueSpec;
use crate::joins::sketches::presets::{self, Preset};
use crate::pg::request::example::{Example, literal};
use crate::pg::request::{Options, such_as};
use crate::pg::server::error::{Result, SqlError};
use crate::sketches::simhash::check_bits;
use crate::verify::measure::check_threshold;
use crate::verify::predicate::Predicate;

/// The names of the techniques.
pub const NAMES: [&str; 9] =
    ["shingling", "simhash", "minhash", "exact_text", "jaccard", "cosine", "dice", "overlap", "containment"];

/// The recall of minhash where nobody asks for another one.
const DEFAULT_RECALL: f64 = 0.95;

/// What a technique is made from: the arguments of the call and the options that stand with it.
#[derive(Debug)]
pub struct Given<'a> {
    /// Its options.
    pub options: &'a Options,
    /// The threshold, where one was given.
    pub threshold: Option<f64>,
    /// How documents are cut, with the shingle length of single tokens where nobody said otherwise.
    pub feature: FeatureSpec,
    /// The number of tokens to a shingle that was asked for.
    pub shingle: Option<i64>,
    /// Whether repeats were said to count or not to.
    pub multiset: Option<bool>,
    /// One table or two.
    pub relations: usize,
    /// How many bits of simhash are usual here.
    pub bits: u16,
    /// A call that works.
    pub example: &'a Example,
}

/// The options that a technique knows.
pub fn known(name: &str) -> &'static [&'static str] {
    match name {
        "simhash" => &["bits", "distance"],
        "shingling" => &["values", "groups", "seed", "wrap", "megashingles"],
        "minhash" => &["recall", "verify", "bands", "rows", "seed"],
        "exact_text" => &["clean"],
        _ => &[],
    }
}

impl Given<'_> {
    /// The technique of this name, which is one of [`NAMES`].
    pub fn technique(&self, name: &str) -> Result<TechniqueSpec> {
        match name {
            "simhash" => self.simhash(),
            "shingling" => self.shingling(),
            "minhash" => self.minhash(),
            "exact_text" => Ok(TechniqueSpec::ExactText {
                clean: self.options.flag("clean", self.example)?.unwrap_or(true),
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

    /// How documents are cut, `shingle` tokens to a shingle where nobody said otherwise; whether repeats count
    /// unless it is given.
    fn feature(&self, shingle: i64, multiset: Option<bool>) -> Result<FeatureSpec> {
        let chars = self.feature.tokenizer == Tokenizer::Chars;
        let default = if chars { 3 } else { shingle };
        let shingle = FeatureSpec::check_shingle("shingle", self.shingle.unwrap_or(default))
            .map_err(|error| SqlError::from(error).hint(such_as(&self.example.with("shingle", 5))))?;
        let multiset = multiset.or(self.multiset).unwrap_or(chars || shingle == 1);
        Ok(FeatureSpec { shingle, multiset, ..self.feature })
    }

    fn simhash(&self) -> Result<TechniqueSpec> {
        let with_bits = |example: &Example| example.with("options", literal("{\"bits\": 384}"));
        let bits = match self.options.whole("bits", 1..=1024, self.example)? {
            None => self.bits,
            Some(bits) => check_bits(bits)
                .map_err(|error| SqlError::from(error).hint(such_as(&with_bits(self.example))))?,
        };
        let mut without_threshold = self.example.clone();
        without_threshold.threshold = None;
        let distance = self.options.whole("distance", 0..=i64::from(bits) - 1, &without_threshold)?;
        let threshold = match (distance, self.threshold) {
            (Some(_), Some(_)) => {
                let message = "distance and threshold say the same: only one of them can be given";
                return Err(SqlError::parameter(message).hint(such_as(self.example)));
            }
            (Some(distance), None) => (f64::from(bits) - distance as f64) / f64::from(bits),
            (None, _) => self.threshold(usual_share(bits))?,
        };
        // Every occurrence adds its vector unless somebody said no.
        let frequency = self.multiset.unwrap_or(true);
        Ok(TechniqueSpec::Simhash { feature: self.feature(1, Some(false))?, bits, frequency, threshold })
    }

    fn shingling(&self) -> Result<TechniqueSpec> {
        let values = self.options.whole("values", 1..=2048, self.example)?.unwrap_or(84);
        let groups = self.options.whole("groups", 1..=2048, self.example)?.unwrap_or(6);
        if values % groups != 0 {
            let message = format!("values must be a multiple of groups, {groups}, not {values}");
            let example = self.example.with("options", literal("{\"values\": 84, \"groups\": 6}"));
            return Err(SqlError::parameter(message).hint(such_as(&example)));
        }
        let wrap = self.options.flag("wrap", self.example)?.unwrap_or(false);
        let feature = FeatureSpec { wrap, ..self.feature(8, Some(self.multiset.unwrap_or(false)))? };
        Ok(TechniqueSpec::Shingling {
            feature,
            values: values as u16,
            groups: groups as u16,
            seed: self.seed()?,
            threshold: self.threshold(2.0 / 6.0)?,
            megashingles: self.options.flag("megashingles", self.example)?.unwrap_or(false),
        })
    }

    fn seed(&self) -> Result<i64> {
        Ok(self.options.whole("seed", i64::MIN..=i64::MAX, self.example)?.unwrap_or(1))
    }

    fn minhash(&self) -> Result<TechniqueSpec> {
        let threshold = self.threshold(DEFAULT_THRESHOLD)?;
        let recall = self.options.share("recall", true, self.example)?;
        let most = Banding::MOST_VALUES as i64;
        let bands = self.options.whole("bands", 1..=most, self.example)?;
        let rows = self.options.whole("rows", 1..=most, self.example)?;
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
        let verify = self.options.flag("verify", self.example)?.unwrap_or(true);
        Ok(TechniqueSpec::Minhash {
            feature: self.feature(5, None)?,
            plan,
            seed: self.seed()?,
            threshold,
            verify,
        })
    }
}

/// The share of bits that is usual: 61 of 64, and of others what 372 is of 384.
fn usual_share(bits: u16) -> f64 {
    match bits {
        64 => 61.0 / 64.0,
        bits => (f64::from(bits) * 372.0 / 384.0).ceil() / f64::from(bits),
    }
}

/// The preset that options name, of this method.
pub fn preset(options: &Options, method: &str, example: &Example) -> Result<Option<&'static Preset>> {
    let Some(value) = options.value("preset") else { return Ok(None) };
    let found = value.as_str().and_then(presets::find).filter(|preset| preset.method == method);
    found.map(Some).ok_or_else(|| {
        let names = presets::names(Some(method));
        let first = names.split(',').next().unwrap_or_default();
        let example = example.with("options", literal(&format!("{{\"preset\": \"{first}\"}}")));
        SqlError::parameter(format!("method \"{method}\" has no preset {value}"))
            .hint(format!("Presets of this method: {names}. {}", such_as(&example)))
    })
}

/// Puts what a preset says where nothing else was said.
pub fn complete(options: &mut Options, preset: &Preset) {
    let mut put = |key: &str, value: usize| {
        options.0.entry(key).or_insert_with(|| value.into());
    };
    match (preset.bands, preset.simhash) {
        (Some(bands), _) if preset.method == "shingling" => {
            put("groups", bands.bands);
            put("values", bands.values());
        }
        (Some(bands), _) => {
            put("bands", bands.bands);
            put("rows", bands.rows);
        }
        (None, Some((bits, _))) => put("bits", bits.into()),
        (None, None) => {}
    }
}
