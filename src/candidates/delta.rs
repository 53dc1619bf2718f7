//! Few new sets against many old ones, of which only sketches are kept: which of them may be similar.
//!
//! A sketch is the sorted list of 16-bit hashes of a set's tokens, one for each token. Two tokens may
//! have one hash, so the sketches of two sets share at least as many hashes as the sets share tokens:
//! a pair that passes is never missed, and few others stay. Prefixes (algorithms.md section 8) are
//! taken in the order of how often a hash occurs among the new sets. Most hashes of an old set do
//! not occur there at all, and then nobody has to be compared with it.

use super::bounds::{Bounds, Side};
use crate::error::Result;
use crate::features::FeatureSpec;
use crate::features::tokens::{Document, Scratch, Token, for_each_token};
use crate::hash;
use crate::memory;
use crate::verify::measure::Predicate;
use crate::workers::Stop;

const DOING: &str = "comparing sketches";
const HASHES: usize = 1 << 16;

/// Space that sketches are made in, one after the other.
#[derive(Debug, Default)]
pub struct Sketcher {
    scratch: Scratch,
    hashes: Vec<u64>,
}

impl Sketcher {
    /// The sketch of a document's set, in ascending order; empty where the set is. O(tokens · log tokens).
    pub fn sketch(&mut self, document: &Document, spec: &FeatureSpec, stop: &Stop) -> Result<Vec<u16>> {
        let Self { scratch, hashes } = self;
        hashes.clear();
        for_each_token(document, spec, scratch, stop, |token| {
            let hash = match token {
                Token::Bytes(bytes) => hash::hash_bytes(bytes),
                Token::Number(number) => hash::mix(number),
            };
            memory::push(hashes, hash, DOING)
        })?;
        if !spec.multiset {
            // Equal tokens have equal hashes. Two tokens of one hash of 64 bits would make the sketch one too
            // small: that never happens but by chance of 2⁻⁶⁴ a pair of tokens, as with shingles.
            hashes.sort_unstable();
            hashes.dedup();
        }
        let mut sketch = Vec::new();
        memory::reserve(&mut sketch, hashes.len(), DOING)?;
        sketch.extend(hashes.iter().map(|hash| (hash >> 48) as u16));
        sketch.sort_unstable();
        Ok(sketch)
    }
}

/// New sets, ready to be compared with old ones.
#[derive(Debug)]
pub struct Delta {
    bounds: Bounds,
    sketches: Vec<Vec<u16>>,
    /// The place of each hash in the order that prefixes are taken in.
    rank: Vec<u32>,
    /// Which sets have each hash in their prefix: all lists one behind the other, and where each starts.
    lists: Vec<u32>,
    starts: Vec<u32>,
}

/// Space for one comparison after the other.
#[derive(Debug, Default)]
pub struct Candidates {
    prefix: Vec<(u32, u16)>,
    seen: Vec<u32>,
    stamp: u32,
}

impl Delta {
    /// Indexes the prefixes of the new sets. The predicate must be the same in both directions.
    pub fn new(sketches: Vec<Vec<u16>>, predicate: Predicate) -> Result<Self> {
        let bounds = Bounds::new(predicate);
        let mut frequency = memory::filled(0u32, HASHES, DOING)?;
        sketches.iter().flatten().for_each(|&hash| frequency[hash as usize] += 1);
        let mut order: Vec<u16> = (0..=u16::MAX).collect();
        order.sort_unstable_by_key(|&hash| (frequency[hash as usize], hash));
        let mut rank = memory::filled(0u32, HASHES, DOING)?;
        order.iter().zip(0..).for_each(|(&hash, place)| rank[hash as usize] = place);
        let mut delta = Self { bounds, sketches, rank, lists: Vec::new(), starts: Vec::new() };
        let mut prefix = Vec::new();
        let mut postings: Vec<(u16, u32)> = Vec::new();
        for (set, sketch) in delta.sketches.iter().enumerate() {
            delta.prefix(sketch, &mut prefix)?;
            prefix.dedup();
            for &(_, hash) in &prefix {
                memory::push(&mut postings, (hash, set as u32), DOING)?;
            }
        }
        postings.sort_unstable();
        postings.dedup();
        delta.starts = memory::filled(0, HASHES + 1, DOING)?;
        postings.iter().for_each(|(hash, _)| delta.starts[*hash as usize + 1] += 1);
        (0..HASHES).for_each(|hash| delta.starts[hash + 1] += delta.starts[hash]);
        memory::reserve(&mut delta.lists, postings.len(), DOING)?;
        delta.lists.extend(postings.iter().map(|(_, set)| set));
        Ok(delta)
    }

