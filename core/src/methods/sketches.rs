//! The methods that compare signatures of documents: `minhash`, `simhash`, `shingling`, `combined`,
//! `exact_text`, `title`.
//!
//! In parts, the signature of a document is carried, and its set if sets are compared. Documents
//! meet by the keys of the techniques that find candidates. The carried bytes are a 1 if the site
//! is known, else a 0; the signature; and the set.

use super::account::AllWithAll;
use super::carrier::{BucketRules, Carrier, LeftOut, Meeting, Places, malformed, to_set, to_words};
use super::explain::{Agreement, Alike, Details, Explanation, TechniqueSays};
use super::method::{Method, Update};
use super::pair::TwoTexts;
use super::reading::Reading;
use super::short_texts::LongParts;
use crate::error::Result;
use crate::executor::{Pool, Stop};
use crate::features::tokens::Document;
use crate::hash::{hash_bytes, mix};
use crate::joins::keys::Key;
use crate::joins::pairs::Pairs;
use crate::joins::sketches::Comparison;
use crate::joins::sketches::combination::{Combination, Safeguards, SignedDocuments, TechniqueSpec, join};
use crate::joins::sketches::explain::{Said, TwoDocuments, two_documents};
use crate::joins::sketches::rule::Rule;
use crate::memory;
use crate::sketches::sign::{Recipe, Signer};
use crate::verify::measure::Measure;
use crate::verify::overlap::TokenOverlap;
use crate::verify::predicate::Predicate;

/// Makes sketches of the documents and compares these, by one technique or by a combination of
/// several techniques (Henzinger, SIGIR 2006).
///
/// Simhash, supershingles and equal texts miss no pair whose sketches are similar enough. Minhash
/// finds a pair by its bands with the probability of
/// [`Banding::detection`](crate::parameters::Banding::detection), and then compares the sets: it
/// returns no pair below the threshold.
///
/// ```
/// use neardup_core::parameters::{Banding, TechniqueSpec};
/// use neardup_core::{Corpus, FeatureSpec, Sketches};
///
/// let feature = FeatureSpec { shingle: 2, multiset: false, ..FeatureSpec::WORDS };
/// let plan = Banding::for_recall(0.5, 0.99)?;
/// let technique = TechniqueSpec::Minhash { feature, plan, seed: 1, threshold: 0.5, verify: true };
/// let texts = ["the red crane left the quay", "The red crane left the quay!"];
/// let pairs = Corpus::of_texts(&texts).pairs(&Sketches::by_technique(technique))?;
/// assert_eq!(pairs[0].similarity, 1.0);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sketches {
    /// The techniques, and the rule that combines them.
    pub combination: Combination,
    /// True if the rule uses sites.
    pub sites: bool,
    /// The safeguards of a join by minhash.
    pub safeguards: Safeguards,
}

impl Sketches {
    /// Creates a combination of one technique.
    ///
    /// ```
    /// use neardup_core::parameters::TechniqueSpec;
    /// use neardup_core::{Corpus, FeatureSpec, Sketches};
    ///
    /// let feature = FeatureSpec::WORDS;
    /// let simhash = TechniqueSpec::Simhash { feature, bits: 64, frequency: true, threshold: 0.9 };
    /// let mut corpus = Corpus::of_texts(&["to be or not", "not to be, or"]);
    /// let pairs = corpus.pairs(&Sketches::by_technique(simhash))?;
    /// assert_eq!(pairs[0].similarity, 1.0);
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn by_technique(technique: TechniqueSpec) -> Self {
        let combination = Combination { techniques: vec![technique], rule: Rule::Technique(0), most: None };
        Self { combination, sites: false, safeguards: Safeguards::default() }
    }

    /// Returns the predicate that the sets of each pair pass, if the only technique is minhash with
    /// a check.
    pub(super) fn filter(&self) -> Option<Predicate> {
        match self.combination.techniques[..] {
            [TechniqueSpec::Minhash { threshold, verify: true, .. }] if !self.sites => {
                Predicate::new(Measure::Jaccard, threshold).ok()
            }
            _ => None,
        }
    }

