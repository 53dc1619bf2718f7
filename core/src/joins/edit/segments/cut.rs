//! Texts cut into pieces.

use super::context_check::CharacterBits;
use super::shape::Shape;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::texts::Texts;
use crate::memory;

const DOING: &str = "cutting texts into pieces";

/// A key of a piece of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct PieceEntry {
    pub hash: u32,
    /// The position of the key's first character.
    pub place: u32,
    /// The number of characters from that position to the end of the text.
    pub behind: u32,
    /// The number of the key's text in the index.
    pub member: u32,
    /// The codes of the characters that follow the key.
    pub follows: u32,
    /// The number of indexed pieces of the same text before this one, and after it.
    pub others: [u16; 2],
}

impl PieceEntry {
    /// The number of bytes per entry while an index is built: the entry as it was cut, the sorted
    /// entry, the sort buffer, the number of matches and the start.
    pub(super) const BYTES: usize = 3 * size_of::<Self>() + 2 * size_of::<u32>();
    /// The value of `others` before the pieces are chosen: more than the edits that any entry
    /// allows.
    const NOT_CHOSEN: [u16; 2] = [u16::MAX; 2];

    /// Returns the key that entries are sorted by.
    #[inline]
    pub(super) fn key(&self) -> u64 {
        Self::key_of(self.hash, self.place)
    }

    /// Returns the sort key of an entry with this hash at this position.
    #[inline]
    pub(super) fn key_of(hash: u32, place: u32) -> u64 {
        u64::from(hash) << u32::BITS | u64::from(place)
    }
    /// The maximum number of pieces of a text. Only the first pieces of a longer text are used.
    pub(super) const MOST_PIECES: usize = u16::MAX as usize;
}

/// A text of the index.
#[derive(Debug, Clone, Copy)]
pub(super) struct IndexedText {
    /// The number of pieces that the text was cut into.
    pub pieces: u32,
    /// The number of the text's pieces that a similar text may lack.
    pub changed: u32,
}

/// The pieces that one thread cuts from some texts.
#[derive(Debug)]
pub(super) struct CutShare {
    /// The texts, and for each of them the greatest distance of a pair that the text may be in.
    pub todo: Vec<(u32, u32)>,
    /// The number that the first of these texts has in the index.
    first: u32,
    pub entries: Vec<PieceEntry>,
    pub members: Vec<IndexedText>,
}

impl CutShare {
    /// Creates a share for these texts; the pieces are not cut yet.
    pub(super) fn new(todo: Vec<(u32, u32)>, first: u32) -> Self {
        Self { todo, first, entries: Vec::new(), members: Vec::new() }
    }

    /// Cuts the texts of the share.
    pub(super) fn cut(&mut self, texts: &Texts, shape: Shape, stop: &Stop) -> Result<()> {
        // After a stop, the share starts again from the beginning.
        self.entries.clear();
        self.members.clear();
        let Self { todo, first, entries, members } = self;
        let mut codes = CharacterBits::default();
        for (member, &(text, distance)) in (*first..).zip(todo.iter()) {
            let length = texts.length(text);
            let pieces = (length as usize / shape.length()).min(PieceEntry::MOST_PIECES) as u32;
            let changed = distance / shape.edits();
            // If a text has no more pieces than this, a similar text may lack all of them.
            if pieces > changed {
                memory::reserve(entries, pieces as usize * shape.keys(), DOING)?;
                let end = pieces * shape.length() as u32;
                codes.set(texts.text(text), length)?;
                shape.for_each_key(texts.text(text), stop, |places, hash| {
                    if places.start < end {
                        entries.push(PieceEntry {
                            hash,
                            place: places.start,
                            behind: length - places.start,
                            member,
                            follows: codes.from(places.end),
                            others: PieceEntry::NOT_CHOSEN,
                        });
                    }
                    Ok(())
                })?;
            }
            memory::push(members, IndexedText { pieces, changed }, DOING)?;
        }
        Ok(())
    }
}
