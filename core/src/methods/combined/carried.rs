//! What methods carry of the documents that are in pairs of other methods.

use std::collections::HashMap;

use super::classes::DocumentClasses;
use crate::error::Result;
use crate::features::tokens::Document;
use crate::memory;
use crate::methods::carrier::{Carrier, Places};
use crate::methods::reading::Reading;
use crate::storage::blobs::Blobs;
use crate::storage::files::TempFiles;

const DOING: &str = "carrying documents for a combination";

/// What each method carries of one document of each class, if the method only looks at pairs.
pub(super) struct CarriedDocuments {
    /// For each method, the documents: the number of bytes, and the bytes.
    of: Vec<Blobs>,
    /// The place of each class among these.
    places: HashMap<u32, usize>,
}

/// What one thread has made of some documents.
#[derive(Default)]
struct CarryingThread {
    page: Document,
    done: Vec<(u32, Vec<Vec<u8>>)>,
}

impl CarriedDocuments {
    /// Reads the documents of the classes that `is_found` says.
    pub(super) fn read(
        reading: &mut Reading<'_>,
        carriers: &[Option<&dyn Carrier>],
        classes: &DocumentClasses,
        is_found: &[bool],
    ) -> Result<Self> {
        let looking: Vec<_> = carriers.iter().flatten().copied().collect();
        let budget = reading.memory / 4 / looking.len().max(1);
        let mut carried =
            Self { of: looking.iter().map(|_| Blobs::new(budget)).collect(), places: HashMap::new() };
        if looking.is_empty() {
            return Ok(carried);
        }
        let files = reading.files;
        let mut threads: Vec<CarryingThread> = Vec::new();
        threads.resize_with(reading.executor.count(), CarryingThread::default);
        reading.read(|batch| {
            batch.share_out(&mut threads, |thread, row, document, stop| {
                let Some(class) = classes.of_first(row).filter(|&class| is_found[class as usize]) else {
                    return Ok(());
                };
                let CarryingThread { page, done } = thread;
                let document = document.read(page, stop)?;
                let mut all = Vec::new();
                for carrier in &looking {
                    memory::push(&mut all, carrier.carry(document, Places::default(), stop)?, DOING)?;
                }
                memory::push(done, (class, all), DOING)
            })?;
            threads
                .iter_mut()
                .flat_map(|thread| thread.done.drain(..))
                .try_for_each(|(class, all)| carried.push(class, &all, files))?;
            Ok(carried.bytes())
        })?;
        Ok(carried)
    }

    fn push(&mut self, class: u32, all: &[Vec<u8>], files: &dyn TempFiles) -> Result<()> {
        let place = self.places.len();
        memory::insert(&mut self.places, class, place, DOING)?;
        let mut row = Vec::new();
        for (of, bytes) in self.of.iter_mut().zip(all) {
            row.clear();
            memory::extend(&mut row, &(bytes.len() as u64).to_ne_bytes(), DOING)?;
            memory::extend(&mut row, bytes, DOING)?;
            of.push(&row, files)?;
        }
        Ok(())
    }

    /// Returns what the methods carry of a class.
    pub(super) fn load(&mut self, class: u32) -> Result<Vec<Vec<u64>>> {
        let mut all = Vec::new();
        if let Some(&place) = self.places.get(&class) {
            for of in &mut self.of {
                let mut row = Vec::new();
                of.read(place, &mut row)?;
                memory::push(&mut all, row, DOING)?;
            }
        }
        Ok(all)
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        let places = self.places.capacity() * size_of::<(u32, usize)>();
        self.of.iter().map(Blobs::bytes).sum::<usize>() + places
    }
}

/// Returns what was carried of a document.
pub(super) fn content(row: &[u64]) -> &[u8] {
    match row.split_first() {
        Some((&length, rest)) => &bytemuck::cast_slice(rest)[..length as usize],
        None => &[],
    }
}
