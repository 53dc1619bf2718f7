//! The sets of q-grams of distinct texts, as records of a join. The rows of the records are the
//! numbers of the texts.

use std::ops::Range;

use super::collect::Collector;
use super::order::{Ordered, order};
use super::spill::Spill;
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::dictionary::Dictionary;
use crate::features::dictionary::numbering::number;
use crate::features::texts::Texts;
use crate::features::tokens::{Document, FeatureSpec, Tokenizer};
use crate::memory;
use crate::storage::files::TempFiles;

/// The gram sets of some texts.
#[derive(Debug)]
pub struct GramSets {
    /// The records.
    pub ordered: Ordered,
    /// The number of grams of all texts.
    pub grams: u64,
    /// The greatest number of bytes held at one time, in addition to the texts.
    pub peak_bytes: usize,
}

/// Cuts texts into grams of `q` characters, with repeats counted; a text of fewer characters is one
/// gram. If there is a range `right`, its texts are a separate table, and their numbers must be
/// greater than those in `left`. Holds about `budget` bytes in addition to the dictionary of grams.
pub fn gram_sets(
    texts: &Texts,
    left: Range<u32>,
    right: Option<Range<u32>>,
    q: u32,
    files: &dyn TempFiles,
    budget: usize,
    executor: &dyn Executor,
) -> Result<GramSets> {
    const BYTES_A_BATCH: usize = 4 << 20;
    let spec =
        FeatureSpec { tokenizer: Tokenizer::RawChars, shingle: q as usize, multiset: true, wrap: false };
    let mut collectors: Vec<_> = (0..executor.count()).map(|_| Collector::new(spec)).collect();
    let mut dictionary = Dictionary::default();
    let mut spill = Spill::new(files);
    let mut peak_bytes = 0;
    let most = BYTES_A_BATCH.min(budget / 64);
    let right_from = right.as_ref().map(|right| right.start);
    for (table, range) in [Some(left), right].into_iter().flatten().enumerate() {
        if table == 1 {
            spill.go_right(range.start);
            collectors.iter_mut().for_each(Collector::go_right);
        }
        let mut from = range.start;
        while from < range.end {
            let mut bytes = 0;
            let batch = (from..range.end).take_while(|&text| {
                bytes += texts.text(text).len();
                bytes <= most || text == from
            });
            let to = from + batch.count() as u32;
            // For a single text that is larger than a batch, the grams should not be held twice.
            if to == from + 1 && texts.text(from).len() > most {
                let mut state = (&mut collectors[0], &mut dictionary);
                let text = Document::Text(memory::copied(texts.text(from), "cutting a text into grams")?);
                executor::one(executor, &mut state, |(collector, dictionary), stop| {
                    collector.add_at_once(from, &text, dictionary, stop)
                })?;
            } else {
                collect(&mut collectors, texts, from..to, executor)?;
            }
            let pending: usize = collectors.iter().map(Collector::bytes).sum();
            peak_bytes = peak_bytes.max(pending + dictionary.bytes());
            number(&mut dictionary, &mut collectors, executor)?;
            from = to;
            let held = dictionary.bytes() + collectors.iter().map(Collector::bytes).sum::<usize>();
            let sets: usize = collectors.iter().map(|collector| collector.sets.bytes()).sum();
            peak_bytes = peak_bytes.max(held);
            // Ordering makes a copy of the sets that are in memory, and the dictionary has to stay
            // in memory.
            if held + sets > budget && sets > budget / 8 {
                spill.take(&mut collectors)?;
            }
        }
    }
    let grams = collectors.iter().map(|collector| collector.tokens).sum();
    let ordered = if spill.is_used() {
        spill.order(collectors, dictionary, budget, executor)?
    } else {
        order(collectors, dictionary, right_from, executor)?
    };
    let peak_bytes = peak_bytes.max(ordered.peak_bytes);
    Ok(GramSets { ordered, grams, peak_bytes })
}

/// Divides the texts into shares of about the same number of bytes, and lets each worker add one
/// share.
fn collect(
    collectors: &mut [Collector],
    texts: &Texts,
    range: Range<u32>,
    executor: &dyn Executor,
) -> Result<()> {
    let size = |text: u32| texts.text(text).len() + 1;
    let share = range.clone().map(size).sum::<usize>().div_ceil(collectors.len());
    let mut from = range.start;
    let mut shares = Vec::with_capacity(collectors.len());
    for collector in collectors {
        let mut filled = 0;
        let count = (from..range.end).take_while(|&text| {
            let fits = filled < share;
            filled += size(text);
            fits
        });
        let to = from + count.count() as u32;
        shares.push((collector, from..to));
        from = to;
    }
    debug_assert_eq!(from, range.end);
    executor::each(executor, &mut shares, |(collector, range), stop| {
        while let Some(text) = range.clone().next() {
            collector.add(
                text,
                &Document::Text(memory::copied(texts.text(text), "cutting a text into grams")?),
                stop,
            )?;
            range.start += 1;
        }
        Ok(())
    })
}
