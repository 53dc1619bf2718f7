//! The arguments from which a method reads its parameters.

use std::borrow::Cow;

use pgrx::pg_sys;
use serde_json::Value;

use super::example::{Example, did_you_mean, literal, such_as};
use super::features::spec_of;
use super::options::{self, ByName, ColumnName, OfAll, Options};
use super::tokenizer::{HTML, HtmlPages, parse_tokenizer};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::notices::notice;
use neardup_core::clusters::Clustering;
use neardup_core::features::normalization::Normalization;
use neardup_core::features::{FeatureSpec, Tokenizer};
use neardup_core::verify::measure::check_threshold;

/// The arguments of a method. The method reads each argument that it knows, in the order of the
/// arguments in SQL. Each valid argument is added to the example in the hints of later errors.
#[derive(Debug)]
pub(crate) struct Arguments<'a> {
    /// The name of the method.
    pub method: &'static str,
    /// The number of tables, one or two.
    pub relations: usize,
    /// Set if the arguments were kept by a job or a procedure, which others may call.
    pub are_kept: bool,
    /// The name of a column that holds ready-made tokens or sketches instead of texts.
    pub made: Option<String>,
    pub(crate) has_sites: bool,
    pub(crate) sites_are_used: bool,
    /// A call that works, with all arguments that have been found valid so far.
    pub example: Example,
    /// The same call without the method.
    pub without_method: Example,
    /// The threshold as given. See [`Arguments::threshold`].
    pub threshold: Option<f64>,
    /// Set if the caller gave NULL as the threshold, and did not just leave it out.
    pub is_null: bool,
    pub(crate) options: std::result::Result<Option<Value>, Option<SqlError>>,
    /// The options of the method, as given.
    pub(crate) given: ByName,
    pub(crate) tokenizer: Option<Cow<'a, str>>,
    pub(crate) shingle: Option<i32>,
    pub(crate) multiset: Option<bool>,
    pub(crate) tsearch: Option<pg_sys::Oid>,
    /// The column with the URLs of the pages, if it was given.
    pub(crate) url: Option<ColumnName>,
    /// Set if the documents are HTML pages whose text is compared.
    pub(crate) pages: Option<HtmlPages>,
    pub(crate) max_pairs: Option<u64>,
    /// The normalization form of the texts, if one was asked for.
    pub(crate) normalize: Option<Normalization>,
}

impl Arguments<'static> {
    /// Makes the arguments of a call that names only a method.
    pub(crate) fn of_defaults(method: &'static str) -> Self {
        let example = Example::new("near_duplicates", ["docs".to_owned()]);
        Self {
            method,
            relations: 1,
            are_kept: false,
            made: None,
            has_sites: false,
            sites_are_used: false,
            without_method: example.clone(),
            example: example.with("method", literal(method)),
            threshold: None,
            is_null: false,
            options: Ok(None),
            given: ByName::new(),
            tokenizer: None,
            shingle: None,
            multiset: None,
            tsearch: None,
            url: None,
            pages: None,
            max_pairs: None,
            normalize: None,
        }
    }
}

