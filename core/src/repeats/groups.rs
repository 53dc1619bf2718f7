//! The places of each anchor that comes again, in classes of equal rows of windows.
//!
//! Windows of one place that chose the same anchor are distinct from each other: the anchor is at
//! another offset in each of them. So where all places of an anchor have equal windows, the places
//! are marked at once, whatever the number of windows. Otherwise the windows of one place of each
//! class are listed in a second pass ([`super::classes`]), or those of all places, if very many
//! places have the anchor ([`super::contents`]).

use bytemuck::{Pod, Zeroable};

use super::anchored::{AnchorPlace, WindowsKind};
use super::contents::{AskedWindows, ClassWindows, ContentPlace, Pass};
use super::marks::{CountedDocuments, FirstPlace, Mark};
use crate::error::Result;
use crate::hash;
use crate::memory;
use crate::storage::files::TempFiles;
use crate::storage::sort::{Sorted, Sorter, both, both_long, order_by_key};

const DOING: &str = "comparing the places of anchors";

/// A place of an anchor whose places are in several classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C)]
pub struct AnchorMember {
    /// The number of the anchor.
    pub group: u64,
    /// The number of the class, among those of the anchor.
    pub class: u32,
    /// The rank of the document.
    pub rank: u32,
    /// The number of the first token of the first window.
    pub first: u32,
    /// The number of tokens from there to the anchor.
    pub before: u32,
}

order_by_key!(AnchorMember, |member| {
    (both_long(member.group, both(member.class, member.rank)), member.first)
});

/// A place of the current anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C)]
struct PlaceOfAnchor {
    /// The documents that are compared with this one.
    site: u64,
    kind: WindowsKind,
    rank: u32,
    first: u32,
}

order_by_key!(PlaceOfAnchor, |place| (place.site, place.kind, both(place.rank, place.first)));

/// The places that have to be read again.
pub struct Open<'f> {
    /// A place of each class.
    pub classes: Sorter<'f, AskedWindows>,
    /// All places of these classes.
    pub members: Sorter<'f, AnchorMember>,
    /// The number of rounds in which the windows of classes are listed.
    pub rounds: u32,
    /// The places of anchors that very many places have.
    pub many: Sorter<'f, AskedWindows>,
    /// The number of their windows.
    pub many_windows: u64,
    /// The number of windows of all places of anchors that come again.
    pub windows: u64,
    /// The number of places of windows that are marked.
    pub marked: u64,
}

/// Groups the places of anchors.
pub struct AnchorGrouping<'a, 'f> {
    pass: Pass<'a>,
    files: &'f dyn TempFiles,
    /// The number of windows of a round.
    most: u64,
    /// The greatest number of places of an anchor whose classes are compared in memory.
    few: usize,
    marks: &'a mut Sorter<'f, Mark>,
    held: Vec<PlaceOfAnchor>,
    /// The number of anchors whose places are in several classes, and of these classes.
    groups: u64,
    classes: u64,
    /// The number of windows of the current round.
    listed: u64,
    open: Open<'f>,
}

impl<'a, 'f> AnchorGrouping<'a, 'f> {
    /// Starts to group. `marks` receives the marks of places that need not be read again. In a
    /// round about `most` windows are listed.
    pub fn new(pass: Pass<'a>, most: u64, marks: &'a mut Sorter<'f, Mark>, files: &'f dyn TempFiles) -> Self {
        let budget = pass.budget / 8;
        let open = Open {
            classes: Sorter::new(files, budget),
            members: Sorter::new(files, budget),
            rounds: 0,
            many: Sorter::new(files, budget),
            many_windows: 0,
            windows: 0,
            marked: 0,
        };
        let few = (pass.budget / 64 / size_of::<PlaceOfAnchor>()).clamp(4, 1 << 14);
        Self { pass, files, most, few, marks, held: Vec::new(), groups: 0, classes: 0, listed: 0, open }
    }

