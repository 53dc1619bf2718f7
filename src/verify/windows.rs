//! A text as filtered sketches see it (docs/design/algorithms.md section 5): runs of white space are one space, and
//! from every character on there is a window, the shortest run of a given width, with its fingerprint.

use std::ops::Range;

use super::column::DOING;
use super::lcs_greedy::common_prefix;
use crate::error::Result;
use crate::hash;
use crate::memory;
use crate::text::width::width_of;
use crate::workers::Stop;

/// What the fingerprints of a window are made with (Rabin, Karp, 1987): a polynomial of its characters at
/// this odd number, modulo 2^64. Equal fingerprints are verified: a collision costs time, not correctness.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
/// Characters that are read without looking for a stop.
const CHECK_EVERY: usize = 1 << 16;

/// Characters, where they stood, and the windows that begin with them.
#[derive(Debug, Default)]
pub struct WindowedText {
    /// The characters.
    pub symbols: Vec<u32>,
    /// Where each stood in the text, in characters; last, where the part of the text ended that was read.
    pub places: Vec<u32>,
    /// How many windows there are; fewer than characters.
    count: usize,
    /// The characters of each window, where all have as many.
    even: Option<usize>,
    /// The place after the last character of each, where they have not.
    ends: Vec<u32>,
    /// The polynomial of all characters before each, and the powers of its base.
    sums: Vec<u64>,
    powers: Vec<u64>,
}

impl WindowedText {
    /// Makes it those of the first `first` columns of a text, 0 for all, with windows `width` wide. O(bytes).
    pub fn read(&mut self, text: &str, first: u64, width: u32, stop: &Stop) -> Result<()> {
        let Self { symbols, places, .. } = self;
        symbols.clear();
        places.clear();
        let most = if first == 0 { text.len() } else { text.len().min(first as usize) };
        memory::reserve(symbols, most, DOING)?;
        memory::reserve(places, most + 1, DOING)?;
        let is_even = match text.is_ascii() {
            true => self.take_ascii(text.as_bytes(), first, stop).map(|()| true),
            false => self.take_characters(text, first, stop),
        };
        self.cut(width, is_even?)
    }

    /// Takes characters that are a byte and a column each.
    fn take_ascii(&mut self, bytes: &[u8], first: u64, stop: &Stop) -> Result<()> {
        let Self { symbols, places, .. } = self;
        let most = if first == 0 { usize::MAX } else { first as usize };
        let mut space = false;
        let mut place = 0;
        for part in bytes.chunks(CHECK_EVERY) {
            stop.check()?;
            for &byte in part {
                let is_space = char::from(byte).is_whitespace();
                if !(is_space && space) {
                    if symbols.len() == most {
                        places.push(place);
                        return Ok(());
                    }
                    symbols.push(if is_space { u32::from(b' ') } else { u32::from(byte) });
                    places.push(place);
                }
                space = is_space;
                // No text has more characters than 32 bits count.
                place += 1;
            }
        }
        places.push(place);
        Ok(())
    }

    /// Takes characters of any width; says whether each is a column.
    fn take_characters(&mut self, text: &str, first: u64, stop: &Stop) -> Result<bool> {
        let Self { symbols, places, .. } = self;
        let mut columns = 0;
        let mut space = false;
        let mut place = 0u32;
        for c in text.chars() {
            if place.is_multiple_of(CHECK_EVERY as u32) {
                stop.check()?;
            }
            let is_space = c.is_whitespace();
            if !(is_space && space) {
                columns += if is_space { 1 } else { width_of(c) as u64 };
                if first > 0 && columns > first {
                    break;
                }
                symbols.push(if is_space { u32::from(b' ') } else { u32::from(c) });
                places.push(place);
            }
            space = is_space;
            place += 1;
        }
        places.push(place);
        // A character that is left out counts as a wide one: that costs time alone.
        Ok(columns == symbols.len() as u64)
    }

