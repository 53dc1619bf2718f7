//! Method `edit`, which compares texts by their Levenshtein distance.
//!
//! In parts, the text is carried. With a threshold of the similarity, documents meet by the sets of
//! their grams, as in the join on one machine. If the distance alone decides, texts may be similar
//! that have no gram in common, so documents meet by pieces (Li, Deng, Wang, Feng: *Pass-Join*,
//! PVLDB 2011): of d + 1 pieces of a text, d edits leave one as it is, and move it by at most d
//! characters. If they may be swaps of neighbours, each of which changes two pieces, it is 2d + 1
//! pieces. A text offers its pieces, and texts that are not shorter look for them.

use std::borrow::Cow;

use super::account::ComparedTexts;
use super::carrier::{Carrier, LeftOut, Meeting, Places, hashes_of, of_text, to_text, to_texts};
use super::explain::{Details, Distance, Explanation};
use super::gather::TextForm;
use super::method::{Method, Update};
use super::pair::TwoTexts;
use super::reading::Reading;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::texts::distinct;
use crate::features::tokens::{Document, FeatureSpec, Tokenizer};
use crate::features::windows::RunHashes;
use crate::hash::mix;
use crate::joins::Algorithm;
use crate::joins::edit::edit_pairs;
use crate::joins::keys::Key;
use crate::joins::pairs::Pairs;
use crate::memory;
use crate::text::word_order::in_order;
use crate::verify::edit::{self, EditPredicate, GramBound};
use crate::verify::levenshtein::Pattern;
use crate::verify::predicate::Predicate;

/// Compares texts by their Levenshtein distance in characters, exactly: every pair that the
/// predicate accepts is found, and no other.
///
/// Case, punctuation and white space count. Candidates share runs of characters (Gravano and
/// others, VLDB 2001; Li, Deng, Wang, Feng, PVLDB 2011). The method is meant for lines such as
/// names and titles: with long texts, the time grows with the square of their length.
///
/// ```
/// use neardup_core::parameters::{Algorithm, EditPredicate};
/// use neardup_core::{Corpus, Edit};
///
/// let predicate = EditPredicate::new(0.5)?.and_within(2);
/// let method = Edit { predicate, algorithm: Algorithm::Auto, word_order: true };
/// let pairs = Corpus::of_texts(&["harbour", "harbor", "arbor"]).pairs(&method)?;
/// assert_eq!(pairs.iter().filter(|pair| pair.left == 0).count(), 2);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Edit {
    /// The definition of similar texts.
    pub predicate: EditPredicate,
    /// The algorithm that finds candidates.
    pub algorithm: Algorithm,
    /// Whether the order of words counts. Otherwise texts are compared after their words, which are
    /// runs of characters between white space, were put in alphabetical order.
    pub word_order: bool,
}

impl Edit {
    /// Finds texts whose similarity is at least `threshold`.
    ///
    /// The similarity is 1 - distance / characters of the longer text. Fails unless the threshold
    /// is greater than 0 and at most 1.
    ///
    /// ```
    /// use neardup_core::{Corpus, Edit};
    ///
    /// let pairs = Corpus::of_texts(&["harbour", "harbor", "port"]).pairs(&Edit::new(0.8)?)?;
    /// assert_eq!((pairs.len(), pairs[0].similarity), (1, 6.0 / 7.0));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn new(threshold: f64) -> Result<Self> {
        Ok(Self { predicate: EditPredicate::new(threshold)?, algorithm: Algorithm::Auto, word_order: true })
    }

    /// Returns what brings texts into the form in which they are compared, if they are not compared
    /// as they are.
    fn form(&self) -> Option<&TextForm<'static>> {
        (!self.word_order).then_some(&in_order)
    }

    /// Reports whether the method is made in parts. If the distance alone decides, a text looks for
    /// about 2 · d³ pieces of others, with swaps for twice as many.
    fn is_in_parts(&self) -> bool {
        const MOST: u32 = 10;
        self.predicate.distance_alone().is_none_or(|distance| distance <= MOST)
    }

    /// Finds texts that are at most `distance` edits apart.
    ///
    /// ```
    /// use neardup_core::{Corpus, Edit};
    ///
    /// let pairs = Corpus::of_texts(&["quay", "quai", "key"]).pairs(&Edit::within(1))?;
    /// assert_eq!((pairs.len(), pairs[0].right), (1, 1));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn within(distance: u32) -> Self {
        Self { predicate: EditPredicate::within(distance), algorithm: Algorithm::Auto, word_order: true }
    }
}

impl Method for Edit {
    fn compares_texts(&self) -> bool {
        true
    }

    fn explain(&self, pair: &TwoTexts<'_>, stop: &Stop) -> Result<Explanation> {
        /// The greatest product of the two lengths. Texts with a greater product take more than a
        /// few seconds.
        const MOST: usize = 1 << 36;
        let mut texts = pair.texts.map(Cow::Borrowed);
        if let Some(form) = self.form() {
            texts = [Cow::Owned(form(&texts[0], stop)?), Cow::Owned(form(&texts[1], stop)?)];
        }
        let [a, b] = texts.each_ref().map(Cow::as_ref);
        if a != b && a.chars().count().saturating_mul(b.chars().count()) > MOST {
            return Ok(Explanation::unknown("the texts are too long"));
        }
        let (distance, longer) = edit::distance_by(a, b, self.predicate.swaps, stop)?;
        let similarity = edit::similarity(distance, longer);
        let passes = longer > 0 && self.predicate.passes(distance, longer);
        let damerau = Some(edit::distance_by(a, b, true, stop)?.0).filter(|&fewer| fewer < distance);
        let details = Details::Edit(Distance { distance, longer, damerau });
        Ok(Explanation::new(similarity, passes).with(details))
    }

