//! Turns the sentence signatures of texts into lists of documents, without stop signatures (Huang
//! et al., TLCS (CIKM 2008), section 3.2; docs/design/algorithms.md section 5).
//!
//! Pairs of signature and document are sorted, in temporary files if they do not fit in memory. The
//! result is the lists that have two or more documents. A text without its white space counts as
//! one more signature, which no rule drops, so texts that differ only in white space are always
//! candidates.

use std::ops::Range;

use super::lister::{ListMaker, RowSites, SignedDocument, StopRules, Verdict, WHOLE};
use super::signature_lists::{DOING, SignatureLists};
use super::text_measure::TextMeasure;
use super::trials::{Trials, TriedSignature};
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::texts::Distinct;
use crate::hash;
use crate::memory;
use crate::sketches::sentence::{SentenceSigner, SignatureParameters};
use crate::storage::files::TempFiles;
use crate::storage::log::Log;
use crate::storage::sort::{Groups, Sorter};
use crate::text::characters::runs;

/// The number of entries that are processed between two checks for interrupts.
const CHECK_EVERY: usize = 1 << 14;

/// The construction of lists, in progress.
pub struct Signing<'a> {
    distinct: &'a Distinct,
    /// The file of the texts, and the texts in the order in which it has them.
    texts: (&'a mut Log<u8>, Vec<u32>),
    budget: usize,
    parameters: SignatureParameters,
    lister: ListMaker<'a>,
    trials: Trials<'a>,
    files: &'a dyn TempFiles,
    /// The entries so far, and the number of those in lists.
    entries: Sorter<'a, SignedDocument>,
    listed: u64,
    /// The entries in order, once all texts are signed, and their number.
    sorted: Option<(Groups<SignedDocument>, u64)>,
    /// The number of texts that are signed.
    next_text: u32,
    peak_bytes: usize,
    lists: SignatureLists,
}

