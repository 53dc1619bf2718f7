//! Finds near-duplicate documents: edited copies, the same story on several sites, copied passages,
//! and documents that contain other documents.
//!
//! Documents are rows, numbered from 0; a [`Pair`] has two rows and their similarity.
//!
//! ```
//! use neardup_core::near_duplicates;
//!
//! let texts = [
//!     "The quick brown fox jumps over the lazy dog.",
//!     "the QUICK brown fox jumps over the lazy dog!",
//!     "A quick brown fox jumped over a dog.",
//! ];
//! let pairs = near_duplicates(&texts, 0.8)?;
//! assert_eq!(pairs.len(), 1);
//! assert_eq!((pairs[0].left, pairs[0].right, pairs[0].similarity), (0, 1, 1.0));
//! # Ok::<(), neardup_core::Error>(())
//! ```
//!
//! # From documents to pairs
//!
//! [`near_duplicates`] compares words. Everything else begins with a [`Corpus`], which makes a
//! [`Document`] of each row, as a text, an [`HtmlPage`], a list of tokens or a set of numbers. A
//! [`Method`] finds the pairs of one collection or of two. Failures are an [`Error`] in a
//! [`Result`]; an [`Account`] says what a call did.
//!
//! ```
//! use neardup_core::{Corpus, Measure, Sets};
//!
//! // Rows from 1 on are the right collection.
//! let texts = ["to be or not to be", "not to be or to be", "to see or not to see"];
//! let mut corpus = Corpus::of_texts(&texts).split(Some(1));
//! let pairs = corpus.pairs(&Sets::of_words(Measure::Jaccard, 0.8)?)?;
//! assert_eq!(pairs.iter().map(|pair| (pair.left, pair.right)).collect::<Vec<_>>(), [(0, 1)]);
//! # Ok::<(), neardup_core::Error>(())
//! ```
//!
//! # Methods
//!
//! * [`Sets`]: exact joins of sets of words, shingles or characters, by a [`Measure`]
//! * [`Edit`]: the edit distance of characters, exact
//! * [`Sketches`]: minhash, simhash, supershingles, and combinations of these
//! * [`StoredMinhash`], [`StoredSimhash`]: sketches that were made earlier
//! * [`Tlcs`]: long common parts of pages, whatever frame is around them
//! * [`SpotSigs`]: chains of words that follow common words, robust to menus and advertisements
//! * [`Imatch`]: equal sets of telling words
//! * [`Runs`]: shares of tokens that two texts have word for word, exact
//! * [`ByCodes`]: short feature codes, for Chinese above all
//!
//! ```
//! use neardup_core::{Corpus, Edit};
//!
//! let mut corpus = Corpus::of_texts(&["Port Ellis", "port Ellis", "Ellis port"]);
//! let pairs = corpus.pairs(&Edit::within(1))?;
//! assert_eq!((pairs.len(), pairs[0].left, pairs[0].right, pairs[0].similarity), (1, 0, 1, 0.9));
//! # Ok::<(), neardup_core::Error>(())
//! ```
//!
//! Why two texts are a pair, a method says in an [`Explanation`] of [`TwoTexts`]; its parts are in
//! [`explain`].
//!
//! A [`FeatureSpec`] and its [`Tokenizer`] say what sets are made of. The other parameters of
//! methods are in [`parameters`].
//!
//! # From pairs to clusters
//!
//! [`cluster_pairs`] makes [`Clusters`] of pairs by a [`Clustering`], each a [`Cluster`].
//! [`keep_by`] chooses the [`Leaders`], the documents to keep. [`threshold_curve`] helps to choose
//! a threshold, with a [`CurvePoint`] for each. [`eliminate_repeated`] keeps one of all
//! [`Codes`] that repeat each other, and gives the [`Survivor`] of each.
//!
//! ```
//! use neardup_core::{Clustering, cluster_pairs, keep_by, near_duplicates};
//!
//! let texts = ["a b c d e", "x y", "a b c d e f", "e d c b a"];
//! let pairs = near_duplicates(&texts, 0.8)?;
//! let clusters = cluster_pairs(&pairs, texts.len(), Clustering::Connected)?;
//! assert_eq!(clusters.get(0).members, [0, 2, 3]);
//! // Of each cluster the longest text stays, and "x y", which is in none.
//! let longest = keep_by(&pairs, texts.len(), |row| std::cmp::Reverse(texts[row as usize].len()))?;
//! assert_eq!(longest.kept().collect::<Vec<_>>(), [1, 2]);
//! # Ok::<(), neardup_core::Error>(())
//! ```
//!
//! # Passages that documents share
//!
//! [`passages_between`] finds each [`Passage`] of two texts, [`Corpus::passages`] those of many, by
//! [`PassageParameters`].
//!
//! ```
//! use neardup_core::{PassageParameters, Stop, passages_between};
//!
//! let a = "A plain start. The crane moved to the north quay in March. Nobody saw it.";
//! let b = "Other words. The crane moved to the north quay in March. The end.";
//! let parameters = PassageParameters { min_sentences: 1, extend: None, ..Default::default() };
//! let passages = passages_between(a, b, &parameters, &Stop::default())?;
//! assert_eq!(passages.len(), 1);
//! assert_eq!(&a[passages[0].left_span.clone()], "The crane moved to the north quay in March.");
//! # Ok::<(), neardup_core::Error>(())
//! ```
//!
//! # Two texts
//!
//! Distances of two texts, and what they have in common, are in [`compare`].
//!
//! # Sketches
//!
//! [`minhash_sketch`] and [`simhash_sketch`] make sketches of documents. They are bytes to store;
//! [`sketch`] has the parameters, and what reads and compares sketches.
//!
//! ```
//! use neardup_core::sketch::{Minhash, MinhashHeader, Origin, minhash_similarity};
//! use neardup_core::{Document, Stop, minhash_sketch};
//!
//! let header = MinhashHeader::new(Origin::Words, 1, 128, 1);
//! let of = |text: &str| minhash_sketch(&Document::from(text), &header, &Stop::default());
//! let (a, b) = (of("to be or not to be")?, of("to be, or not: to be")?);
//! let agreeing = Minhash::parse(&a)?.agreeing(&Minhash::parse(&b)?)?;
//! assert_eq!(minhash_similarity(agreeing, 128), 1.0);
//! # Ok::<(), neardup_core::Error>(())
//! ```
//!
//! # Units of texts
//!
//! [`words`], [`sentences`], [`paragraphs`] with their [`Span`], and the text of an HTML page:
//!
//! ```
//! let page = "<title>Port</title><p>Caf&eacute; <b>open</b><script>x()</script>";
//! assert_eq!(neardup_core::html_text(page, None), "Port\n\nCafé open");
//! ```
//!
//! # Pages for people to look at
//!
//! Two texts side by side, and whole pages of pairs, are made by [`html_report`].
//!
//! ```
//! use neardup_core::Stop;
//! use neardup_core::html_report::{ReportDocument, ReportFacts, ReportPage};
//!
//! let of = |id: &str, text: &str| {
//!     ReportDocument { id: id.into(), text: text.into(), ..Default::default() }
//! };
//! let mut page = ReportPage::new(None);
//! let (a, b) = (of("1", "The red crane."), of("2", "The blue crane."));
//! page.add_pair([&a, &b], 0.5, &Stop::default())?;
//! let facts = ReportFacts { relation: "notes".into(), pairs: 1, ..Default::default() };
//! let html = page.finish(&facts);
//! assert!(html.contains("Near duplicates in <bdi>notes</bdi>") && html.contains("blue"));
//! # Ok::<(), neardup_core::Error>(())
//! ```
//!
//! # Threads, memory and files
//!
//! [`Resources`] of a call are an [`Executor`], such as [`PlainThreads`], which runs a [`Task`] and
//! can [`Stop`] it; a number of bytes; and [`TempFiles`], such as [`MemoryFiles`] or [`NoFiles`],
//! which create a [`TempFile`]. [`Corpus::pairs_with`] takes them.

