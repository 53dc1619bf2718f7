//! Lists of rows, counted: which rows are in at least so many of them.

use crate::error::Error;
use crate::memory;

const DOING: &str = "counting rows in lists";

/// Rows of a list, read from its beginning on.
pub trait RowList {
    /// What reading fails with.
    type Error: From<Error>;

    /// How many rows are still to be read.
    fn left(&self) -> u32;

    /// Appends the next rows, which ascend: at least one if there is one left and `most` is not 0, at most `most`.
    fn read(&mut self, most: usize, out: &mut Vec<u32>) -> std::result::Result<(), Self::Error>;
}

/// Rows with the weight of a list, one each: the row is the upper half.
#[derive(Debug, Default)]
pub struct Hits {
    found: Vec<u64>,
    rows: Vec<u32>,
}

impl Hits {
    /// Rows of each list that are read at a time, at least.
    const LEAST: usize = 64;

    /// Calls `each` with every row whose lists have a weight of at least `least` together, and that weight; rows ascend.
    /// Holds about `budget` bytes, whatever lists there are, and some for each list.
    ///
    /// Short lists are read first, so that long ones may be read as far as there is room; what is counted is what all
    /// lists were read up to. Where there is no room only those that are behind are read.
    pub fn collect<L: RowList>(
        &mut self,
        lists: &mut [L],
        weights: &[u32],
        least: u32,
        budget: usize,
        mut each: impl FnMut(u32, u32) -> std::result::Result<(), L::Error>,
    ) -> std::result::Result<(), L::Error> {
        let Self { found, rows } = self;
        found.clear();
        let room = budget / size_of::<u64>();
        let mut states: Vec<State<'_, L>> = Vec::new();
        memory::reserve(&mut states, lists.len(), DOING)?;
        states.extend(lists.iter_mut().zip(weights).map(|(list, &weight)| State { list, weight, read: 0 }));
        loop {
            states.retain(|state| state.list.left() > 0);
            states.sort_by_key(|state| state.list.left());
            let behind = states.iter().map(|state| state.read).min().unwrap_or(0);
            // What is counted now: rows less than this.
            let mut end = 1 << u32::BITS;
            for (after, state) in (0..states.len()).rev().zip(&mut states) {
                let share = room.saturating_sub(found.len()) / (after + 1);
                if share > 0 || state.read == behind {
                    state.read_to(end, share.max(Self::LEAST), rows, found)?;
                }
                if state.list.left() > 0 {
                    end = end.min(state.read);
                }
            }
            let counted = partition(found, |&hit| hit >> u32::BITS < end);
            let counted = &mut found[..counted];
            counted.sort_unstable();
            for same in counted.chunk_by(|a, b| a >> u32::BITS == b >> u32::BITS) {
                let weight = same.iter().fold(0u32, |sum, &hit| sum.saturating_add(hit as u32));
                if weight >= least {
                    each((same[0] >> u32::BITS) as u32, weight)?;
                }
            }
            let done = counted.len();
            found.drain(..done);
            if states.iter().all(|state| state.list.left() == 0) && found.is_empty() {
                return Ok(());
            }
        }
    }
}

/// A list that is read.
struct State<'a, L> {
    list: &'a mut L,
    weight: u32,
    /// All of its rows that are less than this were read.
    read: u64,
}

impl<L: RowList> State<'_, L> {
    /// Reads on up to this row, if it is not there yet, but no more than so many rows.
    fn read_to(
        &mut self,
        end: u64,
        most: usize,
        rows: &mut Vec<u32>,
        found: &mut Vec<u64>,
    ) -> std::result::Result<(), L::Error> {
        let mut left = most;
        while self.read < end && self.list.left() > 0 && left > 0 {
            rows.clear();
            self.list.read(left, rows)?;
            let Some(&last) = rows.last() else {
                return Err(
                    Error::Malformed { what: "list of rows", why: "it ends too early".to_owned() }.into()
                );
            };
            self.read = u64::from(last) + 1;
            left = left.saturating_sub(rows.len());
            memory::reserve(found, rows.len(), DOING)?;
            found.extend(rows.iter().map(|&row| u64::from(row) << u32::BITS | u64::from(self.weight)));
        }
        Ok(())
    }
}

/// Puts items that hold first, and says how many they are.
fn partition<T>(items: &mut [T], holds: impl Fn(&T) -> bool) -> usize {
    let mut first = 0;
    for n in 0..items.len() {
        if holds(&items[n]) {
            items.swap(first, n);
            first += 1;
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// A list that gives no more than some rows at a time, as a page does.
    struct Pieces<'a>(&'a [u32], usize);

    impl RowList for Pieces<'_> {
        type Error = Error;

        fn left(&self) -> u32 {
            self.0.len() as u32
        }

        fn read(&mut self, most: usize, out: &mut Vec<u32>) -> Result<()> {
            let (rows, rest) = self.0.split_at(self.0.len().min(most).min(self.1));
            out.extend(rows);
            self.0 = rest;
            Ok(())
        }
    }

    proptest! {
        #[test]
        fn rows_are_counted(
            lists in proptest::collection::vec(
                (prop_oneof![Just(300u32), Just(3000), Just(u32::MAX)], 0..400usize, 1..4u32)
                    .prop_flat_map(|(most, count, weight)| (proptest::collection::btree_set(0..=most, 0..=count), Just(weight))),
                0..7,
            ),
            budget in prop_oneof![Just(0usize), 0..20_000usize],
            piece in 1..300usize,
            least in 0..5u32,
        ) {
            let mut expected = BTreeMap::new();
            for (list, weight) in &lists {
                list.iter().for_each(|&row| *expected.entry(row).or_insert(0) += weight);
            }
            expected.retain(|_, weight| *weight >= least);
            let rows: Vec<Vec<u32>> = lists.iter().map(|(list, _)| list.iter().copied().collect()).collect();
            let weights: Vec<u32> = lists.iter().map(|(_, weight)| *weight).collect();
            let mut pieces: Vec<_> = rows.iter().map(|rows| Pieces(rows, piece)).collect();
            let (mut hits, mut found) = (Hits::default(), Vec::new());
            hits.collect(&mut pieces, &weights, least, budget, |row, weight| {
                found.push((row, weight));
                Ok(())
            }).unwrap();
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
            // What is held is what was asked for, and a share for each list.
            prop_assert!(hits.found.capacity() <= 2 * (budget / 8 + 2 * Hits::LEAST * lists.len() + 4));
        }
    }

    #[test]
    fn errors_end_it() {
        let mut pieces = [Pieces(&[1, 2], 9), Pieces(&[2], 9)];
        let stopped = Hits::default().collect(&mut pieces, &[1, 1], 2, 100, |_, _| Err(Error::Stopped));
        assert_eq!(stopped, Err(Error::Stopped));
    }
}