    /// Returns the promised recall, if the only technique is minhash.
    fn promised(&self) -> Option<f64> {
        match self.combination.techniques[..] {
            [TechniqueSpec::Minhash { plan, threshold, .. }] => Some(plan.detection(threshold)),
            _ => None,
        }
    }
}

impl Method for Sketches {
    fn explain(&self, pair: &TwoTexts<'_>, stop: &Stop) -> Result<Explanation> {
        Ok(match two_documents(&self.combination, pair.documents(), stop)? {
            None => Explanation::new(0.0, false),
            Some(compared) if self.safeguards.hand_over && is_similar_without_a_band(&compared) => {
                explanation(&compared).depending(BY_EXACT_JOIN)
            }
            Some(compared) => explanation(&compared),
        })
    }

    fn update(&self) -> Update {
        // If a bucket is too large, it depends on all documents in the bucket which of its pairs
        // are compared.
        if self.combination.most.is_none() { Update::Pairs } else { Update::Whole }
    }

    fn carrier(&self) -> Option<&dyn Carrier> {
        Some(self)
    }

    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs> {
        let (recipe, comparison) = self.combination.compile(self.sites)?;
        let mut signers: Vec<_> = (0..reading.executor.count()).map(|_| Signer::new(&recipe)).collect();
        reading.compares(LongParts::of_rule(&self.combination.rule, &self.combination.techniques));
        reading.read(|batch| {
            batch.share_out(&mut signers, |signer, row, document, stop| signer.add(row, document, stop))?;
            Ok(signers.iter().map(Signer::bytes).sum())
        })?;
        reading.account.skipped_empty = signers.iter().map(|signer| signer.empty).sum();
        reading.account.tokens = signers.iter().map(|signer| signer.tokens).sum();
        let resources = reading.resources_after(0);
        let right_from = reading.right_from();
        let all_with_all = comparison.all_with_all();
        let documents = SignedDocuments { signers, sites: reading.sites(), right_from };
        let joined = join(documents, &recipe, comparison, self.safeguards, resources)?;
        reading.account.distinct_sets = joined.distinct;
        reading.account.all_with_all = AllWithAll::new(all_with_all, joined.distinct);
        reading.account.promised_recall = self.promised();
        // The exact join loses no pair.
        let exact = (joined.handed_over && self.safeguards.sample > 0).then_some(1.0);
        reading.account.measured_recall = joined.recall.map(|measured| measured.recall()).or(exact);
        reading.account.measured_by = joined.recall.map_or(0, |measured| measured.similar);
        reading.account.handed_over = joined.handed_over;
        reading.held(joined.peak_bytes);
        Ok(joined.pairs)
    }
}

/// The condition on which it depends whether minhash finds a pair that shares no band.
const BY_EXACT_JOIN: &str = "no band is alike: it is found where the exact join takes over, as handed_over of \
                             near_duplicates_stats() says";

/// Reports whether two documents share no band, but have sets that are similar enough: if they
/// shared a band, minhash would return the pair.
fn is_similar_without_a_band(compared: &TwoDocuments) -> bool {
    let [Said { technique, similarity, alike: Some((0, _)), .. }] = compared.said[..] else { return false };
    matches!(technique, TechniqueSpec::Minhash { verify: true, threshold, .. } if similarity >= threshold)
}

/// Explains the results of techniques for two documents. If the documents are not a pair, the
/// similarity is that of the last technique.
fn explanation(compared: &TwoDocuments) -> Explanation {
    let last = compared.said.last().map_or(0.0, |said| said.similarity);
    let explained = Explanation::new(compared.similarity.unwrap_or(last), compared.similarity.is_some());
    let sets = compared.sets;
    explained.with(Details::Sketches(match &compared.said[..] {
        [one] => Agreement { alike: alike(one), techniques: None, sets },
        several => {
            let said = several.iter().map(|said| TechniqueSays {
                technique: name(&said.technique),
                similarity: said.similarity,
                agrees: said.agrees,
                alike: alike(said),
            });
            Agreement { alike: None, techniques: Some(said.collect()), sets }
        }
    }))
}

