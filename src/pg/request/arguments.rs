//! What a method reads its parameters from.

use std::borrow::Cow;

use pgrx::pg_sys;
use serde_json::Value;

use super::example::{Example, literal, such_as};
use super::options::Options;
use super::tokenizer::parse_tokenizer;
use crate::features::{FeatureSpec, Tokenizer};
use crate::pg::server::error::{Result, SqlError};
use crate::verify::measure::check_threshold;

/// The arguments that concern a method. It asks for each it knows, in the order of their number in SQL;
/// what is found good becomes part of the example for later hints.
#[derive(Debug)]
pub struct Arguments<'a> {
    /// The name of the method.
    pub method: &'static str,
    /// One table or two.
    pub relations: usize,
    /// A column that holds tokens already made, not texts.
    pub made: Option<String>,
    pub(crate) has_sites: bool,
    pub(crate) sites_are_used: bool,
    /// A call that works, with everything that was found good so far.
    pub example: Example,
    /// The same without the method.
    pub without_method: Example,
    /// The threshold as it was given. See [`Arguments::threshold`].
    pub threshold: Option<f64>,
    pub(crate) options: std::result::Result<Option<Value>, Option<SqlError>>,
    pub(crate) tokenizer: Option<Cow<'a, str>>,
    pub(crate) shingle: Option<i32>,
    pub(crate) multiset: Option<bool>,
    pub(crate) tsearch: Option<pg_sys::Oid>,
    pub(crate) max_pairs: Option<u64>,
}

impl Arguments<'static> {
    /// Those of a call that names a method and no more.
    pub fn of_defaults(method: &'static str) -> Self {
        let example = Example::new("near_duplicates", ["docs".to_owned()]);
        Self {
            method,
            relations: 1,
            made: None,
            has_sites: false,
            sites_are_used: false,
            without_method: example.clone(),
            example: example.with("method", literal(method)),
            threshold: None,
            options: Ok(None),
            tokenizer: None,
            shingle: None,
            multiset: None,
            tsearch: None,
            max_pairs: None,
        }
    }
}

impl Arguments<'_> {
    /// The threshold, above 0 and at most 1, or the default one.
    pub fn threshold(&mut self, default: f64) -> Result<f64> {
        let threshold = self.threshold.unwrap_or(default);
        check_threshold(threshold).map_err(|error| SqlError::from(error).hint(such_as(&self.example)))?;
        self.example.threshold = Some(threshold);
        self.without_method.threshold = Some(threshold);
        Ok(threshold)
    }

    /// Refuses a threshold other than 1 for a method whose pairs are equal (`how` says in a clause in what).
    pub fn only_threshold_one(&mut self, how: &str) -> Result<()> {
        self.threshold(1.0)?;
        if self.threshold.is_some_and(|threshold| threshold != 1.0) {
            self.example.threshold = None;
            let given = self.threshold.unwrap_or(1.0);
            let message = format!("method \"{}\" {how}: the threshold must be 1, not {given}", self.method);
            return Err(SqlError::parameter(message).hint(such_as(&self.example)));
        }
        Ok(())
    }

    /// The options, each of which must be one of `known` or one that all methods have. When they are found
    /// good, [`Arguments::accept`] takes them.
    pub fn options(&mut self, known: &[&str]) -> Result<Options> {
        let known: Vec<&str> = ["max_pairs"].into_iter().chain(known.iter().copied()).collect();
        let given = std::mem::replace(&mut self.options, Ok(None));
        let given =
            given.map_err(|error| error.unwrap_or_else(|| SqlError::parameter("options cannot be read")));
        let options = Options::new(given, &known, &self.example)?;
        self.max_pairs = options.count("max_pairs", &self.example)?;
        Ok(options)
    }

    /// Takes options that were found good into the example.
    pub fn accept(&mut self, mut options: Options) {
        options.0.remove("max_pairs");
        if !options.0.is_empty() {
            self.example = self.example.with("options", literal(&Value::Object(options.0).to_string()));
        }
    }

    /// Whether a column of sites was given, for a method that makes use of sites.
    pub fn has_sites(&mut self) -> bool {
        self.sites_are_used = true;
        self.has_sites
    }

    /// The tokenizer that was asked for.
    pub fn tokenizer_name(&self) -> Option<&str> {
        self.tokenizer.as_deref()
    }

    /// The number of tokens to a shingle that was asked for.
    pub fn asked_shingle(&self) -> Option<i32> {
        self.shingle
    }

    /// Whether repeats were said to count or not to.
    pub fn asked_multiset(&self) -> Option<bool> {
        self.multiset
    }

    /// Lets documents be cut in this way where nobody asked for another one.
    pub fn cut_by_default(&mut self, tokenizer: Option<&'static str>, shingle: i32) {
        if self.tokenizer.is_none() && self.made.is_none() {
            self.tokenizer = tokenizer.map(Cow::Borrowed);
        }
        self.shingle.get_or_insert(shingle);
    }

    /// How documents become sets. `shingle` is the default number of words to a shingle; of characters
    /// it is 3 in any case.
    pub fn feature_spec(&mut self, shingle: usize) -> Result<FeatureSpec> {
        let (tokenizer, tsearch) = parse_tokenizer(self.tokenizer.as_deref(), &self.example)?;
        self.tsearch = tsearch;
        if let Some(name) = &self.tokenizer {
            if let Some(made) = &self.made {
                let message = format!("column \"{made}\" holds tokens already made, so no tokenizer is used");
                return Err(SqlError::parameter(message).hint(such_as(&self.example)));
            }
            self.example = self.example.with("tokenizer", literal(name));
        }
        let chars = tokenizer == Tokenizer::Chars;
        // Single characters hardly tell texts apart; three are what trigram searches use.
        let default = if chars { 3 } else { shingle as i64 };
        let shingle = FeatureSpec::check_shingle("shingle", self.shingle.map_or(default, i64::from))
            .map_err(|error| SqlError::from(error).hint(such_as(&self.example.with("shingle", 5))))?;
        if self.shingle.is_some() {
            self.example = self.example.with("shingle", shingle);
        }
        let multiset = self.multiset.unwrap_or(chars || shingle == 1);
        if self.multiset.is_some() {
            self.example = self.example.with("multiset", multiset);
        }
        Ok(FeatureSpec { tokenizer, shingle, multiset, wrap: false })
    }

    /// Refuses what has no meaning for a method that compares texts as they are (`how` says in a clause
    /// what it does): arguments that say how texts are cut, and columns that hold no texts.
    pub fn whole_texts(&mut self, how: &str) -> Result<()> {
        let given = [
            ("tokenizer", self.tokenizer.is_some()),
            ("shingle", self.shingle.is_some()),
            ("multiset", self.multiset.is_some()),
        ];
        if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
            let message = format!("method \"{}\" {how}: {name} is not used", self.method);
            let example = self.without_method.with("method", literal(self.method));
            return Err(SqlError::parameter(message).hint(such_as(&example)));
        }
        if let Some(name) = &self.made {
            let message = format!("column \"{name}\" holds tokens already made, not texts to be compared");
            let example = such_as(&self.without_method);
            return Err(SqlError::parameter(message)
                .hint(format!("Name a column of texts, or leave the method out. {example}")));
        }
        Ok(())
    }
}
