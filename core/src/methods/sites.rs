//! The site of each row: the contents of a column of sites, as numbers.

use std::collections::HashMap;

use crate::error::Result;
use crate::memory;

/// The site of each row. The rows of a right table follow those of the left table.
#[derive(Debug, Default)]
pub struct Sites {
    numbers: HashMap<String, u32>,
    of: Vec<u32>,
    /// The sites of rows of the right table that were added before the left table was complete.
    of_right: Vec<u32>,
}

impl Sites {
    /// The site number of rows whose site is unknown.
    const UNKNOWN: u32 = u32::MAX;

    /// Adds the site of the next row, `None` if it is NULL. Returns true if no site before was
    /// written like this one: it has the next number.
    pub fn push(&mut self, site: Option<&str>) -> Result<bool> {
        self.push_to(false, site)
    }

    /// Does the same as [`Sites::push`] for the next row of the left or the right table, while both
    /// tables are read.
    pub fn push_to(&mut self, is_right: bool, site: Option<&str>) -> Result<bool> {
        const DOING: &str = "keeping sites";
        let known = self.numbers.len();
        let number = match site {
            None => Self::UNKNOWN,
            Some(site) => match self.numbers.get(site) {
                Some(&number) => number,
                None => {
                    memory::attempt(DOING, || self.numbers.try_reserve(1))?;
                    let number = self.numbers.len() as u32;
                    self.numbers.insert(site.to_owned(), number);
                    number
                }
            },
        };
        let of = if is_right { &mut self.of_right } else { &mut self.of };
        memory::push(of, number, DOING)?;
        Ok(self.numbers.len() > known)
    }

    /// Lets the rows of the right table follow those of the left one. No more rows are added.
    pub fn join_tables(&mut self) -> Result<()> {
        memory::extend(&mut self.of, &std::mem::take(&mut self.of_right), "keeping sites")
    }

    /// Gives each row the number that `numbers` has for its own: sites that are written in
    /// different ways may be the same. No more rows are added.
    pub fn unite(&mut self, numbers: &[u32]) {
        for of in &mut self.of {
            *of = numbers.get(*of as usize).copied().unwrap_or(*of);
        }
    }

    /// Returns the numbers of the rows' sites. Equal sites have equal numbers. A row whose site is
    /// NULL has the number `u32::MAX`, which is not a site; two such rows do not count as rows of
    /// the same site.
    pub fn numbers(&self) -> &[u32] {
        &self.of
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.of)
            + memory::bytes(&self.of_right)
            + self.numbers.keys().map(String::capacity).sum::<usize>()
            + self.numbers.capacity() * size_of::<(String, u32)>()
    }
}