fn alike(said: &Said) -> Option<Alike> {
    said.alike.map(|(alike, all)| {
        let only = |is: bool| is.then_some(all);
        Alike {
            alike,
            bits: only(matches!(said.technique, TechniqueSpec::Simhash { .. })),
            supershingles: only(matches!(said.technique, TechniqueSpec::Shingling { .. })),
            bands: only(matches!(said.technique, TechniqueSpec::Minhash { .. })),
            values: None,
        }
    })
}

fn name(technique: &TechniqueSpec) -> &'static str {
    match technique {
        TechniqueSpec::Simhash { .. } => "simhash",
        TechniqueSpec::Shingling { .. } => "shingling",
        TechniqueSpec::Minhash { .. } => "minhash",
        TechniqueSpec::ExactText { .. } => "exact_text",
        TechniqueSpec::Sets { .. } => "sets",
    }
}

const DOING: &str = "carrying a signature";
const SHORT: &str = "its signature is cut short";

/// The parts of carried bytes.
struct Signed<'c> {
    has_site: bool,
    signature: Vec<u64>,
    /// The bytes of the set.
    set: &'c [u8],
}

impl<'c> Signed<'c> {
    fn read(bytes: &'c [u8], width: usize) -> Result<Self> {
        let short = || malformed(SHORT);
        let (&has_site, rest) = bytes.split_first().ok_or_else(short)?;
        let (signature, set) = rest.split_at_checked(width * size_of::<u64>()).ok_or_else(short)?;
        Ok(Self { has_site: has_site == 1, signature: to_words(signature)?, set })
    }
}

/// A combination with what all documents need: the layout of signatures, and their makers.
#[derive(Debug)]
struct PreparedSketches<'a> {
    of: &'a Sketches,
    recipe: Recipe,
    comparison: Comparison,
    signers: Pool<Signer>,
}

impl Sketches {
    fn prepare(&self) -> Result<PreparedSketches<'_>> {
        let (recipe, comparison) = self.combination.compile(self.sites)?;
        Ok(PreparedSketches { of: self, recipe, comparison, signers: Pool::default() })
    }
}

impl Carrier for Sketches {
    fn carry(&self, document: &Document, places: Places<'_>, stop: &Stop) -> Result<Vec<u8>> {
        self.prepare()?.carry(document, places, stop)
    }

    fn prepared(&self) -> Result<Option<Box<dyn Carrier + '_>>> {
        Ok(Some(Box::new(self.prepare()?)))
    }

    fn set_site(&self, carried: &mut [u8], site: u32) -> Result<()> {
        self.prepare()?.set_site(carried, site)
    }

    fn meeting(&self) -> Meeting {
        Meeting::Keys { most: None, filter: self.filter() }
    }

    fn keys(&self, carried: &[u8], left_out: LeftOut<'_>, keys: &mut Vec<Key>, stop: &Stop) -> Result<()> {
        self.prepare()?.keys(carried, left_out, keys, stop)
    }

    fn set(&self, carried: &[u8], stop: &Stop) -> Result<Vec<u64>> {
        self.prepare()?.set(carried, stop)
    }

    fn similarity(&self, pair: [&[u8]; 2], left_out: LeftOut<'_>, stop: &Stop) -> Result<Option<f64>> {
        self.prepare()?.similarity(pair, left_out, stop)
    }

    fn buckets(&self) -> Option<BucketRules> {
        let (hand_over, most) = (self.safeguards.hand_over, self.combination.most);
        self.filter().map(|_| BucketRules { hand_over, most })
    }

    fn place(&self, carried: &[u8]) -> Result<[u64; 2]> {
        self.prepare()?.place(carried)
    }

    fn overflows(&self) -> bool {
        self.combination.most.is_none() || self.filter().is_some()
    }

    fn takes_sites(&self) -> bool {
        self.sites
    }
}

