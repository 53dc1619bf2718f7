//! Finds sentences to which more than a given number of sentences are certainly similar, without
//! comparing any two sentences.
//!
//! Pages of a site are made from a template, so thousands of sentences differ only in a name, a
//! number or a date. All of them are similar to each other. The number of their pairs is the square
//! of their number, and all these pairs are useless, because such sentences begin no passage. Here,
//! the core of a sentence is the set of its frequent tokens. Sentences that have the same core are
//! similar to each other if the core is large enough for their sizes; their other tokens do not
//! matter. The join finds the remaining sentences to which too many are similar. O(tokens +
//! sentences · log sentences).

use crate::error::{Error, Result};
use crate::executor::{self, Executor};
use crate::features::sets::records::Records;
use crate::features::sets::store::RecordStore;
use crate::hash::hash_bytes_128;
use crate::memory;
use crate::storage::files::TempFiles;
use crate::verify::overlap::shared_at_least;
use crate::verify::predicate::Predicate;

const DOING: &str = "looking for frequent sentences";
const NONE: u32 = u32::MAX;

/// The records of classes of sentences with equal signatures. Classes are numbered like the records
/// of the left table, followed by the records of the right table.
pub struct ClassStores<'a> {
    /// The records of both tables, or of the only table.
    pub stores: &'a mut [RecordStore],
    /// Returns the number of sentences of a class.
    pub size: &'a dyn Fn(u32) -> u32,
    /// Tokens that several records can share have numbers less than this.
    pub shared_tokens: usize,
}

/// The hash of the core of a class, for a class whose core is large enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Core {
    hash: u128,
    class: u32,
}