    /// Makes it those of what is left of others; `keep` says of which characters.
    pub fn take(&mut self, from: &Self, width: u32, mut keep: impl FnMut(usize) -> bool) -> Result<()> {
        self.symbols.clear();
        self.places.clear();
        memory::reserve(&mut self.symbols, from.symbols.len(), DOING)?;
        memory::reserve(&mut self.places, from.places.len(), DOING)?;
        for (n, &symbol) in from.symbols.iter().enumerate() {
            if keep(n) {
                self.symbols.push(symbol);
                self.places.push(from.places[n]);
            }
        }
        self.places.extend(from.places.last());
        self.cut(width, from.even.is_some())
    }

    /// Makes the windows, at least one column wide; `is_even` says that each character is a column.
    fn cut(&mut self, width: u32, is_even: bool) -> Result<()> {
        let Self { symbols, count, even, ends, sums, powers, .. } = self;
        let width = width as usize;
        for sequence in [&mut *sums, &mut *powers] {
            sequence.clear();
            memory::reserve(sequence, symbols.len() + 1, DOING)?;
        }
        sums.push(0);
        powers.push(1);
        let mut sum = 0u64;
        sums.extend(symbols.iter().map(|&symbol| {
            sum = sum.wrapping_mul(BASE).wrapping_add(u64::from(symbol) + 1);
            sum
        }));
        // No window has more characters than columns.
        for n in 0..symbols.len().min(width) {
            powers.push(powers[n].wrapping_mul(BASE));
        }
        ends.clear();
        *even = is_even.then_some(width);
        if is_even {
            *count = (symbols.len() + 1).saturating_sub(width);
            return Ok(());
        }
        let of = |symbol: u32| char::from_u32(symbol).map_or(1, width_of);
        memory::reserve(ends, symbols.len(), DOING)?;
        let (mut end, mut wide) = (0, 0);
        for &first in symbols.iter() {
            while wide < width && end < symbols.len() {
                wide += of(symbols[end]);
                end += 1;
            }
            if wide < width {
                break;
            }
            ends.push(end as u32);
            wide -= of(first);
        }
        *count = ends.len();
        Ok(())
    }

    /// Where a part that is not empty stood in the text, in characters.
    pub fn span(&self, part: Range<usize>) -> Range<usize> {
        self.places[part.start] as usize..self.places[part.end - 1] as usize + 1
    }

    /// How many windows there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether the text is too narrow for a window.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The place after the last character of the window that begins with this one.
    #[inline]
    pub fn end(&self, start: usize) -> usize {
        match self.even {
            Some(width) => start + width,
            None => self.ends[start] as usize,
        }
    }

    /// Its fingerprint.
    #[inline]
    pub fn fingerprint(&self, start: usize) -> u64 {
        let end = self.end(start);
        let before = self.sums[start].wrapping_mul(self.powers[end - start]);
        hash::mix(self.sums[end].wrapping_sub(before))
    }

    /// Its characters.
    #[inline]
    pub fn content(&self, start: usize) -> &[u32] {
        &self.symbols[start..self.end(start)]
    }

    /// How many windows from `start` on are those of another text from `other` on, one after the other, where those
    /// before them are equal.
    pub fn run(&self, start: usize, of: &Self, other: usize) -> usize {
        if start == 0 || other == 0 || start >= self.count || other >= of.count {
            return 0;
        }
        // What windows begin with is equal: so are windows, as far as what follows is.
        let (from, to) = (self.end(start - 1), of.end(other - 1));
        let equal = from + common_prefix(&self.symbols[from..], &of.symbols[to..]);
        match self.even {
            Some(width) => (equal + 1).saturating_sub(start + width),
            None => self.ends[start..].partition_point(|&end| end as usize <= equal),
        }
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.symbols)
            + memory::bytes(&self.places)
            + memory::bytes(&self.ends)
            + memory::bytes(&self.sums)
            + memory::bytes(&self.powers)
    }
}
