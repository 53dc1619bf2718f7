//! A text in the form that filtered sketches use (docs/design/algorithms.md section 5). A run of
//! white space is one space. A window begins at every character that is followed by enough text:
//! the shortest run of characters that is at least as wide as a given width. Each window has a
//! fingerprint.

use std::ops::Range;

use super::column::DOING;
use super::lcs_greedy::common_prefix;
use crate::error::Result;
use crate::executor::Stop;
use crate::hash;
use crate::memory;
use crate::text::characters::is_space as is_white;
use crate::text::characters::width_of;

/// The base of the fingerprints of windows (Rabin, Karp, 1987). A fingerprint is made from the
/// value of a polynomial, whose coefficients are the characters, at this odd number, modulo 2^64.
/// If fingerprints are equal, the windows are compared, so a collision costs time, but not
/// correctness.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
/// The number of characters that are read between two checks for a stop.
const CHECK_EVERY: u32 = 1 << 16;
/// The symbol of a run of white space.
const SPACE: u32 = b' ' as u32;

/// Characters, their places in the text, and the windows that begin with them.
#[derive(Debug, Default)]
pub struct WindowedText {
    /// The characters.
    pub symbols: Vec<u32>,
    /// Pairs of a character number and a shift: from that character on, the place of a character in
    /// the text, in characters, exceeds its number by the shift. Most characters have the same
    /// shift as the previous character.
    shifts: Vec<[u32; 2]>,
    /// The number of windows. There are no more windows than characters.
    count: usize,
    /// The number of characters of each window, if all windows have the same number.
    even: Option<usize>,
    /// The end of each window, if windows may differ in length.
    ends: Vec<u32>,
    /// The powers of the base for the polynomials, up to the power for the longest window.
    powers: Vec<u64>,
}

impl WindowedText {
    /// Reads the first `first` display columns of a text, or all columns if `first` is 0. Windows
    /// are `width` columns wide. O(bytes).
    pub fn read(&mut self, text: &str, first: u64, width: u32, stop: &Stop) -> Result<()> {
        self.symbols.clear();
        self.shifts.clear();
        let most = if first == 0 { text.len() } else { text.len().min(first as usize) };
        memory::reserve(&mut self.symbols, most, DOING)?;
        let is_even = self.take_characters(text, first, stop)?;
        self.cut(width, is_even)
    }

