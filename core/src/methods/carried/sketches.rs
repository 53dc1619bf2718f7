//! Signatures: the signature of a document is carried, and its set if sets are compared. Documents
//! meet by the keys of the techniques that find candidates.
//!
//! The bytes are a 1 if the site is known, else a 0; the signature; and the set.

use super::words::{of_words, to_set, to_words};
use crate::error::Result;
use crate::executor::Stop;
use crate::features::hash_sets::shared;
use crate::features::tokens::Document;
use crate::hash::{hash_bytes, mix};
use crate::joins::keys::Key;
use crate::memory;
use crate::methods::carrier::{Carrier, LeftOut, Meeting, malformed};
use crate::methods::sketches::Sketches;
use crate::sketches::sign::Signer;
use crate::verify::overlap::TokenOverlap;

const DOING: &str = "carrying a signature";

/// The parts of carried bytes.
struct Signed {
    has_site: bool,
    signature: Vec<u64>,
    set: Vec<u64>,
}

impl Signed {
    fn read(bytes: &[u8], width: usize) -> Result<Self> {
        let short = || malformed("its signature is cut short");
        let (&has_site, rest) = bytes.split_first().ok_or_else(short)?;
        let (signature, set) = rest.split_at_checked(width * size_of::<u64>()).ok_or_else(short)?;
        Ok(Self { has_site: has_site == 1, signature: to_words(signature)?, set: to_set(set)? })
    }
}

impl Carrier for Sketches {
    fn carry(&self, document: &Document, site: Option<&str>, stop: &Stop) -> Result<Vec<u8>> {
        let (recipe, _) = self.combination.compile(self.sites)?;
        let mut signer = Signer::new(&recipe);
        let Some((signature, set)) = signer.sign_one(document, stop)? else { return Ok(Vec::new()) };
        let mut signature = signature.to_vec();
        if let (Some(site), true) = (site, recipe.site) {
            signature[recipe.site_at()] = hash_bytes(site.as_bytes());
        }
        let mut bytes = vec![u8::from(site.is_some())];
        memory::extend(&mut bytes, &of_words(&signature)?, DOING)?;
        memory::extend(&mut bytes, &of_words(set)?, DOING)?;
        Ok(bytes)
    }

    fn meeting(&self) -> Meeting {
        Meeting::Keys { most: None, filter: self.filter() }
    }

    fn keys(&self, carried: &[u8], _: LeftOut<'_>, keys: &mut Vec<Key>, _: &Stop) -> Result<()> {
        let (recipe, comparison) = self.combination.compile(self.sites)?;
        let signed = Signed::read(carried, recipe.width())?;
        for source in comparison.rule.sources(&comparison.techniques).unwrap_or_default() {
            let mut room = Ok(());
            comparison.techniques[source].each_key(&signed.signature, |key| {
                if room.is_ok() {
                    room = memory::push(keys, Key::from_hash(mix(key ^ mix(source as u64 + 1))), DOING);
                }
            });
            room?;
        }
        Ok(())
    }

    fn set(&self, carried: &[u8], _: &Stop) -> Result<Vec<u64>> {
        let (recipe, _) = self.combination.compile(self.sites)?;
        Ok(Signed::read(carried, recipe.width())?.set)
    }

    fn similarity(&self, pair: [&[u8]; 2], _: LeftOut<'_>, _: &Stop) -> Result<Option<f64>> {
        let (recipe, comparison) = self.combination.compile(self.sites)?;
        let [mut a, mut b] = [Signed::read(pair[0], recipe.width())?, Signed::read(pair[1], recipe.width())?];
        if recipe.site && !(a.has_site && b.has_site) {
            // An unknown site equals no other site.
            (a.signature[recipe.site_at()], b.signature[recipe.site_at()]) = (0, 1);
        }
        let of_sets = || TokenOverlap {
            // A document has at most `u32::MAX` tokens.
            left: a.set.len() as u32,
            right: b.set.len() as u32,
            shared: shared(&a.set, &b.set) as u32,
        };
        let (techniques, rule) = (&comparison.techniques, &comparison.rule);
        let sources = rule.sources(techniques).unwrap_or_default();
        let are_found =
            sources.iter().any(|&source| techniques[source].finds(&a.signature, &b.signature, None));
        Ok(are_found
            .then(|| rule.similarity(techniques, &a.signature, &b.signature, Some(&of_sets)))
            .flatten())
    }

    fn takes_sites(&self) -> bool {
        self.sites
    }
}
