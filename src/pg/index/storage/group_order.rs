//! Brings the items of an index with group columns into the order of their groups, so that a search
//! within a group reads few pages of rows.
//!
//! The hashes of groups divide the items into parts, which may be in temporary files. The items of
//! one part are sorted at a time; those of a group keep their order.

use crate::pg::index::layout::items::{HeapRow, Item, number};
use crate::pg::server::executor::BackendExecutor;
use crate::pg::server::temp_file::ServerFiles;
use neardup_core::error::Result;
use neardup_core::executor;
use neardup_core::memory;
use neardup_core::storage::log::Log;

const DOING: &str = "ordering rows by their groups";

const PARTS: usize = 1 << PART_BITS;
const PART_BITS: u32 = 8;
/// The least number of bytes of a part in memory.
const LEAST: usize = 16 << 10;

/// Items that are collected. Each is written as its number of bytes, its row, and its bytes, which
/// begin with the group.
pub(super) struct GroupOrder {
    files: ServerFiles,
    parts: Vec<Log<u8>>,
    /// The number of items.
    pub(super) items: u32,
    written: Vec<u8>,
}

/// The number of bytes before those of an item.
const HEAD: usize = size_of::<u32>() + HeapRow::SIZE;

impl GroupOrder {
    /// Starts without items. About `budget` bytes of them are held in memory.
    pub(super) fn new(budget: usize) -> Self {
        let parts = (0..PARTS).map(|_| Log::new((budget / PARTS).max(LEAST))).collect();
        Self { files: ServerFiles::in_current_context(), parts, items: 0, written: Vec::new() }
    }

    /// Adds an item.
    pub(super) fn push(&mut self, item: &Item<'_>) -> Result<()> {
        let part = number(item.bytes) >> (u64::BITS - PART_BITS);
        self.written.clear();
        self.written.extend((item.bytes.len() as u32).to_le_bytes());
        self.written.extend(item.row.0.to_le_bytes());
        self.written.extend_from_slice(item.bytes);
        self.items += 1;
        self.parts[part as usize].extend(&self.written, &self.files)
    }

    /// Calls `each` with all items, in the order of their groups.
    pub(super) fn each(self, mut each: impl FnMut(&Item<'_>) -> Result<()>) -> Result<()> {
        let executor = BackendExecutor::single();
        let mut bytes = Vec::new();
        for mut part in self.parts {
            let (mut order, mut at) = (Vec::new(), 0);
            while at < part.len() {
                pgrx::check_for_interrupts!();
                let mut head = [0; HEAD + size_of::<u64>()];
                part.read(at, &mut head)?;
                memory::push(&mut order, (number(&head[HEAD..]), at), DOING)?;
                at += HEAD as u64 + number_of_bytes(&head);
            }
            executor::sort(&executor, &mut order, Ord::cmp)?;
            for (_, at) in order {
                let mut head = [0; HEAD];
                part.read(at, &mut head)?;
                bytes.clear();
                part.append(at + HEAD as u64, number_of_bytes(&head) as usize, &mut bytes)?;
                let row = HeapRow::read(&head[size_of::<u32>()..]);
                each(&Item { row, bytes: &bytes })?;
            }
        }
        Ok(())
    }
}

/// Returns the number of bytes of an item that begins so.
fn number_of_bytes(head: &[u8]) -> u64 {
    head.first_chunk().map_or(0, |&bytes| u32::from_le_bytes(bytes).into())
}
