//! The positions of the arguments of SQL functions. A test compares every list here with the SQL
//! declaration (pg_test/in_server/arguments.rs), so an argument that is inserted in an SQL
//! declaration cannot silently shift the positions here.

use std::borrow::Cow;

use pgrx::pg_sys::{self, Datum};
use pgrx::{FromDatum, IntoDatum};
use serde_json::Value;

use crate::pg::server::call::{FunctionCall, declared_otherwise, is_null};
use crate::pg::server::error::Result;

/// Declares the arguments with their names in SQL.
macro_rules! arguments {
    ($($argument:ident = $name:literal,)*) => {
        /// An argument of an SQL function.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Argument {
            $(#[doc = concat!("`", $name, "`")] $argument,)*
        }

        impl Argument {
            /// Returns the name.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$argument => $name,)*
                }
            }
        }
    };
}

arguments! {
    A = "a",
    Across = "across",
    B = "b",
    ByNode = "by_node",
    Clustering = "clustering",
    Docs = "docs",
    Edits = "edits",
    Extend = "extend",
    Features = "features",
    IdColumn = "id_column",
    IdType = "id_type",
    K = "k",
    Keep = "keep",
    Labels = "labels",
    Left = "left",
    Link = "link",
    Links = "links",
    MaxClusterSize = "max_cluster_size",
    MaxClusters = "max_clusters",
    MaxMembers = "max_members",
    MaxPairs = "max_pairs",
    MaxPassages = "max_passages",
    MaxSamples = "max_samples",
    Method = "method",
    MinDocuments = "min_documents",
    MinLeft = "min_left",
    MinLength = "min_length",
    MinPrecision = "min_precision",
    MinRun = "min_run",
    MinSentences = "min_sentences",
    MinShare = "min_share",
    MinTokens = "min_tokens",
    Multiset = "multiset",
    Options = "options",
    Pairs = "pairs",
    Parts = "parts",
    Right = "right",
    RightAcross = "right_across",
    RightIdColumn = "right_id_column",
    RightSiteColumn = "right_site_column",
    RightTextColumn = "right_text_column",
    RightWithin = "right_within",
    Sample = "sample",
    Shingle = "shingle",
    SiteColumn = "site_column",
    Snap = "snap",
    TextColumn = "text_column",
    Threshold = "threshold",
    Thresholds = "thresholds",
    TitleColumn = "title_column",
    Tokenizer = "tokenizer",
    Unit = "unit",
    Url = "url",
    Wanted = "wanted",
    Within = "within",
    WithinDocuments = "within_documents",
}

use Argument::*;

/// An SQL function with its name and its arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FunctionForm {
    /// The name of the function, for messages.
    pub name: &'static str,
    /// All arguments, including the argument for the type of the ids.
    arguments: &'static [Argument],
}

/// Declares functions, and the list of all functions.
macro_rules! forms {
    ($($form:ident = $name:literal [$($argument:ident),* $(,)?],)*) => {
        $(
            #[doc = concat!("`", $name, "`")]
            pub(crate) const $form: FunctionForm = FunctionForm { name: $name, arguments: &[$($argument),*] };
        )*

        /// All functions, for the test.
        #[cfg(all(feature = "pg_test", not(test)))]
        pub(crate) const ALL: &[FunctionForm] = &[$($form),*];
    };
}

