//! Records that may not fit in memory. They are either all in memory, or their tokens are in a
//! temporary file, and only their sizes and places are in memory.

use std::borrow::Cow;
use std::ops::Range;

use super::members::Members;
use super::record_places::RecordPlaces;
use super::records::{RECORD, Records, SizeRuns, TokensPlace};
use crate::error::Result;
use crate::executor::Executor;
use crate::memory;
use crate::storage::files::TempFiles;
use crate::storage::log::Log;

const DOING: &str = "loading records";

/// The number of bytes that are read at one time where less memory would do.
const READ: usize = 1 << 22;
/// The number of bytes that are written at one time.
const WRITE: usize = 1 << 16;

/// The records of a table.
#[derive(Debug)]
pub enum RecordStore {
    /// All records in memory.
    Memory(Records),
    /// The tokens of the records in a file.
    File {
        /// All tokens.
        tokens: Log<u32>,
        /// The sizes of the records, and the places of their tokens.
        places: RecordPlaces,
    },
}

impl RecordStore {
    /// Returns the number of records.
    pub fn len(&self) -> usize {
        match self {
            Self::Memory(records) => records.len(),
            Self::File { places, .. } => places.runs().records(),
        }
    }

    /// Returns the sizes of all records.
    pub fn runs(&self) -> Result<Cow<'_, SizeRuns>> {
        match self {
            Self::Memory(records) => SizeRuns::new(records.sizes()).map(Cow::Owned),
            Self::File { places, .. } => Ok(Cow::Borrowed(places.runs())),
        }
    }

    /// Returns the size of a record.
    pub fn size(&self, record: usize) -> u32 {
        match self {
            Self::Memory(records) => records.size(record),
            // Records are numbered with 32 bits.
            Self::File { places, .. } => places.runs().size(record as u32),
        }
    }

    /// Returns the number of tokens of a record that can be shared.
    pub fn shared(&self, record: usize) -> usize {
        match self {
            Self::Memory(records) => records.tokens(record).len(),
            Self::File { places, .. } => places.shared(record) as usize,
        }
    }

    /// Returns all records, moved or loaded into memory. The caller must not ask for them again.
    pub fn take(&mut self) -> Result<Records> {
        match self {
            Self::Memory(records) => Ok(std::mem::take(records)),
            Self::File { .. } => self.load(0..self.len(), Vec::new()),
        }
    }

    /// Takes the whole store and leaves it empty.
    pub fn take_all(&mut self) -> Self {
        std::mem::replace(self, Self::Memory(Records::default()))
    }

    /// Returns a copy of some records in memory. If they come from a file, their tokens replace the
    /// contents of `space`, whose memory is reused.
    pub fn load(&mut self, range: Range<usize>, space: Vec<u32>) -> Result<Records> {
        match self {
            Self::Memory(records) => records.copy(range),
            Self::File { tokens: log, places } => {
                let (from, to) = (places.start(range.start), places.start(range.end));
                let (mut tokens, length) = (space, (to - from) as usize);
                // The content of `space` is overwritten.
                tokens.truncate(length);
                memory::lengthen(&mut tokens, 0, length, DOING)?;
                log.read(from, &mut tokens)?;
                let (mut loaded, mut sizes) = (Vec::new(), Vec::new());
                memory::reserve(&mut loaded, range.len(), DOING)?;
                memory::reserve(&mut sizes, range.len(), DOING)?;
                let mut start = 0;
                for record in range {
                    let length = places.shared(record);
                    loaded.push(TokensPlace { part: 0, length, start });
                    sizes.push(places.runs().size(record as u32));
                    start += length as usize;
                }
                Ok(Records::of_parts(vec![tokens], loaded, sizes))
            }
        }
    }

    /// Returns the end of the first records of a range that take at most `bytes` bytes in memory,
    /// but at least one record. Records may have hardly any tokens, so the records themselves
    /// count, too.
    pub fn fitting(&self, records: Range<usize>, bytes: usize) -> usize {
        let mut taken = 0;
        let fit = records.clone().take_while(|&record| {
            taken += RECORD + self.shared(record) * size_of::<u32>();
            taken <= bytes
        });
        (records.start + fit.count()).max(records.start + 1).min(records.end)
    }

    /// Returns a copy of some records, whose numbers ascend. Records that are near each other in
    /// the file are read together.
    pub fn fetch(&mut self, wanted: &[u32], executor: &dyn Executor) -> Result<Records> {
        /// Fewer tokens than this between two records are read as well.
        const GAP: u64 = 1 << 11;
        /// The number of tokens that are read together, unless a single record has more.
        const PIECE: u64 = 1 << 18;
        let (mut tokens, mut places, mut sizes) = (Vec::new(), vec![0], Vec::new());
        memory::reserve(&mut places, wanted.len(), DOING)?;
        memory::reserve(&mut sizes, wanted.len(), DOING)?;
        let mut space: Vec<u32> = Vec::new();
        let mut rest = wanted;
        while let Some(&first) = rest.first() {
            let range = |record: u32| self.range(record as usize);
            let from = range(first).start;
            let mut end = from;
            let near = rest.iter().take_while(|&&record| {
                let Range { start, end: own } = range(record);
                let near = start <= end + GAP && (own <= from + PIECE || record == first);
                end = if near { own } else { end };
                near
            });
            let (together, later) = rest.split_at(near.count());
            if let Self::File { tokens, .. } = self {
                executor.check_interrupts()?;
                space.clear();
                tokens.append(from, (end - from) as usize, &mut space)?;
            }
            for &record in together {
                let own = match self {
                    Self::Memory(records) => records.tokens(record as usize),
                    Self::File { .. } => {
                        let Range { start, end } = self.range(record as usize);
                        &space[(start - from) as usize..(end - from) as usize]
                    }
                };
                memory::extend(&mut tokens, own, DOING)?;
                places.push(tokens.len());
                sizes.push(self.size(record as usize));
            }
            rest = later;
        }
        Records::new(tokens, &places, sizes)
    }

    /// Returns the range of a record's tokens in the file. A record in memory has none.
    fn range(&self, record: usize) -> Range<u64> {
        match self {
            Self::Memory(_) => 0..0,
            Self::File { places, .. } => places.range(record),
        }
    }

    /// Calls `each` with every record, its size, and its tokens that can be shared. For records in
    /// a file, about `budget` bytes are in memory at a time.
    pub fn for_each(
        &mut self,
        budget: usize,
        mut each: impl FnMut(usize, u32, &[u32]) -> Result<()>,
    ) -> Result<()> {
        let (mut from, mut space) = (0, Vec::new());
        while from < self.len() {
            let to = match self {
                Self::Memory(_) => self.len(),
                Self::File { .. } => self.fitting(from..self.len(), budget),
            };
            let mut loaded = Records::default();
            let records = match self {
                Self::Memory(records) => &*records,
                Self::File { .. } => {
                    loaded = self.load(from..to, std::mem::take(&mut space))?;
                    &loaded
                }
            };
            for n in 0..records.len() {
                each(from + n, records.size(n), records.tokens(n))?;
            }
            space = loaded.into_tokens().unwrap_or_default();
            from = to;
        }
        Ok(())
    }

    /// Returns a copy of the wanted records: in memory, or in a file if they take more than
    /// `budget` bytes.
    pub fn part(
        &mut self,
        wanted: impl Fn(usize) -> bool,
        files: &dyn TempFiles,
        budget: usize,
    ) -> Result<Self> {
        let all = 0..self.len();
        let records: usize = all.clone().filter(|&record| wanted(record)).count();
        let tokens: usize = all.filter(|&record| wanted(record)).map(|record| self.shared(record)).sum();
        let bytes = tokens.saturating_mul(size_of::<u32>()).saturating_add(records.saturating_mul(RECORD));
        let in_file = bytes > budget;
        if in_file {
            return self.part_in_file(wanted, files, budget);
        }
        let (mut sizes, mut starts, mut held) = (Vec::new(), vec![0], Vec::new());
        memory::reserve(&mut sizes, records, DOING)?;
        memory::reserve(&mut starts, records, DOING)?;
        self.for_each(budget.min(READ), |record, size, own| {
            if wanted(record) {
                memory::extend(&mut held, own, DOING)?;
                sizes.push(size);
                starts.push(held.len());
            }
            Ok(())
        })?;
        Ok(Self::Memory(Records::new(held, &starts, sizes)?))
    }

    /// Returns a copy of the wanted records in a file.
    fn part_in_file(
        &mut self,
        wanted: impl Fn(usize) -> bool,
        files: &dyn TempFiles,
        budget: usize,
    ) -> Result<Self> {
        let (mut tokens, mut places) = (Log::new(WRITE), RecordPlaces::default());
        self.for_each(budget.min(READ), |record, size, own| {
            if !wanted(record) {
                return Ok(());
            }
            tokens.extend(own, files)?;
            places.push(size, own.len())
        })?;
        tokens.spill(files)?;
        Ok(Self::File { tokens, places })
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Memory(records) => records.bytes(),
            Self::File { places, .. } => places.bytes(),
        }
    }
}

