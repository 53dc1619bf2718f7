//! Where the arguments of SQL functions stand. Every list here is compared with what SQL declares (pg_test/arguments.rs),
//! so that an argument that comes between others there shifts none here.

use std::borrow::Cow;

use pgrx::pg_sys::{self, Datum};
use pgrx::{FromDatum, IntoDatum};
use serde_json::Value;

use crate::pg::server::call::{Call, declared_otherwise, is_null};
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
            /// Its name.
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
    B = "b",
    Clustering = "clustering",
    Docs = "docs",
    Extend = "extend",
    Features = "features",
    IdColumn = "id_column",
    IdType = "id_type",
    Keep = "keep",
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
    MinSentences = "min_sentences",
    Multiset = "multiset",
    Options = "options",
    Pairs = "pairs",
    Right = "right",
    RightIdColumn = "right_id_column",
    RightSiteColumn = "right_site_column",
    RightTextColumn = "right_text_column",
    Shingle = "shingle",
    SiteColumn = "site_column",
    TextColumn = "text_column",
    Threshold = "threshold",
    Thresholds = "thresholds",
    TitleColumn = "title_column",
    Tokenizer = "tokenizer",
}

use Argument::*;

/// An SQL function by its name and its arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    /// The function, for messages.
    pub name: &'static str,
    /// All arguments, with that of the ids' type.
    arguments: &'static [Argument],
    /// Whether this is the one of the two functions of the name that has an argument for the ids' type.
    is_typed: bool,
    /// Whether other arguments may follow.
    goes_on: bool,
}

/// Declares functions, and the list of all.
macro_rules! forms {
    ($($form:ident = $name:literal [$($argument:ident),* $(,)?],)*) => {
        $(
            #[doc = concat!("`", $name, "`")]
            pub(crate) const $form: Form = Form { name: $name, arguments: &[$($argument),*], is_typed: false, goes_on: false };
        )*

        /// All of them, for the test.
        #[cfg(all(feature = "pg_test", not(test)))]
        pub(crate) const ALL: &[Form] = &[$($form),*];
    };
}

#[rustfmt::skip]
forms! {
    NEAR_DUPLICATES = "near_duplicates" [
        Docs, Threshold, IdType, Options, IdColumn, TextColumn, Method, Tokenizer, Shingle, Multiset, MaxPairs, SiteColumn,
    ],
    NEAR_DUPLICATES_BETWEEN = "near_duplicates_between" [
        Left, Right, Threshold, IdType, Options, IdColumn, TextColumn, Method, Tokenizer, Shingle, Multiset, MaxPairs,
        RightIdColumn, RightTextColumn, SiteColumn, RightSiteColumn,
    ],
    NEAR_DUPLICATE_CLUSTERS = "near_duplicate_clusters" [
        Docs, Threshold, IdType, Options, IdColumn, TextColumn, Method, Tokenizer, Shingle, Multiset, MaxPairs, SiteColumn,
        Clustering, MaxClusterSize,
    ],
    ELIMINATE = "eliminate" [
        Docs, Threshold, IdType, Options, IdColumn, TextColumn, Method, Tokenizer, Shingle, Multiset, MaxPairs, SiteColumn,
        Keep,
    ],
    DUPLICATES_REPORT = "duplicates_report" [
        Docs, Threshold, IdType, Options, IdColumn, TextColumn, Method, Tokenizer, Shingle, Multiset, MaxPairs, SiteColumn,
        Clustering, MaxClusterSize, MaxClusters, MaxMembers, MaxSamples, TitleColumn, Link,
    ],
    PARTIAL_DUPLICATES = "partial_duplicates" [
        Docs, Threshold, IdType, Options, IdColumn, TextColumn, Features, MinSentences, Extend, Shingle, MaxPassages,
        Tokenizer,
    ],
    PARTIAL_DUPLICATES_BETWEEN = "partial_duplicates_between" [
        Left, Right, Threshold, IdType, Options, IdColumn, TextColumn, Features, MinSentences, Extend, Shingle, MaxPassages,
        RightIdColumn, RightTextColumn, Tokenizer,
    ],
    SHARED_PASSAGES = "shared_passages" [
        A, B, Threshold, Options, Features, MinSentences, Extend, Shingle, Tokenizer,
    ],
    CLUSTERS_OF_PAIRS = "clusters_of_pairs" [Pairs, IdType, MaxClusterSize, Clustering, Thresholds],
    CLUSTER_STATS = "cluster_stats" [Pairs, IdType, MaxClusterSize, Clustering],
    CLUSTER_LINKS = "cluster_links" [Pairs, IdType, Links],
}

impl Form {
    /// The function of the same name that has an argument for the ids' type.
    #[must_use]
    pub(crate) const fn typed(self) -> Self {
        Self { is_typed: true, ..self }
    }

