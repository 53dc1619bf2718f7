//! Reading functions that several methods share: documents as token sets, as texts, or cut into
//! units.

use super::reading::Reading;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::FeatureSpec;
use crate::features::dictionary::Dictionary;
use crate::features::sets::builder::SetBuilder;
use crate::features::sets::collect::Collector;
use crate::features::texts::TextCollector;
use crate::features::tokens::Document;
use crate::features::units::sets::{DocumentUnit, Gathering, UnitReader};
use crate::features::units::signatures::{Features, Maker};
use crate::features::units::text_store::TextStore;
use crate::storage::log::Log;

/// A function that brings a text into the form in which texts are compared.
pub type TextForm<'f> = dyn Fn(&str, &Stop) -> Result<String> + Sync + 'f;

impl<'a> Reading<'a> {
    /// Reads all documents, builds their sets, and records them in the account. If `files`, sets
    /// are moved to temporary files when they do not all fit in memory.
    pub fn read_sets(&mut self, spec: FeatureSpec, files: bool) -> Result<SetBuilder<'a>> {
        let memory = self.memory;
        let mut builder = SetBuilder::new(spec, self.executor.count()).within(memory);
        if files {
            builder = builder.with_files(self.files);
        }
        let is_small = self.is_small;
        if is_small {
            builder = builder.small();
        }
        // Most words are already known to the worker that reads them, so each word takes a few
        // bytes, as does a hash that needs no number. Others take 48 bytes each.
        if spec.shingle == 1 || (files && spec.hashes_texts()) {
            self.batch_bytes = 16 << 20;
        }
        let long = builder.long;
        self.read(|batch| {
            if let Some(from) = batch.begins_right() {
                builder.go_right(from);
            }
            let mut pending = 0;
            if is_small {
                let add = |(collector, dictionary): &mut (&mut Collector, &mut Dictionary),
                           row,
                           document: &Document,
                           stop: &Stop| {
                    collector.add_at_once(row, document, dictionary, stop)
                };
                batch.share_out(&mut [builder.alone(batch.bytes())?], add)?;
            } else {
                batch.share_out_to(long, &mut builder.collectors, |collector, row, document, stop| {
                    collector.add(row, document, stop)
                })?;
                pending = builder.number(batch.executor)?;
                batch.each_long(long, |row, document| builder.add_long(row, document, batch.executor))?;
            }
            Ok(builder.spill(batch.held, memory)?.max(pending))
        })?;
        self.account.skipped_empty = builder.empty();
        self.account.tokens = builder.tokens();
        Ok(builder)
    }

    /// Reads all documents and keeps their texts, or what `form` makes of them, for
    /// `features::texts::distinct_in`. If `files`, all texts are in a temporary file if they would
    /// take more than half of the memory.
    pub fn read_texts(
        &mut self,
        files: bool,
        form: Option<&TextForm<'_>>,
    ) -> Result<(Vec<TextCollector>, Log<u8>)> {
        let new = |_| (TextCollector::default(), Document::default());
        let mut collectors: Vec<_> = (0..self.executor.count()).map(new).collect();
        let mut file = Log::default();
        let (store, enough) = (self.files, self.memory / 2);
        self.read(|batch| {
            batch.share_out(&mut collectors, |(texts, page), row, document, stop| {
                let Document::Text(text) = document.read(page, stop)? else { return Ok(()) };
                match form {
                    Some(form) => texts.add(row, &form(text, stop)?),
                    None => texts.add(row, text),
                }
            })?;
            let held = collectors.iter().map(|(texts, _)| texts.bytes()).sum();
            let of_texts: usize = collectors.iter().map(|(texts, _)| texts.text_bytes()).sum();
            // What is known of the texts stays in memory, so few texts may be in memory with it.
            if files && held + batch.held > enough && of_texts > enough / 4 {
                collectors.iter_mut().try_for_each(|(texts, _)| texts.spill(&mut file, store))?;
            }
            Ok(held)
        })?;
        let mut texts: Vec<_> = collectors.into_iter().map(|(texts, _)| texts).collect();
        self.account.skipped_empty = texts.iter().map(|texts| texts.empty).sum();
        if file.is_in_file() {
            texts.iter_mut().try_for_each(|texts| texts.spill(&mut file, store))?;
        }
        Ok((texts, file))
    }

    /// Reads all documents and keeps their texts, cut into units. Also returns the maker of the
    /// units' signatures. The texts are in memory or, if they would take more than half of it, in a
    /// temporary file.
    pub fn read_units(&mut self, unit: DocumentUnit, features: &Features) -> Result<(TextStore, Maker)> {
        let mut gathering = Gathering::new(unit, features, self.files, self.executor);
        let budget = self.memory / 2;
        self.read(|batch| {
            batch.share_out(&mut gathering.readers, UnitReader::add)?;
            let add_long = |words: &mut SetBuilder<'_>| {
                batch.each_long(SetBuilder::LONG, |row, document| {
                    words.add_long(row, document, batch.executor)
                })
            };
            gathering.settle(add_long, budget, batch.executor)
        })?;
        let (library, maker, empty) = gathering.finish(features, self.texts(), self.executor)?;
        self.account.skipped_empty = empty;
        self.held(library.bytes());
        Ok((library, maker))
    }
}