/// The records of a table and their rows.
#[derive(Debug)]
pub struct RecordTable {
    /// The distinct sets.
    pub store: RecordStore,
    /// The rows of each set.
    pub members: Members,
}

impl RecordTable {
    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.store.bytes() + self.members.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::files::MemoryFiles;
    use proptest::prelude::*;

    fn all(store: &mut RecordStore, budget: usize) -> Vec<(u32, Vec<u32>)> {
        let mut all = Vec::new();
        store
            .for_each(budget, |n, size, tokens| {
                assert_eq!(n, all.len());
                all.push((size, tokens.to_vec()));
                Ok(())
            })
            .unwrap();
        all
    }

    #[test]
    fn records_without_tokens_take_memory_too() {
        let (records, bytes) = (1000, 1000 * (RECORD + size_of::<u32>()));
        let starts: Vec<usize> = (0..=records).collect();
        let mut store =
            RecordStore::Memory(Records::new(vec![7; records], &starts, vec![1; records]).unwrap());
        assert!(matches!(store.part(|_| true, &MemoryFiles, bytes).unwrap(), RecordStore::Memory(_)));
        let mut store = store.part(|_| true, &MemoryFiles, bytes - 1).unwrap();
        assert!(matches!(store, RecordStore::File { .. }));
        assert_eq!(store.fitting(0..records, bytes), records);
        assert_eq!(store.fitting(10..records, bytes / 10), 110);
        assert_eq!(store.fitting(10..records, 0), 11);
        let loaded = store.load(10..110, Vec::new()).unwrap();
        assert!(loaded.bytes() <= bytes / 10);
    }

