//! Runs a combination of techniques, from documents to pairs (Henzinger; docs/design/algorithms.md
//! sections 2 to 4).
//!
//! ```
//! use neardup_core::joins::sketches::combination::{SignedDocuments, join};
//! use neardup_core::sketches::sign::Signer;
//! use neardup_core::parameters::{Combination, Rule, Safeguards, TechniqueSpec};
//! use neardup_core::{Document, FeatureSpec, NoFiles, PlainThreads, Resources, Stop};
//!
//! let feature = FeatureSpec::WORDS;
//! let spec = TechniqueSpec::Simhash { feature, bits: 64, frequency: true, threshold: 0.9 };
//! let combination = Combination { techniques: vec![spec], rule: Rule::Technique(0), most: None };
//! let (recipe, comparison) = combination.compile(false)?;
//! let mut signer = Signer::new(&recipe);
//! for (row, text) in ["to be or not", "not to be, or", "something else"].into_iter().enumerate() {
//!     signer.add(row as u32, &Document::Text(text.to_owned()), &Stop::default())?;
//! }
//! let executor = PlainThreads(1);
//! let documents = SignedDocuments { signers: vec![signer], ..SignedDocuments::default() };
//! let resources = Resources { files: &NoFiles, budget: 1 << 20, executor: &executor };
//! let mut pairs = join(documents, &recipe, comparison, Safeguards::default(), resources)?.pairs;
//! let pair = pairs.next(&executor)?.expect("the first two have the same words");
//! assert_eq!((pair.left, pair.right, pair.similarity), (0, 1, 1.0));
//! assert_eq!(pairs.next(&executor)?, None);
//! # Ok::<(), neardup_core::Error>(())
//! ```

use super::banding::Banding;
use super::buckets::MostNeighbours;
use super::exact::exact_pairs;
use super::hamming::Hamming;
use super::recall::{MeasuredRecall, measured_recall};
use super::rule::Rule;
use super::skew::is_skewed;
use super::technique::{MinhashBands, Shingling, Technique, Verify};
use super::{Comparison, sketch_pairs};
use crate::error::{Error, Result};
use crate::features::FeatureSpec;
use crate::features::hash_sets::HashSets;
use crate::features::signatures::distinct;
use crate::joins::pairs::Pairs;
use crate::sketches::sign::{Recipe, SignaturePart, Signer};
use crate::storage::files::Resources;
use crate::verify::measure::Measure;
use crate::verify::predicate::Predicate;

/// A technique with its parameters. The similarity of a pair is at least the threshold.
///
/// Minhash and supershingles are Broder's (SEQUENCES 1997; WWW 1997), simhash is Charikar's (STOC
/// 2002).
///
/// ```
/// use neardup_core::parameters::TechniqueSpec;
/// use neardup_core::{Corpus, Sketches};
///
/// let equal = Sketches::by_technique(TechniqueSpec::ExactText { clean: true, html: false });
/// let pairs = Corpus::of_texts(&["north  quay", "northquay", "Northquay"]).pairs(&equal)?;
/// assert_eq!(pairs.iter().map(|pair| (pair.left, pair.right)).collect::<Vec<_>>(), [(0, 1)]);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TechniqueSpec {
    /// Compares simhashes by the share of agreeing bits.
    Simhash {
        /// The tokens to hash.
        feature: FeatureSpec,
        /// The number of bits of a simhash.
        bits: u16,
        /// True if each occurrence of a token counts.
        frequency: bool,
        /// The least share of agreeing bits.
        threshold: f64,
    },
    /// Compares documents by the share of agreeing supershingles.
    Shingling {
        /// The tokens to hash.
        feature: FeatureSpec,
        /// The number of minhash values, a multiple of `groups`.
        values: u16,
        /// The number of supershingles.
        groups: u16,
        /// The seed of the hash functions.
        seed: i64,
        /// The least share of agreeing supershingles.
        threshold: f64,
        /// True if candidates are found by pairs of supershingles.
        megashingles: bool,
    },
    /// Compares documents that share a band.
    Minhash {
        /// The tokens to hash.
        feature: FeatureSpec,
        /// The bands and rows.
        plan: Banding,
        /// The seed of the hash functions.
        seed: i64,
        /// The least Jaccard similarity.
        threshold: f64,
        /// True if the similarity is computed from the sets rather than estimated from agreeing
        /// values.
        verify: bool,
    },
    /// Finds equal texts.
    ExactText {
        /// True if white space, control and format characters are left out.
        clean: bool,
        /// True if texts are HTML pages.
        html: bool,
    },
    /// Compares sets.
    Sets {
        /// The tokens that form a set.
        feature: FeatureSpec,
        /// The predicate that decides which sets are similar.
        predicate: Predicate,
    },
}

