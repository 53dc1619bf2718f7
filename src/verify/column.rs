//! A column of the table that a Levenshtein distance is found in, 64 rows in a machine word: the step from
//! one column to the next (Myers, JACM 1999; Hyyrö, Nordic J. Computing 2003), and the rows of each symbol,
//! which it needs.

use crate::error::Result;
use crate::memory;

/// What memory is for.
pub const DOING: &str = "comparing two texts";

/// Rows of the table in a machine word.
pub const WORD: usize = u64::BITS as usize;

/// What one word of a column hands to the next one below: whether the row between them is one more or
/// one less than in the column before.
#[derive(Debug, Clone, Copy)]
pub struct Carry {
    /// 1 where it is one more.
    pub more: u64,
    /// 1 where it is one less.
    pub less: u64,
}

impl Carry {
    /// The row above the table, or above the band.
    pub const TOP: Self = Self { more: 1, less: 0 };
}

/// Goes on to the next column in one word, of which `equal` are the rows with the column's symbol; `more`
/// and `less` are its rows that differ from the row above. Gives the carry of row `last`.
#[inline]
pub fn step(equal: u64, more: &mut u64, less: &mut u64, above: Carry, last: usize) -> Carry {
    let equal = equal | above.less;
    let diagonal = (((equal & *more).wrapping_add(*more)) ^ *more) | equal | *less;
    let right_more = *less | !(diagonal | *more);
    let right_less = diagonal & *more;
    let carry = Carry { more: right_more >> last & 1, less: right_less >> last & 1 };
    let (right_more, right_less) = (right_more << 1 | above.more, right_less << 1 | above.less);
    *more = right_less | !(diagonal | right_more);
    *less = right_more & diagonal;
    carry
}

/// Symbols that are looked up without hashing: those of ASCII.
const ASCII: usize = 128;

/// Up to 1024 rows: where each symbol stands in them.
#[derive(Debug)]
pub struct Page {
    /// Where the rows of the symbols of ASCII are in `rows`; 0 for those that do not stand here.
    ascii: [u32; ASCII],
    /// A hash table of the others: symbols, and where their rows are. Empty where there are none.
    slots: Vec<(u32, u32)>,
    /// For each symbol a bit for each row.
    rows: Vec<u64>,
    /// Whether the page is still to be made.
    unmade: bool,
}

impl Default for Page {
    fn default() -> Self {
        Self { ascii: [0; ASCII], slots: Vec::new(), rows: Vec::new(), unmade: true }
    }
}

impl Page {
    /// Whether it is to be made anew.
    pub fn is_unmade(&self) -> bool {
        self.unmade
    }

    /// Says that it is to be made anew.
    pub fn unmake(&mut self) {
        self.unmade = true;
    }

    /// Rows of a page, in words.
    pub const WORDS: usize = 16;
    /// No code point.
    pub const NONE: u32 = u32::MAX;

    /// Makes it that of these symbols, one a row; the space that it had is used again.
    pub fn set(&mut self, symbols: &[u32]) -> Result<()> {
        self.ascii = [0; ASCII];
        self.slots.clear();
        let others = symbols.iter().filter(|&&symbol| symbol as usize >= ASCII).count();
        if others > 0 {
            let slots = 2 * others.next_power_of_two();
            memory::reserve(&mut self.slots, slots, DOING)?;
            self.slots.resize(slots, (Self::NONE, 0));
        }
        // The rows of what does not stand here come first.
        self.rows.clear();
        memory::reserve(&mut self.rows, Self::WORDS, DOING)?;
        self.rows.resize(Self::WORDS, 0);
        for (n, &symbol) in symbols.iter().enumerate() {
            let next = self.rows.len() as u32;
            let start = match self.ascii.get_mut(symbol as usize) {
                Some(start) => start,
                None => {
                    let slot = self.slot(symbol);
                    self.slots[slot].0 = symbol;
                    &mut self.slots[slot].1
                }
            };
            if *start == 0 {
                *start = next;
                memory::reserve(&mut self.rows, Self::WORDS, DOING)?;
                self.rows.resize(self.rows.len() + Self::WORDS, 0);
            }
            self.rows[*start as usize + n / WORD] |= 1 << (n % WORD);
        }
        self.unmade = false;
        Ok(())
    }

    /// The slot of a symbol, or the free one where it would be: there are at least as many free ones.
    #[inline]
    fn slot(&self, symbol: u32) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = (symbol ^ (symbol >> 7)) as usize & mask;
        while self.slots[slot].0 != symbol && self.slots[slot].0 != Self::NONE {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// The rows that have this symbol; those after the last one do not.
    #[inline]
    pub fn rows_of(&self, symbol: u32) -> &[u64; Self::WORDS] {
        let start = match self.ascii.get(symbol as usize) {
            Some(&start) => start,
            None if self.slots.is_empty() => 0,
            // Of a free slot this is 0.
            None => self.slots[self.slot(symbol)].1,
        };
        self.rows[start as usize..].first_chunk().unwrap_or(&[0; Self::WORDS])
    }
}
