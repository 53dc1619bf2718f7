//! A text as filtered sketches see it (docs/design/algorithms.md section 5): runs of white space are one space, and
//! from every character on there is a window, the shortest run of a given width, with its fingerprint.

use std::ops::Range;

use super::column::DOING;
use crate::error::Result;
use crate::hash;
use crate::memory;
use crate::text::width::width_of;
use crate::workers::Stop;

/// What the fingerprints of a window are made with (Rabin, Karp, 1987): a polynomial of its characters at
/// this odd number, modulo 2^64. Equal fingerprints are looked at: a collision costs time, no truth.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Characters, where they stood, and the windows that begin with them.
#[derive(Debug, Default)]
pub struct WindowedText {
    /// The characters.
    pub symbols: Vec<u32>,
    /// Where each stood in the text, in characters; last, where the part of the text ended that was read.
    pub places: Vec<u32>,
    /// Behind the last character of each window; there are fewer windows than characters.
    ends: Vec<u32>,
    fingerprints: Vec<u64>,
    /// The polynomial of all characters before each, and the powers of its base.
    sums: Vec<u64>,
    powers: Vec<u64>,
}

impl WindowedText {
    /// Makes it those of the first `first` columns of a text, 0 for all, with windows `width` wide. O(bytes).
    pub fn read(&mut self, text: &str, first: u64, width: u32, stop: &Stop) -> Result<()> {
        const CHECK_EVERY: usize = 1 << 16;
        let Self { symbols, places, .. } = self;
        symbols.clear();
        places.clear();
        let most = if first == 0 { text.len() } else { text.len().min(first as usize) };
        memory::reserve(symbols, most, DOING)?;
        memory::reserve(places, most + 1, DOING)?;
        let mut columns = 0;
        let mut space = false;
        let mut place = 0u32;
        for c in text.chars() {
            if place.is_multiple_of(CHECK_EVERY as u32) {
                stop.check()?;
            }
            if c.is_whitespace() {
                if !space {
                    columns += 1;
                    if first > 0 && columns > first {
                        break;
                    }
                    symbols.push(u32::from(b' '));
                    places.push(place);
                    space = true;
                }
            } else {
                columns += width_of(c) as u64;
                if first > 0 && columns > first {
                    break;
                }
                symbols.push(u32::from(c));
                places.push(place);
                space = false;
            }
            place += 1;
        }
        places.push(place);
        self.cut(width)
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
        self.cut(width)
    }

    /// Makes the windows.
    fn cut(&mut self, width: u32) -> Result<()> {
        let Self { symbols, ends, fingerprints, sums, powers, .. } = self;
        let of = |symbol: u32| char::from_u32(symbol).map_or(1, |c| width_of(c) as u32);
        for sequence in [&mut *fingerprints, &mut *sums, &mut *powers] {
            sequence.clear();
            memory::reserve(sequence, symbols.len() + 1, DOING)?;
        }
        ends.clear();
        memory::reserve(ends, symbols.len(), DOING)?;
        sums.push(0);
        powers.push(1);
        let mut sum = 0u64;
        for &symbol in symbols.iter() {
            sum = sum.wrapping_mul(BASE).wrapping_add(u64::from(symbol) + 1);
            sums.push(sum);
        }
        // No window has more characters than columns.
        for n in 0..symbols.len().min(width as usize) {
            powers.push(powers[n].wrapping_mul(BASE));
        }
        let (mut end, mut wide) = (0, 0);
        for start in 0..symbols.len() {
            while wide < width && end < symbols.len() {
                wide += of(symbols[end]);
                end += 1;
            }
            if wide < width {
                break;
            }
            let window = sums[end].wrapping_sub(sums[start].wrapping_mul(powers[end - start]));
            ends.push(end as u32);
            fingerprints.push(hash::mix(window));
            wide -= of(symbols[start]);
        }
        Ok(())
    }

    /// Where a part that is not empty stood in the text, in characters.
    pub fn span(&self, part: Range<usize>) -> Range<usize> {
        self.places[part.start] as usize..self.places[part.end - 1] as usize + 1
    }

    /// How many windows there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the text is too narrow for a window.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Behind the last character of the window that begins with this one.
    #[inline]
    pub fn end(&self, start: usize) -> usize {
        self.ends[start] as usize
    }

    /// Its fingerprint.
    #[inline]
    pub fn fingerprint(&self, start: usize) -> u64 {
        self.fingerprints[start]
    }

    /// Its characters.
    #[inline]
    pub fn content(&self, start: usize) -> &[u32] {
        &self.symbols[start..self.ends[start] as usize]
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.symbols)
            + memory::bytes(&self.places)
            + memory::bytes(&self.ends)
            + memory::bytes(&self.fingerprints)
            + memory::bytes(&self.sums)
            + memory::bytes(&self.powers)
    }
}
