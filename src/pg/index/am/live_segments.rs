//! The segments that a search reads.

use crate::pg::index::layout::format::NONE;
use crate::pg::index::layout::meta::Directory;
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::pages::buffer::{Looked, OpenIndex};
use crate::pg::index::storage::segment::Segment;

/// Opens the segments that have live rows.
pub(super) fn living(index: OpenIndex, directory: &Directory, keys: &ClassKeys) -> Looked<Vec<Segment>> {
    let segments = directory.segments.iter().filter(|about| about.root != NONE && about.rows > about.dead);
    segments.map(|&about| Segment::open(index, about, keys.layout())).collect()
}
