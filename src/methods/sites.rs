//! The site of each row: what a column of sites holds, as numbers.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::memory;

/// Sites by row; those of a right table's rows stand behind the left one's.
#[derive(Debug, Default)]
pub struct Sites {
    numbers: HashMap<String, u32>,
    of: Vec<u32>,
}

impl Sites {
    /// The number of rows whose site is not known.
    const UNKNOWN: u32 = u32::MAX;

    /// Adds the site of the next row, none where it is NULL.
    pub fn push(&mut self, site: Option<&str>) -> Result<()> {
        const DOING: &str = "keeping sites";
        let number = match site {
            None => Self::UNKNOWN,
            Some(site) => match self.numbers.get(site) {
                Some(&number) => number,
                None => {
                    self.numbers.try_reserve(1).map_err(|_| Error::OutOfMemory { doing: DOING })?;
                    let number = self.numbers.len() as u32;
                    self.numbers.insert(site.to_owned(), number);
                    number
                }
            },
        };
        memory::push(&mut self.of, number, DOING)?;
        Ok(())
    }

    /// The numbers of the rows' sites, equal for equal sites; `u32::MAX` where the site is NULL, which is
    /// no site and the same as no other.
    pub fn numbers(&self) -> &[u32] {
        &self.of
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.of)
            + self.numbers.keys().map(String::capacity).sum::<usize>()
            + self.numbers.capacity() * size_of::<(String, u32)>()
    }
}