/// The definition of similar documents.
///
/// ```
/// use neardup_core::parameters::{Combination, Rule, TechniqueSpec};
/// use neardup_core::{Corpus, FeatureSpec, Sketches};
///
/// // Both must agree, as Henzinger combines them; the similarity is that of simhash.
/// let feature = FeatureSpec { multiset: false, ..FeatureSpec::WORDS };
/// let (values, groups, seed, threshold, megashingles) = (84, 6, 1, 0.3, false);
/// let techniques = vec![
///     TechniqueSpec::Shingling { feature, values, groups, seed, threshold, megashingles },
///     TechniqueSpec::Simhash { feature, bits: 64, frequency: true, threshold: 0.9 },
/// ];
/// let rule = Rule::All(vec![Rule::Technique(0), Rule::Technique(1)]);
/// let combination = Combination { techniques, rule, most: None };
/// let method = Sketches { combination, sites: false, safeguards: Default::default() };
/// let pairs = Corpus::of_texts(&["red crane", "Crane; red"]).pairs(&method)?;
/// assert_eq!((pairs.len(), pairs[0].similarity), (1, 1.0));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Combination {
    /// The techniques.
    pub techniques: Vec<TechniqueSpec>,
    /// The rule that combines the techniques. [`Combination::compile`] sets the position of sites
    /// in it.
    pub rule: Rule,
    /// The limit above which large buckets are expanded only in part.
    pub most: MostNeighbours,
}

#[cfg_attr(not(feature = "internals"), doc(hidden))]
impl Combination {
    /// Compiles the combination into a recipe for signatures and the comparison of these
    /// signatures. `sites` is true if sites are known.
    pub fn compile(&self, sites: bool) -> Result<(Recipe, Comparison)> {
        let mut recipe = Recipe { site: sites, ..Recipe::default() };
        for technique in &self.techniques {
            let (TechniqueSpec::Minhash { feature, verify: true, .. } | TechniqueSpec::Sets { feature, .. }) =
                *technique
            else {
                continue;
            };
            let feature = recipe.feature(feature);
            if recipe.sets.is_some_and(|known| known != feature) {
                return Err(Error::Parameter {
                    name: "shingle",
                    value: "of several kinds".to_owned(),
                    allowed: "the same for all techniques of a combination that compare sets",
                });
            }
            recipe.sets = Some(feature);
        }
        // Positions are known only after all parts have been added.
        let parts: Vec<_> =
            self.techniques.iter().map(|technique| add_part(&mut recipe, technique)).collect();
        let at = |n: usize| parts[n].map_or(0, |part| recipe.at(part));
        let techniques =
            self.techniques.iter().enumerate().map(|(n, technique)| resolve(technique, at(n))).collect();
        let mut rule = self.rule.clone();
        rule.set_site_at(recipe.site_at());
        let comparison = Comparison { techniques, rule, sizes: recipe.sizes(), most: self.most };
        Ok((recipe, comparison))
    }
}

fn add_part(recipe: &mut Recipe, technique: &TechniqueSpec) -> Option<usize> {
    let part = match *technique {
        TechniqueSpec::Simhash { feature, bits, frequency, .. } => {
            SignaturePart::Simhash { feature: recipe.feature(feature), bits, frequency }
        }
        TechniqueSpec::Shingling { feature, values, groups, seed, .. } => {
            let feature = recipe.feature(feature);
            SignaturePart::Bands { feature, bands: groups, rows: values / groups, seed, keep_values: false }
        }
        TechniqueSpec::Minhash { feature, plan, seed, verify, .. } => {
            // The number of values of a plan fits in 16 bits.
            let (bands, rows) = (plan.bands as u16, plan.rows as u16);
            SignaturePart::Bands { feature: recipe.feature(feature), bands, rows, seed, keep_values: !verify }
        }
        TechniqueSpec::ExactText { clean, html } => SignaturePart::Checksum { clean, html },
        TechniqueSpec::Sets { .. } => return None,
    };
    Some(recipe.part(part))
}

