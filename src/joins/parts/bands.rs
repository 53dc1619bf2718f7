//! Minhash in parts: a set goes to each part that one of its bands falls into, with the keys of these; in a part sets that share
//! a key are candidates, as they are in the join of one machine (docs/design/algorithms.md section 2).
//!
//! The keys of a row as bytes: the version of this format, then each key in 8 bytes, little-endian.

use super::token_set::TokenSet;
use crate::error::{Error, Result};
use crate::files::{TempFile, TempFiles};
use crate::hash::unmix;
use crate::joins::sketches::banding::Banding;
use crate::memory;
use crate::sketches::minhash::Minhasher;
use crate::sketches::sign::band_keys;
use crate::workers::{self, Stop, Workers};

/// The value, for errors.
const NAME: &str = "bands";
const VERSION: u8 = 1;
const DOING: &str = "joining by bands";
const KEY: usize = size_of::<u64>();

/// The parts that bands of a set fall into, ascending, with the keys of these; none of a set without tokens. O(n · m) for n tokens
/// and m values.
pub fn groups(
    set: &TokenSet<'_>,
    minhasher: &mut Minhasher,
    rows: usize,
    parts: u32,
    stop: &Stop,
) -> Result<Vec<(u32, Vec<u8>)>> {
    minhasher.clear();
    let is_of_numbers = set.is_of_numbers();
    for (n, hash) in set.hashes().enumerate() {
        if n.is_multiple_of(1 << 12) {
            stop.check()?;
        }
        // Sketches are made of numbers as they are.
        minhasher.add(if is_of_numbers { unmix(hash) } else { hash });
    }
    let mut keys = Vec::new();
    if let Some(values) = minhasher.values() {
        // A key is as good as random.
        let part = |key: u64| (((key >> 32) * u64::from(parts)) >> 32) as u32;
        band_keys(values, rows, &mut Vec::new(), |key| keys.push((part(key), key)));
    }
    keys.sort_unstable();
    let groups = keys.chunk_by(|a, b| a.0 == b.0).map(|keys| {
        let mut bytes = vec![VERSION];
        keys.iter().for_each(|(_, key)| bytes.extend_from_slice(&key.to_le_bytes()));
        (keys[0].0, bytes)
    });
    Ok(groups.collect())
}

/// What makes the values of a plan.
pub fn minhasher(plan: Banding, seed: i64) -> Minhasher {
    // A plan has no more values than 16 bits count.
    Minhasher::new(plan.values() as u16, seed)
}

/// A key, turned so that its part of the file comes first, and a set.
type Keyed = [u64; 2];

/// A part of the file: what stands in front of a turned key.
const SLICES: usize = 1 << SLICE_BITS;
const SLICE_BITS: u32 = 8;

/// Keys that were written in their order.
#[derive(Debug)]
struct Run {
    /// Where each slice begins in the file, in keys, and where the last one ends.
    starts: [u64; SLICES + 1],
}

/// The rows of a part: keys with numbers of sets, in a file where memory is short. What is joined is a slice of all of them at a
/// time.
pub struct Banded<F> {
    files: F,
    budget: usize,
    keys: Vec<Keyed>,
    file: Option<Box<dyn TempFile>>,
    runs: Vec<Run>,
}

impl<F> std::fmt::Debug for Banded<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Banded of {} keys and {} runs", self.keys.len(), self.runs.len())
    }
}

impl<F: TempFiles> Banded<F> {
    /// A part without rows, to be joined with about `budget` bytes.
    pub fn new(files: F, budget: usize) -> Self {
        Self { files, budget, keys: Vec::new(), file: None, runs: Vec::new() }
    }

    /// Adds a row.
    pub fn add(&mut self, id: i64, bytes: &[u8], workers: &dyn Workers) -> Result<()> {
        let bad = |why: String| Error::Malformed { what: NAME, why };
        let (&version, keys) = bytes.split_first().ok_or_else(|| bad("it is cut short".to_owned()))?;
        if version != VERSION {
            return Err(bad(format!("its format is version {version}, this neardup knows {VERSION}")));
        }
        let (keys, rest) = keys.as_chunks::<KEY>();
        if !rest.is_empty() {
            return Err(bad("a key is cut short".to_owned()));
        }
        for &key in keys {
            // What is in front of keys says of which part of the join they are.
            let turned = u64::from_le_bytes(key).rotate_right(SLICE_BITS);
            memory::push(&mut self.keys, [turned, id.cast_unsigned()], DOING)?;
        }
        // A vector that grows takes twice its length.
        if 2 * size_of_val(&*self.keys) > self.budget { self.spill(workers) } else { Ok(()) }
    }