#[rustfmt::skip]
forms! {
    NEAR_DUPLICATES = "near_duplicates" [
        Docs, Threshold, IdType, Options, IdColumn, TextColumn, Method, Tokenizer, Shingle, Multiset, MaxPairs, SiteColumn,
        Within, Across,
    ],
    NEAR_DUPLICATES_BETWEEN = "near_duplicates_between" [
        Left, Right, Threshold, IdType, Options, IdColumn, TextColumn, Method, Tokenizer, Shingle, Multiset, MaxPairs,
        RightIdColumn, RightTextColumn, SiteColumn, RightSiteColumn, Within, RightWithin, Across, RightAcross,
    ],
    NEAR_DUPLICATES_PLAN = "near_duplicates_plan" [
        Docs, Threshold, Options, IdColumn, TextColumn, Method, Tokenizer, Shingle, Multiset, SiteColumn, Sample,
        ByNode, Parts, Within, Across,
    ],
    NEAREST = "nearest" [Docs, K, IdType, IdColumn, TextColumn, Method, Tokenizer, Shingle, Multiset, Options, Within, Across],
    SUGGEST = "suggest" [Docs, IdColumn, TextColumn, Sample, Labels, MinPrecision, Within, Across],
    SUGGEST_PAIRS = "suggest_pairs" [Docs, Wanted, IdType, IdColumn, TextColumn, Sample, Within, Across],
    NEAR_DUPLICATE_CLUSTERS = "near_duplicate_clusters" [
        Docs, Threshold, IdType, Options, IdColumn, TextColumn, Method, Tokenizer, Shingle, Multiset, MaxPairs, SiteColumn,
        Clustering, MaxClusterSize, Within, Across,
    ],
    ELIMINATE = "eliminate" [
        Docs, Threshold, IdType, Options, IdColumn, TextColumn, Method, Tokenizer, Shingle, Multiset, MaxPairs, SiteColumn,
        Keep, Within, Across,
    ],
    DUPLICATES_REPORT = "duplicates_report" [
        Docs, Threshold, IdType, Options, IdColumn, TextColumn, Method, Tokenizer, Shingle, Multiset, MaxPairs, SiteColumn,
        Clustering, MaxClusterSize, MaxClusters, MaxMembers, MaxSamples, TitleColumn, Link,
        Within, Across,
    ],
    PARTIAL_DUPLICATES = "partial_duplicates" [
        Docs, Threshold, IdType, Options, IdColumn, TextColumn, Features, MinSentences, Extend, Shingle, MaxPassages,
        Tokenizer, Within, Across, Edits, MinLength,
    ],
    PARTIAL_DUPLICATES_BETWEEN = "partial_duplicates_between" [
        Left, Right, Threshold, IdType, Options, IdColumn, TextColumn, Features, MinSentences, Extend, Shingle, MaxPassages,
        RightIdColumn, RightTextColumn, Tokenizer, Within, RightWithin, Across, RightAcross, Edits, MinLength,
    ],
    SHARED_PASSAGES = "shared_passages" [
        A, B, Threshold, Options, Features, MinSentences, Extend, Shingle, Tokenizer, Edits, MinLength,
    ],
    REPEATED_RUNS = "repeated_runs" [
        Docs, MinLength, IdType, Unit, Keep, Within, MinDocuments, MinShare, IdColumn, TextColumn, Tokenizer,
        WithinDocuments, MinTokens, Url,
    ],
    CUT_REPEATS = "cut_repeats" [
        Docs, MinLength, IdType, Unit, Keep, Within, MinDocuments, MinShare, IdColumn, TextColumn, Tokenizer,
        WithinDocuments, MinTokens, Snap, MinLeft, Url,
    ],
    SHARED_RUNS = "shared_runs" [A, B, MinRun, Tokenizer],
    CLUSTERS_OF_PAIRS = "clusters_of_pairs" [Pairs, IdType, MaxClusterSize, Clustering, Thresholds],
    CLUSTER_STATS = "cluster_stats" [Pairs, IdType, MaxClusterSize, Clustering],
    CLUSTER_LINKS = "cluster_links" [Pairs, IdType, Links],
}

impl FunctionForm {
    /// Lists the arguments in order. A function with an argument for the type of the ids has a
    /// second form without it, which is not typed.
    pub(crate) fn arguments(self, is_typed: bool) -> impl Iterator<Item = Argument> {
        self.arguments.iter().copied().filter(move |&argument| is_typed || argument != IdType)
    }

    /// Returns the arguments that are relations.
    pub(crate) fn relations(self) -> &'static [Argument] {
        if self.arguments.contains(&Right) { &[Left, Right] } else { &[Docs] }
    }

    /// Reports whether the function has an argument.
    pub(crate) fn has(self, argument: Argument) -> bool {
        self.arguments.contains(&argument)
    }

    /// Wraps arguments that do not come from a call, for ids of a type.
    pub(crate) const fn with(self, kept: &KeptArguments, id_type: pg_sys::Oid) -> Named<'_> {
        Named { values: ArgumentSource::Kept(kept, id_type), form: self, is_typed: false, method: None }
    }

    /// Wraps a call of the function, in the form that has as many arguments.
    pub(crate) fn bind(self, call: FunctionCall) -> Named<'static> {
        let (name, has, declared) = (self.name, self.arguments.len(), call.count());
        let is_typed = self.has(IdType) && declared == has;
        if declared != self.arguments(is_typed).count() {
            declared_otherwise(format!("{name} has {has} arguments, declared with {declared}")).raise();
        }
        Named { values: ArgumentSource::Call(call), form: self, is_typed, method: None }
    }
}

/// Arguments for `near_duplicates` or `partial_duplicates` that do not come from a call of this
/// function: a job has stored them, or `near_duplicates_into` passes them on.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeptArguments {
    /// The relation.
    pub docs: pg_sys::Oid,
    /// The threshold.
    pub threshold: Option<f64>,
    /// The options.
    pub options: Option<Value>,
    /// The number of tokens in a shingle.
    pub shingle: Option<i32>,
    /// The setting for repeated tokens.
    pub multiset: Option<bool>,
    /// The maximum number of pairs, or of passages.
    pub max_pairs: Option<i64>,
    /// The least number of sentences of a passage.
    pub min_sentences: Option<i32>,
    /// Whether passages grow beyond their sentences.
    pub extend: Option<bool>,
    /// The greatest share of edited words of a passage.
    pub edits: Option<f64>,
    /// The least number of words of an edited passage.
    pub min_length: Option<i32>,
    /// The text arguments.
    pub texts: Vec<(Argument, String)>,
}

