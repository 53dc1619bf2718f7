//! The description by which a combination is made in parts: what each method carries of a document
//! is carried, after a 1 and the hash of the site, or a 0 if the site is not known. Documents meet
//! as those methods say that find candidates.

use super::Combined;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::tokens::Document;
use crate::hash::hash_bytes;
use crate::joins::keys::Key;
use crate::memory;
use crate::methods::carrier::{Carrier, LeftOut, Meeting, Places, malformed};

const DOING: &str = "carrying a document for a combination";

/// The parts of carried bytes.
struct CarriedOfAll<'c> {
    /// The hash of the site, if it is known.
    site: Option<u64>,
    /// What each method carries.
    of: Vec<&'c [u8]>,
}

impl<'c> CarriedOfAll<'c> {
    fn read(carried: &'c [u8], count: usize) -> Result<Self> {
        let short = || malformed("what methods carry is cut short");
        let (&[has_site], rest) = carried.split_first_chunk().ok_or_else(short)?;
        let (&site, mut rest) = rest.split_first_chunk().ok_or_else(short)?;
        let mut of = Vec::new();
        for _ in 0..count {
            let (&length, after) = rest.split_first_chunk().ok_or_else(short)?;
            let length = usize::try_from(u64::from_le_bytes(length)).map_err(|_| short())?;
            let (own, after) = after.split_at_checked(length).ok_or_else(short)?;
            memory::push(&mut of, own, DOING)?;
            rest = after;
        }
        Ok(Self { site: (has_site == 1).then(|| u64::from_le_bytes(site)), of })
    }
}

impl Carrier for Combined {
    fn carry(&self, document: &Document, places: Places<'_>, stop: &Stop) -> Result<Vec<u8>> {
        let mut page = Document::default();
        let document = document.read(&mut page, stop)?;
        let mut bytes = vec![u8::from(places.site.is_some())];
        let hash = places.site.map_or(0, |site| hash_bytes(site.as_bytes()));
        memory::extend(&mut bytes, &hash.to_le_bytes(), DOING)?;
        let mut has_some = false;
        for carrier in self.carriers() {
            let own = carrier.carry(document, places, stop)?;
            has_some |= !own.is_empty();
            memory::extend(&mut bytes, &(own.len() as u64).to_le_bytes(), DOING)?;
            memory::extend(&mut bytes, &own, DOING)?;
        }
        Ok(if has_some { bytes } else { Vec::new() })
    }

    fn set_site(&self, carried: &mut [u8], site: u32) -> Result<()> {
        if let Some((has_site, rest)) = carried.split_first_mut()
            && let Some(hash) = rest.first_chunk_mut()
        {
            (*has_site, *hash) = (1, u64::from(site).to_le_bytes());
        }
        Ok(())
    }

    fn meeting(&self) -> Meeting {
        let finders = self.finders_in_parts().unwrap_or_default();
        let mut of_finders = self.carriers().enumerate().filter(|(n, _)| finders.contains(n));
        match (&finders[..], of_finders.next()) {
            (&[_], Some((_, carrier))) => carrier.meeting(),
            // Several methods meet by keys, and only one kind of keys is limited.
            _ => {
                let most = self.carriers().find_map(|carrier| match carrier.meeting() {
                    Meeting::Keys { most, .. } => most,
                    _ => None,
                });
                Meeting::Keys { most, filter: None }
            }
        }
    }

    fn keys(&self, carried: &[u8], left_out: LeftOut<'_>, keys: &mut Vec<Key>, stop: &Stop) -> Result<()> {
        let finders = self.finders_in_parts().unwrap_or_default();
        let carried = CarriedOfAll::read(carried, self.methods.len())?;
        for (n, carrier) in self.carriers().enumerate() {
            if finders.contains(&n) && !carried.of[n].is_empty() {
                let from = keys.len();
                carrier.keys(carried.of[n], left_out, keys, stop)?;
                if finders.len() > 1 {
                    keys[from..].iter_mut().for_each(|key| *key = key.of_kind(n as u64));
                }
            }
        }
        Ok(())
    }

    fn weights(&self, carried: &[u8], weighted: &mut Vec<(u64, u32)>, stop: &Stop) -> Result<f64> {
        weighted.clear();
        match self.only_finder(carried)? {
            Some((carrier, own)) => carrier.weights(own, weighted, stop),
            None => Ok(0.0),
        }
    }

    fn set(&self, carried: &[u8], stop: &Stop) -> Result<Vec<u64>> {
        self.only_finder(carried)?.map_or(Ok(Vec::new()), |(carrier, own)| carrier.set(own, stop))
    }

    fn similarity(&self, pair: [&[u8]; 2], left_out: LeftOut<'_>, stop: &Stop) -> Result<Option<f64>> {
        let count = self.methods.len();
        let [a, b] = [CarriedOfAll::read(pair[0], count)?, CarriedOfAll::read(pair[1], count)?];
        let carriers: Vec<&dyn Carrier> = self.carriers().collect();
        let says = |n: usize| {
            let own = [a.of[n], b.of[n]];
            if own.iter().any(|own| own.is_empty()) {
                return Ok(None);
            }
            carriers[n].similarity(own, left_out, stop)
        };
        self.rule.try_decide(&says, &|_| a.site.is_some() && a.site == b.site)
    }

    fn is_ordered(&self) -> bool {
        self.carriers().any(Carrier::is_ordered)
    }

    fn takes_sites(&self) -> bool {
        self.rule.site_at().is_some()
    }

    fn overflows(&self) -> bool {
        let is_unlimited = |carrier: &dyn Carrier| carrier.buckets().is_none_or(|rules| rules.most.is_none());
        let has_no_rules = |carrier: &dyn Carrier| carrier.stop_rules().is_none() && is_unlimited(carrier);
        self.carriers().all(|carrier| carrier.overflows() && has_no_rules(carrier))
    }

    fn differs(&self) -> Option<&'static str> {
        self.carriers().find_map(Carrier::differs)
    }
}

impl Combined {
    /// Returns the method by which documents meet, if it is one, and what it carries.
    fn only_finder<'c>(&self, carried: &'c [u8]) -> Result<Option<(&dyn Carrier, &'c [u8])>> {
        let finders = self.finders_in_parts().unwrap_or_default();
        let &[n] = &finders[..] else { return Ok(None) };
        let carried = CarriedOfAll::read(carried, self.methods.len())?;
        let found = self.carriers().nth(n).map(|carrier| (carrier, carried.of[n]));
        Ok(found.filter(|(_, own)| !own.is_empty()))
    }
}
