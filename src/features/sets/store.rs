//! Records that may be too many for memory: in memory, or in a temporary file with only their sizes
//! and places in memory.

use std::ops::Range;

use super::records::{Members, Records};
use crate::error::Result;
use crate::files::TempFile;
use crate::memory;

const DOING: &str = "loading records";

/// The records of a table.
pub enum Store {
    /// All of them.
    Memory(Records),
    /// Their tokens in a file.
    File {
        /// All tokens as numbers of 32 bits, in the machine's order of bytes.
        file: Box<dyn TempFile>,
        /// Where the tokens of each record begin, and where those of the last end, in tokens.
        starts: Vec<u64>,
        /// The size of each record, ascending.
        sizes: Vec<u32>,
    },
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Store of {} records", self.sizes().len())
    }
}

impl Store {
    /// The sizes of all records, ascending.
    pub fn sizes(&self) -> &[u32] {
        match self {
            Self::Memory(records) => records.sizes(),
            Self::File { sizes, .. } => sizes,
        }
    }

    /// How many tokens of a record can be shared.
    pub fn shared(&self, record: usize) -> usize {
        match self {
            Self::Memory(records) => records.tokens(record).len(),
            // No record has more tokens than 32 bits count.
            Self::File { starts, .. } => (starts[record + 1] - starts[record]) as usize,
        }
    }

    /// All records, to work with in memory; they are not to be asked for again.
    pub fn take(&mut self) -> Result<Records> {
        match self {
            Self::Memory(records) => Ok(std::mem::take(records)),
            Self::File { sizes, .. } => {
                let all = 0..sizes.len();
                self.load(all)
            }
        }
    }

    /// A copy of some records, to work with in memory.
    pub fn load(&mut self, range: Range<usize>) -> Result<Records> {
        match self {
            Self::Memory(records) => records.copy(range),
            Self::File { file, starts, sizes } => {
                let (from, to) = (starts[range.start], starts[range.end]);
                let mut tokens = memory::filled(0u32, (to - from) as usize, DOING)?;
                file.read(from * size_of::<u32>() as u64, bytemuck::cast_slice_mut(&mut tokens))?;
                let mut places = Vec::new();
                memory::reserve(&mut places, range.len() + 1, DOING)?;
                places.extend(starts[range.start..=range.end].iter().map(|start| (start - from) as usize));
                let mut own_sizes = Vec::new();
                memory::extend(&mut own_sizes, &sizes[range], DOING)?;
                Ok(Records::new(tokens, places, own_sizes))
            }
        }
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Memory(records) => records.bytes(),
            Self::File { starts, sizes, .. } => memory::bytes(starts) + memory::bytes(sizes),
        }
    }
}

/// The records of a table and their rows.
#[derive(Debug)]
pub struct Table {
    /// The distinct sets.
    pub store: Store,
    /// Their rows.
    pub members: Members,
}

impl Table {
    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.store.bytes() + self.members.bytes()
    }
}
