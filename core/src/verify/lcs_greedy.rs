//! The longest common subsequence of two texts that hardly differ: Myers's greedy O(ND) algorithm
//! (Algorithmica 1, 1986). It keeps every frontier, so that an alignment can be read back.
//!
//! A frontier says, for d insertions and deletions, how far each diagonal x - y = k can be
//! followed. No path of d steps or fewer gets farther. So a frontier also answers whether d steps
//! can reach a cell (x, y): they can if the frontier is at x or beyond on the cell's diagonal. Time
//! O(N + D²) expected, O(ND) at worst; memory for D² / 2 numbers, which is why the caller bounds D.

use super::column::DOING;
use crate::error::Result;
use crate::executor::Stop;
use crate::memory;

/// The result of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// The texts are this many insertions and deletions apart.
    End(usize),
    /// The texts are more than the allowed number of steps apart. The value is the greatest number
    /// of characters of both texts together that a path passed.
    Far(usize),
}

/// The frontiers of a comparison.
#[derive(Debug, Default)]
pub struct Greedy {
    /// The frontier of d steps has d + 1 entries, from offset d(d + 1)/2 on: x on the diagonals -d,
    /// -d + 2, …, d.
    furthest: Vec<i64>,
}

impl Greedy {
    /// Compares two texts up to `most` insertions and deletions.
    pub fn compare(&mut self, a: &[u32], b: &[u32], most: usize, stop: &Stop) -> Result<Reached> {
        let (rows, columns) = (a.len() as i64, b.len() as i64);
        self.furthest.clear();
        let mut passed = 0;
        for d in 0..=most {
            stop.check()?;
            stop.work(d);
            memory::reserve(&mut self.furthest, d + 1, DOING)?;
            let before = d * d.saturating_sub(1) / 2;
            for n in 0..=d {
                let k = 2 * n as i64 - d as i64;
                // A place that does not exist is a large negative number.
                let deleted = if n > 0 { self.furthest[before + n - 1] + 1 } else { i64::MIN / 2 };
                let inserted = if n < d { self.furthest[before + n] } else { i64::MIN / 2 };
                let start = if d == 0 { 0 } else { deleted.max(inserted) };
                let mut x = start.min(rows).min(columns + k);
                let y = x - k;
                if x >= 0 && y >= 0 {
                    let (a, b) = (&a[x as usize..], &b[y as usize..]);
                    // Mostly there is no common prefix.
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

    /// Reports whether `d` steps can reach a cell.
    fn reaches(&self, d: usize, x: usize, y: usize) -> bool {
        let k = x as i64 - y as i64;
        let n = (k + d as i64) / 2;
        k.unsigned_abs() as usize <= d && self.furthest[d * (d + 1) / 2 + n as usize] >= x as i64
    }

    /// Reads an alignment of texts that are `d` steps apart, from their ends, by the rule of
    /// [`super::lcs::Lcs::matches`]. `each` receives the places of matched characters, the last
    /// ones first.
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

/// Returns the length of the common prefix of two texts, in symbols.
#[inline]
pub fn common_prefix(a: &[u32], b: &[u32]) -> usize {
    const LANES: usize = 16;
    let (a_chunks, b_chunks) = (a.as_chunks::<LANES>().0, b.as_chunks::<LANES>().0);
    let at = LANES * a_chunks.iter().zip(b_chunks).take_while(|(x, y)| are_equal(x, y)).count();
    at + a[at..].iter().zip(&b[at..]).take_while(|(x, y)| x == y).count()
}

/// Returns the length of the common suffix of two texts, in symbols.
pub fn common_suffix(a: &[u32], b: &[u32]) -> usize {
    const LANES: usize = 16;
    let (a_chunks, b_chunks) = (a.as_rchunks::<LANES>().1, b.as_rchunks::<LANES>().1);
    let at =
        LANES * a_chunks.iter().rev().zip(b_chunks.iter().rev()).take_while(|(x, y)| are_equal(x, y)).count();
    let (a, b) = (&a[..a.len() - at], &b[..b.len() - at]);
    at + a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count()
}

/// Reports whether two short runs of symbols are equal. For so few symbols, a call of a library
/// function would cost too much.
#[inline]
fn are_equal<const LANES: usize>(a: &[u32; LANES], b: &[u32; LANES]) -> bool {
    a.iter().zip(b).fold(0, |any, (x, y)| any | (x ^ y)) == 0
}