/// Compiles a technique whose words begin at `at`.
fn resolve(technique: &TechniqueSpec, at: usize) -> Technique {
    match *technique {
        TechniqueSpec::Simhash { bits, threshold, .. } => {
            Technique::Simhash(Hamming::at_least(at, bits.into(), threshold))
        }
        TechniqueSpec::Shingling { groups, threshold, megashingles, .. } => {
            Technique::Shingling(Shingling::at_least(at, groups.into(), threshold, megashingles))
        }
        TechniqueSpec::Minhash { plan, threshold, verify, .. } => {
            let verify = match Predicate::new(Measure::Jaccard, threshold) {
                Ok(predicate) if verify => Verify::Sets(predicate),
                _ => Verify::Values { at: at + plan.bands, values: plan.values() as u32, threshold },
            };
            Technique::Minhash(MinhashBands { at, bands: plan.bands, verify })
        }
        TechniqueSpec::ExactText { .. } => Technique::Equal { at, words: 2 },
        TechniqueSpec::Sets { predicate, .. } => Technique::Sets(predicate),
    }
}

/// A join that is ready to start.
#[derive(Debug)]
pub struct CombinedJoin {
    /// The pairs of the join.
    pub pairs: Pairs,
    /// The number of distinct signatures in both tables.
    pub distinct: u64,
    /// The most bytes that were held at one time.
    pub peak_bytes: usize,
    /// The recall of the bands, measured on a sample, if this was requested and the sample has
    /// similar pairs.
    pub recall: Option<MeasuredRecall>,
    /// True if the exact join finds the pairs instead of the sketches.
    pub handed_over: bool,
}

/// Documents with their signatures.
#[derive(Debug, Default)]
pub struct SignedDocuments<'a> {
    /// The signers, which hold the signatures and the sets.
    pub signers: Vec<Signer>,
    /// The sites of all rows. `u32::MAX` is an unknown site, which equals the site of no other row.
    pub sites: Option<&'a [u32]>,
    /// The first row of the right table, if there are two.
    pub right_from: Option<u32>,
}

/// The safeguards of a join by minhash.
///
/// By default neither safeguard is used.
///
/// ```
/// use neardup_core::parameters::Safeguards;
///
/// assert_eq!(Safeguards::default(), Safeguards { sample: 0, hand_over: false });
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Safeguards {
    /// The number of documents whose pairs are searched exactly to measure the recall.
    pub sample: usize,
    /// True if the exact join may find the pairs instead when that is less work.
    pub hand_over: bool,
}

/// Prepares the search for the pairs of the documents.
pub fn join(
    documents: SignedDocuments<'_>,
    recipe: &Recipe,
    comparison: Comparison,
    Safeguards { sample, hand_over }: Safeguards,
    Resources { files, budget, executor }: Resources<'_>,
) -> Result<CombinedJoin> {
    let SignedDocuments { signers, sites, right_from } = documents;
    let (mut signatures, mut own) = (Vec::new(), Vec::new());
    for mut signer in signers {
        if let Some(sites) = sites.filter(|_| recipe.site) {
            signer.signatures.set_each(recipe.site_at(), |row| match sites.get(row as usize) {
                Some(&site) if site != u32::MAX => site.into(),
                _ => 1 << 32 | u64::from(row),
            });
        }
        signatures.push(signer.signatures);
        own.push(signer.sets);
    }
    let sets = HashSets::from_collectors(own)?;
    let read = signatures.iter().map(|part| part.bytes()).sum::<usize>();
    let signatures = distinct(signatures, right_from, executor)?;
    let distinct_signatures = signatures.len() as u64;
    let mut looking = 0;
    if let ([Technique::Minhash(minhash)], Rule::Technique(0), true) =
        (&comparison.techniques[..], &comparison.rule, hand_over)
        && let Verify::Sets(predicate) = minhash.verify
    {
        let (skewed, held) = is_skewed(&signatures, &sets, *minhash, predicate, comparison.most, executor)?;
        looking = held + signatures.bytes() + sets.bytes();
        if skewed {
            let resources = Resources { files, budget, executor };
            let (pairs, held) = exact_pairs(signatures, sets, predicate, resources)?;
            return Ok(CombinedJoin {
                pairs,
                distinct: distinct_signatures,
                peak_bytes: looking.max(held) + read,
                recall: None,
                handed_over: true,
            });
        }
    }
    let (recall, measuring) = match comparison.techniques.first() {
        Some(Technique::Minhash(minhash)) if sample > 0 => {
            measured_recall(&signatures, &sets, *minhash, sample, comparison.most, budget, executor)?
        }
        _ => (None, 0),
    };
    let held = signatures.bytes() + sets.bytes();
    let peak_bytes = (held + measuring).max(looking) + read;
    let budget = budget.saturating_sub(held).max(budget / 4);
    let sets = comparison.needs_sets().then_some(sets);
    let pairs = sketch_pairs(signatures, sets, comparison, budget)?;
    Ok(CombinedJoin { pairs, distinct: distinct_signatures, peak_bytes, recall, handed_over: false })
}
