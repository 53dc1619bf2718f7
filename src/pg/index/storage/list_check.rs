//! Checks the lists of a segment as a whole.

use super::list_reader::PartReader;
use super::segment::Segment;
use crate::pg::index::layout::format::List;
use crate::pg::index::pages::buffer::Looked;

impl Segment {
    /// Fails if the parts are not contiguous, or if the rows that are listed as holding a part of a
    /// split set are not those in `split`.
    pub(crate) fn check_parts(&self, split: &[u32]) -> Looked<()> {
        let wrong = |what: &str| -> ! {
            self.index.corrupted(self.about.root, &format!("segment {}: {what}", self.about.id))
        };
        let mut at = 0;
        for n in 0..self.about.lists {
            pgrx::check_for_interrupts!();
            let List { offset, length, .. } = self.entry(n)?;
            if offset != at {
                wrong("parts of lists do not follow one another");
            }
            at += u64::from(length);
        }
        if at != self.about.list_bytes {
            wrong("lists have another length than the directory says");
        }
        let (mut part, mut rows, mut all) = (PartReader::of_split(self)?, Vec::new(), Vec::new());
        while part.next(&mut rows)?.is_some() {
            all.append(&mut rows);
        }
        if all != split {
            wrong("rows of long documents are not those that are listed");
        }
        Ok(())
    }
}