impl KeptArguments {
    /// Returns an argument that is neither text nor JSON.
    fn datum(&self, argument: Argument) -> Option<Datum> {
        match argument {
            Docs => self.docs.into_datum(),
            Threshold => self.threshold.into_datum(),
            Shingle => self.shingle.into_datum(),
            Multiset => self.multiset.into_datum(),
            MaxPairs | MaxPassages => self.max_pairs.into_datum(),
            MinSentences => self.min_sentences.into_datum(),
            Extend => self.extend.into_datum(),
            Edits => self.edits.into_datum(),
            MinLength => self.min_length.into_datum(),
            _ => None,
        }
    }

    /// Returns a text argument.
    pub(crate) fn text(&self, argument: Argument) -> Option<&str> {
        self.texts.iter().find(|(name, _)| *name == argument).map(|(_, text)| text.as_str())
    }
}

/// The source from which the values of arguments are read.
#[derive(Debug, Clone, Copy)]
enum ArgumentSource<'a> {
    Call(FunctionCall),
    Kept(&'a KeptArguments, pg_sys::Oid),
}

/// The arguments of a call by name. An argument that the function does not have is treated as NULL.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'a> {
    values: ArgumentSource<'a>,
    /// The function.
    pub form: FunctionForm,
    /// Set if the call has an argument for the type of the ids.
    pub is_typed: bool,
    /// The method that replaces the given one and its options, if there is one.
    method: Option<&'static str>,
}

impl Named<'_> {
    /// Returns the position of an argument, or `None` if the function does not have the argument.
    fn place(self, argument: Argument) -> Option<usize> {
        self.form.arguments(self.is_typed).position(|here| here == argument)
    }

    /// Returns the same arguments with another method, which has its default options.
    #[must_use]
    pub(crate) const fn with_method(self, method: &'static str) -> Self {
        Self { method: Some(method), ..self }
    }

    /// Returns an argument. `T` is its type in the SQL declaration.
    pub(crate) fn get<T: FromDatum>(self, argument: Argument) -> Option<T> {
        let place = self.place(argument)?;
        match self.values {
            ArgumentSource::Call(call) => call.get(place),
            ArgumentSource::Kept(kept, _) => {
                let datum = kept.datum(argument)?;
                // SAFETY: the datum has the type that SQL declares for this argument.
                unsafe { T::from_datum(datum, false) }
            }
        }
    }

    /// Returns a text argument.
    pub(crate) fn text(self, argument: Argument) -> Result<Option<Cow<'static, str>>> {
        let Some(place) = self.place(argument) else { return Ok(None) };
        if argument == Method && self.method.is_some() {
            return Ok(self.method.map(Cow::Borrowed));
        }
        match self.values {
            ArgumentSource::Call(call) => call.name(place),
            ArgumentSource::Kept(kept, _) => Ok(kept.text(argument).map(|text| Cow::Owned(text.to_owned()))),
        }
    }

    /// Reports whether the arguments come from a call of the function.
    pub(crate) fn is_call(self) -> bool {
        matches!(self.values, ArgumentSource::Call(_))
    }

    /// Reports whether the caller gave an argument whose value is NULL. If `unless_literal` is set,
    /// a NULL that is written as such does not count: it may be needed to reach a later argument.
    pub(crate) fn is_null(self, argument: Argument, unless_literal: bool) -> bool {
        let (Some(place), ArgumentSource::Call(call)) = (self.place(argument), self.values) else {
            return false;
        };
        call.datum(place).is_none() && call.is_given(place, unless_literal)
    }

    /// Returns an argument that the function has and that must not be NULL.
    pub(crate) fn need<T: FromDatum>(self, argument: Argument) -> Result<T> {
        self.get(argument).ok_or_else(|| is_null(argument.name()))
    }

    /// Returns a JSON argument.
    pub(crate) fn json(self, argument: Argument) -> Result<Option<Value>> {
        let Some(place) = self.place(argument).filter(|_| self.method.is_none()) else {
            return Ok(None);
        };
        match self.values {
            ArgumentSource::Call(call) => call.json(place, argument.name()),
            ArgumentSource::Kept(kept, _) => Ok(kept.options.clone().filter(|_| argument == Options)),
        }
    }

    /// Returns the type of the ids, if it is given. For a call this is the actual type of the
    /// argument, which is polymorphic.
    pub(crate) fn id_type(self) -> Option<pg_sys::Oid> {
        match self.values {
            ArgumentSource::Call(call) => self.place(IdType).map(|place| call.type_of(place as i32)),
            ArgumentSource::Kept(_, id_type) => Some(id_type),
        }
    }
}
