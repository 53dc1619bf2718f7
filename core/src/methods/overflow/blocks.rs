//! Joins documents block by block, each block with itself and with every other, by the join in
//! memory: texts that may differ in many characters, and vectors that may differ in many bits, need
//! not share a key that would bring them together.
//!
//! The time is that of the join in memory, times half the number of blocks.

use std::ops::Range;

use super::records::CarriedRecords;
use crate::error::Result;
use crate::features::source_document::SourceDocument;
use crate::joins::Counts;
use crate::memory;
use crate::methods::carrier::Carrier;
use crate::methods::documents::{Documents, Quiet, Side};
use crate::methods::method::Method;
use crate::methods::reading::Reading;
use crate::storage::files::Resources;
use crate::storage::log::Log;
use crate::storage::rows::Ragged;
use crate::storage::sort::Sorter;

const DOING: &str = "joining blocks of documents";

/// Gets the pairs that are found, the lesser record first, and their similarities.
pub(super) type TakePair<'f> = dyn FnMut([u32; 2], f64) -> Result<()> + 'f;

/// Documents in order of size, of which some are a block.
struct RecordBlocks<'r> {
    records: &'r mut CarriedRecords,
    carrier: &'r dyn Carrier,
    order: Log<u32>,
}

/// The documents of a block, or of two as the two tables.
struct BlockDocuments<'b, 'r> {
    all: &'b mut RecordBlocks<'r>,
    /// The records of each table.
    tables: [Vec<u32>; 2],
    has_right: bool,
    side: Side,
    read: usize,
    loaded: Ragged<u8>,
}

/// Finds the pairs of all documents by a method.
pub(super) fn by_blocks(
    method: &dyn Method,
    carrier: &dyn Carrier,
    records: &mut CarriedRecords,
    resources: Resources<'_>,
    report: &mut dyn FnMut(&str),
    found: &mut TakePair<'_>,
) -> Result<Counts> {
    const LEAST: usize = 8 << 20;
    let Resources { budget, executor, .. } = resources;
    let room = (budget / 4).max(budget.min(LEAST));
    let (two, mut counts) = (records.split().is_some(), Counts::default());
    let (mut all, blocks) = RecordBlocks::new(records, carrier, room, resources)?;
    let [lefts, rights] = &blocks;
    for (n, left) in lefts.iter().enumerate() {
        report(&format!("joining block {} of {}", n + 1, lefts.len()));
        let others = if two { &rights[..] } else { &lefts[n..] };
        for right in others {
            executor.check_interrupts()?;
            let has_right = two || left != right;
            let tables = [all.numbers(left)?, if has_right { all.numbers(right)? } else { Vec::new() }];
            let mut documents = BlockDocuments {
                all: &mut all,
                tables,
                has_right,
                side: Side::Left,
                read: 0,
                loaded: Ragged::default(),
            };
            let mut pairs = method.pairs(&mut Reading::new(&mut documents, &mut Quiet, resources))?;
            let [lefts, rights] = &documents.tables;
            // Rows of the right table are numbered after those of the left one.
            let record = |row: u32| match (row as usize).checked_sub(lefts.len()) {
                Some(row) => rights[row],
                None => lefts[row as usize],
            };
            while let Some(pair) = pairs.next(executor)? {
                let [left, right] = [pair.left, pair.right].map(record);
                found([left.min(right), left.max(right)], pair.similarity)?;
            }
            counts.add(&pairs.counts());
        }
    }
    Ok(counts)
}

impl<'r> RecordBlocks<'r> {
    /// Also returns the blocks of about `room` bytes of each table, as ranges of the order.
    fn new(
        records: &'r mut CarriedRecords,
        carrier: &'r dyn Carrier,
        room: usize,
        Resources { files, budget, executor }: Resources<'_>,
    ) -> Result<(Self, [Vec<Range<u64>>; 2])> {
        let split = records.split().unwrap_or(records.len());
        let mut sizes: Sorter<'_, [u64; 3]> = Sorter::new(files, budget / 8);
        for record in 0..records.len() {
            let size = records.size(record)?;
            sizes.push([u64::from(record >= split), size, record.into()], executor)?;
        }
        let (mut order, mut blocks) = (Log::new(1 << 16), [Vec::new(), Vec::new()]);
        let (mut sizes, mut bytes) = (sizes.sorted(executor)?, 0);
        while let Some([side, size, record]) = sizes.next(executor)? {
            let (blocks, at) = (&mut blocks[side as usize], order.len());
            if blocks.is_empty() || bytes >= room as u64 {
                memory::push(blocks, at..at, DOING)?;
                bytes = 0;
            }
            bytes += size;
            if let Some(block) = blocks.last_mut() {
                block.end = at + 1;
            }
            // Numbers of records have 32 bits.
            order.push(record as u32, files)?;
        }
        Ok((Self { records, carrier, order }, blocks))
    }

    /// Returns the records of a block.
    fn numbers(&mut self, block: &Range<u64>) -> Result<Vec<u32>> {
        let mut numbers = Vec::new();
        self.order.append(block.start, (block.end - block.start) as usize, &mut numbers)?;
        Ok(numbers)
    }
}

impl Documents for BlockDocuments<'_, '_> {
    fn has_right(&self) -> bool {
        self.has_right
    }

    fn begin(&mut self, side: Side) -> Result<()> {
        (self.side, self.read) = (side, 0);
        Ok(())
    }

    fn fetch(&mut self, documents: &mut Vec<(u32, SourceDocument)>) -> Result<usize> {
        const ENOUGH: usize = 1 << 16;
        let Self { all, tables, side, read, loaded, .. } = self;
        let mut bytes = 0;
        while let Some(&record) = tables[*side as usize].get(*read).filter(|_| bytes < ENOUGH) {
            loaded.clear();
            all.records.load(record, all.carrier, loaded)?;
            bytes += loaded.bytes();
            let document = SourceDocument::Document(all.carrier.document(loaded.get(0))?);
            memory::push(documents, (*read as u32, document), DOING)?;
            *read += 1;
        }
        Ok(bytes)
    }

    fn ended(&self) -> bool {
        self.read == self.tables[self.side as usize].len()
    }

    /// The files are read by the leader while no worker runs.
    fn is_ready(&self) -> bool {
        false
    }

    fn rows(&self, side: Side) -> usize {
        if side == self.side { self.read } else { self.tables[side as usize].len() }
    }
}
