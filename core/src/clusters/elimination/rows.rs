//! The feature codes of the rows of a table, in the order in which elimination takes them, or those
//! that a program gives.

use std::cmp::Reverse;

use crate::clusters::leaders::Leaders;
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::texts::{Distinct, Texts};
use crate::memory;

const DOING: &str = "ordering feature codes";

/// The codes of the rows of a table, in the order in which they are taken.
#[derive(Debug)]
pub struct RowCodes<'a> {
    texts: &'a Texts,
    /// The code and the vertex at each place.
    places: Vec<(u32, u32)>,
    vertices: usize,
}

impl<'a> RowCodes<'a> {
    /// Orders the codes of a table. `vertex` contains for each row its number in the order of the
    /// ids. O(n log n).
    pub fn new(codes: &'a Distinct, vertex: &[u32], executor: &dyn Executor) -> Result<Self> {
        let Distinct { texts, left, .. } = codes;
        let mut places = Vec::new();
        memory::reserve(&mut places, vertex.len(), DOING)?;
        for code in 0..left.len() {
            places.extend(left.rows(code).iter().map(|&row| (code as u32, vertex[row as usize])));
        }
        let key = |&(code, vertex): &(u32, u32)| (Reverse(texts.length(code)), vertex);
        executor::sort(executor, &mut places, |a, b| key(a).cmp(&key(b)))?;
        Ok(Self { texts, places, vertices: vertex.len() })
    }

    /// Returns the leaders of the vertices after all codes were taken. Vertices without a code
    /// stay.
    pub fn leaders(&self, kept: &[Option<Survivor>]) -> Result<Leaders> {
        let mut of = memory::collect(0..self.vertices as u32, DOING)?;
        let mut similarity = memory::filled(1.0, self.vertices, DOING)?;
        for (kept, &(_, vertex)) in kept.iter().zip(&self.places) {
            if let Some(kept) = kept {
                of[vertex as usize] = self.places[kept.place as usize].1;
                similarity[vertex as usize] = kept.similarity;
            }
        }
        Ok(Leaders { of, similarity })
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.places)
    }
}

impl Codes for RowCodes<'_> {
    fn len(&self) -> usize {
        self.places.len()
    }

    fn code(&self, place: usize) -> &str {
        self.texts.text(self.places[place].0)
    }

    fn length(&self, place: usize) -> u32 {
        self.texts.length(self.places[place].0)
    }
}

/// Codes in the order in which elimination takes them: by descending length, and codes of the same
/// length by id.
///
/// A slice of strings implements this trait; it must be sorted in this order. A program that holds
/// its codes in another form implements the trait for that form.
///
/// ```
/// use neardup_core::Codes;
///
/// let codes = ["甲乙丙".to_owned(), "子丑".into()];
/// assert_eq!((Codes::len(&codes[..]), codes.code(1), codes.length(0)), (2, "子丑", 3));
/// ```
pub trait Codes: Sync {
    /// Returns the number of codes.
    fn len(&self) -> usize;

    /// Returns the code at a place in the order. No code is empty.
    fn code(&self, place: usize) -> &str;

    /// Returns the number of characters of a code.
    fn length(&self, place: usize) -> u32;
}

impl Codes for [String] {
    fn len(&self) -> usize {
        self.len()
    }

    fn code(&self, place: usize) -> &str {
        &self[place]
    }

    fn length(&self, place: usize) -> u32 {
        self[place].chars().count() as u32
    }
}

/// The code in favour of which another one is eliminated.
///
/// ```
/// use neardup_core::{PlainThreads, Survivor, eliminate_repeated};
///
/// let codes = ["abcdefgh".to_owned(), "abcdxx".into()];
/// let found = eliminate_repeated(&codes[..], 0.6, 1 << 24, &PlainThreads(1))?;
/// assert_eq!(found[1], Some(Survivor { place: 0, similarity: 4.0 / 6.0 }));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Survivor {
    /// The place of the code that stays.
    pub place: u32,
    /// The repeatability of the eliminated code with respect to the code that stays.
    pub similarity: f64,
}

/// A subset of the codes.
pub struct Subset<'a, C: ?Sized> {
    /// All codes.
    pub codes: &'a C,
    /// The places of the subset's codes in the order of all codes.
    pub places: &'a [u32],
}

impl<C: Codes + ?Sized> Codes for Subset<'_, C> {
    fn len(&self) -> usize {
        self.places.len()
    }

    fn code(&self, place: usize) -> &str {
        self.codes.code(self.places[place] as usize)
    }

    fn length(&self, place: usize) -> u32 {
        self.codes.length(self.places[place] as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clusters::elimination::eliminate_repeated;
    use crate::executor::PlainThreads;
    use crate::features::texts::{TextCollector, distinct};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_taken_by_length_and_id(
            codes in prop::collection::vec("[ab]{0,6}|[abc]{1,9}", 0..30),
            ids in Just((0..30).collect::<Vec<u32>>()).prop_shuffle(),
            threads in 1..4usize,
        ) {
            let executor = PlainThreads(threads);
            let mut collectors: Vec<_> = (0..threads).map(|_| TextCollector::default()).collect();
            for (row, code) in codes.iter().enumerate() {
                collectors[row % threads].add(row as u32, code).expect("memory");
            }
            let distinct = distinct(collectors, None, &executor).expect("memory");
            let rows = RowCodes::new(&distinct, &ids[..codes.len()], &executor).expect("memory");
            let kept = eliminate_repeated(&rows, 0.7, usize::MAX / 4, &executor).expect("memory");
            // Missing ids are vertices that stay.
            let leaders = RowCodes { vertices: 30, ..rows }.leaders(&kept).expect("memory");

            let mut order: Vec<usize> = (0..codes.len()).filter(|&row| !codes[row].is_empty()).collect();
            order.sort_by_key(|&row| (Reverse(codes[row].len()), ids[row]));
            let sorted: Vec<String> = order.iter().map(|&row| codes[row].clone()).collect();
            let mut expected: Vec<u32> = (0..30).collect();
            let outcome = eliminate_repeated(&sorted[..], 0.7, usize::MAX / 4, &executor).expect("memory");
            for (kept, &row) in outcome.iter().zip(&order) {
                if let Some(kept) = kept {
                    expected[ids[row] as usize] = ids[order[kept.place as usize]];
                    prop_assert_eq!(leaders.similarity[ids[row] as usize], kept.similarity);
                }
            }
            prop_assert_eq!(leaders.of, expected);
        }
    }
}
