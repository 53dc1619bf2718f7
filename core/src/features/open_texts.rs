//! Some of the distinct texts, in memory.

use std::ops::Range;

use super::texts::Texts;
use crate::error::Result;
use crate::memory;
use crate::storage::log::Log;

const DOING: &str = "opening texts";

/// Texts that can be read. If the texts are in a file, they are copies of some of them.
#[derive(Debug)]
pub struct OpenTexts<'a> {
    texts: &'a Texts,
    space: Vec<u8>,
    /// For each copy the number of its text, ascending, and its place in `space`.
    copies: Vec<(u32, Range<usize>)>,
}

impl OpenTexts<'_> {
    /// Returns a text, which must be among those that were opened.
    #[inline]
    pub fn text(&self, text: u32) -> &str {
        if !self.texts.are_in_file() {
            return self.texts.text(text);
        }
        match self.copies.binary_search_by_key(&text, |&(number, _)| number) {
            // The bytes were a valid text when they were written.
            Ok(n) => str::from_utf8(&self.space[self.copies[n].1.clone()]).unwrap_or_default(),
            Err(_) => "",
        }
    }

    /// Prefetches the beginning of a text that is needed soon.
    #[inline]
    pub fn prefetch(&self, text: u32) {
        if !self.texts.are_in_file() {
            self.texts.prefetch(text);
        }
    }

    /// Prefetches the place of a text.
    #[inline]
    pub fn prefetch_place(&self, text: u32) {
        self.texts.prefetch_place(text);
    }
}

impl Texts {
    /// Opens some texts. If the texts are in a file, this call sorts `wanted`, removes repeats from
    /// it, and reads the file in the leader's thread, in the order of the places in it.
    pub fn open(&self, wanted: &mut Vec<u32>, file: &mut Log<u8>) -> Result<OpenTexts<'_>> {
        let (mut space, mut copies) = (Vec::new(), Vec::new());
        if self.are_in_file() {
            wanted.sort_unstable_by_key(|&text| self.start(text));
            wanted.dedup();
            memory::reserve(&mut copies, wanted.len(), DOING)?;
            memory::reserve(&mut space, wanted.iter().map(|&text| self.size(text)).sum(), DOING)?;
            for &text in wanted.iter() {
                let from = space.len();
                file.append(self.start(text), self.size(text), &mut space)?;
                copies.push((text, from..space.len()));
            }
            copies.sort_unstable_by_key(|&(text, _)| text);
        }
        Ok(OpenTexts { texts: self, space, copies })
    }
}
