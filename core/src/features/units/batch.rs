//! Makes the sets of a batch of units, with all threads.

use super::signatures::{Maker, SignatureScratch};
use super::text_store::LoadedTexts;
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::sets::builder::SetBuilder;
use crate::features::sets::collect::Collector;
use crate::features::tokens::Document;
use crate::memory;

const DOING: &str = "cutting documents into sentences";

/// Some consecutive units of a document.
#[derive(Debug, Clone)]
pub(super) struct UnitSlice {
    pub(super) row: u32,
    /// The number of the first of these units among the units of all documents.
    pub(super) number: u32,
    /// The places of the units in the document.
    pub(super) units: std::ops::Range<u32>,
}

/// A share of a batch for one thread.
struct BatchPart<'a> {
    collector: &'a mut Collector,
    parts: Vec<UnitSlice>,
    /// The next part.
    next: usize,
    scratch: SignatureScratch,
    /// The units that are too long to be numbered together with the other units.
    long: Vec<UnitSlice>,
    /// The number of units that have words and no signature.
    unsigned: u64,
}

/// Makes the sets of a batch. Returns the greatest number of bytes that the collectors held, and
/// the number of units that have words and no signature.
pub(super) fn make_batch(
    open: &LoadedTexts<'_>,
    batch: Vec<UnitSlice>,
    maker: &Maker,
    builder: &mut SetBuilder<'_>,
    executor: &dyn Executor,
) -> Result<(usize, u64)> {
    let mut shares: Vec<BatchPart> = Vec::new();
    for collector in &mut builder.collectors {
        shares.push(BatchPart {
            collector,
            parts: Vec::new(),
            next: 0,
            scratch: SignatureScratch::default(),
            long: Vec::new(),
            unsigned: 0,
        });
    }
    // The batch is divided by the number of units. If the batch has few documents, the units of a
    // document are divided among several threads, so that each thread gets some units.
    let all: u32 = batch.iter().map(|part| part.units.len() as u32).sum();
    let share = all.div_ceil(shares.len() as u32).max(1);
    let (mut to, mut room) = (0, share);
    for mut part in batch {
        while !part.units.is_empty() {
            let count = room.min(part.units.len() as u32);
            let here = part.units.start..part.units.start + count;
            memory::push(&mut shares[to].parts, UnitSlice { units: here.clone(), ..part }, DOING)?;
            part = UnitSlice { number: part.number + count, units: here.end..part.units.end, ..part };
            room -= count;
            if room == 0 && to + 1 < shares.len() {
                (to, room) = (to + 1, share);
            } else if room == 0 {
                room = share;
            }
        }
    }
    executor::each(executor, &mut shares, |share, stop| share.work(open, maker, stop))?;
    let mut unsigned: u64 = shares.iter().map(|share| share.unsigned).sum();
    let long: Vec<UnitSlice> = shares.into_iter().flat_map(|share| share.long).collect();
    let pending = builder.number(executor)?;
    for part in long {
        let mut made = (Vec::new(), false);
        executor::one(executor, &mut made, |(signatures, has_words), stop| {
            let unit = open.get(part.row).unit(part.units.start as usize);
            *has_words = maker.make(unit, &mut SignatureScratch::default(), signatures, stop)?;
            Ok(())
        })?;
        let (signatures, has_words) = made;
        unsigned += u64::from(has_words && signatures.is_empty());
        builder.add_long(part.number, &Document::Numbers(signatures), executor)?;
    }
    Ok((pending, unsigned))
}

impl BatchPart<'_> {
    fn work(&mut self, open: &LoadedTexts<'_>, maker: &Maker, stop: &Stop) -> Result<()> {
        let mut document = Document::Numbers(Vec::new());
        while let Some(part) = self.parts.get_mut(self.next) {
            let entry = open.get(part.row);
            while let Some(unit) = part.units.clone().next() {
                stop.check()?;
                let text = entry.unit(unit as usize);
                if text.len() > SetBuilder::LONG {
                    memory::push(&mut self.long, UnitSlice { units: unit..unit + 1, ..*part }, DOING)?;
                } else if let Document::Numbers(signatures) = &mut document {
                    let has_words = maker.make(text, &mut self.scratch, signatures, stop)?;
                    let unsigned = has_words && signatures.is_empty();
                    self.collector.add(part.number, &document, stop)?;
                    self.unsigned += u64::from(unsigned);
                }
                part.units.start += 1;
                part.number += 1;
            }
            self.next += 1;
        }
        Ok(())
    }
}
