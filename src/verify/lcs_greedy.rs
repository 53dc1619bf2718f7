//! The longest common subsequence of two texts that hardly differ: Myers's greedy O(ND) algorithm
//! (Algorithmica 1, 1986), with every frontier kept, so that an alignment can be read back.
//!
//! A frontier is, for d insertions and deletions, how far each diagonal x - y = k can be followed. It is
//! never behind any way of d steps or fewer, so it also answers whether a cell (x, y) can be reached with
//! d of them: where it went as far as x on the cell's diagonal. Time O(N + D²) as expected, O(ND) at worst;
//! memory for D² / 2 numbers, which is why the caller bounds D.

use super::column::DOING;
use crate::error::Result;
use crate::executor::Stop;
use crate::memory;

/// What came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// The texts are this many insertions and deletions apart.
    End(usize),
    /// More than were allowed; with these, as many characters of both texts were passed.
    Far(usize),
}

/// The frontiers of a comparison.
#[derive(Debug, Default)]
pub struct Greedy {
    /// That of d steps has d + 1 entries, from place d(d + 1)/2 on: x on the diagonals -d, -d + 2, …, d.
    furthest: Vec<i64>,
}

impl Greedy {
    /// Compares two texts as far as `most` insertions and deletions go.
    pub fn compare(&mut self, a: &[u32], b: &[u32], most: usize, stop: &Stop) -> Result<Reached> {
        let (rows, columns) = (a.len() as i64, b.len() as i64);
        self.furthest.clear();
        let mut passed = 0;
        for d in 0..=most {
            stop.check()?;
            memory::reserve(&mut self.furthest, d + 1, DOING)?;
            let before = d * d.saturating_sub(1) / 2;
            for n in 0..=d {
                let k = 2 * n as i64 - d as i64;
                // What stands before the first place is not there: a far negative number.
                let deleted = if n > 0 { self.furthest[before + n - 1] + 1 } else { i64::MIN / 2 };
                let inserted = if n < d { self.furthest[before + n] } else { i64::MIN / 2 };
                let start = if d == 0 { 0 } else { deleted.max(inserted) };
                let mut x = start.min(rows).min(columns + k);
                let y = x - k;
                if x >= 0 && y >= 0 {
                    let (a, b) = (&a[x as usize..], &b[y as usize..]);
                    // Mostly nothing is in common.
                    if !a.is_empty() && a.first() == b.first() {
                        x += common_prefix(a, b) as i64;
                    }
                    passed = passed.max(2 * x - k);
                }
                self.furthest.push(x);
                if x == rows && x - k == columns {
                    return Ok(Reached::End(d));
                }
            }
        }
        Ok(Reached::Far(passed as usize))
    }

    /// Whether a cell can be reached with `d` steps.
    fn reaches(&self, d: usize, x: usize, y: usize) -> bool {
        let k = x as i64 - y as i64;
        let n = (k + d as i64) / 2;
        k.unsigned_abs() as usize <= d && self.furthest[d * (d + 1) / 2 + n as usize] >= x as i64
    }

    /// Reads an alignment of the texts that are `d` steps apart, from their ends, by the rule of
    /// [`super::lcs::Lcs::matches`]; `each` gets the places of characters that are matched, last ones first.
    pub fn trace(&self, a: &[u32], b: &[u32], mut d: usize, mut each: impl FnMut(usize, usize)) {
        let (mut x, mut y) = (a.len(), b.len());
        while x > 0 && y > 0 {
            if a[x - 1] == b[y - 1] {
                (x, y) = (x - 1, y - 1);
                each(x, y);
                continue;
            }
            d -= 1;
            if self.reaches(d, x - 1, y) {
                x -= 1;
            } else {
                y -= 1;
            }
        }
    }
}

/// How many symbols two texts have in common at their start.
#[inline]
pub fn common_prefix(a: &[u32], b: &[u32]) -> usize {
    const LANES: usize = 16;
    let (a_chunks, b_chunks) = (a.as_chunks::<LANES>().0, b.as_chunks::<LANES>().0);
    let at = LANES * a_chunks.iter().zip(b_chunks).take_while(|(x, y)| are_equal(x, y)).count();
    at + a[at..].iter().zip(&b[at..]).take_while(|(x, y)| x == y).count()
}

/// How many symbols two texts have in common at their end.
pub fn common_suffix(a: &[u32], b: &[u32]) -> usize {
    const LANES: usize = 16;
    let (a_chunks, b_chunks) = (a.as_rchunks::<LANES>().1, b.as_rchunks::<LANES>().1);
    let at =
        LANES * a_chunks.iter().rev().zip(b_chunks.iter().rev()).take_while(|(x, y)| are_equal(x, y)).count();
    let (a, b) = (&a[..a.len() - at], &b[..b.len() - at]);
    at + a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count()
}

/// Whether some symbols are equal, without a call for so few.
#[inline]
fn are_equal<const LANES: usize>(a: &[u32; LANES], b: &[u32; LANES]) -> bool {
    a.iter().zip(b).fold(0, |any, (x, y)| any | (x ^ y)) == 0
}