    /// A function whose first arguments are these.
    #[must_use]
    pub(crate) const fn and_more(self) -> Self {
        Self { goes_on: true, ..self }
    }

    /// Its arguments in order.
    pub(crate) fn arguments(self) -> impl Iterator<Item = Argument> {
        self.arguments.iter().copied().filter(move |&argument| self.is_typed || argument != IdType)
    }

    /// How many arguments it has.
    pub(crate) const fn count(self) -> usize {
        let (mut count, mut n) = (0, 0);
        while n < self.arguments.len() {
            count += (self.is_typed || self.arguments[n] as u8 != IdType as u8) as usize;
            n += 1;
        }
        count
    }

    /// The relations that it is called with.
    pub(crate) fn relations(self) -> &'static [Argument] {
        if self.arguments.contains(&Right) { &[Left, Right] } else { &[Docs] }
    }

    /// Where an argument stands; none where there is none such.
    fn place(self, argument: Argument) -> Option<usize> {
        self.arguments().position(|here| here == argument)
    }

    /// Arguments that no call gives.
    pub(crate) const fn with(self, kept: &KeptArguments) -> Named<'_> {
        Named { values: Values::Kept(kept), form: self }
    }

    /// A call of the function.
    pub(crate) fn of(self, call: Call) -> Named<'static> {
        if call.count() < self.count() || (call.count() > self.count() && !self.goes_on) {
            let (name, has, declared) = (self.name, self.count(), call.count());
            declared_otherwise(format!("{name} has {has} arguments, declared with {declared}")).raise();
        }
        Named { values: Values::Call(call), form: self }
    }
}

/// The arguments of `near_duplicates` where no call gives them: a job keeps them.
#[derive(Debug, Clone)]
pub(crate) struct KeptArguments {
    /// The relation.
    pub docs: pg_sys::Oid,
    /// The threshold.
    pub threshold: Option<f64>,
    /// The options.
    pub options: Option<Value>,
    /// How many tokens a shingle has.
    pub shingle: Option<i32>,
    /// Whether repeated tokens count.
    pub multiset: Option<bool>,
    /// Those that are texts.
    pub texts: Vec<(Argument, String)>,
}

impl KeptArguments {
    /// An argument that is neither text nor JSON.
    fn datum(&self, argument: Argument) -> Option<Datum> {
        match argument {
            Docs => self.docs.into_datum(),
            Threshold => self.threshold.into_datum(),
            Shingle => self.shingle.into_datum(),
            Multiset => self.multiset.into_datum(),
            _ => None,
        }
    }

    fn text(&self, argument: Argument) -> Option<&str> {
        self.texts.iter().find(|(name, _)| *name == argument).map(|(_, text)| text.as_str())
    }
}

/// Where the values of arguments are.
#[derive(Debug, Clone, Copy)]
enum Values<'a> {
    Call(Call),
    Kept(&'a KeptArguments),
}

/// The arguments of a call by name. One that the function does not have is none, as where it is NULL.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'a> {
    values: Values<'a>,
    form: Form,
}

impl Named<'_> {
    /// An argument. `T` is the type that the SQL declaration says.
    pub(crate) fn get<T: FromDatum>(self, argument: Argument) -> Option<T> {
        let place = self.form.place(argument)?;
        match self.values {
            Values::Call(call) => call.get(place),
            Values::Kept(kept) => {
                let datum = kept.datum(argument)?;
                // SAFETY: of the type that SQL declares for this argument.
                unsafe { T::from_datum(datum, false) }
            }
        }
    }

    /// A text.
    pub(crate) fn text(self, argument: Argument) -> Result<Option<Cow<'static, str>>> {
        let Some(place) = self.form.place(argument) else { return Ok(None) };
        match self.values {
            Values::Call(call) => call.text(place),
            Values::Kept(kept) => Ok(kept.text(argument).map(|text| Cow::Owned(text.to_owned()))),
        }
    }

    /// An argument that must not be NULL, of those that the function has.
    pub(crate) fn need<T: FromDatum>(self, argument: Argument) -> Result<T> {
        self.get(argument).ok_or_else(|| is_null(argument.name()))
    }

    /// JSON.
    pub(crate) fn json(self, argument: Argument) -> Result<Option<Value>> {
        let Some(place) = self.form.place(argument) else { return Ok(None) };
        match self.values {
            Values::Call(call) => call.json(place, argument.name()),
            Values::Kept(kept) => Ok(kept.options.clone().filter(|_| argument == Options)),
        }
    }

    /// The type of the ids, where the function has an argument for it: that is polymorphic.
    pub(crate) fn id_type(self) -> Option<pg_sys::Oid> {
        let Values::Call(call) = self.values else { return None };
        self.form.place(IdType).map(|place| call.type_of(place as i32))
    }
}