impl<'a> Signing<'a> {
    /// Prepares the construction. Pairs are compared by `measure`. Entries take about `budget`
    /// bytes at a time.
    pub fn new(
        (distinct, file): (&'a Distinct, &'a mut Log<u8>),
        parameters: SignatureParameters,
        (rules, sites): (StopRules, RowSites<'a>),
        measure: TextMeasure,
        files: &'a dyn TempFiles,
        budget: usize,
    ) -> Result<Self> {
        parameters.check()?;
        let texts = distinct.texts.len();
        let lists = SignatureLists::new(texts)?;
        let mut order = Vec::new();
        if distinct.texts.are_in_file() {
            // Text numbers have 32 bits.
            order = memory::collect(0..texts as u32, DOING)?;
            order.sort_unstable_by_key(|&text| distinct.texts.start(text));
        }
        Ok(Self {
            distinct,
            texts: (file, order),
            budget,
            parameters,
            lister: ListMaker::new(distinct, rules, sites)?,
            trials: Trials::new(distinct, measure),
            files,
            entries: Sorter::new(files, budget / 2),
            listed: 0,
            sorted: None,
            next_text: 0,
            peak_bytes: 0,
            lists,
        })
    }

    /// Computes the signatures of some more texts, or builds the lists of some more signatures.
    /// Returns false when all is done.
    pub fn step(&mut self, executor: &dyn Executor) -> Result<bool> {
        if (self.next_text as usize) < self.distinct.texts.len() {
            self.sign(executor)?;
            return Ok(true);
        }
        self.list(executor)
    }

    /// Returns the share of the work that is done, 0 to 1.
    pub fn progress(&self) -> f64 {
        let texts = f64::from(self.next_text) / self.distinct.texts.len().max(1) as f64;
        let all = self.sorted.as_ref().map_or(1, |&(_, all)| all.max(1));
        0.9 * texts + 0.1 * self.listed as f64 / all as f64
    }

    /// Finishes the work and returns the lists and the greatest number of bytes that were held at
    /// one time.
    pub fn finish(mut self, executor: &dyn Executor) -> Result<(SignatureLists, usize)> {
        while self.step(executor)? {}
        let Self { mut lists, peak_bytes, .. } = self;
        executor::one(executor, &mut lists, |lists, stop| lists.turn(stop))?;
        Ok((lists, peak_bytes))
    }

    fn sign(&mut self, executor: &dyn Executor) -> Result<()> {
        /// The number of texts in a unit of work, and the number of bytes of texts in a step.
        const TEXTS: u32 = 256;
        const BYTES: usize = 8 << 20;
        let enough = BYTES.min(self.budget / 4);
        let texts = &self.distinct.texts;
        let (file, order) = &mut self.texts;
        let order = &*order;
        let number = |n: u32| order.get(n as usize).copied().unwrap_or(n);
        let mut units: Vec<UnsignedTexts> = Vec::new();
        let mut bytes = 0;
        let mut from = self.next_text;
        while (from as usize) < texts.len() && (bytes < enough || units.is_empty()) {
            let mut to = from;
            let mut own = 0;
            while (to as usize) < texts.len() && to - from < TEXTS && (own < enough / 32 || to == from) {
                own += texts.size(number(to));
                to += 1;
            }
            bytes += own;
            units.push(UnsignedTexts { texts: from..to, entries: Vec::new(), unsigned: 0 });
            from = to;
        }
        let mut wanted = Vec::new();
        if texts.are_in_file() {
            memory::extend(&mut wanted, &order[self.next_text as usize..from as usize], DOING)?;
        }
        let open = texts.open(&mut wanted, file)?;
        let (parameters, lister) = (self.parameters, &self.lister);
        executor::each(executor, &mut units, |unit, stop| {
            let mut signatures = SentenceSigner::new(parameters)?;
            let mut words = String::new();
            while let Some(n) = unit.texts.clone().next() {
                let number = number(n);
                let text = open.text(number);
                let own = signatures.signatures(text, stop)?;
                memory::reserve(&mut unit.entries, own.len() + 1, DOING)?;
                for &signature in own {
                    let hashed = hash::mix((signature >> 64) as u64 ^ hash::mix(signature as u64));
                    unit.entries.push([hashed, number.into()]);
                }
                let has_none = own.is_empty();
                if let Some(whole) = whole_text(text, &mut words)? {
                    unit.entries.push([whole, u64::from(number) | WHOLE]);
                    unit.unsigned += if has_none { lister.rows(number).len() as u64 } else { 0 };
                }
                unit.texts.start += 1;
            }
            Ok(())
        })?;
        drop(open);
        for unit in units {
            self.lists.unsigned += unit.unsigned;
            unit.entries.into_iter().try_for_each(|entry| self.entries.push(entry, executor))?;
        }
        self.next_text = from;
        self.peak_bytes = self.peak_bytes.max(self.entries.bytes());
        Ok(())
    }

    /// Builds the lists of some more signatures. Returns false if there are no more.
    fn list(&mut self, executor: &dyn Executor) -> Result<bool> {
        let (groups, _) = match &mut self.sorted {
            Some(sorted) => sorted,
            none => {
                let entries = std::mem::replace(&mut self.entries, Sorter::new(self.files, 0));
                let count = entries.len();
                none.insert((Groups::new(entries.sorted(executor)?, executor)?, count))
            }
        };
        // The number of entries whose signatures are decided on at one time.
        let most = (self.budget / 4 / size_of::<SignedDocument>()).max(1 << 12);
        let (mut part, mut own) = (Vec::new(), Vec::new());
        while part.len() < most && groups.next(&mut own, |entry| entry[0], |_, _| false, executor)? {
            memory::extend(&mut part, &own, DOING)?;
        }
        if part.is_empty() {
            return Ok(false);
        }
        self.listed += part.len() as u64;
        self.peak_bytes = self.peak_bytes.max(groups.bytes() + memory::bytes(&part) + self.lists.bytes());
        let lister = &self.lister;
        // The verdicts are known before the lists are built. Most signatures are kept without a
        // trial.
        let mut looked_at = (Vec::new(), 0);
        executor::one(executor, &mut looked_at, |(frequent, at), stop| {
            for_each_signature(&part, at, stop, |entries, own| match lister.verdict(own)? {
                Verdict::Kept => Ok(()),
                verdict => memory::push(frequent, TriedSignature::new(entries, verdict), DOING),
            })
        })?;
        let mut frequent = looked_at.0;
        self.trials.hold(&part, &mut frequent, self.texts.0, self.budget / 4, executor)?;
        let mut state = (std::mem::take(&mut self.lists), 0);
        let done = executor::one(executor, &mut state, |(lists, at), stop| {
            for_each_signature(&part, at, stop, |entries, own| {
                let found = frequent.binary_search_by_key(&entries.start, |frequent| frequent.entries.start);
                let dropped = found.is_ok_and(|n| frequent[n].verdict == Verdict::Dropped);
                lister.add(own, dropped, lists)
            })
        });
        self.lists = state.0;
        done.map(|()| true)
    }
}

/// Calls `each` with the range of the entries of every signature from `at` on and with these
/// entries, and advances `at` past them.
fn for_each_signature(
    all: &[SignedDocument],
    at: &mut usize,
    stop: &Stop,
    mut each: impl FnMut(Range<usize>, &[SignedDocument]) -> Result<()>,
) -> Result<()> {
    let mut looked = 0;
    while let Some(&[key, _]) = all.get(*at) {
        if looked >= CHECK_EVERY {
            stop.check()?;
            looked = 0;
        }
        let run = all[*at..].iter().take_while(|entry| entry[0] == key).count();
        each(*at..*at + run, &all[*at..*at + run])?;
        *at += run;
        looked += run;
    }
    Ok(())
}

/// The texts of a unit of work that are still to be signed, in the order in which they are signed,
/// and the entries made so far.
struct UnsignedTexts {
    texts: Range<u32>,
    entries: Vec<SignedDocument>,
    /// The number of rows whose texts have no signature.
    unsigned: u64,
}

/// Reports whether a text is ASCII and its only white space is single spaces between words, so that
/// it equals its joined words. Most texts are like this.
fn is_joined(text: &str) -> bool {
    const BLOCK: usize = 64;
    let bytes = text.as_bytes();
    let (Some((&first, rest)), Some(last)) = (bytes.split_first(), bytes.last()) else { return false };
    // Computed with integers so that compilers can vectorize it.
    let odd = |before: u8, byte: u8| {
        (byte & 0x80) | u8::from(byte.wrapping_sub(b'\t') < 5) | u8::from((byte == b' ') & (before == b' '))
    };
    let blocks = bytes.chunks(BLOCK).zip(rest.chunks(BLOCK));
    let is_odd = |(before, own): (&[u8], &[u8])| {
        before.iter().zip(own).fold(0, |any, (&before, &byte)| any | odd(before, byte)) != 0
    };
    odd(b' ', first) == 0 && *last != b' ' && !blocks.into_iter().any(is_odd)
}

/// Returns the hash of a text's words joined by single spaces, or `None` if the text is only white
/// space.
pub fn whole_text(text: &str, words: &mut String) -> Result<Option<u64>> {
    if is_joined(text) {
        return Ok(Some(hash::hash_bytes(text.as_bytes())));
    }
    words.clear();
    memory::reserve_text(words, text.len(), DOING)?;
    runs(text).for_each(|word| {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    });
    Ok((!words.is_empty()).then(|| hash::hash_bytes(words.as_bytes())))
}