    /// The hashes of a sketch of which every partner has at least one.
    fn prefix(&self, sketch: &[u16], prefix: &mut Vec<(u32, u16)>) -> Result<()> {
        prefix.clear();
        let size = sketch.len() as u32;
        let partners = self.bounds.partner_sizes(Side::Left, size, u32::MAX).filter(|_| size > 0);
        let Some(partners) = partners else { return Ok(()) };
        let length = self.bounds.prefix(Side::Left, size, *partners.start()) as usize;
        memory::reserve(prefix, sketch.len(), DOING)?;
        prefix.extend(sketch.iter().map(|&hash| (self.rank[hash as usize], hash)));
        if length < prefix.len() {
            prefix.select_nth_unstable(length);
            prefix.truncate(length);
        }
        Ok(())
    }

    /// Calls `each` with every new set that may be similar to the set of a sketch: all that are, and
    /// perhaps others.
    pub fn for_each_candidate(
        &self,
        sketch: &[u16],
        candidates: &mut Candidates,
        mut each: impl FnMut(usize),
    ) -> Result<()> {
        let Candidates { prefix, seen, stamp } = candidates;
        self.prefix(sketch, prefix)?;
        if seen.len() != self.sketches.len() || *stamp == u32::MAX {
            *seen = memory::filled(0, self.sketches.len(), DOING)?;
            *stamp = 0;
        }
        *stamp += 1;
        for &(_, hash) in prefix.iter() {
            let list = self.starts[hash as usize] as usize..self.starts[hash as usize + 1] as usize;
            for &set in &self.lists[list] {
                if std::mem::replace(&mut seen[set as usize], *stamp) == *stamp {
                    continue;
                }
                let other = &self.sketches[set as usize];
                let (size, other_size) = (sketch.len() as u32, other.len() as u32);
                let least = self.bounds.least_overlap(Side::Left, size, other_size);
                if least.is_some_and(|least| shares(sketch, other, least as usize)) {
                    each(set as usize);
                }
            }
        }
        Ok(())
    }
}

/// Whether two sorted sketches share at least so many hashes, repeats counted. Most do not, and that shows
/// soon.
fn shares(a: &[u16], b: &[u16], least: usize) -> bool {
    // How many of each may go without a partner.
    let (Some(mut alone_a), Some(mut alone_b)) = (a.len().checked_sub(least), b.len().checked_sub(least))
    else {
        return false;
    };
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let alone = match x.cmp(y) {
            std::cmp::Ordering::Equal => {
                (i, j) = (i + 1, j + 1);
                continue;
            }
            std::cmp::Ordering::Less => {
                i += 1;
                &mut alone_a
            }
            std::cmp::Ordering::Greater => {
                j += 1;
                &mut alone_b
            }
        };
        match alone.checked_sub(1) {
            Some(left) => *alone = left,
            None => return false,
        }
    }
    // What is left of the one has no partner in the other, which is at its end.
    a.len() - i <= alone_a && b.len() - j <= alone_b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::measure::Measure;
    use proptest::prelude::*;

    fn sketch(text: &str, spec: &FeatureSpec) -> Vec<u16> {
        let document = Document::Text(text.to_owned());
        Sketcher::default().sketch(&document, spec, &Stop::default()).unwrap()
    }

    /// How many tokens two texts share, and how many they have.
    fn counts(a: &str, b: &str, multiset: bool) -> [u32; 3] {
        let words = |text: &str| {
            let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            words.sort();
            if !multiset {
                words.dedup();
            }
            words
        };
        let (a, b) = (words(a), words(b));
        let mut rest = b.clone();
        let shared =
            a.iter().filter(|w| rest.iter().position(|r| r == *w).map(|at| rest.remove(at)).is_some());
        [shared.count() as u32, a.len() as u32, b.len() as u32]
    }

    proptest! {
        // Each case makes tables of all hashes.
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_pair_is_missed(
            texts in proptest::collection::vec("[a-f]( [a-h]){0,12}|", 1..30),
            new in 1usize..10,
            n in 1u32..=20,
            multiset: bool,
        ) {
            let spec = FeatureSpec { multiset, ..FeatureSpec::WORDS };
            let new = &texts[..new.min(texts.len())];
            for measure in [Measure::Jaccard, Measure::Cosine, Measure::Dice, Measure::Overlap] {
                let predicate = Predicate::new(measure, f64::from(n) / 20.0).unwrap();
                for predicate in [predicate, predicate.and_shared(2)] {
                    let sketches = new.iter().map(|text| sketch(text, &spec)).collect();
                    let delta = Delta::new(sketches, predicate).unwrap();
                    let mut space = Candidates::default();
                    for old in &texts {
                        let mut found = Vec::new();
                        delta.for_each_candidate(&sketch(old, &spec), &mut space, |set| found.push(set)).unwrap();
                        for (set, text) in new.iter().enumerate() {
                            let [shared, left, right] = counts(text, old, multiset);
                            let passes = left > 0 && right > 0 && predicate.passes(shared, left, right);
                            prop_assert!(!passes || found.contains(&set), "{} {}", text, old);
                        }
                        found.sort_unstable();
                        prop_assert!(found.is_sorted_by(|a, b| a < b), "each once");
                    }
                }
            }
        }
    }
}