    /// Reads the characters of the first columns. Returns whether each character is one column
    /// wide.
    fn take_characters(&mut self, text: &str, first: u64, stop: &Stop) -> Result<bool> {
        const BLOCK: usize = 64;
        let Self { symbols, shifts, .. } = self;
        let most = if first == 0 { u64::MAX } else { first };
        // No text has more characters than 32 bits can count.
        let (mut columns, mut place, mut checked) = (0, 0u32, 0);
        let (mut rest, mut space) = (text, false);
        stop.check()?;
        'all: while !rest.is_empty() {
            if place - checked >= CHECK_EVERY {
                stop.check()?;
                checked = place;
            }
            // Most parts of most texts are ASCII in which no white space follows other white space.
            if let Some(block) = rest.as_bytes().first_chunk::<BLOCK>()
                && columns + BLOCK as u64 <= most
                && is_plain(block, space)
            {
                let (mut own, mut wide) = ([0; BLOCK], [0; BLOCK]);
                own.iter_mut().zip(block).for_each(|(own, &byte)| *own = symbol_of(byte));
                wide.iter_mut().zip(own).for_each(|(wide, own)| *wide = own.into());
                symbols.extend_from_slice(&wide);
                space = is_space(block[BLOCK - 1]);
                place += BLOCK as u32;
                columns += BLOCK as u64;
                rest = &rest[BLOCK..];
                continue;
            }
            let (some, others) = rest.split_at(rest.ceil_char_boundary(BLOCK));
            rest = others;
            for c in some.chars() {
                let is_space = is_white(c);
                if !(is_space && space) {
                    let wide = if is_space { 1 } else { width_of(c) as u64 };
                    if columns + wide > most {
                        break 'all;
                    }
                    columns += wide;
                    shift_to(shifts, symbols.len() as u32, place)?;
                    symbols.push(if is_space { SPACE } else { u32::from(c) });
                }
                space = is_space;
                place += 1;
            }
        }
        Ok(columns == symbols.len() as u64)
    }

    /// Takes the characters of another text for which `keep` returns true.
    pub fn take(&mut self, from: &Self, width: u32, mut keep: impl FnMut(usize) -> bool) -> Result<()> {
        self.symbols.clear();
        self.shifts.clear();
        memory::reserve(&mut self.symbols, from.symbols.len(), DOING)?;
        for (n, &symbol) in from.symbols.iter().enumerate() {
            if keep(n) {
                shift_to(&mut self.shifts, self.symbols.len() as u32, from.place(n) as u32)?;
                self.symbols.push(symbol);
            }
        }
        self.cut(width, from.even.is_some())
    }

    /// Makes windows of `width` columns, which is at least 1. `is_even` is true if each character
    /// is one column wide.
    fn cut(&mut self, width: u32, is_even: bool) -> Result<()> {
        let Self { symbols, count, even, ends, powers, .. } = self;
        let width = width as usize;
        // No window has more characters than columns.
        while powers.len() <= width {
            let next = powers.last().map_or(1, |last| last.wrapping_mul(BASE));
            memory::push(powers, next, DOING)?;
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

    /// Returns the range of a part in the text that was read, in characters. The part must not be
    /// empty.
    pub fn span(&self, part: Range<usize>) -> Range<usize> {
        self.place(part.start)..self.place(part.end - 1) + 1
    }

    /// Returns the place of a character in the text that was read, in characters.
    fn place(&self, number: usize) -> usize {
        let behind = self.shifts.partition_point(|&[from, _]| from as usize <= number);
        number + behind.checked_sub(1).map_or(0, |last| self.shifts[last][1] as usize)
    }

    /// Returns the number of windows.
    #[inline]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Reports whether the text is too narrow for a window.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the end of the window that begins with character `start`.
    #[inline]
    pub fn end(&self, start: usize) -> usize {
        match self.even {
            Some(width) => start + width,
            None => self.ends[start] as usize,
        }
    }

    /// Computes the polynomials of the characters of some windows. If windows differ only in their
    /// last characters, the upper bits of their polynomials may be equal more often than by chance.
    /// [`fingerprint`] makes all bits depend on all characters.
    fn polynomials(&self, windows: Range<usize>, into: &mut Polynomials) -> Result<()> {
        let Polynomials { sums, values, first } = into;
        *first = windows.start;
        values.clear();
        if windows.is_empty() {
            return Ok(());
        }
        // Sums need not begin at the start of the text.
        let symbols = &self.symbols[windows.start..self.end(windows.end - 1)];
        sums.clear();
        memory::fill(sums, 0, symbols.len() + 1, DOING)?;
        add_up(symbols, &mut sums[1..]);
        memory::reserve(values, windows.len(), DOING)?;
        match self.even {
            Some(width) => {
                let power = self.powers[width];
                let ends = sums[..windows.len()].iter().zip(&sums[width..]);
                values.extend(ends.map(|(before, after)| after.wrapping_sub(before.wrapping_mul(power))));
            }
            None => values.extend(windows.clone().map(|start| {
                let end = self.ends[start] as usize;
                let before = sums[start - windows.start].wrapping_mul(self.powers[end - start]);
                sums[end - windows.start].wrapping_sub(before)
            })),
        }
        Ok(())
    }

    /// Returns the characters of a window.
    #[inline]
    pub fn content(&self, start: usize) -> &[u32] {
        &self.symbols[start..self.end(start)]
    }

    /// Returns the number of consecutive windows from `start` on that are equal to the windows of
    /// another text from `other` on. The windows before `start` and before `other` must be equal.
    pub fn run(&self, start: usize, of: &Self, other: usize) -> usize {
        if start == 0 || other == 0 || start >= self.count || other >= of.count {
            return 0;
        }
        // All windows from here on are equal as far as the characters after the previous two
        // windows are, because these two windows are equal.
        let (from, to) = (self.end(start - 1), of.end(other - 1));
        let equal = from + common_prefix(&self.symbols[from..], &of.symbols[to..]);
        match self.even {
            Some(width) => (equal + 1).saturating_sub(start + width),
            None => self.ends[start..].partition_point(|&end| end as usize <= equal),
        }
    }
}

/// Records the place of a character.
#[inline]
fn shift_to(shifts: &mut Vec<[u32; 2]>, number: u32, place: u32) -> Result<()> {
    let shift = place - number;
    if shift == shifts.last().map_or(0, |&[_, last]| last) {
        return Ok(());
    }
    memory::push(shifts, [number, shift], DOING)
}

/// The polynomials of some consecutive windows. They are computed only for windows that are looked
/// up, since many windows never are.
#[derive(Debug, Default)]
pub struct Polynomials {
    /// For each character, the polynomial of the characters from the first one up to it.
    sums: Vec<u64>,
    values: Vec<u64>,
    /// The window of the first value.
    first: usize,
}

impl Polynomials {
    /// The number of windows whose polynomials are computed at once.
    const TOGETHER: usize = 64;

    /// Discards the polynomials, before those of another text are computed.
    pub fn clear(&mut self) {
        self.values.clear();
    }

    /// Returns the polynomials of a window of a text and of some windows that follow it, before
    /// `end`.
    #[inline]
    pub fn from(&mut self, text: &WindowedText, start: usize, end: usize) -> Result<&[u64]> {
        if start < self.first || start >= self.first + self.values.len() {
            text.polynomials(start..end.min(start + Self::TOGETHER), self)?;
        }
        let some = &self.values[start - self.first..];
        Ok(&some[..some.len().min(end - start)])
    }
}

/// Returns the lookup key of a window: a hash of its polynomial.
#[inline]
pub fn fingerprint(polynomial: u64) -> u64 {
    hash::mix(polynomial)
}

/// Computes, for each symbol, the polynomial of all symbols up to it. Within a group of consecutive
/// symbols, the polynomials are first computed without the symbols before the group, so that the
/// multiplications of a group need not wait for those of the previous one.
fn add_up(symbols: &[u32], sums: &mut [u64]) {
    const TOGETHER: usize = 8;
    let mut powers = [BASE; TOGETHER];
    for n in 1..TOGETHER {
        powers[n] = powers[n - 1].wrapping_mul(BASE);
    }
    let mut before = 0u64;
    let (symbol_chunks, rest) = symbols.as_chunks::<TOGETHER>();
    let (sum_chunks, rest_sums) = sums.as_chunks_mut::<TOGETHER>();
    for (symbols, sums) in symbol_chunks.iter().zip(sum_chunks) {
        let mut own = 0u64;
        for n in 0..TOGETHER {
            own = own.wrapping_mul(BASE).wrapping_add(u64::from(symbols[n]) + 1);
            sums[n] = before.wrapping_mul(powers[n]).wrapping_add(own);
        }
        before = sums[TOGETHER - 1];
    }
    for (&symbol, sum) in rest.iter().zip(rest_sums) {
        before = before.wrapping_mul(BASE).wrapping_add(u64::from(symbol) + 1);
        *sum = before;
    }
}

/// Reports whether an ASCII character is white space: tab, line feed, vertical tab, form feed,
/// carriage return, space.
#[inline]
fn is_space(byte: u8) -> bool {
    (byte == b' ') | (byte.wrapping_sub(b'\t') <= b'\r' - b'\t')
}

/// Replaces white space with a space.
#[inline]
fn symbol_of(byte: u8) -> u8 {
    // There is no branch, so that compilers vectorise this code.
    let space = 0u8.wrapping_sub(u8::from(is_space(byte)));
    byte & !space | b' ' & space
}

/// Reports whether all bytes are ASCII and no white space follows white space. `before` is true if
/// the text before these bytes ends with white space.
#[inline]
fn is_plain<const BLOCK: usize>(block: &[u8; BLOCK], before: bool) -> bool {
    let mut spaces = [0; BLOCK];
    spaces.iter_mut().zip(block).for_each(|(space, &byte)| *space = u8::from(is_space(byte)));
    let both = spaces[1..].iter().zip(&spaces).fold(0, |any, (a, b)| any | (a & b));
    let all = block.iter().fold(0, |all, byte| all | byte);
    all < 128 && both == 0 && !(before && spaces[0] != 0)
}
