//! Reads all rows of a segment to find those whose sketches are near to a given one.

use super::segment::Segment;
use crate::pg::index::layout::format::PageKind;
use crate::pg::index::layout::items::{HeapRow, rows_per_page};
use crate::pg::index::pages::buffer::Looked;
use crate::pg::server::error::or_raise;
use neardup_core::memory;
use neardup_core::sketches::simhash;

impl Segment {
    /// Calls `each` with every row whose sketch differs from `bits` in at most `wanted` bits, and
    /// with every row that has flags. `each` may change `wanted` for the rows that follow. Returns
    /// the number of rows that were left out.
    pub(crate) fn near_rows(
        &self,
        bits: &[u8],
        wanted: &mut u32,
        each: &mut dyn FnMut(HeapRow, &[u8], &mut u32),
    ) -> Looked<u64> {
        let per_page = rows_per_page(self.layout.payload);
        let width = HeapRow::SIZE + self.layout.payload;
        let mut near = or_raise(memory::filled(0_u32, per_page, "comparing the sketches of an index"));
        let mut left_out = 0;
        for n in 0..self.about.row_pages {
            pgrx::check_for_interrupts!();
            let page = self.page(n, PageKind::Rows)?;
            let contents = page.contents();
            let count = (self.about.rows as usize - n as usize * per_page).min(per_page);
            if contents.len() != count * width {
                self.index.corrupted(page.block(), "a row page does not have the rows that it should");
            }
            let mut visit = |bytes: &[u8], wanted: &mut u32| {
                let (head, sketch) = bytes.split_at(HeapRow::SIZE);
                let head = HeapRow::read(head);
                if !head.is_valid() {
                    self.index.corrupted(page.block(), "a row has no heap address");
                }
                each(head, sketch, wanted);
            };
            // The flags of a row are its first two bytes.
            let found = simhash::near_rows(bits, contents, width, *wanted, &mut near);
            left_out += (count - found) as u64;
            for &row in &near[..found] {
                visit(&contents[row as usize * width..][..width], wanted);
            }
        }
        Ok(left_out)
    }
}
