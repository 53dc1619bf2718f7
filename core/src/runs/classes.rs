//! Compares the windows of the classes of an anchor, and marks the places of all classes.

use super::contents::{ClassWindow, Pass};
use super::groups::Member;
use super::marks::{Counted, Mark, Source, push_joined, push_near};
use crate::error::Result;
use crate::external_sort::{Groups, Sorted, Sorter};
use crate::memory;

const DOING: &str = "marking the places of classes";

/// A window of a class of the current anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Window {
    content: [u64; 2],
    class: u32,
    number: u32,
}

/// Marks the places of anchors whose places are in several classes.
pub struct Classes {
    members: Groups<Member>,
    /// The number of classes of the anchors before the current one.
    before: u64,
    group: Vec<Member>,
    windows: Vec<Window>,
    near: Vec<Mark>,
    /// The number of places of windows that were marked.
    pub marked: u64,
}

impl Classes {
    /// Takes the places of all classes.
    pub fn new(members: Sorted<Member>, pass: Pass<'_>) -> Result<Self> {
        let members = Groups::new(members, pass.executor)?;
        let (group, windows, near) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { members, before: 0, group, windows, near, marked: 0 })
    }

    /// Marks the places of the anchors whose windows are given, which are those of a round.
    /// O(places of windows), and less where the same classes have windows one after the other.
    pub fn mark(
        &mut self,
        mut windows: Sorted<ClassWindow>,
        pass: Pass<'_>,
        marks: &mut Sorter<'_, Mark>,
    ) -> Result<()> {
        let executor = pass.executor;
        let mut next = windows.next(executor)?;
        while next.is_some()
            && self.members.next(&mut self.group, |member| member.group, |_, _| false, executor)?
        {
            let classes = self.group.last().map_or(0, |last| last.class + 1);
            self.windows.clear();
            let class = |window: &ClassWindow| window.class() - self.before;
            while let Some(window) = next.filter(|window| class(window) < classes.into()) {
                let (class, number) = (class(&window) as u32, window.number());
                memory::push(&mut self.windows, Window { content: window.content, class, number }, DOING)?;
                next = windows.next(executor)?;
            }
            self.before += u64::from(classes);
            self.mark_group(pass, marks)?;
        }
        Ok(())
    }

    /// Marks the places of one anchor.
    fn mark_group(&mut self, pass: Pass<'_>, marks: &mut Sorter<'_, Mark>) -> Result<()> {
        self.windows.sort_unstable();
        // Windows of one class are distinct from each other.
        let windows = std::mem::take(&mut self.windows);
        let mut equal: Vec<&[Window]> = Vec::new();
        for windows in windows.chunk_by(|a, b| a.content == b.content) {
            memory::push(&mut equal, windows, DOING)?;
        }
        equal.sort_unstable_by_key(|windows| (windows[0].class, windows[0].number));
        // Where the same classes have the next window too, both are marked at once.
        let follows = |a: &&[Window], b: &&[Window]| {
            let next = |(a, b): (&Window, &Window)| (a.class, a.number + 1) == (b.class, b.number);
            a.len() == b.len() && a.iter().zip(*b).all(next)
        };
        let mut places: Vec<[u32; 2]> = Vec::new();
        for row in equal.chunk_by(follows) {
            pass.executor.check_interrupts()?;
            places.clear();
            for &Window { class, number, .. } in row[0] {
                let from = self.group.partition_point(|member| member.class < class);
                for member in self.group[from..].iter().take_while(|member| member.class == class) {
                    memory::push(&mut places, [member.rank, member.first + number], DOING)?;
                }
            }
            if row[0].len() > 1 {
                places.sort_unstable();
            }
            let mut counted = Counted::default();
            places.iter().for_each(|&[rank, _]| counted.add(rank));
            let Some(mut source) = Source::new(pass, &counted) else { continue };
            for &[rank, first] in &places {
                if let Some(mark) = source.mark(rank, first, row.len() as u32) {
                    self.marked += row.len() as u64;
                    push_near(&mut self.near, mark, marks, pass.executor)?;
                }
            }
        }
        drop(equal);
        self.windows = windows;
        push_joined(&mut self.near, marks, pass.executor)
    }
}