    fn spill(&mut self, workers: &dyn Workers) -> Result<()> {
        workers::one(workers, &mut self.keys, |keys, stop| workers::sort_unstable_by(keys, stop, &Ord::cmp))?;
        let at = self.runs.last().map_or(0, |run| run.starts[SLICES]);
        let first = |slice: usize| self.keys.partition_point(|&[key, _]| slice_of(key) < slice);
        let run = Run { starts: std::array::from_fn(|slice| at + first(slice) as u64) };
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(self.files.create()?),
        };
        file.write(bytemuck::cast_slice(&self.keys))?;
        memory::push(&mut self.runs, run, DOING)?;
        self.keys.clear();
        Ok(())
    }

    /// All pairs of numbers that share a key, each once, the lesser first; none if they are more than `most`. An error where the
    /// keys of one slice do not fit.
    pub fn pairs(mut self, most: usize, workers: &dyn Workers) -> Result<Option<Vec<[i64; 2]>>> {
        let mut found = Found { pairs: Vec::new(), room: 1 << 20, most, is_full: false };
        if self.runs.is_empty() {
            found.add(self.keys, workers)?;
            return found.finish(workers);
        }
        self.spill(workers)?;
        let Self { file: Some(mut file), runs, budget, .. } = self else { return Ok(None) };
        for slice in 0..SLICES {
            let of = |run: &Run| (run.starts[slice], (run.starts[slice + 1] - run.starts[slice]) as usize);
            let count: usize = runs.iter().map(|run| of(run).1).sum();
            if count * size_of::<Keyed>() > budget {
                return Err(Error::OutOfMemory { doing: DOING });
            }
            let mut keys = memory::filled([0; 2], count, DOING)?;
            let mut filled = 0;
            for (at, count) in runs.iter().map(of).filter(|&(_, count)| count > 0) {
                let bytes = bytemuck::cast_slice_mut(&mut keys[filled..filled + count]);
                file.read(at * size_of::<Keyed>() as u64, bytes)?;
                filled += count;
            }
            found.add(keys, workers)?;
            if found.is_full {
                return Ok(None);
            }
        }
        found.finish(workers)
    }
}

fn slice_of(turned: u64) -> usize {
    (turned >> (u64::BITS - SLICE_BITS)) as usize
}

/// Pairs of numbers that share a key, some more than once.
struct Found {
    pairs: Vec<[i64; 2]>,
    /// Beyond it, pairs that were found by more than one key are put together.
    room: usize,
    most: usize,
    /// Whether there are more, each once.
    is_full: bool,
}

impl Found {
    /// Adds those of some keys, unless there are too many.
    fn add(&mut self, keys: Vec<Keyed>, workers: &dyn Workers) -> Result<()> {
        let mut state = (self, keys, 0);
        workers::one(workers, &mut state, |(found, keys, done), stop| {
            if *done == 0 {
                workers::sort_unstable_by(keys, stop, &Ord::cmp)?;
            }
            while let Some(rest) = keys.get(*done..).filter(|rest| !rest.is_empty()) {
                let bucket = &rest[..rest.partition_point(|&[key, _]| key == rest[0][0])];
                found.add_bucket(bucket, stop)?;
                if found.is_full {
                    return Ok(());
                }
                *done += bucket.len();
            }
            Ok(())
        })
    }

    /// Adds those of one key, unless there are too many.
    fn add_bucket(&mut self, bucket: &[Keyed], stop: &Stop) -> Result<()> {
        for (n, &[_, one]) in bucket.iter().enumerate() {
            stop.check()?;
            let one = one.cast_signed();
            for other in bucket[n + 1..].iter().map(|&[_, other]| other.cast_signed()) {
                if other != one {
                    memory::push(&mut self.pairs, [one.min(other), one.max(other)], DOING)?;
                }
            }
            if self.pairs.len() > self.room {
                self.unite(stop)?;
                if self.is_full {
                    return Ok(());
                }
                self.room = 2 * self.pairs.len().max(1 << 19);
            }
        }
        Ok(())
    }

    fn unite(&mut self, stop: &Stop) -> Result<()> {
        workers::sort_unstable_by(&mut self.pairs, stop, &Ord::cmp)?;
        self.pairs.dedup();
        self.is_full = self.pairs.len() > self.most;
        Ok(())
    }

