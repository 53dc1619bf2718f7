//! A method in parts of which only documents of one group, or of different sources, are compared.
//!
//! The hash of a document's group is a part of each of its keys and tokens, so that documents of
//! different groups do not meet, and what is counted of keys is counted of those of a group. The
//! group and the source are carried before the document, and compared as they are: hashes may
//! collide.

use crate::error::Result;
use crate::executor::{self, Stop};
use crate::features::tokens::Document;
use crate::hash::{hash_bytes, mix};
use crate::joins::keys::Key;
use crate::memory;
use crate::methods::carrier::{Carrier, LeftOut, Meeting, Places, malformed};

const DOING: &str = "carrying a group";

/// Which documents are compared with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ComparedRows {
    /// Only those of one group.
    pub within: bool,
    /// Only those of different sources.
    pub across: bool,
}

/// A method in parts, and which documents it compares.
#[derive(Debug, Clone, Copy)]
pub struct Limited<'c> {
    /// The method.
    pub carrier: &'c dyn Carrier,
    /// The compared documents.
    pub rows: ComparedRows,
}

/// What is carried of a document.
struct InGroup<'b> {
    group: &'b [u8],
    source: &'b [u8],
    document: &'b [u8],
}

impl Limited<'_> {
    /// Reports whether a document of these places is compared with any other: one that has a group
    /// and a source.
    pub fn has_places(&self, places: Places<'_>) -> bool {
        (places.group.is_some() || !self.rows.within) && (places.source.is_some() || !self.rows.across)
    }

    /// Returns what the method itself carries of two documents, or `None` if they are not compared.
    pub fn documents<'b>(&self, [a, b]: [&'b [u8]; 2]) -> Result<Option<[&'b [u8]; 2]>> {
        let [a, b] = [self.read(a)?, self.read(b)?];
        let are_compared = a.group == b.group && !(self.rows.across && a.source == b.source);
        Ok(are_compared.then_some([a.document, b.document]))
    }

    /// Reads what is carried of a document. The group or the source is empty if it does not matter.
    fn read<'b>(&self, mut bytes: &'b [u8]) -> Result<InGroup<'b>> {
        // Nothing is carried of a document that is compared with none.
        let is_none = bytes.is_empty();
        let mut next = |is_there: bool| {
            if !is_there || is_none {
                return Ok(&[][..]);
            }
            let short = || malformed("its group is cut short");
            let (&length, rest) = bytes.split_first_chunk().ok_or_else(short)?;
            let (value, rest) =
                rest.split_at_checked(u32::from_le_bytes(length) as usize).ok_or_else(short)?;
            bytes = rest;
            Ok(value)
        };
        let (group, source) = (next(self.rows.within)?, next(self.rows.across)?);
        Ok(InGroup { group, source, document: bytes })
    }

    /// Returns a hash for each hash of a document of this group.
    fn salted(&self, group: &[u8]) -> impl Fn(u64) -> u64 + use<> {
        let salt = self.rows.within.then(|| hash_bytes(group));
        move |hash| salt.map_or(hash, |salt| mix(hash ^ salt))
    }
}

impl Carrier for Limited<'_> {
    fn carry(&self, document: &Document, places: Places<'_>, stop: &Stop) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if !self.has_places(places) {
            return Ok(bytes);
        }
        for (is_there, place) in [(self.rows.within, places.group), (self.rows.across, places.source)] {
            let Some(place) = place.filter(|_| is_there) else { continue };
            // A text of the server is shorter than 1 GB.
            memory::extend(&mut bytes, &(place.len() as u32).to_le_bytes(), DOING)?;
            memory::extend(&mut bytes, place.as_bytes(), DOING)?;
        }
        let carried = self.carrier.carry(document, places, stop)?;
        if bytes.is_empty() || carried.is_empty() {
            return Ok(carried);
        }
        memory::extend(&mut bytes, &carried, DOING)?;
        Ok(bytes)
    }

    fn meeting(&self) -> Meeting {
        self.carrier.meeting()
    }

    fn keys(&self, carried: &[u8], left_out: LeftOut<'_>, keys: &mut Vec<Key>, stop: &Stop) -> Result<()> {
        let InGroup { group, document, .. } = self.read(carried)?;
        let (from, salted) = (keys.len(), self.salted(group));
        self.carrier.keys(document, left_out, keys, stop)?;
        if self.rows.across && self.carrier.is_like_itself(document, stop)? {
            // Equal documents are no longer one record.
            memory::push(keys, Key::from_hash(mix(hash_bytes(document))), DOING)?;
        }
        keys[from..].iter_mut().for_each(|key| *key = key.with_hash(salted(key.hash())));
        Ok(())
    }

    fn weights(&self, carried: &[u8], weighted: &mut Vec<(u64, u32)>, stop: &Stop) -> Result<f64> {
        let InGroup { group, document, .. } = self.read(carried)?;
        let (least, salted) = (self.carrier.weights(document, weighted, stop)?, self.salted(group));
        weighted.iter_mut().for_each(|(hash, _)| *hash = salted(*hash));
        executor::sort_unstable_by(weighted, stop, &Ord::cmp)?;
        Ok(least)
    }

    fn set(&self, carried: &[u8], stop: &Stop) -> Result<Vec<u64>> {
        let InGroup { group, document, .. } = self.read(carried)?;
        let (mut set, salted) = (self.carrier.set(document, stop)?, self.salted(group));
        set.iter_mut().for_each(|hash| *hash = salted(*hash));
        executor::sort_unstable_by(&mut set, stop, &Ord::cmp)?;
        Ok(set)
    }

    fn counts(&self, having: u64, all: u64) -> bool {
        self.carrier.counts(having, all)
    }

    fn similarity(&self, pair: [&[u8]; 2], left_out: LeftOut<'_>, stop: &Stop) -> Result<Option<f64>> {
        match self.documents(pair)? {
            Some(documents) => self.carrier.similarity(documents, left_out, stop),
            None => Ok(None),
        }
    }

    fn is_like_itself(&self, carried: &[u8], stop: &Stop) -> Result<bool> {
        Ok(!self.rows.across && self.carrier.is_like_itself(self.read(carried)?.document, stop)?)
    }

    fn is_ordered(&self) -> bool {
        self.carrier.is_ordered()
    }

    fn takes_sites(&self) -> bool {
        self.carrier.takes_sites()
    }

    fn differs(&self) -> Option<&'static str> {
        self.carrier.differs()
    }
}
