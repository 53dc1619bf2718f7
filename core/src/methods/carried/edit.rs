//! Edit distance: the text is carried.
//!
//! With a threshold of the similarity, documents meet by the sets of their grams, as in the join on
//! one machine. If the distance alone decides, texts may be similar that have no gram in common, so
//! documents meet by pieces (Li, Deng, Wang, Feng: *Pass-Join*, PVLDB 2011): of d + 1 pieces of a
//! text, d edits leave one as it is, and move it by at most d characters. A text offers its pieces,
//! and texts that are not shorter look for them.

use super::words::{document_of, of_text, to_text, to_texts};
use crate::error::Result;
use crate::executor::Stop;
use crate::features::hash_sets::make_set;
use crate::features::tokens::{Document, FeatureSpec, Scratch, Tokenizer, for_each_token};
use crate::features::windows::RunHashes;
use crate::hash::mix;
use crate::joins::keys::Key;
use crate::memory;
use crate::methods::carrier::{Carrier, LeftOut, Meeting};
use crate::methods::edit::Edit;
use crate::verify::edit::{self, GramBound};
use crate::verify::levenshtein::Pattern;
use crate::verify::predicate::Predicate;

const DOING: &str = "cutting a text into pieces";

/// Returns the key of piece `n` of texts of `length` characters.
fn key(length: u32, n: u32, piece: u64) -> u64 {
    mix(piece ^ mix(u64::from(length) << 32 | u64::from(n)))
}

/// Returns where piece `n` of a text of `length` characters begins, of `count` pieces.
fn start(length: u32, n: u32, count: u32) -> u32 {
    (u64::from(length) * u64::from(n) / u64::from(count)) as u32
}

/// Adds the pieces of a text, and those that it looks for at this distance.
fn pieces(text: &str, distance: u32, keys: &mut Vec<Key>) -> Result<()> {
    let mut windows = RunHashes::default();
    windows.set(text)?;
    // No text of the server has more characters than 32 bits can count.
    let own = text.chars().count() as u32;
    let count = distance + 1;
    for length in own.saturating_sub(distance).max(1)..=own {
        // A text with fewer characters than pieces has an empty piece, which each text has.
        if length < count {
            let key = key(length, 0, 0);
            memory::push(keys, if length == own { Key::from_hash(key) } else { Key::looked_up(key) }, DOING)?;
            continue;
        }
        for n in 0..count {
            let from = start(length, n, count);
            let piece = start(length, n + 1, count) - from;
            if length == own {
                memory::push(keys, Key::offered(key(length, n, windows.hash(from, piece))), DOING)?;
            }
            for at in from.saturating_sub(distance)..=(from + distance).min(own - piece) {
                memory::push(keys, Key::looked_up(key(length, n, windows.hash(at, piece))), DOING)?;
            }
        }
    }
    Ok(())
}

impl Carrier for Edit {
    fn carry(&self, document: &Document, _: Option<&str>, _: &Stop) -> Result<Vec<u8>> {
        of_text(document)
    }

    fn meeting(&self) -> Meeting {
        match self.predicate.distance_alone() {
            None => Meeting::Sets(Predicate::Grams(GramBound::new(self.predicate))),
            Some(_) => Meeting::Keys { most: None, filter: None },
        }
    }

    fn keys(&self, carried: &[u8], _: LeftOut<'_>, keys: &mut Vec<Key>, _: &Stop) -> Result<()> {
        match self.predicate.distance_alone() {
            None => Ok(()),
            Some(distance) => pieces(to_text(carried)?, distance, keys),
        }
    }

    fn set(&self, carried: &[u8], stop: &Stop) -> Result<Vec<u64>> {
        let shingle = GramBound::new(self.predicate).q() as usize;
        let spec = FeatureSpec { tokenizer: Tokenizer::RawChars, shingle, multiset: true, wrap: false };
        let document = document_of(to_text(carried)?)?;
        let mut grams = Vec::new();
        for_each_token(&document, &spec, &mut Scratch::default(), stop, |token| {
            memory::push(&mut grams, token.hash(), DOING)
        })?;
        make_set(&mut grams, true, stop)?;
        Ok(grams)
    }

    fn similarity(&self, pair: [&[u8]; 2], _: LeftOut<'_>, stop: &Stop) -> Result<Option<f64>> {
        let [a, b] = to_texts(pair)?;
        let [x, y] = [a, b].map(|text| text.chars().count() as u32);
        let longer = x.max(y);
        let most = self.predicate.most_distance(longer);
        if a == b {
            return Ok((longer > 0 && self.predicate.passes(0, longer)).then_some(1.0));
        }
        if x.abs_diff(y) > most {
            return Ok(None);
        }
        let mut pattern = Pattern::default();
        pattern.set(a)?;
        let distance = pattern.distance(b, y, most, most / 4, stop)?;
        let passing = distance.filter(|&distance| self.predicate.passes(distance, longer));
        Ok(passing.map(|distance| edit::similarity(distance, longer)))
    }
}
