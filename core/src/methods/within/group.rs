//! The documents of one group of rows, as a source of documents for a method that knows no groups.

use crate::error::{Error, Result};
use crate::features::source_document::SourceDocument;
use crate::memory;
use crate::methods::documents::{Documents, Side};

/// The documents of a group that were read, or the first of them.
#[derive(Debug, Default)]
pub(super) struct HeldGroup {
    /// The numbers of the group's first rows in their tables.
    pub(super) first: [u32; 2],
    documents: [Vec<(u32, SourceDocument)>; 2],
    /// The number of rows of each table that were read.
    pub(super) rows: [usize; 2],
    /// The sources of the rows of the only table, if they have sources.
    sources: Option<Vec<u32>>,
    pub(super) bytes: usize,
}

impl HeldGroup {
    /// Reads the rows of the current group, at most a little more than `most` bytes. Returns the
    /// table whose rows were not all read, or `None` if the group is complete.
    pub(super) fn read(
        first: [u32; 2],
        source: &mut dyn Documents,
        most: usize,
    ) -> Result<(Self, Option<Side>)> {
        let mut held = Self { first, ..Self::default() };
        let sides = if source.has_right() { &[Side::Left, Side::Right][..] } else { &[Side::Left] };
        for &side in sides {
            source.begin(side)?;
            while !source.ended() {
                if held.bytes > most {
                    held.rows[side as usize] = source.rows(side);
                    return Ok((held, Some(side)));
                }
                held.bytes += source.fetch(&mut held.documents[side as usize])?;
            }
            held.rows[side as usize] = source.rows(side);
        }
        if let Some(sources) = held.sources_in(source) {
            held.sources = Some(memory::collect(sources.iter().copied(), "keeping sources")?);
        }
        Ok((held, None))
    }

    /// Returns the sources of the rows of the group that were read, if there is one table. The
    /// pairs of two tables are looked at together, after the last group.
    fn sources_in<'s>(&self, source: &'s dyn Documents) -> Option<&'s [u32]> {
        let sources = source.across().filter(|_| !source.has_right())?;
        Some(&sources[self.first[0] as usize..][..source.rows(Side::Left)])
    }

    /// Returns the number of texts.
    pub(super) fn texts(&self) -> usize {
        self.documents.iter().map(Vec::len).sum()
    }

    /// Reports whether the group may have a pair.
    pub(super) fn may_have_pairs(&self, has_right: bool) -> bool {
        let [left, right] = [0, 1].map(|side| self.documents[side].len());
        if has_right { left > 0 && right > 0 } else { left > 1 }
    }
}

/// The rows of a group: those that are held and, if there are more of them, those of the source.
pub(super) struct GroupDocuments<'d> {
    held: &'d HeldGroup,
    has_right: bool,
    /// The source, whose current group this is, and the table whose rows are not all held.
    rest: Option<(&'d mut dyn Documents, Side)>,
    side: Side,
    /// Set if the held documents of the table were given.
    given: bool,
}

impl<'d> GroupDocuments<'d> {
    pub(super) fn new(
        held: &'d HeldGroup,
        has_right: bool,
        rest: Option<(&'d mut dyn Documents, Side)>,
    ) -> Self {
        Self { held, has_right, rest, side: Side::Left, given: false }
    }

    /// Returns the source if rows of a table come from it.
    fn rest_of(&self, side: Side) -> Option<&dyn Documents> {
        let (source, from) = self.rest.as_ref()?;
        (side as usize >= *from as usize).then_some(&**source)
    }
}

impl Documents for GroupDocuments<'_> {
    fn has_right(&self) -> bool {
        self.has_right
    }

    fn begin(&mut self, side: Side) -> Result<()> {
        (self.side, self.given) = (side, false);
        match &mut self.rest {
            Some((source, Side::Left)) if side == Side::Right => source.begin(side),
            _ => Ok(()),
        }
    }

    fn fetch(&mut self, documents: &mut Vec<(u32, SourceDocument)>) -> Result<usize> {
        if !std::mem::replace(&mut self.given, true) {
            let held = &self.held.documents[self.side as usize];
            memory::reserve(documents, held.len(), "reading a group")?;
            for (row, document) in held {
                documents.push((*row, document.copied()?));
            }
            return Ok(held.iter().map(|(_, document)| document.bytes()).sum());
        }
        match &mut self.rest {
            Some((source, from)) if self.side as usize >= *from as usize => source.fetch(documents),
            _ => Ok(0),
        }
    }

    fn unreadable(&mut self, side: Side, row: u32, why: Error) -> Error {
        match &mut self.rest {
            Some((source, _)) => source.unreadable(side, self.held.first[side as usize] + row, why),
            None => why,
        }
    }

    fn ended(&self) -> bool {
        self.given && self.rest_of(self.side).is_none_or(Documents::ended)
    }

    fn is_ready(&self) -> bool {
        !self.given || self.rest_of(self.side).is_some_and(Documents::is_ready)
    }

    fn rows(&self, side: Side) -> usize {
        self.rest_of(side).map_or(self.held.rows[side as usize], |source| source.rows(side))
    }

    fn across(&self) -> Option<&[u32]> {
        match &self.rest {
            Some((source, _)) => self.held.sources_in(&**source),
            None => self.held.sources.as_deref(),
        }
    }

    fn ids_bytes(&self) -> usize {
        self.rest.as_ref().map_or(0, |(source, _)| source.ids_bytes())
    }
}
