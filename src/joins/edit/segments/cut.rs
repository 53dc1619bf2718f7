//! Texts cut into pieces.

use super::context_check::Codes;
use super::shape::Shape;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::texts::Texts;
use crate::memory;

const DOING: &str = "cutting texts into pieces";

/// A key of a piece of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub hash: u32,
    /// Of its first character.
    pub place: u32,
    /// Characters from there to the end of the text.
    pub behind: u32,
    /// The number of its text among those of the index.
    pub member: u32,
    /// What follows the key.
    pub follows: u32,
    /// How many pieces of its text that the index has are before it, and how many behind.
    pub others: [u16; 2],
}

impl Entry {
    /// Bytes of an entry while an index is made: as it was cut, as it is ordered and room for that, how often it is met,
    /// where it begins.
    pub(super) const BYTES: usize = 3 * size_of::<Self>() + 2 * size_of::<u32>();
    /// Of an entry whose pieces are not chosen yet: more than an edit can be away from it.
    const NOT_CHOSEN: [u16; 2] = [u16::MAX; 2];

    /// What entries are ordered by.
    #[inline]
    pub(super) fn key(&self) -> u64 {
        Self::key_of(self.hash, self.place)
    }

    /// That of one with this hash at this place.
    #[inline]
    pub(super) fn key_of(hash: u32, place: u32) -> u64 {
        u64::from(hash) << u32::BITS | u64::from(place)
    }
    /// Of a text that has more pieces the first ones are taken.
    pub(super) const MOST_PIECES: usize = u16::MAX as usize;
}

/// A text of the index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    /// How many pieces it was cut into.
    pub pieces: u32,
    /// How many of its pieces no similar text needs to have.
    pub changed: u32,
}

/// What one thread makes of some texts.
#[derive(Debug)]
pub(super) struct Share {
    /// The texts, and for each the greatest distance of a pair that it may be in.
    pub todo: Vec<(u32, u32)>,
    /// The number of the first among all.
    first: u32,
    pub entries: Vec<Entry>,
    pub members: Vec<Member>,
}

impl Share {
    /// To be made of these texts.
    pub(super) fn new(todo: Vec<(u32, u32)>, first: u32) -> Self {
        Self { todo, first, entries: Vec::new(), members: Vec::new() }
    }

    /// Cuts its texts.
    pub(super) fn cut(&mut self, texts: &Texts, shape: Shape, stop: &Stop) -> Result<()> {
        // One that was stopped begins anew.
        self.entries.clear();
        self.members.clear();
        let Self { todo, first, entries, members } = self;
        let mut codes = Codes::default();
        for (member, &(text, distance)) in (*first..).zip(todo.iter()) {
            let length = texts.length(text);
            let pieces = (length as usize / shape.length()).min(Entry::MOST_PIECES) as u32;
            let changed = distance / shape.edits();
            // Of the others nothing is known.
            if pieces > changed {
                memory::reserve(entries, pieces as usize * shape.keys(), DOING)?;
                let end = pieces * shape.length() as u32;
                codes.set(texts.text(text), length)?;
                shape.for_each_key(texts.text(text), stop, |places, hash| {
                    if places.start < end {
                        entries.push(Entry {
                            hash,
                            place: places.start,
                            behind: length - places.start,
                            member,
                            follows: codes.from(places.end),
                            others: Entry::NOT_CHOSEN,
                        });
                    }
                    Ok(())
                })?;
            }
            memory::push(members, Member { pieces, changed }, DOING)?;
        }
        Ok(())
    }
}