impl ClassStores<'_> {
    fn count(&self) -> usize {
        self.stores.iter().map(|store| store.len()).sum()
    }

    /// Calls `each` with every class, its number of tokens, and those of its tokens that can be
    /// shared.
    fn for_each(
        &mut self,
        budget: usize,
        executor: &dyn Executor,
        mut each: impl FnMut(u32, u32, &[u32]) -> Result<()>,
    ) -> Result<()> {
        const BREATHE_EVERY: u32 = 1 << 12;
        let mut class = 0;
        for store in self.stores.iter_mut() {
            store.for_each(budget, |_, size, tokens| {
                executor::breathe(executor, class, BREATHE_EVERY)?;
                each(class, size, tokens)?;
                class += 1;
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Returns for each class whether more than `most` sentences are certainly similar to its
    /// sentences, or `None` if there is no such class. The result does not mark all classes to
    /// which more than `most` sentences are similar.
    pub fn hot(
        &mut self,
        predicate: &Predicate,
        most: u32,
        budget: usize,
        executor: &dyn Executor,
    ) -> Result<Option<Vec<bool>>> {
        let (size, two) = (self.size, self.stores.len() == 2);
        let mut sentences = memory::filled(0u32, self.shared_tokens, DOING)?;
        self.for_each(budget, executor, |class, _, tokens| {
            for &token in tokens {
                let count = &mut sentences[token as usize];
                *count = count.saturating_add(size(class));
            }
            Ok(())
        })?;
        if sentences.iter().all(|&count| count <= most) {
            return Ok(None);
        }
        let (mut cores, mut core): (Vec<Core>, Vec<u32>) = (Vec::new(), Vec::new());
        self.for_each(budget, executor, |class, size, tokens| {
            let frequent = tokens.iter().copied().filter(|&token| sentences[token as usize] > most);
            memory::refill(&mut core, frequent, DOING)?;
            // A core that is large enough for two sentences of this size is also large enough if
            // one of them is smaller. So for two sentences with the same core, it is enough to look
            // at the larger one.
            let suffices =
                predicate.least_overlap(size, size).is_some_and(|least| core.len() as u32 >= least);
            if suffices && !core.is_empty() {
                let hash = hash_bytes_128(bytemuck::cast_slice(&core));
                memory::push(&mut cores, Core { hash, class }, DOING)?;
            }
            Ok(())
        })?;
        drop(sentences);
        executor::sort(executor, &mut cores, Ord::cmp)?;
        let first_right = if two { self.stores[0].len() as u32 } else { NONE };
        let mut hot = memory::filled(false, self.count(), DOING)?;
        let mut any = false;
        for alike in cores.chunk_by(|a, b| a.hash == b.hash) {
            let mut sums = [0u64; 2];
            for &Core { class, .. } in alike {
                sums[usize::from(class >= first_right)] += u64::from(size(class));
            }
            for &Core { class, .. } in alike {
                // If there are two tables, partners are in the other table.
                let partners = if two { sums[usize::from(class < first_right)] } else { sums[0] };
                hot[class as usize] = partners > u64::from(most);
                any |= hot[class as usize];
            }
        }
        Ok(any.then_some(hot))
    }

    /// Returns the hot records of a table if `wanted`, or else its other records, and the classes
    /// of the returned records. The records are in a file if they are large.
    pub fn part(
        &mut self,
        table: usize,
        hot: &[bool],
        wanted: bool,
        files: &dyn TempFiles,
        budget: usize,
    ) -> Result<(RecordStore, Vec<u32>)> {
        let first = if table == 0 { 0 } else { self.stores[0].len() };
        let store = &mut self.stores[table];
        let hot = &hot[first..first + store.len()];
        let records = hot.iter().zip(first as u32..).filter(|&(&is_hot, _)| is_hot == wanted);
        let classes = memory::collect(records.map(|(_, class)| class), DOING)?;
        Ok((store.part(|record| hot[record] == wanted, files, budget)?, classes))
    }
}

/// The records of hot classes. Two of them are compared only when a passage reaches their
/// sentences.
#[derive(Debug)]
pub struct HotRecords {
    records: Vec<Records>,
    /// For each class, the index of its record among the hot records of its table; [`NONE`] for
    /// classes that are not hot.
    places: Vec<u32>,
    first_right: u32,
    predicate: Predicate,
}

impl HotRecords {
    /// Returns `None` if the records would take more than `budget` bytes.
    pub fn new(
        of: &mut ClassStores<'_>,
        hot: &[bool],
        predicate: Predicate,
        files: &dyn TempFiles,
        budget: usize,
    ) -> Result<Option<Self>> {
        const LEAST_ROOM: usize = 1 << 20;
        let sizes = of.stores.iter().flat_map(|store| (0..store.len()).map(|record| store.shared(record)));
        let tokens: usize = sizes.zip(hot).filter(|(_, is_hot)| **is_hot).map(|(size, _)| size).sum();
        if tokens.saturating_mul(size_of::<u32>()) > budget.max(LEAST_ROOM) {
            return Ok(None);
        }
        let mut records = Vec::new();
        let mut places = memory::filled(NONE, hot.len(), DOING)?;
        for table in 0..of.stores.len() {
            let (mut store, classes) = of.part(table, hot, true, files, usize::MAX)?;
            classes.iter().zip(0..).for_each(|(&class, place)| places[class as usize] = place);
            records.push(store.take()?);
        }
        let first_right = match &*of.stores {
            [left, _] => u32::try_from(left.len())
                .map_err(|_| Error::TooMany { what: "sentences", limit: u32::MAX.into() })?,
            _ => NONE,
        };
        Ok(Some(Self { records, places, first_right, predicate }))
    }

    fn record(&self, class: u32) -> Option<(&Records, usize)> {
        let place = self.places[class as usize];
        let table = usize::from(class >= self.first_right);
        (place != NONE).then(|| (&self.records[table], place as usize))
    }

    /// Returns the similarity of two classes, if both are hot and they are similar.
    pub fn similarity(&self, a: u32, b: u32) -> Option<f64> {
        let ((left, a), (right, b)) = (self.record(a)?, self.record(b)?);
        let (size, other) = (left.size(a), right.size(b));
        let least = self.predicate.least_overlap(size, other)?;
        let shared = shared_at_least(left.tokens(a), right.tokens(b), least as usize)?;
        Some(self.predicate.similarity(shared as u32, size, other))
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.places) + self.records.iter().map(Records::bytes).sum::<usize>()
    }
}
