//! Compares the windows of the classes of an anchor, and marks the places of all classes.

use std::ops::Range;

use super::contents::{ClassWindows, Pass};
use super::groups::AnchorMember;
use super::marks::{CountedDocuments, FirstPlace, Mark, push_joined, push_near};
use crate::error::Result;
use crate::memory;
use crate::storage::sort::{Groups, Sorted, Sorter};

const DOING: &str = "marking the places of classes";

/// A class of the current anchor.
#[derive(Debug, Clone)]
struct AnchorClass {
    /// Its places, among those of the anchor.
    members: Range<usize>,
    /// Its windows, among those of all classes.
    windows: Range<usize>,
    /// The position of its first window. Windows in which the anchor is at the same offset have
    /// equal positions. Others are not equal.
    from: usize,
}

/// Equal windows of some classes, one after the other.
struct EqualWindows {
    /// The classes, among all that were noted.
    classes: Range<usize>,
    positions: Range<usize>,
}

/// Marks the places of anchors whose places are in several classes.
pub struct AnchorClasses {
    members: Groups<AnchorMember>,
    /// The number of classes of the anchors before the current one.
    before: u64,
    group: Vec<AnchorMember>,
    classes: Vec<AnchorClass>,
    contents: Vec<[u64; 2]>,
    places: Vec<[u32; 2]>,
    near: Vec<Mark>,
    /// The number of places of windows that were marked.
    pub marked: u64,
}

impl AnchorClasses {
    /// Takes the places of all classes.
    pub fn new(members: Sorted<AnchorMember>, pass: Pass<'_>) -> Result<Self> {
        let members = Groups::new(members, pass.executor)?;
        Ok(Self {
            members,
            before: 0,
            group: Vec::new(),
            classes: Vec::new(),
            contents: Vec::new(),
            places: Vec::new(),
            near: Vec::new(),
            marked: 0,
        })
    }

    /// Marks the places of the anchors whose windows are given, which are those of a round.
    /// O(places of windows), and less where the same classes have windows one after the other.
    pub fn mark(
        &mut self,
        mut all: Sorted<ClassWindows>,
        pass: Pass<'_>,
        marks: &mut Sorter<'_, Mark>,
    ) -> Result<()> {
        let executor = pass.executor;
        let mut next = all.next(executor)?;
        while next.is_some()
            && self.members.next(&mut self.group, |member| member.group, |_, _| false, executor)?
        {
            self.classes.clear();
            self.contents.clear();
            let most = self.group.iter().map(|member| member.before).max().unwrap_or(0);
            let mut at = 0;
            for members in self.group.chunk_by(|a, b| a.class == b.class) {
                let start = self.contents.len();
                while let Some(windows) = next.filter(|windows| windows.class() == self.before) {
                    memory::extend(&mut self.contents, windows.contents(), DOING)?;
                    next = all.next(executor)?;
                }
                self.before += 1;
                let from = (most - members[0].before) as usize;
                let (members, windows) = (at..at + members.len(), start..self.contents.len());
                at = members.end;
                memory::push(&mut self.classes, AnchorClass { members, windows, from }, DOING)?;
            }
            self.mark_group(pass, marks)?;
        }
        Ok(())
    }

    /// Marks the places of one anchor.
    fn mark_group(&mut self, pass: Pass<'_>, marks: &mut Sorter<'_, Mark>) -> Result<()> {
        let mut starts: Vec<u32> = memory::collect(0..self.classes.len() as u32, DOING)?;
        starts.sort_unstable_by_key(|&class| self.classes[class as usize].from);
        let mut starts = starts.into_iter().peekable();
        // The classes that have a window at the position, and which of them have equal ones.
        let (mut here, mut equal): (Vec<u32>, Vec<([u64; 2], u32)>) = (Vec::new(), Vec::new());
        // The row that goes on, by its first class.
        let none = self.classes.iter().map(|_| None);
        let mut open: Vec<Option<EqualWindows>> = memory::collect(none, DOING)?;
        let mut noted: Vec<u32> = Vec::new();
        let mut at = 0;
        while let Some(&next) = here.first().or(starts.peek()) {
            at = at.max(self.classes[next as usize].from);
            while let Some(class) = starts.next_if(|&class| self.classes[class as usize].from <= at) {
                memory::push(&mut here, class, DOING)?;
            }
            let contents = here.iter().map(|&number| {
                let class = &self.classes[number as usize];
                (self.contents[class.windows.start + at - class.from], number)
            });
            memory::refill(&mut equal, contents, DOING)?;
            equal.sort_unstable();
            for equal in equal.chunk_by(|a, b| a.0 == b.0) {
                let row = &mut open[equal[0].1 as usize];
                let classes = equal.iter().map(|(_, class)| class);
                let goes_on = |row: &EqualWindows| {
                    row.positions.end == at && noted[row.classes.clone()].iter().eq(classes.clone())
                };
                if let Some(row) = row.as_mut().filter(|row| goes_on(row)) {
                    row.positions.end += 1;
                    continue;
                }
                memory::reserve(&mut noted, equal.len(), DOING)?;
                let first = noted.len();
                noted.extend(classes);
                let new = EqualWindows { classes: first..noted.len(), positions: at..at + 1 };
                if let Some(row) = row.replace(new) {
                    self.mark_row(&noted[row.classes], row.positions, pass, marks)?;
                }
            }
            at += 1;
            here.retain(|&class| {
                let class = &self.classes[class as usize];
                at - class.from < class.windows.len()
            });
        }
        for row in open.into_iter().flatten() {
            self.mark_row(&noted[row.classes], row.positions, pass, marks)?;
        }
        push_joined(&mut self.near, marks, pass.executor)
    }

    /// Marks the places of windows that some classes have.
    fn mark_row(
        &mut self,
        classes: &[u32],
        positions: Range<usize>,
        pass: Pass<'_>,
        marks: &mut Sorter<'_, Mark>,
    ) -> Result<()> {
        pass.executor.check_interrupts()?;
        self.places.clear();
        for &class in classes {
            let AnchorClass { members, from, .. } = &self.classes[class as usize];
            let number = (positions.start - from) as u32;
            let members = self.group[members.clone()].iter();
            memory::append(&mut self.places, members.map(|of| [of.rank, of.first + number]), DOING)?;
        }
        if classes.len() > 1 {
            self.places.sort_unstable();
        }
        let mut counted = CountedDocuments::default();
        self.places.iter().for_each(|&[rank, _]| counted.add(rank));
        let Some(mut source) = FirstPlace::new(pass, &counted) else { return Ok(()) };
        for &[rank, first] in &self.places {
            if let Some(mark) = source.mark(rank, first, positions.len() as u32) {
                self.marked += positions.len() as u64;
                push_near(&mut self.near, mark, marks, pass.executor)?;
            }
        }
        Ok(())
    }
}
