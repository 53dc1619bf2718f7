//! The rows of a set that are sent to parts: one for each part into which tokens of its prefix
//! fall.
//!
//! The encoded tokens of a row begin with the version of this format and, from version 2 on, with
//! [`earlier`] marks. For each token, its hash follows in 8 bytes, little-endian, and then the
//! distance of its place in the set's order from the place of the row's previous token. For the
//! first token, the distance is its place, counted from 0. Distances are written in groups of 7
//! bits, lowest first; all groups but the last have bit 7 set.

use super::bitmaps;
use super::earlier::{self, Earlier};
use super::ranks::TokenRanks;
use crate::error::{Error, Result};
use crate::executor::{self, Stop};
use crate::hash;
use crate::joins::sets::bounds::{Bounds, PairSide};
use crate::leb128;
use crate::memory;

/// The name of the value, for error messages.
pub(super) const NAME: &str = "prefix";
const DOING: &str = "grouping tokens";
const HASH: usize = size_of::<u64>();
/// The number of ranks that are looked up at a time.
const TOGETHER: usize = 16;

/// The greatest number of parts of a join.
pub const MOST_PARTS: i64 = 1 << 20;

/// Checks a number of parts that a user gave.
pub fn check_parts(parts: i64) -> Result<u32> {
    let allowed = "between 1 and 1048576";
    match u32::try_from(parts) {
        Ok(number) if (1..=MOST_PARTS).contains(&parts) => Ok(number),
        _ => Err(Error::Parameter { name: "parts", value: parts.to_string(), allowed }),
    }
}

/// Returns the part into which a token falls.
fn part_of(token: u64, parts: u32) -> u32 {
    // The lower bits of the hash are used by the bitmap.
    earlier::part(hash::mix(token), parts)
}

/// The rows of a set.
#[derive(Debug, Default)]
pub struct RowGroups {
    /// The number of tokens of the set.
    pub size: u32,
    /// The bitmap of the set.
    pub bitmap: Vec<u8>,
    /// The parts, in ascending order, and their tokens.
    pub parts: Vec<(u32, Vec<u8>)>,
}

/// Returns the rows of a set of hashes of tokens, ascending. There are no rows if no other set can
/// be similar. O(n · log n) for n tokens.
pub fn groups(
    set: &[u64],
    ranks: &TokenRanks<'_>,
    bounds: &Bounds,
    parts: u32,
    stop: &Stop,
) -> Result<RowGroups> {
    // A document has at most `u32::MAX` tokens.
    let size = set.len() as u32;
    let mut order: Vec<(u32, u64)> = Vec::new();
    memory::reserve(&mut order, set.len(), DOING)?;
    for hashes in set.chunks(TOGETHER) {
        stop.check_every(order.len(), 1 << 12)?;
        // The last lookup of a set is padded with zeros.
        let mut some = [0; TOGETHER];
        some[..hashes.len()].copy_from_slice(hashes);
        order.extend(ranks.of_each(some).into_iter().zip(hashes.iter().copied()));
    }
    // Partners may be smaller or larger.
    let prefix = bounds.whole_prefix(size) as usize;
    if prefix == 0 {
        return Ok(RowGroups::default());
    }
    if prefix < order.len() {
        order.select_nth_unstable(prefix);
        order.truncate(prefix);
    }
    executor::sort_unstable_by(&mut order, stop, &Ord::cmp)?;
    let tokens = order.iter().zip(0..).map(|(&(_, token), place)| (part_of(token, parts), place, token));
    let mut tokens: Vec<(u32, u32, u64)> = memory::collect(tokens, DOING)?;
    executor::sort_unstable_by(&mut tokens, stop, &Ord::cmp)?;
    let bitmap = bitmaps::encode(set.iter().copied(), bitmaps::words(bounds, size))?;
    let mut rows = RowGroups { size, bitmap, parts: Vec::new() };
    // The part of a token finds a pair by it only if it is in the index, as the engine has it.
    let indexed = bounds.prefix(PairSide::Left, size, size);
    let mut passed = Earlier::default();
    for tokens in tokens.chunk_by(|a, b| a.0 == b.0) {
        stop.check()?;
        let mut bytes = Vec::new();
        memory::reserve(&mut bytes, earlier::MOST_BYTES + tokens.len() * (HASH + 1), DOING)?;
        passed.begin_row(&mut bytes);
        let indexed = tokens.iter().filter(|&&(_, place, _)| place < indexed);
        passed.add(indexed.map(|&(_, _, token)| hash::mix(token)));
        let mut before = 0;
        for &(_, place, token) in tokens {
            memory::extend(&mut bytes, &token.to_le_bytes(), DOING)?;
            leb128::write((place - before).into(), &mut bytes, DOING)?;
            before = place;
        }
        memory::push(&mut rows.parts, (tokens[0].0, bytes), DOING)?;
    }
    Ok(rows)
}

/// Calls `each` with each token of a row and its place. The places are in ascending order and below
/// `size`, the number of tokens of the set. Fails for malformed bytes.
pub fn for_each_token(bytes: &[u8], size: u32, mut each: impl FnMut(u64, u32) -> Result<()>) -> Result<()> {
    let bad = |why: String| Error::Malformed { what: NAME, why };
    let cut = || bad("it is cut short".to_owned());
    let (_, mut rest) = earlier::split(bytes, NAME)?;
    let mut before: Option<u64> = None;
    while !rest.is_empty() {
        let (token, after) = rest.split_first_chunk::<HASH>().ok_or_else(cut)?;
        rest = after;
        let behind = leb128::take(&mut rest).ok_or_else(cut)?;
        let place = match before {
            None => behind,
            Some(before) if behind > 0 => before.saturating_add(behind),
            Some(_) => return Err(bad("two tokens have one place".to_owned())),
        };
        let place_below = u32::try_from(place).ok().filter(|&place| place < size);
        let place_below = place_below.ok_or_else(|| bad(format!("a token has place {place} of {size}")))?;
        each(u64::from_le_bytes(*token), place_below)?;
        before = Some(place);
    }
    Ok(())
}
