//! A text as filtered sketches see it (docs/design/algorithms.md section 5): runs of white space are one space, and
//! from every character on there is a window, the shortest run of a given width, with its fingerprint.

use std::ops::Range;

use super::column::DOING;
use super::lcs_greedy::common_prefix;
use crate::error::Result;
use crate::executor::Stop;
use crate::hash;
use crate::memory;
use crate::text::characters::is_space as is_white;
use crate::text::width::width_of;

/// What the fingerprints of a window are made with (Rabin, Karp, 1987): a polynomial of its characters at
/// this odd number, modulo 2^64. Equal fingerprints are verified: a collision costs time, not correctness.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
/// Characters that are read without looking for a stop.
const CHECK_EVERY: u32 = 1 << 16;
/// What runs of white space are.
const SPACE: u32 = b' ' as u32;

/// Characters, where they stood, and the windows that begin with them.
#[derive(Debug, Default)]
pub struct WindowedText {
    /// The characters.
    pub symbols: Vec<u32>,
    /// From which character on the place in the text, in characters, is so many more than its number: most stand where
    /// those before them let expect.
    shifts: Vec<[u32; 2]>,
    /// How many windows there are; fewer than characters.
    count: usize,
    /// The characters of each window, where all have as many.
    even: Option<usize>,
    /// The place after the last character of each, where they have not.
    ends: Vec<u32>,
    /// The powers of the base of their polynomials, up to that of the longest window.
    powers: Vec<u64>,
}

impl WindowedText {
    /// Makes it those of the first `first` columns of a text, 0 for all, with windows `width` wide. O(bytes).
    pub fn read(&mut self, text: &str, first: u64, width: u32, stop: &Stop) -> Result<()> {
        self.symbols.clear();
        self.shifts.clear();
        let most = if first == 0 { text.len() } else { text.len().min(first as usize) };
        memory::reserve(&mut self.symbols, most, DOING)?;
        let is_even = self.take_characters(text, first, stop)?;
        self.cut(width, is_even)
    }

    /// Takes the characters of the first columns; says whether each is a column.
    fn take_characters(&mut self, text: &str, first: u64, stop: &Stop) -> Result<bool> {
        const BLOCK: usize = 64;
        let Self { symbols, shifts, .. } = self;
        let most = if first == 0 { u64::MAX } else { first };
        // No text has more characters than 32 bits count.
        let (mut columns, mut place, mut checked) = (0, 0u32, 0);
        let (mut rest, mut space) = (text, false);
        stop.check()?;
        'all: while !rest.is_empty() {
            if place - checked >= CHECK_EVERY {
                stop.check()?;
                checked = place;
            }
            // Most of most texts is ASCII in which no white space follows other white space.
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

    /// Makes it those of what is left of others; `keep` says of which characters.
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

    /// Makes the windows, at least one column wide; `is_even` says that each character is a column.
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

    /// Where a part that is not empty stood in the text, in characters.
    pub fn span(&self, part: Range<usize>) -> Range<usize> {
        self.place(part.start)..self.place(part.end - 1) + 1
    }

    /// Where a character stood in the text, in characters.
    fn place(&self, number: usize) -> usize {
        let behind = self.shifts.partition_point(|&[from, _]| from as usize <= number);
        number + behind.checked_sub(1).map_or(0, |last| self.shifts[last][1] as usize)
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

    /// Fills in the polynomials of the characters of some windows. Their upper bits are those of other windows by
    /// chance, but where only the last characters differ; [`fingerprint`] makes all bits depend on all characters.
    fn polynomials(&self, windows: Range<usize>, into: &mut Polynomials) -> Result<()> {
        let Polynomials { sums, values, first } = into;
        *first = windows.start;
        values.clear();
        if windows.is_empty() {
            return Ok(());
        }
        // Sums need not begin where the text does.
        let symbols = &self.symbols[windows.start..self.end(windows.end - 1)];
        sums.clear();
        memory::reserve(sums, symbols.len() + 1, DOING)?;
        sums.resize(symbols.len() + 1, 0);
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
            + memory::bytes(&self.shifts)
            + memory::bytes(&self.ends)
            + memory::bytes(&self.powers)
    }
}

/// Notes that a character stands at this place.
#[inline]
fn shift_to(shifts: &mut Vec<[u32; 2]>, number: u32, place: u32) -> Result<()> {
    let shift = place - number;
    if shift == shifts.last().map_or(0, |&[_, last]| last) {
        return Ok(());
    }
    memory::push(shifts, [number, shift], DOING)
}

/// The polynomials of some windows that follow one another; made for as many as are looked at, since many never are.
#[derive(Debug, Default)]
pub struct Polynomials {
    /// The polynomials of all characters from the first one on.
    sums: Vec<u64>,
    values: Vec<u64>,
    /// The window that the first of the values is of.
    first: usize,
}

impl Polynomials {
    /// Windows that polynomials are made of at once.
    const TOGETHER: usize = 64;

    /// Forgets those of another text.
    pub fn clear(&mut self) {
        self.values.clear();
    }

    /// Those of a window of a text and some that follow it, before `end`.
    #[inline]
    pub fn from(&mut self, text: &WindowedText, start: usize, end: usize) -> Result<&[u64]> {
        if start < self.first || start >= self.first + self.values.len() {
            text.polynomials(start..end.min(start + Self::TOGETHER), self)?;
        }
        let some = &self.values[start - self.first..];
        Ok(&some[..some.len().min(end - start)])
    }
}

/// What windows are looked up by: a hash of their polynomial.
#[inline]
pub fn fingerprint(polynomial: u64) -> u64 {
    hash::mix(polynomial)
}

/// The polynomials of all symbols up to each. Of some that follow one another they are made apart from the one before,
/// so that no multiplication waits for that of its neighbour.
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

/// Whether a character of ASCII is white space: tab, line feed, vertical tab, form feed, carriage return, space.
#[inline]
fn is_space(byte: u8) -> bool {
    (byte == b' ') | (byte.wrapping_sub(b'\t') <= b'\r' - b'\t')
}

/// White space counts as a space.
#[inline]
fn symbol_of(byte: u8) -> u8 {
    // Without a branch, so that compilers make vectors of it.
    let space = 0u8.wrapping_sub(u8::from(is_space(byte)));
    byte & !space | b' ' & space
}

/// Whether all is ASCII, and no white space follows white space, which the text may end with before.
#[inline]
fn is_plain<const BLOCK: usize>(block: &[u8; BLOCK], before: bool) -> bool {
    let mut spaces = [0; BLOCK];
    spaces.iter_mut().zip(block).for_each(|(space, &byte)| *space = u8::from(is_space(byte)));
    let both = spaces[1..].iter().zip(&spaces).fold(0, |any, (a, b)| any | (a & b));
    let all = block.iter().fold(0, |all, byte| all | byte);
    all < 128 && both == 0 && !(before && spaces[0] != 0)
}