#![warn(unreachable_pub)]

// The extension is made of these modules. They are no part of what versions promise, so that the
// documentation leaves them out: what it shows is what is exported below.
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod allowance;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod clusters;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod error;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod executor;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod features;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod hash;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod incremental;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod joins;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod leb128;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod memory;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod methods;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod parts;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod passages;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod radix;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod repeats;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod report;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod row_set;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod search;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod set_index;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod simd;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod sketches;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod storage;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod suggest;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod text;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod turns;
#[cfg_attr(not(feature = "internals"), doc(hidden))]
pub mod verify;

// Documents and their pairs.
pub use error::{Error, Result};
pub use features::tokens::{Document, Page as HtmlPage};
pub use joins::nearest::found::NearestRow;
pub use joins::pairs::Pair;
pub use methods::account::{self, Account};
pub use methods::corpus::{Corpus, near_duplicates};
pub use methods::explain::{self, Explanation};
pub use methods::method::Method;
pub use methods::pair::TwoTexts;

// Methods.
pub use methods::codes::ByCodes;
pub use methods::combined::Combined;
pub use methods::edit::Edit;
pub use methods::imatch::Imatch;
pub use methods::near_words::NearWords;
pub use methods::runs::Runs;
pub use methods::sets::Sets;
pub use methods::sketches::Sketches;
pub use methods::spotsigs::SpotSigs;
pub use methods::stored::{StoredMinhash, StoredSimhash};
pub use methods::tlcs::Tlcs;

