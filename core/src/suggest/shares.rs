//! Whether long documents share parts of them: passages of otherwise different documents, or
//! their own text inside the template of a site.
//!
//! Pairs that are similar as a whole are compared with pairs that have runs of words in common,
//! without the runs that very many documents have. If many pairs have common runs and are less
//! similar than the threshold for wholes, parts are shared; unless pairs become ever more numerous
//! as they have less in common, as those of texts of one kind, which use the same formulas. If most
//! similar pairs have only runs in common that very many documents have, and are not copies, a
//! template makes them similar. O(pairs).

use std::collections::{HashMap, HashSet};

use super::profile::TextProfile;
use crate::error::Result;
use crate::features::tokens::Tokenizer;
use crate::memory;
use crate::methods::runs::Runs;
use crate::verify::shared_runs::RunShare;

const DOING: &str = "comparing pairs";

/// Pairs by their similarity as a whole, and whether they have runs in common.
#[derive(Debug, Default)]
pub struct WholesAndParts {
    /// By the hashes of the two texts, the lesser first.
    whole: HashMap<[u64; 2], WholeShare>,
    shares: Shares,
    /// Set if there are more pairs than are held.
    is_full: bool,
}

#[derive(Debug, Clone, Copy)]
struct WholeShare {
    similarity: f64,
    has_runs: bool,
}

/// How many pairs share what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shares {
    /// The number of documents that were joined by runs.
    pub documents: u64,
    /// The number of pairs of rows with common runs.
    pub pairs: u64,
    /// The number of pairs of distinct texts with common runs.
    pub with_runs: u64,
    /// Those of them that are less similar than the threshold.
    pub apart: u64,
    /// The number of pairs of distinct texts that have by up to [`WholesAndParts::AROUND`] less or
    /// more in common runs than [`WholesAndParts::SHARE`].
    pub around: u64,
    /// The number of pairs of distinct texts whose similarity reaches the threshold.
    pub similar: u64,
    /// Those of them that have no common runs but those of very many documents, and are no copies.
    pub of_templates: u64,
}

impl Shares {
    /// Reports whether documents share parts and are not similar otherwise.
    pub fn are_of_parts(&self) -> bool {
        self.has_apart() && self.is_parted()
    }

    /// Reports whether many pairs with common runs are not similar.
    fn has_apart(&self) -> bool {
        const FEW: u64 = 10;
        self.apart >= FEW && 4 * self.apart >= self.with_runs
    }

    /// Reports whether few pairs have about the least share in common.
    fn is_parted(&self) -> bool {
        2 * self.around <= self.with_runs
    }

    /// Reports whether most documents are similar by what very many of them have.
    pub fn are_of_templates(&self) -> bool {
        const FEW: u64 = 10;
        self.of_templates >= FEW && 2 * self.of_templates > self.similar
    }
}

impl WholesAndParts {
    /// The least share of the words of the smaller text that are in common runs.
    pub const SHARE: f64 = 0.15;
    /// How far from that a share is about as large.
    pub const AROUND: f64 = 0.05;
    /// The similarity from which on two texts are copies of each other.
    const COPIES: f64 = 0.95;
    /// The number of pairs that are held, about 40 bytes each.
    const MOST: usize = 1 << 20;

    /// Returns how many documents to join by runs: those with a million words, so that it takes
    /// seconds.
    pub fn documents(profile: &TextProfile) -> u64 {
        const WORDS: u64 = 1_000_000;
        const FEW: u64 = 200;
        (WORDS / u64::from(profile.words[1].max(1))).max(FEW)
    }

    /// Returns the number of documents from which on a run does not count: the hundredth part, and
    /// at least ten.
    pub fn max_documents(documents: u64) -> u64 {
        const FEW: u64 = 10;
        (documents / 100).max(FEW)
    }

    /// Returns the least number of tokens of a run: six words, which edited copies still have, or
    /// twelve characters of scripts without spaces.
    pub fn min_run(profile: &TextProfile) -> usize {
        if profile.characters < 0.5 { 6 } else { 12 }
    }

    /// Returns the method that finds the pairs with common runs among so many documents, and those
    /// that have nearly as much in common.
    pub fn runs(profile: &TextProfile, documents: u64) -> Runs {
        Runs {
            min_run: Self::min_run(profile),
            of: RunShare::Smaller,
            threshold: Self::SHARE - Self::AROUND,
            max_documents: Some(Self::max_documents(documents)),
            tokenizer: Tokenizer::Words,
        }
    }

