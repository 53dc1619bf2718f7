//! The search of a segment of the table of lists for documents that may be similar to changed
//! documents.

use super::candidates::CandidateIds;
use super::stored::{DOING, Header, damaged, documents, ids, parts};
use crate::pg::procedure::table::Table;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::encoding;
use crate::pg::server::error::Result;
use crate::pg::server::executor::BackendExecutor;
use neardup_core::executor::{self, Executor, Stop};
use neardup_core::joins::incremental::changed::Changed;
use neardup_core::joins::incremental::lookup::SegmentLookup;
use neardup_core::joins::incremental::partners::{Candidates, together};
use neardup_core::joins::incremental::segment::BLOCK;
use neardup_core::memory;

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