// What sets are made of, and how they are compared.
pub use features::tokens::{FeatureSpec, Tokenizer};
pub use verify::measure::Measure;

// Clusters, and what to keep.
pub use clusters::Clustering;
pub use clusters::curve::Point as CurvePoint;
pub use clusters::elimination::{Codes, Survivor, eliminate_repeated};
pub use clusters::grouping::{Cluster, Clusters};
pub use clusters::in_memory::{cluster_pairs, keep_by, threshold_curve};
pub use clusters::leaders::Leaders;

// Passages.
pub use passages::{Parameters as PassageParameters, Passage, between as passages_between};

// Sketches.
pub use sketches::of_documents::{minhash_sketch, simhash_sketch};

// Units of texts.
pub use text::html::html_text;
pub use text::paragraphs::paragraphs;
pub use text::sentences::sentences;
pub use text::spans::Span;
pub use text::words::words;

// Threads, memory and files.
pub use executor::{Executor, PlainThreads, Stop, Task};
pub use storage::files::Resources;
pub use storage::files::{MemoryFiles, NoFiles, TempFile, TempFiles};

// What fewer programs need.
pub mod parameters {
    //! The parameters of methods, next to [`FeatureSpec`](crate::FeatureSpec) and
    //! [`Measure`](crate::Measure).
    //!
    //! * of sets: [`Predicate`], [`Algorithm`], [`Weights`]; of texts: [`EditPredicate`]
    //! * of sketches: [`TechniqueSpec`], [`Banding`], [`Combination`], [`Rule`], [`Safeguards`],
    //!   [`MostNeighbours`], [`NearBits`]
    //! * of [`Combined`](crate::Combined): [`CombinedTechnique`], [`Rule`]
    //! * of [`Tlcs`](crate::Tlcs): [`TlcsParameters`], [`TlcsThresholds`], [`SentenceParameters`],
    //!   [`StopRules`]
    //! * of the other methods: [`SpotSpec`], [`Antecedents`], [`IdfRange`], [`CodeSpec`]
    //! * of [`Runs`](crate::Runs): [`RunShare`]
    //! * of passages: [`SentenceFeatures`]