    /// Groups the places of all anchors. An anchor that only one place has is in no window that
    /// comes again. O(places · log places).
    pub fn group(mut self, mut anchors: Sorted<AnchorPlace>) -> Result<Open<'f>> {
        let Pass { parameters, order, executor, budget } = self.pass;
        let mut current = None;
        let mut counted = CountedDocuments::default();
        let mut many: Option<Sorter<'f, PlaceOfAnchor>> = None;
        loop {
            let next = anchors.next(executor)?;
            if let Some(hash) = current.filter(|&hash| next.is_none_or(|next| next.hash != hash)) {
                let is_known = counted.documents >= parameters.min_documents
                    || parameters.within_documents && counted.twice;
                let many = many.take();
                if is_known {
                    match many {
                        None => self.end_few(hash)?,
                        Some(many) => self.end_many(hash, many.sorted(executor)?)?,
                    }
                }
                self.held.clear();
                counted = CountedDocuments::default();
            }
            let Some(AnchorPlace { hash, row, first, kind }) = next else {
                return Ok(self.open);
            };
            current = Some(hash);
            counted.add(row);
            let (site, rank) = (order.group(row), order.ranks[row as usize]);
            let place = PlaceOfAnchor { site, kind, rank, first };
            if self.held.len() == self.few {
                let mut all = Sorter::new(self.files, budget / 16);
                self.held.drain(..).try_for_each(|place| all.push(place, executor))?;
                many = Some(all);
            }
            match &mut many {
                Some(many) => many.push(place, executor)?,
                None => memory::push(&mut self.held, place, DOING)?,
            }
        }
    }

    /// Ends an anchor whose places are in memory.
    fn end_few(&mut self, hash: u64) -> Result<()> {
        let mut held = std::mem::take(&mut self.held);
        held.sort_unstable();
        for places in held.chunk_by(|a, b| a.site == b.site) {
            self.open.windows += places.iter().map(|place| u64::from(place.kind.windows())).sum::<u64>();
            if places[0].kind == places[places.len() - 1].kind {
                self.mark(places[0].kind.windows(), |each| places.iter().try_for_each(each))?;
                continue;
            }
            let classes = || places.chunk_by(|a, b| a.kind == b.kind);
            let windows = classes().map(|class| u64::from(class[0].kind.windows())).sum::<u64>();
            if windows <= 4 * self.few as u64 {
                self.ask_classes(classes())?;
            } else {
                let key = hash::mix(hash ^ hash::mix(places[0].site));
                places.iter().try_for_each(|place| self.ask(key, place))?;
            }
        }
        self.held = held;
        Ok(())
    }

    /// Asks for the windows of a place of each class.
    fn ask_classes<'p>(&mut self, classes: impl Iterator<Item = &'p [PlaceOfAnchor]>) -> Result<()> {
        /// A record of some windows takes as much space as so many records of one.
        const SPACE: usize = size_of::<ClassWindows>() / size_of::<ContentPlace>();
        let Self { open, .. } = self;
        let Pass { order, executor, .. } = self.pass;
        if open.rounds == 0 || self.listed >= self.most {
            open.rounds += 1;
            self.listed = 0;
        }
        for (class, places) in (0..).zip(classes) {
            let PlaceOfAnchor { rank, first, kind, .. } = places[0];
            let (round, row) = (open.rounds - 1, order.rows[rank as usize]);
            let windows = kind.windows();
            self.listed += u64::from(windows.div_ceil(ClassWindows::MOST)) * SPACE as u64;
            open.classes.push(AskedWindows { round, row, first, windows, number: self.classes }, executor)?;
            for &PlaceOfAnchor { rank, first, .. } in places {
                let member = AnchorMember { group: self.groups, class, rank, first, before: kind.before() };
                open.members.push(member, executor)?;
            }
            self.classes += 1;
        }
        self.groups += 1;
        Ok(())
    }

    /// Asks for the windows of a place of an anchor that very many places have.
    fn ask(&mut self, number: u64, &PlaceOfAnchor { rank, first, kind, .. }: &PlaceOfAnchor) -> Result<()> {
        let row = self.pass.order.rows[rank as usize];
        let windows = kind.windows();
        self.open.many_windows += u64::from(windows);
        self.open.many.push(AskedWindows { round: 0, row, first, windows, number }, self.pass.executor)
    }

    /// Ends an anchor that very many places have.
    fn end_many(&mut self, hash: u64, mut places: Sorted<PlaceOfAnchor>) -> Result<()> {
        let executor = self.pass.executor;
        let mut kind: Option<(PlaceOfAnchor, bool)> = None;
        while let Some(place) = places.next(executor)? {
            self.open.windows += u64::from(place.kind.windows());
            let (of, one) = kind.get_or_insert((place, true));
            *one &= (of.site, of.kind) == (place.site, place.kind);
        }
        let Some((of, one)) = kind else { return Ok(()) };
        places.rewind(executor)?;
        if !one {
            while let Some(place) = places.next(executor)? {
                self.ask(hash::mix(hash ^ hash::mix(place.site)), &place)?;
            }
            return Ok(());
        }
        self.mark(of.kind.windows(), |each| {
            places.rewind(executor)?;
            while let Some(place) = places.next(executor)? {
                each(&place)?;
            }
            Ok(())
        })
    }

    /// Marks places that have equal windows. `all` calls a function for each of them, in order.
    fn mark(
        &mut self,
        windows: u32,
        mut all: impl FnMut(&mut dyn FnMut(&PlaceOfAnchor) -> Result<()>) -> Result<()>,
    ) -> Result<()> {
        let Self { pass, marks, open, .. } = self;
        let mut counted = CountedDocuments::default();
        all(&mut |place| {
            counted.add(place.rank);
            Ok(())
        })?;
        let Some(mut source) = FirstPlace::new(*pass, &counted) else { return Ok(()) };
        all(&mut |place| {
            let Some(mark) = source.mark(place.rank, place.first, windows) else { return Ok(()) };
            open.marked += u64::from(windows);
            marks.push(mark, pass.executor)
        })
    }
}
