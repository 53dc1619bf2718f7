//! Which strings can be near to a string by edit distance, by the grams that they share, and what a
//! search demands of strings by either measure.
//!
//! Grams are those of the string in lower case, in which each run of white space is one space. An
//! edit changes at most q grams of a string, so that two strings of |x| and |y| grams at distance d
//! share at least max(|x|, |y|) - q·d of them (Jokinen, Ukkonen, MFCS 1991). This holds if no white
//! space is left out of either. Each character that is left out counts like one more edit. In any
//! case an edit changes at most two neighbouring characters of what is left, and so at most q + 1
//! grams: a letter in place of a space between two spaces is one edit that adds a letter and a
//! space. This is also the bound if two neighbours that change places are one edit.
//!
//! A string of fewer than q characters has one gram. Only strings of at most q characters more have
//! the bound that this gives, and they are that far away by their lengths alone.

use super::{Demand, GROUPS, MOST_ELEMENTS, StoredSize, group, sizes};
use crate::joins::sets::bounds::partition;
use crate::verify::edit::{self, EditPredicate};

/// The edit similarity that a search demands of strings.
#[derive(Debug, Clone)]
pub struct EditDemand {
    string: StoredSize,
    q: u32,
    predicate: EditPredicate,
    /// The greatest number of characters of a string that is similar enough.
    longest: u32,
}

impl EditDemand {
    /// Creates the demand that a string meets a predicate with a string, whose grams have `q`
    /// characters. Returns None if no string does.
    pub fn new(predicate: EditPredicate, string: StoredSize, q: u32) -> Option<Self> {
        if string.characters == 0 {
            return None;
        }
        // The longer a text is, the longer its shortest partner.
        let (mut low, mut high) = (string.characters, u32::MAX);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if predicate.least_partner(middle) <= string.characters {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        Some(Self { string, q, predicate, longest: low })
    }

    /// Returns the number of characters of the sought string.
    pub fn characters(&self) -> u32 {
        self.string.characters
    }

    /// Returns how many characters of a string grams leave out, or fewer.
    fn left_out(&self, string: StoredSize) -> u32 {
        let StoredSize { size, characters } = string;
        if size == 0 { characters } else { characters.saturating_sub(size.saturating_add(self.q - 1)) }
    }

    /// Reports whether grams leave out characters of a string.
    pub fn is_spaced(string: StoredSize, q: u32) -> bool {
        string.size > 0 && string.characters > string.size.saturating_add(q - 1)
    }

    /// Returns the least distance that a string can have that shares `shared` elements, or perhaps
    /// fewer.
    pub fn distance(&self, string: StoredSize, shared: u32) -> u32 {
        let missing = self.string.size.max(string.size).saturating_sub(shared);
        let left_out = self.left_out(self.string).saturating_add(self.left_out(string));
        let by_lengths = self.string.characters.abs_diff(string.characters);
        let without_swaps = if self.predicate.swaps { 0 } else { missing.div_ceil(self.q) };
        let by_grams = without_swaps.saturating_sub(left_out).max(missing.div_ceil(self.q + 1));
        by_lengths.max(by_grams).min(self.longer(string))
    }

    fn longer(&self, string: StoredSize) -> u32 {
        self.string.characters.max(string.characters)
    }

    /// Reports whether a string that shares `shared` elements, or perhaps fewer, can be similar
    /// enough.
    pub fn accepts(&self, string: StoredSize, shared: u32) -> bool {
        self.predicate.passes(self.distance(string, shared), self.longer(string))
    }

    /// Returns the greatest similarity that a string can have that shares `shared` elements, or
    /// perhaps fewer.
    pub fn similarity(&self, string: StoredSize, shared: u32) -> f64 {
        edit::similarity(self.distance(string, shared), self.longer(string))
    }

    /// Returns the greatest similarity of a string of a group of which no white space is left out
    /// and that shares `shared` elements, or None if no such string is similar enough.
    pub fn greatest(&self, group: u32, shared: u32) -> Option<f64> {
        let sizes = sizes(group);
        let last = (*sizes.end()).min(MOST_ELEMENTS).min(self.longest);
        // A string of one gram has at most q characters, any other string has one number of them.
        let strings = |size: u32| {
            let most = size + self.q - 1;
            let least = if size == 1 { 1 } else { most };
            (least..=most).map(move |characters| StoredSize { size, characters })
        };
        let best = |string: StoredSize| {
            let shared = shared.min(string.size).min(self.string.size);
            self.accepts(string, shared).then(|| self.similarity(string, shared))
        };
        (*sizes.start()..=last).flat_map(strings).filter_map(best).max_by(f64::total_cmp)
    }

    /// Returns the groups in which strings can be similar enough, the most similar ones first.
    pub fn groups(&self) -> Vec<u32> {
        let mut groups: Vec<(u32, f64)> =
            (0..GROUPS).filter_map(|group| Some((group, self.greatest(group, u32::MAX)?))).collect();
        groups.sort_by(|a, b| b.1.total_cmp(&a.1));
        groups.into_iter().map(|(group, _)| group).collect()
    }

    /// Returns the groups of strings that can be similar enough if white space is left out of them.
    pub fn groups_of_spaced(&self) -> impl Iterator<Item = u32> {
        0..=group(self.longest.min(MOST_ELEMENTS))
    }
}

/// The similarity that a search demands of strings.
#[derive(Debug, Clone)]
pub enum Sought {
    /// The Jaccard similarity of the multisets of grams.
    Grams(Demand),
    /// The similarity by edit distance.
    Edit(EditDemand),
}

impl Sought {
    /// Returns the demand by edit distance, if it is one.
    pub fn edit(&self) -> Option<&EditDemand> {
        match self {
            Self::Grams(_) => None,
            Self::Edit(edit) => Some(edit),
        }
    }