    /// Adds a pair of two distinct texts by their similarity as a whole. The texts are given by
    /// hashes.
    pub fn add(&mut self, texts: [u64; 2], similarity: f64) -> Result<()> {
        if self.whole.len() >= Self::MOST {
            self.is_full = true;
            return Ok(());
        }
        memory::attempt(DOING, || self.whole.try_reserve(1))?;
        self.whole.insert(key(texts), WholeShare { similarity, has_runs: false });
        Ok(())
    }

    /// Adds a pair with this share in common runs, after all pairs by their similarity. `rows` is
    /// how many pairs of rows it stands for. Texts that are equal as a whole have the same hash.
    pub fn add_with_runs(&mut self, texts: [u64; 2], share: f64, rows: u64) {
        let are_equal = texts[0] == texts[1];
        self.shares.around += u64::from(!are_equal && share < Self::SHARE + Self::AROUND);
        if share < Self::SHARE {
            return;
        }
        self.shares.pairs = self.shares.pairs.saturating_add(rows);
        if are_equal {
            return;
        }
        self.shares.with_runs += 1;
        match self.whole.get_mut(&key(texts)) {
            Some(whole) => whole.has_runs = true,
            None => self.shares.apart += 1,
        }
    }

    /// Reports whether there are too many pairs to tell.
    pub fn is_full(&self) -> bool {
        self.is_full || self.shares.with_runs > Self::MOST as u64
    }

    /// Returns what the pairs of some texts share, of which those from `threshold` on count as
    /// similar, or `None` if there are too many. `texts` are those of the `documents` that were
    /// joined by runs.
    pub fn finish(self, threshold: f64, texts: &HashSet<u64>, documents: u64) -> Option<Shares> {
        if self.is_full() {
            return None;
        }
        let mut shares = Shares { documents, ..self.shares };
        let of_texts = self.whole.iter().filter(|(of, _)| of.iter().all(|text| texts.contains(text)));
        for (_, whole) in of_texts {
            if whole.similarity < threshold {
                shares.apart += u64::from(whole.has_runs);
                continue;
            }
            shares.similar += 1;
            shares.of_templates += u64::from(!whole.has_runs && whole.similarity < Self::COPIES);
        }
        Some(shares)
    }
}

/// Returns the key of a pair, in either order.
fn key([a, b]: [u64; 2]) -> [u64; 2] {
    [a.min(b), a.max(b)]
}