    pub use crate::features::codes::CodeSpec;
    pub use crate::features::dictionary::weights::Weights;
    pub use crate::features::imatch::IdfRange;
    pub use crate::features::spotsigs::{Antecedents, SpotSpec};
    pub use crate::features::units::signatures::Features as SentenceFeatures;
    pub use crate::joins::Algorithm;
    pub use crate::joins::sentences::lister::StopRules;
    pub use crate::joins::sketches::banding::Banding;
    pub use crate::joins::sketches::buckets::MostNeighbours;
    pub use crate::joins::sketches::combination::{Combination, Safeguards, TechniqueSpec};
    pub use crate::joins::sketches::rule::Rule;
    pub use crate::methods::combined::techniques::CombinedTechnique;
    pub use crate::methods::stored::NearBits;
    pub use crate::sketches::sentence::SignatureParameters as SentenceParameters;
    pub use crate::verify::edit::EditPredicate;
    pub use crate::verify::predicate::Predicate;
    pub use crate::verify::shared_runs::RunShare;
    pub use crate::verify::tlcs::{Parameters as TlcsParameters, Thresholds as TlcsThresholds};
}

pub mod compare {
    //! Comparisons of two texts.
    //!
    //! * the edit distance of characters: [`edit_distance`], [`edit_similarity`]
    //! * the longest common subsequence: [`Lcs`], [`LcsBounds`], [`lcs_symbols`],
    //!   [`lcs_resemblance`], [`lcs_containment`]
    //! * its trustable part: [`TlcsComparer`], [`TlcsFound`], [`TlcsPart`]
    //! * of feature codes: [`repeatability`]

    pub use crate::verify::edit::{distance as edit_distance, similarity as edit_similarity};
    pub use crate::verify::lcs::{Lcs, LcsBounds, symbols as lcs_symbols};
    pub use crate::verify::lcs::{containment as lcs_containment, resemblance as lcs_resemblance};
    pub use crate::verify::repeatability::repeatability;
    pub use crate::verify::tlcs::{Comparer as TlcsComparer, Found as TlcsFound, SharedPart as TlcsPart};
}

pub mod sketch {
    //! Parameters, readers and comparisons of sketches, and signatures.
    //!
    //! [`minhash_sketch`](crate::minhash_sketch) and [`simhash_sketch`](crate::simhash_sketch) make
    //! sketches with a [`MinhashHeader`] or [`SimhashHeader`] that names an [`Origin`]. They
    //! are bytes to store, which [`Minhash`] and [`Simhash`] read and [`SketchReader`] turns into
    //! documents of a [`SketchKind`]. [`minhash_similarity`] and [`simhash_similarity`] compare two
    //! of them; [`supershingles`] and [`megashingles`] summarise them. Below these are
    //! [`Minhasher`], [`Simhasher`] and [`hash_bytes`].
    //!
    //! Signatures of other methods are made by [`SentenceSigner`], [`Spots`] and [`feature_code`].

    pub use crate::features::codes::feature_code;
    pub use crate::features::origin::Origin;
    pub use crate::features::spotsigs::Spots;
    pub use crate::hash::hash_bytes;
    pub use crate::sketches::minhash::{Minhasher, similarity as minhash_similarity};
    pub use crate::sketches::sentence::SentenceSigner;
    pub use crate::sketches::simhash::{Simhasher, similarity as simhash_similarity};
    pub use crate::sketches::stored::{SketchKind, SketchReader};
    pub use crate::sketches::supershingles::{megashingles, supershingles};
    pub use crate::sketches::wire::{Minhash, MinhashHeader, Simhash, SimhashHeader};
}

pub mod html_report {
    //! Pages in HTML that show pairs to people.
    //!
    //! [`html_of_pair`] shows two texts side by side, with the style [`HTML_STYLE`]; a
    //! [`ReportPage`] is a whole page of pairs ([`ReportDocument`], [`ReportLink`]) and
    //! [`ReportFacts`].

    pub use crate::report::facts::Facts as ReportFacts;
    pub use crate::report::html::STYLE as HTML_STYLE;
    pub use crate::report::link::LinkPattern as ReportLink;
    pub use crate::report::page::ReportPage;
    pub use crate::report::pair::{ShownDocument as ReportDocument, pair as html_of_pair};
}

#[cfg(test)]
#[allow(unreachable_pub, reason = "tests of their own share it")]
#[path = "../tests/common/cases.rs"]
mod cases;
#[cfg(test)]
mod tests;
// What unit tests share with those of tests/ names the crate.
#[cfg(test)]
extern crate self as neardup_core;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