    /// Reports whether a string that shares `shared` elements, or perhaps fewer, can be similar
    /// enough.
    pub fn accepts(&self, string: StoredSize, shared: u32) -> bool {
        match self {
            Self::Grams(grams) => grams.accepts(string.size, shared),
            Self::Edit(edit) => edit.accepts(string, shared),
        }
    }

    /// Returns the greatest similarity that a string can have that shares `shared` elements, or
    /// perhaps fewer.
    pub fn similarity(&self, string: StoredSize, shared: u32) -> f64 {
        match self {
            Self::Grams(grams) => grams.similarity(string.size, shared),
            Self::Edit(edit) => edit.similarity(string, shared),
        }
    }

    /// Returns the greatest similarity of a string of a group that shares `shared` elements, or
    /// None if no string of the group is similar enough with so few. Strings of which white space
    /// is left out may be more similar by edit distance.
    pub fn greatest(&self, group: u32, shared: u32) -> Option<f64> {
        match self {
            Self::Grams(grams) => grams.greatest(group, shared),
            Self::Edit(edit) => edit.greatest(group, shared),
        }
    }

    /// Returns the groups in which strings can be similar enough, the most similar ones first.
    pub fn groups(&self) -> Vec<u32> {
        match self {
            Self::Grams(grams) => grams.groups(),
            Self::Edit(edit) => edit.groups(),
        }
    }

