//! Works on the groups of rows one after the other: on small ones in one thread each, on large ones
//! in all threads.

use std::time::Instant;

use super::group::{GroupDocuments, HeldGroup};
use crate::error::{Error, Result};
use crate::executor::{self, CallingThread, Stop};
use crate::memory;
use crate::methods::account::{Account, milliseconds};
use crate::methods::documents::{Documents, Quiet, Side};
use crate::methods::reading::Reading;
use crate::storage::files::{NoFiles, Resources};

const DOING: &str = "joining the groups of rows";

/// What one thread does with a small group. It returns `None` if too much is found to be held.
pub(crate) type Small<'w, F> = dyn Fn(&mut Reading<'_>) -> Result<Option<F>> + Sync + 'w;

/// What is done with the groups otherwise.
pub(crate) trait GroupWork<F> {
    /// Keeps what was found in a small group.
    fn keep(&mut self, found: &F, group: &HeldGroup, reading: &Reading<'_>) -> Result<()>;

    /// Works on a large group, whose first rows have these numbers, with all threads.
    fn large(&mut self, reading: &mut Reading<'_>, first: [u32; 2]) -> Result<()>;

    /// Reports whether so much was found that the caller gives up.
    fn is_enough(&self, most: Option<u64>) -> bool;

    /// Returns the number of bytes on the heap.
    fn bytes(&self) -> usize;
}

/// Works on all groups. The next ones are read while the threads are busy.
pub(crate) fn each_group<F: Send>(
    reading: &mut Reading<'_>,
    small: &Small<'_, F>,
    work: &mut dyn GroupWork<F>,
) -> Result<()> {
    let began = Instant::now();
    // A thread takes some ten times the memory of the documents that it works on.
    let most = reading.memory / 64 / reading.executor.count();
    let mut ahead = GroupsAhead { most, enough: (reading.memory / 64).max(1), ..GroupsAhead::default() };
    while !work.is_enough(reading.most_pairs) {
        while !ahead.is_full() {
            ahead.read(reading.documents)?;
            reading.report(|| format!("joining groups, {} documents", ahead.rows));
        }
        if !ahead.groups.is_empty() {
            ahead.work(reading, small, work)?;
        } else if let Some((held, side)) = ahead.large.take() {
            reading.held(held.bytes + work.bytes());
            large(reading, work, &held, Some(side))?;
        } else {
            break;
        }
    }
    reading.end_groups()?;
    reading.account.documents = reading.rows() as u64;
    reading.account.phases[0] = milliseconds(began);
    Ok(())
}

/// Groups that were read and wait for the threads.
#[derive(Default)]
struct GroupsAhead {
    groups: Vec<HeldGroup>,
    bytes: usize,
    /// The group after these, if it is too large to be held: its first rows, and the table of which
    /// more rows follow.
    large: Option<(HeldGroup, Side)>,
    ended: bool,
    /// The number of rows that were read so far.
    rows: usize,
    /// The most bytes of a group that is held, and the number of bytes that are enough.
    most: usize,
    enough: usize,
}

impl GroupsAhead {
    fn is_full(&self) -> bool {
        self.ended || self.large.is_some() || self.bytes >= self.enough
    }

    /// Reads the next group.
    fn read(&mut self, documents: &mut dyn Documents) -> Result<()> {
        let Some(first) = documents.next_group()? else {
            self.ended = true;
            return Ok(());
        };
        let (held, rest) = HeldGroup::read(first, documents, self.most)?;
        self.rows += held.rows.iter().sum::<usize>();
        if let Some(side) = rest {
            self.large = Some((held, side));
            return Ok(());
        }
        self.bytes += held.bytes + size_of::<HeldGroup>();
        memory::push(&mut self.groups, held, DOING)
    }

    /// Lets the threads work on the groups.
    fn work<F: Send>(
        &mut self,
        reading: &mut Reading<'_>,
        small: &Small<'_, F>,
        work: &mut dyn GroupWork<F>,
    ) -> Result<()> {
        let has_right = reading.has_right();
        let groups = std::mem::take(&mut self.groups);
        let bytes = std::mem::take(&mut self.bytes);
        // Groups of few rows are worked on together, so that threads do not wait for each other.
        const ROWS_A_UNIT: usize = 64;
        let mut units: Vec<GroupUnit<'_, F>> = Vec::new();
        let (mut from, mut rows) = (0, 0);
        for (n, group) in groups.iter().enumerate() {
            rows += group.rows.iter().sum::<usize>();
            if rows >= ROWS_A_UNIT || n + 1 == groups.len() {
                memory::push(&mut units, GroupUnit { todo: &groups[from..=n], found: Vec::new() }, DOING)?;
                (from, rows) = (n + 1, 0);
            }
        }
        let mut read = Ok(());
        let documents = &mut *reading.documents;
        let mut read_on = || {
            if read.is_ok() && !self.is_full() && documents.is_ready() {
                read = self.read(documents);
            }
        };
        let budget = reading.memory;
        let work_on = |unit: &mut GroupUnit<'_, F>, stop: &Stop| {
            while let Some((group, rest)) = unit.todo.split_first() {
                stop.check()?;
                let found = match group.may_have_pairs(has_right) {
                    false => FoundInGroup::Nothing,
                    true => {
                        let mut documents = GroupDocuments::new(group, has_right, None);
                        let (mut quiet, executor) = (Quiet, &CallingThread { stop });
                        let resources = Resources { files: &NoFiles, budget, executor };
                        let mut reading = Reading::new(&mut documents, &mut quiet, resources);
                        reading.is_small = true;
                        match small(&mut reading) {
                            Err(Error::Stopped) => return Err(Error::Stopped),
                            // All threads together report the error, or have the memory.
                            Err(_) | Ok(None) => FoundInGroup::TooMuch,
                            Ok(Some(found)) => FoundInGroup::Found(found, Box::new(reading.account)),
                        }
                    }
                };
                memory::push(&mut unit.found, found, DOING)?;
                unit.todo = rest;
            }
            Ok(())
        };
        executor::each_beside(reading.executor, &mut units, work_on, &mut read_on)?;
        read?;
        reading.held(bytes + self.bytes + work.bytes());
        let found = units.into_iter().flat_map(|unit| unit.found);
        for (group, found) in groups.iter().zip(found) {
            match found {
                FoundInGroup::Nothing => {
                    let rows: usize = group.rows.iter().sum();
                    reading.account.skipped_null += (rows - group.texts()) as u64;
                    reading.account.bytes += group.bytes as u64;
                }
                FoundInGroup::Found(found, account) => {
                    reading.account.add(&account);
                    work.keep(&found, group, reading)?;
                }
                FoundInGroup::TooMuch => large(reading, work, group, None)?,
            }
        }
        Ok(())
    }
}

/// Some groups that are still to be worked on, and what was found in the groups before them.
struct GroupUnit<'g, F> {
    todo: &'g [HeldGroup],
    found: Vec<FoundInGroup<F>>,
}

enum FoundInGroup<F> {
    /// There can be no pair.
    Nothing,
    Found(F, Box<Account>),
    /// All threads have to work on the group.
    TooMuch,
}

/// Lets all threads work on a group.
fn large<F>(
    reading: &mut Reading<'_>,
    work: &mut dyn GroupWork<F>,
    held: &HeldGroup,
    rest: Option<Side>,
) -> Result<()> {
    let has_right = reading.has_right();
    let Reading { executor, files, most_pairs, .. } = *reading;
    let budget = reading.memory.saturating_sub(work.bytes()).max(reading.memory / 4);
    let source: &mut dyn Documents = reading.documents;
    let rest: Option<(&mut dyn Documents, Side)> = rest.map(|side| (source, side));
    let mut documents = GroupDocuments::new(held, has_right, rest);
    let mut own = Reading::new(&mut documents, reading.progress, Resources { files, budget, executor });
    own.most_pairs = most_pairs;
    work.large(&mut own, held.first)?;
    let account = own.account;
    reading.account.add(&account);
    Ok(())
}
