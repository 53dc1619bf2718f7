//! Merges several segments into one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use roaring::RoaringBitmap;

use super::choice;
use super::cursor::{Cursor, Rows};
use super::maintenance::{Change, Maintenance, budget, sure};
use super::segment::Segment;
use super::writer::Writer;
use crate::pg::index::layout::format::Descriptor;
use crate::pg::index::layout::items::Row;
use crate::pg::index::layout::meta::Directory;
use crate::pg::index::opclass::keys::Keys;
use crate::pg::index::pages::record::Logging;
use crate::pg::server::error::Result;

impl Maintenance {
    /// Merges the segments that are due and rewrites segments with many dead rows, for VACUUM.
    pub(crate) fn merge_due(&self) -> Result<()> {
        self.merge_some(&mut |directory| choice::of_vacuum(&directory.segments))
    }

    /// Merges all segments into one without dead rows.
    pub(crate) fn merge_all(&self) -> Result<()> {
        let mut done = false;
        self.merge_some(&mut |directory| {
            let all = choice::of_all(&directory.segments)?;
            (!std::mem::replace(&mut done, true)).then_some(all)
        })
    }

    /// Merges the segments that `choose` chooses, again and again until it chooses none.
    pub(super) fn merge_some(
        &self,
        choose: &mut dyn FnMut(&Directory) -> Option<Vec<Descriptor>>,
    ) -> Result<()> {
        loop {
            let directory = Directory::read(self.index);
            match choose(&directory) {
                Some(chosen) if !chosen.is_empty() => self.merge(&directory, &chosen)?,
                _ => return Ok(()),
            }
        }
    }

    fn merge(&self, directory: &Directory, chosen: &[Descriptor]) -> Result<()> {
        let index = self.index;
        let keys = Keys::of(index, &directory.meta);
        let reading = index.in_bulk();
        let mut writer = Writer::new(index, Logging::Now, self.reserve(), keys.layout(), budget() / 4);
        let mut sources = Vec::new();
        for &about in chosen {
            let segment = sure(index, Segment::open(reading, about, keys.layout()));
            let base = writer.rows();
            let mut dead = RoaringBitmap::new();
            for n in 0..about.row_pages {
                let (first, contents) = sure(index, segment.row_page(n));
                for (row, bytes) in (first..).zip(contents.chunks_exact(Row::SIZE + keys.payload())) {
                    let head = Row::read(bytes);
                    if head.has(Row::DEAD) {
                        dead.insert(row);
                    } else {
                        writer.row(head, &bytes[Row::SIZE..])?;
                    }
                }
            }
            sources.push((segment, base, dead));
        }
        if writer.rows() > 0 {
            writer.end_rows(chosen.iter().map(|segment| segment.postings).sum())?;
            let mut cursors: Vec<_> = sources.iter().map(|(segment, ..)| Cursor::new(segment)).collect();
            let mut heads = BinaryHeap::new();
            let mut groups: Vec<Option<Rows>> = Vec::new();
            for (n, cursor) in cursors.iter_mut().enumerate() {
                groups.push(None);
                if let Some((signature, rows)) = sure(index, cursor.next()) {
                    heads.push(Reverse((signature, n)));
                    groups[n] = Some(rows);
                }
            }
            while let Some(mut head) = heads.peek_mut() {
                let Reverse((signature, n)) = *head;
                let (_, base, dead) = &sources[n];
                let mut result = Ok(());
                let rows = groups[n].take().expect("every head has its rows");
                rows.each(|row| {
                    if result.is_ok() && !dead.contains(row) {
                        result = writer.pair(signature, base + row - dead.rank(row) as u32);
                    }
                });
                result?;
                if let Some((signature, rows)) = sure(index, cursors[n].next()) {
                    *head = Reverse((signature, n));
                    groups[n] = Some(rows);
                } else {
                    PeekMut::pop(head);
                }
            }
        }
        let added = if writer.rows() == 0 { None } else { Some(writer.finish()?) };
        let removed: Vec<u64> = chosen.iter().map(|segment| segment.id).collect();
        let blocks: Vec<u32> = sources.iter().flat_map(|(segment, ..)| segment.blocks()).collect();
        self.publish(&removed, Change { added, ..Change::default() }, &blocks);
        Ok(())
    }
}
