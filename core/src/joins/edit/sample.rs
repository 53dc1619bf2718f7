//! Decides from a sample whether long texts have so many grams in common that their rarest grams
//! tell few of them apart. That is the case in languages written with an alphabet, and in pages of
//! one template.

use std::ops::Range;

use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::texts::Texts;
use crate::hash::mix;
use crate::memory;
use crate::verify::edit::GramBound;

const DOING: &str = "looking at a sample of texts";
/// The number of texts in a sample. With fewer long texts, comparing all their pairs is fast
/// anyway.
const TEXTS: usize = 64;
/// The maximum length of a sampled text.
const MOST_CHARACTERS: u32 = 1 << 14;
/// The cost of comparing a pair of profiles, given as a number of places where two texts share a
/// gram.
const PLACES_A_PAIR: u64 = 8;

/// Samples texts of all lengths that are at least `shortest`, the same number from each side.
/// Returns `None` if there are too few texts.
pub(super) fn sample(texts: &Texts, sides: &[Range<u32>], shortest: u32) -> Option<Vec<u32>> {
    let mut sample = Vec::new();
    for side in sides {
        let lengths = &texts.lengths()[side.start as usize..side.end as usize];
        let from = lengths.partition_point(|&length| length < shortest);
        let to = lengths.partition_point(|&length| length <= MOST_CHARACTERS);
        let (count, most) = (to.saturating_sub(from), TEXTS / sides.len());
        if count < most {
            return None;
        }
        sample.extend((0..most).map(|n| side.start + (from + n * count / most) as u32));
    }
    Some(sample)
}

/// Reports whether comparing the profiles of all pairs with compatible lengths is less work than
/// comparing the texts that share a rare gram. It considers texts of at least `shortest`
/// characters. `sides` has the range of texts of each table; the texts of a table are ordered by
/// length.
pub(super) fn meet_in_vain(
    texts: &Texts,
    sides: &[Range<u32>],
    bound: GramBound,
    shortest: u32,
    executor: &dyn Executor,
) -> Result<bool> {
    let Some(sample) = sample(texts, sides, shortest) else { return Ok(false) };
    let mut met = (0, 0);
    executor::one(executor, &mut met, |met, stop| {
        *met = meetings(texts, &sample, bound, stop)?;
        Ok(())
    })?;
    let (places, pairs) = met;
    Ok(places >= PLACES_A_PAIR * pairs)
}

/// Counts the places where pairs of a sample share one of their rarest grams, and the pairs with
/// compatible lengths.
fn meetings(texts: &Texts, sample: &[u32], bound: GramBound, stop: &Stop) -> Result<(u64, u64)> {
    let (mut all, mut ends) = (Vec::new(), Vec::new());
    for &text in sample {
        stop.check()?;
        let from = all.len();
        memory::reserve(&mut all, texts.length(text) as usize, DOING)?;
        let symbols = texts.text(text).chars().map(|symbol| u64::from(u32::from(symbol)));
        let mut before = None;
        for symbol in symbols {
            match bound.q() {
                1 => all.push(symbol),
                // The bound has grams of one character or of two.
                _ => all.extend(before.map(|before: u64| before << 32 | symbol)),
            }
            before = Some(symbol);
        }
        let own = &mut all[from..];
        own.sort_unstable();
        // Each occurrence is a separate gram.
        let (mut last, mut times) = (None, 0);
        for gram in own {
            times = if last == Some(*gram) { times + 1 } else { 0 };
            last = Some(*gram);
            *gram = mix(mix(*gram) + times);
        }
        ends.push(all.len());
    }
    let mut known = Vec::new();
    memory::extend(&mut known, &all, DOING)?;
    known.sort_unstable();
    stop.check()?;
    let having = |gram: u64| {
        let from = known.partition_point(|&other| other < gram);
        (from, known[from..].iter().take_while(|&&other| other == gram).count())
    };
    let mut in_prefix = memory::filled(0u64, known.len(), DOING)?;
    let mut from = 0;
    for end in ends {
        stop.check()?;
        let counted = all[from..end].iter().map(|&gram| having(gram)).map(|(place, count)| (count, place));
        let mut rarest = memory::collect(counted, DOING)?;
        rarest.sort_unstable();
        // A text has fewer than 2^32 grams.
        let size = rarest.len() as u32;
        let prefix = size - bound.least_overlap_from(size, 1).min(size) + 1;
        rarest.iter().take(prefix as usize).for_each(|&(_, place)| in_prefix[place] += 1);
        from = end;
    }
    let places = in_prefix.iter().map(|&count| count * count.saturating_sub(1) / 2).sum();
    let grams = |text: u32| texts.length(text) + 1 - bound.q();
    let go_together = |&(n, &a): &(usize, &u32)| {
        let others = sample[n + 1..].iter();
        others.filter(|&&b| bound.least_overlap(grams(a), grams(b)).is_some()).count() as u64
    };
    let pairs = sample.iter().enumerate().map(|pair| go_together(&pair)).sum();
    Ok((places, pairs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::PlainThreads;
    use crate::features::texts::{TextCollector, distinct};
    use crate::verify::edit::EditPredicate;

    /// Makes texts of `characters` distinct characters.
    fn texts(count: u64, characters: u64) -> Texts {
        let mut collector = TextCollector::default();
        for row in 0..count {
            let character = |n: u64| char::from_u32(0x4e00 + (mix(row << 20 | n) % characters) as u32);
            let text: String = (0..300 + row % 20).filter_map(character).collect();
            collector.add(row as u32, &text).unwrap();
        }
        distinct(vec![collector], None, &PlainThreads(1)).unwrap().texts
    }

    #[test]
    fn few_characters_meet_in_vain() {
        let decide = |count: u32, characters, sides: &[Range<u32>]| {
            let bound = GramBound::new(EditPredicate::new(0.8).unwrap());
            let texts = texts(count.into(), characters);
            meet_in_vain(&texts, sides, bound, 128, &PlainThreads(1)).unwrap()
        };
        assert!(decide(100, 20, std::slice::from_ref(&(0..100))));
        assert!(!decide(100, 5000, std::slice::from_ref(&(0..100))));
        // These texts are too few to cause much work.
        assert!(!decide(50, 20, std::slice::from_ref(&(0..50))));
        assert!(!decide(100, 20, &[0..90, 90..100]));
        assert!(decide(100, 20, &[0..50, 50..100]));
    }
}
