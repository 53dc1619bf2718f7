//! Ascending row numbers as bits: the gaps between the numbers are stored in the code of Rice (R.
//! F. Rice, JPL 79-22; S. W. Golomb, IEEE Trans. IT 12(3), 1966).
//!
//! A gap is the number of rows between a row and the row before it. The gap of the first row is the
//! number of rows before it. With parameter k, a gap g is coded as g >> k zeros, a one, and the
//! lower k bits of g. Bits fill each byte from the lowest to the highest. The unused bits of the
//! last byte are 0.
//!
//! Bytes on disk can be anything. For any bytes that are read, the decoder returns ascending rows
//! below the limit or an error.

use crate::error::{Error, Result};
use crate::memory;

/// The greatest parameter.
pub const MOST_BITS: u8 = 31;
const DOING: &str = "packing rows";

/// Appends the code of ascending rows and returns its parameter, which is the one that needs the
/// fewest bits. O(rows).
pub fn encode(rows: &[u32], out: &mut Vec<u8>) -> Result<u8> {
    let k = parameter(rows);
    let mut writer = RiceWriter { out, bits: 0, have: 0 };
    for gap in gaps(rows) {
        let mut zeros = gap >> k;
        while zeros >= 32 {
            writer.put(0, 32)?;
            zeros -= 32;
        }
        writer.put(1 << zeros, zeros + 1)?;
        writer.put(gap & ((1 << k) - 1), u32::from(k))?;
    }
    writer.finish()?;
    Ok(k)
}

/// Returns the gaps before ascending rows.
fn gaps(rows: &[u32]) -> impl Iterator<Item = u32> + '_ {
    debug_assert!(rows.is_sorted_by(|a, b| a < b));
    rows.iter().scan(0, |least, &row| {
        let gap = row - *least;
        // No row follows the greatest possible row, so the wrapped value is never used.
        *least = row.wrapping_add(1);
        Some(gap)
    })
}

/// Returns the parameter with which the code of the rows has the fewest bits. If several have
/// equally few, it is the least of them.
fn parameter(rows: &[u32]) -> u8 {
    let Some(&last) = rows.last() else { return 0 };
    let bits = |k: u8| {
        let zeros: u64 = gaps(rows).map(|gap| u64::from(gap >> k)).sum();
        zeros + (u64::from(k) + 1) * rows.len() as u64
    };
    // The best parameter is near the number of bits of the mean gap. A larger parameter adds one
    // bit to each gap and saves less than one; a parameter that is smaller by four gives seven or
    // more zeros per gap.
    let mean = (u64::from(last) + 1 - rows.len() as u64) / rows.len() as u64;
    let most = (u64::BITS - mean.leading_zeros()).min(MOST_BITS.into()) as u8;
    (most.saturating_sub(3)..=most).min_by_key(|&k| bits(k)).unwrap_or(0)
}

struct RiceWriter<'a> {
    out: &'a mut Vec<u8>,
    bits: u64,
    /// The number of pending bits: less than 32.
    have: u32,
}

impl RiceWriter<'_> {
    /// Appends the lower `count` bits of a number that has no other bits set. `count` is at most
    /// 32.
    #[inline]
    fn put(&mut self, bits: u32, count: u32) -> Result<()> {
        self.bits |= u64::from(bits) << self.have;
        self.have += count;
        if self.have >= 32 {
            memory::extend(self.out, &(self.bits as u32).to_le_bytes(), DOING)?;
            self.bits >>= 32;
            self.have -= 32;
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        let bytes = self.bits.to_le_bytes();
        memory::extend(self.out, &bytes[..self.have.div_ceil(8) as usize], DOING)
    }
}

/// The reason why a [`Decoder`] returned no more rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// There are no more rows.
    Done,
    /// As many rows were returned as were asked for.
    Most,
    /// More bytes are needed.
    Bytes,
}