    /// All of them, each once.
    fn finish(mut self, workers: &dyn Workers) -> Result<Option<Vec<[i64; 2]>>> {
        workers::one(workers, &mut self, |found, stop| found.unite(stop))?;
        Ok((!self.is_full).then_some(self.pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::signatures::distinct;
    use crate::features::tokens::{Document, Scratch};
    use crate::features::{FeatureSpec, Tokenizer};
    use crate::files::{MemoryFiles, NoFiles};
    use crate::hash::mix;
    use crate::joins::parts::token_set::{Origin, of_document};
    use crate::joins::sketches::combination::{Combination, TechniqueSpec};
    use crate::joins::sketches::rule::Rule;
    use crate::sketches::sign::Signer;
    use crate::workers::PlainThreads;

    fn row(keys: &[u64]) -> Vec<u8> {
        [VERSION].into_iter().chain(keys.iter().flat_map(|key| key.to_le_bytes())).collect()
    }

    /// The keys of a document's bands, as the join of one machine has them.
    fn keys(document: &Document, feature: FeatureSpec, plan: Banding) -> Result<Vec<u64>> {
        let spec = TechniqueSpec::Minhash { feature, plan, seed: 7, threshold: 0.5, verify: true };
        let combination = Combination { techniques: vec![spec], rule: Rule::Technique(0), most: None };
        let (recipe, _) = combination.compile(false)?;
        let mut signer = Signer::new(&recipe);
        signer.add(0, document, &Stop::default())?;
        let signatures = distinct(vec![signer.signatures], None, &PlainThreads(1))?;
        let mut keys = signatures.get(0)[recipe.at(0)..][..plan.bands].to_vec();
        keys.sort_unstable();
        Ok(keys)
    }

    #[test]
    fn keys_are_those_of_one_machine() -> Result<()> {
        let text =
            || Document::Text("to be or not to be that is to be or not the question is it not".to_owned());
        let words = || Document::Tokens(["a", "b", "a", "b", "c"].map(str::to_owned).to_vec());
        let numbers = || Document::Numbers(vec![1, -2, 3, 3, i64::MAX]);
        let (w, set) = (FeatureSpec::WORDS, FeatureSpec { multiset: false, ..FeatureSpec::WORDS });
        let chars = FeatureSpec { tokenizer: Tokenizer::Chars, shingle: 3, ..w };
        let all = [
            (text(), w, Origin::Words),
            (text(), set, Origin::Words),
            (text(), FeatureSpec { shingle: 5, ..set }, Origin::Words),
            (text(), chars, Origin::Chars),
            (words(), w, Origin::Tokens),
            (words(), FeatureSpec { shingle: 2, ..set }, Origin::Tokens),
            (numbers(), set, Origin::Numbers),
            (numbers(), FeatureSpec { shingle: 2, ..set }, Origin::Numbers),
        ];
        let (plan, stop) = (Banding::new(20, 3)?, Stop::default());
        for (document, spec, origin) in all {
            let bytes = of_document(&document, &spec, origin, &mut Scratch::default(), &stop)?;
            let set = TokenSet::check(&bytes)?;
            let mut part = Banded::new(NoFiles, usize::MAX);
            for (_, row) in groups(&set, &mut minhasher(plan, 7), plan.rows, 9, &stop)? {
                part.add(0, &row, &PlainThreads(1))?;
            }
            let mut found: Vec<u64> = part.keys.iter().map(|&[key, _]| key.rotate_left(SLICE_BITS)).collect();
            found.sort_unstable();
            assert_eq!(found, keys(&document, spec, plan)?, "{spec:?} {origin:?}");
        }
        Ok(())
    }

    #[test]
    fn who_shares_a_key_is_a_pair_once() -> Result<()> {
        for budget in [64, 100, usize::MAX] {
            let mut part = Banded::new(MemoryFiles, budget);
            for (id, keys) in [(7, &[1, 2][..]), (-3, &[2, 1]), (5, &[3]), (6, &[3, 2]), (5, &[3])] {
                part.add(id, &row(keys), &PlainThreads(1))?;
            }
            let expected = vec![[-3, 6], [-3, 7], [5, 6], [6, 7]];
            assert_eq!(part.pairs(10, &PlainThreads(1))?, Some(expected), "{budget}");
        }
        Ok(())
    }

    #[test]
    fn files_change_nothing() -> Result<()> {
        // Keys of few values, some in the same slice.
        let rows: Vec<(i64, u64)> = (0..3000).map(|n| (n % 700 - 350, mix(n as u64 % 900))).collect();
        let joined = |budget| {
            let mut part = Banded::new(MemoryFiles, budget);
            for &(id, key) in &rows {
                part.add(id, &row(&[key, key >> 60]), &PlainThreads(1))?;
            }
            assert_eq!(part.runs.is_empty(), budget == usize::MAX);
            part.pairs(usize::MAX, &PlainThreads(1))
        };
        let expected = joined(usize::MAX)?;
        assert!(expected.as_ref().is_some_and(|pairs| pairs.len() > 10_000));
        assert_eq!(joined(1 << 14)?, expected);
        // One slice has more than that.
        assert!(joined(1 << 8).is_err());
        Ok(())
    }

    #[test]
    fn more_than_are_wanted_are_none() -> Result<()> {
        for budget in [1 << 11, usize::MAX] {
            let mut part = Banded::new(MemoryFiles, budget);
            (0..100).try_for_each(|id| part.add(id, &row(&[9]), &PlainThreads(1)))?;
            assert_eq!(part.pairs(4949, &PlainThreads(1))?, None);
        }
        Ok(())
    }

    #[test]
    fn bytes_that_are_no_keys() {
        for bytes in [&[][..], &[2], &[1, 0, 0]] {
            let added = Banded::new(NoFiles, usize::MAX).add(1, bytes, &PlainThreads(1));
            assert!(added.is_err(), "{bytes:?}");
        }
    }
}