impl Arguments<'_> {
    /// Returns the given threshold or, if there is none, the default. Fails if the threshold is not
    /// above 0 and at most 1.
    pub(crate) fn threshold(&mut self, default: f64) -> Result<f64> {
        let threshold = self.threshold.unwrap_or(default);
        if self.threshold.is_none() && self.is_null {
            let method = self.method;
            notice(format!("the threshold is NULL: method \"{method}\" uses its default, {default}"));
            self.is_null = false;
        }
        check_threshold(threshold).map_err(|error| SqlError::from(error).hint(such_as(&self.example)))?;
        self.example.threshold = Some(threshold);
        self.without_method.threshold = Some(threshold);
        Ok(threshold)
    }

    /// Refuses a threshold other than 1 for a method whose pairs are equal. `how` is a clause of
    /// the message that says what is equal in them.
    pub(crate) fn only_threshold_one(&mut self, how: &str) -> Result<()> {
        self.threshold(1.0)?;
        if self.threshold.is_some_and(|threshold| threshold != 1.0) {
            self.example.threshold = None;
            let given = self.threshold.unwrap_or(1.0);
            let message = format!("method \"{}\" {how}: the threshold must be 1, not {given}", self.method);
            return Err(SqlError::parameter(message).hint(such_as(&self.example)));
        }
        Ok(())
    }

    /// Reads the options of the method and the options that all methods have. When the method has
    /// found its options valid, it calls [`Arguments::accept`].
    pub(crate) fn options<T: Options>(&mut self) -> Result<T> {
        self.options_of(options::names::<T>())
    }

    /// Reads the options like [`Arguments::options`], for a method that knows only the options of
    /// `T` whose names are in `known`.
    pub(crate) fn options_of<T: Options>(&mut self, known: &[&str]) -> Result<T> {
        let of_all = options::names::<OfAll>();
        let given = std::mem::replace(&mut self.options, Ok(None));
        let given =
            given.map_err(|error| error.unwrap_or_else(|| SqlError::parameter("options cannot be read")));
        let example = || such_as(&options::with(&self.example, "{\"max_pairs\": 1000}"));
        let mut given = options::given(given, example)?;
        options::only_known(&given, &[of_all, known].concat(), &self.example)?;
        let mut general = ByName::new();
        for name in of_all {
            general.extend(given.remove_entry(*name));
        }
        let OfAll { max_pairs, normalize, url } = options::read(&general, &self.example)?;
        self.max_pairs = max_pairs.map(|most| most.0);
        self.normalize = normalize.map(|form| form.0);
        self.url = url;
        let read = options::read(&given, &self.example)?;
        self.given = given;
        Ok(read)
    }

    /// Adds the options, which were found valid, to the example.
    pub(crate) fn accept(&mut self) {
        self.accept_without(&[]);
    }

    /// Adds the options to the example, except the options in `names`, which may be invalid.
    pub(crate) fn accept_without(&mut self, names: &[&str]) {
        let mut given = std::mem::take(&mut self.given);
        given.retain(|name, _| !names.contains(&&**name));
        if !given.is_empty() {
            self.example = self.example.with("options", literal(&Value::Object(given).to_string()));
        }
    }

    /// Returns the name of a given option for which `is` holds, if there is one. Must be called
    /// before the options are read.
    pub(crate) fn given_option(&self, is: impl Fn(&str) -> bool) -> Option<&str> {
        let Ok(Some(Value::Object(given))) = &self.options else { return None };
        given.keys().map(String::as_str).find(|name| is(name))
    }

    /// Returns the name of a given argument that determines how texts are cut into tokens, if there
    /// is one.
    pub(crate) fn cutting(&self) -> Option<&'static str> {
        let given = [
            ("tokenizer", self.tokenizer.is_some()),
            ("shingle", self.shingle.is_some()),
            ("multiset", self.multiset.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }

    /// Reports whether a column of sites was given, and records that the method uses sites.
    pub(crate) fn has_sites(&mut self) -> bool {
        self.sites_are_used = true;
        self.has_sites
    }

    /// Reports whether the documents are HTML pages.
    pub(crate) fn is_html(&self) -> bool {
        self.pages.is_some() || self.tokenizer.as_deref() == Some(HTML)
    }

    /// Sets how documents are cut into tokens, unless the call says so itself.
    pub(crate) fn cut_by_default(&mut self, tokenizer: Option<&'static str>, shingle: i32) {
        if self.tokenizer.is_none() && self.made.is_none() {
            self.tokenizer = tokenizer.map(Cow::Borrowed);
        }
        self.shingle.get_or_insert(shingle);
    }

    /// Returns the rules that turn documents into sets. `shingle` is the default number of words in
    /// a shingle; for characters the default is always 3.
    pub(crate) fn feature_spec(&mut self, shingle: usize) -> Result<FeatureSpec> {
        let (mut tokenizer, tsearch) = parse_tokenizer(self.tokenizer.as_deref(), &self.example)?;
        self.tsearch = tsearch;
        self.pages_with_urls()?;
        if self.pages.is_some() {
            // The text of the page is what is cut.
            tokenizer = Tokenizer::Words;
        }
        if let Some(name) = &self.tokenizer {
            if let Some(made) = &self.made {
                let message = format!("column \"{made}\" holds tokens already made, so no tokenizer is used");
                return Err(SqlError::parameter(message).hint(such_as(&self.example)));
            }
            self.example = self.example.with("tokenizer", literal(name));
        }
        let spec = spec_of(tokenizer, self.shingle, self.multiset, shingle)
            .map_err(|error| SqlError::from(error).hint(such_as(&self.example.with("shingle", 5))))?;
        if self.shingle.is_some() {
            self.example = self.example.with("shingle", spec.shingle);
        }
        if self.multiset.is_some() {
            self.example = self.example.with("multiset", spec.multiset);
        }
        Ok(spec)
    }

    /// Treats documents as HTML pages whose URLs are known if the call names a column of URLs.
    pub(crate) fn pages_with_urls(&mut self) -> Result<()> {
        if let Some(url) = self.url.take() {
            let example = self.example.with("tokenizer", literal(HTML));
            self.pages = HtmlPages::read(self.tokenizer.as_deref(), Some(url), &example)?;
        }
        Ok(())
    }

    /// Treats documents as HTML pages if the call says so, for a method that compares texts as they
    /// are, and refuses what [`Arguments::uncut_texts`] refuses.
    pub(crate) fn whole_texts(&mut self, how: &str) -> Result<()> {
        let with_html = self.example.with("tokenizer", literal(HTML));
        let (asked, url) = (self.tokenizer.take(), self.url.take());
        self.pages = HtmlPages::read(asked.as_deref(), url, &with_html)?;
        if let (Some(name), None) = (asked, &self.pages) {
            let message =
                format!("method \"{}\" {how}: tokenizer \"{name}\" is not used, only html is", self.method);
            return Err(SqlError::parameter(message).hint(such_as(&with_html)));
        }
        if self.pages.is_some() {
            self.example = with_html;
        }
        self.uncut_texts(how)
    }

    /// Refuses arguments that have no meaning for a method that compares texts as they are:
    /// arguments that determine how texts are cut into tokens, and columns that hold no texts.
    /// `how` is a clause of the message that says what the method does.
    pub(crate) fn uncut_texts(&self, how: &str) -> Result<()> {
        if let Some(name) = self.cutting() {
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

/// The rule for making clusters from pairs, and the limit on the size of clusters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClusteringArguments {
    /// The rule.
    pub clustering: Clustering,
    /// The maximum number of rows in a connected cluster.
    pub largest: Option<u32>,
}

impl ClusteringArguments {
    /// Reads the arguments `clustering` and `max_cluster_size`.
    pub(crate) fn new(clustering: Option<&str>, largest: Option<i32>, example: &Example) -> Result<Self> {
        let clustering = match clustering {
            None | Some("connected") => Clustering::Connected,
            Some("star") => Clustering::Star,
            Some("perhaps_similar") => Clustering::PerhapsSimilar,
            Some(other) => {
                return Err(SqlError::parameter(format!("unknown clustering \"{other}\"")).hint(format!(
                    "{}Clusterings: connected, star, perhaps_similar. {}",
                    did_you_mean(other, ["connected", "star", "perhaps_similar"]),
                    such_as(&example.with("clustering", literal("star")))
                )));
            }
        };
        let Some(most) = largest else { return Ok(Self { clustering, largest: None }) };
        let hint = || such_as(&example.with("max_cluster_size", 1000));
        if clustering != Clustering::Connected {
            return Err(SqlError::parameter("max_cluster_size is for connected clusters only").hint(hint()));
        }
        match u32::try_from(most).ok().filter(|&most| most > 1) {
            Some(most) => Ok(Self { clustering, largest: Some(most) }),
            None => {
                let message = format!("max_cluster_size must be at least 2, not {most}");
                Err(SqlError::parameter(message).hint(hint()))
            }
        }
    }
}