/// Decodes rows from consecutive pieces of their code.
#[derive(Debug, Clone)]
pub struct Decoder {
    k: u8,
    /// The number of rows still to be decoded. `bytes` is the number of bytes still to be supplied.
    rows: u32,
    bytes: u32,
    /// The least value that the next row can have. `limit` is the exclusive upper limit of all
    /// rows.
    least: u64,
    limit: u64,
    /// The buffered bits, lowest first. Only the lowest `have` bits count; the bits above them are
    /// read again later.
    bits: u64,
    have: u32,
    /// The number of zeros of the next gap that were read so far. `is_ended` is true if the one
    /// after these zeros was read, too.
    zeros: u64,
    is_ended: bool,
}

impl Decoder {
    /// Prepares to decode `rows` rows, all less than `limit`, from `bytes` bytes of code with
    /// parameter `k`.
    pub fn new(k: u8, rows: u32, bytes: u32, limit: u32) -> Result<Self> {
        if k > MOST_BITS {
            return Err(bad(format!("its parameter is {k}")));
        }
        if rows > limit {
            return Err(bad(format!("{rows} rows of {limit}")));
        }
        let (least, limit) = (0, limit.into());
        let (bits, have, zeros, is_ended) = (0, 0, 0, false);
        let decoder = Self { k, rows, bytes, least, limit, bits, have, zeros, is_ended };
        if rows == 0 {
            decoder.check_end()?
        }
        Ok(decoder)
    }

    /// Returns how many rows are still to be returned.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Appends the next rows, at most `most`. The bytes that are read are removed from the start of
    /// `piece`, which may continue after the code. If more bytes are needed, the piece is used up.
    pub fn read(&mut self, piece: &mut &[u8], most: usize, out: &mut Vec<u32>) -> Result<Until> {
        let end = out.len().saturating_add(most);
        while self.rows > 0 {
            if out.len() >= end {
                return Ok(Until::Most);
            }
            let Some(row) = self.next(piece)? else { return Ok(Until::Bytes) };
            self.rows -= 1;
            if self.rows == 0 {
                self.check_end()?;
            }
            memory::push(out, row, DOING)?;
        }
        Ok(Until::Done)
    }

    /// Returns the next row, or `None` if more bytes are needed.
    #[inline]
    fn next(&mut self, piece: &mut &[u8]) -> Result<Option<u32>> {
        while !self.is_ended {
            self.fill(piece);
            if self.have == 0 {
                return self.want();
            }
            let zeros = self.bits.trailing_zeros();
            self.is_ended = zeros < self.have;
            self.zeros += u64::from(zeros.min(self.have));
            self.drop(if self.is_ended { zeros + 1 } else { self.have });
            if self.zeros << self.k >= self.limit {
                return Err(bad("a row that is not there"));
            }
        }
        let k = u32::from(self.k);
        if self.have < k {
            self.fill(piece);
            if self.have < k {
                return self.want();
            }
        }
        let row = self.least + (self.zeros << self.k | self.bits & ((1 << k) - 1));
        self.drop(k);
        (self.zeros, self.is_ended) = (0, false);
        self.least = row + 1;
        // The limit is a `u32`, so a row below it fits 32 bits.
        if row < self.limit { Ok(Some(row as u32)) } else { Err(bad("a row that is not there")) }
    }

    /// Buffers as many whole bytes as there is room for.
    #[inline]
    fn fill(&mut self, piece: &mut &[u8]) {
        if self.bytes >= 8
            && let Some((eight, _)) = piece.split_first_chunk::<8>()
        {
            self.bits |= u64::from_le_bytes(*eight) << self.have;
            let taken = (63 - self.have) / 8;
            *piece = &piece[taken as usize..];
            self.bytes -= taken;
            self.have += 8 * taken;
            return;
        }
        while self.have < 56
            && self.bytes > 0
            && let Some((&byte, rest)) = piece.split_first()
        {
            self.bits |= u64::from(byte) << self.have;
            (*piece, self.bytes, self.have) = (rest, self.bytes - 1, self.have + 8);
        }
    }

    #[inline]
    fn drop(&mut self, count: u32) {
        // There are at most 63 bits, so the shift does not overflow.
        self.bits >>= count;
        self.have -= count;
    }

    fn want(&self) -> Result<Option<u32>> {
        if self.bytes == 0 { Err(bad("it ends too early")) } else { Ok(None) }
    }

