//! The rows that are read and compared with changed rows, as the search of the segments of the
//! table of lists finds them.

use super::stored::{DOING, Header, damaged, documents, ids, parts};
use crate::pg::procedure::table::Table;
use crate::pg::query::ids::RowIds;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::encoding;
use crate::pg::server::error::Result;
use crate::pg::server::executor::BackendExecutor;
use neardup_core::executor::{self, Executor, Stop};
use neardup_core::incremental::changed::Changed;
use neardup_core::incremental::lookup::{Candidates, SegmentLookup, SegmentPartners, together};
use neardup_core::incremental::segment::BLOCK;
use neardup_core::storage::rows::RaggedText;
use neardup_core::{hash, memory};

/// The rows that are compared with changed rows. Changed rows are not among them.
pub(crate) struct CandidateIds<'a> {
    /// The ids of the rows.
    ids: RaggedText,
    partners: SegmentPartners,
    changed: &'a RowIds,
    /// The hash of the text form of each changed id, and its row, sorted.
    hashes: Vec<(u64, u32)>,
}

impl<'a> CandidateIds<'a> {
    /// Starts without candidates.
    pub(crate) fn new(changed: &'a RowIds, executor: &dyn Executor) -> Result<Self> {
        const LOOK_EVERY: u32 = 1 << 10;
        let mut hashes = Vec::new();
        memory::reserve(&mut hashes, changed.len(), DOING)?;
        for row in 0..changed.len() as u32 {
            executor::breathe(executor, row, LOOK_EVERY)?;
            hashes.push((hash::hash_bytes(changed.show(row).as_bytes()), row));
        }
        executor::sort(executor, &mut hashes, Ord::cmp)?;
        Ok(Self { ids: RaggedText::default(), partners: SegmentPartners::default(), changed, hashes })
    }

    /// Adds a row, with the changed rows that it may be similar to, if these are known.
    pub(crate) fn add(&mut self, id: &str, partners: Option<&[u32]>) -> Result<()> {
        let hash = hash::hash_bytes(id.as_bytes());
        let from = self.hashes.partition_point(|&(other, _)| other < hash);
        let mut same = self.hashes[from..].iter().take_while(|(other, _)| *other == hash);
        if same.any(|&(_, row)| self.changed.show(row) == id) {
            return Ok(());
        }
        self.ids.push(id, DOING)?;
        Ok(self.partners.push(partners)?)
    }

    /// Returns the distinct ids, and the partners of the row with each id. The ids are ordered by
    /// length and then by text, so that ids that are natural numbers ascend: rows with consecutive
    /// ids are often stored close to each other, and are then read faster.
    pub(crate) fn finish(self, executor: &dyn Executor) -> Result<(RowIds, SegmentPartners)> {
        let Self { ids, partners, changed, .. } = self;
        let id = |n: u32| ids.get(n as usize);
        let mut order = memory::collect(0..ids.len() as u32, DOING)?;
        let key = |n: u32| (id(n).len(), id(n));
        executor::sort(executor, &mut order, |&a, &b| key(a).cmp(&key(b)))?;
        let (mut distinct, mut sorted, mut rows) = (Vec::new(), SegmentPartners::default(), Vec::new());
        for same in order.chunk_by(|&a, &b| id(a) == id(b)) {
            memory::push(&mut distinct, same[0], DOING)?;
            rows.clear();
            let mut known = true;
            for &n in same {
                match partners.for_document(n as usize) {
                    Some(of) => memory::extend(&mut rows, of, DOING)?,
                    None => known = false,
                }
            }
            // Several segments may report the same row.
            rows.sort_unstable();
            rows.dedup();
            sorted.push(known.then_some(&rows))?;
        }
        let read = RowIds::read(changed.type_oid(), distinct.into_iter().map(id))?;
        Ok((read.ok_or_else(|| damaged("an id is not of the type of the ids"))?, sorted))
    }
}

/// Adds the documents of a segment that may be similar to a changed document. Each thread keeps at
/// most `most` bytes of pairs.
pub(crate) fn search(
    lists: &Table,
    header: Header,
    changed: &Changed,
    words: usize,
    most: usize,
    executor: &BackendExecutor,
    others: &mut CandidateIds<'_>,
) -> Result<()> {
    /// The number of bytes of parts that are shared out at a time.
    const PIECE: usize = 4 << 20;
    let Header { segment, parts: all, .. } = header;
    let documents = documents(lists, header, words)?;
    let comparison = SegmentLookup::new(changed, &documents)?;
    let count = documents.sizes.len();
    let mut found: Vec<Candidates> = (0..executor.count()).map(|_| Candidates::new(count, most)).collect();
    let wanted = changed.parts(all)?;
    let (mut pending, mut bytes) = (Vec::new(), 0);
    parts(lists, segment, Some(&wanted).filter(|wanted| wanted.len() < all).map(Vec::as_slice), |part| {
        bytes += part.len();
        memory::push(&mut pending, part, DOING)?;
        if bytes > PIECE {
            compare(&comparison, &pending, &mut found, executor)?;
            pending.clear();
            bytes = 0;
        }
        Ok(())
    })?;
    compare(&comparison, &pending, &mut found, executor)?;

    let (places, partners) = together(found, changed, executor)?;
    let mut blocks: Vec<u32> = places.iter().map(|place| place / BLOCK as u32).collect();
    blocks.dedup();
    let mut next = 0;
    ids(lists, segment, Some(&blocks), |block, ids| {
        while let Some(&place) = places.get(next).filter(|&&place| place as usize / BLOCK == block) {
            let id = ids.get(place as usize % BLOCK).ok_or_else(|| damaged("an id is missing"))?;
            // SAFETY: a text.
            let id = encoding::to_utf8(unsafe { varlena_bytes(*id) })?;
            others.add(&id.ok_or_else(|| damaged("an id is no text"))?, partners.for_document(next))?;
            next += 1;
        }
        Ok(())
    })
}

fn compare(
    comparison: &SegmentLookup<'_>,
    parts: &[Vec<u8>],
    found: &mut [Candidates],
    executor: &BackendExecutor,
) -> Result<()> {
    if parts.is_empty() {
        return Ok(());
    }
    let share = parts.len().div_ceil(found.len());
    let mut shares: Vec<(&mut Candidates, &[Vec<u8>])> = found.iter_mut().zip(parts.chunks(share)).collect();
    let work = |(found, parts): &mut (&mut Candidates, &[Vec<u8>]), stop: &Stop| {
        while let Some((part, rest)) = parts.split_first() {
            comparison.compare(part, found, stop)?;
            *parts = rest;
        }
        Ok(())
    };
    Ok(executor::each(executor, &mut shares, work)?)
}
