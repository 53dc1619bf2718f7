//! A column of the table for an edit distance, with 64 rows in a machine word: the step from one
//! column to the next (Myers, JACM 1999; Hyyrö, Nordic J. Computing 2003, also for neighbours that
//! change places), and the rows of each symbol, which the step needs.

use crate::error::Result;
use crate::memory;

/// The purpose of the memory, for error messages.
pub const DOING: &str = "comparing two texts";

/// The number of table rows in a machine word.
pub const WORD: usize = u64::BITS as usize;

/// The carry from one word of a column to the next word below: whether the value of the last row of
/// the upper word is one more or one less than in the previous column.
#[derive(Debug, Clone, Copy)]
pub struct Carry {
    /// 1 if the value is one more.
    pub more: u64,
    /// 1 if the value is one less.
    pub less: u64,
}

impl Carry {
    /// The carry of the row above the table or above the band.
    pub const TOP: Self = Self { more: 1, less: 0 };
}

/// Advances one word to the next column. `equal` marks the rows that hold the column's symbol;
/// `more` and `less` mark the rows whose value is one more or one less than that of the row above.
/// Returns the carry of row `last`.
#[inline]
pub fn step(equal: u64, more: &mut u64, less: &mut u64, above: Carry, last: usize) -> Carry {
    step_by_diagonal(equal, more, less, above, last).0
}

/// Advances one word, and also returns the rows whose value is that of the row above in the
/// previous column.
#[inline]
fn step_by_diagonal(equal: u64, more: &mut u64, less: &mut u64, above: Carry, last: usize) -> (Carry, u64) {
    let equal = equal | above.less;
    let diagonal = (((equal & *more).wrapping_add(*more)) ^ *more) | equal | *less;
    let right_more = *less | !(diagonal | *more);
    let right_less = diagonal & *more;
    let carry = Carry { more: right_more >> last & 1, less: right_less >> last & 1 };
    let (right_more, right_less) = (right_more << 1 | above.more, right_less << 1 | above.less);
    *more = right_less | !(diagonal | right_more);
    *less = right_more & diagonal;
    (carry, diagonal)
}

/// What a step that knows swapped neighbours needs of a word's previous column.
#[derive(Debug, Clone, Copy)]
pub struct ColumnBefore {
    /// The rows that hold the previous column's symbol.
    pub equal: u64,
    /// The rows whose value is that of the row above in the column before the previous one.
    pub diagonal: u64,
}

impl ColumnBefore {
    /// Before the first column of a word, nothing can have changed places.
    pub const NOTHING: Self = Self { equal: 0, diagonal: u64::MAX };
}

/// Advances one word like [`step`], where two neighbouring symbols that changed places are one
/// edit. `swap` is 1 if the last row of the word above and the first row of this one may have
/// changed places; it becomes that of the word below.
///
/// A row and the one above hold the last two symbols in the other order. Then the row's value is at
/// most one more than that of two rows above, two columns before. This is less than without the
/// swap only if the value between both, on their diagonal, is one more, too. So the swap is like an
/// equal symbol.
#[inline]
pub fn swapping_step(
    equal: u64,
    before: &mut ColumnBefore,
    more: &mut u64,
    less: &mut u64,
    above: Carry,
    swap: &mut u64,
    last: usize,
) -> Carry {
    let first = !before.diagonal & equal;
    let swapped = (first << 1 | *swap) & before.equal;
    let (carry, diagonal) = step_by_diagonal(equal | swapped, more, less, above, last);
    *before = ColumnBefore { equal, diagonal };
    *swap = first >> last & 1;
    carry
}

/// The number of symbols that are looked up without hashing: the ASCII characters.
const ASCII: usize = 128;

/// The pages of a text. Each is built when it is needed.
#[derive(Debug, Default)]
pub struct SymbolPages(pub(super) Vec<SymbolPage>);

impl SymbolPages {
    /// Makes room for the pages of `words` words of rows. All of them must be built again.
    pub fn begin(&mut self, words: usize) -> Result<()> {
        let count = words.div_ceil(SymbolPage::WORDS);
        self.0.truncate(count);
        self.0.iter_mut().for_each(|page| page.unmade = true);
        let more = count - self.0.len();
        memory::reserve(&mut self.0, more, DOING)?;
        self.0.resize_with(count, SymbolPage::default);
        Ok(())
    }

    /// Builds a page of these symbols of a text, unless this is done.
    pub fn make(&mut self, number: usize, symbols: &[u32]) -> Result<()> {
        const ROWS: usize = SymbolPage::WORDS * WORD;
        let page = &mut self.0[number];
        let rows = &symbols[number * ROWS..];
        if page.unmade { page.set(&rows[..rows.len().min(ROWS)]) } else { Ok(()) }
    }
}

/// A page of up to 1024 rows. It holds, for each symbol, the rows in which the symbol occurs.
#[derive(Debug)]
pub struct SymbolPage {
    /// The offset in `rows` of each ASCII symbol; 0 for symbols that do not occur here.
    ascii: [u32; ASCII],
    /// A hash table of all other symbols and the offsets of their rows. Empty if there are no other
    /// symbols.
    slots: Vec<(u32, u32)>,
    /// One bit per row, for each symbol.
    rows: Vec<u64>,
    /// True if the page still has to be built.
    unmade: bool,
}

impl Default for SymbolPage {
    fn default() -> Self {
        Self { ascii: [0; ASCII], slots: Vec::new(), rows: Vec::new(), unmade: true }
    }
}

impl SymbolPage {
    /// The number of words that hold one bit for each row of a page.
    pub const WORDS: usize = 16;
    /// A value that is not a code point.
    pub const NONE: u32 = u32::MAX;

    /// Builds the page for these symbols, one per row. It reuses the page's space.
    pub fn set(&mut self, symbols: &[u32]) -> Result<()> {
        self.ascii = [0; ASCII];
        self.slots.clear();
        let others = symbols.iter().filter(|&&symbol| symbol as usize >= ASCII).count();
        if others > 0 {
            memory::fill(&mut self.slots, (Self::NONE, 0), 2 * others.next_power_of_two(), DOING)?;
        }
        // The first words are 0: they belong to all symbols that do not occur here.
        self.rows.clear();
        memory::fill(&mut self.rows, 0, Self::WORDS, DOING)?;
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
                memory::fill(&mut self.rows, 0, Self::WORDS, DOING)?;
            }
            self.rows[*start as usize + n / WORD] |= 1 << (n % WORD);
        }
        self.unmade = false;
        Ok(())
    }

    /// Returns the slot of a symbol, or the free slot where it would be. At least half of the slots
    /// are free.
    #[inline]
    fn slot(&self, symbol: u32) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = (symbol ^ (symbol >> 7)) as usize & mask;
        while self.slots[slot].0 != symbol && self.slots[slot].0 != Self::NONE {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// Returns one bit per row, set if the row has this symbol. Bits after the last row are not
    /// set.
    #[inline]
    pub fn rows_of(&self, symbol: u32) -> &[u64; Self::WORDS] {
        let start = match self.ascii.get(symbol as usize) {
            Some(&start) => start,
            None if self.slots.is_empty() => 0,
            // A free slot has the offset 0.
            None => self.slots[self.slot(symbol)].1,
        };
        self.rows[start as usize..].first_chunk().unwrap_or(&[0; Self::WORDS])
    }
}