    /// Fails if anything follows the last row, except for the unused bits of the last byte, which
    /// must be 0.
    fn check_end(&self) -> Result<()> {
        let rest = self.bits & ((1 << self.have) - 1);
        if self.bytes > 0 || self.have >= 8 || rest != 0 {
            Err(bad("it goes on behind its rows"))
        } else {
            Ok(())
        }
    }
}

fn bad(why: impl Into<String>) -> Error {
    Error::Malformed { what: "list of rows", why: why.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Decodes all rows of a code that arrives in pieces of `piece` bytes, at most `most` rows at a
    /// time. Fails if the code is too short.
    fn decode(mut decoder: Decoder, code: &[u8], piece: usize, most: usize) -> Result<Vec<u32>> {
        let (mut rows, mut pieces) = (Vec::new(), code.chunks(piece));
        let mut rest: &[u8] = &[];
        loop {
            let from = rows.len();
            match decoder.read(&mut rest, most, &mut rows)? {
                Until::Done => return Ok(rows),
                Until::Most => assert_eq!(rows.len(), from + most),
                Until::Bytes => {
                    assert!(rest.is_empty());
                    rest = pieces.next().ok_or(Error::Stopped)?;
                }
            }
            assert!(rows.len() <= from + most);
        }
    }

    fn rows() -> impl Strategy<Value = Vec<u32>> {
        let most = prop_oneof![Just(1), Just(40), Just(5000), Just(u32::MAX - 1)];
        most.prop_flat_map(|most| {
            proptest::collection::btree_set(0..=most, 0..60.min(most as usize + 1))
                .prop_map(|set| set.into_iter().collect())
        })
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(
            rows in rows(),
            piece in prop_oneof![1..20usize, Just(8192)],
            most in 1..70usize,
            near_end in any::<bool>(),
        ) {
            let mut code = Vec::new();
            let k = encode(&rows, &mut code).unwrap();
            let bytes = code.len() as u32;
            let limit = if near_end { rows.last().map_or(0, |row| row + 1) } else { u32::MAX };
            code.extend([0xff; 9]);
            let decoder = Decoder::new(k, rows.len() as u32, bytes, limit).unwrap();
            prop_assert_eq!(decode(decoder, &code, piece, most).unwrap(), rows);
        }

        /// No parameter gives a shorter code.
        #[test]
        fn the_parameter_is_the_best(rows in rows()) {
            let bits = |k: u32| gaps(&rows).map(|gap| u64::from(gap >> k) + 1 + u64::from(k)).sum::<u64>();
            let best = (0..=u32::from(MOST_BITS)).map(bits).min().unwrap();
            prop_assert_eq!(bits(parameter(&rows).into()), best);
        }

        #[test]
        fn any_bytes_are_errors_or_rows_that_are_there(
            code in proptest::collection::vec(prop_oneof![any::<u8>(), Just(0), Just(0xff)], 0..80),
            k in 0..34u8, count in 0..60u32, bytes in 0..90u32, limit in prop_oneof![0..100u32, any::<u32>()],
            piece in 1..20usize,
        ) {
            let read = Decoder::new(k, count, bytes, limit).and_then(|decoder| decode(decoder, &code, piece, 9));
            if let Ok(rows) = read {
                prop_assert_eq!(rows.len(), count as usize);
                prop_assert!(rows.is_sorted_by(|a, b| a < b) && rows.last().is_none_or(|&row| row < limit));
                // These rows have exactly one code with this parameter.
                let mut again = Vec::new();
                if encode(&rows, &mut again).unwrap() == k {
                    prop_assert_eq!(&again[..], &code[..bytes as usize]);
                }
            }
        }
    }

    #[test]
    fn codes_stay_as_they_are() {
        let code = |rows: &[u32]| {
            let mut out = Vec::new();
            (encode(rows, &mut out).unwrap(), out)
        };
        assert_eq!(code(&[]), (0, vec![]));
        assert_eq!(code(&[0, 1, 2]), (0, vec![0b111]));
        assert_eq!(code(&[2]), (0, vec![0b100]));
        assert_eq!(code(&[100, 250, 300, 512]), (6, vec![146, 172, 198, 56, 1]));
        assert_eq!(code(&[u32::MAX - 1]), (31, vec![250, 255, 255, 255, 1]));
    }
}