    fn update(&self) -> Update {
        Update::Pairs
    }

    fn carrier(&self) -> Option<&dyn Carrier> {
        self.is_in_parts().then_some(self as &dyn Carrier)
    }

    fn of_two(&self) -> Option<&dyn Carrier> {
        Some(self)
    }

    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs> {
        let (collectors, _) = reading.read_texts(false, self.form())?;
        let distinct = distinct(collectors, reading.right_from(), reading.executor)?;
        reading.account.compared = ComparedTexts {
            texts: distinct.texts.len() as u64,
            characters: distinct.texts.lengths().iter().map(|&length| u64::from(length)).sum(),
        };
        // Texts stay in memory.
        let budget = reading.left_after(distinct.texts.bytes());
        let (pairs, prepared) =
            edit_pairs(distinct, self.predicate, self.algorithm, reading.files, budget, reading.executor)?;
        reading.account.tokens = prepared.grams;
        reading.account.distinct_tokens = prepared.distinct_grams;
        reading.account.distinct_sets = prepared.distinct_texts;
        reading.held(prepared.peak_bytes);
        Ok(pairs)
    }
}

const DOING: &str = "cutting a text into pieces";

/// Returns the key of piece `n` of texts of `length` characters.
fn key(length: u32, n: u32, piece: u64) -> u64 {
    mix(piece ^ mix(u64::from(length) << 32 | u64::from(n)))
}

/// Returns where piece `n` of a text of `length` characters begins, of `count` pieces.
fn start(length: u32, n: u32, count: u32) -> u32 {
    (u64::from(length) * u64::from(n) / u64::from(count)) as u32
}

/// Adds `count` pieces of a text, and those that it looks for at this distance.
fn pieces(text: &str, distance: u32, count: u32, keys: &mut Vec<Key>) -> Result<()> {
    let mut windows = RunHashes::default();
    windows.set(text)?;
    // No text of the server has more characters than 32 bits can count.
    let own = text.chars().count() as u32;
    for length in own.saturating_sub(distance).max(1)..=own {
        // A text with fewer characters than pieces has an empty piece, which each text has.
        if length < count {
            let key = key(length, 0, 0);
            memory::push(keys, if length == own { Key::from_hash(key) } else { Key::looked_up(key) }, DOING)?;
            continue;
        }
        for n in 0..count {
            let from = start(length, n, count);
            let piece = start(length, n + 1, count) - from;
            if length == own {
                memory::push(keys, Key::offered(key(length, n, windows.hash(from, piece))), DOING)?;
            }
            for at in from.saturating_sub(distance)..=(from + distance).min(own - piece) {
                memory::push(keys, Key::looked_up(key(length, n, windows.hash(at, piece))), DOING)?;
            }
        }
    }
    Ok(())
}

impl Carrier for Edit {
    fn carry(&self, document: &Document, _: Places<'_>, stop: &Stop) -> Result<Vec<u8>> {
        match (self.form(), document) {
            (Some(form), Document::Text(text)) => Ok(form(text, stop)?.into_bytes()),
            _ => of_text(document),
        }
    }

    fn meeting(&self) -> Meeting {
        match self.predicate.distance_alone() {
            None => Meeting::Sets(Predicate::Grams(GramBound::new(self.predicate))),
            Some(_) => Meeting::Keys { most: None, filter: None },
        }
    }

    fn keys(&self, carried: &[u8], _: LeftOut<'_>, keys: &mut Vec<Key>, _: &Stop) -> Result<()> {
        match self.predicate.distance_alone() {
            None => Ok(()),
            Some(distance) => {
                let count = self.predicate.without_swaps(distance).saturating_add(1);
                pieces(to_text(carried)?, distance, count, keys)
            }
        }
    }

    fn set(&self, carried: &[u8], stop: &Stop) -> Result<Vec<u64>> {
        let shingle = GramBound::new(self.predicate).q() as usize;
        let spec = FeatureSpec { tokenizer: Tokenizer::RawChars, shingle, multiset: true, wrap: false };
        hashes_of(to_text(carried)?, &spec, DOING, stop)
    }

    fn in_blocks(&self) -> bool {
        !self.is_in_parts()
    }

    fn similarity(&self, pair: [&[u8]; 2], _: LeftOut<'_>, stop: &Stop) -> Result<Option<f64>> {
        let [a, b] = to_texts(pair)?;
        let [x, y] = [a, b].map(|text| text.chars().count() as u32);
        let longer = x.max(y);
        let most = self.predicate.most_distance(longer);
        if a == b {
            return Ok((longer > 0 && self.predicate.passes(0, longer)).then_some(1.0));
        }
        if x.abs_diff(y) > most {
            return Ok(None);
        }
        let mut pattern = Pattern::default();
        pattern.set(a, self.predicate.swaps)?;
        let distance = pattern.distance(b, y, most, most / 4, stop)?;
        let passing = distance.filter(|&distance| self.predicate.passes(distance, longer));
        Ok(passing.map(|distance| edit::similarity(distance, longer)))
    }
}