impl Carrier for PreparedSketches<'_> {
    fn carry(&self, document: &Document, Places { site, .. }: Places<'_>, stop: &Stop) -> Result<Vec<u8>> {
        let Self { recipe, signers, .. } = self;
        signers.with(
            || Ok(Signer::new(recipe)),
            |signer| {
                let mut bytes = Vec::new();
                let Some((signature, set)) = signer.sign_one(document, stop)? else { return Ok(bytes) };
                memory::reserve(&mut bytes, 1 + size_of_val(signature) + size_of_val(set), DOING)?;
                bytes.push(u8::from(site.is_some()));
                let mut add = |words: &[u64]| words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
                match site.filter(|_| recipe.site) {
                    Some(site) => {
                        let (before, rest) = signature.split_at(recipe.site_at());
                        [before, &[hash_bytes(site.as_bytes())], &rest[1..], set].into_iter().for_each(add);
                    }
                    None => [signature, set].into_iter().for_each(&mut add),
                }
                Ok(bytes)
            },
        )
    }

    fn set_site(&self, carried: &mut [u8], site: u32) -> Result<()> {
        if let Some((has_site, signature)) = carried.split_first_mut().filter(|_| self.recipe.site) {
            *has_site = 1;
            let (words, _) = signature.as_chunks_mut();
            *words.get_mut(self.recipe.site_at()).ok_or_else(|| malformed(SHORT))? =
                u64::from(site).to_le_bytes();
        }
        Ok(())
    }

    fn meeting(&self) -> Meeting {
        self.of.meeting()
    }

    fn keys(&self, carried: &[u8], _: LeftOut<'_>, keys: &mut Vec<Key>, _: &Stop) -> Result<()> {
        let comparison = &self.comparison;
        let signed = Signed::read(carried, self.recipe.width())?;
        for source in comparison.rule.sources(&comparison.techniques).unwrap_or_default() {
            let mut room = Ok(());
            comparison.techniques[source].each_key(&signed.signature, |key| {
                if room.is_ok() {
                    room = memory::push(keys, Key::from_hash(mix(key ^ mix(source as u64 + 1))), DOING);
                }
            });
            room?;
        }
        Ok(())
    }

    fn set(&self, carried: &[u8], _: &Stop) -> Result<Vec<u64>> {
        to_set(Signed::read(carried, self.recipe.width())?.set)
    }

    fn similarity(&self, pair: [&[u8]; 2], _: LeftOut<'_>, _: &Stop) -> Result<Option<f64>> {
        let Self { recipe, comparison, .. } = self;
        let [mut a, mut b] = [Signed::read(pair[0], recipe.width())?, Signed::read(pair[1], recipe.width())?];
        if recipe.site && !(a.has_site && b.has_site) {
            // An unknown site equals no other site.
            (a.signature[recipe.site_at()], b.signature[recipe.site_at()]) = (0, 1);
        }
        let sets = [to_set(a.set)?, to_set(b.set)?];
        let of_sets = || TokenOverlap::of_sets(&sets[0], &sets[1]);
        Ok(comparison.similarity(&a.signature, &b.signature, &of_sets))
    }

    fn buckets(&self) -> Option<BucketRules> {
        self.of.buckets()
    }

    fn place(&self, carried: &[u8]) -> Result<[u64; 2]> {
        // Signatures are in order of the size and the hash of their sets, which come first.
        let signature = Signed::read(carried, self.recipe.width())?.signature;
        signature.first_chunk().copied().ok_or_else(|| malformed(SHORT))
    }

    fn overflows(&self) -> bool {
        self.of.overflows()
    }

    fn takes_sites(&self) -> bool {
        self.of.takes_sites()
    }
}