    /// Returns the least number of elements that a string of a group shares if it is similar enough
    /// and `is_wanted` holds for its similarity, or None if there is no such string.
    pub fn least_shared(&self, group: u32, is_wanted: impl Fn(f64) -> bool) -> Option<u32> {
        let (first, size) = match self {
            Self::Grams(grams) => (1, grams.size),
            Self::Edit(edit) => (0, edit.string.size),
        };
        let most = size.min(*sizes(group).end());
        let wanted = |shared| self.greatest(group, shared).is_some_and(&is_wanted);
        // The greatest similarity rises with the number of shared elements.
        let least = partition(first, most, |shared| !wanted(shared));
        (least <= most).then_some(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::Stop;
    use crate::features::tokens::Document;
    use crate::features::{FeatureSpec, Tokenizer};
    use crate::search::edit_ball::characters;
    use crate::search::grams::{common, elements_of};
    use crate::search::keys::{KeyScratch, keys_of};
    use proptest::prelude::*;

    fn cut(text: &str, q: u32) -> (StoredSize, Vec<u32>) {
        let features =
            FeatureSpec { tokenizer: Tokenizer::Chars, shingle: q as usize, multiset: true, wrap: false };
        let (mut keys, mut elements) = (Vec::new(), Vec::new());
        let document = Document::Text(text.to_owned());
        keys_of(&document, &features, None, &mut KeyScratch::default(), &mut keys, &Stop::default()).unwrap();
        elements_of(&keys, &mut elements).unwrap();
        (StoredSize { size: elements.len() as u32, characters: characters(text) }, elements)
    }

    /// A text and another one that is few edits away from it.
    fn texts() -> impl Strategy<Value = (String, String)> {
        let edits = prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8, "[abA ]"), 0..5);
        ("[abcA \u{3000}ß]{0,14}", prop_oneof![edits.prop_map(Ok), "[abcA ]{0,14}".prop_map(Err)]).prop_map(
            |(a, change)| {
                let b = match change {
                    Err(other) => other,
                    Ok(edits) => {
                        let mut b: Vec<char> = a.chars().collect();
                        for (at, kind, with) in edits {
                            let with = with.chars().next().unwrap();
                            let at = at.index(b.len() + 1);
                            match kind {
                                0 => b.insert(at, with),
                                3 if at + 1 < b.len() => b.swap(at, at + 1),
                                1 if at < b.len() => b[at] = with,
                                2 if at < b.len() => drop(b.remove(at)),
                                _ => {}
                            }
                        }
                        b.into_iter().collect()
                    }
                };
                (a, b)
            },
        )
    }

    proptest! {
        #![proptest_config(crate::cases::cases(4000))]

        /// No string is farther than the bounds say, and none that is similar enough is passed
        /// over.
        #[test]
        fn bounds_hold(
            (a, b) in texts(),
            q in 1..5_u32,
            similarity in 0.01..=1.0_f64,
            swaps: bool,
        ) {
            let ((x, grams), (y, others)) = (cut(&a, q), cut(&b, q));
            let (distance, longer) = edit::distance_by(&a, &b, swaps, &Stop::default()).unwrap();
            let found = edit::similarity(distance, longer);
            let predicate = EditPredicate::new(similarity).unwrap().with_swaps(swaps);
            let Some(demand) = EditDemand::new(predicate, x, q) else {
                prop_assert_eq!(x.characters, 0);
                return Ok(());
            };
            let shared = common(&grams, &others);
            prop_assert!(demand.distance(y, shared) <= distance, "{:?} {:?}", x, y);
            prop_assert!(demand.similarity(y, shared) >= found);
            if found < similarity {
                return Ok(());
            }
            prop_assert!(demand.accepts(y, shared) && demand.accepts(y, u32::MAX));
            prop_assert!(y.characters <= demand.longest);
            if y.size == 0 {
                return Ok(());
            }
            let group = group(y.size);
            if EditDemand::is_spaced(y, q) {
                prop_assert!(demand.groups_of_spaced().any(|other| other == group));
                return Ok(());
            }
            prop_assert!(demand.groups().contains(&group));
            let least = Sought::Edit(demand.clone()).least_shared(group, |best| best >= found);
            prop_assert!(least.is_some_and(|least| least <= shared), "{least:?} {shared}");
            prop_assert!(demand.greatest(group, shared).is_some_and(|best| best >= found));
        }
    }

    #[test]
    fn the_longest_partner() {
        let demand = |similarity, characters| {
            EditDemand::new(EditPredicate::new(similarity).unwrap(), StoredSize { size: 1, characters }, 3)
                .map(|demand| demand.longest)
        };
        assert_eq!((demand(0.8, 8), demand(1.0, 8), demand(0.8, 0)), (Some(10), Some(8), None));
        assert_eq!(demand(f64::MIN_POSITIVE, 8), Some(u32::MAX));
    }
}
