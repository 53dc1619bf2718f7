//! The rows of parts in pieces: many rows of one part as one value, because a database spends more
//! on a row than on its bytes.
//!
//! A piece begins with the number of its part in 3 bytes, big-endian, and with the version of this
//! format. Then follows each row: the distance of its id from that of the row before, modulo 2⁶⁴,
//! the size of its set, the number of bytes of its bitmap, and the number of bytes of its tokens or
//! keys, all in LEB128, and then these bytes.

use std::collections::BTreeMap;

use super::groups::RowGroups;
use crate::error::{Error, Result, check_version};
use crate::leb128;
use crate::memory;

/// The name of the value, for error messages.
const NAME: &str = "packed rows";
const VERSION: u8 = 1;
const DOING: &str = "packing rows of parts";
/// The number of bytes from which on a piece is complete. PostgreSQL stores values of up to 2 kB in
/// the row itself, whatever the table says.
const ENOUGH: usize = 1800;

/// A piece that grows.
#[derive(Debug, Default)]
struct GrowingPiece {
    bytes: Vec<u8>,
    /// The id of the last row.
    last: u64,
}

/// Rows of parts, which become pieces.
#[derive(Debug, Default)]
pub struct Packer {
    done: Vec<Vec<u8>>,
    open: BTreeMap<u32, GrowingPiece>,
}

impl Packer {
    /// Adds the rows of a set. O(bytes).
    pub fn add(&mut self, id: u64, groups: &RowGroups) -> Result<()> {
        for (part, shared) in &groups.parts {
            let piece = self.open.entry(*part).or_default();
            let bytes = &mut piece.bytes;
            if bytes.is_empty() {
                memory::extend(bytes, &part.to_be_bytes()[1..], DOING)?;
                memory::push(bytes, VERSION, DOING)?;
                piece.last = 0;
            }
            let lengths = [groups.bitmap.len() as u64, shared.len() as u64];
            for number in [id.wrapping_sub(piece.last), groups.size.into()].into_iter().chain(lengths) {
                leb128::write(number, bytes, DOING)?;
            }
            memory::extend(bytes, &groups.bitmap, DOING)?;
            memory::extend(bytes, shared, DOING)?;
            piece.last = id;
            if bytes.len() >= ENOUGH {
                memory::push(&mut self.done, std::mem::take(bytes), DOING)?;
            }
        }
        Ok(())
    }

    /// Returns the pieces.
    pub fn pieces(self) -> Result<Vec<Vec<u8>>> {
        let Self { mut done, open } = self;
        for piece in open.into_values().filter(|piece| !piece.bytes.is_empty()) {
            memory::push(&mut done, piece.bytes, DOING)?;
        }
        Ok(done)
    }
}

/// A row of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedRow<'a> {
    /// The id.
    pub id: u64,
    /// The number of tokens of the set.
    pub size: u32,
    /// The encoded bitmap.
    pub bitmap: &'a [u8],
    /// The encoded tokens or keys.
    pub shared: &'a [u8],
}

/// Calls `each` with each row of a piece. Fails for malformed bytes.
pub fn for_each_row<'a>(bytes: &'a [u8], mut each: impl FnMut(PackedRow<'a>) -> Result<()>) -> Result<()> {
    let bad = |why: String| Error::Malformed { what: NAME, why };
    let cut = || bad("it is cut short".to_owned());
    let Some(([_, _, _, version], mut rest)) = bytes.split_first_chunk() else { return Err(cut()) };
    check_version(NAME, *version, VERSION)?;
    let mut last: u64 = 0;
    while !rest.is_empty() {
        let mut number = || leb128::take(&mut rest).ok_or_else(cut);
        let id = last.wrapping_add(number()?);
        let size = number()?;
        let lengths = [number()?, number()?];
        let size = u32::try_from(size).map_err(|_| bad(format!("a set of {size} tokens is too large")))?;
        let mut take = |length: u64| {
            let length = usize::try_from(length).map_err(|_| cut())?;
            let (taken, after) = rest.split_at_checked(length).ok_or_else(cut)?;
            rest = after;
            Ok::<_, Error>(taken)
        };
        let (bitmap, shared) = (take(lengths[0])?, take(lengths[1])?);
        each(PackedRow { id, size, bitmap, shared })?;
        last = id;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Rows = Vec<(u64, u32, u32, Vec<u8>, Vec<u8>)>;

    proptest! {
        #[test]
        fn pieces_hold_all_rows(
            sets in prop::collection::vec(
                (any::<u64>(), any::<u32>(), prop::collection::vec(any::<u8>(), 0..40),
                 prop::collection::btree_map(0..1u32 << 20, prop::collection::vec(any::<u8>(), 0..3000), 0..4)),
                0..20,
            ),
        ) {
            let mut packer = Packer::default();
            let mut expected: Rows = Vec::new();
            for (id, size, bitmap, parts) in sets {
                for (part, shared) in &parts {
                    expected.push((id, *part, size, bitmap.clone(), shared.clone()));
                }
                let groups = RowGroups { size, bitmap, parts: parts.into_iter().collect() };
                packer.add(id, &groups).unwrap();
            }
            let mut found: Rows = Vec::new();
            for piece in packer.pieces().unwrap() {
                let part = u32::from_be_bytes([0, piece[0], piece[1], piece[2]]);
                for_each_row(&piece, |row| {
                    found.push((row.id, part, row.size, row.bitmap.to_vec(), row.shared.to_vec()));
                    Ok(())
                })
                .unwrap();
            }
            expected.sort();
            found.sort();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn any_bytes_give_rows_or_an_error(mut bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = for_each_row(&bytes, |_| Ok(()));
            if let Some(version) = bytes.get_mut(3) {
                *version = VERSION;
            }
            let _ = for_each_row(&bytes, |_| Ok(()));
        }
    }
}