    proptest! {
        #[test]
        fn parts_are_what_is_wanted(
            sets in prop::collection::vec(prop::collection::vec(0..9u32, 0..5), 0..12),
            wanted in prop::collection::vec(any::<bool>(), 12),
            budgets in prop::array::uniform3(0..40usize),
        ) {
            let records: Vec<(u32, Vec<u32>)> =
                sets.into_iter().zip(1..).map(|(set, n)| (n + set.len() as u32, set)).collect();
            let mut starts = vec![0];
            records.iter().for_each(|(_, set)| starts.push(starts[starts.len() - 1] + set.len()));
            let tokens = records.iter().flat_map(|(_, set)| set.clone()).collect();
            let sizes = records.iter().map(|&(size, _)| size).collect();
            let mut store = RecordStore::Memory(Records::new(tokens, &starts, sizes).unwrap());
            // The first copy is made from a store in memory; the second may be made from a file.
            for budget in budgets {
                let mut copy = store.part(|_| true, &MemoryFiles, budget).unwrap();
                prop_assert_eq!(all(&mut copy, budget), records.clone());
                let mut part = copy.part(|record| wanted[record], &MemoryFiles, budget).unwrap();
                let expected: Vec<_> =
                    records.iter().zip(&wanted).filter(|(_, wanted)| **wanted).map(|(r, _)| r.clone()).collect();
                prop_assert_eq!(part.len(), expected.len());
                prop_assert_eq!(all(&mut part, budget), expected);
            }
        }
    }
}