/// Says what speaks for common runs of so many tokens, or against them.
pub fn why(shares: &Shares, threshold: f64, min_run: usize) -> String {
    let Shares { documents, with_runs, apart, around, similar, of_templates, .. } = *shares;
    let most = WholesAndParts::max_documents(documents);
    let share = WholesAndParts::SHARE;
    let mut why = Vec::new();
    if shares.are_of_parts() {
        why.push(format!(
            "{apart} of {with_runs} pairs that have {share} of the shorter text in common, in runs of {min_run} words or \
             more, are less similar than {threshold} as a whole: documents share parts"
        ));
    }
    if shares.are_of_templates() {
        why.push(format!(
            "{of_templates} of {similar} pairs from {threshold} on have little more in common than what more than {most} \
             documents have: templates or lists"
        ));
    }
    if why.is_empty() && shares.has_apart() {
        return format!(
            "{with_runs} pairs have {share} of the shorter text in common, in runs of {min_run} words or more, and {around} \
             about as much or a little less: texts of one kind, and nothing parts copied passages from their formulas"
        );
    }
    if why.is_empty() {
        return "documents with runs in common are similar as a whole".to_owned();
    }
    format!("{}; runs that more than {most} documents have do not count", why.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(whole: &[([u64; 2], f64)], with_runs: &[[u64; 2]]) -> Shares {
        let mut pairs = WholesAndParts::default();
        whole.iter().for_each(|&(texts, similarity)| pairs.add(texts, similarity).unwrap());
        with_runs.iter().for_each(|&texts| pairs.add_with_runs(texts, 0.9, 2));
        let texts = whole.iter().flat_map(|(texts, _)| *texts).filter(|text| *text < 5000).collect();
        pairs.finish(0.5, &texts, 5000).unwrap()
    }

    #[test]
    fn pairs_are_counted_in_either_order() {
        let shares = of(&[([1, 2], 0.9), ([3, 4], 0.4), ([5, 6], 0.6)], &[[2, 1], [3, 4], [8, 7], [9, 9]]);
        let expected = Shares {
            documents: 5000,
            pairs: 8,
            with_runs: 3,
            apart: 2,
            around: 0,
            similar: 2,
            of_templates: 1,
        };
        assert_eq!(shares, expected);
        assert!(!shares.are_of_parts() && !shares.are_of_templates());
        let none = Shares { documents: 5000, ..Shares::default() };
        assert_eq!(of(&[], &[]), none);
        // Texts that were not joined by runs do not count.
        assert_eq!(of(&[([1, 6000], 0.9)], &[]), none);
    }

    #[test]
    fn parts_are_told_from_wholes() {
        let pairs = |from: u64, count: u64| (from..from + count).map(|n| [2 * n, 2 * n + 1]);
        let similar = |count| pairs(0, count).map(|texts| (texts, 0.7)).collect::<Vec<_>>();
        let runs = |whole, apart| pairs(0, whole).chain(pairs(1000, apart)).collect::<Vec<_>>();
        // A quarter of the pairs, and at least ten.
        assert!(of(&similar(30), &runs(30, 10)).are_of_parts());
        assert!(!of(&similar(31), &runs(31, 10)).are_of_parts());
        assert!(!of(&[], &runs(0, 9)).are_of_parts());
        // What is less similar than the threshold is missed by it.
        let some =
            |nearly| [similar(40 - nearly), pairs(40 - nearly, nearly).map(|texts| (texts, 0.4)).collect()];
        assert!(of(&some(10).concat(), &runs(40, 0)).are_of_parts());
        assert!(!of(&some(9).concat(), &runs(40, 0)).are_of_parts());
        // Most similar pairs have only a template in common.
        assert!(of(&similar(30), &runs(14, 0)).are_of_templates());
        assert!(!of(&similar(30), &runs(15, 0)).are_of_templates());
        // Copies are no template.
        let copies: Vec<_> = pairs(0, 30).map(|texts| (texts, 0.96)).collect();
        assert!(!of(&copies, &[]).are_of_templates());
    }

    #[test]
    fn formulas_are_told_from_parts() {
        let of = |about: u64| {
            let mut pairs = WholesAndParts::default();
            (0..20).for_each(|n| pairs.add_with_runs([2 * n, 2 * n + 1], 0.5, 1));
            (20..20 + about).for_each(|n| pairs.add_with_runs([2 * n, 2 * n + 1], 0.12, 1));
            // Equal texts are about nothing.
            pairs.add_with_runs([9, 9], 0.12, 1);
            pairs.finish(0.5, &HashSet::new(), 5000).unwrap()
        };
        assert_eq!((of(10).with_runs, of(10).pairs, of(10).around), (20, 20, 10));
        assert!(of(10).are_of_parts() && !of(11).are_of_parts());
        assert!(why(&of(11), 0.5, 6).contains("20 pairs have 0.15 of the shorter text in common"));
    }

    #[test]
    fn reasons_name_the_figures() {
        let shares = Shares {
            documents: 5000,
            pairs: 50,
            with_runs: 40,
            apart: 20,
            around: 10,
            similar: 30,
            of_templates: 25,
        };
        let why = why(&shares, 0.5, 12);
        let says = |what: &str| assert!(why.contains(what), "{why}");
        says("20 of 40 pairs that have 0.15 of the shorter text in common, in runs of 12 words or more");
        says("are less similar than 0.5 as a whole");
        says("25 of 30 pairs from 0.5 on have little more in common than what more than 50 documents have");
        says("runs that more than 50 documents have do not count");
        assert_eq!([0, 999, 5000].map(WholesAndParts::max_documents), [10, 10, 50]);
    }

    #[test]
    fn too_many_pairs_tell_nothing() {
        let mut pairs = WholesAndParts::default();
        (0..=WholesAndParts::MOST as u64).for_each(|n| pairs.add([n, n + 1], 0.5).unwrap());
        assert_eq!(pairs.finish(0.5, &HashSet::new(), 0), None);
    }
}
