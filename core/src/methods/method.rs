//! The interface of methods.

use std::fmt::Debug;

use super::carrier::{Carrier, Meeting};
use super::explain::Explanation;
use super::pair::TwoTexts;
use super::reading::Reading;
use crate::clusters::leaders::Leaders;
use crate::clusters::perhaps_similar::of_sentences::SentenceSets;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::FeatureSpec;
use crate::joins::pairs::Pairs;
use crate::verify::predicate::Predicate;

/// A method with its parameters: it defines how documents are compared, and when two documents are
/// similar.
///
/// The methods of this crate implement it. Programs use it to hold a method. They are not expected
/// to implement it, because most of its functions are not documented.
///
/// ```
/// use neardup_core::{Corpus, Edit, Measure, Method, Sets};
///
/// let methods: [Box<dyn Method>; 2] =
///     [Box::new(Edit::within(1)), Box::new(Sets::of_words(Measure::Jaccard, 0.4)?)];
/// let mut corpus = Corpus::of_texts(&["north quay", "north quays"]);
/// let pairs = |method: &Box<dyn Method>| corpus.pairs(&**method).map(|pairs| pairs.len());
/// assert_eq!(methods.iter().map(pairs).collect::<Vec<_>>(), [Ok(1), Ok(0)]);
/// # Ok::<(), neardup_core::Error>(())
/// ```
pub trait Method: Debug + Sync {
    /// Reads the documents and prepares the search for their pairs. A pair has two rows of the only
    /// table, or a row of each of two tables.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs>;

    /// Reads the documents and finds the rows to eliminate if the longest documents are to stay,
    /// for a method that needs no pairs for this. Returns the rows in the order of their ids, and
    /// the leader of each row. Other methods read nothing and return `None`.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    fn eliminate(&self, _reading: &mut Reading<'_>) -> Result<Option<(Vec<u32>, Leaders)>> {
        Ok(None)
    }

    /// Explains the result for two texts: their similarity, whether they are a pair, and the
    /// evidence.
    ///
    /// The similarity is the one that a join returns for the pair. It is also given for texts that
    /// are not a pair. Takes as long as the comparison of the two texts. Fails if the texts do not
    /// have the form that the method expects (for instance, the text form of sketches), or after a
    /// request to stop.
    ///
    /// ```
    /// use neardup_core::{Measure, Method, Sets, Stop, TwoTexts};
    ///
    /// let texts = TwoTexts::new(["a b c", "a b d"])?;
    /// let explained = Sets::of_words(Measure::Jaccard, 0.8)?.explain(&texts, &Stop::default())?;
    /// assert_eq!((explained.similarity, explained.evidence.pair), (Some(0.5), Some(false)));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    fn explain(&self, pair: &TwoTexts<'_>, stop: &Stop) -> Result<Explanation>;

    /// Returns the builder of perhaps-similar sets, which does not look for pairs first, or `None`
    /// if the method has no signatures for that.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    fn grouping(&self) -> Option<&dyn Grouping> {
        None
    }

    /// Returns the description of the join in parts, or `None` if the method can only be made of
    /// all documents together.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    fn carrier(&self) -> Option<&dyn Carrier> {
        None
    }

    /// Returns what is carried of documents and decides about two of them alone, in any order, or
    /// `None` if other documents matter, too.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    fn of_two(&self) -> Option<&dyn Carrier> {
        let carrier = self.carrier().filter(|carrier| !carrier.is_ordered() && !carrier.takes_sites())?;
        let is_whole = matches!(self.update(), Update::Whole);
        (!is_whole && !matches!(carrier.meeting(), Meeting::Terms { .. })).then_some(carrier)
    }

    /// Returns the least length of a run and the tokenizer, if the method compares texts by runs.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    fn runs(&self) -> Option<crate::repeats::RunParameters> {
        None
    }

    /// Reports whether the method compares texts character by character or word by word, so that
    /// comparing them is most of its work.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    fn compares_texts(&self) -> bool {
        false
    }

    /// Returns how the pairs of a table can be brought up to date when some of its rows have
    /// changed.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    fn update(&self) -> Update {
        Update::Whole
    }
}

/// A builder of perhaps-similar sets of the rows of a table.
pub trait Grouping {
    /// Returns the column of row weights, if one was given.
    fn weight(&self) -> Option<&str>;

    /// Reads the documents and builds their sets, whose members are then compared with their
    /// representatives.
    fn sets(&self, reading: &mut Reading<'_>) -> Result<SentenceSets>;
}

/// The data on which the pairs of a table depend.
#[derive(Debug, Clone, Copy)]
pub enum Update {
    /// All rows: any change requires that all pairs are computed again.
    Whole,
    /// For each pair, its two documents alone.
    Pairs,
    /// For each pair, the token sets of its two documents, compared by this predicate, which gives
    /// the same result in both directions.
    Sets(FeatureSpec, Predicate),
}
